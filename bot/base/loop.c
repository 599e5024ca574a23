/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/loop.h"

#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

struct source {
	struct loop *loop;
	sd_event_source *sd;
	void (*fn)(void *arg);
	void (*on_child)(void *arg, pid_t pid, int status);
	void *arg;
	double period_s;
	int fd;
};

struct loop {
	sd_event *event;
	VEC(struct source *) sources;
	void (*on_stop)(void *arg);
	void *on_stop_arg;
};

static int failed(struct err *e, int r, const char *what)
{
	return err_errno(e, -r, "could not %s", what);
}

static struct source *source_new(struct loop *l, void (*fn)(void *), void *arg)
{
	struct source *s = xcalloc(1, sizeof(*s));

	s->loop = l;
	s->fn = fn;
	s->arg = arg;
	s->fd = -1;
	vec_push(&l->sources, s);
	return s;
}

static void source_drop(struct source *s)
{
	struct loop *l = s->loop;

	for (size_t i = 0; i < l->sources.len; i++)
		if (l->sources.items[i] == s)
			l->sources.items[i] = l->sources.items[--l->sources.len];
	(void)sd_event_source_disable_unref(s->sd);
	free(s);
}

static int on_signal(sd_event_source *sd, const struct signalfd_siginfo *si, void *arg)
{
	struct loop *l = arg;

	(void)sd;
	(void)si;
	if (l->on_stop)
		l->on_stop(l->on_stop_arg);
	else
		loop_exit(l, 0);
	return 0;
}

int loop_new(struct loop **ret, struct err *e)
{
	struct loop *l = xcalloc(1, sizeof(*l));
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL); /* NOLINT(concurrency-mt-unsafe) */
	(void)signal(SIGPIPE, SIG_IGN);
	r = sd_event_new(&l->event);
	if (r >= 0)
		r = sd_event_add_signal(l->event, NULL, SIGTERM, on_signal, l);
	if (r >= 0)
		r = sd_event_add_signal(l->event, NULL, SIGINT, on_signal, l);
	if (r >= 0)
		r = sd_event_set_watchdog(l->event, true);
	if (r < 0) {
		loop_free(l);
		return failed(e, r, "make an event loop");
	}
	*ret = l;
	return 0;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	while (l->sources.len)
		source_drop(l->sources.items[0]);
	vec_done(&l->sources);
	(void)sd_event_unref(l->event);
	free(l);
}

int loop_run(struct loop *l, struct err *e)
{
	int r = sd_event_loop(l->event);

	return r < 0 && !e ? ERR_IO : r < 0 ? failed(e, r, "run the event loop") : r;
}

void loop_exit(struct loop *l, int code)
{
	(void)sd_event_exit(l->event, code);
}

void loop_on_stop(struct loop *l, void (*fn)(void *arg), void *arg)
{
	l->on_stop = fn;
	l->on_stop_arg = arg;
}

static usec_t span(double seconds)
{
	return (usec_t)(seconds * 1e6);
}

static int on_timer(sd_event_source *sd, uint64_t usec, void *arg)
{
	struct source *s = arg;
	void (*fn)(void *) = s->fn;
	void *fn_arg = s->arg;

	(void)usec;
	if (s->period_s > 0) {
		/* Spread, so that many roles do not poll in step. */
		usec_t jitter = clock_boottime() % (span(s->period_s) / 10 + 1);

		(void)sd_event_source_set_time_relative(sd, span(s->period_s) + jitter);
		(void)sd_event_source_set_enabled(sd, SD_EVENT_ONESHOT);
	} else {
		source_drop(s);
	}
	fn(fn_arg);
	return 0;
}

static int add_timer(struct loop *l, double seconds, double period, void (*fn)(void *), void *arg,
		     struct err *e)
{
	struct source *s = source_new(l, fn, arg);
	int r;

	s->period_s = period;
	r = sd_event_add_time_relative(l->event, &s->sd, CLOCK_BOOTTIME, span(seconds), 1000,
				       on_timer, s);
	if (r < 0) {
		source_drop(s);
		return failed(e, r, "add a timer");
	}
	return 0;
}

int loop_every(struct loop *l, double seconds, void (*fn)(void *arg), void *arg, struct err *e)
{
	return add_timer(l, seconds, seconds, fn, arg, e);
}

int loop_after(struct loop *l, double seconds, void (*fn)(void *arg), void *arg, struct err *e)
{
	return add_timer(l, seconds, 0, fn, arg, e);
}

static int on_child(sd_event_source *sd, const siginfo_t *si, void *arg)
{
	struct source *s = arg;
	struct source copy = *s;
	int status = si->si_code == CLD_EXITED ? W_EXITCODE(si->si_status, 0)
					       : W_EXITCODE(0, si->si_status);

	(void)sd;
	source_drop(s);
	copy.on_child(copy.arg, si->si_pid, status);
	return 0;
}

int loop_child(struct loop *l, pid_t pid, void (*fn)(void *arg, pid_t pid, int status), void *arg,
	       struct err *e)
{
	struct source *s = source_new(l, NULL, arg);
	int r;

	s->on_child = fn;
	r = sd_event_add_child(l->event, &s->sd, pid, WEXITED, on_child, s);
	if (r < 0) {
		source_drop(s);
		return failed(e, r, "watch a child");
	}
	return 0;
}

static int on_io(sd_event_source *sd, int fd, uint32_t revents, void *arg)
{
	struct source *s = arg;

	(void)sd;
	(void)fd;
	(void)revents;
	s->fn(s->arg);
	return 0;
}

int loop_io(struct loop *l, int fd, void (*fn)(void *arg), void *arg, struct err *e)
{
	struct source *s = source_new(l, fn, arg);
	int r;

	s->fd = fd;
	r = sd_event_add_io(l->event, &s->sd, fd, POLLIN, on_io, s);
	if (r < 0) {
		source_drop(s);
		return failed(e, r, "watch a descriptor");
	}
	return 0;
}

void loop_io_off(struct loop *l, int fd)
{
	/* -1 is what the sources of timers and children hold. */
	for (size_t i = 0; fd >= 0 && i < l->sources.len; i++) {
		if (l->sources.items[i]->fd == fd) {
			source_drop(l->sources.items[i]);
			return;
		}
	}
}
