/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/tree.h"

#include "bot/base/strbuf.h"

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

pid_t *tree_children(size_t *ret_n)
{
	pid_t self = getpid();
	pid_t *list = NULL;
	DIR *d = opendir("/proc");
	struct dirent *de;

	*ret_n = 0;
	while (d && (de = readdir(d))) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9' || parent_of(de->d_name) != self)
			continue;
		list = xreallocarray(list, *ret_n + 1, sizeof(*list));
		list[(*ret_n)++] = (pid_t)strtol(de->d_name, NULL, 10);
	}
	if (d)
		(void)closedir(d);
	return list;
}

static bool is_spared(const struct tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nspare; i++) {
		if (t->spare[i] == pid)
			return true;
	}
	return false;
}

/* Return: how many there were to kill. */
static size_t kill_children(const struct tree *t)
{
	size_t n, killed = 0;
	_cleanup_(freep) pid_t *list = tree_children(&n);

	for (size_t i = 0; i < n; i++) {
		if (is_spared(t, list[i]))
			continue;
		(void)kill(list[i], SIGKILL);
		killed++;
	}
	return killed;
}

unsigned tree_kill(const struct tree *t)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	bool whole = t->whole_machine && t->nspare == 0;
	unsigned reaped = 0;

	/* Killing a parent hands its children to us, so each round goes one generation deeper. */
	for (int i = 0; i < ROUNDS_MAX; i++) {
		int status;
		pid_t pid;

		if (whole)
			(void)kill(-1, SIGKILL);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			reaped += !is_spared(t, pid);
			if (t->reaped)
				t->reaped(t->arg, pid, status);
		}
		if (pid < 0 && errno == ECHILD)
			break;
		if (!whole && kill_children(t) == 0)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return reaped;
}
