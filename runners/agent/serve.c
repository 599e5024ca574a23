/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/serve.h"

#include "bot/base/err.h"
#include "runners/agent/facts.h"
#include "runners/agent/link.h"
#include "runners/agent/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

static int send_hello(struct link *l, const struct serve_opts *opts, struct err *e)
{
	_cleanup_(proto_hello_done) struct proto_hello hello = { 0 };
	int r;

	facts_hello(opts->nonce, opts->not_set_up, &hello);
	r = proto_hello_add(&l->out_buf, &hello, e);
	return r < 0 ? r : link_flush(l, e);
}

static int write_setting(const char *path, const char *value, struct err *e)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		return err_errno(e, errno, "cannot write '%s' to '%s'", value, path);
	return 0;
}

/*
 * On a machine of its own the agent sets THP for all; on a shared one it may only switch it off for
 * the commands. A kernel without THP is as good as "never".
 */
static int set_thp(const char *want, const struct serve_opts *opts, struct run_env *env,
		   struct err *e)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	_cleanup_(freep) char *now = facts_thp();

	if (!want || (now && !strcmp(now, want)) || (!now && !strcmp(want, "never")))
		return 0;
	if (!now)
		return err_set(e, ERR_UNSUPPORTED,
			       "THP '%s' is asked, but this kernel has no huge pages", want);
	if (opts->whole_machine)
		return write_setting(path, want, e);
	if (strcmp(want, "never") != 0)
		return err_set(
			e, ERR_UNSUPPORTED,
			"THP '%s' is asked, but this machine has '%s' and is not ours to change",
			want, now);
	env->no_thp = true;
	return 0;
}

static int send_ready(struct link *l, const struct serve_opts *opts, const struct proto_job *job,
		      struct err *e)
{
	_cleanup_(proto_hello_done) struct proto_hello now = { 0 };
	struct proto_ready ready = { .settings = job->settings };
	int r;

	facts_hello(opts->nonce, opts->not_set_up, &now);
	ready.facts = now.facts;
	r = proto_ready_add(&l->out_buf, &ready, e);
	return r < 0 ? r : link_flush(l, e);
}

static int do_job(struct link *l, const struct serve_opts *opts, const struct proto_job *job)
{
	struct run_env env = { .workloads = opts->workloads, .whole_machine = opts->whole_machine };
	struct err e = { 0 };

	if (set_thp(json_string_value(json_object_get(job->settings, "thp")), opts, &env, &e) < 0) {
		(void)link_fault(l, "setup", e.msg);
		return 1;
	}
	if (send_ready(l, opts, job, &e) < 0) {
		(void)link_fault(l, "setup", e.msg);
		return 1;
	}
	for (unsigned i = 0; i < job->runs; i++) {
		if (run_once(l, &env, job, i, &e) < 0) {
			(void)link_fault(l, "run", e.msg);
			return 1;
		}
	}
	return 0;
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
