/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people may ask of a bisection: stop it, give it more runs, try once more. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct config;
struct db;
struct err;

enum {
	BISECTION_EXTEND_MOST = 1000000
};

/** bisection_git_log() - fit for `git bisect replay`; "" before the first step. free() it. */
int bisection_git_log(struct db *db, const char *id, char **ret, struct err *e);

/** bisection_replay_log() - fit for `kperfbot bisect replay`; "" before the first run. free() it. */
int bisection_replay_log(struct db *db, const char *id, char **ret, struct err *e);

/** bisection_may() - may token @token change it? 0; ERR_PERM; ERR_NOENT. */
int bisection_may(struct db *db, const char *id, const char *token, struct err *e);

/** bisection_cancel() - @by whom and why (not empty). ERR_CONFLICT: it has ended. */
int bisection_cancel(struct db *db, const char *id, const char *by, const char *reason,
		     struct err *e);

/** bisection_extend() - @runs more, 1 to BISECTION_EXTEND_MOST. ERR_CONFLICT: it has ended. */
int bisection_extend(struct db *db, const struct config *config, const char *id, int64_t runs,
		     int64_t *ret_max, struct err *e);

/**
 * bisection_retry() - ask for the same again; nothing that was measured of the ends counts.
 * Return: 0 and the new id; ERR_CONFLICT: it has not ended, was cancelled a moment ago,
 * or an equal one is open.
 */
int bisection_retry(struct db *db, const char *id, const char *by, char ret[9], struct err *e);
