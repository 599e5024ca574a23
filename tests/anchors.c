/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/anchors.h"

#include "bot/detect/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *sorted(const double *x, size_t n, double *room)
{
	memcpy(room, x, n * sizeof(*x));
	stats_sort(room, n);
	return room;
}

bool anchor_lkp(const double *a, size_t n, const double *b, size_t m, double ratio)
{
	double ra[ANCHOR_MAX], rb[ANCHOR_MAX], *sa = sorted(a, n, ra), *sb = sorted(b, m, rb);
	double ma = sa[n / 2], mb = sb[m / 2];
	bool up = sb[0] > ma && mb > sa[n - 1], down = sa[0] > mb && ma > sb[m - 1];

	return (up || down) && fmax(ma, mb) / fmin(ma, mb) > ratio;
}

/* Rank of @v among @x, ties in the middle. */
static double rank_in(const double *x, size_t n, double v)
{
	double below = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		below += x[i] < v;
		equal += x[i] == v;
	}
	return below + (equal + 1) / 2;
}

/* Sum of squares of rank among all less rank among its own, around its mean, over n - 1. */
static double placements(const double *own, size_t n, const double *all, size_t nall,
			 double *ret_mean)
{
	double d[ANCHOR_MAX], mean = 0;

	for (size_t i = 0; i < n; i++) {
		double r = rank_in(all, nall, own[i]);

		d[i] = r - rank_in(own, n, own[i]);
		mean += r / (double)n;
	}
	*ret_mean = mean;
	return stats_var(d, n);
}

double anchor_brunner_munzel(const double *a, size_t n, const double *b, size_t m, double *ret_w)
{
	double all[2 * ANCHOR_MAX], ma, mb, sa, sb, va, vb, df, dn = (double)n, dm = (double)m;

	memcpy(all, a, n * sizeof(*a));
	memcpy(all + n, b, m * sizeof(*b));
	sa = placements(a, n, all, n + m, &ma);
	sb = placements(b, m, all, n + m, &mb);
	va = dn * sa;
	vb = dm * sb;
	*ret_w = dn * dm * (mb - ma) / (dn + dm) / sqrt(va + vb);
	df = (va + vb) * (va + vb) / (va * va / (dn - 1) + vb * vb / (dm - 1));
	return stats_t_two_sided(*ret_w, df);
}

/* Share of the orders of both samples that keep the distance of their steps below @d. */
static double below_distance(size_t n, size_t m, double d)
{
	double ways[ANCHOR_MAX + 1] = { 0 }, all[ANCHOR_MAX + 1];

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			double far = fabs((double)i / (double)n - (double)j / (double)m);

			all[j] = i && j ? all[j] + all[j - 1] : 1;
			if (i || j)
				ways[j] = (i ? ways[j] : 0) + (j ? ways[j - 1] : 0);
			else
				ways[j] = 1;
			if (far >= d - 1e-12)
				ways[j] = 0;
		}
	}
	return ways[m] / all[m];
}

double anchor_ks(const double *a, size_t n, const double *b, size_t m, double *ret_d)
{
	double d = 0;

	for (size_t k = 0; k < n + m; k++) {
		double v = k < n ? a[k] : b[k - n], fa = 0, fb = 0;

		for (size_t i = 0; i < n; i++)
			fa += a[i] <= v;
		for (size_t i = 0; i < m; i++)
			fb += b[i] <= v;
		d = fmax(d, fabs(fa / (double)n - fb / (double)m));
	}
	*ret_d = d;
	return 1 - below_distance(n, m, d);
}

void anchor_hodges_lehmann(const double *a, size_t n, const double *b, size_t m, double alpha,
			   struct anchor_shift *ret)
{
	double *d = calloc(n * m, sizeof(*d)), low[ANCHOR_MAX], high[ANCHOR_MAX];
	size_t k = 0;

	for (size_t i = 0; i < n * m; i++)
		d[i] = b[i % m] - a[i / m];
	stats_sort(d, n * m);
	ret->shift = stats_quantile(d, n * m, .5);
	ret->coverage = 1;
	/* P(U <= u) for u = 0, 1 …: of samples made to have that U. */
	for (size_t u = 0; u < n * m / 2; u++) {
		double p;

		for (size_t i = 0; i < n; i++)
			low[i] = (double)i;
		for (size_t i = 0; i < m; i++) {
			size_t above = u > i * n ? u - i * n : 0;

			high[m - 1 - i] =
				(above < n ? (double)above : (double)n) - .5 - .001 * (double)i;
		}
		p = stats_mwu(low, n, high, m, NULL);
		if (p > alpha)
			break;
		k = u + 1;
		ret->coverage = 1 - p;
	}
	ret->k = k;
	ret->lo = k ? d[k - 1] : (double)-INFINITY;
	ret->hi = k ? d[n * m - k] : (double)INFINITY;
	free(d);
}

double anchor_permutation(const double *a, size_t n, const double *b, size_t m)
{
	double all[ANCHOR_MAX], total = 0, seen = fabs(stats_mean(b, m) - stats_mean(a, n));
	size_t splits = 0, extreme = 0;

	memcpy(all, a, n * sizeof(*a));
	memcpy(all + n, b, m * sizeof(*b));
	for (size_t i = 0; i < n + m; i++)
		total += all[i];
	for (unsigned set = 0; set < 1U << (n + m); set++) {
		double sum = 0;

		if ((size_t)__builtin_popcount(set) != n)
			continue;
		for (size_t i = 0; i < n + m; i++)
			sum += set >> i & 1 ? all[i] : 0;
		splits++;
		extreme += fabs((total - sum) / (double)m - sum / (double)n) >=
			   seen * (1 - 1e-12) - 1e-300;
	}
	return (double)extreme / (double)splits;
}

double anchor_e_value(double t, double nu, double n, double g)
{
	double k = 1 + g * n / 2;

	return pow((1 + t * t / nu) / (1 + t * t / (nu * k)), (nu + 1) / 2) / sqrt(k);
}

size_t anchor_e_bh(const double *e, size_t n, double alpha)
{
	double room[ANCHOR_MAX], *s = sorted(e, n, room);

	for (size_t k = n; k > 0; k--) {
		if (s[n - k] >= (double)n / (alpha * (double)k))
			return k;
	}
	return 0;
}

double anchor_diff_sigma(const double *x, size_t n)
{
	double d[ANCHOR_MAX];

	for (size_t i = 1; i < n; i++)
		d[i - 1] = x[i] - x[i - 1];
	return stats_mad_sd(d, n - 1) / sqrt(2);
}
