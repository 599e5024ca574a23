/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known, in a few numbers for people. */
#include "bisect/eval.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <stdlib.h>

#define HELD 0.95

static int by_falling(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x < y) - (x > y);
}

void bisect_summarise(struct bisect_state *s, struct bisect_summary *ret)
{
	const size_t n = s->graph->n;
	_cleanup_(freep) double *p = xcalloc(n, sizeof(*p));
	double held = 0;

	*ret = (struct bisect_summary){ .likeliest = 0 };
	bisect_posterior(s, p, &ret->p_none);
	for (size_t i = 0; i < n; i++) {
		if (p[i] > p[ret->likeliest])
			ret->likeliest = (int)i;
		if (p[i] > 0)
			ret->bits -= p[i] * log2(p[i]);
	}
	ret->p = p[ret->likeliest];
	qsort(p, n, sizeof(*p), by_falling);
	while (ret->hold < n && p[ret->hold] > 0 && held < HELD * (1 - ret->p_none))
		held += p[ret->hold++];
}

double bisect_sigma(struct bisect_state *s)
{
	return bisect_eval_get(s)->sigma;
}
