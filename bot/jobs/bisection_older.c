/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_older.h"

#include "bisect/older.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_answer.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_outside.h"
#include "bot/jobs/bisection_result.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/work.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

static void set_new(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, v) < 0)
		abort();
}

static bool is_known(const json_t *list, const char *parent)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (!strcmp(json_str(o, "parent", ""), parent))
			return true;
	return false;
}

/* Is @parent the good end, or a merge base that is as good? */
static bool is_good(const struct bisection_run *b, const char *parent)
{
	const struct bisection_fork *f = &b->fork;

	for (size_t i = 0; i < f->n_bases; i++)
		if (f->sides[i] == BISECT_BASE_GOOD && !strcmp(f->bases[i], parent))
			return true;
	return !strcmp(parent, b->good);
}

/* Where the request leaves commits out, what is in a commit can only be told from all of history. */
static bool is_limited(const struct bisection_run *b)
{
	return json_array_size(json_object_get(b->row.request, "paths")) > 0 ||
	       json_is_true(json_object_get(b->row.request, "first_parent"));
}

static void mark(struct bisection_run *b, const json_t *list)
{
	const struct bisect_graph *g = &b->range.graph;
	_cleanup_(freep) unsigned char *bad = xcalloc(g->n, 1);

	for (size_t c = 0; c < g->n; c++) {
		char real[BISECTION_OUTSIDE_MAX][41];
		size_t n = bisection_outside_real(b, (int)c, real);

		for (size_t i = 0; i < n; i++) {
			bad[c] |= is_known(list, real[i]);
			b->has_good[c] |= is_good(b, real[i]);
		}
	}
	bisect_older_mark(g, bad, b->has_good, b->older);
	for (size_t c = 0; is_limited(b) && c < g->n; c++) {
		if (!b->older[c] ||
		    mirror_is_ancestor(b->mirror, b->good, g->commits[c].hash, NULL) != 1)
			continue;
		b->has_good[c] = 1;
		bisect_older_mark(g, bad, b->has_good, b->older);
	}
}

int bisection_older_skip(struct bisection_run *b, struct err *e)
{
	const json_t *list = json_object_get(b->checks, "older");
	size_t n = b->range.graph.n;
	int r = 0;

	free(b->older);
	free(b->has_good);
	b->older = xcalloc(n, 1);
	b->has_good = xcalloc(n, 1);
	if (!json_array_size(list) || b->fork.stage == BISECTION_BASES ||
	    b->fork.stage == BISECTION_GOOD_SIDE)
		return 0;
	mark(b, list);
	for (size_t c = 0; r == 0 && c + 1 < n; c++)
		if (b->older[c] && b->state.skip[c] == BISECT_TESTABLE)
			r = bisect_skip(&b->state, (int)c, BISECT_SKIP_OLDER, e);
	return r;
}

bool bisection_older_concerns(const struct bisection_run *b, int commit)
{
	const struct bisect_commit *c = &b->range.graph.commits[commit];
	bool ret = b->older[commit];

	for (size_t i = 0; i < c->n_parents; i++)
		ret |= b->older[c->parents[i]];
	return ret;
}

void bisection_older_forget(struct bisection_run *b)
{
	if (b->checks)
		(void)json_object_del(b->checks, "older");
}

static struct bisect_interval interval_of(const struct detect_result *effect)
{
	return (struct bisect_interval){ effect->rel, effect->lo, effect->hi };
}

/* Which way the ends differ, by the runs that the search reckons with. */
static bool goes_down(const struct bisection_run *b)
{
	const struct bisect_state *s = &b->state;
	double sum[2] = { 0 };
	int n[2] = { 0 };

	for (size_t i = 0; i < s->n_runs; i++) {
		int bad = s->runs[i].commit == (int)b->range.graph.n - 1;

		if (!bad && s->runs[i].commit != BISECT_GOOD_END)
			continue;
		sum[bad] += s->runs[i].y;
		n[bad]++;
	}
	return n[0] && n[1] ? sum[1] / n[1] < sum[0] / n[0] : s->params.step < 0;
}

static void note(struct bisection_run *b, int commit, const char *measured,
		 const struct detect_result *effect)
{
	json_t *list = json_object_get(b->checks, "older"), *o = bisection_effect_json(effect);
	const char *parent = bisection_outside_parent(b, measured);
	int merge;

	if (!list) {
		list = json_array();
		set_new(b->checks, "older", list);
	}
	json_set_str(o, "parent", parent);
	json_set_str(o, "measured", measured);
	json_set_str(o, "commit", bisection_run_hash(b, commit));
	if (json_array_append_new(list, o) < 0)
		abort();
	memset(b->has_good, 0, b->range.graph.n);
	mark(b, list);
	merge = bisect_older_merge(&b->range.graph, b->has_good, commit);
	if (merge != BISECT_NO_COMMIT)
		json_set_str(o, "merge", bisection_run_hash(b, merge));
}

/* Its branch is no part of the search from now on. */
static int go_on(struct bisection_run *b, const struct bisect_step *step, const char *parent,
		 const struct detect_result *effect, struct err *e)
{
	const char *hash = bisection_run_hash(b, step->commit);
	int r;

	note(b, step->commit, parent, effect);
	log_info(
		"a parent older than the good end is as bad as the commit found, its branch is left "
		"out",
		lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", hash), lf_str("PARENT", parent));
	/* A merge that has the good end in it: it brought the step, and nothing is left to look for. */
	if (!b->older[step->commit])
		return bisection_older_answer(b, step, e);
	b->n_asked = 0;
	r = bisection_order_progress(b, "running", e);
	return r < 0 ? r : work_enqueue_name(b->c->db, "bisect", "bisection", b->row.id, e);
}

/* The budget is spent, or the deadline has passed, before it could be told what the parent is like. */
static int end_open(struct bisection_run *b, const char *culprit, const char *parent, struct err *e)
{
	_cleanup_(freep) char *text = xasprintf(
		"%s; the commit found, %.12s, does not differ from its parent %.12s, of which it is "
		"not known whether it is as good as the good end",
		b->late ? "the deadline has passed" : "the budget is spent", culprit, parent);

	return bisection_answer_failed(b, "inconclusive", text, e);
}

int bisection_older_parent(struct bisection_run *b, const struct bisect_step *step,
			   const char *parent, const struct detect_result *effect, struct err *e)
{
	const struct bisection_side sides[] = { { .hash = parent },
						{ .hash = b->good, .with = parent } };
	const char *culprit = bisection_run_hash(b, step->commit);
	struct bisect_interval one = interval_of(effect), two, three;
	struct detect_result from_good, whole;
	bool down = goes_down(b);
	int r;

	if (bisect_older_judge(down, &one, NULL, NULL) == BISECT_OLDER_GOOD)
		return 1;
	if (!b->spent) {
		r = bisection_order_turns(b, sides, ARRAY_SIZE(sides), BISECTION_VERIFY_BOOTS, e);
		if (r != 0)
			return r < 0 ? r : bisection_order_progress(b, "verifying", e);
	} else if (bisection_run_fresh(b, b->good) < BISECTION_VERIFY_BOOTS) {
		return end_open(b, culprit, parent, e);
	}
	r = bisection_run_effect(b, parent, b->good, &from_good, e);
	if (r == 0)
		r = bisection_run_effect(b, culprit, b->good, &whole, e);
	if (r < 0)
		return r;
	two = interval_of(&from_good);
	three = interval_of(&whole);
	if (bisect_older_judge(down, &one, &two, &three) != BISECT_OLDER_BAD)
		return 2;
	return go_on(b, step, parent, &from_good, e);
}

/* The commit of @step is told, and not as the first bad one. */
static int end(struct bisection_run *b, const struct bisect_step *step, json_t *result,
	       const char *text, struct err *e)
{
	int commit = step->commit;
	double p = step->probability;
	struct bisect_step told = *step;
	json_t *set = json_array(), *o = json_object();
	int r;

	json_set_str(o, "commit", bisection_run_hash(b, commit));
	json_set_f64(o, "p", p);
	if (json_array_append_new(set, o) < 0)
		abort();
	set_new(result, "set", set);
	json_set_f64(result, "set_p", p);
	told.action = BISECT_SET;
	told.exhausted = true;
	told.set = &commit;
	told.set_p = &p;
	told.n_set = 1;
	b->step = &told;
	r = bisection_answer_end(b, "inconclusive", result, text, e);
	b->step = step;
	return r;
}

int bisection_older_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	_cleanup_(json_decrefp) json_t *result = json_object();

	return end(b, step, result, "no single commit of the range is to blame", e);
}

int bisection_older_unverified(struct bisection_run *b, const struct bisect_step *step,
			       const json_t *lost, struct err *e)
{
	const char *culprit = bisection_run_hash(b, step->commit);
	_cleanup_(json_decrefp) json_t *result = json_object();
	_cleanup_(freep) char *text = NULL;
	char p[PROBABILITY_TEXT];

	json_set_str(result, "culprit", culprit);
	json_set_f64(result, "p", step->probability);
	json_set_bool(result, "confirmed", false);
	bisection_outside_result(b, culprit, result);
	text = xasprintf(
		"the first bad commit is most likely %.12s (%s), which is not verified: of its "
		"parent %.12s%s it is not known whether it is good, %s",
		culprit, probability_text(p, step->probability), json_str(lost, "commit", ""),
		json_is_true(json_object_get(lost, "before"))
			? ", which is older than the good end,"
			: "",
		json_str(lost, "why", ""));
	return end(b, step, result, text, e);
}

/* Is @hash among what the result tells as the possible ones? */
static bool in_set(const json_t *result, const char *hash)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(result, "set"), i, o)
		if (!strcmp(json_str(o, "commit", ""), hash))
			return true;
	return false;
}

/* Is the merge that brought its branch a possible answer? */
static bool is_answer(const json_t *o, const json_t *result)
{
	const char *merge = json_str(o, "merge", NULL);

	return !json_str(result, "culprit", NULL) && merge && in_set(result, merge);
}

static void tell(const json_t *o, const json_t *result, struct strbuf *text)
{
	const char *parent = json_str(o, "parent", ""), *measured = json_str(o, "measured", "");
	const char *commit = json_str(o, "commit", ""), *merge = json_str(o, "merge", NULL);
	struct detect_result effect = { .rel = json_f64(o, "rel", NAN),
					.lo = json_f64(o, "lo", NAN),
					.hi = json_f64(o, "hi", NAN) };
	bool here = is_answer(o, result);

	strbuf_addf(text, "; %.12s", measured);
	if (strcmp(measured, parent) != 0)
		strbuf_addf(text, ", in place of %.12s, which cannot be measured and is", parent);
	else
		strbuf_addstr(text, ",");
	strbuf_addf(text, " older than the good end, is as bad as %.12s (", commit);
	bisection_effect_text(&effect, text);
	strbuf_addf(
		text,
		" against the good end): the branch of %.12s lacks what makes the good end better, "
		"and no commit of it is to blame by itself",
		commit);
	if (here)
		strbuf_addf(text, "; the step came in with merge %.12s", merge);
	else
		strbuf_addstr(text, ", so it was left out of the search");
}

void bisection_older_result(const struct bisection_run *b, json_t *result)
{
	json_t *list = json_object_get(b->checks, "older"), *o;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const char *was = json_str(result, "text", "");
	_cleanup_(freep) char *all = NULL;
	bool first = false;
	size_t i;

	if (!json_array_size(list))
		return;
	json_array_foreach (list, i, o) {
		first |= is_answer(o, result);
		tell(o, result, &text);
	}
	/* The answer comes first; before each is a "; ". */
	all = first ? xasprintf("%s; %s", strbuf_str(&text) + 2, was)
		    : xasprintf("%s%s", was, strbuf_str(&text));
	json_set_str(result, "text", all);
	if (json_object_set(result, "older", list) < 0)
		abort();
}
