/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lmbench: the time of a page fault on a mapped file. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

#define MIB	  UINT64_C(1048576)
#define DATA_FILE "pagefault.dat"

static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "1", "processes that do the same, or a share of the CPUs" },
	{ "unit_size", PARAM_SIZE, NULL, "64M", "size of the file; at least 1M" },
	{ "repetitions", PARAM_COUNT, NULL, "5", "measurements, of which the median is printed" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};

static const struct suite_metric_info metrics[] = {
	{ "lmbench3.Pagefaults.us", "us",
	  "Time of one page fault on a shared mapping of a cached file, in random order.",
	  BETTER_LOWER, KIND_TIME, true },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
	{ "lat_pagefault",
	  "Maps a file read-only and touches its pages in random order; less the time of mapping.",
	  NULL },
	{ 0 },
};

static int lmbench3_plan(const struct suite *s, const char *test, const struct suite_param *params,
			 size_t n, const struct suite_machine *m, struct suite_plan *plan,
			 struct err *e)
{
	unsigned repetitions = 0, iterations = 0;
	uint64_t bytes = 0;
	int r;

	(void)test;
	r = suite_tasks(s, params, n, "1", m, &plan->tasks, e);
	if (r == 0)
		r = suite_bytes(params, n, "unit_size", 64 * MIB, &bytes, e);
	if (r == 0)
		r = suite_count(params, n, "repetitions", 5, 1000, &repetitions, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", 1, ITERATIONS_MAX, &iterations, e);
	/* The program calls a smaller file too small, and ends as if all was well. */
	if (r == 0 && bytes < MIB)
		r = err_set(e, ERR_RANGE, "unit_size = '%.80s' is less than 1M",
			    suite_param_get(params, n, "unit_size", ""));
	/* The file stays in the page cache. */
	if (r == 0)
		r = suite_need_memory("lat_pagefault", bytes, m, e);
	if (r < 0)
		return r;
	suite_plan_add_phase(plan, PHASE_SETUP, 1, "make-file %s %llu", DATA_FILE,
			     (unsigned long long)bytes);
	suite_plan_tool(plan, m, "lat_pagefault", "-P %u -N %u %s", plan->tasks, repetitions,
			DATA_FILE);
	suite_plan_repeat(plan, iterations);
	/* Each measurement calibrates itself: 20 s of it are usual. */
	plan->deadline_s = 120 + iterations * (60.0 + 60.0 * repetitions);
	return 0;
}

/* "Pagefaults on FILE: 0.2647 microseconds", and FILE may hold anything. */
static bool read_latency(const struct line *l, double *ret)
{
	static const char tail[] = " microseconds";
	struct scan s = scan_line(l);
	const char *colon;

	while (s.end > s.p && s.end[-1] == ' ')
		s.end--;
	if (s.end - s.p < (ptrdiff_t)strlen(tail) ||
	    memcmp(s.end - strlen(tail), tail, strlen(tail)) != 0)
		return false;
	s.end -= strlen(tail);
	colon = memrchr(s.p, ':', (size_t)(s.end - s.p));
	if (!colon)
		return false;
	s.p = colon + 1;
	scan_blanks(&s);
	return scan_f64(&s, ret) && scan_end(&s);
}

static int lmbench3_parse(const struct suite *s, const char *test, const char *text, size_t len,
			  const struct suite_param *params, size_t n, struct suite_output *out,
			  struct err *e)
{
	struct tally t = { .out = out };
	unsigned want, tasks;
	struct reader r;
	int rc;
	double us;

	(void)s;
	(void)test;
	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r)) {
		if (!line_starts(&r.l, "Pagefaults on ")) {
			if (r.l.len > 0)
				problem_bad_line(out, &r.l, "a line of lat_pagefault, skipping");
		} else if (read_latency(&r.l, &us) && us > 0) {
			(void)tally_text(&t, &r.l, &metrics[0], NULL, us);
		} else {
			problem_bad_line(out, &r.l,
					 "'Pagefaults on FILE: N microseconds'; metric left out");
		}
	}
	tally_finish(&t, &r.l, want, metrics[0].name);
	return 0;
}

const struct suite suite_lmbench3 = {
	.name = "lmbench3",
	.about = "Latency of a page fault on a file in the page cache.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.source = SOURCE_STDERR,
	.max_tasks = 1024,
	.plan = lmbench3_plan,
	.parse = lmbench3_parse,
};
