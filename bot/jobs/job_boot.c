/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boot a build on the machine that is held, run the job there, store raw output and values. */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/boot_machine.h"
#include "bot/jobs/boot_request.h"
#include "bot/jobs/boot_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/artefact.h"
#include "bot/store/boot.h"
#include "bot/store/build.h"
#include "bot/store/job.h"
#include "bot/store/machine.h"
#include "runners/drivers/driver.h"
#include "runners/suites/suite.h"

#include <math.h>
#include <string.h>

#define LAB_TRIES 3

struct booted {
	struct job_ctx *c;
	struct boot boot;
	struct job job;
	struct build build;
	struct lab_result lab;
	struct boot_run *runs;
	char *suite_version;
	struct boot_outcome o;
	char console[65];
	char *facts;
	const char *fault; /* of the lab; NULL when the machine did its part */
};

static void booted_done(struct booted *b)
{
	for (size_t i = 0; b->runs && i < b->lab.nruns; i++)
		boot_run_done(&b->runs[i]);
	free(b->runs);
	free(b->suite_version);
	free(b->facts);
	lab_result_done(&b->lab);
	build_done(&b->build);
	job_done(&b->job);
	boot_done(&b->boot);
}

/* A folder of this machine's own; what a killed boot left there is removed first. */
static int make_scratch(const struct job_ctx *c, char **ret, struct err *e)
{
	char *dir = xasprintf("%s/lab/%s", c->state_dir, c->machine);
	int r;

	r = file_remove_tree(dir, e);
	if (r == 0)
		r = file_mkdirs(dir, 0700, e);
	if (r < 0) {
		free(dir);
		return r;
	}
	*ret = dir;
	return 0;
}

static bool still_ours(void *arg)
{
	struct booted *b = arg;
	_cleanup_(work_done) struct work now = { 0 };

	return work_load(b->c->db, b->c->work->id, b->c->work->fence, &now, NULL) != ERR_LEASE_LOST;
}

static void note_power(void *arg, const char *text)
{
	struct booted *b = arg;

	log_info("power control", lf_str("MACHINE", b->c->machine), lf_str("STATE", text));
}

static void tell_state(void *arg, enum lab_state state)
{
	struct booted *b = arg;

	(void)machine_state(b->c->db, b->c->machine, lab_state_name(state), b->c->work->fence,
			    NULL);
}

static int run_lab(struct booted *b, struct err *e)
{
	struct job_ctx *c = b->c;
	_cleanup_(boot_request_done) struct boot_request q = { 0 };
	_cleanup_(freep) char *scratch = NULL;
	_cleanup_(freep) char *kernel = NULL;
	char nonce[33];
	int r;

	r = make_scratch(c, &scratch, e);
	if (r == 0)
		r = boot_request_make(c, &b->job, &q, e);
	if (r < 0)
		return r;
	random_hex(16, nonce);
	if (b->build.image && b->build.image[0])
		kernel = artefact_path(c->state_dir, b->build.image);
	q.request.kernel_path = kernel;
	q.request.build_id = b->build.gnu_build_id;
	q.request.runs = (unsigned)b->boot.wanted_runs;
	q.request.nonce = nonce;
	q.request.scratch_dir = scratch;
	q.request.progress = tell_state;
	q.request.progress_arg = b;
	q.machine.power.still_ours = still_ours;
	q.machine.power.note = note_power;
	q.machine.power.arg = b;
	r = lab_boot(&q.machine, &q.request, &b->lab, e);
	(void)file_remove_tree(scratch, NULL);
	return r;
}

/* Does it say nothing about the commit? Then the boot is made again. */
static bool lab_is_at_fault(enum lab_class class)
{
	return lab_class_blames_machine(class) || class == LAB_AGENT || class == LAB_WRONG_KERNEL ||
	       class == LAB_CANCELLED;
}

static int evaluate(struct booted *b, struct err *e)
{
	size_t good = 0;
	int r = 0;

	b->runs = xcalloc(b->lab.nruns, sizeof(*b->runs));
	for (size_t i = 0; r == 0 && i < b->lab.nruns; i++) {
		r = boot_run_read(b->c, &b->job, &b->lab, i, &b->runs[i], e);
		good += r == 0 && !strcmp(b->runs[i].row.class, "ok");
	}
	if (r == 0 && b->lab.console_len)
		r = artefact_put(b->c->db, b->c->state_dir, "console", b->lab.console,
				 b->lab.console_len, b->console, e);
	if (r < 0)
		return r;
	b->facts = b->lab.facts ? json_text(b->lab.facts) : NULL;
	b->suite_version = boot_suite_version(&b->job, &b->lab);
	b->o = (struct boot_outcome){
		.failed = good == 0,
		.class = lab_class_name(b->lab.class),
		.detail = b->lab.detail,
		.machine = b->c->machine,
		.machine_boot_id = b->lab.boot_id,
		.accel = b->lab.accel_used,
		.suite_version = b->suite_version,
		.facts = b->facts,
		.console = b->lab.console_len ? b->console : NULL,
		.boot_s = b->lab.boot_s,
		.setup_s = b->lab.setup_s,
		.took_s = isfinite(b->lab.total_s) ? b->lab.total_s : 0,
	};
	if (b->lab.class == LAB_OK && b->o.failed) {
		b->o.class = b->lab.nruns ? b->runs[0].row.class : "parse";
		b->o.detail = b->lab.nruns ? b->runs[0].row.detail : "no run was made";
	}
	if (lab_is_at_fault(b->lab.class))
		b->fault = b->lab.detail ? b->lab.detail : b->o.class;
	return 0;
}

static int store_booted(struct db *db, void *arg, struct err *e)
{
	struct booted *b = arg;
	int r;

	r = boot_finish(db, b->boot.id, b->c->work->fence, &b->o, e);
	for (size_t i = 0; r == 0 && i < b->lab.nruns; i++) {
		struct boot_run *p = &b->runs[i];
		bool ok = !strcmp(p->row.class, "ok");

		r = run_add(db, b->boot.id, &p->row, p->out.metrics, ok ? p->out.n : 0, e);
	}
	if (r == 0)
		r = boot_wake(db, b->boot.id, e);
	/* Before the machine is judged: that may ask for its control build again. */
	if (r == 0)
		r = job_finish(b->c, e);
	if (r == 0)
		r = boot_machine_after(b->c, &b->boot, b->job.kconfig, b->lab.class, b->o.detail,
				       !b->o.failed, e);
	FAILPOINT("boot.before_commit");
	return r;
}

static int load(struct booted *b, struct err *e)
{
	int r;

	r = boot_get(b->c->db, json_i64(b->c->payload, "boot", 0), &b->boot, e);
	if (r == 0)
		r = job_get(b->c->db, b->boot.job, &b->job, e);
	if (r == 0 && b->boot.build)
		r = build_get(b->c->db, b->boot.build, &b->build, e);
	return r;
}

static int drop(struct db *db, void *arg, struct err *e)
{
	struct booted *b = arg;
	int r = boot_cancel(db, b->boot.id, e);

	return r < 0 ? r : job_finish(b->c, e);
}

int job_boot(struct job_ctx *c, struct err *e)
{
	_cleanup_(booted_done) struct booted b = { .c = c };
	int r;

	if (!c->machine || !config_has(c->config, "machine", c->machine))
		return err_set(e, ERR_CONFIG, "there is no [machine \"%s\"] in the configuration",
			       c->machine ? c->machine : "");
	r = load(&b, e);
	if (r < 0)
		return r;
	if (strcmp(b.boot.state, "wanted") != 0)
		return job_finish(c, e);
	if (b.boot.control) {
		r = boot_machine_needs_control(c, e);
		if (r <= 0)
			return r < 0 ? r : db_tx(c->db, drop, &b, e);
	}
	log_info("boot begins", lf_i64("BOOT_ID", b.boot.id), lf_str("MACHINE", c->machine),
		 lf_str("COMMIT", b.boot.commit));
	r = run_lab(&b, e);
	/* A machine whose driver cannot work with it is at fault like one that says so itself. */
	if (r < 0 && r != ERR_LAB)
		return r;
	r = evaluate(&b, e);
	if (r < 0)
		return r;
	FAILPOINT("boot.stored");
	/* A fault of the lab says nothing about the commit: the boot is made again, a few times. */
	if (b.fault && c->work->attempts < LAB_TRIES) {
		(void)boot_machine_retry(c, b.lab.class, b.fault, NULL);
		return err_set(e, ERR_LAB, "machine '%s': %s: %s", c->machine, b.o.class, b.fault);
	}
	r = db_tx(c->db, store_booted, &b, e);
	if (r == 0)
		log_info("boot ended", lf_i64("BOOT_ID", b.boot.id), lf_str("MACHINE", c->machine),
			 lf_str("STATE", b.o.class), lf_i64("COUNT", b.lab.nruns),
			 lf_i64("DURATION_USEC", b.o.took_s * 1e6), lf_str("ERROR", b.o.detail));
	return r;
}
