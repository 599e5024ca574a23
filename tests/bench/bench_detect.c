/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How good the two-sample verdicts are: power, false alarms, cost and speed, each beside what was
 * asked for. Option -p names one part; -s multiplies the number of simulated trials.
 */
#include "tests/bench/bench_detect.h"

#include "bot/base/err.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed;

void bench_row(const char *what, double measured, enum bench_side side, double target,
	       const char *unit)
{
	bool ok = side == BENCH_SHOW || (side == BENCH_AT_MOST && measured <= target) ||
		  (side == BENCH_AT_LEAST && measured >= target);

	printf("%-58s %9.3f%-3s", what, measured, unit);
	if (side != BENCH_SHOW)
		printf(" %s %g%s%s", side == BENCH_AT_MOST ? "<=" : ">=", target, unit,
		       ok ? "" : "   MISSED");
	printf("\n");
	fflush(stdout);
	failed += !ok;
}

gsl_rng *bench_rng(unsigned long seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, seed);
	return rng;
}

const char *noise_name(enum noise noise)
{
	static const char *const names[NOISES] = {
		"normal", "log-normal", "bimodal", "outliers", "t3", "boots",
	};

	return names[noise];
}

/* Standard deviation @cv each; of outliers, without them. */
static double disturb(double cv, enum noise noise, gsl_rng *rng)
{
	double z = gsl_ran_gaussian(rng, cv);

	switch (noise) {
	case NOISE_LOGNORMAL: /* skewed: an excess that is log-normal with sigma .6 */
		return cv / .79 * (exp(.6 * z / cv) - exp(.18));
	case NOISE_BIMODAL: /* six of their standard deviations apart */
		return .34 * (z - (gsl_rng_uniform(rng) < .3 ? 6 * cv : 0));
	case NOISE_OUTLIERS:
		return z - (gsl_rng_uniform(rng) < .05 ? 20 * cv * gsl_rng_uniform(rng) : 0);
	case NOISE_T3:
		return cv / sqrt(3) * gsl_ran_tdist(rng, 3);
	default:
		return z;
	}
}

size_t noise_runs(struct detect_sample *s, int units, double center, double cv, enum noise noise,
		  gsl_rng *rng)
{
	bool boots = noise == NOISE_BOOTS;
	int runs = boots ? BENCH_BOOT_RUNS : 1;
	size_t n = 0;

	for (int i = 0; i < units; i++) {
		/* Boots differ more than the runs of one. */
		double boot = boots ? gsl_ran_gaussian(rng, .9 * cv) : 0;

		for (int j = 0; j < runs; j++) {
			double own = disturb(boots ? .75 * cv : cv, noise, rng);

			s[n++] = (struct detect_sample){ center * exp(boot + own), i, (double)NAN };
		}
	}
	return n;
}

void bench_fit(const struct detect_commit *c, size_t n, const int *sizes, size_t nsizes,
	       struct detect_profile *ret)
{
	struct err e = { 0 };

	if (detect_profile_fit(c, n, sizes, nsizes, 1, ret, &e) < 0) {
		fprintf(stderr, "profile: %s\n", e.msg);
		exit(2);
	}
}

void bench_compare(const struct detect_metric *m, size_t n, const struct detect_options *o,
		   struct detect_result *ret)
{
	struct err e = { 0 };

	if (detect_compare_many(m, n, o, ret, &e) < 0) {
		fprintf(stderr, "compare: %s\n", e.msg);
		exit(2);
	}
}

bool bench_changed(const struct detect_result *r)
{
	return r->verdict == DETECT_REGRESSION || r->verdict == DETECT_IMPROVEMENT ||
	       r->verdict == DETECT_CHANGE;
}

void noise_profile(int commits, int units, double cv, enum noise noise, gsl_rng *rng,
		   struct detect_profile *ret)
{
	static const int sizes[] = { 3, 5, 8, 12, 20 };
	static double y[DETECT_HISTORY_MAX][BENCH_UNITS_MAX];
	struct detect_sample s[BENCH_RUNS_MAX];
	struct detect_commit c[DETECT_HISTORY_MAX];

	for (int i = 0; i < commits; i++) {
		size_t n = noise_runs(s, units, 1000, cv, noise, rng);
		size_t runs = n / (size_t)units;

		for (int j = 0; j < units; j++) {
			double sum = 0;

			for (size_t k = 0; k < runs; k++)
				sum += s[(size_t)j * runs + k].value;
			y[i][j] = sum / (double)runs;
		}
		c[i] = (struct detect_commit){ .units = y[i], .n = (size_t)units };
	}
	bench_fit(c, (size_t)commits, sizes, 5, ret);
}

static bool wanted(const char *only, const char *part)
{
	return !only || !strcmp(only, part);
}

int main(int argc, char **argv)
{
	const char *trials = TEST_SOURCE_DIR "/tests/data/series/sap_ab_trials.jsonl.gz";
	const char *only = NULL;
	double scale = 1;
	int c;

	while ((c = getopt(argc, argv, "p:s:")) != -1) {
		if (c == 'p') {
			only = optarg;
		} else if (c == 's' && strtod(optarg, NULL) > 0) {
			scale = strtod(optarg, NULL);
		} else {
			fprintf(stderr,
				"usage: test_bench_detect [-p trials|noise|many|looks|speed] "
				"[-s factor on trials] [recorded trials]\n");
			return 2;
		}
	}
	if (optind < argc)
		trials = argv[optind];
	if (wanted(only, "trials") && access(trials, R_OK) < 0)
		printf("No recorded A/B trials at %s: left out\n", trials);
	else if (wanted(only, "trials") && bench_trials(trials) < 0)
		return 2;
	if (wanted(only, "noise"))
		bench_noise(scale);
	if (wanted(only, "many"))
		bench_many(scale);
	if (wanted(only, "looks"))
		bench_looks(scale);
	if (wanted(only, "speed"))
		bench_speed();
	printf("%d of the lines miss their target\n", failed);
	return failed ? 1 : 0;
}
