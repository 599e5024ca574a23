/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/stats.h"

#include <math.h>

/* How many commits on either side of a change belong to its stretch. */
#define STRETCH 30

/* Less than this share of the step is no explanation of it. */
#define SHARE 0.5

/* A move of the control has to stand out of its own noise by this many standard errors. */
#define CONTROL_T 3.0

/* Times around a change: [first, split) is before it, [split, last] after it. */
struct stretch {
	double first;
	double split_lo;
	double split_hi;
	double last;
};

static bool find_stretch(const struct changes_work *w, const struct changes_place *at,
			 const struct series_point *points, struct stretch *ret)
{
	size_t from = w->levels[at->first].start, to = w->levels[at->last + 1].end;
	size_t before = at->slope ? at->lo : at->index, after = at->slope ? at->hi : at->index;
	double t;

	from = before - from > STRETCH ? before - STRETCH : from;
	to = to - after > STRETCH ? after + STRETCH : to;
	*ret = (struct stretch){ INFINITY, -INFINITY, INFINITY, -INFINITY };
	for (size_t i = from; i < to; i++) {
		t = points[w->at[i]].time;
		if (!isfinite(t))
			continue;
		if (i < before) {
			ret->first = fmin(ret->first, t);
			ret->split_lo = fmax(ret->split_lo, t);
		} else if (i >= after) {
			ret->split_hi = fmin(ret->split_hi, t);
			ret->last = fmax(ret->last, t);
		}
	}
	/* Where commits were not measured in their order, time tells nothing. */
	return isfinite(ret->first) && isfinite(ret->last) && ret->split_lo < ret->split_hi;
}

/* From @a to @b on the scale of the search; NaN when they cannot be compared. */
static double move(const struct changes_work *w, double a, double b)
{
	double size = fmax(fabs(a), fabs(b));

	if (w->ln_scale)
		return a > 0 && b > 0 ? log(b / a) : (double)NAN;
	return size > 0 ? b / size - a / size : 0;
}

/* Did @moved go at least half of the way of the change? */
static bool explains(const struct changes_work *w, const struct change_point *c, double moved)
{
	double step = move(w, c->before, c->after);

	return moved * step > 0 && fabs(moved) >= SHARE * fabs(step);
}

static bool control_moved(const struct changes_work *w, const struct stretch *s,
			  const struct changes_control *control, const struct change_point *c)
{
	size_t nb = 0, na = 0, n = control->npoints;
	_cleanup_(freep) double *before = xcalloc(n + 1, sizeof(*before));
	_cleanup_(freep) double *after = xcalloc(n + 1, sizeof(*after));
	double margin = s->last - s->first, middle = s->split_lo + (s->split_hi - s->split_lo) / 2;
	double a, b, sd, moved;

	/* The control is measured now and then: look a little beyond both ends. */
	margin /= 4;
	for (size_t i = 0; i < n; i++) {
		double t = control->points[i].time, v = control->points[i].value;

		if (!isfinite(t) || !isfinite(v) || t < s->first - margin || t > s->last + margin)
			continue;
		if (t <= s->split_lo || (t < s->split_hi && t < middle))
			before[nb++] = v;
		else
			after[na++] = v;
	}
	if (!nb || !na)
		return false;
	a = stats_median(before, nb);
	b = stats_median(after, na);
	moved = move(w, a, b);
	if (!explains(w, c, moved))
		return false;
	if (nb < 3 || na < 3)
		return true;
	sd = fmax(stats_mad_sd(before, nb), stats_mad_sd(after, na));
	return fabs(b - a) > CONTROL_T * sd * sqrt(1 / (double)nb + 1 / (double)na);
}

/* Commits from before the change, measured again after it. Return: -1 there are none. */
static int remeasure_moved(const struct changes_work *w, const struct changes_place *at,
			   const struct stretch *s, const struct series_point *points,
			   const struct changes_control *control, const struct change_point *c)
{
	_cleanup_(freep) double *moved = xcalloc(control->nagain + 1, sizeof(*moved));
	size_t from = w->at[w->levels[at->first].start];
	size_t to = w->at[at->slope ? at->lo : at->index], n = 0;

	for (size_t i = 0; i < control->nagain; i++) {
		const struct series_remeasure *a = &control->again[i];
		double m;

		if (a->index < from || a->index >= to || !(a->time >= s->split_hi))
			continue;
		m = isfinite(points[a->index].value) ? move(w, points[a->index].value, a->value)
						     : move(w, c->before, a->value);
		if (isfinite(m))
			moved[n++] = m;
	}
	if (!n)
		return -1;
	return explains(w, c, stats_median(moved, n));
}

void changes_ask_control(const struct changes_work *w, const struct changes_place *at,
			 const struct series_point *points, const struct changes_control *control,
			 struct change_point *c)
{
	struct stretch s;
	int again;

	if (!find_stretch(w, at, points, &s))
		return;
	again = remeasure_moved(w, at, &s, points, control, c);
	if (again > 0) {
		c->kind = CHANGE_DRIFT;
		c->reason = CHANGE_WITH_REMEASURE;
	} else if (again < 0 && control_moved(w, &s, control, c)) {
		c->kind = CHANGE_DRIFT;
		c->reason = CHANGE_WITH_CONTROL;
	}
}
