/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be seen before anything is measured: noise, size of the experiment, effect, error rates. */
#pragma once

#include <stddef.h>

struct err;

enum {
	POWER_RUNS_MAX = 100000
};

/* The values of a design, any one of which follows from the others. */
enum power_value {
	POWER_NOISE,
	POWER_BOOT_NOISE,
	POWER_RUNS,
	POWER_BOOTS,
	POWER_EFFECT,
	POWER_LEVEL,
	POWER_POWER,
	POWER_VALUES
};

/** power_value_name() - "noise", "boot-noise", "runs", …. Static string. */
const char *power_value_name(enum power_value v);

/**
 * struct power_design - a comparison of two kernels that is still to be made.
 * @noise: standard deviation between runs of one boot as a ratio, in [0, 10].
 * @boot_noise: the same between boots of one build, on top of that of runs; 0: boots do not differ.
 * @runs: runs a side, 2 to POWER_RUNS_MAX; spread over the boots as evenly as they can be.
 * @boots: boots a side, 1 to @runs; 0: each run has a boot of its own.
 * @effect: change as a ratio; -0.038 is a fall of 3.8 %, more than -1 and at most 1000.
 * @level: 1 - @level is the probability to call equal kernels changed, in (.5, 1).
 * @power: probability to see @effect, more than 1 - @level and less than 1.
 *
 * With two boots or more a unit of the test is the mean of the runs of one boot: its variance is
 * @boot_noise^2 + @noise^2 / (runs a boot). Otherwise a unit is a run.
 */
struct power_design {
	double noise;
	double boot_noise;
	int runs;
	int boots;
	double effect;
	double level;
	double power;
};

/** power_design_default() - no boot noise, level .99 (that of candidates), power .8; rest 0. */
struct power_design power_design_default(void);

/** power_units() - units a side that the test counts. */
int power_units(const struct power_design *d);

/** power_unit_sd() - standard deviation of one of them, on the scale of ln(value). */
double power_unit_sd(const struct power_design *d);

/**
 * power_design_check() - are all values but @missing in their ranges, and do they fit together?
 * Return: 0; ERR_RANGE or ERR_INVAL naming the value.
 */
int power_design_check(const struct power_design *d, enum power_value missing, struct err *e);

/**
 * power_solve() - put @missing into @d from the others.
 *
 * Whole numbers are the smallest that are enough; noise is the largest that is little enough.
 * Pure. Microseconds to a few milliseconds.
 * Return: 0; what power_design_check() says; ERR_TOO_FEW when no value is enough, with the reason. On
 *	failure @d is as it was.
 */
int power_solve(struct power_design *d, enum power_value missing, struct err *e);

/**
 * power_reached() - probability that this design sees its effect. All values but power count.
 */
double power_reached(const struct power_design *d);

/**
 * power_ttest() - power of the two-sided t test, from the noncentral t distribution.
 * @delta: true difference in standard errors, any sign.
 * @df: degrees of freedom of the standard error, > 0, may be infinite.
 * @alpha: of the test, two-sided, in (0, 1).
 *
 * Integrates the normal tails over the distribution of the estimated standard error, as GSL has no
 * noncentral t; absolute error below 1e-8 for @df >= 2.
 */
double power_ttest(double delta, double df, double alpha);

/** power_delta() - the @delta >= 0 at which power_ttest() is @power, @alpha < @power < 1. */
double power_delta(double df, double alpha, double power);

/**
 * power_plan() - change that can be seen at each look of a plan.
 * @unit_sd: standard deviation of a unit on the scale of ln(value), >= 0; see power_unit_sd().
 * @prior_df: degrees of freedom that history adds to the estimate of it, >= 0, may be infinite.
 * @looks: @n sizes in units a side, 1 or more each.
 * @level, @power: as in struct power_design.
 * @ret: @n ratios >= 0; infinite where there are no degrees of freedom.
 *
 * What comparisons call their detectable change: (t_{1-a/2} + t_{power}) standard errors.
 */
void power_plan(double unit_sd, double prior_df, const int *looks, size_t n, double level,
		double power, double *ret);
