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
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

/*
 * Fresh boots of culprit and parent, each, before a commit is named: as many as detect_compare()
 * wants of a metric without history before it gives an interval.
 */
#define VERIFY_BOOTS 5
#define LAB_GIVE_UP  6
#define SUBJECTS_MAX 2000

static int progress(struct bisection_run *b, const char *state, struct err *e)
{
	_cleanup_(json_decrefp) json_t *status = bisection_run_status(b);

	return bisection_progress(b->c->db, b->row.id, state, status, e);
}

static int finish(struct bisection_run *b, const char *state, json_t *result, struct err *e)
{
	int r;

	(void)snprintf(b->asked, sizeof(b->asked), "%s", "");
	r = progress(b, "verifying", e);
	if (r == 0)
		r = bisection_finish(b->c->db, b->row.id, state, result, e);
	if (r == 0)
		log_info("bisection ended", lf_str("BISECT_ID", b->row.id), lf_str("STATE", state));
	return r;
}

static int give_up(struct bisection_run *b, const char *state, const char *text, struct err *e)
{
	_cleanup_(json_decrefp) json_t *result = json_object();
	int r;

	json_set_str(result, "text", text);
	r = finish(b, state, result, e);
	if (r == 0 && b->row.regression[0])
		r = regression_state(b->c->db, b->row.regression, "bisecting", "confirmed",
				     "kperfbot", text, e);
	return r;
}

/* The commits that hold 95 %, when no single one can be named. */
static int give_up_set(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s; 95 %% lies in %zu commits:",
		    step->exhausted ? "the budget is spent" : "the rest cannot be tested",
		    step->n_set);
	for (size_t i = 0; i < step->n_set && i < 20; i++)
		strbuf_addf(&text, " %.12s", b->range.graph.commits[step->set[i]].hash);
	return give_up(b, "inconclusive", text.s, e);
}

/* Orders @n boots of a commit, building it first when that is needed. Return: 1 something asked. */
static int ask(struct bisection_run *b, const char *hash, int boots, int runs, struct err *e)
{
	struct boot_order o = {
		.commit = hash, .job = b->job.id, .bisection = b->row.id, .runs = runs
	};
	enum need_state need = NEED_WAIT;
	int r;

	r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);
	if (r == 0)
		r = need_build(b->c, &b->job, hash, &o.build, &need, e);
	if (r < 0)
		return r;
	/* Asked again after its build: the step goes on. */
	if (strcmp(b->asked, hash) != 0)
		b->asked_at = b->now_s;
	(void)snprintf(b->asked, sizeof(b->asked), "%s", hash);
	/* A build that fails wakes us: the commit is then skipped. */
	for (int i = 0; need == NEED_READY && r == 0 && i < boots; i++)
		r = boot_order(b->c->db, &o, b->job.group, true, e);
	return r < 0 ? r : 1;
}

/* Asks for fresh boots of culprit and parent in turns. Return: 1 asked, 0 there are enough. */
static int verify(struct bisection_run *b, const char *culprit, const char *parent, struct err *e)
{
	int have[2] = { bisection_run_fresh(b, parent), bisection_run_fresh(b, culprit) };
	const char *hash[2] = { parent, culprit };
	int asked = 0;

	for (int i = 0; have[0] < VERIFY_BOOTS || have[1] < VERIFY_BOOTS; i++) {
		for (int k = 0; k < 2; k++) {
			int s = (i + k) % 2;
			int r;

			if (have[s]++ >= VERIFY_BOOTS)
				continue;
			r = ask(b, hash[s], 1, b->job.runs_per_boot, e);
			if (r < 0)
				return r;
			asked = 1;
		}
	}
	return asked;
}

static int name_culprit(struct bisection_run *b, const struct bisect_step *step,
			const char *culprit, const char *parent, const struct detect_result *effect,
			struct err *e)
{
	struct comparison_effect ce = { effect->rel, effect->lo, effect->hi, effect->p };
	_cleanup_(json_decrefp) json_t *result =
		bisection_run_result(step, culprit, parent, effect);
	struct regression reg = { 0 };
	char same[9] = "";
	int r;

	r = finish(b, "done", result, e);
	if (r < 0 || !b->row.regression[0])
		return r;
	/* Two bisections may find it at the same time, one of them has to see the other. */
	r = regression_lock(b->c->db, culprit, e);
	if (r == 0)
		r = regression_get(b->c->db, b->row.regression, &reg, e);
	if (r == 0)
		r = regression_blame(b->c->db, reg.id, culprit, step->probability, parent, &ce, e);
	if (r == 0)
		r = regression_same(b->c->db, &reg, culprit, same, e);
	if (r == 0 && same[0]) {
		log_info("culprit was reported before, no second report",
			 lf_str("REGRESSION_ID", reg.id), lf_str("COMMIT", culprit));
		r = regression_dup(b->c->db, reg.id, same, e);
	} else if (r == 0) {
		r = regression_state(b->c->db, reg.id, "bisecting", "confirmed", "kperfbot",
				     "first bad commit found", e);
		if (r == 0)
			r = work_enqueue_name(b->c->db, "report", "regression", reg.id, e);
	}
	regression_done(&reg);
	return r;
}

static int on_found(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	const char *culprit = bisection_run_hash(b, step->commit);
	const char *parent = bisection_run_parent(b, step->commit);
	struct detect_result effect;
	int r;

	r = verify(b, culprit, parent, e);
	if (r < 0)
		return r;
	if (r > 0)
		return progress(b, "verifying", e);
	r = bisection_run_effect(b, culprit, parent, &effect, e);
	if (r < 0)
		return r;
	if (!(effect.lo > 0 || effect.hi < 0))
		return give_up(b, "not-reproduced",
			       "measured again, the commit found does not differ from its parent",
			       e);
	return name_culprit(b, step, culprit, parent, &effect, e);
}

static int decide(struct bisection_run *b, struct err *e)
{
	struct bisect_step step = { 0 };
	const char *state = "running";
	int r;

	r = bisect_next(&b->state, &step, e);
	if (r < 0)
		return r;
	b->step = &step;
	switch (step.action) {
	case BISECT_MEASURE:
		if (step.phase == BISECT_PHASE_ENDS)
			state = "checking-ends";
		else if (step.phase == BISECT_PHASE_VERIFY)
			state = "verifying";
		r = ask(b, bisection_run_hash(b, step.commit), step.boots, step.runs, e);
		if (r > 0) {
			int ahead = bisection_run_build_ahead(b, &step, e);

			r = ahead < 0 ? ahead : r;
		}
		if (r > 0)
			r = progress(b, state, e);
		break;
	case BISECT_WAIT: /* only with measurements under way, and then we do not get here */
		break;
	case BISECT_DONE:
		r = on_found(b, &step, e);
		break;
	case BISECT_NONE:
		r = give_up(b, "not-reproduced", "the ends do not differ today", e);
		break;
	case BISECT_SET:
		r = give_up_set(b, &step, e);
		break;
	case BISECT_ENDS_BROKEN:
		r = give_up(b, "failed", "an end of the range cannot be built or booted", e);
		break;
	}
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
		r = give_up(b, "failed", "the lab machines fail again and again", e);
	} else if (b->good_broken) {
		r = give_up(b, "failed", "the good end cannot be built or booted", e);
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
