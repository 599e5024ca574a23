/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_checks.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/revert.h"

#include <math.h>
#include <string.h>

/* Failed boots after which a check is given up. */
#define FAILURES_MOST 3

static bool made_here(const struct bisection_run *b)
{
	return b->job.kconfig[0] != '\0';
}

/* Decided once, and kept with the status: the revert has to be the same in later calls. */
static int choose(struct bisection_run *b, const char *culprit, struct err *e)
{
	const char *bad = bisection_run_hash(b, (int)b->range.graph.n - 1);
	struct revert revert;
	int r;

	if (!strcmp(json_str(b->checks, "culprit", ""), culprit))
		return 0;
	json_decref(b->checks);
	b->checks = json_object();
	json_set_str(b->checks, "culprit", culprit);
	if (made_here(b)) {
		r = mirror_revert(b->mirror, culprit, bad,
				  config_str(b->c->config, "mail", NULL, "host"), &revert, e);
		if (r < 0)
			return r;
		json_set_str(b->checks, "revert_end", revert_end_name(revert.end));
		json_set_str(b->checks, "revert", revert.hash[0] ? revert.hash : NULL);
		revert_done(&revert);
	}
	return bisection_tip(b->c->db, b->row.id, b->checks, e);
}

/* Can it be measured at all? Return: 1, 0 with the reason, an error. */
static int possible(struct bisection_run *b, const char *hash, int boots, const char **ret_why,
		    struct err *e)
{
	enum need_state need = NEED_READY;
	int64_t build;
	int failed = 0, r;

	if (b->spent && bisection_run_fresh(b, hash) < boots) {
		*ret_why = "no more may be measured";
		return 0;
	}
	r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);
	if (r == 0)
		r = need_build(b->c, &b->job, hash, bisection_order_prio(b), &build, &need, e);
	for (size_t i = 0; i < b->n_boots; i++)
		failed += !strcmp(b->boots[i].commit, hash) && !b->boots[i].wanted &&
			  !b->boots[i].ok && !strcmp(b->boots[i].bisection, b->row.id);
	if (need == NEED_FAILED)
		*ret_why = "it does not build";
	else if (failed >= FAILURES_MOST)
		*ret_why = "it does not run";
	return r < 0 ? r : !*ret_why;
}

static int tell(struct bisection_run *b, const char *hash, const char *parent, json_t *o,
		const char *what, struct strbuf *text, struct err *e)
{
	struct detect_result effect;
	int r = bisection_run_effect(b, hash, parent, &effect, e);

	if (r < 0)
		return r;
	json_set_f64(o, "rel", effect.rel);
	json_set_f64(o, "lo", effect.lo);
	json_set_f64(o, "hi", effect.hi);
	json_set_f64(o, "level", effect.level);
	if (isfinite(effect.rel))
		strbuf_addf(text, "; %s %.12s gives %+.1f %%", what, hash, 100 * effect.rel);
	if (isfinite(effect.lo) && isfinite(effect.hi))
		strbuf_addf(text, " (%+.1f %% to %+.1f %%)", 100 * effect.lo, 100 * effect.hi);
	strbuf_addstr(text, " against the parent");
	return 0;
}

struct check {
	const char *key; /* in the result */
	const char *hash;
	const char *why; /* it cannot be measured */
};

static json_t *check_json(const struct bisection_run *b, const struct check *c)
{
	json_t *o = json_object();

	json_set_str(o, "commit", c->hash);
	json_set_str(o, "why", c->why);
	if (strcmp(c->key, "revert") != 0)
		return o;
	json_set_bool(o, "applies", c->hash != NULL);
	json_set_str(o, "end", json_str(b->checks, "revert_end", NULL));
	json_set_str(o, "on", bisection_run_hash(b, (int)b->range.graph.n - 1));
	return o;
}

int bisection_checks(struct bisection_run *b, const char *culprit, const char *parent, int boots,
		     json_t *result, struct strbuf *text, struct err *e)
{
	struct check checks[2] = { { .key = "revert" }, { .key = "tip" } };
	const char *wanted[2];
	size_t n = 0;
	int r = choose(b, culprit, e);

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(checks); i++) {
		checks[i].hash = json_str(b->checks, checks[i].key, NULL);
		if (!checks[i].hash)
			continue;
		r = possible(b, checks[i].hash, boots, &checks[i].why, e);
		if (r > 0)
			wanted[n++] = checks[i].hash;
	}
	if (r >= 0 && n)
		r = bisection_order_turns(b, wanted, n, boots, e);
	else if (r > 0)
		r = 0;
	if (r != 0)
		return r;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(checks); i++) {
		bool revert = !i;
		json_t *o;

		if (!checks[i].hash && !(revert && json_str(b->checks, "revert_end", NULL)))
			continue;
		o = check_json(b, &checks[i]);
		if (json_object_set_new(result, checks[i].key, o) < 0)
			abort();
		if (checks[i].hash && !checks[i].why)
			r = tell(b, checks[i].hash, parent, o,
				 revert ? "taken back on top of the bad end it"
					: "the tip of the branch",
				 text, e);
		else if (revert)
			strbuf_addstr(text, checks[i].why ? "; taken back on top of the bad end it "
							    "cannot be measured"
							  : "; it cannot be taken back cleanly on "
							    "top of the bad end");
	}
	return r;
}
