/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A head is new or moved: what shall be measured? The first sight of a branch is its baseline, one
 * boot that shows that the job works; its history is not tested. A later head is compared with the
 * one before it, for every job of the tree.
 */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_need.h"
#include "bot/store/boot.h"
#include "bot/store/build.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/store/job_def.h"

#include <string.h>

struct plan {
	struct job_ctx *c;
	const char *tree, *branch, *kind, *old_hash, *new_hash;
};

static int plan_baseline(struct plan *p, const struct job *job, struct err *e)
{
	struct boot_order o = { .commit = p->new_hash, .job = job->id, .runs = job->runs_per_boot };
	enum need_state state = NEED_WAIT;
	int r;

	r = need_build(p->c, job, p->new_hash, 0, &o.build, &state, e);
	if (r < 0 || state == NEED_FAILED)
		return r;
	return boot_order(p->c->db, &o, job->group, state == NEED_READY, e);
}

static int plan_comparison(struct plan *p, const struct job *job, struct err *e)
{
	const struct comparison_ask ask = { .tree = p->tree,
					    .branch = p->branch,
					    .base = p->old_hash,
					    .head = p->new_hash,
					    .job = job->id };
	int64_t id;

	return comparison_want(p->c->db, &ask, &id, e);
}

static int plan_job(struct plan *p, const char *name, struct err *e)
{
	_cleanup_(job_done) struct job job = { 0 };
	bool first = !strcmp(p->kind, "first") || !strcmp(p->kind, "new");
	int64_t id;
	int r;

	r = job_sync(p->c->db, p->c->config, name, &id, e);
	if (r == 0)
		r = job_get(p->c->db, id, &job, e);
	if (r < 0)
		return r;
	return first ? plan_baseline(p, &job, e) : plan_comparison(p, &job, e);
}

static int store_plan(struct db *db, void *arg, struct err *e)
{
	struct plan *p = arg;
	_cleanup_(job_defs_done) struct job_defs defs = { 0 };
	int r;

	(void)db;
	r = job_defs_all(p->c->config, &defs, e);
	vec_foreach (d, &defs.list)
		if (r == 0 && job_wants_tree(p->c->config, d->section, p->tree))
			r = plan_job(p, d->name, e);
	FAILPOINT("plan.before_commit");
	return r < 0 ? r : job_finish(p->c, e);
}

int job_plan(struct job_ctx *c, struct err *e)
{
	struct plan p = { .c = c,
			  .tree = json_str(c->payload, "tree", ""),
			  .branch = json_str(c->payload, "branch", ""),
			  .kind = json_str(c->payload, "kind", ""),
			  .old_hash = json_str(c->payload, "old", ""),
			  .new_hash = json_str(c->payload, "new", "") };

	return db_tx(c->db, store_plan, &p, e);
}
