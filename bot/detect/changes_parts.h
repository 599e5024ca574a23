/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the change point search share; nobody else includes it. */
#pragma once

#include "bot/detect/changes.h"

#include <stdint.h>

/**
 * struct changes_preset - numbers behind a sensitivity.
 * @c: a change costs c ln N. @k: residuals beyond k sigma count as k sigma.
 * @alpha: largest p of a change. @kappa: least step in sigma. @minseg: fewest points of a level.
 */
struct changes_preset {
	double c;
	double k;
	double alpha;
	double kappa;
	size_t minseg;
};

/**
 * struct potts - a search for the cheapest sequence of levels; potts_init(), potts_done().
 * @z: @n values in units of sigma. @w: their weights, or NULL for 1 each. Both borrowed.
 * The rest is private.
 */
struct potts {
	const float *z;
	const float *w;
	size_t n;
	float *level;
	float *q;
	int32_t *start;
	int32_t *best_start;
	size_t nlevels;
};

/** potts_init() - place the levels. */
void potts_init(struct potts *p, const float *z, const float *w, size_t n);
void potts_done(struct potts *p);

/**
 * potts_segment() - the cheapest sequence: residuals cost their square, at most @k^2, changes @beta.
 * @cuts: room for n; gets the first points of new levels, ascending.
 * Return: number of cuts.
 */
size_t potts_segment(struct potts *p, float beta, float k, size_t *cuts);

/** struct changes_level - a stretch [start, end) between two changes, in units of sigma. */
struct changes_level {
	size_t start;
	size_t end;
	double median;
	double mean;   /* of values clipped to median +- k */
	double var;    /* the same, or by the MAD where most are clipped */
	double excess; /* part of the inflation that is in @var already, >= 1 */
};

/**
 * struct changes_work - one search.
 * @n: known points. @at: their indexes in the series. @y: values on the scale of the search (ln, or
 *	divided by
 *	@unit). @z: (y - @center) / @sigma; @w: weights or NULL.
 * @scratch: room for @n doubles. @cuts: room for @n.
 * @levels: @nlevels levels; change i lies between levels i and i + 1 and has p-value @p[i].
 * @f: inflation by autocorrelation and excess noise; @excess: the latter alone, >= 1.
 */
struct changes_work {
	struct changes_preset preset;
	double mag;
	bool ln_scale;
	double unit;
	size_t n;
	size_t *at;
	double *y;
	float *z;
	float *w;
	double *scratch;
	size_t *cuts;
	double center;
	double sigma;
	double f;
	double excess;
	struct changes_level *levels;
	double *p;
	size_t nlevels;
};

/** changes_select() - the @k-th smallest of @x (from 0), which is reordered. O(n). */
double changes_select(double *x, size_t n, size_t k);

/** changes_median() - median of @x, which is reordered; 0 for none. O(n). */
double changes_median(double *x, size_t n);

/** changes_level_fill() - median, clipped mean and variance of w's [start, end). */
void changes_level_fill(const struct changes_work *w, struct changes_level *l);

/** changes_merge() - delete what does not stand, weakest first. */
void changes_merge(struct changes_work *w);

/**
 * struct changes_place - where a change is, as indexes of known points.
 * @first, @last: the changes (between levels @first and @first + 1 …) that it stands for.
 * @slope: a ramp from @lo to @hi and from @before to @after (z) explains it better than steps.
 */
struct changes_place {
	size_t index;
	size_t lo;
	size_t hi;
	size_t first;
	size_t last;
	bool slope;
	double before;
	double after;
};

/** changes_find_slopes() - replace stairs by slopes in @places. Return: how many places are left. */
size_t changes_find_slopes(const struct changes_work *w, struct changes_place *places, size_t n);

/** changes_ask_control() - make @c a drift if the machine moved as well. */
void changes_ask_control(const struct changes_work *w, const struct changes_place *at,
			 const struct series_point *points, const struct changes_control *control,
			 struct change_point *c);

/** changes_describe() - turn what is left into struct change_point, kinds and all. */
void changes_describe(struct changes_work *w, const struct series_point *points,
		      const struct changes_control *control, const struct changes_options *options,
		      struct changes *ret);
