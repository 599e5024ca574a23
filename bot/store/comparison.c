/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/comparison.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/measured.h"
#include "bot/store/work.h"

#include <math.h>
#include <string.h>

int comparison_want(struct db *db, const struct comparison_ask *ask, int64_t *ret_id, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_COMPARISON_INSERT, &rows, e, "ssssisssd", ask->tree, ask->branch,
		       ask->base, ask->head, ask->job, ask->purpose ? ask->purpose : "head",
		       ask->regression, ask->variant ? ask->variant : "",
		       ask->target > 0 ? ask->target : (double)NAN);
	if (r < 0)
		return r;
	*ret_id = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return work_enqueue_id(db, "detect", "comparison", *ret_id, 0, e);
}

int comparison_week(struct db *db, int64_t *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_COMPARISON_WEEK, &rows, e, "");

	if (r < 0)
		return r;
	*ret = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int comparison_plan(struct db *db, int64_t id, const json_t *plan, struct err *e)
{
	_cleanup_(freep) char *text = json_text(plan);

	return db_run(db, SQL_COMPARISON_PLAN, NULL, e, "is", id, text);
}

int comparison_base_before(struct db *db, const struct comparison *c, char ret[41], struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_COMPARISON_BASE_BEFORE, &rows, e, "ssiss", c->tree, c->branch, c->job,
		   c->base, c->head);
	if (r < 0)
		return r;
	(void)snprintf(ret, 41, "%s", rows.n ? db_str(&rows, 0, 0) : "");
	db_rows_done(&rows);
	return 0;
}

static void copy_hash(char to[41], const char *from)
{
	(void)snprintf(to, 41, "%s", from);
}

int comparison_get(struct db *db, int64_t id, struct comparison *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_COMPARISON_GET, &rows, e, "i", id);
	if (r < 0)
		return r;
	*ret = (struct comparison){ .id = id,
				    .tree = xstrdup(db_str(&rows, 0, 0)),
				    .branch = xstrdup(db_str(&rows, 0, 1)),
				    .job = db_i64(&rows, 0, 4),
				    .open = !strcmp(db_str(&rows, 0, 5), "open"),
				    .look = (int)db_i64(&rows, 0, 6),
				    .variant = xstrdup(db_str(&rows, 0, 9)),
				    .target = db_f64(&rows, 0, 10),
				    .machine = xstrdup(db_str(&rows, 0, 11)) };
	(void)snprintf(ret->purpose, sizeof(ret->purpose), "%s", db_str(&rows, 0, 7));
	(void)snprintf(ret->regression, sizeof(ret->regression), "%s", db_str(&rows, 0, 8));
	copy_hash(ret->base, db_str(&rows, 0, 2));
	copy_hash(ret->head, db_str(&rows, 0, 3));
	db_rows_done(&rows);
	return 0;
}

void comparison_done(struct comparison *c)
{
	free(c->tree);
	free(c->branch);
	free(c->variant);
	free(c->machine);
	*c = (struct comparison){ 0 };
}

int comparison_look(struct db *db, int64_t id, int look, const char *evidence, const char *verdict,
		    const struct comparison_effect *effect, struct err *e)
{
	static const struct comparison_effect none = { NAN, NAN, NAN, NAN };

	if (!effect)
		effect = &none;
	return db_run(db, SQL_COMPARISON_LOOK, NULL, e, "iissdddd", id, (int64_t)look, evidence,
		      verdict, effect->rel, effect->lo, effect->hi, effect->p);
}

/* No row back: someone else was first. */
static int expect_row(int r, struct db_rows *rows, const char *what, struct err *e)
{
	int n = rows->n;

	if (r < 0)
		return r;
	db_rows_done(rows);
	return n ? 0 : err_set(e, ERR_CONFLICT, "%s had changed meanwhile", what);
}

int comparison_finish(struct db *db, int64_t id, const char *state, const char *verdict,
		      const char *detail, struct err *e)
{
	struct db_rows rows = { 0 };

	return expect_row(
		db_run(db, SQL_COMPARISON_FINISH, &rows, e, "isss", id, state, verdict, detail),
		&rows, "the comparison", e);
}

int comparison_runs(struct db *db, int64_t id, struct runs **ret, size_t *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_RUN_VALUES_OF_COMPARISON, &rows, e, "i", id);

	return r < 0 ? r : measured_load(db, &rows, NULL, ret, ret_n, e);
}

int comparison_layout(struct db *db, int64_t job, const char *base, const char *head,
		      const char *variant, struct comparison_checked *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_COMPARISON_LAYOUT, &rows, e, "isss", job, base, head, variant);
	if (r < 0)
		return r;
	*ret = (struct comparison_checked){ 0 };
	if (rows.n) {
		(void)snprintf(ret->state, sizeof(ret->state), "%s", db_str(&rows, 0, 0));
		ret->verdict = xstrdup(db_str(&rows, 0, 1));
		ret->effect = (struct comparison_effect){ .rel = db_f64(&rows, 0, 2),
							  .lo = db_f64(&rows, 0, 3),
							  .hi = db_f64(&rows, 0, 4),
							  .p = NAN };
		ret->detail = xstrdup(db_str(&rows, 0, 5));
	}
	db_rows_done(&rows);
	return 0;
}

void comparison_checked_done(struct comparison_checked *c)
{
	free(c->verdict);
	free(c->detail);
	*c = (struct comparison_checked){ 0 };
}
