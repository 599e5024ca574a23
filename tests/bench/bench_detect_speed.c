/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many verdicts and profiles one core gives a second. */
#include "tests/bench/bench_detect.h"

#include "bot/base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	METRICS = 3000,
	ROUNDS = 40
};

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Best of some rounds, in time of the processor: other programs can only make it slower. */
static double verdicts_a_second(int units, bool history)
{
	struct detect_metric *m = calloc(METRICS, sizeof(*m));
	struct detect_result *r = calloc(METRICS, sizeof(*r));
	struct detect_sample *s = calloc((size_t)METRICS * 2 * (size_t)units, sizeof(*s));
	struct detect_options o = detect_options_default();
	struct detect_profile p;
	gsl_rng *rng = bench_rng(6);
	double best = 0;

	noise_profile(30, 3, .01, NOISE_NORMAL, rng, &p);
	for (int i = 0; i < METRICS; i++) {
		struct detect_sample *a = s + (size_t)i * 2 * (size_t)units, *b = a + units;

		m[i] = (struct detect_metric){ a, 0, b, 0, DETECT_BETTER_HIGHER, i < 5, NULL };
		m[i].nbase = noise_runs(a, units, 1000, .01, NOISE_NORMAL, rng);
		m[i].nhead = noise_runs(b, units, i % 50 ? 1000 : 960, .01, NOISE_NORMAL, rng);
		m[i].profile = history ? &p : NULL;
	}
	for (int i = 0; i < ROUNDS; i++) {
		double t = now(), rate;

		bench_compare(m, METRICS, &o, r);
		rate = METRICS / (now() - t);
		best = rate > best ? rate : best;
	}
	gsl_rng_free(rng);
	free(m);
	free(r);
	free(s);
	return best;
}

static double profile_ms(void)
{
	struct detect_profile p;
	gsl_rng *rng = bench_rng(7);
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double t = now();

		for (int j = 0; j < 20; j++)
			noise_profile(40, 5, .01, NOISE_NORMAL, rng, &p);
		t = (now() - t) * 1e3 / 20;
		best = t < best ? t : best;
	}
	gsl_rng_free(rng);
	return best;
}

/* Sanitizers, and no optimisation, are not what the targets are for. */
#ifdef __OPTIMIZE__
static const bool optimised = true;
#else
static const bool optimised = false;
#endif

void bench_speed(void)
{
	static const int units[] = { 3, 5, 8, 10, 20 };

	printf("Speed of one core\n");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		for (int history = 0; history < 2; history++) {
			char text[96];

			(void)snprintf(text, sizeof(text),
				       "%d + %d units, %s history: verdicts a second", units[i],
				       units[i], history ? "with" : "no");
			bench_row(text, verdicts_a_second(units[i], history) * 1e-6,
				  optimised && units[i] <= 10 ? BENCH_AT_LEAST : BENCH_SHOW, 1,
				  "M");
		}
	}
	bench_row("profile of 40 commits with 5 units, 5 looks", profile_ms(),
		  optimised ? BENCH_AT_MOST : BENCH_SHOW, .2, "ms");
}
