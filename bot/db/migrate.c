/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/db/migrate.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/migrate_internal.h"

#include <string.h>

/* Any number; all programs use the same. */
#define LOCK_ID "7305117"

static void hash_of(const struct sql_migration *m, char ret[65])
{
	file_sha256_hex(m->text, strlen(m->text), ret);
}

static int ensure_table(struct db *db, struct err *e)
{
	return db_exec(db,
		       "CREATE TABLE IF NOT EXISTS schema_migration ("
		       "version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, "
		       "applied timestamptz NOT NULL DEFAULT now())",
		       e);
}

int migrate_status(struct db *db, struct migrate_status *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	bool there;
	int have = 0;
	int r;

	r = db_raw_rows(db, "SELECT to_regclass('schema_migration') IS NOT NULL", &rows, e);
	if (r < 0)
		return r;
	there = db_bool(&rows, 0, 0);
	db_rows_done(&rows);
	if (there)
		r = db_raw_rows(
			db, "SELECT version, name, sha256 FROM schema_migration ORDER BY version",
			&rows, e);
	for (int i = 0; r == 0 && i < rows.n; i++) {
		int version = (int)db_i64(&rows, i, 0);
		char want[65];

		if (version > (int)sql_migrations_n) {
			r = err_set(
				e, ERR_SCHEMA,
				"database schema is version %d (%s), this program knows up to %u; "
				"use the newer kperfbot",
				(int)db_i64(&rows, rows.n - 1, 0), db_str(&rows, i, 1),
				sql_migrations_n);
			break;
		}
		if (version != i + 1) {
			r = err_set(e, ERR_SCHEMA,
				    "table schema_migration names version %d where %d must be",
				    version, i + 1);
			break;
		}
		hash_of(&sql_migrations[version - 1], want);
		if (strcmp(want, db_str(&rows, i, 2)) != 0)
			r = err_set(
				e, ERR_SCHEMA,
				"migration %d (%s) was run in another form than this program has",
				version, db_str(&rows, i, 1));
		have = version;
	}
	db_rows_done(&rows);
	if (r < 0)
		return r;
	*ret = (struct migrate_status){ have, (int)sql_migrations_n };
	return 0;
}

static int run_one(struct db *db, const struct sql_migration *m, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf sql = STRBUF_INIT;
	char hash[65];
	int r;

	hash_of(m, hash);
	strbuf_addstr(&sql, "BEGIN;\n");
	strbuf_addstr(&sql, m->text);
	strbuf_addf(
		&sql,
		";\nINSERT INTO schema_migration (version, name, sha256) VALUES (%d, '%s', '%s');\n"
		"COMMIT",
		m->version, m->name, hash);
	r = db_exec(db, sql.s, e);
	if (r < 0) {
		(void)db_exec(db, "ROLLBACK", NULL);
		return err_wrap(e, "migration %d (%s)", m->version, m->name);
	}
	return 0;
}

int migrate_run(struct db *db, struct err *e)
{
	struct migrate_status st = { 0 };
	int done = 0;
	int r;

	r = db_exec(db, "SET lock_timeout = 0; SET statement_timeout = 0", e);
	if (r == 0)
		r = db_exec(db, "SELECT pg_advisory_lock(" LOCK_ID ")", e);
	if (r == 0)
		r = ensure_table(db, e);
	if (r == 0)
		r = migrate_status(db, &st, e);
	for (int v = r == 0 ? st.have : st.want; r == 0 && v < st.want; v++, done++)
		r = run_one(db, &sql_migrations[v], e);
	(void)db_exec(db, "SELECT pg_advisory_unlock(" LOCK_ID ")", NULL);
	return r < 0 ? r : done;
}
