/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale: tests, parameters and plans. */
#include "runners/suites/wis.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <string.h>

#define MIB		UINT64_C(1048576)
#define WARMUP_S	6
#define DEFAULT_SAMPLES 5

/* Memory that one task fills, where that is more than a page or two. */
static const struct {
	const char *name;
	unsigned mib;
} tests[] = {
	{ "brk1", 0 },
	{ "brk2", 0 },
	{ "context_switch1", 0 },
	{ "dup1", 0 },
	{ "eventfd1", 0 },
	{ "fallocate1", 1 },
	{ "fallocate2", 1 },
	{ "futex1", 0 },
	{ "futex2", 0 },
	{ "futex3", 0 },
	{ "futex4", 0 },
	{ "getppid1", 0 },
	{ "lock1", 0 },
	{ "lock2", 0 },
	{ "lseek1", 0 },
	{ "lseek2", 0 },
	{ "malloc1", 0 },
	{ "malloc2", 0 },
	{ "mmap1", 0 },
	{ "mmap2", 0 },
	{ "open1", 0 },
	{ "open2", 0 },
	{ "open3", 0 },
	{ "page_fault1", 128 },
	/* The file's page and the copy of it. */
	{ "page_fault2", 256 },
	{ "page_fault3", 128 },
	{ "pipe1", 0 },
	{ "poll1", 0 },
	{ "poll2", 0 },
	{ "posix_semaphore1", 0 },
	{ "pread1", 0 },
	{ "pread2", 0 },
	{ "pread3", 0 },
	{ "pthread_mutex1", 0 },
	{ "pthread_mutex2", 0 },
	{ "pthread_mutex3", 0 },
	{ "pthread_mutex4", 0 },
	{ "pthread_mutex5", 0 },
	{ "pwrite1", 0 },
	{ "pwrite2", 0 },
	{ "pwrite3", 0 },
	{ "read1", 1 },
	{ "read2", 1 },
	{ "read3", 1 },
	{ "read4", 1 },
	{ "readseek1", 0 },
	{ "readseek2", 0 },
	{ "readseek3", 0 },
	{ "sched_yield", 0 },
	{ "signal1", 0 },
	{ "tlb_flush1", 128 },
	{ "tlb_flush2", 1 },
	{ "tlb_flush3", 128 },
	{ "unix1", 0 },
	{ "unlink1", 0 },
	{ "unlink2", 0 },
	{ "write1", 1 },
	{ "writeseek1", 0 },
	{ "writeseek2", 0 },
	{ "writeseek3", 0 },
};

static const char *const modes[] = { "process", "thread", NULL };
static const char *const pins[] = { "core", "pu", "none", NULL };
static const struct suite_param_def params_known[] = {
	{ "mode", PARAM_CHOICE, modes, "process", "processes, or threads of one process" },
	{ "nr_task", PARAM_TASKS, NULL, "100%", "tasks, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "5s", "measured time, after 6 s of warm-up" },
	{ "pin", PARAM_CHOICE, pins, "core", "what a task is bound to" },
	{ NULL, PARAM_CHOICE, NULL, NULL, NULL },
};

static const struct suite_metric_info metrics[] = {
	{ "will-it-scale.per_process_ops", "ops/s", "Operations per second of each process.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "will-it-scale.per_thread_ops", "ops/s", "Operations per second of each thread.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "will-it-scale.workload", "ops/s", "Operations per second of all tasks.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "will-it-scale.scalability", "ratio", "Rate beside that of one task times the tasks.",
	  BETTER_HIGHER, KIND_SHARE, false },
	{ NULL, NULL, NULL, BETTER_NONE, KIND_RATE, false },
};

static const char *wis_test_name(size_t i)
{
	return i < ARRAY_SIZE(tests) ? tests[i].name : NULL;
}

unsigned wis_test_mib(size_t i)
{
	return i < ARRAY_SIZE(tests) ? tests[i].mib : 0;
}

static int check_memory(const char *test, unsigned tasks, const struct suite_machine *m,
			struct err *e)
{
	uint64_t need = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, test))
			need = (uint64_t)tests[i].mib * tasks;
	if (need * MIB > m->mem_available_bytes)
		return err_set(e, ERR_NOSPACE,
			       "%s with %u tasks fills %llu MiB, and the machine has %llu MiB free",
			       test, tasks, (unsigned long long)need,
			       (unsigned long long)(m->mem_available_bytes / MIB));
	return 0;
}

static int wis_plan(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *plan, struct err *e)
{
	const char *mode = suite_param_get(params, n, "mode", "process");
	const char *pin = suite_param_get(params, n, "pin", "core");
	unsigned cpus = m->cpus > 0 ? (unsigned)m->cpus : 1;
	_cleanup_(freep) char *name = NULL;
	unsigned samples = 0;
	int r;

	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &samples, e);
	if (r == 0)
		r = check_memory(test, plan->tasks, m, e);
	if (r < 0)
		return r;
	if (samples == 0)
		samples = DEFAULT_SAMPLES;
	name = xasprintf("%s_%s", test, strcmp(mode, "thread") ? "processes" : "threads");
	suite_plan_tool(plan, m, name, "-t %u -s %u%s", plan->tasks, samples,
			!strcmp(pin, "none") ? " -n"
			: !strcmp(pin, "pu") ? " -m"
					     : "");
	/*
	 * The unmodified programs flush nothing before they exit, and malloc1_threads does not exit
	 * always: a terminal has them print line by line, and behind the average they may be ended.
	 */
	if (m->path) {
		suite_plan_wrap(plan, "run-until average: 2");
		suite_plan_identify(plan, "%s/%s", m->path, name);
	}
	/* poll2 opens 128 files in each task, and raises its own limit to 138 for each CPU. */
	if (!strcmp(test, "poll2"))
		plan->nofile = 138 * (plan->tasks > cpus ? plan->tasks : cpus);
	/* Starved sleeps of the sampling task, and the making of thousands of tasks. */
	plan->deadline_s = (samples + WARMUP_S) * 1.5 + 30 + plan->tasks * 0.05;
	plan->hang_ok = true;
	return 0;
}

static const char *wis_headline(const char *test, const struct suite_param *params, size_t n)
{
	(void)test;
	return strcmp(suite_param_get(params, n, "mode", "process"), "thread")
		       ? "will-it-scale.per_process_ops"
		       : "will-it-scale.per_thread_ops";
}

const struct suite suite_wis = {
	.name = "will-it-scale",
	.about = "One system call or page fault in an endless loop, in parallel tasks.",
	.params = params_known,
	.metrics = metrics,
	.bundled = true,
	.work = "will-it-scale.workload",
	.work_per_second = true,
	.max_tasks = 2048,
	.test_name = wis_test_name,
	.plan = wis_plan,
	.parse = wis_parse,
	.headline = wis_headline,
};
