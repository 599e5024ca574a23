/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"
#include "runners/suites/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEMS_MAX 100
#define EXCERPT_MAX  48

bool lines_next(struct lines *ls, struct line *l)
{
	const char *start = ls->text + ls->pos;
	size_t left = ls->len - ls->pos;
	const char *nl;

	if (left == 0)
		return false;
	nl = memchr(start, '\n', left);
	l->s = start;
	l->len = nl ? (size_t)(nl - start) : left;
	l->byte = ls->pos;
	l->nr = ++ls->nr;
	l->whole = nl != NULL;
	ls->pos += l->len + (nl ? 1 : 0);
	l->cr = nl && l->len > 0 && start[l->len - 1] == '\r';
	if (l->cr)
		l->len--;
	return true;
}

struct scan scan_line(const struct line *l)
{
	return (struct scan){ .p = l->s, .end = l->s + l->len };
}

static size_t scan_left(const struct scan *s)
{
	return (size_t)(s->end - s->p);
}

bool scan_lit(struct scan *s, const char *lit)
{
	size_t n = strlen(lit);

	if (scan_left(s) < n || memcmp(s->p, lit, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool scan_u64(struct scan *s, uint64_t *ret)
{
	const char *p = s->p;
	uint64_t v = 0;

	while (p < s->end && is_digit(*p)) {
		v = v * 10 + (uint64_t)(*p++ - '0');
		if (v > SCAN_MAX)
			return false;
	}
	if (p == s->p)
		return false;
	s->p = p;
	*ret = v;
	return true;
}

bool scan_f64(struct scan *s, double *ret)
{
	char digits[40];
	const char *p = s->p;
	size_t n;
	bool point = false;

	while (p < s->end && (is_digit(*p) || (*p == '.' && !point && p > s->p))) {
		point |= *p == '.';
		p++;
	}
	n = (size_t)(p - s->p);
	if (n == 0 || n >= sizeof(digits) || p[-1] == '.')
		return false;
	memcpy(digits, s->p, n);
	digits[n] = '\0';
	*ret = strtod(digits, NULL);
	s->p = p;
	return true;
}

void scan_blanks(struct scan *s)
{
	while (s->p < s->end && *s->p == ' ')
		s->p++;
}

bool scan_end(const struct scan *s)
{
	return s->p == s->end;
}

bool line_starts(const struct line *l, const char *lit)
{
	struct scan s = scan_line(l);

	return scan_lit(&s, lit);
}

bool line_has(const struct line *l, const char *lit)
{
	return memmem(l->s, l->len, lit, strlen(lit)) != NULL;
}

bool line_is_kernel_log(const struct line *l)
{
	struct scan s = scan_line(l);
	uint64_t level;
	double stamp;

	if (scan_lit(&s, "<") && !(scan_u64(&s, &level) && scan_lit(&s, ">")))
		return false;
	if (!scan_lit(&s, "["))
		return false;
	scan_blanks(&s);
	return scan_f64(&s, &stamp) && scan_lit(&s, "]");
}

void suite_problem_add(struct suite_output *out, const struct line *l, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	if (out->problems_n == PROBLEMS_MAX)
		return;
	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (!out->problems)
		out->problems = xcalloc(PROBLEMS_MAX, sizeof(*out->problems));
	out->problems[out->problems_n++] = (struct suite_problem){
		.line = l->nr,
		.byte = l->byte,
		.text = strbuf_take(&b),
	};
}

void problem_bad_line(struct suite_output *out, const struct line *l, const char *what)
{
	char text[EXCERPT_MAX + 1];
	size_t n = l->len < EXCERPT_MAX ? l->len : EXCERPT_MAX;

	for (size_t i = 0; i < n; i++) {
		text[i] = '?';
		if (l->s[i] >= ' ' && l->s[i] <= '~')
			text[i] = l->s[i];
	}
	text[n] = '\0';
	suite_problem_add(out, l, "'%s%s' is not %s", text, l->len > n ? "..." : "", what);
}

struct suite_metric *metric_add(struct suite_output *out, const struct metric_def *def,
				double value, double *series, size_t series_n)
{
	struct suite_metric *m;

	if (!isfinite(value)) {
		free(series);
		return NULL;
	}
	out->metrics = xreallocarray(out->metrics, out->n + 1, sizeof(*out->metrics));
	m = &out->metrics[out->n++];
	*m = (struct suite_metric){
		.name = xstrdup(def->name),
		.unit = def->unit,
		.better = def->better,
		.kind = def->kind,
		.about = def->about,
		.value = value,
		.series = series,
		.series_n = series_n,
	};
	return m;
}

const struct suite_metric *suite_metric_find(const struct suite_output *out, const char *name)
{
	for (size_t i = 0; i < out->n; i++)
		if (!strcmp(out->metrics[i].name, name))
			return &out->metrics[i];
	return NULL;
}

void suite_output_metrics_drop(struct suite_output *out)
{
	for (size_t i = 0; i < out->n; i++) {
		free(out->metrics[i].name);
		free(out->metrics[i].series);
	}
	free(out->metrics);
	out->metrics = NULL;
	out->n = 0;
}

void suite_output_done(struct suite_output *out)
{
	suite_output_metrics_drop(out);
	for (size_t i = 0; i < out->problems_n; i++)
		free(out->problems[i].text);
	free(out->problems);
	*out = (struct suite_output){ 0 };
}
