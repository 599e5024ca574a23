/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headlines of one suite at 1, 2, 4 … tasks are one finding: where it is better, and where worse. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/findings_internal.h"

#include <math.h>
#include <string.h>

enum {
	LADDER_MIN = 3,
	DIGITS_MAX = 9
};

/* A headline's name with one of its numbers taken out. */
struct rung {
	char *pattern; /* owned */
	double at;
	size_t metric;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of its own, not the end of a word such as page_fault1. */
static bool stands_alone(const char *name, size_t from, size_t to)
{
	static const char *const words[] = { "task", "thread", "process", "cpu" };
	const char *after = name + to;

	if (to - from > DIGITS_MAX || (from && !strchr("._-=/:@", name[from - 1])))
		return false;
	if (!*after || strchr("._-/:", *after))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strncmp(after, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

bool findings_has_number(const char *name)
{
	for (size_t i = 0; name[i]; i++) {
		size_t end = i;

		while (is_digit(name[end]))
			end++;
		if (end > i && stands_alone(name, i, end))
			return true;
		if (end > i)
			i = end - 1;
	}
	return false;
}

static double number(const char *s, size_t n)
{
	double v = 0;

	for (size_t i = 0; i < n; i++)
		v = 10 * v + (s[i] - '0');
	return v;
}

struct rungs {
	struct rung *items;
	size_t len, cap;
};

static void add_rungs(struct rungs *r, const char *name, size_t metric)
{
	for (size_t i = 0; name[i]; i++) {
		size_t end = i;

		if (!is_digit(name[i]))
			continue;
		while (is_digit(name[end]))
			end++;
		if (stands_alone(name, i, end)) {
			struct rung x = { .at = number(name + i, end - i), .metric = metric };

			x.pattern = xasprintf("%.*s*%s", (int)i, name, name + end);
			vec_push(r, x);
		}
		i = end - 1;
	}
}

static int by_pattern(const void *pa, const void *pb)
{
	const struct rung *a = pa, *b = pb;
	int c = strcmp(a->pattern, b->pattern);

	if (c)
		return c;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

static bool changed(enum detect_verdict v)
{
	return v == DETECT_REGRESSION || v == DETECT_IMPROVEMENT || v == DETECT_CHANGE ||
	       v == DETECT_CANDIDATE;
}

/* The worst verdict leads, and of those the surest. */
static bool leads(const struct findings_metric *a, const struct findings_metric *b)
{
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict;
	return fabs(a->t) > fabs(b->t);
}

static void add_ladder(const struct findings_metric *m, const struct rung *r, size_t n,
		       struct findings *f)
{
	struct finding x = { .lead = r[0].metric };
	size_t moved = 0;

	for (size_t i = 0; i < n; i++) {
		if (f->role[r[i].metric] || (i && r[i].at == r[i - 1].at))
			return;
		if (leads(&m[r[i].metric], &m[x.lead]))
			x.lead = r[i].metric;
		moved += changed(m[r[i].metric].verdict);
	}
	if (!moved || f->items.len >= FINDINGS_MAX)
		return;
	x.ladder_name = xstrdup(r[0].pattern);
	for (size_t i = 0; i < n; i++) {
		struct finding_step step = { r[i].at, r[i].metric };

		vec_push(&x.ladder, step);
		f->role[r[i].metric] = FINDINGS_ROLE_LEAD;
		f->of[r[i].metric] = f->items.len;
	}
	vec_push(&f->items, x);
}

void findings_ladders(const struct findings_metric *m, size_t n, struct findings *f)
{
	struct rungs r = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (m[i].lead)
			add_rungs(&r, m[i].name, i);
	}
	if (r.len)
		qsort(r.items, r.len, sizeof(*r.items), by_pattern);
	for (size_t i = 0; i < r.len;) {
		size_t end = i + 1;

		while (end < r.len && !strcmp(r.items[end].pattern, r.items[i].pattern))
			end++;
		if (end - i >= LADDER_MIN)
			add_ladder(m, &r.items[i], end - i, f);
		i = end;
	}
	vec_foreach (x, &r)
		free(x->pattern);
	vec_done(&r);
}
