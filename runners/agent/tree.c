/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/tree.h"

#include "bot/base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* Rounds of 5 ms. A process in an uninterruptible sleep may never die: then go on without it. */
#define ROUNDS_MAX 2000

static pid_t parent_of(const char *pid)
{
	char path[64], buf[512];
	_cleanup_(fclosep) FILE *f = NULL;
	char *p;
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	/* The name in parentheses may itself hold any of " )(": its end is the last one. */
	p = strrchr(buf, ')');
	if (!p || strlen(p) < 5)
		return -1;
	return (pid_t)strtol(p + 4, NULL, 10);
}

static void kill_children(void)
{
	pid_t self = getpid();
	DIR *d = opendir("/proc");
	struct dirent *de;

	while (d && (de = readdir(d))) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9' || parent_of(de->d_name) != self)
			continue;
		(void)kill((pid_t)strtol(de->d_name, NULL, 10), SIGKILL);
	}
	if (d)
		(void)closedir(d);
}

unsigned tree_kill(bool whole_machine)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	unsigned reaped = 0;

	/* Killing a parent hands its children to us, so each round goes one generation deeper. */
	for (int i = 0; i < ROUNDS_MAX; i++) {
		pid_t pid;

		if (whole_machine)
			(void)kill(-1, SIGKILL);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			reaped++;
		if (pid < 0 && errno == ECHILD)
			return reaped;
		if (!whole_machine)
			kill_children();
		(void)nanosleep(&pause, NULL);
	}
	return reaped;
}
