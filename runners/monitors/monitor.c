/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/monitors/monitor.h"

#include "bot/base/cleanup.h"
#include "runners/monitors/internal.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum monitor_id {
#define MONITOR(id, name, files, how, cheap, about) ID_##id,
#include "runners/monitors/monitors.def"
#undef MONITOR
};

static const struct monitor monitors[] = {
#define MONITOR(id, name, files, how, cheap, about) \
	[ID_##id] = { name, files, MONITOR_##how, cheap, about },
#include "runners/monitors/monitors.def"
#undef MONITOR
};

/* Either a function for each line of recorded files, or one for all of the text. */
static const struct {
	reading_fn *line;
	monitor_parse_fn *all;
} parsers[ARRAY_SIZE(monitors)] = {
	[ID_VMSTAT] = { .line = read_vmstat },
	[ID_MPSTAT] = { .all = parse_mpstat },
	[ID_PROC_VMSTAT] = { .line = read_proc_vmstat },
	[ID_MEMINFO] = { .line = read_meminfo },
	[ID_NUMA_VMSTAT] = { .line = read_numa_vmstat },
	[ID_INTERRUPTS] = { .line = read_interrupts },
	[ID_SOFTIRQS] = { .line = read_softirqs },
	[ID_SCHEDSTAT] = { .line = read_schedstat },
	[ID_SLABINFO] = { .line = read_slabinfo },
	[ID_DISKSTATS] = { .line = read_diskstats },
	[ID_PERF_STAT] = { .all = parse_perf_stat },
	[ID_PERF_PROFILE] = { .all = parse_perf_profile },
	[ID_TURBOSTAT] = { .all = parse_turbostat },
};

const struct monitor *monitor_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(monitors); i++)
		if (!strcmp(monitors[i].name, name))
			return &monitors[i];
	return NULL;
}

const struct monitor *monitor_list(size_t i)
{
	return i < ARRAY_SIZE(monitors) ? &monitors[i] : NULL;
}

const char *monitor_names(void)
{
	static const char names[] =
#define MONITOR(id, name, files, how, cheap, about) ", " name
#include "runners/monitors/monitors.def"
#undef MONITOR
		;

	return names + 2;
}

void monitor_parse(const struct monitor *m, const char *text, size_t len,
		   const struct monitor_run *run, struct suite_output *out)
{
	size_t id = (size_t)(m - monitors);
	size_t before = out->n + out->problems_n;
	struct line start = { .nr = 1 };

	if (parsers[id].line)
		reading_run(m, parsers[id].line, text, len, run, out);
	else if (parsers[id].all)
		parsers[id].all(m, text, len, run, out);
	else
		suite_problem_add(out, &start, "monitor '%s' has no recording", m->name);
	if (out->n + out->problems_n == before)
		suite_problem_add(out, &start, "nothing in the recording");
}

double monitor_span(const char *text, size_t len)
{
	struct lines ls = { .text = text, .len = len };
	double first = -1, last = -1, at;
	struct line l;

	while (lines_next(&ls, &l)) {
		struct scan s = scan_line(&l);

		if (!l.whole || !scan_lit(&s, "#sample ") ||
		    !number_f64(s.p, (size_t)(s.end - s.p), &at))
			continue;
		if (first < 0)
			first = at;
		last = at;
	}
	return last > first ? last - first : 0;
}

/* ---- time ---- */

static const struct {
	const char *member, *name;
	struct meaning what;
} usage_members[] = {
	{ "utime_s",
	  "time.user_time",
	  { .scale = 1, .unit = "s", .about = "CPU time in user space" } },
	{ "stime_s",
	  "time.system_time",
	  { .scale = 1, .unit = "s", .about = "CPU time in the kernel" } },
	{ "maxrss_kib",
	  "time.maximum_resident_set_size",
	  { .gauge = true,
	    .scale = 1,
	    .unit = "KiB",
	    .kind = KIND_COUNT,
	    .about = "memory of the largest process at its peak" } },
	{ "minflt",
	  "time.minor_page_faults",
	  { .scale = 1, .unit = "", .about = "page faults without input" } },
	{ "majflt",
	  "time.major_page_faults",
	  { .scale = 1, .unit = "", .about = "page faults that read something in" } },
	{ "nvcsw",
	  "time.voluntary_context_switches",
	  { .scale = 1, .unit = "", .about = "times that a task waited and gave the CPU away" } },
	{ "nivcsw",
	  "time.involuntary_context_switches",
	  { .scale = 1, .unit = "", .about = "times that a task was taken off its CPU" } },
};

void monitor_parse_rusage(const struct json_t *rusage, const struct monitor_run *run,
			  struct suite_output *out)
{
	struct line start = { .nr = 1 };
	double cpu_s = 0;
	bool whole = true;

	for (size_t i = 0; i < ARRAY_SIZE(usage_members); i++) {
		const json_t *j = json_object_get(rusage, usage_members[i].member);
		const struct meaning *w = &usage_members[i].what;
		double v = json_is_number(j) ? json_number_value(j) : -1;

		if (!(v >= 0) || !isfinite(v)) {
			suite_problem_add(out, &start, "no '%s' of 0 or more in the job's account",
					  usage_members[i].member);
			whole &= i >= 2;
			continue;
		}
		cpu_s += i < 2 ? v : 0;
		if (w->gauge)
			metric_give(out, usage_members[i].name, w->unit, w->kind, w->about, v, NULL,
				    0);
		else
			metric_give_count(out, usage_members[i].name, w, v, run->span_s, run->work);
	}
	if (!(run->span_s > 0))
		return;
	metric_give(out, "time.elapsed_time", "s", KIND_TIME, "time that the job took", run->span_s,
		    NULL, 0);
	if (whole)
		metric_give(out, "time.percent_of_cpu_this_job_got", "%", KIND_SHARE,
			    "CPU time of the job, 100 for one CPU all the time",
			    cpu_s / run->span_s * 100, NULL, 0);
}
