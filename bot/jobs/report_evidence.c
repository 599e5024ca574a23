/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/report_evidence.h"

#include "bot/base/err.h"
#include "bot/db/db.h"
#include "bot/store/comparison.h"

#include <math.h>
#include <string.h>

/* Boots of a side that have to agree before "one peak" means something. */
#define PEAK_UNITS 8

static bool steady(const json_t *check)
{
	return json_is_true(json_object_get(check, "ok"));
}

static const json_t *check_named(const json_t *checks, const char *name)
{
	const json_t *c;
	size_t i;

	json_array_foreach (checks, i, c)
		if (!strcmp(json_str(c, "name", ""), name))
			return c;
	return NULL;
}

static void add_check(json_t *list, const json_t *c, const char *commit, bool same_day)
{
	json_t *o = json_object();

	json_set_str(o, "name", json_str(c, "name", NULL));
	json_set_str(o, "commit", commit);
	json_set_f64(o, "rel", json_f64(c, "rel", NAN));
	json_set_f64(o, "lo", json_f64(c, "lo", NAN));
	json_set_f64(o, "hi", json_f64(c, "hi", NAN));
	json_set_bool(o, "ok", steady(c));
	if (same_day)
		json_set_bool(o, "same_day", true);
	if (json_array_append_new(list, o) < 0)
		abort();
}

/* One line is enough where all is well; what is not well is told. */
static void add_checks(json_t *out, const json_t *checks, const char *base, const char *head,
		       bool same_day)
{
	const json_t *aa = check_named(checks, "aa"), *again = check_named(checks, "again"),
		     *bb = check_named(checks, "bb");
	json_t *list = json_array();

	if (again)
		add_check(list, again, base, same_day);
	if (aa && (!again || !steady(aa)))
		add_check(list, aa, base, same_day);
	if (bb && !steady(bb))
		add_check(list, bb, head, false);
	(void)json_object_set_new(out, "checks", list);
}

/* Modes of @metric's @side, if the report shows that side at all. */
static bool add_modes(json_t *out, const json_t *metric, const char *side)
{
	json_t *modes = json_object_get(json_object_get(metric, side), "modes");
	json_t *to = json_object_get(json_object_get(out, "effect"), side);

	if (json_array_size(modes) < 2)
		return false;
	if (to)
		(void)json_object_set(to, "modes", modes);
	return true;
}

static bool enough_units(const json_t *metric, const char *side)
{
	return json_i64(json_object_get(metric, side), "units", 0) >= PEAK_UNITS;
}

static int read_json(const struct db_rows *rows, int col, json_t **ret, struct err *e)
{
	*ret = NULL;
	if (db_null(rows, 0, col))
		return 0;
	return json_read(db_str(rows, 0, col), strlen(db_str(rows, 0, col)), "evidence", ret, e);
}

int report_evidence(struct db *db, const struct regression *reg, json_t *out, struct err *e)
{
	_cleanup_(json_decrefp) json_t *metric = NULL, *checks = NULL;
	struct db_rows rows = { 0 };
	bool base, head;
	int r;

	r = db_run(db, SQL_COMPARISON_EVIDENCE, &rows, e, "is", reg->comparison, reg->metric);
	if (r < 0)
		return r;
	if (rows.n)
		r = read_json(&rows, 3, &metric, e);
	if (rows.n && r == 0)
		r = read_json(&rows, 4, &checks, e);
	if (rows.n && r == 0) {
		add_checks(out, checks, db_str(&rows, 0, 1), db_str(&rows, 0, 2),
			   db_str(&rows, 0, 5)[0] == 't');
		if (!strcmp(db_str(&rows, 0, 0), "confirm"))
			json_set_str(out, "found", "history");
		base = add_modes(out, metric, "base");
		head = add_modes(out, metric, "head");
		if (!base && !head && enough_units(metric, "base") && enough_units(metric, "head"))
			json_set_bool(out, "one_peak", true);
	}
	db_rows_done(&rows);
	return r;
}
