/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/wire.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/mail/text.h"

#include <gmime/gmime.h>
#include <string.h>
#include <time.h>

#define FOLD_COLUMNS  76
#define LINE_MAX_SMTP 998

void wire_header(struct strbuf *out, const char *name, const char *value)
{
	size_t col = strlen(name) + 1;

	strbuf_addf(out, "%s:", name);
	value += strspn(value, " ");
	strbuf_addch(out, ' ');
	col++;
	while (*value) {
		size_t blanks = strspn(value, " ");
		size_t n = blanks + strcspn(value + blanks, " ");

		if (blanks && value[blanks] && col + n > FOLD_COLUMNS) {
			strbuf_addstr(out, "\r\n");
			col = 0;
		}
		strbuf_add(out, value, n);
		col += n;
		value += n;
	}
	strbuf_addstr(out, "\r\n");
}

/* A commit subject that spells an encoded word must not be decoded by the reader's program. */
static char *break_encoded_words(const char *text)
{
	struct strbuf b = STRBUF_INIT;

	for (; *text; text++) {
		strbuf_addch(&b, *text);
		if (text[0] == '=' && text[1] == '?')
			strbuf_addch(&b, ' ');
	}
	return strbuf_take(&b);
}

void wire_header_text(struct strbuf *out, const char *name, const char *text)
{
	_cleanup_(freep) char *safe = break_encoded_words(text);
	char *coded = g_mime_utils_header_encode_text(NULL, safe, "utf-8");

	wire_header(out, name, coded);
	g_free(coded);
}

static bool needs_quotes(const char *s)
{
	return strpbrk(s, "()<>[]:;@\\,.\"") != NULL;
}

void wire_mailbox(struct strbuf *out, const char *name, const char *addr)
{
	_cleanup_(freep) char *safe = NULL;

	if (!name || !*name) {
		strbuf_addstr(out, addr);
		return;
	}
	safe = break_encoded_words(name);
	if (!text_is_ascii(safe, strlen(safe))) {
		char *coded = g_mime_utils_header_encode_phrase(NULL, safe, "utf-8");

		strbuf_addstr(out, coded);
		g_free(coded);
	} else if (needs_quotes(safe)) {
		strbuf_addch(out, '"');
		for (const char *p = safe; *p; p++) {
			if (*p == '"' || *p == '\\')
				strbuf_addch(out, '\\');
			strbuf_addch(out, *p);
		}
		strbuf_addch(out, '"');
	} else {
		strbuf_addstr(out, safe);
	}
	strbuf_addf(out, " <%s>", addr);
}

void wire_date(struct strbuf *out, int64_t at)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t t = (time_t)at;
	struct tm tm = { 0 };

	(void)gmtime_r(&t, &tm);
	strbuf_addf(out, "%s, %02d %s %04d %02d:%02d:%02d +0000", days[tm.tm_wday], tm.tm_mday,
		    months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static bool fits_7bit(const char *s, size_t len)
{
	size_t line = 0;

	for (size_t i = 0; i < len; i++) {
		line = s[i] == '\n' ? 0 : line + 1;
		if (line > LINE_MAX_SMTP)
			return false;
	}
	return text_is_ascii(s, len);
}

static void add_crlf(struct strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\n')
			strbuf_addch(out, '\r');
		strbuf_addch(out, s[i]);
	}
}

static void add_quoted_printable(struct strbuf *out, const char *s, size_t len)
{
	_cleanup_(freep) char *coded = NULL;
	GMimeEncoding state;
	size_t n;

	g_mime_encoding_init_encode(&state, GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
	coded = xcalloc(1, g_mime_encoding_outlen(&state, len) + 8);
	n = g_mime_encoding_flush(&state, s, len, coded);
	/* flush ends an unfinished line with a soft break */
	if (n >= 2 && coded[n - 1] == '\n' && coded[n - 2] == '=' && s[len - 1] != '\n')
		n -= 2;
	add_crlf(out, coded, n);
	if (!n || coded[n - 1] != '\n')
		strbuf_addstr(out, "\r\n");
}

void wire_body(struct strbuf *out, const char *text, size_t len)
{
	bool plain = fits_7bit(text, len);

	wire_header(out, "MIME-Version", "1.0");
	wire_header(out, "Content-Type", "text/plain; charset=utf-8");
	wire_header(out, "Content-Transfer-Encoding", plain ? "7bit" : "quoted-printable");
	strbuf_addstr(out, "\r\n");
	if (!len)
		return;
	if (!plain) {
		add_quoted_printable(out, text, len);
		return;
	}
	add_crlf(out, text, len);
	if (text[len - 1] != '\n')
		strbuf_addstr(out, "\r\n");
}

int wire_check(const char *s, size_t len, struct err *e)
{
	size_t line = 1, start = 0;
	bool body = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x80 || !c)
			return err_set(e, ERR_INVAL,
				       "mail line %zu has the byte 0x%02x, only 7-bit text "
				       "can be sent",
				       line, c);
		if (c == '\n' && (i == start || s[i - 1] != '\r'))
			return err_set(e, ERR_INVAL, "mail line %zu ends without CR", line);
		if (c == '\r' && (i + 1 == len || s[i + 1] != '\n'))
			return err_set(e, ERR_INVAL, "mail line %zu has a CR inside", line);
		if (c != '\n')
			continue;
		if (i - 1 - start > LINE_MAX_SMTP)
			return err_set(e, ERR_INVAL,
				       "mail line %zu has %zu bytes, at most %d are allowed", line,
				       i - 1 - start, LINE_MAX_SMTP);
		body = body || i - 1 == start;
		start = i + 1;
		line++;
	}
	if (!len || start != len)
		return err_set(e, ERR_INVAL, "mail line %zu ends without CR LF", line);
	if (!body)
		return err_set(e, ERR_INVAL, "mail has no empty line after its headers");
	return 0;
}
