/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/units.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

/* One finite run, with what it takes to sort: by time, or by boot with the place kept. */
struct units_item {
	double value;
	double order;
	long boot;
	size_t place;
};

static int by_order(const void *pa, const void *pb)
{
	const struct units_item *a = pa, *b = pb;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int by_boot(const void *pa, const void *pb)
{
	const struct units_item *a = pa, *b = pb;

	if (a->boot != b->boot)
		return a->boot < b->boot ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int by_place(const void *pa, const void *pb)
{
	const struct units_item *a = pa, *b = pb;

	return (a->place > b->place) - (a->place < b->place);
}

void units_room_done(struct units_room *room)
{
	free(room->items);
	free(room->numbers);
	*room = (struct units_room){ 0 };
}

static void make_room(struct units_room *room, size_t n)
{
	enum {
		ARRAYS = 4
	};

	if (n > room->cap || !room->items) {
		units_room_done(room);
		room->cap = n < 64 ? 64 : 2 * n;
		room->items = xcalloc(room->cap, sizeof(*room->items));
		room->numbers = xcalloc(room->cap, ARRAYS * sizeof(*room->numbers));
	}
	room->scratch = room->numbers + 3 * room->cap;
}

static void sort_items(struct units_item *it, size_t n, int (*cmp)(const void *, const void *))
{
	for (size_t i = 1; i < n; i++) {
		if (cmp(&it[i - 1], &it[i]) > 0) {
			qsort(it, n, sizeof(*it), cmp);
			return;
		}
	}
}

/* Finite runs in time order; boots of their own get numbers of their own. */
static void load(struct units_side *s, const struct detect_sample *x, size_t n,
		 struct units_item *it)
{
	bool ordered = true, alone = true;
	int last = -1;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i].value)) {
			s->info.dropped++;
			continue;
		}
		it[k] = (struct units_item){ x[i].value, x[i].order, x[i].boot, k };
		if (x[i].boot < 0)
			it[k].boot = -1 - (long)k;
		ordered = ordered && isfinite(x[i].order);
		if (x[i].boot >= 0) {
			alone = alone && x[i].boot > last;
			last = x[i].boot;
		}
		k++;
	}
	s->info.runs = (int)k;
	s->alone = alone;
	s->order_min = s->order_max = NO_VALUE;
	if (ordered && k) {
		sort_items(it, k, by_order);
		s->order_min = it[0].order;
		s->order_max = it[k - 1].order;
		for (size_t i = 0; i < k; i++)
			it[i].place = i;
	}
	s->constant = k > 0;
	for (size_t i = 0; i < k; i++)
		s->constant = s->constant && it[i].value == it[0].value;
	s->value = k ? it[0].value : NO_VALUE;
}

/* Runs of one boot, which follow each other, become their mean. */
static size_t merge_boots(struct units_item *it, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; k++) {
		struct units_item mean = it[i];
		size_t j = i + 1;

		for (; j < n && it[j].boot == it[i].boot; j++)
			mean.value += it[j].value;
		if (j > i + 1)
			mean.value /= (double)(j - i);
		it[k] = mean;
		i = j;
	}
	return k;
}

/* Boot means in the order of each boot's first run; single runs when there is only one boot. */
static void group(struct units_side *s, struct units_item *it, bool ln, double scale)
{
	size_t n = (size_t)s->info.runs;

	for (size_t i = 0; i < n; i++)
		it[i].value = ln ? log(it[i].value) : it[i].value / scale;
	if (s->alone) {
		s->info.boots = (int)n;
	} else {
		sort_items(it, n, by_boot);
		for (size_t i = 0; i < n; i++)
			s->info.boots += i == 0 || it[i].boot != it[i - 1].boot;
		if (s->info.boots > 1)
			n = merge_boots(it, n);
		sort_items(it, n, by_place);
	}
	s->one_boot = s->info.boots == 1 && s->info.runs > 1;
	for (size_t i = 0; i < n; i++) {
		s->y[i] = s->sorted[i] = it[i].value;
		s->order[i] = it[i].order;
	}
	if (isnan(s->order_min))
		s->order = NULL;
	stats_sort(s->sorted, n);
	s->sum = stats_sum_of(s->sorted, n);
	s->median = stats_quantile(s->sorted, n, .5);
	s->n = n;
	s->info.units = (int)n;
}

static double from_scale(double y, bool ln, double scale)
{
	return ln ? exp(y) : y * scale;
}

static void describe(struct units_side *s, bool ln, double scale)
{
	double sd = s->n > 1 ? sqrt(s->sum.ss / (double)(s->n - 1)) : 0;

	s->info.center = s->n ? from_scale(s->sum.mean, ln, scale) : NO_VALUE;
	if (s->constant)
		s->info.center = s->value; /* exp(log(v)) may differ in the last digit */
	s->info.sd = sd * (ln ? s->info.center : scale);
	if (s->n < 2)
		s->info.sd = NO_VALUE;
	else if (s->constant)
		s->info.sd = 0;
}

static void set_modes(struct units_side *s, const struct stats_sum *modes, int n, bool ln,
		      double scale)
{
	s->info.nmodes = n;
	for (int i = 0; i < n; i++) {
		s->info.modes[i].share = (double)modes[i].n / (double)s->n;
		s->info.modes[i].center = from_scale(modes[i].mean, ln, scale);
	}
}

/* Units on the two sides of the cut that history knows; only the modes that there are. */
static int known_modes(const struct units_side *s, double cut, struct stats_sum *ret)
{
	size_t k = 0;
	int n = 0;

	while (k < s->n && s->sorted[k] < cut)
		k++;
	if (k > 0)
		ret[n++] = stats_sum_of(s->sorted, k);
	if (k < s->n)
		ret[n++] = stats_sum_of(s->sorted + k, s->n - k);
	return n;
}

/* A mean between two modes is a number that nobody ever measured. */
static void find_modes(struct units_pair *p, const struct detect_profile *profile)
{
	struct stats_sum a[DETECT_MODES_MAX], b[DETECT_MODES_MAX];
	int na, nb;

	if (profile && profile->bimodal && profile->ln_scale == p->ln) {
		na = known_modes(&p->base, profile->cut / p->scale, a);
		nb = known_modes(&p->head, profile->cut / p->scale, b);
		if (na < 2 && nb < 2)
			na = nb = 0;
	} else {
		na = units_modes(p->base.sorted, p->base.n, a);
		nb = units_modes(p->head.sorted, p->head.n, b);
	}
	set_modes(&p->base, a, na, p->ln, p->scale);
	set_modes(&p->head, b, nb, p->ln, p->scale);
}

static void scan(const struct units_item *it, int n, bool *ln, double *biggest)
{
	for (int i = 0; i < n; i++) {
		*ln = *ln && it[i].value > 0;
		*biggest = fmax(*biggest, fabs(it[i].value));
	}
}

void units_pair_init(struct units_pair *p, struct units_room *room,
		     const struct detect_sample *base, size_t nbase,
		     const struct detect_sample *head, size_t nhead,
		     const struct detect_profile *profile)
{
	bool raw = profile && !profile->ln_scale;
	struct units_item *it;
	double biggest = 0;

	make_room(room, nbase + nhead);
	it = room->items;
	*p = (struct units_pair){ .ln = !raw, .scale = 1 };
	p->base.y = room->numbers;
	p->base.sorted = room->numbers + room->cap;
	p->base.order = room->numbers + 2 * room->cap;
	p->head.y = p->base.y + nbase;
	p->head.sorted = p->base.sorted + nbase;
	p->head.order = p->base.order + nbase;
	load(&p->base, base, nbase, it);
	load(&p->head, head, nhead, it + nbase);
	scan(it, p->base.info.runs, &p->ln, &biggest);
	scan(it + nbase, p->head.info.runs, &p->ln, &biggest);
	/* Squares of 1e300 overflow and those of 1e-300 vanish: work on numbers around one. */
	if (!p->ln && !raw && biggest > 0)
		p->scale = biggest;
	group(&p->base, it, p->ln, p->scale);
	group(&p->head, it + nbase, p->ln, p->scale);
	describe(&p->base, p->ln, p->scale);
	describe(&p->head, p->ln, p->scale);
	find_modes(p, profile);
}
