/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot parse as a program. */
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define OUTPUTS TEST_SOURCE_DIR "/tests/data/outputs/"

/* Return: exit code; what was printed, errors too where the words send them there, in *@ret. */
static int run(const char *words, struct strbuf *ret)
{
	_cleanup_(freep) char *line =
		xasprintf("cd '" OUTPUTS "' && '" TEST_BIN_DIR "/kperfbot' parse %s", words);
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

static void gives_metrics_as_json(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	json_t *m;

	(void)state;
	assert_int_equal(run("--json will-it-scale wis-page_fault1-threads-t2-s5.txt "
			     "--param mode=thread --param nr_task=2 --param runtime=5s",
			     &out),
			 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-metrics/1");
	assert_string_equal(json_str(j, "suite", ""), "will-it-scale");
	assert_int_equal(json_array_size(json_object_get(j, "series")), 5);
	assert_int_equal(json_array_size(json_object_get(j, "problems")), 0);
	m = json_array_get(json_object_get(j, "metrics"), 0);
	assert_string_equal(json_str(m, "name", ""), "will-it-scale.per_thread_ops");
	assert_string_equal(json_str(m, "unit", ""), "ops/s");
	assert_string_equal(json_str(m, "better", ""), "higher");
	assert_string_equal(json_str(m, "kind", ""), "rate");
	assert_true(json_is_true(json_object_get(m, "headline")));
	assert_true(json_number_value(json_object_get(m, "value")) == 105554.5);
}

static void a_missing_headline_is_exit_code_1_and_a_problem(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	json_t *p;

	(void)state;
	assert_int_equal(
		run("--json will-it-scale - < wis-getppid1-processes-t2-s2-childkilled.txt", &out),
		1);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_int_equal(json_array_size(json_object_get(j, "metrics")), 0);
	p = json_array_get(json_object_get(j, "problems"), 0);
	assert_int_equal(json_i64(p, "line", 0), 12);
	assert_int_equal(json_i64(p, "byte", 0), 316);
}

static void several_files_give_a_line_each(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	const char *second;

	(void)state;
	assert_int_equal(run("--json vm-scalability vms-remap.txt vms-migrate.txt", &out), 0);
	second = strchr(strbuf_str(&out), '\n');
	assert_non_null(strstr(strbuf_str(&out), "\"file\":\"vms-remap.txt\""));
	assert_non_null(strstr(second, "\"file\":\"vms-migrate.txt\""));
}

static void wrong_usage_is_exit_code_129_and_names_the_choices(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("will-it-fail vms-remap.txt 2>&1", &out), 129);
	assert_non_null(strstr(strbuf_str(&out), "will-it-scale, vm-scalability"));
	assert_int_equal(run("vm-scalability 2>&1", &out), 129);
	assert_int_equal(run("will-it-scale x --param mode=fibre 2>&1", &out), 129);
	assert_non_null(strstr(strbuf_str(&out), "process, thread"));
	assert_int_equal(run("will-it-scale x --param mode 2>&1", &out), 129);
	assert_int_equal(run("will-it-scale x --param cpus=2 2>&1", &out), 129);
	assert_int_equal(run("will-it-scale no-such-file 2>&1", &out), 128);
	assert_non_null(strstr(strbuf_str(&out), "no-such-file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_metrics_as_json),
		cmocka_unit_test(a_missing_headline_is_exit_code_1_and_a_problem),
		cmocka_unit_test(several_files_give_a_line_each),
		cmocka_unit_test(wrong_usage_is_exit_code_129_and_names_the_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
