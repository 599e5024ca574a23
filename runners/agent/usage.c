/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/usage.h"

#include <sys/time.h>

void usage_add(struct usage *s, const struct rusage *u)
{
	struct rusage *sum = &s->sum;

	timeradd(&sum->ru_utime, &u->ru_utime, &sum->ru_utime);
	timeradd(&sum->ru_stime, &u->ru_stime, &sum->ru_stime);
	if (u->ru_maxrss > sum->ru_maxrss)
		sum->ru_maxrss = u->ru_maxrss;
	sum->ru_minflt += u->ru_minflt;
	sum->ru_majflt += u->ru_majflt;
	sum->ru_nvcsw += u->ru_nvcsw;
	sum->ru_nivcsw += u->ru_nivcsw;
}

json_t *usage_json(const struct usage *s)
{
	const struct rusage *u = &s->sum;

	return json_pack("{sf sf sI sI sI sI sI}", "utime_s",
			 (double)u->ru_utime.tv_sec + (double)u->ru_utime.tv_usec / 1e6, "stime_s",
			 (double)u->ru_stime.tv_sec + (double)u->ru_stime.tv_usec / 1e6,
			 "maxrss_kib", (json_int_t)u->ru_maxrss, "minflt", (json_int_t)u->ru_minflt,
			 "majflt", (json_int_t)u->ru_majflt, "nvcsw", (json_int_t)u->ru_nvcsw,
			 "nivcsw", (json_int_t)u->ru_nivcsw);
}
