/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which commit made it slower: a posterior over first bad commits from noisy runs, the next
 * measurement by information per minute, and when to stop.
 *
 * Model: commit x is bad if and only if the culprit is x or an ancestor of x. One run on boot j of
 * build x gives y = mu(x) + u_x + v_xj + e with mu = mu0 when good and mu1 when bad, u ~
 * N(0, commit_sd^2) once per commit, v ~ N(0, boot_sd^2) once per boot, and e ~ (1 - eps)
 * N(0, sigma^2) + eps N(0, (4 sigma)^2). Hypothesis NONE: all commits on one level.
 *
 * Pure and deterministic: the answer depends on what was added and on nothing else, so a state that
 * is rebuilt by adding the same runs and skips in the same order goes on exactly as the lost one.
 */
#pragma once

#include "bisect/graph.h"

struct err;
struct bisect_eval;

/**
 * struct bisect_params - noise, step and cost.
 * @sigma: sd of one run within a boot, in units of y; > 0. Is refined by the runs themselves.
 * @boot_sd: sd between boots of one build, >= 0. Where few boots are known give the larger estimate:
 *           too small a value makes wrong answers, too large a value costs time.
 * @commit_sd: sd between builds of equivalent commits (code layout), >= 0.
 * @eps: share of outlying runs, 0 … 0.5.
 * @step: mu1 - mu0 as seen when the regression was found; 0: not known, either direction.
 * @step_sd: its error; raised to |step| / 2, since the step of today may differ.
 * @step_least: with @step 0: the smallest step worth finding, of either sign, >= 0; ends that differ
 *	by less are equal. 0: any step is looked for.
 * @prior_none: probability before any run that the ends do not differ.
 * @confidence: wanted probability of the named commit, e.g. 0.99.
 * @cost_build: minutes of a build from scratch, > 0 together with @cost_boot and @cost_run.
 * @cost_incremental: minutes of a build next to the last one; grows to @cost_build over
 *                    @incremental_span commits of distance.
 * @cost_boot, @cost_run: minutes of one boot and of one run.
 * @check_drift: boot both ends once more before a commit is named, and tell if they moved.
 * @max_runs: stop with a set when that many runs were made; 0: no limit.
 */
struct bisect_params {
	double sigma;
	double boot_sd;
	double commit_sd;
	double eps;
	double step;
	double step_sd;
	double step_least;
	double prior_none;
	double confidence;
	double cost_build;
	double cost_incremental;
	double incremental_span;
	double cost_boot;
	double cost_run;
	int max_runs;
	bool check_drift;
};

#define BISECT_PARAMS_DEFAULT                                                                     \
	{                                                                                         \
		.sigma = 0.01, .boot_sd = 0.003, .commit_sd = 0.0015, .eps = 0.05,                \
		.prior_none = 0.02, .confidence = 0.99, .cost_build = 10, .cost_incremental = 10, \
		.incremental_span = 256, .cost_boot = 2, .cost_run = 3, .max_runs = 400           \
	}

/** bisect_params_default() - the values above: a 1 % noise, 400 runs, step not known. */
struct bisect_params bisect_params_default(void);

/** bisect_params_size() - the step looked for, regardless of its sign: |step| or step_least; 0: any. */
double bisect_params_size(const struct bisect_params *p);

/** bisect_params_check() - Return: 0; ERR_INVAL that names the value out of its range. */
int bisect_params_check(const struct bisect_params *p, struct err *e);

/** enum bisect_skip - why a commit is not measured; OLDER: its level says nothing, see bisect/older.h. */
enum bisect_skip {
	BISECT_TESTABLE,
	BISECT_SKIP_BUILD,
	BISECT_SKIP_BOOT,
	BISECT_SKIP_TAINTED,
	BISECT_SKIP_OLDER,
};

/**
 * struct bisect_run - one measured run.
 * @commit: index, or BISECT_GOOD_END.
 * @boot: number of the boot; runs with the same commit and boot share one boot.
 * @y: ln of the metric (the metric itself where it can be <= 0).
 */
struct bisect_run {
	int commit;
	int boot;
	double y;
};

enum bisect_event_kind {
	BISECT_EVENT_RUN,
	BISECT_EVENT_SKIP,
	BISECT_EVENT_BUILT,
	BISECT_EVENT_PRIOR,
};

/**
 * struct bisect_event - one thing that the state was told, for the log.
 * @commit: index, or BISECT_GOOD_END.
 * @boot: of a run.
 * @value: y of a run, weight of a prior.
 * @skip: why, with BISECT_EVENT_SKIP.
 * @given: of a log: a run that was there before. @made: of a log: a build that was made for this
 *	   bisection, not one that was there before.
 */
struct bisect_event {
	enum bisect_event_kind kind;
	int commit;
	int boot;
	double value;
	enum bisect_skip skip;
	bool given;
	bool made;
};

/**
 * struct bisect_state - everything that is known so far.
 * @graph: borrowed; must outlive the state and stay unchanged.
 * @runs: in the order in which they were added; owned.
 * @skip: enum bisect_skip per commit; owned.
 * @built: per commit, the good end last; owned.
 * @pending: boots under way per commit, the good end last; owned.
 * @last_built: commit of the work tree's last build, or BISECT_GOOD_END.
 * @prior: weight per commit before any run; owned.
 * @events: all that was told, in that order; owned.
 * @eval: posterior of the present runs, made when asked for.
 */
struct bisect_state {
	const struct bisect_graph *graph;
	struct bisect_params params;
	struct bisect_run *runs;
	size_t n_runs;
	size_t cap_runs;
	unsigned char *skip;
	size_t n_skipped;
	unsigned char *built;
	unsigned char *pending;
	int last_built;
	double *prior;
	struct bisect_event *events;
	size_t n_events;
	size_t cap_events;
	struct bisect_eval *eval;
};

/**
 * bisect_init() - a state without runs; equal prior for every commit.
 * @graph: prepared; borrowed.
 *
 * Return: 0; ERR_INVAL for parameters out of range or a graph that is not prepared.
 */
int bisect_init(struct bisect_state *s, const struct bisect_graph *graph,
		const struct bisect_params *params, struct err *e);
void bisect_done(struct bisect_state *s);

/** bisect_copy() - a copy that goes its own way; bisect_done() it. The graph stays shared. */
void bisect_copy(struct bisect_state *to, const struct bisect_state *from);

/** bisect_set_prior() - weight of @commit relative to the others (1 at first), > 0 and finite. */
int bisect_set_prior(struct bisect_state *s, int commit, double weight, struct err *e);

/** BISECT_Y_MOST - largest value of a run, either sign. */
#define BISECT_Y_MOST 1e100

/**
 * bisect_add_run() - one more measured value; the commit counts as built from now on.
 * Return: 0; ERR_INVAL for an index outside the range or a value that is not finite or too large;
 * ERR_CONFLICT if the commit is skipped.
 */
int bisect_add_run(struct bisect_state *s, int commit, int boot, double y, struct err *e);

/**
 * bisect_skip() - @commit cannot be tested: it leaves the candidates and its runs do not count.
 *
 * Never for a fault of the lab: such a run is simply not added and is made again.
 */
int bisect_skip(struct bisect_state *s, int commit, enum bisect_skip reason, struct err *e);

/** bisect_mark_built() - the build exists, so measuring @commit costs boot and run only. */
int bisect_mark_built(struct bisect_state *s, int commit, struct err *e);

/**
 * bisect_set_pending() - @boots boots of @commit are under way now, 0 … 255 (0 at first).
 *
 * bisect_next() then says what another machine should do meanwhile, or BISECT_WAIT. With one
 * machine there is no need to call this. Not saved.
 */
int bisect_set_pending(struct bisect_state *s, int commit, int boots, struct err *e);

enum bisect_action {
	BISECT_MEASURE, /* measure @commit: @boots new boots with @runs runs on each */
	BISECT_DONE,	/* @commit is the first bad one, with @probability (0.95 at the least) */
	BISECT_NONE,	/* the ends do not differ today (see also reverted) */
	BISECT_SET,	/* no single commit can be named: @set holds 95 % */
	BISECT_WAIT,	/* nothing to start before a pending boot has answered */
	BISECT_ENDS_BROKEN, /* the end @commit is skipped, so nothing can be searched */
};

/** enum bisect_phase - why a measurement is asked for. */
enum bisect_phase {
	BISECT_PHASE_ENDS,
	BISECT_PHASE_SEARCH,
	BISECT_PHASE_VERIFY,
};

/**
 * struct bisect_step - what to do now.
 * @commit: to measure, or the culprit; index or BISECT_GOOD_END.
 * @build: it has to be built first.
 * @boots, @runs: number of new boots, runs on each of them.
 * @bits: expected information of the measurement about the culprit, where computed.
 * @minutes: expected cost of the measurement.
 * @probability: of the likeliest commit, whatever the action is.
 * @p_none: probability that the ends do not differ.
 * @likeliest: the likeliest commit.
 * @entropy_bits: what is still to be learned.
 * @merge: the culprit is a merge whose parents were measured good.
 * @exhausted: with BISECT_SET: the run budget is spent (else: the rest cannot be tested).
 * @set, @set_p, @n_set: with BISECT_SET: commits by falling posterior, and that; owned.
 * @second: the range has a second step, and this commit brought it, with @second_probability (which
 *          may be below the wanted one); else BISECT_NO_COMMIT. With BISECT_DONE @commit is the
 *          larger of both. With BISECT_NONE and @reverted, @commit brought the step and @second
 *          took it away again.
 * @drifted: with any answer, if @check_drift is set: the machine moved by more than half the step meanwhile, see
 *           bisect_drift(); what was measured first and last does not belong together.
 * @size, @second_size: of the steps in units of y, where there are two.
 */
struct bisect_step {
	enum bisect_action action;
	enum bisect_phase phase;
	int commit;
	bool build;
	int boots;
	int runs;
	double bits;
	double minutes;
	double probability;
	double p_none;
	int likeliest;
	double entropy_bits;
	bool merge;
	bool exhausted;
	int *set;
	double *set_p;
	size_t n_set;
	int second;
	double second_probability;
	double size;
	double second_size;
	bool reverted;
	bool drifted;
};

void bisect_step_done(struct bisect_step *step);

/**
 * bisect_next() - the next measurement, or the answer.
 * @ret: overwritten on success; bisect_step_done() it.
 *
 * Order: both ends, two boots each, until they are known to differ or not; then the measurement
 * with most information per minute; then at least two boots of the likeliest commit and of each of
 * its parents before it is named. Milliseconds for hundreds of commits, below 0.1 s for 20,000.
 */
int bisect_next(struct bisect_state *s, struct bisect_step *ret, struct err *e);

/**
 * bisect_posterior() - probability of each commit to be the first bad one.
 * @p: graph->n values, filled; may be NULL.
 * @p_none: filled; may be NULL. All values together sum to 1.
 */
void bisect_posterior(struct bisect_state *s, double *p, double *p_none);

/**
 * struct bisect_summary - the posterior in a few numbers.
 * @likeliest: the likeliest commit, @p its probability; @p_none: that there is no step.
 * @hold: fewest commits that hold 95 % of what is not @p_none.
 * @bits: entropy over the commits: what is still to be learned.
 */
struct bisect_summary {
	int likeliest;
	double p;
	double p_none;
	size_t hold;
	double bits;
};

/** bisect_summarise() - O(n log n) beyond the posterior. */
void bisect_summarise(struct bisect_state *s, struct bisect_summary *ret);

/** bisect_sigma() - sd of one run within a boot, as the runs so far refine that of the parameters. */
double bisect_sigma(struct bisect_state *s);

/** bisect_p_bad() - probability that @commit is on the bad side; 0 for the good end. */
double bisect_p_bad(struct bisect_state *s, int commit);

/** bisect_boots(), bisect_runs() - boots and runs of @commit so far. */
int bisect_boots(const struct bisect_state *s, int commit);
int bisect_runs(const struct bisect_state *s, int commit);

/**
 * bisect_drift() - did the machine move between the first run and the last?
 * @ret_shift: by how much, in units of y, by the boots of each end at different times.
 * @ret_sd: its error; infinite when no end was booted twice.
 *
 * The runs have to have been added in the order in which they were made.
 * Return: whether it moved by more than half the step, beyond doubt: then start again.
 */
bool bisect_drift(const struct bisect_state *s, double *ret_shift, double *ret_sd);

/** bisect_build_minutes() - expected cost of having a build of @commit: 0 if there is one. */
double bisect_build_minutes(const struct bisect_state *s, int commit);

/** bisect_action_name() - "measure", "done", "none", "set", "wait", "ends-broken". Static string. */
const char *bisect_action_name(enum bisect_action a);

/** bisect_skip_name() - "testable", "build", "boot", "tainted", "older". Static string. */
const char *bisect_skip_name(enum bisect_skip s);

/**
 * bisect_save() - the state as one line of JSON, format "kperfbot-bisect/1"; free() it.
 * Commits are named by their hash, so the graph may be read again from the repository.
 */
char *bisect_save(const struct bisect_state *s);

/**
 * bisect_load() - a state from bisect_save().
 * @s: initialised on success only; bisect_done() it.
 * @graph: prepared, with the hashes that the text names; borrowed.
 *
 * Return: 0; ERR_PARSE, ERR_FORMAT (other version), ERR_NOENT (commit not in the range), ERR_INVAL.
 */
int bisect_load(struct bisect_state *s, const struct bisect_graph *graph, const char *text,
		struct err *e);
