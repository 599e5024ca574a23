/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which commits of a range the good end holds after all, whatever dates they bear. */
#pragma once

#include <git2/oid.h>
#include <git2/types.h>
#include <stdint.h>

struct err;

/**
 * struct range_member - asks about the commits that a walk believes to be in the range.
 * @find: called for each commit reached; the member's index, -1 if it is none.
 * @mark: called for each member reached, once or more.
 */
struct range_member {
	int (*find)(const void *ctx, const git_oid *oid);
	void (*mark)(void *ctx, int member);
	void *ctx;
};

/**
 * range_reach() - mark the members that are reached from @good.
 * @oldest: lowest date of a member, seconds; commits below are not looked at for long.
 * @many: number of members.
 *
 * A walk by dates takes a commit for one of the range when a wrong date hides the way that leads
 * to it from the good end. This one takes a commit as no older than its parents, goes on for
 * RANGE_REACH_SLOP commits after all members should be newer, and is exact in histories where no
 * longer stretch of dates is wrong. A member is found, not always its ancestors.
 *
 * Return: 0; ERR_GIT.
 */
int range_reach(git_repository *repo, const git_oid *good, int64_t oldest, size_t many,
		const struct range_member *member, struct err *e);

/** Commits looked at after the last one that could matter, and at most in all beside the range. */
#define RANGE_REACH_SLOP 1024
#define RANGE_REACH_MOST 65536
