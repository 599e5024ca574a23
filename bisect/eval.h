/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The evidence of all runs on a grid of levels, and the posterior. Inside of the library. */
#pragma once

#include "bisect/bisect.h"

/**
 * struct bisect_node - a measured commit.
 * @commit: index or BISECT_GOOD_END.
 * @n_boots, @n_runs: how often.
 * @median: of its runs.
 * @boot_product: likelihood of the level of this build, largest value 1; grid values.
 * @like: likelihood of the level of its side (build effect included), largest value 1; grid values.
 * @log_like: ln of it.
 * @anywhere: density of this build's level wherever its side lies: the floor of @like.
 */
struct bisect_node {
	int commit;
	int n_boots;
	int n_runs;
	double median;
	double *boot_product;
	double *like;
	double *log_like;
	double anywhere;
};

/**
 * struct bisect_class - commits that no measurement so far tells apart.
 * @log_ev: ln of the evidence if the culprit is one of them.
 * @mass: posterior of all of them together.
 * @member: one of them.
 * @q0, @q1: posterior of the good and of the bad level given this class, sum 1; grid values; NULL
 *           for classes that hardly matter.
 */
struct bisect_class {
	double log_ev;
	double mass;
	size_t member;
	double *q0;
	double *q1;
};

/**
 * struct bisect_eval - everything that follows from the runs.
 * @grid: number of levels; level i is @lo + i * @h.
 * @floor_share: how much of the floors under the likelihoods applies on a grid that wide.
 * @sigma: noise of one run, refined.
 * @sigma_mean: sd of one run as far as means of runs are concerned: outliers cost information.
 * @step_up, @step_down: prior of a step by i grid cells up and down, not normalised.
 * @row_norm: sum of the prior over the grid from each good level.
 * @class_of: class of each commit.
 * @none_log_ev, @none_q: the same for NONE.
 * @p: posterior of each commit.
 * @step_today: size of the step as it looks today, by all runs.
 * @ends_log_differ: ln Bayes factor of the ends alone, a step against none.
 * @ends_log_equal: ln Bayes factor of the ends alone, none against a step of half the size or more.
 */
struct bisect_eval {
	size_t grid;
	double lo;
	double h;
	double floor_share;
	double sigma;
	double sigma_mean;
	double *step_up;
	double *step_down;
	double *row_norm;
	struct bisect_node *nodes;
	size_t n_nodes;
	size_t *class_of;
	struct bisect_class *classes;
	size_t n_classes;
	double none_log_ev;
	double *none_q;
	double *p;
	double p_none;
	double step_today;
	double ends_log_differ;
	double ends_log_equal;
};

/** BISECT_CLASS_LEAST - classes below this posterior are left out of forecasts. */
#define BISECT_CLASS_LEAST 1e-4

/** bisect_eval_get() - the evaluation of the present runs; belongs to @s until its next change. */
struct bisect_eval *bisect_eval_get(struct bisect_state *s);
void bisect_eval_free(struct bisect_eval *v);

/** bisect_eval_node() - the node of @commit; NULL if not measured. */
const struct bisect_node *bisect_eval_node(const struct bisect_eval *v, int commit);

/** bisect_eval_is_bad() - is @x on the bad side if @culprit is the first bad commit? */
static inline bool bisect_eval_is_bad(const struct bisect_state *s, int x, size_t culprit)
{
	return x != BISECT_GOOD_END && bisect_graph_contains(s->graph, (size_t)x, culprit);
}

/** bisect_grid_blur() - convolve @src with N(0, sd^2) into @dst; values beyond the ends repeat. */
void bisect_grid_blur(const double *src, double *dst, size_t n, double h, double sd);

/** bisect_grid_spread() - bisect_grid_blur(), where a few stray further than @sd. */
void bisect_grid_spread(const struct bisect_state *s, const struct bisect_eval *v,
			const double *src, double *dst, double sd);

/**
 * bisect_eval_p_bad_all() - probability of each commit to be on the bad side.
 * @p: weight of each commit, the posterior of @v or any other.
 * @ret: graph->n values: sums over ancestors. With merges, and with more than four different weights
 *       in one class, rounded: good enough to choose by.
 */
void bisect_eval_p_bad_all(const struct bisect_state *s, const struct bisect_eval *v,
			   const double *p, double *ret);

/** bisect_drift_is_checked() - was @commit, an end, measured in the later half of the runs? */
bool bisect_drift_is_checked(const struct bisect_state *s, int commit);

/**
 * struct bisect_choice - a measurement and what it is worth.
 * @bits: expected information about the culprit; @minutes: cost; @rate: bits per minute, times the
 * probability that the commit can be tested.
 */
struct bisect_choice {
	int commit;
	int runs;
	double bits;
	double minutes;
	double rate;
};

/** bisect_choose() - the measurement with the highest rate; @ret->rate is 0 if none tells more. */
void bisect_choose(const struct bisect_state *s, const struct bisect_eval *v,
		   struct bisect_choice *ret);
