/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/plot_svg.h"

#include "web/html.h"

#include <math.h>

void svg_text(struct html *h, double x, double y, const char *anchor, const char *class,
	      const char *text)
{
	html_open(h, "text");
	html_attrf(h, "x", "%.1f", x);
	html_attrf(h, "y", "%.1f", y);
	html_attr(h, "text-anchor", anchor);
	html_attr(h, "class", class);
	html_text(h, text);
	html_close(h);
}

void svg_line(struct html *h, double x1, double y1, double x2, double y2, const char *class)
{
	html_open(h, "line");
	html_attrf(h, "x1", "%.1f", x1);
	html_attrf(h, "y1", "%.1f", y1);
	html_attrf(h, "x2", "%.1f", x2);
	html_attrf(h, "y2", "%.1f", y2);
	html_attr(h, "class", class);
	html_close(h);
}

/* A step of 1, 2 or 5 times a power of ten that gives about @ticks lines. */
double svg_step(double span, int ticks)
{
	double raw = span / ticks, p = pow(10, floor(log10(raw))), f = raw / p;

	return p * (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10);
}
