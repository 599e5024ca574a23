/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/serve.h"

#include "bot/base/err.h"
#include "runners/agent/facts.h"
#include "runners/agent/link.h"
#include "runners/agent/run.h"
#include "runners/agent/settings.h"
#include "runners/agent/stop.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

static int send_hello(struct link *l, const struct serve_opts *opts, struct err *e)
{
	_cleanup_(proto_hello_done) struct proto_hello hello = { 0 };
	int r;

	facts_hello(opts->nonce, opts->not_set_up, &hello);
	r = proto_hello_add(&l->out_buf, &hello, e);
	return r < 0 ? r : link_flush(l, e);
}

/* The settings, proved, and the facts as they are now: they go into the ready message. */
static int set_up(struct link *l, const struct serve_opts *opts, const struct proto_job *job,
		  struct settings *settings, struct run_env *env, struct err *e)
{
	_cleanup_(json_decrefp) json_t *in_force = json_object();
	_cleanup_(json_decrefp) json_t *facts = NULL;
	struct proto_ready ready = { .settings = in_force };
	int r;

	r = settings_apply(settings, job->settings, in_force, e);
	if (r < 0)
		return r;
	env->no_thp = settings->no_thp;
	env->ready_facts = facts_now(opts->not_set_up);
	/* cmd_start() switches it for each program, and fails where it cannot. */
	facts = json_copy(env->ready_facts);
	(void)json_object_set_new(facts, "program_aslr", json_boolean(job->aslr));
	if (env->no_thp)
		(void)json_object_set_new(facts, "program_thp", json_string("never"));
	ready.facts = facts;
	r = proto_ready_add(&l->out_buf, &ready, e);
	return r < 0 ? r : link_flush(l, e);
}

static int do_runs(struct link *l, const struct serve_opts *opts, const struct proto_job *job,
		   struct settings *settings, struct run_env *env)
{
	struct err e = { 0 };

	if (set_up(l, opts, job, settings, env, &e) < 0) {
		(void)link_fault(l, "setup", e.msg);
		return 1;
	}
	for (unsigned i = 0; i < job->runs; i++) {
		if (run_once(l, env, job, i, &e) < 0) {
			(void)link_fault(l, "run", e.msg);
			return 1;
		}
	}
	return 0;
}

static int do_job(struct link *l, const struct serve_opts *opts, const struct proto_job *job)
{
	/* Programs start in other folders than ours. */
	_cleanup_(freep) char *workloads = realpath(opts->workloads, NULL);
	struct run_env env = { .programs = { .workloads = workloads ? workloads : opts->workloads },
			       .whole_machine = opts->whole_machine };
	struct settings settings;
	struct err e = { 0 };
	int status;

	settings_init(&settings, opts->whole_machine || job->owned, !opts->whole_machine,
		      SETTINGS_RESTORE_FILE);
	status = do_runs(l, opts, job, &settings, &env);
	if (settings_restore(&settings, &e) < 0) {
		(void)link_fault(l, "restore", e.msg);
		status = 1;
	}
	settings_done(&settings);
	programs_done(&env.programs);
	json_decref(env.ready_facts);
	return status;
}

static int talk(struct link *l, const struct serve_opts *opts)
{
	_cleanup_(proto_job_done) struct proto_job job = { 0 };
	struct proto_frame f;
	struct err e = { 0 };
	int r;

	r = send_hello(l, opts, &e);
	if (r == 0)
		r = link_receive(l, &f, &e);
	if (r == 0 && f.type != PROTO_JOB)
		r = err_set(&e, ERR_FORMAT, "expected a job, got a %s message",
			    proto_type_name((int)f.type));
	if (r == 0)
		r = proto_job_parse(&f, &job, &e);
	if (r < 0) {
		(void)link_fault(l, "job", e.msg);
		return 1;
	}
	return do_job(l, opts, &job);
}

static void on_child(int sig)
{
	(void)sig;
}

int serve(const struct serve_opts *opts)
{
	/* A signal without a handler does not end a ppoll(), even where it is let through. */
	const struct sigaction child = { .sa_handler = on_child };
	struct link l = { .in = opts->in, .out = opts->out };
	sigset_t block;
	int status;

	(void)signal(SIGPIPE, SIG_IGN);
	stop_install();
	(void)sigaction(SIGCHLD, &child, NULL);
	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &block, NULL);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	status = talk(&l, opts);
	(void)proto_frame_add(&l.out_buf, PROTO_BYE, NULL, 0, NULL);
	if (link_flush(&l, NULL) < 0)
		status = 1;
	link_done(&l);
	return status;
}
