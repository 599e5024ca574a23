/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bisection will take, and how surely it will find something, before anything is measured. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct db;
struct err;

/**
 * struct bisection_power_ask - what is planned; borrowed.
 * @commits: in the range, at least 1.
 * @min_effect: change that it has to find, as a ratio, > 0.
 * @max_runs: budget, > 0. @machines: 1 to 64. @runs_per_boot: of the job.
 */
struct bisection_power_ask {
	int64_t job;
	const char *metric;
	int64_t commits;
	double min_effect;
	double confidence;
	int64_t max_runs;
	int machines;
	int runs_per_boot;
};

/**
 * struct bisection_power - by simulations with the noise and cost of the job's history.
 * @noise_sd: of one run, boots included, as a ratio.
 * @p_right: probability that it names the right commit within the budget.
 * @p_free: the same without a budget, within BISECTION_POWER_RUNS.
 * @steps, @steps_p90: boots; @runs, @runs_p90: without a budget. @hours: of machines. With what is
 *	measured in the end: culprit and parent, revert and tip.
 * @runs_least: budget that nine in ten keep who leave out revert and tip.
 * @effect_found: where @p_right is below BISECTION_POWER_LEAST, a change that would be found; 0: no
 *	change that was tried.
 * @wall_s, @wall_p90_s: from start to answer, with nothing else in the queue.
 * @known: there was history; else noise and cost are guesses.
 */
struct bisection_power {
	double noise_sd;
	double p_right, p_free;
	double runs_least;
	double effect_found;
	double steps, steps_p90;
	double runs, runs_p90;
	double runs_per_step;
	double hours;
	double wall_s, wall_p90_s;
	bool known;
};

/** BISECTION_POWER_RUNS - enough runs to see that a budget is not what is missing. */
#define BISECTION_POWER_RUNS 600
/** BISECTION_POWER_LEAST - with less than this a budget is a waste. */
#define BISECTION_POWER_LEAST 0.5

/** bisection_power() - some tenths of a second. */
int bisection_power(struct db *db, const struct bisection_power_ask *a, struct bisection_power *ret,
		    struct err *e);
