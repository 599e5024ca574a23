/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pft: page faults of many tasks. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

static const char *const modes[] = { "process", "thread", NULL };
static const struct suite_param_def params_known[] = {
	{ "mode", PARAM_CHOICE, modes, "process", "processes, or threads of one process" },
	{ "nr_task", PARAM_TASKS, NULL, "100%", "tasks, or a share of the CPUs; at most 128" },
	{ "unit_size", PARAM_SIZE, NULL, "a fifth of the memory", "memory that all tasks touch" },
	PARAM_ITERATIONS("10"),
	PARAMS_END,
};

enum {
	M_PER_CPU,
	M_FAULTS,
	M_USER,
	M_SYSTEM,
	M_WALL
};

static const struct suite_metric_info metrics[] = {
	{ "pft.faults_per_sec_per_cpu", "faults/s", "Page faults per second of CPU time.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "pft.faults_per_sec", "faults/s", "Page faults of all tasks per second.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "pft.user_time", "s", "CPU time in user space.", BETTER_NONE, KIND_TIME, false },
	{ "pft.system_time", "s", "CPU time in the kernel.", BETTER_LOWER, KIND_TIME, false },
	{ "pft.wall_time", "s", "Time from the first fault to the last.", BETTER_LOWER, KIND_TIME,
	  false },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
	{ "pft", "Each task touches its pages of fresh anonymous memory once.", NULL },
	{ 0 },
};

static int pft_plan(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *plan, struct err *e)
{
	bool thread = !strcmp(suite_param_get(params, n, "mode", "process"), "thread");
	unsigned iterations = 0;
	uint64_t bytes = 0;
	int r;

	(void)test;
	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_bytes(params, n, "unit_size", m->mem_total_bytes / 5, &bytes, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", 10, ITERATIONS_MAX, &iterations, e);
	/* Beside the pages themselves, their page tables. */
	if (r == 0)
		r = suite_need_memory("pft", bytes > UINT64_MAX / 2 ? bytes : bytes + bytes / 512,
				      m, e);
	if (r == 0 && bytes < 4096 * (uint64_t)plan->tasks)
		r = err_set(e, ERR_NOSPACE,
			    "pft with %u tasks and %llu bytes leaves less than 4096 bytes for each",
			    plan->tasks, (unsigned long long)bytes);
	if (r < 0)
		return r;
	suite_plan_tool(plan, m, "pft", "-m %lluK %s %u", (unsigned long long)(bytes / 1024),
			thread ? "-t" : "-n", plan->tasks);
	suite_plan_repeat(plan, iterations);
	plan->deadline_s = 60 + iterations * (10 + (double)bytes / (1U << 28));
	return 0;
}

/* struct rows - what is known of the rows. */
struct rows {
	struct tally t;
	uint64_t tasks; /* asked for, or of the first good row; 0: not known yet */
	bool mixed;
};

static void take_row(struct rows *rows, const struct line *l)
{
	uint64_t gib, tasks, lines;
	double user, system, wall, per_cpu, faults;
	struct scan w[9];
	size_t n = line_words(l, w, ARRAY_SIZE(w) - 1);

	if (n == 8 && (word_is(w[6], "inf") || word_is(w[7], "inf") || word_is(w[6], "nan") ||
		       word_is(w[6], "-nan") || word_is(w[7], "-nan"))) {
		suite_problem_add(rows->t.out, l,
				  "'%.*s' and '%.*s' are not both rates: no CPU time; row left out",
				  (int)(w[6].end - w[6].p), w[6].p, (int)(w[7].end - w[7].p),
				  w[7].p);
		return;
	}
	if (!line_match(l, "_%u %u %u %fs %fs %fs %f %f", &gib, &tasks, &lines, &user, &system,
			&wall, &per_cpu, &faults)) {
		problem_bad_line(rows->t.out, l, "a row of pft; left out");
		return;
	}
	if (rows->tasks > 0 && rows->tasks != tasks) {
		suite_problem_add(rows->t.out, l, "a row of %llu tasks, not %llu; left out",
				  (unsigned long long)tasks, (unsigned long long)rows->tasks);
		rows->mixed = true;
		return;
	}
	rows->tasks = tasks;
	(void)tally_text(&rows->t, l, &metrics[M_PER_CPU], NULL, per_cpu);
	(void)tally_text(&rows->t, l, &metrics[M_FAULTS], NULL, faults);
	(void)tally_text(&rows->t, l, &metrics[M_USER], NULL, user);
	(void)tally_text(&rows->t, l, &metrics[M_SYSTEM], NULL, system);
	(void)tally_text(&rows->t, l, &metrics[M_WALL], NULL, wall);
}

static void take_line(struct rows *rows, const struct line *l)
{
	struct scan w[1];
	uint64_t v;

	if (line_words(l, w, 1) == 0 || word_is(w[0], "Gb") || word_is(w[0], "TAG"))
		return;
	if (word_is(w[0], "clipping"))
		suite_problem_add(rows->t.out, l, "fewer tasks than asked for: fewer CPUs");
	else if (word_u64(w[0], &v))
		take_row(rows, l);
	else
		problem_bad_line(rows->t.out, l, "a line of pft, skipping");
}

static int pft_parse(const struct suite *s, const char *test, const char *text, size_t len,
		     const struct suite_param *params, size_t n, struct suite_output *out,
		     struct err *e)
{
	struct rows rows = { .t = { .out = out } };
	unsigned want, tasks;
	struct reader r;
	int rc;

	(void)s;
	(void)test;
	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	rows.tasks = tasks;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_line(&rows, &r.l);
	/* Which of them is the job's cannot be known. */
	if (rows.mixed && tasks == 0)
		vec_foreach (item, &rows.t.items)
			item->drop = true;
	tally_finish(&rows.t, &r.l, want, metrics[M_PER_CPU].name);
	return 0;
}

const struct suite suite_pft = {
	.name = "pft",
	.about = "Page faults on fresh memory, by many tasks at once.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.work = "pft.faults_per_sec",
	.work_per_second = true,
	.max_tasks = 128,
	.plan = pft_plan,
	.parse = pft_parse,
};
