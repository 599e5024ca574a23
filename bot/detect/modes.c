/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a sample fall into two or three groups? */
#include "bot/detect/stats.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

enum {
	MODES_MIN_UNITS = 8,
	THREE_MIN_UNITS = 12,
	OTSU_MIN_UNITS = 30,
	MODE_MIN_UNITS = 3
};

/* A fifth of the units, rounded up; fewer may be outliers. */
static size_t least_in_mode(size_t n)
{
	size_t fifth = (n + 4) / 5;

	return fifth > MODE_MIN_UNITS ? fifth : MODE_MIN_UNITS;
}

/*
 * How many standard deviations inside the groups the gap between them has to have. Noise of one
 * mode (normal, t with 3 degrees of freedom, log-normal up to sigma 1, a twentieth of outliers)
 * has such a gap in less than one sample of a hundred.
 */
static double least_gap(size_t n)
{
	return n < THREE_MIN_UNITS ? 5.25 : 4.5;
}

/* The widest gap with enough units on both of its sides, between @from and @to; 0: none. */
static size_t widest_gap(const double *x, size_t from, size_t to, size_t least)
{
	size_t best = 0;

	for (size_t i = from + least; i + least <= to; i++) {
		if (!best || x[i] - x[i - 1] > x[best] - x[best - 1])
			best = i;
	}
	return best;
}

/*
 * Can the gap before @cut be wide enough at all? A group that spans s has a sum of squares of
 * s^2 / 2 or more, which rules out most samples at once.
 */
static bool worth_trying(const double *x, size_t n, size_t cut)
{
	double gap = x[cut] - x[cut - 1], span = fmax(x[cut - 1] - x[0], x[n - 1] - x[cut]);

	return gap * gap * 2 * (double)(n - 2) > least_gap(n) * least_gap(n) * span * span;
}

/* Groups that end before each of @cuts: is every gap between them wide enough? */
static int try_cuts(const double *x, size_t n, const size_t *cuts, int ncuts,
		    struct stats_sum ret[DETECT_MODES_MAX])
{
	double ss = 0, gap = HUGE_VAL, within;
	size_t from = 0;

	for (int i = 0; i <= ncuts; i++) {
		size_t to = i < ncuts ? cuts[i] : n;

		ret[i] = stats_sum_of(x + from, to - from);
		ss += ret[i].ss;
		if (i < ncuts)
			gap = fmin(gap, x[to] - x[to - 1]);
		from = to;
	}
	within = sqrt(ss / (double)(n - (size_t)ncuts - 1));
	return gap > least_gap(n) * within ? ncuts + 1 : 0;
}

/* Of many units even modes that touch are seen, by how little they leave to noise. */
static int try_otsu(const double *x, size_t n, struct stats_sum ret[DETECT_MODES_MAX])
{
	struct stats_split split;
	size_t k = 0;

	if (n < OTSU_MIN_UNITS)
		return 0;
	stats_otsu(x, n, &split);
	if (!(split.eta > .85 && split.minor >= .15))
		return 0;
	while (k < n && x[k] < split.cut)
		k++;
	ret[0] = stats_sum_of(x, k);
	ret[1] = stats_sum_of(x + k, n - k);
	return 2;
}

int units_modes(const double *x, size_t n, struct stats_sum ret[DETECT_MODES_MAX])
{
	size_t least = least_in_mode(n), cuts[2], low, high;
	int modes;

	if (n < MODES_MIN_UNITS)
		return 0;
	cuts[0] = widest_gap(x, 0, n, least);
	if (!cuts[0])
		return 0;
	if (n >= THREE_MIN_UNITS) {
		low = widest_gap(x, 0, cuts[0], least);
		high = widest_gap(x, cuts[0], n, least);
		cuts[1] = cuts[0];
		if (high && (!low || x[high] - x[high - 1] > x[low] - x[low - 1]))
			cuts[1] = high;
		else if (low)
			cuts[0] = low;
		modes = cuts[0] < cuts[1] ? try_cuts(x, n, cuts, 2, ret) : 0;
		if (modes)
			return modes;
		cuts[0] = widest_gap(x, 0, n, least);
	}
	modes = worth_trying(x, n, cuts[0]) ? try_cuts(x, n, cuts, 1, ret) : 0;
	return modes ? modes : try_otsu(x, n, ret);
}
