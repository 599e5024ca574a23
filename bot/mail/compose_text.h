/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a report's text. Used by compose.c alone. */
#pragma once

#include "bot/mail/compose.h"

/** struct compose_text - text being written; @shrink: 0 all evidence, up to 4: less of it. */
struct compose_text {
	const struct compose_input *in;
	struct strbuf *out;
	int shrink;
};

/* Columns of prose, and the blanks below a heading of an entry. */
#define PROSE  72
#define INDENT "        "

/* Room for a formatted number. */
#define COMPOSE_NUMBER 32
/* A blank that is no place to break a line. Clean text has no control characters of its own. */
#define NBSP	"\x1f"
#define NBSP_CH '\x1f'

/** compose_wrap() - words in lines of @width; @first begins the first line, @rest the others. */
void compose_wrap(struct strbuf *out, const char *first, const char *rest, const char *text,
		  size_t width);

/** compose_line() - one printf line, blanks at its end taken off. */
void compose_line(struct strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** compose_pct() - "-3.8%": @decimals digits, a sign always if @sign. */
const char *compose_pct(char *buf, double rel, int decimals, bool sign);

/** compose_decimals() - digits that an interval of this width deserves: 1 or 2. */
int compose_decimals(const struct compose_change *c);

/** compose_mean() - a mean in at most 8 characters. */
const char *compose_mean(char *buf, double v);

/** compose_probability() - "0.992"; ">0.999" rather than a rounded certainty. */
const char *compose_probability(char *buf, double p);

/** compose_change_text() - "-0.1% (-0.6 .. +0.4)" with blanks that do not break. */
void compose_change_text(struct strbuf *out, const struct compose_change *c);

/** compose_is_box_check() - is it one kernel measured again? */
bool compose_is_box_check(const struct compose_check *c);

/** compose_is_layout_check() - was it made with aligned functions? */
bool compose_is_layout_check(const struct compose_check *c);

/* The sections, in the order of the mail; each prints nothing without an entry. */
void compose_add_lead(const struct compose_text *t);
void compose_add_facts(const struct compose_text *t);
void compose_add_fixed(const struct compose_text *t); /* an entry of the facts */
void compose_add_table(const struct compose_text *t);
void compose_add_also(const struct compose_text *t);
void compose_add_checks(const struct compose_text *t);
void compose_add_bisection(const struct compose_text *t);
void compose_add_reproduce(const struct compose_text *t);
void compose_add_tags(const struct compose_text *t, const char *message_id);
void compose_add_footer(const struct compose_text *t);
