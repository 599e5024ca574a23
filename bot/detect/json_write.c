/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/json_write.h"

#include "bot/base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static void begin(struct json_out *o, const char *key)
{
	if (o->more)
		strbuf_addch(o->b, ',');
	o->more = true;
	if (!key)
		return;
	strbuf_addch(o->b, '"');
	strbuf_addstr(o->b, key); /* always one of ours */
	strbuf_add(o->b, "\":", 2);
}

void json_out_open(struct json_out *o, const char *key, char bracket)
{
	begin(o, key);
	strbuf_addch(o->b, bracket);
	o->more = false;
}

void json_out_close(struct json_out *o, char bracket)
{
	strbuf_addch(o->b, bracket);
	o->more = true;
}

/* How many bytes of @s stand for themselves. */
static size_t plain_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len) {
		unsigned char c = (unsigned char)s[n];
		size_t step = c < 0x80 ? 1 : utf8_length(s + n, len - n);

		if (c < 0x20 || c == '"' || c == '\\' || !step)
			break;
		n += step;
	}
	return n;
}

void json_out_str(struct json_out *o, const char *key, const char *v)
{
	size_t len = strlen(v);

	begin(o, key);
	strbuf_addch(o->b, '"');
	while (len) {
		size_t n = plain_length(v, len);

		strbuf_add(o->b, v, n);
		v += n;
		len -= n;
		if (!len)
			break;
		if ((unsigned char)*v < 0x20)
			strbuf_addf(o->b, "\\u%04x", (unsigned)(unsigned char)*v);
		else if ((unsigned char)*v >= 0x80)
			strbuf_addstr(o->b, "\\ufffd");
		else
			strbuf_addf(o->b, "\\%c", *v);
		v++;
		len--;
	}
	strbuf_addch(o->b, '"');
}

/* Digits of @v, most significant first. Return: how many. */
static size_t digits_of(uint64_t v, char buf[20])
{
	char back[20];
	size_t n = 0;

	do {
		back[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (size_t i = 0; i < n; i++)
		buf[i] = back[n - 1 - i];
	return n;
}

void json_out_int(struct json_out *o, const char *key, long v)
{
	char buf[20];

	begin(o, key);
	if (v < 0)
		strbuf_addch(o->b, '-');
	strbuf_add(o->b, buf, digits_of(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, buf));
}

void json_out_bool(struct json_out *o, const char *key, bool v)
{
	begin(o, key);
	strbuf_addstr(o->b, v ? "true" : "false");
}

#if LDBL_MANT_DIG >= 64
enum {
	DIGITS = 15
};

static long double power_of_ten(unsigned n)
{
	static const long double squares[] = { 1e1L,  1e2L,  1e4L,   1e8L,  1e16L,
					       1e32L, 1e64L, 1e128L, 1e256L };
	long double p = 1;

	for (size_t i = 0; n; i++, n >>= 1) {
		if (n & 1)
			p *= squares[i];
	}
	return p;
}

/*
 * @v > 0 as DIGITS decimal digits times a power of ten. 64 bits hold four digits more than are
 * asked for: a product of powers of ten is exact enough.
 */
static uint64_t scale(double v, int *ret_exp)
{
	static const uint64_t least = UINT64_C(100000000000000);
	int two, ten;
	uint64_t d;

	(void)frexp(v, &two);
	ten = (int)floor((two - 1) * .30102999566398120);
	for (;; ten++) {
		int up = DIGITS - 1 - ten;
		long double x = (long double)v;

		x = up < 0 ? x / power_of_ten((unsigned)-up) : x * power_of_ten((unsigned)up);
		d = (uint64_t)(x + .5L);
		if (d < 10 * least)
			break;
	}
	*ret_exp = ten;
	return d;
}

static void add_number(struct strbuf *b, double v)
{
	char d[20], text[48];
	size_t n, k = 0;
	int ten;

	if (v == 0) {
		strbuf_addstr(b, "0.0");
		return;
	}
	n = digits_of(scale(fabs(v), &ten), d);
	while (n > 1 && d[n - 1] == '0')
		n--;
	memset(d + n, '0', sizeof(d) - n);
	if (v < 0)
		text[k++] = '-';
	if (ten < -5 || ten >= DIGITS) {
		text[k++] = d[0];
		text[k++] = '.';
		text[k++] = d[1];
		for (size_t i = 2; i < n; i++)
			text[k++] = d[i];
		text[k++] = 'e';
		if (ten < 0)
			text[k++] = '-';
		k += digits_of((uint64_t)(ten < 0 ? -ten : ten), text + k);
	} else if (ten < 0) {
		text[k++] = '0';
		text[k++] = '.';
		for (int i = -1; i > ten; i--)
			text[k++] = '0';
		for (size_t i = 0; i < n; i++)
			text[k++] = d[i];
	} else {
		for (size_t i = 0; i <= (size_t)ten || i < n; i++) {
			if (i == (size_t)ten + 1)
				text[k++] = '.';
			text[k++] = d[i];
		}
		if (n <= (size_t)ten + 1) {
			text[k++] = '.';
			text[k++] = '0';
		}
	}
	strbuf_add(b, text, k);
}
#else
static void add_number(struct strbuf *b, double v)
{
	strbuf_addf(b, "%.15g", v);
}
#endif

void json_out_num(struct json_out *o, const char *key, double v)
{
	if (!isfinite(v))
		return;
	begin(o, key);
	add_number(o->b, v);
}
