/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The logs of a bisection: git's, and ours with what it cost. */
#include "bisect/log.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/build/build.h"
#include "bot/db/db.h"
#include "bot/jobs/bisection_outside.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/watch/mirror.h"
#include "bot/watch/subject.h"

#include <string.h>

#define REPLAY_COMMITS 2000

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

static char *git_log(struct bisection_run *b)
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

/* Commits beside the range that are measured in the end. */
static const char *const check_keys[] = { "revert", "tip" };

static int read_made(struct bisection_run *b, struct err *e)
{
	size_t n = b->range.graph.n;
	_cleanup_(freep) const char **commits =
		xcalloc(n + 3 + BISECTION_OUTSIDE_MAX, sizeof(*commits));
	_cleanup_(freep) char *compiler = NULL;
	_cleanup_(freep) char *list = NULL;
	struct db_rows rows = { 0 };
	size_t n_all = n + 1;
	char hash[65];
	int r;

	free(b->made);
	b->made = xcalloc(n + 1, 1);
	b->made_beside = 0;
	if (!b->job.kconfig[0])
		return 0;
	for (size_t i = 0; i < n; i++)
		commits[i] = b->range.graph.commits[i].hash;
	commits[n] = b->good;
	for (size_t i = 0; i < ARRAY_SIZE(check_keys); i++)
		if (json_str(b->checks, check_keys[i], NULL))
			commits[n_all++] = json_str(b->checks, check_keys[i], NULL);
	n_all += bisection_outside_commits(b, commits + n_all);
	list = db_text_array(commits, n_all);
	r = job_kconfig_hash(b->c, b->job.kconfig, hash, e);
	if (r == 0)
		r = build_compiler(&compiler, e);
	if (r == 0)
		r = db_run(b->c->db, SQL_BISECTION_BUILT, &rows, e, "ssss", b->row.id, list, hash,
			   compiler);
	for (int i = 0; r == 0 && i < rows.n; i++) {
		const char *built = db_str(&rows, i, 0);
		int k = bisect_graph_find(&b->range.graph, built, NULL);

		if (k >= 0)
			b->made[k] = 1;
		else if (!strcmp(built, b->good))
			b->made[n] = 1;
		else
			b->made_beside++;
	}
	db_rows_done(&rows);
	return r;
}

static size_t runs_of(const struct bisection_run *b, int64_t boot)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_values; i++)
		n += b->values[i].boot == boot;
	return n;
}

static void count_boots(const struct bisection_run *b, unsigned char *given,
			struct bisect_log_beside *beside)
{
	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *boot = &b->boots[i];

		given[i] = strcmp(boot->bisection, b->row.id) != 0;
		if (given[i] || !boot->ok || !strcmp(boot->commit, b->good) ||
		    bisect_graph_find(&b->range.graph, boot->commit, NULL) >= 0)
			continue;
		beside->boots++;
		beside->runs += (int)runs_of(b, boot->id);
	}
}

static char *replay_log(struct bisection_run *b)
{
	_cleanup_(freep) unsigned char *given = xcalloc(b->n_boots + 1, 1);
	struct bisect_log_cost cost = { .made = b->made, .given = given, .n_given = b->n_boots };

	count_boots(b, given, &cost.beside);
	cost.beside.builds = b->made_beside;
	return bisect_log_write(&b->state, b->good, &cost);
}

void bisection_run_made(struct bisection_run *b)
{
	struct err e = { 0 };

	if (read_made(b, &e) < 0)
		log_warn("what was built for a bisection is not known, its log tells less",
			 lf_str("BISECT_ID", b->row.id), lf_str("ERROR", e.msg));
}

void bisection_run_logs(struct bisection_run *b, json_t *o)
{
	_cleanup_(freep) char *git = NULL;
	_cleanup_(freep) char *ours = NULL;

	if (!b->state.n_runs)
		return;
	git = git_log(b);
	json_set_str(o, "git_log", git);
	if (b->range.graph.n > REPLAY_COMMITS)
		return;
	ours = replay_log(b);
	json_set_str(o, "replay", ours);
}
