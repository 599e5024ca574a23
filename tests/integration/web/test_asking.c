/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bisections that are asked for over HTTP. */
#include "bot/base/json.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "tests/integration/web/client.h"
#include "tests/integration/web/served.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void post(const char *with, const char *path, const char *type, const char *body,
		 struct reply *ret)
{
	const struct call c = { .path = path, .token = with, .type = type, .body = body };

	client_call(&c, ret);
}

#define POST_JSON(r, path, body)                      \
	_cleanup_(reply_done) struct reply r = { 0 }; \
	post(served_token, path, "application/json", body, &(r))

static char *request_body(const char *good, const char *bad, const char *more)
{
	return xasprintf("{\"tree\":\"linus\",\"good\":\"%s\",\"bad\":\"%s\"%s}", good, bad, more);
}

static const char *code_of(const json_t *problem, const char *pointer)
{
	const json_t *list = json_object_get(problem, "errors"), *p;
	size_t i;

	json_array_foreach (list, i, p)
		if (!strcmp(json_str(p, "pointer", ""), pointer))
			return json_str(p, "code", "");
	return "none";
}

/* The path of a call on the bisection that @body asks for. */
static char *change_path(const char *id, const char *what)
{
	return xasprintf("/api/v1/bisects/%s/%s", id, what);
}

static void asking_needs_a_token_with_the_scope(void **state)
{
	_cleanup_(freep) char *body =
		request_body(served_commits[0], served_commits[3], ",\"job\":\"pf1\"");
	static const char *const wrong[] = {
		NULL, "x", "kpb_t1234567_0",
		"kpb_tzzzzzzz_"
		"0000000000000000000000000000000000000000000000000000000000000000"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_(reply_done) struct reply r = { 0 };

		post(wrong[i], "/api/v1/bisects", "application/json", body, &r);
		assert_int_equal(r.status, 401);
		assert_string_equal(reply_header(&r, "WWW-Authenticate"), "Bearer");
	}
	_cleanup_(reply_done) struct reply r = { 0 }, old = { 0 };

	post(served_weak_token, "/api/v1/bisects", "application/json", body, &r);
	assert_int_equal(r.status, 403);
	pg_exec("UPDATE token SET expires = now() - interval '1 s' WHERE name = 'ci'");
	post(served_token, "/api/v1/bisects", "application/json", body, &old);
	pg_exec("UPDATE token SET expires = now() + interval '1 day' WHERE name = 'ci'");
	assert_int_equal(old.status, 401);
	assert_non_null(strstr(strbuf_str(&old.body), "is expired"));
}

static void asking_twice_joins(void **state)
{
	_cleanup_(freep) char *body =
		request_body(served_commits[0], served_commits[3], ",\"job\":\"pf1\"");
	_cleanup_(freep) char *other =
		request_body("v1", "master",
			     ",\"suite\":\"will-it-scale\",\"params\":{\"test\":\"page_fault1\","
			     "\"mode\":\"process\",\"nr_task\":1},\"note\":\"again\"");
	_cleanup_(freep) char *location = NULL;
	_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
	struct err e = { 0 };

	(void)state;
	POST_JSON(plan, "/api/v1/bisects?dry_run=1", body);
	assert_int_equal(plan.status, 200);
	assert_non_null(strstr(strbuf_str(&plan.body), "\"commits\":3"));
	POST_JSON(first, "/api/v1/bisects", body);
	if (first.status != 201)
		fail_msg("%ld %s", first.status, strbuf_str(&first.body));
	location = xstrdup(reply_header(&first, "Location"));
	assert_ok(json_read(strbuf_str(&first.body), first.body.len, "answer", &a, &e), &e);
	assert_string_equal(json_str(a, "state", ""), "queued");
	/* By tag, branch, suite and params it is the same. */
	POST_JSON(second, "/api/v1/bisects", other);
	if (second.status != 200)
		fail_msg("%ld %s", second.status, strbuf_str(&second.body));
	assert_ok(json_read(strbuf_str(&second.body), second.body.len, "answer", &b, &e), &e);
	assert_true(json_is_true(json_object_get(b, "joined")));
	assert_string_equal(json_str(a, "id", "a"), json_str(b, "id", "b"));
	DO_GET(got, location);
	assert_int_equal(got.status, 200);
	assert_non_null(strstr(strbuf_str(&got.body), "\"commits\":3"));
}

struct asker {
	pthread_t thread;
	const char *body;
	struct reply reply;
};

static void *ask_at_once(void *arg)
{
	struct asker *a = arg;

	post(served_token, "/api/v1/bisects", "application/json", a->body, &a->reply);
	return NULL;
}

static void asking_at_the_same_moment_joins(void **state)
{
	_cleanup_(freep) char *body =
		request_body("v1", "master", ",\"job\":\"brk\",\"note\":\"at once\"");
	_cleanup_(freep) char *id = NULL;
	struct asker askers[8] = { 0 };
	int made = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		askers[i].body = body;
		assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_at_once, &askers[i]),
				 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		_cleanup_(json_decrefp) json_t *j = NULL;
		struct reply *r = &askers[i].reply;
		struct err e = { 0 };

		assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
		if (r->status != 200 && r->status != 201)
			fail_msg("%ld %s", r->status, strbuf_str(&r->body));
		made += r->status == 201;
		assert_ok(json_read(strbuf_str(&r->body), r->body.len, "answer", &j, &e), &e);
		assert_int_equal(json_is_true(json_object_get(j, "joined")), r->status == 200);
		if (!id)
			id = xstrdup(json_str(j, "id", ""));
		assert_string_equal(json_str(j, "id", ""), id);
		reply_done(r);
	}
	assert_int_equal(made, 1);
}

static void who_asked_may_extend_cancel_and_try_again(void **state)
{
	_cleanup_(freep) char *body = request_body(served_commits[2], served_commits[3],
						   ",\"job\":\"pf1\",\"priority\":\"low\"");
	_cleanup_(freep) char *extend = NULL, *cancel = NULL, *retry = NULL;
	_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
	struct err e = { 0 };

	(void)state;
	POST_JSON(asked, "/api/v1/bisects", body);
	assert_int_equal(asked.status, 201);
	assert_ok(json_read(strbuf_str(&asked.body), asked.body.len, "answer", &a, &e), &e);
	extend = change_path(json_str(a, "id", ""), "extend");
	cancel = change_path(json_str(a, "id", ""), "cancel");
	retry = change_path(json_str(a, "id", ""), "retry");
	POST_JSON(none, extend, "{}");
	assert_int_equal(none.status, 422);
	POST_JSON(more, extend, "{\"runs\":5}");
	assert_int_equal(more.status, 200);
	POST_JSON(text, extend, "{\"runs\":\"5\"}");
	assert_int_equal(text.status, 422);
	assert_non_null(strstr(strbuf_str(&text.body), "\"pointer\":\"/runs\""));
	_cleanup_(reply_done) struct reply boss = { 0 };

	post(served_admin_token, extend, "application/json", "{\"runs\":5}", &boss);
	assert_int_equal(boss.status, 200);
	POST_JSON(early, retry, "{}");
	assert_int_equal(early.status, 409);
	POST_JSON(why, cancel, "{}");
	assert_int_equal(why.status, 422);
	POST_JSON(blank, cancel, "{\"reason\":\" \\n\"}");
	assert_int_equal(blank.status, 422);
	POST_JSON(odd, cancel, "{\"because\":\"x\"}");
	assert_int_equal(odd.status, 422);
	POST_JSON(gone, cancel, "{\"reason\":\"<b>not</b>\\nneeded\"}");
	assert_int_equal(gone.status, 200);
	assert_non_null(strstr(strbuf_str(&gone.body), "\"cancelled\""));
	assert_non_null(strstr(strbuf_str(&gone.body), "<b>not</b> needed"));
	POST_JSON(twice, cancel, "{\"reason\":\"x\"}");
	assert_int_equal(twice.status, 409);
	POST_JSON(late, extend, "{\"runs\":5}");
	assert_int_equal(late.status, 409);
	_cleanup_(reply_done) struct reply again = { 0 };

	/* It needs no body, and so no type of one. */
	client_call(&(struct call){ .method = "POST", .path = retry, .token = served_token },
		    &again);
	if (again.status != 201)
		fail_msg("%ld %s", again.status, strbuf_str(&again.body));
	assert_ok(json_read(strbuf_str(&again.body), again.body.len, "answer", &b, &e), &e);
	assert_string_equal(json_str(b, "again", ""), json_str(a, "id", "?"));
	POST_JSON(foreign, "/api/v1/bisects/b2222222/cancel", "{\"reason\":\"x\"}");
	assert_int_equal(foreign.status, 403);
	POST_JSON(unknown, "/api/v1/bisects/bzzzzzzz/cancel", "{\"reason\":\"x\"}");
	assert_int_equal(unknown.status, 404);
}

/* What the bot itself bisects is joined, and what a person asked for never blocks it. */
static void asking_joins_what_the_bot_does(void **state)
{
	_cleanup_(freep) char *body =
		request_body(served_commits[1], served_commits[3], ",\"job\":\"pf1\"");
	char tree[] = "linus", metric[] = "will-it-scale.per_process_ops";
	struct regression own = { .id = "r2222222", .tree = tree, .metric = metric };
	_cleanup_(json_decrefp) json_t *a = NULL;
	struct err e = { 0 };

	(void)state;
	memcpy(own.base, served_commits[1], 41);
	memcpy(own.head, served_commits[3], 41);
	assert_ok(job_sync(pg_db(), served_config, "pf1", &own.job, &e), &e);
	assert_ok(bisection_add(pg_db(), &own, &e), &e);
	POST_JSON(r, "/api/v1/bisects", body);
	assert_int_equal(r.status, 200);
	assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &a, &e), &e);
	assert_string_equal(json_str(a, "regression", ""), "r2222222");
	memcpy(own.base, served_commits[0], 41);
	(void)snprintf(own.id, sizeof(own.id), "r3333333");
	assert_ok(bisection_add(pg_db(), &own, &e), &e);
}

static void each_wrong_field_is_told(void **state)
{
	_cleanup_(freep) char *swapped =
		request_body(served_commits[3], served_commits[0], ",\"job\":\"pf1\"");
	_cleanup_(freep) char *equal =
		request_body(served_commits[0], served_commits[0], ",\"job\":\"pf1\"");
	_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL, *c = NULL, *d = NULL, *f = NULL;
	struct err e = { 0 };

	(void)state;
	POST_JSON(
		r, "/api/v1/bisects",
		"{\"tree\":\"linus\",\"good\":\"ffffffffff\",\"bad\":\"no such tag\",\"job\":\"nope\","
		"\"colour\":\"red\",\"note\":7,"
		"\"patch\":{\"text\":\"\"},\"notify\":{\"mail\":\"a@example.org\"}}");
	assert_int_equal(r.status, 422);
	assert_string_equal(reply_header(&r, "Content-Type"), "application/problem+json");
	assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &a, &e), &e);
	assert_string_equal(code_of(a, "/good"), "unknown_commit");
	assert_string_equal(code_of(a, "/bad"), "unknown_commit");
	assert_string_equal(code_of(a, "/job"), "unknown_job");
	assert_string_equal(code_of(a, "/colour"), "unknown_field");
	assert_string_equal(code_of(a, "/note"), "wrong_type");
	assert_string_equal(code_of(a, "/patch"), "not_supported");
	assert_string_equal(code_of(a, "/notify"), "not_supported");
	POST_JSON(s, "/api/v1/bisects", swapped);
	assert_int_equal(s.status, 422);
	POST_JSON(q, "/api/v1/bisects", equal);
	assert_int_equal(q.status, 422);
	assert_ok(json_read(strbuf_str(&q.body), q.body.len, "answer", &b, &e), &e);
	assert_string_equal(code_of(b, "/bad"), "range_empty");
	POST_JSON(m, "/api/v1/bisects", "{}");
	assert_ok(json_read(strbuf_str(&m.body), m.body.len, "answer", &c, &e), &e);
	assert_string_equal(code_of(c, "/tree"), "required");
	assert_string_equal(code_of(c, "/good"), "required");
	assert_string_equal(code_of(c, "/job"), "required");
	POST_JSON(u, "/api/v1/bisects",
		  "{\"tree\":\"mars\",\"good\":\"a\",\"bad\":\"b\",\"suite\":\"will-it-scale\","
		  "\"params\":{\"test\":\"brk9\"}}");
	assert_ok(json_read(strbuf_str(&u.body), u.body.len, "answer", &d, &e), &e);
	assert_string_equal(code_of(d, "/tree"), "unknown_tree");
	assert_string_equal(code_of(d, "/params"), "unknown_param");
	POST_JSON(limits, "/api/v1/bisects",
		  "{\"tree\":\"linus\",\"good\":\"v1\",\"bad\":\"master\",\"job\":\"pf1\","
		  "\"max_runs\":1,\"min_effect\":7,\"deadline\":\"soon\",\"paths\":[\"\"],"
		  "\"priority\":\"x\",\"machine\":\"m9\"}");
	assert_ok(json_read(strbuf_str(&limits.body), limits.body.len, "answer", &f, &e), &e);
	assert_string_equal(code_of(f, "/max_runs"), "wrong_type");
	assert_string_equal(code_of(f, "/min_effect"), "wrong_type");
	assert_string_equal(code_of(f, "/deadline"), "invalid");
	assert_string_equal(code_of(f, "/paths"), "wrong_type");
	assert_string_equal(code_of(f, "/priority"), "invalid");
	assert_string_equal(code_of(f, "/machine"), "unknown_machine");
}

/* What could only fail later is not taken at all. */
static void a_range_or_a_group_that_cannot_do_is_refused(void **state)
{
	_cleanup_(freep) char *body =
		request_body(served_commits[0], served_commits[3], ",\"job\":\"brk\"");
	_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
	struct err e = { 0 };

	(void)state;
	POST_JSON(p, "/api/v1/bisects",
		  "{\"tree\":\"linus\",\"good\":\"v1\",\"bad\":\"master\",\"job\":\"pf1\","
		  "\"paths\":[\"../up\"]}");
	assert_int_equal(p.status, 422);
	assert_ok(json_read(strbuf_str(&p.body), p.body.len, "answer", &a, &e), &e);
	assert_string_equal(code_of(a, "/paths"), "invalid");
	pg_exec("UPDATE machine SET health = 'maintenance' WHERE name = 'q1'");
	POST_JSON(g, "/api/v1/bisects", body);
	pg_exec("UPDATE machine SET health = 'good' WHERE name = 'q1'");
	assert_int_equal(g.status, 422);
	assert_ok(json_read(strbuf_str(&g.body), g.body.len, "answer", &b, &e), &e);
	assert_string_equal(code_of(b, "/job"), "machine_drained");
}

/* Ends on two branches are searched by way of their merge base, which the plan names. */
static void ends_on_two_branches_are_taken(void **state)
{
	_cleanup_(freep) char *body = request_body("side", "master", ",\"job\":\"brk\"");
	_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
	const json_t *bases, *notes;
	struct err e = { 0 };

	(void)state;
	POST_JSON(plan, "/api/v1/bisects?dry_run=1", body);
	if (plan.status != 200)
		fail_msg("%ld %s", plan.status, strbuf_str(&plan.body));
	assert_ok(json_read(strbuf_str(&plan.body), plan.body.len, "answer", &a, &e), &e);
	bases = json_object_get(json_object_get(a, "resolved"), "merge_bases");
	assert_int_equal(json_array_size(bases), 1);
	assert_string_equal(json_string_value(json_array_get(bases, 0)), served_commits[1]);
	notes = json_object_get(a, "notes");
	assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "measured first"));
	POST_JSON(asked, "/api/v1/bisects", body);
	assert_int_equal(asked.status, 201);
	assert_ok(json_read(strbuf_str(&asked.body), asked.body.len, "answer", &b, &e), &e);
	notes = json_object_get(b, "notes");
	assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "measured first"));
}

static void ends_that_are_no_range_are_told_as_that(void **state)
{
	static const char *const ends[][3] = { { "master", "v1", "swap good and bad" },
					       { "master", "master~1", "" },
					       { "v1", "apart", "history of bad" },
					       { "apart", "master", "history of bad" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		_cleanup_(freep) char *body =
			request_body(ends[i][0], ends[i][1], ",\"job\":\"brk\"");
		_cleanup_(json_decrefp) json_t *a = NULL;
		struct err e = { 0 };

		POST_JSON(r, "/api/v1/bisects", body);
		assert_int_equal(r.status, 422);
		assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &a, &e), &e);
		if (!ends[i][2][0]) {
			assert_string_equal(code_of(a, "/bad"), "unknown_commit");
			continue;
		}
		assert_string_equal(code_of(a, "/good"), "not_ancestor");
		assert_non_null(strstr(strbuf_str(&r.body), ends[i][2]));
	}
}

/* The answer to @more beside ends and job that are right; what is wrong is at @pointer. */
static void refuses(const char *good, const char *bad, const char *more, const char *pointer,
		    const char *code, const char *say)
{
	_cleanup_(freep) char *body = request_body(good, bad, more);
	_cleanup_(json_decrefp) json_t *a = NULL;
	struct err e = { 0 };

	POST_JSON(r, "/api/v1/bisects?dry_run=1", body);
	assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &a, &e), &e);
	if (r.status != 422 || strcmp(code_of(a, pointer), code) != 0 ||
	    !strstr(strbuf_str(&r.body), say))
		fail_msg("%s gave %ld %s", body, r.status, strbuf_str(&r.body));
}

static void ends_that_are_not_one_commit_are_told_as_that(void **state)
{
	static const char job[] = ",\"job\":\"pf1\"";
	static const char *const names[] = { "-x",
					     "--upload-pack=x",
					     "HEAD",
					     "HEAD@{1}",
					     "v1..master",
					     "^v1",
					     "v1~1",
					     "v1^{tree}",
					     "v1:f",
					     ":/c1",
					     "*",
					     "../../x",
					     "refs/heads/master",
					     " v1",
					     "\\u001b",
					     "h\\u00e9" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		refuses(names[i], "master", job, "/good", "unknown_commit", "no tag or branch");
	refuses("both", "master", job, "/good", "ambiguous_commit", "a tag and a branch");
	refuses("v1", "both", job, "/bad", "ambiguous_commit", "give the hash");
	refuses("of-tree", "master", job, "/good", "unknown_commit", "not a commit but a tree");
	refuses("v1", served_other, job, "/bad", "unknown_commit", "in another tree");
	refuses("1111111111111111111111111111111111111111111111111111111111111111", "master", job,
		"/good", "unknown_commit", "8 to 40");
}

static void fields_that_contradict_the_job_are_told(void **state)
{
	static const char *const wrong[][4] = {
		{ "\"suite\":\"vm-scalability\"", "/suite", "unknown_suite", "job 'pf1'" },
		{ "\"params\":{\"test\":\"brk1\"}", "/params", "unknown_param", "job 'pf1'" },
		{ "\"metric\":\"nope\"", "/metric", "unknown_metric",
		  "\"choices\":[\"will-it-scale" },
		{ "\"deadline\":\"2099-02-30T00:00:00Z\"", "/deadline", "invalid", "not a time" },
		{ "\"deadline\":\"2099-01-01T24:00:00Z\"", "/deadline", "invalid", "not a time" },
		{ "\"a/b~c\":1", "/a~1b~0c", "unknown_field", "max_runs" },
		{ "\"confidence\":95", "/confidence", "wrong_type", "0.99999" },
		{ "\"max_runs\":2.5", "/max_runs", "wrong_type", "whole number" },
		{ "\"paths\":[\"./f\"]", "/paths", "invalid", "'./f'" },
		{ "\"paths\":[\"none\"]", "/bad", "range_empty", "given paths" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_(freep) char *more = xasprintf(",\"job\":\"pf1\",%s", wrong[i][0]);

		refuses("v1", "master", more, wrong[i][1], wrong[i][2], wrong[i][3]);
	}
	POST_JSON(few, "/api/v1/bisects?dry_run=1",
		  "{\"tree\":\"linus\",\"good\":\"v1\",\"bad\":\"master\",\"job\":\"brk\","
		  "\"max_runs\":4}");
	if (!strstr(strbuf_str(&few.body), "4 runs may well be spent") &&
	    !strstr(strbuf_str(&few.body), "4 runs are too few"))
		fail_msg("%s", strbuf_str(&few.body));
	POST_JSON(class, "/api/v1/bisects?dry_run=1",
		  "{\"tree\":\"linus\",\"good\":\"v1\",\"bad\":\"master\",\"job\":\"pf1\","
		  "\"machine\":\"class:q\"}");
	assert_int_equal(class.status, 200);
	refuses("v1", "master", ",\"job\":\"pf1\",\"machine\":\"class:p\"", "/machine",
		"unknown_machine", "\"choices\":[\"q1\"");
	refuses("v1", "master", ",\"suite\":\"nope\"", "/suite", "unknown_suite",
		"\"choices\":[\"will-it-scale\"]");
	refuses("v1", "master", ",\"job\":\"\",\"max_runs\":0", "/job", "wrong_type", "1 to");
}

static void bodies_that_are_none_are_refused(void **state)
{
	_cleanup_(freep) char *big = xcalloc(1, 1024 * 1024 + 2);
	_cleanup_(reply_done) struct reply type = { 0 }, none = { 0 };

	(void)state;
	memset(big, ' ', 1024 * 1024 + 1);
	POST_JSON(a, "/api/v1/bisects", "{\"tree\":");
	assert_int_equal(a.status, 400);
	POST_JSON(b, "/api/v1/bisects", "[]");
	assert_int_equal(b.status, 400);
	POST_JSON(c, "/api/v1/bisects", "{\"tree\":\"a\",\"tree\":\"b\"}");
	assert_int_equal(c.status, 400);
	POST_JSON(d, "/api/v1/bisects?dry_run=yes", "{}");
	assert_int_equal(d.status, 400);
	POST_JSON(f, "/api/v1/bisects", big);
	assert_int_equal(f.status, 413);
	post(served_token, "/api/v1/bisects", "text/plain", "{}", &type);
	assert_int_equal(type.status, 415);
	post(served_token, "/api/v1/bisects", "application/json", "", &none);
	assert_int_equal(none.status, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asking_needs_a_token_with_the_scope),
		cmocka_unit_test(asking_twice_joins),
		cmocka_unit_test(asking_at_the_same_moment_joins),
		cmocka_unit_test(who_asked_may_extend_cancel_and_try_again),
		cmocka_unit_test(asking_joins_what_the_bot_does),
		cmocka_unit_test(each_wrong_field_is_told),
		cmocka_unit_test(a_range_or_a_group_that_cannot_do_is_refused),
		cmocka_unit_test(ends_on_two_branches_are_taken),
		cmocka_unit_test(ends_that_are_no_range_are_told_as_that),
		cmocka_unit_test(ends_that_are_not_one_commit_are_told_as_that),
		cmocka_unit_test(fields_that_contradict_the_job_are_told),
		cmocka_unit_test(bodies_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, served_start, served_stop);
}
