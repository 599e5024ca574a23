/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of named metrics. A hash table, as outputs may hold millions of lines. */
#include "bot/base/strbuf.h"
#include "runners/suites/internal.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 160

/* Eight bytes at a time, as each line is a name. Names are too few to make collisions worth it. */
static uint64_t hash_of(const char *s, size_t n)
{
	uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15), v;

	for (; n >= sizeof(v); n -= sizeof(v), s += sizeof(v)) {
		memcpy(&v, s, sizeof(v));
		h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	v = 0;
	memcpy(&v, s, n);
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static void slots_grow(struct tally *t)
{
	t->slots_n = t->slots_n ? t->slots_n * 4 : 64;
	free(t->slots);
	t->slots = xcalloc(t->slots_n, sizeof(*t->slots));
	for (size_t i = 0; i < t->items.len; i++) {
		size_t at = t->items.items[i].hash & (t->slots_n - 1);

		while (t->slots[at])
			at = (at + 1) & (t->slots_n - 1);
		t->slots[at] = (uint32_t)i + 1;
	}
}

/* "stress-ng.*.ops" with a star of "mmap" is "stress-ng.mmap.ops". Return: its length. */
static size_t write_name(char buf[NAME_MAX_LEN], const char *pattern, const struct scan *star)
{
	const char *at = strchr(pattern, '*');
	size_t head = at ? (size_t)(at - pattern) : strlen(pattern);
	size_t tail = at ? strlen(at + 1) : 0;
	size_t mid = at && star ? (size_t)(star->end - star->p) : 0;

	if (head + tail >= NAME_MAX_LEN)
		return 0;
	if (mid > NAME_MAX_LEN - 1 - head - tail)
		mid = NAME_MAX_LEN - 1 - head - tail;
	memcpy(buf, pattern, head);
	if (mid)
		memcpy(buf + head, star->p, mid);
	if (tail)
		memcpy(buf + head + mid, at + 1, tail);
	buf[head + mid + tail] = '\0';
	return head + mid + tail;
}

static struct tally_item *item_new(struct tally *t, const struct suite_metric_info *info,
				   const char *name, size_t len, const struct scan *unit,
				   uint64_t hash)
{
	size_t unit_len = unit ? (size_t)(unit->end - unit->p) : 0;
	char *copy = xcalloc(1, len + unit_len + 2);

	memcpy(copy, name, len);
	if (unit_len)
		memcpy(copy + len + 1, unit->p, unit_len);
	vec_push(&t->items, ((struct tally_item){ .name = copy,
						  .info = info,
						  .unit = unit ? copy + len + 1 : info->unit,
						  .better = info->better,
						  .kind = info->kind,
						  .headline = info->headline,
						  .hash = hash }));
	return &t->items.items[t->items.len - 1];
}

static struct tally_item *item_find(struct tally *t, const struct line *l,
				    const struct suite_metric_info *info, const struct scan *star,
				    const struct scan *unit)
{
	char name[NAME_MAX_LEN];
	size_t len = write_name(name, info->name, star), at;
	uint64_t hash = hash_of(name, len);

	if (t->items.len * 2 >= t->slots_n)
		slots_grow(t);
	for (at = hash & (t->slots_n - 1); t->slots[at]; at = (at + 1) & (t->slots_n - 1)) {
		struct tally_item *item = &t->items.items[t->slots[at] - 1];

		if (item->hash == hash && !strcmp(item->name, name))
			return item;
	}
	if (t->items.len == TALLY_NAMES_MAX) {
		if (!t->full)
			suite_problem_add(t->out, l, "more than %d metrics; further ones left out",
					  TALLY_NAMES_MAX);
		t->full = true;
		return NULL;
	}
	t->slots[at] = (uint32_t)t->items.len + 1;
	return item_new(t, info, name, len, unit, hash);
}

static void keep_sample(struct tally_item *item, double value)
{
	if (item->n > TALLY_SAMPLES_MAX)
		return;
	if (item->n == TALLY_SAMPLES_MAX) {
		free(item->samples);
		item->samples = NULL;
		return;
	}
	if (item->n == item->samples_cap) {
		item->samples_cap = item->samples_cap ? item->samples_cap * 2 : 1;
		item->samples = xreallocarray(item->samples, item->samples_cap, sizeof(double));
	}
	item->samples[item->n] = value;
}

struct tally_item *tally_add(struct tally *t, const struct line *l,
			     const struct suite_metric_info *info, const struct scan *star,
			     const struct scan *unit, double value)
{
	struct tally_item *item = item_find(t, l, info, star, unit);

	if (!item)
		return NULL;
	keep_sample(item, value);
	item->sum += value;
	item->n++;
	return item;
}

struct tally_item *tally_text(struct tally *t, const struct line *l,
			      const struct suite_metric_info *info, const char *star, double value)
{
	struct scan s = { .p = star, .end = star ? star + strlen(star) : NULL };

	return tally_add(t, l, info, star ? &s : NULL, NULL, value);
}

/* Return: was it added? */
static bool finish_item(struct tally *t, const struct line *l, struct tally_item *item,
			unsigned want)
{
	double mean = item->sum / (double)item->n;
	struct metric_def def = { item->name, item->unit, item->better, item->kind,
				  item->info->about };
	struct suite_metric *m;

	if (item->drop)
		return false;
	if (want > 0 && item->n != want) {
		suite_problem_add(t->out, l, "%zu samples of %s, not %u; left out", item->n,
				  item->name, want);
		return false;
	}
	if (item->headline && mean <= 0) {
		suite_problem_add(t->out, l, "%s is %g; left out", item->name, mean);
		return false;
	}
	m = metric_add(t->out, &def, mean, item->n > 1 ? take_ptr(item->samples) : NULL,
		       item->n > 1 && item->n <= TALLY_SAMPLES_MAX ? item->n : 0);
	if (!m)
		return false;
	/* The unit may be a part of the item's name, which is the metric's from here on. */
	free(m->name);
	m->name = take_ptr(item->name);
	m->headline = item->headline;
	return true;
}

void tally_finish(struct tally *t, const struct line *l, unsigned want, const char *headline)
{
	bool found = false;

	vec_foreach (item, &t->items) {
		bool is_headline = item->headline;

		if (finish_item(t, l, item, want))
			found |= is_headline;
	}
	if (!found)
		suite_problem_add(t->out, l, "the output gives no %s", headline);
	tally_done(t);
}

void tally_done(struct tally *t)
{
	vec_foreach (item, &t->items) {
		free(item->name);
		free(item->samples);
	}
	vec_done(&t->items);
	free(t->slots);
	*t = (struct tally){ .out = t->out };
}

int suite_asked(const struct suite_param *params, size_t n, unsigned *ret_iterations,
		unsigned *ret_tasks, struct err *e)
{
	int r = suite_count(params, n, "iterations", 0, ITERATIONS_MAX, ret_iterations, e);

	return r < 0 ? r : suite_tasks_known(params, n, ret_tasks, e);
}
