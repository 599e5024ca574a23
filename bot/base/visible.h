/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from outside as people are to see it, on pages and terminals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/**
 * visible_hides() - does this character change how others are shown, or cannot be seen?
 *
 * Soft hyphen, U+061C and the other direction marks, zero width space, line and paragraph
 * separators, word joiners, BOM, interlinear marks, tags. Not U+200C and U+200D: names are written
 * with them.
 */
bool visible_hides(uint32_t c);

/** visible_steers() - is it a control character (C0, DEL, C1)? */
bool visible_steers(uint32_t c);
