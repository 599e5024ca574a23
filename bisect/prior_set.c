/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/prior.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <stdlib.h>
#include <string.h>

void prior_set_done(struct prior_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i]);
	free(s->items);
	*s = (struct prior_set){ 0 };
}

static void push(struct prior_set *s, const char *word, size_t len)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 256;
		s->items = xreallocarray(s->items, s->cap, sizeof(*s->items));
	}
	s->items[s->n++] = xstrndup(word, len);
}

/* The next line of @at: its first word, and the one after it. Empty lines are passed over. */
struct line {
	const char *word, *second;
	size_t word_len, second_len;
};

static const char *next_line(const char *at, const char *end, struct line *ret)
{
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *p;

		stop = stop ? stop : end;
		for (p = at; p < stop && *p != ' ' && *p != '\0';)
			p++;
		*ret = (struct line){ .word = at, .word_len = (size_t)(p - at) };
		if (p < stop && *p == ' ') {
			ret->second = p + 1;
			ret->second_len = (size_t)(stop - p - 1);
		}
		at = stop < end ? stop + 1 : end;
		if (ret->word_len)
			return at;
	}
	return NULL;
}

void prior_set_add(struct prior_set *s, const char *text, size_t len)
{
	const char *end = text + len;
	struct line l;

	for (const char *at = text; at && (at = next_line(at, end, &l));)
		push(s, l.word, l.word_len);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void prior_set_sort(struct prior_set *s)
{
	size_t n = 0;

	if (!s->n)
		return;
	qsort(s->items, s->n, sizeof(*s->items), compare);
	for (size_t i = 0; i < s->n; i++) {
		if (n && strcmp(s->items[n - 1], s->items[i]) == 0)
			free(s->items[i]);
		else
			s->items[n++] = s->items[i];
	}
	s->n = n;
}

/* Index of the first word that is not before @word, of which @len bytes count. */
static size_t lower_bound(const struct prior_set *s, const char *word, size_t len)
{
	size_t lo = 0;
	size_t hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strncmp(s->items[mid], word, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool prior_set_has(const struct prior_set *s, const char *word)
{
	size_t i = lower_bound(s, word, strlen(word) + 1);

	return i < s->n && strcmp(s->items[i], word) == 0;
}

bool prior_set_below(const struct prior_set *s, const char *folder, size_t len)
{
	size_t i = lower_bound(s, folder, len);

	return i < s->n && strncmp(s->items[i], folder, len) == 0;
}

static int compare_words(const struct line *a, const struct line *b)
{
	size_t n = a->word_len < b->word_len ? a->word_len : b->word_len;
	int r = memcmp(a->word, b->word, n);

	return r ? r : (a->word_len > b->word_len) - (a->word_len < b->word_len);
}

static bool same_second(const struct line *a, const struct line *b)
{
	return a->second && b->second && a->second_len == b->second_len &&
	       memcmp(a->second, b->second, a->second_len) == 0;
}

bool prior_same_objects(const char *a, size_t a_len, const char *b, size_t b_len,
			struct prior_set *ret)
{
	struct line x;
	struct line y;
	const char *p = next_line(a, a + a_len, &x);
	const char *q = next_line(b, b + b_len, &y);

	*ret = (struct prior_set){ 0 };
	while (p && q) {
		int r = compare_words(&x, &y);

		if (r == 0 && x.word_len > 2 && same_second(&x, &y) &&
		    memcmp(x.word + x.word_len - 2, ".o", 2) == 0)
			push(ret, x.word, x.word_len - 2);
		if (r <= 0)
			p = next_line(p, a + a_len, &x);
		if (r >= 0)
			q = next_line(q, b + b_len, &y);
	}
	prior_set_sort(ret);
	return a_len && a_len == b_len && memcmp(a, b, a_len) == 0;
}
