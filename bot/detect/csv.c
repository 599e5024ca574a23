/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/csv.h"

#include "bot/base/err.h"
#include "bot/base/utf8.h"

#include <stdbool.h>
#include <string.h>

void csv_done(struct csv *c)
{
	strbuf_done(&c->text);
}

/* The field in quotes that starts at c->s; afterwards c->s is behind the closing quote. */
static int quoted(struct csv *c, size_t max, struct err *e)
{
	size_t from = c->text.len;

	for (c->s++;;) {
		const char *quote = memchr(c->s, '"', (size_t)(c->end - c->s));
		size_t len;

		if (!quote)
			return err_set(e, ERR_PARSE, "line %zu: a quoted field does not end",
				       c->line);
		len = (size_t)(quote - c->s);
		if (c->text.len - from + len > max)
			return err_set(e, ERR_TOO_BIG, "line %zu: a field is longer than %zu bytes",
				       c->line, max);
		for (const char *p = c->s; p < quote; p++)
			c->next_line += *p == '\n';
		strbuf_add(&c->text, c->s, len);
		c->s = quote + 1;
		if (c->s == c->end || *c->s != '"')
			return 0;
		strbuf_addch(&c->text, '"');
		c->s++;
	}
}

static int plain(struct csv *c, size_t max, struct err *e)
{
	const char *from = c->s;

	while (c->s < c->end && *c->s != ',' && *c->s != '\n' && *c->s != '"')
		c->s++;
	if (c->s < c->end && *c->s == '"')
		return err_set(e, ERR_PARSE, "line %zu: a quote inside of a field", c->line);
	if ((size_t)(c->s - from) > max)
		return err_set(e, ERR_TOO_BIG, "line %zu: a field is longer than %zu bytes",
			       c->line, max);
	strbuf_add(&c->text, from, (size_t)(c->s - from));
	if ((c->s == c->end || *c->s == '\n') && c->s > from && c->s[-1] == '\r')
		strbuf_cut(&c->text, c->text.len - 1);
	return 0;
}

/* Fields lie in c->text one after the other; a pointer to one may move while others are added. */
static void point_at_fields(struct csv *c)
{
	const char *s = strbuf_str(&c->text);

	for (size_t i = 0; i < c->nfields; i++) {
		c->fields[i] = s;
		s += strlen(s) + 1;
	}
}

/* @from: where the field began in the input; @at: where in c->text. */
static int check_text(const struct csv *c, const char *from, size_t at, struct err *e)
{
	if (memchr(from, '\0', (size_t)(c->s - from)))
		return err_set(e, ERR_PARSE, "line %zu: there is a NUL byte", c->line);
	if (!utf8_is_valid(strbuf_str(&c->text) + at))
		return err_set(e, ERR_PARSE, "line %zu: not UTF-8", c->line);
	return 0;
}

int csv_next(struct csv *c, size_t field_max, struct err *e)
{
	const char *from = c->s;
	bool more = true;
	int r;

	if (c->s >= c->end)
		return 0;
	c->line = c->next_line ? c->next_line : 1;
	c->next_line = c->line;
	c->nfields = 0;
	strbuf_reset(&c->text);
	while (more) {
		size_t at = c->text.len;

		if (c->nfields == CSV_FIELDS_MAX)
			return err_set(e, ERR_TOO_BIG, "line %zu: more than %d fields", c->line,
				       CSV_FIELDS_MAX);
		if (c->s < c->end && *c->s == '"')
			r = quoted(c, field_max, e);
		else
			r = plain(c, field_max, e);
		if (r < 0)
			return r;
		c->nfields++;
		if (c->s < c->end && *c->s == '\r' && (c->s + 1 == c->end || c->s[1] == '\n'))
			c->s++;
		more = c->s < c->end && *c->s == ',';
		if (!more && c->s < c->end && *c->s != '\n')
			return err_set(e, ERR_PARSE, "line %zu: text behind a closing quote",
				       c->line);
		r = check_text(c, from, at, e);
		if (r < 0)
			return r;
		strbuf_addch(&c->text, '\0');
		from = c->s;
		c->s += c->s < c->end;
	}
	c->next_line++;
	point_at_fields(c);
	return 1;
}
