/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb as scripts call it: arguments and files in; stdout, stderr and exit code out. */
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATA TEST_SOURCE_DIR "/tests/data/series/"

static char folder[] = "/tmp/kperfbot-judge-XXXXXX";
static struct strbuf out;

/* Runs `kperfbot judge ARGS`, stdout and stderr into @out. Return: exit code. */
static int judge(const char *args)
{
	struct strbuf cmd = STRBUF_INIT;
	char buf[4096];
	size_t n;
	FILE *f;
	int status;

	strbuf_reset(&out);
	strbuf_addf(&cmd, "cd %s && %s/kperfbot judge %s", folder, TEST_BIN_DIR, args);
	f = popen(strbuf_str(&cmd), "r"); /* NOLINT: constant arguments */
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(&out, buf, n);
	status = pclose(f);
	strbuf_done(&cmd);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void says(const char *text)
{
	if (!strstr(strbuf_str(&out), text))
		fail_msg("'%s' is not in: %s", text, strbuf_str(&out));
}

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	(void)fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* @n runs of one metric around @center, quiet. */
static void put_runs(const char *name, const char *kernel, const char *descriptor, int n,
		     double center)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addf(&b, "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"%s\",", kernel);
	if (descriptor[0])
		strbuf_addf(&b, "\"metrics\":{\"a.ops\":{%s}},", descriptor);
	strbuf_addstr(&b, "\"runs\":[");
	for (int i = 0; i < n; i++)
		strbuf_addf(&b, "%s{\"values\":{\"a.ops\":%.3f}}", i ? "," : "",
			    center + (i * 7) % 5);
	strbuf_addstr(&b, "]}\n");
	put(name, strbuf_str(&b));
	strbuf_done(&b);
}

static void a_regression_exits_with_1(void **state)
{
	json_t *o;

	(void)state;
	assert_int_equal(judge("--single-look " DATA "poll2/base.json " DATA "poll2/head.json"), 1);
	says("regression      will-it-scale.104.processes: -11.69%");
	says("one fact with: will-it-scale.104.processes will-it-scale.per_process_ops");
	says("regression 1, ");
	assert_int_equal(
		judge("--json --single-look " DATA "poll2/base.json - <" DATA "poll2/head.json"),
		1);
	o = json_loads(strbuf_str(&out), 0, NULL);
	assert_non_null(o);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(o, "summary"), "regression")),
		1);
	assert_int_equal(json_array_size(json_object_get(o, "metrics")), 13);
	json_decref(o);
}

static void nothing_worse_exits_with_0(void **state)
{
	(void)state;
	assert_int_equal(judge(DATA "poll2/base.json " DATA "poll2/base.json"), 0);
	says("regression 0, ");
	put_runs("a", "k1", "\"better\":\"higher\"", 8, 1000);
	put_runs("b", "k2", "\"better\":\"higher\"", 8, 1100);
	assert_int_equal(judge("a b"), 0);
	says("improvement     a.ops: +9.98%");
	assert_int_equal(judge("b a"), 1);
}

static void what_cannot_be_told_exits_with_125(void **state)
{
	(void)state;
	assert_int_equal(judge(DATA "poll2/base.json " DATA "poll2/head.json"), 125);
	says("candidate ");
	says("next=8");
	put_runs("few", "k2", "", 2, 900);
	put_runs("a", "k1", "", 8, 1000);
	assert_int_equal(judge("a few"), 125);
	says("too few boots: 8 in base, 2 in head");
	put_runs("none", "k2", "", 0, 900);
	assert_int_equal(judge("a none"), 125);
	says("no value in head");
}

static void without_a_direction_it_is_a_change(void **state)
{
	(void)state;
	put_runs("a", "k1", "", 8, 1000);
	put_runs("b", "k2", "", 8, 900);
	assert_int_equal(judge("a b 2>&1"), 0);
	says("change          a.ops: -9.9");
	says("no headline metric is named");
}

static void more_files_go_to_the_side_of_their_kernel(void **state)
{
	(void)state;
	put_runs("a5", "k1", "\"better\":\"higher\"", 5, 1000);
	put_runs("b8", "k2", "\"better\":\"higher\"", 8, 900);
	put_runs("a3", "k1", "\"better\":\"higher\"", 3, 1000);
	assert_int_equal(judge("a5 b8"), 125);
	says("n=5+8");
	assert_int_equal(judge("a5 b8 a3"), 1);
	says("n=8+8");
	put_runs("c", "k3", "", 3, 1000);
	assert_int_equal(judge("a5 b8 c 2>&1"), 128);
	says("c: kernel is 'k3', want 'k1' or 'k2'");
	assert_int_equal(judge("a5 a5 a3 2>&1"), 128);
	says("both sides are kernel 'k1'");
}

static void history_is_one_object_a_line(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 12; i++)
		strbuf_addf(&b,
			    "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"h%d\",\"runs\":["
			    "{\"values\":{\"a.ops\":%d}},{\"values\":{\"a.ops\":%d}},"
			    "{\"values\":{\"a.ops\":%d}}]}\n",
			    i, 1000 + i % 3, 1003 - i % 4, 1002 + i % 5);
	put("h", strbuf_str(&b));
	put_runs("a", "k1", "\"better\":\"higher\"", 3, 1000);
	put_runs("b", "k2", "\"better\":\"higher\"", 3, 1001);
	assert_int_equal(judge("a b"), 125);
	assert_int_equal(judge("--history h a b"), 0);
	strbuf_addstr(&b, "{\"format\":\n");
	put("h", strbuf_str(&b));
	assert_int_equal(judge("--history h a b 2>&1"), 128);
	says("h: object in line 13: ");
	strbuf_done(&b);
}

static void bad_files_are_fatal_and_named(void **state)
{
	(void)state;
	put_runs("a", "k1", "\"unit\":\"ms\",\"better\":\"lower\"", 5, 1000);
	put_runs("us", "k2", "\"unit\":\"us\",\"better\":\"lower\"", 5, 1000);
	put_runs("up", "k2", "\"unit\":\"ms\",\"better\":\"higher\"", 5, 1000);
	put("v2", "{\"format\":\"kperfbot-runs/2\",\"runs\":[]}");
	put("cut", "{\"format\":\"kperfbot-runs/1\",\"runs\":[{\"val");
	put("extra", "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"k2\",\"x\":1,\"runs\":[]}");
	assert_int_equal(judge("a us 2>&1"), 128);
	says("metric 'a.ops': unit is 'ms' in one file and 'us' in another");
	assert_int_equal(judge("a up 2>&1"), 128);
	says("better is 'lower'");
	assert_int_equal(judge("a v2 2>&1"), 128);
	says("v2: format is 'kperfbot-runs/2', want 'kperfbot-runs/1'");
	assert_int_equal(judge("a cut 2>&1"), 128);
	says("cut: line 1");
	assert_int_equal(judge("a missing 2>&1"), 128);
	says("'missing'");
	assert_int_equal(judge("--json a v2"), 128);
	says("\"detail\":");
	assert_int_equal(judge("- - <a 2>&1"), 129);
	says("standard input can be read only once");
	assert_int_equal(judge("a extra 2>&1"), 125);
	says("extra: unknown key 'x' ignored");
	assert_int_equal(judge("--metric 'zzz*' a a 2>&1"), 128);
	says("no metric to compare");
}

static void wrong_usage_exits_with_129(void **state)
{
	(void)state;
	assert_int_equal(judge("a 2>&1"), 129);
	says("usage: kperfbot judge");
	assert_int_equal(judge("--looks 8,5 a a 2>&1"), 129);
	says("look 5 after 8");
	assert_int_equal(judge("--looks 3,5 a a 2>&1"), 129);
	assert_int_equal(judge("--looks x a a 2>&1"), 129);
	says("--looks");
	assert_int_equal(judge("--level 2 a a 2>&1"), 129);
	says("level 2");
	assert_int_equal(judge("--min-effect much a a 2>&1"), 129);
	says("'much'");
	assert_int_equal(judge("--nonsense a a 2>&1"), 129);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const files[] = { "a", "b", "few", "none", "a5", "b8",  "a3",
					     "c", "h", "us",  "up",   "v2", "cut", "extra" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		(void)unlink(path);
	}
	strbuf_done(&out);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_regression_exits_with_1),
		cmocka_unit_test(nothing_worse_exits_with_0),
		cmocka_unit_test(what_cannot_be_told_exits_with_125),
		cmocka_unit_test(without_a_direction_it_is_a_change),
		cmocka_unit_test(more_files_go_to_the_side_of_their_kernel),
		cmocka_unit_test(history_is_one_object_a_line),
		cmocka_unit_test(bad_files_are_fatal_and_named),
		cmocka_unit_test(wrong_usage_exits_with_129),
	};

	return cmocka_run_group_tests_name("judge", tests, set_up, tear_down);
}
