/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a variance before it is measured, from those of others. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/stats.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>
#include <math.h>

double stats_trigamma_inverse(double y)
{
	double x = .5 + 1 / y;

	/* Newton on 1/psi' converges from this start for every y > 0 (Smyth 2004, appendix). */
	for (int i = 0; i < 100; i++) {
		double tri = gsl_sf_psi_1(x), step;

		step = tri * (1 - tri / y) / gsl_sf_psi_n(2, x);
		x += step;
		if (fabs(step / x) < 1e-10)
			break;
	}
	return x;
}

void stats_prior_fit(const double *s2, size_t n, double dof, double *ret_d0, double *ret_s0sq)
{
	_cleanup_(freep) double *e = xcalloc(n ? n : 1, sizeof(*e));
	double mean, spread;

	for (size_t i = 0; i < n; i++)
		e[i] = log(s2[i]) - gsl_sf_psi(dof / 2) + log(dof / 2);
	mean = stats_mean(e, n);
	spread = stats_var(e, n) - gsl_sf_psi_1(dof / 2);
	if (spread > 1e-8) {
		double half = stats_trigamma_inverse(spread);

		*ret_d0 = 2 * half;
		*ret_s0sq = exp(mean + gsl_sf_psi(half) - log(half));
	} else {
		*ret_d0 = GSL_POSINF;
		*ret_s0sq = exp(mean);
	}
}

/* Sum of w and the log likelihood of one d0 at the best s0sq, which solves mean w = 1 / s0sq. */
static double likelihood(const double *s2, const double *dof, size_t n, double d0, double *s0sq)
{
	double sum = 0, lgamma_d0 = gsl_sf_lngamma(d0 / 2), last_dof = 0, last = 0;

	for (int round = 0; round < 40; round++) {
		double w = 0, next;

		for (size_t i = 0; i < n; i++)
			w += (d0 + dof[i]) / (d0 * *s0sq + dof[i] * s2[i]);
		next = (double)n / w;
		w = fabs(next / *s0sq - 1);
		*s0sq = next;
		if (w < 1e-4)
			break;
	}
	for (size_t i = 0; i < n; i++) {
		if (dof[i] != last_dof) {
			last_dof = dof[i];
			last = gsl_sf_lngamma((d0 + last_dof) / 2) - lgamma_d0;
		}
		sum += last + d0 / 2 * log(d0 * *s0sq) -
		       (d0 + dof[i]) / 2 * log(d0 * *s0sq + dof[i] * s2[i]);
	}
	return sum;
}

enum {
	STEPS = 15 /* from 128 by the root of two to 1 */
};

void stats_prior_likely(const double *s2, const double *dof, size_t n, double *ret_d0,
			double *ret_s0sq)
{
	static const double usual = 8, highest = 128;
	double best = GSL_NEGINF, s0sq = 0;

	for (size_t i = 0; i < n; i++)
		s0sq += s2[i] / (double)n;
	*ret_d0 = highest;
	*ret_s0sq = s0sq;
	for (int i = 0; i < STEPS; i++) {
		double d0 = highest * pow(2, -.5 * i), far = log(d0 / usual) / 1.5;
		double fit = likelihood(s2, dof, n, d0, &s0sq) - far * far / 2;

		if (fit <= best)
			continue;
		best = fit;
		*ret_d0 = d0;
		*ret_s0sq = s0sq;
	}
}
