/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A path ending at point i on level g costs q[g]; it came to this level at start[g]. All costs are
 * kept relative to the cheapest, so floats hold them exactly enough however long the series is. A
 * change is always from the cheapest level of the point before, so which path that was need not be
 * stored for each level and point: where its level began, best_start[], will do.
 */

/* Levels are worked on in groups of LANES, written so that the compiler makes vectors of them. */
enum {
	LANES = 16,
	LEVELS_MAX = 2048,
	SPARSE = 16
};

/* Levels are this far apart, and each has a point within NEAR. */
#define LEVEL_STEP 0.25
#define NEAR	   1.0

/* Cells of one LEVEL_STEP from @first on; @cells of them. */
struct grid {
	double first;
	double step;
	size_t cells;
	size_t reach; /* cells that count as near */
};

static struct grid grid_of(const struct potts *p)
{
	_cleanup_(freep) double *x = xcalloc(p->n, sizeof(*x));
	size_t cut = (size_t)(.002 * (double)(p->n - 1));
	struct grid g = { .step = LEVEL_STEP, .reach = (size_t)(NEAR / LEVEL_STEP) };
	double last;

	for (size_t i = 0; i < p->n; i++)
		x[i] = (double)p->z[i];
	g.first = changes_select(x, p->n, cut) - NEAR;
	last = changes_select(x, p->n, p->n - 1 - cut) + NEAR;
	g.cells = (size_t)((last - g.first) / g.step) + 1;
	return g;
}

static int compare_cells(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Cells of the points, ascending; each once when there are few cells. Return: how many. */
static size_t used_cells(const struct potts *p, const struct grid *g, size_t *cell)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < p->n; i++) {
		double at = ((double)p->z[i] - g->first) / g->step;

		if (at >= 0 && at < (double)g->cells)
			cell[n++] = (size_t)at;
	}
	if (g->cells > SPARSE * p->n) {
		qsort(cell, n, sizeof(*cell), compare_cells);
		return n;
	}
	_cleanup_(freep) char *used = xcalloc(g->cells, 1);

	for (size_t i = 0; i < n; i++)
		used[cell[i]] = 1;
	for (size_t c = 0; c < g->cells; c++) {
		if (used[c])
			cell[k++] = c;
	}
	return k;
}

/*
 * Where the data have holes there are no levels: the best level of a stretch has points of the
 * stretch near it. Return: number of levels, LEVELS_MAX + 1 if there would be more.
 */
static size_t place_levels(const struct potts *p, const struct grid *g)
{
	_cleanup_(freep) size_t *cell = xcalloc(p->n, sizeof(*cell));
	size_t n = used_cells(p, g, cell), count = 0, next = 0;

	for (size_t i = 0; i < n; i++) {
		size_t to = cell[i] + g->reach + 2;

		if (cell[i] > g->reach && next < cell[i] - g->reach)
			next = cell[i] - g->reach;
		for (to = to < g->cells ? to : g->cells; next < to; next++) {
			if (count == LEVELS_MAX)
				return LEVELS_MAX + 1;
			p->level[count++] = (float)(g->first + g->step * (double)next);
		}
	}
	return count;
}

void potts_init(struct potts *p, const float *z, const float *w, size_t n)
{
	struct grid g;
	size_t count;

	*p = (struct potts){ .z = z, .w = w, .n = n };
	if (n < 2)
		return;
	g = grid_of(p);
	p->level = xcalloc(LEVELS_MAX, sizeof(*p->level));
	while ((count = place_levels(p, &g)) > LEVELS_MAX) {
		g.step *= 2;
		g.cells = g.cells / 2 + 1;
		g.reach = (g.reach + 1) / 2;
	}
	while (count % LANES) {
		p->level[count] = p->level[count - 1];
		count++;
	}
	p->nlevels = count;
	p->q = xcalloc(count, sizeof(*p->q));
	p->start = xcalloc(count, sizeof(*p->start));
	p->best_start = xcalloc(n, sizeof(*p->best_start));
}

void potts_done(struct potts *p)
{
	free(p->level);
	free(p->q);
	free(p->start);
	free(p->best_start);
	*p = (struct potts){ 0 };
}

/* One more point. Return: the cost of the cheapest path; @base is what it was before. */
static float step(struct potts *p, float z, float w, float k2, float beta, float base, int32_t i,
		  size_t *ret_best)
{
	float *restrict q = p->q;
	int32_t *restrict start = p->start;
	const float *restrict level = p->level;
	float low[LANES], least;
	size_t lane = 0, g;

	for (size_t j = 0; j < LANES; j++)
		low[j] = (float)INFINITY;
	for (g = 0; g < p->nlevels; g += LANES) {
		for (size_t j = 0; j < LANES; j++) {
			float d = z - level[g + j], loss = d * d, stay = q[g + j] - base;
			float cost = stay > beta ? beta : stay;

			start[g + j] = stay > beta ? i : start[g + j];
			loss = loss < k2 ? loss : k2;
			cost += w * loss;
			q[g + j] = cost;
			low[j] = cost < low[j] ? cost : low[j];
		}
	}
	least = low[0];
	for (size_t j = 1; j < LANES; j++) {
		if (low[j] < least) {
			least = low[j];
			lane = j;
		}
	}
	for (g = lane; q[g] > least; g += LANES)
		;
	*ret_best = g;
	return least;
}

size_t potts_segment(struct potts *p, float beta, float k, size_t *cuts)
{
	size_t count = 0, best = 0, end = p->n;
	float base = 0;

	if (p->n < 2)
		return 0;
	memset(p->q, 0, p->nlevels * sizeof(*p->q));
	memset(p->start, 0, p->nlevels * sizeof(*p->start));
	for (size_t i = 0; i < p->n; i++) {
		base = step(p, p->z[i], p->w ? p->w[i] : 1, k * k, beta, base, (int32_t)i, &best);
		p->best_start[i] = p->start[best];
	}
	while (p->best_start[end - 1] > 0) {
		end = (size_t)p->best_start[end - 1];
		cuts[count++] = end;
	}
	for (size_t i = 0; i < count / 2; i++) {
		size_t t = cuts[i];

		cuts[i] = cuts[count - 1 - i];
		cuts[count - 1 - i] = t;
	}
	return count;
}
