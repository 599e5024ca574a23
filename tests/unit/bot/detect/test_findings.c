/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/findings.h"

#include "bot/base/cleanup.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A metric that changed by @rel, so many standard errors from nothing. */
#define assert_within(v, want, tolerance) assert_true(fabs((v) - (want)) <= (tolerance))

static struct findings_metric metric(const char *name, double rel, double t)
{
	bool moved = fabs(t) > 4 && fabs(rel) >= .01;

	return (struct findings_metric){ .name = name,
					 .unit = "",
					 .verdict = moved ? DETECT_CHANGE : DETECT_SAME,
					 .moved = moved,
					 .rel = rel,
					 .lo = rel - fabs(rel / t) * 2,
					 .hi = rel + fabs(rel / t) * 2,
					 .abs = 100 * rel,
					 .t = t,
					 .p = moved ? 1e-9 : .5,
					 .per_rel = NAN,
					 .per_lo = NAN,
					 .per_hi = NAN };
}

static struct findings_metric headline(const char *name, enum detect_better better, double rel,
				       double t)
{
	struct findings_metric m = metric(name, rel, t);

	m.lead = true;
	m.better = better;
	if (m.moved)
		m.verdict = (rel > 0) == (better == DETECT_BETTER_HIGHER) ? DETECT_IMPROVEMENT
									  : DETECT_REGRESSION;
	return m;
}

static void says(const struct finding *f, size_t line, const char *text)
{
	if (line >= f->text.len)
		fail_msg("only %zu sentences", f->text.len);
	if (!strstr(f->text.items[line], text))
		fail_msg("'%s' is not in '%s'", text, f->text.items[line]);
}

static void less_work_in_the_same_time_is_one_finding_and_said_so(void **state)
{
	struct findings f;

	(void)state;
	for (int both = 0; both < 2; both++) {
		struct findings_metric m[] = {
			headline("vms.median", DETECT_BETTER_HIGHER, -.066, -30),
			headline("vms.throughput", DETECT_BETTER_HIGHER, -.038, -14),
			metric("vms.workload", -.066, -40),
			metric("vms.time.minor_page_faults", -.0661, -40),
			metric("vms.time.elapsed_time", .0001, .1),
		};

		m[0].lead = both == 1;
		findings_make(m, ARRAY_SIZE(m), &f);
		assert_int_equal(f.items.len, 1);
		assert_int_equal(f.items.items[0].lead, 1);
		assert_int_equal(f.work, 2);
		assert_int_equal(f.items.items[0].follows.len, 3);
		assert_int_equal(f.items.items[0].movers.len, 0);
		assert_int_equal(f.role[0], FINDINGS_ROLE_FOLLOWS);
		says(&f.items.items[0], 0, "vms.throughput fell 3.8 % ");
		says(&f.items.items[0], 1,
		     "workload, median and time.minor_page_faults fell 6.6 % with it: fewer "
		     "iterations fitted in the same time; per unit of work "
		     "time.minor_page_faults did not change");
		assert_within(f.per_work[3], -.0001, 1e-4);
		findings_done(&f);
	}
}

static void time_that_changed_is_not_called_the_same(void **state)
{
	struct findings_metric m[] = {
		headline("a.rate", DETECT_BETTER_HIGHER, .05, 14),
		metric("a.workload", .1, 40),
		metric("a.time.elapsed_time", .04, 20),
	};
	struct findings f;

	(void)state;
	findings_make(m, ARRAY_SIZE(m), &f);
	says(&f.items.items[0], 1, "workload rose 10.0 % with it: more iterations were made");
	findings_done(&f);
}

static void names_of_one_fact_are_one_and_the_best_name_leads(void **state)
{
	struct findings_metric m[] = {
		headline("wis.104.processes", DETECT_BETTER_HIGHER, -.117, -20),
		headline("wis.workload", DETECT_BETTER_HIGHER, -.117, -20),
		headline("wis.per_process_ops", DETECT_BETTER_HIGHER, -.117, -20),
		metric("perf-stat.i.instructions", -.1171, -20),
		metric("perf-stat.i.cpi", .131, 30),
	};
	struct findings f;

	(void)state;
	m[0].group = m[1].group = m[2].group = 3;
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 1);
	assert_int_equal(f.items.items[0].lead, 2);
	assert_int_equal(f.items.items[0].same.len, 3);
	assert_int_equal(f.items.items[0].same.items[0], 2);
	assert_int_equal(f.items.items[0].follows.len, 1);
	assert_int_equal(f.items.items[0].movers.len, 1);
	says(&f.items.items[0], 0, "workload and 104.processes are the same fact");
	says(&f.items.items[0], 2, "also moved: perf-stat.i.cpi +13.1 %");
	findings_done(&f);
}

static void the_work_never_heads_what_it_is_the_work_of(void **state)
{
	static const enum detect_better ways[] = { DETECT_BETTER_HIGHER, DETECT_BETTER_NONE };
	struct findings f;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct findings_metric m[] = {
			headline("ub.workload", ways[i % 2], -.191, -30),
			headline("ub.score", DETECT_BETTER_HIGHER, -.192, -30),
		};

		if (i % 2)
			m[0].verdict = DETECT_CHANGE;
		if (i > 1)
			m[1].verdict = DETECT_CANDIDATE;
		findings_make(m, ARRAY_SIZE(m), &f);
		assert_int_equal(f.items.len, 1);
		assert_int_equal(f.items.items[0].lead, 1);
		assert_int_equal(f.role[0], FINDINGS_ROLE_FOLLOWS);
		says(&f.items.items[0], 1, "workload fell 19.1 % with it: fewer iterations");
		findings_done(&f);
	}
}

/* More throughput is good and more latency is bad, and neither is the other's echo. */
static void good_and_bad_news_are_two_findings(void **state)
{
	struct findings_metric m[] = {
		headline("a.rate", DETECT_BETTER_HIGHER, .1, 30),
		headline("a.latency", DETECT_BETTER_LOWER, .1, 30),
	};
	struct findings f;

	(void)state;
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 2);
	assert_int_equal(f.items.items[0].lead, 1);
	findings_done(&f);
	/* Nor are two stressors that fell alike. */
	m[0] = headline("a.cpu", DETECT_BETTER_HIGHER, -.050, -30);
	m[1] = headline("a.vm", DETECT_BETTER_HIGHER, -.051, -30);
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 2);
	findings_done(&f);
}

static void movers_come_by_t_with_what_they_are_per_unit_of_work(void **state)
{
	struct findings_metric m[] = {
		headline("ub.score", DETECT_BETTER_HIGHER, -.192, -30),
		metric("ub.workload", -.191, -30),
		metric("ub.time.system_time", .191, 25),
		metric("ub.time.major_page_faults", -.324, -10),
		metric("meminfo.Active", -.38, -3),
		metric("noise", 1.975, 1.5),
		metric("perf-profile.self.x", .12, 40),
		metric("mpstat.cpu.soft%", -.1, -6),
		metric("twin", .5, 8),
		metric("twin2", .5, 8),
	};
	struct findings f;
	const struct finding *x;

	(void)state;
	m[6].abs = 4.64;
	m[7].abs = -.05;
	m[8].group = m[9].group = 1;
	findings_make(m, ARRAY_SIZE(m), &f);
	x = &f.items.items[0];
	assert_int_equal(x->movers.len, 4);
	assert_int_equal(x->movers.items[0], 6);
	assert_int_equal(x->movers.items[1], 2);
	assert_int_equal(x->movers.items[2], 3);
	assert_int_equal(x->movers.items[3], 8);
	assert_within(f.per_work[2], 1.191 / .809 - 1, 1e-12);
	assert_true(isnan(f.per_work[6]) && isnan(f.per_work[8]));
	says(x, 2, "perf-profile.self.x +4.6 points, time.system_time +19.1 % (+47.2 % per unit");
	findings_done(&f);
}

static void a_clock_ticks_on_and_a_count_per_operation_is_told_with_its_rate(void **state)
{
	struct findings_metric m[] = {
		headline("wis.ops", DETECT_BETTER_HIGHER, -.3, -50),
		metric("interrupts.LOC", 0, .1),
		metric("interrupts.LOC.per_op", .43, 50),
		metric("proc-vmstat.pgfault", -.3, -50),
		metric("proc-vmstat.pgfault.per_op", 0, .1),
		metric("vmstat.cs", .87, 40),
		metric("vmstat.cs.per_op", 1.67, 40),
		metric("alone.per_op", .5, 9),
	};
	struct findings f;

	(void)state;
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.work, 0);
	assert_int_equal(f.items.items[0].follows.len, 1);
	assert_int_equal(f.items.items[0].follows.items[0], 3);
	assert_int_equal(f.items.items[0].movers.len, 2);
	assert_int_equal(f.items.items[0].movers.items[0], 5);
	assert_within(f.per_work[5], 1.67, 1e-12);
	assert_int_equal(f.items.items[0].movers.items[1], 7);
	findings_done(&f);
}

static void the_same_work_in_more_time_lowers_what_is_counted_by_the_second(void **state)
{
	struct findings_metric m[] = {
		headline("hb.time", DETECT_BETTER_LOWER, .25, 50),
		metric("hb.workload", 0, .1),
		metric("vmstat.cs", -.2, -50),
		metric("unit.less", -.2, -50),
	};
	struct findings f;

	(void)state;
	m[2].unit = "switches/s";
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.items[0].follows.len, 1);
	assert_int_equal(f.items.items[0].follows.items[0], 2);
	assert_int_equal(f.items.items[0].movers.items[0], 3);
	assert_true(isnan(f.per_work[2]));
	findings_done(&f);
}

static void a_ladder_is_one_finding_with_its_turning_point(void **state)
{
	static const int at[] = { 128, 1, 30, 79, 110, 12 };
	struct findings_metric m[ARRAY_SIZE(at)];
	char names[ARRAY_SIZE(at)][40];
	struct findings f;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "pft.faults_per_sec-%d", at[i]);
		m[i] = headline(names[i], DETECT_BETTER_HIGHER, at[i] < 100 ? .05 : -.04, 20);
	}
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 1);
	assert_string_equal(f.items.items[0].ladder_name, "pft.faults_per_sec-*");
	assert_int_equal(f.items.items[0].ladder.len, 6);
	assert_within(f.items.items[0].ladder.items[0].at, 1, 0);
	says(&f.items.items[0], 0,
	     "better at 1 … 79 tasks (+5.0 %), worse at 110 and 128 (-4.0 %)");
	findings_done(&f);
	/* Nothing changed: nothing is found. */
	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		m[i] = headline(names[i], DETECT_BETTER_HIGHER, .001, .2);
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 0);
	findings_done(&f);
}

static void tests_that_end_in_a_number_are_no_ladder(void **state)
{
	struct findings_metric m[] = {
		headline("wis.page_fault1", DETECT_BETTER_HIGHER, -.1, -20),
		headline("wis.page_fault2", DETECT_BETTER_HIGHER, .2, 20),
		headline("wis.page_fault3", DETECT_BETTER_HIGHER, -.05, -20),
	};
	struct findings f;

	(void)state;
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 3);
	assert_int_equal(f.items.items[0].lead, 0);
	assert_int_equal(f.items.items[2].lead, 1);
	findings_done(&f);
}

static void odd_numbers_do_no_harm(void **state)
{
	struct findings_metric m[] = {
		headline("a.x", DETECT_BETTER_HIGHER, -1, -INFINITY),
		headline("a.", DETECT_BETTER_LOWER, NAN, NAN),
		metric("a.workload", -2, INFINITY),
		metric(".per_op", INFINITY, INFINITY),
		metric("", NAN, NAN),
		metric("0.1.2.3.4.5.6.7.8.9", 3, 5),
	};
	struct findings f;

	(void)state;
	m[1].moved = m[4].moved = true;
	m[1].verdict = DETECT_CANDIDATE;
	m[4].verdict = DETECT_CHANGE;
	findings_make(m, ARRAY_SIZE(m), &f);
	assert_int_equal(f.items.len, 2);
	findings_done(&f);
	findings_make(m, 0, &f);
	assert_int_equal(f.items.len, 0);
	findings_done(&f);
	findings_done(&f);
}

static void lists_have_an_end(void **state)
{
	enum {
		N = 500
	};
	struct findings_metric *m = calloc(2 * N, sizeof(*m));
	char(*names)[24] = calloc(2 * N, sizeof(*names));
	struct findings f;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "s%zu.rate", i);
		m[i] = headline(names[i], DETECT_BETTER_HIGHER, -.1 - 1e-3 * (double)i, -20);
		(void)snprintf(names[N + i], sizeof(names[0]), "monitor%zu", i);
		m[N + i] = metric(names[N + i], .2 + (double)i, 20 + (double)i);
	}
	findings_make(m, 2 * N, &f);
	assert_int_equal(f.items.len, FINDINGS_MAX);
	assert_int_equal(f.more, N - FINDINGS_MAX);
	assert_int_equal(f.items.items[0].movers.len, FINDINGS_MOVERS_MAX);
	assert_int_equal(f.items.items[0].movers_more, N - FINDINGS_MOVERS_MAX);
	assert_int_equal(f.items.items[0].movers.items[0], 2 * N - 1);
	findings_done(&f);
	free(m);
	free(names);
}

static void from_means_needs_runs_and_more_than_chance(void **state)
{
	const struct findings_side a = { 100, 1, 5 }, b = { 120, 1, 5 }, few = { 120, 1, 2 };
	const struct findings_side exact = { 100, 0, 5 }, zero = { 0, 0, 5 }, noisy = { 110, 5, 5 };
	struct findings_metric m[] = { { .name = "a", .unit = "" },
				       { .name = "few", .unit = "" },
				       { .name = "exact", .unit = "" },
				       { .name = "noisy", .unit = "" },
				       { .name = "new", .unit = "" } };

	(void)state;
	findings_from_means(&m[0], &a, &b);
	assert_within(m[0].rel, .2, 1e-12);
	assert_within(m[0].t, 20 / sqrt(.4), 1e-9);
	assert_true(m[0].lo > .18 && m[0].hi < .22 && m[0].p < 1e-8);
	findings_from_means(&m[1], &a, &few);
	assert_true(isnan(m[1].p));
	findings_from_means(&m[2], &exact, &exact);
	assert_within(m[2].p, 1, 1e-12);
	findings_from_means(&m[3], &a, &noisy);
	findings_from_means(&m[4], &zero, &a);
	assert_true(isnan(m[4].rel) && m[4].abs > 99);
	findings_mark_moved(m, ARRAY_SIZE(m), .01, .01);
	assert_true(m[0].moved && m[4].moved);
	assert_false(m[1].moved || m[2].moved || m[3].moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(less_work_in_the_same_time_is_one_finding_and_said_so),
		cmocka_unit_test(time_that_changed_is_not_called_the_same),
		cmocka_unit_test(names_of_one_fact_are_one_and_the_best_name_leads),
		cmocka_unit_test(the_work_never_heads_what_it_is_the_work_of),
		cmocka_unit_test(good_and_bad_news_are_two_findings),
		cmocka_unit_test(movers_come_by_t_with_what_they_are_per_unit_of_work),
		cmocka_unit_test(a_clock_ticks_on_and_a_count_per_operation_is_told_with_its_rate),
		cmocka_unit_test(the_same_work_in_more_time_lowers_what_is_counted_by_the_second),
		cmocka_unit_test(a_ladder_is_one_finding_with_its_turning_point),
		cmocka_unit_test(tests_that_end_in_a_number_are_no_ladder),
		cmocka_unit_test(odd_numbers_do_no_harm),
		cmocka_unit_test(lists_have_an_end),
		cmocka_unit_test(from_means_needs_runs_and_more_than_chance),
	};

	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
