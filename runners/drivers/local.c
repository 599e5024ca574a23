/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver "local": no boot, the agent is a child on this very machine. */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/console.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/session.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/* How long the agent gets to end its run and to clean up after the line is closed. */
#define FAREWELL_S	  20.0
#define SILENT_FAREWELL_S 2.0
#define KILL_ROUNDS	  100

struct local {
	const struct lab_machine *m;
	const struct lab_request *q;
	struct lab_result *ret;
	struct session session;
	struct console console;
	int line, err;
	double start_s, heard_s;
	bool silent;
	pid_t *others;
	size_t nothers;
	int was_subreaper;
};

static int agent_start(struct local *l, pid_t *ret_pid, struct err *e)
{
	const char *argv[] = { l->m->agent_path, "--stdio",   "--workloads", l->m->workloads_path,
			       "--nonce",	 l->q->nonce, NULL };
	_cleanup_(closep) int line = -1;
	_cleanup_(closep) int err = -1;
	struct child_opts opts = CHILD_OPTS_INIT;
	int r;

	r = driver_pair(&l->line, &line, e);
	if (r == 0)
		r = driver_pair(&l->err, &err, e);
	if (r < 0)
		return r;
	opts.argv = argv;
	opts.stdin_fd = line;
	opts.stdout_fd = line;
	opts.stderr_fd = err;
	return child_spawn(&opts, ret_pid, e);
}

/* The parent of process @pid, -1 if there is none of that number. */
static pid_t parent_of(pid_t pid)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(freep) char *path = xasprintf("/proc/%d/stat", (int)pid);
	char *p;

	/* The name in parentheses may itself hold parentheses: its end is the last one. */
	if (file_read(path, 4096, &text, NULL) < 0 || !(p = strrchr(text.s, ')')) || strlen(p) < 5)
		return -1;
	return (pid_t)strtol(p + 4, NULL, 10);
}

static bool is_below(pid_t pid, pid_t top)
{
	/* No tree is that deep, and pids that are given out anew could make a ring. */
	for (int i = 0; i < 1000 && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == top)
			return true;
	}
	return false;
}

/*
 * Kills what is below @top, except the @nspare processes @spare and what is below them.
 * Return: how many there were.
 */
static unsigned kill_below(pid_t top, const pid_t *spare, size_t nspare)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d))) {
		pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);
		bool ours = pid > 1 && is_below(pid, top);

		for (size_t i = 0; ours && i < nspare; i++)
			ours = pid != spare[i] && !is_below(pid, spare[i]);
		if (!ours)
			continue;
		(void)kill(pid, SIGKILL);
		n++;
	}
	if (d)
		(void)closedir(d);
	return n;
}

/* Our children now. */
static void children_list(struct local *l)
{
	DIR *d = opendir("/proc");
	struct dirent *de;

	while (d && (de = readdir(d))) {
		pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);

		if (pid <= 1 || parent_of(pid) != getpid())
			continue;
		l->others = xreallocarray(l->others, l->nothers + 1, sizeof(*l->others));
		l->others[l->nothers++] = pid;
	}
	if (d)
		(void)closedir(d);
}

/*
 * Where the agent and its guard were killed together, what they left comes to us: while it works this
 * process takes in orphans, and all children that it did not have before are such.
 */
static void orphans_end(struct local *l)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int i = 0; i < KILL_ROUNDS; i++) {
		DIR *d;
		struct dirent *de;

		if (kill_below(getpid(), l->others, l->nothers) == 0)
			break;
		(void)nanosleep(&pause, NULL);
		d = opendir("/proc");
		while (d && (de = readdir(d))) {
			pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);
			bool other = false;

			for (size_t k = 0; k < l->nothers; k++)
				other |= l->others[k] == pid;
			if (pid > 1 && !other && parent_of(pid) == getpid())
				(void)waitpid(pid, NULL, WNOHANG);
		}
		if (d)
			(void)closedir(d);
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, l->was_subreaper);
	free(l->others);
}

/* Did the agent end within @limit_s? */
static bool agent_wait(pid_t pid, double limit_s)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	double end_s = driver_now_s() + limit_s;

	while (driver_now_s() < end_s) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return true;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

/*
 * A closed line tells the agent to end what it started and to put the machine back. What an agent has
 * below it dies first if it does not: with the agent gone, nobody would know whose it was.
 */
static void agent_stop(struct local *l, pid_t pid)
{
	closep(&l->line);
	l->line = -1;
	/* One that says nothing any more will not say goodbye. */
	if (agent_wait(pid, l->silent ? SILENT_FAREWELL_S : FAREWELL_S))
		return;
	(void)kill(pid, SIGTERM);
	for (int i = 0; i < KILL_ROUNDS && kill_below(pid, NULL, 0) > 0; i++) {
		if (agent_wait(pid, 0.1))
			return;
	}
	if (!agent_wait(pid, 2))
		(void)child_kill_group(pid);
}

/* Has a limit passed? Then the result says so. */
static bool limit_passed(struct local *l)
{
	double now = driver_now_s();
	double silence = driver_timeout_s(l->m->silence_timeout_s, 60);
	double total = driver_timeout_s(l->q->total_timeout_s,
					60 + l->q->runs * l->session.deadline_s * 1.5);

	if (l->q->cancel && *l->q->cancel)
		result_blame(l->ret, LAB_CANCELLED, "cancelled");
	else if ((l->silent = now - l->heard_s > silence))
		result_blame(l->ret, LAB_AGENT, "the agent said nothing for %g s", silence);
	else if (now - l->start_s > total)
		result_blame(l->ret, LAB_BENCH_TIMEOUT, "not done after %g s", total);
	else
		return false;
	l->session.over = true;
	return true;
}

static void console_pump(struct local *l)
{
	char buf[16384];
	long n;

	while (l->err >= 0 && (n = driver_read(l->err, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			closep(&l->err);
			l->err = -1;
		} else {
			console_add(&l->console, buf, (size_t)n);
		}
	}
}

static int talk(struct local *l, struct err *e)
{
	char buf[65536];
	int r = 0;

	while (!l->session.over && !limit_passed(l)) {
		struct pollfd p[2] = {
			{ .fd = l->line, .events = POLLIN },
			{ .fd = l->err, .events = POLLIN },
		};
		long n;

		if (!driver_send(l->line, &l->session.out))
			break;
		if (l->session.out.len)
			p[0].events |= POLLOUT;
		(void)poll(p, 2, 250);
		console_pump(l);
		n = driver_read(l->line, buf, sizeof(buf));
		if (n < 0)
			break;
		if (n == 0)
			continue;
		l->heard_s = driver_now_s();
		r = session_add(&l->session, buf, (size_t)n, e);
		if (l->session.hello_seen && l->ret->boot_s != l->ret->boot_s)
			l->ret->boot_s = l->heard_s - l->start_s;
		if (r < 0)
			break;
	}
	return r;
}

int local_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	       struct err *e)
{
	struct local l = { .m = m, .q = q, .ret = ret, .line = -1, .err = -1 };
	pid_t pid = -1;
	int r;

	if (q->build_id && *q->build_id)
		return err_set(e, ERR_INVAL,
			       "driver 'local' boots no kernel, build id '%s' is asked",
			       q->build_id);
	session_init(&l.session, m, q, ret, false);
	l.start_s = l.heard_s = driver_now_s();
	driver_progress(q, LAB_STATE_BOOTING);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &l.was_subreaper);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	children_list(&l);
	r = agent_start(&l, &pid, e);
	if (r == 0) {
		r = talk(&l, e);
		agent_stop(&l, pid);
		console_pump(&l);
		if (r == 0 && !l.session.over && l.console.agent)
			result_blame(ret, LAB_AGENT, "the agent left: %s", l.console.agent);
	}
	orphans_end(&l);
	session_end(&l.session);
	driver_progress(q, LAB_STATE_IDLE);
	ret->console = console_text(&l.console, &ret->console_len);
	closep(&l.line);
	closep(&l.err);
	console_done(&l.console);
	session_done(&l.session);
	return r;
}
