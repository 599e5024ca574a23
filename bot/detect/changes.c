/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define MAD_TO_SD      1.4826
#define MIN_EFFECT     .01
#define MIN_EFFECT_MAX 10.0
/* z is a float: were sigma a smaller share of the range, it could not tell two levels apart. */
#define RANGE_MAX 1e6
/* On the raw scale, in typical sizes: what is farther out could hide all the rest. */
#define RAW_MAX 1e12
/* Noise to assume of a straight line, in its steps: wide enough that clipping spares the line. */
#define LINE_SIGMA 8
/* Rounding of y. */
#define TINY 1e-12

/*
 * Online wants three commits: of two, half of what is told is taken back with the next one.
 * Sensitive wants five, for the same reason, and leaves more to the price of a change than to p.
 */
static const struct changes_preset presets[] = {
	[CHANGES_BALANCED] = { 3, 4, 1e-9, 1.5, 6 },
	[CHANGES_SENSITIVE] = { 2, 3, 1e-5, 1.25, 5 },
	[CHANGES_ONLINE] = { 3, 4, 1e-6, 1.5, 3 },
};

static const char *const sensitivity_names[] = {
	[CHANGES_BALANCED] = "balanced",
	[CHANGES_SENSITIVE] = "sensitive",
	[CHANGES_ONLINE] = "online",
};

const char *changes_sensitivity_name(enum changes_sensitivity s)
{
	return sensitivity_names[s];
}

int changes_sensitivity_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sensitivity_names); i++) {
		if (!strcmp(name, sensitivity_names[i]))
			return (int)i;
	}
	return -1;
}

const char *change_kind_name(enum change_kind kind)
{
	static const char *const names[] = {
		[CHANGE_STEP] = "step",
		[CHANGE_DRIFT] = "drift",
		[CHANGE_OUTLIER_RUN] = "outlier-run",
	};

	return names[kind];
}

const char *change_reason_text(enum change_reason reason)
{
	static const char *const texts[] = {
		[CHANGE_BY_ITSELF] = "",
		[CHANGE_WITH_CONTROL] = "the control build moved as well",
		[CHANGE_WITH_REMEASURE] = "a commit from before, measured again, moved as well",
		[CHANGE_IN_SLOPE] = "a slope over many commits, no step",
	};

	return texts[reason];
}

bool change_is_machine(const struct change_point *c)
{
	return c->kind == CHANGE_DRIFT && c->reason != CHANGE_IN_SLOPE;
}

void changes_done(struct changes *c)
{
	free(c->items);
	*c = (struct changes){ 0 };
}

static void work_done(struct changes_work *w)
{
	free(w->at);
	free(w->y);
	free(w->z);
	free(w->w);
	free(w->scratch);
	free(w->cuts);
	free(w->levels);
	free(w->p);
}

/* The typical size of a value that is not 0. */
static double typical_size(const struct changes_work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->y[i] != 0)
			w->scratch[n++] = fabs(w->y[i]);
	}
	return n ? changes_median(w->scratch, n) : 1;
}

/* Known points, and the scale: ln when every value is above 0, else shares of the typical size. */
static void work_load(struct changes_work *w, const struct series_point *points, size_t n)
{
	w->at = xcalloc(n + 1, sizeof(*w->at));
	w->y = xcalloc(n + 1, sizeof(*w->y));
	w->scratch = xcalloc(n + 1, sizeof(*w->scratch));
	w->ln_scale = true;
	for (size_t i = 0; i < n; i++) {
		double v = points[i].value;

		if (!isfinite(v))
			continue;
		w->ln_scale = w->ln_scale && v > 0;
		w->at[w->n] = i;
		w->y[w->n++] = v;
	}
	w->unit = w->ln_scale ? 1 : typical_size(w);
	for (size_t i = 0; i < w->n; i++)
		w->y[i] = w->ln_scale ? log(w->y[i])
				      : fmax(-RAW_MAX, fmin(RAW_MAX, w->y[i] / w->unit));
}

static double work_range(const struct changes_work *w)
{
	double lo = w->y[0], hi = w->y[0];

	for (size_t i = 1; i < w->n; i++) {
		lo = fmin(lo, w->y[i]);
		hi = fmax(hi, w->y[i]);
	}
	return hi - lo;
}

/*
 * Noise from the differences of neighbours, which steps hardly touch. Where most of them are equal
 * their standard deviation has to do. 0: all values are equal.
 */
static double work_sigma(const struct changes_work *w)
{
	size_t n = w->n - 1;
	double med, mad, sum = 0, sq = 0, range = work_range(w), sigma;

	if (range <= TINY)
		return 0;
	for (size_t i = 0; i < n; i++)
		w->scratch[i] = w->y[i + 1] - w->y[i];
	med = changes_median(w->scratch, n);
	for (size_t i = 0; i < n; i++) {
		double d = w->scratch[i] - med;

		sum += d;
		sq += d * d;
		w->scratch[i] = fabs(d);
	}
	mad = changes_median(w->scratch, n);
	if (mad > TINY)
		sigma = MAD_TO_SD * mad / M_SQRT2;
	else
		sigma = sqrt(fmax(0, sq - sum * sum / (double)n) / (double)(n - 1)) / M_SQRT2;
	if (sigma <= TINY)
		sigma = LINE_SIGMA * fabs(med);
	return fmax(sigma, range / RANGE_MAX);
}

static void work_weights(struct changes_work *w, const struct series_point *points)
{
	double typical;
	size_t known = 0;

	for (size_t i = 0; i < w->n; i++) {
		double units = points[w->at[i]].units;

		if (units > 0 && isfinite(units))
			w->scratch[known++] = units;
	}
	typical = changes_median(w->scratch, known);
	if (!(typical > 0))
		return;
	w->w = xcalloc(w->n, sizeof(*w->w));
	for (size_t i = 0; i < w->n; i++) {
		double ratio = points[w->at[i]].units / typical;

		w->w[i] = ratio > 0 && isfinite(ratio) ? (float)fmin(fmax(ratio, .5), 2) : 1;
	}
}

static void set_levels(struct changes_work *w, const size_t *cuts, size_t ncuts)
{
	w->levels = xreallocarray(w->levels, ncuts + 1, sizeof(*w->levels));
	w->p = xreallocarray(w->p, ncuts + 1, sizeof(*w->p));
	w->nlevels = ncuts + 1;
	for (size_t i = 0; i <= ncuts; i++) {
		w->levels[i] = (struct changes_level){ .start = i ? cuts[i - 1] : 0,
						       .end = i < ncuts ? cuts[i] : w->n };
	}
}

/* How much less a point tells than an independent one: (1 + rho) / (1 - rho), and excess noise. */
static double inflation(struct changes_work *w)
{
	double sq = 0, lag = 0, last = 0, k = w->preset.k, v, rho;

	for (size_t s = 0; s < w->nlevels; s++) {
		struct changes_level *l = &w->levels[s];

		changes_level_fill(w, l);
		for (size_t i = l->start; i < l->end; i++) {
			double r = (double)w->z[i] - l->median;

			r = r > k ? k : r < -k ? -k : r;
			sq += r * r;
			lag += i ? r * last : 0;
			last = r;
		}
	}
	v = sq / (double)w->n;
	w->excess = 1;
	if (!(v > 0))
		return 1;
	rho = lag / (double)(w->n - 1) / v;
	rho = rho < 0 ? 0 : rho > .8 ? .8 : rho;
	w->excess = fmax(1, v);
	return w->excess * (1 + rho) / (1 - rho);
}

static void work_search(struct changes_work *w)
{
	_cleanup_(potts_done) struct potts p = { 0 };
	double beta = w->preset.c * log((double)w->n);
	float k = (float)w->preset.k;

	potts_init(&p, w->z, w->w, w->n);
	set_levels(w, w->cuts, potts_segment(&p, (float)beta, k, w->cuts));
	w->f = inflation(w);
	if (w->f > 1.05)
		set_levels(w, w->cuts, potts_segment(&p, (float)(beta * w->f), k, w->cuts));
	changes_merge(w);
}

static void work_scale(struct changes_work *w, const struct series_point *points)
{
	memcpy(w->scratch, w->y, w->n * sizeof(*w->y));
	w->center = changes_median(w->scratch, w->n);
	w->z = xcalloc(w->n, sizeof(*w->z));
	w->cuts = xcalloc(w->n, sizeof(*w->cuts));
	for (size_t i = 0; i < w->n; i++)
		w->z[i] = (float)((w->y[i] - w->center) / w->sigma);
	work_weights(w, points);
}

static int check(size_t n, const struct changes_options *o, struct err *e)
{
	if ((int)o->sensitivity < 0 || o->sensitivity > CHANGES_ONLINE)
		return err_set(e, ERR_INVAL,
			       "sensitivity %d is none of balanced, sensitive, online",
			       (int)o->sensitivity);
	if (!(o->min_effect >= 0 && o->min_effect <= MIN_EFFECT_MAX))
		return err_set(e, ERR_RANGE, "least effect %g is not within 0 and %g",
			       o->min_effect, MIN_EFFECT_MAX);
	if (n > CHANGES_POINTS_MAX)
		return err_set(e, ERR_TOO_BIG, "%zu commits in a series, at most %d are taken", n,
			       CHANGES_POINTS_MAX);
	return 0;
}

int changes_find(const struct series_point *points, size_t n, const struct changes_control *control,
		 const struct changes_options *options, struct changes *ret, struct err *e)
{
	static const struct changes_options defaults = { 0 };
	const struct changes_options *o = options ? options : &defaults;
	_cleanup_(work_done) struct changes_work w = { 0 };
	struct changes found = { .sd = (double)NAN, .sd_rel = (double)NAN, .inflation = 1 };
	double effect = o->min_effect > 0 ? o->min_effect : MIN_EFFECT;
	int r = check(n, o, e);

	if (r < 0)
		return r;
	w.preset = presets[o->sensitivity];
	work_load(&w, points, n);
	w.mag = w.ln_scale ? log1p(effect) : effect;
	found.known = w.n;
	found.ln_scale = w.ln_scale && w.n > 0;
	found.few = w.n < CHANGES_POINTS_MIN;
	if (!found.few) {
		w.sigma = work_sigma(&w);
		if (w.sigma > 0) {
			work_scale(&w, points);
			work_search(&w);
			found.inflation = w.f;
			changes_describe(&w, points, control, o, &found);
		} else {
			found.sd = found.sd_rel = 0;
		}
	}
	*ret = found;
	return 0;
}
