/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a measurement is expected to tell. Inside of the library. */
#pragma once

#include <stddef.h>

/** struct bisect_component - one outcome: with probability @weight the mean of the runs is N(@mean, @var). */
struct bisect_component {
	double weight;
	double mean;
	double var;
};

/** struct bisect_outlook - all outcomes of a measurement; @items is borrowed. */
struct bisect_outlook {
	struct bisect_component *items;
	size_t n;
};

/**
 * bisect_outlook_bits() - mutual information in bits between component and observed mean, times the
 * weight of all components together.
 * @extra_var: of the mean of the runs, on top of that of each component.
 */
double bisect_outlook_bits(const struct bisect_outlook *f, double extra_var);
