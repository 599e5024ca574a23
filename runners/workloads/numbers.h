/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of command lines. Nothing but digits and the suffix is taken; *@ret is set on success. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** number_parse() - decimal digits at the start of @s; what follows them in *@ret_rest. */
bool number_parse(const char *s, uint64_t *ret, const char **ret_rest);

/** count_parse() - a whole number of at most @max. */
bool count_parse(const char *s, uint64_t max, uint64_t *ret);

/** bytes_parse() - a size: digits, and k, m, g or t in either case; at most 2^62. */
bool bytes_parse(const char *s, size_t *ret);
