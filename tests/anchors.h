/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules and tests of others, to be shown beside ours: none of them is used by the product. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	ANCHOR_MAX = 64
};

/**
 * anchor_lkp() - the change rule of the kernel test robot: the whole of one side is beyond the
 * median of the other and the reverse, and the medians differ by more than @ratio.
 */
bool anchor_lkp(const double *a, size_t n, const double *b, size_t m, double ratio);

/** anchor_brunner_munzel() - two-sided p (Brunner and Munzel 2000); @ret_w: the statistic. */
double anchor_brunner_munzel(const double *a, size_t n, const double *b, size_t m, double *ret_w);

/** anchor_ks() - exact two-sided p of Kolmogorov and Smirnov, no ties; @ret_d: largest distance. */
double anchor_ks(const double *a, size_t n, const double *b, size_t m, double *ret_d);

/** struct anchor_shift - Hodges and Lehmann's shift; interval between order statistics @k. */
struct anchor_shift {
	double shift, lo, hi, coverage;
	size_t k;
};
void anchor_hodges_lehmann(const double *a, size_t n, const double *b, size_t m, double alpha,
			   struct anchor_shift *ret);

/** anchor_permutation() - two-sided p of the mean over every split; n + m <= 20. */
double anchor_permutation(const double *a, size_t n, const double *b, size_t m);

/** anchor_e_value() - of a t with @nu degrees of freedom, @n a side, effects with variance @g. */
double anchor_e_value(double t, double nu, double n, double g);

/** anchor_e_bh() - how many of @n e-values are rejected at @alpha (Wang and Ramdas 2022). */
size_t anchor_e_bh(const double *e, size_t n, double alpha);

/** anchor_diff_sigma() - robust standard deviation of a series from its first differences. */
double anchor_diff_sigma(const double *x, size_t n);
