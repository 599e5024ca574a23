/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One request and its answer; shared by the files of web/ only. */
#pragma once

#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "web/html.h"
#include "web/url.h"
#include "web/web.h"

#include <stdbool.h>
#include <stdint.h>

struct db;
struct MHD_Connection;
struct route;

/**
 * struct answer - @fd: a file to send instead of @body, or -1. Strings are literals but @location.
 * @received: bytes of a machine's stream that are there, "" when there is none. @refresh: seconds after
 * which a browser reads it again, 0: never.
 */
struct answer {
	unsigned status;
	const char *type;
	struct strbuf body;
	int fd;
	uint64_t fd_size;
	char *location;
	char allow[64];
	char received[24];
	unsigned retry_after;
	unsigned refresh;
	bool close;
	bool lasting; /* may be cached for an hour */
	bool sent;
};

/**
 * struct request - made when the request line was read, freed when the answer is out.
 * @arg: what stood at the ':' of the route's pattern.
 * @id: for log and answer, "q…".
 * @token: id of the token, "" without one.
 */
struct request {
	const struct web_options *o;
	struct MHD_Connection *conn;
	char *target;
	struct url url;
	const struct route *route;
	const char *arg;
	struct db *db;
	char id[9];
	char token[9];
	const char *method;
	struct strbuf body;
	uint64_t body_bytes;
	struct err early; /* why it is refused when the body was read; 0: it is not */
	unsigned early_status;
	bool checked;
	json_t *problems;
	struct answer answer;
};

enum {
	FORM_HTML = 1,
	FORM_JSON = 2,
	FORM_CSV = 4
};

/**
 * struct route - one row of the table in routes.c.
 * @method: "GET" (HEAD too) or "POST".
 * @pattern: "/r/:r": ':' with an id letter, ':n' a number, ':h' hex digits of a commit, ':s' a name,
 *	':x' a secret of 32 hex digits.
 * @query: allowed keys with commas around: ",state,tree,".
 * @forms: FORM_ bits; none for @serve.
 * @scope: token scope that is needed, or one of "a|b"; NULL for everybody.
 * @load: read what the page shows, in a read-only snapshot.
 * @render: draw it. @table: append it as CSV, if @forms has FORM_CSV.
 * @serve: do it all, without a transaction; fills the answer. No database is opened for it if @plain.
 */
struct route {
	const char *method;
	const char *pattern;
	const char *query;
	const char *scope;
	int (*load)(struct request *q, json_t **ret, struct err *e);
	void (*render)(struct request *q, struct html *h, const json_t *j);
	void (*table)(const json_t *j, struct strbuf *ret);
	int (*serve)(struct request *q, struct err *e);
	unsigned forms;
	bool plain;
};

/** routes_find() - sets q->route and q->arg. ERR_NOENT; ERR_UNSUPPORTED and q->answer.allow. */
int routes_find(struct request *q, struct err *e);

/** answer_json() - and answer_text(): a body. */
void answer_json(struct request *q, unsigned status, const json_t *j);
void answer_text(struct request *q, unsigned status, const char *type, const char *text);

/** answer_error() - page or problem object for @e; @status 0 is that of the code. */
void answer_error(struct request *q, unsigned status, const struct err *e);

/** answer_done() - free. */
void answer_done(struct answer *a);

/** route_run() - answer a request whose route is known. */
void route_run(struct request *q);

/* Pages. */
int load_overview(struct request *q, json_t **ret, struct err *e);
void render_overview(struct request *q, struct html *h, const json_t *j);
int load_regressions(struct request *q, json_t **ret, struct err *e);
void render_regressions(struct request *q, struct html *h, const json_t *j);
int load_regression(struct request *q, json_t **ret, struct err *e);
void render_regression(struct request *q, struct html *h, const json_t *j);
void table_regression(const json_t *j, struct strbuf *ret);
int load_bisects(struct request *q, json_t **ret, struct err *e);
void render_bisects(struct request *q, struct html *h, const json_t *j);
int load_bisect(struct request *q, json_t **ret, struct err *e);
void render_bisect(struct request *q, struct html *h, const json_t *j);
int serve_bisect_log(struct request *q, struct err *e);
int load_queue(struct request *q, json_t **ret, struct err *e);
void render_queue(struct request *q, struct html *h, const json_t *j);
int load_tree(struct request *q, json_t **ret, struct err *e);
void render_tree(struct request *q, struct html *h, const json_t *j);
int load_comparison(struct request *q, json_t **ret, struct err *e);
void render_comparison(struct request *q, struct html *h, const json_t *j);
void table_comparison(const json_t *j, struct strbuf *ret);
int load_series(struct request *q, json_t **ret, struct err *e);
void render_series(struct request *q, struct html *h, const json_t *j);
void table_series(const json_t *j, struct strbuf *ret);
int load_series_list(struct request *q, json_t **ret, struct err *e);
void render_series_list(struct request *q, struct html *h, const json_t *j);
int load_machine(struct request *q, json_t **ret, struct err *e);
void render_machine(struct request *q, struct html *h, const json_t *j);
int load_machines(struct request *q, json_t **ret, struct err *e);
void render_machines(struct request *q, struct html *h, const json_t *j);
int load_commit(struct request *q, json_t **ret, struct err *e);
void render_commit(struct request *q, struct html *h, const json_t *j);
int load_about(struct request *q, json_t **ret, struct err *e);
void render_about(struct request *q, struct html *h, const json_t *j);
void render_stop(struct request *q, struct html *h, const json_t *j);
int serve_style(struct request *q, struct err *e);
int serve_healthz(struct request *q, struct err *e);
int serve_readyz(struct request *q, struct err *e);
int serve_build_log(struct request *q, struct err *e);
int serve_build_config(struct request *q, struct err *e);
int serve_boot_console(struct request *q, struct err *e);
int serve_run_raw(struct request *q, struct err *e);
int serve_bisect_post(struct request *q, struct err *e);
int serve_bisect_cancel(struct request *q, struct err *e);
int serve_bisect_extend(struct request *q, struct err *e);
int serve_bisect_retry(struct request *q, struct err *e);
int serve_netboot_script(struct request *q, struct err *e);
int serve_netboot_kernel(struct request *q, struct err *e);
int serve_netboot_initrd(struct request *q, struct err *e);
int serve_netboot_stream(struct request *q, struct err *e);
