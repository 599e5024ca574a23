/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/url.h"

#include "bot/base/cleanup.h"
#include "tests/test.h"
#include "web/request.h"

#include <string.h>

static struct err e;

static void takes_forms_apart(void **state)
{
	static const struct {
		const char *target, *path;
		bool api, json, csv;
	} cases[] = {
		{ "/", "/", false, false, false },
		{ "/index.json", "/", false, true, false },
		{ "/.json", "/", false, true, false },
		{ "/api/v1", "/", true, true, false },
		{ "/api/v1/", "/", true, true, false },
		{ "/api/v1/r/r7f3k2qa", "/r/r7f3k2qa", true, true, false },
		{ "/api/v12/x", "/api/v12/x", false, false, false },
		{ "/r/r7f3k2qa.json", "/r/r7f3k2qa", false, true, false },
		{ "/trees/a%2Fb", "/trees/a/b", false, false, false },
		{ "/trees/net-next.json?x=1", "/trees/net-next", false, true, false },
		{ "/series/s41c9d0e.csv?from=2030-11-06", "/series/s41c9d0e", false, false, true },
		{ "/api/v1/series/s41c9d0e.csv", "/series/s41c9d0e", true, false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(url_done) struct url u = { 0 };

		assert_ok(url_parse(cases[i].target, &u, &e), &e);
		assert_string_equal(u.path, cases[i].path);
		assert_int_equal(u.api, cases[i].api);
		assert_int_equal(u.json, cases[i].json);
		assert_int_equal(u.csv, cases[i].csv);
	}
}

static void reads_the_query(void **state)
{
	_cleanup_(url_done) struct url u = { 0 };

	(void)state;
	assert_ok(url_parse("/x?a=1&b=two+words%21&c&d=", &u, &e), &e);
	assert_string_equal(url_query(&u, "a"), "1");
	assert_string_equal(url_query(&u, "b"), "two words!");
	assert_string_equal(url_query(&u, "c"), "");
	assert_string_equal(url_query(&u, "d"), "");
	assert_null(url_query(&u, "z"));
}

static void refuses_broken_targets(void **state)
{
	static const char *const bad[] = {
		"x",
		"*",
		"http://example.org/",
		"/%",
		"/%4",
		"/%zz",
		"/a%00b",
		"/a%0ab",
		"/%1b",
		"/%7f",
		"/x?a=%",
		"/x?a=1&a=2",
		"/x?a%00=1",
		"/x?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct url u = { 0 };

		assert_err(url_parse(bad[i], &u, &e), ERR_PARSE, &e);
		assert_null(u.path);
	}
}

static int find(const char *method, const char *target, struct request *q)
{
	*q = (struct request){ .method = method };
	assert_ok(url_parse(target, &q->url, &e), &e);
	return routes_find(q, &e);
}

static void finds_routes_and_their_argument(void **state)
{
	static const struct {
		const char *target, *pattern, *arg;
	} cases[] = {
		{ "/r/r7f3k2qa", "/r/:r", "r7f3k2qa" },
		{ "/api/v1/bisects/b5k2p9xm", "/bisects/:b", "b5k2p9xm" },
		{ "/b/b5k2p9xm/log.txt", "/b/:b/log.txt", "b5k2p9xm" },
		{ "/runs/17/raw.txt", "/runs/:n/raw.txt", "17" },
		{ "/commit/0123456789ab", "/commit/:h", "0123456789ab" },
		{ "/trees/net-next", "/trees/:s", "net-next" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct request q;

		assert_ok(find("GET", cases[i].target, &q), &e);
		assert_string_equal(q.route->pattern, cases[i].pattern);
		assert_string_equal(q.arg, cases[i].arg);
		url_done(&q.url);
		assert_ok(find("HEAD", cases[i].target, &q), &e);
		url_done(&q.url);
	}
}

static void finds_no_route_for_what_only_looks_like_one(void **state)
{
	static const char *const none[] = {
		"/r/",
		"/r/x7f3k2qa",
		"/r/r7f3k2q",
		"/r/R7F3K2QA",
		"/r/r7f3k2qa/",
		"/r/../etc",
		"/b/b5k2p9xm/log",
		"/runs/0/raw.txt",
		"/runs/-1/raw.txt",
		"/runs/1e3/raw.txt",
		"/runs/99999999999999999999/raw.txt",
		"/commit/0123456",
		"/commit/ABCDEF0123",
		"//",
		"/healthz.json",
		"/regressions/",
		"/trees/a%2Fb",
		"/style.css.json",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct request q;

		assert_err(find("GET", none[i], &q), ERR_NOENT, &e);
		url_done(&q.url);
	}
}

static void tells_which_methods_there_are(void **state)
{
	struct request q;

	(void)state;
	assert_err(find("DELETE", "/api/v1/bisects", &q), ERR_UNSUPPORTED, &e);
	assert_string_equal(q.answer.allow, "GET, HEAD, POST");
	url_done(&q.url);
	/* Writing is possible below /api/v1 only. */
	assert_err(find("POST", "/bisects", &q), ERR_UNSUPPORTED, &e);
	assert_string_equal(q.answer.allow, "GET, HEAD");
	url_done(&q.url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_forms_apart),
		cmocka_unit_test(reads_the_query),
		cmocka_unit_test(refuses_broken_targets),
		cmocka_unit_test(finds_routes_and_their_argument),
		cmocka_unit_test(finds_no_route_for_what_only_looks_like_one),
		cmocka_unit_test(tells_which_methods_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
