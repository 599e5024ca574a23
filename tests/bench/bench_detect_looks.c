/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of looks run to its end: runs it takes, errors, and the size that it reports. */
#include "tests/bench/bench_detect.h"

#include "bot/base/cleanup.h"

#include <math.h>
#include <stdio.h>

enum {
	TRIALS = 30000,
	PER_HISTORY = 50,
	LAST = 20
};

struct outcome {
	int trials;
	int worse, better, early; /* early: a change before the first verdict look */
	double units;
	double bias,
		size_bias; /* sum over the changes reported, of all units and of the size to report */
	int covered, size_covered;
};

static void run_plan(double effect, double cv, const struct detect_profile *p, gsl_rng *rng,
		     struct outcome *y)
{
	struct detect_options o = detect_options_default();
	struct detect_sample a[BENCH_RUNS_MAX], b[BENCH_RUNS_MAX];
	struct detect_metric m = { a, 0, b, 0, DETECT_BETTER_HIGHER, true, p };
	struct detect_result r = { .more_units = detect_next_look(&o, p != NULL, 0) };

	(void)noise_runs(a, LAST, 1000, cv, NOISE_NORMAL, rng);
	(void)noise_runs(b, LAST, 1000 * (1 + effect), cv, NOISE_NORMAL, rng);
	while (r.more_units) {
		m.nbase = m.nhead = (size_t)r.more_units;
		bench_compare(&m, 1, &o, &r);
	}
	y->trials++;
	y->units += (double)m.nbase;
	if (!bench_changed(&r))
		return;
	y->worse += r.verdict == DETECT_REGRESSION;
	y->better += r.verdict == DETECT_IMPROVEMENT;
	y->early += m.nbase < DETECT_VERDICT_LOOK;
	y->bias += r.rel - effect;
	y->covered += r.lo <= effect && effect <= r.hi;
	y->size_bias += r.size_rel - effect;
	y->size_covered += r.size_lo <= effect && effect <= r.size_hi;
}

static struct outcome run(double effect, double cv, bool history, double scale, gsl_rng *rng)
{
	struct outcome y = { 0 };
	struct detect_profile p;

	for (int i = 0; i < (int)(TRIALS * scale); i++) {
		if (history && i % PER_HISTORY == 0)
			noise_profile(40, 3, cv, NOISE_NORMAL, rng, &p);
		run_plan(effect, cv, history ? &p : NULL, rng, &y);
	}
	return y;
}

static void show(const char *what, double effect, double cv, double v, enum bench_side side,
		 double target, const char *unit)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "%.1f %% at CV %.0f %%: %s", 100 * effect, 100 * cv,
		       what);
	bench_row(text, v, side, target, unit);
}

static void show_outcome(double effect, double cv, const struct outcome *y, bool targets)
{
	int found = y->worse + y->better;
	double per = 100. / y->trials;
	enum bench_side most = targets ? BENCH_AT_MOST : BENCH_SHOW;
	enum bench_side least = targets ? BENCH_AT_LEAST : BENCH_SHOW;

	show("runs a side on average", effect, cv, y->units / y->trials, most,
	     effect == 0 ? 3.3 : 8, "");
	if (effect == 0) {
		show("false changes", effect, cv, per * found, BENCH_AT_MOST, 1, "%");
		return;
	}
	show("found", effect, cv, per * y->worse, least, 99.8, "%");
	show("changes said before 8 runs", effect, cv, per * y->early, BENCH_AT_MOST, 0, "%");
	if (found < 50)
		return;
	show("all units: bias, points", effect, cv, fabs(100 * y->bias / found), BENCH_SHOW, 0, "");
	show("all units: intervals off 95 % cover", effect, cv,
	     fabs(100. * y->covered / found - 95), most, 1, "");
	show("size to report: bias, points", effect, cv, fabs(100 * y->size_bias / found), most, .1,
	     "");
	show("size to report: intervals off 95 % cover", effect, cv,
	     fabs(100. * y->size_covered / found - 95), most, 1, "");
}

void bench_looks(double scale)
{
	static const double effects[] = { 0, -.02, -.038, -.06 }, cvs[] = { .01, .02, .03 };
	gsl_rng *rng = bench_rng(4);

	for (int history = 1; history >= 0; history--) {
		printf("Looks at 3, 5, 8, 12, 20 runs a side, %s history\n",
		       history ? "with" : "no");
		for (size_t c = 0; c < ARRAY_SIZE(cvs); c++) {
			for (size_t i = 0; i < ARRAY_SIZE(effects); i++) {
				struct outcome y = run(effects[i], cvs[c], history, scale, rng);
				bool targets = history && c == 0 &&
					       (effects[i] == 0 || effects[i] == -.038);

				show_outcome(effects[i], cvs[c], &y, targets);
			}
		}
	}
	gsl_rng_free(rng);
}
