/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/worker.h"

#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/settings.h"

#include <string.h>

#define MAX_ATTEMPTS 6

static const struct {
	const char *kind;
	int (*run)(struct job_ctx *c, struct err *e);
} handlers[] = {
	{ "fetch", job_fetch },	  { "fixes", job_fixes },   { "plan", job_plan },
	{ "build", job_build },	  { "boot", job_boot },	    { "detect", job_detect },
	{ "bisect", job_bisect }, { "report", job_report }, { "send", job_send },
};

/* Tells the other roles that there may be work: only a hint, so a failure does not matter. */
static void hint(struct db *db)
{
	(void)db_exec(db, "NOTIFY work", NULL);
}

static int dispatch(struct job_ctx *c, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
		if (!strcmp(handlers[i].kind, c->work->kind))
			return handlers[i].run(c, e);
	return err_set(e, ERR_BUG, "no handler for work of kind '%s'", c->work->kind);
}

/* Our own faults are tried again too: the next version of the program may do better. */
static void note_failure(struct job_ctx *c, const struct err *why)
{
	double jitter = (double)(1 + clock_realtime() % 1000) / 1000;
	bool transient = err_is_transient(why->code);
	double delay = work_backoff_s(c->work->attempts - 1, jitter);
	struct err e = { 0 };

	log_warn(transient ? "work failed, will be tried again" : "work failed",
		 lf_i64("WORK_ID", c->work->id), lf_str("WORK_KIND", c->work->kind), lf_err(*why));
	if (work_fail(c->db, c->work->id, c->work->fence, why->msg, delay,
		      transient ? 1000000 : MAX_ATTEMPTS, &e) < 0)
		log_error("could not note the failure", lf_i64("WORK_ID", c->work->id), lf_err(e));
}

int worker_run(const struct config *config, const struct worker_options *o)
{
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(work_done) struct work work = { 0 };
	_cleanup_(json_decrefp) json_t *payload = NULL;
	_cleanup_(freep) char *programs = settings_programs(config);
	struct job_ctx c = { .config = config,
			     .state_dir = settings_state_dir(config),
			     .programs = programs,
			     .machine = o->machine,
			     .work = &work };
	struct err e = { 0 };
	int r;

	r = settings_db(config, "kperfbot worker", 30, &db, &e);
	if (r == 0)
		r = work_load(db, o->work, o->fence, &work, &e);
	if (r == 0)
		r = json_read(work.payload, strlen(work.payload), "payload", &payload, &e);
	if (r != 0) {
		log_warn("could not begin work", lf_i64("WORK_ID", o->work), lf_err(e));
		return 1;
	}
	c.db = db;
	c.payload = payload;
	failpoint_scope(work.kind, work.id);
	FAILPOINT("worker.begin");
	r = dispatch(&c, &e);
	if (r == ERR_LEASE_LOST)
		log_warn("lease lost, result dropped", lf_i64("WORK_ID", work.id), lf_err(e));
	else if (r < 0)
		note_failure(&c, &e);
	else
		log_debug("work ended", lf_i64("WORK_ID", work.id), lf_str("WORK_KIND", work.kind));
	FAILPOINT("worker.end");
	failpoint_end();
	hint(db);
	return r < 0;
}

int job_finish(struct job_ctx *c, struct err *e)
{
	failpoint_last();
	return work_finish(c->db, c->work->id, c->work->fence, e);
}

char *job_mirror_dir(const struct job_ctx *c)
{
	return xasprintf("%s/mirror.git", c->state_dir);
}
