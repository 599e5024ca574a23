/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/graph.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <stdio.h>
#include <string.h>

void bisect_graph_done(struct bisect_graph *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		free(g->commits[i].parents);
	free(g->commits);
	free(g->bits);
	memset(g, 0, sizeof(*g));
}

static void commit_add_parent(struct bisect_commit *c, int parent)
{
	for (size_t i = 0; i < c->n_parents; i++)
		if (c->parents[i] == parent)
			return;
	c->parents[c->n_parents++] = parent;
}

int bisect_graph_add(struct bisect_graph *g, const char *hash, const int *parents, size_t n_parents,
		     bool outside, struct err *e)
{
	struct bisect_commit *c;

	if (g->n >= BISECT_MAX_COMMITS)
		return err_set(e, ERR_TOO_BIG, "range has more than %d commits",
			       BISECT_MAX_COMMITS);
	if (n_parents > BISECT_MAX_PARENTS)
		return err_set(e, ERR_TOO_BIG,
			       "commit %.40s has %zu parents, at most %d are handled", hash,
			       n_parents, BISECT_MAX_PARENTS);
	if (strlen(hash) >= sizeof(c->hash))
		return err_set(e, ERR_INVAL, "commit name '%.64s' is longer than 40 bytes", hash);
	for (size_t i = 0; i < n_parents; i++)
		if (parents[i] < 0 || (size_t)parents[i] >= g->n)
			return err_set(e, ERR_INVAL,
				       "parent %d of commit %.40s does not precede it", parents[i],
				       hash);
	if (g->n == g->cap) {
		g->cap = g->cap ? g->cap * 2 : 64;
		g->commits = xreallocarray(g->commits, g->cap, sizeof(*g->commits));
	}
	c = &g->commits[g->n++];
	memset(c, 0, sizeof(*c));
	memcpy(c->hash, hash, strlen(hash) + 1);
	c->outside = outside || n_parents == 0;
	if (n_parents > 0)
		c->parents = xcalloc(n_parents, sizeof(*c->parents));
	for (size_t i = 0; i < n_parents; i++)
		commit_add_parent(c, parents[i]);
	return 0;
}

int bisect_graph_add_line(struct bisect_graph *g, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		char hash[41];
		int parent = (int)g->n - 1;
		int r;

		(void)snprintf(hash, sizeof(hash), "%040zx", g->n);
		r = bisect_graph_add(g, hash, &parent, g->n > 0, g->n == 0, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool graph_is_line(const struct bisect_graph *g)
{
	for (size_t i = 1; i < g->n; i++)
		if (g->commits[i].n_parents != 1 || (size_t)g->commits[i].parents[0] != i - 1)
			return false;
	return true;
}

static void graph_fill_row(struct bisect_graph *g, size_t x)
{
	const struct bisect_commit *c = &g->commits[x];
	uint64_t *row = g->bits + x * g->words;

	for (size_t i = 0; i < c->n_parents; i++) {
		const uint64_t *up = g->bits + (size_t)c->parents[i] * g->words;

		for (size_t w = 0; w <= x / 64; w++)
			row[w] |= up[w];
	}
	row[x / 64] |= UINT64_C(1) << (x % 64);
}

int bisect_graph_prepare(struct bisect_graph *g, struct err *e)
{
	if (g->n == 0)
		return err_set(e, ERR_INVAL, "the range is empty");
	g->line = graph_is_line(g);
	if (!g->line) {
		free(g->bits);
		g->words = (g->n + 63) / 64;
		g->bits = xcalloc(g->n * g->words, sizeof(*g->bits));
		for (size_t x = 0; x < g->n; x++)
			graph_fill_row(g, x);
		for (size_t c = 0; c < g->n; c++)
			if (!bisect_graph_contains(g, g->n - 1, c))
				return err_set(e, ERR_INVAL,
					       "commit %s is not an ancestor of the bad end %s",
					       g->commits[c].hash, g->commits[g->n - 1].hash);
	}
	g->prepared = true;
	return 0;
}

int bisect_graph_find(const struct bisect_graph *g, const char *hash, struct err *e)
{
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->commits[i].hash, hash) == 0)
			return (int)i;
	return err_set(e, ERR_NOENT, "commit '%.64s' is not in the range", hash);
}

size_t bisect_popcount(uint64_t w)
{
	w -= (w >> 1) & UINT64_C(0x5555555555555555);
	w = (w & UINT64_C(0x3333333333333333)) + ((w >> 2) & UINT64_C(0x3333333333333333));
	w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (size_t)((w * UINT64_C(0x0101010101010101)) >> 56);
}

static size_t graph_count_ancestors(const struct bisect_graph *g, size_t x)
{
	size_t n = 0;

	if (g->line)
		return x + 1;
	for (size_t w = 0; w <= x / 64; w++)
		n += bisect_popcount(g->bits[x * g->words + w]);
	return n;
}

size_t bisect_graph_midpoint(const struct bisect_graph *g)
{
	size_t best = 0;
	size_t best_score = 0;

	for (size_t x = 0; x < g->n; x++) {
		size_t a = graph_count_ancestors(g, x);
		size_t score = a < g->n - a ? a : g->n - a;

		if (score > best_score) {
			best = x;
			best_score = score;
		}
	}
	return best;
}

/* So many commits at once as columns; a row says which of them are ancestors. */
#define COLUMN_WORDS ((size_t)32)

static void count_columns(const struct bisect_links *links, size_t n, size_t first, uint64_t *rows,
			  size_t *ret)
{
	for (size_t x = first; x < n; x++) {
		uint64_t *row = rows + x * COLUMN_WORDS;

		memset(row, 0, COLUMN_WORDS * sizeof(*row));
		for (size_t i = 0; i < links[x].n; i++) {
			int p = links[x].parents[i];
			const uint64_t *up;

			if (p < (int)first)
				continue;
			up = rows + (size_t)p * COLUMN_WORDS;
			for (size_t w = 0; w < COLUMN_WORDS; w++)
				row[w] |= up[w];
		}
		if (x < first + 64 * COLUMN_WORDS)
			row[(x - first) / 64] |= UINT64_C(1) << ((x - first) % 64);
		for (size_t w = 0; w < COLUMN_WORDS; w++)
			ret[x] += bisect_popcount(row[w]);
	}
}

void bisect_count_ancestors(const struct bisect_links *links, size_t n, size_t *ret)
{
	uint64_t *rows = xreallocarray(NULL, n * COLUMN_WORDS + 1, sizeof(*rows));

	memset(ret, 0, n * sizeof(*ret));
	for (size_t first = 0; first < n; first += 64 * COLUMN_WORDS)
		count_columns(links, n, first, rows, ret);
	free(rows);
}
