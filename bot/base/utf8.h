/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from outside made valid UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * utf8_clean() - a copy that is valid UTF-8 without NUL: each bad byte becomes U+FFFD.
 * @s, @len: any bytes.
 * @max: at most this many bytes come out; cut between characters.
 * Return: free() it; never NULL.
 */
char *utf8_clean(const char *s, size_t len, size_t max);

/**
 * utf8_length() - bytes of the character at the start of @s (1 to 4), 0 if it is not valid there.
 * Overlong forms, surrogates and values above U+10FFFF are not valid (RFC 3629).
 */
size_t utf8_length(const char *s, size_t len);

/** utf8_read() - utf8_length(), and the character itself in @ret if there is one. */
size_t utf8_read(const char *s, size_t len, uint32_t *ret);

/** utf8_is_valid() - is all of @s valid? */
bool utf8_is_valid(const char *s);
