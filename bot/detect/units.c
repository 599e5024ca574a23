/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/units.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/stats.h"

#include <math.h>
#include <string.h>

enum {
	MODES_MIN_UNITS = 30
};

/* One finite run, with what it takes to sort: by time, or by boot with the place kept. */
struct item {
	double value;
	double order;
	long boot;
	size_t place;
};

static int by_order(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int by_boot(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	if (a->boot != b->boot)
		return a->boot < b->boot ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int by_place(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return (a->place > b->place) - (a->place < b->place);
}

/* Finite runs in time order; boots of their own get numbers of their own. */
static struct item *load(struct units_side *s, const struct detect_sample *x, size_t n)
{
	struct item *it = xcalloc(n ? n : 1, sizeof(*it));
	bool ordered = true;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i].value)) {
			s->info.dropped++;
			continue;
		}
		it[k] = (struct item){ x[i].value, x[i].order, x[i].boot, k };
		if (x[i].boot < 0)
			it[k].boot = -1 - (long)k;
		if (!isfinite(x[i].order))
			ordered = false;
		k++;
	}
	s->info.runs = (int)k;
	s->order_min = s->order_max = NO_VALUE;
	if (ordered && k) {
		qsort(it, k, sizeof(*it), by_order);
		s->order_min = it[0].order;
		s->order_max = it[k - 1].order;
		for (size_t i = 0; i < k; i++)
			it[i].place = i;
	}
	s->constant = k > 0;
	for (size_t i = 0; i < k; i++)
		s->constant = s->constant && it[i].value == it[0].value;
	s->value = k ? it[0].value : NO_VALUE;
	return it;
}

static double on_scale(double v, bool ln, double scale)
{
	return ln ? log(v) : v / scale;
}

/* Boot means in the order of each boot's first run; single runs when there is only one boot. */
static void group(struct units_side *s, struct item *it, bool ln, double scale)
{
	size_t n = (size_t)s->info.runs, k = 0;

	for (size_t i = 0; i < n; i++)
		it[i].value = on_scale(it[i].value, ln, scale);
	qsort(it, n, sizeof(*it), by_boot);
	for (size_t i = 0; i < n; i++)
		s->info.boots += i == 0 || it[i].boot != it[i - 1].boot;
	s->one_boot = s->info.boots == 1 && n > 1;
	if (s->info.boots > 1) {
		for (size_t i = 0; i < n; k++) {
			struct item mean = it[i];
			size_t j = i + 1;

			for (; j < n && it[j].boot == it[i].boot; j++)
				mean.value += it[j].value;
			mean.value /= (double)(j - i);
			it[k] = mean;
			i = j;
		}
		n = k;
	}
	qsort(it, n, sizeof(*it), by_place);
	s->y = xcalloc(n ? n : 1, sizeof(*s->y));
	for (size_t i = 0; i < n; i++)
		s->y[i] = it[i].value;
	s->n = n;
	s->info.units = (int)n;
}

static double from_scale(double y, bool ln, double scale)
{
	return ln ? exp(y) : y * scale;
}

/* A mean between two modes is a number that nobody ever measured. */
static void find_modes(struct units_side *s, bool ln, double scale)
{
	_cleanup_(freep) double *y = NULL;
	struct stats_split split;
	size_t k = 0;

	if (s->n < MODES_MIN_UNITS)
		return;
	y = xcalloc(s->n, sizeof(*y));
	memcpy(y, s->y, s->n * sizeof(*y));
	stats_sort(y, s->n);
	stats_otsu(y, s->n, &split);
	if (!(split.eta > .85 && split.minor >= .10))
		return;
	while (k < s->n && y[k] < split.cut)
		k++;
	s->info.nmodes = 2;
	s->info.modes[0].share = (double)k / (double)s->n;
	s->info.modes[0].center = from_scale(stats_mean(y, k), ln, scale);
	s->info.modes[1].share = (double)(s->n - k) / (double)s->n;
	s->info.modes[1].center = from_scale(stats_mean(y + k, s->n - k), ln, scale);
}

static void describe(struct units_side *s, bool ln, double scale)
{
	double sd = sqrt(stats_var(s->y, s->n));

	s->info.center = s->n ? from_scale(stats_mean(s->y, s->n), ln, scale) : NO_VALUE;
	if (s->constant)
		s->info.center = s->value; /* exp(log(v)) may differ in the last digit */
	s->info.sd = sd * (ln ? s->info.center : scale);
	if (s->n < 2)
		s->info.sd = NO_VALUE;
	else if (s->constant)
		s->info.sd = 0;
	find_modes(s, ln, scale);
}

void units_pair_init(struct units_pair *p, const struct detect_sample *base, size_t nbase,
		     const struct detect_sample *head, size_t nhead, bool force_raw, bool no_scale)
{
	_cleanup_(freep) struct item *a = NULL;
	_cleanup_(freep) struct item *b = NULL;
	double biggest = 0;

	*p = (struct units_pair){ .ln = !force_raw, .scale = 1 };
	a = load(&p->base, base, nbase);
	b = load(&p->head, head, nhead);
	for (int i = 0; i < p->base.info.runs; i++) {
		p->ln = p->ln && a[i].value > 0;
		biggest = fmax(biggest, fabs(a[i].value));
	}
	for (int i = 0; i < p->head.info.runs; i++) {
		p->ln = p->ln && b[i].value > 0;
		biggest = fmax(biggest, fabs(b[i].value));
	}
	/* Squares of 1e300 overflow and those of 1e-300 vanish: work on numbers around one. */
	if (!p->ln && !no_scale && biggest > 0)
		p->scale = biggest;
	group(&p->base, a, p->ln, p->scale);
	group(&p->head, b, p->ln, p->scale);
	describe(&p->base, p->ln, p->scale);
	describe(&p->head, p->ln, p->scale);
}

void units_pair_done(struct units_pair *p)
{
	free(p->base.y);
	free(p->head.y);
	*p = (struct units_pair){ 0 };
}
