/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <string.h>

/* rel: how many of the digits are known. */
static const struct {
	const char *file, *metric;
	double value, rel;
} known[] = {
	{ "wis-page_fault1-processes-t2-s5.txt", "will-it-scale.per_process_ops", 136836, 0 },
	{ "wis-page_fault1-processes-t2-s5.txt", "will-it-scale.workload", 273672, 0 },
	{ "wis-page_fault1-threads-t2-s5.txt", "will-it-scale.per_thread_ops", 105554.5, 0 },
	{ "wis-context_switch1-processes-t2-s2-v.txt", "will-it-scale.per_process_ops", 537905, 0 },
	{ "wis-getppid1-threads-t4-s2-n.txt", "will-it-scale.per_thread_ops", 846214.25, 0 },
	{ "wis-runtest-stock-getppid1.csv", "will-it-scale.per_process_ops", 3237433, 0 },
	{ "wis-runtest-stock-getppid1.csv", "will-it-scale.per_thread_ops", 3659885, 0 },
	{ "wis-runtest-stock-getppid1.csv", "will-it-scale.workload", 18553074, 0 },
	{ "wis-runtest-stock-getppid1.csv", "will-it-scale.2.linear", 9572892, 0 },
	{ "wis-runtest-lkp-context_switch1.csv", "will-it-scale.per_process_ops", 518619, 0 },
	{ "wis-runtest-lkp-context_switch1.csv", "will-it-scale.per_thread_ops", 548091, 0 },
	{ "wis-runtest-lkp-context_switch1.csv", "will-it-scale.scalability", 1.884490, 1e-12 },
	{ "wis-runtest-lkp-context_switch1.csv", "will-it-scale.workload", 3551327, 0 },
	{ "wis-runtest-lkp-context_switch1.csv", "will-it-scale.1.threads", 363738, 0 },
	{ "usemem-n2-64m.txt", "vm-scalability.throughput", 760780, 0 },
	{ "usemem-n2-64m.txt", "vm-scalability.median", 390204, 0 },
	{ "usemem-n2-64m.txt", "vm-scalability.free_time", 0.008223, 1e-12 },
	{ "usemem-t4-prealloc-32m.txt", "vm-scalability.throughput", 1090592, 0 },
	{ "usemem-t4-prealloc-32m.txt", "vm-scalability.median", 239325, 0 },
	{ "usemem-r3-64m.txt", "vm-scalability.throughput", 878521, 0 },
	{ "usemem-r3-64m.txt", "vm-scalability.workload", 204800, 0 },
	{ "usemem-Z-j4096-64m.txt", "vm-scalability.throughput", 142003, 0 },
	{ "usemem-Z-j4096-64m.txt", "vm-scalability.workload", 8320, 0 },
	{ "usemem-initTime-n2-readonly-T2-8g.txt", "vm-scalability.throughput", 1823920, 0 },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability.throughput", 730984, 0 },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability.median", 368051, 0 },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability.stddev%", 3.99161, 2e-6 },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability.median_stddev%", 4.15879, 2e-6 },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability.free_time", 0.017791, 1e-12 },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability.workload", 589824, 0 },
	{ "vms-lru-file-readonce.txt", "vm-scalability.throughput", 169877, 0 },
	{ "vms-lru-file-readonce.txt", "vm-scalability.median", 90391, 0 },
	{ "vms-lru-file-readonce.txt", "vm-scalability.stddev%", 12.8393, 4e-6 },
	{ "vms-lru-file-readonce.txt", "vm-scalability.median_stddev%", 0, 0 },
	{ "vms-lru-file-readonce.txt", "vm-scalability.workload", 352256, 0 },
	{ "vms-truncate-seq-2x.txt", "vm-scalability.throughput", 46543540, 0 },
	{ "vms-truncate-seq-2x.txt", "vm-scalability.median", 46543540, 0 },
	{ "vms-truncate-seq-2x.txt", "vm-scalability.stddev%", 17.4675, 3e-6 },
	{ "vms-truncate-seq-2x.txt", "vm-scalability.throughput_fault", 1175337, 0 },
	{ "vms-truncate-seq-2x.txt", "vm-scalability.stddev_fault%", 41.0515, 2e-6 },
	{ "vms-truncate-seq-2x.txt", "vm-scalability.workload", 1048576, 0 },
	{ "vms-small-allocs.txt", "vm-scalability.throughput", 911579, 0 },
	{ "vms-small-allocs.txt", "vm-scalability.median", 455888, 0 },
	{ "vms-small-allocs.txt", "vm-scalability.stddev%", 0.0432217, 2e-6 },
	{ "vms-small-allocs.txt", "vm-scalability.workload", 2419695, 0 },
	{ "vms-remap.txt", "vm-scalability.throughput", 364227, 0 },
	{ "vms-remap.txt", "vm-scalability.median", 364227, 0 },
	{ "vms-remap.txt", "vm-scalability.workload", 262144, 0 },
	{ "vms-migrate.txt", "vm-scalability.migrate_mbps", 31674, 0 },
	{ "vms-migrate.txt", "vm-scalability.throughput", 901188, 0 },
};

static void gives_the_known_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t len;
		_cleanup_(freep) char *text = output_read(known[i].file, &len);
		const struct suite_metric *m;
		struct suite_output out;

		output_parse(output_find(known[i].file), text, len, &out);
		m = suite_metric_find(&out, known[i].metric);
		if (!m) {
			fail_msg("%s: no %s: %s", known[i].file, known[i].metric,
				 out.problems_n ? out.problems[0].text : "no problem");
			return;
		}
		if (!(m->value == known[i].value ||
		      __builtin_fabs(m->value - known[i].value) <= known[i].rel * known[i].value))
			fail_msg("%s: %s is %.12g, not %.12g", known[i].file, m->name, m->value,
				 known[i].value);
		suite_output_done(&out);
	}
}

static void good_outputs_have_a_headline_and_no_problem(void **state)
{
	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		size_t len, headlines = 0;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		struct suite_output out;

		if (strstr(c->file, "killed") || strstr(c->file, "failure") ||
		    strstr(c->file, "simple") || strstr(c->file, "edge") ||
		    strstr(c->file, "misc-only"))
			continue;
		output_parse(c, text, len, &out);
		if (out.problems_n > 0)
			fail_msg("%s: %s", c->file, out.problems[0].text);
		for (size_t i = 0; i < out.n; i++)
			headlines += out.metrics[i].headline;
		assert_true(headlines >= 1);
		suite_output_done(&out);
	}
}

static void rejects_a_run_with_a_dead_task(void **state)
{
	const char *file = "wis-getppid1-processes-t2-s2-childkilled.txt";
	size_t len;
	_cleanup_(freep) char *text = output_read(file, &len);
	struct suite_output out;

	(void)state;
	output_parse(output_find(file), text, len, &out);
	assert_int_equal(out.n, 0);
	assert_int_equal(out.problems_n, 1);
	assert_int_equal(out.problems[0].line, 12);
	assert_non_null(strstr(out.problems[0].text, "from line 7 to the end"));
	suite_output_done(&out);
}

static void rejects_a_usemem_that_failed(void **state)
{
	const char *file = "usemem-hugetlb-failure.txt";
	size_t len;
	_cleanup_(freep) char *text = output_read(file, &len);
	struct suite_output out;

	(void)state;
	output_parse(output_find(file), text, len, &out);
	assert_int_equal(out.n, 0);
	assert_int_equal(out.problems[0].line, 1);
	assert_non_null(strstr(out.problems[0].text, "mmap failed"));
	suite_output_done(&out);
}

static void keeps_the_samples_of_the_run(void **state)
{
	const char *file = "wis-page_fault1-processes-t2-s5.txt";
	size_t len;
	_cleanup_(freep) char *text = output_read(file, &len);
	const struct suite_metric *m;
	struct suite_output out;

	(void)state;
	output_parse(output_find(file), text, len, &out);
	m = suite_metric_find(&out, "will-it-scale.per_process_ops");
	assert_true(m->headline);
	assert_int_equal(m->better, BETTER_HIGHER);
	assert_int_equal(m->kind, KIND_RATE);
	assert_int_equal(m->series_n, 5);
	assert_true(m->series[0] == 309182 / 2.0 && m->series[4] == 251016 / 2.0);
	suite_output_done(&out);
}

static void tells_the_number_of_tasks_from_the_samples(void **state)
{
	struct output_case c = *output_find("wis-getppid1-threads-t4-s2-n.txt");
	size_t len;
	_cleanup_(freep) char *text = output_read(c.file, &len);
	struct suite_output out;

	(void)state;
	c.params = "mode=thread";
	output_parse(&c, text, len, &out);
	assert_true(suite_metric_find(&out, "will-it-scale.per_thread_ops")->value == 846214.25);
	suite_output_done(&out);

	c.params = "mode=thread nr_task=3";
	output_parse(&c, text, len, &out);
	assert_int_equal(out.n, 0);
	assert_non_null(strstr(out.problems[0].text, "nr_task = 3"));
	suite_output_done(&out);
}

static void takes_the_headline_of_the_case_in_the_log(void **state)
{
	struct output_case c = *output_find("vms-migrate.txt");
	size_t len;
	_cleanup_(freep) char *text = output_read(c.file, &len);
	struct suite_output out;

	(void)state;
	c.test = NULL;
	output_parse(&c, text, len, &out);
	assert_true(suite_metric_find(&out, "vm-scalability.migrate_mbps")->headline);
	assert_false(suite_metric_find(&out, "vm-scalability.throughput")->headline);
	suite_output_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_known_values),
		cmocka_unit_test(good_outputs_have_a_headline_and_no_problem),
		cmocka_unit_test(rejects_a_run_with_a_dead_task),
		cmocka_unit_test(rejects_a_usemem_that_failed),
		cmocka_unit_test(keeps_the_samples_of_the_run),
		cmocka_unit_test(tells_the_number_of_tasks_from_the_samples),
		cmocka_unit_test(takes_the_headline_of_the_case_in_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
