/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb as scripts call it: arguments and files in; stdout, stderr and exit code out. */
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATA  TEST_SOURCE_DIR "/tests/data/series/"
#define CASES TEST_SOURCE_DIR "/tests/data/cases/"

#define assert_within(v, want, tolerance) assert_true(fabs((v) - (want)) <= (tolerance))

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

static json_t *judge_json(const char *args, int exit_code)
{
	json_t *o;

	assert_int_equal(judge(args), exit_code);
	o = json_loads(strbuf_str(&out), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	return o;
}

static const char *str_at(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static double num_at(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const json_t *named(const json_t *list, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		if (!strcmp(str_at(v, "name"), name))
			return v;
	}
	fail_msg("no '%s' in the list", name);
	return NULL;
}

static void less_work_in_the_same_time_is_one_finding(void **state)
{
	json_t *o = judge_json(
		"--json " CASES "vm-scalability/base.json " CASES "vm-scalability/head.json", 1);
	const json_t *findings = json_object_get(o, "findings");
	const json_t *f = json_array_get(findings, 0), *v;

	(void)state;
	assert_int_equal(json_array_size(findings), 1);
	assert_string_equal(str_at(f, "headline"), "vm-scalability.throughput");
	assert_string_equal(str_at(f, "verdict"), "regression");
	assert_within(num_at(f, "rel"), -.038, 1e-4);
	assert_true(num_at(f, "lo") < -.04 && num_at(f, "hi") > -.036);
	assert_int_equal(json_array_size(json_object_get(f, "follows")), 3);
	v = named(json_object_get(f, "follows"), "vm-scalability.time.minor_page_faults");
	assert_within(num_at(v, "rel"), -.066, 1e-4);
	assert_within(num_at(v, "per_work"), 0, 1e-4);
	v = named(json_object_get(f, "movers"), "perf-profile.self.cycles-pp.down_read");
	assert_within(num_at(v, "points"), 4.8, .05);
	assert_string_equal(json_string_value(json_array_get(json_object_get(f, "text"), 1)),
			    "workload, median and time.minor_page_faults fell 6.6 % with it: fewer "
			    "iterations fitted in the same time; per unit of work "
			    "time.minor_page_faults did not change");
	/* Fewer faults because less was done are no improvement. */
	v = named(json_object_get(o, "metrics"), "vm-scalability.time.minor_page_faults");
	assert_string_equal(str_at(v, "better"), "lower");
	assert_string_equal(str_at(v, "verdict"), "change");
	assert_string_equal(str_at(v, "follows"), "vm-scalability.throughput");
	assert_int_equal(num_at(json_object_get(o, "summary"), "regression"), 1);
	assert_int_equal(num_at(json_object_get(o, "summary"), "improvement"), 0);
	json_decref(o);
}

static void put_small(const char *name, const char *kernel, double factor)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addf(&b,
		    "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"%s\",\"metrics\":{\"s.rate\":"
		    "{\"better\":\"higher\",\"headline\":true},\"s.time.faults\":{\"better\":"
		    "\"lower\"}},\"runs\":[",
		    kernel);
	for (int i = 0; i < 8; i++)
		strbuf_addf(&b,
			    "%s{\"values\":{\"s.rate\":%.4f,\"s.workload\":%.3f,"
			    "\"s.time.faults\":%.3f,\"m.x\":%.3f}}",
			    i ? "," : "", factor * (100 + i * 5 % 8 * .05),
			    factor * (30000 + i * 3 % 8 * 10), factor * (7000 + i * 7 % 8 * 3),
			    factor * factor * (50 + i * 5 % 8 * .04));
	strbuf_addstr(&b, "]}");
	put(name, strbuf_str(&b));
	strbuf_done(&b);
}

/* A monitor that changed by 2 % gets no verdict of its own, and explains a headline all the same. */
static void what_is_small_still_explains_a_small_headline(void **state)
{
	json_t *o;
	const json_t *f, *v;

	(void)state;
	put_small("a", "k1", 1);
	put_small("b", "k2", .985);
	o = judge_json("--json a b", 1);
	f = json_array_get(json_object_get(o, "findings"), 0);
	assert_int_equal(json_array_size(json_object_get(f, "follows")), 2);
	v = named(json_object_get(f, "follows"), "s.time.faults");
	assert_within(num_at(v, "per_work"), 0, .001);
	(void)named(json_object_get(f, "follows"), "s.workload");
	v = named(json_object_get(f, "movers"), "m.x");
	assert_within(num_at(v, "rel"), -.0298, .001);
	v = named(json_object_get(o, "metrics"), "s.time.faults");
	assert_string_equal(str_at(v, "verdict"), "same");
	json_decref(o);
}

static void the_lines_say_what_only_follows(void **state)
{
	(void)state;
	assert_int_equal(judge(CASES "vm-scalability/base.json " CASES "vm-scalability/head.json"),
			 1);
	says("\n                follows vm-scalability.throughput\n");
	says("not-enough-data 0; 2 that follow a headline not counted\n");
}

/* 10,000 quiet monitors: some go below p = .01 by chance, which is not significant there. */
static void chance_among_thousands_is_not_called_significant(void **state)
{
	struct strbuf b = STRBUF_INIT;
	unsigned seed = 12345;

	(void)state;
	for (int side = 0; side < 2; side++) {
		strbuf_reset(&b);
		strbuf_addf(&b,
			    "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"k%d\",\"metrics\":"
			    "{\"m0\":{\"better\":\"higher\",\"headline\":true}},\"runs\":[",
			    side);
		for (int r = 0; r < 8; r++) {
			strbuf_addf(&b, "%s{\"values\":{", r ? "," : "");
			for (int i = 0; i < 2000; i++) {
				double v = 0;

				for (int k = 0; k < 4; k++) {
					seed = seed * 1103515245 + 12345;
					v += (seed >> 16 & 0x7fff) / 32768.;
				}
				strbuf_addf(&b, "%s\"m%d\":%.5f", i ? "," : "", i, 100 + 3 * v);
			}
			strbuf_addstr(&b, "}}");
		}
		strbuf_addstr(&b, "]}");
		put(side ? "b" : "a", strbuf_str(&b));
	}
	strbuf_done(&b);
	assert_int_equal(judge("-v a b"), 0);
	says("q=1");
	assert_null(strstr(strbuf_str(&out), "significant"));
}

static void fewer_operations_explain_what_follows_and_not_the_rest(void **state)
{
	static const char *const follow[] = { "unixbench.workload",
					      "unixbench.time.minor_page_faults",
					      "unixbench.time.user_time",
					      "numa-numastat.node0.numa_hit" };
	json_t *o = judge_json(
		"--json --single-look " DATA "spawn/base.json " DATA "spawn/head.json", 1);
	const json_t *f = json_array_get(json_object_get(o, "findings"), 0), *v;

	(void)state;
	assert_string_equal(str_at(f, "headline"), "unixbench.score");
	assert_within(num_at(f, "rel"), -.192, .0005);
	assert_int_equal(json_array_size(json_object_get(f, "follows")), ARRAY_SIZE(follow));
	for (size_t i = 0; i < ARRAY_SIZE(follow); i++)
		(void)named(json_object_get(f, "follows"), follow[i]);
	v = named(json_object_get(f, "follows"), "unixbench.time.minor_page_faults");
	assert_within(num_at(v, "per_work"), -.006, .0005);
	v = json_array_get(json_object_get(f, "movers"), 0);
	assert_string_equal(str_at(v, "name"), "unixbench.time.system_time");
	assert_within(num_at(v, "per_work"), .473, .001);
	assert_int_equal(num_at(json_object_get(o, "summary"), "improvement"), 0);
	json_decref(o);
}

static void noise_never_leads_and_profiles_are_told_in_points(void **state)
{
	json_t *o = judge_json(
		"--json --single-look " DATA "poll2/base.json " DATA "poll2/head.json", 1);
	const json_t *findings = json_object_get(o, "findings");
	const json_t *f = json_array_get(findings, 0), *v;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(findings), 1);
	assert_string_equal(str_at(f, "headline"), "will-it-scale.per_process_ops");
	assert_within(num_at(f, "rel"), -.117, .0005);
	assert_int_equal(json_array_size(json_object_get(f, "same")), 3);
	json_array_foreach (json_object_get(f, "movers"), i, v) {
		assert_null(strstr(str_at(v, "name"), "hmem"));
		assert_null(strstr(str_at(v, "name"), "perf-sched"));
	}
	v = named(json_object_get(f, "movers"), "perf-profile.self.cycles-pp.fdget");
	assert_within(num_at(v, "points"), 4.64, .005);
	(void)named(json_object_get(f, "follows"), "perf-stat.i.instructions");
	json_decref(o);
}

static void small_numbers_change_by_what_was_measured_not_by_what_is_printed(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (int side = 0; side < 2; side++) {
		strbuf_reset(&b);
		strbuf_addf(&b, "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"k%d\",\"runs\":[",
			    side);
		for (int i = 0; i < 8; i++)
			strbuf_addf(&b, "%s{\"values\":{\"perf-stat.overall.MPKI\":%.6f}}",
				    i ? "," : "", (side ? .00414 : .00351) + 1e-6 * i);
		strbuf_addstr(&b, "]}");
		put(side ? "b" : "a", strbuf_str(&b));
	}
	strbuf_done(&b);
	assert_int_equal(judge("a b 2>&1"), 0);
	says("change          perf-stat.overall.MPKI: +17.9");
	says("0.0035135 -> 0.0041435");
}

static void a_ladder_says_up_to_where_it_is_better(void **state)
{
	json_t *o;
	const json_t *f, *steps;

	(void)state;
	assert_int_equal(judge(CASES "pft/base.json " CASES "pft/head.json"), 1);
	says("pft.faults_per_sec-*: better at 1 … 79 tasks (+2.1 to +8.2 %), worse at 110 … 192 (-3.7 to -10.1 %)\n");
	o = judge_json("--json " CASES "pft/base.json " CASES "pft/head.json", 1);
	f = json_array_get(json_object_get(o, "findings"), 0);
	steps = json_object_get(json_object_get(f, "ladder"), "steps");
	assert_int_equal(json_array_size(steps), 12);
	for (size_t i = 0; i < 12; i++)
		assert_string_equal(str_at(json_array_get(steps, i), "verdict"),
				    i < 8 ? "improvement" : "regression");
	assert_string_equal(str_at(f, "verdict"), "regression");
	json_decref(o);
}

static void a_latency_of_a_public_mail_is_worse_by_what_it_says(void **state)
{
	json_t *o = judge_json(
		"--json " CASES "lat_pagefault/base.json " CASES "lat_pagefault/head.json", 1);
	const json_t *f = json_array_get(json_object_get(o, "findings"), 0);
	const json_t *m = json_array_get(json_object_get(o, "metrics"), 0);

	(void)state;
	assert_string_equal(str_at(m, "verdict"), "regression");
	assert_within(num_at(f, "rel"), .0556, .0001);
	assert_true(num_at(f, "lo") > .0515 && num_at(f, "hi") < .0595);
	assert_within(num_at(json_object_get(m, "base"), "center"), .4068, .00005);
	assert_within(num_at(json_object_get(m, "head"), "center"), .4294, .00005);
	json_decref(o);
}

/* @n runs in time order, A B B A, with @step more in every second one. */
static void put_in_time(const char *name, const char *kernel, bool head, int n, double center,
			double step)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addf(&b,
		    "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"%s\",\"metrics\":{\"a.ops\":"
		    "{\"better\":\"higher\",\"headline\":true}},\"runs\":[",
		    kernel);
	for (int i = n - 1; i >= 0; i--)
		strbuf_addf(&b, "%s{\"order\":%d,\"values\":{\"a.ops\":%.3f}}",
			    i == n - 1 ? "" : ",", 2 * i + ((i % 2) ^ head),
			    center + (i * 7) % 5 + (i % 2 ? step : 0));
	strbuf_addstr(&b, "]}\n");
	put(name, strbuf_str(&b));
	strbuf_done(&b);
}

static void a_box_that_is_not_steady_gives_no_verdict(void **state)
{
	json_t *o;
	const json_t *f, *c;

	(void)state;
	put_in_time("a", "k1", false, 8, 1000, 0);
	put_in_time("b", "k2", true, 8, 900, 0);
	o = judge_json("--json a b", 1);
	c = json_object_get(json_array_get(json_object_get(o, "findings"), 0), "checks");
	assert_int_equal(json_array_size(c), 3);
	assert_true(json_is_true(json_object_get(named(c, "aa"), "ok")));
	assert_true(json_is_true(json_object_get(named(c, "again"), "ok")));
	json_decref(o);
	put_in_time("a", "k1", false, 8, 1000, 30);
	o = judge_json("--json a b", 125);
	f = json_array_get(json_object_get(o, "findings"), 0);
	assert_string_equal(str_at(f, "verdict"), "candidate");
	c = json_object_get(f, "checks");
	assert_true(json_is_false(json_object_get(named(c, "aa"), "ok")));
	assert_within(num_at(named(c, "aa"), "rel"), .03, .002);
	json_decref(o);
	assert_int_equal(judge("a b"), 125);
	says("4 more runs a side, on new boots, will confirm it or not");
	says("the box is not steady: base's units taken alternately differ by +");
	put_in_time("a", "k1", false, 20, 1000, 30);
	put_in_time("b", "k2", true, 20, 900, 0);
	assert_int_equal(judge("a b"), 125);
	says("inconclusive ");
	assert_int_equal(judge("--single-look a b"), 125);
	says("inconclusive ");
}

static void nothing_worse_exits_with_0(void **state)
{
	(void)state;
	assert_int_equal(judge(DATA "poll2/base.json " DATA "poll2/base.json"), 0);
	says("\nsame            will-it-scale.per_process_ops: ");
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
	says("2 more runs a side, on new boots, will confirm it or not");
	put_runs("few", "k2", "", 2, 900);
	put_runs("a", "k1", "", 8, 1000);
	assert_int_equal(judge("a few"), 125);
	says("too few boots: 8 in base, 2 in head");
	says("cannot tell: 3 more runs a side, on new boots, might\n");
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

/* Values as they stand in the file, one run each. */
static void put_list(const char *name, const char *kernel, const char *values)
{
	struct strbuf b = STRBUF_INIT;
	size_t n = 0;

	strbuf_addf(&b,
		    "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"%s\",\"metrics\":{\"a.ops\":"
		    "{\"unit\":\"ops/s\",\"better\":\"higher\",\"headline\":true}},\"runs\":[",
		    kernel);
	while (*values) {
		size_t len = strcspn(values, " ");

		strbuf_addf(&b, "%s{\"values\":{\"a.ops\":%.*s}}", n++ ? "," : "", (int)len,
			    values);
		values += len + (values[len] == ' ');
	}
	strbuf_addstr(&b, "]}");
	put(name, strbuf_str(&b));
	strbuf_done(&b);
}

static void odd_samples_get_the_verdict_they_allow(void **state)
{
	static const struct {
		const char *base, *head;
		int exit_code;
		const char *says;
	} cases[] = {
		{ "", "", 125, "no value in either side" },
		{ "", "1 2 3 4 5 6 7 8", 125, "no value in base" },
		{ "1 2 3 4 5 6 7 8", "", 125, "no value in head" },
		{ "100", "90", 125, "too few boots: 1 in base, 1 in head" },
		{ "100 101", "90 91", 125, "too few boots: 2 in base, 2 in head" },
		{ "7 7 7 7 7 7 7 7", "7 7 7 7 7 7 7 7", 0, "same 1" },
		{ "7 7 7 7 7 7 7 7", "6 6 6 6 6 6 6 6", 1, "compared exactly, no p-value" },
		{ "7 7 7 7 7", "6 6 6 6 6", 125, "candidate" },
		{ "0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", 0, "same 1" },
		{ "0 0 0 0 0 0 0 0", "5 5 5 5 5 5 5 5", 0, "improvement     a.ops: +5  0 -> 5" },
		{ "1e-300 1.01e-300 0.99e-300 1e-300 1.02e-300 1e-300 1.01e-300 1e-300",
		  "0.9e-300 0.91e-300 0.89e-300 0.9e-300 0.92e-300 0.9e-300 0.91e-300 0.9e-300", 1,
		  "regression      a.ops: -9.9" },
		{ "1e300 1.01e300 0.99e300 1e300 1.02e300 1e300 1.01e300 1e300",
		  "0.9e300 0.91e300 0.89e300 0.9e300 0.92e300 0.9e300 0.91e300 0.9e300", 1,
		  "regression      a.ops: -9.9" },
		{ "1e-300 1.1e-300 1.1e-300 1e-300 1e-300 1.1e-300 1.1e-300 1e-300",
		  "1e300 1.1e300 1.1e300 1e300 1e300 1.1e300 1.1e300 1e300", 0, "a.ops rose\n" },
		{ "-100 -101 -99 -100 -102 -99 -101 -100",
		  "-110 -111 -109 -110 -112 -109 -111 -110", 1, "regression      a.ops: -9.9" },
		{ "-100 101 -99 100 -102 99 -101 100", "110 -111 109 -110 112 -109 111 -110", 125,
		  "tested on absolute values" },
		{ "-1e300 1e-300 1e300 5 -1e-300 0 3 1", "1 2 3 4 5 6 7 8", 125, "inconclusive" },
		{ "100 null 101 99 100 102 99 101 100", "90 91 89 90 92 89 91 90", 1,
		  "null in a run, taken as missing" },
		{ "100 NaN", "1 2", 128, "a: line 1, column 166: bad number" },
		{ "100 -Infinity", "1 2", 128, "bad number" },
		{ "100 1e999", "1 2", 128, "number out of range" },
		{ "100 \"101\"", "1 2", 128, "run 2: metric 'a.ops' is no number" },
		{ "100 1,5", "1 2", 128, "a: line 1" },
		{ "100 0x10", "1 2", 128, "a: line 1" },
		{ "100 01", "1 2", 128, "bad number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		put_list("a", "k1", cases[i].base);
		put_list("b", "k2", cases[i].head);
		if (judge("a b 2>&1") != cases[i].exit_code)
			fail_msg("%s | %s: %s", cases[i].base, cases[i].head, strbuf_str(&out));
		says(cases[i].says);
		assert_null(strstr(strbuf_str(&out), "nan"));
		(void)judge("--json a b 2>/dev/null");
		text = strbuf_take(&out);
		json_decref(json_loads(text, JSON_REJECT_DUPLICATES, NULL));
		assert_true(text[0] == '{');
		free(text);
	}
}

static void several_modes_are_told_instead_of_their_mean(void **state)
{
	(void)state;
	put_list("a", "k1", "100 101 99 100 102 99 101 100 100 101 99 100");
	put_list("b", "k2", "90 91 89 70 92 89 71 90 90 69 89 70");
	assert_int_equal(judge("a b"), 1);
	says("\n  two modes in head: 0.67 at 89.99, 0.33 at 70\n");
	says("100.163 -> (89.99 in 67%, 70 in 33%) ops/s");
	assert_int_equal(judge("--json a b"), 1);
	says(",\"two modes in head: 0.67 at 89.99, 0.33 at 70\"]");
}

/* Of twelve runs of one boot a side four more boots make five, not eight more twenty. */
static void one_boot_wants_as_many_as_a_new_start(void **state)
{
	json_t *o;
	const json_t *m;

	(void)state;
	for (int side = 0; side < 2; side++) {
		struct strbuf b = STRBUF_INIT;

		strbuf_addf(&b, "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"k%d\",\"runs\":[",
			    side);
		for (int i = 0; i < 12; i++)
			strbuf_addf(&b, "%s{\"boot\":\"%d\",\"values\":{\"m\":%d}}", i ? "," : "",
				    side, 100 + i % 5 + 10 * side);
		strbuf_addstr(&b, "]}");
		put(side ? "b" : "a", strbuf_str(&b));
		strbuf_done(&b);
	}
	o = judge_json("--json a b 2>/dev/null", 125);
	m = json_array_get(json_object_get(o, "metrics"), 0);
	assert_string_equal(str_at(m, "verdict"), "not-enough-data");
	assert_int_equal(num_at(json_object_get(m, "power"), "next_look"), 5);
	assert_int_equal(num_at(json_object_get(m, "power"), "more_runs"), 4);
	json_decref(o);
}

static void rows_may_come_out_of_order(void **state)
{
	struct strbuf first = STRBUF_INIT;
	char *sorted, *mixed;

	(void)state;
	put_in_time("b", "k2", true, 8, 900, 0);
	put_in_time("a", "k1", false, 8, 1000, 30);
	assert_int_equal(judge("--json a b"), 125);
	mixed = strbuf_take(&out);
	/* put_in_time() writes the last run first: turn it round. */
	strbuf_addstr(&first,
		      "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"k1\",\"metrics\":{\"a.ops\":"
		      "{\"better\":\"higher\",\"headline\":true}},\"runs\":[");
	for (int i = 0; i < 8; i++)
		strbuf_addf(&first, "%s{\"values\":{\"a.ops\":%.3f},\"order\":%d}", i ? "," : "",
			    1000. + (i * 7) % 5 + (i % 2 ? 30 : 0), 2 * i + i % 2);
	strbuf_addstr(&first, "]}");
	put("a", strbuf_str(&first));
	strbuf_done(&first);
	assert_int_equal(judge("--json a b"), 125);
	sorted = strbuf_take(&out);
	assert_string_equal(sorted, mixed);
	free(sorted);
	free(mixed);
}

static void options_do_what_they_say(void **state)
{
	json_t *o;
	const json_t *m;
	double lo;

	(void)state;
	put_list("a", "k1", "100 101 99 100 102 99 101 100");
	put_list("b", "k2", "97 98 96 97 99 96 98 97");
	o = judge_json("--json a b", 1);
	m = json_array_get(json_object_get(o, "metrics"), 0);
	lo = num_at(m, "lo");
	assert_within(num_at(m, "level"), .95, 0);
	assert_int_equal(num_at(json_object_get(m, "power"), "more_runs"), 0);
	json_decref(o);
	o = judge_json("--json --level 99% a b", 1);
	m = json_array_get(json_object_get(o, "metrics"), 0);
	assert_within(num_at(m, "level"), .99, 0);
	assert_true(num_at(m, "lo") < lo);
	json_decref(o);
	/* A level of the interval is not the level of the looks, and a small change is none. */
	assert_int_equal(judge("--min-effect 5% a b"), 0);
	says("significant but smaller than the least effect");
	says("same 1,");
	assert_int_equal(judge("--min-effect 0.02 a b"), 1);
	assert_int_equal(judge("--fdr 1e-12 a b"), 125);
	says("candidate");
	says("\n                4 more runs a side, on new boots, will confirm it or not\n");
	assert_int_equal(judge("--looks 3,5,8 --fdr 1e-12 a b"), 125);
	says("inconclusive");
	assert_int_equal(judge("--looks 5,9 a b"), 125);
	says("\n                1 more run a side, on new boots, will confirm it or not\n");
	assert_int_equal(judge("--single-look --looks 20 a b"), 1);
	assert_int_equal(judge("--metric 'a.*' a b"), 1);
	assert_int_equal(judge("--metric 'b*' a b 2>&1"), 128);
	assert_int_equal(judge("--fdr 0 a b 2>&1"), 129);
	assert_int_equal(judge("--fdr 1 a b 2>&1"), 129);
	assert_int_equal(judge("--level 0.5 a b 2>&1"), 129);
	assert_int_equal(judge("--min-effect -1 a b 2>&1"), 129);
	assert_int_equal(judge("--looks 2,8 a b 2>&1"), 129);
	assert_int_equal(judge("--looks '' a b 2>&1"), 129);
	assert_int_equal(judge("--looks 8,1001 a b 2>&1"), 129);
	put("h", "");
	assert_int_equal(judge("--history h a b"), 1);
	put("h", "\n \r\n");
	assert_int_equal(judge("--history - a b <h"), 1);
	assert_int_equal(judge("--history nowhere a b 2>&1"), 128);
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

static void names_do_not_steer_the_terminal(void **state)
{
	static const char *const kernels[] = { "k1", "k2" };

	(void)state;
	for (int side = 0; side < 2; side++) {
		struct strbuf b = STRBUF_INIT;

		strbuf_addf(
			&b,
			"{\"format\":\"kperfbot-runs/1\",\"kernel\":\"%s\",\"\\u001bkey\":1,"
			"\"metrics\":{\"a.\\u001b[31m\\n\\u202ex\":{\"unit\":\"\\u0007\",\"better\":"
			"\"lower\"}},\"runs\":[",
			kernels[side]);
		for (int i = 0; i < 8; i++)
			strbuf_addf(&b, "%s{\"values\":{\"a.\\u001b[31m\\n\\u202ex\":%d}}",
				    i ? "," : "", 100 + i * 5 % 8 + 20 * side);
		strbuf_addstr(&b, "]}");
		put(side ? "b" : "a", strbuf_str(&b));
		strbuf_done(&b);
	}
	assert_int_equal(judge("a b 2>&1"), 1);
	says("a.[U+001B][31m [U+202E]x rose 19.");
	says("regression      a.[U+001B][31m [U+202E]x: +19.");
	says("unknown key '[U+001B]key' ignored");
	assert_null(strchr(strbuf_str(&out), '\x1b'));
	assert_null(strchr(strbuf_str(&out), '\a'));
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
		cmocka_unit_test(less_work_in_the_same_time_is_one_finding),
		cmocka_unit_test(what_is_small_still_explains_a_small_headline),
		cmocka_unit_test(the_lines_say_what_only_follows),
		cmocka_unit_test(chance_among_thousands_is_not_called_significant),
		cmocka_unit_test(fewer_operations_explain_what_follows_and_not_the_rest),
		cmocka_unit_test(noise_never_leads_and_profiles_are_told_in_points),
		cmocka_unit_test(small_numbers_change_by_what_was_measured_not_by_what_is_printed),
		cmocka_unit_test(a_ladder_says_up_to_where_it_is_better),
		cmocka_unit_test(a_latency_of_a_public_mail_is_worse_by_what_it_says),
		cmocka_unit_test(a_box_that_is_not_steady_gives_no_verdict),
		cmocka_unit_test(nothing_worse_exits_with_0),
		cmocka_unit_test(what_cannot_be_told_exits_with_125),
		cmocka_unit_test(without_a_direction_it_is_a_change),
		cmocka_unit_test(more_files_go_to_the_side_of_their_kernel),
		cmocka_unit_test(history_is_one_object_a_line),
		cmocka_unit_test(odd_samples_get_the_verdict_they_allow),
		cmocka_unit_test(several_modes_are_told_instead_of_their_mean),
		cmocka_unit_test(one_boot_wants_as_many_as_a_new_start),
		cmocka_unit_test(rows_may_come_out_of_order),
		cmocka_unit_test(options_do_what_they_say),
		cmocka_unit_test(bad_files_are_fatal_and_named),
		cmocka_unit_test(names_do_not_steer_the_terminal),
		cmocka_unit_test(wrong_usage_exits_with_129),
	};

	return cmocka_run_group_tests_name("judge", tests, set_up, tear_down);
}
