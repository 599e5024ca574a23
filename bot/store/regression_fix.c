/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/regression_fix.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <string.h>

int fix_open(struct db *db, const char *tree, const char *branch, struct fix_open **ret,
	     size_t *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_REGRESSION_FIX_OPEN, &rows, e, "ss", tree, branch);

	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = rows.n ? xcalloc((size_t)rows.n, sizeof(**ret)) : NULL;
	for (int i = 0; i < rows.n; i++) {
		(void)snprintf((*ret)[i].id, sizeof((*ret)[i].id), "%s", db_str(&rows, i, 0));
		(void)snprintf((*ret)[i].culprit, sizeof((*ret)[i].culprit), "%s",
			       db_str(&rows, i, 1));
	}
	db_rows_done(&rows);
	return 0;
}

int fix_head_is(struct db *db, const char *tree, const char *branch, const char *tip, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_REGRESSION_FIX_HEAD, &rows, e, "ss", tree, branch);

	if (r < 0)
		return r;
	r = rows.n && !strcmp(db_str(&rows, 0, 0), tip);
	db_rows_done(&rows);
	return r;
}

int fix_add(struct db *db, const struct fix_claim_row *row, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_REGRESSION_FIX_ADD, &rows, e, "sssbss", row->regression, row->commit,
		       row->says, (int)row->by_title, row->tip, row->why);

	if (r < 0)
		return r;
	r = rows.n > 0;
	db_rows_done(&rows);
	return r;
}

int fix_drop(struct db *db, const char *regression, const char *tip, struct err *e)
{
	return db_run(db, SQL_REGRESSION_FIX_DROP, NULL, e, "ss", regression, tip);
}

int fix_list(struct db *db, const char *regression, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_REGRESSION_FIXES, &rows, e, "s", regression);

	if (r < 0)
		return r;
	r = json_read(db_str(&rows, 0, 0), strlen(db_str(&rows, 0, 0)), "possible fixes", ret, e);
	db_rows_done(&rows);
	return r;
}
