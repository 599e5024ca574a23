/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/page_read.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/store/token.h"
#include "tests/integration/web/fixture.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>

static struct err e;

static void overview_counts_everything(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL;

	(void)state;
	assert_ok(page_overview(pg_db(), &j, &e), &e);
	assert_int_equal(json_array_size(json_object_get(j, "trees")), 3);
	assert_int_equal(json_array_size(json_object_get(j, "machines")), 2);
	assert_int_equal(json_i64(json_object_get(j, "work"), "ready", -1), 2);
	assert_int_equal(json_i64(json_object_get(j, "work"), "leased", -1), 2);
	assert_int_equal(json_i64(json_object_get(j, "builds"), "failed", -1), 1);
	assert_int_equal(json_i64(j, "runs", -1), 36);
	assert_int_equal(json_i64(json_object_get(j, "mails"), "sent", -1), 1);
	assert_int_equal(json_array_size(json_object_get(j, "comparisons")), 4);
	assert_int_equal(json_array_size(json_object_get(j, "bisections")), 1);
	assert_int_equal(json_array_size(json_object_get(j, "regressions")), 2);
}

static void regression_has_runs_mails_and_history(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL, *mails = NULL;
	const json_t *effect, *base, *fix;
	const char *created;

	(void)state;
	assert_ok(page_regression(pg_db(), "r7f3k2qa", &j, &e), &e);
	effect = json_object_get(j, "effect");
	base = json_object_get(effect, "base");
	assert_int_equal(json_i64(base, "n", 0), 12);
	assert_int_equal(json_i64(base, "boots", 0), 4);
	assert_near(json_f64(effect, "rel", 0), -0.038, 1e-12);
	assert_int_equal(json_array_size(json_object_get(j, "runs")), 36);
	assert_int_equal(json_array_size(json_object_get(j, "history")), 2);
	assert_int_equal(json_array_size(json_object_get(j, "metrics")), 3);
	assert_int_equal(json_array_size(json_object_get(j, "runners_up")), 2);
	assert_string_equal(json_str(json_object_get(j, "culprit"), "commit", ""), H_CULP);
	fix = json_array_get(json_object_get(j, "possibly_fixed"), 0);
	assert_string_equal(json_str(fix, "commit", ""), H_EVIL);
	/* a head that has it was measured */
	assert_true(json_is_true(json_object_get(fix, "measured")));
	assert_string_equal(json_str(j, "bisect", ""), "b5k2p9xm");
	created = json_str(j, "created", "");
	assert_int_equal(strlen(created), 20);
	assert_int_equal(created[19], 'Z');
	assert_ok(page_mails(pg_db(), "r7f3k2qa", &mails, &e), &e);
	assert_int_equal(json_array_size(mails), 1);
}

static void absent_things_are_not_found(void **state)
{
	json_t *j = NULL;
	char hash[65];

	(void)state;
	assert_err(page_regression(pg_db(), "rzzzzzzz", &j, &e), ERR_NOENT, &e);
	assert_err(page_bisection(pg_db(), "bzzzzzzz", &j, &e), ERR_NOENT, &e);
	assert_err(page_tree(pg_db(), "none", &j, &e), ERR_NOENT, &e);
	assert_err(page_commit(pg_db(), "abcdefab", &j, &e), ERR_NOENT, &e);
	assert_err(page_log(pg_db(), PAGE_BUILD_LOG, 999, hash, &e), ERR_NOENT, &e);
	assert_null(j);
}

static void lists_go_on_where_they_ended(void **state)
{
	_cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
	struct page_filter f = { .limit = 1 };

	(void)state;
	assert_ok(page_regressions(pg_db(), &f, &a, &e), &e);
	assert_int_equal(json_array_size(json_object_get(a, "items")), 1);
	f.after = json_str(a, "next", NULL);
	assert_non_null(f.after);
	assert_ok(page_regressions(pg_db(), &f, &b, &e), &e);
	assert_int_equal(json_array_size(json_object_get(b, "items")), 1);
	assert_null(json_str(b, "next", NULL));
	assert_string_not_equal(json_str(json_array_get(json_object_get(a, "items"), 0), "id", ""),
				json_str(json_array_get(json_object_get(b, "items"), 0), "id", ""));
	f.after = NULL;
	f.state = "report";
	assert_err(page_regressions(pg_db(), &f, &b, &e), ERR_INVAL, &e);
	assert_err(page_bisections(pg_db(), &f, &b, &e), ERR_INVAL, &e);
	f.state = "fix-pending";
	f.class = "";
	assert_err(page_regressions(pg_db(), &f, &b, &e), ERR_INVAL, &e);
	f.state = f.class = NULL;
	f.after = "17_rOOOOOOO";
	assert_err(page_regressions(pg_db(), &f, &b, &e), ERR_INVAL, &e);
}

static void bisections_have_posterior_steps_and_log(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL, *list = NULL, *odd = NULL;
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct page_filter f = { .limit = 10 };

	(void)state;
	assert_ok(page_bisection(pg_db(), "b5k2p9xm", &j, &e), &e);
	assert_int_equal(json_array_size(json_object_get(j, "posterior")), 3);
	assert_int_equal(json_array_size(json_object_get(j, "log")), 3);
	page_bisection_log(j, &log);
	assert_non_null(strstr(strbuf_str(&log), "first bad commit " H_CULP " P=0.992"));
	assert_non_null(strstr(strbuf_str(&log),
			       "; 63 of at most 600 runs, 21 boots; 3.0 minutes of "
			       "machine time\n"));
	/* Comments to git, whose own words come after it: the whole can be replayed. */
	for (const char *line = strbuf_str(&log); line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		assert_int_equal(*line, '#');
	assert_ok(page_bisection(pg_db(), "b2222222", &odd, &e), &e);
	assert_int_equal(json_array_size(json_object_get(odd, "posterior")), 0);
	assert_ok(page_bisections(pg_db(), &f, &list, &e), &e);
	assert_int_equal(json_array_size(json_object_get(list, "items")), 2);
}

static void trees_commits_and_queue_can_be_read(void **state)
{
	_cleanup_(json_decrefp) json_t *t = NULL, *c = NULL, *q = NULL;
	char hash[65];

	(void)state;
	assert_ok(page_tree(pg_db(), "linus", &t, &e), &e);
	assert_int_equal(json_array_size(json_object_get(t, "events")), 2);
	assert_ok(page_commit(pg_db(), "33333333", &c, &e), &e);
	assert_int_equal(json_array_size(json_object_get(c, "boots")), 4);
	assert_ok(page_queue(pg_db(), 100, &q, &e), &e);
	assert_int_equal(json_array_size(json_object_get(q, "items")), 4);
	assert_ok(page_log(pg_db(), PAGE_BOOT_CONSOLE, 1, hash, &e), &e);
	assert_int_equal(strlen(hash), 64);
}

static void tokens_are_scoped_and_revocable(void **state)
{
	static const char *const good[] = { "bisect", NULL }, *const bad[] = { "root", NULL };
	_cleanup_(freep) char *secret = NULL;
	_cleanup_(json_decrefp) json_t *list = NULL;
	char *none = NULL, id[9];

	(void)state;
	assert_err(token_add(pg_db(), "ci", bad, 0, &none, &e), ERR_INVAL, &e);
	assert_err(token_add(pg_db(), "c i", good, 0, &none, &e), ERR_INVAL, &e);
	assert_null(none);
	assert_ok(token_add(pg_db(), "ci", good, 30, &secret, &e), &e);
	assert_ok(token_check(pg_db(), secret, "bisect", id, &e), &e);
	assert_err(token_check(pg_db(), secret, "admin", id, &e), ERR_PERM, &e);
	assert_err(token_check(pg_db(), secret, "bisect-admin", id, &e), ERR_PERM, &e);
	secret[76] = secret[76] == '0' ? '1' : '0';
	assert_err(token_check(pg_db(), secret, "bisect", id, &e), ERR_AUTH, &e);
	assert_ok(token_list(pg_db(), &list, &e), &e);
	assert_int_equal(json_array_size(json_object_get(list, "items")), 1);
	assert_ok(token_revoke(pg_db(), id, &e), &e);
	assert_err(token_revoke(pg_db(), id, &e), ERR_NOENT, &e);
}

static int setup(void **state)
{
	if (pg_start(state) != 0)
		return -1;
	fixture_fill();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overview_counts_everything),
		cmocka_unit_test(regression_has_runs_mails_and_history),
		cmocka_unit_test(absent_things_are_not_found),
		cmocka_unit_test(lists_go_on_where_they_ended),
		cmocka_unit_test(bisections_have_posterior_steps_and_log),
		cmocka_unit_test(trees_commits_and_queue_can_be_read),
		cmocka_unit_test(tokens_are_scoped_and_revocable),
	};

	return cmocka_run_group_tests(tests, setup, pg_stop);
}
