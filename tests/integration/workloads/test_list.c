/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot workloads as a program. */
#include "bot/base/json.h"
#include "runners/suites/suite.h"
#include "tests/integration/workloads/program.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static int run(const char *words, struct strbuf *ret)
{
	_cleanup_(freep) char *line = xasprintf("'" TEST_BIN_DIR "/kperfbot' %s", words);
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

static const json_t *find(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!strcmp(json_str(json_array_get(list, i), "name", ""), name))
			return json_array_get(list, i);
	fail_msg("no workload '%s'", name);
	return NULL;
}

static void lists_all_of_both_suites(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	size_t cases = 0, n = 0;
	struct err e = { 0 };
	const json_t *list, *o;

	(void)state;
	while (suite_test(suite_find("vm-scalability"), cases))
		cases++;
	assert_int_equal(run("workloads list --json", &out), 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-workloads/1");
	list = json_object_get(j, "workloads");
	assert_int_equal(json_array_size(list), 120 + cases);
	for (; n < json_array_size(list); n++) {
		o = json_array_get(list, n);
		assert_true(strlen(json_str(o, "about", "")) > 5);
		assert_true(strlen(json_str(o, "memory_per_task", "")) > 0);
	}
	o = find(list, "page_fault1_threads");
	assert_int_equal(json_integer_value(json_object_get(o, "memory_per_task_bytes")),
			 128 << 20);
	o = find(list, "swap-w-seq");
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "needs"), 0)),
			    "swap");
}

static void the_text_has_a_line_for_each(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("workloads", &out), 0);
	assert_int_equal(count_lines(strbuf_str(&out), "[a-z0-9_]+_(processes|threads) .*\\."),
			 120);
	assert_int_equal(count_lines(strbuf_str(&out), "anon-w-seq +U/N .*"), 1);
	assert_int_equal(count_lines(strbuf_str(&out), "fork +128 KiB .*"), 1);
	assert_int_equal(run("workloads some 2>&1", &out), 129);
	assert_int_equal(run("workloads list list 2>&1", &out), 129);
	assert_int_equal(run("workloads --some 2>&1", &out), 129);
}

static void programs_and_descriptors_have_the_same_names(void **state)
{
	const struct suite *s = suite_find("will-it-scale");
	struct program p;

	(void)state;
	program_start(&p, "kperfbot-workloads --list", -1);
	program_wait(&p);
	for (size_t i = 0; suite_test(s, i); i++) {
		_cleanup_(freep) char *line = xasprintf("%s_(processes|threads)", suite_test(s, i));

		assert_int_equal(count_lines(strbuf_str(&p.out), line), 2);
	}
	program_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_all_of_both_suites),
		cmocka_unit_test(the_text_has_a_line_for_each),
		cmocka_unit_test(programs_and_descriptors_have_the_same_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
