/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf bench: collections, parameters and plans. */
#include "runners/suites/perf_bench.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"

#include <string.h>

#define MIB	     UINT64_C(1048576)
#define DEFAULT_WAIT 3600.0
/* Stack and page tables of a task, and what it sends. */
#define TASK_BYTES UINT64_C(262144)

static const char *const modes[] = { "process", "thread", NULL };
static const char *const ipcs[] = { "socket", "pipe", NULL };

static const char *const functions[] = { "all", "default", NULL };

static const struct suite_param_def messaging_params[] = {
	{ "mode", PARAM_CHOICE, modes, "process", "what a task is" },
	{ "ipc", PARAM_CHOICE, ipcs, "socket", "what the messages go through" },
	{ "nr_task", PARAM_TASKS, NULL, "100%", "groups of 40 tasks, or a share of the CPUs" },
	{ "loops", PARAM_COUNT, NULL, "1000", "messages from each sender to each receiver" },
	PARAM_ITERATIONS("3"),
	PARAMS_END,
};
static const struct suite_param_def pipe_params[] = {
	{ "mode", PARAM_CHOICE, modes, "process", "what the two tasks are" },
	{ "loops", PARAM_COUNT, NULL, "1000000", "round trips" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};
static const struct suite_param_def syscall_params[] = {
	{ "loops", PARAM_COUNT, NULL, "10000000", "calls" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};
static const struct suite_param_def threads_params[] = {
	{ "nr_task", PARAM_TASKS, NULL, "100%", "threads, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "10s", "measured time, of the tests that have one" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};
static const struct suite_param_def mem_params[] = {
	{ "unit_size", PARAM_SIZE, NULL, "16M", "bytes of one copy" },
	{ "loops", PARAM_COUNT, NULL, "100", "copies" },
	{ "function", PARAM_CHOICE, functions, "all",
	  "all that perf knows, or that of the C library" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};
static const struct suite_param_def numa_params[] = {
	{ "processes", PARAM_COUNT, NULL, "1", "processes" },
	{ "nr_task", PARAM_TASKS, NULL, "100%", "threads of each, or a share of the CPUs" },
	{ "unit_size", PARAM_SIZE, NULL, "64M", "memory that the threads of a process share" },
	{ "runtime", PARAM_SECONDS, NULL, "10s", "measured time" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};

const struct suite_metric_info perf_sched_messaging_metrics[] = {
	{ "perf-bench-sched-messaging.total_time_sec", "s", "Time until all messages are through.",
	  BETTER_LOWER, KIND_TIME, true },
	METRICS_END,
};
const struct suite_metric_info perf_sched_pipe_metrics[] = {
	{ "perf-bench-sched-pipe.total_time_sec", "s", "Time of all round trips.", BETTER_LOWER,
	  KIND_TIME, false },
	{ "perf-bench-sched-pipe.usecs_per_op", "us", "Time of one round trip.", BETTER_LOWER,
	  KIND_TIME, false },
	{ "perf-bench-sched-pipe.ops_per_sec", "ops/s", "Round trips per second.", BETTER_HIGHER,
	  KIND_RATE, true },
	METRICS_END,
};
const struct suite_metric_info perf_syscall_metrics[] = {
	{ "perf-bench-syscall.*.total_time_sec", "s", "Time of all calls.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "perf-bench-syscall.*.usecs_per_op", "us", "Time of one call.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "perf-bench-syscall.*.ops_per_sec", "ops/s", "Calls per second.", BETTER_HIGHER,
	  KIND_RATE, true },
	METRICS_END,
};
const struct suite_metric_info perf_futex_metrics[] = {
	{ "perf-bench-futex.ops_per_sec", "ops/s",
	  "Operations per second of each thread, on average (hash, lock-pi).", BETTER_HIGHER,
	  KIND_RATE, true },
	{ "perf-bench-futex.stddev%", "%", "Spread of the threads, or of the runs inside.",
	  BETTER_LOWER, KIND_SHARE, false },
	{ "perf-bench-futex.wokeup_time_ms", "ms",
	  "Time to wake all threads (wake), or of each waker (wake-parallel).", BETTER_LOWER,
	  KIND_TIME, true },
	{ "perf-bench-futex.requeue_time_ms", "ms", "Time to requeue all threads (requeue).",
	  BETTER_LOWER, KIND_TIME, true },
	METRICS_END,
};
const struct suite_metric_info perf_epoll_metrics[] = {
	{ "perf-bench-epoll.ops_per_sec", "ops/s", "Events per second of each thread, on average.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "perf-bench-epoll.stddev%", "%", "Spread of the threads.", BETTER_LOWER, KIND_SHARE,
	  false },
	METRICS_END,
};
const struct suite_metric_info perf_mem_metrics[] = {
	{ "perf-bench-mem.*.GB_per_sec", "GiB/s",
	  "Bytes per second of one function, in units of 2^30; * is TEST.FUNCTION.", BETTER_HIGHER,
	  KIND_RATE, true },
	METRICS_END,
};
const struct suite_metric_info perf_numa_mem_metrics[] = {
	{ "perf-bench-numa-mem.total_speed", "GB/s", "Memory traffic of all threads.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "perf-bench-numa-mem.thread_speed", "GB/s", "Memory traffic of a thread.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "perf-bench-numa-mem.runtime_max_per_thread", "s", "Time of the slowest thread.",
	  BETTER_LOWER, KIND_TIME, false },
	{ "perf-bench-numa-mem.runtime_min_per_thread", "s", "Time of the fastest thread.",
	  BETTER_NONE, KIND_TIME, false },
	{ "perf-bench-numa-mem.runtime_avg_per_thread", "s", "Mean time of a thread.", BETTER_LOWER,
	  KIND_TIME, false },
	{ "perf-bench-numa-mem.spread_runtime_per_thread", "%", "Spread of the threads' times.",
	  BETTER_LOWER, KIND_SHARE, false },
	{ "perf-bench-numa-mem.data_per_thread", "GB", "Memory traffic of a thread in all.",
	  BETTER_NONE, KIND_COUNT, false },
	{ "perf-bench-numa-mem.data_total", "GB", "Memory traffic in all.", BETTER_NONE, KIND_COUNT,
	  false },
	{ "perf-bench-numa-mem.nsecs_per_byte_per_thread", "ns", "Time for a byte in a thread.",
	  BETTER_LOWER, KIND_TIME, false },
	{ "perf-bench-numa-mem.convergence_latency", "s",
	  "Time until all threads were on one node.", BETTER_LOWER, KIND_TIME, false },
	METRICS_END,
};

static const struct suite_test_def messaging_tests[] = {
	{ "messaging", "Groups of 20 senders that each write to 20 receivers.", NULL },
	{ 0 },
};
static const struct suite_test_def pipe_tests[] = {
	{ "pipe", "Two tasks pass a word to and fro through two pipes: wake-up and switch.", NULL },
	{ 0 },
};
static const struct suite_test_def syscall_tests[] = {
	{ "basic", "The cheapest system call, getppid.", "perf-bench-syscall.getppid.ops_per_sec" },
	{ "getpgid", "getpgid of process 0.", "perf-bench-syscall.getpgid.ops_per_sec" },
	{ "fork", "fork, exit of the child and wait.", "perf-bench-syscall.fork.ops_per_sec" },
	{ "execve", "fork, execve of /bin/true and wait.",
	  "perf-bench-syscall.execve.ops_per_sec" },
	{ 0 },
};
static const struct suite_test_def futex_tests[] = {
	{ "hash", "Threads wait on many futexes that do not hold the value: the hash table.",
	  "perf-bench-futex.ops_per_sec" },
	{ "wake", "One thread wakes all others that wait on a futex, one at a time.",
	  "perf-bench-futex.wokeup_time_ms" },
	{ "wake-parallel", "Many threads wake many others at the same time.",
	  "perf-bench-futex.wokeup_time_ms" },
	{ "requeue", "One thread moves all waiters from one futex to another.",
	  "perf-bench-futex.requeue_time_ms" },
	{ "lock-pi", "Threads lock and unlock futexes with priority inheritance.",
	  "perf-bench-futex.ops_per_sec" },
	{ 0 },
};
static const struct suite_test_def epoll_tests[] = {
	{ "wait", "Threads wait for events of file descriptors that one thread writes to.", NULL },
	{ 0 },
};
static const struct suite_test_def mem_tests[] = {
	{ "memcpy", "Copies of memory by each way to do that.",
	  "perf-bench-mem.memcpy.default.GB_per_sec" },
	{ "memset", "Memory set by each way to do that.",
	  "perf-bench-mem.memset.default.GB_per_sec" },
	{ 0 },
};
static const struct suite_test_def numa_tests[] = {
	{ "mem", "Threads work on memory that the kernel may move to their node.", NULL },
	{ 0 },
};

/* What the plans have in common; see plan_read(). */
struct asked {
	unsigned loops, iterations, seconds;
	uint64_t bytes;
};

static int plan_read(const struct suite *s, const struct suite_param *params, size_t n,
		     const struct suite_machine *m, unsigned loops, struct asked *a,
		     struct suite_plan *plan, struct err *e)
{
	int r;

	plan->tasks = 1;
	plan->deadline_s = DEFAULT_WAIT;
	r = s->max_tasks > 1 ? suite_tasks(s, params, n, "100%", m, &plan->tasks, e) : 0;
	if (r == 0)
		r = suite_count(params, n, "loops", loops, INT32_MAX, &a->loops, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", s == &suite_perf_sched_messaging ? 3 : 1,
				ITERATIONS_MAX, &a->iterations, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &a->seconds, e);
	if (r == 0 && a->seconds == 0)
		a->seconds = 10;
	if (r == 0)
		r = suite_bytes(params, n, "unit_size", a->bytes, &a->bytes, e);
	return r;
}

static int messaging_plan(const struct suite *s, const char *test, const struct suite_param *params,
			  size_t n, const struct suite_machine *m, struct suite_plan *plan,
			  struct err *e)
{
	struct asked a = { 0 };
	int r = plan_read(s, params, n, m, 1000, &a, plan, e);

	if (r == 0)
		r = suite_need_memory(s->name, (uint64_t)plan->tasks * 40 * TASK_BYTES, m, e);
	if (r < 0)
		return r;
	suite_plan_tool(
		plan, m, "perf", "bench sched %s -g %u -l %u%s%s", test, plan->tasks, a.loops,
		strcmp(suite_param_get(params, n, "mode", "process"), "thread") ? "" : " -t",
		strcmp(suite_param_get(params, n, "ipc", "socket"), "pipe") ? "" : " -p");
	suite_plan_repeat(plan, a.iterations);
	plan->nofile = 80 * plan->tasks + 64;
	return 0;
}

static int pipe_plan(const struct suite *s, const char *test, const struct suite_param *params,
		     size_t n, const struct suite_machine *m, struct suite_plan *plan,
		     struct err *e)
{
	struct asked a = { 0 };
	int r = plan_read(s, params, n, m, 1000000, &a, plan, e);

	if (r < 0)
		return r;
	plan->tasks = 2;
	suite_plan_tool(plan, m, "perf", "bench sched %s -l %u%s", test, a.loops,
			strcmp(suite_param_get(params, n, "mode", "process"), "thread") ? ""
											: " -T");
	suite_plan_repeat(plan, a.iterations);
	return 0;
}

static int syscall_plan(const struct suite *s, const char *test, const struct suite_param *params,
			size_t n, const struct suite_machine *m, struct suite_plan *plan,
			struct err *e)
{
	struct asked a = { 0 };
	int r = plan_read(s, params, n, m, 10000000, &a, plan, e);

	if (r < 0)
		return r;
	suite_plan_tool(plan, m, "perf", "bench syscall %s -l %u", test, a.loops);
	suite_plan_repeat(plan, a.iterations);
	return 0;
}

static int threads_plan(const struct suite *s, const char *test, const struct suite_param *params,
			size_t n, const struct suite_machine *m, struct suite_plan *plan,
			struct err *e)
{
	const char *what = s == &suite_perf_epoll ? "epoll" : "futex";
	bool timed = s == &suite_perf_epoll || !strcmp(test, "hash") || !strcmp(test, "lock-pi");
	struct asked a = { 0 };
	int r = plan_read(s, params, n, m, 1, &a, plan, e);

	if (r == 0)
		r = suite_need_memory(s->name, plan->tasks * TASK_BYTES, m, e);
	if (r < 0)
		return r;
	if (timed) {
		suite_plan_tool(plan, m, "perf", "bench %s %s -t %u -r %u", what, test, plan->tasks,
				a.seconds);
		plan->deadline_s = 60 + a.iterations * (a.seconds * 2.0 + plan->tasks * 0.05);
	} else {
		suite_plan_tool(plan, m, "perf", "bench %s %s -t %u", what, test, plan->tasks);
	}
	suite_plan_repeat(plan, a.iterations);
	/* epoll: 64 descriptors for each thread. */
	plan->nofile = s == &suite_perf_epoll ? 64 * plan->tasks + 64 : 0;
	return 0;
}

static int mem_plan(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *plan, struct err *e)
{
	const char *function = suite_param_get(params, n, "function", "all");
	struct asked a = { .bytes = 16 * MIB };
	int r = plan_read(s, params, n, m, 100, &a, plan, e);

	/* Source and target. */
	if (r == 0)
		r = suite_need_memory(test, a.bytes > UINT64_MAX / 2 ? a.bytes : 2 * a.bytes, m, e);
	if (r < 0)
		return r;
	suite_plan_tool(plan, m, "perf", "bench mem %s -s %lluB -l %u -f %s", test,
			(unsigned long long)a.bytes, a.loops, function);
	suite_plan_repeat(plan, a.iterations);
	return 0;
}

static int numa_mem_plan(const struct suite *s, const char *test, const struct suite_param *params,
			 size_t n, const struct suite_machine *m, struct suite_plan *plan,
			 struct err *e)
{
	struct asked a = { .bytes = 64 * MIB };
	unsigned processes = 1;
	int r = plan_read(s, params, n, m, 1, &a, plan, e);

	if (r == 0)
		r = suite_count(params, n, "processes", 1, 1024, &processes, e);
	if (r == 0 && a.bytes < MIB)
		r = err_set(e, ERR_RANGE, "unit_size = '%.80s' is less than 1M",
			    suite_param_get(params, n, "unit_size", ""));
	if (r == 0)
		r = suite_need_memory(
			s->name,
			a.bytes > UINT64_MAX / processes ? UINT64_MAX : a.bytes * processes, m, e);
	if (r < 0)
		return r;
	suite_plan_tool(plan, m, "perf", "bench numa %s -p %u -t %u -m -0 -P %llu -s %u", test,
			processes, plan->tasks, (unsigned long long)(a.bytes / MIB), a.seconds);
	suite_plan_repeat(plan, a.iterations);
	plan->deadline_s = 120 + a.iterations * (a.seconds * 3.0 + 30);
	return 0;
}

const struct suite suite_perf_sched_messaging = {
	.name = "perf-bench-sched-messaging",
	.about = "perf bench sched messaging: messages between many tasks.",
	.params = messaging_params,
	.metrics = perf_sched_messaging_metrics,
	.tests = messaging_tests,
	.max_tasks = 2000,
	.plan = messaging_plan,
	.parse = perf_total_parse,
};

const struct suite suite_perf_sched_pipe = {
	.name = "perf-bench-sched-pipe",
	.about = "perf bench sched pipe: two tasks that wake each other.",
	.params = pipe_params,
	.metrics = perf_sched_pipe_metrics,
	.tests = pipe_tests,
	.work = "perf-bench-sched-pipe.ops_per_sec",
	.work_per_second = true,
	.max_tasks = 1,
	.plan = pipe_plan,
	.parse = perf_total_parse,
};

const struct suite suite_perf_syscall = {
	.name = "perf-bench-syscall",
	.about = "perf bench syscall: one system call again and again.",
	.params = syscall_params,
	.metrics = perf_syscall_metrics,
	.tests = syscall_tests,
	.max_tasks = 1,
	.plan = syscall_plan,
	.parse = perf_total_parse,
};

const struct suite suite_perf_futex = {
	.name = "perf-bench-futex",
	.about = "perf bench futex: waiting, waking and locking of many threads.",
	.params = threads_params,
	.metrics = perf_futex_metrics,
	.tests = futex_tests,
	.max_tasks = 100000,
	.plan = threads_plan,
	.parse = perf_threads_parse,
};

const struct suite suite_perf_epoll = {
	.name = "perf-bench-epoll",
	.about = "perf bench epoll: threads that wait for events.",
	.params = threads_params,
	.metrics = perf_epoll_metrics,
	.tests = epoll_tests,
	.max_tasks = 10000,
	.plan = threads_plan,
	.parse = perf_threads_parse,
};

const struct suite suite_perf_mem = {
	.name = "perf-bench-mem",
	.about = "perf bench mem: copying and setting memory.",
	.params = mem_params,
	.metrics = perf_mem_metrics,
	.tests = mem_tests,
	.max_tasks = 1,
	.plan = mem_plan,
	.parse = perf_mem_parse,
};

const struct suite suite_perf_numa_mem = {
	.name = "perf-bench-numa-mem",
	.about = "perf bench numa mem: memory traffic on machines with several nodes.",
	.params = numa_params,
	.metrics = perf_numa_mem_metrics,
	.tests = numa_tests,
	.max_tasks = 10000,
	.plan = numa_mem_plan,
	.parse = perf_numa_mem_parse,
};
