/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two steps in one range: whether there are, where and how large. Inside of the library. */
#pragma once

#include "bisect/eval.h"

/**
 * struct bisect_two - one step against two, by a linear model with heavy-tailed errors.
 * @log_odds: ln of the evidence of two steps over that of one, or of none if that is larger.
 * @size: estimates of the early and the late step; early is the one with the lower index.
 * @p_node: per node of the evaluation, probability that it lies behind the early, the late step.
 * @residual: node that fits the best single step worst; its distance in sds.
 *
 * Zero it; bisect_two_done() frees it.
 */
struct bisect_two {
	double log_odds;
	double size[2];
	double *p_node[2];
	size_t residual;
	double residual_sds;
};

/** bisect_two_fit() - O(classes^2 nodes). Without three nodes log_odds is -infinity. */
void bisect_two_fit(const struct bisect_state *s, const struct bisect_eval *v,
		    struct bisect_two *ret);
void bisect_two_done(struct bisect_two *t);

/** bisect_two_is() - do the sizes and the odds speak of two steps? */
bool bisect_two_is(const struct bisect_state *s, const struct bisect_two *t, double least_log_odds);

/**
 * bisect_two_single() - the bisection of one of two steps: the runs less what the other does.
 * @which: 0 the early, 1 the late one.
 * @ret: shares all but runs and evaluation with @s; bisect_two_single_done() it.
 */
void bisect_two_single(const struct bisect_state *s, const struct bisect_eval *v,
		       const struct bisect_two *t, int which, struct bisect_state *ret);
void bisect_two_single_done(struct bisect_state *single);
