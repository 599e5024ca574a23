/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/stats.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/answers.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

struct pair {
	json_t *entry;
	double a[16], b[16];
	size_t n, m;
};

static struct pair load(const char *name)
{
	struct pair p = { .entry = answer_find(name) };

	p.n = answer_array(p.entry, "input/a", p.a, 16);
	p.m = answer_array(p.entry, "input/b", p.b, 16);
	return p;
}

static void take_logs(struct pair *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->a[i] = log(p->a[i]);
	for (size_t i = 0; i < p->m; i++)
		p->b[i] = log(p->b[i]);
}

static void welch_gives_the_known_t_and_p(void **state)
{
	const char *names[] = { "welch_t", "welch_t_outlier" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct pair p = load(names[i]);
		struct stats_test t;

		stats_welch(p.a, p.n, p.b, p.m, &t);
		assert_near(t.t, answer_num(p.entry, "expect/t"), 1e-9);
		assert_near(t.p, answer_num(p.entry, "expect/p"), 1e-9);
		if (i == 0)
			assert_near(t.df, answer_num(p.entry, "expect/df"), 1e-9);
	}
}

static void welch_on_logs_gives_the_ratio_of_geometric_means(void **state)
{
	struct pair p = load("welch_t_log");
	struct stats_test t;

	(void)state;
	take_logs(&p);
	stats_welch(p.a, p.n, p.b, p.m, &t);
	assert_near(t.t, answer_num(p.entry, "expect/t"), 1e-9);
	assert_near(t.p, answer_num(p.entry, "expect/p"), 1e-9);
	assert_near(expm1(t.effect), answer_num(p.entry, "expect/ratio_minus_1"), 1e-9);
}

static void moderated_without_prior_is_students_t(void **state)
{
	struct pair p = load("student_t");
	struct stats_prior none = { .lambda = 1 };
	struct stats_test t;

	(void)state;
	stats_moderated(p.a, p.n, p.b, p.m, &none, &t);
	assert_near(t.t, answer_num(p.entry, "expect/t"), 1e-9);
	assert_near(t.df, answer_num(p.entry, "expect/df"), 1e-9);
	assert_near(t.p, answer_num(p.entry, "expect/p"), 1e-9);
}

static void moderated_t_clips_and_borrows_as_known(void **state)
{
	const char *names[] = { "moderated_t", "moderated_t_clip_jitter" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct pair p = load(names[i]);
		struct stats_prior prior = {
			.d0 = answer_num(p.entry, "input/profile/d0"),
			.s0sq = answer_num(p.entry, "input/profile/s02"),
			.scsq = answer_num(p.entry, "input/profile/sc2"),
			.lambda = answer_num(p.entry, "input/profile/lam"),
			.history = i ? (int)answer_num(p.entry, "input/profile/nh") : 0,
		};
		double lo = answer_num(p.entry, "input/profile/lo");
		double hi = answer_num(p.entry, "input/profile/hi");
		struct stats_test t;

		take_logs(&p);
		assert_int_equal(stats_clip(p.a, p.n, lo, hi), i);
		(void)stats_clip(p.b, p.m, lo, hi);
		stats_moderated(p.a, p.n, p.b, p.m, &prior, &t);
		/* The known t is the one before lambda; its p is the one after. */
		assert_near(t.t * prior.lambda, answer_num(p.entry, "expect/t"), 1e-9);
		assert_near(t.df, answer_num(p.entry, "expect/df"), 1e-9);
		assert_near(t.p, answer_num(p.entry, "expect/p"), 1e-9);
	}
}

static void mann_whitney_is_exact_or_corrected_for_ties(void **state)
{
	const char *names[] = { "mwu_exact_separated", "mwu_exact_outlier", "mwu_ties_normal" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct pair p = load(names[i]);
		double u, v;

		assert_near(stats_mwu(p.a, p.n, p.b, p.m, &u),
			    answer_num(p.entry, "expect/p_two_sided"), 1e-9);
		assert_near(u, answer_num(p.entry, "expect/U_b"), 1e-12);
		assert_near(stats_mwu(p.b, p.m, p.a, p.n, &v),
			    answer_num(p.entry, "expect/p_two_sided"), 1e-9);
		assert_near(u + v, (double)(p.n * p.m), 1e-12);
	}
}

static void mann_whitney_reaches_its_smallest_p(void **state)
{
	json_t *entry = answer_find("mwu_min_p");
	double n[16], want[16], a[64], b[64];
	size_t k = answer_array(entry, "input/n_per_side", n, 16);

	(void)state;
	assert_int_equal(answer_array(entry, "expect/p", want, 16), k);
	for (size_t i = 0; i < 64; i++) {
		a[i] = (double)i;
		b[i] = 1000 + (double)i;
	}
	for (size_t i = 0; i < k; i++)
		assert_near(stats_mwu(a, (size_t)n[i], b, (size_t)n[i], NULL), want[i], 1e-9);
	/* 2 / C(50, 25), the largest that is exact; beyond it the normal takes over. */
	assert_near(stats_mwu(a, 25, b, 25, NULL), 2 / 126410606437752., 1e-9);
	assert_true(stats_mwu(a, 26, b, 26, NULL) < 1e-8);
	assert_near(stats_mwu(a, 0, b, 5, NULL), 1, 0);
	assert_near(stats_mwu(a, 1, a, 1, NULL), 1, 0);
}

static void fisher_agrees(void **state)
{
	(void)state;
	assert_near(stats_fisher(3, 7, 8, 2), answer_num(answer_find("fisher_exact"), "expect/p"),
		    1e-9);
	assert_near(stats_fisher(0, 0, 0, 0), 1, 0);
	assert_near(stats_fisher(0, 5, 0, 4), 1, 0);
}

static void cauchy_combination_keeps_a_common_p_and_bounds_extremes(void **state)
{
	(void)state;
	assert_near(stats_cauchy(.03, .03), .03, 1e-12);
	assert_near(stats_cauchy(1e-9, 1e-9), 1e-9, 1e-9);
	assert_near(stats_cauchy(.5, .5), .5, 1e-9);
	assert_near(stats_cauchy(0, 0), 1e-15, 1e-6);
	assert_true(stats_cauchy(1, 1) < 1);
	assert_true(stats_cauchy(1e-6, 1) < 1e-5);
}

static void benjamini_hochberg_matches_the_paper(void **state)
{
	json_t *entry = answer_find("bh_adjust");
	double p[16], q[16], want[16];
	size_t n = answer_array(entry, "input/p", p, 16), rejected = 0;

	(void)state;
	assert_int_equal(answer_array(entry, "expect/q", want, 16), n);
	stats_bh(p, n, q);
	for (size_t i = 0; i < n; i++) {
		assert_near(q[i], want[i], 1e-9);
		rejected += q[i] <= .05;
	}
	assert_int_equal(rejected, (int)answer_num(entry, "expect/rejected_at_0.05"));
}

static void benjamini_hochberg_does_not_count_what_was_not_tested(void **state)
{
	double p[] = { .5, NAN, .01 }, q[3];

	(void)state;
	stats_bh(p, 3, q);
	assert_near(q[0], .5, 1e-12);
	assert_true(isnan(q[1]));
	assert_near(q[2], .02, 1e-12);
	stats_bh(p, 0, q);
}

static void student_tails_and_quantiles_agree(void **state)
{
	json_t *tail = answer_find("t_tail"), *quant = answer_find("t_quantile");
	double t[4], df[4], p[4];
	size_t n = answer_array(tail, "input/t", t, 4);

	(void)state;
	answer_array(tail, "input/df", df, 4);
	answer_array(tail, "expect/p_two_sided", p, 4);
	for (size_t i = 0; i < n; i++)
		assert_near(stats_t_two_sided(-t[i], df[i]), p[i], 1e-9);
	n = answer_array(quant, "input/p_upper", p, 4);
	answer_array(quant, "input/df", df, 4);
	answer_array(quant, "expect/t", t, 4);
	for (size_t i = 0; i < n; i++)
		assert_near(stats_t_upper(p[i], df[i]), t[i], 1e-9);
}

static void student_is_harmless_outside_its_domain(void **state)
{
	(void)state;
	assert_near(stats_t_two_sided(5, 0), 1, 0);
	assert_near(stats_t_two_sided(NAN, 5), 1, 0);
	assert_near(stats_t_two_sided(1.959963984540054, HUGE_VAL), .05, 1e-9);
	assert_true(isinf(stats_t_upper(.05, 0)));
	assert_true(isinf(stats_t_upper(0, 5)));
}

static void quantiles_of_the_usual_levels_are_the_librarys(void **state)
{
	static const double levels[] = { .001, .005, .025, .05, .2, .1 };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		for (int k = 0; k < 50; k++) {
			double df = pow(1.3, k);

			assert_near(stats_t_upper(levels[i], df), gsl_cdf_tdist_Qinv(levels[i], df),
				    1e-10);
		}
		assert_near(stats_t_upper(levels[i], HUGE_VAL), gsl_cdf_ugaussian_Qinv(levels[i]),
			    1e-10);
	}
}

static void tails_are_right_where_the_librarys_are_and_beyond(void **state)
{
	(void)state;
	for (int i = 0; i < 34; i++) {
		for (int k = 0; k < 24; k++) {
			double df = pow(1.4, i), v = .001 * pow(1.5, k);
			double p = stats_t_two_sided(v, df);

			/* Further out the library has fewer digits. */
			if (p > 1e-6)
				assert_near(p, 2 * gsl_cdf_tdist_Q(v, df), 1e-8);
		}
	}
	/* By the finite sum for even degrees of freedom, in 200 digits. */
	assert_near(stats_t_two_sided(40.125, 162), 4.5910274975479048e-86, 1e-12);
	assert_near(stats_t_two_sided(-3.5, 14), 0.0035352081058589602, 1e-12);
	assert_near(stats_t_two_sided(40.125, 20), 1.3703037480891058e-20, 1e-12);
	assert_near(stats_t_two_sided(0, 5), 1, 0);
	assert_near(stats_t_two_sided(1e-300, 5), 1, 1e-12);
	assert_true(stats_t_two_sided(1e200, 5) >= 0 && stats_t_two_sided(1e200, 5) < 1e-300);
}

static void the_likeliest_prior_is_that_of_the_variances(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double s2[2000], dof[2000], d0 = 0, s0sq = 0;

	(void)state;
	gsl_rng_set(rng, 3);
	for (int i = 0; i < 2000; i++) {
		double var = 4 * 6 / gsl_ran_chisq(rng, 6);

		dof[i] = 1 + i % 3;
		s2[i] = var * gsl_ran_chisq(rng, dof[i]) / dof[i];
	}
	stats_prior_likely(s2, dof, 2000, &d0, &s0sq);
	assert_true(d0 > 4 && d0 < 9);
	assert_near(s0sq, 4, .1);
	for (int i = 0; i < 2000; i++)
		s2[i] = gsl_ran_chisq(rng, dof[i]) / dof[i];
	stats_prior_likely(s2, dof, 2000, &d0, &s0sq);
	assert_true(d0 > 60);
	assert_near(s0sq, 1, .1);
	s2[0] = 0;
	stats_prior_likely(s2, dof, 1, &d0, &s0sq);
	assert_true(isfinite(d0) && d0 > 0);
	gsl_rng_free(rng);
}

static void pairs_without_prior_are_students_t_of_the_differences(void **state)
{
	static const double d[] = { 1.2, .4, 2.1, .9, 1.6 };
	struct stats_sum sum = stats_sum_of(d, 5);
	struct stats_prior none = { .lambda = 1 }, known = { .d0 = 20, .s0sq = 1, .lambda = 1 };
	struct stats_test t;

	(void)state;
	stats_moderated_paired(&sum, &none, &t);
	assert_near(t.t, 1.24 / sqrt(.423 / 5), 1e-9);
	assert_near(t.df, 4, 0);
	stats_moderated_paired(&sum, &known, &t);
	assert_near(t.se, sqrt((20 + 4 * .423) / 24 / 5), 1e-9);
	assert_near(t.df, 24, 0);
}

static void rank_tables_are_used_again(void **state)
{
	static const double a[] = { 1, 2, 3, 4 }, b[] = { 5, 6, 7, 8 }, c[] = { 2.5, 6, 7 };
	struct stats_mwu_tails tails = { 0 };
	double u = 0;

	(void)state;
	assert_near(stats_mwu_sorted(a, 4, b, 4, &tails, &u), 2. / 70, 1e-12);
	assert_near(u, 16, 0);
	assert_near(stats_mwu_sorted(b, 4, a, 4, &tails, NULL), 2. / 70, 1e-12);
	assert_near(stats_mwu_sorted(a, 4, c, 3, &tails, NULL), stats_mwu(a, 4, c, 3, NULL), 1e-12);
	assert_near(stats_mwu_sorted(a, 4, a, 4, &tails, NULL), 1, 0);
	stats_mwu_tails_done(&tails);
}

static void trigamma_is_inverted(void **state)
{
	json_t *entry = answer_find("trigamma_inverse");
	double y[8], x[8];
	size_t n = answer_array(entry, "input/y", y, 8);

	(void)state;
	answer_array(entry, "expect/x", x, 8);
	for (size_t i = 0; i < n; i++)
		assert_near(stats_trigamma_inverse(y[i]), x[i], 1e-9);
}

static void prior_is_fitted_by_moments(void **state)
{
	const char *names[] = { "prior_fit", "prior_fit_2" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		json_t *entry = answer_find(names[i]);
		double s2[16], d0, s0sq;
		size_t n = answer_array(entry, "input/s2", s2, 16);

		stats_prior_fit(s2, n, answer_num(entry, "input/dof"), &d0, &s0sq);
		assert_near(d0, answer_num(entry, "expect/d0"), 1e-9);
		assert_near(s0sq, answer_num(entry, "expect/s0_sq"), 1e-9);
	}
}

static void otsu_finds_two_modes(void **state)
{
	json_t *entry = answer_find("otsu_bimodal");
	double x[16];
	size_t n = answer_array(entry, "input/x", x, 16);
	struct stats_split s;

	(void)state;
	stats_sort(x, n);
	stats_otsu(x, n, &s);
	assert_near(s.eta, answer_num(entry, "expect/eta"), 1e-9);
	assert_near(s.minor, answer_num(entry, "expect/minor_weight"), 1e-9);
	assert_near(s.cut, answer_num(entry, "expect/cut"), 1e-9);
	stats_otsu((double[]){ 2, 2, 2 }, 3, &s);
	assert_near(s.eta, 0, 0);
}

static void check_cuts(const char *name, int nmax)
{
	json_t *entry = answer_find(name);
	json_t *rows = answer_get(entry, "expect/nominal");
	double looks[8], alpha[8], cuts[8];
	int ilooks[8];
	size_t n = answer_array(entry, "input/looks", looks, 8);
	size_t k = answer_array(entry, "input/alpha", alpha, 8);

	for (size_t i = 0; i < n; i++)
		ilooks[i] = (int)looks[i];
	for (size_t i = 0; i < k; i++) {
		stats_look_cuts(ilooks, n, nmax, alpha[i], cuts);
		for (size_t j = 0; j < n; j++)
			assert_near(cuts[j],
				    json_number_value(json_array_get(json_array_get(rows, i), j)),
				    .01);
	}
}

static void look_cuts_spend_alpha_as_known(void **state)
{
	(void)state;
	check_cuts("pocock_spend_nominal", 20);
	check_cuts("verdict_looks_nominal", 20);
}

static void look_cuts_hold_for_close_looks(void **state)
{
	int looks[] = { 8, 9, 10, 999, 1000 }, one[] = { 12 };
	double cuts[5], sum = 0;

	(void)state;
	stats_look_cuts(one, 1, 12, .01, cuts);
	assert_near(cuts[0], .01, 1e-9);
	stats_look_cuts(looks, 5, 1000, .01, cuts);
	for (size_t i = 0; i < 5; i++) {
		assert_true(cuts[i] > 0 && cuts[i] <= .01);
		sum += cuts[i];
	}
	/* Looks share paths, so the cuts add up to at least what is spent. */
	assert_true(sum >= .01 && sum < .02);
}

static void quantiles_interpolate(void **state)
{
	double x[] = { 4, 1, 3, 2 }, big[100];

	(void)state;
	assert_near(stats_median(x, 4), 2.5, 1e-12);
	assert_near(stats_median(x, 3), 3, 1e-12);
	assert_near(stats_median(x, 0), 0, 0);
	stats_sort(x, 4);
	assert_near(stats_quantile(x, 4, .1), 1.3, 1e-12);
	assert_near(stats_quantile(x, 4, 1), 4, 1e-12);
	assert_near(stats_mad_sd(x, 4), 1.4826, 1e-12);
	for (int i = 0; i < 100; i++)
		big[i] = (i * 37) % 100;
	stats_sort(big, 100);
	for (int i = 0; i < 100; i++)
		assert_near(big[i], i, 0);
	assert_near(stats_var(x, 1), 0, 0);
}

static int done(void **state)
{
	(void)state;
	answers_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(welch_gives_the_known_t_and_p),
		cmocka_unit_test(welch_on_logs_gives_the_ratio_of_geometric_means),
		cmocka_unit_test(moderated_without_prior_is_students_t),
		cmocka_unit_test(moderated_t_clips_and_borrows_as_known),
		cmocka_unit_test(mann_whitney_is_exact_or_corrected_for_ties),
		cmocka_unit_test(mann_whitney_reaches_its_smallest_p),
		cmocka_unit_test(fisher_agrees),
		cmocka_unit_test(cauchy_combination_keeps_a_common_p_and_bounds_extremes),
		cmocka_unit_test(benjamini_hochberg_matches_the_paper),
		cmocka_unit_test(benjamini_hochberg_does_not_count_what_was_not_tested),
		cmocka_unit_test(student_tails_and_quantiles_agree),
		cmocka_unit_test(student_is_harmless_outside_its_domain),
		cmocka_unit_test(quantiles_of_the_usual_levels_are_the_librarys),
		cmocka_unit_test(tails_are_right_where_the_librarys_are_and_beyond),
		cmocka_unit_test(the_likeliest_prior_is_that_of_the_variances),
		cmocka_unit_test(pairs_without_prior_are_students_t_of_the_differences),
		cmocka_unit_test(rank_tables_are_used_again),
		cmocka_unit_test(trigamma_is_inverted),
		cmocka_unit_test(prior_is_fitted_by_moments),
		cmocka_unit_test(otsu_finds_two_modes),
		cmocka_unit_test(look_cuts_spend_alpha_as_known),
		cmocka_unit_test(look_cuts_hold_for_close_looks),
		cmocka_unit_test(quantiles_interpolate),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, done);
}
