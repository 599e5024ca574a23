/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON read in place, value by value. For files of millions of numbers, of which a tree would take ten
 * times the memory of the text; everything else is read with jansson.
 */
#pragma once

#include "bot/base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum {
	JSON_IN_DEPTH = 2048
};

/** struct json_in - place in a text; json_in_init() makes it, json_in_done() frees it. */
struct json_in {
	const char *text, *p, *end;
	struct strbuf buf;
	struct err *e;
};

/** struct json_text - bytes of the text or of the reader's buffer; not NUL-terminated. */
struct json_text {
	const char *s;
	size_t len;
};

/** json_in_init() - read @len untrusted bytes; borrowed. Reasons of failures go to @e. */
void json_in_init(struct json_in *in, const char *text, size_t len, struct err *e);
void json_in_done(struct json_in *in);

/** json_in_check() - is all of the text one object or array in UTF-8? Goes past it. */
int json_in_check(struct json_in *in);

/** json_in_end() - nothing but space must follow. */
int json_in_end(struct json_in *in);

/** json_in_peek() - first character of the next value; '\0' at the end of the text. */
char json_in_peek(struct json_in *in);

/**
 * json_in_first(), json_in_more() - go through an object ('{') or array ('[').
 * Return: 1 there is another member; 0 that was all, and the bracket is behind us; ERR_PARSE.
 */
int json_in_first(struct json_in *in, char bracket);
int json_in_more(struct json_in *in, char bracket);

/** json_in_key() - a key and its colon. @ret: decoded, valid until the next string is read. */
int json_in_key(struct json_in *in, struct json_text *ret);
int json_in_string(struct json_in *in, struct json_text *ret);

/** json_in_number() - rounded to nearest as strtod() does; one too large for a double is ERR_PARSE. */
int json_in_number(struct json_in *in, double *ret);

/** json_in_number_text() - a number as it is written. */
int json_in_number_text(struct json_in *in, struct json_text *ret);

/** json_in_skip() - go past the next value, whatever it is. */
int json_in_skip(struct json_in *in);

/** json_in_fail() - ERR_PARSE with the line and column of the place. */
int json_in_fail(struct json_in *in, const char *why);

/** json_text_is() - the same bytes as the C string @s? */
bool json_text_is(const struct json_text *t, const char *s);
