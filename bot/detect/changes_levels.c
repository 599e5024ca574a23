/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/stats.h"

#include <math.h>
#include <string.h>

/* With more of them, to look for the very weakest one each time would take too long. */
#define MANY_LEVELS 1000
#define MAD_TO_SD   1.4826

/* Hoare's quickselect with a median of three: linear on what series look like, sorted ones too. */
double changes_select(double *x, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double a = x[lo], b = x[lo + (hi - lo) / 2], c = x[hi];
		double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
		size_t i = lo, j = hi;

		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			double t = x[i];

			x[i++] = x[j];
			x[j--] = t;
		}
		/* x[lo … j] <= pivot <= x[j + 1 … hi], and j < hi. */
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return x[k];
}

double changes_median(double *x, size_t n)
{
	double upper, lower;

	if (!n)
		return 0;
	upper = changes_select(x, n, n / 2);
	if (n % 2)
		return upper;
	lower = x[0];
	for (size_t i = 1; i < n / 2; i++)
		lower = x[i] > lower ? x[i] : lower;
	return lower + (upper - lower) / 2;
}

void changes_level_fill(const struct changes_work *w, struct changes_level *l)
{
	size_t n = l->end - l->start;
	double sum = 0, sq = 0, k = w->preset.k;

	for (size_t i = 0; i < n; i++)
		w->scratch[i] = (double)w->z[l->start + i];
	l->median = changes_median(w->scratch, n);
	for (size_t i = 0; i < n; i++) {
		double r = w->scratch[i] - l->median;

		r = r > k ? k : r < -k ? -k : r;
		sum += r;
		sq += r * r;
	}
	l->mean = l->median + sum / (double)n;
	l->var = n > 1 ? fmax(0, (sq - sum * sum / (double)n) / (double)(n - 1)) : 0;
	/* So much noisier than the series as a whole that most is clipped. */
	l->excess = 1;
	if (l->var >= k * k / 2) {
		double sd;

		for (size_t i = 0; i < n; i++)
			w->scratch[i] = fabs((double)w->z[l->start + i] - l->median);
		sd = MAD_TO_SD * changes_median(w->scratch, n);
		l->var = fmax(l->var, sd * sd);
		l->excess = w->excess;
	}
}

/* p of the change between levels @i and @i + 1: Welch's t with effective sizes. */
static double level_p(const struct changes_work *w, size_t i)
{
	const struct changes_level *a = &w->levels[i], *b = a + 1;
	double na = fmax((double)(a->end - a->start) / w->f * a->excess, 1.5);
	double nb = fmax((double)(b->end - b->start) / w->f * b->excess, 1.5);
	double se = sqrt(fmax(a->var, .25) / na + fmax(b->var, .25) / nb);

	return stats_t_two_sided((b->mean - a->mean) / se, na + nb - 2);
}

static void fill_all(struct changes_work *w)
{
	for (size_t i = 0; i < w->nlevels; i++)
		changes_level_fill(w, &w->levels[i]);
	for (size_t i = 0; i + 1 < w->nlevels; i++)
		w->p[i] = level_p(w, i);
}

static double level_step(const struct changes_work *w, size_t i)
{
	return fabs(w->levels[i + 1].mean - w->levels[i].mean);
}

/* Size of the change after level @i, and the least that it would have to be, in sigma. */
static bool level_is_small(const struct changes_work *w, size_t i)
{
	double step = level_step(w, i), mag = w->mag / w->sigma;
	/* Where the series is quieter than it is as a whole, a smaller step stands out. */
	double local = fmin(1, sqrt((w->levels[i].var + w->levels[i + 1].var) / 2));

	if (!w->ln_scale) {
		double a = fabs(w->levels[i].median * w->sigma + w->center);
		double b = fabs(w->levels[i + 1].median * w->sigma + w->center);

		mag *= fmax(a, b);
	}
	return step < fmax(mag, w->preset.kappa * local);
}

static bool is_bad(const struct changes_work *w, size_t i)
{
	const struct changes_level *a = &w->levels[i], *b = a + 1;

	return w->p[i] > w->preset.alpha || a->end - a->start < w->preset.minseg ||
	       b->end - b->start < w->preset.minseg || level_is_small(w, i);
}

/* Of two bad changes: the one with the worse p, when one is too large; else the smaller step. */
static bool is_weaker(const struct changes_work *w, size_t i, size_t than)
{
	if (fmax(w->p[i], w->p[than]) > w->preset.alpha && w->p[i] != w->p[than])
		return w->p[i] > w->p[than];
	return level_step(w, i) < level_step(w, than);
}

/* The bad change to delete next; w->nlevels when all are good. */
static size_t weakest(const struct changes_work *w)
{
	size_t worst = w->nlevels;

	for (size_t i = 0; i + 1 < w->nlevels; i++) {
		if (is_bad(w, i) && (worst == w->nlevels || is_weaker(w, i, worst)))
			worst = i;
	}
	return worst;
}

static void delete_change(struct changes_work *w, size_t i)
{
	w->levels[i].end = w->levels[i + 1].end;
	w->nlevels--;
	memmove(&w->levels[i + 1], &w->levels[i + 2], (w->nlevels - i - 1) * sizeof(*w->levels));
	memmove(&w->p[i], &w->p[i + 1], (w->nlevels - i - 1) * sizeof(*w->p));
	changes_level_fill(w, &w->levels[i]);
	if (i > 0)
		w->p[i - 1] = level_p(w, i - 1);
	if (i + 1 < w->nlevels)
		w->p[i] = level_p(w, i);
}

/*
 * Deletes, in one go, bad changes that are weaker than their bad neighbours: they would go before
 * these anyway, and what is farther away does not matter to them. Return: were there any?
 */
static bool delete_many(struct changes_work *w)
{
	size_t n = w->nlevels - 1, out = 0;
	_cleanup_(freep) bool *bad = xcalloc(n + 2, sizeof(*bad));
	bool deleted = false, after_delete = false;

	for (size_t i = 0; i < n; i++)
		bad[i + 1] = is_bad(w, i);
	for (size_t i = 0; i < n; i++) {
		bool gone = bad[i + 1] && !after_delete && (!bad[i] || !is_weaker(w, i - 1, i)) &&
			    (!bad[i + 2] || !is_weaker(w, i + 1, i));

		after_delete = gone;
		deleted = deleted || gone;
		bad[i] = gone; /* from here on it tells of i, no longer of the one before */
	}
	for (size_t i = 1; i <= n; i++) {
		if (bad[i - 1])
			w->levels[out].end = w->levels[i].end;
		else
			w->levels[++out] = w->levels[i];
	}
	w->nlevels = out + 1;
	fill_all(w);
	return deleted;
}

void changes_merge(struct changes_work *w)
{
	fill_all(w);
	while (w->nlevels > MANY_LEVELS && delete_many(w))
		;
	for (size_t i; (i = weakest(w)) < w->nlevels;)
		delete_change(w, i);
}
