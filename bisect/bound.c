/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least cost of any strategy, by dynamic programming over the log odds of one commit. */
#include "bisect/sim.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define CELLS	      241
#define LOG_ODDS_MOST 12.0
#define ROUNDS	      200

static double cell_log_odds(size_t i)
{
	return LOG_ODDS_MOST * (2 * (double)i / (CELLS - 1) - 1);
}

static double entropy2(double p)
{
	if (p <= 0 || p >= 1)
		return 0;
	return -p * log2(p) - (1 - p) * log2(1 - p);
}

static double normal_p(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* One run moves the log odds by N(+-d^2/2, d^2), up if bad, down if good. */
static void fill_moves(double *moves, double d)
{
	const double half = LOG_ODDS_MOST / (CELLS - 1);

	for (size_t i = 0; i < CELLS; i++) {
		double at = cell_log_odds(i);
		double p_bad = 1 / (1 + exp(-at));

		for (size_t j = 0; j < CELLS; j++) {
			double lo = j == 0 ? -HUGE_VAL : cell_log_odds(j) - half - at;
			double hi = j == CELLS - 1 ? HUGE_VAL : cell_log_odds(j) + half - at;

			moves[i * CELLS + j] = p_bad * (normal_p((hi - d * d / 2) / d) -
							normal_p((lo - d * d / 2) / d)) +
					       (1 - p_bad) * (normal_p((hi + d * d / 2) / d) -
							      normal_p((lo + d * d / 2) / d));
		}
	}
}

static double expected(const double *moves, const double *value, size_t from)
{
	double sum = 0;

	for (size_t j = 0; j < CELLS; j++)
		sum += moves[from * CELLS + j] * value[j];
	return sum;
}

/* Best E[bits] - rate * E[minutes] after build and boot, at even odds, one run at least. */
static double best_gain(const double *moves, double rate, double cost_run)
{
	double value[CELLS];
	double next[CELLS];
	double change = 1;

	for (size_t i = 0; i < CELLS; i++)
		value[i] = 1 - entropy2(1 / (1 + exp(-cell_log_odds(i))));
	for (int round = 0; round < ROUNDS && change > 1e-9; round++) {
		change = 0;
		for (size_t i = 0; i < CELLS; i++) {
			next[i] = fmax(value[i], expected(moves, value, i) - rate * cost_run);
			change = fmax(change, next[i] - value[i]);
		}
		memcpy(value, next, sizeof(value));
	}
	return expected(moves, value, CELLS / 2) - rate * cost_run;
}

double bisect_bound_minutes(size_t n, const struct bisect_params *p)
{
	_cleanup_(freep) double *moves = NULL;
	double delta = 1 - p->confidence;
	double once = fmin(p->cost_build, p->cost_incremental) + p->cost_boot;
	double lo = 0;
	double hi = 1 / (once + p->cost_run);

	if (n < 2 || p->step == 0)
		return 0;
	moves = xcalloc((size_t)CELLS * CELLS, sizeof(*moves));
	fill_moves(moves, fabs(p->step) / p->sigma);
	for (int i = 0; i < 40; i++) {
		double rate = (lo + hi) / 2;

		if (best_gain(moves, rate, p->cost_run) > rate * once)
			lo = rate;
		else
			hi = rate;
	}
	if (lo <= 0)
		return 0;
	return fmax(0, (log2((double)n) * (1 - delta) - entropy2(delta)) / lo);
}
