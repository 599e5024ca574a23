/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bisection as the handler sees it: its row, its range, and all that was measured. */
#pragma once

#include "bisect/bisect.h"
#include "bisect/sim.h"
#include "bot/detect/verdict.h"
#include "bot/jobs/bisection_bases.h"
#include "bot/store/boot.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/watch/range.h"

struct job_ctx;
struct mirror;

enum {
	BISECTION_ASKED_MAX = 64
};

/** struct bisection_asked - a commit whose measurement was asked for. @at: seconds since 1970. */
struct bisection_asked {
	char hash[41];
	int64_t at;
};

/**
 * struct bisection_run - zero it but for @c; bisection_run_done() frees it.
 * @good: the good end in use: the one asked for, or a merge base of both ends.
 * @fork: where the good end asked for is not an ancestor of the bad one.
 * @asked, @n_asked: steps that were asked for and have not ended.
 * @slots: boots that may be under way at once: one for each machine whose level is known.
 * @boots: every boot of the job on commits of the range, in the order in which they ran.
 * @values, @value_boots: ln of the metric (itself when one is not positive), boot index of each.
 * @good_broken: the good end cannot be built or booted.
 * @own_runs: values that count and were measured for this bisection; @max_runs: how many may be.
 * @checks: commits beside the range that are measured in the end, as bisection_checks() chose them;
 *	 owned.
 * @late: its deadline has passed.
 * @spent: nothing more may be ordered: what is known is the answer.
 * @older: per commit: it is skipped as bisection_older_skip() says; owned, or NULL.
 * @has_good: likewise: the good end is in it.
 * @without_metric: good boots of its own that gave no value of the metric.
 * @restarts: times that all was forgotten because the machine had moved.
 * @lab_failures: boots of this bisection that the lab spoilt since the last good one; @lab_last: the
 *	last of them, or NULL.
 * @forecast_s: seconds that the forecast took to compute.
 * @made: per commit, the good end last: its build was made since this was asked for, as
 *	  bisection_run_made() found; owned. @made_beside: likewise, of the checks.
 * @model: noise and cost reckoned with, for readers; owned.
 * @after: what was known after each step, for readers; owned.
 * @step: answer of bisect_next() at hand, or NULL.
 */
struct bisection_run {
	struct job_ctx *c;
	struct bisection row;
	struct job job;
	struct mirror *mirror;
	struct range range;
	struct bisect_state state;
	char good[41];
	struct bisection_fork fork;
	struct bisection_asked asked[BISECTION_ASKED_MAX];
	size_t n_asked;
	int slots;
	struct boot_brief *boots;
	size_t n_boots;
	struct boot_value *values;
	size_t n_values;
	bool ln;
	bool good_broken;
	int own_runs;
	int max_runs;
	int restarts;
	int without_metric;
	bool late;
	bool spent;
	json_t *checks;
	json_t *after;
	unsigned char *made;
	unsigned char *older;
	unsigned char *has_good;
	int made_beside;
	int lab_failures;
	const struct boot_brief *lab_last;
	int64_t now_s;
	bool forecast_made;
	double forecast_s;
	struct bisect_forecast forecast;
	json_t *model;
	const struct bisect_step *step;
};

int bisection_run_load(struct bisection_run *b, const char *id, struct err *e);

/** bisection_run_rewind() - forget what a transaction did to it that was rolled back. */
void bisection_run_rewind(struct bisection_run *b);

/**
 * bisection_run_read_range() - commits between the ends, or what is searched of ends that are not
 * ancestors of each other. ERR_NOENT, ERR_INVAL: it never will be.
 */
int bisection_run_read_range(struct bisection_run *b, struct err *e);

/** bisection_run_replay() - read what was measured and add it to a fresh posterior. */
int bisection_run_replay(struct bisection_run *b, struct err *e);
/**
 * bisection_run_priors() - tell b->state the weight of each commit of the range, see bisect/prior.h:
 * by what it changes, what the kconfig builds, and which builds came out equal.
 *
 * Nothing is stored: the same rows give the same weights. What cannot be read (a build without
 * lists, an artefact that is gone) is not known, and such a commit weighs 1. Whether only comments
 * change is looked at in ranges of up to 2,000 commits. Processor time: 0.3 ms a commit, 0.12 ms in
 * larger ranges.
 * Return: 0; ERR_DB*, ERR_CONFIG, ERR_GIT (no mirror).
 */
int bisection_run_priors(struct bisection_run *b, struct err *e);
void bisection_run_done(struct bisection_run *b);

/** bisection_run_index() - index in the range, BISECT_GOOD_END, or -2 for a commit beside it. */
int bisection_run_index(const struct bisection_run *b, const char *hash);

/** bisection_run_skip() - bisect_skip(); the good end can only be given up with the bisection. */
int bisection_run_skip(struct bisection_run *b, int commit, enum bisect_skip why, struct err *e);

/** bisection_run_hash() - hash of an index of the range; belongs to @b. */
const char *bisection_run_hash(const struct bisection_run *b, int commit);

/**
 * bisection_run_parents() - hashes of its parents; those outside of the range as
 * bisection_outside_parents() gives them. Where what the bad end lacks is searched, or a commit has no
 * parent at all, the good end stands for them.
 * @ret: room for one more; free() it, and with it the hashes. Return: how many, at least 1.
 */
size_t bisection_run_parents(const struct bisection_run *b, int commit, const char ***ret);

/** bisection_run_fresh() - good boots of @hash that this bisection has made. */
int bisection_run_fresh(const struct bisection_run *b, const char *hash);

/** bisection_run_effect() - from parent to culprit, by the boots made to verify. */
int bisection_run_effect(struct bisection_run *b, const char *culprit, const char *parent,
			 struct detect_result *ret, struct err *e);

/**
 * bisection_run_build_ahead() - have the builds made that are measured after @step, whichever way it
 * turns out, so that the machine does not wait for them.
 */
int bisection_run_build_ahead(struct bisection_run *b, const struct bisect_step *step,
			      struct err *e);

/**
 * bisection_run_log_step() - store a step that has ended: its commit was measured or is skipped.
 * Return: 1 stored, 0 there is nothing to tell yet, an error.
 */
int bisection_run_log_step(struct bisection_run *b, const struct bisection_asked *asked,
			   struct err *e);

/**
 * bisection_run_forecast() - how long it will still take, by trials: for the status, from the first
 * call on. That may compute for a second, so it is done again when it is a tenth of the time
 * since, and never with a transaction open.
 */
void bisection_run_forecast(struct bisection_run *b);

/**
 * bisection_run_eta() - keys "eta", "plan" and those of what is left of the status @o.
 *
 * While it searches: the forecast, and what verifies the answer. Then what is left to verify it.
 * Times the pace so far: what the clock took for what it was to take, waiting for others included.
 */
void bisection_run_eta(struct bisection_run *b, json_t *o);

/** bisection_run_made() - find out which builds were made for it. */
void bisection_run_made(struct bisection_run *b);

/**
 * bisection_run_logs() - keys "git_log" of @o, as git writes it, with subjects, and "replay", ours,
 * from which the steps can be followed again with what they cost; the latter of ranges of up to 2,000
 * commits. Nothing before the first run.
 */
void bisection_run_logs(struct bisection_run *b, json_t *o);

/** bisection_run_status() - what readers see: posterior, steps, boots; a new reference. */
json_t *bisection_run_status(struct bisection_run *b);
