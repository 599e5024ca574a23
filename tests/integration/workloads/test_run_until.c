/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run-until: programs that keep their output back, and programs that do not end. */
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "runners/suites/suite.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Return: exit status of "run-until WORDS"; what it printed in *@ret. */
static int run(const char *words, struct strbuf *ret)
{
	_cleanup_(freep) char *line =
		xasprintf("'" TEST_BIN_DIR "/kperfbot-workloads' run-until %s 2>&1", words);
	FILE *f = popen(line, "re"); /* NOLINT(cert-env33-c): our own words */
	char buf[4096];
	int status;
	size_t n;

	strbuf_reset(ret);
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(ret, buf, n);
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void passes_output_and_exit_status_on(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("average: 60 sh -c 'echo testcase:x; echo average:12; exit 3'", &out),
			 3);
	assert_string_equal(strbuf_str(&out), "testcase:x\naverage:12\n");
	assert_int_equal(run("average: 60 sh -c 'kill -ABRT $$'", &out), 134);
	assert_int_equal(run("average: 60 /no/such/program", &out), 127);
	assert_non_null(strstr(strbuf_str(&out), "/no/such/program: No such file"));
}

static void ends_a_program_that_does_not_end_behind_the_line(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("average: 1 sh -c 'echo average:12; sleep 10000; echo never'", &out),
			 0);
	assert_string_equal(strbuf_str(&out), "average:12\n");
}

/* awk keeps what it prints in a buffer until it exits, unless that is a terminal. */
static void sees_what_a_program_does_not_flush(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("average: 0 awk 'BEGIN { print \"min:1\"; print \"average:12\"; "
			     "while (1) { } }'",
			     &out),
			 0);
	assert_string_equal(strbuf_str(&out), "min:1\naverage:12\n");
}

static void only_the_start_of_a_whole_line_counts(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("average: 0 sh -c 'echo the average:1; echo averag; printf average:; "
			     "sleep 0.1; exit 5'",
			     &out),
			 5);
}

static void leaves_no_process_behind(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	FILE *f;
	char c;

	(void)state;
	assert_int_equal(run("average: 0 sh -c 'sleep 9753.1357 & echo average:1; wait'", &out), 0);
	/* It may be seen as a zombie until init has taken it: then it has no command line. */
	f = popen(
		"cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep 9753.135[7]'",
		"re"); /* NOLINT(cert-env33-c): our own words */
	assert_non_null(f);
	assert_int_equal(fread(&c, 1, 1, f), 0);
	(void)pclose(f);
}

/* What the unmodified malloc1_threads does: all is printed, nothing is flushed, and it stays. */
static const char stuck[] = "#!/bin/sh\n"
			    "exec awk 'BEGIN { print \"testcase:malloc/free of 128MB\\nwarmup\"\n"
			    "for (i = 0; i < 6; i++) print \"min:100 max:110 total:210\"\n"
			    "print \"measurement\"\n"
			    "for (i = 0; i < 2; i++) print \"min:100 max:120 total:220\"\n"
			    "print \"average:220\"; while (1) { } }'\n";

static char *word(const char *s)
{
	return (char *)(uintptr_t)s;
}

static void the_unmodified_suite_is_run_and_read_though_it_never_ends(void **state)
{
	static const char folder[] = TEST_BIN_DIR "/../tests/upstream suite";
	const struct suite *s = suite_find("will-it-scale");
	struct suite_machine m = { .cpus = 2,
				   .mem_available_bytes = UINT64_C(1) << 30,
				   .path = folder };
	struct suite_param params[] = { { word("mode"), word("thread") },
					{ word("nr_task"), word("2") },
					{ word("runtime"), word("2s") } };
	_cleanup_(freep) char *path = xasprintf("%s/malloc1_threads", folder);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT, line = STRBUF_INIT;
	struct suite_output metrics;
	struct suite_plan plan;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(folder, 0755, &e), &e);
	assert_ok(file_write(path, stuck, sizeof(stuck) - 1, 0755, &e), &e);
	assert_ok(suite_plan_make(s, "malloc1", params, ARRAY_SIZE(params), &m, &plan, &e), &e);
	assert_int_equal(plan.n, 1);
	assert_string_equal(plan.commands[0].argv[0], "run-until");
	for (char **w = plan.commands[0].argv + 1; *w; w++)
		strbuf_addf(&line, "'%s' ", *w);
	assert_int_equal(run(line.s, &out), 0);
	assert_ok(suite_parse(s, "malloc1", strbuf_str(&out), out.len, params, ARRAY_SIZE(params),
			      &metrics, &e),
		  &e);
	assert_int_equal(metrics.problems_n, 0);
	assert_true(suite_metric_find(&metrics, "will-it-scale.per_thread_ops")->value == 110);
	suite_output_done(&metrics);
	suite_plan_done(&plan);
	assert_ok(file_remove_tree(folder, &e), &e);
}

static void wants_a_prefix_seconds_and_a_command(void **state)
{
	static const char *const wrong[] = { "",
					     "average:",
					     "average: 1",
					     "average: x true",
					     "average: -1 true",
					     "'' 1 true",
					     "average: 99999 true" };
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(run(wrong[i], &out), 1);
		assert_non_null(strstr(strbuf_str(&out), "usage: run-until"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_output_and_exit_status_on),
		cmocka_unit_test(ends_a_program_that_does_not_end_behind_the_line),
		cmocka_unit_test(sees_what_a_program_does_not_flush),
		cmocka_unit_test(only_the_start_of_a_whole_line_counts),
		cmocka_unit_test(leaves_no_process_behind),
		cmocka_unit_test(the_unmodified_suite_is_run_and_read_though_it_never_ends),
		cmocka_unit_test(wants_a_prefix_seconds_and_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
