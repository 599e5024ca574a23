/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series: what one machine measured of a job's headline metric along a branch, and its change points. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;
struct runs;

/** struct series_key - which series; borrowed. @metric: of the job. */
struct series_key {
	const char *tree, *branch;
	int64_t job;
	const char *machine;
	const char *metric;
};

/** series_id() - id of the series, made when it is new. */
int series_id(struct db *db, const struct series_key *key, char ret[9], struct err *e);

/** struct series_value - mean of one good boot. @at: seconds since 1970. */
struct series_value {
	char commit[41];
	int64_t boot;
	double value;
	double at;
};

/**
 * series_values() - in the order in which the branch came to the commits; all boots of a commit
 * stand together. Of the newest version of the suite and accelerator alone.
 * @commits: the last so many. @ret: free() it.
 */
int series_values(struct db *db, const struct series_key *key, int commits,
		  struct series_value **ret, size_t *ret_n, struct err *e);

/** struct series_control - what the control build gave. @at: seconds since 1970. */
struct series_control {
	double at;
	double value;
};
/** series_control() - of the control build that @machine measured last, oldest first; free() it. */
int series_control(struct db *db, const char *machine, struct series_control **ret, size_t *ret_n,
		   struct err *e);

/**
 * series_history() - all that was measured of the commits that the branch came to before @commit.
 * @key: @machine may be NULL: the one that measured most of them; @metric: NULL takes all metrics.
 * @commits: the last so many.
 * @ret: one element a commit, oldest first; measured_free() it.
 */
int series_history(struct db *db, const struct series_key *key, const char *commit, int commits,
		   struct runs **ret, size_t *ret_n, struct err *e);
/**
 * series_borrowed() - the same of other commits that @key's job measured on machines of @group: of
 * other branches, and steps of bisections. The kernel of an element is commit and machine.
 * @key: tree, branch, job and metric count.
 */
int series_borrowed(struct db *db, const struct series_key *key, const char *group, int commits,
		    struct runs **ret, size_t *ret_n, struct err *e);

/** struct change_row - a change point as stored. @comparison: 0 when there is none. */
struct change_row {
	int64_t id;
	char first[41]; /* first commit that is surely of the new level */
	char last[41];	/* last commit that is surely of the old one */
	double rel, p;
	char state[12]; /* see sql/migrations/0009_verdicts.sql */
	int64_t comparison;
};
/** change_rows() - of one series, in the order in which they were seen; free() it. */
int change_rows(struct db *db, const char *series, struct change_row **ret, size_t *ret_n,
		struct err *e);
/** change_set() - store @c as seen now; fills @c->id and @c->state. */
int change_set(struct db *db, const char *series, struct change_row *c, struct err *e);
/** change_state() - @comparison: 0 leaves it as it is. @detail: NULL for nothing. */
int change_state(struct db *db, int64_t id, const char *state, int64_t comparison,
		 const char *detail, struct err *e);
/** change_settle() - a comparison that was to confirm a step has ended with @state. */
int change_settle(struct db *db, int64_t comparison, const char *state, const char *detail,
		  struct err *e);
/**
 * change_known() - has a comparison of neighbours found a change at one of these heads?
 * @ret: its id; 0 when none has.
 */
int change_known(struct db *db, const struct series_key *key, const char *const *heads, size_t n,
		 int64_t *ret, struct err *e);
