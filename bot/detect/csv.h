/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One record of CSV after the other (RFC 4180), from memory. */
#pragma once

#include "bot/base/strbuf.h"
#include "bot/base/vec.h"

#include <stddef.h>

struct err;

enum {
	CSV_FIELDS_MAX = 64
};

/**
 * struct csv - `struct csv c = { .s = text, .end = text + len };`, csv_done().
 * @line: where the last record began, from 1. @next_line: where the next one does.
 * @fields: @nfields of the last record; they belong to @c and live until the next.
 */
struct csv {
	const char *s;
	const char *end;
	size_t line;
	size_t next_line;
	const char *fields[CSV_FIELDS_MAX];
	size_t nfields;
	struct strbuf text;
};

void csv_done(struct csv *c);

/**
 * csv_next() - read a record.
 * @field_max: most bytes of a field.
 *
 * Return: 1; 0 at the end; ERR_PARSE (NUL, not UTF-8, quotes out of place), ERR_TOO_BIG; the line is
 * named.
 */
int csv_next(struct csv *c, size_t field_max, struct err *e);
