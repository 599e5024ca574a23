/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of bench_detect share: rows of a table, and noise to draw from. */
#pragma once

#include "bot/detect/verdict.h"

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

/** enum bench_side - is a measured number good when it is at most, or at least, the target? */
enum bench_side {
	BENCH_SHOW, /* no target: shown for the record */
	BENCH_AT_MOST,
	BENCH_AT_LEAST,
};

/** bench_row() - print one line of the table; counts what misses its target. */
void bench_row(const char *what, double measured, enum bench_side side, double target,
	       const char *unit);

/** enum noise - what a unit's ln can be disturbed by, at a coefficient of variation of 1 %. */
enum noise {
	NOISE_NORMAL,
	NOISE_LOGNORMAL,
	NOISE_BIMODAL,
	NOISE_OUTLIERS,
	NOISE_T3,
	NOISE_BOOTS,
	NOISES
};

enum {
	BENCH_UNITS_MAX = 24,
	BENCH_BOOT_RUNS = 3,
	BENCH_RUNS_MAX = BENCH_UNITS_MAX * BENCH_BOOT_RUNS
};

const char *noise_name(enum noise noise);

/**
 * noise_runs() - @units units of @noise around @center; with boot noise a unit is a boot of
 * BENCH_BOOT_RUNS runs.
 * @s: room for BENCH_RUNS_MAX. Return: how many runs.
 */
size_t noise_runs(struct detect_sample *s, int units, double center, double cv, enum noise noise,
		  gsl_rng *rng);

/** noise_profile() - profile of @commits unchanged commits with @units units each. */
void noise_profile(int commits, int units, double cv, enum noise noise, gsl_rng *rng,
		   struct detect_profile *ret);

/** bench_fit(), bench_compare() - the library's calls, for input that must be accepted. */
void bench_fit(const struct detect_commit *c, size_t n, const int *sizes, size_t nsizes,
	       struct detect_profile *ret);
void bench_compare(const struct detect_metric *m, size_t n, const struct detect_options *o,
		   struct detect_result *ret);

/** bench_changed() - is the verdict a regression, an improvement or a change? */
bool bench_changed(const struct detect_result *r);

/** bench_rng() - a generator with this seed; free with gsl_rng_free(). */
gsl_rng *bench_rng(unsigned long seed);

/** The rows of the table, each in its own file. @scale multiplies the number of trials. */
int bench_trials(const char *path);
void bench_noise(double scale);
void bench_many(double scale);
void bench_looks(double scale);
void bench_speed(void);
