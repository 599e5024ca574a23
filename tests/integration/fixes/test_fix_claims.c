/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a push to the regression: commits that claim to fix its culprit are noticed and forgotten. */
#include "tests/test.h"

#include "bot/base/config.h"
#include "bot/db/db.h"
#include "bot/db/migrate_internal.h"
#include "bot/jobs/culprit_same.h"
#include "bot/jobs/fix_claims.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/comparison.h"
#include "bot/store/page_read.h"
#include "bot/store/regression_fix.h"
#include "tests/integration/repo.h"
#include "tests/pg.h"

#include <git2.h>
#include <string.h>

static struct config *config;
static struct job_ctx ctx;
static char *culprit, *parent;

static int set_up(void **state)
{
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct err e = { 0 };

	if (repo_setup(state) < 0)
		return -1;
	pg_reset();
	(void)git_libgit2_init();
	run("git init -q -b main remote");
	run("cd remote; git commit -q --allow-empty -m start");
	parent = sh("cd remote; git rev-parse HEAD");
	run("cd remote; git commit -q --allow-empty -m 'mm: slow'");
	culprit = sh("cd remote; git rev-parse HEAD");
	path = xasprintf("%s/kperfbot.conf", repo_scratch);
	text = xasprintf("[machine \"m\"]\ndriver = qemu\ngroup = g\n[kconfig \"k\"]\nbase = "
			 "tinyconfig\n[tree \"t\"]\nurl = %s/remote\nallow-file = true\nbranch = "
			 "main\n[job \"j\"]\nsuite = will-it-scale\ntest = page_fault1\nmode = "
			 "process\nnr-task = 50%%\ngroup = g\nkconfig = k\n",
			 repo_scratch);
	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
	assert_ok(config_load(path, &config, &e), &e);
	pg_exec("INSERT INTO tree (name, url) VALUES ('t', 'u');"
		"INSERT INTO job (name, def_hash, suite, test, params, metric, group_name, kconfig, thp, "
		"runs_per_boot, min_effect, timeout_s) VALUES ('j', 'h', 's', 't', '{}', 'ops', 'g', 'k', "
		"'never', 1, .01, 60)");
	return 0;
}

static int tear_down(void **state)
{
	free(culprit);
	free(parent);
	config_free(config);
	(void)git_libgit2_shutdown();
	return repo_teardown(state);
}

static const char *text_of(const char *sql)
{
	static char buf[1000];
	struct db_rows rows = { 0 };
	struct err e = { 0 };

	assert_ok(db_raw_rows(pg_db(), sql, &rows, &e), &e);
	(void)snprintf(buf, sizeof(buf), "%s", rows.n ? db_str(&rows, 0, 0) : "nothing");
	db_rows_done(&rows);
	return buf;
}

/* Do one piece of work of this kind. Return: was there any? */
static bool work(const char *kind, int (*handler)(struct job_ctx *c, struct err *e))
{
	_cleanup_(json_decrefp) json_t *payload = NULL;
	struct work w = { 0 };
	struct err e = { 0 };
	int r = work_claim(pg_db(), &kind, 1, "me", 60, &w, &e);

	assert_ok(r, &e);
	if (!r)
		return false;
	assert_ok(json_read(w.payload, strlen(w.payload), "payload", &payload, &e), &e);
	ctx = (struct job_ctx){ .config = config,
				.state_dir = repo_scratch,
				.db = pg_db(),
				.work = &w,
				.payload = payload };
	assert_ok(handler(&ctx, &e), &e);
	work_done(&w);
	return true;
}

/* The branch was pushed to: is there something to look for, and what is found then? */
static bool pushed(void)
{
	struct err e = { 0 };

	pg_exec("UPDATE work SET run_at = now() WHERE kind = 'fetch'");
	if (!strcmp(text_of("SELECT count(*) FROM work WHERE kind = 'fetch'"), "0"))
		assert_ok(work_enqueue(pg_db(), "fetch", 0, 0, NULL, "{\"tree\":\"t\"}", &e), &e);
	assert_true(work("fetch", job_fetch));
	return work("fixes", job_fixes);
}

static void add(const char *id, const char *state)
{
	_cleanup_(freep) char *sql = xasprintf(
		"INSERT INTO commit (hash, parents, subject, author_name, author_mail, author_time, "
		"committer_name, committer_mail, commit_time, message) SELECT h, '{}', 's', 'n', 'm', "
		"now(), 'n', 'm', now(), '' FROM unnest(ARRAY['%s', '%s']) h ON CONFLICT DO NOTHING;"
		"INSERT INTO regression (id, state, tree, branch, job, metric, rel, lo, hi, level, base, "
		"head, culprit, parent, p) SELECT '%s', '%s', 't', 'main', id, 'ops', -.05, -.06, -.04, "
		".95, '%s', '%s', '%s', '%s', .99 FROM job",
		parent, culprit, id, state, parent, culprit, culprit, parent);

	pg_exec(sql);
}

static const char *claims(const char *id)
{
	_cleanup_(freep) char *sql = xasprintf(
		"SELECT coalesce(string_agg(says || CASE WHEN by_title THEN '~' ELSE '' END || ' ' || "
		"subject, '; ' ORDER BY subject), 'none') FROM regression_fix JOIN commit ON hash = commit "
		"WHERE regression = '%s'",
		id);

	return text_of(sql);
}

static void a_push_that_brings_a_fix_is_noticed(void **state)
{
	_cleanup_(json_decrefp) json_t *page = NULL, *list = NULL;
	const json_t *f;
	struct err e = { 0 };

	(void)state;
	add("r1111111", "reported");
	add("r2222222", "invalid");
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "none");
	/* nothing moved: nothing to look for */
	assert_false(pushed());
	run("cd remote; git commit -q --allow-empty -m 'mm: fast' -m 'Fixes: %.12s (\"mm: slow\")'",
	    culprit);
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "fixes mm: fast");
	assert_string_equal(claims("r2222222"), "none");
	assert_string_equal(text_of("SELECT state FROM regression WHERE id = 'r1111111'"),
			    "reported");
	assert_non_null(
		strstr(text_of("SELECT from_state || to_state || why FROM regression_history"),
		       "reportedreportedpossibly fixed by "));

	assert_ok(page_regression(pg_db(), "r1111111", &page, &e), &e);
	f = json_array_get(json_object_get(page, "possibly_fixed"), 0);
	assert_string_equal(json_str(f, "title", ""), "mm: fast");
	assert_string_equal(json_str(f, "says", ""), "fixes");
	assert_string_equal(json_str(f, "commit_time", ""), "2023-11-14T22:14:20Z");
	assert_false(json_is_true(json_object_get(f, "measured")));
	assert_ok(fix_list(pg_db(), "r1111111", &list, &e), &e);
	assert_int_equal(json_array_size(list), 1);

	/* known already: no second line */
	run("cd remote; git commit -q --allow-empty -m 'mm: more'");
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "fixes mm: fast");
	assert_string_equal(text_of("SELECT count(*) FROM regression_history"), "1");
}

static void what_left_the_branch_or_was_taken_back_is_forgotten(void **state)
{
	(void)state;
	add("r1111111", "confirmed");
	run("cd remote; git commit -q --allow-empty -m 'Revert \"mm: slow\"' -m 'This reverts commit "
	    "%s.'",
	    culprit);
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "reverts Revert \"mm: slow\"");
	run("cd remote; git reset -q --hard %s; git commit -q --allow-empty -m other", culprit);
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "none");
	assert_non_null(
		strstr(text_of("SELECT why FROM regression_history ORDER BY id DESC LIMIT 1"),
		       "is no possible fix any more"));
	/* the culprit left the branch as well, and what is there names it by an id that is kept */
	run("cd remote; git reset -q --hard %s; git commit -q --allow-empty -m 'mm: slow'; git commit "
	    "-q --allow-empty -m 'mm: fast' -m 'Fixes: %.16s (\"mm: slow\")'",
	    parent, culprit);
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "fixes mm: fast");
}

static void a_look_that_comes_too_late_stores_nothing(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_false(pushed());
	add("r1111111", "confirmed");
	run("cd remote; git commit -q --allow-empty -m 'mm: fast' -m 'Fixes: %.12s (\"mm: slow\")'",
	    culprit);
	assert_true(pushed());
	/* the head that the database knows decides, and no such branch is no error */
	assert_int_equal(fix_head_is(pg_db(), "t", "main", culprit, &e), 0);
	assert_int_equal(fix_head_is(pg_db(), "t", "none", culprit, &e), 0);
	ctx = (struct job_ctx){ .config = config, .state_dir = repo_scratch, .db = pg_db() };
	pg_exec("DELETE FROM regression_fix");
	assert_ok(fix_claims_look(&ctx, "t", "main", "r9999999", false, &e), &e);
	assert_string_equal(claims("r1111111"), "none");
	assert_ok(fix_claims_look(&ctx, "t", "main", "r1111111", false, &e), &e);
	assert_string_equal(claims("r1111111"), "fixes mm: fast");
	pg_exec("DELETE FROM head");
	pg_exec("DELETE FROM regression_fix");
	assert_ok(fix_claims_look(&ctx, "t", "main", "r1111111", false, &e), &e);
	assert_string_equal(claims("r1111111"), "none");
}

/* linux-next is made anew each day: its commits have new hashes, and one report is enough. */
static void the_same_change_under_another_hash_is_known(void **state)
{
	static const char change[] = "echo x > x.c; git add x.c; git commit -q -m 'mm: slower'";
	_cleanup_(regression_done) struct regression reg = { 0 };
	_cleanup_(freep) char *was = culprit, *again = NULL;
	char same[9];
	struct err e = { 0 };

	(void)state;
	run("cd remote; %s", change);
	culprit = sh("cd remote; git rev-parse HEAD");
	assert_false(pushed());
	add("r1111111", "reported");
	run("cd remote; git reset -q --hard %s; git commit -q --allow-empty -m base; %s", parent,
	    change);
	assert_true(pushed());
	again = culprit;
	culprit = sh("cd remote; git rev-parse HEAD");
	assert_string_not_equal(again, culprit);
	/* what fixes it names the new hash */
	run("cd remote; git commit -q --allow-empty -m 'mm: faster' -m 'Fixes: %.12s (\"mm: slower\")'",
	    culprit);
	assert_true(pushed());
	assert_string_equal(claims("r1111111"), "fixes mm: faster");
	add("r2222222", "bisecting");
	ctx = (struct job_ctx){ .config = config, .state_dir = repo_scratch, .db = pg_db() };
	assert_ok(regression_get(pg_db(), "r2222222", &reg, &e), &e);
	assert_ok(culprit_same(&ctx, &reg, culprit, same, &e), &e);
	assert_string_equal(same, "r1111111");
	assert_ok(regression_dup(pg_db(), reg.id, same, &e), &e);
	assert_string_equal(text_of("SELECT why FROM regression_history WHERE to_state = 'dup'"),
			    "same change, under another hash, as r1111111");
	/* what was nothing there is nothing to be the same as */
	pg_exec("UPDATE regression SET state = 'lab' WHERE id = 'r1111111'");
	assert_ok(culprit_same(&ctx, &reg, culprit, same, &e), &e);
	assert_string_equal(same, "");
	/* without a mirror it is a regression of its own */
	pg_exec("UPDATE regression SET state = 'reported' WHERE id = 'r1111111'");
	ctx.state_dir = "/nonexistent";
	assert_ok(culprit_same(&ctx, &reg, culprit, same, &e), &e);
	assert_string_equal(same, "");
}

/* Two bisections may name two hashes of one change at the same moment: the second has to wait. */
static void one_at_a_time_decides_about_a_change(void **state)
{
	struct db_options o = { .conninfo = pg_conninfo(), .application = "other", .away_s = 10 };
	struct db *other = NULL;
	struct err e = { 0 };

	(void)state;
	assert_ok(db_open(&o, &other, &e), &e);
	add("r1111111", "bisecting");
	pg_exec("BEGIN");
	assert_ok(regression_lock(pg_db(), culprit, &e), &e);
	assert_ok(db_exec(other, "SET lock_timeout = 100", &e), &e);
	assert_err(regression_lock(other, parent, &e), ERR_DB_RETRY, &e);
	pg_exec("ROLLBACK");
	assert_ok(regression_lock(other, parent, &e), &e);
	/* others have nothing to wait for */
	pg_exec("UPDATE commit SET subject = hash");
	pg_exec("BEGIN");
	assert_ok(regression_lock(pg_db(), culprit, &e), &e);
	assert_ok(regression_lock(other, parent, &e), &e);
	pg_exec("ROLLBACK");
	db_close(other);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_push_that_brings_a_fix_is_noticed),
		T(what_left_the_branch_or_was_taken_back_is_forgotten),
		T(a_look_that_comes_too_late_stores_nothing),
		T(the_same_change_under_another_hash_is_known),
		T(one_at_a_time_decides_about_a_change),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
