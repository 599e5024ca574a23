/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that nobody would measure: nothing may crash, and nothing may be called sure by them. */
#include "bot/base/cleanup.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/samples.h"

enum {
	ROUNDS = 2400,
	RUNS_MAX = 24,
	COMMITS = 40
};

static double pick(gsl_rng *rng, int kind)
{
	static const double odd[] = { 0,      -0.0,    1,	 1e300, -1e300, 1e-300, -1e-300,
				      5e-324, 1.7e308, -1.7e308, 1e15,	3,	3,	1e-9 };

	switch (kind) {
	case 0: /* anything */
		if (gsl_rng_uniform(rng) < .1)
			return gsl_rng_uniform(rng) < .5 ? (double)NAN : HUGE_VAL;
		return odd[gsl_rng_uniform_int(rng, ARRAY_SIZE(odd))];
	case 1: /* huge */
		return 1e300 * exp(gsl_ran_gaussian(rng, .01));
	case 2: /* tiny */
		return 1e-300 * exp(gsl_ran_gaussian(rng, .01));
	case 3: /* around zero */
		return gsl_ran_gaussian(rng, 1);
	case 4: /* coarse */
		return (double)gsl_rng_uniform_int(rng, 3);
	case 5: /* huge, both signs */
		return gsl_ran_gaussian(rng, 1e300);
	default:
		return 1000 * exp(gsl_ran_gaussian(rng, .01));
	}
}

static size_t fill(struct detect_sample *s, gsl_rng *rng, int kind)
{
	size_t n = gsl_rng_uniform_int(rng, RUNS_MAX + 1);
	bool ordered = gsl_rng_uniform(rng) < .5;
	int boots = (int)gsl_rng_uniform_int(rng, 8);

	for (size_t i = 0; i < n; i++) {
		s[i].value = pick(rng, kind);
		s[i].boot = boots ? (int)gsl_rng_uniform_int(rng, (unsigned long)boots) : -1;
		s[i].order = ordered ? (double)gsl_rng_uniform_int(rng, 50) : (double)NAN;
	}
	return n;
}

static void fit(struct detect_profile *p, gsl_rng *rng, int kind)
{
	static const int sizes[] = { 3, 5, 8, 12, 20, 900 };
	double y[COMMITS][6];
	struct detect_commit c[COMMITS];
	struct err e = { 0 };

	for (int i = 0; i < COMMITS; i++) {
		c[i] = (struct detect_commit){ .units = y[i],
					       .n = gsl_rng_uniform_int(rng, 7),
					       .borrowed = gsl_rng_uniform(rng) < .2 };
		for (int j = 0; j < 6; j++)
			y[i][j] = pick(rng, kind);
	}
	assert_ok(detect_profile_fit(c, COMMITS, sizes, 6, 1, p, &e), &e);
	if (!p->have)
		return;
	assert_true(isfinite(p->lo) && isfinite(p->hi) && p->lo <= 0 && p->hi >= 0);
	assert_true(p->d0 > 0 && isfinite(p->s0sq) && p->s0sq > 0);
	assert_true(isfinite(p->scsq) && p->scsq >= 0);
	for (size_t i = 0; i < p->nsizes; i++)
		assert_true(p->lambdas[i] >= 1 && isfinite(p->lambdas[i]));
}

static void check(const struct detect_result *r)
{
	bool change = r->verdict == DETECT_REGRESSION || r->verdict == DETECT_IMPROVEMENT ||
		      r->verdict == DETECT_CHANGE;

	assert_true(r->verdict < DETECT_VERDICTS);
	assert_true(isnan(r->p) || (r->p >= 0 && r->p <= 1));
	assert_true(isnan(r->q) || (r->q >= 0 && r->q <= 1));
	assert_true(isnan(r->abs_lo) || isnan(r->abs_hi) || r->abs_lo <= r->abs_hi);
	assert_true(r->more_units >= 0 && r->more_units <= DETECT_LOOK_LIMIT);
	assert_true(r->base.nmodes <= DETECT_MODES_MAX && r->head.nmodes <= DETECT_MODES_MAX);
	if (change)
		assert_true(r->base.units >= 3 && r->head.units >= 3 && !isnan(r->abs));
}

static void hostile_numbers_are_judged_without_harm(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	gsl_rng_set(rng, 31);
	for (int i = 0; i < ROUNDS; i++) {
		struct detect_sample a[RUNS_MAX], b[RUNS_MAX];
		struct detect_options o = detect_options_default();
		struct detect_profile p = { 0 };
		struct detect_result r = { 0 };
		struct err e = { 0 };
		char text[200];
		int kind = i % 7;
		size_t n, m;

		if (i % 6 == 0)
			fit(&p, rng, (int)gsl_rng_uniform_int(rng, 7));
		n = fill(a, rng, kind);
		m = fill(b, rng, i % 5 ? kind : (int)gsl_rng_uniform_int(rng, 7));
		o.single_look = i % 3 == 0;
		if (i % 8 == 0)
			p.pair_rho = .9;
		assert_ok(detect_compare(a, n, b, m, DETECT_BETTER_LOWER, &p, &o, &r, &e), &e);
		check(&r);
		for (int bit = 0; bit < DETECT_NOTES; bit++) {
			if (r.notes >> bit & 1)
				assert_true(detect_note_text(&r, (enum detect_note)(1 << bit), text,
							     sizeof(text))[0]);
		}
	}
	gsl_rng_free(rng);
}

static void far_apart_scales_are_a_change_all_the_same(void **state)
{
	struct detect_sample a[8], b[8];
	struct detect_options o = detect_options_default();
	struct detect_result r = { 0 };
	struct err e = { 0 };

	(void)state;
	o.single_look = true;
	for (int i = 0; i < 8; i++) {
		a[i] = (struct detect_sample){ 1e-300 * (1 + .001 * i), -1, (double)NAN };
		b[i] = (struct detect_sample){ 1e300 * (1 + .001 * i), -1, (double)NAN };
	}
	assert_ok(detect_compare(a, 8, b, 8, DETECT_BETTER_LOWER, NULL, &o, &r, &e), &e);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
	for (int i = 0; i < 8; i++)
		a[i].value = -b[i].value;
	assert_ok(detect_compare(a, 8, b, 8, DETECT_BETTER_LOWER, NULL, &o, &r, &e), &e);
	assert_int_equal(r.verdict, DETECT_REGRESSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_numbers_are_judged_without_harm),
		cmocka_unit_test(far_apart_scales_are_a_change_all_the_same),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
