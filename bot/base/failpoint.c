/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/failpoint.h"

#ifdef KPERFBOT_WITH_FAILPOINTS

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_POINTS 32

static int hits[MAX_POINTS];

static void act(const char *action)
{
	if (!strncmp(action, "kill", 4))
		(void)raise(SIGKILL);
	else if (!strncmp(action, "stop", 4))
		(void)raise(SIGSTOP);
	else if (!strncmp(action, "exit", 4))
		_exit(1);
	else if (!strncmp(action, "sleep", 5))
		(void)nanosleep(&(struct timespec){ .tv_sec = 5 }, NULL);
}

void failpoint_hit(const char *name)
{
	const char *p = getenv("KPERFBOT_FAILPOINTS"); /* NOLINT(concurrency-mt-unsafe) */
	size_t len = strlen(name);

	for (int i = 0; p && *p && i < MAX_POINTS; i++) {
		const char *at;
		int when = 1;

		if (!strncmp(p, name, len) && p[len] == '=') {
			at = strpbrk(p + len, "@,");
			if (at && *at == '@')
				when = (int)strtol(at + 1, NULL, 10);
			if (++hits[i] == when)
				act(p + len + 1);
		}
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
}

/*
 * @file: how far the deaths are, NULL when this process is none of those that die. @seen: half
 * changes, of this process. @place: the one at which it dies.
 */
static struct {
	char action[8];
	char kind[32];
	int64_t id;
	char *file;
	char *log;
	bool each;
	bool last;
	long seen;
	long place;
} commits;

static bool is_named(const char *kinds, const char *kind)
{
	size_t len = strlen(kind);

	for (const char *p = kinds; *p; p += strcspn(p, ",")) {
		p += *p == ',';
		if (!strncmp(p, kind, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

static void put_line(const char *path, int flags, const char *line)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		abort();
}

void failpoint_scope(const char *kind, int64_t id)
{
	const char *p = getenv("KPERFBOT_FAILPOINTS_COMMITS"); /* NOLINT(concurrency-mt-unsafe) */
	char how[8], kinds[200], folder[400];
	FILE *f;

	free(commits.file);
	free(commits.log);
	memset(&commits, 0, sizeof(commits));
	if (!p || sscanf(p, "%7s %7s %199s %399s", commits.action, how, kinds, folder) != 4 ||
	    !is_named(kinds, kind))
		return;
	(void)snprintf(commits.kind, sizeof(commits.kind), "%s", kind);
	commits.id = id;
	commits.each = !strcmp(how, "each");
	commits.log = xasprintf("%s/log", folder);
	commits.file = commits.each ? xasprintf("%s/%s.%lld", folder, kind, (long long)id)
				    : xasprintf("%s/%s", folder, kind);
	f = fopen(commits.file, "re");
	if (f) {
		if (fscanf(f, "%ld", &commits.place) != 1) /* NOLINT(cert-err34-c): our own */
			commits.place = 0;
		(void)fclose(f);
	}
}

void failpoint_commit(bool done)
{
	bool begins_afresh = done && commits.each && commits.last;
	char line[100];

	if (!commits.file || commits.seen++ != commits.place)
		return;
	(void)snprintf(line, sizeof(line), "%ld", begins_afresh ? 0 : commits.place + 1);
	put_line(commits.file, O_TRUNC, line);
	(void)snprintf(line, sizeof(line), "%s %lld %ld %s\n", commits.kind, (long long)commits.id,
		       commits.place / 2, done ? "after" : "before");
	put_line(commits.log, O_APPEND, line);
	(void)raise(!strcmp(commits.action, "stop") ? SIGSTOP : SIGKILL);
}

void failpoint_last(void)
{
	commits.last = true;
}

void failpoint_end(void)
{
	if (commits.file && commits.each)
		(void)unlink(commits.file);
}

#endif
