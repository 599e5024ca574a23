/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for programs: RFC 4180, a comma between fields, CR LF at the end of a line. */
#pragma once

struct strbuf;

/** csv_str() - a field of text; NULL is empty. Quotes are doubled, control bytes become blanks. */
void csv_str(struct strbuf *b, const char *s);
/** csv_num() - a number to 12 digits; empty if it is none. */
void csv_num(struct strbuf *b, double v);
/** csv_heads() - the first line: "commit,at,value". */
void csv_heads(struct strbuf *b, const char *heads);
/** csv_end() - end of the line. */
void csv_end(struct strbuf *b);
