/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a machine still the one that it was? Judged by its control build, measured again. Pure. */
#pragma once

#include <stddef.h>

/** HEALTH_REFERENCE_MAX - control boots that make the reference: the first ones of a control build. */
#define HEALTH_REFERENCE_MAX 8

/** HEALTH_REFERENCE_MIN - fewer say nothing yet. */
#define HEALTH_REFERENCE_MIN 2

enum health_verdict {
	HEALTH_LEARNING, /* too few control boots to say */
	HEALTH_STEADY,
	HEALTH_DRIFT,
};

/**
 * struct health - the newest control boot beside the reference.
 * @rel: newest ÷ median of the reference − 1; 0 while learning.
 * @limit: least @rel that is called drift, as a fraction.
 * @reference: median of the reference, in the metric's unit.
 * @n: control boots in the reference.
 */
struct health {
	enum health_verdict verdict;
	double rel, limit;
	double reference;
	size_t n;
};

/**
 * health_judge() - judge the last of @n values.
 * @values: one for each control boot of one build on one machine, oldest first; finite.
 * @drift: change that a machine's owner wants to know of, a fraction, 0.02 say.
 *
 * The limit is the larger of @drift and five times the spread (1.4826 × median absolute deviation)
 * of the reference, so that a noisy metric does not drain a sound machine. A reference of 0 can
 * only be told from a value that is not 0.
 */
struct health health_judge(const double *values, size_t n, double drift);

/** health_verdict_name() - "learning", "steady", "drift". Static string. */
const char *health_verdict_name(enum health_verdict v);
