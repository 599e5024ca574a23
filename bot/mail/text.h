/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from outside (git, JSON) made harmless for one line of a mail or a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/**
 * text_clean() - append @s as one line of valid, visible UTF-8.
 * @s: any bytes, @len of them.
 *
 * Tab, CR and LF become one blank each; other control characters are shown as `\x1b`, characters
 * that turn or hide text (bidi marks, zero width, tags) as `<U+202E>`, bytes that are not UTF-8 as
 * U+FFFD. Pure.
 */
void text_clean(struct strbuf *out, const char *s, size_t len);

/** text_clean_dup() - text_clean(), trimmed, at most @max_chars characters ("..." marks a cut). */
char *text_clean_dup(const char *s, size_t len, size_t max_chars);

/** text_width() - number of characters of valid UTF-8. */
size_t text_width(const char *s);

/** text_is_ascii() - no byte above 126 and none below 32 but LF? */
bool text_is_ascii(const char *s, size_t len);
