/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/boot.h"

#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/work.h"
#include "runners/suites/suite.h"

#include <string.h>

static int queue_boot(struct db *db, int64_t id, const char *group, int prio, struct err *e)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *payload = NULL;
	char dedupe[32];

	json_set_i64(o, "boot", id);
	json_set_str(o, "group", group);
	payload = json_text(o);
	(void)snprintf(dedupe, sizeof(dedupe), "boot:%lld", (long long)id);
	return work_enqueue(db, "boot", prio, 0, dedupe, payload, e);
}

int boot_order(struct db *db, const struct boot_order *o, const char *group, bool queue,
	       struct err *e)
{
	char build[24];
	char comparison[24];
	struct db_rows rows = { 0 };
	int64_t id;
	int r;

	(void)snprintf(build, sizeof(build), "%lld", (long long)o->build);
	(void)snprintf(comparison, sizeof(comparison), "%lld", (long long)o->comparison);
	r = db_run_one(db, SQL_BOOT_INSERT, &rows, e, "ssissis", o->commit, o->build ? build : NULL,
		       o->job, o->comparison ? comparison : NULL, o->bisection, (int64_t)o->runs,
		       o->place);
	if (r < 0)
		return r;
	id = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return queue ? queue_boot(db, id, group, o->prio, e) : 0;
}

int boot_get(struct db *db, int64_t id, struct boot *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_BOOT_GET, &rows, e, "i", id);
	if (r < 0)
		return r;
	*ret = (struct boot){ .id = id,
			      .uuid = xstrdup(db_str(&rows, 0, 0)),
			      .build = db_i64(&rows, 0, 2),
			      .job = db_i64(&rows, 0, 3),
			      .comparison = db_i64(&rows, 0, 4),
			      .bisection = xstrdup(db_str(&rows, 0, 5)),
			      .wanted_runs = (int)db_i64(&rows, 0, 6),
			      .state = xstrdup(db_str(&rows, 0, 7)),
			      .control = db_bool(&rows, 0, 8) };
	(void)snprintf(ret->commit, sizeof(ret->commit), "%s", db_str(&rows, 0, 1));
	db_rows_done(&rows);
	return 0;
}

void boot_done(struct boot *b)
{
	free(b->uuid);
	free(b->bisection);
	free(b->state);
	*b = (struct boot){ 0 };
}

int boot_finish(struct db *db, int64_t id, int64_t fence, const struct boot_outcome *o,
		struct err *e)
{
	struct db_rows rows = { 0 };
	int n;
	int r;

	r = db_run(db, SQL_BOOT_FINISH, &rows, e, "iisssssssssddd", id, fence,
		   o->failed ? "failed" : "done", o->class, o->detail, o->machine,
		   o->machine_boot_id, o->accel, o->suite_version, o->facts, o->console, o->boot_s,
		   o->took_s, o->setup_s);
	if (r < 0)
		return r;
	n = rows.n;
	db_rows_done(&rows);
	return n ? 0 : err_set(e, ERR_CONFLICT, "boot %lld had ended before", (long long)id);
}

int boot_exclude(struct db *db, int64_t id, struct err *e)
{
	return db_run(db, SQL_BOOT_EXCLUDE, NULL, e, "i", id);
}

int boot_cancel(struct db *db, int64_t id, struct err *e)
{
	return db_run(db, SQL_BOOT_CANCEL, NULL, e, "i", id);
}

int boot_wake(struct db *db, int64_t id, struct err *e)
{
	return db_run(db, SQL_BOOT_WAKE, NULL, e, "i", id);
}

/* @ids: "{1,2}" in the order of the metrics; those that are not known yet get a row. */
static int metric_sync(struct db *db, const struct suite_metric *metrics, size_t n,
		       struct strbuf *ids, struct err *e)
{
	_cleanup_(json_decrefp) json_t *list = json_array();
	_cleanup_(freep) char *text = NULL;
	struct db_rows rows = { 0 };
	int r;

	for (size_t i = 0; i < n; i++) {
		json_t *m = json_object();

		json_set_str(m, "name", metrics[i].name);
		json_set_str(m, "unit", metrics[i].unit);
		json_set_str(m, "better", metric_better_name(metrics[i].better));
		json_set_str(m, "kind", metric_kind_name(metrics[i].kind));
		(void)json_object_set_new(m, "headline", json_boolean(metrics[i].headline));
		json_set_str(m, "about", metrics[i].about ? metrics[i].about : "");
		(void)json_array_append_new(list, m);
	}
	text = json_text(list);
	r = db_run(db, SQL_METRIC_SYNC, &rows, e, "s", text);
	if (r < 0)
		return r;
	for (int i = 0; i < rows.n; i++)
		strbuf_addf(ids, "%c%lld", i ? ',' : '{', (long long)db_i64(&rows, i, 0));
	strbuf_addch(ids, '}');
	r = (size_t)rows.n == n
		    ? 0
		    : err_set(e, ERR_BUG, "a run has a metric twice: %zu rows of %d", n, rows.n);
	db_rows_done(&rows);
	return r;
}

int run_values_set(struct db *db, int64_t run, const struct suite_metric *metrics, size_t n,
		   struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf ids = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf values = STRBUF_INIT;
	int r;

	if (!n)
		return 0;
	r = metric_sync(db, metrics, n, &ids, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&values, "%c%.17g", i ? ',' : '{', metrics[i].value);
	strbuf_addch(&values, '}');
	return db_run(db, SQL_RUN_VALUES, NULL, e, "iss", run, ids.s, values.s);
}

int run_add(struct db *db, int64_t boot, const struct run_row *run,
	    const struct suite_metric *metrics, size_t n, struct err *e)
{
	struct db_rows rows = { 0 };
	int64_t id;
	int r;

	r = db_run_one(db, SQL_RUN_INSERT, &rows, e, "iisssiddsd", boot, (int64_t)run->n,
		       run->class, run->detail, run->raw, (int64_t)run->exit_status, run->wall_s,
		       run->run_s, run->about, run->host_s);
	if (r < 0)
		return r;
	id = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	for (size_t i = 0; r == 0 && i < run->nfiles; i++)
		r = db_run(db, SQL_RUN_FILE_ADD, NULL, e, "issb", id, run->files[i].name,
			   run->files[i].artefact, run->files[i].truncated);
	return r < 0 ? r : run_values_set(db, id, metrics, n, e);
}

static char *classes_text(const char *const *classes)
{
	size_t n = 0;

	while (classes[n])
		n++;
	return db_text_array(classes, n);
}

static int changed_boots(struct db_rows *rows, int *ret_n)
{
	if (ret_n)
		*ret_n = rows->n;
	db_rows_done(rows);
	return 0;
}

int boot_proven(struct db *db, int64_t id, const char *machine, const char *const *unsure,
		struct err *e)
{
	_cleanup_(freep) char *classes = classes_text(unsure);

	return db_run(db, SQL_BOOT_PROVEN, NULL, e, "iss", id, machine, classes);
}

int boot_disown(struct db *db, const char *machine, bool all, const char *const *unsure, int *ret_n,
		struct err *e)
{
	_cleanup_(freep) char *classes = classes_text(unsure);
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BOOT_DISOWN, &rows, e, "sbs", machine, all, classes);

	return r < 0 ? r : changed_boots(&rows, ret_n);
}

int boot_of_job(struct db *db, int64_t job, const char *machine, const char *const *commits,
		size_t n_commits, const char *const *unsure, struct boot_brief **ret, size_t *ret_n,
		struct err *e)
{
	_cleanup_(freep) char *list = db_text_array(commits, n_commits);
	_cleanup_(freep) char *classes = classes_text(unsure);
	struct db_rows rows = { 0 };
	struct boot_brief *b;
	int r;

	r = db_run(db, SQL_BOOT_OF_JOB, &rows, e, "isss", job, list, machine, classes);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = b = xcalloc(*ret_n, sizeof(*b));
	for (int i = 0; i < rows.n; i++, b++) {
		b->id = db_i64(&rows, i, 0);
		(void)snprintf(b->commit, sizeof(b->commit), "%s", db_str(&rows, i, 1));
		b->wanted = !strcmp(db_str(&rows, i, 2), "wanted");
		b->ok = !strcmp(db_str(&rows, i, 2), "done") && !db_bool(&rows, i, 8);
		(void)snprintf(b->class, sizeof(b->class), "%s", db_str(&rows, i, 3));
		(void)snprintf(b->bisection, sizeof(b->bisection), "%s", db_str(&rows, i, 4));
		b->comparison = db_i64(&rows, i, 5);
		(void)snprintf(b->detail, sizeof(b->detail), "%s", db_str(&rows, i, 6));
		b->took_s = db_f64(&rows, i, 7);
		b->excluded = db_bool(&rows, i, 8);
		b->unproven = db_bool(&rows, i, 9);
		(void)snprintf(b->machine, sizeof(b->machine), "%s", db_str(&rows, i, 10));
		(void)snprintf(b->place, sizeof(b->place), "%s", db_str(&rows, i, 11));
	}
	db_rows_done(&rows);
	return 0;
}

int boot_of_comparison(struct db *db, int64_t comparison, const char *const *unsure,
		       struct boot_brief **ret, size_t *ret_n, struct err *e)
{
	_cleanup_(freep) char *classes = classes_text(unsure);
	struct db_rows rows = { 0 };
	struct boot_brief *b;
	int r;

	r = db_run(db, SQL_BOOT_OF_COMPARISON, &rows, e, "is", comparison, classes);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = b = xcalloc(*ret_n, sizeof(*b));
	for (int i = 0; i < rows.n; i++, b++) {
		b->id = db_i64(&rows, i, 0);
		b->comparison = comparison;
		(void)snprintf(b->commit, sizeof(b->commit), "%s", db_str(&rows, i, 1));
		b->wanted = !strcmp(db_str(&rows, i, 2), "wanted");
		b->excluded = db_bool(&rows, i, 5);
		b->unproven = db_bool(&rows, i, 6);
		b->ok = !strcmp(db_str(&rows, i, 2), "done") && !b->excluded;
		(void)snprintf(b->class, sizeof(b->class), "%s", db_str(&rows, i, 3));
		(void)snprintf(b->detail, sizeof(b->detail), "%s", db_str(&rows, i, 4));
	}
	db_rows_done(&rows);
	return 0;
}

int boot_values(struct db *db, const int64_t *boots, size_t n, const char *metric,
		struct boot_value **ret, size_t *ret_n, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf list = STRBUF_INIT;
	struct db_rows rows = { 0 };
	int r;

	strbuf_addch(&list, '{');
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&list, "%s%lld", i ? "," : "", (long long)boots[i]);
	strbuf_addch(&list, '}');
	r = db_run(db, SQL_RUN_VALUES_OF_BOOTS, &rows, e, "ss", list.s, metric);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n, sizeof(**ret));
	for (int i = 0; i < rows.n; i++)
		(*ret)[i] = (struct boot_value){ db_i64(&rows, i, 0), db_f64(&rows, i, 1) };
	db_rows_done(&rows);
	return 0;
}

int boot_cancel_bisection(struct db *db, const char *bisection, struct err *e)
{
	return db_run(db, SQL_BOOT_CANCEL_BISECTION, NULL, e, "s", bisection);
}
