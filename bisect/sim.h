/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made-up lab with known noise, to see how often a strategy is right and what it costs. */
#pragma once

#include "bisect/bisect.h"

struct err;

enum bisect_strategy {
	BISECT_OURS,  /* posterior and information per minute */
	BISECT_PLAIN, /* halve the range, threshold half way between the ends */
};

/**
 * struct bisect_sim - what to simulate.
 * @model: noise, step and cost. The lab obeys it, and BISECT_OURS knows it.
 * @outliers: share of runs that are four times as wide, 0 … 0.5 (the model's eps may differ).
 * @skip: share of commits that do not build, 0 … 0.9; the ends and the culprit do.
 * @cluster: commits on each side of the culprit that do not build, nor does it; 0: none.
 * @machines: 1 … 64, for BISECT_OURS.
 * @trials: 1 … 1,000,000.
 * @strategy, @plain_boots: boots of one run each per commit of BISECT_PLAIN.
 * @culprit: first bad commit; -1: drawn for each trial; -2: none, the ends do not differ; -3: drawn
 *           among merges.
 * @second: share of the step that a second commit brings, drawn for each trial; 0: there is none;
 *          -1: it takes the whole step back, and is a descendant of the culprit.
 *
 * Both ends count as built: whatever found the regression has measured them.
 */
struct bisect_sim {
	struct bisect_params model;
	double outliers;
	double skip;
	int cluster;
	int machines;
	int trials;
	uint64_t seed;
	enum bisect_strategy strategy;
	int plain_boots;
	int culprit;
	double second;
};

#define BISECT_SIM_ANY	 (-1)
#define BISECT_SIM_NONE	 (-2)
#define BISECT_SIM_MERGE (-3)

/**
 * struct bisect_sim_result - how it went.
 * @named: trials that named one commit; @right of them the culprit; @adjacent wrong by a parent or
 * child, @smaller by naming the second commit, which brings the smaller part of the step, @far by more.
 * @none, @sets, @sets_right: answers 'the ends do not differ', 'one of these', culprit among them.
 * @two: answers with a second commit that reaches the wanted confidence; @two_right: both are right.
 * @merges: merges named as such.
 * @drifted: answers with the remark that the machine moved; it never does here.
 * @confidence: mean stated probability of the named.
 * Minutes are machine minutes, @sd that of one trial; @wall is the mean from start to answer. The rest are means a trial.
 */
struct bisect_sim_result {
	int trials;
	int named;
	int right;
	int adjacent;
	int smaller;
	int far;
	int none;
	int sets;
	int sets_right;
	int two;
	int two_right;
	int merges;
	int drifted;
	double confidence;
	double mean;
	double sd;
	double median;
	double p90;
	double wall;
	double builds;
	double boots;
	double runs;
};

/**
 * bisect_simulate() - run all trials.
 * @graph: prepared; borrowed.
 *
 * Pure: the same arguments give the same result.
 * Return: 0; ERR_INVAL for a value out of range.
 */
int bisect_simulate(const struct bisect_graph *graph, const struct bisect_sim *sim,
		    struct bisect_sim_result *ret, struct err *e);

/**
 * struct bisect_forecast - what a bisection will still take, by trials from where it stands.
 * @trials: that ended; @named of them with one commit.
 * @minutes, @minutes_p90: machine minutes, median and what nine in ten stay below.
 * @wall, @wall_p90: from now to the answer.
 * @builds, @boots: medians. @runs, @runs_p90: likewise.
 */
struct bisect_forecast {
	int trials;
	int named;
	double minutes;
	double minutes_p90;
	double wall;
	double wall_p90;
	double builds;
	double boots;
	double runs;
	double runs_p90;
};

/**
 * bisect_forecast() - the road from here: before the first run a plan, later the time left.
 * @s: unchanged but for its evaluation; boots under way count as not started.
 * @machines: 1 … 64.
 * @trials: 1 … 10,000; 40 are enough for a display. Each costs what a whole search computes: tens
 *          of milliseconds for 1,000 commits, seconds for 20,000 with merges.
 * @steps: measurements chosen in all trials together, at most: a search for a step that noise hides
 *	   takes hundreds. 0: no limit. The trial that comes to the limit is left out, unless it
 *	   is the first: then it tells what is the least.
 *
 * The culprit, or that there is none, is drawn from the posterior of @s, and the noise is that of
 * its parameters. With max_runs 0 @runs_p90 is the budget that lets nine in ten end.
 * Pure: the same arguments give the same result. Return: 0; ERR_INVAL.
 */
int bisect_forecast(struct bisect_state *s, int machines, int trials, int steps, uint64_t seed,
		    struct bisect_forecast *ret, struct err *e);

/**
 * bisect_bound_minutes() - machine minutes that no strategy can do without, on average.
 * @n: commits in the range.
 * @p: sigma, step, confidence and cost; all noise but sigma is left out.
 *
 * (log2 n (1 - delta) - h2(delta)) / r with r the most bits per minute that an adaptive policy gets
 * from one commit: build and boot once, then runs with known levels, stopped by dynamic programming
 * over the log odds. Return: 0 for n < 2 or no step.
 */
double bisect_bound_minutes(size_t n, const struct bisect_params *p);
