/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolving the two ends of a range in the mirror. */
#pragma once

#include "bot/base/json.h"

#include <git2/types.h>
#include <stdint.h>

struct bisection_ask;
struct err;

/** ask_problem() - add {"pointer","code","detail"} to array @problems and return it, to add more. */
json_t *ask_problem(json_t *problems, const char *pointer, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * ends_resolve() - make a commit of a name: hash, 8 or more digits, tag or branch of @tree.
 * @pointer: of the field, for @problems ("unknown_commit", "ambiguous_commit").
 * Return: 0 and @ret; ERR_INVAL when a problem was added; ERR_GIT.
 */
int ends_resolve(git_repository *repo, const char *tree, const char *name, const char *pointer,
		 char ret[41], json_t *problems, struct err *e);

/**
 * ends_check() - is @good..@bad a range to bisect? Problems "not_ancestor", "range_empty",
 * "range_too_large". @ask: for its paths and first_parent. Cost: a walk over the range.
 */
int ends_check(git_repository *repo, const char *good, const char *bad,
	       const struct bisection_ask *ask, int64_t *ret_commits, int *ret_steps,
	       json_t *problems, struct err *e);
