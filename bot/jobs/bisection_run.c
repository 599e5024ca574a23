/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_run.h"

#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/build/build.h"
#include "bot/db/db.h"
#include "bot/jobs/bisection_failures.h"
#include "bot/jobs/bisection_machines.h"
#include "bot/jobs/bisection_older.h"
#include "bot/jobs/bisection_outside.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/bisection_model.h"
#include "bot/watch/mirror.h"

#include <assert.h>
#include <git2.h>
#include <math.h>
#include <string.h>

int bisection_run_load(struct bisection_run *b, const char *id, struct err *e)
{
	int64_t deadline;
	int r;

	r = bisection_get(b->c->db, id, &b->row, e);
	if (r == 0)
		r = job_get(b->c->db, b->row.job, &b->job, e);
	if (r < 0)
		return r;
	(void)snprintf(b->good, sizeof(b->good), "%s", b->row.good);
	b->now_s = (int64_t)(clock_realtime() / USEC_PER_SEC);
	deadline = json_i64(b->row.request, "deadline_s", 0);
	b->late = deadline && b->now_s >= deadline;
	bisection_run_rewind(b);
	return 0;
}

void bisection_run_rewind(struct bisection_run *b)
{
	const json_t *list = json_object_get(b->row.status, "under_way"), *a;
	size_t i;

	json_decref(b->checks);
	b->checks = json_deep_copy(json_object_get(b->row.status, "checks"));
	json_decref(b->after);
	b->after = json_deep_copy(json_object_get(b->row.status, "after"));
	b->restarts = (int)json_i64(b->row.status, "restarts", 0);
	bisection_bases_rewind(b);
	b->n_asked = 0;
	json_array_foreach (list, i, a) {
		struct bisection_asked *ret = &b->asked[b->n_asked];

		if (b->n_asked == BISECTION_ASKED_MAX)
			break;
		(void)snprintf(ret->hash, sizeof(ret->hash), "%s", json_str(a, "commit", ""));
		ret->at = json_i64(a, "at", b->now_s);
		b->n_asked++;
	}
	b->step = NULL;
	b->spent = false;
}

void bisection_run_done(struct bisection_run *b)
{
	bisect_done(&b->state);
	range_done(&b->range);
	mirror_free(b->mirror);
	bisection_done(&b->row);
	job_done(&b->job);
	json_decref(b->model);
	json_decref(b->checks);
	json_decref(b->after);
	free(b->made);
	free(b->older);
	free(b->has_good);
	free(b->boots);
	free(b->values);
}

DEFINE_CLEANUP(git_repository *, git_repository_free);

int bisection_run_read_range(struct bisection_run *b, struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	_cleanup_(freep) char *dir = job_mirror_dir(b->c);
	const json_t *list = json_object_get(b->row.request, "paths");
	size_t n = json_array_size(list);
	_cleanup_(freep) const char **paths = xcalloc(n + 1, sizeof(*paths));
	struct range_options opt = { .paths = paths,
				     .n_paths = n,
				     .first_parent = json_is_true(
					     json_object_get(b->row.request, "first_parent")) };
	int r;

	for (size_t i = 0; i < n; i++)
		paths[i] = json_string_value(json_array_get(list, i));
	r = mirror_open(dir, &b->mirror, e);
	if (r < 0)
		return r;
	r = range_open(dir, &repo, e);
	if (r < 0)
		return r;
	r = range_read(repo, b->row.good, b->row.bad, &opt, &b->range, e);
	if (r == ERR_RANGE && b->row.regression[0] &&
	    mirror_is_ancestor(b->mirror, b->row.bad, b->row.good, NULL) == 1)
		r = bisection_bases_rewound(b, repo, &opt, e);
	else if (r == 0 && !b->range.good_is_ancestor)
		r = bisection_bases_read(b, repo, &opt, e);
	if (r == 0 && !b->range.graph.n)
		r = err_set(e, ERR_TOO_BIG, "%zu commits, at most %d can be bisected",
			    b->range.commits, BISECT_MAX_COMMITS - 1);
	return r;
}

const char *bisection_run_hash(const struct bisection_run *b, int commit)
{
	return commit == BISECT_GOOD_END ? b->good : b->range.graph.commits[commit].hash;
}

size_t bisection_run_parents(const struct bisection_run *b, int commit, const char ***ret)
{
	const struct bisect_commit *c = &b->range.graph.commits[commit];
	size_t room = c->n_parents + BISECTION_OUTSIDE_MAX + 2;
	/* What is outside has its text behind the list. */
	void *block = xcalloc(1, room * sizeof(char *) + (size_t)BISECTION_OUTSIDE_MAX * 41);
	const char **list = block;
	char(*text)[41] = (char(*)[41])(list + room);
	size_t n = 0, n_outside = 0;

	for (size_t i = 0; i < c->n_parents; i++)
		list[n++] = b->range.graph.commits[c->parents[i]].hash;
	if (c->outside)
		n_outside = bisection_outside_parents(b, commit, text);
	for (size_t i = 0; i < n_outside; i++)
		list[n++] = text[i];
	if ((c->outside && !n_outside) || n == 0)
		list[n++] = b->good;
	*ret = list;
	return n;
}

int bisection_run_index(const struct bisection_run *b, const char *hash)
{
	int i;

	if (!strcmp(hash, b->good))
		return BISECT_GOOD_END;
	i = bisect_graph_find(&b->range.graph, hash, NULL);
	return i < 0 ? -2 : i;
}

/* The boot of a value; values were read of these boots only. */
static const struct boot_brief *boot_by_id(const struct bisection_run *b, int64_t id)
{
	size_t i = 0;

	while (i < b->n_boots && b->boots[i].id != id)
		i++;
	assert(i < b->n_boots);
	return &b->boots[i];
}

static int read_measured(struct bisection_run *b, struct err *e)
{
	size_t n = b->range.graph.n + 1;
	_cleanup_(freep) const char **commits =
		xcalloc(n + BISECTION_BASES_MAX + BISECTION_OUTSIDE_MAX + 4, sizeof(*commits));
	_cleanup_(freep) int64_t *ids = NULL;
	size_t n_ids = 0;
	int r;

	for (size_t i = 0; i + 1 < n; i++)
		commits[i] = b->range.graph.commits[i].hash;
	commits[n - 1] = b->good;
	if (!b->row.machine[0]) {
		free(b->row.machine);
		b->row.machine = NULL;
		r = bisection_pin(b->c->db, b->row.id, commits, n, &b->row.machine, e);
		if (r < 0)
			return r;
	}
	if (json_str(b->checks, "revert", NULL))
		commits[n++] = json_str(b->checks, "revert", NULL);
	if (json_str(b->checks, "tip", NULL))
		commits[n++] = json_str(b->checks, "tip", NULL);
	n += bisection_outside_commits(b, commits + n);
	n += bisection_bases_commits(b, commits + n);
	/* Without a machine there is nothing measured that counts; the name "" fits no boot. */
	r = bisection_machines_read(b, commits, n, e);
	if (r < 0)
		return r;
	ids = xcalloc(b->n_boots, sizeof(*ids));
	for (size_t i = 0; i < b->n_boots; i++)
		if (b->boots[i].ok)
			ids[n_ids++] = b->boots[i].id;
	r = boot_values(b->c->db, ids, n_ids, b->row.metric, &b->values, &b->n_values, e);
	if (r < 0)
		return r;
	b->ln = true;
	for (size_t i = 0; i < b->n_values; i++)
		b->ln &= b->values[i].value > 0;
	for (size_t i = 0; b->ln && i < b->n_values; i++)
		b->values[i].value = log(b->values[i].value);
	return 0;
}

static void log_model(const struct bisection_run *b)
{
	_cleanup_(freep) char *text = json_text(b->model);

	log_info("noise and cost of a bisection", lf_str("BISECT_ID", b->row.id),
		 lf_str("MODEL", text));
}

/* What is reckoned with: of the job's own history, kept for readers and told in the log once. */
static int read_params(struct bisection_run *b, struct bisect_params *p, struct err *e)
{
	double rel = json_f64(b->row.request, "effect", 0);
	struct bisection_noise noise;
	struct bisection_cost cost;
	int r;

	r = bisection_noise_read(b->c->db, b->job.id, b->row.metric, &noise, e);
	if (r == 0)
		r = bisection_cost(b->c->db, b->job.id, &cost, e);
	if (r < 0)
		return r;
	/* The range decides on the scale of its own values. */
	if (noise.ln != b->ln)
		noise = (struct bisection_noise){ .ln = b->ln, .level = noise.level };
	*p = bisect_params_default();
	bisection_model(&noise, &cost, rel, json_f64(b->row.request, "effect_lo", rel),
			json_f64(b->row.request, "effect_hi", rel), p);
	bisection_model_least(&noise, json_f64(b->row.request, "min_effect", 0), p);
	bisection_bases_params(b, p);
	p->confidence = json_f64(b->row.request, "confidence",
				 config_f64(b->c->config, "bisect", NULL, "confidence"));
	p->check_drift = true;
	p->max_runs = (int)json_i64(b->row.request, "max_runs",
				    config_i64(b->c->config, "bisect", NULL, "max-boots") *
					    b->job.runs_per_boot);
	b->model = bisection_model_json(&noise, &cost, p);
	if (!json_object_get(b->row.status, "model"))
		log_model(b);
	return 0;
}

/*
 * The step is looked for as it is today, so the ends count by what was measured for this bisection;
 * of the commits between everything counts.
 */
static bool counts(const struct bisection_run *b, const struct boot_brief *boot, int commit)
{
	bool end = commit == BISECT_GOOD_END || commit == (int)b->range.graph.n - 1;

	if (commit < BISECT_GOOD_END)
		return false;

	return !end || !strcmp(boot->bisection, b->row.id);
}

int bisection_run_skip(struct bisection_run *b, int commit, enum bisect_skip why, struct err *e)
{
	b->good_broken |= commit == BISECT_GOOD_END;
	return commit == BISECT_GOOD_END ? 0 : bisect_skip(&b->state, commit, why, e);
}

static int add_builds(struct bisection_run *b, struct err *e)
{
	size_t n = b->range.graph.n + 1;
	_cleanup_(freep) const char **commits = xcalloc(n, sizeof(*commits));
	_cleanup_(freep) char *list = NULL;
	_cleanup_(freep) char *compiler = NULL;
	struct db_rows rows = { 0 };
	char hash[65];
	int r;

	if (!b->job.kconfig[0])
		return 0;
	for (size_t i = 0; i + 1 < n; i++)
		commits[i] = b->range.graph.commits[i].hash;
	commits[n - 1] = b->good;
	list = db_text_array(commits, n);
	r = job_kconfig_hash(b->c, b->job.kconfig, hash, e);
	if (r == 0)
		r = build_compiler(&compiler, e);
	if (r == 0)
		r = db_run(b->c->db, SQL_BUILD_STATES, &rows, e, "sss", list, hash, compiler);
	for (int i = 0; r == 0 && i < rows.n; i++) {
		int k = bisection_run_index(b, db_str(&rows, i, 0));

		r = !strcmp(db_str(&rows, i, 1), "ok")
			    ? bisect_mark_built(&b->state, k, e)
			    : bisection_run_skip(b, k, BISECT_SKIP_BUILD, e);
	}
	db_rows_done(&rows);
	return r;
}

/* A metric that the job does not give would be asked for without end. */
static void count_without_metric(struct bisection_run *b)
{
	for (size_t i = 0; i < b->n_boots; i++) {
		size_t k = 0;

		if (!b->boots[i].ok || strcmp(b->boots[i].bisection, b->row.id) != 0)
			continue;
		while (k < b->n_values && b->values[k].boot != b->boots[i].id)
			k++;
		b->without_metric += k == b->n_values;
	}
}

static int count_own_runs(const struct bisection_run *b)
{
	int n = 0;

	for (size_t i = 0; i < b->n_values; i++)
		n += !strcmp(boot_by_id(b, b->values[i].boot)->bisection, b->row.id);
	return n;
}

/*
 * The budget is of what is measured for this bisection; the library counts all that it is told, and
 * is not told what a further machine gave of the good end.
 */
static void limit_runs(struct bisection_run *b, struct bisect_params *p)
{
	int others = 0;

	for (size_t i = 0; i < b->n_values; i++) {
		const struct boot_brief *boot = boot_by_id(b, b->values[i].boot);

		others += strcmp(boot->bisection, b->row.id) != 0 &&
			  counts(b, boot, bisection_run_index(b, boot->commit));
	}
	b->max_runs = p->max_runs;
	p->max_runs += others - bisection_bases_runs(b) - (b->own_runs - count_own_runs(b));
	if (p->max_runs < 1)
		p->max_runs = 1;
	/* Then what is known by now is the answer. */
	if (b->late)
		p->max_runs = 1;
}

int bisection_run_replay(struct bisection_run *b, struct err *e)
{
	struct bisect_params params;
	int r;

	r = read_measured(b, e);
	if (r < 0)
		return r;
	bisection_failures_count(b);
	r = read_params(b, &params, e);
	if (r < 0)
		return r;
	count_without_metric(b);
	b->own_runs = count_own_runs(b);
	bisection_machines_shift(b, &params);
	limit_runs(b, &params);
	r = bisect_init(&b->state, &b->range.graph, &params, e);
	if (r == 0)
		r = bisection_run_priors(b, e);
	if (r == 0)
		r = add_builds(b, e);
	if (r == 0)
		r = bisection_failures_skip(b, e);
	if (r == 0)
		r = bisection_older_skip(b, e);
	for (size_t i = 0; r == 0 && i < b->n_values; i++) {
		const struct boot_brief *boot = boot_by_id(b, b->values[i].boot);
		int k = bisection_run_index(b, boot->commit);

		if (!counts(b, boot, k) || (k >= 0 && b->state.skip[k] != BISECT_TESTABLE))
			continue;
		r = bisect_add_run(&b->state, k, (int)(boot - b->boots), b->values[i].value, e);
	}
	return r;
}

int bisection_run_fresh(const struct bisection_run *b, const char *hash)
{
	int n = 0;

	for (size_t i = 0; i < b->n_boots; i++)
		n += b->boots[i].ok && !strcmp(b->boots[i].commit, hash) &&
		     !strcmp(b->boots[i].bisection, b->row.id) &&
		     !strcmp(b->boots[i].machine, b->row.machine);
	return n;
}

static struct detect_sample *samples_of(const struct bisection_run *b, const char *hash,
					size_t *ret_n)
{
	struct detect_sample *s = xcalloc(b->n_values, sizeof(*s));
	size_t n = 0;

	for (size_t i = 0; i < b->n_values; i++) {
		const struct boot_brief *boot = boot_by_id(b, b->values[i].boot);

		if (strcmp(boot->commit, hash) != 0 || strcmp(boot->bisection, b->row.id) != 0 ||
		    strcmp(boot->machine, b->row.machine) != 0)
			continue;
		s[n++] = (struct detect_sample){
			.value = b->ln ? exp(b->values[i].value) : b->values[i].value,
			.boot = (int)(boot - b->boots),
			.order = (double)(boot - b->boots),
		};
	}
	*ret_n = n;
	return s;
}

int bisection_run_effect(struct bisection_run *b, const char *culprit, const char *parent,
			 struct detect_result *ret, struct err *e)
{
	size_t n_head;
	size_t n_base;
	_cleanup_(freep) struct detect_sample *head = samples_of(b, culprit, &n_head);
	_cleanup_(freep) struct detect_sample *base = samples_of(b, parent, &n_base);
	struct detect_options o = detect_options_default();

	o.single_look = true;
	o.min_effect = b->job.min_effect;
	return detect_compare(base, n_base, head, n_head, DETECT_BETTER_NONE, NULL, &o, ret, e);
}
