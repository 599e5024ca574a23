/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages and their JSON forms, and what a request for them may be. */
#include "bot/base/json.h"
#include "tests/integration/web/client.h"
#include "tests/integration/web/fixture.h"
#include "tests/integration/web/html.h"
#include "tests/integration/web/served.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>
#include <unistd.h>

static const char *const pages[] = {
	"/",
	"/regressions",
	"/regressions?state=invalid",
	"/regressions?limit=1",
	"/r/r7f3k2qa",
	"/r/r2222222",
	"/r/r3333333",
	"/bisects",
	"/bisects?state=running",
	"/b/b5k2p9xm",
	"/b/b2222222",
	"/bisects/b5k2p9xm",
	"/queue",
	"/trees/linus",
	"/trees/broken",
	"/trees/evil%3Cb%3E",
	"/machines",
	"/machines/q1",
	"/machines/q2",
	("/commit/" H_CULP),
	"/series",
	"/series?tree=linus&limit=1",
	"/series/s41c9d0e",
	"/series/s41c9d0e?from=2222222222",
	"/series/s41c9d0e?from=2030-11-03&to=2030-11-03",
	"/series/s41c9d0e?from=ffffffff",
	"/series/s2222222",
	"/comparisons/1",
	"/comparisons/2",
	"/comparisons/3",
	"/comparisons/4",
	"/commit/44444444",
	"/commit/55555555",
	"/about",
};

static void every_page_is_sound_html(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		DO_GET(r, pages[i]);
		if (r.status != 200)
			fail_msg("%s: %ld %s", pages[i], r.status, strbuf_str(&r.body));
		assert_string_equal(reply_header(&r, "Content-Type"), "text/html; charset=utf-8");
		assert_well_formed(pages[i], strbuf_str(&r.body));
		assert_harmless(pages[i], &r);
		assert_true(r.body.len < 200000);
		assert_string_equal(reply_header(&r, "X-Content-Type-Options"), "nosniff");
		assert_string_equal(reply_header(&r, "Referrer-Policy"), "no-referrer");
		assert_non_null(
			strstr(reply_header(&r, "Content-Security-Policy"), "default-src 'none'"));
		assert_non_null(strstr(reply_header(&r, "Content-Security-Policy"),
				       "frame-ancestors 'none'"));
	}
}

static void every_page_has_two_json_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
		size_t n = strcspn(pages[i], "?");
		_cleanup_(freep) char *suffix = xasprintf("%.*s%s.json%s", (int)n, pages[i],
							  n == 1 ? "index" : "", pages[i] + n);
		_cleanup_(freep) char *alias = xasprintf("/api/v1%s", pages[i]);
		struct err e = { 0 };

		DO_GET(x, suffix);
		DO_GET(y, alias);
		assert_int_equal(x.status, 200);
		assert_int_equal(y.status, 200);
		assert_string_equal(reply_header(&x, "Content-Type"), "application/json");
		assert_ok(json_read(strbuf_str(&x.body), x.body.len, suffix, &a, &e), &e);
		assert_ok(json_read(strbuf_str(&y.body), y.body.len, alias, &b, &e), &e);
		assert_true(json_equal(a, b));
		assert_null(strstr(strbuf_str(&x.body), ":null"));
	}
}

static void foreign_text_is_shown_not_obeyed(void **state)
{
	(void)state;
	DO_GET(r, "/commit/" H_EVIL);
	assert_non_null(strstr(strbuf_str(&r.body),
			       "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"
			       "[U+001B][31m red [U+202E] evil &quot;&#39;&amp;"));
	DO_GET(m, "/r/r7f3k2qa");
	assert_non_null(strstr(strbuf_str(&m.body), "&lt;script&gt;alert(2)&lt;/script&gt; "));
	assert_non_null(strstr(strbuf_str(&m.body), "<svg class=\"plot\""));
	DO_GET(t, "/b/b5k2p9xm/log.txt");
	assert_int_equal(t.status, 200);
	assert_string_equal(reply_header(&t, "Content-Type"), "text/plain; charset=utf-8");
	assert_null(strchr(strbuf_str(&t.body), '\x1b'));
}

static void a_regression_has_the_documented_shape(void **state)
{
	static const char *const keys[] = { "id",      "state",	  "class",     "direction",
					    "tree",    "machine", "suite",     "params",
					    "metric",  "effect",  "culprit",   "bisect",
					    "threads", "history", "runners_up" };
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	DO_GET(r, "/api/v1/r/r7f3k2qa");
	assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &j, &e), &e);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_non_null(json_object_get(j, keys[i]));
	/* Fractions as a person would write them. */
	assert_non_null(strstr(strbuf_str(&r.body), "\"rel\":-0.038,"));
}

static void health_and_style_are_served(void **state)
{
	(void)state;
	DO_GET(h, "/healthz");
	DO_GET(y, "/readyz");
	DO_GET(s, "/style.css");
	assert_string_equal(strbuf_str(&h.body), "ok\n");
	assert_int_equal(y.status, 200);
	assert_int_equal(s.status, 200);
	assert_string_equal(reply_header(&s, "Content-Type"), "text/css; charset=utf-8");
}

static void logs_come_from_the_artefact_store(void **state)
{
	(void)state;
	DO_GET(b, "/builds/5/log.txt");
	assert_int_equal(b.status, 200);
	assert_string_equal(reply_header(&b, "Content-Type"), "text/plain; charset=utf-8");
	assert_string_equal(strbuf_str(&b.body), "mm/demo.c:12: error: <oops>\n");
	DO_GET(gone, "/runs/1/raw.txt");
	assert_int_equal(gone.status, 404);
	DO_GET(none, "/boots/99/console.txt");
	assert_int_equal(none.status, 404);
}

static void a_file_that_is_a_link_is_not_followed(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s/artefacts/00/%064d", pg_dir(), 2);

	(void)state;
	assert_int_equal(symlink("/etc/passwd", path), 0);
	DO_GET(r, "/runs/1/raw.txt");
	assert_int_not_equal(r.status, 200);
	assert_null(strstr(strbuf_str(&r.body), "root:"));
	assert_int_equal(unlink(path), 0);
}

static void wrong_requests_get_the_right_status(void **state)
{
	static const struct {
		const char *method, *path;
		long status;
	} cases[] = {
		{ NULL, "/nope", 404 },
		{ NULL, "/r/rzzzzzzz", 404 },
		{ NULL, "/trees/none", 404 },
		{ NULL, "/machines/none", 404 },
		{ NULL, "/machines/q1?x=1", 400 },
		{ NULL, "/commit/abcdefab", 404 },
		{ NULL, "/r/../../etc/passwd", 404 },
		{ NULL, "/?x=1", 400 },
		{ NULL, "/regressions?state=a&state=b", 400 },
		{ NULL, "/regressions?colour=red", 400 },
		{ NULL, "/regressions?limit=0", 422 },
		{ NULL, "/regressions?limit=9999", 422 },
		{ NULL, "/regressions?after=x", 422 },
		{ NULL, "/%zz", 400 },
		{ NULL, "/a%00b", 400 },
		{ "POST", "/", 405 },
		{ "DELETE", "/r/r7f3k2qa", 405 },
		{ "PUT", "/api/v1/bisects", 405 },
		{ "BREW", "/", 405 },
		{ NULL, "/healthz?verbose=1", 400 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(reply_done) struct reply r = { 0 };
		struct call c = { .method = cases[i].method, .path = cases[i].path };

		client_call(&c, &r);
		if (r.status != cases[i].status)
			fail_msg("%s %s: %ld, not %ld", c.method ? c.method : "GET", c.path,
				 r.status, cases[i].status);
		if (r.status == 405)
			assert_non_null(strstr(reply_header(&r, "Allow"), "GET, HEAD"));
		if (strncmp(c.path, "/api/", 5) != 0)
			assert_well_formed(c.path, strbuf_str(&r.body));
		assert_harmless(c.path, &r);
	}
}

static void errors_of_the_api_are_problem_objects(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	DO_GET(r, "/api/v1/r/rzzzzzzz");
	assert_int_equal(r.status, 404);
	assert_string_equal(reply_header(&r, "Content-Type"), "application/problem+json");
	assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &j, &e), &e);
	assert_string_equal(json_str(j, "code", ""), "not_found");
	assert_int_equal(json_i64(j, "status", 0), 404);
	assert_string_equal(json_str(j, "request_id", ""), reply_header(&r, "X-Request-Id"));
}

static void head_and_etag_save_bytes(void **state)
{
	_cleanup_(reply_done) struct reply head = { 0 }, same = { 0 };
	_cleanup_(freep) char *tag = NULL;
	struct call c = { .method = "HEAD", .path = "/about" };

	(void)state;
	client_call(&c, &head);
	assert_int_equal(head.status, 200);
	assert_int_equal(head.body.len, 0);
	tag = xasprintf("If-None-Match: %s", reply_header(&head, "ETag"));
	c = (struct call){ .path = "/about", .header = tag };
	client_call(&c, &same);
	assert_int_equal(same.status, 304);
	assert_int_equal(same.body.len, 0);
}

static void page_of_an_open_bisection_is_read_again(void **state)
{
	(void)state;
	DO_GET(open, "/b/b2222222");
	assert_string_equal(reply_header(&open, "Refresh"), "30");
	DO_GET(json, "/b/b2222222.json");
	assert_string_equal(reply_header(&json, "Refresh"), "");
	DO_GET(ended, "/b/b5k2p9xm");
	assert_string_equal(reply_header(&ended, "Refresh"), "");
}

static void one_of_a_set_has_its_subject_and_why_it_was_not_measured(void **state)
{
	(void)state;
	pg_exec("UPDATE bisection SET result = '{\"text\":\"what is left\",\"set\":[{\"commit\":\"" H_CULP
		"\",\"p\":0.5,\"skip\":\"build\"}]}' WHERE id = 'b5k2p9xm'");
	DO_GET(r, "/b/b5k2p9xm");
	const char *set = strstr(strbuf_str(&r.body), "What is left");

	assert_non_null(set);
	set = strstr(set, "<span class=\"title\">");
	assert_non_null(set);
	assert_non_null(strstr(set, "</span><span class=\"dim\"> not measured: build</span>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_is_sound_html),
		cmocka_unit_test(every_page_has_two_json_forms),
		cmocka_unit_test(foreign_text_is_shown_not_obeyed),
		cmocka_unit_test(a_regression_has_the_documented_shape),
		cmocka_unit_test(health_and_style_are_served),
		cmocka_unit_test(logs_come_from_the_artefact_store),
		cmocka_unit_test(a_file_that_is_a_link_is_not_followed),
		cmocka_unit_test(wrong_requests_get_the_right_status),
		cmocka_unit_test(errors_of_the_api_are_problem_objects),
		cmocka_unit_test(head_and_etag_save_bytes),
		cmocka_unit_test(page_of_an_open_bisection_is_read_again),
		cmocka_unit_test(one_of_a_set_has_its_subject_and_why_it_was_not_measured),
	};

	return cmocka_run_group_tests(tests, served_start, served_stop);
}
