/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POST /api/v1/bisects: the body is checked field by field, all that is wrong is told at once. */
#include "bot/db/db.h"
#include "bot/store/bisection_ask.h"
#include "bot/store/bisection_range.h"
#include "bot/store/page_read.h"
#include "web/request.h"

#include <string.h>

#define MAX_TEXT  1000
#define MAX_PATHS 100
#define MAX_RUNS  1000000

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
	{ "machine", offsetof(struct bisection_ask, machine) },
	{ "priority", offsetof(struct bisection_ask, priority) },
	{ "deadline", offsetof(struct bisection_ask, deadline) },
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

static bool take_number(struct bisection_ask *a, const char *key, const json_t *v, json_t *problems)
{
	static const struct {
		const char *key;
		size_t offset;
		double least, most;
	} numbers[] = {
		{ "min_effect", offsetof(struct bisection_ask, min_effect), 1e-4, 1 },
		{ "confidence", offsetof(struct bisection_ask, confidence), 0.5, 0.99999 },
	};
	_cleanup_(freep) char *pointer = xasprintf("/%s", key);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		double value = json_number_value(v);

		if (strcmp(numbers[i].key, key) != 0)
			continue;
		if (!json_is_number(v) || !(value >= numbers[i].least && value <= numbers[i].most))
			ask_problem(problems, pointer, "wrong_type",
				    "%s must be a number from %g to %g", key, numbers[i].least,
				    numbers[i].most);
		else
			*(double *)(void *)((char *)a + numbers[i].offset) = value;
		return true;
	}
	return false;
}

static bool good_paths(const json_t *v)
{
	const json_t *p;
	size_t i;

	if (!json_is_array(v) || json_array_size(v) == 0 || json_array_size(v) > MAX_PATHS)
		return false;
	json_array_foreach (v, i, p)
		if (!json_is_string(p) || json_string_length(p) == 0 ||
		    json_string_length(p) > MAX_TEXT ||
		    strlen(json_string_value(p)) != json_string_length(p))
			return false;
	return true;
}

static bool take_range(struct bisection_ask *a, const char *key, const json_t *v, json_t *problems)
{
	if (!strcmp(key, "max_runs")) {
		a->max_runs = json_integer_value(v);
		if (!json_is_integer(v) || a->max_runs < 4 || a->max_runs > MAX_RUNS)
			ask_problem(problems, "/max_runs", "wrong_type",
				    "max_runs must be a whole number from 4 to %d", MAX_RUNS);
	} else if (!strcmp(key, "paths")) {
		a->paths = v;
		if (!good_paths(v))
			ask_problem(problems, "/paths", "wrong_type",
				    "paths must be an array of 1 to %d texts", MAX_PATHS);
	} else if (!strcmp(key, "first_parent")) {
		a->first_parent = json_is_true(v);
		if (!json_is_boolean(v))
			ask_problem(problems, "/first_parent", "wrong_type",
				    "first_parent is true or false");
	} else {
		return false;
	}
	return true;
}

/* RFC 6901: ~ and / in a name are ~0 and ~1. */
static char *pointer_to(const char *key)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addch(&b, '/');
	for (size_t i = 0; key[i] && i < 100; i++)
		if (key[i] == '~' || key[i] == '/')
			strbuf_addstr(&b, key[i] == '~' ? "~0" : "~1");
		else
			strbuf_addch(&b, key[i]);
	return strbuf_take(&b);
}

static void read_fields(struct bisection_ask *a, json_t *body, json_t *problems)
{
	const char *key;
	json_t *v;

	json_object_foreach (body, key, v) {
		_cleanup_(freep) char *pointer = NULL;

		if (take_field(a, key, v, problems) || take_number(a, key, v, problems) ||
		    take_range(a, key, v, problems))
			continue;
		if (!strcmp(key, "params")) {
			take_params(a, v, problems);
			continue;
		}
		pointer = pointer_to(key);
		if (!strcmp(key, "patch") || !strcmp(key, "notify")) {
			ask_problem(problems, pointer, "not_supported",
				    "%s is not supported yet; leave it out", key);
			continue;
		}
		json_set_str(
			ask_problem(problems, pointer, "unknown_field", "no field '%.100s'", key),
			"hint",
			"there are tree, good, bad, job, suite, params, metric, machine, min_effect, confidence, max_runs, deadline, paths, first_parent, priority and note");
	}
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
	plan_j = bisection_plan_json(&plan);
	answer_json(q, 200, plan_j);
	return 0;
}
