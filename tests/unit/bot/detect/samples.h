/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made-up samples for the tests of bot/detect. */
#pragma once

#include "bot/detect/verdict.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stddef.h>

enum {
	SAMPLES_MAX = 64
};

/** samples_of() - runs with these values, each on a boot of its own, in this order. */
static inline void samples_of(struct detect_sample *s, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s[i] = (struct detect_sample){ values[i], -1, (double)NAN };
}

/** samples_normal() - ln-normal runs around @center with coefficient of variation @cv. */
static inline void samples_normal(struct detect_sample *s, size_t n, double center, double cv,
				  gsl_rng *rng)
{
	for (size_t i = 0; i < n; i++)
		s[i] = (struct detect_sample){ center * exp(gsl_ran_gaussian(rng, cv)), (int)i,
					       (double)NAN };
}
