/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strokes that plots are made of. */
#pragma once

struct html;

/** svg_text() - @anchor: "start", "middle", "end"; @class: of style.css. */
void svg_text(struct html *h, double x, double y, const char *anchor, const char *class,
	      const char *text);
void svg_line(struct html *h, double x1, double y1, double x2, double y2, const char *class);

/** svg_step() - distance of grid lines, 1, 2 or 5 times a power of ten: about @ticks in @span. */
double svg_step(double span, int ticks);
