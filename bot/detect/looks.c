/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Group-sequential p cuts: Armitage, McPherson and Rowe 1969 with an error spending function. */
#include "bot/detect/stats.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>

/* Density of Brownian motion at one look, inside the limits that let it go on, on a grid. */
struct density {
	double half; /* grid is [-half, half] */
	size_t n;    /* points, odd */
	double *g;   /* density times Simpson weight */
};

static double grid_at(const struct density *d, size_t i)
{
	return -d->half + 2 * d->half * (double)i / (double)(d->n - 1);
}

static double simpson(const struct density *d, size_t i)
{
	double h = 2 * d->half / (double)(d->n - 1);

	if (i == 0 || i == d->n - 1)
		return h / 3;
	return (i & 1 ? 4 : 2) * h / 3;
}

/* P(go on so far, then |B| >= limit at this look). */
static double crossing(const struct density *prev, double sd, double limit)
{
	double sum = 0;

	if (!prev->n)
		return 2 * gsl_cdf_ugaussian_Q(limit / sd);
	for (size_t i = 0; i < prev->n; i++) {
		double s = grid_at(prev, i);

		sum += prev->g[i] * (gsl_cdf_ugaussian_Q((limit - s) / sd) +
				     gsl_cdf_ugaussian_Q((limit + s) / sd));
	}
	return sum;
}

static double solve_limit(const struct density *prev, double sd, double t, double spend)
{
	double lo = 0, hi = 40 * sqrt(t);

	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (crossing(prev, sd, mid) > spend)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* The next look adds a step of @next_sd: the grid has to be finer than that. */
static void advance(struct density *d, double sd, double limit, double next_sd)
{
	struct density next = { .half = limit };
	double points = fmin(fmax(256, 8 * limit / next_sd), 2048);

	next.n = ((size_t)points | 1);
	next.g = xcalloc(next.n, sizeof(*next.g));
	for (size_t i = 0; i < next.n; i++) {
		double x = grid_at(&next, i), sum = 0;

		if (!d->n)
			sum = exp(-x * x / (2 * sd * sd));
		for (size_t j = 0; j < d->n; j++) {
			double step = (x - grid_at(d, j)) / sd;

			sum += d->g[j] * exp(-step * step / 2);
		}
		next.g[i] = simpson(&next, i) * sum / (sd * sqrt(2 * M_PI));
	}
	free(d->g);
	*d = next;
}

void stats_look_cuts(const int *looks, size_t n, int nmax, double alpha, double *cuts)
{
	struct density d = { 0 };
	double spent = 0, t_before = 0;

	for (size_t k = 0; k < n; k++) {
		double t = (double)looks[k] / nmax, sd = sqrt(t - t_before);
		double budget = alpha * log1p((M_E - 1) * t);
		double limit = solve_limit(&d, sd, t, budget - spent);

		cuts[k] = 2 * gsl_cdf_ugaussian_Q(limit / sqrt(t));
		if (k + 1 < n) {
			double next = (double)looks[k + 1] / nmax;

			advance(&d, sd, limit, sqrt(next - t));
		}
		spent = budget;
		t_before = t;
	}
	free(d.g);
}
