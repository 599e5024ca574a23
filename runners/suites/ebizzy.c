/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ebizzy: what a web server does to memory. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

/* Ten chunks of half a megabyte are the program's own default; copies come and go on top. */
#define THREAD_BYTES  (UINT64_C(8) << 20)
#define DEFAULT_TIME  10u
#define THREADS_SHOWN 4096

static const char *const allocs[] = { "malloc", "mmap", "no-mmap", NULL };
static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "200%", "threads, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "10s", "measured time; its clock has steps of 1 s" },
	{ "alloc", PARAM_CHOICE, allocs, "malloc",
	  "where memory comes from: as the library likes, always mmap, never mmap" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};

enum {
	M_THROUGHPUT,
	M_WORKLOAD,
	M_MIN,
	M_MAX,
	M_USER,
	M_SYS
};

static const struct suite_metric_info metrics[] = {
	{ "ebizzy.throughput", "records/s", "Searches per second of all threads.", BETTER_HIGHER,
	  KIND_RATE, true },
	{ "ebizzy.workload", "records", "Searches in a run, from their rate and its time.",
	  BETTER_NONE, KIND_COUNT, false },
	{ "ebizzy.throughput.per_thread.min", "records/s", "The slowest thread.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "ebizzy.throughput.per_thread.max", "records/s", "The fastest thread.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "ebizzy.user_time", "s", "CPU time in user space.", BETTER_NONE, KIND_TIME, false },
	{ "ebizzy.sys_time", "s", "CPU time in the kernel.", BETTER_LOWER, KIND_TIME, false },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
	{ "ebizzy", "Threads allocate, copy, search and free chunks of memory.", NULL },
	{ 0 },
};

static int ebizzy_plan(const struct suite *s, const char *test, const struct suite_param *params,
		       size_t n, const struct suite_machine *m, struct suite_plan *plan,
		       struct err *e)
{
	const char *alloc = suite_param_get(params, n, "alloc", "malloc");
	unsigned seconds = 0, iterations = 0;
	int r;

	(void)test;
	r = suite_tasks(s, params, n, "200%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &seconds, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", 1, ITERATIONS_MAX, &iterations, e);
	if (r == 0)
		r = suite_need_memory("ebizzy", plan->tasks * THREAD_BYTES, m, e);
	if (r < 0)
		return r;
	if (seconds == 0)
		seconds = DEFAULT_TIME;
	suite_plan_tool(plan, m, "ebizzy", "-t %u -S %u%s", plan->tasks, seconds,
			!strcmp(alloc, "mmap")	    ? " -m"
			: !strcmp(alloc, "no-mmap") ? " -M"
						    : "");
	suite_plan_repeat(plan, iterations);
	plan->deadline_s = 30 + iterations * (seconds * 2.0 + 10);
	return 0;
}

/* "26031 records/s", and in patched versions a figure of each thread. Return: false if it is not. */
static bool take_rate(struct tally *t, const struct line *l, double *ret)
{
	struct scan s = scan_line(l), w;
	double rate, v, min = 0, max = 0;
	size_t n = 0;

	if (!scan_f64(&s, &rate) || !scan_lit(&s, " records/s"))
		return false;
	for (; n < THREADS_SHOWN; n++) {
		scan_blanks(&s);
		if (scan_end(&s))
			break;
		w = s;
		if (!scan_f64(&w, &v) || (w.p < w.end && *w.p != ' '))
			return false;
		s.p = w.p;
		min = n == 0 || v < min ? v : min;
		max = n == 0 || v > max ? v : max;
	}
	if (!scan_end(&s))
		return false;
	(void)tally_text(t, l, &metrics[M_THROUGHPUT], NULL, rate);
	if (n > 0) {
		(void)tally_text(t, l, &metrics[M_MIN], NULL, min);
		(void)tally_text(t, l, &metrics[M_MAX], NULL, max);
	}
	*ret = rate;
	return true;
}

static int ebizzy_parse(const struct suite *s, const char *test, const char *text, size_t len,
			const struct suite_param *params, size_t n, struct suite_output *out,
			struct err *e)
{
	struct tally t = { .out = out };
	double rate = 0, seconds;
	unsigned want, tasks;
	struct reader r;
	int rc;

	(void)s;
	(void)test;
	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r)) {
		if (line_has(&r.l, "records/s")) {
			if (!take_rate(&t, &r.l, &rate))
				problem_bad_line(out, &r.l, "'N records/s'; left out");
		} else if (line_match(&r.l, "real %f s", &seconds)) {
			if (rate > 0)
				(void)tally_text(&t, &r.l, &metrics[M_WORKLOAD], NULL,
						 rate * seconds);
			rate = 0;
		} else if (line_match(&r.l, "user %f s", &seconds)) {
			(void)tally_text(&t, &r.l, &metrics[M_USER], NULL, seconds);
		} else if (line_match(&r.l, "sys %f s", &seconds)) {
			(void)tally_text(&t, &r.l, &metrics[M_SYS], NULL, seconds);
		} else if (r.l.len > 0) {
			problem_bad_line(out, &r.l, "a line of ebizzy, skipping");
		}
	}
	tally_finish(&t, &r.l, want, metrics[M_THROUGHPUT].name);
	return 0;
}

const struct suite suite_ebizzy = {
	.name = "ebizzy",
	.about = "Threads that allocate, search and free memory, as a web server does.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.work = "ebizzy.workload",
	.max_tasks = 100000,
	.plan = ebizzy_plan,
	.parse = ebizzy_parse,
};
