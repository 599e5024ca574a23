/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/profile.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "bot/detect/stats.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum {
	CALIBRATION_PAIRS = 2000,
	BIMODAL_MIN = 30
};

/* History on the test's scale: commit i owns y[start[i]] … y[start[i + 1] - 1]. */
struct history {
	VEC(double) y;
	VEC(size_t) start;
	size_t n;
	bool ln;
};

static void history_done(struct history *h)
{
	vec_done(&h->y);
	vec_done(&h->start);
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

static void fit_clip(const double *sorted, size_t n, struct detect_profile *p)
{
	double s = stats_mad_sd(sorted, n);

	p->lo = 1.25 * fmin(stats_quantile(sorted, n, .08), -2.5 * s);
	p->hi = 1.25 * fmax(stats_quantile(sorted, n, .92), 2.5 * s);
}

static void fit_bimodal(const double *sorted, size_t n, double level, struct detect_profile *p)
{
	struct stats_split split;
	double ss = 0, at;
	size_t k = 0;

	if (n < BIMODAL_MIN)
		return;
	stats_otsu(sorted, n, &split);
	if (!(split.eta > .85 && split.minor >= .10))
		return;
	at = split.cut;
	while (k < n && sorted[k] < at)
		k++;
	if (k > 1)
		ss += stats_var(sorted, k) * (double)(k - 1);
	if (n - k > 1)
		ss += stats_var(sorted + k, n - k) * (double)(n - k - 1);
	p->bimodal = true;
	p->cut = level + at;
	p->dof_in = (double)(n - 2);
	p->sd_in = sqrt(ss / p->dof_in);
}

/* Variance prior from the clipped commits. Returns the pooled variance. */
static double fit_prior(const struct history *h, struct detect_profile *p)
{
	_cleanup_(freep) double *v = xcalloc(h->n, sizeof(*v));
	_cleanup_(freep) double *dof = xcalloc(h->n, sizeof(*dof));
	double ss = 0, all = 0, pooled;

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
	stats_prior_fit(v, h->n, stats_median(dof, h->n), &p->d0, &p->s0sq);
	if (isinf(p->d0))
		p->s0sq = pooled;
	p->d0 = fmin(p->d0, all);
	p->s0sq = fmax(p->s0sq, pooled);
	return pooled;
}

/* Variance between neighbouring commits beyond what their units explain. */
static void fit_jitter(const struct history *h, double pooled, struct detect_profile *p)
{
	size_t n = h->n - 1;
	_cleanup_(freep) double *d = xcalloc(n, sizeof(*d));
	_cleanup_(freep) double *v = xcalloc(n, sizeof(*v));
	_cleanup_(freep) double *q = xcalloc(n, sizeof(*q));
	double robust, med_v;

	for (size_t i = 0; i < n; i++) {
		size_t k0, k1;
		const double *y0 = commit_at(h, i, &k0);
		const double *y1 = commit_at(h, i + 1, &k1);

		d[i] = fabs(stats_mean(y1, k1) - stats_mean(y0, k0));
		v[i] = pooled * (1 / (double)k0 + 1 / (double)k1);
		q[i] = v[i] > 0 ? d[i] * d[i] / v[i] : 0;
	}
	med_v = stats_median(v, n);
	if (!(med_v > 0) || !(stats_median(q, n) / .4549 > 1 + 4.29 / sqrt((double)n)))
		return;
	robust = 1.4826 * stats_median(d, n);
	p->scsq = fmax(0, (robust * robust - med_v) / 2);
}

/* How much wider than Student's t the clipped noise makes the test at @size units a side. */
static double calibrate(const double *pool, size_t npool, int size, gsl_rng *rng,
			const struct detect_profile *p)
{
	struct stats_prior prior = { .d0 = p->d0, .s0sq = p->s0sq, .lambda = 1 };
	_cleanup_(freep) double *t = xcalloc(CALIBRATION_PAIRS, sizeof(*t));
	size_t n = (size_t)size;
	_cleanup_(freep) double *ab = xcalloc(2 * n, sizeof(*ab));
	double df = p->d0 + 2 * (double)n - 2, wide;

	for (size_t i = 0; i < CALIBRATION_PAIRS; i++) {
		struct stats_test test;

		for (size_t j = 0; j < 2 * n; j++)
			ab[j] = pool[gsl_rng_uniform_int(rng, npool)];
		(void)stats_clip(ab, n, p->lo, p->hi);
		(void)stats_clip(ab + n, n, p->lo, p->hi);
		stats_moderated(ab, n, ab + n, n, &prior, &test);
		t[i] = fabs(test.t);
	}
	stats_sort(t, CALIBRATION_PAIRS);
	wide = stats_quantile(t, CALIBRATION_PAIRS, .99) / stats_t_upper(.005, df);
	wide = fmax(wide, stats_quantile(t, CALIBRATION_PAIRS, .998) / stats_t_upper(.001, df));
	return isfinite(wide) ? fmax(1, wide) : 1;
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
	gsl_rng *rng;

	p->lambda = 1;
	if (!nsizes)
		return;
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < nsizes; i++) {
		p->sizes[i] = sizes[i];
		p->lambdas[i] = calibrate(pool, n, sizes[i], rng, p);
		p->lambda = fmax(p->lambda, p->lambdas[i]);
	}
	p->nsizes = nsizes;
	gsl_rng_free(rng);
}

int detect_profile_fit(const struct detect_commit *commits, size_t ncommits, const int *sizes,
		       size_t nsizes, uint64_t seed, struct detect_profile *ret, struct err *e)
{
	_cleanup_(history_done) struct history h = { 0 };
	_cleanup_(freep) double *r = NULL;
	_cleanup_(freep) double *level = NULL;
	struct detect_profile p = { 0 };
	double pooled;
	int err = check_sizes(sizes, nsizes, e);

	if (err < 0)
		return err;
	history_load(&h, commits, ncommits);
	if (h.n < DETECT_HISTORY_MIN) {
		*ret = (struct detect_profile){ 0 };
		return 0;
	}
	r = xcalloc(h.y.len, sizeof(*r));
	level = xcalloc(h.n, sizeof(*level));
	residuals(&h, r);
	stats_sort(r, h.y.len);
	p.have = true;
	p.ln_scale = h.ln;
	p.history = (int)h.n;
	fit_clip(r, h.y.len, &p);
	for (size_t i = 0; i < h.n; i++) {
		size_t k;
		double *y = commit_at(&h, i, &k);

		level[i] = stats_mean(y, k);
		(void)stats_clip(y, k, p.lo, p.hi);
	}
	fit_bimodal(r, h.y.len, stats_median(level, h.n), &p);
	pooled = fit_prior(&h, &p);
	/* Noise-free history would clip every sample to its median and prove anything. */
	if (!(pooled > 0)) {
		*ret = (struct detect_profile){ 0 };
		return 0;
	}
	fit_jitter(&h, pooled, &p);
	residuals(&h, r);
	fit_lambdas(r, h.y.len, sizes, nsizes, seed, &p);
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
