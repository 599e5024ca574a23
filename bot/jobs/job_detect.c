/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drive one comparison: builds, boots in turns, verdict, and more boots until the verdict is sure.
 * Everything is read from the database each time; the handler may be killed and called again at
 * any point.
 */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/detect/judged.h"
#include "bot/detect/verdict_json.h"
#include "bot/jobs/detect_plan.h"
#include "bot/jobs/history.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_need.h"
#include "bot/store/boot.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/store/measured.h"
#include "runners/drivers/driver.h"
#include "runners/monitors/monitor.h"

#include <math.h>
#include <string.h>

/* Boots of a side that may fail before we give up on it. */
#define MAX_FAILED 4

struct side {
	const char *commit;
	int64_t build;
	enum need_state need;
	int ok, failed, blamed;
	char why[256]; /* class and detail of the last failed boot */
};

struct detection {
	struct job_ctx *c;
	struct comparison cmp;
	struct job job;
	struct side base, head;
	int waiting;
	int64_t in_a_week; /* comparisons that ended lately, each a chance to be wrong */
};

static void detection_done(struct detection *d)
{
	comparison_done(&d->cmp);
	job_done(&d->job);
}

/* Who waits for this comparison, and what it adds to the history of the branch. */
static int tell(struct detection *d, const char *verdict, struct err *e)
{
	int r = 0;

	if (!strcmp(d->cmp.purpose, "layout"))
		return work_enqueue_name(d->c->db, "report", "regression", d->cmp.regression, e);
	if (!strcmp(d->cmp.purpose, "confirm"))
		r = history_confirmed(d->c, &d->cmp, verdict, e);
	return r < 0 || !verdict ? r : history_update(d->c, &d->cmp, &d->job, e);
}

static int end(struct detection *d, const char *state, const char *verdict, const char *detail,
	       struct err *e)
{
	int r;

	log_info("comparison ended", lf_i64("COMPARISON_ID", d->cmp.id),
		 lf_str("STATE", verdict ? verdict : state), lf_str("ERROR", detail),
		 lf_i64("BOOTS", d->base.ok + d->head.ok));
	r = comparison_finish(d->c->db, d->cmp.id, state, verdict, detail, e);
	return r < 0 ? r : tell(d, verdict, e);
}

static int count_boots(struct detection *d, struct err *e)
{
	struct boot_brief *boots;
	size_t n;
	int r;

	r = boot_of_comparison(d->c->db, d->cmp.id, lab_unsure_classes(), &boots, &n, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct side *s = !strcmp(boots[i].commit, d->cmp.head) ? &d->head : &d->base;
		enum lab_class class;

		/* Whose fault it was is found out by the machine's control build, which wakes us. */
		if (boots[i].wanted || boots[i].unproven) {
			d->waiting++;
		} else if (boots[i].excluded) {
			continue;
		} else if (boots[i].ok) {
			s->ok++;
		} else if (boots[i].class[0]) {
			/* What the job asks for and the machine has not is not there the next time either. */
			s->failed += !strcmp(boots[i].class, "too-small") ||
						     !strcmp(boots[i].class, "setup")
					     ? MAX_FAILED + s->ok
					     : 1;
			if (lab_class_find(boots[i].class, &class, NULL) == 0)
				s->blamed += lab_class_blames_kernel(class);
			(void)snprintf(s->why, sizeof(s->why), "%s: %.200s", boots[i].class,
				       boots[i].detail);
		}
	}
	free(boots);
	return 0;
}

/* In turns, A B B A: a drift of the machine falls on both sides alike. */
static int order_boots(struct detection *d, int want, struct err *e)
{
	int need[2] = { want - d->base.ok, want - d->head.ok };
	struct side *sides[2] = { &d->base, &d->head };
	int r = 0;

	for (int i = 0; r == 0 && (need[0] > 0 || need[1] > 0); i++) {
		for (int k = 0; r == 0 && k < 2; k++) {
			int s = (i + k) % 2;
			struct boot_order o = { .commit = sides[s]->commit,
						.build = sides[s]->build,
						.job = d->job.id,
						.comparison = d->cmp.id,
						.runs = d->job.runs_per_boot };

			if (need[s]-- > 0)
				r = boot_order(d->c->db, &o, d->job.group, true, e);
		}
	}
	return r;
}

/* Both sides as they were measured; only the job's metric may be reported. */
static int fill_runs(struct detection *d, struct runs *base, struct runs *head, struct err *e)
{
	struct runs *sides;
	size_t n;
	int r;

	r = comparison_runs(d->c->db, d->cmp.id, &sides, &n, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		bool is_head = !strcmp(sides[i].kernel, d->cmp.head);

		vec_foreach (m, &sides[i].metrics)
			m->headline = !strcmp(m->name, d->job.metric);
		*(is_head ? head : base) = sides[i];
		sides[i] = (struct runs){ 0 };
	}
	measured_free(sides, n);
	if (!base->kernel)
		base->kernel = xstrdup(d->cmp.base);
	if (!head->kernel)
		head->kernel = xstrdup(d->cmp.head);
	return 0;
}

static struct detect_options options_of(const struct detection *d)
{
	struct detect_options o = detect_options_default();
	double tolerated = config_f64(d->c->config, "detect", NULL, "false-reports");

	o.fdr_q = fmin(o.fdr_q, tolerated / (double)(d->in_a_week + 1));
	o.alpha = config_f64(d->c->config, "detect", NULL, "level");
	o.target_effect = config_f64(d->c->config, "detect", NULL, "target-effect");
	o.min_effect = d->job.min_effect;
	if (d->cmp.target > 0) {
		/*
		 * Asked about one change, which may be smaller than usual. It is none if not even
		 * half of it is there: of a loss in parts the two commits may hold less than all.
		 */
		o.target_effect = fmin(d->cmp.target, .5) * 2 / 3;
		o.min_effect = fmin(o.min_effect, o.target_effect / 2);
	}
	return o;
}

/* A regression, and the bisection that looks for its commit. */
static int found_regression(struct detection *d, const struct detect_result *res, struct err *e)
{
	struct regression reg = { .tree = d->cmp.tree,
				  .branch = d->cmp.branch,
				  .job = d->job.id,
				  .comparison = d->cmp.id,
				  .metric = d->job.metric,
				  .rel = res->size_rel,
				  .lo = res->size_lo,
				  .hi = res->size_hi,
				  .level = res->level };
	char why[160];
	int r;

	memcpy(reg.base, d->cmp.base, sizeof(reg.base));
	memcpy(reg.head, d->cmp.head, sizeof(reg.head));
	(void)snprintf(why, sizeof(why), "%s %+.1f%% on %d + %d boots", reg.metric,
		       100 * res->size_rel, res->base.boots, res->head.boots);
	r = regression_add(d->c->db, &reg, why, e);
	if (r <= 0)
		return r;
	log_info("regression found", lf_str("REGRESSION_ID", reg.id), lf_str("METRIC", reg.metric),
		 lf_str("COMMIT", reg.head));
	return bisection_add(d->c->db, &reg, e);
}

static int conclude(struct detection *d, const struct detect_result *res, const char *evidence,
		    struct err *e)
{
	struct comparison_effect effect = { res->size_rel, res->size_lo, res->size_hi, res->p };
	const char *verdict = detect_verdict_name(res->verdict);
	struct detect_options o = options_of(d);
	int have = d->base.ok < d->head.ok ? d->base.ok : d->head.ok;
	int want = detect_boots_wanted(&o, res, have);
	int look = want > d->cmp.look ? want : d->cmp.look;
	int r;

	r = comparison_look(d->c->db, d->cmp.id, look, evidence, verdict, &effect, e);
	if (r < 0)
		return r;
	if (want > 0)
		return order_boots(d, want, e);
	if (res->more_units > 0)
		return end(d, "done", detect_verdict_name(DETECT_NOT_ENOUGH_DATA),
			   "too many boots did not measure the metric", e);
	if (res->verdict == DETECT_REGRESSION && strcmp(d->cmp.purpose, "layout") != 0) {
		r = found_regression(d, res, e);
		if (r < 0)
			return r;
	}
	return end(d, "done", verdict, NULL, e);
}

/* Programs such as perf slow the benchmark down: what it says of itself beside them does not count. */
static const char *profiler_of(const struct job *job)
{
	const json_t *name;
	size_t i;

	json_array_foreach (job->monitors, i, name) {
		const struct monitor *m = monitor_find(json_string_value(name));

		if (m && !m->cheap)
			return m->name;
	}
	return NULL;
}

static int end_unmeasured(struct detection *d, struct err *e)
{
	const char *profiler = profiler_of(&d->job);
	_cleanup_(freep) char *why =
		profiler ? xasprintf("nothing is judged by runs with monitor %s; leave it out of "
				     "the jobs that compare heads",
				     profiler)
			 : xstrdup("the headline metric was not measured on both sides");

	return end(d, "failed", NULL, why, e);
}

static int judge(struct detection *d, struct err *e)
{
	_cleanup_(runs_done) struct runs base = { 0 };
	_cleanup_(runs_done) struct runs head = { 0 };
	_cleanup_(judged_done) struct judged judged = { 0 };
	_cleanup_(detect_past_done) struct detect_past past = { 0 };
	_cleanup_(strbuf_done) struct strbuf evidence = STRBUF_INIT;
	struct detect_options o = options_of(d);
	struct judged_plan plan = { .options = &o };
	int r;

	r = fill_runs(d, &base, &head, e);
	if (r == 0)
		r = detect_past_load(d->c, &d->cmp, d->job.group, NULL, &past, e);
	plan.history = past.history;
	plan.nhistory = past.nhistory;
	plan.nborrowed = past.nborrowed;
	if (r == 0)
		r = judged_compare(&base, &head, &plan, &judged, e);
	if (r < 0)
		return r;
	judged_write(&judged, &base, &head, &evidence);
	vec_foreach (m, &judged.metrics)
		if (!strcmp(m->name, d->job.metric))
			return conclude(d, &m->result, strbuf_str(&evidence), e);
	return end_unmeasured(d, e);
}

static bool cannot_boot(const struct side *s, const char *name, char *buf, size_t size)
{
	if (!(s->blamed >= 2 && !s->ok) && s->failed < MAX_FAILED + s->ok)
		return false;
	(void)snprintf(buf, size, "%s %.12s cannot be measured: %s", name, s->commit, s->why);
	return true;
}

/*
 * A head that cannot be measured must not hide what came with it: the next head is compared with
 * what that one was compared with.
 */
static int end_without_base(struct detection *d, const char *why, struct err *e)
{
	_cleanup_(freep) char *text = NULL;
	struct comparison_ask ask = {
		.tree = d->cmp.tree, .branch = d->cmp.branch, .head = d->cmp.head, .job = d->job.id
	};
	char older[41];
	int64_t id;
	int r;

	r = comparison_base_before(d->c->db, &d->cmp, older, e);
	if (r < 0)
		return r;
	if (!older[0] || strcmp(d->cmp.purpose, "head") != 0)
		return end(d, "failed", NULL, why, e);
	ask.base = older;
	r = comparison_want(d->c->db, &ask, &id, e);
	text = xasprintf("%s; compared with %.12s instead", why, older);
	return r < 0 ? r : end(d, "failed", NULL, text, e);
}

/* Before the first boot: how many make a look, and what each look can see. */
static int first_look(struct detection *d, int *ret, struct err *e)
{
	_cleanup_(detect_past_done) struct detect_past past = { 0 };
	_cleanup_(json_decrefp) json_t *plan = NULL;
	struct detect_options o = options_of(d);
	int r;

	r = detect_past_load(d->c, &d->cmp, d->job.group, d->job.metric, &past, e);
	if (r == 0)
		r = detect_plan_make(&past, d->job.metric, (size_t)d->job.runs_per_boot, &o, &plan,
				     ret, e);
	if (r == 0)
		r = comparison_plan(d->c->db, d->cmp.id, plan, e);
	return r < 0 ? r : comparison_look(d->c->db, d->cmp.id, *ret, NULL, NULL, NULL, e);
}

static int measure(struct detection *d, struct err *e)
{
	int look = d->cmp.look;
	int r = look ? 0 : first_look(d, &look, e);

	if (r < 0)
		return r;
	return d->base.ok >= look && d->head.ok >= look ? judge(d, e) : order_boots(d, look, e);
}

static int advance(struct db *db, void *arg, struct err *e)
{
	struct detection *d = arg;
	char why[400];
	int r;

	(void)db;
	r = need_build_variant(d->c, &d->job, d->base.commit, d->cmp.variant, &d->base.build,
			       &d->base.need, e);
	if (r == 0)
		r = need_build_variant(d->c, &d->job, d->head.commit, d->cmp.variant,
				       &d->head.build, &d->head.need, e);
	if (r < 0)
		return r;
	if (d->head.need == NEED_FAILED) {
		r = end(d, "failed", NULL, "head does not build", e);
	} else if (d->base.need == NEED_FAILED) {
		r = end_without_base(d, "base does not build", e);
	} else if (d->base.need == NEED_WAIT || d->head.need == NEED_WAIT || d->waiting) {
		r = 0; /* woken when it ends */
	} else if (cannot_boot(&d->head, "head", why, sizeof(why))) {
		r = end(d, "failed", NULL, why, e);
	} else if (cannot_boot(&d->base, "base", why, sizeof(why))) {
		r = end_without_base(d, why, e);
	} else {
		r = measure(d, e);
	}
	FAILPOINT("detect.before_commit");
	return r < 0 ? r : job_finish(d->c, e);
}

int job_detect(struct job_ctx *c, struct err *e)
{
	_cleanup_(detection_done) struct detection d = { .c = c };
	int r;

	r = comparison_get(c->db, json_i64(c->payload, "comparison", 0), &d.cmp, e);
	if (r == 0 && !d.cmp.open)
		return job_finish(c, e);
	if (r == 0)
		r = job_get(c->db, d.cmp.job, &d.job, e);
	if (r == 0)
		r = comparison_week(c->db, &d.in_a_week, e);
	d.base.commit = d.cmp.base;
	d.head.commit = d.cmp.head;
	if (r == 0)
		r = count_boots(&d, e);
	return r < 0 ? r : db_tx(c->db, advance, &d, e);
}
