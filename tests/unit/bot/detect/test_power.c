/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known figures of other programs, the detectable change of comparisons, and a simulation. */
#include "bot/detect/power.h"
#include "bot/detect/stats.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

#include "bot/base/cleanup.h"

#include <string.h>

static struct power_design design(double noise, int runs, double effect, double level, double power)
{
	return (struct power_design){
		.noise = noise, .runs = runs, .effect = effect, .level = level, .power = power
	};
}

static double ttest_n(int n, double d, double alpha)
{
	return power_ttest(d * sqrt(n / 2.), 2. * n - 2, alpha);
}

static void agrees_with_published_powers(void **state)
{
	(void)state;
	/* power.t.test(n = 20, delta = 1) of R's manual; sample sizes of Cohen's tables. */
	assert_near(ttest_n(20, 1, .05), .8689528, 5e-7);
	assert_near(ttest_n(64, .5, .05), .8014596, 5e-7);
	assert_near(ttest_n(26, .8, .05), .8074866, 5e-7);
	assert_true(ttest_n(393, .2, .05) < .8 && ttest_n(394, .2, .05) >= .8);
	assert_true(ttest_n(22, 1, .05) < .9 && ttest_n(23, 1, .05) >= .9);
}

static void no_difference_is_seen_as_often_as_the_level_says(void **state)
{
	static const double dfs[] = { 2, 3, 4, 10, 38, 1000, 1e6, 1e9, (double)INFINITY };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(dfs); i++) {
		assert_near(power_ttest(0, dfs[i], .05), .05, 1e-7);
		assert_near(power_ttest(0, dfs[i], .001), .001, 1e-5);
		assert_near(power_ttest(power_delta(dfs[i], .01, .8), dfs[i], .01), .8, 1e-9);
	}
	assert_near(power_ttest(-2.5, 8, .05), power_ttest(2.5, 8, .05), 1e-12);
	assert_true(power_ttest(3, 0, .05) == 0);
}

static void any_value_follows_from_the_others(void **state)
{
	struct err e = { 0 };

	(void)state;
	for (int v = 0; v < POWER_VALUES; v++) {
		struct power_design d = design(.01, 12, .03, .99, .8), s;

		d.boots = 6;
		d.boot_noise = .004;
		assert_ok(power_solve(&d, POWER_POWER, &e), &e);
		d.power *= 1 - 1e-9;
		s = d;
		s.noise = v == POWER_NOISE ? -1 : s.noise;
		s.boot_noise = v == POWER_BOOT_NOISE ? -1 : s.boot_noise;
		s.runs = v == POWER_RUNS ? 0 : s.runs;
		s.boots = v == POWER_BOOTS ? 0 : s.boots;
		s.effect = v == POWER_EFFECT ? -9 : s.effect;
		s.level = v == POWER_LEVEL ? 0 : s.level;
		s.power = v == POWER_POWER ? 0 : s.power;
		assert_ok(power_solve(&s, (enum power_value)v, &e), &e);
		assert_near(s.noise, d.noise, 1e-6);
		assert_near(s.boot_noise, d.boot_noise, 1e-6);
		assert_int_equal(s.runs, d.runs);
		assert_int_equal(s.boots, d.boots);
		assert_near(s.effect, d.effect, 1e-6);
		assert_near(s.level, d.level, 1e-6);
		assert_near(s.power, d.power, 1e-6);
	}
}

static void a_fall_weighs_what_its_logarithm_does(void **state)
{
	struct power_design fall = design(.01, 6, -.5, .99, .8), rise = design(.01, 6, 1, .99, .8);

	(void)state;
	fall.noise = rise.noise = .3;
	assert_near(power_reached(&fall), power_reached(&rise), 1e-12);
}

static void runs_of_a_boot_share_its_noise(void **state)
{
	struct power_design d = design(.01, 12, .02, .99, .8);

	(void)state;
	assert_int_equal(power_units(&d), 12);
	assert_near(power_unit_sd(&d), .01, 1e-15);
	d.boots = 4;
	d.boot_noise = .02;
	assert_int_equal(power_units(&d), 4);
	assert_near(power_unit_sd(&d), sqrt(.0004 + .0001 / 3), 1e-15);
	d.runs = 6; /* two boots of 2 runs, two of 1 */
	assert_near(power_unit_sd(&d), sqrt(.0004 + .0001 * .75), 1e-15);
	d.boots = 1;
	d.boot_noise = 0;
	assert_int_equal(power_units(&d), 6);
}

static void more_runs_on_the_same_boots_may_never_be_enough(void **state)
{
	struct power_design d = design(.01, 0, .02, .99, .8), before;
	struct err e = { 0 };

	(void)state;
	d.boots = 4;
	d.boot_noise = .02;
	before = d;
	assert_err(power_solve(&d, POWER_RUNS, &e), ERR_TOO_FEW, &e);
	assert_non_null(strstr(e.msg, "even 100000 runs see 2 % with probability"));
	assert_memory_equal(&d, &before, sizeof(d));
	d.runs = 4;
	assert_err(power_solve(&d, POWER_NOISE, &e), ERR_TOO_FEW, &e);
	assert_non_null(strstr(e.msg, "boot-noise alone makes units differ by 0.02"));
	d.power = .999;
	assert_err(power_solve(&d, POWER_LEVEL, &e), ERR_TOO_FEW, &e);
}

static void says_what_comparisons_call_detectable(void **state)
{
	static const int looks[] = { 3, 5, 8, 12, 20 };
	struct detect_options o = detect_options_default();
	struct detect_sample a[20], b[20];
	double plan[5], values[20], sd;
	struct detect_result r;
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 20; i++)
		values[i] = 1000 * exp(.01 * (i % 5 - 2));
	for (size_t k = 1; k < 5; k++) {
		double y[20];

		samples_of(a, values, (size_t)looks[k]);
		samples_of(b, values, (size_t)looks[k]);
		for (int i = 0; i < looks[k]; i++)
			y[i] = log(values[i]);
		assert_ok(detect_compare(a, (size_t)looks[k], b, (size_t)looks[k],
					 DETECT_BETTER_HIGHER, NULL, &o, &r, &e),
			  &e);
		sd = sqrt(stats_var(y, (size_t)looks[k]));
		power_plan(sd, 0, looks, 5, 1 - o.alpha, .8, plan);
		assert_near(plan[k], r.mde, 1e-9);
	}
	/* The short formula is close to the exact one, closer with more units. */
	power_plan(.01, 0, looks, 5, .99, .8, plan);
	for (size_t k = 0; k < 5; k++) {
		struct power_design d = design(.01, looks[k], 0, .99, .8);

		assert_ok(power_solve(&d, POWER_EFFECT, &e), &e);
		assert_near(plan[k] / d.effect, 1, k ? .03 : .07);
		assert_true(!k || plan[k] < plan[k - 1]);
	}
}

static void a_plan_without_noise_or_freedom_has_an_answer(void **state)
{
	static const int looks[] = { 1, 2, 8 };
	double plan[3];

	(void)state;
	power_plan(.01, 0, looks, 3, .99, .8, plan);
	assert_true(isinf(plan[0]) && plan[1] > plan[2]);
	power_plan(.01, (double)INFINITY, looks, 3, .99, .8, plan);
	assert_near(plan[0], expm1((2.5758293 + .8416212) * .01 * sqrt(2)), 1e-7);
	power_plan(0, 0, looks, 3, .99, .8, plan);
	assert_true(plan[0] == 0);
}

static void names_the_bad_value(void **state)
{
	static const struct {
		struct power_design d;
		enum power_value missing;
		const char *says;
	} bad[] = {
		{ { -.01, 0, 6, 0, 0, .99, .8 }, POWER_EFFECT, "noise -0.01 is not between 0" },
		{ { (double)NAN, 0, 6, 0, 0, .99, .8 }, POWER_EFFECT, "noise nan is not" },
		{ { 11, 0, 6, 0, 0, .99, .8 }, POWER_EFFECT, "noise 11 is not between 0 and 10" },
		{ { .01, -1, 6, 0, 0, .99, .8 }, POWER_EFFECT, "boot-noise -1 is not" },
		{ { .01, 0, 1, 0, 0, .99, .8 }, POWER_EFFECT, "runs 1 is not between 2 and" },
		{ { .01, 0, 6, 7, 0, .99, .8 }, POWER_EFFECT, "boots 7 is more than runs 6" },
		{ { .01, .01, 6, 1, 0, .99, .8 }, POWER_EFFECT, "boots 1 cannot tell" },
		{ { .01, 0, 6, -1, 0, .99, .8 }, POWER_EFFECT, "boots -1 is not between 1" },
		{ { .01, 0, 0, 0, -1, .99, .8 }, POWER_RUNS, "effect -1 must be more than -1" },
		{ { .01, 0, 0, 0, 0, .99, .8 }, POWER_RUNS, "effect 0 is too close to 0" },
		{ { .01, 0, 6, 0, 0, 1, .8 }, POWER_EFFECT, "level 1 must be more than 0.5" },
		{ { .01, 0, 6, 0, 0, .99, 0 }, POWER_EFFECT, "power 0 must be more than 0" },
		{ { .01, 0, 6, 0, 0, .99, .01 }, POWER_EFFECT, "power 0.01 is no more than" },
		{ { 0, 0, 6, 0, 0, .99, .8 }, POWER_EFFECT, "noise 0 needs no runs" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct power_design d = bad[i].d;
		struct err e = { 0 };

		assert_true(power_solve(&d, bad[i].missing, &e) < 0);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("'%s' is not in '%s'", bad[i].says, e.msg);
	}
}

/* The design is made @trials times: boots, runs in them, the test on the units. */
static double simulated(const struct power_design *d, double effect, int trials, gsl_rng *rng)
{
	const struct stats_prior none = { .lambda = 1 };
	int hits = 0;

	for (int t = 0; t < trials; t++) {
		double unit[2][SAMPLES_MAX] = { { 0 } };
		struct stats_test test;

		for (int side = 0; side < 2; side++) {
			for (int b = 0; b < d->boots; b++)
				unit[side][b] =
					gsl_ran_gaussian(rng, d->boot_noise) + side * log1p(effect);
			for (int i = 0; i < d->runs; i++)
				unit[side][i % d->boots] +=
					gsl_ran_gaussian(rng, d->noise) * d->boots / d->runs;
		}
		stats_moderated(unit[0], (size_t)d->boots, unit[1], (size_t)d->boots, &none, &test);
		hits += test.p <= 1 - d->level;
	}
	return (double)hits / trials;
}

static void tests_see_as_often_as_promised(void **state)
{
	static const int boots[] = { 3, 6, 20 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double seen[4];

	(void)state;
	gsl_rng_set(rng, 7);
	for (int i = 0; i < 4; i++) {
		struct power_design d = design(.01, 0, 0, .99, .8);
		struct err e = { 0 };

		d.boots = boots[i % 3];
		d.runs = d.boots * (i + 1);
		d.boot_noise = .004 * i;
		assert_ok(power_solve(&d, POWER_EFFECT, &e), &e);
		seen[i] = simulated(&d, -d.effect / (1 + d.effect), 5000, rng);
	}
	gsl_rng_free(rng);
	for (int i = 0; i < 4; i++) /* 3 standard errors */
		assert_near(seen[i], .8, .017 / .8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_published_powers),
		cmocka_unit_test(no_difference_is_seen_as_often_as_the_level_says),
		cmocka_unit_test(any_value_follows_from_the_others),
		cmocka_unit_test(a_fall_weighs_what_its_logarithm_does),
		cmocka_unit_test(runs_of_a_boot_share_its_noise),
		cmocka_unit_test(more_runs_on_the_same_boots_may_never_be_enough),
		cmocka_unit_test(says_what_comparisons_call_detectable),
		cmocka_unit_test(a_plan_without_noise_or_freedom_has_an_answer),
		cmocka_unit_test(names_the_bad_value),
		cmocka_unit_test(tests_see_as_often_as_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
