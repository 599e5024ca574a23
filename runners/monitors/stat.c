/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/stat, /proc/loadavg and /proc/schedstat. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/monitors/internal.h"

#include <math.h>
#include <string.h>

#define STAT_WORDS 12

/* ---- vmstat ---- */

static const struct {
	const char *word, *key;
	struct meaning what;
} stat_keys[] = {
	{ "ctxt",
	  "system.cs",
	  { .scale = 1, .unit = "", .about = "switches from a task to another" } },
	{ "intr", "system.in", { .scale = 1, .unit = "", .about = "interrupts of all sources" } },
	{ "processes", "system.forks", { .scale = 1, .unit = "", .about = "tasks created" } },
	{ "procs_running",
	  "procs.r",
	  { .gauge = true,
	    .scale = 1,
	    .unit = "tasks",
	    .kind = KIND_COUNT,
	    .about = "tasks that run or could run, without the one that looks" } },
	{ "procs_blocked",
	  "procs.b",
	  { .gauge = true,
	    .scale = 1,
	    .unit = "tasks",
	    .kind = KIND_COUNT,
	    .about = "tasks that wait for a disk" } },
};

static void read_loadavg(struct reading *r)
{
	static const char *const keys[] = { "load.1min", "load.5min", "load.15min" };
	static const struct meaning load = { .gauge = true,
					     .scale = 0.01,
					     .unit = "tasks",
					     .kind = KIND_COUNT,
					     .about = "load average: tasks that run or wait for a "
						      "CPU or a disk, smoothed" };
	struct word w[4];
	double v[3];

	if (r->file_line != 1)
		return;
	if (words_split(&r->line, w, 4) < 4) {
		reading_bad(r, "a load average");
		return;
	}
	for (size_t i = 0; i < 3; i++)
		if (!number_f64(w[i].s, w[i].len, &v[i]) || v[i] > 1e9) {
			reading_bad(r, "a load average");
			return;
		}
	for (size_t i = 0; i < 3; i++)
		reading_value(r, &load, (uint64_t)round(v[i] * 100), keys[i], strlen(keys[i]));
}

void read_vmstat(struct reading *r)
{
	struct scan s = scan_line(&r->line);
	struct word w[2];
	uint64_t v;

	if (r->path_len == strlen("/proc/loadavg")) {
		read_loadavg(r);
		return;
	}
	/* Behind the sum of all interrupts the line has thousands of numbers more. */
	if (!word_next(&s, &w[0]) || !word_next(&s, &w[1]))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stat_keys); i++) {
		if (!word_eq(&w[0], stat_keys[i].word))
			continue;
		if (!number_u64(w[1].s, w[1].len, &v)) {
			reading_bad(r, "a count");
			return;
		}
		/* Whoever reads the file runs while it does. */
		if (word_eq(&w[0], "procs_running") && v > 0)
			v--;
		reading_value(r, &stat_keys[i].what, v, stat_keys[i].key, strlen(stat_keys[i].key));
		return;
	}
}

/* ---- mpstat ---- */

static const char *const cpu_columns[] = { "user", "nice",    "system", "idle",	 "iowait",
					   "irq",  "softirq", "steal",	"guest", "guest_nice" };
enum cpu_column {
	COL_USER,
	COL_NICE,
	COL_SYSTEM,
	COL_IDLE,
	COL_IOWAIT,
	COL_IRQ,
	COL_SOFTIRQ,
	COL_STEAL,
	COL_GUEST,
	COL_GUEST_NICE,
	COL_N
};

static void read_cpu_line(struct reading *r)
{
	static const struct meaning ticks = { .scale = 1, .unit = "", .about = "" };
	struct word w[COL_N + 1];
	size_t n;
	uint64_t v[COL_N];

	if (!line_starts(&r->line, "cpu "))
		return;
	n = words_split(&r->line, w, ARRAY_SIZE(w));
	if (n > ARRAY_SIZE(w))
		n = ARRAY_SIZE(w);
	if (n < COL_IDLE + 2) {
		reading_bad(r, "the times of all CPUs");
		return;
	}
	for (size_t i = 1; i < n; i++)
		if (!number_u64(w[i].s, w[i].len, &v[i - 1])) {
			reading_bad(r, "the times of all CPUs");
			return;
		}
	for (size_t i = 0; i + 1 < n; i++)
		reading_value(r, &ticks, v[i], cpu_columns[i], strlen(cpu_columns[i]));
}

/* Ticks of @c per second; -1 if that is not known. */
static double cpu_ticks(const struct suite_output *ticks, enum cpu_column c)
{
	char name[MONITOR_NAME_MAX];
	const struct suite_metric *m;

	(void)metric_name(name, "mpstat.%s", cpu_columns[c]);
	m = suite_metric_find(ticks, name);
	return m ? m->value : -1;
}

/*
 * Time of guests is part of user and nice, and shown apart. The kernel takes back iowait at times,
 * it is then left out and the rest compared without it; any other time that fell spoils all.
 */
static bool cpu_shares(const struct suite_output *ticks, double share[COL_N])
{
	double total = 0;

	for (int i = 0; i < COL_N; i++)
		share[i] = cpu_ticks(ticks, (enum cpu_column)i);
	for (int i = 0; i <= COL_IDLE; i++)
		if (share[i] < 0)
			return false;
	for (int i = 0; i <= COL_STEAL; i++)
		total += fmax(share[i], 0);
	share[COL_USER] -= fmax(share[COL_GUEST], 0);
	share[COL_NICE] -= fmax(share[COL_GUEST_NICE], 0);
	if (!(total > 0) || share[COL_USER] < 0 || share[COL_NICE] < 0)
		return false;
	for (int i = 0; i < COL_N; i++)
		if (share[i] > 0)
			share[i] *= 100 / total;
	return true;
}

const struct mpstat_share mpstat_shares[] = {
	{ "usr", "CPU time in user space" },
	{ "nice", "CPU time in user space of tasks that are nice" },
	{ "sys", "CPU time in the kernel" },
	{ "idle", "CPU time without anything to do" },
	{ "iowait", "CPU time without anything to do while a task waited for a disk" },
	{ "irq", "CPU time in interrupts" },
	{ "soft", "CPU time in soft interrupts" },
	{ "steal", "time that the host gave to others" },
	{ "guest", "CPU time of guests" },
	{ "gnice", "CPU time of guests that are nice" },
	{ NULL, NULL }
};

void parse_mpstat_files(const struct monitor *m, const char *text, size_t len,
			const struct monitor_run *run, struct suite_output *out)
{
	struct monitor_run each = { .span_s = run->span_s > 0 ? run->span_s : 1 };
	struct line end = { .nr = 1 };
	struct suite_output ticks = { 0 };
	char name[MONITOR_NAME_MAX];
	double share[COL_N];

	ticks.problems = take_ptr(out->problems);
	ticks.problems_n = out->problems_n;
	reading_run(m, read_cpu_line, text, len, &each, &ticks);
	out->problems = take_ptr(ticks.problems);
	out->problems_n = ticks.problems_n;
	ticks.problems_n = 0;
	if (cpu_shares(&ticks, share)) {
		for (int i = 0; i < COL_N; i++) {
			(void)metric_name(name, "mpstat.cpu.all.%s%%", mpstat_shares[i].key);
			if (share[i] >= 0)
				metric_give(out, name, "%", KIND_SHARE, mpstat_shares[i].about,
					    share[i], NULL, 0);
		}
	} else {
		suite_problem_add(out, &end, "no CPU times that go together");
	}
	suite_output_done(&ticks);
}

/* ---- schedstat ---- */

static const struct {
	const char *key;
	struct meaning what;
} sched_columns[] = {
	{ "yields",
	  { .per_cpu = true, .scale = 1, .unit = "", .about = "calls of sched_yield()" } },
	{ NULL, { 0 } },
	{ "schedules",
	  { .per_cpu = true, .scale = 1, .unit = "", .about = "calls of the scheduler" } },
	{ "goidle",
	  { .per_cpu = true,
	    .scale = 1,
	    .unit = "",
	    .about = "calls of the scheduler that found no task" } },
	{ "wakeups", { .per_cpu = true, .scale = 1, .unit = "", .about = "tasks woken" } },
	{ "wakeups_local",
	  { .per_cpu = true,
	    .scale = 1,
	    .unit = "",
	    .about = "tasks woken on the CPU that woke them" } },
	{ "run_time",
	  { .per_cpu = true, .scale = 1e-9, .unit = "s", .about = "time that tasks ran" } },
	{ "wait_time",
	  { .per_cpu = true,
	    .scale = 1e-9,
	    .unit = "s",
	    .about = "time that tasks waited for a CPU" } },
	{ "timeslices",
	  { .per_cpu = true, .scale = 1, .unit = "", .about = "times that a task got a CPU" } },
};

void read_schedstat(struct reading *r)
{
	struct word w[ARRAY_SIZE(sched_columns) + 1];
	uint64_t v[ARRAY_SIZE(sched_columns)];

	if (r->file_line == 1) {
		if (words_split(&r->line, w, 2) != 2 || !word_eq(&w[0], "version") ||
		    !number_u64(w[1].s, w[1].len, &v[0]) || v[0] < 15 || v[0] > 17) {
			reading_bad(r, "version 15, 16 or 17 of the scheduler's statistics");
			r->file_skip = true;
		}
		return;
	}
	if (!line_starts(&r->line, "cpu"))
		return;
	if (words_split(&r->line, w, ARRAY_SIZE(w)) != ARRAY_SIZE(w)) {
		reading_bad(r, "a CPU's nine numbers");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (!number_u64(w[i + 1].s, w[i + 1].len, &v[i])) {
			reading_bad(r, "a CPU's nine numbers");
			return;
		}
	reading_member(r, w[0].s, w[0].len);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (sched_columns[i].key)
			reading_add(r, &sched_columns[i].what, v[i], sched_columns[i].key,
				    strlen(sched_columns[i].key));
}
