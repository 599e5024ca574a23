/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the default monitors cost. First the CPU time of their samples, as a share of one CPU: that is
 * what a workload on all CPUs can lose. Then rates of workloads with and without them, in turns, with
 * the spread of the rates beside it: on a busy machine the first number is the one that tells.
 *
 * With KPERFBOT_BENCH_KERNEL (a bzImage) and KPERFBOT_BENCH_BUILD_ID (its build id) in the environment
 * the rates are those of an icount guest, where other load does not count.
 */
#include "bot/base/file.h"
#include "runners/agent/record.h"
#include "runners/drivers/driver.h"
#include "runners/monitors/monitor.h"
#include "tests/test.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#define SAMPLES 2000
#define LIMIT	0.005

static char scratch[] = "/tmp/kperfbot-bench-XXXXXX";

/* The default set; the names are static, the list is the caller's. */
static char **default_set(void)
{
	const struct monitor *m;
	char **list = NULL;
	size_t n = 0;

	for (size_t i = 0; (m = monitor_list(i)); i++) {
		if (!m->cheap)
			continue;
		list = xreallocarray(list, n + 2, sizeof(*list));
		list[n++] = (char *)(uintptr_t)m->name;
		list[n] = NULL;
	}
	return list;
}

static double cpu_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void samples_against_a_cpu(void **state)
{
	_cleanup_(freep) char **names = default_set();
	_cleanup_(closep) int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct link link = { .in = -1, .out = null };
	struct sink sink = { .link = &link };
	json_t *notes = json_object();
	struct recorder r;
	double ends_s, tick_s, start;

	(void)state;
	record_init(&r, names, 1, &sink, notes);
	/* All files, as before and after each run. */
	start = cpu_s();
	for (int i = 0; i < 50; i++) {
		record_start(&r, 0);
		(void)sink_flush(&sink);
	}
	ends_s = (cpu_s() - start) / 50;
	start = cpu_s();
	for (int i = 1; i <= SAMPLES; i++) {
		(void)record_tick(&r, i);
		(void)sink_flush(&sink);
	}
	tick_s = (cpu_s() - start) / SAMPLES;
	assert_int_equal(sink.ret, 0);
	(void)printf(
		"bench: monitors: all files once %.0f us of CPU (outside of the measured time), "
		"a second's samples %.0f us: %.4f %% of one CPU, limit %.1f %%\n",
		ends_s * 1e6, tick_s * 1e6, tick_s * 100, LIMIT * 100);
	record_done(&r);
	sink_done(&sink);
	link_done(&link);
	json_decref(notes);
	assert_true(tick_s < LIMIT);
}

static double rate(const char *test, char **monitors)
{
	static char mode[] = "mode", process[] = "process", task[] = "nr_task", all[] = "100%";
	static char runtime[] = "runtime", seconds[] = "3s";
	const struct suite_param params[] = { { mode, process },
					      { task, all },
					      { runtime, seconds } };
	const char *kernel = getenv("KPERFBOT_BENCH_KERNEL");
	const char *build_id = getenv("KPERFBOT_BENCH_BUILD_ID");
	const bool guest = kernel && build_id;
	const struct lab_machine m = { .name = "here",
				       .driver = guest ? "qemu" : "local",
				       .accel = "icount",
				       .cpus = 1,
				       .workloads_path = TEST_BIN_DIR "/kperfbot-workloads",
				       .agent_path = TEST_BIN_DIR "/kperfbot-agent" };
	const struct lab_request q = { .suite = "will-it-scale",
				       .test = test,
				       .params = params,
				       .nparams = 3,
				       .runs = 1,
				       .nonce = "bench",
				       .kernel_path = kernel,
				       .build_id = guest ? build_id : NULL,
				       .scratch_dir = scratch,
				       .monitors = (const char *const *)monitors,
				       .monitor_interval_s = 1 };
	const struct suite *suite = suite_find(q.suite);
	struct suite_output out = { 0 };
	struct lab_result r;
	struct err e = { 0 };
	double v;

	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_ok(suite_parse(suite, test, r.runs[0].raw, r.runs[0].raw_len, params, 3, &out, &e),
		  &e);
	v = suite_metric_find(&out, "will-it-scale.workload")->value;
	suite_output_done(&out);
	lab_result_done(&r);
	return v;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void rates_with_and_without(void **state)
{
	static const char *const tests[] = { "getppid1", "page_fault1" };
	enum {
		PAIRS = 5
	};
	_cleanup_(freep) char **names = default_set();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		double with[PAIRS], without[PAIRS];

		/* A B B A: a drift meets both alike. */
		for (int k = 0; k < PAIRS; k++) {
			if (k % 2)
				with[k] = rate(tests[i], names);
			without[k] = rate(tests[i], NULL);
			if (!(k % 2))
				with[k] = rate(tests[i], names);
		}
		qsort(with, PAIRS, sizeof(*with), compare);
		qsort(without, PAIRS, sizeof(*without), compare);
		(void)printf("bench: %s: median %.0f/s with monitors, %.0f/s without: %+.2f %%; "
			     "without, the runs span %.1f %%\n",
			     tests[i], with[PAIRS / 2], without[PAIRS / 2],
			     (with[PAIRS / 2] / without[PAIRS / 2] - 1) * 100,
			     (without[PAIRS - 1] / without[0] - 1) * 100);
		assert_true(with[0] > 0);
	}
}

static int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	return file_remove_tree(scratch, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_against_a_cpu),
		cmocka_unit_test(rates_with_and_without),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
