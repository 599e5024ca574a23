/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver "ssh": the talk with the agent, and the console beside it. */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/ssh.h"
#include "runners/drivers/ssh_remote.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define SILENCE_S 60
#define CONNECT_S 5
/* How long the agent gets to end its commands after the line is closed. */
#define FAREWELL_S 3.0
/* After a panic, for the rest of its message. */
#define PANIC_S	 1
#define SAID_MAX 65536

struct talk {
	struct ssh_machine *s;
	int line, err;
	pid_t pid;
	struct strbuf said;
	double limit_s;
	bool gone; /* ssh closed its end */
};

int ssh_console_open(struct ssh_machine *s, struct err *e)
{
	const char *argv[] = { "/bin/sh", "-c", s->m->console_command, NULL };
	_cleanup_(closep) int theirs = -1;
	struct child_opts opts = CHILD_OPTS_INIT;
	int r;

	if (!s->m->console_command || !*s->m->console_command)
		return 0;
	r = driver_pair(&s->console_fd, &theirs, e);
	if (r < 0)
		return r;
	opts.argv = argv;
	opts.stdout_fd = theirs;
	opts.stderr_fd = theirs;
	return child_spawn(&opts, &s->console_pid, e);
}

void ssh_console_pump(struct ssh_machine *s)
{
	char buf[16384];
	long n = 0;

	/* Not for ever: a console that floods is no reason to stop looking at the rest. */
	for (int i = 0; i < 64 && s->console_fd >= 0; i++) {
		n = driver_read(s->console_fd, buf, sizeof(buf));
		if (n <= 0)
			break;
		console_add(&s->console, buf, (size_t)n);
	}
	if (n < 0) {
		closep(&s->console_fd);
		s->console_fd = -1;
	}
	if (s->console.signs[CONSOLE_PANIC] && s->panic_s == 0)
		s->panic_s = driver_now_s();
}

void ssh_console_close(struct ssh_machine *s)
{
	ssh_console_pump(s);
	closep(&s->console_fd);
	s->console_fd = -1;
	if (s->console_pid > 0)
		(void)child_kill_group(s->console_pid);
	s->console_pid = -1;
}

static bool cancelled(const struct ssh_machine *s)
{
	return s->q->cancel && *s->q->cancel;
}

bool ssh_tick(void *machine)
{
	ssh_console_pump(machine);
	return cancelled(machine);
}

void ssh_nap(struct ssh_machine *s, double seconds)
{
	double end_s = driver_now_s() + seconds, left;

	while (!ssh_tick(s) && !s->console.signs[CONSOLE_PANIC] &&
	       (left = end_s - driver_now_s()) > 0) {
		struct pollfd p = { .fd = s->console_fd, .events = POLLIN };

		(void)poll(&p, 1, left > 0.25 ? 250 : (int)(left * 1000) + 1);
	}
}

static int talk_start(struct talk *t, struct err *e)
{
	struct ssh_machine *s = t->s;
	_cleanup_(ssh_args_done) struct ssh_args args = { 0 };
	_cleanup_(freep) char *script = ssh_script_agent(&s->m->ssh, s->files[SSH_FILE_AGENT].hash,
							 s->files[SSH_FILE_WORKLOADS].hash,
							 s->boots ? s->boot_id : NULL, s->q->nonce);
	_cleanup_(closep) int line = -1;
	_cleanup_(closep) int err = -1;
	struct child_opts opts = CHILD_OPTS_INIT;
	int r;

	r = driver_pair(&t->line, &line, e);
	if (r == 0)
		r = driver_pair(&t->err, &err, e);
	if (r < 0)
		return r;
	ssh_args_make(&args, &s->m->ssh, script, CONNECT_S);
	opts.argv = (const char *const *)args.argv.items;
	opts.stdin_fd = line;
	opts.stdout_fd = line;
	opts.stderr_fd = err;
	return child_spawn(&opts, &t->pid, e);
}

static void close_line(int *fd)
{
	closep(fd);
	*fd = -1;
}

static void said_pump(struct talk *t)
{
	char buf[8192];
	long n;

	for (int i = 0; i < 64 && t->err >= 0; i++) {
		n = driver_read(t->err, buf, sizeof(buf));
		if (n == 0)
			break;
		if (n < 0) {
			close_line(&t->err);
			break;
		}
		console_add(&t->s->log, buf, (size_t)n);
		if (t->said.len < SAID_MAX)
			strbuf_add(&t->said, buf, (size_t)n);
	}
}

/* The kernel that the agent speaks from must not be the one from before. */
static void boot_check(struct ssh_machine *s)
{
	if (!s->boots || !s->ret->boot_id || strcmp(s->ret->boot_id, s->boot_id) != 0)
		return;
	result_blame(s->ret, LAB_WRONG_KERNEL, "the agent speaks from the boot before, '%s'",
		     s->boot_id);
	s->session.over = true;
}

static int line_pump(struct talk *t, struct err *e)
{
	struct ssh_machine *s = t->s;
	char buf[65536];
	int r = 0;

	for (int i = 0; i < 16 && r == 0 && !t->gone && !s->session.over; i++) {
		long n = driver_read(t->line, buf, sizeof(buf));

		if (n == 0)
			break;
		if (n < 0) {
			t->gone = true;
			break;
		}
		s->heard_s = driver_now_s();
		r = session_add(&s->session, buf, (size_t)n, e);
		if (s->session.hello_seen && isnan(s->ret->boot_s)) {
			s->ret->boot_s = s->heard_s - s->start_s;
			boot_check(s);
		}
	}
	return r;
}

/* What the console tells of a machine that was lost, or else what the deadline means. */
static void blame(struct ssh_machine *s, enum lab_class class, const char *why)
{
	const char *line;
	enum lab_class told = console_class(&s->console, s->session.hello_seen, &line);

	if (told != LAB_OK)
		result_blame(s->ret, told, "%s", line);
	else
		result_blame(s->ret, class, "%s", why);
}

/* Return: has a limit passed? Then the result says so, if the agent had spoken. */
static bool limit_passed(struct talk *t)
{
	struct ssh_machine *s = t->s;
	double now = driver_now_s();
	double silence = driver_timeout_s(s->m->silence_timeout_s, SILENCE_S);
	double total =
		driver_timeout_s(s->q->total_timeout_s,
				 s->ret->boot_s + 60 + s->q->runs * s->session.deadline_s * 1.5);

	if (cancelled(s))
		result_blame(s->ret, LAB_CANCELLED, "cancelled");
	else if (s->console.signs[CONSOLE_PANIC] && now > s->panic_s + PANIC_S)
		blame(s, LAB_OOPS, "panic");
	else if (!s->session.hello_seen)
		return now > t->limit_s;
	else if (now - s->heard_s > silence)
		blame(s, LAB_HANG, "the machine gave no sign of life any more");
	else if (now - s->start_s > total)
		blame(s, LAB_BENCH_TIMEOUT, "not done within the total time");
	else
		return false;
	s->session.over = true;
	return true;
}

static int talk_watch(struct talk *t, struct err *e)
{
	struct ssh_machine *s = t->s;
	int r = 0;

	while (r == 0 && !s->session.over && !t->gone && !limit_passed(t)) {
		struct pollfd p[3] = {
			{ .fd = t->line, .events = POLLIN },
			{ .fd = t->err, .events = POLLIN },
			{ .fd = s->console_fd, .events = POLLIN },
		};

		(void)driver_send(t->line, &s->session.out);
		if (s->session.out.len)
			p[0].events |= POLLOUT;
		(void)poll(p, 3, 250);
		ssh_console_pump(s);
		said_pump(t);
		r = line_pump(t, e);
	}
	return r;
}

/* A closed line tells the agent to end its commands. Return: status of ssh. */
static int talk_stop(struct talk *t)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	/* Whoever has not spoken has nothing to end. */
	double wait_s = t->s->session.hello_seen || t->gone ? FAREWELL_S : 0;
	double end_s = driver_now_s() + wait_s;
	int status = -1;

	close_line(&t->line);
	while (waitpid(t->pid, &status, WNOHANG) == 0) {
		if (driver_now_s() >= end_s) {
			status = child_kill_group(t->pid);
			break;
		}
		said_pump(t);
		ssh_console_pump(t->s);
		(void)nanosleep(&pause, NULL);
	}
	said_pump(t);
	if (status >= 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	/* Killed by us: it had no answer. */
	return 255;
}

static enum ssh_try judge(const struct talk *t, int status)
{
	const struct ssh_machine *s = t->s;
	_cleanup_(freep) char *line = NULL;

	if (s->session.over || s->ret->class != LAB_OK)
		return SSH_TRY_DONE;
	if (s->session.hello_seen)
		return SSH_TRY_LOST;
	if (status == SSH_EXIT_OLD && s->boots)
		return SSH_TRY_OLD;
	if (status == SSH_EXIT_OTHER && s->boots)
		return SSH_TRY_OTHER;
	if (status != 255)
		return SSH_TRY_LOST;
	if (!t->said.len)
		return SSH_TRY_NOBODY;
	return ssh_failure_class(status, strbuf_str(&t->said), &line) == LAB_SSH ? SSH_TRY_REFUSED
										 : SSH_TRY_NOBODY;
}

int ssh_agent_try(struct ssh_machine *s, double limit_s, enum ssh_try *ret, int *ret_status,
		  char **ret_said, struct err *e)
{
	struct talk t = { .s = s, .line = -1, .err = -1, .pid = -1, .limit_s = limit_s };
	int r;

	r = talk_start(&t, e);
	if (r == 0)
		r = talk_watch(&t, e);
	if (t.pid > 0)
		*ret_status = talk_stop(&t);
	if (r == 0) {
		*ret = judge(&t, *ret_status);
		*ret_said = strbuf_take(&t.said);
	}
	close_line(&t.line);
	close_line(&t.err);
	strbuf_done(&t.said);
	return r;
}
