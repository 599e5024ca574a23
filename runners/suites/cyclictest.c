/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cyclictest: how late a sleeping thread wakes up. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

#define DEFAULT_TIME 60u
#define THREADS_MAX  1024u
#define THREAD_BYTES (UINT64_C(1) << 20)

static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "100%", "threads, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "60s", "measured time" },
	{ "interval", PARAM_COUNT, NULL, "1000", "microseconds between the wake-ups" },
	{ "priority", PARAM_COUNT, NULL, "80", "SCHED_FIFO priority, 1 to 99" },
	PARAMS_END,
};

enum {
	M_MAX,
	M_AVG,
	M_MIN,
	M_CYCLES
};

static const struct suite_metric_info metrics[] = {
	{ "cyclictest.max_latency", "us", "The latest wake-up of all threads.", BETTER_LOWER,
	  KIND_TIME, true },
	{ "cyclictest.avg_latency", "us", "Mean lateness over all wake-ups.", BETTER_LOWER,
	  KIND_TIME, false },
	{ "cyclictest.min_latency", "us", "The least late wake-up.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "cyclictest.cycles", "count", "Wake-ups of all threads.", BETTER_NONE, KIND_COUNT,
	  false },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
	{ "cyclictest",
	  "Real-time threads that sleep for a fixed time and look how late they wake.", NULL },
	{ 0 },
};

static int cyclictest_plan(const struct suite *s, const char *test,
			   const struct suite_param *params, size_t n,
			   const struct suite_machine *m, struct suite_plan *plan, struct err *e)
{
	unsigned seconds = 0, interval = 0, priority = 0;
	int r;

	(void)test;
	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &seconds, e);
	if (r == 0)
		r = suite_count(params, n, "interval", 1000, 10000000, &interval, e);
	if (r == 0)
		r = suite_count(params, n, "priority", 80, 99, &priority, e);
	/* Its memory is locked. */
	if (r == 0)
		r = suite_need_memory("cyclictest", plan->tasks * THREAD_BYTES, m, e);
	if (r < 0)
		return r;
	if (seconds == 0)
		seconds = DEFAULT_TIME;
	suite_plan_tool(plan, m, "cyclictest", "-q -m -D %u -t %u -a -p %u -i %u", seconds,
			plan->tasks, priority, interval);
	plan->deadline_s = seconds * 1.5 + 60;
	return 0;
}

/* struct thread - the last line of one thread. */
struct thread {
	uint64_t cycles, min, avg, max;
};

static void take_line(struct thread *threads, const struct line *l, struct suite_output *out)
{
	uint64_t nr, pid, prio, interval, cycles, min, act, avg, max;

	if (line_match(l, "_T:_%u (_%u) P:_%u I:_%u C:_%u Min:_%u Act:_%u Avg:_%u Max:_%u", &nr,
		       &pid, &prio, &interval, &cycles, &min, &act, &avg, &max) &&
	    nr < THREADS_MAX && cycles > 0 && min <= avg && avg <= max) {
		threads[nr] = (struct thread){ cycles, min, avg, max };
	} else if (line_match(l, "_T:%*")) {
		problem_bad_line(out, l, "a thread that woke up; left out");
	}
}

static void add_metrics(struct tally *t, const struct line *l, const struct thread *threads,
			unsigned want)
{
	uint64_t min = UINT64_MAX, max = 0;
	double cycles = 0, sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < THREADS_MAX; i++) {
		if (threads[i].cycles == 0)
			continue;
		n++;
		min = threads[i].min < min ? threads[i].min : min;
		max = threads[i].max > max ? threads[i].max : max;
		cycles += (double)threads[i].cycles;
		sum += (double)threads[i].avg * (double)threads[i].cycles;
	}
	/* The latest wake-up may be that of a thread that told nothing. */
	if (n == 0 || (want > 0 && n != want)) {
		suite_problem_add(t->out, l, "%u threads, not %u; metrics left out", n,
				  want ? want : 1);
		return;
	}
	(void)tally_text(t, l, &metrics[M_MAX], NULL, (double)max);
	(void)tally_text(t, l, &metrics[M_AVG], NULL, sum / cycles);
	(void)tally_text(t, l, &metrics[M_MIN], NULL, (double)min);
	(void)tally_text(t, l, &metrics[M_CYCLES], NULL, cycles);
}

static int cyclictest_parse(const struct suite *s, const char *test, const char *text, size_t len,
			    const struct suite_param *params, size_t n, struct suite_output *out,
			    struct err *e)
{
	_cleanup_(freep) struct thread *threads = xcalloc(THREADS_MAX, sizeof(*threads));
	struct tally t = { .out = out };
	struct reader r;
	unsigned tasks;
	int rc;

	(void)s;
	(void)test;
	rc = suite_tasks_known(params, n, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_line(threads, &r.l, out);
	add_metrics(&t, &r.l, threads, tasks);
	tally_finish(&t, &r.l, 0, metrics[M_MAX].name);
	return 0;
}

const struct suite suite_cyclictest = {
	.name = "cyclictest",
	.about = "Latency of wake-ups of real-time threads.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.max_tasks = THREADS_MAX,
	.plan = cyclictest_plan,
	.parse = cyclictest_parse,
};
