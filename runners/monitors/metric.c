/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/monitors/internal.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *unit, *rate, *op;
} units[] = {
	{ "", "1/s", "1/op" },	      { "B", "B/s", "B/op" },	    { "s", "s/s", "s/op" },
	{ "KiB", "KiB/s", "KiB/op" }, { "MiB", "MiB/s", "MiB/op" }, { "J", "W", "J/op" },
};

static size_t unit_index(const struct meaning *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].unit, w->unit))
			return i;
	return 0;
}

const char *meaning_rate_unit(const struct meaning *w)
{
	return units[unit_index(w)].rate;
}

const char *meaning_op_unit(const struct meaning *w)
{
	return units[unit_index(w)].op;
}

void metric_name_clean(char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~')
			s[i] = '_';
}

size_t metric_name(char buf[MONITOR_NAME_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, MONITOR_NAME_MAX, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if ((size_t)n >= MONITOR_NAME_MAX)
		n = MONITOR_NAME_MAX - 1;
	metric_name_clean(buf, (size_t)n);
	return (size_t)n;
}

void metric_give(struct suite_output *out, const char *name, const char *unit,
		 enum metric_kind kind, const char *about, double value, double *series,
		 size_t series_n)
{
	struct metric_def def = {
		.name = name, .unit = unit, .better = BETTER_NONE, .kind = kind, .about = about
	};

	(void)metric_add(out, &def, value, series, series_n);
}

void metric_give_count(struct suite_output *out, const char *name, const struct meaning *w,
		       double total, double span_s, double work)
{
	_cleanup_(freep) char *per_op = NULL;

	if (span_s > 0)
		metric_give(out, name, meaning_rate_unit(w), KIND_RATE, w->about,
			    total * w->scale / span_s, NULL, 0);
	if (!(work > 0))
		return;
	per_op = xasprintf("%s.per_op", name);
	metric_give(out, per_op, meaning_op_unit(w), *w->unit == 's' ? KIND_TIME : KIND_COUNT,
		    w->about, total * w->scale / work, NULL, 0);
}

bool number_u64(const char *s, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return false;
	}
	*ret = v;
	return true;
}

bool number_f64(const char *s, size_t len, double *ret)
{
	struct scan c = { .p = s, .end = s + len };
	double v;

	if (!scan_f64(&c, &v) || !scan_end(&c))
		return false;
	*ret = v;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool word_next(struct scan *s, struct word *ret)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
	if (s->p == s->end)
		return false;
	ret->s = s->p;
	while (s->p < s->end && !is_blank(*s->p))
		s->p++;
	ret->len = (size_t)(s->p - ret->s);
	return true;
}

bool word_eq(const struct word *w, const char *lit)
{
	size_t n = strlen(lit);

	return w->len == n && !memcmp(w->s, lit, n);
}

size_t words_split(const struct line *l, struct word *words, size_t max)
{
	struct scan s = scan_line(l);
	struct word w;
	size_t n = 0;

	while (word_next(&s, &w)) {
		if (n < max)
			words[n] = w;
		n++;
	}
	return n;
}
