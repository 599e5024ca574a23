/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/failpoint.h"

#ifdef KPERFBOT_WITH_FAILPOINTS

#include <signal.h>
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

#endif
