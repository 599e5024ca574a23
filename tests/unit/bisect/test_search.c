/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/bisect.h"
#include "tests/unit/bisect/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A lab that answers at once: levels by culprit, no noise but a repeatable ripple. */
struct lab {
	struct bisect_graph g;
	struct bisect_state s;
	struct bisect_step step_now;
	int culprit; /* -1: none */
	bool broken[64];
	int second; /* its step is second_step; 0 there is none */
	double second_step;
	double drift; /* from boot to boot */
	double step;
	double ripple;
	double build_ripple; /* each build is off by up to that */
	int builds;	     /* between the ends */
	int boots;
	int measures;
};

static void lab_init(struct lab *lab, double step)
{
	struct bisect_params p = bisect_params_default();
	struct err e = { 0 };

	p.sigma = 0.01;
	p.boot_sd = 0.003;
	p.commit_sd = 0.0015;
	p.step = lab->step = step;
	assert_ok(bisect_graph_prepare(&lab->g, &e), &e);
	assert_ok(bisect_init(&lab->s, &lab->g, &p, &e), &e);
	assert_ok(bisect_mark_built(&lab->s, BISECT_GOOD_END, &e), &e);
	assert_ok(bisect_mark_built(&lab->s, (int)lab->g.n - 1, &e), &e);
}

static void lab_line(struct lab *lab, size_t n, int culprit)
{
	struct err e = { 0 };

	memset(lab, 0, sizeof(*lab));
	assert_ok(bisect_graph_add_line(&lab->g, n, &e), &e);
	lab->culprit = culprit;
	lab_init(lab, 0.1);
}

static void lab_done(struct lab *lab)
{
	bisect_step_done(&lab->step_now);
	bisect_done(&lab->s);
	bisect_graph_done(&lab->g);
}

static double lab_level(const struct lab *lab, int commit)
{
	bool bad = lab->culprit >= 0 && commit != BISECT_GOOD_END &&
		   bisect_graph_contains(&lab->g, (size_t)commit, (size_t)lab->culprit);

	double second =
		commit != BISECT_GOOD_END && lab->second_step != 0 &&
				bisect_graph_contains(&lab->g, (size_t)commit, (size_t)lab->second)
			? lab->second_step
			: 0;

	return 3 + (bad ? lab->step : 0) + second + lab->build_ripple * sin(12.9898 * commit + 4);
}

static void lab_answer(struct lab *lab)
{
	struct err e = { 0 };
	int c = lab->step_now.commit;

	lab->measures++;
	if (c != BISECT_GOOD_END && lab->broken[c]) {
		assert_ok(bisect_skip(&lab->s, c, BISECT_SKIP_BUILD, &e), &e);
		return;
	}
	lab->builds += lab->step_now.build;
	for (int b = 0; b < lab->step_now.boots; b++) {
		lab->boots++;
		for (int r = 0; r < lab->step_now.runs; r++) {
			double wave = lab->ripple * sin(12.9898 * lab->boots + 78.233 * r);

			assert_ok(bisect_add_run(&lab->s, c, lab->boots,
						 lab_level(lab, c) + wave + lab->drift * lab->boots,
						 &e),
				  &e);
		}
	}
}

static void lab_search(struct lab *lab)
{
	struct err e = { 0 };

	for (int i = 0; i < 200; i++) {
		bisect_step_done(&lab->step_now);
		assert_ok(bisect_next(&lab->s, &lab->step_now, &e), &e);
		if (lab->step_now.action != BISECT_MEASURE)
			return;
		lab_answer(lab);
	}
	fail_msg("no answer after 200 steps");
}

/* Known answer: 16 commits, no noise, ten sigma: right, at most five builds. */
static void names_every_culprit_of_sixteen(void **state)
{
	(void)state;
	for (int c = 0; c < 16; c++) {
		struct lab lab;

		lab_line(&lab, 16, c);
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, c);
		assert_true(lab.step_now.probability >= 0.99);
		assert_true(lab.builds <= 5);
		assert_false(lab.step_now.merge);
		lab_done(&lab);
	}
}

static void verifies_culprit_and_parent(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 16, 9);
	lab_search(&lab);
	assert_true(bisect_boots(&lab.s, 9) >= 2);
	assert_true(bisect_boots(&lab.s, 8) >= 2);
	assert_true(bisect_boots(&lab.s, BISECT_GOOD_END) >= 2);
	assert_true(bisect_boots(&lab.s, 15) >= 2);
	lab_done(&lab);
}

static void range_of_one_commit_needs_its_ends_only(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 1, 0);
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_DONE);
	assert_int_equal(lab.step_now.commit, 0);
	assert_int_equal(lab.builds, 0);
	lab_done(&lab);
}

static void asks_for_the_ends_in_turn(void **state)
{
	static const int want[] = { BISECT_GOOD_END, 15, 15, BISECT_GOOD_END };
	struct lab lab;
	struct err e = { 0 };

	(void)state;
	lab_line(&lab, 16, 3);
	for (int i = 0; i < 4; i++) {
		assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
		assert_int_equal(lab.step_now.action, BISECT_MEASURE);
		assert_int_equal(lab.step_now.phase, BISECT_PHASE_ENDS);
		assert_int_equal(lab.step_now.commit, want[i]);
		lab_answer(&lab);
	}
	lab_done(&lab);
}

/* One look at the middle, in case that what came went again. */
static void equal_ends_build_the_middle_only(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 16, -1);
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_NONE);
	assert_int_equal(lab.builds, 1);
	assert_false(lab.step_now.reverted);
	assert_int_equal(lab.step_now.second, BISECT_NO_COMMIT);
	lab_done(&lab);
	lab_line(&lab, 16, -1);
	lab.s.params.step = lab.step = 0.02;
	lab.ripple = 0.005;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_NONE);
	assert_int_equal(lab.builds, 1);
	assert_false(lab.step_now.reverted);
	assert_int_equal(lab.step_now.second, BISECT_NO_COMMIT);
	lab_done(&lab);
}

/* @n boots of two runs at each end, @step apart; @boot counts on. */
static void lab_measure_ends(struct lab *lab, int n, double step)
{
	struct err e = { 0 };

	for (int i = 0; i < 2 * n; i++) {
		int commit = i % 2 ? (int)lab->g.n - 1 : BISECT_GOOD_END;
		double level = 3 + (i % 2 ? step : 0);

		lab->boots++;
		for (int r = -1; r <= 1; r += 2)
			assert_ok(bisect_add_run(&lab->s, commit, lab->boots, level + 0.01 * r, &e),
				  &e);
	}
}

/* Half the step reported may be none at all: that is settled where it costs no build. */
static void small_step_is_settled_at_the_ends(void **state)
{
	struct lab lab;
	struct err e = { 0 };

	(void)state;
	lab_line(&lab, 16, 6);
	lab.s.params.step = 0.02;
	lab_measure_ends(&lab, 6, 0.009);
	assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
	assert_int_equal(lab.step_now.action, BISECT_MEASURE);
	assert_int_equal(lab.step_now.phase, BISECT_PHASE_ENDS);
	assert_false(lab.step_now.build);
	/* As often as can help, and it is still there: then it is searched for. */
	lab_measure_ends(&lab, 14, 0.009);
	bisect_step_done(&lab.step_now);
	assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
	assert_int_equal(lab.step_now.phase, BISECT_PHASE_SEARCH);
	assert_true(lab.step_now.build);
	lab_done(&lab);
}

static void unknown_step_is_found_from_the_ends(void **state)
{
	static const double steps[] = { 0.1, -0.06 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct lab lab;

		lab_line(&lab, 16, 6);
		lab.s.params.step = 0;
		lab.step = steps[i];
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, 6);
		lab_done(&lab);
	}
}

/* What is searched for is the step of today. */
static void step_that_shrank_is_still_found(void **state)
{
	static const double share[] = { 0.3, 1.6 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct lab lab;

		lab_line(&lab, 16, 6);
		lab.step = share[i] * lab.s.params.step;
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, 6);
		lab_done(&lab);
	}
}

static void two_steps_are_both_named(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct lab lab;

		lab_line(&lab, 64, 12);
		lab.s.params.step = 0.12 * sign;
		lab.step = 0.08 * sign;
		lab.second = 45;
		lab.second_step = 0.05 * sign;
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, 12);
		assert_int_equal(lab.step_now.second, 45);
		assert_true(lab.step_now.second_probability >= 0.99);
		assert_near(lab.step_now.size, 0.08 * sign, 0.05);
		assert_near(lab.step_now.second_size, 0.05 * sign, 0.05);
		assert_false(lab.step_now.reverted);
		lab_done(&lab);
	}
}

/* The second of two is named first if it is the larger one. */
static void larger_of_two_steps_comes_first(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 64, 20);
	lab.step = 0.04;
	lab.second = 50;
	lab.second_step = 0.09;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_DONE);
	assert_int_equal(lab.step_now.commit, 50);
	assert_int_equal(lab.step_now.second, 20);
	lab_done(&lab);
}

static void reverted_step_is_told_with_both_commits(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 64, 12);
	lab.second = 45;
	lab.second_step = -lab.step;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_NONE);
	assert_true(lab.step_now.reverted);
	assert_int_equal(lab.step_now.commit, 12);
	assert_int_equal(lab.step_now.second, 45);
	lab_done(&lab);
}

static void machine_that_moves_is_told(void **state)
{
	struct lab lab;
	double shift;
	double sd;

	(void)state;
	lab_line(&lab, 64, 12);
	lab.s.params.check_drift = true;
	lab.drift = 0.006;
	lab_search(&lab);
	assert_true(lab.step_now.drifted);
	assert_true(bisect_drift(&lab.s, &shift, &sd));
	assert_near(shift, lab.drift * lab.boots, 0.2);
	assert_true(sd < 0.05);
	lab_done(&lab);
	lab_line(&lab, 64, 12);
	lab.s.params.check_drift = true;
	lab.ripple = 0.01;
	assert_false(bisect_drift(&lab.s, &shift, &sd));
	assert_true(isinf(sd));
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_DONE);
	assert_false(lab.step_now.drifted);
	lab_done(&lab);
}

static void unknown_step_that_is_none_is_said(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 16, -1);
	lab.s.params.step = 0;
	lab.ripple = 0.01;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_NONE);
	lab_done(&lab);
}

/* Smaller than what a person asked for: the ends count as equal, however sure their difference is. */
static void step_smaller_than_asked_for_is_none(void **state)
{
	static const double steps[] = { 0.02, -0.03, 0.055, -0.08 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct lab lab;

		lab_line(&lab, 16, 6);
		lab.s.params.step = 0;
		lab.s.params.step_least = 0.05;
		lab.step = steps[i];
		lab.ripple = 0.004;
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, i < 2 ? BISECT_NONE : BISECT_DONE);
		if (i >= 2)
			assert_int_equal(lab.step_now.commit, 6);
		else
			assert_true(lab.builds <= 1);
		lab_done(&lab);
	}
}

/* A quiet lab whose builds differ by ten times what the noise profile says: still far from a step. */
static void builds_that_differ_more_than_told_do_not_mislead(void **state)
{
	(void)state;
	for (int c = 0; c < 16; c += 7) {
		struct lab lab;

		lab_line(&lab, 16, c);
		lab.s.params.sigma = 0.001;
		lab.s.params.boot_sd = 0.0003;
		lab.s.params.commit_sd = 0.0005;
		lab.build_ripple = 0.008;
		lab.ripple = 0.0005;
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, c);
		assert_true(lab.builds <= 8);
		lab_done(&lab);
	}
}

static void boots_that_differ_more_than_told_do_not_mislead(void **state)
{
	(void)state;
	for (int c = 0; c < 16; c += 13) {
		struct lab lab;

		lab_line(&lab, 16, c);
		lab.s.params.sigma = 0.001;
		lab.s.params.boot_sd = 0.0003;
		lab.s.params.commit_sd = 0.0005;
		lab.ripple = 0.008;
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, c);
		assert_true(lab.builds <= 8);
		lab_done(&lab);
	}
}

static void jumps_over_broken_commits(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 32, 20);
	for (int c = 9; c <= 17; c++)
		lab.broken[c] = true;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_DONE);
	assert_int_equal(lab.step_now.commit, 20);
	assert_true(lab.s.n_skipped <= 3);
	lab_done(&lab);
}

static void culprit_in_a_broken_cluster_gives_the_set(void **state)
{
	struct lab lab;
	bool seen[32] = { false };

	(void)state;
	lab_line(&lab, 32, 12);
	for (int c = 10; c <= 14; c++)
		lab.broken[c] = true;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_SET);
	assert_false(lab.step_now.exhausted);
	for (size_t i = 0; i < lab.step_now.n_set; i++) {
		seen[lab.step_now.set[i]] = true;
		assert_near(lab.step_now.set_p[i], 1.0 / 6, 0.05);
	}
	for (int c = 0; c < 32; c++)
		assert_int_equal(seen[c], c >= 10 && c <= 15);
	assert_true(bisect_boots(&lab.s, 15) >= 2);
	assert_true(bisect_boots(&lab.s, 9) >= 2);
	lab_done(&lab);
}

static void broken_bad_end_is_told(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 8, 3);
	lab.broken[7] = true;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_ENDS_BROKEN);
	assert_int_equal(lab.step_now.commit, 7);
	lab_done(&lab);
}

/* 0-1-2-+-6-7 main, 3-4-5 the side branch off 0, merged by 6. */
static void lab_merge(struct lab *lab, int culprit)
{
	static const int parents[8][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 }, { 0, -1 },
					   { 3, -1 },  { 4, -1 }, { 2, 5 },  { 6, -1 } };
	struct err e = { 0 };

	memset(lab, 0, sizeof(*lab));
	for (int i = 0; i < 8; i++) {
		char name[2] = { (char)('a' + i), '\0' };
		size_t n = (parents[i][0] >= 0) + (parents[i][1] >= 0);

		assert_ok(bisect_graph_add(&lab->g, name, parents[i], n, i == 0, &e), &e);
	}
	lab->culprit = culprit;
	lab_init(lab, 0.1);
}

static void finds_culprits_on_side_branches(void **state)
{
	(void)state;
	for (int c = 0; c < 8; c++) {
		struct lab lab;

		lab_merge(&lab, c);
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, c);
		lab_done(&lab);
	}
}

static void blames_a_merge_only_with_good_parents(void **state)
{
	struct lab lab;

	(void)state;
	lab_merge(&lab, 6);
	lab_search(&lab);
	assert_int_equal(lab.step_now.commit, 6);
	assert_true(lab.step_now.merge);
	assert_true(bisect_boots(&lab.s, 2) >= 2);
	assert_true(bisect_boots(&lab.s, 5) >= 2);
	assert_true(bisect_p_bad(&lab.s, 2) < 0.01);
	assert_true(bisect_p_bad(&lab.s, 5) < 0.01);
	lab_done(&lab);
}

/* Little weight delays, it does not exclude; and where the weight is, fewer builds are needed. */
static void finds_a_culprit_of_any_weight(void **state)
{
	static const double weights[] = { 1e-3, 1, 1e3 };
	int builds[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct lab lab;
		struct err e = { 0 };

		memset(&lab, 0, sizeof(lab));
		history_make(&lab.g, 60, 5);
		lab.culprit = 33;
		lab_init(&lab, 0.1);
		assert_ok(bisect_set_prior(&lab.s, 33, weights[i], &e), &e);
		for (int c = 0; c < 60; c += 3)
			if (c != 33)
				assert_ok(bisect_set_prior(&lab.s, c, 0.2 + 0.01 * c, &e), &e);
		lab_search(&lab);
		assert_int_equal(lab.step_now.action, BISECT_DONE);
		assert_int_equal(lab.step_now.commit, 33);
		builds[i] = lab.builds;
		lab_done(&lab);
	}
	assert_true(builds[2] < builds[1]);
	assert_true(builds[1] <= builds[0]);
}

static void stops_at_its_budget_with_a_set(void **state)
{
	struct lab lab;

	(void)state;
	lab_line(&lab, 32, 20);
	lab.s.params.max_runs = 6;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_SET);
	assert_true(lab.step_now.exhausted);
	assert_int_equal(lab.s.n_runs, 6);
	assert_true(lab.step_now.n_set > 1);
	lab_done(&lab);
}

/* Stopped after any run and rebuilt from the recorded runs and skips, it goes on the same. */
static void rebuilt_state_goes_on_the_same(void **state)
{
	struct lab lab;
	int total;

	(void)state;
	lab_line(&lab, 24, 17);
	lab.ripple = 0.02;
	lab.s.params.step = lab.step = 0.03;
	lab.broken[11] = true;
	lab_search(&lab);
	assert_int_equal(lab.step_now.action, BISECT_DONE);
	total = lab.measures;
	lab_done(&lab);
	lab_line(&lab, 24, 17);
	lab.ripple = 0.02;
	lab.s.params.step = lab.step = 0.03;
	lab.broken[11] = true;
	for (int stop = 0; stop < total; stop++) {
		struct bisect_step other;
		struct bisect_state again;
		struct err e = { 0 };
		char *text = bisect_save(&lab.s);

		assert_ok(bisect_load(&again, &lab.g, text, &e), &e);
		free(text);
		bisect_step_done(&lab.step_now);
		assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
		assert_ok(bisect_next(&again, &other, &e), &e);
		assert_int_equal(lab.step_now.action, other.action);
		assert_int_equal(lab.step_now.commit, other.commit);
		assert_int_equal(lab.step_now.runs, other.runs);
		assert_true(lab.step_now.probability == other.probability);
		bisect_step_done(&other);
		bisect_done(&again);
		lab_answer(&lab);
	}
	lab_done(&lab);
}

static void other_machines_get_other_work(void **state)
{
	struct lab lab;
	struct err e = { 0 };
	int first;

	(void)state;
	lab_line(&lab, 64, 20);
	for (int i = 0; i < 4; i++) {
		assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
		assert_int_equal(lab.step_now.action, BISECT_MEASURE);
		assert_ok(bisect_set_pending(&lab.s, lab.step_now.commit, 1 + i / 2, &e), &e);
	}
	assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
	assert_int_equal(lab.step_now.action, BISECT_WAIT);
	assert_ok(bisect_set_pending(&lab.s, BISECT_GOOD_END, 0, &e), &e);
	assert_ok(bisect_set_pending(&lab.s, 63, 0, &e), &e);
	do {
		lab_answer(&lab);
		assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
	} while (lab.step_now.phase == BISECT_PHASE_ENDS);
	first = lab.step_now.commit;
	assert_in_range(first, 28, 35);
	assert_ok(bisect_set_pending(&lab.s, first, 1, &e), &e);
	assert_ok(bisect_next(&lab.s, &lab.step_now, &e), &e);
	assert_int_equal(lab.step_now.action, BISECT_MEASURE);
	assert_true(abs(lab.step_now.commit - first) > 8);
	assert_err(bisect_set_pending(&lab.s, 64, 1, &e), ERR_INVAL, &e);
	assert_err(bisect_set_pending(&lab.s, 6, 256, &e), ERR_INVAL, &e);
	lab_done(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_every_culprit_of_sixteen),
		cmocka_unit_test(verifies_culprit_and_parent),
		cmocka_unit_test(range_of_one_commit_needs_its_ends_only),
		cmocka_unit_test(asks_for_the_ends_in_turn),
		cmocka_unit_test(equal_ends_build_the_middle_only),
		cmocka_unit_test(small_step_is_settled_at_the_ends),
		cmocka_unit_test(unknown_step_is_found_from_the_ends),
		cmocka_unit_test(step_that_shrank_is_still_found),
		cmocka_unit_test(two_steps_are_both_named),
		cmocka_unit_test(larger_of_two_steps_comes_first),
		cmocka_unit_test(reverted_step_is_told_with_both_commits),
		cmocka_unit_test(machine_that_moves_is_told),
		cmocka_unit_test(unknown_step_that_is_none_is_said),
		cmocka_unit_test(step_smaller_than_asked_for_is_none),
		cmocka_unit_test(builds_that_differ_more_than_told_do_not_mislead),
		cmocka_unit_test(boots_that_differ_more_than_told_do_not_mislead),
		cmocka_unit_test(other_machines_get_other_work),
		cmocka_unit_test(jumps_over_broken_commits),
		cmocka_unit_test(culprit_in_a_broken_cluster_gives_the_set),
		cmocka_unit_test(broken_bad_end_is_told),
		cmocka_unit_test(finds_culprits_on_side_branches),
		cmocka_unit_test(blames_a_merge_only_with_good_parents),
		cmocka_unit_test(finds_a_culprit_of_any_weight),
		cmocka_unit_test(stops_at_its_budget_with_a_set),
		cmocka_unit_test(rebuilt_state_goes_on_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
