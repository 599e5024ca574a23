/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/measured.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/detect/findings.h"
#include "bot/detect/runs.h"

#include <stdlib.h>
#include <string.h>

/* The runs as they come: values by place, and which metric stands at which place. */
struct loader {
	struct db_rows names;
	const struct db_rows *rows;
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
		m->kind = (enum findings_kind)findings_kind_parse(db_str(&l->names, row, 5));
		m->described = true;
	}
	runs_add_value(side, m, run, value);
}

/* A float8[] as PostgreSQL prints it: {1,2.5,NULL,NaN}. */
static void add_values(struct loader *l, struct runs *side, size_t run, int row)
{
	const char *at = db_str(l->rows, row, 3);
	int name, end;

	find_layout(l, db_i64(l->rows, row, 2), &name, &end);
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
	const char *commit = db_str(l->rows, row, 0);
	struct runs *side;
	char boot[24];

	if (!l->n || strcmp(l->list[l->n - 1].kernel, commit) != 0)
		l->list[l->n++].kernel = xstrdup(commit);
	side = &l->list[l->n - 1];
	(void)snprintf(boot, sizeof(boot), "%lld", (long long)db_i64(l->rows, row, 1));
	add_values(l, side, runs_add(side, boot, db_f64(l->rows, row, 4)), row);
}

static int load_layouts(struct db *db, struct loader *l, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf ids = STRBUF_INIT;
	int64_t last = -1;

	strbuf_addstr(&ids, "{");
	for (int i = 0; i < l->rows->n; i++) {
		int64_t id = db_i64(l->rows, i, 2);

		if (id != last)
			strbuf_addf(&ids, "%s%lld", last < 0 ? "" : ",", (long long)id);
		last = id;
	}
	strbuf_addstr(&ids, "}");
	return db_run(db, SQL_SERIES_LAYOUTS, &l->names, e, "s", strbuf_str(&ids));
}

int measured_load(struct db *db, struct db_rows *rows, const char *metric, struct runs **ret,
		  size_t *ret_n, struct err *e)
{
	struct loader l = { .rows = rows, .metric = metric };
	int r = load_layouts(db, &l, e);

	if (r == 0) {
		l.list = xcalloc((size_t)rows->n + 1, sizeof(*l.list));
		for (int i = 0; i < rows->n; i++)
			add_run(&l, i);
		db_rows_done(&l.names);
		*ret = l.list;
		*ret_n = l.n;
	}
	db_rows_done(rows);
	return r;
}

void measured_free(struct runs *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		runs_done(&list[i]);
	free(list);
}
