/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sysbench: cpu, memory, threads and mutex. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

#define DEFAULT_TIME 10u
#define THREAD_BYTES (UINT64_C(1) << 20)

static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "100%", "threads, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "10s",
	  "measured time; mutex has a fixed amount of work" },
	{ "block_size", PARAM_SIZE, NULL, "1K", "bytes of one access (memory)" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};

enum {
	M_RATE,
	M_MIB,
	M_TIME,
	M_EVENTS,
	M_MIN,
	M_AVG,
	M_MAX,
	M_P95
};

static const struct suite_metric_info metrics[] = {
	{ "sysbench.events_per_sec", "events/s", "Events per second of all threads (cpu, threads).",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "sysbench.MiB_per_sec", "MiB/s", "Bytes read or written per second (memory).",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "sysbench.total_time", "s", "Time of the run; the result of mutex.", BETTER_LOWER,
	  KIND_TIME, true },
	{ "sysbench.events", "events", "Events in all.", BETTER_NONE, KIND_COUNT, false },
	{ "sysbench.latency_min", "ms", "Time of the fastest event.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "sysbench.latency_avg", "ms", "Mean time of an event.", BETTER_LOWER, KIND_TIME, false },
	{ "sysbench.latency_max", "ms", "Time of the slowest event.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "sysbench.latency_95th", "ms", "95 of 100 events take less time.", BETTER_LOWER,
	  KIND_TIME, false },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
	{ "cpu", "Prime numbers, in user space: a control that the kernel should not change.",
	  "sysbench.events_per_sec" },
	{ "memory", "Writes of blocks to a buffer that all threads share.",
	  "sysbench.MiB_per_sec" },
	{ "threads", "Many threads that lock, yield and unlock: the scheduler.",
	  "sysbench.events_per_sec" },
	{ "mutex", "Many mutexes that threads take for a short time.", "sysbench.total_time" },
	{ 0 },
};

static int sysbench_plan(const struct suite *s, const char *test, const struct suite_param *params,
			 size_t n, const struct suite_machine *m, struct suite_plan *plan,
			 struct err *e)
{
	bool memory = !strcmp(test, "memory");
	unsigned seconds = 0, iterations = 0;
	uint64_t block = 0;
	int r;

	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &seconds, e);
	if (r == 0)
		r = suite_bytes(params, n, "block_size", 1024, &block, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", 1, ITERATIONS_MAX, &iterations, e);
	if (r == 0)
		r = suite_need_memory("sysbench",
				      plan->tasks * THREAD_BYTES +
					      (memory && block < UINT64_MAX / 2 ? block : 0),
				      m, e);
	if (r < 0)
		return r;
	if (seconds == 0)
		seconds = DEFAULT_TIME;
	/* Without a limit of events the time ends the run; mutex ends by itself. */
	if (memory)
		suite_plan_tool(plan, m, "sysbench",
				"--threads=%u --time=%u --events=0 memory --memory-block-size=%llu "
				"--memory-total-size=1048576G run",
				plan->tasks, seconds, (unsigned long long)block);
	else if (!strcmp(test, "mutex"))
		suite_plan_tool(plan, m, "sysbench", "--threads=%u --time=0 mutex run",
				plan->tasks);
	else
		suite_plan_tool(plan, m, "sysbench", "--threads=%u --time=%u --events=0 %s run",
				plan->tasks, seconds, test);
	suite_plan_repeat(plan, iterations);
	plan->deadline_s =
		60 + iterations * (seconds * 2.0 + 30) + (strcmp(test, "mutex") ? 0 : 3600);
	return 0;
}

/* struct sb - the run whose lines are being read. */
struct sb {
	struct tally t;
	double seconds;
	bool rate, mib; /* were they printed, for the run at hand? */
	bool any_mib, any_rate;
};

/* A rate that was printed and cannot be read is missing: it is not made of other figures. */
static void spoil(struct sb *b, const struct line *l)
{
	problem_bad_line(b->t.out, l, "a figure of sysbench; left out");
	b->rate = true;
}

static void take_line(struct sb *b, const struct line *l)
{
	static const struct {
		const char *pattern;
		size_t row;
	} plain[] = {
		{ "_min:_%f", M_MIN },
		{ "_avg:_%f", M_AVG },
		{ "_max:_%f", M_MAX },
		{ "_95th percentile:_%f", M_P95 },
	};
	double v, w;

	if (line_match(l, "_events per second:_%f", &v)) {
		b->rate = b->any_rate = true;
		(void)tally_text(&b->t, l, &metrics[M_RATE], NULL, v);
	} else if (line_match(l, "_%f MiB transferred (%f MiB/sec)", &v, &w)) {
		b->mib = b->any_mib = true;
		(void)tally_text(&b->t, l, &metrics[M_MIB], NULL, w);
	} else if (line_match(l, "_total time:_%fs", &v)) {
		b->seconds = v;
		(void)tally_text(&b->t, l, &metrics[M_TIME], NULL, v);
	} else if (line_match(l, "_total number of events:_%f", &v)) {
		(void)tally_text(&b->t, l, &metrics[M_EVENTS], NULL, v);
		if (!b->rate && !b->mib && b->seconds > 0)
			(void)tally_text(&b->t, l, &metrics[M_RATE], NULL, v / b->seconds);
		b->rate = b->mib = false;
		b->seconds = 0;
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
			if (!line_match(l, plain[i].pattern, &v))
				continue;
			(void)tally_text(&b->t, l, &metrics[plain[i].row], NULL, v);
			return;
		}
		if (line_has(l, "per second:") || line_has(l, "MiB transferred") ||
		    line_has(l, "total time:") || line_has(l, "number of events:"))
			spoil(b, l);
		else if (line_starts(l, "FATAL:"))
			problem_bad_line(b->t.out, l, "a line of a good run");
	}
}

/* Which of the three the job is about; without a test, what the output shows. */
static const char *headline_name(const struct sb *b, const struct suite *s, const char *test,
				 const struct suite_param *params, size_t n)
{
	if (test)
		return suite_headline(s, test, params, n);
	return metrics[b->any_mib ? M_MIB : M_RATE].name;
}

static int sysbench_parse(const struct suite *s, const char *test, const char *text, size_t len,
			  const struct suite_param *params, size_t n, struct suite_output *out,
			  struct err *e)
{
	struct sb b = { .t = { .out = out } };
	const char *headline;
	unsigned want, tasks;
	struct reader r;
	int rc;

	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_line(&b, &r.l);
	headline = headline_name(&b, s, test, params, n);
	vec_foreach (item, &b.t.items)
		item->headline = !strcmp(item->name, headline);
	tally_finish(&b.t, &r.l, want, headline);
	return 0;
}

const struct suite suite_sysbench = {
	.name = "sysbench",
	.about = "Small loads of CPU, memory, threads and mutexes.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.work = "sysbench.events",
	.max_tasks = 100000,
	.plan = sysbench_plan,
	.parse = sysbench_parse,
};
