/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <string.h>

#define GIB UINT64_C(1073741824)

static const struct suite_machine machine = { .cpus = 4,
					      .mem_total_bytes = 4 * GIB,
					      .mem_available_bytes = 3 * GIB };

static void expect_plan(const char *suite, const char *test, const char *params, const char *want,
			unsigned tasks)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct output_params p;
	struct suite_plan plan;
	struct err e = { 0 };

	output_params_init(&p, params);
	assert_ok(suite_plan_make(suite_find(suite), test, p.items, p.n, &machine, &plan, &e), &e);
	assert_int_equal(plan.n, 1);
	for (char **w = plan.commands[0].argv; *w; w++)
		strbuf_addf(&b, "%s%s", w == plan.commands[0].argv ? "" : " ", *w);
	assert_string_equal(strbuf_str(&b), want);
	assert_int_equal(plan.tasks, tasks);
	assert_true(plan.deadline_s > 10);
	suite_plan_done(&plan);
}

static void expect_refusal(const char *suite, const char *test, const char *params, int code,
			   const char *word)
{
	struct suite_plan plan = { .n = 77 };
	struct output_params p;
	struct err e = { 0 };

	output_params_init(&p, params);
	assert_err(suite_plan_make(suite_find(suite), test, p.items, p.n, &machine, &plan, &e),
		   code, &e);
	assert_int_equal(plan.n, 77);
	if (!strstr(e.msg, word))
		fail_msg("'%s' does not say '%s'", e.msg, word);
}

static void plans_will_it_scale(void **state)
{
	(void)state;
	expect_plan("will-it-scale", "page_fault1", "", "page_fault1_processes -t 4 -s 5", 4);
	expect_plan("will-it-scale", "page_fault1", "mode=thread nr_task=50% runtime=10s pin=none",
		    "page_fault1_threads -t 2 -s 10 -n", 2);
	expect_plan("will-it-scale", "sched_yield", "nr_task=16 runtime=2 pin=pu",
		    "sched_yield_processes -t 16 -s 2 -m", 16);
	expect_plan("will-it-scale", "brk1", "nr_task=1% runtime=1500ms",
		    "brk1_processes -t 1 -s 2", 1);
}

static void refuses_what_it_does_not_know_and_names_the_choices(void **state)
{
	(void)state;
	expect_refusal("will-it-scale", "page_fault9", "", ERR_NOENT, "page_fault1");
	expect_refusal("will-it-scale", "brk1", "unit_size=1G", ERR_NOENT,
		       "mode, nr_task, runtime");
	expect_refusal("will-it-scale", "brk1", "mode=both", ERR_PARSE, "process, thread");
	expect_refusal("will-it-scale", "brk1", "pin=numa", ERR_PARSE, "core, pu, none");
	expect_refusal("will-it-scale", "brk1", "nr_task=0", ERR_PARSE, "'0'");
	expect_refusal("will-it-scale", "brk1", "nr_task=%", ERR_PARSE, "'%'");
	expect_refusal("will-it-scale", "brk1", "nr_task=-1", ERR_PARSE, "50%");
	expect_refusal("will-it-scale", "brk1", "nr_task=2049", ERR_RANGE, "2048");
	expect_refusal("will-it-scale", "brk1", "runtime=0s", ERR_RANGE, "runtime");
	expect_refusal("will-it-scale", "brk1", "runtime=soon", ERR_PARSE, "soon");
	expect_refusal("vm-scalability", "anon-w-sea", "", ERR_NOENT, "anon-w-seq");
	expect_refusal("vm-scalability", "anon-w-seq", "unit_size=0", ERR_RANGE, "unit_size");
	expect_refusal("vm-scalability", "anon-r-seq", "unit_size=1M", ERR_INVAL,
		       "from the machine");
}

static void refuses_a_machine_that_is_too_small(void **state)
{
	struct suite_param all = { .key = (char[]){ "nr_task" }, .value = (char[]){ "100%" } };
	struct suite_machine none = { .cpus = 0, .mem_available_bytes = GIB };
	struct suite_plan plan;
	struct err e = { 0 };

	(void)state;
	expect_refusal("will-it-scale", "page_fault1", "nr_task=25", ERR_NOSPACE, "3072 MiB free");
	expect_refusal("vm-scalability", "anon-w-seq", "unit_size=4G", ERR_NOSPACE,
		       "3072 MiB free");
	expect_refusal("vm-scalability", "anon-w-seq", "unit_size=4K nr_task=2", ERR_NOSPACE,
		       "4096");
	assert_err(suite_plan_make(suite_find("will-it-scale"), "brk1", &all, 1, &none, &plan, &e),
		   ERR_RANGE, &e);
	assert_non_null(strstr(e.msg, "0 CPUs"));
}

static void lists_its_suites_and_tests(void **state)
{
	size_t tests = 0;

	(void)state;
	for (size_t i = 0; suite_list(i); i++) {
		assert_ptr_equal(suite_find(suite_name(suite_list(i))), suite_list(i));
		assert_non_null(strstr(suite_names(), suite_name(suite_list(i))));
	}
	assert_null(suite_find("will-it-fail"));
	while (suite_test(suite_find("will-it-scale"), tests))
		tests++;
	assert_int_equal(tests, 60);
}

static void the_headline_follows_the_mode(void **state)
{
	struct output_params p;

	(void)state;
	output_params_init(&p, "mode=thread");
	assert_string_equal(suite_headline(suite_find("will-it-scale"), "brk1", p.items, p.n),
			    "will-it-scale.per_thread_ops");
	assert_string_equal(suite_headline(suite_find("will-it-scale"), "brk1", NULL, 0),
			    "will-it-scale.per_process_ops");
	assert_string_equal(suite_headline(suite_find("vm-scalability"), "anon-w-seq", NULL, 0),
			    "vm-scalability.throughput");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_will_it_scale),
		cmocka_unit_test(refuses_what_it_does_not_know_and_names_the_choices),
		cmocka_unit_test(refuses_a_machine_that_is_too_small),
		cmocka_unit_test(lists_its_suites_and_tests),
		cmocka_unit_test(the_headline_follows_the_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
