/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/job.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/db/db.h"
#include "bot/store/job_def.h"
#include "bot/store/job_settings.h"
#include "bot/store/machine.h"
#include "runners/suites/suite.h"

#include <string.h>

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
	json_decref(j->settings);
	json_decref(j->monitors);
	*j = (struct job){ 0 };
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

static const char *param_of(const struct job_def *d, const char *key)
{
	for (size_t i = 0; i < d->nparams; i++)
		if (!strcmp(d->params[i].key, key))
			return d->params[i].value;
	return NULL;
}

/*
 * Params that say what the headline of a program of one's own means do not speak of another metric:
 * a job that is judged by that one would never see a regression.
 */
static int check_meaning(const struct suite *suite, const struct job_def *d, const char *metric,
			 const char *headline, struct err *e)
{
	const char *key = param_of(d, "better") ? "better" : "unit";

	if (suite != suite_find("exec") || !metric || !param_of(d, key) ||
	    !strcmp(metric, headline))
		return 0;
	return err_set(e, ERR_CONFIG,
		       "job.%s.metric: param %s is that of '%.80s', not of '%.80s'; "
		       "say param = headline=%.80s",
		       d->section, key, headline, metric, metric);
}

/* Suite and metric of one combination of params. */
static int check_def(const struct config *c, const struct suite *suite, const struct job_def *d,
		     struct err *e)
{
	const char *test = config_str(c, "job", d->section, "test");
	const char *metric = config_str(c, "job", d->section, "metric");
	size_t len = strlen(suite_name(suite));

	if (suite_check(suite, test, d->params, d->nparams, e) < 0) {
		(void)err_wrap(e, "job.%s", d->section);
		return ERR_CONFIG;
	}
	if (metric && (strncmp(metric, suite_name(suite), len) != 0 || metric[len] != '.'))
		return err_set(e, ERR_CONFIG,
			       "job.%s.metric: '%.80s' is no metric of suite %s; the default is %s",
			       d->section, metric, suite_name(suite),
			       suite_headline(suite, test, d->params, d->nparams));
	return check_meaning(suite, d, metric, suite_headline(suite, test, d->params, d->nparams),
			     e);
}

int job_check(const struct config *c, const char *section, struct err *e)
{
	const struct suite *suite = suite_find(config_str(c, "job", section, "suite"));
	const char *group = config_str(c, "job", section, "group");
	_cleanup_(job_defs_done) struct job_defs defs = { 0 };
	_cleanup_(json_decrefp) json_t *settings = NULL;
	_cleanup_(freep) const char **monitors = NULL;
	int boots = group_boots(c, group);
	int r;

	if (!suite)
		return err_set(e, ERR_CONFIG,
			       "job.%s.suite: there is no suite '%.80s'; suites are %s", section,
			       config_str(c, "job", section, "suite"), suite_names());
	r = job_defs_read(c, section, &defs, e);
	vec_foreach (d, &defs.list)
		if (r == 0)
			r = check_def(c, suite, d, e);
	if (r == 0)
		r = job_settings_read(c, section, &settings, e);
	if (r == 0)
		r = job_monitors_read(c, section, &monitors, e);
	if (r < 0)
		return r;
	if (boots < 0)
		return err_set(e, ERR_CONFIG, "job.%s.group: no machine is in group '%.80s'",
			       section, group);
	if (boots && !config_str(c, "job", section, "kconfig"))
		return err_set(e, ERR_CONFIG, "[job \"%s\"] has no 'kconfig'", section);
	return 0;
}

/* Everything of a row but its name; @ret_hash: what changes the numbers, or their meaning. */
struct definition {
	const char *suite, *test, *metric, *group, *kconfig, *thp;
	char *params, *settings, *monitors;
	bool aslr;
	int64_t runs;
	double min_effect, timeout_s, interval_s;
	char hash[65];
};

static void definition_done(struct definition *d)
{
	free(d->params);
	free(d->settings);
	free(d->monitors);
}

static int define(const struct config *c, const struct job_def *def, struct definition *d,
		  struct err *e)
{
	const char *s = def->section;
	const struct suite *suite = suite_find(config_str(c, "job", s, "suite"));
	_cleanup_(json_decrefp) json_t *params = json_object();
	_cleanup_(json_decrefp) json_t *settings = NULL;
	_cleanup_(freep) const char **monitors = NULL;
	_cleanup_(freep) char *text = NULL;
	const char *kconfig = config_str(c, "job", s, "kconfig");
	const char *metric = config_str(c, "job", s, "metric");
	int r;

	d->suite = suite_name(suite);
	d->test = config_str(c, "job", s, "test");
	d->metric = metric ? metric : suite_headline(suite, d->test, def->params, def->nparams);
	d->group = config_str(c, "job", s, "group");
	d->kconfig = kconfig && group_boots(c, d->group) != 0 ? kconfig : "";
	d->thp = config_str(c, "job", s, "thp");
	d->aslr = !strcmp(config_str(c, "job", s, "aslr"), "on");
	d->runs = config_i64(c, "job", s, "runs-per-boot");
	d->min_effect = config_f64(c, "job", s, "min-effect");
	d->timeout_s = config_f64(c, "job", s, "timeout");
	d->interval_s = config_f64(c, "job", s, "monitor-interval");
	for (size_t i = 0; i < def->nparams; i++)
		json_set_str(params, def->params[i].key, def->params[i].value);
	r = job_settings_read(c, s, &settings, e);
	if (r == 0)
		r = job_monitors_read(c, s, &monitors, e);
	if (r < 0)
		return r;
	d->params = json_text(params);
	d->settings = json_text(settings);
	d->monitors = db_text_array(monitors, config_count(monitors));
	text = xasprintf("%s %s %s %s %s %s %s %lld %.17g %s %d %s %.17g", d->suite, d->test,
			 d->params, d->metric, d->group, d->kconfig, d->thp, (long long)d->runs,
			 d->min_effect, d->settings, d->aslr, d->monitors, d->interval_s);
	file_sha256_hex(text, strlen(text), d->hash);
	return 0;
}

int job_sync(struct db *db, const struct config *c, const char *name, int64_t *ret_id,
	     struct err *e)
{
	_cleanup_(job_def_done) struct job_def def = { 0 };
	_cleanup_(definition_done) struct definition d = { 0 };
	struct db_rows rows = { 0 };
	int r;

	r = job_def_find(c, name, &def, e);
	if (r == 0)
		r = define(c, &def, &d, e);
	if (r == 0)
		r = db_run_one(db, SQL_JOB_SYNC, &rows, e, "sssssssssiddsbsd", name, d.hash,
			       d.suite, d.test, d.params, d.metric, d.group, d.kconfig, d.thp,
			       d.runs, d.min_effect, d.timeout_s, d.settings, d.aslr, d.monitors,
			       d.interval_s);
	if (r < 0)
		return r;
	*ret_id = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int job_get(struct db *db, int64_t id, struct job *ret, struct err *e)
{
	_cleanup_(db_rows_done) struct db_rows rows = { 0 };
	json_t *params = NULL;
	json_t *settings = NULL;
	json_t *monitors = NULL;
	int r;

	r = db_run_one(db, SQL_JOB_GET, &rows, e, "i", id);
	if (r == 0)
		r = json_read(db_str(&rows, 0, 3), strlen(db_str(&rows, 0, 3)), "job.params",
			      &params, e);
	if (r == 0)
		r = json_read(db_str(&rows, 0, 11), strlen(db_str(&rows, 0, 11)), "job.settings",
			      &settings, e);
	if (r == 0)
		r = json_read(db_str(&rows, 0, 13), strlen(db_str(&rows, 0, 13)), "job.monitors",
			      &monitors, e);
	if (r < 0) {
		json_decref(params);
		json_decref(settings);
		return r;
	}
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
			     .timeout_s = db_f64(&rows, 0, 10),
			     .settings = settings,
			     .aslr = db_bool(&rows, 0, 12),
			     .monitors = monitors,
			     .monitor_interval_s = db_f64(&rows, 0, 14) };
	return 0;
}

bool job_wants_tree(const struct config *c, const char *section, const char *tree)
{
	_cleanup_(freep) const char **trees = config_all(c, "job", section, "tree");

	for (size_t i = 0; trees[i]; i++)
		if (!strcmp(trees[i], tree))
			return true;
	return false;
}
