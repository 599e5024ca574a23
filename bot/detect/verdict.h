/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Did a metric change between two kernels, by how much, and is that sure enough to say so? */
#pragma once

#include "bot/detect/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

/** struct detect_sample - one run: @order is its place in time over both sides, NaN unknown. */
struct detect_sample {
	double value; /* NaN and infinite values are dropped and counted */
	int boot;     /* runs of one boot share it; negative: a boot of its own */
	double order;
};

enum detect_better {
	DETECT_BETTER_NONE,
	DETECT_BETTER_HIGHER,
	DETECT_BETTER_LOWER,
};

/** detect_better_name(), detect_better_parse() - "none", "higher", "lower"; -1 if unknown. */
const char *detect_better_name(enum detect_better better);
int detect_better_parse(const char *name);

enum detect_verdict {
	DETECT_REGRESSION,
	DETECT_IMPROVEMENT,
	DETECT_CHANGE,	  /* significant, but the metric has no better direction */
	DETECT_SAME,	  /* any change is smaller than same_effect */
	DETECT_CANDIDATE, /* crossed, not yet confirmed by fresh units */
	DETECT_INCONCLUSIVE,
	DETECT_NOT_ENOUGH_DATA,
	DETECT_VERDICTS
};

/** detect_verdict_name() - "regression", …, "not-enough-data". Static string. */
const char *detect_verdict_name(enum detect_verdict v);

enum {
	DETECT_LOOKS_MAX = 16,
	DETECT_LOOK_LIMIT = 1000,
	DETECT_VERDICT_LOOK = 8,
	DETECT_MODES_MAX = 3
};

/**
 * struct detect_options - rules of a comparison; start from detect_options_default().
 * @level: of the interval, and with @single_look of the test, in (.5, 1); .95.
 * @alpha: p of one look that makes a candidate, and of the power statement; .01. Of a single
 *	metric this is also the share of false changes over all looks: a verdict needs p times the
 *	factor of its look to be below.
 * @min_effect: least effect of a headline metric that is worth a verdict, as a ratio; .01.
 * @monitor_min_effect: the same of other metrics; .03.
 * @target_effect: the change that should be found, as a ratio; .038.
 * @same_effect: smaller than this is "same"; 0 means .75 * @target_effect.
 * @fdr_q: false discovery rate among headline metrics; .05.
 * @monitor_fdr_q: the same among the others; .01.
 * @looks: @nlooks ascending sizes in units a side, 3 to 1000; borrowed; 3 5 8 12 20. Looks below
 *	8 only screen. NULL: the default.
 * @single_look: one test with all units; no confirmation asked.
 *
 * On the raw scale (a value is not above zero) ratios are of the larger |mean| of the two sides.
 */
struct detect_options {
	double level;
	double alpha;
	double min_effect;
	double monitor_min_effect;
	double target_effect;
	double same_effect;
	double fdr_q;
	double monitor_fdr_q;
	const int *looks;
	size_t nlooks;
	bool single_look;
};

struct detect_options detect_options_default(void);

/** detect_options_check() - Return: 0; ERR_RANGE or ERR_INVAL naming the value. */
int detect_options_check(const struct detect_options *o, struct err *e);

/** detect_next_look() - the next look size above @units a side; 0 when that was the last. */
int detect_next_look(const struct detect_options *o, bool have_profile, int units);

/* Why a verdict is what it is; detect_note_text() has the sentences. */
enum detect_note {
	DETECT_NOTE_NO_HISTORY = 1 << 0,
	DETECT_NOTE_ONE_BOOT = 1 << 1,
	DETECT_NOTE_ABSOLUTE = 1 << 2,
	DETECT_NOTE_DROPPED = 1 << 3,
	DETECT_NOTE_DETERMINISTIC = 1 << 4,
	DETECT_NOTE_CLIPPED = 1 << 5,
	DETECT_NOTE_FRESH_AGAINST = 1 << 6,
	DETECT_NOTE_LAST_LOOK = 1 << 7,
	DETECT_NOTE_SMALL = 1 << 8,
	DETECT_NOTE_BLOCKS = 1 << 9,
	DETECT_NOTE_OTHER_SCALE = 1 << 10,
	DETECT_NOTE_MISSING = 1 << 11,
	DETECT_NOTE_FEW = 1 << 12,
	DETECT_NOTE_BLIND = 1 << 13,
	DETECT_NOTE_END = 1 << 14,
	DETECT_NOTE_MODES_BASE = 1 << 15,
	DETECT_NOTE_MODES_HEAD = 1 << 16
};

/**
 * struct detect_side - one kernel's samples of the metric.
 * @runs: finite values used; @dropped: NaN and infinite ones left out.
 * @boots: different boots; @units: what the test counts: boots if there are 2, else runs.
 * @center: mean (geometric on the ln scale) of the units; NaN without any.
 * @sd: standard deviation of a unit, in the metric's unit; NaN with fewer than 2 units.
 * @modes, @nmodes: where the units fall into two or three groups: share of the units and center
 *	of each, the lowest first; else @nmodes is 0. Seen with 8 units or more; where history has
 *	two modes, with any number, and 1 says that all units of this side are in one of them.
 */
struct detect_side {
	int runs;
	int dropped;
	int boots;
	int units;
	double center;
	double sd;
	struct {
		double share;
		double center;
	} modes[DETECT_MODES_MAX];
	int nmodes;
};

/**
 * struct detect_result - the answer, with what it rests on. Numbers that cannot be had are NaN.
 * @rel, @lo, @hi: change head against base as a ratio, with its interval at @level.
 * @abs, @abs_lo, @abs_hi: the same in the metric's unit.
 * @fresh_rel, @fresh_lo, @fresh_hi: the change as seen by the units after @candidate_look, with
 *	its interval; NaN when there are none.
 * @size_rel, @size_lo, @size_hi: the change to report. Stopping at the first sure answer makes
 *	@rel too large by what was lucky; where a change had crossed at an earlier look this is of
 *	the fresh units, otherwise it is @rel. NaN where nothing was tested.
 * @p: two-sided p of the last test; NaN for a deterministic metric.
 * @q: adjusted for the looks and, by detect_compare_many(), for the other metrics.
 * @t, @df: of the t test.
 * @mde: change that would be found 4 times in 5, as a ratio >= 0.
 * @more_units: units a side to have at the next look; 0: nothing more to measure.
 * @units_needed: smallest look at which @mde should be below the target; 0: none of them.
 * @look: look reached (3, 5, 8 …), 0 before the first; @candidate_look: the look that @fresh_rel
 *	counts from: the first that crossed, or where the change was first suspected (p below ten
 *	times alpha); 0 none.
 * @ln_scale: tested on ln(value).
 * @notes: set of enum detect_note.
 */
struct detect_result {
	enum detect_verdict verdict;
	double rel, lo, hi, level;
	double abs, abs_lo, abs_hi;
	double fresh_rel, fresh_lo, fresh_hi;
	double size_rel, size_lo, size_hi;
	double p, q, t, df;
	struct detect_side base, head;
	double mde;
	int more_units;
	int units_needed;
	int look;
	int candidate_look;
	bool ln_scale;
	unsigned notes;
};

/**
 * detect_compare() - compare one headline metric of two kernels.
 * @base, @head: runs of the two sides in the order they were made (@order wins where known).
 * @profile: noise profile, NULL or .have = false without history.
 * @ret: filled on success only.
 *
 * Pure and deterministic. The caller measures up to @ret->more_units units a side, interleaved,
 * and calls again with all of them, until @ret->more_units is 0; it ends at the last look.
 * Return: 0; ERR_INVAL or ERR_RANGE for bad options. Any samples are accepted.
 */
int detect_compare(const struct detect_sample *base, size_t nbase, const struct detect_sample *head,
		   size_t nhead, enum detect_better better, const struct detect_profile *profile,
		   const struct detect_options *options, struct detect_result *ret, struct err *e);

/**
 * detect_boots_wanted() - boots a side to have next, when there are @have already.
 *
 * Boots that did not measure the metric are no units: @r may ask for no more than there are, and
 * whoever orders only the difference would wait for ever. Then it is the first look beyond them.
 * Return: more than @have; 0 when @r asks for nothing, or no look is left.
 */
int detect_boots_wanted(const struct detect_options *o, const struct detect_result *r, int have);

/**
 * struct detect_metric - one metric for detect_compare_many(); all pointers borrowed.
 * @headline: its change may be reported; the others explain it.
 */
struct detect_metric {
	const struct detect_sample *base;
	size_t nbase;
	const struct detect_sample *head;
	size_t nhead;
	enum detect_better better;
	bool headline;
	const struct detect_profile *profile;
};

/**
 * detect_compare_many() - compare @n metrics; @ret gets as many results, in the same order.
 *
 * False discoveries are controlled inside the headline metrics and inside the others (Benjamini
 * and Hochberg); every metric that was tested counts. Metrics other than headline are candidates
 * only when their q is good enough, and ask for more runs only when p <= 1e-4 besides.
 */
int detect_compare_many(const struct detect_metric *metrics, size_t n,
			const struct detect_options *options, struct detect_result *ret,
			struct err *e);

/**
 * detect_note_text() - the sentence for one bit of @r->notes.
 * @buf: at least 160 bytes. Return: @buf.
 */
enum {
	DETECT_NOTES = 17
};
const char *detect_note_text(const struct detect_result *r, enum detect_note note, char *buf,
			     size_t size);
