/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only user of libpq. A connection prepares every statement of sql/queries when it opens, so a
 * bad statement stops a program at its start. Outside a transaction a lost connection is made
 * again; inside, the caller's db_tx() starts over.
 */
#pragma once

#include "bot/base/cleanup.h"
#include "bot/db/sql.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;

/**
 * struct db_options - how to connect.
 * @conninfo: libpq connection string.
 * @role: SET ROLE to this after connecting; NULL to stay.
 * @application: shown in pg_stat_activity.
 * @statement_timeout_ms: 0 is 30,000.
 * @away_s: how long to try to get a lost connection back before ERR_DB_AWAY; 0 is one try.
 * @no_prepare: do not prepare the statements (before migrations).
 */
struct db_options {
	const char *conninfo;
	const char *role;
	const char *application;
	int statement_timeout_ms;
	double away_s;
	bool no_prepare;
};

/** db_open() - connect. ERR_DB_AWAY, ERR_SCHEMA (statement does not fit), ERR_UNSUPPORTED (old). */
int db_open(const struct db_options *o, struct db **ret, struct err *e);
void db_close(struct db *db);
DEFINE_CLEANUP(struct db *, db_close);

/** db_set_away() - from now on try for @away_s to get a lost connection back; 0 is one try. */
void db_set_away(struct db *db, double away_s);

/** struct db_rows - a result; db_rows_done() frees it. @n: rows; @affected: rows changed. */
struct db_rows {
	void *res;
	int n;
	int64_t affected;
};
void db_rows_done(struct db_rows *r);

/**
 * db_run() - run a prepared statement.
 * @ret: result, or NULL when it does not matter.
 * @types: one letter a parameter: s string or NULL, i int64_t, d double, b bool as int,
 *         y bytes as (const void *, size_t).
 *
 * Return: 0; ERR_DB_AWAY, ERR_DB_RETRY, ERR_NOSPACE, ERR_CONFLICT (unique or exclusion broken),
 * ERR_TIMEOUT (statement took too long), ERR_DB with the server's first message line.
 */
int db_run(struct db *db, enum sql_id id, struct db_rows *ret, struct err *e, const char *types,
	   ...);

/** db_run_one() - db_run() that wants exactly one row: ERR_NOENT for none. */
int db_run_one(struct db *db, enum sql_id id, struct db_rows *ret, struct err *e, const char *types,
	       ...);

/* Cells. Strings and bytes belong to the rows. A NULL cell: "", 0, 0.0, false. */
bool db_null(const struct db_rows *r, int row, int col);
const char *db_str(const struct db_rows *r, int row, int col);
const char *db_str_or_null(const struct db_rows *r, int row, int col);
int64_t db_i64(const struct db_rows *r, int row, int col);
double db_f64(const struct db_rows *r, int row, int col);
bool db_bool(const struct db_rows *r, int row, int col);
/** db_bytes() - bytea cell decoded into a fresh buffer; free() it. */
void *db_bytes(const struct db_rows *r, int row, int col, size_t *ret_len);

/**
 * db_tx() - run @fn inside a transaction and commit; starts over on serialization failures,
 * deadlocks, lock time-outs and a connection lost before COMMIT (five times in all), rolls back on
 * any error.
 *
 * A connection lost during COMMIT is ERR_DB_AWAY: the outcome is unknown, and the caller asks by
 * fence or unique key. ERR_BUG when @fn passed over a statement that had failed: nothing is stored.
 */
int db_tx(struct db *db, int (*fn)(struct db *db, void *arg, struct err *e), void *arg,
	  struct err *e);

/** db_exec() - a literal statement without parameters, for SET, LISTEN and migrations only. */
int db_exec(struct db *db, const char *sql, struct err *e);

/** db_socket() - descriptor to watch for notices, -1 when not connected. */
int db_socket(const struct db *db);
/** db_generation() - counts connections made: a change means a new socket, perhaps of the same number. */
unsigned db_generation(const struct db *db);
/** db_notices() - read what has arrived. Return: true when a NOTIFY was among it. */
bool db_notices(struct db *db);
/** db_ping() - is the server there? Reconnects if needed. */
int db_ping(struct db *db, struct err *e);

/** db_server_version() - e.g. 150005. */
int db_server_version(const struct db *db);

/** db_f64_array() - "{1,2.5}" for a float8[] parameter; free() it. */
char *db_f64_array(const double *v, size_t n);
/** db_text_array() - '{"a","b"}' for a text[] parameter; free() it. */
char *db_text_array(const char *const *v, size_t n);
