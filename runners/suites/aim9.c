/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AIM9: many small tests, one after the other. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

#define DEFAULT_TIME 60u
#define ROWS_MAX     100

static const struct suite_param_def params_known[] = {
	{ "runtime", PARAM_SECONDS, NULL, "60s", "measured time of each row of its work file" },
	PARAMS_END,
};

static const struct suite_metric_info metrics[] = {
	{ "aim9.*.ops_per_sec", "ops/s", "Operations per second of one row of the table.",
	  BETTER_HIGHER, KIND_RATE, true },
	METRICS_END,
};

#define AIM9_TEST(name, about)                           \
	{                                                \
		name, about, "aim9." name ".ops_per_sec" \
	}

static const struct suite_test_def tests[] = {
	AIM9_TEST("page_test", "Pages of fresh heap, touched."),
	AIM9_TEST("brk_test", "The heap, grown and shrunk."),
	AIM9_TEST("exec_test", "execve of a small program."),
	AIM9_TEST("fork_test", "fork, exit and wait."),
	AIM9_TEST("creat-clo", "A file, created and closed."),
	AIM9_TEST("signal_test", "A signal to itself."),
	AIM9_TEST("jmp_test", "setjmp and longjmp."),
	AIM9_TEST("link_test", "A hard link, made and removed."),
	AIM9_TEST("dir_rtns_1", "Directories, read."),
	AIM9_TEST("misc_rtns_1", "Small system calls such as getpid and umask."),
	AIM9_TEST("shell_rtns_1", "A shell script that runs a few commands."),
	AIM9_TEST("disk_rr", "Random reads of a file."),
	AIM9_TEST("disk_rw", "Random writes of a file."),
	AIM9_TEST("disk_rd", "Sequential reads of a file."),
	AIM9_TEST("disk_wrt", "Sequential writes of a file."),
	AIM9_TEST("disk_cp", "Copies of a file."),
	AIM9_TEST("tcp_test", "TCP over loopback."),
	AIM9_TEST("udp_test", "UDP over loopback."),
	AIM9_TEST("fifo_test", "Bytes through a fifo."),
	AIM9_TEST("stream_pipe", "Bytes through a pair of stream sockets."),
	AIM9_TEST("dgram_pipe", "Bytes through a pair of datagram sockets."),
	AIM9_TEST("pipe_cpy", "Bytes through a pipe."),
	AIM9_TEST("shared_memory", "System V shared memory."),
	{ 0 },
};

static int aim9_plan(const struct suite *s, const char *test, const struct suite_param *params,
		     size_t n, const struct suite_machine *m, struct suite_plan *plan,
		     struct err *e)
{
	_cleanup_(freep) char *text = NULL;
	unsigned seconds = 0;
	int r = suite_seconds(params, n, "runtime", &seconds, e);

	(void)s;
	(void)test;
	if (r < 0)
		return r;
	if (!m->path)
		return err_set(
			e, ERR_INVAL,
			"aim9 runs in its own folder; the machine has no path for the suite");
	if (seconds == 0)
		seconds = DEFAULT_TIME;
	/* It asks for a host, a label, seconds and a folder. */
	text = xasprintf("sh -c 'printf \"%%s\\n\" host label %u . | ./singleuser -nl'", seconds);
	r = suite_plan_command(plan, PHASE_RUN, "command", text, e);
	plan->dir = xstrdup(m->path);
	plan->tasks = 1;
	plan->deadline_s = 120 + ROWS_MAX * (seconds + 5.0);
	return r;
}

/* "  7 page_test  60.00  8764  146.06667  248313.33 Allocations & Pages/second" */
static void take_line(struct tally *t, const char *test, const struct line *l)
{
	struct tally_item *item;
	struct scan w[8];
	uint64_t nr, iterations;
	double elapsed, per_sec, ops;
	size_t n = line_words(l, w, ARRAY_SIZE(w));

	if (n < 3 || !word_u64(w[0], &nr) || *w[1].p < 'a' || *w[1].p > 'z')
		return;
	if (line_has(l, "Skipping")) {
		suite_problem_add(t->out, l, "a test that was not run");
		return;
	}
	if (n < 7 || !word_f64(w[2], &elapsed) || !word_u64(w[3], &iterations) ||
	    !word_f64(w[4], &per_sec) || !word_f64(w[5], &ops) || !line_has(l, "/second") ||
	    w[1].end - w[1].p > 40) {
		problem_bad_line(t->out, l, "a row of AIM9; left out");
		return;
	}
	item = tally_add(t, l, &metrics[0], &w[1], NULL, ops);
	if (item && test)
		item->headline = word_is(w[1], test);
}

static int aim9_parse(const struct suite *s, const char *test, const char *text, size_t len,
		      const struct suite_param *params, size_t n, struct suite_output *out,
		      struct err *e)
{
	struct tally t = { .out = out };
	unsigned tasks;
	struct reader r;
	int rc;

	rc = suite_tasks_known(params, n, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_line(&t, test, &r.l);
	tally_finish(&t, &r.l, 0, suite_headline(s, test, params, n));
	return 0;
}

const struct suite suite_aim9 = {
	.name = "aim9",
	.about = "Many small tests of system calls, one after the other.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.max_tasks = 1,
	.plan = aim9_plan,
	.parse = aim9_parse,
};
