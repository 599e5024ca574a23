/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_model.h"

#include "bot/base/err.h"
#include "tests/test.h"

#include <math.h>

#define RUNS	2
#define BOOTS	6
#define COMMITS 80
#define MANY	(RUNS * BOOTS * COMMITS)

/* Sum of twelve uniform numbers: nearly normal, and the same everywhere. */
static double normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*seed = *seed * 6364136223846793005U + 1442695040888963407U;
		sum += (double)(*seed >> 11) / 9007199254740992.0;
	}
	return sum;
}

static void fill(struct noise_value *v, double run, double boot, double commit)
{
	uint64_t seed = 20301106;
	size_t n = 0;

	for (int c = 0; c < COMMITS; c++) {
		double u = commit * normal(&seed);

		for (int b = 0; b < BOOTS; b++) {
			double y = u + boot * normal(&seed);

			for (int i = 0; i < RUNS; i++)
				v[n++] = (struct noise_value){
					.commit = c,
					.boot = c * BOOTS + b,
					.value = 1e6 * exp(y + run * normal(&seed)),
				};
		}
	}
}

static void tells_runs_boots_and_commits_apart(void **state)
{
	struct noise_value v[MANY];
	struct bisection_noise noise;

	(void)state;
	fill(v, 0.01, 0.004, 0.006);
	bisection_noise(v, MANY, &noise);
	assert_true(noise.ln);
	assert_in_range(noise.runs, MANY / 2, MANY / 2);
	assert_in_range(noise.boots, COMMITS * (BOOTS - 1), COMMITS * (BOOTS - 1));
	assert_true(fabs(noise.run - 0.01) < 0.0015);
	assert_true(fabs(noise.boot - 0.004) < 0.002);
	assert_true(fabs(noise.commit - 0.006) < 0.003);
}

static void an_outlier_does_not_widen_the_runs(void **state)
{
	struct noise_value v[MANY];
	struct bisection_noise clean, spoilt;

	(void)state;
	fill(v, 0.01, 0.004, 0);
	bisection_noise(v, MANY, &clean);
	v[17].value *= 3;
	bisection_noise(v, MANY, &spoilt);
	assert_true(spoilt.run < 1.1 * clean.run);
}

static void single_runs_count_as_noise_of_both_kinds(void **state)
{
	struct noise_value v[] = {
		{ 0, 0, 0, 100 }, { 0, 0, 1, 101 }, { 0, 1, 2, 100 }, { 0, 1, 3, 102 }
	};
	struct bisection_noise noise;

	(void)state;
	bisection_noise(v, 4, &noise);
	assert_int_equal(noise.runs, 0);
	assert_int_equal(noise.boots, 2);
	assert_true(noise.run > 0.005 && noise.run < 0.02);
	assert_true(fabs(noise.boot - noise.run / 2) < 1e-12);
}

static void nothing_measured_gives_guesses_that_can_be_used(void **state)
{
	struct bisection_cost cost = { .build = 10, .incremental = 10, .boot = 2, .run = 3 };
	struct bisect_params p = bisect_params_default();
	struct bisection_noise noise;
	struct err e = { 0 };

	(void)state;
	bisection_noise(NULL, 0, &noise);
	bisection_model(&noise, &cost, 0, 0, 0, &p);
	assert_ok(bisect_params_check(&p, &e), &e);
	assert_true(p.sigma > 0 && p.boot_sd > 0 && p.commit_sd > 0);
	assert_true(p.step == 0);
	bisection_model_least(&noise, 0.02, &p);
	assert_true(fabs(p.step_least - log1p(0.02)) < 1e-12);
}

static void a_change_that_was_seen_needs_no_least_one(void **state)
{
	struct bisection_cost cost = { .build = 10, .incremental = 10, .boot = 2, .run = 3 };
	struct bisect_params p = bisect_params_default();
	struct bisection_noise noise;

	(void)state;
	bisection_noise(NULL, 0, &noise);
	bisection_model(&noise, &cost, -0.04, -0.05, -0.03, &p);
	bisection_model_least(&noise, 0.02, &p);
	assert_true(p.step < 0 && p.step_least == 0);
}

static void values_that_are_not_positive_have_a_scale_of_their_own(void **state)
{
	struct noise_value v[] = {
		{ 0, 0, 0, -100 }, { 0, 0, 1, -100 }, { 0, 1, 2, -100 }, { 0, 1, 3, -100 }
	};
	struct bisection_cost cost = { .build = 1, .incremental = 5, .boot = 1, .run = 1 };
	struct bisect_params p = bisect_params_default();
	struct bisection_noise noise;
	struct err e = { 0 };

	(void)state;
	bisection_noise(v, 4, &noise);
	assert_false(noise.ln);
	bisection_model(&noise, &cost, -0.04, -0.05, -0.03, &p);
	assert_ok(bisect_params_check(&p, &e), &e);
	assert_true(p.sigma >= 0.1 && p.step == 0);
	bisection_model_least(&noise, 0.02, &p);
	assert_true(fabs(p.step_least - 2) < 1e-12);
	/* A build from scratch is never cheaper. */
	assert_true(p.cost_build == 5 && p.cost_incremental == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_runs_boots_and_commits_apart),
		cmocka_unit_test(an_outlier_does_not_widen_the_runs),
		cmocka_unit_test(single_runs_count_as_noise_of_both_kinds),
		cmocka_unit_test(nothing_measured_gives_guesses_that_can_be_used),
		cmocka_unit_test(a_change_that_was_seen_needs_no_least_one),
		cmocka_unit_test(values_that_are_not_positive_have_a_scale_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
