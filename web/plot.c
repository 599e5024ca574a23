/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/html.h"
#include "web/parts.h"
#include "web/plot_svg.h"
#include "web/verdict.h"

#include <math.h>
#include <string.h>

#define WIDTH  760.0
#define HEIGHT 300.0
#define LEFT   78.0
#define RIGHT  12.0
#define TOP    14.0
#define BOTTOM 46.0
#define SIDES  4
#define TICKS  5

enum {
	POINTS_MAX = 150 /* of a side */
};

/*
 * @style: 0 the good side, 1 the bad one, 2 the commit to blame. @modes: where its runs gather, if at
 * several values.
 */
struct side {
	const char *name, *hash;
	size_t style;
	size_t n;
	double sum, sum2;
	const json_t *modes;
};

struct scale {
	double min, max;
};

static double y_of(const struct scale *s, double v)
{
	return TOP + (HEIGHT - TOP - BOTTOM) * (s->max - v) / (s->max - s->min);
}

static void draw_axis(struct html *h, const struct scale *s, const char *unit)
{
	double step = svg_step(s->max - s->min, TICKS);
	char buf[32];

	for (int i = 0; i < 3 * TICKS; i++) {
		double v = (ceil(s->min / step) + i) * step;

		if (v > s->max)
			break;
		svg_line(h, LEFT, y_of(s, v), WIDTH - RIGHT, y_of(s, v), "grid");
		svg_text(h, LEFT - 8, y_of(s, v) + 4, "end", "tick", value_text(v, buf));
	}
	svg_text(h, 4, TOP + 1, "start", "tick", unit);
}

/* Shape tells the side as well as colour does. */
static void draw_point(struct html *h, size_t side, double x, double y, const char *class)
{
	if (side == 0) {
		html_open(h, "circle");
		html_attrf(h, "cx", "%.1f", x);
		html_attrf(h, "cy", "%.1f", y);
		html_attr(h, "r", "4");
	} else {
		html_open(h, "path");
		html_attrf(h, "d",
			   side == 1 ? "M%.1f %.1fl8 0l-4 7.5z" : "M%.1f %.1fl4 -4l4 4l-4 4z",
			   x - 4, side == 1 ? y - 3 : y);
	}
	html_attrf(h, "class", "pt s%zu%s", side, class);
	html_close(h);
}

static size_t side_of(const struct side *sides, size_t n, const char *hash)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(sides[i].hash, hash))
			return i;
	return n;
}

static size_t read_sides(const json_t *j, struct side *sides, struct scale *s)
{
	const json_t *runs = json_object_get(j, "runs"), *r;
	const json_t *culprit = json_object_get(j, "culprit");
	const char *c = json_str(culprit, "commit", NULL);
	const char *parent = json_str(json_object_get(j, "parent"), "commit", NULL);
	const json_t *m = verdict_metric(json_object_get(j, "metrics"),
					 json_str(json_object_get(j, "metric"), "name", ""));
	size_t i, n = 2;

	sides[0].modes = json_object_get(json_object_get(m, "base"), "modes");
	sides[1].modes = json_object_get(json_object_get(m, "head"), "modes");
	sides[0].name = "base";
	sides[0].hash = json_str(json_object_get(j, "base"), "commit", "");
	sides[1].name = "head";
	sides[1].hash = json_str(json_object_get(j, "head"), "commit", "");
	sides[1].style = 1;
	if (parent && strcmp(parent, sides[0].hash) != 0) {
		sides[n].name = "parent";
		sides[n++].hash = parent;
	}
	if (c && strcmp(c, sides[1].hash) != 0) {
		sides[n].name = "first bad";
		sides[n].style = 2;
		sides[n++].hash = c;
	}
	*s = (struct scale){ INFINITY, -INFINITY };
	json_array_foreach (runs, i, r) {
		size_t k = side_of(sides, n, json_str(r, "commit", ""));
		double v = json_f64(r, "value", NAN);

		if (k == n || !isfinite(v))
			continue;
		s->min = fmin(s->min, v);
		s->max = fmax(s->max, v);
		if (json_object_get(r, "excluded"))
			continue;
		sides[k].n++;
		sides[k].sum += v;
		sides[k].sum2 += v * v;
	}
	return n;
}

static void describe(struct html *h, const json_t *j, const struct side *sides, size_t n)
{
	char buf[32];

	html_open(h, "title");
	html_attr(h, "id", "plot-title");
	html_textf(h, "Single runs of %s", json_str(json_object_get(j, "metric"), "name", ""));
	html_close(h);
	html_open(h, "desc");
	html_attr(h, "id", "plot-desc");
	for (size_t i = 0; i < n; i++)
		if (json_array_size(sides[i].modes) > 1)
			html_textf(h, "%s %.12s: %zu runs, %zu modes. ", sides[i].name,
				   sides[i].hash, sides[i].n, json_array_size(sides[i].modes));
		else
			html_textf(h, "%s %.12s: %zu runs, mean %s. ", sides[i].name, sides[i].hash,
				   sides[i].n, value_text(sides[i].sum / (double)sides[i].n, buf));
	html_close(h);
}

static const char *mean_class(size_t k)
{
	return k == 0 ? "mean s0" : k == 1 ? "mean s1" : "mean s2";
}

static void draw_mean(struct html *h, const struct scale *s, const struct side *side, double x,
		      double w, size_t k)
{
	double mean = side->sum / (double)side->n;
	double var = (side->sum2 - side->sum * mean) / fmax(1, (double)side->n - 1);
	double sd = sqrt(fmax(0, var));

	html_open(h, "rect");
	html_attrf(h, "x", "%.1f", x + 4);
	html_attrf(h, "width", "%.1f", w - 8);
	html_attrf(h, "y", "%.1f", y_of(s, mean + sd));
	html_attrf(h, "height", "%.1f", y_of(s, mean - sd) - y_of(s, mean + sd));
	html_attrf(h, "class", "band s%zu", k);
	html_close(h);
	svg_line(h, x + 4, y_of(s, mean), x + w - 4, y_of(s, mean), mean_class(k));
}

/* A mean between two groups is where no run is. */
static void draw_modes(struct html *h, const struct scale *s, const struct side *side, double x,
		       double w, size_t k)
{
	const json_t *m;
	size_t i;

	json_array_foreach (side->modes, i, m) {
		double v = json_f64(m, "center", NAN);

		if (v >= s->min && v <= s->max)
			svg_line(h, x + 4, y_of(s, v), x + w - 4, y_of(s, v), mean_class(k));
	}
}

static void draw_side(struct html *h, const struct scale *s, const struct side *side, double x,
		      double w, size_t k)
{
	char buf[64];

	if (json_array_size(side->modes) > 1)
		draw_modes(h, s, side, x, w, k);
	else if (side->n)
		draw_mean(h, s, side, x, w, k);
	(void)snprintf(buf, sizeof(buf), "%s %.12s", side->name, side->hash);
	svg_text(h, x + w / 2, HEIGHT - BOTTOM + 20, "middle", "label", buf);
	(void)snprintf(buf, sizeof(buf), "%zu runs", side->n);
	svg_text(h, x + w / 2, HEIGHT - BOTTOM + 37, "middle", "tick", buf);
}

static void draw_points(struct html *h, const json_t *j, const struct side *sides, size_t n,
			const struct scale *s)
{
	const json_t *runs = json_object_get(j, "runs"), *r;
	double w = (WIDTH - LEFT - RIGHT) / (double)n;
	size_t seen[SIDES] = { 0 }, total[SIDES] = { 0 }, i;

	json_array_foreach (runs, i, r) {
		size_t k = side_of(sides, n, json_str(r, "commit", ""));

		if (k < n)
			total[k]++;
	}
	json_array_foreach (runs, i, r) {
		size_t k = side_of(sides, n, json_str(r, "commit", ""));
		double v = json_f64(r, "value", NAN), x;

		if (k == n || !isfinite(v))
			continue;
		x = LEFT + w * (double)k + 16 +
		    (w - 32) * ((double)seen[k] + 0.5) / (double)total[k];
		/* Of very many runs every so manieth is drawn: the page has to stay small. */
		if (seen[k]++ % (1 + total[k] / POINTS_MAX) != 0)
			continue;
		draw_point(h, sides[k].style, x, y_of(s, v),
			   json_object_get(r, "excluded") ? " out" : "");
	}
}

void plot_runs(struct html *h, const json_t *j)
{
	struct side sides[SIDES] = { 0 };
	struct scale s;
	size_t n = read_sides(j, sides, &s);
	double w = (WIDTH - LEFT - RIGHT) / (double)n;
	double pad;

	if (!isfinite(s.min) || !isfinite(1.1 * (s.max - s.min))) {
		part_empty(h, "No single runs of this metric are stored.");
		return;
	}
	pad = s.max > s.min ? (s.max - s.min) * 0.08 : fmax(fabs(s.max) * 0.01, 1e-9);
	s.min -= pad;
	s.max += pad;
	html_div(h, "div", "scroll");
	html_attr(h, "role", "region");
	html_attr(h, "aria-label", "Plot of single runs");
	html_attr(h, "tabindex", "0");
	html_div(h, "svg", "plot");
	html_attrf(h, "viewBox", "0 0 %.0f %.0f", WIDTH, HEIGHT);
	html_attr(h, "role", "img");
	html_attr(h, "aria-labelledby", "plot-title plot-desc");
	describe(h, j, sides, n);
	draw_axis(h, &s, json_str(json_object_get(j, "metric"), "unit", ""));
	for (size_t i = 0; i < n; i++)
		draw_side(h, &s, &sides[i], LEFT + w * (double)i, w, sides[i].style);
	draw_points(h, j, sides, n, &s);
	html_close(h);
	html_close(h);
	html_el(h, "p", "dim small",
		"Each mark is one run, in the order measured; line and band are mean and standard "
		"deviation; where runs gather at several values, each of those has a line. Hollow marks were taken out of the comparison.");
}

void plot_bar(struct html *h, double share)
{
	share = isfinite(share) ? fmin(1, fmax(0, share)) : 0;
	html_div(h, "svg", "bar");
	html_attr(h, "viewBox", "0 0 200 10");
	html_attr(h, "preserveAspectRatio", "none");
	html_attr(h, "aria-hidden", "true");
	html_open(h, "rect");
	html_attr(h, "class", "rail");
	html_attr(h, "width", "200");
	html_attr(h, "height", "10");
	html_close(h);
	html_open(h, "rect");
	html_attr(h, "class", "fill");
	html_attrf(h, "width", "%.1f", 200 * share);
	html_attr(h, "height", "10");
	html_close(h);
	html_close(h);
}
