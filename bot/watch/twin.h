/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One change under two hashes: trees such as linux-next are made anew each day. */
#pragma once

#include <git2/types.h>

struct err;

/** TWIN_FILES_MAX - a change of more files is compared with nothing. */
#define TWIN_FILES_MAX 2000
/** TWIN_BYTES_MAX - nor is one of files that are larger together, before and after it. */
#define TWIN_BYTES_MAX (64U << 20)

/**
 * twin_is() - are @a and @b the same change, in histories that went apart?
 * @a, @b: full hashes.
 *
 * Same title, author and patch (`git patch-id`, and binary files that are the same), of commits with at most one parent that change
 * something, neither of which is an ancestor of the other: what was applied again after a revert is
 * no twin of the first try. Some milliseconds.
 * Return: 1 or 0, also when one of them is not there; ERR_INVAL (not a hash), ERR_GIT.
 */
int twin_is(git_repository *repo, const char *a, const char *b, struct err *e);
