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
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

#define LAB_GIVE_UP  6
#define SUBJECTS_MAX 2000

/* The step that was open and this one: @b knows what to tell readers. */
static int measure(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	static const char *const states[] = {
		[BISECT_PHASE_ENDS] = "checking-ends",
		[BISECT_PHASE_SEARCH] = "running",
		[BISECT_PHASE_VERIFY] = "verifying",
	};
	int r = bisection_order(b, bisection_run_hash(b, step->commit), step->boots, step->runs, e);

	if (r >= 0)
		r = bisection_run_build_ahead(b, step, e);
	return r < 0 ? r : bisection_order_progress(b, states[step->phase], e);
}

static int decide(struct bisection_run *b, struct err *e)
{
	struct bisect_step step = { 0 };
	int r;

	r = bisect_next(&b->state, &step, e);
	if (r < 0)
		return r;
	b->step = &step;
	/* Waits for measurements under way only, and then we do not get here. */
	if (step.action == BISECT_MEASURE)
		r = measure(b, &step, e);
	else if (step.action != BISECT_WAIT)
		r = bisection_answer(b, &step, e);
	b->step = NULL;
	bisect_step_done(&step);
	return r;
}

static int advance(struct db *db, void *arg, struct err *e)
{
	struct bisection_run *b = arg;
	int r = 0;

	(void)db;
	bisection_run_rewind(b);
	if (b->waiting) {
		r = 0; /* boots are under way: their end wakes us */
	} else if (b->lab_failures >= LAB_GIVE_UP) {
		r = bisection_answer_failed(b, "failed", "the lab machines fail again and again",
					    e);
	} else if (b->good_broken) {
		r = bisection_answer_failed(b, "failed", "the good end cannot be built or booted",
					    e);
	} else {
		enum need_state need = NEED_READY;
		int64_t build;

		if (b->asked[0])
			r = need_build(b->c, &b->job, b->asked, &build, &need, e);
		if (r == 0 && need != NEED_WAIT) {
			r = bisection_run_log_step(b, e);
			if (r == 0)
				r = decide(b, e);
		}
	}
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
	r = bisection_finish(db, b->row.id, "failed", result, e);
	if (r == 0 && b->row.regression[0])
		r = regression_state(db, b->row.regression, "bisecting", "confirmed", "kperfbot",
				     u->why, e);
	return r < 0 ? r : job_finish(b->c, e);
}

/* Readers see subjects, not bare hashes. Once, and not for a whole release. */
static int store_range(struct bisection_run *b, struct err *e)
{
	size_t n = b->range.graph.n;
	int r = 0;

	if (strcmp(b->row.state, "queued") != 0 || n > SUBJECTS_MAX)
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = job_mirror_store_commit(b->c->db, b->mirror, b->range.graph.commits[i].hash, e);
	return r;
}

int job_bisect(struct job_ctx *c, struct err *e)
{
	_cleanup_(bisection_run_done) struct bisection_run b = { .c = c };
	int r;

	r = bisection_run_load(&b, json_str(c->payload, "bisection", ""), e);
	if (r == 0 && !b.row.open)
		return job_finish(c, e);
	if (r == 0)
		r = bisection_run_read_range(&b, e);
	if (r == ERR_NOENT || r == ERR_INVAL || r == ERR_TOO_BIG || r == ERR_AMBIGUOUS ||
	    r == ERR_RANGE) {
		struct err why = *e;

		return db_tx(c->db, end_unusable, &(struct unusable){ &b, why.msg }, e);
	}
	if (r == 0)
		r = store_range(&b, e);
	if (r == 0)
		r = bisection_run_replay(&b, e);
	return r < 0 ? r : db_tx(c->db, advance, &b, e);
}
