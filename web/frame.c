/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands around the content of each page. */
#include "bot/base/cleanup.h"
#include "web/parts.h"
#include "web/request.h"

#include <string.h>

static void nav_link(struct html *h, const char *path, const char *text, const char *now)
{
	html_open(h, "li");
	html_open(h, "a");
	html_href(h, path, NULL, NULL);
	if (now && !strcmp(path, now))
		html_attr(h, "aria-current", "page");
	html_text(h, text);
	html_close(h);
	html_close(h);
}

static void head(struct html *h, const char *title)
{
	html_open(h, "head");
	html_open(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_open(h, "meta");
	html_attr(h, "name", "viewport");
	html_attr(h, "content", "width=device-width, initial-scale=1");
	html_open(h, "meta");
	html_attr(h, "name", "color-scheme");
	html_attr(h, "content", "light dark");
	html_open(h, "title");
	html_textf(h, "%s \xc2\xb7 kperfbot", title);
	html_close(h);
	html_open(h, "link");
	html_attr(h, "rel", "stylesheet");
	html_attr(h, "href", "/style.css");
	html_close(h); /* head */
}

void page_begin(struct request *q, struct html *h, const char *title, const char *nav)
{
	(void)q;
	html_doctype(h);
	html_open(h, "html");
	html_attr(h, "lang", "en");
	head(h, title);
	html_open(h, "body");
	html_open(h, "a");
	html_attr(h, "class", "skip");
	html_attr(h, "href", "#main");
	html_text(h, "Skip to content");
	html_close(h);
	html_open(h, "header");
	html_div(h, "nav", "top");
	html_attr(h, "aria-label", "Main");
	html_open(h, "a");
	html_attr(h, "class", "brand");
	html_attr(h, "href", "/");
	html_text(h, "kperfbot");
	html_close(h);
	html_open(h, "ul");
	nav_link(h, "/", "Overview", nav);
	nav_link(h, "/regressions", "Regressions", nav);
	nav_link(h, "/series", "Series", nav);
	nav_link(h, "/bisects", "Bisections", nav);
	nav_link(h, "/queue", "Queue", nav);
	nav_link(h, "/about", "About", nav);
	html_close(h);
	html_close(h);
	html_close(h);
	html_open(h, "main");
	html_attr(h, "id", "main");
}

/* This page in another form, with the same query. */
static void form_link(struct request *q, struct html *h, const char *suffix, const char *text)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	const char *path = q->url.path, *query = strchr(q->target, '?');

	html_open(h, "a");
	if (q->arg && q->arg[strspn(q->arg, plain)]) {
		/* What stands before the argument is our own pattern. */
		_cleanup_(freep) char *before = xstrndup(path, (size_t)(q->arg - path));

		html_href(h, before, q->arg, suffix);
	} else {
		html_attrf(h, "href", "%s%s%s%s", path, path[1] ? "" : "index", suffix,
			   query ? query : "");
	}
	html_text(h, text);
	html_close(h);
}

void page_end(struct request *q, struct html *h)
{
	html_close(h); /* main */
	html_open(h, "footer");
	html_open(h, "p");
	html_textf(h, "kperfbot %s. Times are UTC.", KPERFBOT_VERSION);
	if (q->route && q->route->forms & FORM_JSON) {
		html_text(h, " This page as ");
		form_link(q, h, ".json", "JSON");
		if (q->route->forms & FORM_CSV) {
			html_text(h, " or ");
			form_link(q, h, ".csv", "CSV");
		}
		html_text(h, ".");
	}
}
