/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/bisect.h"

#include <math.h>

static struct bisect_params quiet(void)
{
	struct bisect_params p = bisect_params_default();

	p.sigma = 0.01;
	p.boot_sd = 0.001;
	p.commit_sd = 0.001;
	p.step = 0.1;
	return p;
}

static void start(struct bisect_graph *g, struct bisect_state *s, size_t n)
{
	struct bisect_params p = quiet();
	struct err e = { 0 };

	assert_ok(bisect_graph_add_line(g, n, &e), &e);
	assert_ok(bisect_graph_prepare(g, &e), &e);
	assert_ok(bisect_init(s, g, &p, &e), &e);
}

static void measure(struct bisect_state *s, int commit, int boot, double y)
{
	struct err e = { 0 };

	assert_ok(bisect_add_run(s, commit, boot, y, &e), &e);
}

static void both_ends(struct bisect_state *s)
{
	for (int boot = 1; boot <= 2; boot++) {
		measure(s, BISECT_GOOD_END, boot, 5.0);
		measure(s, (int)s->graph->n - 1, 10 + boot, 5.1);
	}
}

static void finish(struct bisect_graph *g, struct bisect_state *s)
{
	bisect_done(s);
	bisect_graph_done(g);
}

static void starts_with_the_prior(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	struct err e = { 0 };
	double p[4], none;

	(void)state;
	start(&g, &s, 4);
	assert_ok(bisect_set_prior(&s, 0, 2, &e), &e);
	bisect_posterior(&s, p, &none);
	assert_near(none, 0.02, 1e-9);
	assert_near(p[0], 0.98 * 2 / 5, 1e-9);
	assert_near(p[3], 0.98 / 5, 1e-9);
	assert_near(bisect_p_bad(&s, 1), 0.98 * 3 / 5, 1e-9);
	assert_true(bisect_p_bad(&s, BISECT_GOOD_END) == 0);
	finish(&g, &s);
}

/*
 * Known answer: a perfect bad at commit 2 of a line of 4 leaves 1/3 each for 0, 1 and 2, but for
 * the 0.3 % that a boot may have gone wrong.
 */
static void one_perfect_bad_leaves_thirds(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	double p[4], none;

	(void)state;
	start(&g, &s, 4);
	both_ends(&s);
	measure(&s, 2, 20, 5.1);
	bisect_posterior(&s, p, &none);
	for (int c = 0; c < 3; c++)
		assert_near(p[c], 1.0 / 3, 5e-3);
	assert_true(p[3] < 5e-3);
	assert_true(none < 1e-3);
	finish(&g, &s);
}

static void one_perfect_good_clears_ancestors(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	double p[4];

	(void)state;
	start(&g, &s, 4);
	both_ends(&s);
	measure(&s, 1, 20, 5.0);
	bisect_posterior(&s, p, NULL);
	assert_near(p[2], 0.5, 1e-2);
	assert_near(p[3], 0.5, 1e-2);
	finish(&g, &s);
}

/* Two runs on one boot share its error; on two boots they count for more. */
static void boots_count_more_than_runs(void **state)
{
	double bad[2];

	(void)state;
	for (int boots = 0; boots < 2; boots++) {
		struct bisect_graph g = { 0 };
		struct bisect_state s;

		start(&g, &s, 4);
		s.params.boot_sd = 0.04;
		for (int boot = 1; boot <= 4; boot++) {
			measure(&s, BISECT_GOOD_END, boot, 5.0);
			measure(&s, 3, 10 + boot, 5.1);
		}
		measure(&s, 1, 20, 5.08);
		measure(&s, 1, 20 + boots, 5.08);
		bad[boots] = bisect_p_bad(&s, 1);
		finish(&g, &s);
	}
	assert_true(bad[1] > bad[0]);
	assert_true(bad[0] > 0.5);
}

static void one_wild_boot_does_not_decide(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;

	(void)state;
	start(&g, &s, 4);
	both_ends(&s);
	for (int boot = 20; boot < 24; boot++)
		measure(&s, 1, boot, 5.0);
	measure(&s, 1, 30, 5.1);
	assert_true(bisect_p_bad(&s, 1) < 0.01);
	finish(&g, &s);
}

static void scale_of_y_does_not_matter(void **state)
{
	double p[2][8];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct bisect_graph g = { 0 };
		struct bisect_state s;
		double f = k ? 1000 : 1;

		start(&g, &s, 8);
		s.params.sigma *= f;
		s.params.boot_sd *= f;
		s.params.commit_sd *= f;
		s.params.step *= f;
		measure(&s, BISECT_GOOD_END, 1, 5.0 * f);
		measure(&s, 7, 2, 5.09 * f);
		measure(&s, 3, 3, 5.055 * f);
		measure(&s, 5, 4, 5.07 * f);
		bisect_posterior(&s, p[k], NULL);
		finish(&g, &s);
	}
	for (int c = 0; c < 8; c++)
		assert_near(p[0][c], p[1][c], 1e-6);
}

static void step_down_mirrors_step_up(void **state)
{
	double p[2][8];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct bisect_graph g = { 0 };
		struct bisect_state s;
		double f = k ? -1 : 1;

		start(&g, &s, 8);
		s.params.step *= f;
		measure(&s, BISECT_GOOD_END, 1, 5.0 * f);
		measure(&s, 7, 2, 5.09 * f);
		measure(&s, 3, 3, 5.055 * f);
		bisect_posterior(&s, p[k], NULL);
		finish(&g, &s);
	}
	for (int c = 0; c < 8; c++)
		assert_near(p[0][c], p[1][c], 1e-3);
}

/* A lab that counts instructions: the step is thousands of sigma. */
static void tiny_noise_is_no_trouble(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	double p[4], none;

	(void)state;
	start(&g, &s, 4);
	s.params.sigma = 1e-6;
	s.params.boot_sd = 0;
	s.params.commit_sd = 1e-4;
	both_ends(&s);
	measure(&s, 1, 20, 5.1002);
	measure(&s, 0, 21, 5.0001);
	bisect_posterior(&s, p, &none);
	assert_true(p[1] > 0.97);
	assert_true(none < 1e-3);
	finish(&g, &s);
}

static void same_ends_say_none(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	double none;

	(void)state;
	start(&g, &s, 4);
	for (int boot = 1; boot <= 4; boot++) {
		measure(&s, BISECT_GOOD_END, boot, 5.0 + 0.001 * boot);
		measure(&s, 3, boot, 5.001 + 0.001 * boot);
	}
	bisect_posterior(&s, NULL, &none);
	assert_true(none > 0.2);
	finish(&g, &s);
}

/* Values as far apart as they may be, in the least noise there may be. */
static void largest_values_give_numbers(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	struct bisect_step step = { 0 };
	struct err e = { 0 };
	double p[4], none;

	(void)state;
	start(&g, &s, 4);
	s.params.sigma = 1e-12;
	s.params.boot_sd = s.params.commit_sd = 0;
	for (int boot = 1; boot <= 2; boot++) {
		measure(&s, BISECT_GOOD_END, boot, -BISECT_Y_MOST);
		measure(&s, 3, 10 + boot, BISECT_Y_MOST);
		measure(&s, 1, 20 + boot, boot == 1 ? BISECT_Y_MOST : -BISECT_Y_MOST);
	}
	bisect_posterior(&s, p, &none);
	assert_near(none + p[0] + p[1] + p[2] + p[3], 1, 1e-9);
	assert_ok(bisect_next(&s, &step, &e), &e);
	assert_true(step.probability >= 0 && step.p_none >= 0);
	bisect_step_done(&step);
	finish(&g, &s);
}

static double sigma_of(double spread, double odd)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	struct bisect_params p = quiet();
	struct err e = { 0 };
	double sigma;

	assert_ok(bisect_graph_add_line(&g, 4, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_ok(bisect_init(&s, &g, &p, &e), &e);
	/* Two runs d apart tell a variance of d^2 / 2. */
	for (int boot = 1; boot <= 40; boot++)
		for (int r = -1; r <= 1; r += 2) {
			double off = boot == 7 ? odd : spread * p.sigma;

			assert_ok(bisect_add_run(&s, BISECT_GOOD_END, boot, 1 + r * off / M_SQRT2,
						 &e),
				  &e);
		}
	sigma = bisect_sigma(&s) / p.sigma;
	finish(&g, &s);
	return sigma;
}

static void noise_is_refined_but_not_by_an_outlier(void **state)
{
	(void)state;
	assert_near(sigma_of(1, quiet().sigma), 1, 0.01);
	assert_near(sigma_of(1, 1000 * quiet().sigma), 1, 0.01);
	assert_true(sigma_of(2, 2 * quiet().sigma) > 1.5);
	assert_true(sigma_of(0.5, 0.5 * quiet().sigma) < 0.75);
}

static void refuses_bad_input(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	struct err e = { 0 };
	struct bisect_params p = quiet();

	(void)state;
	assert_err(bisect_init(&s, &g, &p, &e), ERR_INVAL, &e);
	start(&g, &s, 4);
	assert_err(bisect_add_run(&s, 4, 1, 1, &e), ERR_INVAL, &e);
	assert_err(bisect_add_run(&s, -2, 1, 1, &e), ERR_INVAL, &e);
	assert_err(bisect_add_run(&s, 1, 1, __builtin_nan(""), &e), ERR_INVAL, &e);
	assert_err(bisect_add_run(&s, 1, 1, -1e101, &e), ERR_INVAL, &e);
	assert_err(bisect_skip(&s, BISECT_GOOD_END, BISECT_SKIP_BUILD, &e), ERR_INVAL, &e);
	assert_err(bisect_skip(&s, 1, BISECT_TESTABLE, &e), ERR_INVAL, &e);
	assert_err(bisect_set_prior(&s, 1, 0, &e), ERR_INVAL, &e);
	assert_ok(bisect_skip(&s, 1, BISECT_SKIP_BOOT, &e), &e);
	assert_err(bisect_add_run(&s, 1, 1, 1, &e), ERR_CONFLICT, &e);
	assert_int_equal(s.n_runs, 0);
	p.sigma = 0;
	assert_err(bisect_params_check(&p, &e), ERR_INVAL, &e);
	p = quiet();
	p.confidence = __builtin_nan("");
	assert_err(bisect_params_check(&p, &e), ERR_INVAL, &e);
	finish(&g, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_with_the_prior),
		cmocka_unit_test(one_perfect_bad_leaves_thirds),
		cmocka_unit_test(one_perfect_good_clears_ancestors),
		cmocka_unit_test(boots_count_more_than_runs),
		cmocka_unit_test(one_wild_boot_does_not_decide),
		cmocka_unit_test(scale_of_y_does_not_matter),
		cmocka_unit_test(step_down_mirrors_step_up),
		cmocka_unit_test(tiny_noise_is_no_trouble),
		cmocka_unit_test(same_ends_say_none),
		cmocka_unit_test(largest_values_give_numbers),
		cmocka_unit_test(noise_is_refined_but_not_by_an_outlier),
		cmocka_unit_test(refuses_bad_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
