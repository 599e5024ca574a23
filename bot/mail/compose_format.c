/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose_text.h"
#include "bot/mail/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_word(struct strbuf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addch(out, (char)(s[i] == NBSP_CH ? ' ' : s[i]));
}

void compose_wrap(struct strbuf *out, const char *first, const char *rest, const char *text,
		  size_t width)
{
	size_t col = text_width(first);
	bool empty = true;

	strbuf_addstr(out, first);
	text += strspn(text, " ");
	while (*text) {
		size_t n = strcspn(text, " ");
		_cleanup_(freep) char *word = xstrndup(text, n);
		size_t w = text_width(word);

		if (!empty && col + 1 + w > width) {
			strbuf_addf(out, "\n%s", rest);
			col = text_width(rest);
			empty = true;
		}
		if (!empty) {
			strbuf_addch(out, ' ');
			col++;
		}
		add_word(out, word, n);
		col += w;
		empty = false;
		text += n;
		text += strspn(text, " ");
	}
	strbuf_addch(out, '\n');
}

void compose_line(struct strbuf *out, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	while (b.len && b.s[b.len - 1] == ' ')
		b.s[--b.len] = '\0';
	strbuf_addstr(out, strbuf_str(&b));
	strbuf_addch(out, '\n');
	strbuf_done(&b);
}

const char *compose_pct(char *buf, double rel, int decimals, bool sign)
{
	double v = rel * 100;
	double unit = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;

	if (!sign)
		v = fabs(v);
	if (fabs(v) >= 1000)
		decimals = 0;
	/* no "-0.0%" */
	if (round(v * unit) == 0.0)
		v = 0;
	if (fabs(v) >= 1e7)
		(void)snprintf(buf, COMPOSE_NUMBER, sign ? "%+.1e%%" : "%.1e%%", v);
	else
		(void)snprintf(buf, COMPOSE_NUMBER, sign ? "%+.*f%%" : "%.*f%%", decimals, v);
	return buf;
}

int compose_decimals(const struct compose_change *c)
{
	return !isnan(c->lo) && c->hi - c->lo < 0.002 ? 2 : 1;
}

const char *compose_mean(char *buf, double v)
{
	double a = fabs(v);

	if (a >= 999.5 && a < 9999999.5)
		(void)snprintf(buf, COMPOSE_NUMBER, "%.0f", v);
	else if (v >= 999.5 && v < 99999999.5)
		(void)snprintf(buf, COMPOSE_NUMBER, "%.0f", v);
	else if (a >= 1 && a < 999.5)
		(void)snprintf(buf, COMPOSE_NUMBER, "%.4g", v);
	else if (a < 1 && (a >= 0.0001 || a == 0.0))
		(void)snprintf(buf, COMPOSE_NUMBER, "%.3g", v);
	else
		(void)snprintf(buf, COMPOSE_NUMBER, v < 0 ? "%.0e" : "%.1e", v);
	return buf;
}

const char *compose_probability(char *buf, double p)
{
	char text[PROBABILITY_TEXT];

	(void)snprintf(buf, COMPOSE_NUMBER, "%s", probability_text(text, p));
	return buf;
}

/* An end of an interval: as a percentage without its sign. */
static void add_end(struct strbuf *out, double v, int decimals)
{
	char buf[COMPOSE_NUMBER];

	(void)compose_pct(buf, v, decimals, true);
	buf[strcspn(buf, "%")] = '\0';
	strbuf_addstr(out, buf);
}

void compose_change_text(struct strbuf *out, const struct compose_change *c)
{
	int decimals = compose_decimals(c);
	char buf[COMPOSE_NUMBER];

	strbuf_addstr(out, compose_pct(buf, c->rel, decimals, true));
	if (isnan(c->lo))
		return;
	strbuf_addstr(out, NBSP "(");
	add_end(out, c->lo, decimals);
	strbuf_addstr(out, NBSP ".." NBSP);
	add_end(out, c->hi, decimals);
	strbuf_addch(out, ')');
}
