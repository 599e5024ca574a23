/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/rules.h"
#include "bot/detect/stats.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

#include <string.h>

static const double quiet[] = { 1000.2, 999.1, 1000.9, 999.8, 1000.4, 1001.1, 999.5,
				1000.0, 999.3, 1000.7, 999.9, 1000.3, 999.6,  1000.8,
				1000.1, 999.4, 1000.6, 999.7, 1000.5, 999.2 };

static struct detect_result compare(const struct detect_sample *a, size_t n,
				    const struct detect_sample *b, size_t m,
				    enum detect_better better, const struct detect_options *o)
{
	struct detect_options def = detect_options_default();
	struct detect_result r = { 0 };
	struct err e = { 0 };

	assert_ok(detect_compare(a, n, b, m, better, NULL, o ? o : &def, &r, &e), &e);
	return r;
}

/* @n runs a side of the quiet numbers; head times 1 + @effect and in another order. */
static struct detect_result quiet_pair(size_t n, double effect, enum detect_better better,
				       const struct detect_options *o)
{
	struct detect_sample a[20], b[20];

	samples_of(a, quiet, n);
	for (size_t i = 0; i < n; i++)
		b[i] = (struct detect_sample){ quiet[(i + 7) % 20] * (1 + effect), -1, NAN };
	return compare(a, n, b, n, better, o);
}

static struct detect_result values(const double *a, size_t n, const double *b, size_t m)
{
	struct detect_sample sa[SAMPLES_MAX], sb[SAMPLES_MAX];

	samples_of(sa, a, n);
	samples_of(sb, b, m);
	return compare(sa, n, sb, m, DETECT_BETTER_LOWER, NULL);
}

static void quiet_guest_is_a_candidate_at_five_and_a_regression_at_eight(void **state)
{
	struct detect_result r = quiet_pair(5, -.044, DETECT_BETTER_HIGHER, NULL);

	(void)state;
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	assert_int_equal(r.more_units, 8);
	assert_int_equal(r.candidate_look, 5);
	r = quiet_pair(8, -.044, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_int_equal(r.more_units, 0);
	assert_int_equal(r.look, 8);
	assert_int_equal(r.candidate_look, 5);
	assert_near(r.rel, -.044, .02);
	assert_near(r.fresh_rel, -.044, .02);
	assert_true(r.lo < -.044 && -.044 < r.hi && r.hi < 0);
	assert_true(r.ln_scale && (r.notes & DETECT_NOTE_NO_HISTORY));
	assert_int_equal(r.base.units, 8);
	assert_true(r.mde > 0 && r.mde < .01);
}

static void identical_kernels_are_the_same_at_five(void **state)
{
	struct detect_result r = quiet_pair(5, 0, DETECT_BETTER_HIGHER, NULL);

	(void)state;
	assert_int_equal(r.verdict, DETECT_SAME);
	assert_int_equal(r.more_units, 0);
	r = quiet_pair(3, 0, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_NOT_ENOUGH_DATA);
	assert_int_equal(r.more_units, 5);
	assert_true(isnan(r.p) && isnan(r.lo) && !isnan(r.rel));
	assert_true(r.notes & DETECT_NOTE_FEW);
}

static void direction_names_the_change(void **state)
{
	(void)state;
	assert_int_equal(quiet_pair(8, .05, DETECT_BETTER_HIGHER, NULL).verdict,
			 DETECT_IMPROVEMENT);
	assert_int_equal(quiet_pair(8, .05, DETECT_BETTER_LOWER, NULL).verdict, DETECT_REGRESSION);
	assert_int_equal(quiet_pair(8, -.05, DETECT_BETTER_LOWER, NULL).verdict,
			 DETECT_IMPROVEMENT);
	assert_int_equal(quiet_pair(8, -.05, DETECT_BETTER_NONE, NULL).verdict, DETECT_CHANGE);
}

static void a_change_below_the_least_effect_is_said_to_be_small(void **state)
{
	struct detect_result r = quiet_pair(8, -.005, DETECT_BETTER_HIGHER, NULL);

	(void)state;
	assert_int_equal(r.verdict, DETECT_SAME);
	assert_true(r.notes & DETECT_NOTE_SMALL);
	assert_true(r.p < .01);
}

static void fresh_units_that_go_the_other_way_do_not_confirm(void **state)
{
	/* The first five say -10 %, the next three +1 %: still significant, not confirmed. */
	double head[8];
	struct detect_sample a[8], b[8];
	struct detect_options o = detect_options_default();
	struct detect_result r;

	(void)state;
	o.alpha = .2; /* so that all eight cross in spite of the disagreement */
	for (int i = 0; i < 8; i++)
		head[i] = quiet[i + 5] * (i < 5 ? .90 : 1.01);
	samples_of(a, quiet, 8);
	samples_of(b, head, 8);
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, &o);
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	assert_int_equal(r.candidate_look, 5);
	assert_int_equal(r.more_units, 12);
	assert_true(r.notes & DETECT_NOTE_FRESH_AGAINST);
	assert_true(r.fresh_rel > 0 && r.rel < 0);
}

static void a_candidate_first_seen_at_a_verdict_look_waits_for_the_next(void **state)
{
	/* Five wild units, then quiet ones: crosses first at eight. */
	double base[12], head[12];
	struct detect_sample a[12], b[12];
	struct detect_result r;

	(void)state;
	for (int i = 0; i < 12; i++) {
		base[i] = quiet[i] * (i == 1 ? .94 : 1);
		head[i] = quiet[i + 5] * .95 * (i == 0 ? 1.06 : 1);
	}
	samples_of(a, base, 12);
	samples_of(b, head, 12);
	r = compare(a, 5, b, 5, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_INCONCLUSIVE);
	assert_int_equal(r.more_units, 8);
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	assert_int_equal(r.candidate_look, 8);
	/* Units between two looks add to the estimate, but confirm nothing. */
	r = compare(a, 11, b, 11, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	r = compare(a, 12, b, 12, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_int_equal(r.candidate_look, 8);
	assert_near(r.size_rel, r.fresh_rel, 0);
}

static void a_change_suspected_early_is_said_at_eight(void **state)
{
	/* p is .05 at five: no candidate yet, but what comes after is fresh. */
	double base[12], head[12];
	struct detect_sample a[12], b[12];
	struct detect_result r;

	(void)state;
	for (int i = 0; i < 12; i++) {
		base[i] = quiet[i] * (i == 1 ? 1.04 : i == 2 ? .96 : 1);
		head[i] = quiet[i + 5] * .95 * (i == 0 ? 1.04 : i == 2 ? .97 : 1);
	}
	samples_of(a, base, 12);
	samples_of(b, head, 12);
	r = compare(a, 5, b, 5, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_INCONCLUSIVE);
	assert_true(r.p > .01 && r.p < .1);
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_int_equal(r.candidate_look, 5);
	assert_true(r.fresh_lo < r.fresh_rel && r.fresh_rel < r.fresh_hi);
	assert_near(r.fresh_rel, -.05, .1);
	/* It crosses only now: all units say how large it is. */
	assert_near(r.size_rel, r.rel, 0);
}

static void noise_ends_at_the_last_look_without_a_verdict(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct detect_sample a[20], b[20];
	struct detect_result r;

	(void)state;
	samples_normal(a, 20, 100, .35, rng);
	samples_normal(b, 20, 100, .35, rng);
	gsl_rng_free(rng);
	r = compare(a, 20, b, 20, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_NOT_ENOUGH_DATA);
	assert_int_equal(r.more_units, 0);
	assert_int_equal(r.units_needed, 0);
	assert_true(r.notes & DETECT_NOTE_BLIND);
	assert_true(r.mde > .038);
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_INCONCLUSIVE);
	assert_int_equal(r.more_units, 12);
}

static void a_single_look_asks_for_no_confirmation(void **state)
{
	struct detect_options o = detect_options_default();
	struct detect_result r;

	(void)state;
	o.single_look = true;
	r = quiet_pair(6, -.117, DETECT_BETTER_HIGHER, &o);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_int_equal(r.look, 6);
	assert_near(r.q, r.p, 1e-12);
	assert_int_equal(quiet_pair(6, 0, DETECT_BETTER_HIGHER, &o).verdict, DETECT_SAME);
	assert_int_equal(quiet_pair(4, -.117, DETECT_BETTER_HIGHER, &o).verdict,
			 DETECT_NOT_ENOUGH_DATA);
}

static void boots_without_the_metric_do_not_count_as_asked_for(void **state)
{
	struct detect_options o = detect_options_default();
	struct detect_result r = { .more_units = 3 };

	(void)state;
	assert_int_equal(detect_boots_wanted(&o, &r, 0), 3);
	assert_int_equal(detect_boots_wanted(&o, &r, 2), 3);
	/* Three boots are there, one of them without a value: three more would be none. */
	assert_int_equal(detect_boots_wanted(&o, &r, 3), 5);
	r.more_units = 12;
	assert_int_equal(detect_boots_wanted(&o, &r, 14), 20);
	assert_int_equal(detect_boots_wanted(&o, &r, 20), 0);
	r.more_units = 0;
	assert_int_equal(detect_boots_wanted(&o, &r, 3), 0);
}

static void runs_of_one_boot_are_not_units(void **state)
{
	struct detect_sample a[16], b[16];
	struct detect_result r;

	(void)state;
	for (int i = 0; i < 16; i++) {
		a[i] = (struct detect_sample){ quiet[i], 1, NAN };
		b[i] = (struct detect_sample){ quiet[i] * .9, i / 2, NAN };
	}
	r = compare(a, 16, b, 16, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_NOT_ENOUGH_DATA);
	assert_true(r.notes & DETECT_NOTE_ONE_BOOT);
	assert_int_equal(r.base.boots, 1);
	assert_int_equal(r.head.boots, 8);
	assert_int_equal(r.head.units, 8);
	for (int i = 0; i < 16; i++)
		a[i].boot = i / 2;
	r = compare(a, 16, b, 16, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_int_equal(r.base.units, 8);
	assert_int_equal(r.base.runs, 16);
	assert_near(r.rel, -.1, 1e-9);
}

static void boots_are_found_in_any_order(void **state)
{
	static const int boots[] = { 3, -1, 3, 9, -1, 1, 9, 3 };
	struct detect_sample a[8], b[8];
	struct detect_result r;

	(void)state;
	for (int i = 0; i < 8; i++) {
		a[i] = (struct detect_sample){ quiet[i], boots[i], NAN };
		b[i] = (struct detect_sample){ quiet[i], 8 - i, NAN };
	}
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.base.boots, 5);
	assert_int_equal(r.base.units, 5);
	assert_int_equal(r.head.units, 8);
}

static void order_puts_runs_in_time_and_shows_blocks(void **state)
{
	struct detect_sample a[8], b[8], shuffled[8];
	struct detect_result r, s;

	(void)state;
	for (int i = 0; i < 8; i++) {
		a[i] = (struct detect_sample){ quiet[i], -1, 2 * i };
		b[i] = (struct detect_sample){ quiet[i + 3] * .95, -1, 2 * i + 1 };
	}
	for (int i = 0; i < 8; i++)
		shuffled[i] = b[(i * 3) % 8];
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, NULL);
	s = compare(a, 8, shuffled, 8, DETECT_BETTER_HIGHER, NULL);
	assert_memory_equal(&r, &s, sizeof(r));
	assert_false(r.notes & DETECT_NOTE_BLOCKS);
	for (int i = 0; i < 8; i++)
		b[i].order = 100 + i;
	r = compare(a, 8, b, 8, DETECT_BETTER_HIGHER, NULL);
	assert_true(r.notes & DETECT_NOTE_BLOCKS);
}

static void modes_of_a_side_are_said_with_their_shares(void **state)
{
	struct detect_sample a[15], b[15];
	double base[15], head[15];
	struct detect_result r;
	char text[200];

	(void)state;
	for (int i = 0; i < 15; i++) {
		base[i] = quiet[i] * (i % 3 == 0 ? .8 : i % 3 == 1 ? .9 : 1);
		head[i] = quiet[i] * (i % 5 < 2 ? .8 : 1);
	}
	samples_of(a, base, 15);
	samples_of(b, head, 15);
	r = compare(a, 15, b, 15, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.base.nmodes, 3);
	assert_int_equal(r.head.nmodes, 2);
	assert_near(r.base.modes[1].share, 1. / 3, 1e-9);
	assert_near(r.base.modes[1].center, 900, .01);
	assert_true((r.notes & DETECT_NOTE_MODES_BASE) && (r.notes & DETECT_NOTE_MODES_HEAD));
	assert_string_equal(detect_note_text(&r, DETECT_NOTE_MODES_BASE, text, sizeof(text)),
			    "three modes in base: 0.33 at 1000, 0.33 at 900, 0.33 at 800");
	/* From eight units on. */
	r = compare(a, 15, b, 8, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.head.nmodes, 2);
	r = compare(a, 15, b, 7, DETECT_BETTER_HIGHER, NULL);
	assert_int_equal(r.head.nmodes, 0);
}

static void ranks_and_interval_agree(void **state)
{
	/* One wild unit makes the means unsure; the ranks are not. */
	double base[10], head[10];
	struct detect_sample a[10], b[10];
	struct detect_options o = detect_options_default();
	struct detect_result r;

	(void)state;
	o.single_look = true;
	o.level = .99;
	o.min_effect = 0;
	for (int i = 0; i < 10; i++) {
		base[i] = quiet[i];
		head[i] = quiet[i + 10] * (i == 4 ? 1.1 : .98);
	}
	samples_of(a, base, 10);
	samples_of(b, head, 10);
	r = compare(a, 10, b, 10, DETECT_BETTER_HIGHER, &o);
	assert_true(r.p <= .01);
	assert_int_equal(r.verdict, r.rel < 0 ? DETECT_REGRESSION : DETECT_IMPROVEMENT);
	assert_true(r.hi < 0 || r.lo > 0);
}

static void missing_values_are_dropped_and_counted(void **state)
{
	double a[] = { 10, 10.1, NAN, 9.9, 10.05, HUGE_VAL, 9.95 };
	double b[] = { 10, 10.1, 9.9, 10.05, 9.95, -HUGE_VAL, NAN };
	double clean[] = { 10, 10.1, 9.9, 10.05, 9.95 };
	struct detect_result r = values(a, 7, b, 7), c = values(clean, 5, clean, 5);

	(void)state;
	assert_int_equal(r.base.dropped, 2);
	assert_int_equal(r.head.dropped, 2);
	assert_int_equal(r.base.runs, 5);
	assert_true(r.notes & DETECT_NOTE_DROPPED);
	assert_near(r.p, c.p, 1e-12);
	assert_int_equal(r.verdict, c.verdict);
}

static void too_few_units_are_never_a_verdict(void **state)
{
	double x[] = { 5, 6, 4 };

	(void)state;
	for (size_t n = 0; n <= 2; n++) {
		for (size_t m = 0; m <= 3; m++) {
			struct detect_result r = values(x, n, x, m);

			assert_int_equal(r.verdict, DETECT_NOT_ENOUGH_DATA);
			assert_int_equal(r.more_units, 5);
			assert_true(isnan(r.p));
			assert_true(!!(r.notes & DETECT_NOTE_MISSING) == (!n || !m));
		}
	}
}

static void deterministic_metrics_are_compared_exactly(void **state)
{
	double a[8], b[8];
	struct detect_result r;

	(void)state;
	for (int i = 0; i < 8; i++) {
		a[i] = 4096;
		b[i] = 8192;
	}
	r = values(a, 3, a, 3);
	assert_int_equal(r.verdict, DETECT_SAME);
	assert_true(r.rel == 0 && isnan(r.p) && (r.notes & DETECT_NOTE_DETERMINISTIC));
	r = values(a, 3, b, 3);
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	assert_int_equal(r.more_units, 5);
	r = values(a, 8, b, 8);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_near(r.rel, 1, 1e-12);
	assert_near(r.abs, 4096, 1e-12);
	b[0] = a[0] = 0;
	for (int i = 0; i < 8; i++)
		a[i] = b[i] = 0;
	assert_int_equal(values(a, 8, b, 8).verdict, DETECT_SAME);
	for (int i = 0; i < 8; i++)
		b[i] = 3;
	r = values(a, 8, b, 8);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_true(isnan(r.rel));
	assert_near(r.abs, 3, 1e-12);
}

static void one_constant_side_is_tested_like_any(void **state)
{
	double a[] = { 100, 100, 100, 100, 100, 100, 100, 100 };
	struct detect_result r = values(a, 8, quiet, 8);

	(void)state;
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_true(isfinite(r.p) && r.base.sd == 0);
}

static void zeros_and_negatives_are_tested_on_absolute_values(void **state)
{
	double a[] = { -1, 0, 1, 0, .5, -.5, .2, -.2 }, b[8];
	struct detect_result r;

	(void)state;
	for (int i = 0; i < 8; i++)
		b[i] = a[(i + 3) % 8] + 50;
	r = values(a, 8, b, 8);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	assert_false(r.ln_scale);
	assert_true(r.notes & DETECT_NOTE_ABSOLUTE);
	assert_near(r.abs, 50, 1e-9);
	assert_true(r.abs_lo < 50 && 50 < r.abs_hi);
	for (int i = 0; i < 8; i++) {
		a[i] = -quiet[i];
		b[i] = -quiet[i + 4] * 1.1;
	}
	r = values(a, 8, b, 8);
	assert_int_equal(r.verdict, DETECT_IMPROVEMENT); /* lower is better, and it fell */
	assert_near(r.rel, -.1, .02);
}

static void tiny_and_huge_values_stay_finite(void **state)
{
	const double scales[] = { 1e-300, 1e300, -1e300, -1e-300 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		double a[8], b[8];
		struct detect_result r;

		for (int i = 0; i < 8; i++) {
			a[i] = quiet[i] / 1000 * scales[k];
			b[i] = quiet[i + 5] / 1000 * scales[k] * 1.2;
		}
		r = values(a, 8, b, 8);
		assert_int_equal(r.verdict, k < 2 ? DETECT_REGRESSION : DETECT_IMPROVEMENT);
		assert_true(isfinite(r.rel) && isfinite(r.lo) && isfinite(r.hi));
		assert_true(isfinite(r.p) && isfinite(r.base.center) && isfinite(r.base.sd));
		assert_near(fabs(r.rel), .2, .02);
	}
	{
		double mixed[] = { 1e300, -1e300, 1e300, -1e300, 1e300 };
		struct detect_result r = values(mixed, 5, mixed, 5);

		assert_int_equal(r.verdict, DETECT_INCONCLUSIVE);
		assert_true(isfinite(r.p));
	}
}

static void scale_of_the_metric_does_not_matter(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	for (int k = 0; k < 50; k++) {
		struct detect_sample a[12], b[12];
		struct detect_result r, s;
		bool raw = k & 1;

		samples_normal(a, 12, 1000, .02, rng);
		samples_normal(b, 12, 980, .02, rng);
		if (raw)
			a[3].value = -a[3].value;
		r = compare(a, 12, b, 12, DETECT_BETTER_HIGHER, NULL);
		for (int i = 0; i < 12; i++) {
			a[i].value *= 7;
			b[i].value *= 7;
		}
		s = compare(a, 12, b, 12, DETECT_BETTER_HIGHER, NULL);
		assert_near(r.p, s.p, 1e-9);
		assert_near(r.rel, s.rel, 1e-9);
		assert_int_equal(r.verdict, s.verdict);
	}
	gsl_rng_free(rng);
}

static void swapped_sides_only_flip_the_sign(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	for (int k = 0; k < 50; k++) {
		struct detect_sample a[12], b[12];
		struct detect_result r, s;

		samples_normal(a, 12, 1000, .02, rng);
		samples_normal(b, 9, 970, .02, rng);
		r = compare(a, 12, b, 9, DETECT_BETTER_HIGHER, NULL);
		s = compare(b, 9, a, 12, DETECT_BETTER_HIGHER, NULL);
		assert_near(r.p, s.p, 1e-9);
		assert_near(log1p(r.rel), -log1p(s.rel), 1e-9);
		assert_near(r.t, -s.t, 1e-9);
		assert_int_equal(r.more_units, s.more_units);
		assert_int_equal(r.verdict == DETECT_REGRESSION, s.verdict == DETECT_IMPROVEMENT);
	}
	gsl_rng_free(rng);
}

static void order_inside_a_side_does_not_change_p(void **state)
{
	struct detect_sample a[12], b[12], c[12];
	struct detect_result r, s;

	(void)state;
	samples_of(a, quiet, 12);
	samples_of(b, quiet + 8, 12);
	for (int i = 0; i < 12; i++)
		c[i] = b[(i * 5 + 2) % 12];
	r = compare(a, 12, b, 12, DETECT_BETTER_HIGHER, NULL);
	s = compare(a, 12, c, 12, DETECT_BETTER_HIGHER, NULL);
	assert_near(r.p, s.p, 1e-9);
}

static void constant_metrics_do_not_change_the_others(void **state)
{
	struct detect_sample a[12], b[12], k[12];
	struct detect_options o = detect_options_default();
	struct detect_metric m[40];
	struct detect_result with[40], without[20];
	struct err e = { 0 };

	(void)state;
	samples_of(a, quiet, 12);
	for (int i = 0; i < 12; i++) {
		b[i] = (struct detect_sample){ quiet[i + 8] * .985, -1, NAN };
		k[i] = (struct detect_sample){ 7, -1, NAN };
	}
	for (int i = 0; i < 40; i++)
		m[i] = (struct detect_metric){
			i < 20 ? a : k, 12, i < 20 ? b : k, 12, DETECT_BETTER_HIGHER, true, NULL
		};
	assert_ok(detect_compare_many(m, 20, &o, without, &e), &e);
	assert_ok(detect_compare_many(m, 40, &o, with, &e), &e);
	assert_memory_equal(with, without, sizeof(without));
	assert_int_equal(with[30].verdict, DETECT_SAME);
}

static void many_metrics_hold_back_a_weak_one(void **state)
{
	/* -1.5 % with p near 1.4e-4: enough alone, not as the best of 300. */
	double base[8], head[8];
	struct detect_sample a[8], b[8], c[8];
	struct detect_metric m[300];
	struct detect_result r[300];
	struct detect_options o = detect_options_default();
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 8; i++) {
		base[i] = 1000 + 9 * (quiet[i] - 1000);
		head[i] = .985 * (1000 + 9 * (quiet[i + 5] - 1000));
	}
	samples_of(a, base, 8);
	samples_of(b, head, 8);
	samples_of(c, base, 8);
	for (int i = 0; i < 300; i++)
		m[i] = (struct detect_metric){
			a, 8, i ? c : b, 8, DETECT_BETTER_HIGHER, true, NULL
		};
	assert_ok(detect_compare_many(m, 1, &o, r, &e), &e);
	assert_int_equal(r[0].verdict, DETECT_REGRESSION);
	assert_true(r[0].p > 1e-4 && r[0].p < .001);
	assert_ok(detect_compare_many(m, 300, &o, r, &e), &e);
	assert_int_equal(r[0].verdict, DETECT_CANDIDATE);
	assert_int_equal(r[0].more_units, 12);
	assert_true(r[0].q > .05);
}

static void monitors_have_their_own_family_and_seldom_ask_for_runs(void **state)
{
	struct detect_sample a[8], b[8], far[8];
	struct detect_metric m[3];
	struct detect_result r[3];
	struct detect_options o = detect_options_default();
	struct err e = { 0 };

	(void)state;
	samples_of(a, quiet, 8);
	for (int i = 0; i < 8; i++) {
		b[i] = (struct detect_sample){ quiet[i + 5] * .98, -1, NAN };
		far[i] =
			(struct detect_sample){ quiet[(i * 7) % 20] * (i % 2 ? 1.5 : .6), -1, NAN };
	}
	m[0] = (struct detect_metric){ a, 8, b, 8, DETECT_BETTER_HIGHER, true, NULL };
	m[1] = (struct detect_metric){ a, 8, b, 8, DETECT_BETTER_HIGHER, false, NULL };
	m[2] = (struct detect_metric){ a, 8, far, 8, DETECT_BETTER_HIGHER, false, NULL };
	assert_ok(detect_compare_many(m, 3, &o, r, &e), &e);
	assert_int_equal(r[0].verdict, DETECT_REGRESSION);
	assert_int_equal(r[1].verdict, DETECT_SAME); /* 2 % is below a monitor's least effect */
	assert_int_equal(r[2].verdict, DETECT_NOT_ENOUGH_DATA == r[2].verdict
					       ? DETECT_NOT_ENOUGH_DATA
					       : DETECT_INCONCLUSIVE);
	assert_int_equal(r[2].more_units, 0);
	assert_near(r[0].q, fmin(1, r[0].p * 1.92), 1e-12);
}

static void bad_options_are_refused_by_value(void **state)
{
	static const int descending[] = { 8, 5 }, low[] = { 2, 8 }, screening[] = { 3, 5 };
	struct detect_options o = detect_options_default();
	struct err e = { 0 };

	(void)state;
	o.level = 95;
	assert_err(detect_options_check(&o, &e), ERR_RANGE, &e);
	assert_non_null(strstr(e.msg, "95"));
	o = detect_options_default();
	o.fdr_q = NAN;
	assert_err(detect_options_check(&o, &e), ERR_RANGE, &e);
	o = detect_options_default();
	o.looks = descending;
	o.nlooks = 2;
	assert_err(detect_options_check(&o, &e), ERR_INVAL, &e);
	o.looks = low;
	assert_err(detect_options_check(&o, &e), ERR_RANGE, &e);
	o.looks = screening;
	assert_err(detect_options_check(&o, &e), ERR_INVAL, &e);
	o.nlooks = 0;
	assert_err(detect_options_check(&o, &e), ERR_INVAL, &e);
	{
		struct detect_result r = { .look = 42 };

		assert_err(detect_compare(NULL, 0, NULL, 0, DETECT_BETTER_NONE, NULL, &o, &r, &e),
			   ERR_INVAL, &e);
		assert_int_equal(r.look, 42);
	}
}

static void next_look_ends(void **state)
{
	struct detect_options o = detect_options_default();

	(void)state;
	assert_int_equal(detect_next_look(&o, false, 0), 5);
	assert_int_equal(detect_next_look(&o, true, 0), 3);
	assert_int_equal(detect_next_look(&o, true, 3), 5);
	assert_int_equal(detect_next_look(&o, false, 5), 8);
	assert_int_equal(detect_next_look(&o, false, 11), 12);
	assert_int_equal(detect_next_look(&o, false, 20), 0);
	o.looks = NULL;
	assert_int_equal(detect_next_look(&o, false, 12), 20);
}

static void factors_of_default_looks_are_those_of_the_integration(void **state)
{
	static const int same[] = { 3, 5, 8, 12, 20 }, other[] = { 5, 8, 12, 20 };
	struct detect_options o = detect_options_default();
	struct rules table, computed;

	(void)state;
	o.looks = same;
	detect_rules_init(&table, &o);
	o.looks = other;
	o.nlooks = 4;
	detect_rules_init(&computed, &o);
	for (int i = 0; i < 4; i++)
		assert_near(table.factor[i + 1], computed.factor[i], .01);
}

static void every_name_and_note_has_a_text(void **state)
{
	struct detect_result r = { .candidate_look = 5 };
	char buf[160];

	(void)state;
	for (int v = 0; v < DETECT_VERDICTS; v++)
		assert_string_not_equal(detect_verdict_name((enum detect_verdict)v), "unknown");
	assert_string_equal(detect_verdict_name(DETECT_VERDICTS), "unknown");
	for (int b = 0; b < DETECT_NOTES; b++)
		assert_true(strlen(detect_note_text(&r, (enum detect_note)(1 << b), buf,
						    sizeof(buf))) > 10);
	assert_int_equal(detect_better_parse("higher"), DETECT_BETTER_HIGHER);
	assert_int_equal(detect_better_parse("up"), -1);
	assert_int_equal(detect_better_parse(NULL), -1);
	assert_string_equal(detect_better_name(DETECT_BETTER_LOWER), "lower");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_guest_is_a_candidate_at_five_and_a_regression_at_eight),
		cmocka_unit_test(identical_kernels_are_the_same_at_five),
		cmocka_unit_test(direction_names_the_change),
		cmocka_unit_test(a_change_below_the_least_effect_is_said_to_be_small),
		cmocka_unit_test(fresh_units_that_go_the_other_way_do_not_confirm),
		cmocka_unit_test(a_candidate_first_seen_at_a_verdict_look_waits_for_the_next),
		cmocka_unit_test(a_change_suspected_early_is_said_at_eight),
		cmocka_unit_test(noise_ends_at_the_last_look_without_a_verdict),
		cmocka_unit_test(a_single_look_asks_for_no_confirmation),
		cmocka_unit_test(boots_without_the_metric_do_not_count_as_asked_for),
		cmocka_unit_test(runs_of_one_boot_are_not_units),
		cmocka_unit_test(boots_are_found_in_any_order),
		cmocka_unit_test(order_puts_runs_in_time_and_shows_blocks),
		cmocka_unit_test(modes_of_a_side_are_said_with_their_shares),
		cmocka_unit_test(ranks_and_interval_agree),
		cmocka_unit_test(missing_values_are_dropped_and_counted),
		cmocka_unit_test(too_few_units_are_never_a_verdict),
		cmocka_unit_test(deterministic_metrics_are_compared_exactly),
		cmocka_unit_test(one_constant_side_is_tested_like_any),
		cmocka_unit_test(zeros_and_negatives_are_tested_on_absolute_values),
		cmocka_unit_test(tiny_and_huge_values_stay_finite),
		cmocka_unit_test(scale_of_the_metric_does_not_matter),
		cmocka_unit_test(swapped_sides_only_flip_the_sign),
		cmocka_unit_test(order_inside_a_side_does_not_change_p),
		cmocka_unit_test(constant_metrics_do_not_change_the_others),
		cmocka_unit_test(many_metrics_hold_back_a_weak_one),
		cmocka_unit_test(monitors_have_their_own_family_and_seldom_ask_for_runs),
		cmocka_unit_test(bad_options_are_refused_by_value),
		cmocka_unit_test(next_look_ends),
		cmocka_unit_test(factors_of_default_looks_are_those_of_the_integration),
		cmocka_unit_test(every_name_and_note_has_a_text),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
