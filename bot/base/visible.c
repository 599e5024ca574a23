/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/visible.h"

#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* Controls, soft hyphen, zero-width and direction marks, line separators, tags, annotations. */
static bool is_hiding(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
	       c == 0x200b || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

size_t visible_step(struct strbuf *ret, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = utf8_length(text, len);
	uint32_t c = n == 0 ? 0xfffd : n == 1 ? p[0] : p[0] & (0x7fU >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fU);
	if (n == 0 || (c & 0xfffe) == 0xfffe)
		strbuf_addstr(ret, "\xef\xbf\xbd");
	else if (c != '\n' && c != '\t' && is_hiding(c))
		strbuf_addf(ret, "[U+%04X]", c);
	else
		strbuf_add(ret, text, n);
	return n ? n : 1;
}

void visible_add(struct strbuf *ret, const char *text, size_t len)
{
	for (size_t i = 0; i < len;)
		i += visible_step(ret, text + i, len - i);
}
