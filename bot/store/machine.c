/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/machine.h"

#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

const char *machine_group(const struct config *c, const char *machine)
{
	const char *group = config_str(c, "machine", machine, "group");

	return group ? group : machine;
}

int machine_sync(struct db *db, const struct config *c, struct err *e)
{
	_cleanup_(freep) const char **names = config_names(c, "machine");
	int r = 0;

	for (size_t i = 0; r == 0 && names[i]; i++)
		r = db_run(db, SQL_MACHINE_UPSERT, NULL, e, "sss", names[i],
			   machine_group(c, names[i]),
			   config_str(c, "machine", names[i], "driver"));
	return r;
}

int machine_get(struct db *db, const char *name, struct machine *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_MACHINE_GET, &rows, e, "s", name);
	if (r < 0)
		return r;
	*ret = (struct machine){ .name = xstrdup(db_str(&rows, 0, 0)),
				 .group = xstrdup(db_str(&rows, 0, 1)),
				 .driver = xstrdup(db_str(&rows, 0, 2)),
				 .health = xstrdup(db_str(&rows, 0, 3)),
				 .note = xstrdup(db_str(&rows, 0, 4)),
				 .drained_by = xstrdup(db_str(&rows, 0, 5)),
				 .failed_checks = (int)db_i64(&rows, 0, 6) };
	db_rows_done(&rows);
	return 0;
}

void machine_done(struct machine *m)
{
	free(m->name);
	free(m->group);
	free(m->driver);
	free(m->health);
	free(m->note);
	free(m->drained_by);
	*m = (struct machine){ 0 };
}

int machine_outcome(struct db *db, const char *machine, enum machine_outcome o, const char *why,
		    bool *ret_changed, struct err *e)
{
	static const char *const names[] = { [MACHINE_OK] = "ok",
					     [MACHINE_FAULT] = "fault",
					     [MACHINE_FAILED] = "failed",
					     [MACHINE_SILENT] = "silent" };
	struct db_rows rows = { 0 };
	int r;

	if (ret_changed)
		*ret_changed = false;
	r = db_run(db, SQL_MACHINE_OUTCOME, &rows, e, "sss", machine, names[o], why);
	if (r < 0)
		return r;
	if (ret_changed && rows.n)
		*ret_changed = db_bool(&rows, 0, 1);
	db_rows_done(&rows);
	return 0;
}

int machine_health(struct db *db, const char *machine, const char *health, const char *by,
		   const char *why, const char *event, bool checked, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_MACHINE_HEALTH, &rows, e, "sssssb", machine, health, by, why, event,
		       checked);
	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "there is no machine '%.80s'", machine);
	if (r == 0)
		db_rows_done(&rows);
	return r;
}

static char *classes_text(const char *const *classes)
{
	size_t n = 0;

	while (classes[n])
		n++;
	return db_text_array(classes, n);
}

int machine_unproven(struct db *db, const char *machine, const char *const *unsure, int *ret,
		     struct err *e)
{
	_cleanup_(freep) char *classes = classes_text(unsure);
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_MACHINE_UNPROVEN, &rows, e, "ss", machine, classes);

	if (r < 0)
		return r;
	*ret = (int)db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int machine_state(struct db *db, const char *machine, const char *state, int64_t fence,
		  struct err *e)
{
	return db_run(db, SQL_MACHINE_STATE, NULL, e, "ssi", machine, state, fence);
}

int machine_repin(struct db *db, double after_s, double away_s, struct err *e)
{
	return db_run(db, SQL_MACHINE_REPIN, NULL, e, "dd", after_s, away_s);
}

int machine_look_after(struct db *db, const char *machine, double recheck_s,
		       const char *const *unsure, struct err *e)
{
	_cleanup_(freep) char *classes = classes_text(unsure);
	struct db_rows rows = { 0 };
	bool good;
	int n;
	int r;

	r = db_run(db, SQL_MACHINE_OVERLOOKED, &rows, e, "sds", machine, recheck_s, classes);
	if (r < 0)
		return r;
	n = rows.n;
	good = n && db_bool(&rows, 0, 0);
	db_rows_done(&rows);
	if (!n)
		return 0;
	return control_order(db, machine, "", good ? 0 : recheck_s, good ? 0 : 10,
			     good ? "failure" : "check", NULL, e);
}

int control_keep(struct db *db, int64_t boot, struct err *e)
{
	return db_run(db, SQL_CONTROL_KEEP, NULL, e, "i", boot);
}

int control_order(struct db *db, const char *machine, const char *kconfig, double delay_s, int prio,
		  const char *reason, int64_t *ret_boot, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	if (ret_boot)
		*ret_boot = 0;
	r = db_run(db, SQL_CONTROL_ORDER, &rows, e, "sdiss", machine, delay_s, (int64_t)prio,
		   kconfig, reason);
	if (r < 0)
		return r;
	if (ret_boot && rows.n)
		*ret_boot = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int control_hurry(struct db *db, const char *machine, int64_t *ret_boot, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_CONTROL_HURRY, &rows, e, "s", machine);

	if (r < 0)
		return r;
	*ret_boot = rows.n ? db_i64(&rows, 0, 0) : 0;
	db_rows_done(&rows);
	return 0;
}

int control_due(struct db *db, const char *machine, double every_s, int64_t boots, struct err *e)
{
	struct db_rows rows = { 0 };
	int n;
	int r;

	r = db_run(db, SQL_MACHINE_DUE, &rows, e, "sdi", machine, every_s, boots);
	if (r < 0)
		return r;
	n = rows.n;
	db_rows_done(&rows);
	return n ? control_order(db, machine, "", 0, 0, "check", NULL, e) : 0;
}

int control_values(struct db *db, const char *machine, int64_t boot, double **ret, size_t *ret_n,
		   struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_CONTROL_VALUES, &rows, e, "si", machine, boot);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n, sizeof(**ret));
	for (int i = 0; i < rows.n; i++)
		(*ret)[i] = db_f64(&rows, i, 1);
	db_rows_done(&rows);
	return 0;
}
