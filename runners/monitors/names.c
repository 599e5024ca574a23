/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/monitors/names.h"

#include "bot/base/strbuf.h"

#include <string.h>

#define SLOTS_FIRST 256u

void names_init(struct names *t, uint32_t max)
{
	*t = (struct names){ .max = max, .slots_n = SLOTS_FIRST };
	t->slots = xcalloc(t->slots_n, sizeof(*t->slots));
}

void names_done(struct names *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->items[i].s);
	free(t->items);
	free(t->slots);
	*t = (struct names){ 0 };
}

uint32_t names_hash(const char *s, size_t len)
{
	uint64_t h = len * UINT64_C(0x9e3779b97f4a7c15), w;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	w = 0;
	if (len > 0)
		memcpy(&w, s, len);
	h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(h ^ (h >> 32));
}

/* Names may hold NUL bytes. */
static char *copy_of(const char *s, size_t len)
{
	char *copy = xcalloc(len + 1, 1);

	if (len > 0)
		memcpy(copy, s, len);
	return copy;
}

static void names_grow(struct names *t)
{
	uint32_t n = t->slots_n * 2;
	uint32_t *slots = xcalloc(n, sizeof(*slots));

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t at = t->items[i].hash & (n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->slots_n = n;
}

uint32_t names_intern(struct names *t, const char *s, size_t len)
{
	uint32_t hash = names_hash(s, len);
	uint32_t at = hash & (t->slots_n - 1);

	while (t->slots[at]) {
		const struct name *n = &t->items[t->slots[at] - 1];

		if (n->hash == hash && n->len == len && !memcmp(n->s, s, len))
			return t->slots[at] - 1;
		at = (at + 1) & (t->slots_n - 1);
	}
	if (t->n == t->max || len >= UINT32_MAX)
		return NAMES_FULL;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		t->items = xreallocarray(t->items, t->cap, sizeof(*t->items));
	}
	t->items[t->n] = (struct name){ copy_of(s, len), (uint32_t)len, hash };
	t->slots[at] = ++t->n;
	if (t->n * 2 > t->slots_n)
		names_grow(t);
	return t->n - 1;
}
