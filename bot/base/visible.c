/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/visible.h"

#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"

bool visible_hides(uint32_t c)
{
	return c == 0xad || c == 0x61c || c == 0x180e || c == 0x200b || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

bool visible_steers(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

size_t visible_step(struct strbuf *ret, const char *text, size_t len)
{
	uint32_t c = 0;
	size_t n = utf8_read(text, len, &c);

	if (n == 0 || (c & 0xfffe) == 0xfffe)
		strbuf_addstr(ret, "\xef\xbf\xbd");
	else if (c != '\n' && c != '\t' && (visible_steers(c) || visible_hides(c)))
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
