/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/comparison.h"

#include <string.h>

int regression_add(struct db *db, struct regression *r, const char *why, struct err *e)
{
	struct db_rows rows = { 0 };
	char comparison[24];
	int n;
	int rc;

	id_new('r', r->id);
	(void)snprintf(comparison, sizeof(comparison), "%lld", (long long)r->comparison);
	rc = db_run(db, SQL_REGRESSION_INSERT, &rows, e, "sssissddddss", r->id, r->tree, r->branch,
		    r->job, r->comparison ? comparison : NULL, r->metric, r->rel, r->lo, r->hi,
		    r->level, r->base, r->head);
	if (rc < 0)
		return rc;
	n = rows.n;
	db_rows_done(&rows);
	if (!n)
		return 0;
	rc = db_run(db, SQL_REGRESSION_BEGUN, NULL, e, "ss", r->id, why);
	return rc < 0 ? rc : 1;
}

int regression_get(struct db *db, const char *id, struct regression *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_REGRESSION_GET, &rows, e, "s", id);
	if (r < 0)
		return r;
	*ret = (struct regression){ .state = xstrdup(db_str(&rows, 0, 0)),
				    .tree = xstrdup(db_str(&rows, 0, 1)),
				    .branch = xstrdup(db_str(&rows, 0, 2)),
				    .job = db_i64(&rows, 0, 3),
				    .comparison = db_i64(&rows, 0, 4),
				    .metric = xstrdup(db_str(&rows, 0, 5)),
				    .rel = db_f64(&rows, 0, 6),
				    .lo = db_f64(&rows, 0, 7),
				    .hi = db_f64(&rows, 0, 8),
				    .level = db_f64(&rows, 0, 9),
				    .p = db_f64(&rows, 0, 13),
				    .class = xstrdup(db_str(&rows, 0, 14)) };
	(void)snprintf(ret->id, sizeof(ret->id), "%s", id);
	(void)snprintf(ret->base, sizeof(ret->base), "%s", db_str(&rows, 0, 10));
	(void)snprintf(ret->head, sizeof(ret->head), "%s", db_str(&rows, 0, 11));
	(void)snprintf(ret->culprit, sizeof(ret->culprit), "%s", db_str(&rows, 0, 12));
	(void)snprintf(ret->parent, sizeof(ret->parent), "%s", db_str(&rows, 0, 15));
	db_rows_done(&rows);
	return 0;
}

void regression_done(struct regression *r)
{
	free(r->state);
	free(r->tree);
	free(r->branch);
	free(r->metric);
	free(r->class);
	*r = (struct regression){ 0 };
}

int regression_state(struct db *db, const char *id, const char *from, const char *to,
		     const char *by, const char *why, struct err *e)
{
	struct db_rows rows = { 0 };
	int n;
	int r;

	r = db_run(db, SQL_REGRESSION_STATE, &rows, e, "sssss", id, from, to, by, why);
	if (r < 0)
		return r;
	n = rows.n;
	db_rows_done(&rows);
	return n ? 0 : err_set(e, ERR_CONFLICT, "regression %s is not in state %s", id, from);
}

int regression_blame(struct db *db, const char *id, const char *culprit, double p,
		     const char *parent, const struct comparison_effect *effect, struct err *e)
{
	return db_run(db, SQL_REGRESSION_BLAME, NULL, e, "ssdsddd", id, culprit, p, parent,
		      effect->rel, effect->lo, effect->hi);
}

int regression_lock(struct db *db, const char *culprit, struct err *e)
{
	return db_run(db, SQL_REGRESSION_LOCK, NULL, e, "s", culprit);
}

int regression_same(struct db *db, const struct regression *r, const char *culprit, char ret[9],
		    struct err *e)
{
	struct db_rows rows = { 0 };
	int rc;

	rc = db_run(db, SQL_REGRESSION_OF_CULPRIT, &rows, e, "ss", culprit, r->id);
	if (rc < 0)
		return rc;
	(void)snprintf(ret, 9, "%s", rows.n ? db_str(&rows, 0, 0) : "");
	db_rows_done(&rows);
	return 0;
}

int regression_twins(struct db *db, const char *culprit, char (**ret)[41], size_t *ret_n,
		     struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_REGRESSION_TWINS, &rows, e, "s", culprit);

	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc((size_t)rows.n + 1, sizeof(**ret));
	for (int i = 0; i < rows.n; i++)
		(void)snprintf((*ret)[i], sizeof((*ret)[i]), "%s", db_str(&rows, i, 0));
	db_rows_done(&rows);
	return 0;
}

int regression_dup(struct db *db, const char *id, const char *of, struct err *e)
{
	return db_run(db, SQL_REGRESSION_DUP, NULL, e, "ss", id, of);
}

int regression_free_dups(struct db *db, const char *id, char ret[9], struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_REGRESSION_FREE_DUPS, &rows, e, "s", id);
	if (r < 0)
		return r;
	(void)snprintf(ret, 9, "%s", rows.n ? db_str(&rows, 0, 0) : "");
	db_rows_done(&rows);
	return 0;
}
