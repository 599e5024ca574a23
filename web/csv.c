/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/csv.h"

#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

static void separate(struct strbuf *b)
{
	if (b->len && b->s[b->len - 1] != '\n')
		strbuf_addch(b, ',');
}

void csv_str(struct strbuf *b, const char *s)
{
	separate(b);
	/* Always in quotes: an empty first field would look like the start of a line. */
	strbuf_addch(b, '"');
	for (; s && *s; s++) {
		if (*s == '"')
			strbuf_addch(b, '"');
		strbuf_addch(b, (char)((unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s));
	}
	strbuf_addch(b, '"');
}

void csv_num(struct strbuf *b, double v)
{
	separate(b);
	if (isfinite(v))
		strbuf_addf(b, "%.12g", v);
}

void csv_heads(struct strbuf *b, const char *heads)
{
	strbuf_addf(b, "%s\r\n", heads);
}

void csv_end(struct strbuf *b)
{
	strbuf_addstr(b, "\r\n");
}
