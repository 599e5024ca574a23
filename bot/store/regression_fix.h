/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commits that claim to fix the culprit of a regression. Claims never change its state. */
#pragma once

#include "bot/base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct db;
struct err;

/** struct fix_open - an open regression and its culprit. */
struct fix_open {
	char id[9];
	char culprit[41];
};

/** fix_open() - those of a branch, at most 500. @ret: free() it; NULL if there are none. */
int fix_open(struct db *db, const char *tree, const char *branch, struct fix_open **ret,
	     size_t *ret_n, struct err *e);

/**
 * fix_head_is() - 1 if the branch is at @tip, and stays there until the transaction ends; 0 if it has
 * moved on or is gone.
 */
int fix_head_is(struct db *db, const char *tree, const char *branch, const char *tip,
		struct err *e);

/**
 * struct fix_claim_row - @commit: its row is there. @says: "fixes" or "reverts". @tip: head in which
 * it was seen. @why: line for the history.
 */
struct fix_claim_row {
	const char *regression;
	const char *commit;
	const char *says;
	bool by_title;
	const char *tip;
	const char *why;
};

/** fix_add() - Return: 1 new, 0 known before, or an error. */
int fix_add(struct db *db, const struct fix_claim_row *row, struct err *e);

/** fix_drop() - forget what was not seen in @tip. Return: 0; an error. */
int fix_drop(struct db *db, const char *regression, const char *tip, struct err *e);

/** fix_list() - [{"commit","title","says","by_title","branch","commit_time","seen","measured"}]. */
int fix_list(struct db *db, const char *regression, json_t **ret, struct err *e);
