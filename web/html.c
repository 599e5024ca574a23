/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/html.h"

#include "bot/base/cleanup.h"
#include "bot/base/visible.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static bool is_void(const char *tag)
{
	return !strcmp(tag, "meta") || !strcmp(tag, "link") || !strcmp(tag, "br") ||
	       !strcmp(tag, "hr") || !strcmp(tag, "input") || !strcmp(tag, "img");
}

static void end_start_tag(struct html *h)
{
	if (!h->in_tag)
		return;
	h->in_tag = false;
	strbuf_addch(&h->out, '>');
	if (is_void(h->open[h->depth - 1]))
		h->depth--;
}

void html_doctype(struct html *h)
{
	strbuf_addstr(&h->out, "<!doctype html>\n");
}

/* What stands above this cell. */
static void add_head(struct html *h)
{
	const char *s = h->heads;
	_cleanup_(freep) char *head = NULL;

	for (size_t i = 0; i < h->column; i++) {
		s += strcspn(s, "|");
		s += *s == '|';
	}
	h->column++;
	s += *s == '>';
	head = xstrndup(s, strcspn(s, "|"));
	html_attr(h, "data-h", *head ? head : NULL);
}

void html_open(struct html *h, const char *tag)
{
	end_start_tag(h);
	assert(h->depth < HTML_DEPTH);
	h->open[h->depth++] = tag;
	strbuf_addch(&h->out, '<');
	strbuf_addstr(&h->out, tag);
	h->in_tag = true;
	if (!h->heads)
		return;
	if (!strcmp(tag, "tr"))
		h->column = 0;
	else if (!strcmp(tag, "td"))
		add_head(h);
}

/* A line break after these keeps the source readable and changes nothing on the page. */
static bool is_block(const char *tag)
{
	static const char *const blocks[] = { "p",   "div",  "li",  "tr",    "table", "section",
					      "h1",  "h2",   "h3",  "ul",    "thead", "tbody",
					      "svg", "main", "nav", "header" };

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (!strcmp(tag, blocks[i]))
			return true;
	return false;
}

void html_close(struct html *h)
{
	const char *tag;

	end_start_tag(h);
	assert(h->depth > 0);
	tag = h->open[--h->depth];
	strbuf_addf(&h->out, "</%s>%s", tag, is_block(tag) ? "\n" : "");
}

void html_close_to(struct html *h, size_t depth)
{
	end_start_tag(h);
	while (h->depth > depth)
		html_close(h);
}

static void escape(struct strbuf *b, const char *text, size_t len, size_t max)
{
	size_t i = 0;

	for (; i < len && max > 0; max--) {
		switch (text[i]) {
		case '<':
			strbuf_addstr(b, "&lt;");
			i++;
			break;
		case '>':
			strbuf_addstr(b, "&gt;");
			i++;
			break;
		case '&':
			strbuf_addstr(b, "&amp;");
			i++;
			break;
		case '"':
			strbuf_addstr(b, "&quot;");
			i++;
			break;
		case '\'':
			strbuf_addstr(b, "&#39;");
			i++;
			break;
		default:
			i += visible_step(b, text + i, len - i);
		}
	}
	if (i < len)
		strbuf_addstr(b, "\xe2\x80\xa6");
}

void html_attr(struct html *h, const char *name, const char *value)
{
	assert(h->in_tag);
	if (!value)
		return;
	strbuf_addf(&h->out, " %s=\"", name);
	escape(&h->out, value, strlen(value), SIZE_MAX);
	strbuf_addch(&h->out, '"');
}

void html_attrf(struct html *h, const char *name, const char *fmt, ...)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	html_attr(h, name, strbuf_str(&b));
}

void html_href(struct html *h, const char *before, const char *value, const char *after)
{
	assert(h->in_tag);
	strbuf_addf(&h->out, " href=\"%s", before);
	for (const char *s = value; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    c == '-' || c == '.' || c == '_' || c == '~')
			strbuf_addch(&h->out, *s);
		else
			strbuf_addf(&h->out, "%%%02X", c);
	}
	strbuf_addstr(&h->out, after ? after : "");
	strbuf_addch(&h->out, '"');
}

void html_textn(struct html *h, const char *text, size_t len)
{
	end_start_tag(h);
	escape(&h->out, text, len, SIZE_MAX);
}

void html_text(struct html *h, const char *text)
{
	html_textn(h, text, strlen(text));
}

void html_short(struct html *h, const char *text, size_t max)
{
	end_start_tag(h);
	escape(&h->out, text, strlen(text), max);
}

__attribute__((format(printf, 2, 0))) static void html_vtextf(struct html *h, const char *fmt,
							      va_list ap)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	strbuf_vaddf(&b, fmt, ap);
	html_text(h, strbuf_str(&b));
}

void html_textf(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	html_vtextf(h, fmt, ap);
	va_end(ap);
}

void html_div(struct html *h, const char *tag, const char *class)
{
	html_open(h, tag);
	html_attr(h, "class", class);
}

void html_el(struct html *h, const char *tag, const char *class, const char *text)
{
	html_div(h, tag, class);
	html_text(h, text);
	html_close(h);
}

void html_elf(struct html *h, const char *tag, const char *class, const char *fmt, ...)
{
	va_list ap;

	html_div(h, tag, class);
	va_start(ap, fmt);
	html_vtextf(h, fmt, ap);
	va_end(ap);
	html_close(h);
}

char *html_take(struct html *h)
{
	html_close_to(h, 0);
	return strbuf_take(&h->out);
}

void html_done(struct html *h)
{
	strbuf_done(&h->out);
}
