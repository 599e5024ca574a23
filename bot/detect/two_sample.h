/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Are two samples of units different? With history, ranks, modes and pairs as they apply. */
#pragma once

#include "bot/detect/stats.h"
#include "bot/detect/units.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * struct two_sample - what is tested; all borrowed.
 * @profile: NULL without history.
 * @scratch: room for the units of both sides.
 * @tails: exact ranks of the sizes last used.
 */
struct two_sample {
	const struct units_pair *pair;
	const struct detect_profile *profile;
	double *scratch;
	struct stats_mwu_tails *tails;
};

/**
 * struct two_sample_test - what a test says.
 * @t: its p is of means, ranks and modes together.
 * @se: standard error for levels up to 95 %: that of @t is widened for the tails of the noise,
 *	which are not there yet.
 * @guard: an outlier among so few units that the answer may rest on it. A change then counts only
 *	if it is as sure without the outlier, which p says, and "same" only if it is so with all
 *	of it: @raw is the effect without clipping, valid with @guard.
 */
struct two_sample_test {
	struct stats_test t;
	double se;
	bool guard;
	double raw;
};

/** two_sample_first() - test the first @n units of base and @m of head; 2 each at least. */
void two_sample_first(const struct two_sample *w, size_t n, size_t m, struct two_sample_test *ret);

/** two_sample_rest() - means of the units after the first @n of both sides; 1 each at least. */
void two_sample_rest(const struct two_sample *w, size_t n, struct two_sample_test *ret);
