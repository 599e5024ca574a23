/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/clock.h"

#include <time.h>

static usec_t now(clockid_t id)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(id, &ts);
	return (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
}

usec_t clock_realtime(void)
{
	return now(CLOCK_REALTIME);
}

usec_t clock_boottime(void)
{
	return now(CLOCK_BOOTTIME);
}

char *clock_format(usec_t t, char buf[32])
{
	time_t s = (time_t)(t / USEC_PER_SEC);
	struct tm tm = { 0 };

	(void)gmtime_r(&s, &tm);
	if (strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		buf[0] = '\0';
	return buf;
}
