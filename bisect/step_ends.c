/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ends: whether they differ today, what may lie between equal ones, and drift. */
#include "bisect/bisect.h"
#include "bisect/eval.h"
#include "bisect/step.h"
#include "bisect/two.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

/* Odds at which the ends count as different, and as equal; more end runs than that never help. */
#define ENDS_ODDS_DIFFER 1.5
#define ENDS_ODDS_EQUAL	 19.0
#define ENDS_RUNS_MOST	 40
/* Odds at which the ends count as equal when all those runs are made. */
#define ENDS_ODDS_SPENT 3.0
/*
 * A step that looks as small as that share of the one reported may be none, and a search for it
 * takes days: what it looks like is known best from the ends.
 */
#define STEP_TODAY_LEAST 0.65

/* Good, bad, bad, good, …: drift of the machine then hits both ends alike. */
static int end_in_turn(int good_boots, int bad_boots, int bad_end)
{
	if (good_boots == bad_boots)
		return good_boots % 2 == 0 ? BISECT_GOOD_END : bad_end;
	return good_boots < bad_boots ? BISECT_GOOD_END : bad_end;
}

/* Return: true if @step says what to do about the ends. */
bool bisect_step_ends(struct bisect_state *s, struct bisect_step *step)
{
	const int bad_end = (int)s->graph->n - 1;
	const int good_boots = bisect_boots(s, BISECT_GOOD_END);
	const int bad_boots = bisect_boots(s, bad_end);
	const int good_pending = bisect_step_pending(s, BISECT_GOOD_END);
	const int bad_pending = bisect_step_pending(s, bad_end);
	const int turn = end_in_turn(good_boots + good_pending, bad_boots + bad_pending, bad_end);
	const struct bisect_eval *v;
	double size = bisect_params_size(&s->params);
	double d = size / s->params.sigma;
	double runs_least = fmax(4, ceil(2 * (4 / d) * (4 / d)));
	double runs;
	bool can_more;

	if (good_boots < 2 || bad_boots < 2) {
		bisect_step_measure_or_wait(s, step, BISECT_PHASE_ENDS, turn,
					    good_boots + good_pending >= 2 &&
						    bad_boots + bad_pending >= 2);
		return true;
	}
	v = bisect_eval_get(s);
	runs = fmin(bisect_runs(s, BISECT_GOOD_END), bisect_runs(s, bad_end));
	can_more = runs < ENDS_RUNS_MOST;
	if ((runs >= 4 && v->ends_log_equal > log(ENDS_ODDS_EQUAL)) ||
	    (runs >= fmin(runs_least, ENDS_RUNS_MOST) && v->p_none > 0.95) ||
	    (!can_more &&
	     (v->p_none > 0.5 || (size > 0 && v->ends_log_equal > log(ENDS_ODDS_SPENT))))) {
		step->action = BISECT_NONE;
		step->commit = bad_end;
		return true;
	}
	if (can_more && (v->ends_log_differ < log(ENDS_ODDS_DIFFER) || v->p_none > 0.2 ||
			 v->step_today < STEP_TODAY_LEAST * fabs(s->params.step))) {
		bisect_step_measure_or_wait(s, step, BISECT_PHASE_ENDS, turn,
					    good_pending + bad_pending >= 2);
		return true;
	}
	return false;
}

/* Runs for a look that sees half a step with some certainty. */
static int runs_for_look(const struct bisect_state *s)
{
	double d = fabs(s->params.step) / s->params.sigma;

	return d > 0 ? (int)fmin(8, fmax(1, ceil(8 / (d * d)))) : 3;
}

/*
 * The ends may be equal because what came went again: one look at the middle of the range before
 * NONE is said. Return: true if @step asks for it.
 */
bool bisect_step_middle(struct bisect_state *s, const struct bisect_eval *v,
			const struct bisect_two *two, struct bisect_step *step)
{
	const size_t n = s->graph->n;
	_cleanup_(freep) double *weight = xcalloc(n, sizeof(*weight));
	_cleanup_(freep) double *behind = xcalloc(n, sizeof(*behind));
	int commit = BISECT_NO_COMMIT;
	double best = 0;
	double total;

	memcpy(weight, s->prior, n * sizeof(*weight));
	bisect_eval_p_bad_all(s, v, weight, behind);
	total = behind[n - 1];
	for (size_t x = 0; x + 1 < n; x++) {
		double even = fmin(behind[x], total - behind[x]) / total;

		if (s->skip[x])
			continue;
		if (even > 0.2 && bisect_eval_node(v, (int)x)) {
			/* Seen already; only what looks odd is worth a second boot. */
			if (two->residual_sds < BISECT_ODD_SDS ||
			    v->nodes[two->residual].n_boots >= 2)
				return false;
			commit = v->nodes[two->residual].commit;
			break;
		}
		if (even > best) {
			best = even;
			commit = (int)x;
		}
	}
	if (commit == BISECT_NO_COMMIT)
		return false;
	bisect_step_measure_or_wait(s, step, BISECT_PHASE_ENDS, commit,
				    bisect_step_pending(s, commit) > 0);
	if (step->action == BISECT_MEASURE)
		bisect_step_measure(s, step, BISECT_PHASE_ENDS, commit, runs_for_look(s));
	return true;
}

/* The ends as they are now, next to those of the start: a machine that moved shows. */
void bisect_step_drift(struct bisect_state *s, struct bisect_step *step)
{
	const int ends[2] = { BISECT_GOOD_END, (int)s->graph->n - 1 };

	for (int i = 0; i < 2 && step->action == BISECT_DONE; i++)
		if (!bisect_drift_is_checked(s, ends[i]))
			bisect_step_measure_or_wait(s, step, BISECT_PHASE_VERIFY, ends[i],
						    bisect_step_pending(s, ends[i]) > 0);
}

bool bisect_step_ends_known(const struct bisect_state *s)
{
	return bisect_boots(s, BISECT_GOOD_END) >= 2 && bisect_boots(s, (int)s->graph->n - 1) >= 2;
}
