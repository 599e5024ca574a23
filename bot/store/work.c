/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/work.h"

#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <math.h>

void work_done(struct work *w)
{
	free(w->kind);
	free(w->payload);
	*w = (struct work){ 0 };
}

int work_enqueue(struct db *db, const char *kind, int prio, double delay_s, const char *dedupe,
		 const char *payload, struct err *e)
{
	return db_run(db, SQL_WORK_ENQUEUE, NULL, e, "sidss", kind, (int64_t)prio, delay_s, dedupe,
		      payload);
}

static int enqueue_json(struct db *db, const char *kind, const char *key, json_t *value,
			const char *name, int prio, struct err *e)
{
	_cleanup_(freep) char *dedupe = xasprintf("%s:%s", kind, name);
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *payload = NULL;

	(void)json_object_set_new(o, key, value);
	payload = json_text(o);
	return work_enqueue(db, kind, prio, 0, dedupe, payload, e);
}

int work_enqueue_id(struct db *db, const char *kind, const char *key, int64_t id, int prio,
		    struct err *e)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "%lld", (long long)id);
	return enqueue_json(db, kind, key, json_integer(id), name, prio, e);
}

int work_enqueue_name(struct db *db, const char *kind, const char *key, const char *name,
		      struct err *e)
{
	return enqueue_json(db, kind, key, json_string(name), name, 0, e);
}

/* Columns id, kind, payload, fence, attempts, crashes of the first row. */
static int take_row(struct db_rows *rows, struct work *ret)
{
	int n = rows->n;

	if (n)
		*ret = (struct work){ .id = db_i64(rows, 0, 0),
				      .kind = xstrdup(db_str(rows, 0, 1)),
				      .payload = xstrdup(db_str(rows, 0, 2)),
				      .fence = db_i64(rows, 0, 3),
				      .attempts = (int)db_i64(rows, 0, 4),
				      .crashes = (int)db_i64(rows, 0, 5) };
	db_rows_done(rows);
	return n ? 1 : 0;
}

int work_claim(struct db *db, const char *const *kinds, size_t n, const char *owner, double lease_s,
	       struct work *ret, struct err *e)
{
	_cleanup_(freep) char *list = db_text_array(kinds, n);
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_WORK_CLAIM, &rows, e, "ssdi", list, owner, lease_s, (int64_t)1);
	return r < 0 ? r : take_row(&rows, ret);
}

int work_claim_boot(struct db *db, const char *machine, const char *owner, double lease_s,
		    struct work *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_WORK_CLAIM_BOOT, &rows, e, "ssd", machine, owner, lease_s);
	return r < 0 ? r : take_row(&rows, ret);
}

static int lease_lost(int64_t id, struct err *e)
{
	return err_set(e, ERR_LEASE_LOST, "the lease of work %lld is lost", (long long)id);
}

int work_load(struct db *db, int64_t id, int64_t fence, struct work *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_WORK_GET, &rows, e, "ii", id, fence);
	if (r == ERR_NOENT)
		return lease_lost(id, e);
	if (r < 0)
		return r;
	*ret = (struct work){ .id = id,
			      .kind = xstrdup(db_str(&rows, 0, 0)),
			      .payload = xstrdup(db_str(&rows, 0, 1)),
			      .fence = fence,
			      .attempts = (int)db_i64(&rows, 0, 2),
			      .crashes = (int)db_i64(&rows, 0, 3) };
	db_rows_done(&rows);
	return 0;
}

static char *i64_array(const int64_t *v, size_t n)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addch(&b, '{');
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s%lld", i ? "," : "", (long long)v[i]);
	strbuf_addch(&b, '}');
	return strbuf_take(&b);
}

int work_heartbeat(struct db *db, const int64_t *ids, const int64_t *fences, size_t n,
		   double lease_s, bool *lost, struct err *e)
{
	_cleanup_(freep) char *id_list = i64_array(ids, n);
	_cleanup_(freep) char *fence_list = i64_array(fences, n);
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_WORK_HEARTBEAT, &rows, e, "ssd", id_list, fence_list, lease_s);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		lost[i] = true;
		for (int k = 0; k < rows.n; k++)
			if (db_i64(&rows, k, 0) == ids[i])
				lost[i] = db_bool(&rows, k, 1);
	}
	db_rows_done(&rows);
	return 0;
}

/* After a fenced write: no row back is a lost lease. */
static int fenced(int r, struct db_rows *rows, int64_t id, struct err *e)
{
	int n = rows->n;

	if (r < 0)
		return r;
	db_rows_done(rows);
	return n ? 0 : lease_lost(id, e);
}

int work_finish(struct db *db, int64_t id, int64_t fence, struct err *e)
{
	struct db_rows rows = { 0 };

	return fenced(db_run(db, SQL_WORK_FINISH, &rows, e, "ii", id, fence), &rows, id, e);
}

int work_reschedule(struct db *db, int64_t id, int64_t fence, double delay_s, const char *reason,
		    struct err *e)
{
	struct db_rows rows = { 0 };

	return fenced(db_run(db, SQL_WORK_RESCHEDULE, &rows, e, "iids", id, fence, delay_s, reason),
		      &rows, id, e);
}

int work_fail(struct db *db, int64_t id, int64_t fence, const char *reason, double delay_s,
	      int max_attempts, struct err *e)
{
	struct db_rows rows = { 0 };

	return fenced(db_run(db, SQL_WORK_FAIL, &rows, e, "iisdi", id, fence, reason, delay_s,
			     (int64_t)max_attempts),
		      &rows, id, e);
}

int work_crashed(struct db *db, int64_t id, int64_t fence, const char *how, struct err *e)
{
	return db_run(db, SQL_WORK_CRASHED, NULL, e, "iis", id, fence, how);
}

static int count_rows(int r, struct db_rows *rows, int *ret_n)
{
	if (r < 0)
		return r;
	*ret_n = rows->n;
	db_rows_done(rows);
	return 0;
}

int work_reap(struct db *db, int *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };

	return count_rows(db_run(db, SQL_WORK_REAP, &rows, e, ""), &rows, ret_n);
}

int work_release_owner(struct db *db, const char *owner, int *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };

	return count_rows(db_run(db, SQL_WORK_RELEASE_OWNER, &rows, e, "s", owner), &rows, ret_n);
}

int work_purge(struct db *db, double days, struct err *e)
{
	return db_run(db, SQL_WORK_PURGE, NULL, e, "d", days);
}

double work_backoff_s(int attempts, double jitter)
{
	return fmin(3600, ldexp(10, attempts < 0 ? 0 : attempts > 20 ? 20 : attempts)) * jitter;
}
