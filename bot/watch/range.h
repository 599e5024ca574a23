/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the commits between a good and a bad one from a repository, with libgit2. */
#pragma once

#include "bisect/graph.h"

#include <git2/types.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

/** RANGE_LONG - commits of a range beyond which less is known of each; a warning says so. */
#define RANGE_LONG 2000

/**
 * struct range_options - which commits of the range count.
 * @paths, @n_paths: only commits that change one of these files or folders, and what joins them,
 *                   as `git rev-list GOOD..BAD -- PATH…` counts; no patterns; borrowed. Where
 *                   a merge equals a parent outside the range, other than good, its sides stay
 *                   in: what git leaves out there depends on the order of its walk.
 * @first_parent: follow merges along their first parent only.
 * @descendants: only commits that descend from the good end, as `git rev-list --ancestry-path`
 *               counts; what else was merged is part of its merge.
 */
struct range_options {
	const char *const *paths;
	size_t n_paths;
	bool first_parent;
	bool descendants;
};

/**
 * struct range - commits reachable from bad and not from good.
 * @good, @bad: the ends, 40 hex digits.
 * @good_is_ancestor: of bad. If not, bad may differ from good for what happened on good's side:
 *                    the merge bases have to be measured first.
 * @merge_bases, @n_merge_bases: best common ancestors; owned. None: the histories are apart.
 * @commits: what `git rev-list --count` counts; @merges, @roots: of them.
 * @expected_steps: of plain bisection, ceil(log2(commits)).
 * @midpoint: first commit of plain bisection; "" for more than BISECT_COUNT_MOST commits.
 * @warnings, @n_warnings: lines for people; owned.
 * @graph: prepared, bad end last; empty for more than BISECT_MAX_COMMITS commits. With paths the
 *         bad end is in it even if it changes none of them, so that a culprit elsewhere shows.
 */
struct range {
	char good[41];
	char bad[41];
	bool good_is_ancestor;
	char (*merge_bases)[41];
	size_t n_merge_bases;
	size_t commits;
	size_t merges;
	size_t roots;
	int expected_steps;
	char midpoint[41];
	char **warnings;
	size_t n_warnings;
	struct bisect_graph graph;
};

void range_done(struct range *r);

/**
 * range_open() - open the repository at or above @path; git_repository_free() it.
 *
 * The caller has called git_libgit2_init().
 * Return: 0; ERR_NOENT (no repository), ERR_PERM (belongs to another user), ERR_UNSUPPORTED
 * (shallow, grafts), ERR_GIT.
 */
int range_open(const char *path, git_repository **ret, struct err *e);

/**
 * range_read() - resolve both names and read what lies between them.
 * @opt: may be NULL: everything.
 * @ret: filled on success only; range_done() it.
 *
 * Return: 0; ERR_NOENT (unknown name), ERR_AMBIGUOUS, ERR_INVAL (not a name, or not a commit),
 * ERR_RANGE (nothing between them, with the reason: equal, swapped, no commit for the paths),
 * ERR_UNSUPPORTED (shallow, grafts), ERR_GIT.
 */
int range_read(git_repository *repo, const char *good, const char *bad,
	       const struct range_options *opt, struct range *ret, struct err *e);
