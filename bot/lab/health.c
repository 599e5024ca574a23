/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of normal noise: makes the median absolute deviation an estimate of the standard deviation. */
#define MAD_TO_SD 1.4826
#define SPREADS	  5.0

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, size_t n)
{
	double v[HEALTH_REFERENCE_MAX];

	memcpy(v, values, n * sizeof(*v));
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct health health_judge(const double *values, size_t n, double drift)
{
	double away[HEALTH_REFERENCE_MAX];
	struct health h = { .verdict = HEALTH_LEARNING, .limit = drift };
	double last;

	if (n == 0)
		return h;
	last = values[n - 1];
	h.n = n - 1 < HEALTH_REFERENCE_MAX ? n - 1 : HEALTH_REFERENCE_MAX;
	if (h.n < HEALTH_REFERENCE_MIN)
		return h;
	h.reference = median(values, h.n);
	h.verdict = HEALTH_STEADY;
	if (h.reference == 0) {
		h.rel = last == 0 ? 0 : last > 0 ? INFINITY : -INFINITY;
	} else {
		for (size_t i = 0; i < h.n; i++)
			away[i] = fabs(values[i] / h.reference - 1);
		h.limit = fmax(drift, SPREADS * MAD_TO_SD * median(away, h.n));
		h.rel = last / h.reference - 1;
	}
	if (fabs(h.rel) > h.limit)
		h.verdict = HEALTH_DRIFT;
	return h;
}

const char *health_verdict_name(enum health_verdict v)
{
	switch (v) {
	case HEALTH_STEADY:
		return "steady";
	case HEALTH_DRIFT:
		return "drift";
	case HEALTH_LEARNING:
		break;
	}
	return "learning";
}
