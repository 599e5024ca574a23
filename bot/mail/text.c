/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/text.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <glib.h>
#include <string.h>

/*
 * Characters that change how others are shown, or that cannot be seen: U+061C and the bidi
 * controls, zero width space, line and paragraph separators, word joiners, BOM, interlinear marks,
 * tag characters. U+200C and U+200D stay, names are written with them.
 */
static bool is_hidden(gunichar c)
{
	return c == 0xad || c == 0x61c || c == 0x180e || c == 0x200b || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

static void clean_char(struct strbuf *out, const char *s, size_t len, gunichar c)
{
	if (c == '\t' || c == '\n' || c == '\r')
		strbuf_addch(out, ' ');
	else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		strbuf_addf(out, "\\x%02x", c);
	else if (is_hidden(c))
		strbuf_addf(out, "<U+%04X>", c);
	else
		strbuf_add(out, s, len);
}

void text_clean(struct strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		/* glib takes a NUL byte for the end of the text */
		gunichar c = s[i] ? g_utf8_get_char_validated(s + i, (gssize)(len - i)) : 0;
		size_t n = 1;

		if (c == (gunichar)-1 || c == (gunichar)-2) {
			strbuf_addstr(out, "\xef\xbf\xbd");
		} else {
			n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
			clean_char(out, s + i, n, c);
		}
		i += n;
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
