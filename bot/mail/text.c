/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/text.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"
#include "bot/base/visible.h"

#include <string.h>

static void clean_char(struct strbuf *out, const char *s, size_t len, uint32_t c)
{
	if (c == '\t' || c == '\n' || c == '\r')
		strbuf_addch(out, ' ');
	else if (visible_steers(c))
		strbuf_addf(out, "\\x%02x", c);
	else if (visible_hides(c))
		strbuf_addf(out, "<U+%04X>", c);
	else
		strbuf_add(out, s, len);
}

void text_clean(struct strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t c = 0;
		size_t n = utf8_read(s + i, len - i, &c);

		if (n)
			clean_char(out, s + i, n, c);
		else
			strbuf_addstr(out, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Offset of character number @chars, or the end. */
static size_t char_offset(const char *s, size_t chars)
{
	size_t i = 0;

	while (s[i]) {
		if (((unsigned char)s[i] & 0xc0) != 0x80 && chars-- == 0)
			break;
		i++;
	}
	return i;
}

char *text_clean_dup(const char *s, size_t len, size_t max_chars)
{
	struct strbuf b = STRBUF_INIT;
	size_t from, end;

	text_clean(&b, s, len);
	s = strbuf_str(&b);
	from = strspn(s, " ");
	end = b.len;
	while (end > from && s[end - 1] == ' ')
		end--;
	if (text_width(s + from) > max_chars && max_chars > 3) {
		size_t cut = from + char_offset(s + from, max_chars - 3);

		if (cut < end) {
			struct strbuf c = STRBUF_INIT;

			strbuf_add(&c, s + from, cut - from);
			strbuf_addstr(&c, "...");
			strbuf_done(&b);
			return strbuf_take(&c);
		}
	}
	{
		char *ret = xstrndup(s + from, end - from);

		strbuf_done(&b);
		return ret;
	}
}

bool text_is_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c > 126 || (c < 32 && c != '\n'))
			return false;
	}
	return true;
}
