/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One bare repository for all trees. Tree NAME lives under refs/kperfbot/tree/NAME/{heads,tags}/;
 * tips that a remote dropped stay under refs/kperfbot/keep/HASH. A handle belongs to one thread.
 */
#pragma once

#include "bot/watch/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct mirror;

/**
 * mirror_open() - open the repository at @dir, making it when nothing is there.
 * @ret: free with mirror_free().
 * Return: 0; ERR_UNSUPPORTED for a shallow or SHA-256 repository; ERR_GIT, ERR_IO.
 */
int mirror_open(const char *dir, struct mirror **ret, struct err *e);
void mirror_free(struct mirror *m);

/** mirror_dir() - absolute path of the folder that was opened; belongs to @m. */
const char *mirror_dir(const struct mirror *m);

/**
 * struct mirror_tree - a tree as the config has it; all borrowed.
 * @branches: NULL-terminated patterns, see remote_pattern_match().
 * @allow_file: local paths and file:// are allowed.
 * @connect_s, @idle_s, @total_s: seconds until the first answer, without any progress, and for each
 *	of the transfers in all; 0 takes 30, 120 and 7200.
 */
struct mirror_tree {
	const char *name;
	const char *url;
	const char *const *branches;
	bool allow_file;
	double connect_s, idle_s, total_s;
};

/**
 * struct mirror_fetched - what a fetch did.
 * @changed: some branch moved, came or went in this call. What is new to the caller is what
 *	mirror_events() finds between the heads it has recorded and mirror_heads(): an earlier call may
 *	have moved branches and failed afterwards.
 * @matched: branches of the remote that fit the patterns.
 * @missing: patterns without '*' that no branch has, joined by ", ", or NULL; owned.
 * @note: why upkeep (gc, commit-graph) failed after a good fetch, or NULL; owned.
 */
struct mirror_fetched {
	bool changed;
	size_t matched;
	char *missing;
	char *note;
};

/**
 * mirror_fetch() - bring the matching branches of a tree, and the tags on their history.
 * @ret: free with mirror_fetched_done(); may be NULL.
 *
 * Runs git as a child under deadlines with a clean environment; costs one ls-remote when nothing
 * changed. A head that is dropped or moved by force is kept first. No branch that fits is no error:
 * see @ret->matched and @ret->missing.
 * Return: 0; ERR_GIT_AWAY if a later try may work (not reachable, silent, cut off); ERR_GIT with
 * git's own reason; ERR_INVAL, ERR_PERM for an url, name or pattern that is not allowed;
 * ERR_UNSUPPORTED for a shallow or SHA-256 remote.
 */
int mirror_fetch(struct mirror *m, const struct mirror_tree *t, struct mirror_fetched *ret,
		 struct err *e);
void mirror_fetched_done(struct mirror_fetched *f);

/**
 * mirror_heads() - the branches of a tree as of the last fetch.
 * @branches: NULL-terminated patterns, or NULL for all.
 * @ret: sorted by name; free with mirror_heads_free(). Refs that hold no commit are left out.
 */
int mirror_heads(struct mirror *m, const char *tree, const char *const *branches,
		 struct mirror_head **ret, size_t *ret_n, struct err *e);

/**
 * struct mirror_sig - author or committer, as the commit has it: any bytes but NUL and line break.
 * @time: seconds since 1970 UTC. @offset_min: minutes east of UTC.
 */
struct mirror_sig {
	char *name;
	char *mail;
	int64_t time;
	int offset_min;
};

/**
 * struct mirror_commit - one commit; mirror_commit_done() frees what it owns.
 * @message: raw bytes, may hold NUL and invalid UTF-8; NUL-terminated beyond @message_len.
 *	Cut after MIRROR_MESSAGE_MAX bytes.
 * @subject: first line of the message up to a NUL byte, at most 1000 bytes.
 */
struct mirror_commit {
	char hash[41];
	char tree_hash[41];
	char (*parents)[41];
	size_t n_parents;
	struct mirror_sig author, committer;
	char *subject;
	char *message;
	size_t message_len;
};

#define MIRROR_MESSAGE_MAX (1 << 20)

/** mirror_commit() - read one commit by full hash. Return: 0, ERR_INVAL, ERR_NOENT, ERR_GIT. */
int mirror_commit(struct mirror *m, const char *hash, struct mirror_commit *ret, struct err *e);
void mirror_commit_done(struct mirror_commit *c);
void mirror_commits_free(struct mirror_commit *commits, size_t n);

/** mirror_is_ancestor() - 1 if @old_hash is an ancestor of or equal to @new_hash, else 0; ERR_*. */
int mirror_is_ancestor(struct mirror *m, const char *old_hash, const char *new_hash, struct err *e);

/** mirror_is_ancestor_cb() - the same for mirror_events(); @mirror is a struct mirror. */
mirror_is_ancestor_fn mirror_is_ancestor_cb;

/**
 * mirror_resolve() - a commit by tag, branch, full hash or at least 8 digits of one.
 * @tree: whose tags and branches count; NULL for hashes only.
 * Return: 0; ERR_NOENT; ERR_AMBIGUOUS if two commits fit.
 */
int mirror_resolve(struct mirror *m, const char *tree, const char *what, char ret[41],
		   struct err *e);

/**
 * mirror_new_commits() - commits reachable from @new_hash and not from @old_hash, children first.
 * @old_hash: NULL gives @new_hash alone (first sight: the history is not walked).
 * @limit: at most this many, the newest; *@ret_more says whether some were left out.
 * @ret: free with mirror_commits_free().
 */
int mirror_new_commits(struct mirror *m, const char *old_hash, const char *new_hash, size_t limit,
		       struct mirror_commit **ret, size_t *ret_n, bool *ret_more, struct err *e);

/**
 * mirror_changed_files() - files that differ between two commits, sorted, from the top of the tree.
 * @limit: at most this many; *@ret_more says whether some were left out.
 * @ret: names as git has them, any bytes but NUL; free with mirror_files_free().
 */
int mirror_changed_files(struct mirror *m, const char *old_hash, const char *new_hash, size_t limit,
			 char ***ret, size_t *ret_n, bool *ret_more, struct err *e);
void mirror_files_free(char **files, size_t n);

/** mirror_graph_usable() - can libgit2 read the commit-graph? Walks are some 9x slower without. */
bool mirror_graph_usable(struct mirror *m);
