/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only way to make HTML: elements, attributes and text, each escaped for where it stands. There
 * is no call that takes markup, so nothing from outside can become any.
 */
#pragma once

#include "bot/base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define HTML_DEPTH 64

/**
 * struct html - a document being written; HTML_INIT, then html_take().
 * @open: tags not yet closed, innermost last. Tag and attribute names are literals of ours.
 * @heads: of the table being written, "Commit|>Change|…", or NULL; each cell bears that of its column,
 *	   which is shown where a row is a card. @column: of the next cell.
 */
struct html {
	struct strbuf out;
	const char *open[HTML_DEPTH];
	size_t depth;
	bool in_tag;
	const char *heads;
	size_t column;
};

#define HTML_INIT          \
	{                  \
		.depth = 0 \
	}

/** html_doctype() - "<!doctype html>" at the start. */
void html_doctype(struct html *h);

/** html_open() - start an element; attributes may follow, then text, children, html_close(). */
void html_open(struct html *h, const char *tag);
/** html_close() - end the innermost element; not for void ones (meta, link, br), which end themselves. */
void html_close(struct html *h);
/** html_close_to() - end elements until @depth are open. */
void html_close_to(struct html *h, size_t depth);

/** html_attr() - an attribute of the element just opened; a NULL value leaves it out. */
void html_attr(struct html *h, const char *name, const char *value);
void html_attrf(struct html *h, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * html_href() - attribute href of a page of ours: @before and @after are literals, @value is made
 * one path segment of by percent-encoding. @value and @after may be NULL.
 */
void html_href(struct html *h, const char *before, const char *value, const char *after);

/**
 * html_text() - text: <, >, & and quotes escaped, and made visible as bot/base/visible.h does.
 */
void html_text(struct html *h, const char *text);
void html_textn(struct html *h, const char *text, size_t len);
void html_textf(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** html_short() - html_text() of at most @max characters, then an ellipsis. */
void html_short(struct html *h, const char *text, size_t max);

/** html_el() - element with class (or NULL) and text. html_elf() formats the text. */
void html_el(struct html *h, const char *tag, const char *class, const char *text);
void html_elf(struct html *h, const char *tag, const char *class, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** html_div() - html_open() with a class. */
void html_div(struct html *h, const char *tag, const char *class);

/** html_take() - close everything and hand the document over; free() it. */
char *html_take(struct html *h);
void html_done(struct html *h);
