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

static char folder[] = "/tmp/kperfbot-changes-XXXXXX";
static struct strbuf out;

/* Runs `kperfbot changes ARGS`, stdout and stderr into @out. Return: exit code. */
static int changes(const char *args)
{
	struct strbuf cmd = STRBUF_INIT;
	char buf[4096];
	size_t n;
	FILE *f;
	int status;

	strbuf_reset(&out);
	strbuf_addf(&cmd, "cd %s && %s/kperfbot changes %s", folder, TEST_BIN_DIR, args);
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

/* 60 commits with two runs each, a step of -5 % at the 41st. */
static void put_step(const char *name)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addstr(&b, "commit,time,value,series\n");
	for (int i = 0; i < 120; i++)
		strbuf_addf(&b, "c%d,%d,%.3f,pft\n", i / 2, 1000 * i,
			    (i / 2 < 40 ? 100 : 95) + .1 * ((i * 7) % 9 - 4));
	put(name, strbuf_str(&b));
	strbuf_done(&b);
}

static json_t *answer(const char *args, int want)
{
	json_error_t why;
	json_t *o;

	assert_int_equal(changes(args), want);
	o = json_loads(strbuf_str(&out), JSON_REJECT_DUPLICATES, &why);
	if (!o)
		fail_msg("%s: %s", why.text, strbuf_str(&out));
	assert_string_equal(json_string_value(json_object_get(o, "format")), "kperfbot-changes/1");
	return o;
}

static json_t *change(const json_t *o, size_t series, size_t i)
{
	json_t *s = json_array_get(json_object_get(o, "series"), series);
	json_t *c = json_array_get(json_object_get(s, "changes"), i);

	assert_non_null(c);
	return c;
}

static void a_step_for_the_worse_exits_with_1(void **state)
{
	(void)state;
	put_step("step.csv");
	assert_int_equal(changes("step.csv"), 0);
	says("pft: 60 commits");
	says("  step        c40, row 80: 100 -> 95  -5.0");
	assert_int_equal(changes("--better higher step.csv"), 1);
	says(" worse ");
	assert_int_equal(changes("--better lower step.csv"), 0);
	says(" better ");
	assert_int_equal(changes("--better higher --min-effect 8% step.csv"), 0);
	says("no change");
}

static void json_has_what_the_format_says(void **state)
{
	json_t *o, *c, *s;

	(void)state;
	put_step("step.csv");
	o = answer("--json --better higher step.csv", 1);
	s = json_array_get(json_object_get(o, "series"), 0);
	assert_string_equal(json_string_value(json_object_get(s, "name")), "pft");
	assert_int_equal(json_integer_value(json_object_get(s, "n")), 120);
	assert_int_equal(json_integer_value(json_object_get(s, "commits")), 60);
	assert_true(json_real_value(json_object_get(json_object_get(s, "noise"), "rel")) > 0);
	assert_int_equal(json_array_size(json_object_get(s, "changes")), 1);
	c = change(o, 0, 0);
	assert_int_equal(json_integer_value(json_object_get(c, "index")), 80);
	assert_int_equal(json_integer_value(json_object_get(c, "lo")), 80);
	assert_int_equal(json_integer_value(json_object_get(c, "hi")), 80);
	assert_string_equal(json_string_value(json_object_get(c, "commit")), "c40");
	assert_string_equal(json_string_value(json_object_get(c, "kind")), "step");
	assert_near(json_number_value(json_object_get(c, "rel")), -.05, .02);
	assert_true(json_number_value(json_object_get(c, "p")) < 1e-9);
	assert_null(json_object_get(c, "seen_at"));
	json_decref(o);
}

static void on_line_says_when_it_was_seen(void **state)
{
	json_t *o, *c;

	(void)state;
	put_step("step.csv");
	o = answer("--json --online - <step.csv", 0);
	c = change(o, 0, 0);
	assert_int_equal(json_integer_value(json_object_get(c, "index")), 80);
	assert_int_equal(json_integer_value(json_object_get(c, "seen_at")), 85);
	assert_null(json_object_get(c, "gone_at"));
	json_decref(o);
	assert_int_equal(changes("--online step.csv"), 0);
	says("seen at row 85");
}

/* From 0 there is no percentage, no probability is 0, and one is not several. */
static void numbers_are_told_as_people_would(void **state)
{
	struct strbuf b = STRBUF_INIT;
	json_t *o;

	(void)state;
	strbuf_addstr(&b, "value\nnan\n");
	for (int i = 0; i < 4000; i++)
		strbuf_addf(&b, "%d\n", i < 2000 ? 0 : 20 + i % 3);
	put("zero.csv", strbuf_str(&b));
	assert_int_equal(changes("--better lower zero.csv"), 1);
	says("4001 commits, 1 value not known");
	says("row 2001: 0 -> 21 worse  p<1e-300\n");
	o = answer("--json zero.csv", 0);
	assert_null(json_object_get(change(o, 0, 0), "rel"));
	assert_near(json_number_value(json_object_get(change(o, 0, 0), "after")), 21, 1e-12);
	json_decref(o);
	strbuf_reset(&b);
	strbuf_addstr(&b, "value\n");
	for (int i = 0; i < 80; i++)
		strbuf_addf(&b, "%.1f\n", (i < 40 ? -10 : -12) + .1 * ((i * 7) % 5 - 2));
	put("below.csv", strbuf_str(&b));
	strbuf_done(&b);
	assert_int_equal(changes("--better higher below.csv"), 1);
	says("row 40: -10 -> -12  -20.00% worse");
}

/* A commit measured late is usual; rows in no order at all are most likely a mistake. */
static void rows_that_are_not_in_order_of_time_are_noted(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		strbuf_reset(&b);
		strbuf_addstr(&b, "commit,time,value\n");
		for (int i = 0; i < 40; i++) {
			int k = shuffled ? i * 17 % 40 : i;

			strbuf_addf(&b, "c%d,%d,%d\n", k, i == 20 ? 9000 : 100 * k,
				    k < 20 ? 10 : 9);
		}
		put("order.csv", strbuf_str(&b));
		assert_int_equal(changes("order.csv 2>&1"), 0);
		if (shuffled)
			says("1 series whose times go back and forth: rows count in the order of "
			     "the file");
		else
			assert_null(strstr(strbuf_str(&out), "go back"));
	}
	strbuf_done(&b);
}

static void known_series_give_known_changes(void **state)
{
	static const json_int_t want[] = { 15, 61, 71, 95, 131, 192 };
	json_t *o, *c;
	size_t i, at = 0;

	(void)state;
	o = answer("--json - <<END\n$(sed 's/^series,index/series,commit/;/^mongo/d' " DATA
		   "upstream_series.csv)\nEND",
		   0);
	json_array_foreach (
		json_object_get(json_array_get(json_object_get(o, "series"), 0), "changes"), i, c) {
		json_int_t index = json_integer_value(json_object_get(c, "index"));

		if (strcmp(json_string_value(json_object_get(c, "kind")), "step") != 0)
			continue;
		assert_true(at < 6 && llabs(index - want[at]) <= 1);
		at++;
	}
	assert_int_equal(at, 6);
	json_decref(o);
}

static void what_the_control_build_did_too_is_drift(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	put_step("step.csv");
	strbuf_addstr(&b, "commit,time,value\n");
	for (int i = 0; i < 30; i++)
		strbuf_addf(&b, "control,%d,%.2f\n", 4000 * i, i < 20 ? 7.0 : 6.7);
	put("control.csv", strbuf_str(&b));
	assert_int_equal(changes("--better higher --control control.csv step.csv"), 0);
	says("  drift       c40");
	says("the control build moved as well");
	assert_int_equal(changes("--better higher --control build - <<END\n$(cat step.csv)\n"
				 "$(sed 1d control.csv | sed 's/$/,build/')\nEND"),
			 0);
	says("  drift       c40");
	assert_null(strstr(strbuf_str(&out), "build: "));
	put("plain.csv", "value\n1\n2\n");
	assert_int_equal(changes("--control control.csv plain.csv 2>&1"), 125);
	says("no column 'time'");
	strbuf_done(&b);
}

static void an_old_commit_measured_again_tells_drift(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	put_step("step.csv");
	strbuf_addf(&b, "--better higher --json - <<END\n$(cat step.csv)\n"
			"c30,200000,95.1,pft\nc35,201000,94.9,pft\nEND");
	assert_int_equal(changes(strbuf_str(&b)), 0);
	says("\"kind\":\"drift\"");
	says("measured again");
	strbuf_done(&b);
}

static void few_commits_are_no_ground_to_judge(void **state)
{
	(void)state;
	put("few.csv", "value\r\n1\r\n2\r\n3\r\n");
	assert_int_equal(changes("few.csv 2>&1"), 125);
	says("fewer than 12");
	put("none.csv", "value\n");
	assert_int_equal(changes("none.csv 2>&1"), 125);
	says("no rows");
	assert_int_equal(changes("--json none.csv 2>/dev/null"), 125);
	says("\"series\":[]");
}

static void bad_input_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "commit,value\na,1\nb,\n", "bad.csv: line 3: no value" },
		{ "commit,val\na,1\n", "line 1: unknown column 'val'" },
		{ "value\n1,5\n", "line 2: 2 fields under 1" },
		{ "commit,value\na,1\nb,1\na,1\n", "line 4: commit 'a' again" },
		{ "value\n1\n\n2\n", "line 3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put("bad.csv", bad[i].text);
		assert_int_equal(changes("bad.csv 2>&1"), 128);
		says(bad[i].says);
		assert_int_equal(changes("--json bad.csv 2>/dev/null"), 128);
		says("\"detail\"");
	}
	assert_int_equal(changes("- 2>&1 <<'END'\nvalue\n$(printf '1\\0')\nEND"), 128);
	says("is no number");
	assert_int_equal(changes("nothing.csv 2>&1"), 128);
	says("nothing.csv");
}

static void names_cannot_steer_the_terminal(void **state)
{
	(void)state;
	assert_int_equal(changes("- 2>&1 <<END\nseries,value\n$(printf 'a\\033[31mb'),1\nEND"),
			 125);
	says("a[U+001B][31mb: 1 commit,");
}

static void wrong_usage_exits_with_129(void **state)
{
	(void)state;
	assert_int_equal(changes("2>&1"), 129);
	says("want one file, got 0");
	assert_int_equal(changes("a b 2>&1"), 129);
	assert_int_equal(changes("--better up a 2>&1"), 129);
	says("'up' is none of higher, lower, none");
	assert_int_equal(changes("--sensitivity loud a 2>&1"), 129);
	says("balanced, sensitive, online");
	assert_int_equal(changes("--min-effect 0 a 2>&1"), 129);
	assert_int_equal(changes("--min-effect 2000% a 2>&1"), 129);
	assert_int_equal(changes("--control - - 2>&1 </dev/null"), 129);
	says("only once");
	assert_int_equal(changes("-x 2>&1"), 129);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char cmd[128];

	(void)state;
	strbuf_done(&out);
	(void)snprintf(cmd, sizeof(cmd), "rm -r %s", folder);
	return system(cmd); /* NOLINT: constant but for the folder's name */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_for_the_worse_exits_with_1),
		cmocka_unit_test(json_has_what_the_format_says),
		cmocka_unit_test(on_line_says_when_it_was_seen),
		cmocka_unit_test(numbers_are_told_as_people_would),
		cmocka_unit_test(rows_that_are_not_in_order_of_time_are_noted),
		cmocka_unit_test(known_series_give_known_changes),
		cmocka_unit_test(what_the_control_build_did_too_is_drift),
		cmocka_unit_test(an_old_commit_measured_again_tells_drift),
		cmocka_unit_test(few_commits_are_no_ground_to_judge),
		cmocka_unit_test(bad_input_is_refused_with_its_line),
		cmocka_unit_test(names_cannot_steer_the_terminal),
		cmocka_unit_test(wrong_usage_exits_with_129),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
