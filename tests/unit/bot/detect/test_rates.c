/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monte-Carlo gates with fixed seeds: false alarms, power and cost of the sequential rule. */
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

#include <stdlib.h>

enum {
	TRIALS = 1500
};

struct rates {
	int trials;
	int worse;
	int other; /* improvement */
	int same;
	double units;
};

/* Run the plan to its end: more units as long as the result asks for them. */
static enum detect_verdict run_plan(double head_center, double cv,
				    const struct detect_profile *profile, gsl_rng *rng,
				    double *units)
{
	struct detect_sample a[SAMPLES_MAX], b[SAMPLES_MAX];
	struct detect_options o = detect_options_default();
	struct detect_result r = { 0 };
	struct err e = { 0 };
	int n = detect_next_look(&o, profile != NULL, 0);

	samples_normal(a, 20, 1000, cv, rng);
	samples_normal(b, 20, head_center, cv, rng);
	for (;;) {
		assert_ok(detect_compare(a, (size_t)n, b, (size_t)n, DETECT_BETTER_HIGHER, profile,
					 &o, &r, &e),
			  &e);
		*units += n == 20 || !r.more_units ? n : 0;
		if (!r.more_units)
			return r.verdict;
		assert_true(r.more_units > n && r.more_units <= 20);
		n = r.more_units;
	}
}

static struct rates measure(double effect, double cv, const struct detect_profile *profile,
			    unsigned long seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	const char *many = getenv("KPERFBOT_TRIALS");
	struct rates rates = { .trials = many ? atoi(many) : TRIALS };

	gsl_rng_set(rng, seed);
	for (int i = 0; i < rates.trials; i++) {
		enum detect_verdict v =
			run_plan(1000 * (1 + effect), cv, profile, rng, &rates.units);

		rates.worse += v == DETECT_REGRESSION;
		rates.other += v == DETECT_IMPROVEMENT;
		rates.same += v == DETECT_SAME;
	}
	rates.units /= rates.trials;
	gsl_rng_free(rng);
	print_message("effect %+.1f%% cv %.2f%% %s: regression %.2f%% improvement %.2f%% "
		      "same %.2f%% units %.2f\n",
		      100 * effect, 100 * cv, profile ? "history" : "no history",
		      100. * rates.worse / rates.trials, 100. * rates.other / rates.trials,
		      100. * rates.same / rates.trials, rates.units);
	return rates;
}

static struct detect_profile known_noise(double cv)
{
	return (struct detect_profile){ .have = true,
					.ln_scale = true,
					.lo = -10 * cv,
					.hi = 10 * cv,
					.d0 = 20,
					.s0sq = cv * cv,
					.lambda = 1,
					.history = 20 };
}

/* Share that a true rate of @limit exceeds three times in a thousand at most. */
static double bound(double limit, int trials)
{
	return limit + 3 * sqrt(limit * (1 - limit) / trials);
}

static void unchanged_kernels_raise_no_alarm_without_history(void **state)
{
	struct rates r = measure(0, .01, NULL, 1);

	(void)state;
	assert_true((double)(r.worse + r.other) / r.trials <= bound(.01, r.trials));
	assert_true(r.units < 6);
}

static void unchanged_kernels_raise_no_alarm_with_history(void **state)
{
	struct detect_profile p = known_noise(.01);
	struct rates r = measure(0, .01, &p, 2);

	(void)state;
	assert_true((double)(r.worse + r.other) / r.trials <= bound(.01, r.trials));
	assert_true(r.units < 3.6);
}

static void noisy_unchanged_kernels_raise_no_alarm(void **state)
{
	struct rates r = measure(0, .03, NULL, 3);

	(void)state;
	assert_true((double)(r.worse + r.other) / r.trials <= bound(.01, r.trials));
}

static void finds_a_drop_of_four_percent(void **state)
{
	struct detect_profile p = known_noise(.01);
	struct rates with = measure(-.038, .01, &p, 4), without = measure(-.038, .01, NULL, 5);

	(void)state;
	assert_true(with.worse > .99 * with.trials && with.other == 0);
	assert_true(with.units < 8.5);
	assert_true(without.worse > .97 * without.trials && without.other == 0);
}

static void quiet_guest_needs_five_or_eight_units(void **state)
{
	struct rates same = measure(0, .0015, NULL, 6), step = measure(-.044, .0015, NULL, 7);

	(void)state;
	assert_int_equal(same.same, same.trials);
	assert_near(same.units, 5, 0);
	assert_int_equal(step.worse, step.trials);
	assert_near(step.units, 8, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_kernels_raise_no_alarm_without_history),
		cmocka_unit_test(unchanged_kernels_raise_no_alarm_with_history),
		cmocka_unit_test(noisy_unchanged_kernels_raise_no_alarm),
		cmocka_unit_test(finds_a_drop_of_four_percent),
		cmocka_unit_test(quiet_guest_needs_five_or_eight_units),
	};

	return cmocka_run_group_tests_name("detect_rates", tests, NULL, NULL);
}
