/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which regressions are one and the same, and what becomes of them when one turns out to be nothing. */
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/migrate_internal.h"
#include "bot/store/comparison.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* Jobs 1 and 3 are one test under two definitions; 2 is another. */
static int set_up(void **state)
{
	(void)state;
	pg_reset();
	pg_exec("INSERT INTO tree (name, url) VALUES ('t', 'u');"
		"INSERT INTO commit (hash, parents, subject, author_name, author_mail, author_time, "
		"committer_name, committer_mail, commit_time, message) SELECT h, '{}', 's', 'n', 'm', now(), "
		"'n', 'm', now(), '' FROM unnest(ARRAY['" A "', '" B "']) h;"
		"INSERT INTO job (name, def_hash, suite, test, params, metric, group_name, kconfig, thp, "
		"runs_per_boot, min_effect, timeout_s) SELECT 'j' || n, n, 'will-it-scale', "
		"CASE n WHEN 2 THEN 'read1' ELSE 'getppid1' END, '{}', 'ops', 'g', 'k', 'never', 1, .01, 60 "
		"FROM generate_series(1, 3) n");
	return 0;
}

/* A regression of job @job with culprit B, @n minutes after the others. */
static void add(const char *id, const char *state, int job, const char *dup_of, int n)
{
	_cleanup_(freep) char *sql = xasprintf(
		"INSERT INTO regression (id, state, tree, branch, job, metric, rel, lo, hi, level, base, head, "
		"culprit, parent, p, dup_of, created) VALUES ('%s', '%s', 't', 'b', %d, 'ops', -.05, -.06, "
		"-.04, .95, '" A "', '" B "', '" B "', '" A "', .99, nullif('%s', ''), "
		"now() + %d * interval '1 min')",
		id, state, job, dup_of, n);

	pg_exec(sql);
}

static const char *text(const char *sql)
{
	static char buf[300];
	struct db_rows rows = { 0 };
	struct err e = { 0 };

	assert_ok(db_raw_rows(pg_db(), sql, &rows, &e), &e);
	(void)snprintf(buf, sizeof(buf), "%s", rows.n ? db_str(&rows, 0, 0) : "nothing");
	db_rows_done(&rows);
	return buf;
}

static const char *same_as(int job, const char *state_of_first)
{
	static char same[9];
	struct regression r = { .id = "r2222222" };
	struct err e = { 0 };

	pg_exec("DELETE FROM regression");
	add("r1111111", state_of_first, 1, "", 0);
	add("r2222222", "bisecting", job, "", 1);
	assert_ok(regression_same(pg_db(), &r, B, same, &e), &e);
	return same;
}

static void one_report_for_a_commit_whichever_test_showed_it(void **state)
{
	static const char *const states[] = { "confirmed", "reported",	  "acknowledged",
					      "expected",  "fix-pending", "fixed",
					      NULL };

	(void)state;
	for (size_t i = 0; states[i]; i++)
		for (int job = 1; job <= 3; job++)
			assert_string_equal(same_as(job, states[i]), "r1111111");
}

static void what_was_nothing_is_not_found_anew_by_the_same_test(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *was = i ? "layout" : "invalid";

		assert_string_equal(same_as(1, was), "r1111111");
		assert_string_equal(same_as(3, was), "r1111111");
		assert_string_equal(same_as(2, was), "");
	}
	assert_string_equal(same_as(1, "lab"), "");
	assert_string_equal(same_as(1, "dup"), "");
}

static void other_tests_are_heard_when_one_was_only_layout(void **state)
{
	char freed[9];
	struct err e = { 0 };

	(void)state;
	add("r1111111", "layout", 1, "", 0);
	add("r2222222", "dup", 3, "r1111111", 1);
	add("r3333333", "dup", 2, "r1111111", 2);
	add("r4444444", "dup", 2, "r1111111", 3);
	assert_ok(regression_free_dups(pg_db(), "r1111111", freed, &e), &e);
	assert_string_equal(freed, "r3333333");
	assert_string_equal(
		text("SELECT string_agg(state || coalesce(dup_of, ''), ' ' ORDER BY id) FROM regression"),
		"layout dupr1111111 confirmed dupr3333333");
	assert_string_equal(
		text("SELECT regression || from_state || to_state FROM regression_history"),
		"r3333333dupconfirmed");
	assert_ok(regression_free_dups(pg_db(), "r1111111", freed, &e), &e);
	assert_string_equal(freed, "");
	assert_string_equal(text("SELECT count(*) FROM regression_history"), "1");
}

static void a_check_of_layout_is_found_by_what_it_compares(void **state)
{
	struct comparison_checked k;
	struct err e = { 0 };

	(void)state;
	add("r1111111", "confirmed", 1, "", 0);
	assert_ok(comparison_layout(pg_db(), 1, A, B, "align64", &k, &e), &e);
	assert_string_equal(k.state, "");
	comparison_checked_done(&k);
	pg_exec("INSERT INTO comparison (tree, branch, base, head, job) VALUES ('t', 'b', '" A
		"', '" B "', 1);"
		"INSERT INTO comparison (tree, branch, base, head, job, purpose, regression, variant) VALUES "
		"('t', 'b', '" A "', '" B "', 1, 'layout', 'r1111111', 'align64')");
	assert_ok(comparison_layout(pg_db(), 1, A, B, "align64", &k, &e), &e);
	assert_string_equal(k.state, "open");
	assert_true(k.effect.rel != k.effect.rel);
	comparison_checked_done(&k);
	pg_exec("UPDATE comparison SET state = 'done', verdict = 'same', rel = .001, lo = -.01, hi = .012");
	assert_ok(comparison_layout(pg_db(), 1, A, B, "align64", &k, &e), &e);
	assert_string_equal(k.state, "done");
	assert_string_equal(k.verdict, "same");
	assert_near(k.effect.hi, .012, 1e-12);
	comparison_checked_done(&k);
	assert_ok(comparison_layout(pg_db(), 2, A, B, "align64", &k, &e), &e);
	assert_string_equal(k.state, "");
	comparison_checked_done(&k);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_report_for_a_commit_whichever_test_showed_it),
		T(what_was_nothing_is_not_found_anew_by_the_same_test),
		T(other_tests_are_heard_when_one_was_only_layout),
		T(a_check_of_layout_is_found_by_what_it_compares),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
