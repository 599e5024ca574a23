/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/log.h"
#include "web/parts.h"
#include "web/request.h"

#include <microhttpd.h>
#include <string.h>
#include <unistd.h>

/* As bot/base/json.h, but 0.038 stays 0.038. */
static char *dump(const json_t *j)
{
	char *s = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15));

	if (!s)
		abort();
	return s;
}

static void set_body(struct request *q, unsigned status, const char *type, const char *text)
{
	struct answer *a = &q->answer;

	strbuf_reset(&a->body);
	strbuf_addstr(&a->body, text);
	a->status = status;
	a->type = type;
}

void answer_text(struct request *q, unsigned status, const char *type, const char *text)
{
	set_body(q, status, type, text);
}

void answer_json(struct request *q, unsigned status, const json_t *j)
{
	_cleanup_(freep) char *text = dump(j);

	set_body(q, status, "application/json", text);
	strbuf_addch(&q->answer.body, '\n');
}

static const struct {
	unsigned status;
	const char *title, *code;
} kinds[] = {
	{ 400, "Request not understood", "bad_request" },
	{ 401, "Token needed", "unauthorized" },
	{ 403, "Not allowed", "forbidden" },
	{ 404, "Not found", "not_found" },
	{ 405, "Method not allowed", "method_not_allowed" },
	{ 409, "Conflict", "conflict" },
	{ 413, "Request too large", "too_large" },
	{ 415, "Media type not supported", "unsupported_media_type" },
	{ 422, "Request not valid", "invalid_request" },
	{ 503, "Not available now", "unavailable" },
	{ 500, "Internal error", "internal" }, /* last: what nothing else fits */
};

static size_t kind_of(unsigned status)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(kinds) && kinds[i].status != status)
		i++;
	return i;
}

static void problem(struct request *q, size_t kind, const char *detail)
{
	const char *url = config_str(q->o->config, "kperfbot", NULL, "url");
	_cleanup_(json_decrefp) json_t *j = json_object();
	_cleanup_(freep) char *type = NULL, *text = NULL;

	type = xasprintf("%s/help/api#%s", url, kinds[kind].code);
	json_set_str(j, "type", type);
	json_set_str(j, "title", kinds[kind].title);
	json_set_i64(j, "status", kinds[kind].status);
	json_set_str(j, "code", kinds[kind].code);
	json_set_str(j, "detail", detail);
	if (json_array_size(q->problems) && json_object_set(j, "errors", q->problems) < 0)
		abort();
	json_set_str(j, "request_id", q->id);
	text = dump(j);
	set_body(q, kinds[kind].status, "application/problem+json", text);
	strbuf_addch(&q->answer.body, '\n');
}

static void link_item(struct html *h, const char *path, const char *text)
{
	html_open(h, "li");
	html_open(h, "a");
	html_attr(h, "href", path);
	html_text(h, text);
	html_close(h);
	html_close(h);
}

static void error_page(struct request *q, size_t kind, const char *detail)
{
	struct html h = HTML_INIT;
	_cleanup_(freep) char *text = NULL;

	page_begin(q, &h, kinds[kind].title, NULL);
	html_elf(&h, "h1", NULL, "%s", kinds[kind].title);
	html_div(&h, "p", "verdict");
	html_short(&h, detail, 400);
	html_close(&h);
	if (kinds[kind].status == 404) {
		html_el(&h, "p", NULL, "What there is:");
		html_open(&h, "ul");
		link_item(&h, "/", "Overview, with all trees");
		link_item(&h, "/regressions", "Regressions");
		link_item(&h, "/bisects", "Bisections");
		html_close(&h);
	}
	html_elf(&h, "p", "dim small", "Status %u, request %s.", kinds[kind].status, q->id);
	page_end(q, &h);
	text = html_take(&h);
	set_body(q, kinds[kind].status, "text/html; charset=utf-8", text);
}

static bool wants_json(const struct request *q)
{
	const char *accept =
		q->conn ? MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "Accept") : NULL;

	return q->url.json || (!q->url.path && !strncmp(q->target, "/api/", 5)) ||
	       (accept && strstr(accept, "json") && !strstr(accept, "text/html"));
}

/* A secret in the target is not for the log. */
static const char *target_for_log(const struct request *q)
{
	return strncmp(q->target, "/netboot/", 9) ? q->target : "/netboot/...";
}

void answer_error(struct request *q, unsigned status, const struct err *e)
{
	const char *detail = e->msg;
	size_t kind;

	if (q->answer.fd >= 0)
		(void)close(take_fd(q->answer.fd));
	if (!status)
		status = (unsigned)err_http_status(e->code);
	kind = kind_of(status);
	status = kinds[kind].status;
	if (status >= 500)
		log_warn("could not answer a request", lf_str("REQUEST_ID", q->id),
			 lf_str("PATH", target_for_log(q)), lf_err(*e));
	/* What went wrong inside is for the log, not for strangers. */
	if (status == 500)
		detail =
			"something went wrong inside; the log of role web tells, by this request id";
	if (status == 503) {
		q->answer.retry_after = 5;
		detail = e->code == ERR_TIMEOUT	  ? "the database took too long to answer"
			 : e->code == ERR_DB_AWAY ? "the database is not reachable"
						  : "this does not work now, but may later";
	}
	if (wants_json(q))
		problem(q, kind, detail);
	else
		error_page(q, kind, detail);
}

void answer_done(struct answer *a)
{
	strbuf_done(&a->body);
	free(a->location);
	closep(&a->fd);
}
