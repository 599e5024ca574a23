/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a bisection will have its answer. */
#include "bisect/sim.h"
#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/watch/range.h"

#include <math.h>
#include <string.h>

/* Ranges that are played through, once something was measured. */
#define FORECAST_COMMITS RANGE_LONG
#define FORECAST_TRIALS	 12
#define FORECAST_STEPS	 240
/* It is made again when it takes one part of so many of the time since the last one. */
#define FORECAST_SHARE 10
/* Boots for each bit that is to be learned: fits what the search takes for steps of 1 to 10 sigma. */
#define BIT_BOOTS     1.6
#define BIT_BOOTS_D2  15
#define BIT_BOOTS_P90 1.5
/* Fresh boots of each side that verify an answer, and how many of them the search makes anyway. */
#define VERIFY_BOOTS   5
#define VERIFY_COUNTED 2
/* The pace that is seen counts against so many boots and a build at the pace that is reckoned with. */
#define PACE_BOOTS 2
#define PACE_LEAST 0.02
#define PACE_MOST  20
/* Nine times in ten the pace stays below so many times what it was. */
#define PACE_P90 1.25

/* Minutes of one boot with its runs. */
static double boot_minutes(const struct bisection_run *b)
{
	const struct bisect_params *p = &b->state.params;

	return p->cost_boot + (b->job.runs_per_boot > 0 ? b->job.runs_per_boot : 1) * p->cost_run;
}

/* Where playing it through would take too long, or nothing is known to play with. */
static void forecast_by_bits(struct bisection_run *b)
{
	const struct bisect_params *p = &b->state.params;
	double noise = hypot(p->sigma, hypot(p->boot_sd, p->commit_sd));
	double d = p->step != 0 ? fabs(p->step) / noise : 3;
	struct bisect_forecast f = { .trials = 1, .named = 1 };
	struct bisect_summary sum;

	bisect_summarise(&b->state, &sum);
	f.boots = ceil((sum.bits + 1) * (BIT_BOOTS + BIT_BOOTS_D2 / fmax(1, d * d)));
	f.builds = b->job.kconfig[0] ? ceil(sum.bits + 1) : 0;
	f.minutes = f.wall = f.builds * p->cost_incremental + f.boots * boot_minutes(b);
	f.minutes_p90 = f.wall_p90 = BIT_BOOTS_P90 * f.minutes;
	f.runs = f.boots;
	f.runs_p90 = BIT_BOOTS_P90 * f.runs;
	b->forecast = f;
	b->forecast_made = true;
}

void bisection_run_forecast(struct bisection_run *b)
{
	const json_t *last = json_object_get(b->row.status, "eta");
	double wait = FORECAST_SHARE * json_f64(last, "took_s", 0);
	usec_t from = clock_boottime();
	struct err e = { 0 };

	b->forecast_made = false;
	if (last && (double)b->now_s < json_f64(last, "made", 0) + wait)
		return;
	if (b->range.graph.n > FORECAST_COMMITS || !b->state.n_runs)
		forecast_by_bits(b);
	else
		b->forecast_made =
			bisect_forecast(&b->state, b->slots > 0 ? b->slots : 1, FORECAST_TRIALS,
					FORECAST_STEPS, 1, &b->forecast, &e) == 0;
	b->forecast_s = (double)(clock_boottime() - from) / USEC_PER_SEC;
}

/* What is to come, minutes: of machines, and of the clock at the pace reckoned with. */
struct to_come {
	double minutes;
	double wall;
	double wall_p90;
	double boots;
	double boots_p90;
};

/* Boots that @hash still lacks, with its build if it has none. */
static void add_side(struct bisection_run *b, const char *hash, bool built, struct to_come *t)
{
	int have = bisection_run_fresh(b, hash);
	double build = 0;

	for (size_t i = 0; i < b->n_boots && !built; i++)
		built = !strcmp(b->boots[i].commit, hash);
	if (!built && b->job.kconfig[0])
		build = b->state.params.cost_incremental;
	if (have < VERIFY_BOOTS) {
		t->boots += VERIFY_BOOTS - have;
		t->minutes += build + (VERIFY_BOOTS - have) * boot_minutes(b);
	}
}

/* The revert and the tip: chosen for @culprit, or what may be chosen later. */
static void add_checks(struct bisection_run *b, const char *culprit, struct to_come *t)
{
	static const char *const keys[] = { "revert", "tip" };
	bool chosen = culprit && !strcmp(json_str(b->checks, "culprit", ""), culprit);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_cleanup_(freep) char *why = xasprintf("%s_why", keys[i]);
		const char *hash = json_str(b->checks, keys[i], NULL);

		if (chosen && hash && !json_str(b->checks, why, NULL))
			add_side(b, hash, b->made_beside > 0, t);
		else if (!chosen && !i && b->job.kconfig[0])
			add_side(b, "", false, t);
	}
}

/* What verifies the answer at hand. */
static struct to_come to_verify(struct bisection_run *b, const struct bisect_step *step)
{
	struct to_come t = { 0 };
	_cleanup_(freep) const char **parents = NULL;
	const char *culprit = NULL;
	size_t n;

	if (step->action == BISECT_DONE) {
		culprit = bisection_run_hash(b, step->commit);
		n = bisection_run_parents(b, step->commit, &parents);
		add_side(b, culprit, true, &t);
		for (size_t i = 0; i < n; i++)
			add_side(b, parents[i], true, &t);
		add_checks(b, culprit, &t);
	} else if (step->action == BISECT_NONE) {
		add_side(b, b->good, true, &t);
		add_side(b, bisection_run_hash(b, (int)b->range.graph.n - 1), true, &t);
	}
	t.boots_p90 = t.boots;
	t.wall = t.wall_p90 = t.minutes;
	return t;
}

/* The forecast of the search, and what verifies the answer if that is a commit. */
static struct to_come to_search(struct bisection_run *b)
{
	const struct bisect_forecast *f = &b->forecast;
	struct to_come t = { 0 };
	double named = f->trials > 0 ? (double)f->named / f->trials : 1;
	double verify;

	t.boots = 2 * (VERIFY_BOOTS - VERIFY_COUNTED);
	t.minutes = t.boots * boot_minutes(b);
	add_checks(b, NULL, &t);
	verify = t.minutes;
	t.minutes = f->minutes + named * verify;
	t.wall = f->wall + named * verify;
	t.wall_p90 = f->wall_p90 + verify;
	t.boots = f->boots + named * t.boots;
	t.boots_p90 = t.boots + (f->runs > 0 ? f->boots * (f->runs_p90 / f->runs - 1) : 0);
	return t;
}

/* Minutes that what was done was to take: boots, builds that were made, and those under way. */
static double spent_minutes(const struct bisection_run *b)
{
	double build = b->state.params.cost_incremental, sum = 0;

	for (size_t i = 0; i < b->n_boots; i++)
		if (!strcmp(b->boots[i].bisection, b->row.id) && !b->boots[i].wanted)
			sum += boot_minutes(b);
	for (size_t i = 0; b->made && i <= b->range.graph.n; i++)
		sum += b->made[i] ? build : 0;
	for (size_t i = 0; i < b->n_asked && b->job.kconfig[0]; i++) {
		int k = bisect_graph_find(&b->range.graph, b->asked[i].hash, NULL);

		if (k >= 0 && !b->state.built[k])
			sum += fmin(build, (double)(b->now_s - b->asked[i].at) / 60);
	}
	return sum / (b->slots > 0 ? b->slots : 1);
}

/* How many times longer things take than reckoned: others use the machines, builders and roles wait. */
static double pace(const struct bisection_run *b, int64_t since)
{
	double at_first = PACE_BOOTS * boot_minutes(b) + b->state.params.cost_incremental;
	double took = (double)(b->now_s - since) / 60;

	return fmin(PACE_MOST, fmax(PACE_LEAST, (took + at_first) / (spent_minutes(b) + at_first)));
}

/* Seconds until the machines are free for its first boot. */
static double queue_s(struct bisection_run *b)
{
	struct db_rows rows = { 0 };
	struct err e = { 0 };
	double boots, machines;

	if (b->state.n_runs || db_run_one(b->c->db, SQL_BISECTION_QUEUE, &rows, &e, "si", b->row.id,
					  (int64_t)bisection_order_prio(b)) < 0)
		return 0;
	boots = (double)db_i64(&rows, 0, 0);
	machines = fmax(1, (double)db_i64(&rows, 0, 1));
	db_rows_done(&rows);
	return 60 * boots * boot_minutes(b) / machines;
}

/* Counted from the forecast on: what was done since is not to come any more. */
static bool still_to_come(struct bisection_run *b, struct to_come *t)
{
	const json_t *eta = json_object_get(b->row.status, "eta");
	double scale = boot_minutes(b) / json_f64(eta, "boot_min", NAN);
	double done = spent_minutes(b) - json_f64(eta, "spent", NAN) * scale;

	t->wall = json_f64(eta, "wall", NAN) * scale - done;
	t->wall_p90 = json_f64(eta, "wall_p90", NAN) * scale - done;
	t->boots = json_f64(eta, "boots", NAN) - done / boot_minutes(b);
	t->boots_p90 = json_f64(eta, "boots_p90", NAN) - done / boot_minutes(b);
	if (!isfinite(t->wall + t->wall_p90 + t->boots + t->boots_p90))
		return false;
	/* What took more than nine times in ten takes some more. */
	t->wall = fmax(t->wall, boot_minutes(b));
	t->wall_p90 = fmax(t->wall_p90, 2 * boot_minutes(b));
	t->boots = fmax(t->boots, 1);
	t->boots_p90 = fmax(t->boots_p90, 2);
	t->minutes = t->wall * (b->slots > 0 ? b->slots : 1);
	return true;
}

/* @made: when the forecast was. */
static void set_eta(struct bisection_run *b, const struct to_come *t, int64_t made, double took_s,
		    json_t *o)
{
	int64_t since = json_i64(json_object_get(b->row.status, "eta"), "since", b->now_s);
	double rate = pace(b, since), queue = queue_s(b);
	json_t *eta = json_object();

	json_set_f64(eta, "p50_s", ceil(queue + 60 * rate * t->wall));
	json_set_f64(eta, "p90_s",
		     ceil(queue + 60 * rate * PACE_P90 * fmax(t->wall_p90, 1.2 * t->wall)));
	json_set_i64(eta, "at", b->now_s);
	json_set_i64(eta, "since", since);
	json_set_f64(eta, "pace", rate);
	json_set_i64(eta, "made", made);
	json_set_f64(eta, "took_s", took_s);
	json_set_f64(eta, "boot_min", boot_minutes(b));
	json_set_f64(eta, "spent", spent_minutes(b));
	json_set_f64(eta, "wall", t->wall);
	json_set_f64(eta, "wall_p90", t->wall_p90);
	json_set_f64(eta, "boots", t->boots);
	json_set_f64(eta, "boots_p90", t->boots_p90);
	if (json_object_set_new(o, "eta", eta) < 0)
		abort();
	json_set_f64(o, "machine_hours_left", t->minutes / 60);
	json_set_f64(o, "steps_left", ceil(t->boots));
	json_set_f64(o, "steps_left_p90", ceil(t->boots_p90));
}

/* What was expected at first, to be compared with what it took. */
static void set_plan(struct bisection_run *b, const struct to_come *t, json_t *o)
{
	json_t *plan = json_incref(json_object_get(b->row.status, "plan"));

	if (!plan) {
		plan = json_object();
		json_set_f64(plan, "steps_p50", ceil(t->boots));
		json_set_f64(plan, "steps_p90", ceil(t->boots_p90));
		json_set_f64(plan, "machine_hours", t->minutes / 60);
		json_set_f64(plan, "p50_s", ceil(60 * t->wall));
		json_set_f64(plan, "p90_s", ceil(60 * t->wall_p90));
	}
	if (json_object_set_new(o, "plan", plan) < 0)
		abort();
}

/* While what verifies it is measured nothing is asked of the search: the commit that was found. */
static bool found_before(const struct bisection_run *b, struct bisect_step *ret)
{
	int k = bisect_graph_find(&b->range.graph, json_str(b->checks, "culprit", ""), NULL);

	*ret = (struct bisect_step){ .action = BISECT_DONE, .commit = k };
	return k >= 0 && !strcmp(b->row.state, "verifying") && b->n_boots > 0;
}

void bisection_run_eta(struct bisection_run *b, json_t *o)
{
	const json_t *last = json_object_get(b->row.status, "eta");
	struct bisect_step found;
	const struct bisect_step *step = b->step		   ? b->step
					 : found_before(b, &found) ? &found
								   : NULL;
	int64_t made = json_i64(last, "made", 0);
	double took_s = json_f64(last, "took_s", 0);
	struct to_come t = { 0 };

	if (step && (step->action == BISECT_DONE || step->action == BISECT_NONE)) {
		t = to_verify(b, step);
		made = 0;
	} else if (b->forecast_made) {
		t = to_search(b);
		made = b->now_s;
		took_s = b->forecast_s;
	} else if (!still_to_come(b, &t)) {
		return;
	}
	set_plan(b, &t, o);
	set_eta(b, &t, made, took_s, o);
}
