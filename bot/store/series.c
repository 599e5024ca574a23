/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/series.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/detect/runs.h"

#include <math.h>
#include <stdlib.h>
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

/* The runs of a history as they come: values by place, and which metric stands at which place. */
struct loader {
	struct db_rows names;
	struct db_rows rows;
	const char *metric;
	struct runs *list;
	size_t n;
};

/* Rows of @names that describe @layout: the first, and the one after the last. */
static void find_layout(const struct loader *l, int64_t layout, int *ret_from, int *ret_to)
{
	int i = 0;

	while (i < l->names.n && db_i64(&l->names, i, 0) != layout)
		i++;
	*ret_from = i;
	while (i < l->names.n && db_i64(&l->names, i, 0) == layout)
		i++;
	*ret_to = i;
}

static void add_value(struct loader *l, struct runs *side, size_t run, int row, double value)
{
	const char *name = db_str(&l->names, row, 1);
	struct runs_metric *m;

	if (l->metric && strcmp(name, l->metric) != 0)
		return;
	m = runs_metric_get(side, name);
	if (!m->described) {
		free(m->unit);
		m->unit = xstrdup(db_str(&l->names, row, 2));
		m->better = (enum detect_better)detect_better_parse(db_str(&l->names, row, 3));
		m->headline = db_bool(&l->names, row, 4);
		m->described = true;
	}
	runs_add_value(side, m, run, value);
}

/* A float8[] as PostgreSQL prints it: {1,2.5,NULL,NaN}. */
static void add_values(struct loader *l, struct runs *side, size_t run, int row)
{
	const char *at = db_str(&l->rows, row, 3);
	int name, end;

	find_layout(l, db_i64(&l->rows, row, 2), &name, &end);
	for (at += *at == '{'; *at && *at != '}' && name < end; name++) {
		char *next;
		double v = strtod(at, &next);

		if (next == at) /* NULL: not measured */
			next = (char *)(uintptr_t)(at + strcspn(at, ",}"));
		else
			add_value(l, side, run, name, v);
		at = next + (*next == ',');
	}
}

static void add_run(struct loader *l, int row)
{
	const char *commit = db_str(&l->rows, row, 0);
	struct runs *side = l->n ? &l->list[l->n - 1] : NULL;
	char boot[24];

	if (!side || strcmp(side->kernel, commit) != 0) {
		side = &l->list[l->n++];
		side->kernel = xstrdup(commit);
	}
	(void)snprintf(boot, sizeof(boot), "%lld", (long long)db_i64(&l->rows, row, 1));
	add_values(l, side, runs_add(side, boot, db_f64(&l->rows, row, 4)), row);
}

static int load_layouts(struct db *db, struct loader *l, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf ids = STRBUF_INIT;
	int64_t last = -1;

	strbuf_addstr(&ids, "{");
	for (int i = 0; i < l->rows.n; i++) {
		int64_t id = db_i64(&l->rows, i, 2);

		if (id != last)
			strbuf_addf(&ids, "%s%lld", last < 0 ? "" : ",", (long long)id);
		last = id;
	}
	strbuf_addstr(&ids, "}");
	return db_run(db, SQL_SERIES_LAYOUTS, &l->names, e, "s", strbuf_str(&ids));
}

static int load(struct db *db, struct loader *l, struct runs **ret, size_t *ret_n, struct err *e)
{
	int r = load_layouts(db, l, e);

	if (r == 0) {
		l->list = xcalloc((size_t)l->rows.n + 1, sizeof(*l->list));
		for (int i = 0; i < l->rows.n; i++)
			add_run(l, i);
		db_rows_done(&l->names);
		*ret = l->list;
		*ret_n = l->n;
	}
	db_rows_done(&l->rows);
	return r;
}

int series_history(struct db *db, const struct series_key *key, const char *commit, int commits,
		   struct runs **ret, size_t *ret_n, struct err *e)
{
	struct loader l = { .metric = key->metric };
	int r = db_run(db, SQL_SERIES_HISTORY, &l.rows, e, "ssissi", key->tree, key->branch,
		       key->job, key->machine, commit, (int64_t)commits);

	return r < 0 ? r : load(db, &l, ret, ret_n, e);
}

int series_borrowed(struct db *db, const struct series_key *key, const char *group, int commits,
		    struct runs **ret, size_t *ret_n, struct err *e)
{
	struct loader l = { .metric = key->metric };
	int r = db_run(db, SQL_SERIES_BORROWED, &l.rows, e, "isssi", key->job, key->tree,
		       key->branch, group, (int64_t)commits);

	return r < 0 ? r : load(db, &l, ret, ret_n, e);
}

void series_history_free(struct runs *history, size_t n)
{
	for (size_t i = 0; i < n; i++)
		runs_done(&history[i]);
	free(history);
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
