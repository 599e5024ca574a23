/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hackbench: groups of senders and receivers. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

/* Stack, page tables and the pages that a task writes, and what its sockets hold. */
#define TASK_BYTES UINT64_C(262144)

static const char *const modes[] = { "process", "thread", NULL };
static const char *const ipcs[] = { "socket", "pipe", NULL };
static const struct suite_param_def params_known[] = {
	{ "mode", PARAM_CHOICE, modes, "process", "what a task is" },
	{ "ipc", PARAM_CHOICE, ipcs, "socket", "what the messages go through" },
	{ "nr_task", PARAM_TASKS, NULL, "100%", "groups of 2 * fds tasks, or a share of the CPUs" },
	{ "fds", PARAM_COUNT, NULL, "20", "senders, and as many receivers, in each group" },
	{ "loops", PARAM_COUNT, NULL, "1000", "messages from each sender to each receiver" },
	{ "datasize", PARAM_SIZE, NULL, "100", "bytes of a message" },
	PARAM_ITERATIONS("3"),
	PARAMS_END,
};

enum {
	M_THROUGHPUT,
	M_AVG,
	M_WORST,
	M_TIME,
	M_WORKLOAD
};

static const struct suite_metric_info metrics[] = {
	{ "hackbench.throughput", "KB/s",
	  "Tasks times messages times bytes, in KiB, by the time of the best run.", BETTER_HIGHER,
	  KIND_RATE, true },
	{ "hackbench.throughput_avg", "KB/s", "The same by the mean time.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "hackbench.throughput_worst", "KB/s", "The same by the time of the slowest run.",
	  BETTER_HIGHER, KIND_RATE, false },
	{ "hackbench.time", "s", "Time until all messages are through.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "hackbench.workload", "KiB", "What all runs together sent, counted as for throughput.",
	  BETTER_NONE, KIND_COUNT, false },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
	{ "hackbench",
	  "Every sender of a group writes to every receiver of it: scheduler and sockets or pipes.",
	  NULL },
	{ 0 },
};

static int hackbench_plan(const struct suite *s, const char *test, const struct suite_param *params,
			  size_t n, const struct suite_machine *m, struct suite_plan *plan,
			  struct err *e)
{
	bool thread = !strcmp(suite_param_get(params, n, "mode", "process"), "thread");
	bool pipe = !strcmp(suite_param_get(params, n, "ipc", "socket"), "pipe");
	unsigned fds = 0, loops = 0, iterations = 0;
	uint64_t bytes = 0;
	int r;

	(void)test;
	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_count(params, n, "fds", 20, 1000, &fds, e);
	if (r == 0)
		r = suite_count(params, n, "loops", 1000, INT32_MAX, &loops, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", 3, ITERATIONS_MAX, &iterations, e);
	if (r == 0)
		r = suite_bytes(params, n, "datasize", 100, &bytes, e);
	if (r == 0 && bytes > 1U << 20)
		r = err_set(e, ERR_RANGE, "datasize = '%.80s' is more than 1M",
			    suite_param_get(params, n, "datasize", ""));
	if (r == 0)
		r = suite_need_memory("hackbench", (uint64_t)plan->tasks * 2 * fds * TASK_BYTES, m,
				      e);
	if (r < 0)
		return r;
	suite_plan_tool(plan, m, "hackbench", "-g %u -f %u -l %u -s %llu%s%s", plan->tasks, fds,
			loops, (unsigned long long)bytes, thread ? " -T" : " -P",
			pipe ? " -p" : "");
	suite_plan_repeat(plan, iterations);
	/* Both ends of a connection for each sender and receiver, all of them open in the parent. */
	plan->nofile = 4 * fds * plan->tasks + 64;
	plan->deadline_s = 3600;
	return 0;
}

/* struct hb - the run whose lines are being read, and the runs so far. */
struct hb {
	struct tally t;
	uint64_t tasks, messages, bytes, kib;
	double best, sum, worst;
	unsigned runs;
	bool bad;
};

static void take_time(struct hb *h, const struct line *l, double seconds)
{
	uint64_t kib = h->tasks * h->messages * h->bytes / 1024;

	if (seconds <= 0) {
		suite_problem_add(h->t.out, l, "a run that took no time; metrics left out");
		h->bad = true;
		return;
	}
	if (kib == 0 || (h->runs > 0 && kib != h->kib)) {
		suite_problem_add(h->t.out, l, "%s; metrics left out",
				  kib ? "runs of different sizes are mixed"
				      : "a time without tasks, messages and bytes before it");
		h->bad = true;
		return;
	}
	h->kib = kib;
	h->best = h->runs && h->best < seconds ? h->best : seconds;
	h->worst = h->runs && h->worst > seconds ? h->worst : seconds;
	h->sum += seconds;
	h->runs++;
	h->tasks = h->messages = h->bytes = 0;
	(void)tally_text(&h->t, l, &metrics[M_TIME], NULL, seconds);
}

static void take_line(struct hb *h, const struct line *l)
{
	uint64_t groups, fds, tasks, messages, bytes;
	struct scan mode;
	double seconds;

	if (line_match(
		    l,
		    "Running in %w mode with %u groups using %u file descriptors each (== %u tasks)",
		    &mode, &groups, &fds, &tasks)) {
		h->tasks = tasks;
		return;
	}
	if (line_match(l, "Each sender will pass %u messages of %u bytes", &messages, &bytes)) {
		h->messages = messages;
		h->bytes = bytes;
		return;
	}
	if (line_match(l, "Time:_%f", &seconds)) {
		take_time(h, l, seconds);
	} else if (line_starts(l, "Time:")) {
		problem_bad_line(h->t.out, l, "'Time: SECONDS'; metrics left out");
		h->bad = true;
	} else if (line_has(l, "SENDER") || line_has(l, "(error:")) {
		problem_bad_line(h->t.out, l, "a line of a good run; metrics left out");
		h->bad = true;
	}
}

static int hackbench_parse(const struct suite *s, const char *test, const char *text, size_t len,
			   const struct suite_param *params, size_t n, struct suite_output *out,
			   struct err *e)
{
	struct hb h = { .t = { .out = out } };
	unsigned want, tasks;
	struct reader r;
	int rc;

	(void)s;
	(void)test;
	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_line(&h, &r.l);
	if (!h.bad && want > 0 && h.runs > 0 && h.runs != want) {
		suite_problem_add(out, &r.l, "%u runs, not %u; metrics left out", h.runs, want);
		h.bad = true;
	}
	if (h.bad) {
		tally_done(&h.t);
		return 0;
	}
	if (h.runs > 0) {
		double kib = (double)h.kib;

		(void)tally_text(&h.t, &r.l, &metrics[M_THROUGHPUT], NULL, kib / h.best);
		(void)tally_text(&h.t, &r.l, &metrics[M_AVG], NULL, kib * h.runs / h.sum);
		(void)tally_text(&h.t, &r.l, &metrics[M_WORST], NULL, kib / h.worst);
		(void)tally_text(&h.t, &r.l, &metrics[M_WORKLOAD], NULL, kib * h.runs);
	}
	tally_finish(&h.t, &r.l, 0, metrics[M_THROUGHPUT].name);
	return 0;
}

const struct suite suite_hackbench = {
	.name = "hackbench",
	.about = "Messages between many tasks, through sockets or pipes.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.work = "hackbench.workload",
	.max_tasks = 2000,
	.plan = hackbench_plan,
	.parse = hackbench_parse,
};
