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
/* Enough runs to see that a budget is not what is missing. */
#define RUNS_MOST 600
/* Bits beside those of the place: both ends, and to be sure in the end. */
#define BITS_MORE 8.0

static int forecast(const struct bisect_graph *g, const struct bisect_params *p, int machines,
		    struct bisect_forecast *ret, struct err *e)
{
	struct bisect_state s = { 0 };
	int r = bisect_init(&s, g, p, e);

	if (r == 0)
		r = bisect_forecast(&s, machines, TRIALS, STEPS, 20301106, ret, e);
	bisect_done(&s);
	return r;
}

int bisection_power(struct db *db, const struct bisection_power_ask *a, struct bisection_power *ret,
		    struct err *e)
{
	struct bisect_params p = bisect_params_default();
	struct bisect_forecast free_f = { 0 }, bound_f = { 0 };
	struct bisect_graph g = { 0 };
	struct bisection_noise noise;
	struct bisection_cost cost;
	size_t n = a->commits < COMMITS_MOST ? (size_t)a->commits : COMMITS_MOST;
	double longer;
	int r = bisection_noise_read(db, a->job, a->metric, &noise, e);

	if (r == 0)
		r = bisection_cost(db, a->job, &cost, e);
	if (r == 0)
		r = bisect_graph_add_line(&g, n, e);
	if (r == 0)
		r = bisect_graph_prepare(&g, e);
	if (r < 0) {
		bisect_graph_done(&g);
		return r;
	}
	bisection_model(&noise, &cost, -a->min_effect, -1.2 * a->min_effect, -0.8 * a->min_effect,
			&p);
	p.confidence = a->confidence;
	p.max_runs = RUNS_MOST;
	longer = (log2((double)a->commits) + BITS_MORE) / (log2((double)n) + BITS_MORE);
	r = forecast(&g, &p, a->machines, &free_f, e);
	if (r == 0) {
		p.max_runs = (int)fmax(1, fmin((double)a->max_runs / longer, RUNS_MOST));
		r = forecast(&g, &p, a->machines, &bound_f, e);
	}
	bisect_graph_done(&g);
	if (r < 0)
		return r;
	*ret = (struct bisection_power){
		.known = noise.boots > 0 || noise.runs > 0,
		.noise_sd = hypot(p.sigma, p.boot_sd),
		.p_right = a->confidence * bound_f.named / fmax(bound_f.trials, 1),
		.steps = ceil(free_f.boots * longer),
		.runs = ceil(free_f.runs * longer),
		.runs_p90 = ceil(free_f.runs_p90 * longer),
		.hours = free_f.minutes * longer / 60,
		.wall_s = 60 * free_f.wall * longer,
		.wall_p90_s = 60 * free_f.wall_p90 * longer,
	};
	ret->runs_per_step = ret->steps > 0 ? ret->runs / ret->steps : 1;
	ret->steps_p90 = ceil(ret->steps * (ret->runs > 0 ? ret->runs_p90 / ret->runs : 1));
	return 0;
}
