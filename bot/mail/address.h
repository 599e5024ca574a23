/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mail addresses: the one strict check before SMTP, and how a trailer names a person. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

/** ADDRESS_MAX - longest address in bytes (RFC 5321 4.5.3.1.3 less the angle brackets). */
#define ADDRESS_MAX 254

/**
 * address_check() - may this go into an SMTP command?
 * @s: the address alone, `local@domain`; @len bytes, so a NUL inside is seen.
 * @e: says what is wrong.
 *
 * Stricter than RFC 5321: ASCII, dot-atom local part of 1 to 64 bytes, domain of letters, digits,
 * hyphens and dots; no quoted local part, address literal, control byte, space or `<>`. Pure.
 * Return: 0; ERR_INVAL.
 */
int address_check(const char *s, size_t len, struct err *e);

/** address_domain_check() - the part after the @: labels of 1 to 63 letters, digits, hyphens. */
bool address_domain_check(const char *s, size_t len);

/** address_message_id_check() - a Message-ID without its `<>`: visible ASCII with one @, ≤ 250. */
bool address_message_id_check(const char *s, size_t len);

/** address_equal() - same mailbox? Letter case is ignored in both parts, as people do. */
bool address_equal(const char *a, const char *b);

/**
 * address_split() - take `Name <local@domain> # comment` apart.
 * @s: one line of clean text (text_clean()).
 * @ret_name: the name without quotes, NULL if there is none.
 * @ret_addr: the address, NULL if there is none that address_check() takes.
 * @ret_comment: all after it, or from ` #` on, with its sign ("# 5.10+", "[v6]"); NULL if none.
 *
 * Each result is the caller's, free() it. What stands behind ` #` is never part of the address.
 * Return: true if an address was found.
 */
bool address_split(const char *s, char **ret_name, char **ret_addr, char **ret_comment);
