/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Change points: known answers, what each kind is, and what must not be said. */
#include "bot/base/strbuf.h"
#include "bot/detect/changes.h"
#include "tests/test.h"
#include "tests/unit/bot/detect/answers.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	POINTS = 2000
};

static struct series_point points[POINTS];
static gsl_rng *rng;

static void set(size_t i, double value)
{
	points[i] = (struct series_point){ value, 0, 1000.0 * (double)i };
}

/* @n points around @level with noise of @sd, both as ratios of 100. */
static void fill(size_t from, size_t n, double level, double sd)
{
	for (size_t i = from; i < from + n; i++)
		set(i, 100 * exp(log(level) + gsl_ran_gaussian(rng, sd)));
}

static struct changes find(size_t n, const struct changes_control *control,
			   enum changes_sensitivity s)
{
	struct changes_options o = { .sensitivity = s, .better = DETECT_BETTER_HIGHER };
	struct changes c = { 0 };
	struct err e = { 0 };

	assert_ok(changes_find(points, n, control, &o, &c, &e), &e);
	return c;
}

static size_t count(const struct changes *c, enum change_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->items[i].kind == kind;
	return n;
}

/* The only step in @c. */
static const struct change_point *only(const struct changes *c)
{
	if (c->n != 1)
		fail_msg("%zu changes, not 1", c->n);
	return &c->items[0];
}

static size_t load_upstream(const char *name)
{
	FILE *f = fopen(TEST_SOURCE_DIR "/tests/data/series/upstream_series.csv", "re");
	size_t n = 0, len = strlen(name);
	char line[128];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, len) && line[len] == ',')
			set(n++, strtod(strrchr(line, ',') + 1, NULL));
	}
	assert_int_equal(fclose(f), 0);
	assert_true(n > 100);
	return n;
}

static void check_known(const char *name, enum changes_sensitivity s, const char *path)
{
	char entry[64];
	double want[16];
	size_t n = load_upstream(name), nwant, at = 0;
	struct changes c;

	(void)snprintf(entry, sizeof(entry), "robust_potts_%s", name);
	nwant = answer_array(answer_find(entry), path, want, 16);
	c = find(n, NULL, s);
	for (size_t i = 0; i < c.n; i++) {
		if (c.items[i].kind == CHANGE_OUTLIER_RUN)
			continue;
		assert_true(at < nwant);
		assert_int_equal(c.items[i].index, want[at]);
		assert_true(c.items[i].lo <= c.items[i].index && c.items[i].index <= c.items[i].hi);
		assert_int_equal(c.items[i].kind, CHANGE_STEP);
		at++;
	}
	assert_int_equal(at, nwant);
	changes_done(&c);
}

static void gives_the_known_answers(void **state)
{
	static const char *const names[] = { "tigerbeetle", "mongodb_real", "mongodb_robust" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		check_known(names[i], CHANGES_BALANCED, "expect/balanced");
		check_known(names[i], CHANGES_SENSITIVE, "expect/sensitive");
	}
}

static void finds_a_step_with_its_size_and_place(void **state)
{
	const struct change_point *p;
	struct changes c;

	(void)state;
	fill(0, 60, 1, .01);
	fill(60, 40, .95, .01);
	for (int s = CHANGES_BALANCED; s <= CHANGES_ONLINE; s++) {
		c = find(100, NULL, (enum changes_sensitivity)s);
		p = only(&c);
		assert_true(p->index >= 59 && p->index <= 61);
		assert_true(p->lo <= 60 && p->hi >= 60 && p->lo >= 56 && p->hi <= 64);
		assert_true(fabs(p->rel + .05) < .01);
		assert_true(fabs(p->before - 100) < 1 && fabs(p->after - 95) < 1);
		assert_near(p->abs, p->after - p->before, 1e-12);
		assert_true(p->p < 1e-9);
		assert_int_equal(p->worse, 1);
		assert_int_equal(p->kind, CHANGE_STEP);
		assert_int_equal(c.current, p->index);
		assert_true(c.sd_rel > .006 && c.sd_rel < .015);
		assert_true(p->seen_at == CHANGE_NEVER && p->gone_at == CHANGE_NEVER);
		changes_done(&c);
	}
}

static void direction_follows_the_descriptor(void **state)
{
	struct changes_options o = { .better = DETECT_BETTER_LOWER };
	struct changes c = { 0 };

	(void)state;
	fill(0, 50, 1, .005);
	fill(50, 50, 1.1, .005);
	assert_int_equal(changes_find(points, 100, NULL, &o, &c, NULL), 0);
	assert_int_equal(only(&c)->worse, 1);
	changes_done(&c);
	o.better = DETECT_BETTER_NONE;
	assert_int_equal(changes_find(points, 100, NULL, &o, &c, NULL), 0);
	assert_int_equal(only(&c)->worse, 0);
	changes_done(&c);
	c = find(100, NULL, CHANGES_BALANCED);
	assert_int_equal(only(&c)->worse, -1);
	changes_done(&c);
}

static void says_nothing_of_fewer_than_twelve(void **state)
{
	struct changes c = find(0, NULL, CHANGES_BALANCED);

	(void)state;
	assert_true(c.few && c.n == 0 && c.known == 0);
	changes_done(&c);
	for (size_t i = 0; i < 14; i++)
		set(i, i < 6 ? 100 : 200);
	c = find(11, NULL, CHANGES_BALANCED);
	assert_true(c.few && c.n == 0);
	changes_done(&c);
	points[3].value = (double)NAN;
	points[9].value = -(double)INFINITY;
	points[12].value = (double)INFINITY;
	c = find(14, NULL, CHANGES_BALANCED);
	assert_true(c.few && c.n == 0 && c.known == 11);
	changes_done(&c);
}

static void gaps_are_no_zeros_and_keep_their_index(void **state)
{
	struct changes c;

	(void)state;
	fill(0, 50, 1, .005);
	fill(50, 50, .9, .005);
	for (size_t i = 0; i < 100; i += 5)
		points[i].value = (double)NAN;
	c = find(100, NULL, CHANGES_BALANCED);
	assert_true(only(&c)->index == 51);
	assert_int_equal(c.known, 80);
	assert_true(c.ln_scale);
	changes_done(&c);
}

static void a_constant_has_no_change(void **state)
{
	static const double values[] = { 0, 5, -5, 1e300, -1e300, 1e-300, 5e-324 };
	struct changes c;

	(void)state;
	for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
		for (size_t i = 0; i < 50; i++)
			set(i, values[v]);
		c = find(50, NULL, CHANGES_SENSITIVE);
		assert_int_equal(c.n, 0);
		assert_true(c.sd == 0);
		changes_done(&c);
	}
}

static void a_step_without_noise_is_found(void **state)
{
	static const double pairs[][2] = { { 100, 102 },       { 0, 1 },
					   { -1, 1 },	       { 1e-300, 2e-300 },
					   { 1e300, 1.5e300 }, { -1e300, 1e300 },
					   { 1e-300, 1e300 },  { 0, 1e-300 } };
	struct changes c;

	(void)state;
	for (size_t v = 0; v < ARRAY_SIZE(pairs); v++) {
		for (size_t i = 0; i < 60; i++)
			set(i, pairs[v][i >= 37]);
		c = find(60, NULL, CHANGES_BALANCED);
		assert_int_equal(only(&c)->index, 37);
		assert_int_equal(c.items[0].lo, 37);
		assert_int_equal(c.items[0].hi, 37);
		assert_near(c.items[0].before, pairs[v][0], 1e-9);
		assert_near(c.items[0].after, pairs[v][1], 1e-9);
		/* From 0 there is no ratio. */
		assert_int_equal(isnan(c.items[0].rel), pairs[v][0] == 0);
		changes_done(&c);
	}
}

/* Most differences are 0, so the noise of all is too little for the noisy half: its start is sure. */
static void what_was_zero_and_becomes_noisy_changed_where_it_did(void **state)
{
	struct changes c;

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 60; i++)
			set(i, i < 30 ? 0 : fabs(5 + gsl_ran_gaussian(rng, 1)));
		c = find(60, NULL, CHANGES_BALANCED);
		assert_int_equal(only(&c)->kind, CHANGE_STEP);
		assert_true(c.items[0].lo <= 30 && c.items[0].hi >= 30);
		assert_true(c.items[0].index >= 29 && c.items[0].index <= 31);
		assert_true(isnan(c.items[0].rel) && c.items[0].worse == -1);
		changes_done(&c);
	}
}

static void below_the_least_effect_nothing_is_said(void **state)
{
	struct changes_options o = { .min_effect = .05 };
	struct changes c;

	(void)state;
	fill(0, 100, 1, .001);
	fill(100, 100, 1.008, .001);
	c = find(200, NULL, CHANGES_SENSITIVE);
	assert_int_equal(c.n, 0);
	changes_done(&c);
	fill(100, 100, 1.04, .001);
	assert_int_equal(changes_find(points, 200, NULL, &o, &c, NULL), 0);
	assert_int_equal(c.n, 0);
	changes_done(&c);
	c = find(200, NULL, CHANGES_SENSITIVE);
	assert_int_equal(c.n, 1);
	changes_done(&c);
}

static void thousands_of_small_steps_are_no_change(void **state)
{
	enum {
		MANY = 20000
	};
	struct series_point *many = calloc(MANY, sizeof(*many));
	struct changes c = { 0 };

	(void)state;
	assert_non_null(many);
	for (size_t i = 0; i < MANY; i++)
		many[i].value = exp((double)(i / 8 % 2) * .008 + gsl_ran_gaussian(rng, .0005));
	assert_int_equal(changes_find(many, MANY, NULL, NULL, &c, NULL), 0);
	assert_int_equal(c.n, 0);
	changes_done(&c);
	/* And as many large ones are found. */
	for (size_t i = 0; i < MANY; i++)
		many[i].value = exp((double)(i / 8 % 2) * .08 + gsl_ran_gaussian(rng, .0005));
	assert_int_equal(changes_find(many, MANY, NULL, NULL, &c, NULL), 0);
	assert_int_equal(c.n, MANY / 8 - 1);
	changes_done(&c);
	free(many);
}

static void a_step_into_quiet_is_placed_where_it_gets_quiet(void **state)
{
	size_t exact = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct changes c;

		fill(0, 100, 1, .04);
		fill(100, 100, .94, .01);
		c = find(200, NULL, CHANGES_SENSITIVE);
		exact += c.n > 0 && c.items[0].index == 100;
		changes_done(&c);
	}
	/* With one noise for both sides it is 60 of 100. */
	assert_true(exact >= 70);
}

static void mixed_signs_are_judged_on_the_raw_scale(void **state)
{
	struct changes c;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		set(i, (i < 50 ? -2 : 3) + gsl_ran_gaussian(rng, .3));
	c = find(100, NULL, CHANGES_BALANCED);
	assert_false(c.ln_scale);
	assert_true(only(&c)->index == 50);
	assert_true(fabs(c.items[0].abs - 5) < .5);
	assert_near(c.items[0].rel, 2.5, .1);
	assert_int_equal(c.items[0].worse, -1);
	changes_done(&c);
}

static void the_unit_does_not_matter(void **state)
{
	struct changes a, b;

	(void)state;
	fill(0, 60, 1, .01);
	fill(60, 60, 1.06, .01);
	fill(120, 80, .97, .01);
	a = find(200, NULL, CHANGES_SENSITIVE);
	for (size_t i = 0; i < 200; i++)
		points[i].value *= 7;
	b = find(200, NULL, CHANGES_SENSITIVE);
	assert_int_equal(a.n, 2);
	assert_int_equal(b.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(a.items[i].index, b.items[i].index);
		assert_near(a.items[i].rel, b.items[i].rel, 1e-4);
	}
	changes_done(&a);
	changes_done(&b);
}

static void a_step_in_small_parts_is_one_change(void **state)
{
	struct changes c;

	(void)state;
	for (size_t i = 0; i < 120; i++) {
		size_t parts = i < 60 ? 0 : i < 65 ? i - 59 : 5;

		set(i, 100 * exp(.01 * (double)parts + gsl_ran_gaussian(rng, .002)));
	}
	for (int s = CHANGES_BALANCED; s <= CHANGES_SENSITIVE; s++) {
		c = find(120, NULL, (enum changes_sensitivity)s);
		assert_int_equal(only(&c)->kind, CHANGE_STEP);
		assert_true(c.items[0].lo >= 58 && c.items[0].lo <= 60);
		assert_true(c.items[0].hi >= 64 && c.items[0].hi <= 66);
		assert_true(fabs(c.items[0].rel - .051) < .005);
		changes_done(&c);
	}
}

static void a_slow_slope_is_drift(void **state)
{
	struct changes c;

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		double on = i < 100 ? 0 : i < 300 ? (double)(i - 100) / 200 : 1;

		set(i, 100 * exp(.2 * on + gsl_ran_gaussian(rng, .01)));
	}
	c = find(400, NULL, CHANGES_BALANCED);
	assert_int_equal(only(&c)->kind, CHANGE_DRIFT);
	assert_int_equal(c.items[0].reason, CHANGE_IN_SLOPE);
	assert_false(change_is_machine(&c.items[0]));
	assert_true(c.items[0].lo > 60 && c.items[0].lo < 140);
	assert_true(c.items[0].hi > 260 && c.items[0].hi < 340);
	assert_true(fabs(c.items[0].rel - .22) < .03);
	assert_int_equal(c.current, c.items[0].hi);
	changes_done(&c);
	/* Without any noise, too. */
	for (size_t i = 0; i < 200; i++)
		set(i, 100 * exp(.002 * (double)i));
	c = find(200, NULL, CHANGES_BALANCED);
	assert_int_equal(count(&c, CHANGE_STEP), 0);
	assert_int_equal(count(&c, CHANGE_DRIFT), 1);
	changes_done(&c);
}

static void a_slope_is_of_the_kernel_when_the_machine_stood_still(void **state)
{
	struct series_point build[40];
	struct changes_control k = { .points = build, .npoints = ARRAY_SIZE(build) };
	struct changes c;

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		double on = i < 100 ? 0 : i < 300 ? (double)(i - 100) / 200 : 1;

		set(i, 100 * exp(.2 * on + gsl_ran_gaussian(rng, .01)));
	}
	for (size_t i = 0; i < ARRAY_SIZE(build); i++)
		build[i] = (struct series_point){ 7 + .01 * (double)(i % 3), 0, 1e4 * (double)i };
	c = find(400, &k, CHANGES_BALANCED);
	assert_int_equal(only(&c)->kind, CHANGE_STEP);
	assert_true(c.items[0].hi - c.items[0].lo > 100);
	changes_done(&c);
	for (size_t i = 0; i < ARRAY_SIZE(build); i++)
		build[i].value *= i < 10 ? 1 : i < 30 ? 1 + .01 * (double)(i - 10) : 1.2;
	c = find(400, &k, CHANGES_BALANCED);
	assert_int_equal(only(&c)->reason, CHANGE_WITH_CONTROL);
	assert_true(change_is_machine(&c.items[0]));
	changes_done(&c);
}

static void a_step_beside_a_drift_is_a_step(void **state)
{
	struct changes c;
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < 300; i++)
		set(i, 100 * exp(.0002 * (double)i + (i >= 150 ? .08 : 0) +
				 gsl_ran_gaussian(rng, .01)));
	c = find(300, NULL, CHANGES_BALANCED);
	for (size_t i = 0; i < c.n; i++)
		found += c.items[i].kind == CHANGE_STEP && c.items[i].index >= 149 &&
			 c.items[i].index <= 151;
	assert_int_equal(found, 1);
	changes_done(&c);
}

static void a_point_that_comes_back_is_an_outlier_run(void **state)
{
	struct changes c;

	(void)state;
	fill(0, 100, 1, .005);
	points[40].value = 150;
	points[70].value = points[71].value = 60;
	for (int s = CHANGES_BALANCED; s <= CHANGES_SENSITIVE; s++) {
		c = find(100, NULL, (enum changes_sensitivity)s);
		assert_int_equal(c.n, 2);
		assert_int_equal(count(&c, CHANGE_OUTLIER_RUN), 2);
		assert_true(c.items[0].index == 40 && c.items[0].lo == 40 && c.items[0].hi == 40);
		assert_true(c.items[1].lo == 70 && c.items[1].hi == 71);
		assert_true(fabs(c.items[0].after - 150) < 1e-3);
		assert_int_equal(c.current, 0);
		changes_done(&c);
	}
}

static void frequent_outliers_are_the_habit_of_the_series(void **state)
{
	struct changes c;

	(void)state;
	fill(0, 200, 1, .005);
	for (size_t i = 5; i < 200; i += 13)
		points[i].value = 150;
	c = find(200, NULL, CHANGES_SENSITIVE);
	assert_int_equal(c.n, 0);
	changes_done(&c);
}

/* A step of 5 % at point 60 of 120, and a control build that moved by @control at once. */
static struct changes with_control(double control, const struct series_remeasure *again, size_t n)
{
	struct series_point build[24];
	struct changes_control k = { build, ARRAY_SIZE(build), again, n };

	fill(0, 60, 1, .005);
	fill(60, 60, .95, .005);
	for (size_t i = 0; i < ARRAY_SIZE(build); i++) {
		double noise = 1 + .002 * ((double)(i % 3) - 1);

		build[i] = (struct series_point){ 7 * noise * (i < 12 ? 1 : 1 + control), 0,
						  5000.0 * (double)i + 400 };
	}
	return find(120, &k, CHANGES_BALANCED);
}

static void what_the_control_build_did_as_well_is_drift(void **state)
{
	struct changes c = with_control(-.04, NULL, 0);

	(void)state;
	assert_int_equal(only(&c)->kind, CHANGE_DRIFT);
	assert_int_equal(c.items[0].reason, CHANGE_WITH_CONTROL);
	assert_true(change_reason_text(c.items[0].reason)[0]);
	changes_done(&c);
}

static void a_control_that_stood_still_leaves_a_step(void **state)
{
	static const double moves[] = { 0, -.015, .05 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		struct changes c = with_control(moves[i], NULL, 0);

		assert_int_equal(only(&c)->kind, CHANGE_STEP);
		assert_int_equal(c.items[0].reason, CHANGE_BY_ITSELF);
		changes_done(&c);
	}
}

static void a_control_with_more_noise_than_the_step_tells_nothing(void **state)
{
	struct series_point build[] = { { 7, 0, 5000 },	   { 9, 0, 20000 },   { 6, 0, 30000 },
					{ 8.5, 0, 45000 }, { 5.5, 0, 75000 }, { 8, 0, 400000 } };
	struct changes_control k = { .points = build, .npoints = ARRAY_SIZE(build) };
	struct changes c;

	(void)state;
	fill(0, 60, 1, .005);
	fill(60, 60, .95, .005);
	c = find(120, &k, CHANGES_BALANCED);
	assert_int_equal(only(&c)->kind, CHANGE_STEP);
	changes_done(&c);
	/* One value on each side of the step, and no more is known of it. */
	build[0] = (struct series_point){ 7, 0, 55000 };
	build[1] = (struct series_point){ 6.6, 0, 65000 };
	k.npoints = 2;
	c = find(120, &k, CHANGES_BALANCED);
	assert_int_equal(only(&c)->kind, CHANGE_DRIFT);
	changes_done(&c);
}

static void an_old_commit_measured_again_tells_drift(void **state)
{
	struct series_remeasure again[] = { { 50, 90000, 95.2 },  { 55, 95000, 94.8 },
					    { 40, 10000, 100.0 }, { 70, 90000, 95 },
					    { 9999, 90000, 1 },	  { 52, (double)NAN, 1 } };
	struct changes c = with_control(0, again, ARRAY_SIZE(again));

	(void)state;
	assert_int_equal(only(&c)->kind, CHANGE_DRIFT);
	assert_int_equal(c.items[0].reason, CHANGE_WITH_REMEASURE);
	changes_done(&c);
	/* Measured again as it was: the kernel, even if the control build moved. */
	again[0].value = 100.3;
	again[1].value = 99.9;
	c = with_control(-.05, again, ARRAY_SIZE(again));
	assert_int_equal(only(&c)->kind, CHANGE_STEP);
	changes_done(&c);
}

static void on_line_a_step_is_seen_within_three_commits(void **state)
{
	struct changes_options o = { .better = DETECT_BETTER_HIGHER };
	struct changes c = { 0 };
	struct change_point newest = { .index = 7 };

	(void)state;
	fill(0, 100, 1, .01);
	fill(100, 50, .9, .01);
	assert_int_equal(changes_online(points, 150, 0, NULL, &o, &c, NULL), 0);
	assert_int_equal(only(&c)->index, 100);
	assert_int_equal(c.items[0].seen_at, 102);
	assert_true(c.items[0].gone_at == CHANGE_NEVER);
	assert_int_equal(c.items[0].worse, 1);
	changes_done(&c);
	assert_int_equal(changes_newest(points, 102, NULL, &o, &newest, NULL), 0);
	assert_int_equal(newest.index, 7);
	assert_int_equal(changes_newest(points, 103, NULL, &o, &newest, NULL), 1);
	assert_int_equal(newest.index, 100);
	assert_int_equal(newest.seen_at, 102);
	assert_true(fabs(newest.before - 100) < 2 && fabs(newest.after - 90) < 2);
	assert_int_equal(changes_newest(points, 104, NULL, &o, &newest, NULL), 0);
	/* Known before the first new point: not told again. */
	assert_int_equal(changes_online(points, 150, 120, NULL, &o, &c, NULL), 0);
	assert_int_equal(c.n, 0);
	changes_done(&c);
}

static void on_line_a_step_that_goes_away_is_taken_back(void **state)
{
	struct changes_options o = { 0 };
	struct changes c = { 0 };

	(void)state;
	fill(0, 60, 1, .005);
	fill(60, 3, .9, .005);
	fill(63, 60, 1, .005);
	assert_int_equal(changes_online(points, 123, 0, NULL, &o, &c, NULL), 0);
	assert_true(c.n >= 1);
	assert_int_equal(c.items[0].index, 60);
	assert_int_equal(c.items[0].seen_at, 62);
	for (size_t i = 0; i < c.n; i++)
		assert_true(c.items[i].seen_at >= c.items[i].index);
	changes_done(&c);
}

static void the_tail_gives_indexes_of_the_whole(void **state)
{
	struct change_point newest;

	(void)state;
	fill(0, 900, 1, .01);
	fill(900, 100, 1.1, .01);
	assert_int_equal(changes_newest(points, 903, NULL, NULL, &newest, NULL), 1);
	assert_int_equal(newest.index, 900);
	assert_int_equal(changes_split(points, 1000), 900);
	assert_int_equal(changes_split(points, 900), 0);
	assert_int_equal(changes_split(points, 5), 0);
}

static void more_runs_weigh_more(void **state)
{
	struct changes c;

	(void)state;
	fill(0, 60, 1, .01);
	fill(60, 40, .95, .01);
	for (size_t i = 0; i < 100; i++)
		points[i].units = i % 7 ? 3 : 1e9;
	points[3].units = -1;
	points[4].units = (double)NAN;
	c = find(100, NULL, CHANGES_BALANCED);
	assert_true(only(&c)->index >= 59 && c.items[0].index <= 61);
	changes_done(&c);
}

static void refuses_bad_options_and_leaves_the_result(void **state)
{
	struct changes_options o = { .min_effect = -1 };
	struct changes c = { .known = 77 };
	struct err e = { 0 };

	(void)state;
	fill(0, 20, 1, .01);
	assert_err(changes_find(points, 20, NULL, &o, &c, &e), ERR_RANGE, &e);
	assert_err(changes_online(points, 20, 0, NULL, &o, &c, &e), ERR_RANGE, &e);
	o.min_effect = (double)NAN;
	assert_err(changes_find(points, 20, NULL, &o, &c, &e), ERR_RANGE, &e);
	o = (struct changes_options){ .sensitivity = (enum changes_sensitivity)9 };
	assert_err(changes_find(points, 20, NULL, &o, &c, &e), ERR_INVAL, &e);
	o.sensitivity = CHANGES_BALANCED;
	assert_err(changes_find(points, CHANGES_POINTS_MAX + 1, NULL, &o, &c, &e), ERR_TOO_BIG, &e);
	assert_err(changes_online(points, CHANGES_POINTS_MAX + 1, 0, NULL, &o, &c, &e), ERR_TOO_BIG,
		   &e);
	assert_int_equal(c.known, 77);
}

static void hostile_values_break_nothing(void **state)
{
	static const double odd[] = { 0,      -0.0,    1e300,	 -1e300,      1e-300,
				      5e-324, 1.7e308, -1.7e308, (double)NAN, (double)INFINITY,
				      1,      1,       1,	 2,	      -1 };

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t n = gsl_rng_uniform_int(rng, 300);
		bool positive = round % 2;
		struct changes c;

		for (size_t i = 0; i < n; i++) {
			double v = odd[gsl_rng_uniform_int(rng, ARRAY_SIZE(odd))];

			set(i, positive ? fabs(v) + 1e-320 : v);
			points[i].units = odd[gsl_rng_uniform_int(rng, ARRAY_SIZE(odd))];
		}
		c = find(n, NULL, (enum changes_sensitivity)(round % 3));
		for (size_t i = 0; i < c.n; i++) {
			assert_true(c.items[i].lo <= c.items[i].index);
			assert_true(c.items[i].index <= c.items[i].hi && c.items[i].hi < n);
			assert_true(c.items[i].p >= 0 && c.items[i].p <= 1);
			assert_true(i == 0 || c.items[i - 1].index <= c.items[i].index);
		}
		changes_done(&c);
	}
}

/* Steps per 1,000 points of series without any, in a few kinds of noise. */
static double false_per_1000(enum changes_sensitivity s, int kind)
{
	size_t steps = 0, total = 0;

	for (int round = 0; round < 60; round++) {
		struct changes c;
		double ar = 0;

		for (size_t i = 0; i < 500; i++) {
			double g = gsl_ran_gaussian(rng, .01);

			ar = .5 * ar + g;
			if (kind == 1)
				g = .01 * gsl_ran_tdist(rng, 3);
			else if (kind == 2)
				g = ar;
			else if (kind == 3)
				g += gsl_rng_uniform(rng) < .3 ? .05 : 0;
			else if (kind == 4)
				g = .02 * floor(100 * g);
			set(i, 100 * exp(g));
		}
		c = find(500, NULL, s);
		steps += count(&c, CHANGE_STEP) + count(&c, CHANGE_DRIFT);
		total += 500;
		changes_done(&c);
	}
	return 1000.0 * (double)steps / (double)total;
}

static void noise_alone_seldom_makes_a_change(void **state)
{
	(void)state;
	for (int kind = 0; kind < 5; kind++) {
		for (int s = CHANGES_BALANCED; s <= CHANGES_ONLINE; s++) {
			double rate = false_per_1000((enum changes_sensitivity)s, kind);

			if (rate > .3)
				fail_msg("%s: %g false per 1000 in noise %d",
					 changes_sensitivity_name((enum changes_sensitivity)s),
					 rate, kind);
		}
	}
}

static void names_read_back(void **state)
{
	(void)state;
	for (int s = CHANGES_BALANCED; s <= CHANGES_ONLINE; s++)
		assert_int_equal(changes_sensitivity_parse(
					 changes_sensitivity_name((enum changes_sensitivity)s)),
				 s);
	assert_int_equal(changes_sensitivity_parse("loud"), -1);
	assert_string_equal(change_kind_name(CHANGE_OUTLIER_RUN), "outlier-run");
}

static int set_up(void **state)
{
	(void)state;
	if (!rng)
		rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 20240229);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gsl_rng_free(rng);
	answers_close();
	return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_the_known_answers),
		TEST(finds_a_step_with_its_size_and_place),
		TEST(direction_follows_the_descriptor),
		TEST(says_nothing_of_fewer_than_twelve),
		TEST(gaps_are_no_zeros_and_keep_their_index),
		TEST(a_constant_has_no_change),
		TEST(a_step_without_noise_is_found),
		TEST(what_was_zero_and_becomes_noisy_changed_where_it_did),
		TEST(below_the_least_effect_nothing_is_said),
		TEST(thousands_of_small_steps_are_no_change),
		TEST(a_step_into_quiet_is_placed_where_it_gets_quiet),
		TEST(mixed_signs_are_judged_on_the_raw_scale),
		TEST(the_unit_does_not_matter),
		TEST(a_step_in_small_parts_is_one_change),
		TEST(a_slow_slope_is_drift),
		TEST(a_slope_is_of_the_kernel_when_the_machine_stood_still),
		TEST(a_step_beside_a_drift_is_a_step),
		TEST(a_point_that_comes_back_is_an_outlier_run),
		TEST(frequent_outliers_are_the_habit_of_the_series),
		TEST(what_the_control_build_did_as_well_is_drift),
		TEST(a_control_that_stood_still_leaves_a_step),
		TEST(a_control_with_more_noise_than_the_step_tells_nothing),
		TEST(an_old_commit_measured_again_tells_drift),
		TEST(on_line_a_step_is_seen_within_three_commits),
		TEST(on_line_a_step_that_goes_away_is_taken_back),
		TEST(the_tail_gives_indexes_of_the_whole),
		TEST(more_runs_weigh_more),
		TEST(refuses_bad_options_and_leaves_the_result),
		TEST(hostile_values_break_nothing),
		TEST(noise_alone_seldom_makes_a_change),
		TEST(names_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
