/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/run_stored.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/boot.h"
#include "runners/suites/suite.h"

#include <string.h>

void run_stored_free(struct run_stored *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_decref(list[i].about);
		json_decref(list[i].files);
	}
	free(list);
}

static int read_object(const char *text, const char *what, json_t **ret, struct err *e)
{
	return json_read(text, strlen(text), what, ret, e);
}

int run_stored_next(struct db *db, int64_t after, int64_t max, const struct run_filter *f,
		    struct run_stored **ret, size_t *ret_n, struct err *e)
{
	struct db_rows rows = { 0 };
	struct run_stored *list;
	int r;

	r = db_run(db, SQL_RUN_STORED, &rows, e, "iisss", after, max, f->job, f->commit, f->since);
	if (r < 0)
		return r;
	list = xcalloc((size_t)rows.n, sizeof(*list));
	for (int i = 0; r == 0 && i < rows.n; i++) {
		struct run_stored *s = &list[i];

		s->id = db_i64(&rows, i, 0);
		s->boot = db_i64(&rows, i, 1);
		s->job = db_i64(&rows, i, 2);
		s->ok = !strcmp(db_str(&rows, i, 3), "ok");
		(void)snprintf(s->raw, sizeof(s->raw), "%s", db_str(&rows, i, 4));
		(void)snprintf(s->errors, sizeof(s->errors), "%s", db_str(&rows, i, 5));
		s->run_s = db_f64(&rows, i, 6);
		r = read_object(db_str(&rows, i, 7), "run.about", &s->about, e);
		if (r == 0)
			r = read_object(db_str(&rows, i, 8), "run_file", &s->files, e);
	}
	if (r < 0) {
		run_stored_free(list, (size_t)rows.n);
	} else {
		*ret = list;
		*ret_n = (size_t)rows.n;
	}
	db_rows_done(&rows);
	return r;
}

int run_stored_differs(struct db *db, int64_t run, const struct suite_metric *metrics, size_t n,
		       struct err *e)
{
	struct db_rows rows = { 0 };
	int differs;
	int r;

	r = db_run(db, SQL_RUN_VALUES_GET, &rows, e, "i", run);
	if (r < 0)
		return r;
	differs = (size_t)rows.n != n;
	for (int i = 0; !differs && i < rows.n; i++) {
		size_t k = 0;

		while (k < n && strcmp(metrics[k].name, db_str(&rows, i, 0)) != 0)
			k++;
		differs = k == n || metrics[k].value != db_f64(&rows, i, 1);
	}
	db_rows_done(&rows);
	return differs;
}

int run_stored_set(struct db *db, int64_t run, const struct suite_metric *metrics, size_t n,
		   const char *why, struct err *e)
{
	int r = run_values_set(db, run, metrics, n, e);

	return r < 0 ? r
		     : db_run(db, SQL_RUN_REPARSED, NULL, e, "iss", run, why ? "parse" : "ok", why);
}
