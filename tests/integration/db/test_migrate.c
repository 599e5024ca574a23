/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/migrate.h"
#include "bot/db/migrate_internal.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A database of this name, made anew. Return: how to connect to it; free() it. */
static char *fresh(const char *name)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql), "DROP DATABASE IF EXISTS %s", name);
	pg_exec(sql);
	(void)snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
	pg_exec(sql);
	return xasprintf("%s dbname=%s", pg_conninfo(), name);
}

static int open_at(const char *conninfo, bool no_prepare, struct db **ret, struct err *e)
{
	struct db_options o = { .conninfo = conninfo, .no_prepare = no_prepare };

	return db_open(&o, ret, e);
}

static struct db *open_raw(const char *conninfo)
{
	struct db *db = NULL;
	struct err e = { 0 };

	assert_ok(open_at(conninfo, true, &db, &e), &e);
	return db;
}

static void exec(struct db *db, const char *sql)
{
	struct err e = { 0 };

	assert_ok(db_exec(db, sql, &e), &e);
}

static void an_empty_database_is_brought_up_to_date_once(void **state)
{
	char *ci = fresh("empty");
	struct db *db = open_raw(ci);
	struct migrate_status st = { -1, -1 };
	struct db *full = NULL;
	struct err e = { 0 };
	int n;

	(void)state;
	assert_ok(migrate_status(db, &st, &e), &e);
	assert_int_equal(st.have, 0);
	assert_true(st.want >= 1);
	n = migrate_run(db, &e);
	assert_ok(n, &e);
	assert_int_equal(n, st.want);
	assert_int_equal(migrate_run(db, &e), 0);
	assert_ok(migrate_status(db, &st, NULL), &e);
	assert_int_equal(st.have, st.want);
	db_close(db);
	assert_ok(open_at(ci, false, &full, &e), &e);
	db_close(full);
	free(ci);
}

static void two_at_once_do_it_once(void **state)
{
	char *ci = fresh("race");
	pid_t pids[4];
	int sum = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct db *db = NULL;
			struct err e = { 0 };
			int r;

			if (open_at(ci, true, &db, &e) < 0)
				_exit(100);
			r = migrate_run(db, &e);
			if (r < 0)
				(void)fprintf(stderr, "%s\n", e.msg);
			_exit(r < 0 ? 101 : r);
		}
	}
	for (int i = 0; i < 4; i++) {
		int status = -1;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 100);
		sum += WEXITSTATUS(status);
	}
	assert_int_equal(sum, sql_migrations_n);
	free(ci);
}

/* Status and run both refuse with one line that has @word. */
static void assert_refused(struct db *db, const char *word)
{
	struct migrate_status st = { -7, -7 };
	struct err e = { 0 };

	assert_err(migrate_status(db, &st, &e), ERR_SCHEMA, &e);
	if (!strstr(e.msg, word))
		fail_msg("'%s' does not say '%s'", e.msg, word);
	assert_int_equal(st.have, -7);
	assert_err(migrate_run(db, &e), ERR_SCHEMA, &e);
	assert_int_equal(migrate_run(db, NULL), ERR_SCHEMA);
}

static void an_altered_or_newer_schema_is_refused(void **state)
{
	char *ci = fresh("other");
	struct db *db = open_raw(ci);
	struct err e = { 0 };

	(void)state;
	assert_ok(migrate_run(db, &e), &e);
	exec(db, "INSERT INTO schema_migration VALUES (999, 'from_the_future', 'x')");
	assert_refused(db, "version 999 (from_the_future)");
	exec(db, "DELETE FROM schema_migration WHERE version = 999");
	exec(db, "INSERT INTO schema_migration VALUES (0, 'zero', 'x')");
	assert_refused(db, "version 0");
	exec(db, "UPDATE schema_migration SET version = -2147483648 WHERE version = 0");
	assert_refused(db, "version -2147483648");
	exec(db, "DELETE FROM schema_migration WHERE version < 1");
	exec(db, "UPDATE schema_migration SET sha256 = 'x' WHERE version = 1");
	assert_refused(db, "migration 1 (initial) was run in another form");
	db_close(db);
	free(ci);
}

static void a_failed_migration_leaves_nothing_behind(void **state)
{
	char *ci = fresh("half");
	struct db *db = open_raw(ci);
	struct db_rows rows = { 0 };
	struct err e = { 0 };

	(void)state;
	exec(db, "CREATE TABLE machine (x int)"); /* in the way, in the middle of the first one */
	assert_err(migrate_run(db, &e), ERR_DB, &e);
	assert_non_null(strstr(e.msg, "migration 1 (initial)"));
	assert_non_null(strstr(e.msg, "\"machine\" already exists"));
	assert_ok(db_raw_rows(db, "SELECT to_regclass('work') IS NULL, to_regclass('tree') IS NULL",
			      &rows, &e),
		  &e);
	assert_true(db_bool(&rows, 0, 0) && db_bool(&rows, 0, 1));
	db_rows_done(&rows);
	exec(db, "DROP TABLE machine");
	assert_int_equal(migrate_run(db, &e), sql_migrations_n);
	db_close(db);
	free(ci);
}

static void a_statement_that_does_not_fit_stops_the_start(void **state)
{
	char *ci = fresh("unfit");
	struct db *raw = open_raw(ci);
	struct db *db = NULL;
	struct err e = { 0 };

	(void)state;
	assert_err(open_at(ci, false, &db, &e), ERR_SCHEMA, &e);
	assert_non_null(strstr(e.msg, "does not fit the database"));
	assert_ok(migrate_run(raw, &e), &e);
	exec(raw, "ALTER TABLE work RENAME COLUMN dedupe TO other");
	assert_err(open_at(ci, false, &db, &e), ERR_SCHEMA, &e);
	assert_non_null(strstr(e.msg, "dedupe"));
	assert_null(strchr(e.msg, '\n'));
	assert_null(db);
	db_close(raw);
	free(ci);
}

static void status_does_not_hang_on_the_language_of_the_server(void **state)
{
	char *ci = fresh("tongue");
	struct db *db = open_raw(ci);
	struct migrate_status st;
	struct err e = { 0 };

	(void)state;
	/* The table is in no schema that is looked at. */
	exec(db, "CREATE SCHEMA away; CREATE TABLE away.schema_migration (version text)");
	assert_ok(migrate_status(db, &st, &e), &e);
	assert_int_equal(st.have, 0);
	assert_string_equal(e.msg, "");
	db_close(db);
	free(ci);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_database_is_brought_up_to_date_once),
		cmocka_unit_test(two_at_once_do_it_once),
		cmocka_unit_test(an_altered_or_newer_schema_is_refused),
		cmocka_unit_test(a_failed_migration_leaves_nothing_behind),
		cmocka_unit_test(a_statement_that_does_not_fit_stops_the_start),
		cmocka_unit_test(status_does_not_hang_on_the_language_of_the_server),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
