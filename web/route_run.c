/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/db/db.h"
#include "web/db_pool.h"
#include "web/request.h"

struct reading {
	struct request *q;
	json_t *j;
};

/* One snapshot, so that the parts of a page fit each other. */
static int read_page(struct db *db, void *arg, struct err *e)
{
	struct reading *rd = arg;
	int r = db_exec(db, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", e);

	json_decref(rd->j);
	rd->j = NULL;
	return r < 0 ? r : rd->q->route->load(rd->q, &rd->j, e);
}

static int run_page(struct request *q, struct err *e)
{
	struct reading rd = { .q = q };
	_cleanup_(freep) char *text = NULL;
	struct html h = HTML_INIT;
	int r;

	r = db_tx(q->db, read_page, &rd, e);
	/* The server may have gone and come back since the last request. */
	if (r == ERR_DB_AWAY)
		r = db_tx(q->db, read_page, &rd, e);
	if (r < 0) {
		json_decref(rd.j);
		return r;
	}
	if (q->url.json) {
		answer_json(q, 200, rd.j);
	} else if (q->url.csv) {
		_cleanup_(strbuf_done) struct strbuf table = STRBUF_INIT;

		q->route->table(rd.j, &table);
		answer_text(q, 200, "text/csv; charset=utf-8; header=present", strbuf_str(&table));
	} else {
		q->route->render(q, &h, rd.j);
		text = html_take(&h);
		answer_text(q, 200, "text/html; charset=utf-8", text);
	}
	json_decref(rd.j);
	return 0;
}

void route_run(struct request *q)
{
	struct err e = { 0 };
	int r = 0;

	if (!q->route->plain)
		r = db_pool_get(q->o, &q->db, &e);
	if (r == 0)
		r = q->route->serve ? q->route->serve(q, &e) : run_page(q, &e);
	if (r < 0)
		answer_error(q, 0, &e);
}
