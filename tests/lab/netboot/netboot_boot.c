/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One boot of driver netboot from a command line, with the configuration, database and web role of a
 * kperfbotd that runs: what role lab does, without its rules for trying again and blaming.
 *
 *   netboot_boot CONFIG MACHINE FENCE KERNEL BUILD_ID NONCE SCRATCH RUNTIME
 */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/boot_request.h"
#include "bot/jobs/settings.h"
#include "bot/store/netboot.h"
#include "bot/store/work.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static volatile int cancel;

static void on_term(int sig)
{
	cancel = sig;
}

static bool still_ours(void *arg)
{
	struct job_ctx *c = arg;

	return netboot_held(c->db, c->machine, c->work->fence, NULL) != ERR_LEASE_LOST;
}

static void note(void *arg, const char *text)
{
	(void)arg;
	(void)fprintf(stderr, "note: %s\n", text);
}

static void tell_state(void *arg, enum lab_state state)
{
	(void)arg;
	(void)fprintf(stderr, "state: %s\n", lab_state_name(state));
}

static void print(const struct lab_result *r)
{
	json_t *o = json_object(), *list = json_array();

	json_set_str(o, "class", lab_class_name(r->class));
	json_set_str(o, "detail", r->detail ? r->detail : "");
	json_set_i64(o, "power_cycles", r->power_cycles);
	(void)json_object_set_new(o, "boot_s", isfinite(r->boot_s) ? json_real(r->boot_s) : NULL);
	(void)json_object_set_new(o, "setup_s",
				  isfinite(r->setup_s) ? json_real(r->setup_s) : NULL);
	json_set_f64(o, "total_s", r->total_s);
	(void)json_object_set_new(
		o, "console", json_stringn_nocheck(r->console ? r->console : "", r->console_len));
	for (size_t i = 0; i < r->nruns; i++) {
		const struct lab_run *run = &r->runs[i];
		json_t *x = json_object();

		json_set_str(x, "class", lab_class_name(run->class));
		(void)json_object_set_new(
			x, "raw", json_stringn_nocheck(run->raw ? run->raw : "", run->raw_len));
		(void)json_array_append_new(list, x);
	}
	(void)json_object_set_new(o, "runs", list);
	(void)json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	(void)putchar('\n');
	json_decref(o);
}

/* getppid1 for @runtime, as a row of table job would have it. */
static struct job job_for(const char *runtime)
{
	struct job job = { .name = xstrdup("test"),
			   .suite = xstrdup("will-it-scale"),
			   .test = xstrdup("getppid1"),
			   .params = json_object(),
			   .metric = xstrdup("will-it-scale.per_process_ops"),
			   .group = xstrdup("test"),
			   .kconfig = xstrdup(""),
			   .thp = xstrdup("keep"),
			   .settings = json_object(),
			   .monitors = json_array(),
			   .monitor_interval_s = 1 };

	json_set_str(job.params, "mode", "process");
	json_set_str(job.params, "nr_task", "1");
	json_set_str(job.params, "runtime", runtime);
	return job;
}

static int boot(struct job_ctx *c, char **argv, struct err *e)
{
	_cleanup_(boot_request_done) struct boot_request q = { 0 };
	struct job job = job_for(argv[8]);
	struct lab_result result;
	int r;

	r = boot_request_make(c, &job, &q, e);
	if (r == 0) {
		q.request.kernel_path = argv[4];
		q.request.build_id = argv[5];
		q.request.nonce = argv[6];
		q.request.scratch_dir = argv[7];
		q.request.runs = 1;
		q.request.total_timeout_s = 300;
		q.request.progress = tell_state;
		q.request.cancel = &cancel;
		q.machine.power.still_ours = still_ours;
		q.machine.power.note = note;
		q.machine.power.arg = c;
		/* The first line of the script comes within seconds from a guest. */
		q.machine.first_byte_timeout_s = 30;
		r = lab_boot(&q.machine, &q.request, &result, e);
		print(&result);
		lab_result_done(&result);
	}
	job_done(&job);
	return r;
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	_cleanup_(freep) char *programs = NULL;
	struct config *config = NULL;
	struct work work = { 0 };
	struct db *db = NULL;
	struct err e = { 0 };
	int r;

	if (argc != 9)
		return 2;
	(void)sigaction(SIGTERM, &term, NULL);
	r = config_load(argv[1], &config, &e);
	if (r == 0)
		r = settings_db(config, "test", 5, &db, &e);
	if (r == 0) {
		struct job_ctx c = { .config = config,
				     .state_dir = settings_state_dir(config),
				     .machine = argv[2],
				     .db = db,
				     .work = &work };

		programs = settings_programs(config);
		c.programs = programs;
		work.fence = strtoll(argv[3], NULL, 10);
		r = boot(&c, argv, &e);
	}
	if (r < 0)
		(void)fprintf(stderr, "netboot_boot: %s: %s\n", err_name(r), e.msg);
	db_close(db);
	config_free(config);
	return r < 0;
}
