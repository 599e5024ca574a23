/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monte-Carlo gates with fixed seeds for verdicts that have history, in every kind of noise. */
#include "bot/base/cleanup.h"
#include "bot/detect/units.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

#include <stdlib.h>

enum noise {
	NOISE_NORMAL,
	NOISE_LOGNORMAL,
	NOISE_T3,
	NOISE_OUTLIERS,
	NOISE_MODES,
	NOISE_BOOTS,
	NOISES
};

enum {
	COMMITS = 30,
	COMMIT_UNITS = 3,
	HISTORIES = 15,
	PER_HISTORY = 80,
	TRIALS = HISTORIES * PER_HISTORY,
	BOOT_RUNS = 2
};

static const char *const names[NOISES] = { "normal",   "log-normal", "t3",
					   "outliers", "two modes",  "boots" };

static double noise_of(enum noise noise, gsl_rng *rng)
{
	double z = gsl_ran_gaussian(rng, 1);

	switch (noise) {
	case NOISE_LOGNORMAL:
		return .0127 * (exp(.6 * z) - exp(.18));
	case NOISE_T3:
		return .006 * gsl_ran_tdist(rng, 3);
	case NOISE_OUTLIERS:
		return .01 * z - (gsl_rng_uniform(rng) < .05 ? .2 * gsl_rng_uniform(rng) : 0);
	case NOISE_MODES:
		return .003 * z - (gsl_rng_uniform(rng) < .3 ? .02 : 0);
	default:
		return .01 * z;
	}
}

/* @units units; with boot noise each is a boot of some runs. Return: how many runs. */
static size_t make(struct detect_sample *s, int units, double center, enum noise noise,
		   gsl_rng *rng)
{
	size_t n = 0;

	for (int i = 0; i < units; i++) {
		double boot = noise == NOISE_BOOTS ? gsl_ran_gaussian(rng, .02) : 0;

		for (int j = 0; j < (noise == NOISE_BOOTS ? BOOT_RUNS : 1); j++) {
			s[n].value = center * exp(boot + noise_of(noise, rng));
			s[n].boot = i;
			s[n++].order = (double)NAN;
		}
	}
	return n;
}

static void fit(enum noise noise, gsl_rng *rng, struct detect_profile *ret)
{
	static const int sizes[] = { 3, 5, 10 };
	double y[COMMITS][COMMIT_UNITS];
	struct detect_sample s[COMMIT_UNITS * BOOT_RUNS];
	struct detect_commit c[COMMITS];
	struct err e = { 0 };

	for (int i = 0; i < COMMITS; i++) {
		size_t runs = make(s, COMMIT_UNITS, 1000, noise, rng) / COMMIT_UNITS;

		for (size_t j = 0; j < COMMIT_UNITS; j++) {
			y[i][j] = s[j * runs].value;
			if (runs > 1)
				y[i][j] = (y[i][j] + s[j * runs + 1].value) / 2;
		}
		c[i] = (struct detect_commit){ .units = y[i], .n = COMMIT_UNITS };
	}
	assert_ok(detect_profile_fit(c, COMMITS, sizes, 3, 1, ret, &e), &e);
	assert_true(ret->have);
}

/* p-values of pairs that differ by @effect, one look each. */
static void p_values(enum noise noise, int units, double effect, double *p, gsl_rng *rng)
{
	struct detect_options o = detect_options_default();
	struct detect_profile profile = { 0 };

	o.single_look = true;
	for (int i = 0; i < TRIALS; i++) {
		struct detect_sample a[SAMPLES_MAX], b[SAMPLES_MAX];
		struct detect_result r = { 0 };
		struct err e = { 0 };
		size_t n, m;

		if (i % PER_HISTORY == 0)
			fit(noise, rng, &profile);
		n = make(a, units, 1000, noise, rng);
		m = make(b, units, 1000 * (1 + effect), noise, rng);
		assert_ok(detect_compare(a, n, b, m, DETECT_BETTER_HIGHER, &profile, &o, &r, &e),
			  &e);
		p[i] = r.p;
	}
}

static double share_below(const double *p, double alpha)
{
	int hits = 0;

	for (int i = 0; i < TRIALS; i++)
		hits += p[i] <= alpha;
	return (double)hits / TRIALS;
}

static int cmp(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Largest excess of the share of p-values below x over x (one-sided Kolmogorov-Smirnov). */
static double excess(double *p)
{
	double worst = 0;

	qsort(p, TRIALS, sizeof(*p), cmp);
	for (int i = 0; i < TRIALS; i++)
		worst = fmax(worst, (i + 1.) / TRIALS - p[i]);
	return worst;
}

static void no_noise_raises_more_false_alarms_than_said(void **state)
{
	static const int units[] = { 3, 5, 10 };
	static double p[TRIALS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double limit = .013 + 3 * sqrt(.013 * .987 / TRIALS);

	(void)state;
	gsl_rng_set(rng, 21);
	for (int noise = 0; noise < NOISES; noise++) {
		for (int i = 0; i < 3; i++) {
			double share, over;

			p_values((enum noise)noise, units[i], 0, p, rng);
			share = share_below(p, .01);
			over = excess(p);
			print_message("%s, %d units: p <= .01 in %.2f%%, excess %.3f\n",
				      names[noise], units[i], 100 * share, over);
			assert_true(share <= limit);
			/* Uniform or larger, at 1e-3. */
			assert_true(over <= sqrt(log(1e3) / 2 / TRIALS));
		}
	}
	gsl_rng_free(rng);
}

static void three_units_find_four_percent(void **state)
{
	static double p[TRIALS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	gsl_rng_set(rng, 22);
	p_values(NOISE_NORMAL, 3, -.038, p, rng);
	assert_true(share_below(p, .01) >= .91);
	gsl_rng_free(rng);
}

static void one_mode_is_hardly_ever_taken_for_more(void **state)
{
	enum {
		SAMPLES = 3000
	};
	static const int units[] = { 8, 10, 12, 15, 20, 40 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	gsl_rng_set(rng, 23);
	for (int noise = NOISE_NORMAL; noise <= NOISE_OUTLIERS; noise++) {
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			int named = 0;

			for (int k = 0; k < SAMPLES; k++) {
				struct stats_sum modes[DETECT_MODES_MAX];
				double y[40];

				for (int j = 0; j < units[i]; j++)
					y[j] = noise_of((enum noise)noise, rng);
				stats_sort(y, (size_t)units[i]);
				named += units_modes(y, (size_t)units[i], modes) > 0;
			}
			print_message("%s, %d units: modes named in %.2f%%\n", names[noise],
				      units[i], 100. * named / SAMPLES);
			assert_true(named <= SAMPLES / 100);
		}
	}
	gsl_rng_free(rng);
}

static void two_modes_far_apart_are_named(void **state)
{
	enum {
		SAMPLES = 500
	};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int named = 0;

	(void)state;
	gsl_rng_set(rng, 24);
	for (int k = 0; k < SAMPLES; k++) {
		struct stats_sum modes[DETECT_MODES_MAX];
		double y[12];

		for (int j = 0; j < 12; j++)
			y[j] = gsl_ran_gaussian(rng, 1) + (j < 5 ? 12 : 0);
		stats_sort(y, 12);
		if (units_modes(y, 12, modes) != 2)
			continue;
		assert_int_equal(modes[0].n, 7);
		named++;
	}
	assert_true(named > SAMPLES * 9 / 10);
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_noise_raises_more_false_alarms_than_said),
		cmocka_unit_test(three_units_find_four_percent),
		cmocka_unit_test(one_mode_is_hardly_ever_taken_for_more),
		cmocka_unit_test(two_modes_far_apart_are_named),
	};

	return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}
