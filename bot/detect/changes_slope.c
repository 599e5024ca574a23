/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>

/*
 * A slow slope comes out of the search as one step or a staircase. Here each run of changes in one
 * direction is compared with a ramp: level, straight line, level. Values are clipped around the
 * staircase first, then sums over any stretch are differences of running sums, so that many ramps
 * can be tried.
 */
enum {
	/* Shorter ramps are a step that came in parts. */
	SLOPE_MIN = 40,
	SLOPE_RUN_MAX = 12,
	SHIFTS = 15,
	FINE = 16,
	TURNS_MAX = 8
};

/* What is this much better says more than chance, in squared sigma. */
#define PARTS_GAIN 4.0

static const int shifts[SHIFTS] = {
	-160, -80, -40, -20, -10, -5, -2, 0, 2, 5, 10, 20, 40, 80, 160
};

/* Running sums before point i of clipped z, its square, and i times it. */
struct sums {
	double *z;
	double *zz;
	double *iz;
};

struct ramp {
	size_t lo;
	size_t hi;
	double before;
	double after;
	double cost;
};

static void sums_done(struct sums *s)
{
	free(s->z);
	free(s->zz);
	free(s->iz);
}

static void sums_init(struct sums *s, const struct changes_work *w)
{
	s->z = xcalloc(w->n + 1, sizeof(*s->z));
	s->zz = xcalloc(w->n + 1, sizeof(*s->zz));
	s->iz = xcalloc(w->n + 1, sizeof(*s->iz));
	for (size_t l = 0; l < w->nlevels; l++) {
		for (size_t i = w->levels[l].start; i < w->levels[l].end; i++) {
			double d = (double)w->z[i] - w->levels[l].median, k = w->preset.k;
			double z = w->levels[l].median + (d > k ? k : d < -k ? -k : d);

			s->z[i + 1] = s->z[i] + z;
			s->zz[i + 1] = s->zz[i] + z * z;
			s->iz[i + 1] = s->iz[i] + (double)i * z;
		}
	}
}

/* Squares left by the mean of [start, end). */
static double flat_cost(const struct sums *s, size_t start, size_t end)
{
	double n = (double)(end - start), z = s->z[end] - s->z[start];

	return fmax(0, s->zz[end] - s->zz[start] - z * z / n);
}

/*
 * Least squares of level, ramp from @r->lo (the first point off the old level) to @r->hi (the first
 * one on the new level), level, over [start, end): regression on h, which is 0, rises, is 1.
 */
static void fit_ramp(const struct sums *s, size_t start, size_t end, struct ramp *r)
{
	double steps = (double)(r->hi - r->lo + 1), n = (double)(end - start);
	double m = (double)(r->hi - r->lo), after = (double)(end - r->hi);
	/* On the ramp h(i) = (i - lo + 1) / steps. */
	double h = m * (m + 1) / 2 / steps + after;
	double hh = m * (m + 1) * (2 * m + 1) / 6 / steps / steps + after;
	double zr = s->z[r->hi] - s->z[r->lo], z = s->z[end] - s->z[start];
	double hz = (s->iz[r->hi] - s->iz[r->lo] - ((double)r->lo - 1) * zr) / steps + s->z[end] -
		    s->z[r->hi];
	double var = hh - h * h / n, cov = hz - h * z / n, slope = var > 0 ? cov / var : 0;

	r->before = (z - slope * h) / n;
	r->after = r->before + slope;
	r->cost = fmax(0, s->zz[end] - s->zz[start] - z * z / n - slope * cov);
}

/* @i moved by @by, kept inside of @lo and @hi. */
static size_t shifted(size_t i, int by, size_t lo, size_t hi)
{
	if (by < 0)
		return i - lo < (size_t)-by ? lo : i - (size_t)-by;
	return hi - i < (size_t)by ? hi : i + (size_t)by;
}

/* The ramp with its ends moved so far. Return: is it one, and better than @r? Then @r is that. */
static bool try_ramp(const struct sums *s, size_t start, size_t end, size_t lo, size_t hi,
		     int by_lo, int by_hi, struct ramp *r)
{
	struct ramp t = { .lo = shifted(lo, by_lo, start + 1, end - 1),
			  .hi = shifted(hi, by_hi, start + 1, end - 1) };

	if (t.hi <= t.lo)
		return false;
	fit_ramp(s, start, end, &t);
	if (!(t.cost < r->cost))
		return false;
	*r = t;
	return true;
}

/* The best ramp in place of the changes @first to @last: coarse, then finer and finer. */
static struct ramp best_ramp(const struct changes_work *w, const struct sums *s, size_t first,
			     size_t last)
{
	size_t start = w->levels[first].start, end = w->levels[last + 1].end;
	size_t lo = w->levels[first + 1].start, hi = w->levels[last + 1].start;
	struct ramp best = { .cost = INFINITY };

	for (size_t i = 0; i < (size_t)SHIFTS * SHIFTS; i++)
		(void)try_ramp(s, start, end, lo, hi, shifts[i / SHIFTS], shifts[i % SHIFTS],
			       &best);
	for (int by = FINE; by > 0 && isfinite(best.cost); by /= 2) {
		bool better = true;

		for (int turn = 0; better && turn < TURNS_MAX; turn++) {
			lo = best.lo;
			hi = best.hi;
			better = try_ramp(s, start, end, lo, hi, -by, 0, &best);
			better |= try_ramp(s, start, end, lo, hi, by, 0, &best);
			better |= try_ramp(s, start, end, lo, hi, 0, -by, &best);
			better |= try_ramp(s, start, end, lo, hi, 0, by, &best);
		}
	}
	return best;
}

/* As far as either end can be moved out while the ramp is nearly as good. */
static void widen(const struct changes_work *w, const struct sums *s, const struct ramp *best,
		  struct changes_place *p)
{
	size_t start = w->levels[p->first].start, end = w->levels[p->last + 1].end;
	double limit = best->cost + PARTS_GAIN * w->f;
	struct ramp r = *best;

	while (r.lo > start + 1 && r.cost <= limit) {
		p->lo = r.lo < p->lo ? r.lo : p->lo;
		r.lo--;
		fit_ramp(s, start, end, &r);
	}
	r = *best;
	while (r.hi + 1 < end && r.cost <= limit) {
		p->hi = r.hi > p->hi ? r.hi : p->hi;
		r.hi++;
		fit_ramp(s, start, end, &r);
	}
}

static double stairs_cost(const struct changes_work *w, const struct sums *s, size_t first,
			  size_t last)
{
	double cost = 0;

	for (size_t l = first; l <= last + 1; l++)
		cost += flat_cost(s, w->levels[l].start, w->levels[l].end);
	return cost;
}

static bool is_up(const struct changes_work *w, size_t i)
{
	return w->levels[i + 1].median > w->levels[i].median;
}

/* Sum of h over [from, end) of fit_ramp(). */
static double ramp_sum(const struct ramp *r, size_t from, size_t end)
{
	double steps = (double)(r->hi - r->lo + 1), m;

	if (from >= r->hi)
		return (double)(end - from);
	from = from < r->lo ? r->lo : from;
	m = (double)(from - r->lo);
	return (double)(end - r->hi) + (steps * (steps - 1) - m * (m + 1)) / 2 / steps;
}

/* Squares saved by a jump at @cut besides the ramp @r, if it goes the same way. */
static double jump_gain(const struct sums *s, size_t start, size_t end, const struct ramp *r,
			size_t cut)
{
	double n = (double)(end - start), nb = (double)(end - cut);
	double steps = (double)(r->hi - r->lo + 1), m = steps - 1, after = (double)(end - r->hi);
	double h = ramp_sum(r, start, end), z = s->z[end] - s->z[start];
	double hh = m * (m + 1) * (2 * m + 1) / 6 / steps / steps + after - h * h / n;
	double bh = ramp_sum(r, cut, end) - nb * h / n, bb = nb - nb * nb / n;
	/* What the ramp leaves is orthogonal to h, so only b, 1 from the cut on, has to be projected. */
	double bz = s->z[end] - s->z[cut] - nb * z / n;
	double rest = bz - (r->after - r->before) * bh;
	double left = bb - bh * bh / hh;

	if (!(left > 0) || !(hh > 0) || (rest > 0) != (r->after > r->before))
		return 0;
	return rest * rest / left;
}

/* A step of the kernel beside a drift is a step. */
static bool has_jump(const struct changes_work *w, const struct sums *s, size_t first, size_t last,
		     const struct ramp *r, double beta)
{
	size_t start = w->levels[first].start, end = w->levels[last + 1].end;

	for (size_t i = first; i <= last; i++) {
		if (jump_gain(s, start, end, r, w->levels[i + 1].start) > beta)
			return true;
	}
	return false;
}

/* The change of [first, last] that is next to the middle of the ramp. */
static size_t middle_cut(const struct changes_work *w, size_t first, size_t last,
			 const struct ramp *r)
{
	size_t middle = r->lo + (r->hi - r->lo) / 2, best = w->levels[first + 1].start;

	for (size_t i = first; i <= last; i++) {
		size_t cut = w->levels[i + 1].start;

		if (fabs((double)cut - (double)middle) < fabs((double)best - (double)middle))
			best = cut;
	}
	return best;
}

/*
 * A ramp has two ends, each priced like a change. A long one is a drift, a short one a step that came
 * in parts; for a single change, which keeps its name anyway, that needs less to widen its range.
 */
static bool try_slope(const struct changes_work *w, const struct sums *s, size_t first, size_t last,
		      struct changes_place *p)
{
	struct ramp r = best_ramp(w, s, first, last);
	double gain = stairs_cost(w, s, first, last) - r.cost;
	double beta = w->preset.c * log((double)w->n) * w->f;
	bool is_long = r.hi - r.lo + 1 >= SLOPE_MIN;

	if (!isfinite(r.cost) || (r.after > r.before) != is_up(w, first))
		return false;
	if (first == last && !is_long) {
		if (gain > PARTS_GAIN * w->f)
			widen(w, s, &r, p);
		return false;
	}
	if (!is_long)
		gain -= PARTS_GAIN * w->f;
	if (gain <= (1 - (double)(last - first)) * beta || has_jump(w, s, first, last, &r, beta))
		return false;
	*p = (struct changes_place){ .index = middle_cut(w, first, last, &r),
				     .lo = r.lo,
				     .hi = r.hi,
				     .first = first,
				     .last = last,
				     .slope = is_long,
				     .before = r.before,
				     .after = r.after };
	p->lo = p->lo < p->index ? p->lo : p->index;
	p->hi = p->hi > p->index ? p->hi : p->index;
	if (!is_long)
		widen(w, s, &r, p);
	return true;
}

size_t changes_find_slopes(const struct changes_work *w, struct changes_place *places, size_t n)
{
	_cleanup_(sums_done) struct sums s = { 0 };
	size_t out = 0;

	if (!n)
		return 0;
	sums_init(&s, w);
	for (size_t i = 0, next; i < n; i = next) {
		struct changes_place p = places[i];
		size_t run = i + 1;

		while (run < n && run - i < SLOPE_RUN_MAX && is_up(w, run) == is_up(w, i))
			run++;
		while (run > i && !try_slope(w, &s, i, run - 1, &p))
			run--;
		next = run > i ? run : i + 1;
		places[out++] = p;
	}
	return out;
}
