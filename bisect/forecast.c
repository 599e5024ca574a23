/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is still to come, by playing it through. */
#include "bisect/eval.h"
#include "bisect/lab.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define TRIALS_MOST 10000

struct played {
	double *minutes, *wall, *builds, *boots, *runs;
};

/* The step as it looks today, else as it was reported, else one that can be seen. */
static double step_of(const struct bisect_state *s, const struct bisect_eval *v)
{
	const struct bisect_node *good = bisect_eval_node(v, BISECT_GOOD_END);
	const struct bisect_node *bad = bisect_eval_node(v, (int)s->graph->n - 1);
	double reported = s->params.step;

	if (good && bad && reported == 0)
		return bad->median - good->median;
	/* One boot of each says less than the report does. */
	if (good && bad && good->n_boots >= 2 && bad->n_boots >= 2)
		return (bad->median - good->median + reported) / 2;
	if (reported == 0 && s->params.step_least > 0)
		return s->params.step_least;
	return reported != 0 ? reported : 3 * s->params.sigma;
}

static int draw_culprit(const struct bisect_state *s, const struct bisect_eval *v, gsl_rng *rng)
{
	double left = gsl_rng_uniform(rng) - v->p_none;

	if (left < 0)
		return BISECT_SIM_NONE;
	for (size_t c = 0; c + 1 < s->graph->n; c++) {
		left -= v->p[c];
		if (left < 0)
			return (int)c;
	}
	return (int)s->graph->n - 1;
}

/* Builds that were measured keep what is known of them: the part of their difference that is theirs. */
static void known_builds(struct bisect_lab *lab, const struct bisect_state *s,
			 const struct bisect_eval *v)
{
	const struct bisect_params *p = &s->params;
	double own = p->commit_sd * p->commit_sd;

	for (size_t i = 0; i < v->n_nodes; i++) {
		const struct bisect_node *node = &v->nodes[i];
		size_t at = node->commit == BISECT_GOOD_END ? s->graph->n : (size_t)node->commit;
		bool bad = lab->culprit >= 0 &&
			   bisect_eval_is_bad(s, node->commit, (size_t)lab->culprit);
		double level = lab->base + (bad ? lab->sim->model.step : 0);
		double noise = p->boot_sd * p->boot_sd / node->n_boots +
			       p->sigma * p->sigma / node->n_runs;

		lab->build_effect[at] = (node->median - level) * own / (own + noise);
	}
}

static int last_boot(const struct bisect_state *s)
{
	int last = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		last = s->runs[i].boot > last ? s->runs[i].boot : last;
	return last;
}

static int play(struct bisect_lab *lab, uint64_t seed, int trial, struct bisect_state *s,
		const struct bisect_eval *v, struct bisect_answer *answer, struct err *e)
{
	const struct bisect_node *good = bisect_eval_node(v, BISECT_GOOD_END);
	struct bisect_state copy;
	int r;

	bisect_lab_reset(lab, seed, trial);
	lab->culprit = draw_culprit(s, v, lab->rng);
	lab->base = good ? good->median : 0;
	lab->boot = last_boot(s);
	known_builds(lab, s, v);
	bisect_copy(&copy, s);
	memset(copy.pending, 0, s->graph->n + 1);
	r = bisect_lab_search(lab, &copy, answer, e);
	bisect_done(&copy);
	return r;
}

static int compare_double(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double quantile(double *x, int n, double q)
{
	qsort(x, (size_t)n, sizeof(*x), compare_double);
	return x[(size_t)(q * (n - 1) + 0.5)];
}

static void summarise(struct played *all, struct bisect_forecast *ret)
{
	const int n = ret->trials;

	ret->minutes = quantile(all->minutes, n, 0.5);
	ret->minutes_p90 = quantile(all->minutes, n, 0.9);
	ret->wall = quantile(all->wall, n, 0.5);
	ret->wall_p90 = quantile(all->wall, n, 0.9);
	ret->builds = quantile(all->builds, n, 0.5);
	ret->boots = quantile(all->boots, n, 0.5);
	ret->runs = quantile(all->runs, n, 0.5);
	ret->runs_p90 = quantile(all->runs, n, 0.9);
}

int bisect_forecast(struct bisect_state *s, int machines, int trials, int steps, uint64_t seed,
		    struct bisect_forecast *ret, struct err *e)
{
	const struct bisect_eval *v = bisect_eval_get(s);
	struct bisect_sim sim = { .model = s->params,
				  .outliers = s->params.eps,
				  .machines = machines };
	struct bisect_lab lab;
	struct bisect_forecast f = { 0 };
	struct played all;
	const size_t n = (size_t)(trials > 0 ? trials : 1);
	double *values;
	int r = 0;

	if (machines < 1 || machines > BISECT_MACHINES_MOST)
		return err_set(e, ERR_INVAL, "%d machines, must be 1 to %d", machines,
			       BISECT_MACHINES_MOST);
	if (trials < 1 || trials > TRIALS_MOST)
		return err_set(e, ERR_INVAL, "%d trials, must be 1 to %d", trials, TRIALS_MOST);
	sim.model.step = step_of(s, v);
	values = xcalloc(5 * n, sizeof(*values));
	all = (struct played){ values, values + n, values + 2 * n, values + 3 * n, values + 4 * n };
	bisect_lab_init(&lab, s->graph, &sim);
	/* One more than may be made: 0 has no limit, 1 is the end of it. */
	lab.steps = steps > 0 ? steps + 1 : 0;
	for (int i = 0; i < trials && r == 0 && !lab.cut; i++) {
		struct bisect_answer answer = { 0 };

		r = play(&lab, seed, i, s, v, &answer, e);
		if (lab.cut && i > 0)
			break;
		f.trials = i + 1;
		f.named += answer.action == BISECT_DONE;
		all.minutes[i] = lab.minutes;
		all.wall[i] = lab.wall;
		all.builds[i] = lab.builds;
		all.boots[i] = lab.boots;
		all.runs[i] = lab.runs;
	}
	if (r == 0) {
		summarise(&all, &f);
		*ret = f;
	}
	bisect_lab_done(&lab);
	free(values);
	return r;
}
