/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drive one bisection. Each call reads the range from git and everything measured from the
 * database, replays it into a fresh posterior, and asks for the next build or boots; so it may be
 * killed and called again at any point. What was measured before by anyone counts.
 */
#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/bisection_answer.h"
#include "bot/jobs/bisection_checks.h"
#include "bot/jobs/bisection_failures.h"
#include "bot/jobs/bisection_machines.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

#define WITHOUT_METRIC_MOST 3
#define SUBJECTS_MAX	    2000

static const char *state_of(enum bisect_phase phase)
{
	return phase == BISECT_PHASE_ENDS     ? "checking-ends"
	       : phase == BISECT_PHASE_VERIFY ? "verifying"
					      : "running";
}

static int index_of(const struct bisection_run *b, const char *hash)
{
	return !strcmp(hash, b->good) ? BISECT_GOOD_END
				      : bisect_graph_find(&b->range.graph, hash, NULL);
}

/* Where @pending counts a commit: the good end last; one beside the range behind it. */
static int *slot_of(const struct bisection_run *b, int *pending, const char *hash)
{
	int k = index_of(b, hash);
	size_t n = b->range.graph.n;

	return &pending[k >= 0 ? (size_t)k : k == BISECT_GOOD_END ? n : n + 1];
}

/*
 * Steps under way, @pending boots of each commit: boots that were ordered, or failed for a reason
 * that the machine's control build is about to find out, which wakes us; and builds. Steps that
 * have ended are told.
 */
static int look_around(struct bisection_run *b, int *pending, int *ret_busy, struct err *e)
{
	size_t keep = 0;

	*ret_busy = 0;
	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *o = &b->boots[i];

		if (strcmp(o->bisection, b->row.id) != 0 || !(o->wanted || o->unproven) ||
		    bisection_machines_aside(b, o))
			continue;
		++*slot_of(b, pending, o->commit);
		++*ret_busy;
	}
	for (size_t i = 0; i < b->n_asked; i++) {
		int *boots = slot_of(b, pending, b->asked[i].hash);
		enum need_state need = NEED_READY;
		int64_t build;
		int r = 0;

		if (!*boots)
			r = need_build(b->c, &b->job, b->asked[i].hash, bisection_order_prio(b),
				       &build, &need, e);
		if (r == 0 && need == NEED_WAIT) {
			++*boots;
			++*ret_busy;
		} else if (r == 0 && !*boots) {
			r = bisection_run_log_step(b, &b->asked[i], e);
		}
		if (r < 0)
			return r;
		if (r == 0)
			b->asked[keep++] = b->asked[i];
	}
	b->n_asked = keep;
	return 0;
}

/* Orders what @step asks for. @pending: counts it. */
static int measure(struct bisection_run *b, const struct bisect_step *step, int *pending,
		   struct err *e)
{
	/* Others than the first machine may be at it before their level is known. */
	bool first = step->phase != BISECT_PHASE_SEARCH ||
		     b->slots <= (int)json_array_size(b->row.machines);
	int r = bisection_order(b, bisection_run_hash(b, step->commit), step->boots, step->runs,
				first, e);

	pending[step->commit == BISECT_GOOD_END ? (int)b->range.graph.n : step->commit] +=
		step->boots;
	return r < 0 ? r : 0;
}

/* A step for each machine that is free, or the answer once nothing is under way. */
static int decide(struct bisection_run *b, struct err *e)
{
	const size_t n = b->range.graph.n;
	_cleanup_(freep) int *pending = xcalloc(n + 2, sizeof(*pending));
	const char *state = strcmp(b->row.state, "queued") != 0 ? b->row.state : "checking-ends";
	struct bisect_step step = { 0 };
	bool answered = false;
	int busy;
	int r = look_around(b, pending, &busy, e);

	if (r == 0 && b->late) {
		/* What is under way comes too late. */
		memset(pending, 0, (n + 2) * sizeof(*pending));
		busy = 0;
		r = boot_cancel_bisection(b->c->db, b->row.id, e);
		if (r == 0 && !b->state.n_runs)
			return bisection_answer_failed(
				b, "failed", "its deadline passed before anything was measured", e);
	}

	if (r == 0 && b->fork.stage == BISECTION_BASES && !busy && !b->late) {
		r = bisection_bases_order(b, e);
		if (r != 0)
			return r < 0 ? r : bisection_order_progress(b, state, e);
	}
	for (bool more = true; r == 0 && more && busy < b->slots; busy++) {
		bisect_step_done(&step);
		for (size_t i = 0; r == 0 && i <= n; i++)
			r = bisect_set_pending(&b->state, i == n ? BISECT_GOOD_END : (int)i,
					       pending[i], e);
		if (r == 0)
			r = bisect_next(&b->state, &step, e);
		if (r < 0)
			return r;
		b->step = &step;
		more = step.action == BISECT_MEASURE;
		if (more) {
			state = state_of(step.phase);
			r = measure(b, &step, pending, e);
		} else if (step.action != BISECT_WAIT && busy == 0) {
			r = bisection_answer(b, &step, e);
			answered = true;
		}
	}
	if (r == 0 && !answered && step.action == BISECT_MEASURE &&
	    step.phase == BISECT_PHASE_SEARCH && b->fork.stage != BISECTION_BASES)
		r = bisection_machines_join(b, e);
	if (r == 0 && !answered && step.phase == BISECT_PHASE_VERIFY &&
	    b->fork.stage != BISECTION_BASES && b->fork.stage != BISECTION_GOOD_SIDE &&
	    config_bool(b->c->config, "bisect", NULL, "build-ahead"))
		r = bisection_checks_ahead(b, bisection_run_hash(b, step.likeliest), e);
	if (r == 0 && !answered)
		r = bisection_run_build_ahead(b, &step, e);
	if (r == 0 && !answered)
		r = bisection_order_progress(b, state, e);
	b->step = NULL;
	bisect_step_done(&step);
	return r;
}

/* At its deadline it is woken, whatever happens meanwhile. */
static int wake_at_deadline(struct bisection_run *b, struct err *e)
{
	int64_t at = json_i64(b->row.request, "deadline_s", 0);

	if (!at || b->late || strcmp(b->row.state, "queued") != 0)
		return 0;
	return bisection_order_wake(b, "deadline", (double)(at - b->now_s), e);
}

static int wake(struct db *db, void *arg, struct err *e)
{
	struct job_ctx *c = arg;
	int r = work_enqueue_name(db, "bisect", "bisection", json_str(c->payload, "bisection", ""),
				  e);

	return r < 0 ? r : job_finish(c, e);
}

static int lab_failed(struct bisection_run *b, struct err *e)
{
	_cleanup_(freep) char *why =
		xasprintf("the lab fails again and again, last with %s on machine %s: %.200s",
			  b->lab_last->class, b->lab_last->machine, b->lab_last->detail);

	return bisection_answer_failed(b, "failed", why, e);
}

static int advance(struct db *db, void *arg, struct err *e)
{
	struct bisection_run *b = arg;
	int r;

	(void)db;
	bisection_run_rewind(b);
	if (b->lab_failures >= BISECTION_LAB_GIVE_UP)
		r = lab_failed(b, e);
	else if (b->without_metric >= WITHOUT_METRIC_MOST && b->n_values == 0)
		r = bisection_answer_failed(b, "failed", "the job gives no value of the metric", e);
	else if (b->good_broken)
		r = bisection_answer_failed(b, "failed", "the good end cannot be built or booted",
					    e);
	else
		r = decide(b, e);
	if (r >= 0)
		r = wake_at_deadline(b, e);
	FAILPOINT("bisect.before_commit");
	return r < 0 ? r : job_finish(b->c, e);
}

struct unusable {
	struct bisection_run *b;
	const char *why;
};

/* What can never work ends the bisection with a reason that a person can read. */
static int end_unusable(struct db *db, void *arg, struct err *e)
{
	const struct unusable *u = arg;
	struct bisection_run *b = u->b;
	_cleanup_(json_decrefp) json_t *result = json_object();
	int r;

	json_set_str(result, "text", u->why);
	r = bisection_finish(db, &b->row, "failed", result, e);
	if (r == 0 && b->row.regression[0])
		r = regression_state(db, b->row.regression, "bisecting", "confirmed", "kperfbot",
				     u->why, e);
	return r < 0 ? r : job_finish(b->c, e);
}

/* Readers see subjects, not bare hashes. Once, and not for a whole release. */
static int store_range(struct bisection_run *b, struct err *e)
{
	bool begins = !strcmp(b->row.state, "queued");
	size_t n = b->range.graph.n;
	int r = 0;

	if (b->fork.stage == BISECTION_BAD_SIDE || b->fork.stage == BISECTION_GOOD_SIDE) {
		begins = !b->fork.stored;
		b->fork.stored = true;
	}
	if (!begins || n > SUBJECTS_MAX)
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = job_mirror_store_commit(b->c->db, b->mirror, b->range.graph.commits[i].hash, e);
	return r;
}

/* A person has ended it: what it still waits for is taken back, and its regression stays as it is. */
static int tidy_up(struct db *db, void *arg, struct err *e)
{
	struct bisection_run *b = arg;
	struct regression reg = { 0 };
	int r = boot_cancel_bisection(db, b->row.id, e);

	if (r == 0 && b->row.regression[0] && !strcmp(b->row.state, "cancelled")) {
		r = regression_get(db, b->row.regression, &reg, e);
		if (r == 0 && !strcmp(reg.state, "bisecting"))
			r = regression_state(db, reg.id, "bisecting", "confirmed", "kperfbot",
					     "its bisection was cancelled", e);
		regression_done(&reg);
	}
	return r < 0 ? r : job_finish(b->c, e);
}

/* It was cancelled while its next step was thought about, or given more runs as it was to end. */
static int changed_meanwhile(struct job_ctx *c, const struct bisection_run *was, struct err *e)
{
	_cleanup_(bisection_run_done) struct bisection_run b = { .c = c };
	struct err why = *e;
	int r = bisection_run_load(&b, was->row.id, e);

	if (r < 0)
		return r;
	if (!b.row.open)
		return db_tx(c->db, tidy_up, &b, e);
	if (json_i64(b.row.request, "max_runs", -1) != json_i64(was->row.request, "max_runs", -1))
		return db_tx(c->db, wake, c, e);
	return err_set(e, ERR_CONFLICT, "%s", why.msg);
}

/* One more try for a regression whose last bisection found nothing. */
static int take_over(struct bisection_run *b, struct err *e)
{
	const char *id = json_str(b->row.request, "regression", NULL);
	bool taken;
	int r;

	if (!id || b->row.regression[0])
		return 0;
	r = bisection_take_over(b->c->db, b->row.id, &taken, e);
	if (r < 0 || !taken)
		return r;
	(void)snprintf(b->row.regression, sizeof(b->row.regression), "%s", id);
	return regression_state(b->c->db, id, "confirmed", "bisecting", "kperfbot",
				"its commit is looked for once more", e);
}

static int take_over_tx(struct db *db, void *arg, struct err *e)
{
	(void)db;
	return take_over(arg, e);
}

int job_bisect(struct job_ctx *c, struct err *e)
{
	_cleanup_(bisection_run_done) struct bisection_run b = { .c = c };
	int r;

	if (json_is_true(json_object_get(c->payload, "wake")))
		return db_tx(c->db, wake, c, e);
	r = bisection_run_load(&b, json_str(c->payload, "bisection", ""), e);
	if (r == 0 && !b.row.open)
		return db_tx(c->db, tidy_up, &b, e);
	if (r == 0)
		r = db_tx(c->db, take_over_tx, &b, e);
	if (r == 0)
		r = bisection_run_read_range(&b, e);
	if (r == ERR_NOENT || r == ERR_INVAL || r == ERR_TOO_BIG || r == ERR_AMBIGUOUS ||
	    r == ERR_RANGE) {
		struct err why = *e;

		r = db_tx(c->db, end_unusable, &(struct unusable){ &b, why.msg }, e);
		return r == ERR_CONFLICT ? changed_meanwhile(c, &b, e) : r;
	}
	if (r == 0)
		r = store_range(&b, e);
	if (r == 0)
		r = bisection_run_replay(&b, e);
	if (r == 0) {
		if (b.fork.stage != BISECTION_BASES)
			bisection_run_forecast(&b);
		r = db_tx(c->db, advance, &b, e);
	}
	return r == ERR_CONFLICT ? changed_meanwhile(c, &b, e) : r;
}
