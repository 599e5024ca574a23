/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/utf8.h"

#include "bot/base/strbuf.h"

#include <string.h>

static bool tail(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

size_t utf8_length(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t second;
	size_t n;

	if (!len)
		return 0;
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || len < n || !tail(p, n))
		return 0;
	second = p[1];
	if ((p[0] == 0xe0 && second < 0xa0) || (p[0] == 0xed && second > 0x9f) ||
	    (p[0] == 0xf0 && second < 0x90) || (p[0] == 0xf4 && second > 0x8f))
		return 0;
	return n;
}

size_t utf8_read(const char *s, size_t len, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = utf8_length(s, len);
	uint32_t c;

	if (!n)
		return 0;
	c = n == 1 ? p[0] : p[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fU);
	*ret = c;
	return n;
}

bool utf8_is_valid(const char *s)
{
	size_t len = strlen(s);

	for (size_t n; len; s += n, len -= n) {
		n = utf8_length(s, len);
		if (!n)
			return false;
	}
	return true;
}

char *utf8_clean(const char *s, size_t len, size_t max)
{
	struct strbuf b = STRBUF_INIT;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_length(s + i, len - i);
		bool good = n && s[i] != '\0';

		if (b.len + (good ? n : 3) > max)
			break;
		if (good)
			strbuf_add(&b, s + i, n);
		else
			strbuf_add(&b, "\xef\xbf\xbd", 3);
		i += n ? n : 1;
	}
	return strbuf_take(&b);
}
