/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/series.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/measured.h"

#include <math.h>
#include <string.h>

int series_id(struct db *db, const struct series_key *key, char ret[9], struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	id_new('s', ret);
	r = db_run_one(db, SQL_SERIES_GET, &rows, e, "ssisss", key->tree, key->branch, key->job,
		       key->machine, key->metric, ret);
	if (r < 0)
		return r;
	(void)snprintf(ret, 9, "%s", db_str(&rows, 0, 0));
	db_rows_done(&rows);
	return 0;
}

int series_values(struct db *db, const struct series_key *key, int commits,
		  struct series_value **ret, size_t *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_SERIES_VALUES, &rows, e, "ssissi", key->tree, key->branch, key->job,
		   key->machine, key->metric, (int64_t)commits);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n + 1, sizeof(**ret));
	for (int i = 0; i < rows.n; i++) {
		struct series_value *v = &(*ret)[i];

		(void)snprintf(v->commit, sizeof(v->commit), "%s", db_str(&rows, i, 0));
		v->boot = db_i64(&rows, i, 1);
		v->value = db_f64(&rows, i, 2);
		v->at = db_f64(&rows, i, 3);
	}
	db_rows_done(&rows);
	return 0;
}

int series_control(struct db *db, const char *machine, struct series_control **ret, size_t *ret_n,
		   struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_SERIES_CONTROL, &rows, e, "s", machine);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n + 1, sizeof(**ret));
	for (int i = 0; i < rows.n; i++)
		(*ret)[i] = (struct series_control){ db_f64(&rows, i, 0), db_f64(&rows, i, 1) };
	db_rows_done(&rows);
	return 0;
}

int series_history(struct db *db, const struct series_key *key, const char *commit, int commits,
		   struct runs **ret, size_t *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_SERIES_HISTORY, &rows, e, "ssissi", key->tree, key->branch, key->job,
		       key->machine, commit, (int64_t)commits);

	return r < 0 ? r : measured_load(db, &rows, key->metric, ret, ret_n, e);
}

int series_borrowed(struct db *db, const struct series_key *key, const char *group, int commits,
		    struct runs **ret, size_t *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_SERIES_BORROWED, &rows, e, "isssi", key->job, key->tree, key->branch,
		       group, (int64_t)commits);

	return r < 0 ? r : measured_load(db, &rows, key->metric, ret, ret_n, e);
}

int change_rows(struct db *db, const char *series, struct change_row **ret, size_t *ret_n,
		struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_CHANGE_POINT_OF_SERIES, &rows, e, "s", series);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n + 1, sizeof(**ret));
	for (int i = 0; i < rows.n; i++) {
		struct change_row *c = &(*ret)[i];

		c->id = db_i64(&rows, i, 0);
		(void)snprintf(c->first, sizeof(c->first), "%s", db_str(&rows, i, 1));
		(void)snprintf(c->last, sizeof(c->last), "%s", db_str(&rows, i, 2));
		c->rel = db_f64(&rows, i, 3);
		c->p = db_f64(&rows, i, 4);
		(void)snprintf(c->state, sizeof(c->state), "%s", db_str(&rows, i, 5));
		c->comparison = db_i64(&rows, i, 6);
	}
	db_rows_done(&rows);
	return 0;
}

int change_set(struct db *db, const char *series, struct change_row *c, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_CHANGE_POINT_SET, &rows, e, "sssdd", series, c->first, c->last,
		       c->rel, c->p);
	if (r < 0)
		return r;
	c->id = db_i64(&rows, 0, 0);
	(void)snprintf(c->state, sizeof(c->state), "%s", db_str(&rows, 0, 1));
	db_rows_done(&rows);
	return 0;
}

int change_state(struct db *db, int64_t id, const char *state, int64_t comparison,
		 const char *detail, struct err *e)
{
	char number[24];

	(void)snprintf(number, sizeof(number), "%lld", (long long)comparison);
	return db_run(db, SQL_CHANGE_POINT_STATE, NULL, e, "isss", id, state,
		      comparison ? number : NULL, detail);
}

int change_settle(struct db *db, int64_t comparison, const char *state, const char *detail,
		  struct err *e)
{
	return db_run(db, SQL_CHANGE_POINT_SETTLE, NULL, e, "iss", comparison, state, detail);
}

int change_known(struct db *db, const struct series_key *key, const char *const *heads, size_t n,
		 int64_t *ret, struct err *e)
{
	_cleanup_(freep) char *list = db_text_array(heads, n);
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_CHANGE_POINT_KNOWN, &rows, e, "ssis", key->tree, key->branch, key->job,
		   list);
	if (r < 0)
		return r;
	*ret = rows.n ? db_i64(&rows, 0, 0) : 0;
	db_rows_done(&rows);
	return 0;
}
