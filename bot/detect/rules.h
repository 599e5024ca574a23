/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a comparison, with everything derived from them that no metric changes. */
#pragma once

#include "bot/detect/verdict.h"

#include <stdbool.h>
#include <stddef.h>

/* Units a side below which a test without history is not allowed, and with history. */
enum {
	MIN_UNITS = 3,
	MIN_UNITS_NO_HISTORY = 5
};

/**
 * struct rules - what detect_compare_many() works by.
 * @factor: by how much p grows at each look because there are several verdict looks.
 * @same: a change below this is "same".
 * @alpha: p that makes a candidate, or of the single test.
 */
struct rules {
	const struct detect_options *o;
	const int *looks;
	size_t nlooks;
	double factor[DETECT_LOOKS_MAX];
	double same;
	double alpha;
};

/** detect_rules_init() - from checked options, which stay borrowed. */
void detect_rules_init(struct rules *ru, const struct detect_options *o);

/** detect_rules_next_look() - next look above @units; 0 when that was the last. */
int detect_rules_next_look(const struct rules *ru, bool have_profile, int units);

/** detect_rules_look_index() - index of the look that @units reach; -1 before the first. */
int detect_rules_look_index(const struct rules *ru, size_t units);
