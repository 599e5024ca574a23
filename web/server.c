/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/loop.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/token.h"
#include "web/db_pool.h"
#include "web/request.h"

#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <systemd/sd-daemon.h>

/* Limits: see the manual page of kperfbotd. One client cannot take all connections. */
#define THREADS		 4
#define CONNECTIONS	 256
#define CONNECTIONS_EACH 32
#define IDLE_S		 10
#define MEMORY		 16384
#define BODY_MAX	 1048576
#define BODY_ABORT	 4194304UL

struct web {
	struct web_options o;
	struct MHD_Daemon *daemon;
	uint16_t port;
};

static void *on_target(void *cls, const char *target, struct MHD_Connection *conn)
{
	struct web *w = cls;
	struct request *q = xcalloc(1, sizeof(*q));

	(void)conn;
	q->o = &w->o;
	q->answer.fd = -1;
	q->target = xstrdup(target);
	q->problems = json_array();
	id_new('q', q->id);
	return q;
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **ptr,
			 enum MHD_RequestTerminationCode why)
{
	struct request *q = *ptr;

	(void)cls;
	(void)conn;
	(void)why;
	if (!q)
		return;
	url_done(&q->url);
	strbuf_done(&q->body);
	json_decref(q->problems);
	answer_done(&q->answer);
	free(q->target);
	free(q);
	*ptr = NULL;
}

struct framing {
	unsigned lengths, encodings;
	const char *length;
};

static enum MHD_Result count_header(void *cls, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct framing *f = cls;

	(void)kind;
	if (!strcasecmp(key, "Content-Length")) {
		f->lengths++;
		f->length = value;
	} else if (!strcasecmp(key, "Transfer-Encoding")) {
		f->encodings++;
	}
	return MHD_YES;
}

/* The library takes the first of two lengths, a proxy in front may take the last: refuse. */
static int check_framing(struct request *q, struct err *e)
{
	struct framing f = { 0 };
	bool reading = !strcmp(q->method, "GET") || !strcmp(q->method, "HEAD");

	(void)MHD_get_connection_values(q->conn, MHD_HEADER_KIND, count_header, &f);
	if (f.lengths + f.encodings > 1)
		return err_set(e, ERR_PARSE,
			       "the length of the body is given twice or in two ways");
	if (f.length && strspn(f.length, "0123456789") != strlen(f.length))
		return err_set(e, ERR_PARSE, "Content-Length '%s' is not a number", f.length);
	if (reading && (f.encodings || (f.length && strcmp(f.length, "0") != 0)))
		return err_set(e, ERR_PARSE, "a %s has no body", q->method);
	if (f.length && (strlen(f.length) > 9 || strtoul(f.length, NULL, 10) > BODY_MAX))
		return err_set(e, ERR_TOO_BIG, "a body has at most %d bytes", BODY_MAX);
	return 0;
}

/* ",a,b," is for strstr(), "a, b" for people. */
static char *known_keys(const char *query)
{
	struct strbuf b = STRBUF_INIT;

	for (const char *p = query + 1; p[0] && p[1]; p++)
		strbuf_addf(&b, *p == ',' ? "%c " : "%c", *p);
	return strbuf_take(&b);
}

static int check_query(const struct request *q, struct err *e)
{
	_cleanup_(freep) char *known = NULL;

	for (size_t i = 0; i < q->url.n; i++) {
		_cleanup_(freep) char *key = xasprintf(",%s,", q->url.keys[i]);

		if (!strchr(q->url.keys[i], ',') && strstr(q->route->query, key))
			continue;
		if (!q->route->query[0])
			return err_set(e, ERR_PARSE, "query key '%s' is not known here; none is",
				       q->url.keys[i]);
		known = known_keys(q->route->query);
		return err_set(e, ERR_PARSE, "query key '%s' is not known here; known: %s",
			       q->url.keys[i], known);
	}
	return 0;
}

static int check_token(struct request *q, struct err *e)
{
	const char *auth = MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "Authorization");
	int r;

	if (!auth || strncasecmp(auth, "Bearer ", 7) != 0)
		return err_set(e, ERR_AUTH, "this needs 'Authorization: Bearer kpb_ID_SECRET'");
	r = db_pool_get(q->o, &q->db, e);
	return r < 0 ? r : token_check(q->db, auth + 7, q->route->scope, q->token, e);
}

static int check_type(const struct request *q, struct err *e)
{
	const char *type = MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "Content-Type");
	const char *len = MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "Content-Length");
	const char *coding =
		MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "Transfer-Encoding");
	size_t n = type ? strcspn(type, "; ") : 0;

	/* No body has no type: what needs one says so itself. */
	if (!type && !coding && (!len || !strcmp(len, "0")))
		return 0;
	if (n == 16 && !strncasecmp(type, "application/json", n))
		return 0;
	return err_set(e, ERR_UNSUPPORTED, "the body must be application/json, not '%s'",
		       type ? type : "");
}

/* All that can be said before the body is there. The status, 0 when the code tells. */
static unsigned check(struct request *q, struct err *e)
{
	int r = check_framing(q, e);

	if (r < 0) {
		q->answer.close = true;
		return r == ERR_TOO_BIG ? 413 : 400;
	}
	if (url_parse(q->target, &q->url, e) < 0)
		return 400;
	r = routes_find(q, e);
	if (r < 0)
		return r == ERR_NOENT ? 404 : 405;
	if (check_query(q, e) < 0)
		return 400;
	if (q->route->scope) {
		if (check_token(q, e) < 0)
			return 0;
		if (check_type(q, e) < 0)
			return 415;
	}
	return 0;
}

static void add_header(struct MHD_Response *res, const char *name, const char *value)
{
	(void)MHD_add_response_header(res, name, value);
}

static void add_headers(struct MHD_Response *res, const struct request *q)
{
	const struct answer *a = &q->answer;
	char num[16];

	add_header(res, "Content-Type", a->type);
	add_header(res, "X-Content-Type-Options", "nosniff");
	add_header(res, "Referrer-Policy", "no-referrer");
	add_header(res, "Content-Security-Policy",
		   "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
		   "form-action 'none'; frame-ancestors 'none'");
	add_header(res, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(res, "Cache-Control", a->lasting ? "max-age=300" : "no-cache");
	add_header(res, "X-Request-Id", q->id);
	if (a->location)
		add_header(res, "Location", a->location);
	if (a->allow[0] && a->status == 405)
		add_header(res, "Allow", a->allow);
	if (a->received[0])
		add_header(res, "X-Kperfbot-Received", a->received);
	if (a->status == 401)
		add_header(res, "WWW-Authenticate", "Bearer");
	if (a->close)
		add_header(res, "Connection", "close");
	if (a->refresh) {
		(void)snprintf(num, sizeof(num), "%u", a->refresh);
		add_header(res, "Refresh", num);
	}
	if (a->retry_after) {
		(void)snprintf(num, sizeof(num), "%u", a->retry_after);
		add_header(res, "Retry-After", num);
	}
}

/* A strong tag of what is sent; 304 when the client has it. */
static void tag(struct request *q, char ret[40])
{
	struct answer *a = &q->answer;
	const char *have = MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "If-None-Match");
	char hash[65];

	ret[0] = '\0';
	if (a->status != 200 || a->fd >= 0 || !strcmp(q->method, "POST"))
		return;
	file_sha256_hex(strbuf_str(&a->body), a->body.len, hash);
	(void)snprintf(ret, 40, "\"%.32s\"", hash);
	if (have && strstr(have, ret)) {
		a->status = 304;
		strbuf_reset(&a->body);
	}
}

static enum MHD_Result send_answer(struct request *q)
{
	struct answer *a = &q->answer;
	struct MHD_Response *res;
	enum MHD_Result r;
	char etag[40];

	q->answer.sent = true;
	tag(q, etag);
	if (a->fd >= 0)
		res = MHD_create_response_from_fd64(a->fd_size, take_fd(a->fd));
	else
		res = MHD_create_response_from_buffer(a->body.len, a->body.s ? a->body.s : etag,
						      MHD_RESPMEM_MUST_COPY);
	if (!res)
		return MHD_NO;
	add_headers(res, q);
	if (etag[0])
		add_header(res, "ETag", etag);
	r = MHD_queue_response(q->conn, a->status, res);
	MHD_destroy_response(res);
	return r;
}

static enum MHD_Result on_first(struct request *q)
{
	q->checked = true;
	q->early_status = check(q, &q->early);
	if (!q->early.code || !q->answer.close)
		return MHD_YES;
	answer_error(q, q->early_status, &q->early);
	return send_answer(q);
}

/* The body is read to its end even when it is refused, or the client may not see the answer. */
static enum MHD_Result on_body(struct request *q, const char *data, size_t len)
{
	q->body_bytes += len;
	if (q->body_bytes > BODY_ABORT)
		return MHD_NO;
	if (!q->early.code && q->body_bytes > BODY_MAX) {
		q->answer.close = true;
		q->early_status = 413;
		(void)err_set(&q->early, ERR_TOO_BIG, "a body has at most %d bytes", BODY_MAX);
	}
	if (!q->early.code)
		strbuf_add(&q->body, data, len);
	return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *len, void **ptr)
{
	struct request *q = *ptr;

	(void)cls;
	(void)url;
	(void)version;
	if (!q)
		return MHD_NO;
	q->conn = conn;
	if (!q->checked) {
		q->method = method;
		return on_first(q);
	}
	if (*len > 0) {
		enum MHD_Result r = on_body(q, data, *len);

		*len = 0;
		return r;
	}
	if (q->answer.sent)
		return MHD_NO;
	if (q->early.code)
		answer_error(q, q->early_status, &q->early);
	else
		route_run(q);
	return send_answer(q);
}

int web_start(const struct web_options *o, struct web **ret, struct err *e)
{
	const char *listen = config_str(o->config, "web", NULL, "listen");
	_cleanup_(closep) int fd = -1;
	struct web *w;
	uint16_t port;
	int r;

	r = web_listen(listen, &fd, &port, e);
	if (r < 0)
		return r;
	w = xcalloc(1, sizeof(*w));
	w->o = *o;
	w->port = port;
	w->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, w,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE,
		o->threads ? o->threads : THREADS, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_EACH, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_target, w,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
	if (!w->daemon) {
		free(w);
		return err_errno(e, errno, "could not start the web server on '%s'", listen);
	}
	(void)take_fd(fd);
	*ret = w;
	return 0;
}

uint16_t web_port(const struct web *w)
{
	return w->port;
}

void web_stop(struct web *w)
{
	if (!w)
		return;
	MHD_stop_daemon(w->daemon);
	free(w);
}

int web_run(const struct web_options *o, struct err *e)
{
	struct loop *loop = NULL;
	struct web *w = NULL;
	int r;

	/* First the loop: it blocks the signals that the threads are not to get. */
	r = loop_new(&loop, e);
	if (r < 0)
		return r;
	r = web_start(o, &w, e);
	if (r == 0) {
		log_info("serving pages",
			 lf_str("ADDRESS", config_str(o->config, "web", NULL, "listen")));
		(void)sd_notify(0, "READY=1");
		r = loop_run(loop, e);
	}
	(void)sd_notify(0, "STOPPING=1");
	web_stop(w);
	loop_free(loop);
	return r;
}
