/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/profile.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "bot/detect/stats.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

enum {
	/* Samples to calibrate with; each is compared with each other one. */
	CALIBRATION_SAMPLES = 112,
	CALIBRATION_UNITS_MAX = 32,
	CALIBRATION_BINS = 512,
	BIMODAL_MIN = 30,
	JITTER_MIN_PAIRS = 5,
	NEIGHBOURS_MIN = 30
};

/* History on the test's scale: commit i owns y[start[i]] … y[start[i + 1] - 1]. */
struct history {
	VEC(double) y;
	VEC(size_t) start;
	VEC(bool) borrowed;
	size_t n;
	bool ln;
};

static void history_done(struct history *h)
{
	vec_done(&h->y);
	vec_done(&h->start);
	vec_done(&h->borrowed);
}

static size_t finite_units(const struct detect_commit *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += isfinite(c->units[i]) ? 1 : 0;
	return n;
}

static void history_load(struct history *h, const struct detect_commit *c, size_t n)
{
	size_t first = n, usable = 0;

	h->ln = true;
	while (first > 0 && usable < DETECT_HISTORY_MAX)
		usable += finite_units(&c[--first]) >= 2;
	for (size_t i = first; i < n; i++) {
		for (size_t j = 0; j < c[i].n; j++)
			h->ln = h->ln && !(isfinite(c[i].units[j]) && c[i].units[j] <= 0);
	}
	for (size_t i = first; i < n; i++) {
		if (finite_units(&c[i]) < 2)
			continue;
		vec_push(&h->start, h->y.len);
		vec_push(&h->borrowed, c[i].borrowed);
		for (size_t j = 0; j < c[i].n; j++) {
			double v = c[i].units[j];

			if (isfinite(v))
				vec_push(&h->y, h->ln ? log(v) : v);
		}
	}
	h->n = h->start.len;
	vec_push(&h->start, h->y.len);
}

static double *commit_at(const struct history *h, size_t i, size_t *ret_k)
{
	*ret_k = h->start.items[i + 1] - h->start.items[i];
	return h->y.items + h->start.items[i];
}

/* Residuals to the commit means, widened to the spread of single units. */
static void residuals(const struct history *h, double *r)
{
	for (size_t i = 0; i < h->n; i++) {
		size_t k;
		const double *y = commit_at(h, i, &k);
		double mean = stats_mean(y, k), f = sqrt((double)k / (double)(k - 1));

		for (size_t j = 0; j < k; j++)
			*r++ = (y[j] - mean) * f;
	}
}

/*
 * Standard deviation of the rounding to the smallest step that the numbers take: what nobody can
 * know better, even where most of them happen to be equal.
 */
static double rounding(const double *sorted, size_t n)
{
	double step = HUGE_VAL, least = 1e-9 * fmax(fabs(sorted[0]), fabs(sorted[n - 1]));

	for (size_t i = 1; i < n; i++) {
		double gap = sorted[i] - sorted[i - 1];

		if (gap > least)
			step = fmin(step, gap);
	}
	return isfinite(step) ? step / sqrt(12) : 0;
}

static void fit_clip(const double *sorted, size_t n, double least, struct detect_profile *p)
{
	double s = fmax(stats_mad_sd(sorted, n), least);

	p->lo = 1.25 * fmin(stats_quantile(sorted, n, .08), -2.5 * s);
	p->hi = 1.25 * fmax(stats_quantile(sorted, n, .92), 2.5 * s);
}

/* Share of the commits that have units on both sides of @cut, of those to be expected if units
 * fell to the sides as they like, whatever the commit. */
static double mixed_share(const struct history *h, double cut, double minor)
{
	double mixed = 0, expected = 0;

	for (size_t i = 0; i < h->n; i++) {
		size_t k, below = 0;
		const double *y = commit_at(h, i, &k);

		for (size_t j = 0; j < k; j++)
			below += y[j] < cut;
		mixed += below > 0 && below < k;
		expected += 1 - pow(minor, (double)k) - pow(1 - minor, (double)k);
	}
	return mixed / expected;
}

/*
 * Two modes of the units themselves: residuals to the means of two or three units would show one
 * in the middle, too. A step between commits parts them as well, but does not mix them.
 */
static void fit_bimodal(const struct history *h, const double *sorted, struct detect_profile *p)
{
	size_t n = h->y.len, k = 0;
	struct stats_split split;
	double ss;

	if (n < BIMODAL_MIN)
		return;
	stats_otsu(sorted, n, &split);
	if (!(split.eta > .85 && split.minor >= .10) || mixed_share(h, split.cut, split.minor) < .5)
		return;
	while (k < n && sorted[k] < split.cut)
		k++;
	ss = stats_sum_of(sorted, k).ss + stats_sum_of(sorted + k, n - k).ss;
	p->bimodal = true;
	p->cut = split.cut;
	p->dof_in = (double)(n - 2);
	p->sd_in = sqrt(ss / p->dof_in);
}

/* Variance prior from the clipped commits. Returns the pooled variance. */
static double fit_prior(const struct history *h, double least, struct detect_profile *p)
{
	_cleanup_(freep) double *v = xcalloc(h->n, sizeof(*v));
	_cleanup_(freep) double *dof = xcalloc(h->n, sizeof(*dof));
	double ss = 0, all = 0, known = 0, pooled;

	for (size_t i = 0; i < h->n; i++) {
		size_t k;
		const double *y = commit_at(h, i, &k);

		v[i] = stats_var(y, k);
		dof[i] = (double)(k - 1);
		ss += v[i] * dof[i];
		all += dof[i];
	}
	pooled = ss / all;
	p->d0 = all;
	p->s0sq = pooled;
	if (!(pooled > 0))
		return 0;
	for (size_t i = 0; i < h->n; i++)
		v[i] = fmax(v[i], 1e-4 * pooled);
	stats_prior_likely(v, dof, h->n, &p->d0, &p->s0sq);
	p->s0sq = fmax(p->s0sq, least * least);
	/* s0sq is no better known than from the units behind it. */
	for (size_t i = 0; i < h->n; i++)
		known += dof[i] * p->d0 / (p->d0 + dof[i]);
	p->d0 = 1 / (1 / p->d0 + 1 / known);
	return pooled;
}

/* Mean of the lower four fifths of @q, as a multiple of what chi-square with 1 degree has there. */
static double lower_mean(double *q, size_t n)
{
	static const double expected = .4376;
	size_t kept = (4 * n + 4) / 5;

	stats_sort(q, n);
	return stats_mean(q, kept) / expected;
}

/*
 * Variance between neighbouring commits beyond what their units explain. The highest fifth of the
 * differences may be changes, and is left out. The limit is 3.2 standard deviations (of the
 * trimmed mean of chi-squares that overlap by half, and of the pooled variance), which 2 to 5 % of
 * histories without jitter reach: it costs most of the power where it is seen.
 */
static void fit_jitter(const struct history *h, double pooled, struct detect_profile *p)
{
	_cleanup_(freep) double *q = xcalloc(h->n, 2 * sizeof(*q));
	double *v = q + h->n, ratio, dof = (double)(h->y.len - h->n);
	size_t n = 0;

	for (size_t i = 0; i + 1 < h->n; i++) {
		size_t k0, k1;
		const double *y0 = commit_at(h, i, &k0);
		const double *y1 = commit_at(h, i + 1, &k1);
		double d = stats_mean(y1, k1) - stats_mean(y0, k0);

		if (h->borrowed.items[i] || h->borrowed.items[i + 1])
			continue;
		v[n] = pooled * (1 / (double)k0 + 1 / (double)k1);
		q[n] = d * d / v[n];
		n++;
	}
	if (n < JITTER_MIN_PAIRS)
		return;
	ratio = lower_mean(q, n);
	if (ratio > 1 + 3.2 * sqrt(4.45 / (double)n + 2 / dof))
		p->scsq = (ratio - 1) * stats_median(v, n) / 2;
}

/*
 * Correlation of neighbours in time, by von Neumann's ratio. The mean of a commit takes part of
 * a common drift away, so commits of a few units show too little of it: never too much.
 */
static void fit_pair_rho(const struct history *h, struct detect_profile *p)
{
	double steps = 0, ss = 0, pairs = 0, dof = 0;

	for (size_t i = 0; i < h->n; i++) {
		size_t k;
		const double *y = commit_at(h, i, &k);

		if (k < 3)
			continue;
		for (size_t j = 1; j < k; j++)
			steps += (y[j] - y[j - 1]) * (y[j] - y[j - 1]);
		ss += stats_var(y, k) * (double)(k - 1);
		pairs += (double)(k - 1);
		dof += (double)(k - 1);
	}
	if (pairs >= NEIGHBOURS_MIN && ss > 0)
		p->pair_rho = fmax(-1, 1 - steps / pairs / 2 / (ss / dof));
}

/* splitmix64 (Steele, Lea and Flood 2014): a number below @n from the next state. */
static size_t draw(uint64_t *state, size_t n)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (size_t)(((z ^ (z >> 31)) >> 32) * (uint64_t)n >> 32);
}

/* Mean and sum of squares of @n clipped residuals drawn from the ascending @pool. */
static void draw_sample(const double *pool, size_t npool, size_t n, uint64_t *state,
			const struct detect_profile *p, double *ret_mean, double *ret_ss)
{
	size_t at[CALIBRATION_UNITS_MAX] = { 0 };
	double med, sum = 0, ss = 0;

	for (size_t i = 0; i < n; i++) {
		size_t v = draw(state, npool), j = i;

		for (; j > 0 && at[j - 1] > v; j--)
			at[j] = at[j - 1];
		at[j] = v;
	}
	med = (pool[at[(n - 1) / 2]] + pool[at[n / 2]]) / 2;
	for (size_t i = 0; i < n; i++) {
		double x = fmin(fmax(pool[at[i]] - med, p->lo), p->hi);

		sum += x;
		ss += x * x;
	}
	*ret_mean = med + sum / (double)n;
	*ret_ss = fmax(0, ss - sum * sum / (double)n);
}

/* The value above which @above of all counted ones lie; bin i is [i, i + 1) * @width + @first. */
static double tail_quantile(const unsigned *bins, double above, double first, double width)
{
	double seen = 0;

	for (int i = CALIBRATION_BINS - 1; i >= 0; i--) {
		if (seen + bins[i] >= above)
			return first + width * (i + 1 - (above - seen) / bins[i]);
		seen += bins[i];
	}
	return first;
}

/*
 * How much wider than Student's t the clipped noise makes the test at @size units a side. Every
 * sample is tested against every other one, which tells as much of the tail as many times the
 * samples in pairs of their own would, and counts of t^2 do without square roots and sorting.
 */
static double calibrate(const double *pool, size_t npool, size_t size, uint64_t *state,
			const struct detect_profile *p)
{
	enum {
		PAIRS = CALIBRATION_SAMPLES * (CALIBRATION_SAMPLES - 1) / 2
	};
	/* Bins of .02 up to 11; what is beyond is not noise that any factor could mend. */
	static const double first = .7, width = .02;
	double mean[CALIBRATION_SAMPLES], ss[CALIBRATION_SAMPLES];
	size_t n = size < CALIBRATION_UNITS_MAX ? size : CALIBRATION_UNITS_MAX;
	double df = p->d0 + 2 * (double)n - 2;
	double t99 = stats_t_upper(.005, df), t998 = stats_t_upper(.001, df);
	double unit = t99 * t99 * 2 / (double)n / df, prior = p->d0 * p->s0sq, wide;
	unsigned bins[CALIBRATION_BINS] = { 0 };

	for (size_t i = 0; i < CALIBRATION_SAMPLES; i++) {
		draw_sample(pool, npool, n, state, p, &mean[i], &ss[i]);
		for (size_t j = 0; j < i; j++) {
			double d = mean[i] - mean[j], scale = unit * (prior + ss[i] + ss[j]);
			double over;

			if (d * d <= first * scale)
				continue;
			over = (d * d / scale - first) / width;
			bins[(size_t)fmin(over, CALIBRATION_BINS - 1)]++;
		}
	}
	wide = sqrt(tail_quantile(bins, .01 * PAIRS, first, width));
	wide = fmax(wide, sqrt(tail_quantile(bins, .002 * PAIRS, first, width)) * t99 / t998);
	return fmax(1, wide);
}

static int check_sizes(const int *sizes, size_t n, struct err *e)
{
	if (n > DETECT_SIZES_MAX)
		return err_set(e, ERR_INVAL, "%zu sizes to calibrate for, at most %d are kept", n,
			       DETECT_SIZES_MAX);
	for (size_t i = 0; i < n; i++) {
		if (sizes[i] < 2 || sizes[i] > 1000 || (i && sizes[i] <= sizes[i - 1]))
			return err_set(e, ERR_INVAL,
				       "size %d to calibrate for; want ascending ones, 2 to 1000",
				       sizes[i]);
	}
	return 0;
}

static void fit_lambdas(const double *pool, size_t n, const int *sizes, size_t nsizes,
			uint64_t seed, struct detect_profile *p)
{
	p->lambda = 1;
	for (size_t i = 0; i < nsizes; i++) {
		p->sizes[i] = sizes[i];
		p->lambdas[i] = calibrate(pool, n, (size_t)sizes[i], &seed, p);
		p->lambda = fmax(p->lambda, p->lambdas[i]);
	}
	p->nsizes = nsizes;
}

/* Everything that can be said once there are commits enough. False: they show no noise. */
static bool fit(struct history *h, const int *sizes, size_t nsizes, uint64_t seed,
		struct detect_profile *p)
{
	_cleanup_(freep) double *r = xcalloc(h->y.len, sizeof(*r));
	double pooled, least, biggest;

	memcpy(r, h->y.items, h->y.len * sizeof(*r));
	stats_sort(r, h->y.len);
	/* Their squares would be infinite, or nothing. */
	biggest = fmax(fabs(r[0]), fabs(r[h->y.len - 1]));
	if (!h->ln && !(biggest < 1e150 && biggest > 1e-150))
		return false;
	least = rounding(r, h->y.len);
	fit_bimodal(h, r, p);
	residuals(h, r);
	stats_sort(r, h->y.len);
	fit_clip(r, h->y.len, least, p);
	for (size_t i = 0; i < h->n; i++) {
		size_t k;
		double *y = commit_at(h, i, &k);

		(void)stats_clip(y, k, p->lo, p->hi);
	}
	pooled = fit_prior(h, least, p);
	/* Noise-free history would clip every sample to its median and prove anything. */
	if (!(pooled > 0))
		return false;
	fit_jitter(h, pooled, p);
	fit_pair_rho(h, p);
	residuals(h, r);
	stats_sort(r, h->y.len);
	fit_lambdas(r, h->y.len, sizes, nsizes, seed, p);
	return true;
}

int detect_profile_fit(const struct detect_commit *commits, size_t ncommits, const int *sizes,
		       size_t nsizes, uint64_t seed, struct detect_profile *ret, struct err *e)
{
	_cleanup_(history_done) struct history h = { 0 };
	struct detect_profile p = { .have = true };
	int err = check_sizes(sizes, nsizes, e);

	if (err < 0)
		return err;
	history_load(&h, commits, ncommits);
	p.ln_scale = h.ln;
	p.history = (int)h.n;
	if (h.n < DETECT_HISTORY_MIN || !fit(&h, sizes, nsizes, seed, &p))
		p = (struct detect_profile){ 0 };
	*ret = p;
	return 0;
}

double detect_profile_lambda(const struct detect_profile *p, size_t units)
{
	double best = p->nsizes ? p->lambdas[0] : p->lambda;

	for (size_t i = 0; i < p->nsizes && (size_t)p->sizes[i] <= units; i++)
		best = p->lambdas[i];
	return best;
}
