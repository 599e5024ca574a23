/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"
#include "runners/suites/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEMS_MAX 100
#define EXCERPT_MAX  48
#define TEXT_MAX     400

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

static double pow10_of(unsigned n)
{
	double v = 1;

	while (n-- > 0)
		v *= 10;
	return v;
}

/* strtod() of digits of which the last @decimals are behind the point. */
static double digits_value(const char *digits, size_t n, unsigned decimals)
{
	uint64_t v = 0;

	/* Both below 2^53: one division rounds as strtod() does, and takes a tenth of its time. */
	if (n > 16 || decimals > 15)
		return strtod(digits, NULL);
	for (size_t i = 0; i < n; i++)
		if (digits[i] != '.')
			v = v * 10 + (uint64_t)(digits[i] - '0');
	return decimals ? (double)v / pow10_of(decimals) : (double)v;
}

bool scan_f64(struct scan *s, double *ret)
{
	char digits[40];
	const char *p = s->p;
	unsigned decimals = 0;
	size_t n;
	bool point = false;

	while (p < s->end && (is_digit(*p) || (*p == '.' && !point && p > s->p))) {
		decimals += point;
		point |= *p == '.';
		p++;
	}
	n = (size_t)(p - s->p);
	if (n == 0 || n >= sizeof(digits) || p[-1] == '.')
		return false;
	memcpy(digits, s->p, n);
	digits[n] = '\0';
	*ret = digits_value(digits, n, decimals);
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

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* 1 to 3 digits and groups of three behind commas, or no commas at all; then decimals. */
static bool scan_grouped(struct scan *s, double *ret)
{
	char digits[40];
	size_t n = 0, group = 0;
	bool grouped = false;
	const char *p = s->p;
	struct scan plain;

	for (; p < s->end && (is_digit(*p) || *p == ','); p++) {
		if (*p == ',') {
			if (grouped ? group != 3 : group < 1 || group > 3 || *s->p == '0')
				return false;
			grouped = true;
			group = 0;
		} else if (n < sizeof(digits) / 2) {
			digits[n++] = *p;
			group++;
		} else {
			return false;
		}
	}
	if (!grouped)
		return scan_f64(s, ret);
	if (group != 3)
		return false;
	for (; p < s->end && (is_digit(*p) || *p == '.') && n < sizeof(digits); p++)
		digits[n++] = *p;
	plain = (struct scan){ .p = digits, .end = digits + n };
	if (!scan_f64(&plain, ret) || !scan_end(&plain))
		return false;
	s->p = p;
	return true;
}

static bool scan_word(struct scan *s, struct scan *ret)
{
	const char *p = s->p;

	while (p < s->end && !is_blank(*p))
		p++;
	*ret = (struct scan){ .p = s->p, .end = p };
	s->p = p;
	return ret->end > ret->p;
}

static void skip_blanks(struct scan *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

bool line_match(const struct line *l, const char *pattern, ...)
{
	struct scan s = scan_line(l);
	bool ok = true;
	va_list ap;

	va_start(ap, pattern);
	for (const char *p = pattern; *p && ok; p++) {
		if (*p == ' ' || *p == '_') {
			ok = *p == '_' || (s.p < s.end && is_blank(*s.p));
			skip_blanks(&s);
		} else if (*p != '%' || *++p == '%') {
			ok = s.p < s.end && *s.p == *p;
			s.p += ok;
		} else if (*p == 'f') {
			ok = scan_f64(&s, va_arg(ap, double *));
		} else if (*p == 'g') {
			ok = scan_grouped(&s, va_arg(ap, double *));
		} else if (*p == 'u') {
			ok = scan_u64(&s, va_arg(ap, uint64_t *));
		} else if (*p == 'w') {
			ok = scan_word(&s, va_arg(ap, struct scan *));
		} else {
			s.p = s.end;
		}
	}
	va_end(ap);
	skip_blanks(&s);
	return ok && scan_end(&s);
}

size_t line_words(const struct line *l, struct scan *words, size_t max)
{
	struct scan s = scan_line(l), w;
	size_t n = 0;

	for (skip_blanks(&s); scan_word(&s, &w); skip_blanks(&s)) {
		if (n == max)
			return max + 1;
		words[n++] = w;
	}
	return n;
}

bool word_is(struct scan w, const char *lit)
{
	return scan_lit(&w, lit) && scan_end(&w);
}

bool word_f64(struct scan w, double *ret)
{
	return scan_f64(&w, ret) && scan_end(&w);
}

bool word_u64(struct scan w, uint64_t *ret)
{
	return scan_u64(&w, ret) && scan_end(&w);
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

void reader_init(struct reader *r, const char *text, size_t len, struct suite_output *out)
{
	*r = (struct reader){ .ls = { .text = text, .len = len },
			      .l = { .s = text, .nr = 1 },
			      .out = out };
}

bool reader_next(struct reader *r)
{
	while (lines_next(&r->ls, &r->l)) {
		if (r->l.len > 0 && (*r->l.s == '[' || *r->l.s == '<') &&
		    line_is_kernel_log(&r->l)) {
			suite_problem_add(r->out, &r->l, "a line of the kernel log, skipping");
			continue;
		}
		if (r->l.whole)
			return true;
		suite_problem_add(r->out, &r->l,
				  "the last line has no line break and may be cut, skipping");
	}
	return false;
}

/* Bytes of the escape sequence that begins at @p: ESC [ parameters letter, or ESC and one byte. */
static size_t escape_len(const char *p, size_t left)
{
	size_t n = 2;

	if (left < 2 || p[1] == '\n')
		return 1;
	if (p[1] != '[')
		return 2;
	while (n < left && p[n] >= ' ' && p[n] <= '?')
		n++;
	return n < left && p[n] >= '@' && p[n] <= '~' ? n + 1 : n;
}

bool output_clean(const char *text, size_t len, struct strbuf *ret)
{
	size_t start = 0;

	if (!memchr(text, '\033', len) && !memchr(text, '\0', len))
		return false;
	for (size_t i = 0; i < len;) {
		if (text[i] == '\033') {
			i += escape_len(text + i, len - i);
			continue;
		}
		if (text[i] == '\0' && ret->len == start) {
			i++;
			continue;
		}
		if (text[i] == '\n')
			while (ret->len > start && ret->s[ret->len - 1] == '\0')
				strbuf_cut(ret, ret->len - 1);
		strbuf_addch(ret, text[i]);
		if (text[i++] == '\n')
			start = ret->len;
	}
	return true;
}

void output_relocate(const char *text, size_t len, struct suite_output *out)
{
	struct lines ls = { .text = text, .len = len };
	struct line l = { .s = text, .nr = 1 };

	/* Mostly in order of lines; where not, from the start again. */
	for (size_t i = 0; i < out->problems_n; i++) {
		struct suite_problem *p = &out->problems[i];

		if (p->line < l.nr) {
			ls = (struct lines){ .text = text, .len = len };
			l = (struct line){ .s = text, .nr = 1 };
		}
		while ((ls.nr == 0 || l.nr < p->line) && lines_next(&ls, &l))
			;
		p->byte = l.byte;
	}
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
	strbuf_cut(&b, TEXT_MAX);
	for (size_t i = 0; i < b.len; i++)
		if (b.s[i] < ' ' || b.s[i] > '~')
			b.s[i] = '?';
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
	/* Room for twice as many whenever a power of two is full: monitors give thousands. */
	if ((out->n & (out->n - 1)) == 0)
		out->metrics =
			xreallocarray(out->metrics, out->n ? out->n * 2 : 1, sizeof(*out->metrics));
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
