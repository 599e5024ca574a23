/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"
#include "bot/detect/verdict_json.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"abc\",\"machine\":\"m1\","

static int parse(struct runs *r, const char *text, struct err *e)
{
	return runs_parse(r, text, strlen(text), e);
}

static void must_fail(const char *text, int code, const char *says)
{
	struct runs r = { 0 };
	struct err e = { 0 };

	assert_err(parse(&r, text, &e), code, &e);
	if (!strstr(e.msg, says))
		fail_msg("'%s' does not say '%s'", e.msg, says);
	runs_done(&r);
}

static void reads_runs_boots_and_descriptors(void **state)
{
	struct runs r = { 0 };
	struct err e = { 0 };
	const struct runs_metric *m;

	(void)state;
	assert_ok(parse(&r,
			HEAD "\"metrics\":{\"a.x\":{\"unit\":\"ops/s\",\"better\":\"higher\","
			     "\"headline\":true}},\"runs\":["
			     "{\"boot\":\"1\",\"order\":1,\"values\":{\"a.x\":10,\"b\":1.5}},"
			     "{\"boot\":\"1\",\"order\":4,\"values\":{\"a.x\":11}},"
			     "{\"boot\":2,\"values\":{\"a.x\":12}},{\"values\":{\"b\":2}}]}",
			&e),
		  &e);
	assert_string_equal(r.kernel, "abc");
	assert_int_equal(r.runs.len, 4);
	assert_int_equal(r.notes.len, 0);
	m = runs_metric_find(&r, "a.x");
	assert_non_null(m);
	assert_int_equal(m->samples.len, 3);
	assert_int_equal(m->better, DETECT_BETTER_HIGHER);
	assert_true(m->headline && m->described);
	assert_string_equal(m->unit, "ops/s");
	assert_int_equal(m->samples.items[0].boot, m->samples.items[1].boot);
	assert_int_not_equal(m->samples.items[0].boot, m->samples.items[2].boot);
	assert_true(isnan(m->samples.items[2].order));
	m = runs_metric_find(&r, "b");
	assert_true(m->samples.items[1].boot < 0 && !m->described);
	assert_null(runs_metric_find(&r, "c"));
	runs_done(&r);
}

static void writes_what_it_read(void **state)
{
	struct runs r = { 0 }, again = { 0 };
	struct err e = { 0 };
	json_t *one, *two;
	char *text;

	(void)state;
	assert_ok(parse(&r,
			HEAD "\"metrics\":{\"a\":{\"unit\":\"s\",\"better\":\"lower\"}},\"runs\":["
			     "{\"boot\":\"x\",\"order\":1,\"values\":{\"a\":0.1,\"b\":1e300}},"
			     "{\"values\":{}},{\"boot\":\"x\",\"values\":{\"b\":-3}}]}",
			&e),
		  &e);
	one = runs_json(&r);
	text = json_dumps(one, JSON_REAL_PRECISION(17));
	assert_ok(parse(&again, text, &e), &e);
	two = runs_json(&again);
	assert_true(json_equal(one, two));
	assert_int_equal(again.runs.len, 3);
	free(text);
	json_decref(one);
	json_decref(two);
	runs_done(&r);
	runs_done(&again);
}

static void unknown_keys_are_noted_once(void **state)
{
	struct runs r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(parse(&r,
			HEAD "\"colour\":1,\"metrics\":{\"a\":{\"nice\":1}},\"runs\":["
			     "{\"hue\":1,\"values\":{\"a\":null}},{\"hue\":1,\"values\":{}}]}",
			&e),
		  &e);
	assert_int_equal(r.notes.len, 4);
	assert_non_null(strstr(r.notes.items[0], "colour"));
	assert_non_null(strstr(r.notes.items[1], "nice"));
	assert_non_null(strstr(r.notes.items[2], "hue"));
	assert_non_null(strstr(r.notes.items[3], "missing"));
	assert_int_equal(runs_metric_find(&r, "a")->samples.len, 0);
	runs_done(&r);
}

static void refuses_what_is_not_its_format(void **state)
{
	char deep[4096];

	(void)state;
	must_fail("", ERR_PARSE, "line");
	must_fail("[1]", ERR_FORMAT, "kperfbot-runs/1");
	must_fail("{\"format\":\"kperfbot-runs/2\",\"runs\":[]}", ERR_FORMAT, "kperfbot-runs/2");
	must_fail("{\"format\":1}", ERR_FORMAT, "kperfbot-runs/1");
	must_fail("{\"format\":\"kperfbot-runs/1\"}", ERR_PARSE, "runs");
	must_fail(HEAD "\"runs\":[1]}", ERR_PARSE, "run 1");
	must_fail(HEAD "\"runs\":[{\"values\":{}},{\"boot\":1}]}", ERR_PARSE, "run 2");
	must_fail(HEAD "\"runs\":[{\"values\":{\"a\":\"fast\"}}]}", ERR_PARSE, "'a'");
	must_fail(HEAD "\"runs\":[{\"values\":{\"a\":NaN}}]}", ERR_PARSE, "line 1");
	must_fail(HEAD "\"runs\":[{\"values\":{\"a\":1e999}}]}", ERR_PARSE, "line 1");
	must_fail(HEAD "\"runs\":[{\"values\":{\"a\":1,\"a\":2}}]}", ERR_PARSE, "uplicate");
	must_fail(HEAD "\"runs\":[{\"values\":{\"\":1}}]}", ERR_PARSE, "empty name");
	must_fail(HEAD "\"runs\":[{\"boot\":1.5,\"values\":{}}]}", ERR_PARSE, "boot");
	must_fail(HEAD "\"runs\":[{\"order\":\"x\",\"values\":{}}]}", ERR_PARSE, "order");
	must_fail(HEAD "\"metrics\":[],\"runs\":[]}", ERR_PARSE, "metrics");
	must_fail(HEAD "\"metrics\":{\"a\":1},\"runs\":[]}", ERR_PARSE, "'a'");
	must_fail(HEAD "\"metrics\":{\"a\":{\"better\":\"up\"}},\"runs\":[]}", ERR_PARSE, "'up'");
	must_fail(HEAD "\"metrics\":{\"a\":{\"unit\":3}},\"runs\":[]}", ERR_PARSE, "'a'");
	must_fail("{\"format\":\"kperfbot-runs/1\",\"kernel\":7,\"runs\":[]}", ERR_PARSE, "kernel");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	must_fail(deep, ERR_PARSE, "line 1");
}

static void a_name_without_end_is_refused(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&b, HEAD "\"runs\":[{\"values\":{\"");
	for (int i = 0; i <= RUNS_NAME_MAX; i++)
		strbuf_addch(&b, 'n');
	strbuf_addstr(&b, "\":1}}]}");
	must_fail(strbuf_str(&b), ERR_TOO_BIG, "1001 bytes");
	strbuf_done(&b);
}

static void more_files_add_runs_of_the_same_kernel(void **state)
{
	struct runs r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(parse(&r, HEAD "\"runs\":[{\"boot\":\"1\",\"values\":{\"a\":1}}]}", &e), &e);
	assert_ok(parse(&r, HEAD "\"runs\":[{\"boot\":\"1\",\"values\":{\"a\":2}}]}", &e), &e);
	assert_int_equal(runs_metric_find(&r, "a")->samples.len, 2);
	assert_int_equal(r.runs.items[0].boot, r.runs.items[1].boot);
	assert_err(
		parse(&r, "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"other\",\"runs\":[]}", &e),
		ERR_INVAL, &e);
	assert_non_null(strstr(e.msg, "'other'"));
	runs_done(&r);
}

static void sides_with_other_units_or_directions_are_refused_by_name(void **state)
{
	struct runs a = { 0 }, b = { 0 }, c = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(parse(&a,
			HEAD "\"metrics\":{\"x\":{\"unit\":\"ms\",\"better\":\"lower\"}},"
			     "\"runs\":[]}",
			&e),
		  &e);
	assert_ok(parse(&b,
			HEAD "\"metrics\":{\"x\":{\"unit\":\"us\",\"better\":\"lower\"}},"
			     "\"runs\":[]}",
			&e),
		  &e);
	assert_ok(parse(&c,
			HEAD "\"metrics\":{\"x\":{\"unit\":\"ms\",\"better\":\"higher\"}},"
			     "\"runs\":[]}",
			&e),
		  &e);
	assert_ok(runs_check_pair(&a, &a, &e), &e);
	assert_err(runs_check_pair(&a, &b, &e), ERR_INVAL, &e);
	assert_non_null(strstr(e.msg, "'x': unit is 'ms'"));
	assert_err(runs_check_pair(&a, &c, &e), ERR_INVAL, &e);
	assert_non_null(strstr(e.msg, "'x': better is 'lower'"));
	runs_done(&a);
	runs_done(&b);
	runs_done(&c);
}

static void load(const char *path, struct runs *r)
{
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };
	char full[512], buf[4096];
	size_t n;
	FILE *f;

	(void)snprintf(full, sizeof(full), "%s/tests/data/series/%s", TEST_SOURCE_DIR, path);
	f = fopen(full, "r");
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(&b, buf, n);
	(void)fclose(f);
	assert_ok(runs_parse(r, strbuf_str(&b), b.len, &e), &e);
	strbuf_done(&b);
}

static enum detect_verdict verdict_of(const struct judged *j, const char *name)
{
	vec_foreach (m, &j->metrics) {
		if (!strcmp(m->name, name))
			return m->result.verdict;
	}
	fail_msg("no metric '%s'", name);
	return DETECT_VERDICTS;
}

static void a_known_report_is_one_regression_and_noise_gets_no_verdict(void **state)
{
	static const char *const noise[] = {
		"numa-meminfo.node0.Shmem", "numa-vmstat.node0.nr_shmem",
		("perf-sched.sch_delay.max.ms.irqentry_exit_to_user_mode."
		 "asm_sysvec_reschedule_ipi.[unknown]"),
		"perf-sched.wait_and_delay.count.pipe_read.vfs_read.ksys_read.do_syscall_64"
	};
	struct runs base = { 0 }, head = { 0 };
	struct judged j = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o };
	struct err e = { 0 };

	(void)state;
	load("poll2/base.json", &base);
	load("poll2/head.json", &head);
	o.single_look = true;
	assert_ok(judged_compare(&base, &head, &plan, &j, &e), &e);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(j.metrics.items[i].result.verdict, DETECT_REGRESSION);
		assert_near(j.metrics.items[i].result.rel, -.117, .01);
		assert_int_equal(j.metrics.items[i].group, 1);
	}
	assert_int_equal(j.groups, 1);
	assert_int_equal(j.counts[DETECT_REGRESSION], 1);
	assert_int_equal(judged_exit(&j), 1);
	for (size_t i = 0; i < ARRAY_SIZE(noise); i++)
		assert_true(verdict_of(&j, noise[i]) == DETECT_INCONCLUSIVE ||
			    verdict_of(&j, noise[i]) == DETECT_NOT_ENOUGH_DATA);
	assert_int_equal(verdict_of(&j, "perf-stat.i.cpi"), DETECT_CHANGE);
	judged_done(&j);
	/* Six runs are a screening look: without --single-look it waits for eight. */
	o.single_look = false;
	assert_ok(judged_compare(&base, &head, &plan, &j, &e), &e);
	assert_int_equal(j.metrics.items[0].result.verdict, DETECT_CANDIDATE);
	assert_int_equal(judged_exit(&j), 125);
	for (size_t i = 0; i < ARRAY_SIZE(noise); i++)
		assert_int_equal(verdict_of(&j, noise[i]), DETECT_INCONCLUSIVE);
	judged_done(&j);
	/* The same kernel twice: nothing is worse. */
	assert_ok(judged_compare(&base, &base, &plan, &j, &e), &e);
	assert_int_equal(judged_exit(&j), 0);
	assert_int_equal(j.groups, 0);
	judged_done(&j);
	runs_done(&base);
	runs_done(&head);
}

static void json_has_the_agreed_keys_and_reads_back(void **state)
{
	struct runs base = { 0 }, head = { 0 };
	struct judged j = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o };
	struct detect_result back;
	struct err e = { 0 };
	json_t *out, *m;

	(void)state;
	load("poll2/base.json", &base);
	load("poll2/head.json", &head);
	assert_ok(judged_compare(&base, &head, &plan, &j, &e), &e);
	out = judged_json(&j, &base, &head);
	assert_string_equal(json_string_value(json_object_get(out, "format")),
			    "kperfbot-verdict/1");
	assert_int_equal(json_array_size(json_array_get(json_object_get(out, "merged"), 0)), 3);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(out, "summary"), "candidate")),
		j.counts[DETECT_CANDIDATE]);
	m = json_array_get(json_object_get(out, "metrics"), 0);
	assert_string_equal(json_string_value(json_object_get(m, "verdict")), "candidate");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(m, "power"), "more_runs")), 2);
	assert_ok(verdict_json_read(m, &back, &e), &e);
	back.notes = j.metrics.items[0].result.notes;
	assert_int_equal(back.verdict, DETECT_CANDIDATE);
	assert_int_equal(back.more_units, 8);
	assert_near(back.p, j.metrics.items[0].result.p, 1e-14);
	assert_near(back.head.center, j.metrics.items[0].result.head.center, 1e-14);
	assert_int_equal(back.base.units, 6);
	assert_true(isnan(back.fresh_rel) && back.ln_scale);
	(void)json_object_set_new(m, "verdict", json_string("awful"));
	assert_err(verdict_json_read(m, &back, &e), ERR_PARSE, &e);
	assert_err(verdict_json_read(NULL, &back, &e), ERR_PARSE, &e);
	json_decref(out);
	judged_done(&j);
	runs_done(&base);
	runs_done(&head);
}

static void metrics_of_one_side_only_are_listed_without_a_verdict(void **state)
{
	struct runs a = { 0 }, b = { 0 };
	struct judged j = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o };
	struct err e = { 0 };
	json_t *out;

	(void)state;
	assert_ok(parse(&a, HEAD "\"runs\":[{\"values\":{\"x\":1}}]}", &e), &e);
	assert_ok(parse(&b, HEAD "\"runs\":[{\"values\":{\"y\":1}}]}", &e), &e);
	assert_ok(judged_compare(&a, &b, &plan, &j, &e), &e);
	assert_int_equal(j.metrics.len, 2);
	assert_int_equal(j.counts[DETECT_NOT_ENOUGH_DATA], 2);
	assert_int_equal(judged_exit(&j), 125);
	out = judged_json(&j, &a, &b);
	assert_null(json_object_get(json_array_get(json_object_get(out, "metrics"), 0), "rel"));
	json_decref(out);
	judged_done(&j);
	runs_done(&a);
	assert_err(judged_compare(&a, &a, &plan, &j, &e), ERR_NOENT, &e);
	runs_done(&b);
}

/* Kernel with @boots boots of @runs runs each: the boots differ a little, their runs more. */
static void make_boots(struct runs *r, int kernel, int boots, int runs)
{
	unsigned state = (unsigned)kernel * 2654435761U + 12345;

	for (int i = 0; i < boots * runs; i++) {
		char boot[16];
		size_t run;

		(void)snprintf(boot, sizeof(boot), "%d", i / runs);
		state = state * 1664525U + 1013904223U;
		run = runs_add(r, boot, NAN);
		runs_add_value(r, runs_metric_get(r, "x"), run,
			       1000 + (double)(state >> 16) / 65536 * 60);
	}
}

static double noise_by(const struct judged_plan *plan, size_t per_unit)
{
	struct detect_profile p;
	struct err e = { 0 };

	assert_ok(judged_profile(plan, "x", 5, per_unit, &p, &e), &e);
	assert_true(p.have);
	return sqrt(p.s0sq);
}

static void history_of_longer_boots_does_not_hide_noise(void **state)
{
	struct runs past[40] = { 0 }, a = { 0 }, b = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o, .history = past, .nhistory = 40 };
	struct judged j = { 0 };
	struct err e = { 0 };
	double single, of_four;

	(void)state;
	for (int i = 0; i < 40; i++)
		make_boots(&past[i], i, 4, 4);
	single = noise_by(&plan, 1);
	of_four = noise_by(&plan, 0);
	assert_true(single > .014 && single < .022);
	assert_true(of_four > .006 && of_four < .011);
	assert_near(noise_by(&plan, 4), of_four, 0);
	/* The sides say by their boots which it is. */
	make_boots(&a, 100, 5, 1);
	make_boots(&b, 101, 5, 4);
	assert_ok(judged_compare(&a, &b, &plan, &j, &e), &e);
	assert_true(j.metrics.items[0].result.mde > .03);
	judged_done(&j);
	runs_done(&a);
	make_boots(&a, 100, 5, 4);
	assert_ok(judged_compare(&a, &b, &plan, &j, &e), &e);
	assert_true(j.metrics.items[0].result.mde < .03);
	judged_done(&j);
	for (int i = 0; i < 40; i++)
		runs_done(&past[i]);
	runs_done(&a);
	runs_done(&b);
}

static void history_lets_three_runs_screen(void **state)
{
	struct runs past[12] = { 0 }, a = { 0 }, b = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o, .history = past, .nhistory = 12 };
	struct judged j = { 0 };
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 12; i++) {
		for (int k = 0; k < 4; k++) {
			size_t run = runs_add(&past[i], NULL, NAN);

			runs_add_value(&past[i], runs_metric_get(&past[i], "x"), run,
				       1000 + (i * 7 + k * 5) % 11);
		}
	}
	for (int k = 0; k < 3; k++) {
		size_t ra = runs_add(&a, NULL, NAN), rb = runs_add(&b, NULL, NAN);

		runs_add_value(&a, runs_metric_get(&a, "x"), ra, 1003 + k);
		runs_add_value(&b, runs_metric_get(&b, "x"), rb, 1005 - k);
	}
	assert_ok(judged_compare(&a, &b, &plan, &j, &e), &e);
	assert_int_equal(j.metrics.items[0].result.verdict, DETECT_SAME);
	judged_done(&j);
	plan.nhistory = 9;
	assert_ok(judged_compare(&a, &b, &plan, &j, &e), &e);
	assert_int_equal(j.metrics.items[0].result.verdict, DETECT_NOT_ENOUGH_DATA);
	judged_done(&j);
	for (int i = 0; i < 12; i++)
		runs_done(&past[i]);
	runs_done(&a);
	runs_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_runs_boots_and_descriptors),
		cmocka_unit_test(writes_what_it_read),
		cmocka_unit_test(unknown_keys_are_noted_once),
		cmocka_unit_test(refuses_what_is_not_its_format),
		cmocka_unit_test(a_name_without_end_is_refused),
		cmocka_unit_test(more_files_add_runs_of_the_same_kernel),
		cmocka_unit_test(sides_with_other_units_or_directions_are_refused_by_name),
		cmocka_unit_test(a_known_report_is_one_regression_and_noise_gets_no_verdict),
		cmocka_unit_test(json_has_the_agreed_keys_and_reads_back),
		cmocka_unit_test(metrics_of_one_side_only_are_listed_without_a_verdict),
		cmocka_unit_test(history_of_longer_boots_does_not_hide_noise),
		cmocka_unit_test(history_lets_three_runs_screen),
	};

	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
