/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Made-up histories: is a change told as what it is, and does the range of its place hold it? Noise
 * is normal, 1 %, unless said otherwise; 400 commits, the change about the middle.
 */
#include "bot/detect/changes.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>

enum {
	COMMITS = 400,
	AT = 200,
	ROUNDS = 400,
	CONTROLS = 80
};

static struct series_point points[COMMITS], build[CONTROLS];
static gsl_rng *rng;

/* What came out over all rounds. */
struct tally {
	int steps;
	int drifts;
	int one;
	int held;
};

/* A change by @by (ln) that takes @commits from AT on, in equal parts @apart. */
static void make(double by, size_t parts, size_t apart, double noise)
{
	for (size_t i = 0; i < COMMITS; i++) {
		size_t done = i < AT ? 0 : 1 + (i - AT) / apart;
		double share = done >= parts ? 1 : (double)done / (double)parts;

		points[i] = (struct series_point){ exp(by * share + gsl_ran_gaussian(rng, noise)),
						   0, 100.0 * (double)i };
	}
}

/* The control build, measured at each fifth commit; it moves by @by over the same time. */
static void make_control(double by, size_t commits, double noise)
{
	for (size_t i = 0; i < CONTROLS; i++) {
		double since = (double)(5 * i) - AT;
		double share = since < 0 ? 0 : fmin(1, (since + 1) / (double)commits);

		build[i] =
			(struct series_point){ 7 * exp(by * share + gsl_ran_gaussian(rng, noise)),
					       0, 500.0 * (double)i };
	}
}

/* @first, @last: what the range of the one change has to hold. */
static void look(struct tally *t, bool with_control, size_t first, size_t last)
{
	struct changes_control k = { .points = build, .npoints = CONTROLS };
	struct changes c = { 0 };
	int changes = 0, held = 0;

	assert_int_equal(changes_find(points, COMMITS, with_control ? &k : NULL, NULL, &c, NULL),
			 0);
	for (size_t i = 0; i < c.n; i++) {
		const struct change_point *p = &c.items[i];

		if (p->kind == CHANGE_OUTLIER_RUN)
			continue;
		changes++;
		held = p->lo <= first && p->hi >= last;
		t->steps += p->kind == CHANGE_STEP;
		t->drifts += p->kind == CHANGE_DRIFT;
	}
	t->one += changes == 1;
	t->held += changes == 1 && held;
	changes_done(&c);
}

static double percent(int n)
{
	return 100.0 * n / ROUNDS;
}

static void the_range_holds_the_step(void **state)
{
	static const double sizes[] = { 1.5, 2, 3, 5 };

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct tally t = { 0 };

		for (int i = 0; i < ROUNDS; i++) {
			make(.01 * sizes[s], 1, 1, .01);
			look(&t, false, AT, AT);
		}
		(void)printf(
			"bench: step of %.1f sigma: one change in %.1f %%, its range holds the "
			"place in %.1f %% of them; to hold: 95\n",
			sizes[s], percent(t.one), 100.0 * t.held / t.one);
		assert_true(t.held >= .93 * t.one);
	}
}

static void a_step_in_parts(void **state)
{
	static const size_t apart[] = { 1, 3, 5 };

	(void)state;
	for (size_t s = 0; s < sizeof(apart) / sizeof(apart[0]); s++) {
		struct tally t = { 0 };

		for (int i = 0; i < ROUNDS; i++) {
			make(-.05, 5, apart[s], .005);
			look(&t, false, AT, AT + 4 * apart[s]);
		}
		(void)printf(
			"bench: five parts of 1 %%, %zu commits apart, noise .5 %%: one change "
			"in %.1f %%, its range holds all parts in %.1f %%\n",
			apart[s], percent(t.one), percent(t.held));
		assert_true(percent(t.one) >= 85);
	}
}

static void tell(const char *what, const struct tally *t)
{
	(void)printf("bench: %s: told as step %.2f, as drift %.2f times a history\n", what,
		     (double)t->steps / ROUNDS, (double)t->drifts / ROUNDS);
}

static void kernel_or_machine(void **state)
{
	static const struct {
		const char *what;
		double control;
		size_t commits;
		bool asked;
		bool drift;
	} cases[] = {
		{ "step of 5 %, no control", 0, 1, false, false },
		{ "step of 5 %, control still", 0, 1, true, false },
		{ "step of 5 %, control moves 1 %", -.01, 1, true, false },
		{ "step of 5 %, control moves 5 %", -.05, 1, true, true },
		{ "step of 5 %, control moves the other way", .05, 1, true, false },
		{ "slope of 5 % over 100 commits, no control", 0, 100, false, true },
		{ "slope of 5 % over 100 commits, control still", 0, 100, true, false },
		{ "slope of 5 % over 100 commits, control too", -.05, 100, true, true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct tally t = { 0 };

		for (int i = 0; i < ROUNDS; i++) {
			make(-.05, cases[k].commits, 1, .01);
			make_control(cases[k].control, cases[k].commits, .01);
			look(&t, cases[k].asked, 0, 0);
		}
		tell(cases[k].what, &t);
		assert_true((cases[k].drift ? t.drifts : t.steps) >= .9 * ROUNDS);
		assert_true((cases[k].drift ? t.steps : t.drifts) <= .1 * ROUNDS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_range_holds_the_step),
		cmocka_unit_test(a_step_in_parts),
		cmocka_unit_test(kernel_or_machine),
	};
	int r;

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 20240229);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	gsl_rng_free(rng);
	return r;
}
