/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison of thousands of metrics, half of them with odd noise: screened, then judged. */
#include "tests/bench/bench_detect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	METRICS = 2000,
	HEADLINES = 5,
	CHANGED = 40,
	SCREEN = 3,
	VERDICT = 8,
	UNCHANGED_ROUNDS = 80,
	CHANGED_ROUNDS = 10
};

struct metric_data {
	struct detect_profile p;
	struct detect_sample a[VERDICT * BENCH_BOOT_RUNS], b[VERDICT * BENCH_BOOT_RUNS];
};

struct counts {
	int reported, wrong, found, comparisons, screened;
};

static enum noise noise_of(int metric)
{
	return metric % 2 ? (enum noise)(1 + metric / 2 % (NOISES - 1)) : NOISE_NORMAL;
}

/* Every fiftieth metric is changed; @odd shifts which noise those have. */
static bool is_changed(int metric, int odd)
{
	return (metric + odd) % (METRICS / CHANGED) == 0;
}

static void compare(bool changed, int round, gsl_rng *rng, struct metric_data *d,
		    struct detect_metric *m, struct detect_result *r, struct counts *y)
{
	struct detect_options o = detect_options_default();
	int asked = 0;

	for (int i = 0; i < METRICS; i++) {
		double shift = changed && is_changed(i, round) ? -.038 : 0;
		enum noise noise = noise_of(i);

		noise_profile(30, 3, .01, noise, rng, &d[i].p);
		(void)noise_runs(d[i].a, VERDICT, 1000, .01, noise, rng);
		(void)noise_runs(d[i].b, VERDICT, 1000 * (1 + shift), .01, noise, rng);
		m[i] = (struct detect_metric){
			d[i].a, 0, d[i].b, 0, DETECT_BETTER_HIGHER, i < HEADLINES, &d[i].p
		};
	}
	for (int units = SCREEN; units <= VERDICT; units += VERDICT - SCREEN) {
		for (int i = 0; i < METRICS; i++) {
			size_t runs = noise_of(i) == NOISE_BOOTS ? BENCH_BOOT_RUNS : 1;

			m[i].nbase = m[i].nhead = (size_t)units * runs;
		}
		bench_compare(m, METRICS, &o, r);
		for (int i = 0; units == SCREEN && i < METRICS; i++)
			asked += r[i].more_units > 0;
	}
	y->screened += asked > 0;
	y->comparisons++;
	for (int i = 0; i < METRICS; i++) {
		bool real = changed && is_changed(i, round);

		if (!bench_changed(&r[i]))
			continue;
		y->reported++;
		y->found += real;
		y->wrong += !real;
	}
}

void bench_many(double scale)
{
	struct metric_data *d = calloc(METRICS, sizeof(*d));
	struct detect_metric *m = calloc(METRICS, sizeof(*m));
	struct detect_result *r = calloc(METRICS, sizeof(*r));
	struct counts none = { 0 }, some = { 0 };
	gsl_rng *rng = bench_rng(3);

	printf("%d metrics, half with odd noise, %d + %d runs\n", METRICS, SCREEN,
	       VERDICT - SCREEN);
	for (int i = 0; i < (int)(UNCHANGED_ROUNDS * scale); i++)
		compare(false, i, rng, d, m, r, &none);
	for (int i = 0; i < (int)(CHANGED_ROUNDS * scale); i++)
		compare(true, i, rng, d, m, r, &some);
	if (none.comparisons && some.comparisons) {
		bench_row("false reports of an unchanged commit",
			  (double)none.wrong / none.comparisons, BENCH_AT_MOST, .05, "");
		bench_row("unchanged commits that went on after 3 runs",
			  100. * none.screened / none.comparisons, BENCH_SHOW, 0, "%");
		bench_row("40 changes of 3.8 %: found",
			  100. * some.found / some.comparisons / CHANGED, BENCH_AT_LEAST, 75, "%");
		bench_row("40 changes of 3.8 %: false among the reports",
			  some.reported ? 100. * some.wrong / some.reported : 0, BENCH_AT_MOST, 2,
			  "%");
	}
	gsl_rng_free(rng);
	free(d);
	free(m);
	free(r);
}
