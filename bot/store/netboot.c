/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/netboot.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <ctype.h>
#include <string.h>

static int lost(const char *machine, struct err *e)
{
	return err_set(e, ERR_LEASE_LOST, "machine '%s' is no longer held by this boot", machine);
}

/* The one row that says that it was done; without it the lease is lost. */
static int need_row(const char *machine, int r, struct db_rows *rows, struct err *e)
{
	if (r == 0)
		db_rows_done(rows);
	return r == ERR_NOENT ? lost(machine, e) : r;
}

static int put_offer(struct db *db, void *arg, struct err *e)
{
	const struct netboot_offer *o = arg;
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_NETBOOT_REPLACE, NULL, e, "ss", o->machine, o->mac);
	if (r == 0)
		r = db_run_one(db, SQL_NETBOOT_OFFER, &rows, e, "ssssssi", o->machine, o->mac,
			       o->secret, o->append, o->kernel, o->initrd, o->fence);
	return need_row(o->machine, r, &rows, e);
}

int netboot_offer(struct db *db, const struct netboot_offer *o, struct err *e)
{
	struct netboot_offer copy = *o;

	return db_tx(db, put_offer, &copy, e);
}

int netboot_withdraw(struct db *db, const char *machine, const char *secret, struct err *e)
{
	return db_run(db, SQL_NETBOOT_WITHDRAW, NULL, e, "ss", machine, secret);
}

int netboot_held(struct db *db, const char *machine, int64_t fence, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_NETBOOT_HELD, &rows, e, "si", machine, fence);

	return need_row(machine, r, &rows, e);
}

int netboot_take(struct db *db, const struct netboot_offer *o, int64_t at, struct strbuf *ret,
		 unsigned *ret_events, struct err *e)
{
	struct db_rows rows = { 0 };
	unsigned events;
	int r;

	r = db_run_one(db, SQL_NETBOOT_STATE, &rows, e, "ssii", o->machine, o->secret, o->fence,
		       at);
	if (r < 0)
		return r == ERR_NOENT ? lost(o->machine, e) : r;
	events = (unsigned)db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	r = db_run(db, SQL_NETBOOT_CHUNKS, &rows, e, "sis", o->machine, at, o->secret);
	if (r < 0)
		return r;
	for (int i = 0; r == 0 && i < rows.n; i++) {
		_cleanup_(freep) void *data = NULL;
		size_t len;

		if (db_i64(&rows, i, 0) != at) {
			r = err_set(e, ERR_IO, "what machine '%s' sent has a hole at byte %lld",
				    o->machine, (long long)at);
			break;
		}
		data = db_bytes(&rows, i, 1, &len);
		strbuf_add(ret, data, len);
		at += (int64_t)len;
	}
	db_rows_done(&rows);
	if (r == 0)
		*ret_events = events;
	return r;
}

int netboot_send(struct db *db, const struct netboot_offer *o, int64_t at, const void *data,
		 size_t len, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_NETBOOT_SEND, &rows, e, "ssiiy", o->machine, o->secret, o->fence,
			   at, data, len);

	return need_row(o->machine, r, &rows, e);
}

int netboot_script(struct db *db, const char *mac, unsigned bits, struct netboot_script *ret,
		   struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_NETBOOT_SCRIPT, &rows, e, "si", mac, (int64_t)bits);

	if (r < 0)
		return r;
	*ret = (struct netboot_script){ .machine = xstrdup(db_str(&rows, 0, 0)),
					.secret = xstrdup(db_str(&rows, 0, 1)),
					.append = xstrdup(db_str(&rows, 0, 2)),
					.events = (unsigned)db_i64(&rows, 0, 3) };
	db_rows_done(&rows);
	return 0;
}

void netboot_script_done(struct netboot_script *s)
{
	free(s->machine);
	free(s->secret);
	free(s->append);
	*s = (struct netboot_script){ 0 };
}

static bool equal(const char *a, const char *b)
{
	volatile unsigned differs = 0;

	if (strlen(a) != NETBOOT_SECRET_LEN || strlen(b) != NETBOOT_SECRET_LEN)
		return false;
	for (size_t i = 0; i < NETBOOT_SECRET_LEN; i++)
		differs |= (unsigned)(unsigned char)a[i] ^ (unsigned)(unsigned char)b[i];
	return !differs;
}

int netboot_find(struct db *db, const char *secret, char **ret_machine, struct err *e)
{
	struct db_rows rows = { 0 };
	int found = -1;
	int r = db_run(db, SQL_NETBOOT_SECRETS, &rows, e, "");

	if (r < 0)
		return r;
	/* No index and no early end: the time says nothing about how much of a guess was right. */
	for (int i = 0; i < rows.n; i++)
		found = equal(secret, db_str(&rows, i, 1)) ? i : found;
	if (found >= 0)
		*ret_machine = xstrdup(db_str(&rows, found, 0));
	db_rows_done(&rows);
	return found >= 0 ? 0 : err_set(e, ERR_NOENT, "nothing is offered here any more");
}

int netboot_fetch(struct db *db, const char *machine, const char *secret, unsigned bits,
		  char ret_kernel[65], char ret_initrd[65], struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_NETBOOT_FETCH, &rows, e, "ssi", machine, secret, (int64_t)bits);

	if (r < 0)
		return r;
	(void)snprintf(ret_kernel, 65, "%s", db_str(&rows, 0, 0));
	(void)snprintf(ret_initrd, 65, "%s", db_str(&rows, 0, 1));
	db_rows_done(&rows);
	return 0;
}

int netboot_add(struct db *db, const char *machine, const char *secret, int64_t at,
		const void *data, size_t len, bool *ret_stored, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_NETBOOT_APPEND, &rows, e, "ssiyii", machine, secret, at,
		       len ? data : (const void *)"", len, NETBOOT_WAITING_MAX, NETBOOT_TOTAL_MAX);

	if (r < 0)
		return r;
	*ret_stored = rows.n == 1;
	db_rows_done(&rows);
	return 0;
}

int netboot_answer(struct db *db, const char *machine, const char *secret, int64_t from,
		   int64_t *ret_received, struct strbuf *ret, struct err *e)
{
	_cleanup_(freep) void *data = NULL;
	struct db_rows rows = { 0 };
	size_t len;
	int r = db_run_one(db, SQL_NETBOOT_ANSWER, &rows, e, "ssi", machine, secret, from);

	if (r < 0)
		return r;
	*ret_received = db_i64(&rows, 0, 0);
	data = db_bytes(&rows, 0, 1, &len);
	if (len)
		strbuf_add(ret, data, len);
	db_rows_done(&rows);
	return 0;
}

int netboot_mac_parse(const char *s, char ret[18], struct err *e)
{
	static const char upper[] = "ABCDEF", lower[] = "abcdef";
	char out[18] = "";
	size_t i;

	for (i = 0; i < 17 && s[i]; i++) {
		const char *capital = strchr(upper, s[i]);

		out[i] = s[i];
		if (i % 3 == 2)
			out[i] = ':';
		else if (capital)
			out[i] = lower[capital - upper];
		if (i % 3 == 2 ? s[i] != ':' && s[i] != '-' : !isxdigit((unsigned char)s[i]))
			break;
	}
	if (i < 17 || s[17])
		return err_set(e, ERR_PARSE, "'%.40s' is no network address like 52:54:00:12:34:56",
			       s);
	memcpy(ret, out, sizeof(out));
	return 0;
}
