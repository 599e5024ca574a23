/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_ask.h"

#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/bisection_ask_plan.h"
#include "bot/store/bisection_range.h"
#include "bot/store/job.h"
#include "bot/store/job_def.h"
#include "bot/watch/range.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);

static void add_choices(json_t *problem, const struct config *c, const char *section)
{
	_cleanup_(freep) const char **names = config_names(c, section);
	json_t *list = json_array();

	for (size_t i = 0; names[i]; i++)
		if (json_array_append_new(list, json_string(names[i])) < 0)
			abort();
	if (json_object_set_new(problem, "choices", list) < 0)
		abort();
}

/* The text of a parameter, for "nr-task" also as nr_task; numbers as they are written in a config. */
static bool same_param(const struct config *c, const struct job_def *d, const char *key,
		       const json_t *v)
{
	_cleanup_(freep) char *want = NULL, *name = xstrdup(key);
	const char *have = NULL;

	for (char *s = name; *s; s++)
		if (*s == '-')
			*s = '_';
	if (!strcmp(name, "test"))
		have = config_str(c, "job", d->section, "test");
	for (size_t i = 0; i < d->nparams; i++)
		if (!strcmp(name, d->params[i].key))
			have = d->params[i].value;
	if (json_is_integer(v))
		want = xasprintf("%lld", (long long)json_integer_value(v));
	else if (json_is_string(v))
		want = xstrdup(json_string_value(v));
	return have && want && !strcmp(have, want);
}

static bool job_fits(const struct config *c, const struct job_def *d, const struct bisection_ask *a)
{
	json_t *params = json_incref((json_t *)(uintptr_t)a->params);
	const char *key;
	json_t *v;
	bool fits = !a->suite || !strcmp(config_str(c, "job", d->section, "suite"), a->suite);

	json_object_foreach (params, key, v)
		fits = fits && same_param(c, d, key, v);
	json_decref(params);
	return fits;
}

/* Is the field found wrong already? Then it is not missing as well. */
static bool has_problem(const json_t *problems, const char *pointer)
{
	const json_t *p;
	size_t i;

	json_array_foreach (problems, i, p)
		if (!strcmp(json_str(p, "pointer", ""), pointer))
			return true;
	return false;
}

static void add_job_choices(json_t *problem, const struct job_defs *defs)
{
	json_t *list = json_array();

	vec_foreach (d, &defs->list)
		if (json_array_append_new(list, json_string(d->name)) < 0)
			abort();
	if (json_object_set_new(problem, "choices", list) < 0)
		abort();
}

static void add_suite_choices(json_t *problem, const struct config *c, const struct job_defs *defs)
{
	json_t *list = json_array();

	vec_foreach (d, &defs->list) {
		const char *suite = config_str(c, "job", d->section, "suite");
		const json_t *have;
		bool seen = false;
		size_t i;

		json_array_foreach (list, i, have)
			seen |= !strcmp(json_string_value(have), suite);
		if (!seen && json_array_append_new(list, json_string(suite)) < 0)
			abort();
	}
	if (json_object_set_new(problem, "choices", list) < 0)
		abort();
}

/* The job by name or by suite and params; NULL and a problem when there is none. */
static const struct job_def *find_job(const struct config *c, const struct bisection_ask *a,
				      const struct job_defs *defs, json_t *problems)
{
	const struct job_def *found = NULL;
	bool suite_known = false;

	if (has_problem(problems, "/job") || has_problem(problems, "/suite"))
		return NULL;
	if (!a->job && !a->suite) {
		add_job_choices(ask_problem(problems, "/job", "required",
					    "say which job, or suite and params"),
				defs);
		return NULL;
	}
	vec_foreach (d, &defs->list) {
		if (a->job ? strcmp(a->job, d->name) != 0 : !job_fits(c, d, a)) {
			suite_known |= a->suite &&
				       !strcmp(config_str(c, "job", d->section, "suite"), a->suite);
			continue;
		}
		if (found) {
			add_job_choices(ask_problem(problems, "/params", "unknown_param",
						    "more than one job fits suite and params; give "
						    "job, or more params"),
					defs);
			return NULL;
		}
		found = d;
	}
	if (found && a->job && !job_fits(c, found, a)) {
		ask_problem(problems, a->params ? "/params" : "/suite",
			    a->params ? "unknown_param" : "unknown_suite",
			    "job '%s' is not of this suite with these params; give job alone",
			    a->job);
		return NULL;
	}
	if (found)
		return found;
	if (a->job)
		add_job_choices(ask_problem(problems, "/job", "unknown_job", "no job '%s'", a->job),
				defs);
	else if (!suite_known)
		add_suite_choices(ask_problem(problems, "/suite", "unknown_suite",
					      "no job of suite '%s'", a->suite),
				  c, defs);
	else
		add_job_choices(ask_problem(problems, "/params", "unknown_param",
					    "no job of suite '%s' has these params", a->suite),
				defs);
	return NULL;
}

/* What its last boots gave; of a job that never ran at least the headline metric. */
static int add_metric_choices(struct db *db, const struct bisection_plan *plan, json_t *problem,
			      struct err *e)
{
	struct db_rows rows = { 0 };
	json_t *list = json_array();
	int r = db_run(db, SQL_BISECTION_METRICS_OF_JOB, &rows, e, "i", plan->job_id);

	for (int i = 0; r == 0 && i < rows.n; i++)
		(void)json_array_append_new(list, json_string(db_str(&rows, i, 0)));
	if (json_array_size(list) == 0)
		(void)json_array_append_new(list, json_string(plan->metric));
	if (json_object_set_new(problem, "choices", list) < 0)
		abort();
	db_rows_done(&rows);
	return r;
}

/* @plan->metric is the headline metric; another must be one that the job gives. */
static int check_metric(struct db *db, const struct bisection_ask *a, struct bisection_plan *plan,
			json_t *problems, struct err *e)
{
	struct db_rows rows = { 0 };
	bool seen, any;
	int r;

	if (!strcmp(a->metric, plan->metric))
		return 0;
	r = db_run_one(db, SQL_API_METRIC_KNOWN, &rows, e, "s", a->metric);
	if (r == ERR_NOENT)
		return add_metric_choices(db, plan,
					  ask_problem(problems, "/metric", "unknown_metric",
						      "no metric '%s'", a->metric),
					  e);
	if (r < 0)
		return r;
	db_rows_done(&rows);
	r = db_run_one(db, SQL_BISECTION_METRIC_OF_JOB, &rows, e, "is", plan->job_id, a->metric);
	if (r < 0)
		return r;
	seen = db_bool(&rows, 0, 0);
	any = db_bool(&rows, 0, 1);
	db_rows_done(&rows);
	/* Of a job that never ran nobody knows what it gives. */
	if (any && !seen)
		return add_metric_choices(db, plan,
					  ask_problem(problems, "/metric", "unknown_metric",
						      "job %s has no metric '%s'", plan->job,
						      a->metric),
					  e);
	(void)snprintf(plan->metric, sizeof(plan->metric), "%s", a->metric);
	return 0;
}

/* The row of the job as it is configured now, and the metric. */
static int check_job(struct db *db, const struct config *c, const struct bisection_ask *a,
		     const char *section, struct bisection_plan *plan, json_t *problems,
		     struct err *e)
{
	_cleanup_(job_done) struct job job = { 0 };
	struct err why = { 0 };
	int r;

	if (job_check(c, section, &why) < 0) {
		ask_problem(problems, "/job", "unknown_job", "%s", why.msg);
		return 0;
	}
	r = job_sync(db, c, plan->job, &plan->job_id, e);
	if (r == 0)
		r = job_get(db, plan->job_id, &job, e);
	if (r < 0)
		return r;
	ask_limits(c, a, &job, plan, problems);
	r = ask_machines(db, c, a, plan, problems, e);
	if (r < 0)
		return r;
	(void)snprintf(plan->metric, sizeof(plan->metric), "%s", job.metric);
	return a->metric ? check_metric(db, a, plan, problems, e) : 0;
}

/* Is the tree configured and fetched? */
static int check_tree(struct db *db, const struct config *c, const char *tree, bool *ret_known,
		      json_t *problems, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	*ret_known = false;
	if (has_problem(problems, "/tree"))
		return 0;
	if (!tree || !config_has(c, "tree", tree)) {
		add_choices(
			tree ? ask_problem(problems, "/tree", "unknown_tree", "no tree '%s'", tree)
			     : ask_problem(problems, "/tree", "required", "say which tree"),
			c, "tree");
		return 0;
	}
	r = db_run_one(db, SQL_API_TREE_KNOWN, &rows, e, "s", tree);
	if (r == ERR_NOENT) {
		ask_problem(problems, "/tree", "unknown_tree",
			    "tree '%s' is configured, but was not fetched yet", tree);
		return 0;
	}
	if (r < 0)
		return r;
	db_rows_done(&rows);
	*ret_known = true;
	return 0;
}

static int check_range(const struct config *c, const struct bisection_ask *a,
		       struct bisection_plan *plan, json_t *problems, struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	_cleanup_(freep) char *path =
		xasprintf("%s/mirror.git", config_str(c, "kperfbot", NULL, "state"));
	int good, bad;

	good = range_open(path, &repo, e);
	if (good < 0)
		return good;
	good = ends_resolve(repo, a->tree, a->good, "/good", plan->good, problems, e);
	bad = ends_resolve(repo, a->tree, a->bad, "/bad", plan->bad, problems, e);
	if (good < 0 || bad < 0)
		return good == ERR_GIT || bad == ERR_GIT ? ERR_GIT : 0;
	good = ends_check_tree(repo, a->tree, plan->bad, problems, e);
	if (good == 0)
		good = ends_check(repo, plan->good, plan->bad, a, &plan->facts, problems, e);
	return good == ERR_INVAL ? 0 : good;
}

/* @own, @bots: hashes under which a person and the bot itself ask for the same. */
struct storing {
	const struct bisection_ask *ask;
	struct bisection_plan *plan;
	char own[65], bots[65];
	char *request;
};

static int store(struct db *db, void *arg, struct err *e)
{
	struct storing *s = arg;
	struct bisection_plan *plan = s->plan;
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_API_BISECTION_OPEN, &rows, e, "ss", s->own, s->bots);
	if (r < 0)
		return r;
	plan->joined = rows.n > 0;
	if (plan->joined)
		(void)snprintf(plan->id, sizeof(plan->id), "%s", db_str(&rows, 0, 0));
	db_rows_done(&rows);
	if (plan->joined)
		return 0;
	id_new('b', plan->id);
	r = db_run(db, SQL_API_BISECTION_ADD, &rows, e, "ssssisssss", plan->id, s->ask->tree,
		   plan->good, plan->bad, plan->job_id, plan->metric, s->own, s->request,
		   s->ask->asked_by, s->ask->machine);
	if (r < 0)
		return r;
	/* Another was first between the two statements: the next try joins it. */
	if (rows.n == 0)
		r = err_set(e, ERR_DB_RETRY, "an equal bisection was just asked for");
	db_rows_done(&rows);
	return r < 0 ? r : db_run(db, SQL_API_BISECTION_WORK, NULL, e, "s", plan->id);
}

static char *request_text(const struct bisection_ask *a, const struct bisection_plan *plan)
{
	_cleanup_(json_decrefp) json_t *o = json_object();

	json_set_str(o, "tree", a->tree);
	json_set_str(o, "good", a->good);
	json_set_str(o, "bad", a->bad);
	json_set_str(o, "job", plan->job);
	json_set_str(o, "suite", a->suite);
	if (a->params && json_object_set(o, "params", (json_t *)(uintptr_t)a->params) < 0)
		abort();
	json_set_str(o, "metric", plan->metric);
	json_set_str(o, "note", a->note);
	json_set_i64(o, "commits", plan->facts.commits);
	if (json_object_set_new(o, "notes", ends_notes(&plan->facts)) < 0)
		abort();
	if (a->min_effect > 0)
		json_set_f64(o, "min_effect", a->min_effect);
	if (a->confidence > 0)
		json_set_f64(o, "confidence", a->confidence);
	if (a->max_runs > 0)
		json_set_i64(o, "max_runs", a->max_runs);
	if (plan->deadline_s > 0)
		json_set_i64(o, "deadline_s", plan->deadline_s);
	json_set_str(o, "deadline", a->deadline);
	json_set_str(o, "priority", a->priority);
	json_set_str(o, "machine", a->machine);
	if (a->machine)
		json_set_i64(o, "machines", 1);
	if (a->paths && json_object_set(o, "paths", (json_t *)(uintptr_t)a->paths) < 0)
		abort();
	if (a->first_parent)
		json_set_bool(o, "first_parent", true);
	return json_text(o);
}

/* "class:GROUP" with the job's own group is any machine of it. */
static bool names_group(const struct config *c, const struct job_def *d,
			const struct bisection_ask *a)
{
	return a->machine && !strncmp(a->machine, "class:", 6) &&
	       !strcmp(a->machine + 6, config_str(c, "job", d->section, "group"));
}

int bisection_ask(struct db *db, const struct config *config, const struct bisection_ask *ask,
		  bool dry_run, struct bisection_plan *ret, json_t *problems, struct err *e)
{
	_cleanup_(job_defs_done) struct job_defs defs = { 0 };
	const struct job_def *def;
	_cleanup_(freep) char *key = NULL, *request = NULL, *paths = NULL, *least = NULL;
	struct storing s = { .ask = ask, .plan = ret };
	struct bisection_ask any;
	bool tree_known;
	int r;

	*ret = (struct bisection_plan){ 0 };
	r = check_tree(db, config, ask->tree, &tree_known, problems, e);
	if (r < 0)
		return r;
	if (!ask->good && !has_problem(problems, "/good"))
		ask_problem(problems, "/good", "required", "say which commit is good");
	if (!ask->bad && !has_problem(problems, "/bad"))
		ask_problem(problems, "/bad", "required", "say which commit is bad");
	r = job_defs_all(config, &defs, e);
	if (r < 0)
		return r;
	def = find_job(config, ask, &defs, problems);
	if (def) {
		if (names_group(config, def, ask)) {
			any = *ask;
			any.machine = NULL;
			s.ask = ask = &any;
		}
		(void)snprintf(ret->job, sizeof(ret->job), "%s", def->name);
		r = check_job(db, config, ask, def->section, ret, problems, e);
	}
	if (r == 0 && tree_known && ask->good && ask->bad)
		r = check_range(config, ask, ret, problems, e);
	if (r < 0)
		return r;
	if (json_array_size(problems) > 0)
		return err_set(e, ERR_INVAL, "%s",
			       json_str(json_array_get(problems, 0), "detail", "not valid"));
	if (dry_run || ask->max_runs || ask->min_effect > 0)
		r = ask_power(db, ask, ret, problems, e);
	if (r == 0 && json_array_size(problems) > 0)
		return err_set(e, ERR_INVAL, "%s",
			       json_str(json_array_get(problems, 0), "detail", "not valid"));
	if (r < 0 || dry_run)
		return r;
	/* The bot's own keep a key of their own, so that a person's cannot stand in their way. */
	if (ask->paths)
		paths = json_text(ask->paths);
	/* Who looks for a smaller change is not served by an answer about larger ones. */
	if (ask->min_effect > 0)
		least = xasprintf(" from %.9g", ask->min_effect);
	key = xasprintf("asked %s %s %s %lld %s%s%s%s%s%s%s", ask->tree, ret->good, ret->bad,
			(long long)ret->job_id, ret->metric, ask->machine ? " on " : "",
			ask->machine ? ask->machine : "", paths ? " paths " : "",
			paths ? paths : "", ask->first_parent ? " first parents" : "",
			least ? least : "");
	file_sha256_hex(key, strlen(key), s.own);
	file_sha256_hex(key + 6, strlen(key + 6), s.bots);
	request = request_text(ask, ret);
	s.request = request;
	return db_tx(db, store, &s, e);
}
