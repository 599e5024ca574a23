/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target of a request, and text of strangers on its way into a page. */
#include "bot/base/cleanup.h"
#include "web/html.h"
#include "web/request.h"
#include "web/url.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_route(const char *text)
{
	struct request q = { .method = "GET" };

	if (url_parse(text, &q.url, NULL) < 0)
		return;
	for (const char *s = q.url.path; *s; s++)
		if ((unsigned char)*s < 0x20)
			abort();
	(void)routes_find(&q, NULL);
	url_done(&q.url);
}

/* Nothing can end the text or the attribute that it stands in. */
static void check_html(const char *text, size_t len)
{
	_cleanup_(freep) char *out = NULL;
	struct html h = HTML_INIT;
	size_t open = 0, quotes = 0;

	html_open(&h, "p");
	html_attr(&h, "title", text);
	html_href(&h, "/trees/", text, NULL);
	html_textn(&h, text, len);
	out = html_take(&h);
	for (const char *s = out; *s; s++) {
		open += *s == '<';
		quotes += *s == '"';
	}
	if (open != 2 || quotes != 4)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = xstrndup((const char *)data, size);

	check_route(text);
	check_html(text, strlen(text));
	return 0;
}
