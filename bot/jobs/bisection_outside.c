/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_outside.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/mirror.h"

#include <string.h>

/* Is what the request leaves out a reason to take the good end for parent @hash? */
static bool is_left_out(const struct bisection_run *b, const struct bisect_commit *c,
			const char *hash)
{
	if (!json_array_size(json_object_get(b->row.request, "paths")))
		return false;
	/* A commit that changes no such file is as the one before it. */
	if (c->n_parents > 0)
		return mirror_is_ancestor(b->mirror, hash, b->good, NULL) != 1;
	return mirror_is_ancestor(b->mirror, b->good, hash, NULL) == 1;
}

size_t bisection_outside_real(const struct bisection_run *b, int commit, char (*ret)[41])
{
	const struct bisect_commit *c = &b->range.graph.commits[commit];
	bool first = json_is_true(json_object_get(b->row.request, "first_parent"));
	struct mirror_commit git = { 0 };
	size_t n = 0;

	if (!c->outside || b->fork.stage == BISECTION_BASES ||
	    b->fork.stage == BISECTION_GOOD_SIDE ||
	    mirror_commit(b->mirror, c->hash, &git, NULL) < 0)
		return 0;
	for (size_t i = 0; i < git.n_parents && n < BISECTION_OUTSIDE_MAX; i++) {
		const char *parent = git.parents[i];

		if (first && i > 0)
			break;
		if (bisect_graph_find(&b->range.graph, parent, NULL) < 0 &&
		    !is_left_out(b, c, parent))
			(void)snprintf(ret[n++], 41, "%s", parent);
	}
	mirror_commit_done(&git);
	return n;
}

static const json_t *chosen_for(const struct bisection_run *b, const char *culprit)
{
	return !strcmp(json_str(b->checks, "culprit", ""), culprit)
		       ? json_object_get(b->checks, "outside")
		       : NULL;
}

size_t bisection_outside_parents(const struct bisection_run *b, int commit, char (*ret)[41])
{
	const json_t *list = chosen_for(b, b->range.graph.commits[commit].hash), *o;
	size_t n = 0, i;

	if (!list)
		return bisection_outside_real(b, commit, ret);
	json_array_foreach (list, i, o)
		if (!json_str(o, "why", NULL) && n < BISECTION_OUTSIDE_MAX)
			(void)snprintf(ret[n++], 41, "%s", json_str(o, "measured", ""));
	return n;
}

void bisection_outside_choose(struct bisection_run *b, const char *culprit)
{
	char real[BISECTION_OUTSIDE_MAX][41];
	int commit = bisection_run_index(b, culprit);
	size_t n = commit >= 0 ? bisection_outside_real(b, commit, real) : 0;
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();
		int before = mirror_is_ancestor(b->mirror, real[i], b->good, NULL);

		json_set_str(o, "commit", real[i]);
		json_set_str(o, "measured", real[i]);
		json_set_i64(o, "older", 0);
		json_set_bool(o, "before", before == 1);
		/* Where history was cut off. */
		if (before < 0)
			json_set_str(o, "why", "it is not in the mirror");
		if (json_array_append_new(list, o) < 0)
			abort();
	}
	if (json_object_set_new(b->checks, "outside", list) < 0)
		abort();
}

int bisection_outside_ahead(struct bisection_run *b, struct err *e)
{
	const json_t *list = json_object_get(b->checks, "outside"), *o;
	size_t i;
	int r = 0;

	json_array_foreach (list, i, o) {
		const char *hash = json_str(o, "measured", "");

		if (r < 0 || json_str(o, "why", NULL) || !strcmp(hash, b->good))
			continue;
		r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);
		if (r == 0)
			r = need_build_ahead(b->c, &b->job, hash, e);
	}
	return r;
}

/* For parent @o, whose stand-in @hash cannot be measured, the commit before that. */
static int go_back(struct bisection_run *b, json_t *o, const char *hash, const char *reason,
		   struct err *e)
{
	int64_t older = json_i64(o, "older", 0);
	struct mirror_commit git;
	int r = mirror_commit(b->mirror, hash, &git, e);

	if (r < 0)
		return r;
	if (older < BISECTION_OLDER_MOST && git.n_parents > 0) {
		json_set_str(o, "measured", git.parents[0]);
		json_set_i64(o, "older", older + 1);
	} else {
		_cleanup_(freep) char *why = xasprintf(
			"neither it nor %lld commits before it can be measured, the last does not %s",
			(long long)older, reason);

		json_set_str(o, "why", why);
	}
	mirror_commit_done(&git);
	return 0;
}

static int look_at(struct bisection_run *b, json_t *o, struct err *e)
{
	int r = 0;

	while (r >= 0 && !json_str(o, "why", NULL)) {
		char hash[41];
		const char *reason = "";

		(void)snprintf(hash, sizeof(hash), "%s", json_str(o, "measured", ""));
		if (!strcmp(hash, b->good))
			return 0;
		r = bisection_bases_untestable(b, hash, &reason, e);
		if (r == 0)
			return 0;
		if (r > 0)
			r = go_back(b, o, hash, reason, e);
	}
	return r < 0 ? r : 0;
}

int bisection_outside_look(struct bisection_run *b, struct err *e)
{
	json_t *o;
	size_t i;
	int r = 0;

	json_array_foreach (json_object_get(b->checks, "outside"), i, o)
		if (r == 0)
			r = look_at(b, o, e);
	return r;
}

const json_t *bisection_outside_lost(const struct bisection_run *b, const char *culprit)
{
	const json_t *o;
	size_t i;

	json_array_foreach (chosen_for(b, culprit), i, o)
		if (json_str(o, "why", NULL))
			return o;
	return NULL;
}

/* The one for which @hash is measured, the good end aside; or NULL. */
static const json_t *measured_as(const struct bisection_run *b, const char *hash)
{
	const json_t *o;
	size_t i;

	if (!strcmp(hash, b->good))
		return NULL;
	json_array_foreach (json_object_get(b->checks, "outside"), i, o)
		if (!json_str(o, "why", NULL) && !strcmp(json_str(o, "measured", ""), hash))
			return o;
	return NULL;
}

const char *bisection_outside_parent(const struct bisection_run *b, const char *hash)
{
	return json_str(measured_as(b, hash), "commit", hash);
}

size_t bisection_outside_commits(const struct bisection_run *b, const char **list)
{
	const json_t *o;
	size_t n = 0, i;

	json_array_foreach (json_object_get(b->checks, "outside"), i, o)
		if (n < BISECTION_OUTSIDE_MAX && measured_as(b, json_str(o, "measured", "")) == o)
			list[n++] = json_str(o, "measured", "");
	return n;
}

void bisection_outside_text(const struct bisection_run *b, const char *what, const char *hash,
			    struct strbuf *text)
{
	const json_t *o = measured_as(b, hash);
	long long older = json_i64(o, "older", 0);

	if (older)
		strbuf_addf(text, "%.12s, %lld commit%s before %s %.12s, which cannot be measured",
			    hash, older, older == 1 ? "" : "s", what, json_str(o, "commit", ""));
	else
		strbuf_addf(text, "%s %.12s", what, hash);
	if (json_is_true(json_object_get(o, "before")))
		strbuf_addstr(text, older ? " and is older than the good end"
					  : " (older than the good end)");
}

void bisection_outside_result(const struct bisection_run *b, const char *hash, json_t *result)
{
	const json_t *list = chosen_for(b, hash), *o;
	json_t *copy;
	size_t i, n = 0;

	json_array_foreach (list, i, o)
		n += strcmp(json_str(o, "measured", ""), b->good) != 0;
	if (!n)
		return;
	copy = json_deep_copy(list);
	if (!copy || json_object_set_new(result, "outside", copy) < 0)
		abort();
}
