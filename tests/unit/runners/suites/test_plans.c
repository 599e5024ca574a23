/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact commands of each suite, and what it refuses. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <string.h>

#define GIB UINT64_C(1073741824)

static const struct suite_machine machine = { .cpus = 4,
					      .mem_total_bytes = 5 * GIB,
					      .mem_available_bytes = 3 * GIB };
static const struct suite_machine with_path = { .cpus = 4,
						.mem_total_bytes = 5 * GIB,
						.mem_available_bytes = 3 * GIB,
						.path = "/opt/my suites/x" };

/* "setup: a b | a b | cleanup: c"; words with blanks in brackets. */
static void describe(const struct suite_plan *plan, struct strbuf *b)
{
	static const char *const phases[] = { "", "setup: ", "cleanup: " };

	for (size_t i = 0; i < plan->n; i++) {
		strbuf_addf(b, "%s%s", i ? " | " : "", phases[plan->commands[i].phase]);
		for (char **w = plan->commands[i].argv; *w; w++) {
			bool odd = strchr(*w, ' ') || !**w;

			strbuf_addf(b, "%s%s%s%s", w == plan->commands[i].argv ? "" : " ",
				    odd ? "[" : "", *w, odd ? "]" : "");
		}
	}
}

static void expect(const struct suite_machine *m, const char *suite, const char *test,
		   const struct suite_param *params, size_t n, const char *want,
		   struct suite_plan *ret)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(suite_plan_make(suite_find(suite), test, params, n, m, ret, &e), &e);
	describe(ret, &b);
	assert_string_equal(strbuf_str(&b), want);
	assert_true(ret->deadline_s >= 30 && ret->deadline_s < 1e7);
	assert_true(ret->tasks >= 1);
	for (size_t i = 0; i < ret->n; i++)
		assert_int_equal(ret->commands[i].copies, 1);
}

static void expect_words(const char *suite, const char *test, const char *words, const char *want)
{
	struct output_params p;
	struct suite_plan plan;

	output_params_init(&p, words);
	expect(&machine, suite, test, p.items, p.n, want, &plan);
	suite_plan_done(&plan);
}

static void plans_hackbench_and_perf(void **state)
{
	(void)state;
	expect_words("hackbench", "hackbench", "iterations=1",
		     "hackbench -g 4 -f 20 -l 1000 -s 100 -P");
	expect_words("hackbench", "hackbench",
		     "nr_task=50% mode=thread ipc=pipe fds=10 loops=5 datasize=1K iterations=2",
		     "hackbench -g 2 -f 10 -l 5 -s 1024 -T -p | "
		     "hackbench -g 2 -f 10 -l 5 -s 1024 -T -p");
	expect_words("perf-bench-sched-messaging", "messaging",
		     "nr_task=2 loops=10 mode=thread ipc=pipe iterations=1",
		     "perf bench sched messaging -g 2 -l 10 -t -p");
	expect_words("perf-bench-sched-pipe", "pipe", "", "perf bench sched pipe -l 1000000");
	expect_words("perf-bench-sched-pipe", "pipe", "mode=thread loops=50000",
		     "perf bench sched pipe -l 50000 -T");
	expect_words("perf-bench-syscall", "basic", "", "perf bench syscall basic -l 10000000");
	expect_words("perf-bench-mem", "memset", "function=default loops=5",
		     "perf bench mem memset -s 16777216B -l 5 -f default");
	expect_words("perf-bench-futex", "hash", "runtime=2s", "perf bench futex hash -t 4 -r 2");
	expect_words("perf-bench-futex", "wake-parallel", "nr_task=8",
		     "perf bench futex wake-parallel -t 8");
	expect_words("perf-bench-futex", "lock-pi", "nr_task=2",
		     "perf bench futex lock-pi -t 2 -r 10");
	expect_words("perf-bench-epoll", "wait", "nr_task=25%", "perf bench epoll wait -t 1 -r 10");
	expect_words("perf-bench-numa-mem", "mem", "unit_size=32M runtime=1s processes=2",
		     "perf bench numa mem -p 2 -t 4 -m -0 -P 32 -s 1");
}

static void plans_the_memory_benchmarks(void **state)
{
	(void)state;
	expect_words("pft", "pft", "iterations=2 unit_size=256M",
		     "pft -m 262144K -n 4 | pft -m 262144K -n 4");
	expect_words("pft", "pft", "iterations=1 mode=thread nr_task=1", "pft -m 1048576K -t 1");
	expect_words("lmbench3", "lat_pagefault", "unit_size=16M repetitions=3",
		     "setup: make-file pagefault.dat 16777216 | "
		     "lat_pagefault -P 1 -N 3 pagefault.dat");
	expect_words("ebizzy", "ebizzy", "runtime=3s nr_task=2", "ebizzy -t 2 -S 3");
	expect_words("ebizzy", "ebizzy", "alloc=mmap", "ebizzy -t 8 -S 10 -m");
}

static void plans_the_others(void **state)
{
	(void)state;
	expect_words("stress-ng", "context", "nr_task=2 runtime=5s",
		     "stress-ng --timeout 5 --times --verify --metrics --no-rand-seed "
		     "-Y stress-ng.yaml --context 2");
	expect_words("sysbench", "cpu", "runtime=2s",
		     "sysbench --threads=4 --time=2 --events=0 cpu run");
	expect_words("sysbench", "memory", "block_size=4K",
		     "sysbench --threads=4 --time=10 --events=0 memory --memory-block-size=4096 "
		     "--memory-total-size=1048576G run");
	expect_words("sysbench", "mutex", "", "sysbench --threads=4 --time=0 mutex run");
	expect_words("cyclictest", "cyclictest", "runtime=5s",
		     "cyclictest -q -m -D 5 -t 4 -a -p 80 -i 1000");
	expect_words("kernbench", "kernbench", "tree=/usr/src/linux nr_task=8 runs=2",
		     "kernbench -n 2 -o 8 -H -M -f");
	expect_words("kernbench", "kernbench", "tree=/usr/src/linux nr_task=8 load=half",
		     "kernbench -n 5 -o 8 -O -M -f");
}

static void runs_the_programs_of_the_folder_that_is_given(void **state)
{
	struct suite_plan plan;

	(void)state;
	expect(&with_path, "pft", "pft", NULL, 0,
	       "[/opt/my suites/x/pft] -m 1048576K -n 4 | [/opt/my suites/x/pft] -m 1048576K -n 4 | "
	       "[/opt/my suites/x/pft] -m 1048576K -n 4 | [/opt/my suites/x/pft] -m 1048576K -n 4 | "
	       "[/opt/my suites/x/pft] -m 1048576K -n 4 | [/opt/my suites/x/pft] -m 1048576K -n 4 | "
	       "[/opt/my suites/x/pft] -m 1048576K -n 4 | [/opt/my suites/x/pft] -m 1048576K -n 4 | "
	       "[/opt/my suites/x/pft] -m 1048576K -n 4 | [/opt/my suites/x/pft] -m 1048576K -n 4",
	       &plan);
	assert_null(plan.dir);
	suite_plan_done(&plan);
	expect(&with_path, "aim9", "page_test", NULL, 0,
	       "sh -c [printf \"%s\\n\" host label 60 . | ./singleuser -nl]", &plan);
	assert_string_equal(plan.dir, with_path.path);
	suite_plan_done(&plan);
}

static void runs_the_unmodified_will_it_scale_until_its_average(void **state)
{
	struct output_params p;
	struct suite_plan plan;

	(void)state;
	output_params_init(&p, "mode=thread runtime=3s pin=none");
	expect(&with_path, "will-it-scale", "malloc1", p.items, p.n,
	       "run-until average: 2 [/opt/my suites/x/malloc1_threads] -t 4 -s 3 -n", &plan);
	suite_plan_done(&plan);
	expect(&machine, "will-it-scale", "malloc1", p.items, p.n, "malloc1_threads -t 4 -s 3 -n",
	       &plan);
	assert_int_equal(plan.nofile, 0);
	suite_plan_done(&plan);
	expect(&machine, "will-it-scale", "poll2", NULL, 0, "poll2_processes -t 4 -s 5", &plan);
	assert_int_equal(plan.nofile, 138 * 4);
	suite_plan_done(&plan);
}

static void keeps_files_and_asks_for_descriptors(void **state)
{
	struct output_params p;
	struct suite_plan plan;

	(void)state;
	output_params_init(&p, "nr_task=2 iterations=1 fds=10 loops=1");
	expect(&machine, "hackbench", "hackbench", p.items, p.n,
	       "hackbench -g 2 -f 10 -l 1 -s 100 -P", &plan);
	assert_int_equal(plan.tasks, 2);
	assert_true(plan.nofile >= 80);
	suite_plan_done(&plan);
	output_params_init(&p, "nr_task=1 options=--vm-bytes");
	expect(&machine, "stress-ng", "vm", p.items, p.n,
	       "stress-ng --timeout 10 --times --verify --metrics --no-rand-seed "
	       "-Y stress-ng.yaml --vm 1 --vm-bytes",
	       &plan);
	assert_string_equal(plan.keep[0], "stress-ng.yaml");
	suite_plan_done(&plan);
	output_params_init(&p, "tree=/usr/src/linux nr_task=1");
	expect(&machine, "kernbench", "kernbench", p.items, p.n, "kernbench -n 5 -o 1 -H -M -f",
	       &plan);
	assert_string_equal(plan.dir, "/usr/src/linux");
	suite_plan_done(&plan);
}

static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

static void plans_any_command_of_the_operator(void **state)
{
	struct suite_param params[] = {
		{ text("command"), text("  my-bench --tasks={nr_task} -t {runtime} 'two words' "
					"a\"b 'c\"d '' ") },
		{ text("setup"), text("sh -c 'echo \"$HOME\" >x'") },
		{ text("cleanup"), text("rm x") },
		{ text("runtime"), text("7s") },
		{ text("nr_task"), text("50%") },
		{ text("iterations"), text("2") },
		{ text("headline"), text("exec.score") },
	};
	struct suite_plan plan;

	(void)state;
	expect(&machine, "exec", "whatever", params, ARRAY_SIZE(params),
	       "setup: sh -c [echo \"$HOME\" >x] | "
	       "my-bench --tasks=2 -t 7 [two words] [ab 'cd] [] | "
	       "my-bench --tasks=2 -t 7 [two words] [ab 'cd] [] | cleanup: rm x",
	       &plan);
	assert_true(plan.deadline_s == 2 * (7 * 2.0 + 60));
	suite_plan_done(&plan);
	assert_string_equal(
		suite_headline(suite_find("exec"), "whatever", params, ARRAY_SIZE(params)),
		"exec.score");
}

static void expect_refusal(const char *suite, const char *test, const struct suite_param *params,
			   size_t n, int code, const char *word)
{
	struct suite_plan plan = { .n = 77 };
	struct err e = { 0 };

	assert_err(suite_plan_make(suite_find(suite), test, params, n, &machine, &plan, &e), code,
		   &e);
	assert_int_equal(plan.n, 77);
	if (!strstr(e.msg, word))
		fail_msg("'%s' does not say '%s'", e.msg, word);
}

static void refuse_words(const char *suite, const char *test, const char *words, int code,
			 const char *word)
{
	struct output_params p;

	output_params_init(&p, words);
	expect_refusal(suite, test, p.items, p.n, code, word);
}

static void refuses_bad_commands(void **state)
{
	struct suite_param command = { text("command"), text("a 'b c") };
	struct suite_param two[] = { { text("command"), text("true") },
				     { text("headline"), text("score") } };

	(void)state;
	expect_refusal("exec", "t", NULL, 0, ERR_INVAL, "no command");
	expect_refusal("exec", "t", &command, 1, ERR_PARSE, "not closed");
	command.value = text("   ");
	expect_refusal("exec", "t", &command, 1, ERR_PARSE, "no program");
	command.value = text("'' x");
	expect_refusal("exec", "t", &command, 1, ERR_PARSE, "no program");
	command.value = text("a\nb");
	expect_refusal("exec", "t", &command, 1, ERR_PARSE, "printable");
	command.value = text("");
	expect_refusal("exec", "t", &command, 1, ERR_PARSE, "empty");
	expect_refusal("exec", "t", two, 2, ERR_PARSE, "exec.score");
	two[1] = (struct suite_param){ text("setup"), text("x \"") };
	expect_refusal("exec", "t", two, 2, ERR_PARSE, "setup");
	two[1] = (struct suite_param){ text("memory"), text("1T") };
	expect_refusal("exec", "t", two, 2, ERR_NOSPACE, "3072 MiB free");
}

static void refuses_what_is_not_there_and_names_the_choices(void **state)
{
	(void)state;
	refuse_words("stress-ng", "contest", "", ERR_NOENT, "context");
	refuse_words("perf-bench-futex", "sleep", "", ERR_NOENT, "hash, wake, wake-parallel");
	refuse_words("sysbench", "disk", "", ERR_NOENT, "cpu, memory, threads, mutex");
	refuse_words("hackbench", "hackbench", "mode=fibre", ERR_PARSE, "process, thread");
	refuse_words("hackbench", "hackbench", "groups=2", ERR_NOENT, "mode, ipc, nr_task");
	refuse_words("hackbench", "hackbench", "loops=0", ERR_RANGE, "loops");
	refuse_words("hackbench", "hackbench", "datasize=2M", ERR_RANGE, "2M");
	refuse_words("hackbench", "hackbench", "iterations=100000", ERR_RANGE, "iterations");
	refuse_words("pft", "pft", "nr_task=129", ERR_RANGE, "128");
	refuse_words("lmbench3", "lat_pagefault", "unit_size=4K", ERR_RANGE, "4K");
	refuse_words("cyclictest", "cyclictest", "priority=100", ERR_RANGE, "priority");
	refuse_words("kernbench", "kernbench", "", ERR_INVAL, "tree");
	refuse_words("kernbench", "kernbench", "tree=src/linux", ERR_INVAL, "src/linux");
	refuse_words("aim9", "page_test", "", ERR_INVAL, "folder");
	refuse_words("ebizzy", "ebizzy", "runtime=0s", ERR_RANGE, "runtime");
}

/* The numbers are in the reason, and nothing is run. */
static void refuses_a_machine_that_is_too_small(void **state)
{
	static const struct {
		const char *suite, *test, *words, *word;
	} cases[] = {
		{ "hackbench", "hackbench", "nr_task=400", "4000 MiB" },
		{ "perf-bench-sched-messaging", "messaging", "nr_task=400", "4000 MiB" },
		{ "perf-bench-futex", "wake", "nr_task=100000", "25000 MiB" },
		{ "perf-bench-mem", "memcpy", "unit_size=2G", "4096 MiB" },
		{ "perf-bench-numa-mem", "mem", "unit_size=1G processes=4", "4096 MiB" },
		{ "pft", "pft", "unit_size=3G", "3078 MiB" },
		{ "pft", "pft", "unit_size=8K", "4096 bytes" },
		{ "lmbench3", "lat_pagefault", "unit_size=4G", "4096 MiB" },
		{ "ebizzy", "ebizzy", "nr_task=1000", "8000 MiB" },
		{ "stress-ng", "vm", "memory=1G", "4096 MiB" },
		{ "stress-ng", "vm", "memory=4294967296G", "MiB" },
		{ "sysbench", "memory", "block_size=4G", "4100 MiB" },
		{ "kernbench", "kernbench", "tree=/x nr_task=16", "4096 MiB" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		refuse_words(cases[i].suite, cases[i].test, cases[i].words, ERR_NOSPACE,
			     cases[i].word);
		if (!strstr(cases[i].word, "bytes"))
			refuse_words(cases[i].suite, cases[i].test, cases[i].words, ERR_NOSPACE,
				     "3072 MiB free");
	}
}

static void refuses_a_percentage_of_no_cpus(void **state)
{
	static const struct suite_machine none = { .mem_available_bytes = GIB };
	struct suite_param params[] = { { text("nr_task"), text("100%") },
					{ text("command"), text("true") },
					{ text("tree"), text("/x") } };

	(void)state;
	for (size_t i = 0; suite_list(i); i++) {
		const struct suite *s = suite_list(i);
		const char *test = suite_test(s, 0) ? suite_test(s, 0) : "t";
		bool exec = !strcmp(suite_name(s), "exec");
		bool kernbench = !strcmp(suite_name(s), "kernbench");
		struct suite_plan plan;
		struct err e = { 0 };

		params[1] = exec ? (struct suite_param){ text("command"), text("true") }
				 : (struct suite_param){ text("tree"), text("/x") };
		if (suite_check(s, test, params, 1, &e) == ERR_NOENT)
			continue;
		assert_err(suite_plan_make(s, test, params, exec || kernbench ? 2 : 1, &none, &plan,
					   &e),
			   ERR_RANGE, &e);
		if (!strstr(e.msg, "0 CPUs"))
			fail_msg("%s: %s", suite_name(s), e.msg);
	}
}

/* Each test of each suite has a plan with nothing but its defaults. */
static void every_test_can_be_planned(void **state)
{
	static const struct suite_machine big = { .cpus = 8,
						  .nodes = 2,
						  .mem_total_bytes = 64 * GIB,
						  .mem_available_bytes = 60 * GIB,
						  .path = "/opt/suite" };
	struct suite_param tree = { text("tree"), text("/usr/src/linux") };

	(void)state;
	for (size_t i = 0; suite_list(i); i++) {
		const struct suite *s = suite_list(i);
		const char *test;

		/* Bundled ones have their own tests. */
		for (size_t k = 0; !suite_is_bundled(s) && (test = suite_test(s, k)); k++) {
			bool kernbench = !strcmp(suite_name(s), "kernbench");
			struct suite_plan plan;
			struct err e = { 0 };

			assert_ok(suite_plan_make(s, test, &tree, kernbench, &big, &plan, &e), &e);
			assert_true(plan.n >= 1 && plan.deadline_s > 0);
			assert_non_null(suite_test_about(s, k));
			assert_non_null(suite_headline(s, test, NULL, 0));
			suite_plan_done(&plan);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_hackbench_and_perf),
		cmocka_unit_test(plans_the_memory_benchmarks),
		cmocka_unit_test(plans_the_others),
		cmocka_unit_test(runs_the_programs_of_the_folder_that_is_given),
		cmocka_unit_test(runs_the_unmodified_will_it_scale_until_its_average),
		cmocka_unit_test(keeps_files_and_asks_for_descriptors),
		cmocka_unit_test(plans_any_command_of_the_operator),
		cmocka_unit_test(refuses_bad_commands),
		cmocka_unit_test(refuses_what_is_not_there_and_names_the_choices),
		cmocka_unit_test(refuses_a_machine_that_is_too_small),
		cmocka_unit_test(refuses_a_percentage_of_no_cpus),
		cmocka_unit_test(every_test_can_be_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
