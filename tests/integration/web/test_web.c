/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/web.h"

#include "bot/base/config.h"
#include "bot/base/json.h"
#include "bot/db/db.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/store/token.h"
#include "tests/integration/web/client.h"
#include "tests/integration/web/fixture.h"
#include "tests/pg.h"
#include "tests/test.h"

/* After test.h, as it says. */
#include "tests/integration/repo.h"

static struct config *config;
static struct web *web;
static char *token, *weak_token;
static char commits[4][41];

#define DO_GET(r, path)                               \
	_cleanup_(reply_done) struct reply r = { 0 }; \
	client_get(path, &(r))

/* Elements that our pages are made of; anything else got in from outside. */
static bool is_ours(const char *tag)
{
	static const char *const ours =
		" html head meta title link body a header nav ul li main h1 h2 p b br span table thead "
		"tbody tr th td div dl dt dd time footer small details summary pre code svg desc rect "
		"line circle path text polyline ";
	char word[40];

	(void)snprintf(word, sizeof(word), " %s ", tag);
	return strstr(ours, word) != NULL;
}

static bool is_void(const char *tag)
{
	return !strcmp(tag, "meta") || !strcmp(tag, "link") || !strcmp(tag, "br");
}

/* Each tag is one of ours, has quoted attributes without handlers or styles, and is nested well. */
static void assert_well_formed(const char *path, const char *s)
{
	char open[64][20];
	size_t depth = 0;

	if (strncmp(s, "<!doctype html>\n", 16) != 0)
		fail_msg("%s: no doctype", path);
	s += 16;
	while ((s = strchr(s, '<'))) {
		bool end = s[1] == '/';
		size_t n = strcspn(s + 1 + end, " >");
		char tag[20];

		(void)snprintf(tag, sizeof(tag), "%.*s", (int)n, s + 1 + end);
		if (!is_ours(tag))
			fail_msg("%s: element '%s'", path, tag);
		s += 1 + end + n;
		while (*s == ' ') {
			size_t k = strcspn(s + 1, "=> ");

			if (!strncmp(s + 1, "on", 2) || !strncmp(s + 1, "style", 5) ||
			    s[1 + k] != '=' || s[2 + k] != '"')
				fail_msg("%s: attribute '%.20s'", path, s);
			s += 3 + k;
			s += strcspn(s, "\"<>");
			assert_int_equal(*s, '"');
			s++;
		}
		assert_int_equal(*s, '>');
		if (end) {
			assert_true(depth > 0);
			assert_string_equal(open[--depth], tag);
		} else if (!is_void(tag)) {
			assert_true(depth < 64);
			(void)snprintf(open[depth++], 20, "%s", tag);
		}
	}
	assert_int_equal(depth, 0);
}

/* A tag that stands in text alone is text; the raw bytes must not be there. */
static void assert_harmless(const char *path, const struct reply *r)
{
	static const char *const bad[] = { "<script",	   "<img",  "\x1b",
					   "\xe2\x80\xae", "<oops", "<i>note" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strstr(strbuf_str(&r->body), bad[i]))
			fail_msg("%s has '%s'", path, bad[i]);
}

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

static void a_series_shows_its_change_points(void **state)
{
	static const char *const says[] = {
		"<svg class=\"plot wide\"",
		"3 commits are measured.",
		"Change point at 222222222222: -3.8%, confirmed.",
		"\xe2\x96\xbc confirmed -3.8%",
		"measured again, in turns, it is there: -3.8%",
		">-2.7%<",
		"\xe2\x9a\x91 drift -0.1%",
		"class=\"gap\"",
		"href=\"/commit/222222222222\"",
		"href=\"/comparisons/1\"",
		"href=\"/r/r7f3k2qa\"",
		"the machine changed, not the kernel: the control build &lt;b&gt;moved with it",
		"3 measured of 4 here, of 4 in all",
	};

	(void)state;
	DO_GET(r, "/series/s41c9d0e");
	for (size_t i = 0; i < ARRAY_SIZE(says); i++)
		if (!strstr(strbuf_str(&r.body), says[i]))
			fail_msg("'%s' is missing in\n%s", says[i], strbuf_str(&r.body));
	DO_GET(none, "/series/s41c9d0e?from=ffffffff");
	assert_non_null(strstr(strbuf_str(&none.body), "No values in this part"));
	DO_GET(t, "/trees/linus");
	assert_non_null(strstr(strbuf_str(&t.body), "href=\"/series/s41c9d0e\""));
}

static void a_series_is_a_table_that_changes_reads(void **state)
{
	(void)state;
	DO_GET(r, "/series/s41c9d0e.csv?from=22222222");
	assert_int_equal(r.status, 200);
	assert_int_equal(strncmp(strbuf_str(&r.body),
				 "series,machine,commit,boot,time,value\r\n"
				 "\"s41c9d0e\",\"q1\",\"" H_HEAD "\",",
				 39 + 24),
			 0);
}

static void a_part_of_a_series_is_asked_for_rightly(void **state)
{
	static const char *const bad[] = { "from=1234567", "to=2030-02-30", "from=2030-11-0",
					   "to='", "from=g2345678" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(freep) char *path = xasprintf("/series/s41c9d0e?%s", bad[i]);

		DO_GET(r, path);
		if (r.status != 422)
			fail_msg("%s: %ld", path, r.status);
	}
	DO_GET(n, "/series/s7777777");
	assert_int_equal(n.status, 404);
	DO_GET(m, "/series/linus");
	assert_int_equal(m.status, 404);
}

static void a_comparison_says_what_it_rests_on(void **state)
{
	static const char *const says[] = {
		"fell: <b>-3.8%</b>",
		"4 of base, 4 of head, of at most 8 a side: looking early saved 8 boots (24 runs)",
		"3 boots a side see a change of 4.5%, 4 see 3.1%, 8 see 2.1%",
		"base against itself",
		"</span> not ok",
		"</span> two modes",
		"75% of the runs near 43900, 25% of the runs near 44990",
		"fell by 6.6% with it &lt;script&gt;",
		"follows will-it-scale.per_process_ops",
		"-3.7% by the boots alone",
		"href=\"/r/r7f3k2qa\"",
		"href=\"/comparisons/1.csv\"",
	};

	(void)state;
	DO_GET(r, "/comparisons/1");
	for (size_t i = 0; i < ARRAY_SIZE(says); i++)
		if (!strstr(strbuf_str(&r.body), says[i]))
			fail_msg("'%s' is missing in\n%s", says[i], strbuf_str(&r.body));
	DO_GET(s, "/comparisons/3");
	assert_non_null(strstr(strbuf_str(&s.body), "a step was seen in the history"));
	assert_non_null(strstr(strbuf_str(&s.body), "a change of 1% would have been seen"));
	DO_GET(n, "/comparisons/99");
	assert_int_equal(n.status, 404);
	DO_GET(x, "/comparisons/x1");
	assert_int_equal(x.status, 404);
}

static void open_comparisons_say_what_they_see(void **state)
{
	static const char *const paths[] = { "/", "/queue", "/trees/linus" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		DO_GET(r, paths[i]);
		if (!strstr(strbuf_str(&r.body), "look 2 of 2, sees 2.1%"))
			fail_msg("%s: %s", paths[i], strbuf_str(&r.body));
	}
}

static void a_regression_says_what_was_seen_beside_it(void **state)
{
	static const char *const says[] = {
		"href=\"/comparisons/1\"", "href=\"/series/s41c9d0e\"",
		"</span> two modes",	   ">2 modes<",
		"12 runs, 2 modes.",	   "fell by 6.6% with it &lt;script&gt;",
		"base against itself",
	};

	(void)state;
	DO_GET(r, "/r/r7f3k2qa");
	for (size_t i = 0; i < ARRAY_SIZE(says); i++)
		if (!strstr(strbuf_str(&r.body), says[i]))
			fail_msg("'%s' is missing in\n%s", says[i], strbuf_str(&r.body));
	DO_GET(t, "/api/v1/r/r7f3k2qa");
	assert_non_null(strstr(strbuf_str(&t.body), "\"series\":\"s41c9d0e\""));
	assert_non_null(strstr(strbuf_str(&t.body), "\"checks\":[{"));
}

static void a_comparison_is_a_table_too(void **state)
{
	(void)state;
	DO_GET(r, "/comparisons/1.csv");
	assert_int_equal(r.status, 200);
	assert_string_equal(reply_header(&r, "Content-Type"),
			    "text/csv; charset=utf-8; header=present");
	assert_non_null(strstr(strbuf_str(&r.body), "metric,unit,better,verdict,"));
	assert_non_null(
		strstr(strbuf_str(&r.body),
		       "\r\n\"will-it-scale.per_process_ops\",\"\",\"\",\"regression\",\"\","
		       "-0.038,-0.0433,-0.0327,0.95,1e-06,-0.037,,12,4,45915,251,12,4,"
		       "44170,270\r\n"));
	DO_GET(n, "/machines/q1.csv");
	assert_int_equal(n.status, 404);
	DO_GET(runs, "/r/r7f3k2qa.csv");
	assert_int_equal(runs.status, 200);
	assert_non_null(strstr(strbuf_str(&runs.body), "\r\n\"" H_CULP "\",\"q1\","));
}

/* What a suite with thousands of metrics gives. */
static void thousands_of_metrics_fit_a_page(void **state)
{
	(void)state;
	pg_exec("UPDATE comparison SET evidence = jsonb_set(evidence, '{metrics}', (evidence->'metrics') || "
		"(SELECT jsonb_agg(jsonb_build_object('name', 'suite.some_long_name_of_a_metric_' || n, 'verdict', "
		"CASE WHEN n % 3 = 0 THEN 'change' ELSE 'same' END, 'rel', 0.01234567, 'lo', -0.01234, 'hi', 0.12345, "
		"'p', 1e-10, 'per_work', 0.01234, 'follows', 'will-it-scale.per_process_ops', "
		"'base', jsonb_build_object('n', 30, 'boots', 10, 'center', 123456789), "
		"'head', jsonb_build_object('n', 30, 'boots', 10, 'center', 123456789))) "
		"FROM generate_series(1, 3000) n)) WHERE id = 1");
	DO_GET(r, "/comparisons/1");
	assert_int_equal(r.status, 200);
	assert_true(r.body.len < 200000);
	assert_well_formed("/comparisons/1", strbuf_str(&r.body));
	DO_GET(s, "/r/r7f3k2qa");
	assert_int_equal(s.status, 200);
	assert_true(s.body.len < 200000);
	DO_GET(t, "/comparisons/1.csv");
	assert_non_null(strstr(strbuf_str(&t.body), "some_long_name_of_a_metric_2999"));
}

/* Many boots of many commits, and many runs of one. */
static void long_histories_fit_a_page(void **state)
{
	(void)state;
	pg_exec("INSERT INTO commit SELECT md5(n::text) || '00000000', ARRAY[]::text[], repeat('<title>', 100), 'x', 'x', "
		"now(), 'x', 'x', now(), 'm' FROM generate_series(1, 700) n;"
		"INSERT INTO comparison (tree, branch, base, head, job, look, verdict, rel) SELECT 'linus', 'master', "
		"md5(n::text) || '00000000', md5((n + 1)::text) || '00000000', 1, 3, 'same', 0.001 FROM generate_series(1, 699) n;"
		"INSERT INTO boot (commit, job, wanted_runs, state, class, machine, started, finished) SELECT "
		"md5(n::text) || '00000000', 1, 1, 'done', 'ok', 'q1', now(), now() FROM generate_series(1, 700) n, "
		"generate_series(1, 12);"
		"INSERT INTO boot (commit, job, comparison, wanted_runs, state, class, machine, started, finished) SELECT "
		"'" H_BASE
		"', 1, 1, 1, 'done', 'ok', 'q1', now(), now() FROM generate_series(1, 1000);"
		"INSERT INTO run (boot, n, class, exit_status, wall_s, at) SELECT id, 1, 'ok', 0, 5, now() FROM boot b "
		"WHERE NOT EXISTS (SELECT FROM run r WHERE r.boot = b.id);"
		"INSERT INTO run_values SELECT r.id, 1, ARRAY[45000 + r.id % 97, 1] FROM run r WHERE NOT EXISTS "
		"(SELECT FROM run_values v WHERE v.run = r.id);"
		"INSERT INTO change_point (series, first, last, rel, p, state) SELECT 's41c9d0e', md5(n::text) || '00000000', "
		"md5((n - 1)::text) || '00000000', 0.01, 1e-9, 'drift' FROM generate_series(600, 640) n");
	DO_GET(r, "/series/s41c9d0e");
	assert_int_equal(r.status, 200);
	assert_well_formed("/series/s41c9d0e", strbuf_str(&r.body));
	if (r.body.len >= 200000)
		fail_msg("series: %zu bytes", r.body.len);
	assert_non_null(strstr(strbuf_str(&r.body), "300 measured of 300 here, of 704 in all"));
	assert_non_null(strstr(strbuf_str(&r.body), ">Older commits<"));
	DO_GET(s, "/r/r7f3k2qa");
	assert_int_equal(s.status, 200);
	assert_well_formed("/r/r7f3k2qa", strbuf_str(&s.body));
	if (s.body.len >= 200000)
		fail_msg("regression: %zu bytes", s.body.len);
}

/* Numbers at the ends of what there is draw nothing that is none. */
static void the_largest_numbers_are_drawn_or_left_out(void **state)
{
	static const char *const paths[] = { "/series/s41c9d0e", "/r/r7f3k2qa", "/comparisons/1" };

	(void)state;
	pg_exec("UPDATE run_values SET v = ARRAY[CASE run % 5 WHEN 0 THEN 1e308 WHEN 1 THEN -1e150 WHEN 2 THEN 0 WHEN 3 THEN 1e150 "
		"ELSE 1e-300 END, 'NaN'] WHERE run <= 36;"
		"UPDATE comparison SET rel = 1e300, lo = '-Infinity', hi = 'NaN', p = 0 WHERE id = 1;"
		"UPDATE change_point SET rel = 'NaN', p = 'Infinity'");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		DO_GET(r, paths[i]);
		if (r.status != 200)
			fail_msg("%s: %ld %s", paths[i], r.status, strbuf_str(&r.body));
		assert_well_formed(paths[i], strbuf_str(&r.body));
		assert_null(strstr(strbuf_str(&r.body), "\"nan\""));
		assert_null(strstr(strbuf_str(&r.body), "inf\""));
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
	(void)state;
	run("mkdir -p artefacts/00 && ln -sf /etc/passwd artefacts/00/%064d", 2);
	DO_GET(r, "/runs/1/raw.txt");
	assert_int_not_equal(r.status, 200);
	assert_null(strstr(strbuf_str(&r.body), "root:"));
	run("rm artefacts/00/%064d", 2);
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

static void post(const char *with, const char *path, const char *type, const char *body,
		 struct reply *ret)
{
	const struct call c = { .path = path, .token = with, .type = type, .body = body };

	client_call(&c, ret);
}

#define POST_JSON(r, path, body)                      \
	_cleanup_(reply_done) struct reply r = { 0 }; \
	post(token, path, "application/json", body, &(r))

static char *request_body(const char *good, const char *bad, const char *more)
{
	return xasprintf("{\"tree\":\"linus\",\"good\":\"%s\",\"bad\":\"%s\"%s}", good, bad, more);
}

static void asking_needs_a_token_with_the_scope(void **state)
{
	_cleanup_(freep) char *body = request_body(commits[0], commits[3], ",\"job\":\"pf1\"");
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
	_cleanup_(reply_done) struct reply r = { 0 };

	post(weak_token, "/api/v1/bisects", "application/json", body, &r);
	assert_int_equal(r.status, 403);
}

static void asking_twice_joins(void **state)
{
	_cleanup_(freep) char *body = request_body(commits[0], commits[3], ",\"job\":\"pf1\"");
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

/* The path of a call on the bisection that @body asks for. */
static char *change_path(const char *id, const char *what)
{
	return xasprintf("/api/v1/bisects/%s/%s", id, what);
}

static void who_asked_may_extend_cancel_and_try_again(void **state)
{
	_cleanup_(freep) char *body =
		request_body(commits[2], commits[3], ",\"job\":\"pf1\",\"priority\":\"low\"");
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
	POST_JSON(early, retry, "{}");
	assert_int_equal(early.status, 409);
	POST_JSON(why, cancel, "{}");
	assert_int_equal(why.status, 422);
	POST_JSON(odd, cancel, "{\"because\":\"x\"}");
	assert_int_equal(odd.status, 422);
	POST_JSON(gone, cancel, "{\"reason\":\"<b>not</b> needed\"}");
	assert_int_equal(gone.status, 200);
	assert_non_null(strstr(strbuf_str(&gone.body), "\"cancelled\""));
	POST_JSON(twice, cancel, "{\"reason\":\"x\"}");
	assert_int_equal(twice.status, 409);
	POST_JSON(late, extend, "{\"runs\":5}");
	assert_int_equal(late.status, 409);
	POST_JSON(again, retry, "{}");
	assert_int_equal(again.status, 201);
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
	_cleanup_(freep) char *body = request_body(commits[1], commits[3], ",\"job\":\"pf1\"");
	char tree[] = "linus", metric[] = "will-it-scale.per_process_ops";
	struct regression own = { .id = "r2222222", .tree = tree, .metric = metric };
	_cleanup_(json_decrefp) json_t *a = NULL;
	struct err e = { 0 };

	(void)state;
	memcpy(own.base, commits[1], 41);
	memcpy(own.head, commits[3], 41);
	assert_ok(job_sync(pg_db(), config, "pf1", &own.job, &e), &e);
	assert_ok(bisection_add(pg_db(), &own, &e), &e);
	POST_JSON(r, "/api/v1/bisects", body);
	assert_int_equal(r.status, 200);
	assert_ok(json_read(strbuf_str(&r.body), r.body.len, "answer", &a, &e), &e);
	assert_string_equal(json_str(a, "regression", ""), "r2222222");
	memcpy(own.base, commits[0], 41);
	(void)snprintf(own.id, sizeof(own.id), "r3333333");
	assert_ok(bisection_add(pg_db(), &own, &e), &e);
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

static void each_wrong_field_is_told(void **state)
{
	_cleanup_(freep) char *swapped = request_body(commits[3], commits[0], ",\"job\":\"pf1\"");
	_cleanup_(freep) char *equal = request_body(commits[0], commits[0], ",\"job\":\"pf1\"");
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
	_cleanup_(freep) char *body = request_body(commits[0], commits[3], ",\"job\":\"brk\"");
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
	post(token, "/api/v1/bisects", "text/plain", "{}", &type);
	assert_int_equal(type.status, 415);
	post(token, "/api/v1/bisects", "application/json", "", &none);
	assert_int_equal(none.status, 400);
}

static void chunks_are_counted_too(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT, got = STRBUF_INIT;

	(void)state;
	strbuf_addf(&b,
		    "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
		    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
		    token);
	for (int i = 0; i < 20; i++) {
		strbuf_addstr(&b, "10000\r\n");
		for (int k = 0; k < 65536; k++)
			strbuf_addch(&b, ' ');
		strbuf_addstr(&b, "\r\n");
	}
	strbuf_addstr(&b, "0\r\n\r\n");
	client_raw(b.s, b.len, &got);
	assert_non_null(strstr(strbuf_str(&got), " 413 "));
}

static void assert_alive(void)
{
	DO_GET(r, "/healthz");
	assert_int_equal(r.status, 200);
}

static void raw_abuse_is_survived(void **state)
{
	static const struct {
		const char *bytes;
		const char *want; /* in the answer; NULL: whatever, but no 200 */
	} cases[] = {
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
		  " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: "
		  "2\r\n\r\n{}",
		  " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: "
		  "chunked\r\n\r\n0\r\n\r\n",
		  " 400 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n",
		  " 413 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
		  " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 0x10\r\n\r\n",
		  " 400 " },
		{ "GET / HTTP/1.1\r\n\r\n", " 400 " },
		{ "GET http://example.org/ HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "\r\n\r\n\r\n", NULL },
		{ "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", NULL },
		{ "GET\r\n\r\n", NULL },
		{ "GET / HTTP/9.9\r\nHost: x\r\n\r\n", NULL },
		{ "GET /\x01\x02 HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\nBroken header line\r\n\r\n", NULL },
		{ "GET /r/r7f3k2qa%00 HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "get / http/1.1\r\n\r\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf got = STRBUF_INIT;

		client_raw(cases[i].bytes, strlen(cases[i].bytes), &got);
		if (strstr(strbuf_str(&got), " 200 ") ||
		    (cases[i].want && !strstr(strbuf_str(&got), cases[i].want)))
			fail_msg("%.60s: %.100s", cases[i].bytes, strbuf_str(&got));
	}
	assert_alive();
}

static void endless_headers_are_cut_off(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT, got = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf u = STRBUF_INIT, got_u = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&b, "GET / HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < 5000; i++)
		strbuf_addf(&b, "X-%d: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", i);
	strbuf_addstr(&b, "\r\n");
	client_raw(b.s, b.len, &got);
	assert_null(strstr(strbuf_str(&got), " 200 "));
	strbuf_addstr(&u, "GET /");
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&u, 'a');
	strbuf_addstr(&u, " HTTP/1.1\r\nHost: x\r\n\r\n");
	client_raw(u.s, u.len, &got_u);
	assert_null(strstr(strbuf_str(&got_u), " 200 "));
	assert_alive();
}

/* An address that was at its limit is served again once the server has seen the ends of its connections. */
static void wait_served(void)
{
	static const char request[] =
		"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

	for (int i = 0; i < 200; i++) {
		char buf[64] = "";
		int fd = client_socket();
		ssize_t n = -1;

		if (fd >= 0 && write(fd, request, sizeof(request) - 1) > 0)
			n = read(fd, buf, sizeof(buf) - 1);
		if (fd >= 0)
			(void)close(fd);
		if (n > 0 && strstr(buf, " 200 "))
			return;
		(void)usleep(50000);
	}
	fail_msg("not served within 10 s");
}

/* One client holds all that it can; another is served. */
static void idle_connections_do_not_starve_others(void **state)
{
	int fds[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = client_socket();
		if (fds[i] >= 0 && i % 3 == 0)
			(void)!write(fds[i], "GET / HT", 8);
	}
	for (int i = 0; i < 30; i++) {
		_cleanup_(reply_done) struct reply r = { 0 };
		struct call c = { .path = i % 2 ? "/" : "/r/r7f3k2qa", .from = "127.0.0.2" };

		client_call(&c, &r);
		assert_int_equal(r.status, 200);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	wait_served();
}

static void a_database_that_is_away_is_said_and_waited_for(void **state)
{
	(void)state;
	pg_down();
	DO_GET(r, "/");
	assert_int_equal(r.status, 503);
	assert_string_equal(reply_header(&r, "Retry-After"), "5");
	assert_null(strstr(strbuf_str(&r.body), "socket"));
	DO_GET(h, "/healthz");
	assert_int_equal(h.status, 200);
	DO_GET(y, "/readyz");
	assert_int_equal(y.status, 503);
	pg_up();
	for (int i = 0; i < 8; i++) {
		DO_GET(again, "/regressions");
		assert_int_equal(again.status, 200);
	}
}

static void the_role_may_not_write_elsewhere(void **state)
{
	static const char *const statements[] = {
		"DELETE FROM regression",
		"UPDATE regression SET state = 'invalid'",
		"UPDATE job SET min_effect = 1",
		"INSERT INTO token VALUES ('t', 'x', 'n', '{admin}')",
		"INSERT INTO outbox_rcpt (outbox, addr, reason) VALUES (1, 'x@example.org', 'x')",
	};
	struct err e = { 0 };

	(void)state;
	pg_exec("SET ROLE kperfbot_web");
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++)
		assert_err(db_exec(pg_db(), statements[i], &e), ERR_DB, &e);
	pg_exec("RESET ROLE");
}

static void a_port_in_use_is_one_clear_line(void **state)
{
	_cleanup_(freep) char *listen = xasprintf("127.0.0.1:%d", web_port(web));
	struct err e = { 0 };
	uint16_t port;
	int fd = -1;

	(void)state;
	assert_err(web_listen(listen, &fd, &port, &e), ERR_IO, &e);
	assert_non_null(strstr(e.msg, "in use"));
	assert_err(web_listen("8080", &fd, &port, &e), ERR_INVAL, &e);
	assert_err(web_listen("127.0.0.1:99999", &fd, &port, &e), ERR_INVAL, &e);
	assert_err(web_listen("::1:80", &fd, &port, &e), ERR_INVAL, &e);
	assert_err(web_listen("no.such.host.invalid:80", &fd, &port, &e), ERR_INVAL, &e);
	assert_int_equal(fd, -1);
	assert_ok(web_listen("[::1]:0", &fd, &port, &e), &e);
	(void)close(fd);
}

static void make_mirror(void)
{
	run("git init -q --bare mirror.git && git init -q -b master work");
	for (int i = 0; i < 4; i++) {
		char *hash = sh("cd work && echo %d > f && git add f && git commit -qm c%d >&2 && "
				"git rev-parse HEAD",
				i, i);

		(void)snprintf(commits[i], sizeof(commits[i]), "%s", hash);
		free(hash);
	}
	run("cd work && git tag v1 HEAD~3 && git push -q ../mirror.git "
	    "master:refs/kperfbot/tree/linus/heads/master v1:refs/kperfbot/tree/linus/tags/v1");
	run("mkdir -p artefacts/00 && echo 'mm/demo.c:12: error: <oops>' > artefacts/00/%064d", 4);
}

static int start(void **state)
{
	static const char *const scope[] = { "bisect", NULL }, *const other[] = { "triage", NULL };
	struct web_options o = { 0 };
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct err e = { 0 };

	if (pg_start(state) != 0)
		return -1;
	repo_scratch = xstrdup(pg_dir());
	fixture_fill();
	make_mirror();
	path = xasprintf("%s/k.conf", pg_dir());
	text = xasprintf(
		"[kperfbot]\nstate = %s\n[web]\nlisten = 127.0.0.1:0\n[tree \"linus\"]\n"
		"url = https://git.example.org/linux.git\n[kconfig \"tiny\"]\nbase = tinyconfig\n"
		"[machine \"q1\"]\ndriver = qemu\ngroup = q\n[job \"pf1\"]\ngroup = q\n"
		"kconfig = tiny\nsuite = will-it-scale\ntest = page_fault1\nmode = process\n"
		"nr-task = 1\n[job \"brk\"]\ngroup = q\nkconfig = tiny\nsuite = will-it-scale\n"
		"test = brk1\nmode = process\nnr-task = 1\n",
		pg_dir());
	assert_ok(file_write(path, text, strlen(text), 0600, &e), &e);
	assert_ok(config_load(path, &config, &e), &e);
	assert_ok(token_add(pg_db(), "ci", scope, 1, &token, &e), &e);
	assert_ok(token_add(pg_db(), "weak", other, 1, &weak_token, &e), &e);
	o.config = config;
	o.conninfo = xstrdup(pg_conninfo());
	assert_ok(web_start(&o, &web, &e), &e);
	client_port(web_port(web));
	*state = (void *)(uintptr_t)o.conninfo;
	return 0;
}

static int stop(void **state)
{
	web_stop(web);
	config_free(config);
	free(token);
	free(weak_token);
	free(*state);
	free(repo_scratch);
	return pg_stop(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_is_sound_html),
		cmocka_unit_test(every_page_has_two_json_forms),
		cmocka_unit_test(a_series_shows_its_change_points),
		cmocka_unit_test(a_series_is_a_table_that_changes_reads),
		cmocka_unit_test(a_part_of_a_series_is_asked_for_rightly),
		cmocka_unit_test(a_comparison_says_what_it_rests_on),
		cmocka_unit_test(open_comparisons_say_what_they_see),
		cmocka_unit_test(a_regression_says_what_was_seen_beside_it),
		cmocka_unit_test(a_comparison_is_a_table_too),
		cmocka_unit_test(foreign_text_is_shown_not_obeyed),
		cmocka_unit_test(a_regression_has_the_documented_shape),
		cmocka_unit_test(health_and_style_are_served),
		cmocka_unit_test(logs_come_from_the_artefact_store),
		cmocka_unit_test(a_file_that_is_a_link_is_not_followed),
		cmocka_unit_test(wrong_requests_get_the_right_status),
		cmocka_unit_test(errors_of_the_api_are_problem_objects),
		cmocka_unit_test(head_and_etag_save_bytes),
		cmocka_unit_test(asking_needs_a_token_with_the_scope),
		cmocka_unit_test(asking_twice_joins),
		cmocka_unit_test(who_asked_may_extend_cancel_and_try_again),
		cmocka_unit_test(asking_joins_what_the_bot_does),
		cmocka_unit_test(each_wrong_field_is_told),
		cmocka_unit_test(a_range_or_a_group_that_cannot_do_is_refused),
		cmocka_unit_test(bodies_that_are_none_are_refused),
		cmocka_unit_test(chunks_are_counted_too),
		cmocka_unit_test(raw_abuse_is_survived),
		cmocka_unit_test(endless_headers_are_cut_off),
		cmocka_unit_test(idle_connections_do_not_starve_others),
		cmocka_unit_test(the_role_may_not_write_elsewhere),
		cmocka_unit_test(a_port_in_use_is_one_clear_line),
		cmocka_unit_test(thousands_of_metrics_fit_a_page),
		cmocka_unit_test(long_histories_fit_a_page),
		cmocka_unit_test(the_largest_numbers_are_drawn_or_left_out),
		cmocka_unit_test(a_database_that_is_away_is_said_and_waited_for),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
