/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/migrate_internal.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <libpq-fe.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state)
{
	(void)state;
	pg_reset();
	return 0;
}

static struct db *connect_as(const char *application, double away_s, int timeout_ms)
{
	struct db_options o = { .conninfo = pg_conninfo(),
				.application = application,
				.away_s = away_s,
				.statement_timeout_ms = timeout_ms };
	struct db *db = NULL;
	struct err e = { 0 };

	assert_ok(db_open(&o, &db, &e), &e);
	return db;
}

static int64_t num(const char *sql)
{
	struct db_rows rows = { 0 };
	struct err e = { 0 };
	int64_t n;

	assert_ok(db_raw_rows(pg_db(), sql, &rows, &e), &e);
	n = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return n;
}

static void kick(const char *application)
{
	char *sql = xasprintf("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
			      "WHERE application_name = '%s'",
			      application);

	pg_exec(sql);
	free(sql);
}

static int add_commit(struct db *db, const char *hash, const void *msg, size_t len, struct err *e)
{
	return db_run(db, SQL_COMMIT_INSERT, NULL, e, "sssssissiy", hash, "{}", "subject ß", "A",
		      "a@example.org", (int64_t)1, "C", "c@example.org", (int64_t)2, msg, len);
}

#define H1 "1111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222"

static void bytes_with_nul_come_back_as_they_were(void **state)
{
	char all[256];
	struct db_rows rows = { 0 };
	struct err e = { 0 };
	size_t len = 0;
	char *back;

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	assert_ok(add_commit(pg_db(), H1, all, sizeof(all), &e), &e);
	assert_ok(add_commit(pg_db(), H2, "", 0, &e), &e);
	assert_ok(db_run_one(pg_db(), SQL_COMMIT_GET, &rows, &e, "s", H1), &e);
	back = db_bytes(&rows, 0, 6, &len);
	assert_int_equal(len, 256);
	assert_memory_equal(back, all, 256);
	assert_string_equal(db_str(&rows, 0, 0), "subject ß");
	free(back);
	db_rows_done(&rows);
	assert_ok(db_run_one(pg_db(), SQL_COMMIT_GET, &rows, &e, "s", H2), &e);
	back = db_bytes(&rows, 0, 6, &len);
	assert_int_equal(len, 0);
	assert_string_equal(back, "");
	free(back);
	db_rows_done(&rows);
	db_rows_done(&rows);
}

static void a_null_cell_is_told_from_an_empty_one(void **state)
{
	struct db_rows r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(db_raw_rows(pg_db(),
			      "SELECT NULL::text, '', NULL::bigint, NULL::float8, NULL::boolean, "
			      "'-9223372036854775808'::bigint, 0.1::float8, true",
			      &r, &e),
		  &e);
	assert_true(db_null(&r, 0, 0));
	assert_false(db_null(&r, 0, 1));
	assert_string_equal(db_str(&r, 0, 0), "");
	assert_null(db_str_or_null(&r, 0, 0));
	assert_string_equal(db_str_or_null(&r, 0, 1), "");
	assert_int_equal(db_i64(&r, 0, 2), 0);
	assert_true(db_f64(&r, 0, 3) == 0);
	assert_false(db_bool(&r, 0, 4));
	assert_true(db_i64(&r, 0, 5) == INT64_MIN);
	assert_true(db_f64(&r, 0, 6) == 0.1);
	assert_true(db_bool(&r, 0, 7));
	db_rows_done(&r);
}

static void arrays_keep_every_character_and_bit(void **state)
{
	const char *in[] = { "a,b", "{x}", "q\"uo\\te", "", "NULL", " blank ", "ß\n" };
	const double nums[] = { 0.1, -1e300, 5e-324, 1.0 / 3, 0 };
	char *text = db_text_array(in, 7);
	char *floats = db_f64_array(nums, 5);
	char *none = db_text_array(NULL, 0);
	struct strbuf sql = STRBUF_INIT;
	struct db_rows r = { 0 };
	struct err e = { 0 };

	(void)state;
	strbuf_addf(&sql,
		    "SELECT u FROM unnest($x$%s$x$::text[]) WITH ORDINALITY t (u, n) ORDER BY n",
		    text);
	assert_ok(db_raw_rows(pg_db(), sql.s, &r, &e), &e);
	assert_int_equal(r.n, 7);
	for (int i = 0; i < 7; i++) {
		assert_false(db_null(&r, i, 0));
		assert_string_equal(db_str(&r, i, 0), in[i]);
	}
	db_rows_done(&r);
	strbuf_reset(&sql);
	strbuf_addf(&sql,
		    "SELECT u FROM unnest('%s'::float8[]) WITH ORDINALITY t (u, n) ORDER BY n",
		    floats);
	assert_ok(db_raw_rows(pg_db(), sql.s, &r, &e), &e);
	for (int i = 0; i < 5; i++)
		assert_true(db_f64(&r, i, 0) == nums[i]);
	db_rows_done(&r);
	assert_string_equal(none, "{}");
	strbuf_done(&sql);
	free(text);
	free(floats);
	free(none);
}

static void statement_failures_have_their_codes(void **state)
{
	struct db_rows r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_err(db_run_one(pg_db(), SQL_COMMIT_GET, &r, &e, "s", H1), ERR_NOENT, &e);
	assert_null(r.res);
	assert_err(add_commit(pg_db(), "nohash", "", 0, &e), ERR_DB, &e);
	assert_err(db_run(pg_db(), SQL_COMMIT_GET, &r, &e, "s", "a\xff"), ERR_DB, &e);
	assert_null(strchr(e.msg, '\n'));
	assert_err(db_run(pg_db(), SQL_COMMIT_GET, &r, &e, ""), ERR_DB,
		   &e); /* too few parameters */
	assert_err(db_run(pg_db(), SQL_WORK_FINISH, NULL, &e, "si", "x", (int64_t)1), ERR_DB, &e);
	pg_exec("INSERT INTO tree (name, url) VALUES ('t', 'u')");
	assert_err(db_exec(pg_db(), "INSERT INTO tree (name, url) VALUES ('t', 'v')", &e),
		   ERR_CONFLICT, &e);
	assert_non_null(strstr(e.msg, "duplicate key"));
	/* None of them harmed the connection. */
	assert_ok(add_commit(pg_db(), H1, "m", 1, &e), &e);
	assert_int_equal(num("SELECT count(*) FROM commit"), 1);
}

static void a_statement_that_takes_too_long_is_stopped(void **state)
{
	struct db *db = connect_as("slow", 0, 200);
	struct err e = { 0 };

	(void)state;
	assert_err(db_exec(db, "SELECT pg_sleep(30)", &e), ERR_TIMEOUT, &e);
	assert_true(err_is_transient(e.code));
	assert_ok(db_exec(db, "SELECT 1", &e), &e);
	db_close(db);
}

static void a_lost_connection_is_made_again_between_statements(void **state)
{
	struct db *db = connect_as("lost", 20, 0);
	struct db_rows r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(db_exec(db, "LISTEN work", &e), &e);
	for (int i = 0; i < 3; i++) {
		kick("lost");
		assert_err(db_run_one(db, SQL_COMMIT_GET, &r, &e, "s", H1), ERR_NOENT, &e);
	}
	/* It listens again as well. */
	pg_exec("NOTIFY work");
	assert_ok(db_exec(db, "SELECT 1", &e), &e);
	assert_true(db_notices(db));
	assert_false(db_notices(db));
	kick("lost");
	assert_ok(db_ping(db, &e), &e);
	assert_true(db_server_version(db) >= 150000);
	db_close(db);
}

static void notices_on_a_lost_connection_do_not_turn_in_circles(void **state)
{
	struct db *db = connect_as("quiet", 5, 0);
	struct err e = { 0 };

	(void)state;
	assert_true(db_socket(db) >= 0);
	kick("quiet");
	for (int i = 0; i < 10 && db_socket(db) >= 0; i++)
		assert_false(db_notices(db));
	assert_int_equal(db_socket(db), -1);
	assert_ok(db_ping(db, &e), &e);
	assert_true(db_socket(db) >= 0);
	db_close(db);
}

struct tx {
	int calls;
	int kick_at;	  /* lose the connection in this call; 0 never */
	int clash_at;	  /* up to this call: make a serialization failure */
	bool swallow;	  /* pass over a failed statement */
	int fail;	  /* return this */
	const char *name; /* of the tree that is added */
};

static int tx_fn(struct db *db, void *arg, struct err *e)
{
	struct tx *t = arg;
	int r;

	t->calls++;
	r = db_run(db, SQL_TREE_UPSERT, NULL, e, "ss", t->name, "u");
	if (r < 0)
		return r;
	if (t->calls == t->kick_at) {
		kick("tx");
		return db_run(db, SQL_TREE_UPSERT, NULL, e, "ss", t->name, "v");
	}
	if (t->calls <= t->clash_at)
		return db_exec(
			db, "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END $$", e);
	if (t->swallow)
		(void)db_exec(db, "SELECT 1/0", NULL);
	return t->fail;
}

static int run_tx(struct db *db, struct tx *t, struct err *e)
{
	return db_tx(db, tx_fn, t, e);
}

static void a_transaction_is_all_or_nothing(void **state)
{
	struct db *db = connect_as("tx", 10, 0);
	struct tx good = { .name = "good", .fail = 5 };
	struct tx bad = { .name = "bad", .fail = ERR_LEASE_LOST };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_tx(db, &good, &e), 5);
	assert_int_equal(run_tx(db, &bad, &e), ERR_LEASE_LOST);
	assert_int_equal(bad.calls, 1);
	assert_int_equal(num("SELECT count(*) FROM tree WHERE name = 'good'"), 1);
	assert_int_equal(num("SELECT count(*) FROM tree WHERE name = 'bad'"), 0);
	assert_int_equal(num("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'"),
			 0);
	db_close(db);
}

static void a_transaction_starts_over_after_a_clash(void **state)
{
	struct db *db = connect_as("tx", 10, 0);
	struct tx few = { .name = "few", .clash_at = 4 };
	struct tx many = { .name = "many", .clash_at = 99 };
	struct err e = { 0 };

	(void)state;
	assert_ok(run_tx(db, &few, &e), &e);
	assert_int_equal(few.calls, 5);
	assert_err(run_tx(db, &many, &e), ERR_DB_RETRY, &e);
	assert_int_equal(many.calls, 5);
	assert_int_equal(num("SELECT count(*) FROM tree"), 1);
	db_close(db);
}

static void a_transaction_starts_over_when_the_connection_was_lost_before_commit(void **state)
{
	struct db *db = connect_as("tx", 10, 0);
	struct tx t = { .name = "t", .kick_at = 1 };
	struct tx first = { .name = "first" };
	struct err e = { 0 };

	(void)state;
	assert_ok(run_tx(db, &t, &e), &e);
	assert_int_equal(t.calls, 2);
	kick("tx"); /* since the last one */
	assert_ok(run_tx(db, &first, &e), &e);
	assert_int_equal(num("SELECT count(*) FROM tree"), 2);
	db_close(db);
}

static void a_failure_passed_over_is_no_success(void **state)
{
	struct db *db = connect_as("tx", 10, 0);
	struct tx t = { .name = "t", .swallow = true };
	struct err e = { 0 };

	(void)state;
	assert_err(run_tx(db, &t, &e), ERR_BUG, &e);
	assert_int_equal(num("SELECT count(*) FROM tree"), 0);
	t.swallow = false;
	assert_ok(run_tx(db, &t, &e), &e);
	db_close(db);
}

static void what_cannot_be_reached_is_away(void **state)
{
	struct db_options o = { .conninfo = "host=/nonexistent dbname=x" };
	struct db *db = NULL;
	struct err e = { 0 };

	(void)state;
	assert_err(db_open(&o, &db, &e), ERR_DB_AWAY, &e);
	assert_null(db);
	o.conninfo = "host=";
	assert_err(db_open(&o, &db, &e), ERR_DB_AWAY, &e);
	o.conninfo = "no such option=1";
	assert_err(db_open(&o, &db, &e), ERR_DB_AWAY, &e);
	assert_null(strchr(e.msg, '\n'));
	db_close(NULL);
}

static void a_restart_of_the_server_is_lived_through(void **state)
{
	struct db *db = connect_as("stays", 20, 0);
	struct tx t = { .name = "after" };
	struct db *gone = connect_as("gone", 0, 0);
	struct db_rows r = { 0 };
	struct err e = { 0 };

	(void)state;
	pg_down();
	assert_err(db_run(gone, SQL_COMMIT_GET, &r, &e, "s", H1), ERR_DB_AWAY, &e);
	assert_err(run_tx(gone, &t, &e), ERR_DB_AWAY, &e);
	pg_up();
	assert_ok(run_tx(db, &t, &e), &e);
	assert_ok(run_tx(gone, &t, &e), &e);
	assert_int_equal(num("SELECT count(*) FROM tree"), 1);
	db_close(db);
	db_close(gone);
}

static void another_role_has_only_its_rights(void **state)
{
	struct db_options o = { .conninfo = pg_conninfo(), .role = "kperfbot_web" };
	struct db *db = NULL;
	struct err e = { 0 };

	(void)state;
	assert_ok(db_open(&o, &db, &e), &e);
	assert_ok(db_exec(db, "SELECT count(*) FROM work", &e), &e);
	assert_err(db_run(db, SQL_TREE_UPSERT, NULL, &e, "ss", "x", "u"), ERR_DB, &e);
	assert_non_null(strstr(e.msg, "permission denied"));
	assert_err(db_exec(db, "DELETE FROM work", &e), ERR_DB, &e);
	db_close(db);
}

/* Columns that the comment of a statement names, -1 when it names none. */
static int columns_said(const char *text)
{
	const char *p = strstr(text, "olumns: ");
	int depth = 0;
	int n = 1;

	if (!p)
		return -1;
	p += strlen("olumns: ");
	if (!strncmp(p, "nothing", 7))
		return -1;
	if (!strncmp(p, "json", 4))
		return 1;
	for (; *p && *p != '.'; p++) {
		if (!strncmp(p, "\n-- ", 4))
			p += 3;
		else if (*p == '\n')
			break;
		depth += *p == '(';
		depth -= *p == ')';
		n += *p == ',' && !depth;
	}
	return n;
}

static void every_statement_gives_the_columns_that_it_says(void **state)
{
	PGconn *conn = PQconnectdb(pg_conninfo());
	int compared = 0;
	int wrong = 0;

	(void)state;
	assert_int_equal(PQstatus(conn), CONNECTION_OK);
	for (int i = 0; i < SQL_COUNT; i++) {
		const struct sql_query *q = &sql_queries[i];
		int want = columns_said(q->text);
		PGresult *res = PQprepare(conn, q->name, q->text, 0, NULL);
		int have;

		if (PQresultStatus(res) != PGRES_COMMAND_OK)
			fail_msg("%s: %s", q->name, PQresultErrorMessage(res));
		PQclear(res);
		res = PQdescribePrepared(conn, q->name);
		assert_int_equal(PQresultStatus(res), PGRES_COMMAND_OK);
		have = PQnfields(res);
		PQclear(res);
		if (strncmp(q->text, "-- ", 3) != 0)
			fail_msg("%s does not begin with a comment", q->name);
		if (want < 0)
			continue;
		compared++;
		if (want != have) {
			(void)fprintf(stderr, "%s: %d columns, its comment says %d\n", q->name,
				      have, want);
			wrong++;
		}
	}
	PQfinish(conn);
	assert_true(compared > SQL_COUNT / 3);
	assert_int_equal(wrong, 0);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(bytes_with_nul_come_back_as_they_were),
		T(a_null_cell_is_told_from_an_empty_one),
		T(arrays_keep_every_character_and_bit),
		T(statement_failures_have_their_codes),
		T(a_statement_that_takes_too_long_is_stopped),
		T(a_lost_connection_is_made_again_between_statements),
		T(notices_on_a_lost_connection_do_not_turn_in_circles),
		T(a_transaction_is_all_or_nothing),
		T(a_transaction_starts_over_after_a_clash),
		T(a_transaction_starts_over_when_the_connection_was_lost_before_commit),
		T(a_failure_passed_over_is_no_success),
		T(what_cannot_be_reached_is_away),
		T(a_restart_of_the_server_is_lived_through),
		T(another_role_has_only_its_rights),
		T(every_statement_gives_the_columns_that_it_says),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
