/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Levels are worked on in groups of LANES, written so that the compiler makes vectors of them. */
enum {
	LANES = 16,
	LEVELS_MIN = 16,
	LEVELS_MAX = 2048
};

#define LEVEL_STEP 0.25F

/*
 * A path ending at point i on level g costs q[g]; it came to this level at start[g]. All costs are
 * kept relative to the cheapest, so floats hold them exactly enough however long the series is, and
 * a path never costs more than the cheapest plus one change: which path it was then need not be
 * stored for each level and point; the start of the cheapest path's level at each point will do.
 */
struct potts {
	float *level;
	float *q;
	int32_t *start;
	int32_t *best_start;
	size_t nlevels;
};

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/*
 * Levels from the .002 to the .998 quantile, LEVEL_STEP apart. Where the data have holes there are
 * no levels: the best level of a stretch has points of the stretch near it. In units of LEVEL_STEP.
 */
static size_t place_levels(const float *sorted, size_t n, float step, float near, float *level)
{
	float first = sorted[(size_t)(.002 * (double)(n - 1))] - 1;
	float last = sorted[n - 1 - (size_t)(.002 * (double)(n - 1))] + 1;
	size_t count = 0, lo = 0, hi = 0;

	for (double v = (double)first; v <= (double)last + (double)step / 2;) {
		float at = (float)v;

		while (lo < n && sorted[lo] < at - near)
			lo++;
		while (hi < n && sorted[hi] <= at + near)
			hi++;
		if (hi > lo) {
			if (count == LEVELS_MAX)
				return LEVELS_MAX + 1;
			level[count++] = at;
			v += (double)step;
		} else if (lo < n) {
			/* The next level on the same grid that has a point near. */
			double skip = ((double)sorted[lo] - (double)near - v) / (double)step;

			v += (double)step * fmax(1, ceil(skip));
		} else {
			break;
		}
	}
	return count;
}

static void make_levels(struct potts *p, const struct potts_input *in)
{
	_cleanup_(freep) float *sorted = xcalloc(in->n, sizeof(*sorted));
	float step = LEVEL_STEP, near = 1;
	size_t count;

	memcpy(sorted, in->z, in->n * sizeof(*sorted));
	qsort(sorted, in->n, sizeof(*sorted), compare_floats);
	p->level = xcalloc(LEVELS_MAX + LANES, sizeof(*p->level));
	while ((count = place_levels(sorted, in->n, step, near, p->level)) > LEVELS_MAX) {
		step *= 2;
		near = near < step / 2 ? step / 2 : near;
	}
	while (count < LEVELS_MIN || count % LANES) {
		p->level[count] = p->level[count - 1];
		count++;
	}
	p->nlevels = count;
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

size_t potts_segment(const struct potts_input *in, size_t *cuts)
{
	struct potts p = { 0 };
	float base = 0;
	size_t count = 0, best = 0, end = in->n;

	if (in->n < 2)
		return 0;
	make_levels(&p, in);
	p.q = xcalloc(p.nlevels, sizeof(*p.q));
	p.start = xcalloc(p.nlevels, sizeof(*p.start));
	p.best_start = xcalloc(in->n, sizeof(*p.best_start));
	for (size_t i = 0; i < in->n; i++) {
		base = step(&p, in->z[i], in->w ? in->w[i] : 1, in->k * in->k, in->beta, base,
			    (int32_t)i, &best);
		p.best_start[i] = p.start[best];
	}
	while (p.best_start[end - 1] > 0) {
		end = (size_t)p.best_start[end - 1];
		cuts[count++] = end;
	}
	for (size_t i = 0; i < count / 2; i++) {
		size_t t = cuts[i];

		cuts[i] = cuts[count - 1 - i];
		cuts[count - 1 - i] = t;
	}
	free(p.level);
	free(p.q);
	free(p.start);
	free(p.best_start);
	return count;
}
