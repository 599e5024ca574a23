/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_power.h"

#include "bisect/sim.h"
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/db/db.h"
#include "bot/store/bisection_model.h"

#include <math.h>
#include <string.h>

/* A longer range only takes a few steps more, and its simulation much longer. */
#define COMMITS_MOST 300
#define TRIALS	     24
#define STEPS	     2000
/* To see that something would be found, no matter how fast. */
#define TRIALS_FEW   8
#define DOUBLED_MOST 5
/* Bits beside those of the place: both ends, and to be sure in the end. */
#define BITS_MORE 8.0

static int forecast(const struct bisect_graph *g, const struct bisect_params *p, int machines,
		    int trials, struct bisect_forecast *ret, struct err *e)
{
	struct bisect_state s = { 0 };
	int r = bisect_init(&s, g, p, e);

	if (r == 0)
		r = bisect_forecast(&s, machines, trials, STEPS * trials / TRIALS, 20301106, ret,
				    e);
	bisect_done(&s);
	return r;
}

/*
 * Boots after the search, as role bisect makes them: five each of culprit and parent, of which the
 * search has made two; then five of bad end, revert and tip, the parent along with the last.
 */
#define BOOTS_VERIFY 6
#define BOOTS_CHECKS 17

/* Trials of a search that knows of the change only that it is @effect or more. */
static int play(const struct bisection_power_ask *a, const struct bisect_graph *g,
		const struct bisection_noise *noise, struct bisect_params *p, double effect,
		double max_runs, int trials, struct bisect_forecast *ret, struct err *e)
{
	bisection_model_least(noise, effect, p);
	p->max_runs = (int)fmax(1, fmin(max_runs, BISECTION_POWER_RUNS));
	return forecast(g, p, a->machines, trials, ret, e);
}

static double p_right(const struct bisection_power_ask *a, const struct bisect_forecast *f)
{
	return a->confidence * f->named / fmax(f->trials, 1);
}

/* A change that the budget is enough for: from half of the noise on, doubled until it is. */
static int effect_found(const struct bisection_power_ask *a, const struct bisect_graph *g,
			const struct bisection_noise *noise, struct bisect_params *p,
			double max_runs, double *ret, struct err *e)
{
	double noise_sd = hypot(p->sigma, p->boot_sd) / (noise->ln ? 1 : fabs(noise->level));
	double effect = fmax(2 * a->min_effect, noise_sd / 2);

	for (int i = 0; i < DOUBLED_MOST; i++) {
		struct bisect_forecast f = { 0 };
		int r = play(a, g, noise, p, effect, max_runs, TRIALS_FEW, &f, e);

		if (r < 0)
			return r;
		if (p_right(a, &f) >= BISECTION_POWER_LEAST) {
			*ret = effect;
			break;
		}
		effect *= 2;
	}
	return 0;
}

static void fill(const struct bisection_power_ask *a, const struct bisect_params *p,
		 const struct bisect_forecast *f, double longer, struct bisection_power *ret)
{
	double checks = BOOTS_VERIFY + BOOTS_CHECKS;
	double minutes = checks * (p->cost_boot + a->runs_per_boot * p->cost_run);

	ret->noise_sd = hypot(p->sigma, p->boot_sd);
	ret->p_free = p_right(a, f);
	ret->steps = ceil(f->boots * longer + checks);
	ret->runs = ceil(f->runs * longer + checks * a->runs_per_boot);
	ret->runs_p90 = ceil(f->runs_p90 * longer + checks * a->runs_per_boot);
	ret->runs_least = ceil(f->runs_p90 * longer + BOOTS_VERIFY * a->runs_per_boot);
	ret->hours = (f->minutes * longer + minutes) / 60;
	ret->wall_s = 60 * (f->wall * longer + minutes);
	ret->wall_p90_s = 60 * (f->wall_p90 * longer + minutes);
	ret->runs_per_step = ret->steps > 0 ? ret->runs / ret->steps : 1;
	ret->steps_p90 = ceil(ret->steps * (ret->runs > 0 ? ret->runs_p90 / ret->runs : 1));
}

int bisection_power(struct db *db, const struct bisection_power_ask *a, struct bisection_power *ret,
		    struct err *e)
{
	struct bisect_params p = bisect_params_default();
	struct bisect_forecast free_f = { 0 }, bound_f = { 0 };
	struct bisection_power power = { 0 };
	struct bisect_graph g = { 0 };
	struct bisection_noise noise;
	struct bisection_cost cost;
	size_t n = a->commits < COMMITS_MOST ? (size_t)a->commits : COMMITS_MOST;
	double longer = (log2((double)a->commits) + BITS_MORE) / (log2((double)n) + BITS_MORE);
	double budget = ((double)a->max_runs - BOOTS_VERIFY * a->runs_per_boot) / longer;
	int r = bisection_noise_read(db, a->job, a->metric, &noise, e);

	if (r == 0)
		r = bisection_cost(db, a->job, &cost, e);
	if (r == 0)
		r = bisect_graph_add_line(&g, n, e);
	if (r == 0)
		r = bisect_graph_prepare(&g, e);
	if (r == 0) {
		bisection_model(&noise, &cost, 0, 0, 0, &p);
		p.confidence = a->confidence;
		p.check_drift = true;
		r = play(a, &g, &noise, &p, a->min_effect, BISECTION_POWER_RUNS, TRIALS, &free_f,
			 e);
	}
	/* What is not found without a budget is not found with one. */
	bound_f = free_f;
	if (r == 0 && p_right(a, &free_f) >= BISECTION_POWER_LEAST)
		r = play(a, &g, &noise, &p, a->min_effect, budget, TRIALS, &bound_f, e);
	power.known = noise.boots > 0 || noise.runs > 0;
	power.p_right = p_right(a, &bound_f);
	fill(a, &p, &free_f, longer, &power);
	if (r == 0 && power.known && power.p_right < BISECTION_POWER_LEAST)
		r = effect_found(a, &g, &noise, &p, budget, &power.effect_found, e);
	bisect_graph_done(&g);
	if (r == 0)
		*ret = power;
	return r;
}
