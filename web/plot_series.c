/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A series as a picture: median of each commit, single boots, levels with their noise, change points. */
#include "web/html.h"
#include "web/parts.h"
#include "web/plot_svg.h"

#include <math.h>
#include <string.h>

#define WIDTH	 960.0
#define HEIGHT	 380.0
#define LEFT	 78.0
#define RIGHT	 14.0
#define BOTTOM	 34.0
#define LABEL_W	 150.0
#define LABEL_H	 15.0
#define BAND_SDS 2.0

enum {
	TICKS = 5,
	DAYS = 5,
	LABEL_ROWS = 4,
	BOOTS_MAX = 1500, /* of all commits */
	BOOTS_OF_ONE = 10,
	BAND_COMMITS = 5 /* of a level; fewer do not tell how wide it is */
};

/* @top: below the labels of change points. @boots_max: dots of one commit that are drawn. */
struct frame {
	const json_t *points, *levels, *changes;
	size_t n, measured, boots_max;
	double min, max, top;
};

static double x_of(const struct frame *f, double i)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / (double)f->n;
}

static double y_of(const struct frame *f, double v)
{
	return f->top + (HEIGHT - f->top - BOTTOM) * (f->max - v) / (f->max - f->min);
}

static size_t place_of(const struct frame *f, const char *commit)
{
	size_t i = 0;

	while (i < f->n &&
	       strcmp(json_str(json_array_get(f->points, i), "commit", ""), commit) != 0)
		i++;
	return i;
}

static void stretch(struct frame *f, double v)
{
	if (!isfinite(v))
		return;
	f->min = fmin(f->min, v);
	f->max = fmax(f->max, v);
}

static bool frame_init(struct frame *f, const json_t *j)
{
	const json_t *p, *b, *l, *c;
	size_t i, k;
	double pad;

	*f = (struct frame){ .points = json_object_get(j, "points"),
			     .levels = json_object_get(j, "levels"),
			     .changes = json_object_get(j, "changes"),
			     .min = INFINITY,
			     .max = -INFINITY,
			     .top = 20 };
	f->n = json_array_size(f->points);
	f->boots_max = f->n * BOOTS_OF_ONE > BOOTS_MAX ? BOOTS_MAX / f->n : BOOTS_OF_ONE;
	json_array_foreach (f->points, i, p) {
		double v = json_f64(p, "median", NAN);

		stretch(f, v);
		f->measured += isfinite(v);
		json_array_foreach (json_object_get(p, "boots"), k, b)
			if (k < f->boots_max)
				stretch(f, json_f64(b, "value", NAN));
	}
	if (!f->measured)
		return false;
	json_array_foreach (f->levels, i, l) {
		double v = json_f64(l, "center", NAN), sd = json_f64(l, "sd", 0);

		if (json_i64(l, "commits", 0) < BAND_COMMITS)
			sd = 0;
		stretch(f, v + BAND_SDS * sd);
		stretch(f, v - BAND_SDS * sd);
	}
	json_array_foreach (f->changes, i, c)
		if (place_of(f, json_str(c, "first", "")) < f->n &&
		    f->top < 20 + LABEL_ROWS * LABEL_H)
			f->top += LABEL_H;
	/* The largest doubles there are leave no room for a scale. */
	if (!isfinite(f->max - f->min) || !isfinite(1.1 * f->max))
		return false;
	pad = f->max > f->min ? (f->max - f->min) * 0.05 : fmax(fabs(f->max) * 0.01, 1e-9);
	f->min -= pad;
	f->max += pad;
	return true;
}

/* As measured again, or else as the levels have it. */
static double size_of(const json_t *c)
{
	return json_f64(c, "measured", json_f64(c, "rel", NAN));
}

static void describe(struct html *h, const struct frame *f, const json_t *j)
{
	const json_t *l, *c;
	char buf[32];
	size_t i;

	html_open(h, "title");
	html_attr(h, "id", "plot-title");
	html_textf(h, "%s over %zu commits of %s",
		   json_str(json_object_get(j, "metric"), "name", ""), f->n,
		   json_str(j, "tree", ""));
	html_close(h);
	html_open(h, "desc");
	html_attr(h, "id", "plot-desc");
	html_textf(h, "%zu commits are measured. ", f->measured);
	json_array_foreach (f->levels, i, l)
		html_textf(h, "From %.12s to %.12s the level is %s. ", json_str(l, "first", ""),
			   json_str(l, "last", ""), value_text(json_f64(l, "center", NAN), buf));
	json_array_foreach (f->changes, i, c)
		html_textf(h, "Change point at %.12s: %+.1f%%, %s. ", json_str(c, "first", ""),
			   100 * size_of(c), json_str(c, "state", ""));
	html_close(h);
}

static void draw_axes(struct html *h, const struct frame *f, const char *unit)
{
	double step = svg_step(f->max - f->min, TICKS);
	size_t last = f->n;
	char buf[32];

	for (int i = 0; i < 3 * TICKS; i++) {
		double v = (ceil(f->min / step) + i) * step;

		if (v > f->max)
			break;
		svg_line(h, LEFT, y_of(f, v), WIDTH - RIGHT, y_of(f, v), "grid");
		svg_text(h, LEFT - 8, y_of(f, v) + 4, "end", "tick", value_text(v, buf));
	}
	svg_text(h, 4, f->top - 6, "start", "tick", unit);
	for (size_t d = 0; d < DAYS; d++) {
		size_t i = d * (f->n - 1) / (DAYS - 1);
		const char *at = json_str(json_array_get(f->points, i), "at", NULL);

		if (!at || i == last)
			continue;
		last = i;
		(void)snprintf(buf, sizeof(buf), "%.10s", at);
		svg_text(h, x_of(f, (double)i), HEIGHT - 6,
			 i == 0		 ? "start"
			 : i == f->n - 1 ? "end"
					 : "middle",
			 "tick", buf);
	}
}

static void draw_band(struct html *h, const struct frame *f, double a, double b, double v,
		      double sd)
{
	html_open(h, "rect");
	html_attrf(h, "x", "%.1f", x_of(f, a - 0.5));
	html_attrf(h, "width", "%.1f", x_of(f, b + 0.5) - x_of(f, a - 0.5));
	html_attrf(h, "y", "%.1f", y_of(f, v + sd));
	html_attrf(h, "height", "%.1f", y_of(f, v - sd) - y_of(f, v + sd));
	html_attr(h, "class", "band s0");
	html_close(h);
}

static void draw_levels(struct html *h, const struct frame *f)
{
	const json_t *l;
	size_t i;

	json_array_foreach (f->levels, i, l) {
		size_t a = place_of(f, json_str(l, "first", "")),
		       b = place_of(f, json_str(l, "last", ""));
		double v = json_f64(l, "center", NAN), sd = BAND_SDS * json_f64(l, "sd", 0);

		if (a >= f->n || b >= f->n || !isfinite(v))
			continue;
		if (json_i64(l, "commits", 0) >= BAND_COMMITS)
			draw_band(h, f, (double)a, (double)b, v, sd);
		svg_line(h, x_of(f, (double)a - 0.5), y_of(f, v), x_of(f, (double)b + 0.5),
			 y_of(f, v), "mean s0");
	}
}

static void path(struct html *h, const char *class, const struct strbuf *d)
{
	if (!d->len)
		return;
	html_open(h, "path");
	html_attr(h, "class", class);
	html_attr(h, "d", d->s);
	html_close(h);
}

/* All single boots are one element: there may be thousands. */
static void draw_boots(struct html *h, const struct frame *f)
{
	_cleanup_(strbuf_done) struct strbuf boots = STRBUF_INIT, trace = STRBUF_INIT,
					     gaps = STRBUF_INIT;
	const json_t *p, *b;
	bool joined = false;
	size_t i, k;

	json_array_foreach (f->points, i, p) {
		double v = json_f64(p, "median", NAN), x = x_of(f, (double)i);

		json_array_foreach (json_object_get(p, "boots"), k, b)
			if (k < f->boots_max && json_is_number(json_object_get(b, "value")))
				strbuf_addf(&boots, "M%.1f %.1fh0", x,
					    y_of(f, json_f64(b, "value", 0)));
		if (isfinite(v))
			strbuf_addf(&trace, "%c%.1f %.1f", joined ? 'L' : 'M', x, y_of(f, v));
		else
			strbuf_addf(&gaps, "M%.1f %.1fl4 -6M%.1f %.1fl4 6", x - 2,
				    HEIGHT - BOTTOM + 3, x - 2, HEIGHT - BOTTOM - 3);
		joined = isfinite(v);
	}
	path(h, "boots", &boots);
	path(h, "trace", &trace);
	path(h, "gap", &gaps);
}

static void draw_points(struct html *h, const struct frame *f)
{
	const json_t *p;
	char buf[32];
	size_t i;

	json_array_foreach (f->points, i, p) {
		double v = json_f64(p, "median", NAN);

		if (!isfinite(v))
			continue;
		html_open(h, "a");
		html_attrf(h, "href", "/commit/%.12s", json_str(p, "commit", ""));
		html_open(h, "circle");
		html_attrf(h, "cx", "%.1f", x_of(f, (double)i));
		html_attrf(h, "cy", "%.1f", y_of(f, v));
		html_attr(h, "r", f->n > 150 ? "2.2" : "3.2");
		html_attr(h, "class", "pt s0");
		html_open(h, "title");
		html_textf(h, "%.12s %s", json_str(p, "commit", ""), value_text(v, buf));
		html_close(h);
		html_close(h);
		html_close(h);
	}
}

/* The commits of which it is not known whether they have the old level or the new one. */
static void draw_between(struct html *h, const struct frame *f, const json_t *c, double x)
{
	size_t old = place_of(f, json_str(c, "last", ""));
	double from = x_of(f, (double)old + 0.5);

	if (old >= f->n || from >= x)
		return;
	html_open(h, "rect");
	html_attrf(h, "x", "%.1f", from);
	html_attrf(h, "width", "%.1f", x - from);
	html_attrf(h, "y", "%.1f", f->top);
	html_attrf(h, "height", "%.1f", HEIGHT - BOTTOM - f->top);
	html_attrf(h, "class", "zone %s", state_class(json_str(c, "state", "")));
	html_close(h);
}

/* Sign, word and colour; newest first, in the first row where it fits. */
static void draw_change(struct html *h, const struct frame *f, const json_t *c,
			double taken[LABEL_ROWS])
{
	size_t at = place_of(f, json_str(c, "first", ""));
	const char *state = json_str(c, "state", "");
	double x = x_of(f, (double)at - 0.5), y;
	bool left = x > WIDTH - LABEL_W - RIGHT;
	char text[80], class[32];
	size_t row = 0;

	if (at >= f->n)
		return;
	while (row < LABEL_ROWS && (left ? x : x + LABEL_W) > taken[row])
		row++;
	(void)snprintf(class, sizeof(class), "mark %s", state_class(state));
	y = LABEL_H * (double)(row < LABEL_ROWS ? row + 1 : LABEL_ROWS);
	draw_between(h, f, c, x);
	svg_line(h, x, y - 10, x, HEIGHT - BOTTOM, class);
	(void)snprintf(text, sizeof(text), row < LABEL_ROWS ? "%s %s %+.1f%%" : "%s",
		       state_sign(state), state, 100 * size_of(c));
	svg_text(h, left ? x - 4 : x + 4, y, left ? "end" : "start", class, text);
	if (row < LABEL_ROWS)
		taken[row] = left ? x - LABEL_W : x;
}

void plot_series(struct html *h, const json_t *j)
{
	double taken[LABEL_ROWS];
	const json_t *c;
	struct frame f;
	size_t i;

	if (!frame_init(&f, j)) {
		part_empty(h, "No values in this part of the series.");
		return;
	}
	for (i = 0; i < LABEL_ROWS; i++)
		taken[i] = INFINITY;
	html_div(h, "div", "scroll");
	html_attr(h, "role", "region");
	html_attr(h, "aria-label", "Plot of the series");
	html_attr(h, "tabindex", "0");
	html_div(h, "svg", "plot wide");
	html_attrf(h, "viewBox", "0 0 %.0f %.0f", WIDTH, HEIGHT);
	html_attr(h, "role", "img");
	html_attr(h, "aria-labelledby", "plot-title plot-desc");
	describe(h, &f, j);
	draw_axes(h, &f, json_str(json_object_get(j, "metric"), "unit", ""));
	draw_levels(h, &f);
	draw_boots(h, &f);
	json_array_foreach (f.changes, i, c)
		draw_change(h, &f, c, taken);
	draw_points(h, &f);
	html_close(h);
	html_close(h);
	html_el(h, "p", "dim small",
		"Each mark is the median of a commit's boots, in the order in which the branch came "
		"to them; faint dots are single boots. A line is the level between change points, its "
		"band two standard deviations of commits about it. A change may have come anywhere in "
		"the shaded part before its mark. Crosses at the bottom are commits that were not measured.");
}
