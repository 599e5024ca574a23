/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two-sample tests, multiplicity and order statistics; what GSL has is taken from there. */
#pragma once

#include <stddef.h>

/**
 * struct stats_test - one two-sample comparison of means.
 * @effect: mean of the second sample minus mean of the first, in the unit of the data.
 * @se: standard error of @effect, >= 0.
 * @df: degrees of freedom, > 0, may be infinite.
 * @t: @effect / @se; 0 or infinite when @se is 0.
 * @p: two-sided p-value of @t in [0, 1].
 */
struct stats_test {
	double effect;
	double se;
	double df;
	double t;
	double p;
};

/** stats_mean() - arithmetic mean; 0 for @n = 0. */
double stats_mean(const double *x, size_t n);

/** stats_var() - variance with divisor @n - 1; 0 for @n < 2. */
double stats_var(const double *x, size_t n);

/** stats_median() - median, mean of the middle two for even @n; 0 for @n = 0. O(n log n). */
double stats_median(const double *x, size_t n);

/** stats_quantile() - quantile @q of an ascending array, linear between (n - 1) q neighbours. */
double stats_quantile(const double *sorted, size_t n, double q);

/** stats_mad_sd() - 1.4826 * median |x - median x|: a robust standard deviation. */
double stats_mad_sd(const double *x, size_t n);

/** stats_sort() - ascending, in place; no NaN allowed. */
void stats_sort(double *x, size_t n);

/** stats_clip() - clamp every value to [median + @lo, median + @hi]. Return: how many moved. */
size_t stats_clip(double *x, size_t n, double lo, double hi);

/** stats_t_two_sided() - P(|T| >= |t|) for Student's t; @df <= 0 or NaN gives 1, inf is normal. */
double stats_t_two_sided(double t, double df);

/** stats_t_upper() - the t with P(T > t) = @p_upper, 0 < @p_upper < 1; infinite for @df <= 0. */
double stats_t_upper(double p_upper, double df);

/** struct stats_sum - a sample in brief: size, mean, and sum of squares around the mean. */
struct stats_sum {
	size_t n;
	double mean;
	double ss;
};

struct stats_sum stats_sum_of(const double *x, size_t n);

/**
 * stats_welch() - Welch's t with Satterthwaite's degrees of freedom.
 * @n, @m: at least 2 each.
 *
 * Two constant samples have @se 0, and @p 1 when they are equal, else 0.
 */
void stats_welch(const double *a, size_t n, const double *b, size_t m, struct stats_test *ret);
void stats_welch_sums(const struct stats_sum *a, const struct stats_sum *b, struct stats_test *ret);

/**
 * struct stats_prior - what history says about the variance of one unit.
 * @d0: weight of the prior in degrees of freedom, >= 0, may be infinite.
 * @s0sq: prior variance.
 * @scsq: variance between commits that do not differ ("jitter"), added once a side.
 * @lambda: factor on the standard error from calibration, >= 1.
 * @history: number of commits behind it; bounds df when @scsq > 0.
 */
struct stats_prior {
	double d0;
	double s0sq;
	double scsq;
	double lambda;
	int history;
};

/** stats_moderated() - t with a variance shrunk to @prior; samples already clipped, n, m >= 1. */
void stats_moderated(const double *a, size_t n, const double *b, size_t m,
		     const struct stats_prior *prior, struct stats_test *ret);
void stats_moderated_sums(const struct stats_sum *a, const struct stats_sum *b,
			  const struct stats_prior *prior, struct stats_test *ret);

/**
 * stats_moderated_paired() - t of the differences of pairs with their variance shrunk to @prior.
 * @d: sum of the differences; @prior: its @s0sq is of one difference.
 */
void stats_moderated_paired(const struct stats_sum *d, const struct stats_prior *prior,
			    struct stats_test *ret);

/**
 * stats_mwu() - two-sided Mann-Whitney test.
 * @ret_u: U of the second sample, ties count one half; may be NULL.
 *
 * Exact without ties up to n + m = 50 (all counts are exact in a double); otherwise normal with
 * tie-corrected variance and continuity correction 1/2. Return: p, 1 if a side is empty.
 */
double stats_mwu(const double *a, size_t n, const double *b, size_t m, double *ret_u);

/**
 * struct stats_mwu_tails - exact two-sided p by U for samples of @n and @m, kept for the next
 * ones of these sizes; all zero to start with, stats_mwu_tails_done() at the end.
 */
struct stats_mwu_tails {
	size_t n, m;
	double *p;
};

/** stats_mwu_sorted() - stats_mwu() of ascending samples. @tails: NULL, or to be used again. */
double stats_mwu_sorted(const double *a, size_t n, const double *b, size_t m,
			struct stats_mwu_tails *tails, double *ret_u);
void stats_mwu_tails_done(struct stats_mwu_tails *t);

/** stats_fisher() - two-sided p of Fisher's exact test on the table [[a, b], [c, d]]. */
double stats_fisher(unsigned a, unsigned b, unsigned c, unsigned d);

/** stats_cauchy() - Cauchy combination of two p-values, each kept in [1e-15, .999]. */
double stats_cauchy(double p1, double p2);

/**
 * stats_bh() - Benjamini-Hochberg adjusted p-values.
 * @p: p-values; NaN means not tested: not counted, adjusted value NaN.
 * @q: @n results; may be @p itself.
 *
 * O(n log n). Benjamini and Hochberg 1995.
 */
void stats_bh(const double *p, size_t n, double *q);

/** stats_trigamma_inverse() - the x > 0 with psi'(x) = @y, @y > 0. */
double stats_trigamma_inverse(double y);

/**
 * stats_prior_fit() - moments of log variances (Smyth 2004, as in limma).
 * @s2: @n > 1 positive variances with @dof > 0 degrees of freedom each.
 * @ret_d0: infinite when they spread no more than chi-square noise does.
 */
void stats_prior_fit(const double *s2, size_t n, double dof, double *ret_d0, double *ret_s0sq);

/**
 * stats_prior_likely() - most likely prior for variances that are inverse chi-square distributed.
 * @s2: @n > 0 variances, >= 0 and not all 0, with @dof[i] > 0 degrees of freedom.
 * @ret_d0: one of a geometric grid from 1 to 128.
 *
 * Against stats_prior_fit() it knows the degrees of freedom of each, and is not led by variances
 * that are small by chance: of two units, half of them are. How much variances differ is hardly
 * told by some dozen of them, so 8 within a factor of 4.5 is preferred (one standard deviation).
 * Pure. Some 10 microseconds for 40 variances.
 */
void stats_prior_likely(const double *s2, const double *dof, size_t n, double *ret_d0,
			double *ret_s0sq);

/**
 * struct stats_split - best cut of a sample into two groups (Otsu).
 * @eta: variance between the groups / population variance, 0 to 1; 0 for a constant sample.
 * @minor: share of the smaller group.
 * @cut: halfway between the groups.
 */
struct stats_split {
	double eta;
	double minor;
	double cut;
};

/** stats_otsu() - cut an ascending array of @n >= 2 values where @eta is largest. O(n). */
void stats_otsu(const double *sorted, size_t n, struct stats_split *ret);

/**
 * stats_look_cuts() - two-sided p cut at each look that spends @alpha in all.
 * @looks: @n ascending sample sizes; @nmax: the size at which all is spent (>= last look).
 * @cuts: @n results, each in (0, @alpha].
 *
 * Spending function alpha ln(1 + (e - 1) t), t = look / nmax (Lan and DeMets 1983), by recursive
 * integration over the continuation region. About a millisecond a look.
 */
void stats_look_cuts(const int *looks, size_t n, int nmax, double alpha, double *cuts);
