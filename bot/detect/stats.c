/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/stats.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum {
	RANK_SORT_MAX = 24,
	COUNT_PAIRS_MAX = 150
};

static int cmp_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double *copy_sorted(const double *x, size_t n)
{
	double *s = xcalloc(n ? n : 1, sizeof(*s));

	if (n)
		memcpy(s, x, n * sizeof(*s));
	stats_sort(s, n);
	return s;
}

/* Each value to its rank: no branch to be mispredicted, which is what an insertion sort waits for. */
static void rank_sort(double *x, size_t n)
{
	double from[RANK_SORT_MAX];
	unsigned rank[RANK_SORT_MAX] = { 0 };

	for (size_t i = 0; i < n; i++) {
		unsigned above = 0;

		from[i] = x[i];
		for (size_t j = i + 1; j < n; j++) {
			unsigned less = x[j] < x[i];

			above += less;
			rank[j] += 1 - less;
		}
		rank[i] += above;
	}
	for (size_t i = 0; i < n; i++)
		x[rank[i]] = from[i];
}

void stats_sort(double *x, size_t n)
{
	/* Samples are mostly a handful of units. */
	if (n <= RANK_SORT_MAX)
		rank_sort(x, n);
	else
		qsort(x, n, sizeof(*x), cmp_double);
}

double stats_mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : 0;
}

double stats_var(const double *x, size_t n)
{
	double mean = stats_mean(x, n), ss = 0;

	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		ss += (x[i] - mean) * (x[i] - mean);
	return ss / (double)(n - 1);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
	double pos, frac;
	size_t i;

	if (!n)
		return 0;
	pos = q * (double)(n - 1);
	i = (size_t)pos;
	if (i + 1 >= n)
		return sorted[n - 1];
	frac = pos - (double)i;
	return sorted[i] + frac * (sorted[i + 1] - sorted[i]);
}

double stats_median(const double *x, size_t n)
{
	_cleanup_(freep) double *s = copy_sorted(x, n);

	return stats_quantile(s, n, .5);
}

double stats_mad_sd(const double *x, size_t n)
{
	_cleanup_(freep) double *s = copy_sorted(x, n);
	double med = stats_quantile(s, n, .5);

	for (size_t i = 0; i < n; i++)
		s[i] = fabs(s[i] - med);
	stats_sort(s, n);
	return 1.4826 * stats_quantile(s, n, .5);
}

size_t stats_clip(double *x, size_t n, double lo, double hi)
{
	double few[64], med;
	size_t moved = 0;

	if (n <= ARRAY_SIZE(few)) {
		memcpy(few, x, n * sizeof(*x));
		stats_sort(few, n);
		med = stats_quantile(few, n, .5);
	} else {
		med = stats_median(x, n);
	}
	for (size_t i = 0; i < n; i++) {
		double v = fmin(fmax(x[i], med + lo), med + hi);

		moved += v != x[i];
		x[i] = v;
	}
	return moved;
}

static void finish_test(struct stats_test *t)
{
	if (t->se > 0)
		t->t = t->effect / t->se;
	else
		t->t = t->effect == 0 ? 0 : (t->effect > 0 ? GSL_POSINF : GSL_NEGINF);
	t->p = t->t == 0 ? 1 : stats_t_two_sided(t->t, t->df);
}

struct stats_sum stats_sum_of(const double *x, size_t n)
{
	struct stats_sum s = { n, stats_mean(x, n), 0 };

	for (size_t i = 0; i < n; i++)
		s.ss += (x[i] - s.mean) * (x[i] - s.mean);
	return s;
}

void stats_welch_sums(const struct stats_sum *a, const struct stats_sum *b, struct stats_test *ret)
{
	double n = (double)a->n, m = (double)b->n;
	double va = a->ss / (n - 1) / n, vb = b->ss / (m - 1) / m;
	double parts = va * va / (n - 1) + vb * vb / (m - 1);

	ret->effect = b->mean - a->mean;
	ret->se = sqrt(va + vb);
	ret->df = parts > 0 ? (va + vb) * (va + vb) / parts : n + m - 2;
	finish_test(ret);
}

void stats_welch(const double *a, size_t n, const double *b, size_t m, struct stats_test *ret)
{
	struct stats_sum sa = stats_sum_of(a, n), sb = stats_sum_of(b, m);

	stats_welch_sums(&sa, &sb, ret);
}

/* @ss on @d degrees of freedom, shrunk. */
static double shrunk(const struct stats_prior *prior, double ss, double d)
{
	if (isinf(prior->d0))
		return prior->s0sq;
	return prior->d0 + d > 0 ? (prior->d0 * prior->s0sq + ss) / (prior->d0 + d) : 0;
}

void stats_moderated_sums(const struct stats_sum *a, const struct stats_sum *b,
			  const struct stats_prior *prior, struct stats_test *ret)
{
	double n = (double)a->n, m = (double)b->n, d = n + m - 2;
	double st = shrunk(prior, a->ss + b->ss, d);

	ret->effect = b->mean - a->mean;
	ret->se = prior->lambda * sqrt(st * (1 / n + 1 / m) + 2 * prior->scsq);
	ret->df = prior->d0 + d;
	if (prior->scsq > 0)
		ret->df = fmin(ret->df, prior->history - 1);
	finish_test(ret);
}

void stats_moderated(const double *a, size_t n, const double *b, size_t m,
		     const struct stats_prior *prior, struct stats_test *ret)
{
	struct stats_sum sa = stats_sum_of(a, n), sb = stats_sum_of(b, m);

	stats_moderated_sums(&sa, &sb, prior, ret);
}

void stats_moderated_paired(const struct stats_sum *d, const struct stats_prior *prior,
			    struct stats_test *ret)
{
	double n = (double)d->n, st = shrunk(prior, d->ss, n - 1);

	ret->effect = d->mean;
	ret->se = prior->lambda * sqrt(st / n + 2 * prior->scsq);
	ret->df = prior->d0 + n - 1;
	if (prior->scsq > 0)
		ret->df = fmin(ret->df, prior->history - 1);
	finish_test(ret);
}

/*
 * P(U <= u) for every u up to nm / 2, from the Gaussian binomial coefficient [n+m over n]: its
 * q^k coefficient counts the orders with U = k. Multiplying by (1 - q^(m+i)) and dividing by
 * (1 - q^i) only looks down, so the array can end there; every intermediate value is an integer
 * below 2^53 for n + m <= 50.
 */
static void mwu_exact_tails(size_t n, size_t m, double *c)
{
	double all = 1, sum = 0;
	size_t u = n * m / 2;

	memset(c, 0, (u + 1) * sizeof(*c));
	c[0] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t k = u + 1; k-- > m + i;)
			c[k] -= c[k - m - i];
		for (size_t k = i; k <= u; k++)
			c[k] += c[k - i];
		all = all * (double)(m + i) / (double)i;
	}
	for (size_t k = 0; k <= u; k++) {
		sum += c[k];
		c[k] = fmin(1, 2 * (sum / all));
	}
}

void stats_mwu_tails_done(struct stats_mwu_tails *t)
{
	free(t->p);
	*t = (struct stats_mwu_tails){ 0 };
}

static double mwu_exact(struct stats_mwu_tails *t, size_t n, size_t m, size_t u)
{
	if (!t->p || t->n != n || t->m != m) {
		stats_mwu_tails_done(t);
		t->n = n;
		t->m = m;
		t->p = xcalloc(n * m / 2 + 1, sizeof(*t->p));
		mwu_exact_tails(n, m, t->p);
	}
	return t->p[u];
}

/* U of b over a by merging two ascending arrays; sum of t^3 - t over groups of equal values. */
static double mwu_count(const double *a, size_t n, const double *b, size_t m, double *ret_ties)
{
	size_t i = 0, j = 0;
	double u = 0, ties = 0;

	while (i < n || j < m) {
		double v = i < n && (j >= m || a[i] <= b[j]) ? a[i] : b[j];
		size_t i0 = i, j0 = j;
		double ta, tb, t;

		while (i < n && a[i] == v)
			i++;
		while (j < m && b[j] == v)
			j++;
		ta = (double)(i - i0);
		tb = (double)(j - j0);
		t = ta + tb;
		u += tb * ((double)i0 + ta / 2);
		ties += t * t * t - t;
	}
	*ret_ties = ties;
	return u;
}

/* The same where no two values are equal, as they mostly are not; -1 if some are. */
static double mwu_count_distinct(const double *a, size_t n, const double *b, size_t m)
{
	size_t i = 0, u = 0, equal = 0;

	for (size_t j = 1; j < n; j++)
		equal += a[j] == a[j - 1];
	for (size_t j = 1; j < m; j++)
		equal += b[j] == b[j - 1];
	if (n * m <= COUNT_PAIRS_MAX) {
		/* Few pairs are faster compared all than merged with a branch each. */
		for (size_t j = 0; j < m; j++) {
			for (i = 0; i < n; i++) {
				u += a[i] < b[j];
				equal += a[i] == b[j];
			}
		}
		return equal ? -1 : (double)u;
	}
	for (size_t j = 0; j < m; j++) {
		while (i < n && a[i] < b[j])
			i++;
		u += i;
		equal += i < n && a[i] == b[j];
	}
	return equal ? -1 : (double)u;
}

double stats_mwu_sorted(const double *a, size_t n, const double *b, size_t m,
			struct stats_mwu_tails *tails, double *ret_u)
{
	struct stats_mwu_tails own = { 0 };
	double nm = (double)n * (double)m, tot = (double)(n + m), ties = 0, u, var, z;

	u = mwu_count_distinct(a, n, b, m);
	if (u < 0)
		u = mwu_count(a, n, b, m, &ties);
	if (ret_u)
		*ret_u = u;
	if (!n || !m)
		return 1;
	if (ties == 0 && n + m <= 50) {
		z = mwu_exact(tails ? tails : &own, n, m, (size_t)fmin(u, nm - u));
		stats_mwu_tails_done(&own);
		return z;
	}
	var = nm / 12 * (tot + 1 - ties / (tot * (tot - 1)));
	if (!(var > 0))
		return 1;
	z = fmax(0, fabs(u - nm / 2) - .5) / sqrt(var);
	return fmin(1, 2 * gsl_cdf_ugaussian_Q(z));
}

double stats_mwu(const double *a, size_t n, const double *b, size_t m, double *ret_u)
{
	_cleanup_(freep) double *sa = copy_sorted(a, n);
	_cleanup_(freep) double *sb = copy_sorted(b, m);

	return stats_mwu_sorted(sa, n, sb, m, NULL, ret_u);
}

double stats_fisher(unsigned a, unsigned b, unsigned c, unsigned d)
{
	unsigned row = a + b, col = a + c, total = row + c + d;
	unsigned lo = col > c + d ? col - (c + d) : 0, hi = row < col ? row : col;
	double here, sum = 0;

	if (!total || !row || row == total)
		return 1;
	here = gsl_ran_hypergeometric_pdf(a, row, total - row, col);
	/* Tables as likely as this one count; the slack absorbs rounding of equal ones. */
	for (unsigned k = lo; k <= hi; k++) {
		double pk = gsl_ran_hypergeometric_pdf(k, row, total - row, col);

		if (pk <= here * (1 + 1e-7))
			sum += pk;
	}
	return fmin(1, sum);
}

double stats_cauchy(double p1, double p2)
{
	double q1 = fmin(fmax(p1, 1e-15), .999), q2 = fmin(fmax(p2, 1e-15), .999);
	/* tan((.5 - q) pi) and .5 - atan(t) / pi, without losing the digits of a small p. */
	double t = (1 / tan(q1 * M_PI) + 1 / tan(q2 * M_PI)) / 2;

	return t > 0 ? atan(1 / t) / M_PI : .5 - atan(t) / M_PI;
}

struct ranked {
	double p;
	size_t index;
};

static int cmp_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->p != b->p)
		return a->p < b->p ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

void stats_bh(const double *p, size_t n, double *q)
{
	_cleanup_(freep) struct ranked *r = xcalloc(n ? n : 1, sizeof(*r));
	size_t tested = 0;
	double best = 1;

	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			q[i] = p[i];
		else
			r[tested++] = (struct ranked){ p[i], i };
	}
	qsort(r, tested, sizeof(*r), cmp_ranked);
	for (size_t j = tested; j-- > 0;) {
		best = fmin(best, r[j].p * (double)tested / (double)(j + 1));
		q[r[j].index] = best;
	}
}

void stats_otsu(const double *sorted, size_t n, struct stats_split *ret)
{
	double mean = stats_mean(sorted, n),
	       pop = stats_var(sorted, n) * (double)(n - 1) / (double)n;
	double left = 0, all = mean * (double)n;

	*ret = (struct stats_split){ 0 };
	if (!(pop > 0))
		return;
	for (size_t i = 1; i < n; i++) {
		double w0 = (double)i / (double)n, m0, m1, eta;

		left += sorted[i - 1];
		if (sorted[i - 1] == sorted[i])
			continue;
		m0 = left / (double)i;
		m1 = (all - left) / (double)(n - i);
		eta = w0 * (1 - w0) * (m0 - m1) * (m0 - m1) / pop;
		if (eta > ret->eta)
			*ret = (struct stats_split){ eta, fmin(w0, 1 - w0),
						     sorted[i - 1] / 2 + sorted[i] / 2 };
	}
}
