/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages about what was measured: series, comparisons, regressions; also very long ones. */
#include "tests/integration/web/client.h"
#include "tests/integration/web/fixture.h"
#include "tests/integration/web/html.h"
#include "tests/integration/web/served.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>

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
		"base against itself",	   "Possibly taken back by ",
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_series_shows_its_change_points),
		cmocka_unit_test(a_series_is_a_table_that_changes_reads),
		cmocka_unit_test(a_part_of_a_series_is_asked_for_rightly),
		cmocka_unit_test(a_comparison_says_what_it_rests_on),
		cmocka_unit_test(open_comparisons_say_what_they_see),
		cmocka_unit_test(a_regression_says_what_was_seen_beside_it),
		cmocka_unit_test(a_comparison_is_a_table_too),
		cmocka_unit_test(thousands_of_metrics_fit_a_page),
		cmocka_unit_test(long_histories_fit_a_page),
		cmocka_unit_test(the_largest_numbers_are_drawn_or_left_out),
	};

	return cmocka_run_group_tests(tests, served_start, served_stop);
}
