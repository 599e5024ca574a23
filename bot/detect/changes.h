/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where did a series of one metric change over the commits of a branch, and was it the kernel? */
#pragma once

#include "bot/detect/verdict.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum {
	CHANGES_POINTS_MIN = 12,
	CHANGES_POINTS_MAX = 200000,
	CHANGES_TAIL = 400,
	CHANGES_MEMORY = 20
};

/**
 * struct series_point - one commit of a series, in branch order.
 * @value: median of its runs (or of its boot means); NaN or infinite: unknown, a gap.
 * @units: runs or boots behind @value; 0: unknown. More units weigh more, within 1/2 to 2.
 * @time: when it was measured, seconds since any epoch; NaN unknown.
 */
struct series_point {
	double value;
	double units;
	double time;
};

/** struct series_remeasure - commit @index measured once more at @time, with this @value. */
struct series_remeasure {
	size_t index;
	double time;
	double value;
};

/**
 * struct changes_control - what tells a drift of the machine from a change of the kernel.
 * @points: @npoints values of the control build, in order of time; only @value and @time count.
 * @again: @nagain later measurements of commits of the series; any order.
 */
struct changes_control {
	const struct series_point *points;
	size_t npoints;
	const struct series_remeasure *again;
	size_t nagain;
};

enum changes_sensitivity {
	CHANGES_BALANCED,  /* for mails */
	CHANGES_SENSITIVE, /* for the dashboard */
	CHANGES_ONLINE,	   /* for the tail, where a change has few commits behind it yet */
};

/** changes_sensitivity_name(), changes_sensitivity_parse() - "balanced" …; -1 if unknown. */
const char *changes_sensitivity_name(enum changes_sensitivity s);
int changes_sensitivity_parse(const char *name);

/**
 * struct changes_options - all zero is a valid start: balanced, no direction, least effect 1 %.
 * @min_effect: least change worth a word, as a ratio in [0, 10]; 0 means .01. On the raw scale it
 *	is of the larger |median| of the two sides.
 */
struct changes_options {
	enum changes_sensitivity sensitivity;
	enum detect_better better;
	double min_effect;
};

enum change_kind {
	CHANGE_STEP,	    /* the level of the series moved */
	CHANGE_DRIFT,	    /* the machine moved, or a slope over many commits */
	CHANGE_OUTLIER_RUN, /* one or few points far out that came back at once */
};

/** change_kind_name() - "step", "drift", "outlier-run". Static string. */
const char *change_kind_name(enum change_kind kind);

/* Why a change has its kind. */
enum change_reason {
	CHANGE_BY_ITSELF,
	CHANGE_WITH_CONTROL,   /* the control build moved as well */
	CHANGE_WITH_REMEASURE, /* a commit from before it, measured again after it, moved as well */
	CHANGE_IN_SLOPE,       /* a line explains it better than a step */
};

/** change_reason_text() - a sentence for people; "" for CHANGE_BY_ITSELF. Static string. */
const char *change_reason_text(enum change_reason reason);

/** CHANGE_NEVER - for @seen_at and @gone_at. */
#define CHANGE_NEVER ((size_t)-1)

/**
 * struct change_point - one change. Indexes count the points given, gaps too, from 0.
 * @index: first point of the new level (of an outlier run: its first point).
 * @lo, @hi: the new level began in this interval, @lo <= @index <= @hi: about 95 %; for a change
 *	that came in parts or a slope, from its first part to its last; of an outlier run: its
 *	first and last point.
 * @before, @after: medians of the levels, in the unit of the series (an outlier run: of the level
 *	around it, and of the run).
 * @rel: (after - before) / |before|; NaN when that is 0.
 * @abs: after - before.
 * @p: two-sided, of a t test between the levels with autocorrelation allowed for; in [0, 1].
 * @worse: 1 worse, -1 better, 0 the metric has no better direction.
 * @kind, @reason: what it is and why.
 * @seen_at: changes_online(): the point that made it known; else CHANGE_NEVER.
 * @gone_at: changes_online(): the point that took it back; CHANGE_NEVER while it holds.
 */
struct change_point {
	size_t index;
	size_t lo;
	size_t hi;
	double before;
	double after;
	double rel;
	double abs;
	double p;
	int worse;
	enum change_kind kind;
	enum change_reason reason;
	size_t seen_at;
	size_t gone_at;
};

/**
 * change_is_machine() - is it known that the machine changed? Of a slope that is not known: only
 * measuring both its ends again, in turns, tells.
 */
bool change_is_machine(const struct change_point *c);

/**
 * struct changes - what a series holds; `struct changes c = { 0 };`, changes_done().
 * @items: @n changes, ascending by @index; owned.
 * @known: points with a finite value.
 * @few: fewer than CHANGES_POINTS_MIN of them, so nothing is said.
 * @ln_scale: computed on ln(value): every value is above 0.
 * @sd: standard deviation of a point around its level, in the unit of the series, at the present
 *	level; NaN when unknown. @sd_rel: the same as a ratio of the present level's size.
 * @inflation: how much autocorrelation and wandering inflate the noise, >= 1.
 * @current: index of the first point of the present level; 0 without a change.
 */
struct changes {
	struct change_point *items;
	size_t n;
	size_t known;
	bool few;
	bool ln_scale;
	double sd;
	double sd_rel;
	double inflation;
	size_t current;
};

void changes_done(struct changes *c);

/**
 * changes_find() - all changes in a series, looked at as a whole.
 * @points: @n commits in branch order; borrowed.
 * @control: NULL when there is none.
 * @options: NULL for the defaults.
 * @ret: zero or done before; filled on success only.
 *
 * Robust Potts model by Viterbi over levels, then merging of what does not stand a t test
 * (statistics: clipped squares, penalty c ln N, autocorrelation factor). Pure, deterministic.
 * O(n G) for G <= 2048 levels (noise / 4 apart): about .3 ms for 1,000 points.
 * Return: 0; ERR_RANGE or ERR_INVAL for bad options; ERR_TOO_BIG above CHANGES_POINTS_MAX.
 */
int changes_find(const struct series_point *points, size_t n, const struct changes_control *control,
		 const struct changes_options *options, struct changes *ret, struct err *e);

/**
 * changes_online() - what would have been said as the points came in, one by one.
 * @from: the first point that comes in; the ones before it are known, and what they already show
 *	is not told. 0 tells all.
 *
 * Each step sees the last CHANGES_TAIL points up to then, with CHANGES_ONLINE whatever
 * @options->sensitivity says. @ret->items has each change once, with @seen_at, with its numbers
 * as of the last point where it was there; @gone_at is set when later points took it back. The
 * other fields of @ret are as of the last point. Outlier runs are not told. About .1 ms a point.
 * Return: as changes_find().
 */
int changes_online(const struct series_point *points, size_t n, size_t from,
		   const struct changes_control *control, const struct changes_options *options,
		   struct changes *ret, struct err *e);

/**
 * changes_newest() - has the newest point shown a change that was not visible before?
 * @ret: the change with the highest index that the last point made known; untouched if none.
 *
 * For a daemon, after each new point. It looks back over the last CHANGES_MEMORY points, so that
 * what was there a moment ago and comes again is not told twice; about 1 ms. A change that comes
 * again later is, so the caller compares with what it has told: @ret->lo and @ret->hi overlap.
 * Return: 1 if there is one, 0 if not, or an error as changes_find().
 */
int changes_newest(const struct series_point *points, size_t n,
		   const struct changes_control *control, const struct changes_options *options,
		   struct change_point *ret, struct err *e);

/**
 * changes_split() - where the present level starts, to cut a noise profile's history there.
 *
 * Sensitive on purpose: a step in the history spoils the profile, a lost stretch does not.
 * Return: index of the first point of the present level; 0 if nothing is known to have changed.
 */
size_t changes_split(const struct series_point *points, size_t n);
