/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/lab.h"
#include "bisect/sim.h"
#include "tests/unit/bisect/history.h"

/* The noise of the published table: sigma 1, boots 0.3, builds 0.15, 3 % outliers. */
static struct bisect_sim noisy(double step, int trials)
{
	struct bisect_sim sim = {
		.model = BISECT_PARAMS_DEFAULT,
		.outliers = 0.03,
		.machines = 1,
		.trials = trials,
		.seed = 1,
		.culprit = BISECT_SIM_ANY,
		.plain_boots = 3,
	};

	sim.model.sigma = 1;
	sim.model.boot_sd = 0.3;
	sim.model.commit_sd = 0.15;
	sim.model.step = step;
	return sim;
}

static void run(size_t n, const struct bisect_sim *sim, struct bisect_sim_result *ret)
{
	struct bisect_graph g = { 0 };
	struct err e = { 0 };

	assert_ok(bisect_graph_add_line(&g, n, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_ok(bisect_simulate(&g, sim, ret, &e), &e);
	bisect_graph_done(&g);
}

/* Known answers of the bound: build 10, boot 2, run 3 minutes, 99 %. */
static void bound_has_its_known_values(void **state)
{
	struct bisect_sim sim = noisy(2, 1);

	(void)state;
	assert_near(bisect_bound_minutes(1024, &sim.model), 208, 0.005);
	assert_near(bisect_bound_minutes(20000, &sim.model), 297, 0.005);
	sim.model.step = -5;
	assert_near(bisect_bound_minutes(1024, &sim.model), 149, 0.005);
	assert_near(bisect_bound_minutes(20000, &sim.model), 214, 0.005);
	assert_true(bisect_bound_minutes(1, &sim.model) == 0);
}

static void large_step_in_a_long_range_is_named(void **state)
{
	struct bisect_sim sim = noisy(5, 4);
	struct bisect_sim_result r;

	(void)state;
	run(1024, &sim, &r);
	assert_int_equal(r.right, 4);
	assert_true(r.mean < 1.5 * bisect_bound_minutes(1024, &sim.model));
	assert_true(r.confidence >= 0.99);
	assert_near(r.wall, r.mean, 1e-9);
}

static void small_step_is_named_where_plain_fails(void **state)
{
	struct bisect_sim sim = noisy(-2, 6);
	struct bisect_sim_result ours, plain;

	(void)state;
	run(32, &sim, &ours);
	assert_true(ours.right >= 5);
	sim.strategy = BISECT_PLAIN;
	sim.trials = 200;
	run(32, &sim, &plain);
	assert_int_equal(plain.named, 200);
	assert_true(plain.right < 160);
}

static void plain_costs_what_it_must(void **state)
{
	struct bisect_sim sim = noisy(10, 20);
	struct bisect_sim_result r;

	(void)state;
	sim.strategy = BISECT_PLAIN;
	run(1024, &sim, &r);
	assert_int_equal(r.right, 20);
	assert_near(r.mean, 280, 1e-9);
	assert_near(r.p90, 280, 1e-9);
	assert_near(r.builds, 10, 1e-9);
}

static void no_step_is_said(void **state)
{
	struct bisect_sim sim = noisy(5, 10);
	struct bisect_sim_result r;

	(void)state;
	sim.culprit = BISECT_SIM_NONE;
	run(64, &sim, &r);
	assert_true(r.none >= 9);
	assert_true(r.builds < 2);
}

static void broken_commits_do_not_mislead(void **state)
{
	struct bisect_sim sim = noisy(5, 5);
	struct bisect_sim_result r;

	(void)state;
	sim.skip = 0.1;
	run(128, &sim, &r);
	assert_int_equal(r.right, r.named);
	assert_int_equal(r.sets_right, r.sets);
	assert_int_equal(r.named + r.sets, 5);
}

static void four_machines_are_faster(void **state)
{
	struct bisect_sim sim = noisy(5, 3);
	struct bisect_sim_result one, four;

	(void)state;
	run(128, &sim, &one);
	sim.machines = 4;
	run(128, &sim, &four);
	assert_int_equal(four.right, 3);
	assert_true(four.wall < 0.75 * one.wall);
	assert_true(four.mean > one.mean);
}

static void merges_are_named_as_such(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_sim sim = noisy(5, 5);
	struct bisect_sim_result r;
	struct err e = { 0 };

	(void)state;
	history_make(&g, 60, 3);
	sim.culprit = BISECT_SIM_MERGE;
	assert_ok(bisect_simulate(&g, &sim, &r, &e), &e);
	assert_int_equal(r.right, 5);
	assert_int_equal(r.merges, 5);
	bisect_graph_done(&g);
}

/* Whatever the answer, the culprit has to be in it. */
static void cluster_around_the_culprit_gives_the_set(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_sim sim = noisy(5, 5);
	struct bisect_sim_result r;
	struct err e = { 0 };

	(void)state;
	history_make(&g, 60, 3);
	sim.cluster = 2;
	assert_ok(bisect_simulate(&g, &sim, &r, &e), &e);
	assert_int_equal(r.sets_right, 5);
	bisect_graph_done(&g);
}

static void both_of_two_steps_are_named(void **state)
{
	struct bisect_sim sim = noisy(20, 3);
	struct bisect_sim_result r;

	(void)state;
	sim.second = 0.4;
	run(32, &sim, &r);
	assert_true(r.two_right >= 2);
	assert_int_equal(r.two_right, r.two);
	/* Of equal parts either may be named first. */
	sim.second = 0.5;
	run(32, &sim, &r);
	assert_true(r.smaller > 0);
	assert_int_equal(r.right + r.smaller, r.named);
	assert_int_equal(r.far, 0);
	sim.second = -1;
	run(32, &sim, &r);
	assert_int_equal(r.smaller, 0);
	assert_int_equal(r.none, 3);
	assert_int_equal(r.two_right, r.two);
}

static void same_seed_same_result(void **state)
{
	struct bisect_sim sim = noisy(3, 3);
	struct bisect_sim_result a, b;

	(void)state;
	run(16, &sim, &a);
	run(16, &sim, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	sim.seed = 2;
	run(16, &sim, &b);
	assert_true(a.mean != b.mean);
}

/* What is measured first changes nothing in what is measured later. */
static void lab_is_the_same_in_any_order(void **state)
{
	struct bisect_sim sim = noisy(2, 1);
	struct bisect_graph g = { 0 };
	struct bisect_lab lab;
	struct err e = { 0 };
	double first[2], again[2], other[2];

	(void)state;
	assert_ok(bisect_graph_add_line(&g, 16, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	bisect_lab_init(&lab, &g, &sim);
	bisect_lab_reset(&lab, 1, 5);
	bisect_lab_boot(&lab, 3, 2, first);
	bisect_lab_boot(&lab, 3, 2, other);
	assert_true(first[0] != other[0] && first[0] != first[1]);
	bisect_lab_reset(&lab, 1, 5);
	bisect_lab_boot(&lab, 9, 2, other);
	bisect_lab_boot(&lab, 3, 2, again);
	assert_memory_equal(first, again, sizeof(first));
	bisect_lab_reset(&lab, 1, 6);
	bisect_lab_boot(&lab, 3, 2, again);
	assert_true(first[0] != again[0]);
	bisect_lab_done(&lab);
	bisect_graph_done(&g);
}

/* A plan before the first run; less is left after some of it. */
static void forecast_shrinks_on_the_way(void **state)
{
	struct bisect_sim sim = noisy(5, 1);
	struct bisect_forecast plan, same, left, four;
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	struct err e = { 0 };

	(void)state;
	assert_ok(bisect_graph_add_line(&g, 64, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_ok(bisect_init(&s, &g, &sim.model, &e), &e);
	assert_ok(bisect_forecast(&s, 1, 3, 0, 1, &plan, &e), &e);
	assert_ok(bisect_forecast(&s, 1, 3, 0, 1, &same, &e), &e);
	assert_memory_equal(&plan, &same, sizeof(plan));
	assert_true(plan.named >= 2);
	assert_true(plan.builds >= 6 && plan.builds <= 10);
	assert_in_range(plan.minutes, 100, 220);
	assert_true(plan.minutes_p90 >= plan.minutes);
	assert_near(plan.wall, plan.minutes, 1e-9);
	assert_ok(bisect_forecast(&s, 4, 3, 0, 1, &four, &e), &e);
	assert_true(four.wall < plan.wall);
	/* No more computing than allowed: some trials, or the beginning of one. */
	assert_ok(bisect_forecast(&s, 1, 9, 40, 1, &same, &e), &e);
	assert_in_range(same.trials, 1, 5);
	assert_true(same.named == same.trials);
	assert_ok(bisect_forecast(&s, 1, 9, 3, 1, &same, &e), &e);
	assert_int_equal(same.trials, 1);
	assert_int_equal(same.named, 0);
	assert_true(same.minutes > 0 && same.minutes < plan.minutes);
	for (int boot = 1; boot <= 2; boot++) {
		assert_ok(bisect_add_run(&s, BISECT_GOOD_END, boot, 100, &e), &e);
		assert_ok(bisect_add_run(&s, 63, boot + 2, 105, &e), &e);
		assert_ok(bisect_add_run(&s, 20, boot + 4, 100.2, &e), &e);
		assert_ok(bisect_add_run(&s, 28, boot + 6, 104.9, &e), &e);
	}
	assert_ok(bisect_forecast(&s, 1, 3, 0, 1, &left, &e), &e);
	assert_true(left.minutes < 0.6 * plan.minutes);
	assert_int_equal(s.n_runs, 8);
	assert_err(bisect_forecast(&s, 0, 3, 0, 1, &left, &e), ERR_INVAL, &e);
	assert_err(bisect_forecast(&s, 1, 0, 0, 1, &left, &e), ERR_INVAL, &e);
	bisect_done(&s);
	bisect_graph_done(&g);
}

static void refuses_values_out_of_range(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_sim_result r = { .trials = 77 };
	struct err e = { 0 };
	struct bisect_sim bad[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		bad[i] = noisy(2, 10);
	bad[0].trials = 0;
	bad[1].machines = 65;
	bad[2].outliers = 0.6;
	bad[3].skip = -0.1;
	bad[4].culprit = 4;
	bad[5].strategy = BISECT_PLAIN;
	bad[5].plain_boots = 0;
	bad[6].model.sigma = 0;
	bad[7].culprit = BISECT_SIM_MERGE;
	bad[8].second = 1;
	bad[9].cluster = -1;
	assert_ok(bisect_graph_add_line(&g, 4, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	for (int i = 0; i < 10; i++)
		assert_err(bisect_simulate(&g, &bad[i], &r, &e), ERR_INVAL, &e);
	assert_int_equal(r.trials, 77);
	bisect_graph_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_has_its_known_values),
		cmocka_unit_test(large_step_in_a_long_range_is_named),
		cmocka_unit_test(small_step_is_named_where_plain_fails),
		cmocka_unit_test(plain_costs_what_it_must),
		cmocka_unit_test(no_step_is_said),
		cmocka_unit_test(broken_commits_do_not_mislead),
		cmocka_unit_test(four_machines_are_faster),
		cmocka_unit_test(merges_are_named_as_such),
		cmocka_unit_test(cluster_around_the_culprit_gives_the_set),
		cmocka_unit_test(both_of_two_steps_are_named),
		cmocka_unit_test(same_seed_same_result),
		cmocka_unit_test(lab_is_the_same_in_any_order),
		cmocka_unit_test(forecast_shrinks_on_the_way),
		cmocka_unit_test(refuses_values_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
