/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The form of a mail on the wire: headers, encodings, CR LF. Used by the composer and its tests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;

/**
 * wire_header() - append `NAME: VALUE` folded at blanks to 76 columns, with CR LF.
 * @name: a literal; GMime does not protect names, so none may come from outside.
 * @value: visible ASCII and blanks.
 */
void wire_header(struct strbuf *out, const char *name, const char *value);

/** wire_header_text() - the same for clean UTF-8 text, as RFC 2047 words where needed. */
void wire_header_text(struct strbuf *out, const char *name, const char *text);

/** wire_mailbox() - append `Name <addr>`; @name is clean UTF-8 or NULL. */
void wire_mailbox(struct strbuf *out, const char *name, const char *addr);

/** wire_date() - append "Wed, 06 Nov 2030 08:12:00 +0000" for @at, seconds since 1970. */
void wire_date(struct strbuf *out, int64_t at);

/**
 * wire_body() - append MIME headers, the empty line and the body.
 * @text: UTF-8 with LF line ends; a missing last one is added.
 *
 * ASCII text with lines of at most 998 bytes goes as 7bit, all else as quoted-printable: no mail
 * needs 8BITMIME. Lines that begin with a dot stay as they are, SMTP doubles them.
 */
void wire_body(struct strbuf *out, const char *text, size_t len);

/**
 * wire_check() - may these bytes be given to SMTP?
 *
 * Every line ends in CR LF and has at most 998 bytes, no other CR or LF, no NUL or 8-bit byte, an
 * empty line after the headers. Pure. Return: 0; ERR_INVAL with the number of the line.
 */
int wire_check(const char *s, size_t len, struct err *e);
