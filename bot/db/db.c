/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/db/db.h"

#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/vec.h"
#include "bot/db/migrate_internal.h"

#include <assert.h>
#include <libpq-fe.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#define MAX_PARAMS 32

struct db {
	PGconn *conn;
	struct db_options o;
	char *conninfo;
	char *role;
	char *application;
	bool in_tx;
	bool listening;
	unsigned generation;
};

static void ignore_notice(void *arg, const char *msg)
{
	(void)arg;
	(void)msg;
}

/* First line of libpq's message, without its "ERROR:  ". */
static void first_line(const char *msg, char *buf, size_t size)
{
	size_t n;

	if (!strncmp(msg, "ERROR:  ", 8))
		msg += 8;
	n = strcspn(msg, "\n");
	if (n >= size)
		n = size - 1;
	memcpy(buf, msg, n);
	buf[n] = '\0';
}

static int code_of_state(const char *st)
{
	static const struct {
		const char *prefix;
		int code;
	} map[] = {
		{ "40001", ERR_DB_RETRY }, { "40P01", ERR_DB_RETRY }, { "55P03", ERR_DB_RETRY },
		{ "08P01", ERR_DB },	   { "08", ERR_DB_AWAY },     { "57P01", ERR_DB_AWAY },
		{ "57P02", ERR_DB_AWAY },  { "57P03", ERR_DB_AWAY },  { "53100", ERR_NOSPACE },
		{ "53", ERR_DB_AWAY },	   { "23505", ERR_CONFLICT }, { "23P01", ERR_CONFLICT },
		{ "57014", ERR_TIMEOUT },
	};

	for (size_t i = 0; st && i < ARRAY_SIZE(map); i++)
		if (!strncmp(st, map[i].prefix, strlen(map[i].prefix)))
			return map[i].code;
	return ERR_DB;
}

static int failed(struct db *db, const PGresult *res, const char *what, struct err *e)
{
	const char *st = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
	char line[512];
	int code = st ? code_of_state(st) : ERR_DB_AWAY;

	if (PQstatus(db->conn) != CONNECTION_OK)
		code = ERR_DB_AWAY;
	first_line(res && st ? PQresultErrorMessage(res) : PQerrorMessage(db->conn), line,
		   sizeof(line));
	return err_set(e, code, "%s: %s", what, line[0] ? line : "connection lost");
}

int db_exec(struct db *db, const char *sql, struct err *e)
{
	PGresult *res = PQexec(db->conn, sql);
	ExecStatusType st = PQresultStatus(res);
	int r = 0;

	if (st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK)
		r = failed(db, res, "database", e);
	PQclear(res);
	if (r == 0 && !strncmp(sql, "LISTEN", 6))
		db->listening = true;
	return r;
}

int db_raw_rows(struct db *db, const char *sql, struct db_rows *ret, struct err *e)
{
	PGresult *res = PQexec(db->conn, sql);

	if (PQresultStatus(res) != PGRES_TUPLES_OK) {
		int r = failed(db, res, "database", e);

		PQclear(res);
		return r;
	}
	*ret = (struct db_rows){ .res = res, .n = PQntuples(res) };
	return 0;
}

static int prepare_all(struct db *db, struct err *e)
{
	for (int i = 0; i < SQL_COUNT; i++) {
		PGresult *res =
			PQprepare(db->conn, sql_queries[i].name, sql_queries[i].text, 0, NULL);
		bool ok = PQresultStatus(res) == PGRES_COMMAND_OK;
		char line[512];

		first_line(PQresultErrorMessage(res), line, sizeof(line));
		PQclear(res);
		if (ok)
			continue;
		if (PQstatus(db->conn) != CONNECTION_OK)
			return err_set(e, ERR_DB_AWAY, "database: %s", line);
		return err_set(
			e, ERR_SCHEMA,
			"statement '%s' does not fit the database: %s; 'kperfbot db status' tells",
			sql_queries[i].name, line);
	}
	return 0;
}

static int connect_once(struct db *db, struct err *e)
{
	const char *keys[] = { "dbname", "application_name", "connect_timeout", "client_encoding",
			       NULL };
	const char *values[] = { db->conninfo, db->application, "10", "UTF8", NULL };
	char set[256];
	int r;

	PQfinish(db->conn);
	db->generation++;
	db->conn = PQconnectdbParams(keys, values, 1);
	if (PQstatus(db->conn) != CONNECTION_OK) {
		char line[512];

		first_line(PQerrorMessage(db->conn), line, sizeof(line));
		return err_set(e, ERR_DB_AWAY, "could not reach the database: %s", line);
	}
	(void)PQsetNoticeProcessor(db->conn, ignore_notice, NULL);
	if (PQserverVersion(db->conn) < 150000)
		return err_set(e, ERR_UNSUPPORTED,
			       "database server is version %d; 15 or later is needed",
			       PQserverVersion(db->conn) / 10000);
	(void)snprintf(set, sizeof(set),
		       "SET statement_timeout = %d; SET lock_timeout = 10000;"
		       "SET idle_in_transaction_session_timeout = 60000; SET timezone = 'UTC'",
		       db->o.statement_timeout_ms ? db->o.statement_timeout_ms : 30000);
	r = db_exec(db, set, e);
	if (r == 0 && db->role) {
		(void)snprintf(set, sizeof(set), "SET ROLE %s", db->role);
		r = db_exec(db, set, e);
	}
	if (r == 0 && !db->o.no_prepare)
		r = prepare_all(db, e);
	if (r == 0 && db->listening)
		r = db_exec(db, "LISTEN work", e);
	return r;
}

static void nap(double s)
{
	struct timespec ts = { (time_t)s, (long)((s - floor(s)) * 1e9) };

	(void)nanosleep(&ts, NULL);
}

/* Tries for away_s, from 0.1 s up to 5 s apart with jitter. */
static int connect_db(struct db *db, struct err *e)
{
	usec_t end = clock_boottime() + (usec_t)(db->o.away_s * 1e6);
	double wait = 0.1;
	int r;

	for (;;) {
		r = connect_once(db, e);
		if (r != ERR_DB_AWAY || clock_boottime() >= end)
			return r;
		nap(wait * (0.75 + (double)(clock_boottime() % 1000) / 2000));
		wait = fmin(wait * 2, 5);
	}
}

int db_open(const struct db_options *o, struct db **ret, struct err *e)
{
	struct db *db = xcalloc(1, sizeof(*db));
	int r;

	db->o = *o;
	db->conninfo = xstrdup(o->conninfo);
	db->role = o->role ? xstrdup(o->role) : NULL;
	db->application = xstrdup(o->application ? o->application : "kperfbot");
	r = connect_db(db, e);
	if (r < 0) {
		db_close(db);
		return r;
	}
	*ret = db;
	return 0;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	PQfinish(db->conn);
	free(db->conninfo);
	free(db->role);
	free(db->application);
	free(db);
}

void db_set_away(struct db *db, double away_s)
{
	db->o.away_s = away_s;
}

void db_rows_done(struct db_rows *r)
{
	PQclear(r->res);
	*r = (struct db_rows){ 0 };
}

/* Parameters in text form, bytes in binary. */
struct params {
	const char *value[MAX_PARAMS];
	int len[MAX_PARAMS];
	int format[MAX_PARAMS];
	char num[MAX_PARAMS][40];
	int n;
};

static void bind_params(struct params *p, const char *types, va_list ap)
{
	for (; *types; types++, p->n++) {
		int i = p->n;

		assert(i < MAX_PARAMS);
		p->value[i] = p->num[i];
		switch (*types) {
		case 's':
			p->value[i] = va_arg(ap, const char *);
			break;
		case 'i':
			(void)snprintf(p->num[i], sizeof(p->num[i]), "%lld",
				       (long long)va_arg(ap, int64_t));
			break;
		case 'd': {
			double d = va_arg(ap, double);

			if (isfinite(d))
				(void)snprintf(p->num[i], sizeof(p->num[i]), "%.17g", d);
			else
				p->value[i] = NULL;
			break;
		}
		case 'b':
			(void)snprintf(p->num[i], sizeof(p->num[i]), "%s",
				       va_arg(ap, int) ? "t" : "f");
			break;
		case 'y':
			p->value[i] = va_arg(ap, const char *);
			p->len[i] = (int)va_arg(ap, size_t);
			p->format[i] = 1;
			break;
		default:
			assert(!"unknown parameter type");
		}
	}
}

static int run_bound(struct db *db, enum sql_id id, const struct params *p, struct db_rows *ret,
		     struct err *e)
{
	PGresult *res = PQexecPrepared(db->conn, sql_queries[id].name, p->n, p->value, p->len,
				       p->format, 0);
	ExecStatusType st = PQresultStatus(res);
	int r;

	if (st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK) {
		r = failed(db, res, sql_queries[id].name, e);
		PQclear(res);
		return r;
	}
	if (ret) {
		const char *affected = PQcmdTuples(res);

		ret->res = res;
		ret->n = PQntuples(res);
		ret->affected = *affected ? strtoll(affected, NULL, 10) : 0;
	} else {
		PQclear(res);
	}
	return 0;
}

/* May it change something? Reading alone has no moment before or after which a test could stop. */
static bool changes(enum sql_id id)
{
	const char *text = sql_queries[id].text;

	return strstr(text, "INSERT INTO") || strstr(text, "UPDATE ") ||
	       strstr(text, "DELETE FROM");
}

static int db_vrun(struct db *db, enum sql_id id, struct db_rows *ret, struct err *e,
		   const char *types, va_list ap)
{
	struct params p = { 0 };
	int r;

	bind_params(&p, types, ap);
	if (!db->in_tx && PQstatus(db->conn) != CONNECTION_OK) {
		r = connect_db(db, e);
		if (r < 0)
			return r;
	}
	if (!db->in_tx && changes(id))
		failpoint_commit(false);
	r = run_bound(db, id, &p, ret, e);
	/*
	 * Once more on a fresh connection when the server had gone between two statements. A statement
	 * that was perhaps executed is repeated: each is idempotent by its keys, fence or state.
	 */
	if (r == ERR_DB_AWAY && !db->in_tx && PQstatus(db->conn) != CONNECTION_OK) {
		r = connect_db(db, e);
		if (r == 0)
			r = run_bound(db, id, &p, ret, e);
	}
	if (r == 0 && !db->in_tx && changes(id))
		failpoint_commit(true);
	return r;
}

int db_run(struct db *db, enum sql_id id, struct db_rows *ret, struct err *e, const char *types,
	   ...)
{
	va_list ap;
	int r;

	va_start(ap, types);
	r = db_vrun(db, id, ret, e, types, ap);
	va_end(ap);
	return r;
}

int db_run_one(struct db *db, enum sql_id id, struct db_rows *ret, struct err *e, const char *types,
	       ...)
{
	struct db_rows rows = { 0 };
	va_list ap;
	int r;

	va_start(ap, types);
	r = db_vrun(db, id, &rows, e, types, ap);
	va_end(ap);
	if (r == 0 && rows.n != 1) {
		r = err_set(e, rows.n ? ERR_BUG : ERR_NOENT, "%s: %d rows", sql_queries[id].name,
			    rows.n);
		db_rows_done(&rows);
	}
	if (r == 0)
		*ret = rows;
	return r;
}

bool db_null(const struct db_rows *r, int row, int col)
{
	return PQgetisnull(r->res, row, col);
}

const char *db_str(const struct db_rows *r, int row, int col)
{
	return PQgetvalue(r->res, row, col);
}

const char *db_str_or_null(const struct db_rows *r, int row, int col)
{
	return db_null(r, row, col) ? NULL : db_str(r, row, col);
}

int64_t db_i64(const struct db_rows *r, int row, int col)
{
	return strtoll(db_str(r, row, col), NULL, 10);
}

double db_f64(const struct db_rows *r, int row, int col)
{
	return strtod(db_str(r, row, col), NULL);
}

bool db_bool(const struct db_rows *r, int row, int col)
{
	return db_str(r, row, col)[0] == 't';
}

void *db_bytes(const struct db_rows *r, int row, int col, size_t *ret_len)
{
	const unsigned char *text = (const unsigned char *)db_str(r, row, col);
	unsigned char *raw = PQunescapeBytea(text, ret_len);
	char *copy;

	if (!raw)
		abort();
	copy = xcalloc(*ret_len + 1, 1);
	memcpy(copy, raw, *ret_len);
	PQfreemem(raw);
	return copy;
}

/* The server answers COMMIT with ROLLBACK, and no error, after a failed statement. */
static int commit(struct db *db, struct err *e)
{
	PGresult *res;
	int r = 0;

	failpoint_commit(false);
	res = PQexec(db->conn, "COMMIT");
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		r = failed(db, res, "database", e);
	else if (strcmp(PQcmdStatus(res), "COMMIT") != 0)
		r = err_set(e, ERR_BUG, "a failed statement was passed over in a transaction");
	PQclear(res);
	if (r == 0)
		failpoint_commit(true);
	return r;
}

/* *@ret_again: the transaction is certainly not committed, and may work when started over. */
static int tx_once(struct db *db, int (*fn)(struct db *, void *, struct err *), void *arg,
		   bool *ret_again, struct err *e)
{
	int r;

	*ret_again = false;
	if (PQstatus(db->conn) != CONNECTION_OK) {
		r = connect_db(db, e);
		if (r < 0)
			return r;
	}
	r = db_exec(db, "BEGIN", e);
	if (r < 0) {
		*ret_again = PQstatus(db->conn) != CONNECTION_OK;
		return r;
	}
	db->in_tx = true;
	r = fn(db, arg, e);
	*ret_again = r == ERR_DB_RETRY || (r < 0 && PQstatus(db->conn) != CONNECTION_OK);
	if (r >= 0) {
		int c = commit(db, e);

		*ret_again = c == ERR_DB_RETRY;
		r = c < 0 ? c : r;
	}
	if (r < 0 && PQstatus(db->conn) == CONNECTION_OK)
		(void)db_exec(db, "ROLLBACK", NULL);
	db->in_tx = false;
	return r;
}

int db_tx(struct db *db, int (*fn)(struct db *db, void *arg, struct err *e), void *arg,
	  struct err *e)
{
	bool again;
	int r = 0;

	assert(!db->in_tx);
	for (int i = 0; i < 5; i++) {
		r = tx_once(db, fn, arg, &again, e);
		if (!again)
			return r;
		nap(0.01 * (1 << i));
	}
	return r;
}

int db_socket(const struct db *db)
{
	return PQsocket(db->conn);
}

unsigned db_generation(const struct db *db)
{
	return db->generation;
}

bool db_notices(struct db *db)
{
	bool any = false;
	PGnotify *n;

	(void)PQconsumeInput(db->conn);
	while ((n = PQnotifies(db->conn))) {
		any = true;
		PQfreemem(n);
	}
	return any;
}

int db_ping(struct db *db, struct err *e)
{
	if (PQstatus(db->conn) == CONNECTION_OK && db_exec(db, "SELECT 1", e) == 0)
		return 0;
	return connect_db(db, e);
}

int db_server_version(const struct db *db)
{
	return PQserverVersion(db->conn);
}

char *db_f64_array(const double *v, size_t n)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addch(&b, '{');
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s%.17g", i ? "," : "", v[i]);
	strbuf_addch(&b, '}');
	return strbuf_take(&b);
}

char *db_text_array(const char *const *v, size_t n)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addch(&b, '{');
	for (size_t i = 0; i < n; i++) {
		strbuf_addstr(&b, i ? ",\"" : "\"");
		for (const char *s = v[i]; *s; s++) {
			if (*s == '"' || *s == '\\')
				strbuf_addch(&b, '\\');
			strbuf_addch(&b, *s);
		}
		strbuf_addch(&b, '"');
	}
	strbuf_addch(&b, '}');
	return strbuf_take(&b);
}
