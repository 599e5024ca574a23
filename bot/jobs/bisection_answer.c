/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_answer.h"

#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_checks.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_priors.h"
#include "bot/jobs/job_ctx.h"

#include <math.h>
#include <string.h>

/*
 * Fresh boots of each side before a commit is named, or the ends are said to be equal: as many as
 * detect_compare() wants of a metric without history before it gives an interval.
 */
#define VERIFY_BOOTS 5
#define SET_TEXT_MAX 20
#define SET_MAX	     500

static void set_new(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, v) < 0)
		abort();
}

static void push_new(json_t *list, json_t *v)
{
	if (json_array_append_new(list, v) < 0)
		abort();
}

static json_t *effect_json(const struct detect_result *effect)
{
	json_t *o = json_object();

	json_set_f64(o, "rel", effect->rel);
	json_set_f64(o, "lo", effect->lo);
	json_set_f64(o, "hi", effect->hi);
	json_set_f64(o, "level", effect->level);
	return o;
}

/* A step in units of y as a ratio; NAN where the metric has no logarithm. */
static double ratio_of(const struct bisection_run *b, double y)
{
	return b->ln ? expm1(y) : NAN;
}

static int finish(struct bisection_run *b, const char *state, json_t *result, struct err *e)
{
	int r;

	b->n_asked = 0;
	r = bisection_order_progress(b, "verifying", e);
	if (r == 0)
		r = boot_cancel_bisection(b->c->db, b->row.id, e);
	if (r == 0)
		r = bisection_finish(b->c->db, b->row.id, state, result, e);
	if (r == 0)
		log_info("bisection ended", lf_str("BISECT_ID", b->row.id), lf_str("STATE", state));
	return r;
}

/* No commit is blamed: the regression stays, with the reason in its history, and no mail goes out. */
static int end_without_culprit(struct bisection_run *b, const char *state, json_t *result,
			       const char *text, struct err *e)
{
	int r;

	json_set_str(result, "text", text);
	r = finish(b, state, result, e);
	if (r == 0 && b->row.regression[0])
		r = regression_state(b->c->db, b->row.regression, "bisecting", "confirmed",
				     "kperfbot", text, e);
	return r;
}

int bisection_answer_failed(struct bisection_run *b, const char *state, const char *text,
			    struct err *e)
{
	_cleanup_(json_decrefp) json_t *result = json_object();

	return end_without_culprit(b, state, result, text, e);
}

static bool has_second(const struct bisect_step *step)
{
	return step->second != BISECT_NO_COMMIT && step->second != BISECT_GOOD_END;
}

static void add_second(const struct bisection_run *b, const struct bisect_step *step,
		       json_t *result, struct strbuf *text)
{
	const char *hash;
	json_t *o;

	if (!has_second(step))
		return;
	hash = bisection_run_hash(b, step->second);
	o = json_object();
	json_set_str(o, "commit", hash);
	json_set_f64(o, "p", step->second_probability);
	json_set_f64(o, "rel", ratio_of(b, step->second_size));
	set_new(result, "second", o);
	strbuf_addf(text, "; the range has a second step");
	if (b->ln)
		strbuf_addf(text, " of %+.1f %%", 100 * ratio_of(b, step->second_size));
	strbuf_addf(text, ", %s %.12s",
		    step->second_probability >= 0.9 ? "brought by" : "likeliest brought by", hash);
}

static const char *why_no_more(const struct bisection_run *b, const struct bisect_step *step)
{
	return b->late		 ? "the deadline has passed"
	       : step->exhausted ? "the budget is spent"
				 : "what is left cannot be built, booted or told apart";
}

/* The same range without a step is the other answer, and no commit of the set has its share. */
static void add_none(const struct bisect_step *step, json_t *result, struct strbuf *text)
{
	json_set_f64(result, "p_none", step->p_none);
	if (step->p_none >= 0.05)
		strbuf_addf(text, "; that the ends do not differ today has %.2f", step->p_none);
}

/* A name that is as sure as wanted, but for the boots that would verify it. */
static void add_unverified(const struct bisection_run *b, const struct bisect_step *step,
			   json_t *result, struct strbuf *text)
{
	const char *hash = bisection_run_hash(b, step->set[0]);

	json_set_str(result, "culprit", hash);
	json_set_f64(result, "p", step->set_p[0]);
	json_set_bool(result, "confirmed", false);
	strbuf_addf(text,
		    "%s before it could be verified; the first bad commit is most likely "
		    "%.12s (%.3f)",
		    why_no_more(b, step), hash, step->set_p[0]);
}

static bool is_sure(const struct bisection_run *b, const struct bisect_step *step)
{
	return step->exhausted && step->n_set == 1 && step->set_p[0] >= b->state.params.confidence;
}

/* The commits that hold 95 %, when no single one can be named. */
static int answer_set(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *result = json_object();
	json_t *set = json_array();
	double sum = 0;

	if (is_sure(b, step))
		add_unverified(b, step, result, &text);
	else
		strbuf_addf(&text, "%s; the first bad commit is one of these %zu with %.0f %%:",
			    why_no_more(b, step), step->n_set, 95 * (1 - step->p_none));
	for (size_t i = 0; i < step->n_set; i++) {
		const char *hash = bisection_run_hash(b, step->set[i]);
		json_t *o;

		sum += step->set_p[i];
		if (i < SET_TEXT_MAX && !is_sure(b, step))
			strbuf_addf(&text, " %.12s (%.2f)", hash, step->set_p[i]);
		if (i >= SET_MAX)
			continue;
		o = json_object();
		json_set_str(o, "commit", hash);
		json_set_f64(o, "p", step->set_p[i]);
		push_new(set, o);
	}
	if (step->n_set > SET_TEXT_MAX)
		strbuf_addf(&text, " and %zu more", step->n_set - SET_TEXT_MAX);
	set_new(result, "set", set);
	json_set_f64(result, "set_p", sum);
	json_set_bool(result, "exhausted", step->exhausted);
	add_none(step, result, &text);
	add_second(b, step, result, &text);
	return end_without_culprit(b, "inconclusive", result, strbuf_str(&text), e);
}

/* What brought the step is not in the bad end any more. */
static void add_reverted(const struct bisection_run *b, const struct bisect_step *step,
			 json_t *result, struct strbuf *text)
{
	const char *brought = bisection_run_hash(b, step->commit);
	const char *took = bisection_run_hash(b, step->second);
	json_t *o = json_object();

	json_set_str(o, "commit", brought);
	json_set_f64(o, "p", step->probability);
	json_set_f64(o, "rel", ratio_of(b, step->size));
	json_set_str(o, "by", took);
	json_set_f64(o, "by_p", step->second_probability);
	set_new(result, "reverted", o);
	strbuf_addf(text, "; %.12s brought a step", brought);
	if (b->ln)
		strbuf_addf(text, " of %+.1f %%", 100 * ratio_of(b, step->size));
	strbuf_addf(text, " and %.12s took it away again", took);
}

static bool differs(const struct detect_result *effect)
{
	return effect->lo > 0 || effect->hi < 0;
}

static int answer_none(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	const char *ends[2] = { b->good, bisection_run_hash(b, (int)b->range.graph.n - 1) };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *result = NULL;
	struct detect_result effect;
	int r = bisection_order_turns(b, ends, 2, VERIFY_BOOTS, e);

	if (r < 0)
		return r;
	if (r > 0)
		return bisection_order_progress(b, "checking-ends", e);
	r = bisection_run_effect(b, ends[1], ends[0], &effect, e);
	if (r < 0)
		return r;
	result = json_object();
	set_new(result, "ends", effect_json(&effect));
	strbuf_addstr(&text, differs(&effect) ? "the ends hardly differ today"
					      : "the ends do not differ today");
	if (isfinite(effect.lo) && isfinite(effect.hi))
		strbuf_addf(&text,
			    ": %+.2f %% (%.0f %% interval %+.2f %% to %+.2f %%, %d + %d boots)",
			    100 * effect.rel, 100 * effect.level, 100 * effect.lo, 100 * effect.hi,
			    effect.base.boots, effect.head.boots);
	if (strcmp(b->good, b->row.good) != 0)
		strbuf_addf(&text,
			    "; %.12s is not an ancestor of the bad end, so their merge base %.12s "
			    "was measured as the good end: the step is older than that, or the two "
			    "branches differ since",
			    b->row.good, b->good);
	if (step->reverted && has_second(step))
		add_reverted(b, step, result, &text);
	return end_without_culprit(b, "not-reproduced", result, strbuf_str(&text), e);
}

/* What was measured of the culprit against one of its parents. */
struct against {
	const char *parent;
	struct detect_result effect;
};

/* A commit that cannot matter by what it changes, and yet seems to. */
static json_t *suspicions(const struct bisection_run *b, const char *culprit, const char *parent)
{
	struct err e = { 0 };
	json_t *list = NULL;

	if (bisection_suspicions(b, culprit, parent, &list, &e) == 0)
		return list;
	log_warn("what a culprit changes cannot be read, going on without",
		 lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", culprit), lf_str("ERROR", e.msg));
	return json_array();
}

static json_t *culprit_json(const struct bisection_run *b, const struct bisect_step *step,
			    const char *culprit, const struct against *a, size_t n,
			    struct strbuf *text)
{
	json_t *o = json_object(), *parents;

	json_set_str(o, "culprit", culprit);
	json_set_str(o, "parent", a[0].parent);
	json_set_f64(o, "p", step->probability);
	json_set_bool(o, "confirmed", true);
	set_new(o, "effect", effect_json(&a[0].effect));
	strbuf_addf(text, "first bad commit %.12s", culprit);
	if (n > 1) {
		parents = json_array();
		for (size_t i = 0; i < n; i++) {
			json_t *p = effect_json(&a[i].effect);

			json_set_str(p, "commit", a[i].parent);
			push_new(parents, p);
		}
		set_new(o, "parents", parents);
		json_set_bool(o, "interaction", true);
		strbuf_addf(text,
			    ", an interaction: this merge is bad and %s of its %zu parents is",
			    n == 2 ? "neither" : "none", n);
	}
	add_second(b, step, o, text);
	set_new(o, "suspicious", suspicions(b, culprit, a[0].parent));
	return o;
}

static int name_culprit(struct bisection_run *b, const struct bisect_step *step,
			const char *culprit, const struct against *a, json_t *result, struct err *e)
{
	const struct detect_result *effect = &a[0].effect;
	struct comparison_effect ce = { effect->rel, effect->lo, effect->hi, effect->p };
	struct regression reg = { 0 };
	char same[9] = "";
	int r;

	r = finish(b, "done", result, e);
	if (r < 0 || !b->row.regression[0])
		return r;
	/* Two bisections may find it at the same time, one of them has to see the other. */
	r = regression_lock(b->c->db, culprit, e);
	if (r == 0)
		r = regression_get(b->c->db, b->row.regression, &reg, e);
	if (r == 0)
		r = regression_blame(b->c->db, reg.id, culprit, step->probability, a[0].parent, &ce,
				     e);
	if (r == 0)
		r = regression_same(b->c->db, &reg, culprit, same, e);
	if (r == 0 && same[0]) {
		log_info("culprit was reported before, no second report",
			 lf_str("REGRESSION_ID", reg.id), lf_str("COMMIT", culprit));
		r = regression_dup(b->c->db, reg.id, same, e);
	} else if (r == 0) {
		r = regression_state(b->c->db, reg.id, "bisecting", "confirmed", "kperfbot",
				     json_str(result, "text", "first bad commit found"), e);
		if (r == 0)
			r = work_enqueue_name(b->c->db, "report", "regression", reg.id, e);
	}
	regression_done(&reg);
	return r;
}

/* The culprit and all of its parents, in turns; a merge is blamed only when it differs from each. */
static int answer_done(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	const char *culprit = bisection_run_hash(b, step->commit);
	_cleanup_(freep) const char **sides = NULL;
	_cleanup_(freep) struct against *a = NULL;
	_cleanup_(json_decrefp) json_t *result = NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct bisect_step named = *step;
	size_t n = bisection_run_parents(b, step->commit, &sides);
	int r;

	sides[n] = culprit;
	if (b->spent)
		for (size_t i = 0; i <= n; i++)
			if (bisection_run_fresh(b, sides[i]) < VERIFY_BOOTS)
				return answer_set(b, step, e);
	r = bisection_order_turns(b, sides, n + 1, VERIFY_BOOTS, e);
	if (r < 0)
		return r;
	if (r > 0)
		return bisection_order_progress(b, "verifying", e);
	a = xcalloc(n, sizeof(*a));
	for (size_t i = 0; i < n; i++) {
		a[i].parent = sides[i];
		r = bisection_run_effect(b, culprit, sides[i], &a[i].effect, e);
		if (r < 0)
			return r;
		if (!differs(&a[i].effect)) {
			_cleanup_(freep) char *why =
				xasprintf("measured again, the commit found, %.12s, does not "
					  "differ from its parent %.12s",
					  culprit, sides[i]);

			return bisection_answer_failed(b, "not-reproduced", why, e);
		}
	}
	result = culprit_json(b, step, culprit, a, n, &text);
	r = bisection_checks(b, culprit, a[0].parent, VERIFY_BOOTS, result, &text, e);
	if (r < 0)
		return r;
	if (r > 0)
		return bisection_order_progress(b, "verifying", e);
	json_set_str(result, "text", strbuf_str(&text));
	/* Also where it was a spent budget that ended the search, the log names it. */
	named.action = BISECT_DONE;
	b->step = &named;
	r = name_culprit(b, step, culprit, a, result, e);
	b->step = step;
	return r;
}

/* What was measured first and last does not belong together: from the start, once. */
static int start_again(struct bisection_run *b, struct err *e)
{
	int r;

	if (b->restarts || b->late)
		return bisection_answer_failed(
			b, "inconclusive",
			b->late ? "the machine moved by more than half of the step while it was "
				  "searched for, and the deadline has passed"
				: "the machine moved by more than half of the step while it was "
				  "searched for, twice",
			e);
	log_warn("the machine moved during a bisection, it starts again",
		 lf_str("BISECT_ID", b->row.id), lf_str("MACHINE", b->row.machine));
	b->restarts++;
	b->n_asked = 0;
	r = bisection_forget(b->c->db, b->row.id, e);
	if (r == 0)
		r = bisection_order_progress(b, "checking-ends", e);
	return r < 0 ? r : work_enqueue_name(b->c->db, "bisect", "bisection", b->row.id, e);
}

int bisection_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	if (step->drifted && step->action != BISECT_ENDS_BROKEN)
		return start_again(b, e);
	switch (step->action) {
	case BISECT_DONE:
		return answer_done(b, step, e);
	case BISECT_NONE:
		return answer_none(b, step, e);
	case BISECT_SET:
		/* What verifies it is measured last, and counts however little of it is left. */
		b->spent = step->exhausted;
		return is_sure(b, step) ? answer_done(b, step, e) : answer_set(b, step, e);
	case BISECT_ENDS_BROKEN:
		return bisection_answer_failed(b, "failed",
					       "an end of the range cannot be built or booted", e);
	case BISECT_MEASURE:
	case BISECT_WAIT:
		break;
	}
	return err_set(e, ERR_BUG, "'%s' is no answer", bisect_action_name(step->action));
}
