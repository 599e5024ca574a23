/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POST /api/v1/bisects/ID/cancel, /extend and /retry. */
#include "bot/db/db.h"
#include "bot/store/bisection_control.h"
#include "bot/store/bisection_range.h"
#include "bot/store/page_read.h"
#include "web/request.h"

#include <string.h>

/* The body, an object with no other key than @key; an empty body is one without it. */
static int read_body(struct request *q, const char *key, json_t **ret, struct err *e)
{
	const char *k;
	json_t *v;
	int r;

	if (!q->body.len) {
		*ret = json_object();
		return 0;
	}
	r = json_read(strbuf_str(&q->body), q->body.len, "the body", ret, e);
	if (r < 0)
		return r;
	if (!json_is_object(*ret))
		return err_set(e, ERR_PARSE, "the body must be a JSON object");
	json_object_foreach (*ret, k, v)
		if (!key || strcmp(k, key) != 0)
			return err_set(e, ERR_PARSE, "no field '%.100s'%s%s", k,
				       key ? "; there is " : "", key ? key : "");
	return 0;
}

static int answer_bisection(struct request *q, unsigned status, const char *id, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	int r = page_bisection(q->db, id, &j, e);

	if (r < 0)
		return r;
	answer_json(q, status, j);
	if (status == 201)
		q->answer.location = xasprintf("/api/v1/bisects/%s", id);
	return 0;
}

/* The one field of the body, an empty body being without it; tells what is wrong with its type. */
static int check_field(struct request *q, const char *pointer, bool ok, const char *what,
		       struct err *e)
{
	if (ok)
		return 0;
	ask_problem(q->problems, pointer, "wrong_type", "%s", what);
	return err_set(e, ERR_INVAL, "%s", what);
}

int serve_bisect_cancel(struct request *q, struct err *e)
{
	_cleanup_(json_decrefp) json_t *body = NULL;
	int r = read_body(q, "reason", &body, e);

	if (r == 0)
		r = check_field(q, "/reason", json_is_string(json_object_get(body, "reason")),
				"reason must be a text, such as {\"reason\":\"wrong job\"}", e);
	if (r == 0)
		r = bisection_may(q->db, q->arg, q->token, e);
	if (r == 0)
		r = bisection_cancel(q->db, q->arg, q->token, json_str(body, "reason", NULL), e);
	return r < 0 ? r : answer_bisection(q, 200, q->arg, e);
}

int serve_bisect_extend(struct request *q, struct err *e)
{
	_cleanup_(json_decrefp) json_t *body = NULL;
	int64_t max;
	int r = read_body(q, "runs", &body, e);

	if (r == 0)
		r = check_field(q, "/runs", json_is_integer(json_object_get(body, "runs")),
				"runs must be a whole number, such as {\"runs\":50}", e);
	if (r == 0)
		r = bisection_may(q->db, q->arg, q->token, e);
	if (r == 0)
		r = bisection_extend(q->db, q->o->config, q->arg, json_i64(body, "runs", 0), &max,
				     e);
	return r < 0 ? r : answer_bisection(q, 200, q->arg, e);
}

int serve_bisect_retry(struct request *q, struct err *e)
{
	_cleanup_(json_decrefp) json_t *body = NULL;
	char id[9];
	int r = read_body(q, NULL, &body, e);

	if (r == 0)
		r = bisection_may(q->db, q->arg, q->token, e);
	if (r == 0)
		r = bisection_retry(q->db, q->arg, q->token, id, e);
	return r < 0 ? r : answer_bisection(q, 201, id, e);
}
