/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON written straight into a string: a tree of a hundred thousand numbers would take longer. */
#pragma once

#include "bot/base/strbuf.h"

#include <stdbool.h>

/** struct json_out - `struct json_out o = { .b = &text };`. @more: a comma is due; private. */
struct json_out {
	struct strbuf *b;
	bool more;
};

/**
 * json_out_open(), json_out_close() - begin and end an object or array: '{', '}', '[', ']'.
 * @key: in an object; NULL in an array and for the outermost one.
 */
void json_out_open(struct json_out *o, const char *key, char bracket);
void json_out_close(struct json_out *o, char bracket);

/** json_out_str() - what JSON does not take as it is gets escaped; bytes that are no UTF-8, U+FFFD. */
void json_out_str(struct json_out *o, const char *key, const char *v);
void json_out_int(struct json_out *o, const char *key, long v);
void json_out_bool(struct json_out *o, const char *key, bool v);

/** json_out_num() - 15 significant digits; what is not finite is left out, key and all. */
void json_out_num(struct json_out *o, const char *key, double v);
