/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files a commit changes, read fast: for each commit of a range. */
#pragma once

#include <git2/types.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

/**
 * struct touched - files that a commit changes against its first parent; touched_done() frees it.
 * @paths: names as git has them, any bytes but NUL and no longer than 4095 bytes, sorted as git
 *	sorts trees. Of a renamed file both names; a submodule counts as a file. Owned.
 * @same_code: for each of @paths, prior_same_code(); owned.
 * @more: there are more, or some that cannot be told.
 * @n_parents: of the commit.
 */
struct touched {
	char **paths;
	bool *same_code;
	size_t n;
	size_t cap;
	bool more;
	unsigned n_parents;
};
void touched_done(struct touched *t);

/**
 * touched_read() - what commit @hash changes.
 * @max_paths: read no more than these.
 * @content: look whether code changes, in commits of up to 32 files of up to 1 MiB; else
 *	@ret->same_code is false for all.
 * @ret: filled on success.
 *
 * Goes only where trees differ: some 0.1 ms for a commit of a kernel, with @content some 0.3 ms.
 * Return: 0; ERR_INVAL, ERR_NOENT, ERR_GIT.
 */
int touched_read(git_repository *repo, const char *hash, size_t max_paths, bool content,
		 struct touched *ret, struct err *e);
