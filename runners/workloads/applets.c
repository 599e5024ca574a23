/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/applets.h"

#include "runners/workloads/harness.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const struct applet applets[] = {
#define APPLET(name, run, usage, about) { name, usage, about, run },
#include "runners/workloads/applets.def"
#undef APPLET
	{ 0 },
};

pid_t child_start(void)
{
	pid_t parent = getpid(), pid = fork();

	must(pid >= 0, "fork");
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

int children_wait(size_t n)
{
	int bad = 0, status;

	while (n > 0) {
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno == EINTR)
			continue;
		must(pid >= 0, "wait");
		bad |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
		n--;
	}
	return bad;
}

void print_text(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	must(n > 0 && (size_t)n < sizeof(text) && write(STDOUT_FILENO, text, (size_t)n) == n,
	     "output");
}

uint64_t usecs_since(const struct timespec *since)
{
	struct timespec now;
	int64_t us;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	us = (now.tv_sec - since->tv_sec) * 1000000L + (now.tv_nsec - since->tv_nsec) / 1000;
	return us > 0 ? (uint64_t)us : 1;
}

bool option_take(int *argc, char ***argv, const char *name)
{
	if (*argc < 2 || strcmp((*argv)[1], name) != 0)
		return false;
	*argc -= 1;
	*argv += 1;
	return true;
}

const char *option_value(int *argc, char ***argv, const char *name)
{
	if (*argc < 3 || !option_take(argc, argv, name))
		return NULL;
	*argc -= 1;
	*argv += 1;
	return (*argv)[0];
}

/* "NAME": small letters, digits and dashes, so that the line is one that parsers know. */
static bool is_case_name(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(s) &&
	       strlen(s) < 64;
}

int applet_case(int argc, char **argv)
{
	struct timespec start;
	int status, r;
	pid_t pid;

	if (argc < 2 || !is_case_name(argv[1]))
		return APPLET_USAGE;
	print_text("./case-%s\n", argv[1]);
	if (argc == 2)
		return 0;
	/* Scripts and dd print on stderr what belongs to the output. */
	must(dup2(STDOUT_FILENO, STDERR_FILENO) >= 0, "output");
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	pid = child_start();
	if (pid == 0) {
		if (workload_main(argc - 2, argv + 2, &r)) {
			(void)fflush(stdout);
			_exit(r);
		}
		(void)execvp(argv[2], argv + 2);
		die("cannot execute '%.200s': %m", argv[2]);
	}
	while (waitpid(pid, &status, 0) < 0)
		must(errno == EINTR, "wait");
	if (!WIFEXITED(status))
		die("%.200s was killed by signal %d", argv[2], WTERMSIG(status));
	if (WEXITSTATUS(status) == 0)
		print_text("case %s took %llu usecs\n", argv[1],
			   (unsigned long long)usecs_since(&start));
	return WEXITSTATUS(status);
}
