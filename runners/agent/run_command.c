/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One command of a run: its output, its children, its end. */
#include "bot/base/err.h"
#include "runners/agent/cmd.h"
#include "runners/agent/run_internal.h"
#include "runners/agent/stop.h"
#include "runners/agent/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const char *const log_names[] = {
	[PROTO_PHASE_RUN] = "",
	[PROTO_PHASE_SETUP] = "file/set-up.log",
	[PROTO_PHASE_CLEANUP] = "file/clean-up.log",
};

/* What a pipe gave goes to the driver as far as the cap allows. */
static void stream_send(struct run *r, struct stream *s, const char *buf, size_t n)
{
	uint64_t room = r->job->output_max_bytes - s->sent;

	/* Above the cap the pipe is still emptied, or the program would block for ever. */
	if (n > room) {
		r->end.truncated |= r->phase == PROTO_PHASE_RUN;
		n = (size_t)room;
	}
	if (!s->number && n)
		s->number = sink_open(&r->sink, log_names[r->phase]);
	s->sent += n;
	sink_put(&r->sink, s->number, buf, n);
	(void)sink_flush(&r->sink);
}

/*
 * Sends on what a pipe holds now, at most @reads pieces: a program that never stops writing must not
 * keep us from its deadline.
 */
static void stream_pump(struct run *r, struct stream *s, int reads)
{
	char buf[16384];

	while (s->fd >= 0 && reads-- > 0) {
		ssize_t n = read(s->fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			(void)close(s->fd);
			s->fd = -1;
			return;
		}
		stream_send(r, r->phase == PROTO_PHASE_RUN ? s : &r->log, buf, (size_t)n);
	}
}

/* What the pipes still hold after all writers are dead. */
static void streams_finish(struct run *r)
{
	for (int i = 0; i < 2; i++) {
		stream_pump(r, &r->streams[i], 1024);
		closep(&r->streams[i].fd);
		r->streams[i].fd = -1;
	}
}

static void note_end(struct run *r, int status)
{
	struct outcome *o = r->outcome;

	if (o->signal || o->exit_status > 0)
		return;
	o->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	o->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A child has ended: a copy of the command, a monitor, or what one of them left to us. */
static void on_reaped(void *arg, pid_t pid, int status)
{
	struct run *r = arg;
	ssize_t i = cmd_pids_find(r->pids, r->npids, pid);

	if (i >= 0 && !r->done[i]) {
		r->done[i] = true;
		r->live--;
		note_end(r, status);
	} else {
		(void)helpers_reaped(&r->helpers, pid, status);
	}
}

static void reap(struct run *r)
{
	struct rusage u;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0) {
		bool counts = r->phase == PROTO_PHASE_RUN;

		for (size_t i = 0; i < r->nspare; i++)
			counts &= r->spare[i] != pid;
		for (size_t i = 0; i < r->helpers.n; i++)
			counts &= r->helpers.list[i].pid != pid;
		if (counts)
			usage_add(&r->usage, &u);
		on_reaped(r, pid, status);
	}
}

unsigned run_kill_left(struct run *r)
{
	_cleanup_(freep) pid_t *spare = xcalloc(r->nspare + HELPERS_MAX, sizeof(*spare));
	struct tree t = { .whole_machine = r->env->whole_machine,
			  .spare = spare,
			  .reaped = on_reaped,
			  .arg = r };

	for (size_t i = 0; i < r->nspare; i++)
		spare[t.nspare++] = r->spare[i];
	for (size_t i = 0; i < r->helpers.n; i++) {
		if (r->helpers.list[i].pid > 0)
			spare[t.nspare++] = r->helpers.list[i].pid;
	}
	return tree_kill(&t);
}

static void kill_command(const struct run *r)
{
	(void)kill(-r->group, SIGKILL);
	for (size_t i = 0; i < r->npids; i++) {
		if (!r->done[i])
			(void)kill(r->pids[i], SIGKILL);
	}
}

/* Waits for something to happen, at most until @until_s, and takes what was printed. */
static void wait_some(struct run *r, double until_s)
{
	double left = until_s - agent_now_s();
	struct timespec ts = { .tv_sec = 1 };
	struct pollfd p[3 + HELPERS_MAX] = {
		{ .fd = r->streams[0].fd, .events = POLLIN },
		{ .fd = r->streams[1].fd, .events = POLLIN },
		/* Input during a run can only be the end of the line: wake up for that. */
		{ .fd = r->sink.ret == 0 ? r->sink.link->in : -1, .events = 0 },
	};
	sigset_t none;

	for (size_t i = 0; i < r->helpers.n; i++)
		p[3 + i] = (struct pollfd){ .fd = r->helpers.list[i].fd, .events = POLLIN };
	if (left < 1)
		ts = (struct timespec){ .tv_nsec = left > 0 ? (long)(left * 1e9) : 0 };
	/*
	 * SIGCHLD is blocked but in here, so a child that ends is never missed; that needs neither
	 * signalfd nor pidfd, which a small kernel may lack.
	 */
	(void)sigemptyset(&none);
	if (ppoll(p, 3 + r->helpers.n, &ts, &none) < 0)
		return;
	if (p[2].revents & (POLLHUP | POLLERR | POLLNVAL))
		r->sink.ret =
			err_set(&r->sink.why, ERR_IO, "the driver closed the line during a run");
	stream_pump(r, &r->streams[0], 16);
	stream_pump(r, &r->streams[1], 16);
	for (size_t i = 0; i < r->helpers.n; i++) {
		if (p[3 + i].revents)
			(void)helpers_pump(&r->helpers, p[3 + i].fd);
	}
}

/* Until all copies have ended, were killed at the deadline, or because nobody waits for them. */
static void command_wait(struct run *r)
{
	for (;;) {
		double now = agent_now_s(), until = now + 1, next;
		int sig = stop_signal();
		bool late = now >= r->deadline_s;

		reap(r);
		if (!r->live)
			return;
		if (sig && r->sink.ret == 0)
			r->sink.ret = err_set(&r->sink.why, ERR_CANCELLED,
					      "the agent was told to stop by signal %d", sig);
		if (late || (r->sink.ret < 0 && r->phase != PROTO_PHASE_CLEANUP)) {
			r->outcome->timed_out |= late;
			kill_command(r);
			until = now + 0.01;
		} else if (r->deadline_s < until) {
			until = r->deadline_s;
		}
		next = record_tick(&r->recorder, now);
		if (r->sink.link->out_buf.len)
			(void)sink_flush(&r->sink);
		wait_some(r, next < until ? next : until);
		(void)sink_beat(&r->sink);
	}
}

static int pipes_make(struct run *r, int *ret_out, int *ret_err, struct err *e)
{
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_errno(e, errno, "could not make a pipe");
	if (pipe2(err, O_CLOEXEC) < 0) {
		int r2 = err_errno(e, errno, "could not make a pipe");

		(void)close(out[0]);
		(void)close(out[1]);
		return r2;
	}
	(void)fcntl(out[0], F_SETFL, O_NONBLOCK);
	(void)fcntl(err[0], F_SETFL, O_NONBLOCK);
	r->streams[0].fd = out[0];
	r->streams[1].fd = err[0];
	*ret_out = out[1];
	*ret_err = err[1];
	return 0;
}

static int command_start(struct run *r, const struct proto_command *c, double *ret_start_s,
			 struct err *e)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(closep) int out = -1;
	_cleanup_(closep) int err = -1;
	struct cmd cmd = {
		.argv = c->argv,
		.dir = r->dir,
		.env = r->job->env,
		.aslr = r->job->aslr,
		.no_thp = r->env->no_thp,
		.oom_default = r->env->whole_machine,
		.nofile = r->job->nofile,
	};
	int ret;

	ret = programs_find(&r->env->programs, r->job, r->dir, c->argv[0], &path, &cmd.applet, e);
	if (ret == 0)
		ret = pipes_make(r, &out, &err, e);
	if (ret < 0)
		return ret;
	programs_use(&r->env->programs, c->argv[0], path);
	cmd.path = path;
	cmd.out = out;
	cmd.err = err;
	r->pids = xcalloc(c->copies, sizeof(*r->pids));
	r->done = xcalloc(c->copies, sizeof(*r->done));
	ret = cmd_start(&cmd, c->copies, r->pids, ret_start_s, e);
	if (ret < 0)
		return ret;
	r->group = r->pids[0];
	r->npids = r->live = c->copies;
	cmd_pids_sort(r->pids, r->npids);
	return 0;
}

bool run_command(struct run *r, const struct proto_command *c, struct outcome *o)
{
	double start_s = 0;
	struct err e = { 0 };

	*o = (struct outcome){ .exit_status = -1 };
	r->outcome = o;
	if (command_start(r, c, &start_s, &e) < 0) {
		o->error = xstrdup(e.msg);
	} else {
		o->exit_status = 0;
		command_wait(r);
		if (r->phase == PROTO_PHASE_RUN)
			r->end.run_s += agent_now_s() - start_s;
	}
	/* What a set-up starts and leaves is for the run. */
	if (r->phase == PROTO_PHASE_RUN)
		r->end.left_over += run_kill_left(r);
	streams_finish(r);
	free(r->pids);
	free(r->done);
	r->pids = NULL;
	r->done = NULL;
	r->npids = 0;
	return !o->error && !o->signal && o->exit_status == 0 && !o->timed_out;
}
