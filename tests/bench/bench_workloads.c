/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Passes per second of bundled getppid1 beside a bare loop of the same system call, in turns in the
 * same run. The ratio is what harness and counter cost.
 */
#include "bot/base/child.h"
#include "bot/base/cleanup.h"
#include "bot/base/clock.h"
#include "runners/suites/suite.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double bare_per_s(void)
{
	usec_t start = clock_boottime();
	usec_t end = start + 2 * USEC_PER_SEC;
	double n = 0;

	while (clock_boottime() < end) {
		for (int i = 0; i < 100000; i++)
			(void)getppid();
		n += 100000;
	}
	return n / ((double)(clock_boottime() - start) / 1e6);
}

static double ours_per_s(void)
{
	const char *argv[] = { TEST_BIN_DIR "/kperfbot-workloads", "getppid1_processes", "-s", "2",
			       NULL };
	struct suite_param params[] = {
		{ (char *)(uintptr_t) "mode", (char *)(uintptr_t) "process" },
		{ (char *)(uintptr_t) "nr_task", (char *)(uintptr_t) "1" },
		{ (char *)(uintptr_t) "runtime", (char *)(uintptr_t) "2s" }
	};
	struct child_run_opts o = { .spawn = CHILD_OPTS_INIT, .total_s = 60 };
	struct child_result res = { 0 };
	struct suite_output out = { 0 };
	const struct suite_metric *m;
	struct err e = { 0 };
	double v;

	o.spawn.argv = argv;
	assert_ok(child_run(&o, &res, &e), &e);
	assert_int_equal(res.status, 0);
	assert_ok(suite_parse(suite_find("will-it-scale"), "getppid1", res.out, res.out_len, params,
			      ARRAY_SIZE(params), &out, &e),
		  &e);
	m = suite_metric_find(&out, "will-it-scale.per_process_ops");
	assert_non_null(m);
	v = m->value;
	suite_output_done(&out);
	child_result_done(&res);
	return v;
}

static void harness_against_bare_loop(void **state)
{
	double ours = 0;
	double bare = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		bare += bare_per_s() / 3;
		ours += ours_per_s() / 3;
	}
	(void)printf("bench: getppid1 %.0f/s, bare loop %.0f/s, ratio %.3f\n", ours, bare,
		     ours / bare);
	assert_true(ours > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(harness_against_bare_loop) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
