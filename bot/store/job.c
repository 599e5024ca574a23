/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/job.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/vec.h"
#include "bot/db/db.h"
#include "runners/suites/suite.h"

#include <string.h>

/* Keys of [job] that are params of the test; the params are called as in LKP. */
static const struct {
	const char *key;
	const char *param;
} param_keys[] = {
	{ "mode", "mode" },	      { "nr-task", "nr_task" }, { "runtime", "runtime" },
	{ "unit-size", "unit_size" }, { "pin", "pin" },
};

void job_done(struct job *j)
{
	free(j->name);
	free(j->suite);
	free(j->test);
	json_decref(j->params);
	free(j->metric);
	free(j->group);
	free(j->kconfig);
	free(j->thp);
	*j = (struct job){ 0 };
}

/* The configured params as the suite wants them: borrowed strings, at most one per key. */
static size_t params_of(const struct config *c, const char *name,
			struct suite_param ret[ARRAY_SIZE(param_keys)])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(param_keys); i++) {
		const char *v = config_str(c, "job", name, param_keys[i].key);

		if (!v)
			continue;
		ret[n].key = (char *)(uintptr_t)param_keys[i].param;
		ret[n++].value = (char *)(uintptr_t)v;
	}
	return n;
}

const char *machine_group(const struct config *c, const char *machine)
{
	const char *group = config_str(c, "machine", machine, "group");

	return group ? group : machine;
}

/* Does any machine of the group boot kernels? -1: there is no such group. */
static int group_boots(const struct config *c, const char *group)
{
	_cleanup_(freep) const char **names = config_names(c, "machine");
	int boots = -1;

	for (size_t i = 0; names[i]; i++) {
		if (strcmp(machine_group(c, names[i]), group) != 0)
			continue;
		boots = strcmp(config_str(c, "machine", names[i], "driver"), "local") != 0;
	}
	return boots;
}

int job_check(const struct config *c, const char *name, struct err *e)
{
	const struct suite *suite = suite_find(config_str(c, "job", name, "suite"));
	const char *group = config_str(c, "job", name, "group");
	const char *metric = config_str(c, "job", name, "metric");
	struct suite_param params[ARRAY_SIZE(param_keys)];
	size_t n = params_of(c, name, params);
	size_t len = suite ? strlen(suite_name(suite)) : 0;
	int boots = group_boots(c, group);
	int r;

	if (!suite)
		return err_set(e, ERR_CONFIG,
			       "job.%s.suite: there is no suite '%.80s'; suites are %s", name,
			       config_str(c, "job", name, "suite"), suite_names());
	r = suite_check(suite, config_str(c, "job", name, "test"), params, n, e);
	if (r < 0) {
		(void)err_wrap(e, "job.%s", name);
		return ERR_CONFIG;
	}
	if (metric && (strncmp(metric, suite_name(suite), len) != 0 || metric[len] != '.'))
		return err_set(
			e, ERR_CONFIG,
			"job.%s.metric: '%.80s' is no metric of suite %s; the default is %s", name,
			metric, suite_name(suite),
			suite_headline(suite, config_str(c, "job", name, "test"), params, n));
	if (boots < 0)
		return err_set(e, ERR_CONFIG, "job.%s.group: no machine is in group '%.80s'", name,
			       group);
	if (boots && !config_str(c, "job", name, "kconfig"))
		return err_set(e, ERR_CONFIG, "[job \"%s\"] has no 'kconfig'", name);
	return 0;
}

int job_sync(struct db *db, const struct config *c, const char *name, int64_t *ret_id,
	     struct err *e)
{
	const struct suite *suite = suite_find(config_str(c, "job", name, "suite"));
	const char *test = config_str(c, "job", name, "test");
	const char *metric = config_str(c, "job", name, "metric");
	const char *group = config_str(c, "job", name, "group");
	const char *kconfig = config_str(c, "job", name, "kconfig");
	const char *thp = config_str(c, "job", name, "thp");
	int64_t runs = config_i64(c, "job", name, "runs-per-boot");
	double min_effect = config_f64(c, "job", name, "min-effect");
	double timeout_s = config_f64(c, "job", name, "timeout");
	struct suite_param params[ARRAY_SIZE(param_keys)];
	size_t n = params_of(c, name, params);
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *def = NULL;
	struct db_rows rows = { 0 };
	char hash[65];
	int r;

	for (size_t i = 0; i < n; i++)
		json_set_str(o, params[i].key, params[i].value);
	text = json_text(o);
	if (!metric)
		metric = suite_headline(suite, test, params, n);
	if (!kconfig || group_boots(c, group) == 0)
		kconfig = "";
	/* What changes the numbers, or their meaning; not the time limit. */
	def = xasprintf("%s %s %s %s %s %s %s %lld %.17g", suite_name(suite), test, text, metric,
			group, kconfig, thp, (long long)runs, min_effect);
	file_sha256_hex(def, strlen(def), hash);
	r = db_run_one(db, SQL_JOB_SYNC, &rows, e, "sssssssssidd", name, hash, suite_name(suite),
		       test, text, metric, group, kconfig, thp, runs, min_effect, timeout_s);
	if (r < 0)
		return r;
	*ret_id = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int job_get(struct db *db, int64_t id, struct job *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	json_t *params;
	int r;

	r = db_run_one(db, SQL_JOB_GET, &rows, e, "i", id);
	if (r < 0)
		return r;
	r = json_read(db_str(&rows, 0, 3), strlen(db_str(&rows, 0, 3)), "job.params", &params, e);
	if (r == 0)
		*ret = (struct job){ .id = id,
				     .name = xstrdup(db_str(&rows, 0, 0)),
				     .suite = xstrdup(db_str(&rows, 0, 1)),
				     .test = xstrdup(db_str(&rows, 0, 2)),
				     .params = params,
				     .metric = xstrdup(db_str(&rows, 0, 4)),
				     .group = xstrdup(db_str(&rows, 0, 5)),
				     .kconfig = xstrdup(db_str(&rows, 0, 6)),
				     .thp = xstrdup(db_str(&rows, 0, 7)),
				     .runs_per_boot = (int)db_i64(&rows, 0, 8),
				     .min_effect = db_f64(&rows, 0, 9),
				     .timeout_s = db_f64(&rows, 0, 10) };
	db_rows_done(&rows);
	return r;
}

bool job_wants_tree(const struct config *c, const char *name, const char *tree)
{
	_cleanup_(freep) const char **trees = config_all(c, "job", name, "tree");

	for (size_t i = 0; trees[i]; i++)
		if (!strcmp(trees[i], tree))
			return true;
	return false;
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

int machine_outcome(struct db *db, const char *machine, const char *fault, struct err *e)
{
	return db_run(db, SQL_MACHINE_OUTCOME, NULL, e, "ss", machine, fault);
}
