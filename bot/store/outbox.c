/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/outbox.h"

#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/work.h"

static int queue_send(struct db *db, int64_t outbox, const char *addr, struct err *e)
{
	_cleanup_(freep) char *dedupe = xasprintf("send:%lld:%s", (long long)outbox, addr);
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *payload = NULL;

	json_set_i64(o, "outbox", outbox);
	json_set_str(o, "addr", addr);
	payload = json_text(o);
	return work_enqueue(db, "send", 0, 0, dedupe, payload, e);
}

int outbox_add(struct db *db, const char *regression, const char *kind, int seq,
	       const char *message_id, const char *subject, const void *bytes, size_t len,
	       const struct outbox_rcpt *rcpts, size_t n, int held, struct err *e)
{
	struct db_rows rows = { 0 };
	int64_t id;
	int r;

	r = db_run(db, SQL_OUTBOX_INSERT, &rows, e, "ssissy", regression, kind, (int64_t)seq,
		   message_id, subject, bytes, len);
	if (r < 0)
		return r;
	if (rows.n == 0) {
		db_rows_done(&rows);
		return 0;
	}
	id = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = db_run(db, SQL_OUTBOX_RCPT_ADD, NULL, e, "isss", id, rcpts[i].addr,
			   rcpts[i].reason, held ? "held" : "queued");
		if (r == 0 && !held)
			r = queue_send(db, id, rcpts[i].addr, e);
	}
	return r < 0 ? r : 1;
}

int outbox_find(struct db *db, const char *regression, const char *kind, struct outbox_stored *ret,
		struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_OUTBOX_OF_REGRESSION, &rows, e, "ss", regression, kind);
	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "no mail was written about '%s'", regression);
	if (r < 0)
		return r;
	*ret = (struct outbox_stored){ .id = db_i64(&rows, 0, 0),
				       .held = (int)db_i64(&rows, 0, 2),
				       .rcpts = (int)db_i64(&rows, 0, 3) };
	ret->bytes = db_bytes(&rows, 0, 1, &ret->len);
	db_rows_done(&rows);
	return 0;
}

int outbox_release(struct db *db, int64_t outbox, struct err *e)
{
	struct db_rows rows = { 0 };
	int n;
	int r;

	r = db_run(db, SQL_OUTBOX_RELEASE, &rows, e, "i", outbox);
	n = r < 0 ? 0 : rows.n;
	for (int i = 0; r == 0 && i < n; i++)
		r = queue_send(db, outbox, db_str(&rows, i, 0), e);
	if (n || r == 0)
		db_rows_done(&rows);
	return r < 0 ? r : n;
}

int outbox_begin(struct db *db, int64_t outbox, const char *addr, struct outbox_mail *ret,
		 struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_OUTBOX_BEGIN, &rows, e, "is", outbox, addr);
	if (r < 0)
		return r;
	r = rows.n;
	if (r) {
		*ret = (struct outbox_mail){ .attempts = (int)db_i64(&rows, 0, 2),
					     .since_s = db_f64(&rows, 0, 3) };
		ret->bytes = db_bytes(&rows, 0, 0, &ret->len);
		(void)snprintf(ret->was, sizeof(ret->was), "%s", db_str(&rows, 0, 1));
		(void)snprintf(ret->regression, sizeof(ret->regression), "%s", db_str(&rows, 0, 4));
	}
	db_rows_done(&rows);
	return r;
}

void outbox_mail_done(struct outbox_mail *m)
{
	free(m->bytes);
	*m = (struct outbox_mail){ 0 };
}

int outbox_outcome(struct db *db, int64_t outbox, const char *addr, const char *state, int code,
		   const char *answer, double next_s, struct err *e)
{
	return db_run(db, SQL_OUTBOX_OUTCOME, NULL, e, "issisd", outbox, addr, state, (int64_t)code,
		      answer, next_s);
}
