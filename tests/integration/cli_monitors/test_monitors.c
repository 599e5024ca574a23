/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot monitors as a program. */
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define RECORDINGS TEST_SOURCE_DIR "/tests/data/monitors/"

/* Return: exit code; what was printed, errors too where the words send them there, in *@ret. */
static int run(const char *words, struct strbuf *ret)
{
	_cleanup_(freep) char *line =
		xasprintf("cd '" RECORDINGS "' && '" TEST_BIN_DIR "/kperfbot' monitors %s", words);
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

static double value_of(const json_t *out, const char *name)
{
	json_t *m;
	size_t i;

	json_array_foreach (json_object_get(out, "metrics"), i, m)
		if (!strcmp(json_str(m, "name", ""), name))
			return json_number_value(json_object_get(m, "value"));
	fail_msg("no %s", name);
	return 0;
}

static void lists_what_can_be_recorded(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run("--json", &out), 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-monitors/1");
	assert_int_equal(json_array_size(json_object_get(j, "monitors")), 14);
	assert_int_equal(run("list", &out), 0);
	assert_non_null(strstr(out.s, "* vmstat        samples"));
	assert_non_null(strstr(out.s, "  turbostat     program"));
}

static void reads_recordings_as_json(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run("parse --json vmstat vmstat.txt --work 10", &out), 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-metrics/1");
	assert_string_equal(json_str(j, "monitor", ""), "vmstat");
	assert_near(value_of(j, "vmstat.system.cs"), (39594784 - 39575506) / 6.06, 1e-12);
	assert_near(value_of(j, "vmstat.system.cs.per_op"), 1927.8, 1e-12);
	assert_int_equal(json_array_size(json_object_get(j, "problems")), 0);
}

static void reads_the_account_of_a_job(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("parse time - --span 2s <<END\n"
			     "{\"utime_s\":1,\"stime_s\":3,\"maxrss_kib\":5,\"minflt\":0,"
			     "\"majflt\":0,\"nvcsw\":0,\"nivcsw\":0}\nEND\n",
			     &out),
			 0);
	assert_non_null(strstr(out.s, "time.system_time"));
	assert_non_null(strstr(out.s, "1.5 s/s"));
}

static void says_what_is_wrong(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("parse vmstat sysstat-a-ampm.txt 2>&1", &out), 1);
	assert_non_null(strstr(out.s, "a recording starts"));
	assert_int_equal(run("parse nothing vmstat.txt 2>&1", &out), 129);
	assert_non_null(strstr(out.s, "there are time, vmstat"));
	assert_int_equal(run("parse vmstat 2>&1", &out), 129);
	assert_int_equal(run("pars 2>&1", &out), 129);
	assert_int_equal(run("list --work x 2>&1", &out), 129);
	assert_int_equal(run("parse vmstat none.txt 2>&1", &out), 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_what_can_be_recorded),
		cmocka_unit_test(reads_recordings_as_json),
		cmocka_unit_test(reads_the_account_of_a_job),
		cmocka_unit_test(says_what_is_wrong),
	};

	return cmocka_run_group_tests_name("kperfbot monitors", tests, NULL, NULL);
}
