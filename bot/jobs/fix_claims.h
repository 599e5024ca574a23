/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking for commits that claim to fix the culprits of a branch. */
#pragma once

#include <stdbool.h>

struct err;
struct job_ctx;

/**
 * fix_claims_look() - read the head of a branch for fixes of its open regressions, and store them.
 * @regression: look for those of this one alone; NULL: of all.
 * @finish: end the work at hand in the same transaction.
 *
 * Nothing is stored when the branch has moved on meanwhile: whoever saw that has asked for a look.
 * Nor when it has no head. Some seconds for 200,000 commits.
 */
int fix_claims_look(struct job_ctx *c, const char *tree, const char *branch, const char *regression,
		    bool finish, struct err *e);

/** fix_claims_ask() - ask for a look at all of the branch, if there is anything to look for. */
int fix_claims_ask(struct job_ctx *c, const char *tree, const char *branch, struct err *e);
