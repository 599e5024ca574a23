/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run-until PREFIX SECONDS COMMAND [ARGUMENT...]: run a program that keeps its output back until it
 * exits, or that does not exit.
 *
 * Its output is a terminal, so that the C library writes line by line, and is passed on as it comes.
 * When a line has begun with PREFIX, the program has SECONDS left to end by itself; then it is
 * killed with its process group, and that counts as a good end. For the unmodified will-it-scale.
 */
#include "runners/workloads/applets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 3600

/*
 * struct until - the program and what was seen of its output.
 * fd: to read from. signals: SIGCHLD and the wish to end.
 * column: bytes of the line at hand; fits: have they been those of the prefix?
 * due_ms: when to kill it, 0: never.
 */
struct until {
	const char *prefix;
	long grace_ms;
	pid_t self, pid;
	int fd, signals;
	size_t column;
	bool fits;
	long due_ms;
	sigset_t old_mask;
};

static int fail(const char *what)
{
	(void)fprintf(stderr, "run-until: %s: %s\n", what, strerrordesc_np(errno));
	return -1;
}

static long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A terminal that changes nothing of what is written to it. Return: 0, or -1. */
static int open_terminal(int ret[2])
{
	struct termios t;
	char name[64];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	if (master < 0)
		return -1;
	if (grantpt(master) < 0 || unlockpt(master) < 0 ||
	    ptsname_r(master, name, sizeof(name)) != 0) {
		(void)close(master);
		return -1;
	}
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || tcgetattr(slave, &t) < 0) {
		(void)close(master);
		if (slave >= 0)
			(void)close(slave);
		return -1;
	}
	cfmakeraw(&t);
	(void)tcsetattr(slave, TCSANOW, &t);
	ret[0] = master;
	ret[1] = slave;
	return 0;
}

static void run_child(const struct until *u, int out, char **argv)
{
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != u->self || dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	(void)pthread_sigmask(SIG_SETMASK, &u->old_mask, NULL);
	(void)execvp(argv[0], argv);
	(void)fail(argv[0]);
	_exit(127);
}

static int start(struct until *u, char **argv)
{
	int fds[2];

	if (open_terminal(fds) < 0) {
		(void)fprintf(stderr, "run-until: no terminal (%s): output may come late\n",
			      strerrordesc_np(errno));
		if (pipe2(fds, O_CLOEXEC) < 0)
			return fail("pipe");
	}
	(void)fflush(stdout);
	u->pid = fork();
	if (u->pid < 0)
		return fail("fork");
	if (u->pid == 0)
		run_child(u, fds[1], argv);
	(void)setpgid(u->pid, u->pid);
	(void)close(fds[1]);
	u->fd = fds[0];
	return 0;
}

static void look(struct until *u, const char *s, size_t n)
{
	size_t len = strlen(u->prefix);

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n') {
			if (u->fits && u->column >= len && u->due_ms == 0)
				u->due_ms = now_ms() + u->grace_ms;
			u->column = 0;
			u->fits = true;
			continue;
		}
		if (u->column < len)
			u->fits &= s[i] == u->prefix[u->column];
		u->column++;
	}
}

static bool write_all(const char *s, size_t n)
{
	while (n > 0) {
		ssize_t k = write(STDOUT_FILENO, s, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		s += k;
		n -= (size_t)k;
	}
	return true;
}

/* Return: is there more to come? */
static bool pass_on(struct until *u)
{
	char buf[4096];
	ssize_t n = read(u->fd, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	/* EIO: nobody has the other end of the terminal open any more. */
	if (n <= 0)
		return false;
	look(u, buf, (size_t)n);
	return write_all(buf, (size_t)n);
}

static void drain(struct until *u)
{
	struct pollfd p = { .fd = u->fd, .events = POLLIN };

	while (poll(&p, 1, 0) == 1 && (p.revents & (POLLIN | POLLHUP)) && pass_on(u))
		;
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* End the program and all of its group. */
static void end_group(const struct until *u)
{
	int status;

	(void)kill(-u->pid, SIGKILL);
	while (waitpid(u->pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* Until the program ends, is to end, or somebody wants us to. Return: exit status. */
static int watch(struct until *u)
{
	bool open = true;

	for (;;) {
		struct pollfd p[2] = { { .fd = u->signals, .events = POLLIN },
				       { .fd = open ? u->fd : -1, .events = POLLIN } };
		long left = u->due_ms ? u->due_ms - now_ms() : -1;
		struct signalfd_siginfo si;
		int status;

		if (u->due_ms && left <= 0) {
			end_group(u);
			drain(u);
			return 0;
		}
		if (poll(p, 2, left > INT_MAX ? INT_MAX : (int)left) < 0 && errno != EINTR) {
			(void)fail("poll");
			return 1;
		}
		if (p[1].revents)
			open = pass_on(u);
		if (!p[0].revents || read(u->signals, &si, sizeof(si)) != sizeof(si))
			continue;
		if (si.ssi_signo != SIGCHLD) {
			end_group(u);
			return 128 + (int)si.ssi_signo;
		}
		if (waitpid(u->pid, &status, WNOHANG) == u->pid) {
			drain(u);
			/* Helpers that outlive it. */
			(void)kill(-u->pid, SIGKILL);
			return exit_status(status);
		}
	}
}

static bool read_seconds(const char *s, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(s, &end, 10);
	return !errno && end != s && !*end && *ret >= 0 && *ret <= SECONDS_MAX;
}

int applet_run_until(int argc, char **argv)
{
	struct until u = { .fits = true };
	sigset_t mask;
	long seconds;

	if (argc < 4 || !*argv[1] || !read_seconds(argv[2], &seconds))
		return APPLET_USAGE;
	u.self = getpid();
	u.prefix = argv[1];
	u.grace_ms = seconds * 1000;
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigaddset(&mask, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &mask, &u.old_mask);
	u.signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (u.signals < 0) {
		(void)fail("signalfd");
		return 1;
	}
	return start(&u, argv + 3) < 0 ? 1 : watch(&u);
}
