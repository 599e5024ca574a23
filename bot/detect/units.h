/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From runs to the units that a test counts, on the scale that it works on. */
#pragma once

#include "bot/detect/verdict.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* NAN as a double: the plain one is a float, which the pure libraries' warnings do not like. */
#define NO_VALUE ((double)NAN)

/**
 * struct units_side - units of one side.
 * @y: @n units on the test's scale, in time order; owned.
 * @one_boot: several runs, all of one boot: not independent, and nothing says by how much.
 * @constant: all finite values are equal to @value.
 */
struct units_side {
	double *y;
	size_t n;
	struct detect_side info;
	bool one_boot;
	bool constant;
	double value;
	double order_min, order_max; /* NaN unless every run has one */
};

/**
 * struct units_pair - both sides on one scale.
 * @ln: y is ln(value), @scale is 1; otherwise y is value / @scale.
 */
struct units_pair {
	struct units_side base, head;
	bool ln;
	double scale;
};

/**
 * units_pair_init() - drop what is not finite, order, group by boot, transform.
 * @force_raw: do not take logarithms; @no_scale: keep raw values unscaled.
 */
void units_pair_init(struct units_pair *p, const struct detect_sample *base, size_t nbase,
		     const struct detect_sample *head, size_t nhead, bool force_raw, bool no_scale);
void units_pair_done(struct units_pair *p);
