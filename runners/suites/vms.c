/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vm-scalability: the cases as a table, and plans. */
#include "runners/suites/vms.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"

#include <string.h>

#define MIB	     UINT64_C(1048576)
#define TIB	     (MIB * MIB)
#define DEFAULT_WAIT 3600.0

static const struct vms_case cases[] = {
	{ "anon-w-seq", "", false, SIZE_UNIT_PER_TASK, 2 },
	{ "anon-w-seq-mt", "", true, SIZE_UNIT_PER_TASK, 2 },
	{ "anon-w-rand", "--random", false, SIZE_UNIT_PER_TASK, 2 },
	{ "anon-w-rand-mt", "--random", true, SIZE_UNIT_PER_TASK, 2 },
	{ "anon-wx-seq-mt", "--prealloc", true, SIZE_UNIT, 2 },
	{ "anon-wx-rand-mt", "--prealloc --random", true, SIZE_UNIT_PER_TASK, 2 },
	{ "anon-cow-seq", "--prealloc --prefault", false, SIZE_UNIT_PER_TASK1, 2 },
	{ "anon-cow-rand", "--prealloc --prefault --random", false, SIZE_UNIT_PER_TASK1, 2 },
	{ "anon-cow-seq-mt", "--prealloc --prefault", true, SIZE_UNIT, 4 },
	{ "anon-cow-rand-mt", "--prealloc --prefault --random", true, SIZE_UNIT, 4 },
	{ "anon-r-seq", "--readonly", false, SIZE_READ_SEQ, 0 },
	{ "anon-r-seq-mt", "--readonly", true, SIZE_READ_SEQ_MT, 0 },
	{ "anon-r-rand", "--readonly --random", false, SIZE_READ_PER_TASK, 0 },
	{ "anon-r-rand-mt", "--readonly --random", true, SIZE_READ_PER_TASK, 0 },
	{ "anon-rx-seq-mt", "--prealloc --readonly", true, SIZE_READ, 0 },
	{ "anon-rx-rand-mt", "--prealloc --readonly --random", true, SIZE_READ_PER_TASK, 0 },
	{ "mlock", "--mlock", false, SIZE_LOCK_PER_TASK, 0 },
};

static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "100%", "tasks, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "until the work is done", "when to stop" },
	{ "unit_size", PARAM_SIZE, NULL, "a share of the memory", "bytes that one pass works on" },
	{ NULL, PARAM_CHOICE, NULL, NULL, NULL },
};

static const struct suite_metric_info metrics[] = {
	{ "vm-scalability.throughput", "KB/s", "Bytes touched per second by all tasks.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "vm-scalability.median", "KB/s", "Bytes touched per second by the median task.",
	  BETTER_HIGHER, KIND_RATE, false },
	{ "vm-scalability.free_time", "s", "Time to unmap the memory.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "vm-scalability.stddev%", "%", "Spread of the tasks' rates.", BETTER_LOWER, KIND_SHARE,
	  false },
	{ "vm-scalability.workload", "KiB", "Bytes touched in all.", BETTER_NONE, KIND_COUNT,
	  false },
	{ "vm-scalability.migrate_mbps", "MB/s", "Bytes moved between nodes per second.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ NULL, NULL, NULL, BETTER_NONE, KIND_RATE, false },
};

static const char *vms_test_name(size_t i)
{
	return i < ARRAY_SIZE(cases) ? cases[i].name : NULL;
}

const struct vms_case *vms_case_find(const char *name)
{
	if (!strncmp(name, "case-", 5))
		name += 5;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(cases[i].name, name))
			return &cases[i];
	return NULL;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * vm-scalability bounds the cases that only read by P = 256 times the free memory, so that page
 * tables (8 bytes for each 4096, and twice that for safety) stay below half of it.
 */
static uint64_t task_bytes(const struct vms_case *c, uint64_t unit, unsigned tasks,
			   const struct suite_machine *m)
{
	uint64_t p = min_u64(m->mem_available_bytes, UINT64_MAX / 256) * 256;
	uint64_t r = min_u64(4 * TIB, p), l = 64 * TIB;

	switch (c->size) {
	case SIZE_UNIT:
		return unit;
	case SIZE_UNIT_PER_TASK:
		return unit / tasks;
	case SIZE_UNIT_PER_TASK1:
		return unit / (tasks + 1);
	case SIZE_READ_SEQ:
		return min_u64(p / tasks, l);
	case SIZE_READ_SEQ_MT:
		return min_u64(p, l) / tasks;
	case SIZE_READ:
		return r;
	case SIZE_READ_PER_TASK:
		return r / tasks;
	case SIZE_LOCK_PER_TASK:
		return m->mem_available_bytes / 3 / tasks;
	}
	return 0;
}

/* Memory that all tasks together fill; 0 for the cases that only map the zero page. */
static uint64_t filled_bytes(const struct vms_case *c, uint64_t bytes, unsigned tasks)
{
	if (strstr(c->options, "--readonly"))
		return 0;
	if (c->size == SIZE_UNIT_PER_TASK1)
		return bytes * (tasks + 1);
	/* All threads sweep one region; with copy-on-write the parent keeps the old one. */
	if (c->size == SIZE_UNIT)
		return strstr(c->options, "--prefault") ? 2 * bytes : bytes;
	return bytes * tasks;
}

static int vms_unit(const struct vms_case *c, const struct suite_param *params, size_t n,
		    const struct suite_machine *m, uint64_t *ret, struct err *e)
{
	const char *value = suite_param_get(params, n, "unit_size", NULL);

	if (value && c->unit_div == 0)
		return err_set(e, ERR_INVAL,
			       "unit_size = '%.80s': %s takes its size from the machine", value,
			       c->name);
	if (value)
		return parse_size(value, ret, e);
	*ret = c->unit_div ? m->mem_total_bytes / c->unit_div : 0;
	return 0;
}

static int vms_plan(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *plan, struct err *e)
{
	const struct vms_case *c = vms_case_find(test);
	uint64_t unit = 0, bytes, fill;
	unsigned runtime = 0;
	int r;

	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &runtime, e);
	if (r == 0)
		r = vms_unit(c, params, n, m, &unit, e);
	if (r < 0)
		return r;
	bytes = task_bytes(c, unit, plan->tasks, m) & ~UINT64_C(4095);
	if (bytes == 0)
		return err_set(
			e, ERR_NOSPACE,
			"%s leaves less than 4096 bytes for each of %u tasks of a machine with %llu "
			"MiB free",
			test, plan->tasks, (unsigned long long)(m->mem_available_bytes / MIB));
	fill = bytes > UINT64_MAX / (plan->tasks + 1) ? UINT64_MAX
						      : filled_bytes(c, bytes, plan->tasks);
	if (fill > m->mem_available_bytes)
		return err_set(e, ERR_NOSPACE,
			       "%s with %u tasks fills %llu MiB, and the machine has %llu MiB free",
			       test, plan->tasks, (unsigned long long)(fill / MIB),
			       (unsigned long long)(m->mem_available_bytes / MIB));
	if (runtime > 0)
		suite_plan_add(plan, "usemem --runtime %u %s %s %u %llu", runtime, c->options,
			       c->threads ? "-t" : "-n", plan->tasks, (unsigned long long)bytes);
	else
		suite_plan_add(plan, "usemem %s %s %u %llu", c->options, c->threads ? "-t" : "-n",
			       plan->tasks, (unsigned long long)bytes);
	/* The limit is looked at between chunks of work only, and freeing takes time too. */
	plan->deadline_s = runtime > 0 ? 2.0 * (runtime + 1) + 60 : DEFAULT_WAIT;
	return 0;
}

static const char *vms_headline(const char *test, const struct suite_param *params, size_t n)
{
	(void)params;
	(void)n;
	return test && (!strcmp(test, "migrate") || !strcmp(test, "case-migrate"))
		       ? "vm-scalability.migrate_mbps"
		       : "vm-scalability.throughput";
}

const struct suite suite_vms = {
	.name = "vm-scalability",
	.about = "Memory touched, mapped and freed in many ways by parallel tasks.",
	.params = params_known,
	.metrics = metrics,
	.bundled = true,
	.work = "vm-scalability.workload",
	.max_tasks = 1048576,
	.test_name = vms_test_name,
	.plan = vms_plan,
	.parse = vms_parse,
	.headline = vms_headline,
};
