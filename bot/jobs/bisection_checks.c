/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_checks.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_outside.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/mirror.h"
#include "bot/watch/revert.h"

#include <string.h>

/* Failed boots after which a check is given up. */
#define FAILURES_MOST 3
/* Seconds that the answer waits for the builds of checks. */
#define BUILD_WAIT_S 1800
/* A deadline has to leave that much more than the boots are expected to take. */
#define DEADLINE_ROOM 1.5

static const char *const keys[] = { "revert", "tip" };

static const char *bad_end(const struct bisection_run *b)
{
	return bisection_run_hash(b, (int)b->range.graph.n - 1);
}

/* Why check @key is not measured; decided once. */
static void give_up(struct bisection_run *b, const char *key, const char *why)
{
	_cleanup_(freep) char *name = xasprintf("%s_why", key);

	json_set_str(b->checks, name, why);
}

static const char *given_up(const struct bisection_run *b, const char *key)
{
	_cleanup_(freep) char *name = xasprintf("%s_why", key);

	return json_str(b->checks, name, NULL);
}

static void keep_conflicts(struct bisection_run *b, const struct revert *revert)
{
	json_t *list = json_array();

	for (size_t i = 0; i < revert->n_paths; i++)
		if (json_array_append_new(list, json_string(revert->paths[i])) < 0)
			abort();
	if (json_object_set_new(b->checks, "conflicts", list) < 0)
		abort();
	json_set_i64(b->checks, "n_conflicts", (int64_t)revert->n_conflicts);
}

/* Nothing that git cannot do with it is a reason not to name the commit. */
static void choose_revert(struct bisection_run *b, const char *culprit)
{
	struct revert revert = { 0 };
	struct err why = { 0 };
	int r;

	if (!b->job.kconfig[0])
		return; /* nothing is built of a commit, so nothing of a revert either */
	r = mirror_revert(b->mirror, culprit, bad_end(b),
			  config_str(b->c->config, "mail", NULL, "host"), &revert, &why);
	if (r < 0) {
		log_warn("a culprit cannot be reverted, going on without",
			 lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", culprit),
			 lf_str("ERROR", why.msg));
		json_set_str(b->checks, "revert_end", "failed");
		give_up(b, "revert", why.msg);
		return;
	}
	json_set_str(b->checks, "revert_end", revert_end_name(revert.end));
	json_set_str(b->checks, "revert", revert.hash[0] ? revert.hash : NULL);
	if (revert.end == REVERT_CONFLICTS)
		keep_conflicts(b, &revert);
	revert_done(&revert);
}

/* The first tip that has the bad end in its history; that of the regression's branch in any case. */
static const struct bisection_tip *find_tip(struct bisection_run *b,
					    const struct bisection_tip *tips, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err why = { 0 };
		int r = mirror_is_ancestor(b->mirror, bad_end(b), tips[i].commit, &why);

		if (r == 0 && tips[i].own)
			json_set_bool(b->checks, "tip_strays", true);
		if (r > 0 || (r == 0 && tips[i].own))
			return &tips[i];
		if (r < 0)
			log_warn("a branch cannot be looked at, going on without",
				 lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", tips[i].commit),
				 lf_str("ERROR", why.msg));
	}
	return NULL;
}

static int choose_tip(struct bisection_run *b, struct err *e)
{
	struct bisection_tip *tips = NULL;
	const struct bisection_tip *tip;
	size_t n = 0;
	int r = bisection_tips(b->c->db, b->row.id, &tips, &n, e);

	if (r < 0)
		return r;
	tip = find_tip(b, tips, n);
	if (tip) {
		json_set_str(b->checks, "tip", tip->commit);
		json_set_str(b->checks, "tip_branch", tip->branch);
	}
	if (!tip)
		give_up(b, "tip", "no branch contains the bad end now");
	else if (!strcmp(tip->commit, bad_end(b)))
		give_up(b, "tip", "it is the bad end");
	bisection_tips_free(tips, n);
	return 0;
}

/* Decided once, and kept with the status: they have to be the same in later calls. */
int bisection_checks_choose(struct bisection_run *b, const char *culprit, struct err *e)
{
	json_t *old = json_incref(json_object_get(b->checks, "older"));

	if (!strcmp(json_str(b->checks, "culprit", ""), culprit)) {
		json_decref(old);
		return 0;
	}
	json_decref(b->checks);
	b->checks = json_object();
	/* Known whatever the culprit is. */
	if (old && json_object_set_new(b->checks, "older", old) < 0)
		abort();
	json_set_str(b->checks, "culprit", culprit);
	json_set_i64(b->checks, "at", b->now_s);
	bisection_outside_choose(b, culprit);
	choose_revert(b, culprit);
	return choose_tip(b, e);
}

/* The commit of check @key if it may still be measured, else NULL. */
static const char *commit_of(const struct bisection_run *b, const char *key)
{
	return given_up(b, key) ? NULL : json_str(b->checks, key, NULL);
}

int bisection_checks_ahead(struct bisection_run *b, const char *culprit, struct err *e)
{
	int r = bisection_checks_choose(b, culprit, e);

	if (r == 0 && b->job.kconfig[0])
		r = bisection_outside_ahead(b, e);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++) {
		const char *hash = commit_of(b, keys[i]);

		if (!hash || !b->job.kconfig[0])
			continue;
		r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);
		if (r == 0)
			r = need_build_ahead(b->c, &b->job, hash, e);
	}
	return r;
}

/* Boots of @hash for this bisection that failed, and how the last of them did. */
static int failures(const struct bisection_run *b, const char *hash, const char **ret_class)
{
	int n = 0;

	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *o = &b->boots[i];

		if (strcmp(o->commit, hash) != 0 || o->wanted || o->ok ||
		    strcmp(o->bisection, b->row.id) != 0)
			continue;
		*ret_class = o->class;
		n++;
	}
	return n;
}

/* Can the commit of @key be booted? Return: 1 its build is not there yet, 0, an error. */
static int look_at(struct bisection_run *b, const char *key, const char *hash, struct err *e)
{
	_cleanup_(freep) char *why = NULL;
	enum need_state need = NEED_READY;
	const char *class = "";
	int64_t build;
	int r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);

	if (r == 0)
		r = need_build(b->c, &b->job, hash, bisection_order_prio(b), &build, &need, e);
	if (r < 0)
		return r;
	if (need == NEED_FAILED) {
		give_up(b, key, "it does not build");
	} else if (failures(b, hash, &class) >= FAILURES_MOST) {
		why = xasprintf("it does not run: %s", class);
		give_up(b, key, why);
	} else if (need == NEED_WAIT) {
		if (b->now_s < json_i64(b->checks, "at", 0) + BUILD_WAIT_S)
			return 1;
		give_up(b, key, "its build is not made yet");
	}
	return 0;
}

static bool has_side(const struct bisection_side *sides, size_t n, const char *hash)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(sides[i].hash, hash))
			return true;
	return false;
}

static size_t add_side(struct bisection_side *sides, size_t n, const char *hash, const char *with)
{
	if (with && !has_side(sides, n, with))
		sides[n++] = (struct bisection_side){ .hash = with };
	if (!has_side(sides, n, hash))
		sides[n++] = (struct bisection_side){ .hash = hash, .with = with };
	return n;
}

/* Is there room for boots of all @sides in what the budget and the deadline leave? */
static const char *no_room(const struct bisection_run *b, const struct bisection_side *sides,
			   size_t n, int boots)
{
	const struct bisect_params *p = &b->state.params;
	int missing = bisection_order_missing(b, sides, n, boots);
	int64_t deadline = json_i64(b->row.request, "deadline_s", 0);
	double s = 60 * missing * (p->cost_boot + b->job.runs_per_boot * p->cost_run);

	if (b->own_runs + missing * b->job.runs_per_boot > b->max_runs)
		return "the budget has no runs left for it";
	if (deadline && (double)(deadline - b->now_s) < DEADLINE_ROOM * s)
		return "the deadline leaves no time for it";
	return NULL;
}

int bisection_checks_sides(struct bisection_run *b, const char *culprit, const char *parent,
			   int boots, struct bisection_side *sides, size_t *n, struct err *e)
{
	const char *against[] = { bad_end(b), parent };
	bool wait = false;
	int r = bisection_checks_choose(b, culprit, e);

	/* Nothing more is ordered: whatever there is counts. */
	if (r < 0 || b->spent)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *hash = commit_of(b, keys[i]);
		const char *why = NULL;
		size_t more;

		if (!hash)
			continue;
		r = look_at(b, keys[i], hash, e);
		if (r < 0)
			return r;
		wait |= r > 0;
		if (!commit_of(b, keys[i]))
			continue;
		more = add_side(sides, *n, hash, against[i]);
		if (!bisection_run_fresh(b, hash))
			why = no_room(b, sides, more, boots);
		if (why)
			give_up(b, keys[i], why);
		else
			*n = more;
	}
	if (!wait)
		return 0;
	r = bisection_order_wake(b, "checks", BUILD_WAIT_S, e);
	return r < 0 ? r : 1;
}
