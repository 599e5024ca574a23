/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two kernels' runs compared metric by metric, with what is one fact put together. */
#pragma once

#include "bot/detect/control.h"
#include "bot/detect/findings.h"
#include "bot/detect/runs.h"

/**
 * struct judged_metric - a metric and its verdict.
 * @name, @unit: borrowed from the runs.
 * @group: metrics with the same number > 0 are one fact in several units; 0: alone.
 */
struct judged_metric {
	const char *name;
	const char *unit;
	enum findings_kind kind;
	enum detect_better better;
	bool headline;
	int group;
	struct detect_result result;
};

/**
 * struct judged_checks - was the box steady while headline @metric changed?
 * @n: checks there were units for. @failed: the first that was not ok, or -1: then a verdict was
 *	taken back to candidate, or to inconclusive where no look is left.
 */
struct judged_checks {
	size_t metric;
	struct control_check check[CONTROL_CHECKS_MAX];
	size_t n;
	int failed;
};

/**
 * struct judged - all of them, headline metrics first; judged_done() when finished.
 * @groups: number of groups.
 * @counts: facts by verdict: a group counts once, and what only follows a headline not at all.
 * @headlines: how many metrics are headline ones; 0: no file named any, all weigh the same.
 * @checks: of the headlines that changed, in the order of @metrics.
 * @findings: the facts; its indexes are those of @metrics.
 */
struct judged {
	VEC(struct judged_metric) metrics;
	int groups;
	size_t counts[DETECT_VERDICTS];
	size_t headlines;
	VEC(struct judged_checks) checks;
	struct findings findings;
};

/** struct judged_plan - what to compare by. @want: NULL takes all metrics. */
struct judged_plan {
	const struct detect_options *options;
	const struct runs *history; /* earlier kernels, oldest first; NULL without */
	size_t nhistory;
	size_t nborrowed; /* the first so many of @history are not commits of the branch */
	bool (*want)(const char *name, const void *arg);
	const void *want_arg;
};

/**
 * judged_profile() - noise profile of metric @name from the plan's history.
 * @runs: a side, at most; the profile is calibrated for the looks that they reach.
 * @per_unit: runs of each boot that count, as many as the boots to compare have; 0 all.
 * Return: as detect_profile_fit(); @ret->have is false when the history is too short.
 */
int judged_profile(const struct judged_plan *plan, const char *name, size_t runs, size_t per_unit,
		   struct detect_profile *ret, struct err *e);

/**
 * judged_compare() - compare every metric that either side has.
 * @base, @head: must outlive @ret.
 *
 * Pure. Return: 0; ERR_CONFLICT when descriptors differ; ERR_NOENT when no metric is left; errors
 * of detect_compare_many().
 */
int judged_compare(const struct runs *base, const struct runs *head, const struct judged_plan *plan,
		   struct judged *ret, struct err *e);
void judged_done(struct judged *j);

/** judged_checks_of() - the checks of metric @i; NULL if there are none. */
const struct judged_checks *judged_checks_of(const struct judged *j, size_t i);

/** judged_is_share() - is the metric told in points? */
bool judged_is_share(const struct judged_metric *m);

/** judged_is_change() - is it worse, better or changed, sure or not yet? */
bool judged_is_change(enum detect_verdict v);

/**
 * judged_exit() - what a script wants to know: 1 a regression; 125 nothing can be said about the
 * headline metrics (all, where none is named), or one of them is a candidate; else 0.
 */
int judged_exit(const struct judged *j);
