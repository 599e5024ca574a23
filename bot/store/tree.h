/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees, their heads and what happened to them; commits met. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct db;
struct err;

/** tree_sync() - make the rows of all [tree] sections. */
int tree_sync(struct db *db, const struct config *c, struct err *e);

/**
 * tree_looked_at() - the tree was fetched, but @odd (or NULL) a person should know, such as a branch
 * that is not there; shown with the tree until the next fetch. @ret_new: was it not so before?
 */
int tree_looked_at(struct db *db, const char *tree, const char *odd, bool *ret_new, struct err *e);

/** tree_fetched() - @why NULL: fetched; else why not. @ret_failures: failures in a row. */
int tree_fetched(struct db *db, const char *tree, const char *why, int *ret_failures,
		 struct err *e);

/** struct tree_head - a branch and its tip. */
struct tree_head {
	char *branch;
	char commit[41];
};

/** tree_heads() - known heads, by branch; tree_heads_free() them. */
int tree_heads(struct db *db, const char *tree, struct tree_head **ret, size_t *ret_n,
	       struct err *e);
void tree_heads_free(struct tree_head *heads, size_t n);

/**
 * tree_event() - note what happened to a branch and bring its head up to date.
 * @kind: first, new, moved, forced or deleted. @old_hash, @new_hash: NULL where there is none.
 */
int tree_event(struct db *db, const char *tree, const char *branch, const char *kind,
	       const char *old_hash, const char *new_hash, struct err *e);

/**
 * struct commit_row - a commit as stored; strings from git may hold any bytes and are made valid
 * UTF-8 by commit_insert().
 */
struct commit_row {
	const char *hash;
	const char *const *parents;
	size_t n_parents;
	const char *subject;
	const char *author_name, *author_mail;
	const char *committer_name, *committer_mail;
	int64_t author_time, commit_time; /* seconds since 1970 UTC */
	const char *message;
	size_t message_len;
};

/** commit_insert() - store a commit; nothing happens when it is there. */
int commit_insert(struct db *db, const struct commit_row *c, struct err *e);

/** struct commit - a commit read back; commit_done() frees it. @parent: first one, or "". */
struct commit {
	char *subject;
	char *author_name, *author_mail;
	char *committer_name, *committer_mail;
	char *parent;
	char *message;
	size_t message_len;
	char *date; /* of the committer, 2030-11-06 */
};
int commit_get(struct db *db, const char *hash, struct commit *ret, struct err *e);
void commit_done(struct commit *c);
