/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From runs to the units that a test counts, on the scale that it works on. */
#pragma once

#include "bot/detect/stats.h"
#include "bot/detect/verdict.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* NAN as a double: the plain one is a float, which the pure libraries' warnings do not like. */
#define NO_VALUE ((double)NAN)

/**
 * struct units_side - units of one side.
 * @y: @n units on the test's scale, in time order; @sorted: the same, ascending.
 * @order: when each was made (a boot: its first run); NULL unless every run says so.
 * @sum: of them; @median: theirs.
 * @one_boot: several runs, all of one boot: not independent, and nothing says by how much.
 * @alone: no two runs are known to share a boot.
 * @constant: all finite values are equal to @value.
 */
struct units_side {
	double *y;
	double *sorted;
	double *order;
	size_t n;
	struct stats_sum sum;
	double median;
	struct detect_side info;
	bool one_boot;
	bool alone;
	bool constant;
	double value;
	double order_min, order_max; /* NaN unless every run has one */
};

/**
 * struct units_pair - both sides on one scale; their arrays are of the room.
 * @ln: y is ln(value), @scale is 1; otherwise y is value / @scale.
 */
struct units_pair {
	struct units_side base, head;
	bool ln;
	double scale;
};

struct units_item;

/**
 * struct units_room - memory of one pair at a time, used again for the next; zero to start with.
 * @scratch: as many numbers as both sides have units, for whoever tests them.
 */
struct units_room {
	struct units_item *items;
	double *numbers;
	double *scratch;
	size_t cap;
};

void units_room_done(struct units_room *room);

/**
 * units_pair_init() - drop what is not finite, order, group by boot, transform.
 * @room: what @p points to until the next call.
 * @profile: NULL, or tells whether to take logarithms, and where two modes part.
 */
void units_pair_init(struct units_pair *p, struct units_room *room,
		     const struct detect_sample *base, size_t nbase,
		     const struct detect_sample *head, size_t nhead,
		     const struct detect_profile *profile);

/**
 * units_modes() - groups that a sample falls into, when it does so beyond doubt.
 * @sorted: ascending. @ret: lowest first: how many units, and their mean.
 *
 * Return: number of modes, 2 or 3; 0 when there is no sign of more than one.
 */
int units_modes(const double *sorted, size_t n, struct stats_sum ret[DETECT_MODES_MAX]);
