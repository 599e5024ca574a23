/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/suites/suite.h"
#include "tests/integration/workloads/program.h"
#include "tests/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE	   "min:[0-9]+ max:[0-9]+ total:[0-9]+\n"
#define STATISTICS "[0-9]+ bytes / [0-9]+ usecs = [0-9]+ KB/s"
#define FREED	   "[0-9]+ usecs to free memory"

/* Tests that need of the machine what not every machine has. */
static bool may_be_refused(const char *test, const struct program *p)
{
	return (!strcmp(test, "fallocate1") && strstr(strbuf_str(&p->err), "/dev/shm")) ||
	       (!strncmp(test, "fallocate", 9) && strstr(strbuf_str(&p->err), "not supported")) ||
	       ((!strcmp(test, "read3") || !strcmp(test, "read4")) &&
		strstr(strbuf_str(&p->err), "O_DIRECT"));
}

static void check_format(const char *test, const struct program *p)
{
	const char *out = strbuf_str(&p->out);

	if (p->status != 0) {
		if (!may_be_refused(test, p))
			fail_msg("%s: status %d: %s", test, p->status, strbuf_str(&p->err));
		assert_null(strstr(out, "average:"));
		return;
	}
	if (!matches(out, "testcase:[^\n]+\nwarmup\n(" SAMPLE "){6}measurement\n" SAMPLE
			  "average:[0-9]+\n"))
		fail_msg("%s printed: %s", test, out);
	assert_int_equal(p->err.len, 0);
}

/* All at once: what is looked at is the form, not the numbers. */
static void run_all(const char *kind)
{
	const struct suite *s = suite_find("will-it-scale");
	struct program programs[64];
	char line[128];
	size_t n = 0;

	for (; suite_test(s, n); n++) {
		const char *test = suite_test(s, n);

		assert_true(n < ARRAY_SIZE(programs));
		(void)snprintf(line, sizeof(line), "%s_%s -t 1 -s 1", test, kind);
		program_start(&programs[n], line, -1);
	}
	for (size_t i = 0; i < n; i++) {
		program_wait(&programs[i]);
		check_format(suite_test(s, i), &programs[i]);
		program_done(&programs[i]);
	}
}

static void all_tests_run_as_processes(void **state)
{
	(void)state;
	run_all("processes");
}

static void all_tests_run_as_threads(void **state)
{
	(void)state;
	run_all("threads");
}

static void the_parser_reads_what_the_program_prints(void **state)
{
	struct suite_param params[] = { { (char[]){ "mode" }, (char[]){ "thread" } },
					{ (char[]){ "nr_task" }, (char[]){ "2" } },
					{ (char[]){ "runtime" }, (char[]){ "2" } } };
	struct suite_output out;
	struct err e = { 0 };
	struct program p;

	(void)state;
	program_start(&p, "kperfbot-workloads getppid1_threads -t 2 -s 2 -v", -1);
	program_wait(&p);
	assert_int_equal(p.status, 0);
	assert_int_equal(count_lines(strbuf_str(&p.out), " +[01] -> [0-9]+"), 16);
	assert_ok(suite_parse(suite_find("will-it-scale"), "getppid1", p.out.s, p.out.len, params,
			      3, &out, &e),
		  &e);
	/* On a busy machine a task can be kept waiting for a whole second. */
	for (size_t i = 0; i < out.problems_n; i++)
		assert_non_null(strstr(out.problems[i].text, "a task did nothing for"));
	assert_non_null(suite_metric_find(&out, "will-it-scale.per_thread_ops"));
	suite_output_done(&out);
	program_done(&p);
}

static void expect_usemem(const char *options, size_t statistics, size_t freed, const char *more)
{
	_cleanup_(freep) char *line = xasprintf("usemem %s", options);
	struct program p;
	size_t lines;

	program_start(&p, line, -1);
	program_wait(&p);
	if (p.status != 0)
		fail_msg("usemem %s: status %d: %s", options, p.status, strbuf_str(&p.err));
	lines = count_lines(strbuf_str(&p.out), ".*");
	if (count_lines(strbuf_str(&p.out), "\\.*" STATISTICS) != statistics ||
	    count_lines(strbuf_str(&p.out), FREED) != freed ||
	    (more && count_lines(strbuf_str(&p.out), more) != 1) ||
	    lines != statistics + freed + (more ? 1 : 0))
		fail_msg("usemem %s printed: %s", options, strbuf_str(&p.out));
	program_done(&p);
}

static void usemem_has_a_line_for_each_task(void **state)
{
	(void)state;
	expect_usemem("1m", 1, 1, NULL);
	expect_usemem("-n 3 1m", 3, 3, NULL);
	expect_usemem("-t 4 1m", 4, 4, NULL);
	expect_usemem("-n 2 -t 2 1m", 4, 4, NULL);
	expect_usemem("-t 4 --prealloc 1m", 4, 0, NULL);
	expect_usemem("-n 2 --prealloc --prefault --random 1m", 2, 0, NULL);
	expect_usemem("-n 2 -y -x 1m", 2, 2, NULL);
	expect_usemem("--unit 64k 2m", 1, 1, NULL);
	expect_usemem("--unit 64k 4m", 1, 0, NULL);
	expect_usemem("--malloc --mlock --delay 10 16k", 1, 1, NULL);
	expect_usemem("-r 3 1m", 1, 1, NULL);
	expect_usemem("-Z 1m", 1, 1, "read again " STATISTICS);
	expect_usemem("--init-time 1m", 1, 1,
		      "the initialization time is [0-9]+ secs [0-9]+ usecs");
	expect_usemem("-n 2 0", 0, 2, NULL);
	expect_usemem("-P -E --readonly 1m", 1, 0, NULL);
}

static void expect_line(const char *options, const char *regex)
{
	_cleanup_(freep) char *line = xasprintf("usemem %s", options);
	struct program p;

	program_start(&p, line, -1);
	program_wait(&p);
	if (count_lines(strbuf_str(&p.out), regex) != 1)
		fail_msg("usemem %s printed: %s", options, strbuf_str(&p.out));
	program_done(&p);
}

static void usemem_has_a_dot_for_each_further_pass(void **state)
{
	(void)state;
	expect_line("-r 1 64k", STATISTICS);
	expect_line("-r 3 64k", "\\.\\." STATISTICS);
	expect_line("-q -r 3 64k", STATISTICS);
}

static void expect_bytes(const char *options, const char *bytes)
{
	_cleanup_(freep) char *regex = xasprintf("\\.*%s bytes / .*", bytes);

	expect_line(options, regex);
}

static void usemem_counts_bytes_as_specified(void **state)
{
	(void)state;
	/* An eighth for the allocation, and 8 bytes for each access. */
	expect_bytes("4m", "4718592");
	expect_bytes("-r 3 4m", "13107200");
	expect_bytes("-j 4096 16m", "2129920");
	expect_bytes("--random -j 4096 16m", "2129920");
	expect_bytes("-r 0 16m", "2097152");
	expect_bytes("-P -E -r 0 16m", "4194304");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_tests_run_as_processes),
		cmocka_unit_test(all_tests_run_as_threads),
		cmocka_unit_test(the_parser_reads_what_the_program_prints),
		cmocka_unit_test(usemem_has_a_line_for_each_task),
		cmocka_unit_test(usemem_has_a_dot_for_each_further_pass),
		cmocka_unit_test(usemem_counts_bytes_as_specified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
