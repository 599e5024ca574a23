/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/stats.h"

#include <math.h>
#include <string.h>

/* 95 % of where a step of known size may have been, in squared sigma (Hansen 2000, table 1). */
#define PLACE_LEVEL 7.35

/* Variances of two levels that differ by this factor make it another likelihood. */
#define OTHER_NOISE 4.0
#define VAR_MIN	    .25

/* Far out, in standard deviations of its level; more than a few of them are the level's habit. */
#define OUTLIER_SD 8.0
enum {
	OUTLIER_RUN_MAX = 3,
	OUTLIER_SHARE = 50
};

static double value(const struct changes_work *w, double z)
{
	double y = z * w->sigma + w->center;

	return w->ln_scale ? exp(y) : y * w->unit;
}

/* What it costs, in minus twice the log likelihood, that a point is of level a and not of b. */
struct rivals {
	double a;
	double b;
	double var_a;
	double var_b;
	double var_max;
	double k2;
};

static struct rivals rivals_of(const struct changes_work *w, const struct changes_level *a,
			       const struct changes_level *b)
{
	struct rivals r = { .a = a->median,
			    .b = b->median,
			    .var_a = fmax(a->var, VAR_MIN),
			    .var_b = fmax(b->var, VAR_MIN),
			    .k2 = w->preset.k * w->preset.k };

	r.var_max = fmax(r.var_a, r.var_b);
	return r;
}

/* What is far out of both is of neither: a limit that both share, at the wider one's noise. */
static double cost_of_a(const struct rivals *r, double z)
{
	double a = (z - r->a) * (z - r->a) / r->var_a + log(r->var_a / r->var_max);
	double b = (z - r->b) * (z - r->b) / r->var_b + log(r->var_b / r->var_max);

	return fmin(a, r->k2) - fmin(b, r->k2);
}

/* Best place for the change between @a and @b and the places nearly as good. */
static void place(const struct changes_work *w, const struct changes_level *a,
		  const struct changes_level *b, struct changes_place *ret)
{
	struct rivals r = rivals_of(w, a, b);
	double limit = PLACE_LEVEL * w->f, here = 0, least = 0, ratio = r.var_a / r.var_b;
	size_t best = b->start, start = b->start;

	/* Both directions from the cut; moving it over a point changes only that point's cost. */
	for (size_t i = b->start; i + 1 < b->end; i++) {
		here += cost_of_a(&r, (double)w->z[i]);
		if (here < least) {
			least = here;
			best = i + 1;
		}
	}
	here = 0;
	for (size_t i = a->end; i-- > a->start + 1;) {
		here -= cost_of_a(&r, (double)w->z[i]);
		if (here < least) {
			least = here;
			best = i;
		}
	}
	/* The search took the noise to be the same on both sides. */
	if (ratio > OTHER_NOISE || ratio < 1 / OTHER_NOISE)
		start = best;
	ret->index = start;
	ret->lo = best < start ? best : start;
	ret->hi = best > start ? best : start;
	here = 0;
	for (size_t i = best; i + 1 < b->end; i++) {
		here += cost_of_a(&r, (double)w->z[i]);
		if (here <= limit && i + 1 > ret->hi)
			ret->hi = i + 1;
	}
	here = 0;
	for (size_t i = best; i-- > a->start + 1;) {
		here -= cost_of_a(&r, (double)w->z[i]);
		if (here <= limit && i < ret->lo)
			ret->lo = i;
	}
}

static int worse(double before, double after, enum detect_better better)
{
	if (better == DETECT_BETTER_NONE || before == after)
		return 0;
	return (after > before) == (better == DETECT_BETTER_LOWER) ? 1 : -1;
}

/* Median of the points [start, end) as they were given. */
static double median_of(const struct changes_work *w, const struct series_point *points,
			size_t start, size_t end)
{
	for (size_t i = start; i < end; i++)
		w->scratch[i - start] = points[w->at[i]].value;
	return changes_median(w->scratch, end - start);
}

static void set_values(const struct changes_work *w, struct change_point *c, double before,
		       double after, enum detect_better better)
{
	c->before = before;
	c->after = after;
	c->abs = after - before;
	if (w->ln_scale)
		c->rel = after / before - 1;
	else if (before != 0)
		c->rel = after / fabs(before) - (before < 0 ? -1 : 1);
	else
		c->rel = after == 0 ? 0 : (double)NAN;
	c->worse = worse(before, after, better);
	c->seen_at = c->gone_at = CHANGE_NEVER;
}

/* What the least effect is of on the raw scale. */
static double share_of_larger(const struct change_point *c)
{
	double size = fmax(fabs(c->before), fabs(c->after));

	return size > 0 ? fabs(c->after / size - c->before / size) : 0;
}

static void add_outlier_run(const struct changes_work *w, const struct changes_level *l,
			    const struct series_point *points, size_t from, size_t to,
			    enum detect_better better, struct changes *ret)
{
	struct change_point *c = &ret->items[ret->n];
	double n = (double)(l->end - l->start), sd = fmax(sqrt(l->var), 1), mid;

	for (size_t i = from; i < to; i++)
		w->scratch[i - from] = (double)w->z[i];
	mid = changes_median(w->scratch, to - from);
	*c = (struct change_point){ .index = w->at[from],
				    .lo = w->at[from],
				    .hi = w->at[to - 1],
				    .kind = CHANGE_OUTLIER_RUN };
	set_values(w, c, median_of(w, points, l->start, l->end), median_of(w, points, from, to),
		   better);
	c->p = stats_t_two_sided((mid - l->median) / (sd * sqrt(1 + 1 / n)), n - 1);
	if (w->ln_scale ? fabs(c->rel) >= expm1(w->mag) : share_of_larger(c) >= w->mag)
		ret->n++;
}

/* Runs of points far from their level on one side that came back; not when it happens often. */
static void find_outliers(const struct changes_work *w, const struct changes_level *l,
			  const struct series_point *points, enum detect_better better,
			  struct changes *ret)
{
	size_t n = l->end - l->start, out = 0;
	double far = OUTLIER_SD * fmax(sqrt(l->var), 1);

	for (size_t i = l->start; i < l->end; i++)
		out += fabs((double)w->z[i] - l->median) > far;
	if (!out || out * OUTLIER_SHARE > n + OUTLIER_SHARE)
		return;
	for (size_t i = l->start + 1, end; i + 1 < l->end; i = end + 1) {
		bool up = (double)w->z[i] > l->median;

		for (end = i; end < l->end; end++) {
			double r = (double)w->z[end] - l->median;

			if (fabs(r) <= far || (r > 0) != up)
				break;
		}
		if (end > i && end < l->end && end - i <= OUTLIER_RUN_MAX)
			add_outlier_run(w, l, points, i, end, better, ret);
	}
}

static void add_change(const struct changes_work *w, const struct changes_place *at,
		       const struct series_point *points, const struct changes_control *control,
		       enum detect_better better, struct changes *ret)
{
	const struct changes_level *a = &w->levels[at->first], *b = &w->levels[at->last + 1];
	struct change_point *c = &ret->items[ret->n++];

	*c = (struct change_point){ .index = w->at[at->index],
				    .lo = w->at[at->lo],
				    .hi = w->at[at->hi],
				    .kind = at->slope ? CHANGE_DRIFT : CHANGE_STEP,
				    .reason = at->slope ? CHANGE_IN_SLOPE : CHANGE_BY_ITSELF };
	if (at->slope)
		set_values(w, c, value(w, at->before), value(w, at->after), better);
	else
		set_values(w, c, median_of(w, points, a->start, a->end),
			   median_of(w, points, b->start, b->end), better);
	c->p = 1;
	for (size_t i = at->first; i <= at->last; i++)
		c->p = fmin(c->p, w->p[i]);
	if (control)
		changes_ask_control(w, at, points, control, c);
}

static int compare_index(const void *a, const void *b)
{
	size_t x = ((const struct change_point *)a)->index;
	size_t y = ((const struct change_point *)b)->index;

	return (x > y) - (x < y);
}

static void describe_noise(const struct changes_work *w, struct changes *ret)
{
	const struct changes_level *last = &w->levels[w->nlevels - 1];
	double sq = 0, level = value(w, last->median);

	for (size_t i = 0; i < w->nlevels; i++) {
		const struct changes_level *l = &w->levels[i];

		sq += l->var * (double)(l->end - l->start - 1);
	}
	sq = sqrt(sq / (double)(w->n > w->nlevels ? w->n - w->nlevels : 1)) * w->sigma;
	if (w->ln_scale) {
		ret->sd_rel = sq;
		ret->sd = sq * level;
	} else {
		ret->sd = sq * w->unit;
		ret->sd_rel = level != 0 ? ret->sd / fabs(level) : (double)NAN;
	}
}

void changes_describe(struct changes_work *w, const struct series_point *points,
		      const struct changes_control *control, const struct changes_options *options,
		      struct changes *ret)
{
	size_t ncuts = w->nlevels - 1;
	_cleanup_(freep) struct changes_place *places = xcalloc(ncuts + 1, sizeof(*places));

	for (size_t i = 0; i < ncuts; i++) {
		place(w, &w->levels[i], &w->levels[i + 1], &places[i]);
		places[i].first = places[i].last = i;
	}
	ncuts = changes_find_slopes(w, places, ncuts);
	/* Every level has room for as many outlier runs as it may have and be told of. */
	ret->items =
		xcalloc(ncuts + w->nlevels * 2 + w->n / OUTLIER_SHARE + 1, sizeof(*ret->items));
	for (size_t i = 0; i < ncuts; i++)
		add_change(w, &places[i], points, control, options->better, ret);
	if (ret->n) {
		const struct change_point *c = &ret->items[ret->n - 1];

		ret->current = places[ncuts - 1].slope ? c->hi : c->index;
	}
	for (size_t i = 0; i < w->nlevels; i++)
		find_outliers(w, &w->levels[i], points, options->better, ret);
	qsort(ret->items, ret->n, sizeof(*ret->items), compare_index);
	describe_noise(w, ret);
}
