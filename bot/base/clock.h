/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time as a value: callers that must be testable take the time as an argument and get it here. */
#pragma once

#include <stdint.h>

/** usec_t - microseconds; an instant since the Unix epoch (UTC) or a span, as the name says. */
#define usec_t	     uint64_t
#define USEC_PER_SEC 1000000ULL

/** clock_realtime() - now, microseconds since 1970-01-01 UTC. */
usec_t clock_realtime(void);

/** clock_boottime() - microseconds since boot, suspend included; for leases and deadlines. */
usec_t clock_boottime(void);

/** clock_format() - "2030-11-06T08:12:00Z" into @buf (at least 21 bytes). Return: @buf. */
char *clock_format(usec_t t, char buf[32]);
