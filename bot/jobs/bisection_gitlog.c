/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of a bisection as `git bisect log` writes it. */
#include "bisect/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_run.h"
#include "bot/watch/mirror.h"
#include "bot/watch/subject.h"

#include <string.h>

struct subjects {
	struct mirror *mirror;
	struct strbuf text;
};

static const char *subject_of(const char *hash, void *arg)
{
	struct subjects *s = arg;
	struct mirror_commit commit = { 0 };

	strbuf_reset(&s->text);
	if (mirror_commit(s->mirror, hash, &commit, NULL) < 0)
		return NULL;
	subject_add(&s->text, commit.message);
	mirror_commit_done(&commit);
	return strbuf_str(&s->text);
}

/* The good end that was asked for and the merge bases, those of them that the search did not begin at. */
static size_t further_goods(const struct bisection_run *b, const char **ret)
{
	const struct bisection_fork *f = &b->fork;
	size_t n = 0;

	if (f->stage != BISECTION_BAD_SIDE)
		return 0;
	if (strcmp(b->row.good, b->good) != 0)
		ret[n++] = b->row.good;
	for (size_t i = 0; i < f->n_bases; i++)
		if (f->sides[i] == BISECT_BASE_GOOD && strcmp(f->bases[i], b->good) != 0)
			ret[n++] = f->bases[i];
	return n;
}

char *bisection_run_git_log(struct bisection_run *b)
{
	const char *goods[BISECTION_BASES_MAX + 1];
	const json_t *list = json_object_get(b->row.request, "paths");
	size_t n = json_array_size(list);
	_cleanup_(freep) const char **paths = xcalloc(n + 1, sizeof(*paths));
	struct subjects subjects = { .mirror = b->mirror, .text = STRBUF_INIT };
	struct bisect_git_about about = { .goods = goods,
					  .n_goods = further_goods(b, goods),
					  .paths = paths,
					  .n_paths = n,
					  .first_parent = json_is_true(
						  json_object_get(b->row.request, "first_parent")),
					  .reversed = b->fork.stage == BISECTION_GOOD_SIDE,
					  .subject = subject_of,
					  .arg = &subjects };
	char *text;

	for (size_t i = 0; i < n; i++)
		paths[i] = json_string_value(json_array_get(list, i));
	text = bisect_log_git(&b->state, b->good, b->step, &about);
	strbuf_done(&subjects.text);
	return text;
}
