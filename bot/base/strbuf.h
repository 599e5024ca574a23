/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing byte string. Running out of memory aborts: no caller could go on in a useful way. */
#pragma once

#include "bot/base/cleanup.h"

#include <stdarg.h>
#include <stddef.h>

/**
 * struct strbuf - a growing byte string, always NUL-terminated once something was added.
 * @s: the bytes; NULL while empty and never grown; owned.
 * @len: bytes in use, without the NUL.
 * @cap: bytes allocated.
 */
struct strbuf {
	char *s;
	size_t len;
	size_t cap;
};

#define STRBUF_INIT \
	{           \
		0   \
	}

void strbuf_done(struct strbuf *b);
void strbuf_reset(struct strbuf *b);
/** strbuf_cut() - keep the first @len bytes; nothing happens when there are not more. */
void strbuf_cut(struct strbuf *b, size_t len);
void strbuf_add(struct strbuf *b, const void *data, size_t len);
void strbuf_addstr(struct strbuf *b, const char *s);
void strbuf_addch(struct strbuf *b, char c);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/** strbuf_str() - the bytes as a C string, "" when empty; belongs to @b. */
const char *strbuf_str(const struct strbuf *b);

/** strbuf_take() - hand the string over (free() it) and leave @b empty; never NULL. */
char *strbuf_take(struct strbuf *b);

/** xstrdup(), xstrndup(), xasprintf() - allocate or abort. */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** xcalloc(), xreallocarray() - allocate (zeroed) or abort; overflow of n * size aborts too. */
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);

/** PROBABILITY_TEXT - bytes that probability_text() needs. */
#define PROBABILITY_TEXT 16

/**
 * probability_text() - "0.995"; ">0.999" and "<0.001" where three digits would say certainty, which
 * no measurement gives; "-" for NaN. Return: @buf.
 */
const char *probability_text(char buf[PROBABILITY_TEXT], double p);
