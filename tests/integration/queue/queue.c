/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/queue/queue.h"

#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/migrate_internal.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <unistd.h>

static __attribute__((format(printf, 1, 0))) char *one_text(const char *fmt, va_list ap)
{
	struct strbuf sql = STRBUF_INIT;
	struct db_rows rows = { 0 };
	struct err e = { 0 };
	char *text;

	strbuf_vaddf(&sql, fmt, ap);
	assert_ok(db_raw_rows(pg_db(), sql.s, &rows, &e), &e);
	if (rows.n != 1)
		fail_msg("%s: %d rows", sql.s, rows.n);
	text = xstrdup(db_str(&rows, 0, 0));
	db_rows_done(&rows);
	strbuf_done(&sql);
	return text;
}

char *queue_text(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = one_text(fmt, ap);
	va_end(ap);
	return text;
}

int64_t queue_num(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int64_t n;

	va_start(ap, fmt);
	text = one_text(fmt, ap);
	va_end(ap);
	n = strtoll(text, NULL, 10);
	free(text);
	return n;
}

int64_t queue_add(const char *kind, int prio, const char *dedupe)
{
	struct err e = { 0 };

	assert_ok(work_enqueue(pg_db(), kind, prio, 0, dedupe, "{}", &e), &e);
	return queue_num("SELECT max(id) FROM work");
}

struct work queue_claim(const char *kind, const char *owner)
{
	const char *kinds[] = { kind };
	struct work w = { 0 };
	struct err e = { 0 };
	int r;

	r = work_claim(pg_db(), kinds, 1, owner, 60, &w, &e);
	assert_ok(r, &e);
	assert_int_equal(r, 1);
	return w;
}

void queue_expire(int64_t id)
{
	char *sql =
		xasprintf("UPDATE machine SET lease_until = now() - interval '1 s' WHERE fence = "
			  "(SELECT fence FROM work WHERE id = %lld); "
			  "UPDATE work SET lease_until = now() - interval '1 s' WHERE id = %lld",
			  (long long)id, (long long)id);

	pg_exec(sql);
	free(sql);
}

void queue_due(int64_t id)
{
	char *sql = xasprintf("UPDATE work SET run_at = now() WHERE id = %lld", (long long)id);

	pg_exec(sql);
	free(sql);
}

int queue_reset(void **state)
{
	(void)state;
	pg_reset();
	return 0;
}

struct db *queue_connect(void)
{
	struct db_options o = { .conninfo = pg_conninfo(), .application = "crowd", .away_s = 10 };
	struct db *db = NULL;

	if (db_open(&o, &db, NULL) < 0)
		_exit(90);
	return db;
}
