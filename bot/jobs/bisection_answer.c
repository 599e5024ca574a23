/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_answer.h"

#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_checks.h"
#include "bot/jobs/bisection_gain.h"
#include "bot/jobs/bisection_older.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_outside.h"
#include "bot/jobs/bisection_result.h"
#include "bot/jobs/culprit_same.h"
#include "bot/jobs/job_ctx.h"

#include <math.h>
#include <string.h>

static int finish(struct bisection_run *b, const char *state, json_t *result, struct err *e)
{
	int r;

	b->n_asked = 0;
	bisection_older_result(b, result);
	bisection_bases_result(b, result);
	r = bisection_order_progress(b, "verifying", e);
	if (r == 0)
		r = boot_cancel_bisection(b->c->db, b->row.id, e);
	if (r == 0)
		r = bisection_finish(b->c->db, &b->row, state, result, e);
	if (r == 0)
		log_info("bisection ended", lf_str("BISECT_ID", b->row.id), lf_str("STATE", state));
	return r;
}

int bisection_answer_end(struct bisection_run *b, const char *state, json_t *result,
			 const char *text, struct err *e)
{
	int r;

	json_set_str(result, "text", text);
	r = finish(b, state, result, e);
	if (r == 0 && b->row.regression[0])
		r = regression_state(b->c->db, b->row.regression, "bisecting", "confirmed",
				     "kperfbot", json_str(result, "text", text), e);
	return r;
}

int bisection_answer_failed(struct bisection_run *b, const char *state, const char *text,
			    struct err *e)
{
	_cleanup_(json_decrefp) json_t *result = json_object();

	return bisection_answer_end(b, state, result, text, e);
}

/* No single commit can be named. */
static int answer_set(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *result = bisection_result_set(b, step, &text);

	return bisection_answer_end(b, "inconclusive", result, strbuf_str(&text), e);
}

static int answer_none(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	const struct bisection_side ends[2] = {
		{ .hash = b->good }, { .hash = bisection_run_hash(b, (int)b->range.graph.n - 1) }
	};
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *result = NULL;
	struct detect_result effect;
	bool blind;
	int r = bisection_order_turns(b, ends, 2, BISECTION_VERIFY_BOOTS, e);

	if (r < 0)
		return r;
	if (r > 0)
		return bisection_order_progress(b, "checking-ends", e);
	r = bisection_run_effect(b, ends[1].hash, ends[0].hash, &effect, e);
	if (r < 0)
		return r;
	result = bisection_result_none(b, step, &effect, &blind, &text);
	return bisection_answer_end(b, blind ? "inconclusive" : "not-reproduced", result,
				    strbuf_str(&text), e);
}

static int name_culprit(struct bisection_run *b, const struct bisect_step *step,
			const char *culprit, const struct bisection_against *a, json_t *result,
			struct err *e)
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
		r = culprit_same(b->c, &reg, culprit, same, e);
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

/*
 * How the culprit differs from each of its parents. Return: 1 it does from all of them; 0 not from
 * one, and that is the answer, or is looked into; an error.
 */
static int compare_parents(struct bisection_run *b, const struct bisect_step *step,
			   const char *const *parents, size_t n, struct bisection_against *a,
			   struct err *e)
{
	const char *culprit = bisection_run_hash(b, step->commit);

	for (size_t i = 0; i < n; i++) {
		_cleanup_(strbuf_done) struct strbuf why = STRBUF_INIT;
		int r = bisection_run_effect(b, culprit, parents[i], &a[i].effect, e);

		if (r < 0)
			return r;
		a[i].parent = parents[i];
		/* The search has measured the others, the good end among them. */
		if (bisection_run_index(b, parents[i]) < BISECT_GOOD_END)
			r = bisection_older_parent(b, step, parents[i], &a[i].effect, e);
		else
			r = bisection_effect_differs(&a[i].effect) ? 1 : 2;
		if (r <= 0)
			return r;
		if (r == 1)
			continue;
		strbuf_addf(&why,
			    "measured again, the commit found, %.12s, does not differ from its "
			    "parent %.12s: ",
			    culprit, parents[i]);
		bisection_effect_text(&a[i].effect, &why);
		return bisection_answer_failed(b, "not-reproduced", strbuf_str(&why), e);
	}
	return 1;
}

/* What is known as well as it will be. */
static int answer_too_wide(struct bisection_run *b, const struct bisect_step *step,
			   const char *text, struct err *e)
{
	_cleanup_(json_decrefp) json_t *result = json_object();

	json_set_str(result, "culprit", bisection_run_hash(b, step->commit));
	json_set_f64(result, "p", step->probability);
	json_set_bool(result, "confirmed", false);
	return bisection_answer_end(b, "inconclusive", result, text, e);
}

/* Enough boots of the culprit, its parents and what is checked beside them? 1: not yet. */
static int measure_sides(struct bisection_run *b, const char *culprit, const char *const *parents,
			 size_t n, struct err *e)
{
	_cleanup_(freep) struct bisection_side *sides =
		xcalloc(n + 1 + BISECTION_CHECK_SIDES, sizeof(*sides));
	size_t n_sides = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		sides[n_sides++].hash = parents[i];
	sides[n_sides++].hash = culprit;
	r = bisection_checks_sides(b, culprit, parents[0], BISECTION_VERIFY_BOOTS, sides, &n_sides,
				   e);
	if (r != 0 || b->spent)
		return r;
	return bisection_order_turns(b, sides, n_sides, BISECTION_VERIFY_BOOTS, e);
}

/* The culprit and all of its parents, in turns; a merge is blamed only when it differs from each. */
static int answer_done(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	const char *culprit = bisection_run_hash(b, step->commit);
	_cleanup_(freep) const char **parents = NULL;
	_cleanup_(freep) struct bisection_against *a = NULL;
	_cleanup_(json_decrefp) json_t *result = NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct bisect_step named = *step;
	size_t n;
	int r = 0;

	if (bisection_older_concerns(b, step->commit))
		return bisection_older_answer(b, step, e);
	if (!b->spent)
		r = bisection_checks_choose(b, culprit, e);
	if (r == 0 && !b->spent)
		r = bisection_outside_look(b, e);
	if (r < 0)
		return r;
	if (bisection_outside_lost(b, culprit))
		return bisection_older_unverified(b, step, bisection_outside_lost(b, culprit), e);
	n = bisection_run_parents(b, step->commit, &parents);
	if (b->spent)
		for (size_t i = 0; i <= n; i++)
			if (bisection_run_fresh(b, i < n ? parents[i] : culprit) <
			    BISECTION_VERIFY_BOOTS)
				return answer_set(b, step, e);
	if (!b->spent && bisection_result_too_wide(b, step, parents, n, BISECTION_VERIFY_BOOTS,
						   "the first bad commit", &text))
		return answer_too_wide(b, step, strbuf_str(&text), e);
	r = measure_sides(b, culprit, parents, n, e);
	if (r < 0)
		return r;
	if (r > 0)
		return bisection_order_progress(b, "verifying", e);
	a = xcalloc(n, sizeof(*a));
	r = compare_parents(b, step, parents, n, a, e);
	if (r <= 0)
		return r;
	result = bisection_result_culprit(b, step, a, n, &text);
	r = bisection_checks_tell(b, parents[0], a[0].effect.rel, BISECTION_VERIFY_BOOTS, result,
				  &text, e);
	if (r < 0)
		return r;
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
	bisection_bases_reset(b);
	bisection_older_forget(b);
	r = bisection_forget(b->c->db, b->row.id, e);
	if (r == 0)
		r = bisection_order_progress(b, "checking-ends", e);
	return r < 0 ? r : work_enqueue_name(b->c->db, "bisect", "bisection", b->row.id, e);
}

int bisection_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	if (step->drifted && step->action != BISECT_ENDS_BROKEN)
		return start_again(b, e);
	if (step->action == BISECT_DONE || step->action == BISECT_SET) {
		if (b->fork.stage == BISECTION_BASES)
			return bisection_bases_answer(b, step, e);
		if (b->fork.stage == BISECTION_GOOD_SIDE)
			return bisection_gain_answer(b, step, e);
	}
	switch (step->action) {
	case BISECT_DONE:
		return answer_done(b, step, e);
	case BISECT_NONE:
		return answer_none(b, step, e);
	case BISECT_SET:
		/* What verifies it is measured last, and counts however little of it is left. */
		b->spent = step->exhausted;
		return bisection_result_sure(b, step) ? answer_done(b, step, e)
						      : answer_set(b, step, e);
	case BISECT_ENDS_BROKEN:
		return bisection_answer_failed(b, "failed", "the bad end cannot be built or booted",
					       e);
	case BISECT_MEASURE:
	case BISECT_WAIT:
		break;
	}
	return err_set(e, ERR_BUG, "'%s' is no answer", bisect_action_name(step->action));
}
