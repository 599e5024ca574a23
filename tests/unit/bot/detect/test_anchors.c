/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/anchors.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/answers.h"

#include <gsl/gsl_sf_psi.h>
#include <math.h>

struct input {
	json_t *entry;
	double a[ANCHOR_MAX], b[ANCHOR_MAX];
	size_t n, m;
};

static struct input input_of(const char *name)
{
	struct input x = { .entry = answer_find(name) };

	x.n = answer_array(x.entry, "input/a", x.a, ANCHOR_MAX);
	x.m = answer_array(x.entry, "input/b", x.b, ANCHOR_MAX);
	return x;
}

static void expect(const struct input *x, const char *path, double v)
{
	assert_near(v, answer_num(x->entry, path), 1e-9);
}

static void the_robots_rule_decides_as_known(void **state)
{
	static const char *const names[] = { "lkp_default", "lkp_default_5pct",
					     "lkp_default_outlier" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct input x = input_of(names[i]);
		bool changed = anchor_lkp(x.a, x.n, x.b, x.m, answer_num(x.entry, "input/ratio"));

		assert_int_equal(changed, json_is_true(answer_get(x.entry, "expect/changed")));
	}
}

static void brunner_munzel_gives_the_known_p(void **state)
{
	struct input x = input_of("brunner_munzel");
	double w = 0, p = anchor_brunner_munzel(x.a, x.n, x.b, x.m, &w);

	(void)state;
	expect(&x, "expect/W", w);
	expect(&x, "expect/p", p);
}

static void kolmogorov_smirnov_is_exact(void **state)
{
	struct input x = input_of("ks_exact");
	double d = 0, p = anchor_ks(x.a, x.n, x.b, x.m, &d);

	(void)state;
	expect(&x, "expect/D", d);
	expect(&x, "expect/p", p);
}

static void hodges_lehmann_has_the_known_interval(void **state)
{
	struct input x = input_of("hodges_lehmann");
	struct anchor_shift s = { 0 };

	(void)state;
	anchor_hodges_lehmann(x.a, x.n, x.b, x.m, answer_num(x.entry, "input/alpha"), &s);
	expect(&x, "expect/shift", s.shift);
	expect(&x, "expect/lo", s.lo);
	expect(&x, "expect/hi", s.hi);
	expect(&x, "expect/coverage", s.coverage);
	expect(&x, "expect/k", (double)s.k);
}

static void every_permutation_is_counted(void **state)
{
	static const char *const names[] = { "perm_mean_exact", "perm_mean_exact_outlier" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct input x = input_of(names[i]);

		expect(&x, "expect/p", anchor_permutation(x.a, x.n, x.b, x.m));
	}
}

static void e_values_are_as_known(void **state)
{
	json_t *t = answer_find("e_value_t"), *bh = answer_find("e_bh");
	double e[ANCHOR_MAX];
	size_t n = answer_array(bh, "input/e", e, ANCHOR_MAX);

	(void)state;
	assert_near(anchor_e_value(answer_num(t, "input/t"), answer_num(t, "input/nu"),
				   answer_num(t, "input/n"), answer_num(t, "input/g")),
		    answer_num(t, "expect/e"), 1e-9);
	assert_int_equal(anchor_e_bh(e, n, answer_num(bh, "input/alpha")),
			 (int)answer_num(bh, "expect/rejected"));
}

static void noise_of_a_series_comes_from_its_differences(void **state)
{
	json_t *x = answer_find("mad_sigma_diff");
	double v[ANCHOR_MAX];
	size_t n = answer_array(x, "input/x", v, ANCHOR_MAX);

	(void)state;
	assert_near(anchor_diff_sigma(v, n), answer_num(x, "expect/sigma"), 1e-9);
}

static void the_library_has_the_known_digamma(void **state)
{
	json_t *entry = answer_find("digamma_trigamma");
	double x[8], psi[8], psi1[8];
	size_t n = answer_array(entry, "input/x", x, 8);

	(void)state;
	assert_int_equal(answer_array(entry, "expect/psi", psi, 8), n);
	assert_int_equal(answer_array(entry, "expect/psi1", psi1, 8), n);
	for (size_t i = 0; i < n; i++) {
		assert_near(gsl_sf_psi(x[i]), psi[i], 1e-9);
		assert_near(gsl_sf_psi_1(x[i]), psi1[i], 1e-9);
	}
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
		cmocka_unit_test(the_robots_rule_decides_as_known),
		cmocka_unit_test(brunner_munzel_gives_the_known_p),
		cmocka_unit_test(kolmogorov_smirnov_is_exact),
		cmocka_unit_test(hodges_lehmann_has_the_known_interval),
		cmocka_unit_test(every_permutation_is_counted),
		cmocka_unit_test(e_values_are_as_known),
		cmocka_unit_test(noise_of_a_series_comes_from_its_differences),
		cmocka_unit_test(the_library_has_the_known_digamma),
	};

	return cmocka_run_group_tests_name("anchors", tests, NULL, done);
}
