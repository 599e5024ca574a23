/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/health.h"
#include "tests/test.h"

#include <math.h>

static void says_nothing_before_there_is_a_reference(void **state)
{
	const double v[] = { 100, 150, 90 };

	(void)state;
	assert_int_equal(health_judge(NULL, 0, 0.02).verdict, HEALTH_LEARNING);
	assert_int_equal(health_judge(v, 1, 0.02).verdict, HEALTH_LEARNING);
	assert_int_equal(health_judge(v, 2, 0.02).verdict, HEALTH_LEARNING);
	assert_int_equal(health_judge(v, 2, 0.02).n, 1);
}

static void tells_steady_from_drift(void **state)
{
	double v[] = { 1000, 1001, 999, 1000, 1010 };
	struct health h;

	(void)state;
	h = health_judge(v, 5, 0.02);
	assert_int_equal(h.verdict, HEALTH_STEADY);
	assert_near(h.rel, 0.01, 1e-9);
	assert_near(h.reference, 1000, 1e-9);
	assert_int_equal(h.n, 4);
	v[4] = 1021;
	assert_int_equal(health_judge(v, 5, 0.02).verdict, HEALTH_DRIFT);
	v[4] = 979;
	assert_int_equal(health_judge(v, 5, 0.02).verdict, HEALTH_DRIFT);
}

static void a_noisy_metric_widens_the_limit(void **state)
{
	double v[] = { 1000, 1030, 970, 1010, 990, 1050 };
	struct health h = health_judge(v, 6, 0.02);

	(void)state;
	/* Median absolute deviation 1 %: five spreads are 7.413 %. */
	assert_near(h.limit, 5 * 1.4826 * 0.01, 1e-9);
	assert_int_equal(h.verdict, HEALTH_STEADY);
}

static void the_reference_does_not_creep_along(void **state)
{
	double v[40];

	(void)state;
	/* 0.2 % a day: each day is like the one before it, and after ten the limit is passed. */
	for (int i = 0; i < 40; i++)
		v[i] = 1000 * pow(0.998, i < 8 ? 0 : i - 7);
	assert_int_equal(health_judge(v, 15, 0.02).verdict, HEALTH_STEADY);
	assert_int_equal(health_judge(v, 40, 0.02).verdict, HEALTH_DRIFT);
	assert_int_equal(health_judge(v, 40, 0.02).n, HEALTH_REFERENCE_MAX);
}

static void zero_and_negative_references_are_judged(void **state)
{
	const double zeros[] = { 0, 0, 0 };
	const double off_zero[] = { 0, 0, 1 };
	const double negative[] = { -10, -10, -11 };

	(void)state;
	assert_int_equal(health_judge(zeros, 3, 0.02).verdict, HEALTH_STEADY);
	assert_int_equal(health_judge(off_zero, 3, 0.02).verdict, HEALTH_DRIFT);
	assert_int_equal(health_judge(negative, 3, 0.02).verdict, HEALTH_DRIFT);
}

static void verdicts_have_names(void **state)
{
	(void)state;
	assert_string_equal(health_verdict_name(HEALTH_LEARNING), "learning");
	assert_string_equal(health_verdict_name(HEALTH_STEADY), "steady");
	assert_string_equal(health_verdict_name(HEALTH_DRIFT), "drift");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_nothing_before_there_is_a_reference),
		cmocka_unit_test(tells_steady_from_drift),
		cmocka_unit_test(a_noisy_metric_widens_the_limit),
		cmocka_unit_test(the_reference_does_not_creep_along),
		cmocka_unit_test(zero_and_negative_references_are_judged),
		cmocka_unit_test(verdicts_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
