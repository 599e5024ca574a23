/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of output that no captured file has: other versions, other options, suites not at hand. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <string.h>

static double value_of(const char *suite, const char *test, const char *params, const char *text,
		       const char *metric, size_t problems)
{
	const struct suite_metric *m;
	struct suite_output out;
	struct output_params p;
	struct err e = { 0 };
	double v;

	output_params_init(&p, params);
	assert_ok(suite_parse(suite_find(suite), test, text, strlen(text), p.items, p.n, &out, &e),
		  &e);
	m = suite_metric_find(&out, metric);
	v = m ? m->value : -1;
	if (out.problems_n != problems)
		fail_msg("%s: %zu problems: %s", suite, out.problems_n,
			 out.problems_n ? out.problems[0].text : "");
	suite_output_done(&out);
	return v;
}

static const char kernbench[] =
	"Kernel 6.12.0\nPerforming 5 runs of\n"
	"Average Half load -j 2 Run (std deviation):\n"
	"Elapsed Time 200.5 (1.5)\nUser Time 380 (2)\nSystem Time 50 (1)\n"
	"Percent CPU 190 (1)\nContext Switches 11111 (10)\nSleeps 2222 (20)\n\n"
	"Average Optimal load -j 16 Run (std deviation):\n"
	"Elapsed Time 120.25 (0.75)\nUser Time 400 (2)\nSystem Time 60 (1)\n"
	"Percent CPU 380.4 (3.2)\nContext Switches 12345 (100)\n"
	"Sleeps 54321 (200)\n";

static void kernbench_gives_the_load_of_the_job(void **state)
{
	(void)state;
	assert_true(value_of("kernbench", "kernbench", "", kernbench, "kernbench.elapsed_time",
			     0) == 120.25);
	assert_true(value_of("kernbench", "kernbench", "", kernbench,
			     "kernbench.elapsed_time_stddev", 0) == 0.75);
	assert_true(value_of("kernbench", NULL, "", kernbench, "kernbench.half.elapsed_time", 0) ==
		    200.5);
	assert_true(value_of("kernbench", NULL, "", kernbench, "kernbench.percent_cpu", 0) ==
		    380.4);
	assert_true(value_of("kernbench", NULL, "", kernbench, "kernbench.sleeps", 0) == 54321);
	assert_true(value_of("kernbench", NULL, "load=half", kernbench, "kernbench.elapsed_time",
			     0) == 200.5);
	assert_true(value_of("kernbench", NULL, "load=maximal", kernbench, "kernbench.elapsed_time",
			     1) == -1);
	/* One run has no deviation. */
	assert_true(value_of("kernbench", NULL, "",
			     "Average Optimal load -j 4 Run (std deviation):\nElapsed Time 99.5\n",
			     "kernbench.elapsed_time", 0) == 99.5);
	assert_true(
		value_of("kernbench", NULL, "",
			 "Average Optimal load -j 4 Run (std deviation):\nElapsed Time 99,5 (1)\n",
			 "kernbench.elapsed_time", 2) == -1);
	assert_true(value_of("kernbench", NULL, "", "Elapsed Time 99.5 (1)\n",
			     "kernbench.elapsed_time", 1) == -1);
}

static const char aim9[] =
	"AIM Independent Resource Benchmark - Suite IX\n"
	"Test        Test        Elapsed  Iteration    Iteration          Operation\n"
	"Number       Name      Time (sec)   Count   Rate (loops/sec)    Rate (ops/sec)\n"
	"------------------------------------------------------------------------\n"
	"     7 page_test           60.00       8764  146.06667       248313.33 System Allocations & "
	"Pages/second\n"
	"     8 brk_test            60.00      53456  890.93333     15145866.67 System Memory "
	"Allocations/second\n"
	"     9 exec_test Skipping\n"
	"    10 fork_test           60.00       nan   55.30000        5530.00 Task Creations/second\n";

static void aim9_gives_a_rate_for_each_row(void **state)
{
	(void)state;
	assert_true(value_of("aim9", "page_test", "", aim9, "aim9.page_test.ops_per_sec", 2) ==
		    248313.33);
	assert_true(value_of("aim9", "brk_test", "", aim9, "aim9.brk_test.ops_per_sec", 2) ==
		    15145866.67);
	assert_true(value_of("aim9", "fork_test", "", aim9, "aim9.fork_test.ops_per_sec", 3) == -1);
	assert_true(value_of("aim9", "exec_test", "", aim9, "aim9.exec_test.ops_per_sec", 3) == -1);
}

static void ebizzy_may_print_its_threads(void **state)
{
	static const char text[] = "26031 records/s 13000 13031\nreal  3.00 s\n";

	(void)state;
	assert_true(value_of("ebizzy", "ebizzy", "", text, "ebizzy.throughput", 0) == 26031);
	assert_true(value_of("ebizzy", "ebizzy", "", text, "ebizzy.throughput.per_thread.min", 0) ==
		    13000);
	assert_true(value_of("ebizzy", "ebizzy", "", text, "ebizzy.throughput.per_thread.max", 0) ==
		    13031);
	assert_true(value_of("ebizzy", "ebizzy", "", "26031 records/s 13000 nan\n",
			     "ebizzy.throughput", 2) == -1);
}

static void perf_may_print_smaller_units(void **state)
{
#define MEM	 "# Running 'mem/memcpy' benchmark:\n# function 'default' (Default memcpy())\n"
#define MEM_RATE "perf-bench-mem.memcpy.default.GB_per_sec"
	(void)state;
	assert_true(value_of("perf-bench-mem", NULL, "", MEM "  512.0 MB/sec\n", MEM_RATE, 0) ==
		    0.5);
	assert_true(value_of("perf-bench-mem", NULL, "", MEM "  1048576 KB/sec\n", MEM_RATE, 0) ==
		    1);
	assert_true(value_of("perf-bench-mem", NULL, "", "  5.5 GB/sec\n", MEM_RATE, 2) == -1);
	assert_true(value_of("perf-bench-syscall", NULL, "",
			     "# Running 'syscall/execve' benchmark:\n"
			     "# Executed 10,000 execve() calls\n     Total time: 10.040 [sec]\n\n"
			     "     1,004.000000 usecs/op\n             996 ops/sec\n",
			     "perf-bench-syscall.execve.usecs_per_op", 0) == 1004);
	/* Of which call the rate is can be known from the test alone. */
	assert_true(value_of("perf-bench-syscall", "basic", "", "  996 ops/sec\n",
			     "perf-bench-syscall.getppid.ops_per_sec", 0) == 996);
	assert_true(value_of("perf-bench-syscall", NULL, "", "  996 ops/sec\n",
			     "perf-bench-syscall.getppid.ops_per_sec", 2) == -1);
}

static void several_runs_give_their_mean_or_best(void **state)
{
#define HB(s)                                                                                  \
	"Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\n" \
	"Each sender will pass 1024 messages of 100 bytes\nTime: " s "\n"
	static const char text[] = HB("2.000") HB("1.000") HB("4.000");

	(void)state;
	assert_true(value_of("hackbench", NULL, "iterations=3", text, "hackbench.throughput", 0) ==
		    4000);
	assert_true(value_of("hackbench", NULL, "", text, "hackbench.throughput_worst", 0) == 1000);
	assert_true(value_of("hackbench", NULL, "", text, "hackbench.time", 0) == 7.0 / 3);
	assert_true(value_of("hackbench", NULL, "", text, "hackbench.workload", 0) == 12000);
	assert_true(value_of("hackbench", NULL, "iterations=4", text, "hackbench.throughput", 1) ==
		    -1);
	assert_true(value_of("perf-bench-sched-pipe", NULL, "iterations=2",
			     "  100 ops/sec\n  200 ops/sec\n", "perf-bench-sched-pipe.ops_per_sec",
			     0) == 150);
	assert_true(value_of("perf-bench-sched-pipe", NULL, "iterations=2", "  100 ops/sec\n",
			     "perf-bench-sched-pipe.ops_per_sec", 2) == -1);
}

static void a_thread_that_told_nothing_may_have_been_the_latest(void **state)
{
	static const char text[] =
		"# /dev/cpu_dma_latency set to 0us\n"
		"T: 0 ( 3530) P:80 I:1000 C:    994 Min:     30 Act:   70 Avg:   77 Max:    6053\n"
		"T: 1 ( 3531) P:80 I:1500 C:      0 Min: 1000000 Act:    0 Avg:    0 Max:       0\n";

	(void)state;
	assert_true(value_of("cyclictest", NULL, "nr_task=1", text, "cyclictest.max_latency", 1) ==
		    6053);
	assert_true(value_of("cyclictest", NULL, "nr_task=2", text, "cyclictest.max_latency", 3) ==
		    -1);
}

static void pft_leaves_rows_of_other_tasks_out(void **state)
{
	static const char text[] =
		"   0    1   1     0.01s     0.11s     0.23s  500000.000 200000.000\n"
		"   0    2   1     0.01s     0.11s     0.23s  600000.000 300000.000\n";

	(void)state;
	assert_true(value_of("pft", NULL, "nr_task=2", text, "pft.faults_per_sec", 1) == 300000);
	assert_true(value_of("pft", NULL, "", text, "pft.faults_per_sec", 2) == -1);
	assert_true(value_of("pft", NULL, "nr_task=4", text, "pft.faults_per_sec", 3) == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernbench_gives_the_load_of_the_job),
		cmocka_unit_test(aim9_gives_a_rate_for_each_row),
		cmocka_unit_test(ebizzy_may_print_its_threads),
		cmocka_unit_test(perf_may_print_smaller_units),
		cmocka_unit_test(several_runs_give_their_mean_or_best),
		cmocka_unit_test(a_thread_that_told_nothing_may_have_been_the_latest),
		cmocka_unit_test(pft_leaves_rows_of_other_tasks_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
