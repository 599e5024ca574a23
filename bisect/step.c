/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of things: ends, search, verification, answer. */
#include "bisect/step.h"
#include "bisect/bisect.h"
#include "bisect/eval.h"
#include "bisect/two.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define SET_SHARE 0.95
/* Below this a measurement tells nothing that a person would wait for. */
#define BITS_LEAST 1e-4
#define GROUP_MOST 256
/* Odds at which a second look is due, two steps are searched for, and are told. */
#define TWO_ODDS_HINT 1.0
#define TWO_ODDS      20.0
#define TWO_ODDS_TOLD 100.0
#define HINT_BOOTS    6

void bisect_step_measure(const struct bisect_state *s, struct bisect_step *step,
			 enum bisect_phase phase, int commit, int runs)
{
	const struct bisect_params *p = &s->params;
	double build = bisect_build_minutes(s, commit);

	step->action = BISECT_MEASURE;
	step->phase = phase;
	step->commit = commit;
	step->build = !s->built[commit == BISECT_GOOD_END ? s->graph->n : (size_t)commit];
	step->boots = 1;
	step->runs = runs;
	step->minutes = build + p->cost_boot + runs * p->cost_run;
	if (p->max_runs > 0 && step->runs > p->max_runs - (int)s->n_runs)
		step->runs = p->max_runs - (int)s->n_runs;
}

int bisect_step_pending(const struct bisect_state *s, int commit)
{
	return s->pending[commit == BISECT_GOOD_END ? s->graph->n : (size_t)commit];
}

static int runs_per_boot(const struct bisect_state *s)
{
	double d = fabs(s->params.step) / s->params.sigma;

	return d >= 4 ? 1 : d >= 1.5 ? 2 : 3;
}

void bisect_step_measure_or_wait(const struct bisect_state *s, struct bisect_step *step,
				 enum bisect_phase phase, int commit, bool wait)
{
	if (wait)
		step->action = BISECT_WAIT;
	else
		bisect_step_measure(s, step, phase, commit, runs_per_boot(s));
}

static bool any_pending(const struct bisect_state *s)
{
	for (size_t i = 0; i <= s->graph->n; i++)
		if (s->pending[i])
			return true;
	return false;
}

struct ranked {
	double p;
	int commit;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;

	if (x->p != y->p)
		return x->p > y->p ? -1 : 1;
	return x->commit < y->commit ? -1 : x->commit > y->commit;
}

/* The fewest commits that hold @share of what is not NONE. */
static void likeliest_set(const struct bisect_state *s, const struct bisect_eval *v, double share,
			  int **ret, size_t *ret_n)
{
	const size_t n = s->graph->n;
	_cleanup_(freep) struct ranked *rank = xcalloc(n, sizeof(*rank));
	double left = share * (1 - v->p_none);
	size_t k = 0;

	for (size_t c = 0; c < n; c++)
		rank[c] = (struct ranked){ .p = v->p[c], .commit = (int)c };
	qsort(rank, n, sizeof(*rank), compare_ranked);
	*ret = xcalloc(n, sizeof(**ret));
	while (k < n && (k == 0 || left > 1e-12)) {
		(*ret)[k] = rank[k].commit;
		left -= rank[k].p;
		k++;
	}
	*ret_n = k;
}

/* Is there no testable commit that would tell the members apart? */
static bool group_is_closed(const struct bisect_state *s, const int *group, size_t n)
{
	for (size_t x = 0; x < s->graph->n; x++) {
		bool first = bisect_graph_contains(s->graph, x, (size_t)group[0]);

		for (size_t i = 1; i < n && !s->skip[x]; i++)
			if (bisect_graph_contains(s->graph, x, (size_t)group[i]) != first)
				return false;
	}
	return true;
}

static bool group_has(const int *group, size_t n, int commit)
{
	for (size_t i = 0; i < n; i++)
		if (group[i] == commit)
			return true;
	return false;
}

#define NOTHING_MISSING (-2)
#define UNDER_WAY	(-3)

static void verify_commit(const struct bisect_state *s, int commit, int *missing)
{
	int boots = bisect_boots(s, commit);

	if (*missing >= 0 || s->skip[commit] || boots >= 2)
		return;
	*missing = boots + bisect_step_pending(s, commit) < 2 ? commit : UNDER_WAY;
}

/* A testable member or parent with fewer than two boots. */
static int verify_missing(const struct bisect_state *s, const int *group, size_t n)
{
	int missing = NOTHING_MISSING;

	for (size_t i = 0; i < n; i++) {
		const struct bisect_commit *c = &s->graph->commits[group[i]];

		verify_commit(s, group[i], &missing);
		for (size_t j = 0; j < c->n_parents; j++)
			if (!group_has(group, n, c->parents[j]))
				verify_commit(s, c->parents[j], &missing);
	}
	return missing;
}

static bool step_verify(const struct bisect_state *s, struct bisect_step *step, const int *group,
			size_t n)
{
	int missing = verify_missing(s, group, n);

	if (missing == NOTHING_MISSING)
		return false;
	bisect_step_measure_or_wait(s, step, BISECT_PHASE_VERIFY, missing, missing == UNDER_WAY);
	return true;
}

static void step_summary(const struct bisect_state *s, const struct bisect_eval *v,
			 struct bisect_step *step)
{
	step->p_none = v->p_none;
	step->entropy_bits = v->p_none > 0 ? -v->p_none * log2(v->p_none) : 0;
	for (size_t c = 0; c < s->graph->n; c++) {
		if (v->p[c] > step->probability) {
			step->probability = v->p[c];
			step->likeliest = (int)c;
		}
		if (v->p[c] > 0)
			step->entropy_bits -= v->p[c] * log2(v->p[c]);
	}
}

static void step_set(const struct bisect_state *s, const struct bisect_eval *v,
		     struct bisect_step *step, bool exhausted)
{
	step->action = BISECT_SET;
	step->commit = step->likeliest;
	step->exhausted = exhausted;
	likeliest_set(s, v, SET_SHARE, &step->set, &step->n_set);
	step->set_p = xcalloc(step->n_set, sizeof(*step->set_p));
	for (size_t i = 0; i < step->n_set; i++)
		step->set_p[i] = v->p[step->set[i]];
}

static void step_done(const struct bisect_state *s, struct bisect_step *step)
{
	step->action = BISECT_DONE;
	step->commit = step->likeliest;
	step->merge = bisect_graph_is_merge(s->graph, (size_t)step->likeliest);
}

/*
 * A commit of little weight may stay short of the wanted confidence whatever is measured, since its
 * one build may be odd. It is named with the confidence that it has. Return: true if @step says so.
 */
static bool step_name_last(const struct bisect_state *s, struct bisect_step *step)
{
	if (step->probability < SET_SHARE)
		return false;
	if (!step_verify(s, step, &step->likeliest, 1))
		step_done(s, step);
	return true;
}

static void step_search(const struct bisect_state *s, const struct bisect_eval *v,
			struct bisect_step *step)
{
	struct bisect_choice choice;

	bisect_choose(s, v, &choice);
	if (choice.bits < BITS_LEAST) {
		step->action = BISECT_WAIT;
		if (any_pending(s) || step_name_last(s, step))
			return;
		step_set(s, v, step, false);
		return;
	}
	bisect_step_measure(s, step, BISECT_PHASE_SEARCH, choice.commit, choice.runs);
	step->bits = choice.bits;
}

/* Return: true if @step names the culprit, a closed group, or what is missing to do so. */
static bool step_answer(const struct bisect_state *s, const struct bisect_eval *v,
			struct bisect_step *step)
{
	_cleanup_(freep) int *group = NULL;
	size_t n;

	if (step->probability >= s->params.confidence) {
		if (step_verify(s, step, &step->likeliest, 1))
			return true;
		step_done(s, step);
		return true;
	}
	if (s->n_skipped == 0 || v->p_none > 1 - s->params.confidence)
		return false;
	likeliest_set(s, v, s->params.confidence, &group, &n);
	if (n < 2 || n > GROUP_MOST || !group_is_closed(s, group, n))
		return false;
	if (!step_verify(s, step, group, n))
		step_set(s, v, step, false);
	return true;
}

static void step_single(struct bisect_state *s, struct bisect_step *step)
{
	const struct bisect_eval *v = bisect_eval_get(s);

	if (!bisect_step_ends(s, step) && !step_answer(s, v, step))
		step_search(s, v, step);
}

/* The larger step first; of equals the one that goes the way of the step reported. */
static int two_first(const struct bisect_state *s, const struct bisect_two *t)
{
	const double a = fabs(t->size[0]);
	const double b = fabs(t->size[1]);

	if (fmin(a, b) > 0.8 * fmax(a, b))
		return s->params.step * t->size[0] < 0 && s->params.step * t->size[1] > 0;
	return b > a;
}

/* What the bisection of one of both says. */
static void two_ask(const struct bisect_state *s, const struct bisect_two *t, int which,
		    struct bisect_step *step)
{
	struct bisect_state single;

	bisect_two_single(s, s->eval, t, which, &single);
	step_summary(&single, bisect_eval_get(&single), step);
	step_single(&single, step);
	bisect_two_single_done(&single);
}

static void two_tell(const struct bisect_two *t, int first, const struct bisect_step *other,
		     struct bisect_step *step)
{
	step->second = other->likeliest;
	step->second_probability = other->probability;
	step->size = t->size[first];
	step->second_size = t->size[1 - first];
	/* Up and down again: what is asked for is not in the bad end any more. */
	if (fabs(step->size + step->second_size) < 0.5 * fabs(step->size)) {
		step->action = BISECT_NONE;
		step->reverted = true;
	}
}

/*
 * Two steps that are close to each other look like one at first, and a step that was reverted like
 * none. Return: true if @step says what to do about two steps.
 */
static bool step_two(struct bisect_state *s, struct bisect_eval *v, const struct bisect_two *t,
		     struct bisect_step *step)
{
	const int first = two_first(s, t);
	struct bisect_step steps[2] = { { .second = BISECT_NO_COMMIT },
					{ .second = BISECT_NO_COMMIT } };

	if (!bisect_two_is(s, t, log(TWO_ODDS)))
		return false;
	/* Not because of one odd boot. */
	if (t->residual_sds > BISECT_ODD_SDS && v->nodes[t->residual].n_boots < 2) {
		int commit = v->nodes[t->residual].commit;

		bisect_step_measure_or_wait(s, step, BISECT_PHASE_SEARCH, commit,
					    bisect_step_pending(s, commit) > 0);
		return true;
	}
	for (int i = 0; i < 2; i++) {
		bool open;

		two_ask(s, t, i == 0 ? first : 1 - first, &steps[i]);
		open = steps[i].action == BISECT_MEASURE || steps[i].action == BISECT_WAIT;
		if (!open && steps[i].action != BISECT_DONE && steps[i].action != BISECT_SET)
			return false;
		if (open || (i == 0 && steps[i].action == BISECT_SET)) {
			*step = steps[i];
			return true;
		}
	}
	if (t->log_odds >= log(TWO_ODDS_TOLD)) {
		*step = steps[0];
		two_tell(t, first, &steps[1], step);
	}
	free(steps[1].set);
	free(steps[1].set_p);
	return t->log_odds >= log(TWO_ODDS_TOLD);
}

/* One step explains nearly all: what it explains worst is measured again before it is blamed. */
static void step_hint(struct bisect_state *s, const struct bisect_eval *v,
		      const struct bisect_two *t, struct bisect_step *step)
{
	int commit = v->nodes[t->residual].commit;

	if (!bisect_two_is(s, t, log(TWO_ODDS_HINT)) || v->nodes[t->residual].n_boots >= HINT_BOOTS)
		return;
	bisect_step_measure_or_wait(s, step, BISECT_PHASE_VERIFY, commit,
				    bisect_step_pending(s, commit) > 0);
}

int bisect_next(struct bisect_state *s, struct bisect_step *ret, struct err *e)
{
	struct bisect_eval *v;
	struct bisect_step step = { .second = BISECT_NO_COMMIT };
	struct bisect_two two = { 0 };

	if (!s->graph)
		return err_set(e, ERR_BUG, "the bisection has no commit graph");
	v = bisect_eval_get(s);
	step_summary(s, v, &step);
	if (s->skip[s->graph->n - 1]) {
		step.action = BISECT_ENDS_BROKEN;
		step.commit = (int)s->graph->n - 1;
	} else if (s->params.max_runs > 0 && (int)s->n_runs >= s->params.max_runs) {
		step_set(s, v, &step, true);
	} else {
		if (bisect_step_ends_known(s))
			bisect_two_fit(s, v, &two);
		if (!two.p_node[0] || !step_two(s, v, &two, &step)) {
			step_single(s, &step);
			if (step.action == BISECT_NONE)
				(void)bisect_step_middle(s, v, &two, &step);
			if (two.p_node[0] &&
			    (step.action == BISECT_DONE || step.action == BISECT_NONE))
				step_hint(s, v, &two, &step);
			if (step.action == BISECT_DONE && s->params.check_drift)
				bisect_step_drift(s, &step);
		}
		bisect_two_done(&two);
	}
	if (s->params.check_drift && step.action != BISECT_MEASURE && step.action != BISECT_WAIT) {
		double shift;
		double sd;

		step.drifted = bisect_drift(s, &shift, &sd);
	}
	*ret = step;
	return 0;
}
