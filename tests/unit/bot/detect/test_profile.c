/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/profile.h"
#include "bot/detect/verdict.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

#include <string.h>

enum {
	COMMITS = 40,
	UNITS = 5
};

static const int sizes[] = { 3, 5, 8, 12, 20 };

struct past {
	double y[COMMITS][UNITS];
	struct detect_commit c[COMMITS];
};

/* @jitter: between commits; @modes: every third unit lies that much lower. */
static void make_past(struct past *p, double cv, double jitter, double modes, unsigned long seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, seed);
	for (int i = 0; i < COMMITS; i++) {
		double level = 1000 * exp(gsl_ran_gaussian(rng, jitter));

		for (int j = 0; j < UNITS; j++) {
			p->y[i][j] = level * exp(gsl_ran_gaussian(rng, cv));
			if (gsl_rng_uniform(rng) < .33)
				p->y[i][j] *= 1 - modes;
		}
		p->c[i] = (struct detect_commit){ .units = p->y[i], .n = UNITS };
	}
	gsl_rng_free(rng);
}

static struct detect_profile fit(const struct past *p, size_t first, size_t n)
{
	struct detect_profile ret = { 0 };
	struct err e = { 0 };

	assert_ok(detect_profile_fit(p->c + first, n, sizes, 5, 1, &ret, &e), &e);
	return ret;
}

static void learns_normal_noise(void **state)
{
	struct past past;
	struct detect_profile p;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	assert_true(p.have && p.ln_scale && !p.bimodal);
	assert_int_equal(p.history, COMMITS);
	assert_near(sqrt(p.s0sq), .01, .15);
	assert_true(p.lo < -.025 && p.lo > -.05 && p.hi > .025 && p.hi < .05);
	assert_true(p.d0 > 20 && p.d0 <= COMMITS * (UNITS - 1));
	assert_true(p.scsq == 0);
	for (int i = 0; i < 5; i++)
		assert_true(p.lambdas[i] >= 1 && p.lambdas[i] < 1.2);
}

static void the_same_seed_gives_the_same_profile(void **state)
{
	struct past past;
	struct detect_profile p, q;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	q = fit(&past, 0, COMMITS);
	assert_memory_equal(&p, &q, sizeof(p));
}

static void sees_jitter_between_commits(void **state)
{
	struct past past;
	struct detect_profile p;

	(void)state;
	make_past(&past, .005, .01, 0, 8);
	p = fit(&past, 0, COMMITS);
	assert_true(p.scsq > .5e-4 && p.scsq < 2e-4);
}

static void sees_two_modes(void **state)
{
	struct past past;
	struct detect_profile p;

	(void)state;
	make_past(&past, .002, 0, .08, 9);
	p = fit(&past, 0, COMMITS);
	assert_true(p.bimodal);
	assert_true(p.cut > log(920) && p.cut < log(1000));
	assert_true(p.sd_in > 0 && p.sd_in < .04);
}

static void too_little_history_is_no_profile(void **state)
{
	struct past past;
	double one = 5, equal[] = { 7, 7, 7 };
	struct detect_commit single[20], flat[20];
	struct detect_profile p = { 0 };
	struct err e = { 0 };

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	assert_false(fit(&past, 0, 9).have);
	assert_true(fit(&past, 0, 10).have);
	assert_false(fit(&past, 0, 0).have);
	for (int i = 0; i < 20; i++) {
		single[i] = (struct detect_commit){ .units = &one, .n = 1 };
		flat[i] = (struct detect_commit){ .units = equal, .n = 3 };
	}
	assert_ok(detect_profile_fit(single, 20, sizes, 5, 1, &p, &e), &e);
	assert_false(p.have);
	assert_ok(detect_profile_fit(flat, 20, sizes, 5, 1, &p, &e), &e);
	assert_false(p.have);
}

static void missing_units_and_zeros_are_taken_as_they_are(void **state)
{
	struct past past;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	past.y[3][2] = NAN;
	past.y[5][0] = HUGE_VAL;
	assert_true(fit(&past, 0, COMMITS).ln_scale);
	past.y[30][1] = 0;
	assert_true(fit(&past, 0, COMMITS).have);
	assert_false(fit(&past, 0, COMMITS).ln_scale);
}

static void bad_sizes_are_refused(void **state)
{
	static const int descending[] = { 5, 3 };
	struct detect_profile p = { .history = 42 };
	struct err e = { 0 };

	(void)state;
	assert_err(detect_profile_fit(NULL, 0, descending, 2, 1, &p, &e), ERR_INVAL, &e);
	assert_err(detect_profile_fit(NULL, 0, sizes, 17, 1, &p, &e), ERR_INVAL, &e);
	assert_int_equal(p.history, 42);
}

static void lambda_is_looked_up_by_size(void **state)
{
	struct detect_profile p = {
		.lambda = 1.5, .nsizes = 2, .sizes = { 3, 8 }, .lambdas = { 1.4, 1.1 }
	};

	(void)state;
	assert_near(detect_profile_lambda(&p, 2), 1.4, 0);
	assert_near(detect_profile_lambda(&p, 5), 1.4, 0);
	assert_near(detect_profile_lambda(&p, 8), 1.1, 0);
	p.nsizes = 0;
	assert_near(detect_profile_lambda(&p, 8), 1.5, 0);
}

static struct detect_result judge(const double *a, const double *b, size_t n,
				  const struct detect_profile *p)
{
	struct detect_sample sa[20], sb[20];
	struct detect_options o = detect_options_default();
	struct detect_result r = { 0 };
	struct err e = { 0 };

	samples_of(sa, a, n);
	samples_of(sb, b, n);
	assert_ok(detect_compare(sa, n, sb, n, DETECT_BETTER_HIGHER, p, &o, &r, &e), &e);
	return r;
}

static void history_lets_three_units_screen(void **state)
{
	double a[] = { 1001, 999, 1003 }, same[] = { 1000, 1004, 998 }, low[] = { 962, 959, 964 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	make_past(&past, .008, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	assert_int_equal(judge(a, same, 3, &p).verdict, DETECT_SAME);
	r = judge(a, low, 3, &p);
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	assert_int_equal(r.more_units, 5);
	assert_false(r.notes & DETECT_NOTE_NO_HISTORY);
}

static void an_outlier_among_three_waits(void **state)
{
	double a[] = { 1001, 999, 1003 }, wild[] = { 1000, 1004, 700 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	r = judge(a, wild, 3, &p);
	assert_int_equal(r.verdict, DETECT_NOT_ENOUGH_DATA);
	assert_true(r.notes & DETECT_NOTE_CLIPPED);
	assert_int_equal(r.more_units, 5);
}

static void an_outlier_does_not_wait_when_the_rest_is_as_sure(void **state)
{
	double a[] = { 1001, 999, 1003 }, low[] = { 900, 903, 700 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	r = judge(a, low, 3, &p);
	assert_int_equal(r.verdict, DETECT_CANDIDATE);
	assert_true(r.p < .001);
}

static void levels_of_borrowed_commits_are_no_jitter(void **state)
{
	struct past past;
	struct detect_profile p;

	(void)state;
	make_past(&past, .005, .02, 0, 8);
	p = fit(&past, 0, COMMITS);
	assert_true(p.scsq > 1e-4);
	for (int i = 1; i < COMMITS; i += 2)
		past.c[i].borrowed = true;
	p = fit(&past, 0, COMMITS);
	assert_true(p.have && p.history == COMMITS && p.scsq == 0);
	assert_near(sqrt(p.s0sq), .005, .15);
}

static void quiet_history_has_no_jitter(void **state)
{
	int seen = 0;

	(void)state;
	for (unsigned long seed = 100; seed < 200; seed++) {
		struct past past;

		make_past(&past, .01, 0, 0, seed);
		seen += fit(&past, 0, COMMITS).scsq > 0;
	}
	assert_true(seen <= 6);
}

static void noise_is_no_smaller_than_rounding(void **state)
{
	/* Mostly one integer: the next one is a step of rounding, not a change. */
	double a[] = { 47, 46, 47 }, b[] = { 46, 46, 46 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	for (int i = 0; i < COMMITS; i++) {
		for (int j = 0; j < UNITS; j++)
			past.y[i][j] = i == 7 && j == 2 ? 47 : 46;
		past.c[i] = (struct detect_commit){ .units = past.y[i], .n = UNITS };
	}
	p = fit(&past, 0, COMMITS);
	assert_true(p.have && p.lo < 0 && p.hi > 0);
	r = judge(a, b, 3, &p);
	assert_true(r.p > .01);
}

static void equal_runs_are_not_certain_where_history_has_noise(void **state)
{
	double a[] = { 1000, 1000, 1000 }, b[] = { 1010, 1010, 1010 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	r = judge(a, b, 3, &p);
	assert_true(r.p > .05 && !(r.notes & DETECT_NOTE_DETERMINISTIC));
	assert_int_equal(judge(a, a, 3, &p).verdict, DETECT_SAME);
}

static void a_step_between_commits_is_not_two_modes(void **state)
{
	struct past past;

	(void)state;
	make_past(&past, .002, 0, 0, 9);
	for (int i = 0; i < COMMITS / 2; i++) {
		for (int j = 0; j < UNITS; j++)
			past.y[i][j] *= 1.1;
	}
	assert_false(fit(&past, 0, COMMITS).bimodal);
}

static void modes_of_history_are_named_with_three_units(void **state)
{
	double a[] = { 1000, 1001, 921 }, b[] = { 1001, 999, 1000 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;
	char text[200];

	(void)state;
	make_past(&past, .002, 0, .08, 9);
	p = fit(&past, 0, COMMITS);
	r = judge(a, b, 3, &p);
	assert_int_equal(r.base.nmodes, 2);
	assert_near(r.base.modes[0].share, 1. / 3, 1e-9);
	assert_near(r.base.modes[0].center, 921, 1e-9);
	assert_int_equal(r.head.nmodes, 1);
	assert_string_equal(detect_note_text(&r, DETECT_NOTE_MODES_BASE, text, sizeof(text)),
			    "two modes in base: 0.67 at 1000, 0.33 at 921");
	assert_string_equal(detect_note_text(&r, DETECT_NOTE_MODES_HEAD, text, sizeof(text)),
			    "one of two modes in head: 1.00 at 1000");
	assert_int_equal(judge(b, b, 3, &p).base.nmodes, 0);
}

/* Runs of both sides in turn, A B B A, on a machine whose speed wanders. */
static void make_pairs(struct detect_sample *a, struct detect_sample *b, int n, double effect,
		       gsl_rng *rng)
{
	double drift = 0;

	for (int i = 0; i < 2 * n; i++) {
		bool head = i % 4 == 1 || i % 4 == 2;
		struct detect_sample *s = head ? &b[i / 2] : &a[i / 2];

		if (i % 2 == 0)
			drift = gsl_ran_gaussian(rng, .02);
		*s = (struct detect_sample){ 1000 * (head ? 1 + effect : 1) *
						     exp(drift + gsl_ran_gaussian(rng, .002)),
					     -1, i };
	}
}

static void pairs_are_tested_as_pairs_when_neighbours_share_noise(void **state)
{
	struct detect_sample a[8], b[8];
	struct detect_options o = detect_options_default();
	struct detect_result paired = { 0 }, apart = { 0 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct detect_profile p;
	struct past past;
	struct err e = { 0 };

	(void)state;
	make_past(&past, .02, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	assert_true(fabs(p.pair_rho) < .3);
	gsl_rng_set(rng, 5);
	make_pairs(a, b, 8, -.02, rng);
	o.single_look = true;
	assert_ok(detect_compare(a, 8, b, 8, DETECT_BETTER_HIGHER, &p, &o, &apart, &e), &e);
	p.pair_rho = .95;
	assert_ok(detect_compare(a, 8, b, 8, DETECT_BETTER_HIGHER, &p, &o, &paired, &e), &e);
	assert_true(paired.p < .001 && apart.p > .01);
	assert_int_equal(paired.verdict, DETECT_REGRESSION);
	/* Not in pairs: all of one side first. */
	for (int i = 0; i < 8; i++)
		b[i].order = 100 + i;
	assert_ok(detect_compare(a, 8, b, 8, DETECT_BETTER_HIGHER, &p, &o, &paired, &e), &e);
	assert_near(paired.p, apart.p, 1e-12);
	gsl_rng_free(rng);
}

static void drift_inside_commits_is_a_correlation_of_neighbours(void **state)
{
	double y[COMMITS][8];
	struct detect_commit c[COMMITS];
	struct detect_profile p = { 0 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct err e = { 0 };

	(void)state;
	gsl_rng_set(rng, 6);
	for (int i = 0; i < COMMITS; i++) {
		double slow = 0;

		for (int j = 0; j < 8; j++) {
			slow = .9 * slow + gsl_ran_gaussian(rng, .01);
			y[i][j] = 1000 * exp(slow);
		}
		c[i] = (struct detect_commit){ .units = y[i], .n = 8 };
	}
	assert_ok(detect_profile_fit(c, COMMITS, sizes, 5, 1, &p, &e), &e);
	assert_true(p.pair_rho > .3 && p.pair_rho <= 1);
	gsl_rng_free(rng);
}

static void history_on_another_scale_is_left_out(void **state)
{
	double a[] = { 0, 1, 2, 1, 0 }, b[] = { 1, 0, 2, 0, 1 };
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	make_past(&past, .01, 0, 0, 7);
	p = fit(&past, 0, COMMITS);
	r = judge(a, b, 5, &p);
	assert_true((r.notes & DETECT_NOTE_OTHER_SCALE) && (r.notes & DETECT_NOTE_NO_HISTORY));
}

static void another_share_of_modes_is_seen(void **state)
{
	/* Same two modes on both sides, but head is nearly always in the lower one. */
	double a[12], b[12];
	struct past past;
	struct detect_profile p;
	struct detect_result r;

	(void)state;
	make_past(&past, .002, 0, .08, 9);
	p = fit(&past, 0, COMMITS);
	for (int i = 0; i < 12; i++) {
		a[i] = (i % 6 ? 1000 : 920) + i * .1;
		b[i] = (i % 6 ? 920 : 1000) + i * .1;
	}
	r = judge(a, b, 12, &p);
	assert_true(r.p < .01);
	assert_true(r.verdict == DETECT_REGRESSION || r.verdict == DETECT_CANDIDATE);
	r = judge(a, a, 12, &p);
	assert_true(r.p > .5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(learns_normal_noise),
		cmocka_unit_test(the_same_seed_gives_the_same_profile),
		cmocka_unit_test(sees_jitter_between_commits),
		cmocka_unit_test(sees_two_modes),
		cmocka_unit_test(too_little_history_is_no_profile),
		cmocka_unit_test(missing_units_and_zeros_are_taken_as_they_are),
		cmocka_unit_test(bad_sizes_are_refused),
		cmocka_unit_test(lambda_is_looked_up_by_size),
		cmocka_unit_test(history_lets_three_units_screen),
		cmocka_unit_test(an_outlier_among_three_waits),
		cmocka_unit_test(an_outlier_does_not_wait_when_the_rest_is_as_sure),
		cmocka_unit_test(levels_of_borrowed_commits_are_no_jitter),
		cmocka_unit_test(quiet_history_has_no_jitter),
		cmocka_unit_test(noise_is_no_smaller_than_rounding),
		cmocka_unit_test(equal_runs_are_not_certain_where_history_has_noise),
		cmocka_unit_test(a_step_between_commits_is_not_two_modes),
		cmocka_unit_test(modes_of_history_are_named_with_three_units),
		cmocka_unit_test(pairs_are_tested_as_pairs_when_neighbours_share_noise),
		cmocka_unit_test(drift_inside_commits_is_a_correlation_of_neighbours),
		cmocka_unit_test(history_on_another_scale_is_left_out),
		cmocka_unit_test(another_share_of_modes_is_seen),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
