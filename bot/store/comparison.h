/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons of two commits of a branch, the regressions found, and the bisections that follow. */
#pragma once

#include "bot/base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;
struct runs;

/** struct comparison - a row; comparison_done() frees it. @look: boots a side asked for so far. */
struct comparison {
	int64_t id;
	char *tree;
	char *branch;
	char base[41];
	char head[41];
	int64_t job;
	bool open;
	int look;
	char purpose[8];    /* head, confirm or layout, see sql/migrations/0009_verdicts.sql */
	char regression[9]; /* whose check it is; "" unless the purpose is layout */
	char *variant;	    /* of the builds of both sides */
	double target; /* change that it has to be able to see, as a ratio; 0: the configuration's */
	char *machine; /* "" until one is chosen */
};

/**
 * struct comparison_ask - what to compare and why; borrowed.
 * @purpose: NULL is "head". @regression: NULL unless the purpose is layout. @variant: NULL is "".
 * @target: 0 is the configuration's.
 */
struct comparison_ask {
	const char *tree, *branch;
	const char *base, *head;
	int64_t job;
	const char *purpose, *regression, *variant;
	double target;
};
/** comparison_want() - the comparison, made and queued as work when there is none. */
int comparison_want(struct db *db, const struct comparison_ask *ask, int64_t *ret_id,
		    struct err *e);
/** comparison_week() - how many ended with a verdict in the last seven days. */
int comparison_week(struct db *db, int64_t *ret, struct err *e);
/** comparison_plan() - keep what the looks of an open comparison can see. */
int comparison_plan(struct db *db, int64_t id, const json_t *plan, struct err *e);
/**
 * comparison_base_before() - what @c's base was compared with when it was the head, for a base that
 * cannot be measured. @ret: "" when there is none that differs from @c's head.
 */
int comparison_base_before(struct db *db, const struct comparison *c, char ret[41], struct err *e);
int comparison_get(struct db *db, int64_t id, struct comparison *ret, struct err *e);
void comparison_done(struct comparison *c);

/** struct comparison_effect - the headline metric as it stands; ratios. */
struct comparison_effect {
	double rel, lo, hi, p;
};
/**
 * comparison_look() - note the look asked for, and the verdict so far.
 * @evidence: kperfbot-verdict/1 as text, @verdict, @effect: NULL before the first verdict.
 */
int comparison_look(struct db *db, int64_t id, int look, const char *evidence, const char *verdict,
		    const struct comparison_effect *effect, struct err *e);
/** comparison_finish() - @state done, failed or cancelled. ERR_CONFLICT when it had ended. */
int comparison_finish(struct db *db, int64_t id, const char *state, const char *verdict,
		      const char *detail, struct err *e);

/**
 * struct comparison_checked - how a comparison of layouts stands. @state: open, done, failed or
 * cancelled, "" when none was asked for. @effect: NaN until judged. comparison_checked_done() it.
 */
struct comparison_checked {
	char state[12];
	char *verdict;
	char *detail; /* why it failed, or "" */
	struct comparison_effect effect;
};
int comparison_layout(struct db *db, int64_t job, const char *base, const char *head,
		      const char *variant, struct comparison_checked *ret, struct err *e);
void comparison_checked_done(struct comparison_checked *c);

/**
 * comparison_runs() - the good runs of both sides.
 * @ret: at most two elements, of the sides that have any; measured_free() it.
 */
int comparison_runs(struct db *db, int64_t id, struct runs **ret, size_t *ret_n, struct err *e);

/**
 * struct regression - a row; regression_done() frees it.
 * @base, @head: what the comparison compared. @culprit, @parent: "" until they are known.
 * @rel, @lo, @hi: from base to head; from parent to culprit once that is known.
 */
struct regression {
	char id[9];
	char *state;
	char *tree;
	char *branch;
	int64_t job;
	int64_t comparison;
	char *metric;
	double rel, lo, hi, level;
	char base[41];
	char head[41];
	char culprit[41];
	char parent[41];
	double p;
	char *class;
};
/**
 * regression_add() - store a new regression in state bisecting.
 * @r: id is made here; state, culprit, p, class are not read.
 * Return: 1 added, 0 this comparison had one for the metric, or an error.
 */
int regression_add(struct db *db, struct regression *r, const char *why, struct err *e);
int regression_get(struct db *db, const char *id, struct regression *ret, struct err *e);
void regression_done(struct regression *r);
/** regression_state() - ERR_CONFLICT when it was not in state @from. */
int regression_state(struct db *db, const char *id, const char *from, const char *to,
		     const char *by, const char *why, struct err *e);
/** regression_blame() - culprit, its parent, and the effect between the two. */
int regression_blame(struct db *db, const char *id, const char *culprit, double p,
		     const char *parent, const struct comparison_effect *effect, struct err *e);
/**
 * regression_lock() - until the transaction ends no one else decides about @culprit, or about what
 * may be the same change under another hash.
 */
int regression_lock(struct db *db, const char *culprit, struct err *e);

/** regression_same() - an earlier one with this culprit, in any tree, job or metric; "" when none. */
int regression_same(struct db *db, const struct regression *r, const char *culprit, char ret[9],
		    struct err *e);
/**
 * regression_twins() - culprits of others with the title and author of @culprit: perhaps the same
 * change under another hash. @ret: at most 10, the first found first; free() it.
 */
int regression_twins(struct db *db, const char *culprit, char (**ret)[41], size_t *ret_n,
		     struct err *e);
int regression_dup(struct db *db, const char *id, const char *of, struct err *e);

/**
 * regression_free_dups() - @id turned out to be an effect of code layout: what other tests showed of
 * the same commit, and was taken for the same, has to be looked at by itself.
 * @ret: the one that is confirmed again and waits for its report, or "".
 */
int regression_free_dups(struct db *db, const char *id, char ret[9], struct err *e);

/** struct bisection - a row; bisection_done() frees it. @regression: "" when a person asked. */
struct bisection {
	char id[9];
	char regression[9];
	char *tree;
	char good[41];
	char bad[41];
	int64_t job;
	char *metric;
	char *state;
	bool open;
	json_t *request;
	json_t *status;
	char *machine;	  /* "" until one is chosen; the ends and the culprit are compared there */
	json_t *machines; /* names of those that take boots beside it */
};
/** bisection_pin() - choose the machine that has measured most of @commits; "" when none has. */
int bisection_pin(struct db *db, const char *id, const char *const *commits, size_t n, char **ret,
		  struct err *e);
/**
 * bisection_join() - let good machines of the group take boots, up to @machines beside the first.
 * @ret: names of all beside the first; a new reference. ERR_NOENT: it has no first one, or ended.
 */
int bisection_join(struct db *db, const char *id, int machines, json_t **ret, struct err *e);
/** bisection_placed() - boots of @commit waited for, by the machine that alone may take them. */
int bisection_placed(struct db *db, const char *id, const char *commit, json_t **ret,
		     struct err *e);
/** bisection_take_over() - is it one more try for the regression that its request names? */
int bisection_take_over(struct db *db, const char *id, bool *ret, struct err *e);
/** bisection_forget() - nothing that was measured for it counts any more. */
int bisection_forget(struct db *db, const char *id, struct err *e);
/** struct bisection_tip - @own: the branch is that of the regression that is bisected. */
struct bisection_tip {
	char *branch;
	char commit[41];
	bool own;
};
/** bisection_tips() - tips that may be measured, the best first; bisection_tips_free() them. */
int bisection_tips(struct db *db, const char *id, struct bisection_tip **ret, size_t *ret_n,
		   struct err *e);
void bisection_tips_free(struct bisection_tip *tips, size_t n);
/** bisection_add() - the bot's own bisection of a regression, and its work. Once per regression. */
int bisection_add(struct db *db, const struct regression *r, struct err *e);
int bisection_get(struct db *db, const char *id, struct bisection *ret, struct err *e);
void bisection_done(struct bisection *b);
/** bisection_progress() - ERR_CONFLICT when it had ended (cancelled by a person, say). */
int bisection_progress(struct db *db, const char *id, const char *state, const json_t *status,
		       struct err *e);
/**
 * bisection_finish() - ERR_CONFLICT when @b had ended, or was given more runs since it was read: then
 * what was decided with fewer is no answer.
 */
int bisection_finish(struct db *db, const struct bisection *b, const char *state,
		     const json_t *result, struct err *e);

/** struct bisect_step_row - a step; NaN and NULL where there is nothing. */
struct bisect_step_row {
	const char *commit;
	const char *verdict;
	double p_bad, rel;
	int boots, runs;
	double left_eff;
	const char *reason, *detail;
	double took_s;
};
/** bisection_step_add() - Return: its number, 1 and up; an error. */
int bisection_step_add(struct db *db, const char *id, const struct bisect_step_row *s,
		       struct err *e);
