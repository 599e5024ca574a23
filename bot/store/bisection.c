/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/comparison.h"
#include "bot/store/work.h"

#include <string.h>

int bisection_add(struct db *db, const struct regression *r, struct err *e)
{
	_cleanup_(freep) char *key = xasprintf("%s %s %s %lld %s", r->tree, r->base, r->head,
					       (long long)r->job, r->metric);
	_cleanup_(json_decrefp) json_t *request = json_object();
	_cleanup_(freep) char *text = NULL;
	struct db_rows rows = { 0 };
	char hash[65];
	char id[9];
	int n;
	int rc;

	id_new('b', id);
	file_sha256_hex(key, strlen(key), hash);
	json_set_f64(request, "effect", r->rel);
	json_set_f64(request, "effect_lo", r->lo);
	json_set_f64(request, "effect_hi", r->hi);
	/* What a person asks for can join it; another branch with the same range has its own. */
	json_set_str(request, "range", hash);
	text = json_text(request);
	rc = db_run(db, SQL_BISECTION_INSERT, &rows, e, "sssssisss", id, r->id, r->tree, r->base,
		    r->head, r->job, r->metric, r->id, text);
	if (rc < 0)
		return rc;
	n = rows.n;
	db_rows_done(&rows);
	return n ? work_enqueue_name(db, "bisect", "bisection", id, e) : 0;
}

int bisection_pin(struct db *db, const char *id, const char *const *commits, size_t n, char **ret,
		  struct err *e)
{
	_cleanup_(freep) char *list = db_text_array(commits, n);
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_BISECTION_PIN, &rows, e, "ss", id, list);

	if (r < 0)
		return r;
	*ret = xstrdup(db_str(&rows, 0, 0));
	db_rows_done(&rows);
	return 0;
}

int bisection_join(struct db *db, const char *id, int machines, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_BISECTION_JOIN, &rows, e, "si", id, (int64_t)machines);

	if (r == 0)
		r = json_read(db_str(&rows, 0, 0), strlen(db_str(&rows, 0, 0)), "machines", ret, e);
	db_rows_done(&rows);
	return r;
}

int bisection_placed(struct db *db, const char *id, const char *commit, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BISECTION_PLACED, &rows, e, "ss", id, commit);

	if (r < 0)
		return r;
	*ret = json_object();
	for (int i = 0; i < rows.n; i++)
		json_set_i64(*ret, db_str(&rows, i, 0), db_i64(&rows, i, 1));
	db_rows_done(&rows);
	return 0;
}

int bisection_take_over(struct db *db, const char *id, bool *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BISECTION_RETRY_OF, &rows, e, "s", id);

	if (r < 0)
		return r;
	*ret = rows.n > 0;
	db_rows_done(&rows);
	return 0;
}

int bisection_forget(struct db *db, const char *id, struct err *e)
{
	return db_run(db, SQL_BISECTION_FORGET, NULL, e, "s", id);
}

int bisection_tips(struct db *db, const char *id, struct bisection_tip **ret, size_t *ret_n,
		   struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BISECTION_TIPS, &rows, e, "s", id);

	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n + 1, sizeof(**ret));
	for (int i = 0; i < rows.n; i++) {
		struct bisection_tip *t = &(*ret)[i];

		t->branch = xstrdup(db_str(&rows, i, 0));
		(void)snprintf(t->commit, sizeof(t->commit), "%s", db_str(&rows, i, 1));
		t->own = db_bool(&rows, i, 2);
	}
	db_rows_done(&rows);
	return 0;
}

void bisection_tips_free(struct bisection_tip *tips, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(tips[i].branch);
	free(tips);
}

int bisection_get(struct db *db, const char *id, struct bisection *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	json_t *request = NULL;
	json_t *status = NULL;
	json_t *machines = NULL;
	int r;

	r = db_run_one(db, SQL_BISECTION_GET, &rows, e, "s", id);
	if (r < 0)
		return r;
	r = json_read(db_str(&rows, 0, 7), strlen(db_str(&rows, 0, 7)), "bisection.request",
		      &request, e);
	if (r == 0)
		r = json_read(db_str(&rows, 0, 8), strlen(db_str(&rows, 0, 8)), "bisection.status",
			      &status, e);
	if (r == 0)
		r = json_read(db_str(&rows, 0, 10), strlen(db_str(&rows, 0, 10)),
			      "bisection.machines", &machines, e);
	if (r < 0) {
		json_decref(request);
		db_rows_done(&rows);
		return r;
	}
	*ret = (struct bisection){ .tree = xstrdup(db_str(&rows, 0, 1)),
				   .job = db_i64(&rows, 0, 4),
				   .metric = xstrdup(db_str(&rows, 0, 5)),
				   .state = xstrdup(db_str(&rows, 0, 6)),
				   .request = request,
				   .status = status,
				   .machine = xstrdup(db_str(&rows, 0, 9)),
				   .machines = machines };
	ret->open = strstr(" queued checking-ends running verifying ", ret->state) != NULL;
	(void)snprintf(ret->id, sizeof(ret->id), "%s", id);
	(void)snprintf(ret->regression, sizeof(ret->regression), "%s", db_str(&rows, 0, 0));
	(void)snprintf(ret->good, sizeof(ret->good), "%s", db_str(&rows, 0, 2));
	(void)snprintf(ret->bad, sizeof(ret->bad), "%s", db_str(&rows, 0, 3));
	db_rows_done(&rows);
	return 0;
}

void bisection_done(struct bisection *b)
{
	free(b->tree);
	free(b->metric);
	free(b->state);
	json_decref(b->request);
	json_decref(b->status);
	free(b->machine);
	json_decref(b->machines);
	*b = (struct bisection){ 0 };
}

static int expect_row(int r, struct db_rows *rows, const char *id, struct err *e)
{
	int n = rows->n;

	if (r < 0)
		return r;
	db_rows_done(rows);
	return n ? 0 : err_set(e, ERR_CONFLICT, "bisection %s has ended or was changed", id);
}

int bisection_progress(struct db *db, const char *id, const char *state, const json_t *status,
		       struct err *e)
{
	_cleanup_(freep) char *text = json_text(status);
	struct db_rows rows = { 0 };

	return expect_row(db_run(db, SQL_BISECTION_PROGRESS, &rows, e, "sss", id, state, text),
			  &rows, id, e);
}

int bisection_finish(struct db *db, const struct bisection *b, const char *state,
		     const json_t *result, struct err *e)
{
	_cleanup_(freep) char *text = json_text(result);
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BISECTION_FINISH, &rows, e, "sssi", b->id, state, text,
		       json_i64(b->request, "max_runs", -1));

	return expect_row(r, &rows, b->id, e);
}

int bisection_step_add(struct db *db, const char *id, const struct bisect_step_row *s,
		       struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_BISECTION_STEP_ADD, &rows, e, "sssddiidssd", id, s->commit,
			   s->verdict, s->p_bad, s->rel, (int64_t)s->boots, (int64_t)s->runs,
			   s->left_eff, s->reason, s->detail, s->took_s);

	if (r < 0)
		return r;
	r = (int)db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return r;
}
