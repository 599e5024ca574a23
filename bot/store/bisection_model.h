/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bisection should reckon with: noise and cost of a job, from what its group has measured. */
#pragma once

#include "bisect/bisect.h"
#include "bot/base/json.h"

struct db;

/** struct noise_value - one measured value; values of a boot, commit and machine stand together. */
struct noise_value {
	int machine, commit, boot;
	double value;
};

/**
 * struct bisection_noise - standard deviations of ln of the metric (of itself where it is not above
 * zero).
 * @run: of a run within a boot; @boot: between boots of a build; @commit: between builds.
 * @runs, @boots, @commits: degrees of freedom behind each; 0: the number is not known (0).
 * @level: median of all values.
 */
struct bisection_noise {
	double run, boot, commit;
	int runs, boots, commits;
	bool ln;
	double level;
};

/**
 * bisection_noise() - pure. Runs: the median deviation, since outliers have a term of their own in
 * the model. Boots: all of their variance beside that of runs, and where there are few of them
 * more, since too small a number makes wrong answers. Without two runs in a boot the two kinds
 * cannot be told apart: all counts as noise of runs, and half of it again as that of boots.
 */
void bisection_noise(const struct noise_value *v, size_t n, struct bisection_noise *ret);

/**
 * struct bisection_cost - minutes.
 * @builds, @boots, @runs: how many were looked at; 0: a guess.
 */
struct bisection_cost {
	double build, incremental, boot, run;
	int builds, boots, runs;
};

/** bisection_cost() - of builds, boots and runs of @job; guesses where there were none. */
int bisection_cost(struct db *db, int64_t job, struct bisection_cost *ret, struct err *e);

/** bisection_noise_read() - bisection_noise() of the last boots of @job. */
int bisection_noise_read(struct db *db, int64_t job, const char *metric,
			 struct bisection_noise *ret, struct err *e);

/**
 * bisection_model() - the parameters of a bisection.
 * @effect, @lo, @hi: the change that was seen, as ratios; all 0: not known.
 * @p: confidence and max_runs are the caller's; the rest is filled.
 */
void bisection_model(const struct bisection_noise *noise, const struct bisection_cost *cost,
		     double effect, double lo, double hi, struct bisect_params *p);

/**
 * bisection_model_least() - where the change is not known: the least one that is worth finding, as a
 * ratio > 0, of either sign. After bisection_model().
 */
void bisection_model_least(const struct bisection_noise *noise, double least,
			   struct bisect_params *p);

/** bisection_model_json() - the parameters and what they rest on; a new reference. */
json_t *bisection_model_json(const struct bisection_noise *noise, const struct bisection_cost *cost,
			     const struct bisect_params *p);
