/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from outside as people are to see it, on pages and terminals. */
#pragma once

#include <stddef.h>

struct strbuf;

/**
 * visible_add() - append @text with nothing in it that hides, reorders or steers.
 *
 * Control characters (but line feed and tab) and those that are invisible or change the direction of
 * writing come out as [U+001B], bytes that are no UTF-8 as U+FFFD.
 */
void visible_add(struct strbuf *ret, const char *text, size_t len);

/** visible_step() - the same for the first character only. Return: its bytes in @text, 1 to 4. */
size_t visible_step(struct strbuf *ret, const char *text, size_t len);
