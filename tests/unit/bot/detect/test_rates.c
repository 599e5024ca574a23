/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monte-Carlo gates with fixed seeds: false alarms, power and cost of the sequential rule. */
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

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

/* Noise that a unit can have, at about one percent. */
enum noise {
	NOISE_NORMAL,
	NOISE_T3,
	NOISE_OUTLIERS,
	NOISE_MODES,
	NOISE_BOOTS,
	NOISES
};

static const char *const noise_names[NOISES] = { "normal", "t3", "outliers", "two modes", "boots" };

/* @n runs; with boot noise two of them share a boot. */
static void make_runs(struct detect_sample *s, int n, enum noise noise, gsl_rng *rng)
{
	double boot = 0;

	for (int i = 0; i < n; i++) {
		double y = gsl_ran_gaussian(rng, .01);

		if (noise == NOISE_T3)
			y = .006 * gsl_ran_tdist(rng, 3);
		else if (noise == NOISE_OUTLIERS && gsl_rng_uniform(rng) < .05)
			y -= .2;
		else if (noise == NOISE_MODES && gsl_rng_uniform(rng) < .3)
			y -= .06;
		if (i % 2 == 0)
			boot = gsl_ran_gaussian(rng, .02);
		s[i] = (struct detect_sample){ 1000 * exp(y), i, (double)NAN };
		if (noise == NOISE_BOOTS) {
			s[i].value *= exp(boot);
			s[i].boot = i / 2;
		}
	}
}

/* Share of pairs of equal kernels with p <= .01 at @units a side. */
static double false_share(enum noise noise, int units, gsl_rng *rng)
{
	int runs = noise == NOISE_BOOTS ? 2 * units : units, hits = 0;
	struct detect_options o = detect_options_default();

	o.single_look = true;
	for (int i = 0; i < TRIALS; i++) {
		struct detect_sample a[SAMPLES_MAX], b[SAMPLES_MAX];
		struct detect_result r = { 0 };
		struct err e = { 0 };

		make_runs(a, runs, noise, rng);
		make_runs(b, runs, noise, rng);
		assert_ok(detect_compare(a, (size_t)runs, b, (size_t)runs, DETECT_BETTER_HIGHER,
					 NULL, &o, &r, &e),
			  &e);
		assert_int_equal(r.base.units, units);
		hits += r.p <= .01;
	}
	return (double)hits / TRIALS;
}

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
	struct rates rates = { .trials = TRIALS };

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

static void odd_noise_raises_no_more_false_alarms_without_history(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	static const int sizes[] = { 5, 10 };

	(void)state;
	gsl_rng_set(rng, 11);
	for (int noise = 0; noise < NOISES; noise++) {
		for (int i = 0; i < 2; i++) {
			double share = false_share((enum noise)noise, sizes[i], rng);

			print_message("%s, %d units: p <= .01 in %.2f%%\n", noise_names[noise],
				      sizes[i], 100 * share);
			assert_true(share <= bound(.013, TRIALS));
		}
	}
	gsl_rng_free(rng);
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
		cmocka_unit_test(odd_noise_raises_no_more_false_alarms_without_history),
		cmocka_unit_test(finds_a_drop_of_four_percent),
		cmocka_unit_test(quiet_guest_needs_five_or_eight_units),
	};

	return cmocka_run_group_tests_name("detect_rates", tests, NULL, NULL);
}
