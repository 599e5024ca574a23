/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison found, told as facts: one headline, what is the same, what follows, what moved. */
#pragma once

#include "bot/base/vec.h"
#include "bot/detect/verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	FINDINGS_MAX = 50,
	FINDINGS_MOVERS_MAX = 20
};

/** What a metric counts, where that is known: sums grow with the work done, shares do not. */
enum findings_kind {
	FINDINGS_KIND_NONE,
	FINDINGS_KIND_RATE,
	FINDINGS_KIND_TIME,
	FINDINGS_KIND_COUNT,
	FINDINGS_KIND_SHARE
};

/** findings_kind_name(), findings_kind_parse() - "rate", "time", "count", "share"; -1 if unknown. */
const char *findings_kind_name(enum findings_kind kind);
int findings_kind_parse(const char *name);

/**
 * struct findings_metric - a metric with its verdict.
 * @name, @unit: borrowed; @unit "" if unknown.
 * @lead: its change may head a finding.
 * @moved: it changed, more surely than by chance among all the metrics looked at.
 * @group: metrics with the same number > 0 are one fact in several units; 0: alone.
 * @rel, @lo, @hi, @abs, @t, @p: as in struct detect_result.
 * @per_rel, @per_lo, @per_hi: change of the ratio to the metric of findings_work() in each run, with
 *	its interval; NaN where it was not compared: then it is worked out from both changes.
 */
struct findings_metric {
	const char *name;
	const char *unit;
	enum findings_kind kind;
	enum detect_better better;
	enum detect_verdict verdict;
	bool lead;
	bool moved;
	int group;
	double rel, lo, hi, abs, t, p;
	double per_rel, per_lo, per_hi;
};

/** How a metric stands to the findings. */
enum findings_role {
	FINDINGS_ROLE_NONE,
	FINDINGS_ROLE_LEAD,
	FINDINGS_ROLE_SAME,    /* another name of a headline's fact */
	FINDINGS_ROLE_FOLLOWS, /* changed only as the work or the headline did */
	FINDINGS_ROLE_MOVER
};

/** struct finding_list - indexes of metrics, as VEC() makes them. */
struct finding_list {
	size_t *items;
	size_t len, cap;
};

/** struct finding_step - a member of a ladder, at the number that its name has. */
struct finding_step {
	double at;
	size_t metric;
};

/**
 * struct finding - one fact. Metrics are indexes.
 * @same: names of the headline's fact, itself first. @follows: what changed with it, the work first.
 * @movers: what changed beside it, by |t|; of a group only one. @movers_more: how many were left off.
 * @ladder_name: NULL, or the name that a set of headlines has in common, with * for a number, and
 *	@ladder those headlines, smallest number first.
 * @text: sentences; owned.
 */
struct finding {
	size_t lead;
	struct finding_list same;
	struct finding_list follows;
	struct finding_list movers;
	size_t movers_more;
	char *ladder_name;
	VEC(struct finding_step) ladder;
	VEC(char *) text;
};

/**
 * struct findings - all of them, the worst first; findings_done() when finished.
 * @more: how many past FINDINGS_MAX were left off.
 * @work: index of the metric that counts the work, or the number of metrics when there is none.
 * @role: one for each metric. @of: index of the finding that a FOLLOWS or SAME belongs to.
 * @with_work: of a FOLLOWS: it went as the work did.
 * @per_work: change of each metric per unit of work; NaN where the work did not change, where that
 *	means nothing, and for metrics that did not move.
 */
struct findings {
	VEC(struct finding) items;
	size_t more;
	size_t work;
	enum findings_role *role;
	size_t *of;
	bool *with_work;
	double *per_work;
};

/**
 * findings_work() - which metric counts the work that a run did.
 *
 * SUITE.workload of a headline's suite, or the only metric of that name; without one the headline
 * itself where more of it is better and it is the only one. Return: index, @n when none does.
 */
size_t findings_work(const struct findings_metric *m, size_t n);

/**
 * findings_make() - put @n metrics together as facts.
 * @ret: findings_done() frees it.
 *
 * A changed metric follows when it changed as the work did, or as the headline did: then it says
 * nothing of its own, and is neither worse nor better. "NAME.per_op" is NAME per unit of work and is
 * told with it. Pure; O(n log n).
 */
void findings_make(const struct findings_metric *m, size_t n, struct findings *ret);
void findings_done(struct findings *f);

/** findings_is_share() - told in points, not in percent of itself? */
bool findings_is_share(const struct findings_metric *m);

/** struct findings_side - what is known of one side's runs where only that was kept. */
struct findings_side {
	double mean, sd;
	int n;
};

/**
 * findings_from_means() - fill @m->rel, lo, hi, abs, t, p from two sides (Welch), .moved and the rest
 * of the numbers with "not known". The standard error has a floor: a guest that counts instructions
 * repeats itself to the last digit, and nothing is that exact.
 */
void findings_from_means(struct findings_metric *m, const struct findings_side *base,
			 const struct findings_side *head);

/**
 * findings_mark_moved() - set .moved and .verdict of all but the leads.
 * @q: false discovery rate; @min_effect: least change, as a ratio.
 *
 * For metrics from findings_from_means(). Runs of one boot are not independent, and there the boots
 * are not known: a change must be MIN_ERRORS standard errors besides.
 */
void findings_mark_moved(struct findings_metric *m, size_t n, double q, double min_effect);
