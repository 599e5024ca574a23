/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One look on made-up noise of which history is known: false alarms and power. */
#include "tests/bench/bench_detect.h"

#include "bot/base/cleanup.h"

#include <math.h>
#include <stdio.h>

enum {
	HISTORIES = 400,
	PER_HISTORY = 50,
	COMMITS = 30,
	COMMIT_UNITS = 3
};

/* Share of pairs that one look at alpha .01 calls changed. */
static double share(enum noise noise, int units, double effect, double scale, gsl_rng *rng)
{
	struct detect_options o = detect_options_default();
	int hits = 0, trials = 0, histories = (int)(HISTORIES * scale);

	o.single_look = true;
	o.level = .99;
	o.min_effect = 0;
	for (int h = 0; h < histories; h++) {
		struct detect_profile p;

		noise_profile(COMMITS, COMMIT_UNITS, .01, noise, rng, &p);
		for (int i = 0; i < PER_HISTORY; i++) {
			struct detect_sample a[BENCH_RUNS_MAX], b[BENCH_RUNS_MAX];
			struct detect_metric m = { a, 0, b, 0, DETECT_BETTER_HIGHER, true, &p };
			struct detect_result r;

			m.nbase = noise_runs(a, units, 1000, .01, noise, rng);
			m.nhead = noise_runs(b, units, 1000 * (1 + effect), .01, noise, rng);
			bench_compare(&m, 1, &o, &r);
			hits += bench_changed(&r);
			trials++;
		}
	}
	return 100. * hits / trials;
}

void bench_noise(double scale)
{
	static const int units[] = { 3, 5, 10 };
	gsl_rng *rng = bench_rng(2);

	printf("Made-up noise, CV 1 %%, history of %d commits with %d units, alpha .01\n", COMMITS,
	       COMMIT_UNITS);
	for (int noise = 0; noise < NOISES; noise++) {
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			bool first = noise == NOISE_NORMAL && units[i] == 3;
			char text[96];

			(void)snprintf(text, sizeof(text), "%s, n=%d: false",
				       noise_name((enum noise)noise), units[i]);
			bench_row(text, share((enum noise)noise, units[i], 0, scale, rng),
				  BENCH_AT_MOST, first ? 1 : 1.5, "%");
			(void)snprintf(text, sizeof(text), "%s, n=%d: drop of 3.8 %% found",
				       noise_name((enum noise)noise), units[i]);
			bench_row(text, share((enum noise)noise, units[i], -.038, scale / 4, rng),
				  first ? BENCH_AT_LEAST : BENCH_SHOW, 93, "%");
		}
	}
	gsl_rng_free(rng);
}
