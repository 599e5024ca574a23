/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POST /api/v1/bisects: the body is checked field by field, all that is wrong is told at once. */
#include "bot/db/db.h"
#include "bot/store/bisection_ask.h"
#include "bot/store/bisection_range.h"
#include "bot/store/page_read.h"
#include "web/request.h"

#include <string.h>

#define MAX_TEXT 1000

static const struct {
	const char *key;
	size_t offset;
} fields[] = {
	{ "tree", offsetof(struct bisection_ask, tree) },
	{ "good", offsetof(struct bisection_ask, good) },
	{ "bad", offsetof(struct bisection_ask, bad) },
	{ "job", offsetof(struct bisection_ask, job) },
	{ "suite", offsetof(struct bisection_ask, suite) },
	{ "metric", offsetof(struct bisection_ask, metric) },
	{ "note", offsetof(struct bisection_ask, note) },
};

static bool take_field(struct bisection_ask *a, const char *key, const json_t *v, json_t *problems)
{
	_cleanup_(freep) char *pointer = xasprintf("/%s", key);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].key, key) != 0)
			continue;
		if (!json_is_string(v) || json_string_length(v) == 0 ||
		    json_string_length(v) > MAX_TEXT)
			ask_problem(problems, pointer, "wrong_type",
				    "%s must be a text of 1 to %d bytes", key, MAX_TEXT);
		else
			*(const char **)((char *)a + fields[i].offset) = json_string_value(v);
		return true;
	}
	return false;
}

static void take_params(struct bisection_ask *a, const json_t *v, json_t *problems)
{
	if (json_is_object(v) && json_object_size(v) <= 32)
		a->params = v;
	else
		ask_problem(problems, "/params", "wrong_type",
			    "params must be an object such as {\"test\":\"page_fault1\"}");
}

static void read_fields(struct bisection_ask *a, json_t *body, json_t *problems)
{
	const char *key;
	json_t *v;

	json_object_foreach (body, key, v) {
		_cleanup_(freep) char *pointer = NULL;

		if (take_field(a, key, v, problems))
			continue;
		if (!strcmp(key, "params")) {
			take_params(a, v, problems);
			continue;
		}
		pointer = xasprintf("/%.100s", key);
		json_set_str(
			ask_problem(problems, pointer, "unknown_field", "no field '%.100s'", key),
			"hint", "there are tree, good, bad, job, suite, params, metric and note");
	}
}

static json_t *plan_json(const struct bisection_plan *plan)
{
	json_t *j = json_object(), *range = json_object(), *steps = json_object();

	json_set_str(range, "good", plan->good);
	json_set_str(range, "bad", plan->bad);
	json_set_i64(range, "commits", plan->commits);
	json_set_str(j, "state", "plan");
	json_set_str(j, "job", plan->job);
	json_set_str(j, "metric", plan->metric);
	json_set_i64(steps, "expect", plan->steps);
	if (json_object_set_new(j, "resolved", range) < 0 ||
	    json_object_set_new(j, "steps", steps) < 0)
		abort();
	return j;
}

static int answer_stored(struct request *q, const struct bisection_plan *plan, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	int r = page_bisection(q->db, plan->id, &j, e);

	if (r < 0)
		return r;
	json_set_bool(j, "joined", plan->joined);
	answer_json(q, plan->joined ? 200 : 201, j);
	q->answer.location = xasprintf("/api/v1/bisects/%s", plan->id);
	return 0;
}

int serve_bisect_post(struct request *q, struct err *e)
{
	const char *dry = url_query(&q->url, "dry_run");
	_cleanup_(json_decrefp) json_t *body = NULL, *plan_j = NULL;
	struct bisection_ask ask = { .asked_by = q->token };
	struct bisection_plan plan;
	struct err why = { 0 };
	int r;

	if (dry && strcmp(dry, "1") != 0 && strcmp(dry, "0") != 0) {
		(void)err_set(&why, ERR_INVAL, "dry_run is 0 or 1, not '%s'", dry);
		answer_error(q, 400, &why);
		return 0;
	}
	if (json_read(strbuf_str(&q->body), q->body.len, "the body", &body, &why) < 0 ||
	    (!json_is_object(body) &&
	     err_set(&why, ERR_PARSE, "the body must be a JSON object") < 0)) {
		answer_error(q, 400, &why);
		return 0;
	}
	read_fields(&ask, body, q->problems);
	r = bisection_ask(q->db, q->o->config, &ask,
			  json_array_size(q->problems) || (dry && *dry == '1'), &plan, q->problems,
			  e);
	if (r < 0)
		return r;
	if (json_array_size(q->problems))
		return err_set(e, ERR_INVAL, "%s",
			       json_str(json_array_get(q->problems, 0), "detail", ""));
	if (!dry || *dry == '0')
		return answer_stored(q, &plan, e);
	plan_j = plan_json(&plan);
	answer_json(q, 200, plan_j);
	return 0;
}
