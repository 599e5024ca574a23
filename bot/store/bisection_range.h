/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolving the two ends of a range in the mirror. */
#pragma once

#include "bot/base/json.h"

#include <git2/types.h>
#include <stddef.h>
#include <stdint.h>

struct bisection_ask;
struct err;

/** ENDS_BASES_MAX - most merge bases that are measured, the newest. */
#define ENDS_BASES_MAX 8

/**
 * struct ends_facts - what lies between two ends.
 * @commits: in good..bad; @steps: that plain bisection of them takes.
 * @bases, @n_bases: merge bases that are measured, where good is not an ancestor of bad; else none.
 * @notes: lines for people, "a\nb\n"; cut at its size.
 */
struct ends_facts {
	int64_t commits;
	int steps;
	char bases[ENDS_BASES_MAX][41];
	size_t n_bases;
	char notes[1024];
};

/** ends_notes() - the lines as an array of texts; a new reference. */
json_t *ends_notes(const struct ends_facts *f);

/** ends_bases() - the merge bases as an array of hashes; a new reference. */
json_t *ends_bases(const struct ends_facts *f);

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
 * ends_check_tree() - is @bad, 40 digits, of no other tree than @tree?
 * Problem "unknown_commit". Cost: a walk from the refs of the tree to @bad.
 * Return: 0; ERR_INVAL when a problem was added; ERR_GIT.
 */
int ends_check_tree(git_repository *repo, const char *tree, const char *bad, json_t *problems,
		    struct err *e);

/**
 * ends_check() - is @good..@bad a range to bisect? Of ends on two branches the merge bases are told.
 * Problems "not_ancestor" (swapped, or no common ancestor), "range_empty", "range_too_large".
 * @ask: for its paths and first_parent. Cost: a walk over the range.
 */
int ends_check(git_repository *repo, const char *good, const char *bad,
	       const struct bisection_ask *ask, struct ends_facts *ret, json_t *problems,
	       struct err *e);
