/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"

#include <math.h>
#include <string.h>

/* The index of a change moves by a few commits while points come in. */
#define SAME_CHANGE 5

static size_t apart(const struct change_point *a, const struct change_point *b)
{
	return a->index > b->index ? a->index - b->index : b->index - a->index;
}

/* May @now be what was told as @was? It cannot have begun after it was seen. */
static bool same_change(const struct change_point *was, const struct change_point *now)
{
	return (was->after > was->before) == (now->after > now->before) &&
	       now->index <= was->seen_at &&
	       (apart(was, now) <= SAME_CHANGE || (was->lo <= now->hi && now->lo <= was->hi));
}

/* The search on the tail that ends before @end, with indexes of the whole series. */
static int find_tail(const struct series_point *points, size_t end,
		     const struct changes_control *control, const struct changes_options *o,
		     struct changes *ret, struct err *e)
{
	size_t from = end > CHANGES_TAIL ? end - CHANGES_TAIL : 0;
	_cleanup_(freep) struct series_remeasure *again = NULL;
	struct changes_control moved = { 0 };
	int r;

	if (control) {
		moved = *control;
		again = xcalloc(control->nagain + 1, sizeof(*again));
		moved.again = again;
		moved.nagain = 0;
		for (size_t i = 0; i < control->nagain; i++) {
			struct series_remeasure a = control->again[i];

			if (a.index < from || a.index >= end)
				continue;
			a.index -= from;
			again[moved.nagain++] = a;
		}
	}
	if (from)
		points += from;
	r = changes_find(points, end - from, control ? &moved : NULL, o, ret, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ret->n; i++) {
		ret->items[i].index += from;
		ret->items[i].lo += from;
		ret->items[i].hi += from;
	}
	ret->current += ret->n ? from : 0;
	return 0;
}

struct told {
	VEC(struct change_point) items;
};

/* What was told that is the same as @c and nearest to it; @old if nothing is. */
static size_t find_told(const struct told *t, size_t old, const bool *holds,
			const struct change_point *c)
{
	size_t best = old;

	for (size_t k = 0; k < old; k++) {
		const struct change_point *was = &t->items.items[k];

		if (!holds[k] && same_change(was, c) &&
		    (best == old || apart(was, c) < apart(&t->items.items[best], c)))
			best = k;
	}
	return best;
}

/* One more point: what is new, what still holds, what is gone. */
static void tell(struct told *t, const struct changes *now, size_t end, bool silent)
{
	size_t from = end > CHANGES_TAIL ? end - CHANGES_TAIL : 0;
	size_t old = t->items.len;
	_cleanup_(freep) bool *holds = xcalloc(old + 1, sizeof(*holds));

	for (size_t i = 0; i < now->n; i++) {
		struct change_point c = now->items[i];
		size_t k;

		if (c.kind == CHANGE_OUTLIER_RUN)
			continue;
		k = find_told(t, old, holds, &c);
		if (k < old) {
			c.seen_at = t->items.items[k].seen_at;
			t->items.items[k] = c;
			holds[k] = true;
		} else {
			c.seen_at = silent ? CHANGE_NEVER : end - 1;
			vec_push(&t->items, c);
		}
	}
	for (size_t k = 0; k < old; k++) {
		struct change_point *was = &t->items.items[k];

		/* What has left the tail cannot be looked at again. */
		if (!holds[k] && was->gone_at == CHANGE_NEVER &&
		    was->index >= from + CHANGES_POINTS_MIN)
			was->gone_at = end - 1;
	}
}

static int compare_index(const void *a, const void *b)
{
	size_t x = ((const struct change_point *)a)->index;
	size_t y = ((const struct change_point *)b)->index;

	return (x > y) - (x < y);
}

int changes_online(const struct series_point *points, size_t n, size_t from,
		   const struct changes_control *control, const struct changes_options *options,
		   struct changes *ret, struct err *e)
{
	struct changes_options o = options ? *options : (struct changes_options){ 0 };
	struct changes now = { 0 };
	struct told told = { 0 };
	size_t end = from > CHANGES_POINTS_MIN ? from : CHANGES_POINTS_MIN;
	int r = 0;

	o.sensitivity = CHANGES_ONLINE;
	if (n > CHANGES_POINTS_MAX)
		return err_set(e, ERR_TOO_BIG, "%zu commits in a series, at most %d are taken", n,
			       CHANGES_POINTS_MAX);
	for (end = end > n ? n : end; r == 0; end++) {
		changes_done(&now);
		r = find_tail(points, end, control, &o, &now, e);
		if (r == 0)
			tell(&told, &now, end, end <= from);
		if (end >= n)
			break;
	}
	if (r < 0) {
		vec_done(&told.items);
		changes_done(&now);
		return r;
	}
	free(now.items);
	now.n = 0;
	vec_foreach (c, &told.items) {
		if (c->seen_at != CHANGE_NEVER)
			told.items.items[now.n++] = *c;
	}
	now.items = told.items.items;
	if (now.n)
		qsort(now.items, now.n, sizeof(*now.items), compare_index);
	*ret = now;
	return 0;
}

int changes_newest(const struct series_point *points, size_t n,
		   const struct changes_control *control, const struct changes_options *options,
		   struct change_point *ret, struct err *e)
{
	size_t from = n > CHANGES_MEMORY ? n - CHANGES_MEMORY : 0;
	struct changes c = { 0 };
	int r = changes_online(points, n, from, control, options, &c, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < c.n; i++) {
		if (c.items[i].seen_at + 1 != n)
			continue;
		*ret = c.items[i];
		r = 1;
	}
	changes_done(&c);
	return r;
}

size_t changes_split(const struct series_point *points, size_t n)
{
	struct changes_options o = { .sensitivity = CHANGES_SENSITIVE };
	struct changes c = { 0 };
	size_t split = 0;

	if (find_tail(points, n, NULL, &o, &c, NULL) == 0)
		split = c.current;
	changes_done(&c);
	return split;
}
