/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/detect/series_parts.h"
#include "bot/detect/stats.h"

#include <math.h>

static int compare_rows(const void *a, const void *b)
{
	const struct series_row *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->commit != y->commit)
		return x->commit < y->commit ? -1 : 1;
	if (isnan(x->time) || isnan(y->time))
		return isnan(y->time) - isnan(x->time);
	return (x->time > y->time) - (x->time < y->time);
}

/*
 * When the second of the commits after each had been measured, NaN where that is not known: rows of
 * a commit from after then were measured again, unless all of its rows are.
 */
static double *again_from(const struct series *s)
{
	double *from = xcalloc(s->points.len + 1, sizeof(*from));
	double first = INFINITY, second = INFINITY;

	for (size_t i = s->points.len; i-- > 0;) {
		double t = s->points.items[i].time;

		from[i] = t < second ? second : (double)INFINITY;
		if (t < first) {
			second = first;
			first = t;
		} else if (t < second) {
			second = t;
		}
	}
	return from;
}

/* Value of a commit from its @n rows, and what was measured again. */
static void fill_point(struct series *s, const struct series_row *rows, size_t n, double again,
		       bool by_boot, double *values)
{
	struct series_point *p = &s->points.items[rows->commit];
	size_t known = 0, boots = 0;

	for (size_t i = 0; i < n; i++) {
		bool seen = false;

		if (!isfinite(rows[i].value))
			continue;
		if (rows[i].time > again) {
			struct series_remeasure a = { rows->commit, rows[i].time, rows[i].value };

			vec_push(&s->again, a);
			continue;
		}
		for (size_t k = i; by_boot && k-- > 0 && !seen && i - k < 1000;)
			seen = rows[k].boot == rows[i].boot && isfinite(rows[k].value);
		boots += !seen;
		values[known++] = rows[i].value;
	}
	p->units = (double)(by_boot ? boots : known);
	p->value = known ? stats_median(values, known) : p->value;
}

void series_fill_points(struct series_file *f, struct series_rows *rows, bool by_boot)
{
	_cleanup_(freep) double *values = xcalloc(rows->len + 1, sizeof(*values));
	_cleanup_(freep) double *again = NULL;
	size_t last = SIZE_MAX, sorted = 1;

	if (!rows->len)
		return;
	while (sorted < rows->len &&
	       compare_rows(&rows->items[sorted - 1], &rows->items[sorted]) <= 0)
		sorted++;
	if (sorted < rows->len)
		qsort(rows->items, rows->len, sizeof(*rows->items), compare_rows);
	vec_foreach (row, rows) {
		double *t = &f->items.items[row->series].points.items[row->commit].time;

		if (isfinite(row->time) && !(*t <= row->time))
			*t = row->time;
	}
	for (size_t i = 0, n; i < rows->len; i += n) {
		const struct series_row *first = &rows->items[i];
		struct series *s = &f->items.items[first->series];

		for (n = 1; i + n < rows->len && first[n].series == first->series &&
			    first[n].commit == first->commit;)
			n++;
		if (first->series != last) {
			free(again);
			again = again_from(s);
			last = first->series;
		}
		fill_point(s, first, n, again[first->commit], by_boot, values);
	}
}
