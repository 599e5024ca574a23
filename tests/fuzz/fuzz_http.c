/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of an answer from a web server, and an address. */
#include "bot/base/strbuf.h"
#include "runners/agent/http.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = xstrndup((const char *)data, size);
	struct http_head h;
	struct http_url u;

	if (http_head_parse((const char *)data, size, &h, NULL) == 1 &&
	    (h.head_len > size || h.body_len > HTTP_BODY_MAX || h.status > 999))
		abort();
	if (http_url_parse(text, &u, NULL) == 0 && u.path[0] != '/')
		abort();
	return 0;
}
