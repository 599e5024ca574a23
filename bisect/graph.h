/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commits between a good and a bad one, with the question "is c an ancestor of x?". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/** BISECT_GOOD_END - stands for the good end wherever a commit index is asked for. */
#define BISECT_GOOD_END (-1)

/** BISECT_NO_COMMIT - no commit at all. */
#define BISECT_NO_COMMIT (-2)

/** BISECT_MAX_COMMITS - largest range; its ancestor rows take 78 MB. */
#define BISECT_MAX_COMMITS 25000

/** BISECT_MAX_PARENTS - most parents of one commit; the kernel's widest merge has 66. */
#define BISECT_MAX_PARENTS 1024

/**
 * struct bisect_commit - one commit of the range.
 * @hash: 40 hex digits, or any short name; NUL-terminated.
 * @parents: indexes of the parents that lie in the range, each below the commit's own; owned.
 * @n_parents: length of @parents.
 * @outside: has a parent outside the range, or none at all: behind it is the good side.
 */
struct bisect_commit {
	char hash[41];
	int *parents;
	size_t n_parents;
	bool outside;
};

/**
 * struct bisect_graph - commits reachable from the bad end and not from the good end.
 * @n: number of commits; index 0 … n-1, parents before children, the bad end is n-1.
 * @commits: owned.
 * @line: each commit has exactly the one before it as its in-range parent.
 * @words: 64-bit words in a row of @bits.
 * @bits: row x holds the ancestors of x and x itself; NULL on a line; owned.
 *
 * Caller-owned, `struct bisect_graph g = { 0 };`. The good end is outside of it.
 */
struct bisect_graph {
	size_t n;
	size_t cap;
	struct bisect_commit *commits;
	bool prepared;
	bool line;
	size_t words;
	uint64_t *bits;
};

void bisect_graph_done(struct bisect_graph *g);

/**
 * bisect_graph_add() - append a commit whose in-range parents were added before.
 * @hash: at most 40 bytes; borrowed.
 * @parents: indexes of the in-range parents, borrowed; duplicates are dropped.
 * @outside: whether it has parents outside of the range (implied without in-range parents).
 *
 * Return: 0; ERR_TOO_BIG past a limit above; ERR_INVAL for an index that is not below the new one.
 */
int bisect_graph_add(struct bisect_graph *g, const char *hash, const int *parents, size_t n_parents,
		     bool outside, struct err *e);

/** bisect_graph_add_line() - append @n commits in a line, named by their index in 40 hex digits. */
int bisect_graph_add_line(struct bisect_graph *g, size_t n, struct err *e);

/**
 * bisect_graph_prepare() - make the ancestor rows; call once, after the last commit.
 *
 * O(n^2 / 64) time and memory, nothing on a line.
 * Return: 0; ERR_INVAL if the range is empty or a commit is not an ancestor of the last one.
 */
int bisect_graph_prepare(struct bisect_graph *g, struct err *e);

/** bisect_graph_contains() - is @c the commit @x or one of its ancestors? Both 0 … n-1. */
static inline bool bisect_graph_contains(const struct bisect_graph *g, size_t x, size_t c)
{
	if (g->line)
		return c <= x;
	return (g->bits[x * g->words + c / 64] >> (c % 64)) & 1;
}

/** bisect_graph_is_merge() - has @c more than one parent, those outside of the range included? */
static inline bool bisect_graph_is_merge(const struct bisect_graph *g, size_t c)
{
	const struct bisect_commit *commit = &g->commits[c];

	return commit->n_parents > 1 || (commit->n_parents == 1 && commit->outside);
}

/** bisect_graph_find() - index of the commit @hash; ERR_NOENT if it is not in the range. */
int bisect_graph_find(const struct bisect_graph *g, const char *hash, struct err *e);

/**
 * bisect_graph_midpoint() - the commit that plain bisection would test first.
 *
 * The one whose number of ancestors in the range, itself included, is nearest to half of them; of
 * equals the first. The measure of `git rev-list --bisect`.
 */
size_t bisect_graph_midpoint(const struct bisect_graph *g);

/** BISECT_COUNT_MOST - longest history that bisect_count_ancestors() takes: a second, 50 MB. */
#define BISECT_COUNT_MOST 200000

/** struct bisect_links - in-range parents of one commit, each below its own index; borrowed. */
struct bisect_links {
	const int *parents;
	size_t n;
};

/**
 * bisect_count_ancestors() - ancestors of each commit, itself included, without a graph.
 * @links: of @n commits, at most BISECT_COUNT_MOST; parents below 0 are outside and left out.
 * @ret: @n counts.
 *
 * O(n^2 / 64) time, O(n) memory: for ranges that are too long for a graph.
 */
void bisect_count_ancestors(const struct bisect_links *links, size_t n, size_t *ret);

/** bisect_popcount() - number of set bits. */
size_t bisect_popcount(uint64_t w);
