/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void grow(struct strbuf *b, size_t extra)
{
	size_t need = b->len + extra + 1;
	size_t cap = b->cap ? b->cap : 64;

	if (need <= extra)
		abort();
	if (need <= b->cap)
		return;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	b->s = xreallocarray(b->s, cap, 1);
	b->cap = cap;
}

void strbuf_done(struct strbuf *b)
{
	free(b->s);
	b->s = NULL;
	b->len = b->cap = 0;
}

void strbuf_reset(struct strbuf *b)
{
	b->len = 0;
	if (b->s)
		b->s[0] = '\0';
}

void strbuf_cut(struct strbuf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->s[len] = '\0';
}

void strbuf_add(struct strbuf *b, const void *data, size_t len)
{
	grow(b, len);
	if (len)
		memcpy(b->s + b->len, data, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void strbuf_addstr(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_addch(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		abort();
	grow(b, (size_t)n);
	(void)vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->s ? b->s : "";
}

char *strbuf_take(struct strbuf *b)
{
	char *s = b->s ? b->s : xstrdup("");

	b->s = NULL;
	b->len = b->cap = 0;
	return s;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xreallocarray(NULL, len + 1, 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	return strbuf_take(&b);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size ? size : 1);

	if (!q)
		abort();
	return q;
}

const char *probability_text(char buf[PROBABILITY_TEXT], double p)
{
	if (!(p >= 0 && p <= 1))
		(void)snprintf(buf, PROBABILITY_TEXT, "-");
	else if (p >= 0.9995)
		(void)snprintf(buf, PROBABILITY_TEXT, ">0.999");
	else if (p < 0.0005)
		(void)snprintf(buf, PROBABILITY_TEXT, "<0.001");
	else
		(void)snprintf(buf, PROBABILITY_TEXT, "%.3f", p);
	return buf;
}
