/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_control.h"

#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <string.h>

#define REASON_MAX 500

struct change {
	enum sql_id sql;
	const char *id;
	const char *text;
	int64_t runs, limit;
	int64_t max; /* filled by extend */
	char made[9];
};

static int read_log(struct db *db, enum sql_id statement, const char *id, char **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, statement, &rows, e, "s", id);

	if (r < 0)
		return r;
	r = rows.n ? 0 : err_set(e, ERR_NOENT, "no bisection '%s'", id);
	if (r == 0)
		*ret = xstrdup(db_str(&rows, 0, 0));
	db_rows_done(&rows);
	return r;
}

int bisection_git_log(struct db *db, const char *id, char **ret, struct err *e)
{
	return read_log(db, SQL_BISECTION_GIT_LOG, id, ret, e);
}

int bisection_replay_log(struct db *db, const char *id, char **ret, struct err *e)
{
	return read_log(db, SQL_BISECTION_REPLAY_LOG, id, ret, e);
}

int bisection_may(struct db *db, const char *id, const char *token, struct err *e)
{
	struct db_rows rows = { 0 };
	bool yes;
	int r = db_run(db, SQL_BISECTION_MAY, &rows, e, "ss", id, token);

	if (r < 0)
		return r;
	r = rows.n ? 0 : err_set(e, ERR_NOENT, "no bisection '%s'", id);
	yes = r == 0 && db_bool(&rows, 0, 0);
	db_rows_done(&rows);
	if (r == 0 && !yes)
		r = err_set(e, ERR_PERM,
			    "bisection %s was asked for by another; scope bisect-admin may", id);
	return r;
}

/* Which of the two it is: there is none, or it is not in a state for that. */
static int refused(struct db *db, const char *id, const char *why, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BISECTION_GET, &rows, e, "s", id);

	if (r < 0)
		return r;
	r = rows.n ? err_set(e, ERR_CONFLICT, "bisection %s %s", id, why)
		   : err_set(e, ERR_NOENT, "no bisection '%s'", id);
	db_rows_done(&rows);
	return r;
}

static int change(struct db *db, void *arg, struct err *e)
{
	struct change *c = arg;
	struct db_rows rows = { 0 };
	int r;

	if (c->sql == SQL_BISECTION_EXTEND)
		r = db_run(db, c->sql, &rows, e, "sii", c->id, c->runs, c->limit);
	else if (c->sql == SQL_BISECTION_RETRY)
		r = db_run(db, c->sql, &rows, e, "sss", c->id, c->made, c->text);
	else
		r = db_run(db, c->sql, &rows, e, "ss", c->id, c->text);
	if (r < 0)
		return r;
	if (!rows.n)
		r = refused(db, c->id,
			    c->sql == SQL_BISECTION_RETRY
				    ? "has not ended, was cancelled just now, or an "
				      "equal one is open"
				    : "has ended",
			    e);
	else if (c->sql == SQL_BISECTION_EXTEND)
		c->max = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return r < 0 ? r
		     : db_run(db, SQL_BISECTION_WORK, NULL, e, "s", c->made[0] ? c->made : c->id);
}

int bisection_cancel(struct db *db, const char *id, const char *by, const char *reason,
		     struct err *e)
{
	_cleanup_(freep) char *text = NULL;

	if (!reason || strspn(reason, " \t\r\n") == strlen(reason) || strlen(reason) > REASON_MAX)
		return err_set(e, ERR_INVAL, "a reason of 1 to %d bytes is needed", REASON_MAX);
	text = xasprintf("cancelled by %s: %s", by, reason);
	/* In a log it is one line. */
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return db_tx(db, change,
		     &(struct change){ .sql = SQL_BISECTION_CANCEL, .id = id, .text = text }, e);
}

int bisection_extend(struct db *db, const struct config *config, const char *id, int64_t runs,
		     int64_t *ret_max, struct err *e)
{
	struct change c = { .sql = SQL_BISECTION_EXTEND,
			    .id = id,
			    .runs = runs,
			    .limit = config_i64(config, "bisect", NULL, "max-boots") };
	int r;

	if (runs < 1 || runs > BISECTION_EXTEND_MOST)
		return err_set(e, ERR_INVAL, "runs must be 1 to %d, not %lld",
			       BISECTION_EXTEND_MOST, (long long)runs);
	r = db_tx(db, change, &c, e);
	if (r == 0)
		*ret_max = c.max;
	return r;
}

int bisection_retry(struct db *db, const char *id, const char *by, char ret[9], struct err *e)
{
	struct change c = { .sql = SQL_BISECTION_RETRY, .id = id, .text = by };
	int r;

	id_new('b', c.made);
	r = db_tx(db, change, &c, e);
	if (r == 0)
		(void)snprintf(ret, 9, "%s", c.made);
	return r;
}
