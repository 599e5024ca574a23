/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boot a build on the machine that is held, run the job there, store raw output and values. */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/artefact.h"
#include "bot/store/boot.h"
#include "bot/store/build.h"
#include "bot/store/job.h"
#include "runners/drivers/driver.h"
#include "runners/suites/suite.h"

#include <math.h>
#include <string.h>

#define SUITE_VERSION "bundled:" KPERFBOT_VERSION
#define LAB_TRIES     3

/* A run with what its output says. */
struct parsed {
	struct run_row row;
	struct suite_output out;
	char raw[65];
	char *detail;
};

struct booted {
	struct job_ctx *c;
	struct boot boot;
	struct job job;
	struct build build;
	struct lab_result lab;
	struct parsed *runs;
	struct boot_outcome o;
	char console[65];
	char *facts;
	const char *fault; /* of the lab; NULL when the machine did its part */
};

static void booted_done(struct booted *b)
{
	for (size_t i = 0; b->runs && i < b->lab.nruns; i++) {
		suite_output_done(&b->runs[i].out);
		free(b->runs[i].detail);
	}
	free(b->runs);
	free(b->facts);
	lab_result_done(&b->lab);
	build_done(&b->build);
	job_done(&b->job);
	boot_done(&b->boot);
}

static struct suite_param *params_of(const struct job *job, size_t *ret_n)
{
	size_t n = json_object_size(job->params);
	struct suite_param *p = xcalloc(n, sizeof(*p));
	const char *key;
	json_t *value;
	size_t i = 0;

	json_object_foreach (job->params, key, value) {
		p[i].key = xstrdup(key);
		p[i++].value = xstrdup(json_string_value(value) ? json_string_value(value) : "");
	}
	*ret_n = i;
	return p;
}

static void params_free(struct suite_param *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].key);
		free(p[i].value);
	}
	free(p);
}

static struct lab_machine machine_of(const struct job_ctx *c, const char *agent,
				     const char *workloads)
{
	const struct config *cfg = c->config;
	const char *m = c->machine;

	return (struct lab_machine){
		.name = m,
		.driver = config_str(cfg, "machine", m, "driver"),
		.accel = config_str(cfg, "machine", m, "accel"),
		.cpus = (int)config_i64(cfg, "machine", m, "cpus"),
		.memory_bytes = (uint64_t)config_i64(cfg, "machine", m, "memory"),
		.icount_shift = (int)config_i64(cfg, "machine", m, "icount-shift"),
		.qemu = config_str(cfg, "machine", m, "qemu"),
		.append = config_str(cfg, "machine", m, "append"),
		.boot_timeout_s = config_f64(cfg, "machine", m, "boot-timeout"),
		.silence_timeout_s = config_f64(cfg, "machine", m, "silence-timeout"),
		.agent_path = agent,
		.workloads_path = workloads,
	};
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

static int run_lab(struct booted *b, struct err *e)
{
	struct job_ctx *c = b->c;
	_cleanup_(freep) char *agent = xasprintf("%s/kperfbot-agent", c->programs);
	_cleanup_(freep) char *workloads = xasprintf("%s/kperfbot-workloads", c->programs);
	_cleanup_(freep) char *kernel = NULL;
	_cleanup_(freep) char *scratch = NULL;
	struct suite_param thp = { .key = (char *)(uintptr_t) "thp", .value = b->job.thp };
	struct lab_machine m = machine_of(c, agent, workloads);
	struct suite_param *params;
	size_t n;
	char nonce[33];
	int r;

	r = make_scratch(c, &scratch, e);
	if (r < 0)
		return r;
	random_hex(16, nonce);
	if (b->build.image && b->build.image[0])
		kernel = artefact_path(c->state_dir, b->build.image);
	params = params_of(&b->job, &n);
	r = lab_boot(&m,
		     &(struct lab_request){
			     .kernel_path = kernel,
			     .build_id = b->build.gnu_build_id,
			     .suite = b->job.suite,
			     .test = b->job.test,
			     .params = params,
			     .nparams = n,
			     .runs = (unsigned)b->boot.wanted_runs,
			     .nonce = nonce,
			     .scratch_dir = scratch,
			     .settings = &thp,
			     .nsettings = strcmp(b->job.thp, "keep") != 0,
			     .total_timeout_s = b->job.timeout_s,
		     },
		     &b->lab, e);
	params_free(params, n);
	(void)file_remove_tree(scratch, NULL);
	return r;
}

/* Values from raw output; a run without its headline metric is no run. */
static int parse_run(struct booted *b, size_t i, struct err *e)
{
	const struct lab_run *run = &b->lab.runs[i];
	struct parsed *p = &b->runs[i];
	struct suite_param *params;
	size_t n;
	int r = 0;

	p->row = (struct run_row){ .n = (int)i + 1,
				   .class = lab_class_name(run->class),
				   .detail = run->detail,
				   .exit_status = run->exit_status,
				   .wall_s = isfinite(run->wall_s) ? run->wall_s : 0 };
	if (run->raw_len) {
		r = artefact_put(b->c->db, b->c->state_dir, "raw", run->raw, run->raw_len, p->raw,
				 e);
		p->row.raw = p->raw;
	}
	if (r < 0 || run->class != LAB_OK)
		return r;
	params = params_of(&b->job, &n);
	r = suite_parse(suite_find(b->job.suite), b->job.test, run->raw, run->raw_len, params, n,
			&p->out, e);
	params_free(params, n);
	if (r < 0)
		return r;
	if (suite_metric_find(&p->out, b->job.metric))
		return 0;
	p->detail = xasprintf("no value for %s: %s", b->job.metric,
			      p->out.problems_n ? p->out.problems[0].text : "it is not printed");
	p->row.class = "parse";
	p->row.detail = p->detail;
	return 0;
}

/* Does it say nothing about the commit? Then the boot is made again. */
static bool lab_is_at_fault(enum lab_class class)
{
	return class == LAB_ACCEL || class == LAB_FAULT || class == LAB_AGENT ||
	       class == LAB_WRONG_KERNEL || class == LAB_CANCELLED;
}

/*
 * The machine is drained after some of these in a row. Not for what a kernel can bring about: one
 * bad commit would take the lab away from all others.
 */
static bool machine_is_at_fault(enum lab_class class)
{
	return class == LAB_ACCEL || class == LAB_FAULT;
}

static int evaluate(struct booted *b, struct err *e)
{
	size_t good = 0;
	int r = 0;

	b->runs = xcalloc(b->lab.nruns, sizeof(*b->runs));
	for (size_t i = 0; r == 0 && i < b->lab.nruns; i++) {
		r = parse_run(b, i, e);
		good += r == 0 && !strcmp(b->runs[i].row.class, "ok");
	}
	if (r == 0 && b->lab.console_len)
		r = artefact_put(b->c->db, b->c->state_dir, "console", b->lab.console,
				 b->lab.console_len, b->console, e);
	if (r < 0)
		return r;
	b->facts = b->lab.facts ? json_text(b->lab.facts) : NULL;
	b->o = (struct boot_outcome){
		.failed = good == 0,
		.class = lab_class_name(b->lab.class),
		.detail = b->lab.detail,
		.machine = b->c->machine,
		.machine_boot_id = b->lab.boot_id,
		.accel = b->lab.accel_used,
		.suite_version = SUITE_VERSION,
		.facts = b->facts,
		.console = b->lab.console_len ? b->console : NULL,
		.boot_s = b->lab.boot_s,
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
		struct parsed *p = &b->runs[i];
		bool ok = !strcmp(p->row.class, "ok");

		r = run_add(db, b->boot.id, &p->row, p->out.metrics, ok ? p->out.n : 0, e);
	}
	if (r == 0)
		r = machine_outcome(db, b->c->machine,
				    machine_is_at_fault(b->lab.class) ? b->fault : NULL, e);
	if (r == 0)
		r = boot_wake(db, b->boot.id, e);
	FAILPOINT("boot.before_commit");
	return r < 0 ? r : job_finish(b->c, e);
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
	log_info("boot begins", lf_i64("BOOT_ID", b.boot.id), lf_str("MACHINE", c->machine),
		 lf_str("COMMIT", b.boot.commit));
	r = run_lab(&b, e);
	if (r < 0)
		return r;
	r = evaluate(&b, e);
	if (r < 0)
		return r;
	FAILPOINT("boot.stored");
	/* A fault of the lab says nothing about the commit: the boot is made again, a few times. */
	if (b.fault && c->work->attempts < LAB_TRIES) {
		if (machine_is_at_fault(b.lab.class))
			(void)machine_outcome(c->db, c->machine, b.fault, NULL);
		return err_set(e, ERR_LAB, "machine '%s': %s: %s", c->machine, b.o.class, b.fault);
	}
	r = db_tx(c->db, store_booted, &b, e);
	if (r == 0)
		log_info("boot ended", lf_i64("BOOT_ID", b.boot.id), lf_str("MACHINE", c->machine),
			 lf_str("STATE", b.o.class), lf_i64("COUNT", b.lab.nruns),
			 lf_i64("DURATION_USEC", b.o.took_s * 1e6), lf_str("ERROR", b.o.detail));
	return r;
}
