/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A commit that takes another one back, made in the mirror so that it can be built and measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
struct mirror;

/**
 * enum revert_end - REVERT_DONE: there is a commit. CONFLICTS: later commits changed the same
 * lines. EMPTY: nothing is left of the commit, it was reverted before or changed nothing.
 * NOT_IN: the other commit does not have it in its history. ROOT: it has no parent.
 */
enum revert_end {
	REVERT_DONE,
	REVERT_CONFLICTS,
	REVERT_EMPTY,
	REVERT_NOT_IN,
	REVERT_ROOT
};

/** REVERT_PATHS_MAX - conflicting paths that are kept. */
#define REVERT_PATHS_MAX 20

/**
 * struct revert - how it went; revert_done() frees it.
 * @hash: of the new commit when REVERT_DONE, else "".
 * @paths, @n_paths: with CONFLICTS the first REVERT_PATHS_MAX of them, printable; owned.
 * @n_conflicts: how many there are.
 */
struct revert {
	enum revert_end end;
	char hash[41];
	char **paths;
	size_t n_paths;
	size_t n_conflicts;
};
void revert_done(struct revert *r);

/** revert_end_name() - "done", "conflicts", "empty", "not-in", "root". Static string. */
const char *revert_end_name(enum revert_end end);

/**
 * mirror_revert() - revert @culprit on top of @onto; of a merge what it brought to its first parent.
 * @culprit, @onto: full hashes.
 * @host: for the address kperfbot@HOST of the author.
 * @ret: filled on success; may hold garbage before.
 *
 * The commit's only parent is @onto, its author, dates and text follow from the arguments: the same
 * call makes the same hash, on every host. It stays under refs/kperfbot/revert/CULPRIT-ONTO. Build
 * it like any other: store its row with job_mirror_store_commit(), then build_want().
 * One to two seconds for a kernel tree.
 * Return: 0 however it went; ERR_INVAL (not a hash), ERR_NOENT (not in the mirror), ERR_GIT.
 */
int mirror_revert(struct mirror *m, const char *culprit, const char *onto, const char *host,
		  struct revert *ret, struct err *e);
