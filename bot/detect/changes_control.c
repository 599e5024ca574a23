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

/* With fewer values of the control on a side there is no telling that it stood still. */
#define FEW_CONTROLS 3

/* Of a normal distribution. */
#define MAD_TO_SD 1.4826

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

/* What there is to say about the machine. */
enum evidence {
	NOTHING_KNOWN,
	STOOD_STILL,
	MOVED,
};

/* Standard deviation of one value, from the differences of neighbours; 0 with too few of them. */
static double control_noise(const struct changes_control *control)
{
	_cleanup_(freep) double *d = xcalloc(control->npoints + 1, sizeof(*d));
	double last = (double)NAN;
	size_t n = 0;

	for (size_t i = 0; i < control->npoints; i++) {
		double v = control->points[i].value;

		if (!isfinite(v))
			continue;
		if (isfinite(last))
			d[n++] = fabs(v - last);
		last = v;
	}
	return n < FEW_CONTROLS ? 0 : MAD_TO_SD * stats_median(d, n) / M_SQRT2;
}

static enum evidence ask_build(const struct changes_work *w, const struct stretch *s,
			       const struct changes_control *control, const struct change_point *c)
{
	size_t nb = 0, na = 0, n = control->npoints;
	_cleanup_(freep) double *before = xcalloc(n + 1, sizeof(*before));
	_cleanup_(freep) double *after = xcalloc(n + 1, sizeof(*after));
	/* The control is measured now and then: look a little beyond both ends. */
	double margin = (s->last - s->first) / 4;
	double middle = s->split_lo + (s->split_hi - s->split_lo) / 2;
	double a, b, noise;

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
		return NOTHING_KNOWN;
	a = stats_median(before, nb);
	b = stats_median(after, na);
	if (!explains(w, c, move(w, a, b)))
		return nb < FEW_CONTROLS || na < FEW_CONTROLS ? NOTHING_KNOWN : STOOD_STILL;
	noise = control_noise(control) * sqrt(1 / (double)nb + 1 / (double)na);
	return fabs(b - a) > CONTROL_T * noise ? MOVED : NOTHING_KNOWN;
}

/* Commits from before the change, measured again after it. */
static enum evidence ask_again(const struct changes_work *w, const struct changes_place *at,
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
		return NOTHING_KNOWN;
	return explains(w, c, stats_median(moved, n)) ? MOVED : STOOD_STILL;
}

void changes_ask_control(const struct changes_work *w, const struct changes_place *at,
			 const struct series_point *points, const struct changes_control *control,
			 struct change_point *c)
{
	enum change_reason reason = CHANGE_WITH_REMEASURE;
	enum evidence said;
	struct stretch s;

	if (!find_stretch(w, at, points, &s))
		return;
	said = ask_again(w, at, &s, points, control, c);
	if (said == NOTHING_KNOWN) {
		reason = CHANGE_WITH_CONTROL;
		said = ask_build(w, &s, control, c);
	}
	/* When the machine stood still it was the kernel, even if in many small parts. */
	if (said == STOOD_STILL) {
		c->kind = CHANGE_STEP;
		c->reason = CHANGE_BY_ITSELF;
	} else if (said == MOVED) {
		c->kind = CHANGE_DRIFT;
		c->reason = reason;
	}
}
