/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/json_read.h"

#include "bot/base/err.h"
#include "bot/base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

void json_in_init(struct json_in *in, const char *text, size_t len, struct err *e)
{
	*in = (struct json_in){ .text = text, .p = text, .end = text + len, .e = e };
}

void json_in_done(struct json_in *in)
{
	strbuf_done(&in->buf);
}

int json_in_fail(struct json_in *in, const char *why)
{
	size_t line = 1;
	const char *start = in->text;

	for (const char *s = in->text; s < in->p; s++) {
		if (*s == '\n') {
			line++;
			start = s + 1;
		}
	}
	return err_set(in->e, ERR_PARSE, "line %zu, column %zu: %s", line,
		       (size_t)(in->p - start) + 1, why);
}

bool json_text_is(const struct json_text *t, const char *s)
{
	return strlen(s) == t->len && !memcmp(s, t->s, t->len);
}

char json_in_peek(struct json_in *in)
{
	while (in->p < in->end &&
	       (*in->p == ' ' || *in->p == '\n' || *in->p == '\t' || *in->p == '\r'))
		in->p++;
	if (in->p == in->end)
		return '\0';
	return *in->p;
}

int json_in_first(struct json_in *in, char bracket)
{
	char close = bracket == '{' ? '}' : ']';

	if (json_in_peek(in) != bracket)
		return json_in_fail(in, bracket == '{' ? "want an object" : "want an array");
	in->p++;
	if (json_in_peek(in) != close)
		return 1;
	in->p++;
	return 0;
}

int json_in_more(struct json_in *in, char bracket)
{
	char c = json_in_peek(in);

	if (c == ',') {
		in->p++;
		return 1;
	}
	if (c != (bracket == '{' ? '}' : ']'))
		return json_in_fail(in, bracket == '{' ? "want ',' or '}'" : "want ',' or ']'");
	in->p++;
	return 0;
}

static int hex4(const char *s, const char *end)
{
	int v = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = s[i];

		if (c >= '0' && c <= '9')
			v = 16 * v + c - '0';
		else if (c >= 'a' && c <= 'f')
			v = 16 * v + c - 'a' + 10;
		else if (c >= 'A' && c <= 'F')
			v = 16 * v + c - 'A' + 10;
		else
			return -1;
	}
	return v;
}

static void put_utf8(struct strbuf *b, unsigned c)
{
	if (c < 0x80) {
		strbuf_addch(b, (char)c);
	} else if (c < 0x800) {
		strbuf_addch(b, (char)(0xc0 | c >> 6));
		strbuf_addch(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		strbuf_addch(b, (char)(0xe0 | c >> 12));
		strbuf_addch(b, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_addch(b, (char)(0x80 | (c & 0x3f)));
	} else {
		strbuf_addch(b, (char)(0xf0 | c >> 18));
		strbuf_addch(b, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_addch(b, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_addch(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* \uXXXX, two of them for what is past 16 bits; in->p is at the 'u'. */
static int take_unicode(struct json_in *in, unsigned *ret)
{
	int c = hex4(in->p + 1, in->end), low;

	if (c < 0)
		return json_in_fail(in, "bad \\u escape");
	in->p += 5;
	if (!c || (c >= 0xdc00 && c <= 0xdfff))
		return json_in_fail(in, c ? "lone low surrogate" : "\\u0000 is not taken");
	if (c >= 0xd800 && c <= 0xdbff) {
		if (in->end - in->p < 6 || in->p[0] != '\\' || in->p[1] != 'u')
			return json_in_fail(in, "lone high surrogate");
		low = hex4(in->p + 2, in->end);
		if (low < 0xdc00 || low > 0xdfff)
			return json_in_fail(in, "lone high surrogate");
		in->p += 6;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	*ret = (unsigned)c;
	return 0;
}

/* in->p is at the character after the backslash. */
static int take_escape(struct json_in *in)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	unsigned c = 0;
	int r;

	if (in->p >= in->end)
		return json_in_fail(in, "the text ends in a string");
	if (*in->p == 'u') {
		r = take_unicode(in, &c);
		if (r < 0)
			return r;
		put_utf8(&in->buf, c);
		return 0;
	}
	at = *in->p ? strchr(from, *in->p) : NULL;
	if (!at)
		return json_in_fail(in, "bad escape");
	strbuf_addch(&in->buf, to[at - from]);
	in->p++;
	return 0;
}

/* Has one of eight bytes its top bit set, or is it below 0x20, a quote or a backslash? */
static bool any_special(uint64_t w)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');

	return ((w | (w - ones * 0x20) | (quote - ones) | (slash - ones)) & tops) != 0;
}

/* Up to the next character that is not as it stands: quote, backslash, control character. */
static int take_plain(struct json_in *in)
{
	while (in->p < in->end) {
		uint64_t w;
		unsigned char c;
		size_t n = 1;

		if (in->end - in->p >= (ptrdiff_t)sizeof(w)) {
			memcpy(&w, in->p, sizeof(w));
			if (!any_special(w)) {
				in->p += sizeof(w);
				continue;
			}
		}
		c = (unsigned char)*in->p;
		if (c == '"' || c == '\\')
			return 0;
		if (c < 0x20)
			return json_in_fail(in, "control character in a string");
		if (c >= 0x80)
			n = utf8_length(in->p, (size_t)(in->end - in->p));
		if (!n)
			return json_in_fail(in, "not UTF-8");
		in->p += n;
	}
	return json_in_fail(in, "the text ends in a string");
}

int json_in_string(struct json_in *in, struct json_text *ret)
{
	const char *start;
	int r;

	if (json_in_peek(in) != '"')
		return json_in_fail(in, "want a string");
	start = ++in->p;
	r = take_plain(in);
	if (r == 0 && *in->p == '"') {
		*ret = (struct json_text){ start, (size_t)(in->p++ - start) };
		return 0;
	}
	strbuf_reset(&in->buf);
	while (r == 0) {
		strbuf_add(&in->buf, start, (size_t)(in->p - start));
		if (*in->p++ == '"') {
			*ret = (struct json_text){ strbuf_str(&in->buf), in->buf.len };
			return 0;
		}
		r = take_escape(in);
		start = in->p;
		if (r == 0)
			r = take_plain(in);
	}
	return r;
}

int json_in_key(struct json_in *in, struct json_text *ret)
{
	int r = json_in_string(in, ret);

	if (r < 0)
		return r;
	if (json_in_peek(in) != ':')
		return json_in_fail(in, "want ':'");
	in->p++;
	return 0;
}

/* A number taken apart: @m times ten to the @exp; @exact if no digit was left out. */
struct decimal {
	uint64_t m;
	int exp;
	bool minus, exact, digits;
};

enum {
	EXP_MAX = 100000
};

/* Digits from in->p on. @scale: what each of them does to the exponent: -1 behind the point. */
static void take_digits(struct json_in *in, struct decimal *d, int scale)
{
	d->digits = false;
	for (; in->p < in->end && *in->p >= '0' && *in->p <= '9'; in->p++) {
		d->digits = true;
		if (d->m < UINT64_C(1000000000000000000)) {
			d->m = 10 * d->m + (uint64_t)(*in->p - '0');
			d->exp += scale;
		} else {
			d->exact = d->exact && *in->p == '0';
			d->exp += 1 + scale;
		}
	}
}

static bool at(const struct json_in *in, char a, char b)
{
	return in->p < in->end && (*in->p == a || *in->p == b);
}

static int take_decimal(struct json_in *in, struct decimal *d)
{
	*d = (struct decimal){ .exact = true };
	(void)json_in_peek(in);
	d->minus = at(in, '-', '-');
	in->p += d->minus;
	if (at(in, '0', '0')) {
		in->p++;
		d->digits = in->p >= in->end || *in->p < '0' || *in->p > '9';
	} else {
		take_digits(in, d, 0);
	}
	if (d->digits && at(in, '.', '.')) {
		in->p++;
		take_digits(in, d, -1);
	}
	if (d->digits && at(in, 'e', 'E')) {
		struct decimal power = { .exact = true };
		int sign = 1;

		in->p++;
		if (at(in, '+', '-'))
			sign = *in->p++ == '-' ? -1 : 1;
		take_digits(in, &power, 0);
		d->digits = power.digits;
		d->exp += sign * (power.m > EXP_MAX || power.exp ? EXP_MAX : (int)power.m);
	}
	return d->digits ? 0 : json_in_fail(in, "bad number");
}

#if LDBL_MANT_DIG == 64
/*
 * One operation on numbers that 64 bits hold, powers of ten up to 27 do, is rounded once; rounding
 * that to a double is right unless the bits cut off lie at the half, where another digit decides.
 */
static bool value_of(const struct decimal *d, double *ret)
{
	static const long double tens[] = { 1e0L,  1e1L,  1e2L,	 1e3L,	1e4L,  1e5L,  1e6L,
					    1e7L,  1e8L,  1e9L,	 1e10L, 1e11L, 1e12L, 1e13L,
					    1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
					    1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L };
	long double v;
	uint64_t bits;

	if (!d->exact || d->exp > 27 || d->exp < -27)
		return false;
	v = d->exp < 0 ? (long double)d->m / tens[-d->exp] : (long double)d->m * tens[d->exp];
	memcpy(&bits, &v, sizeof(bits));
	bits &= 0x7ff;
	if (bits >= 0x3ff && bits <= 0x401)
		return false;
	*ret = (double)v;
	return true;
}
#else
static bool value_of(const struct decimal *d, double *ret)
{
	if (!d->exact || d->exp || d->m >> 53)
		return false;
	*ret = (double)d->m;
	return true;
}
#endif

int json_in_number(struct json_in *in, double *ret)
{
	struct decimal d;
	const char *start;
	int r;

	(void)json_in_peek(in);
	start = in->p;
	r = take_decimal(in, &d);
	if (r < 0)
		return r;
	if (value_of(&d, ret)) {
		*ret = d.minus ? -*ret : *ret;
		return 0;
	}
	strbuf_reset(&in->buf);
	strbuf_add(&in->buf, start, (size_t)(in->p - start));
	*ret = strtod(strbuf_str(&in->buf), NULL);
	return isfinite(*ret) ? 0 : json_in_fail(in, "number out of range");
}

int json_in_number_text(struct json_in *in, struct json_text *ret)
{
	struct decimal d;
	const char *start;
	int r;

	(void)json_in_peek(in);
	start = in->p;
	r = take_decimal(in, &d);
	*ret = (struct json_text){ start, (size_t)(in->p - start) };
	return r;
}

static int skip_word(struct json_in *in, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(in->end - in->p) < n || memcmp(in->p, word, n) != 0)
		return json_in_fail(in, "want a value");
	in->p += n;
	return 0;
}

/* A value that holds no others. */
static int skip_simple(struct json_in *in, char c)
{
	struct json_text t;

	switch (c) {
	case '"':
		return json_in_string(in, &t);
	case 't':
		return skip_word(in, "true");
	case 'f':
		return skip_word(in, "false");
	case 'n':
		return skip_word(in, "null");
	case '\0':
		return json_in_fail(in, in->p < in->end ? "want a value" : "the text ends");
	default:
		return json_in_number_text(in, &t);
	}
}

int json_in_skip(struct json_in *in)
{
	char open[JSON_IN_DEPTH];
	size_t depth = 0;
	struct json_text key;
	int r;

	do {
		char c = json_in_peek(in);

		if (c == '{' || c == '[') {
			if (depth == JSON_IN_DEPTH)
				return json_in_fail(in, "nested too deep");
			open[depth++] = c;
			r = json_in_first(in, c);
			depth -= r == 0;
		} else {
			r = skip_simple(in, c);
		}
		/* 0 is the end of a value, and so may be that of what holds it; 1 another member. */
		while (r == 0 && depth) {
			r = json_in_more(in, open[depth - 1]);
			if (r == 0)
				depth--;
		}
		if (r > 0 && open[depth - 1] == '{') {
			r = json_in_key(in, &key);
			if (r == 0)
				r = 1;
		}
	} while (r > 0);
	return r;
}

int json_in_check(struct json_in *in)
{
	char c = json_in_peek(in);
	int r;

	if (c != '{' && c != '[')
		return json_in_fail(in, "want an object");
	r = json_in_skip(in);
	return r < 0 ? r : json_in_end(in);
}

int json_in_end(struct json_in *in)
{
	(void)json_in_peek(in);
	return in->p < in->end ? json_in_fail(in, "more behind the end") : 0;
}
