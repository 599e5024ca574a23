/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bisection would take, by the noise of what the database holds. */
#include "bot/db/db.h"
#include "bot/store/bisection_model.h"
#include "bot/store/bisection_power.h"
#include "tests/integration/queue/queue.h"
#include "tests/pg.h"
#include "tests/test.h"

/* 40 boots of 20 commits with two runs each; runs are off by about 1 %. */
static int set_up(void **state)
{
	(void)queue_reset(state);
	pg_exec("TRUNCATE machine, tree, commit, job, comparison, bisection, boot, run, build, metric, "
		"metric_layout, run_values CASCADE");
	pg_exec("INSERT INTO machine (name, group_name, driver, last_seen) VALUES ('m1', 'g', 'qemu', now())");
	pg_exec("INSERT INTO commit SELECT repeat(chr(96 + n / 5), 39) || n % 5, '{}', 's', 'a', 'a@example.org', "
		"now(), 'a', 'a@example.org', now(), 'm' FROM generate_series(5, 24) n");
	pg_exec("INSERT INTO job (id, name, def_hash, suite, test, params, metric, group_name, "
		"kconfig, thp, runs_per_boot, min_effect, timeout_s) OVERRIDING SYSTEM VALUE "
		"VALUES (1, 'j', 'h', 's', 't', '{}', 's.m', 'g', '', 'keep', 2, 0.01, 60)");
	pg_exec("INSERT INTO metric (id, name, unit, better, kind, headline, about) OVERRIDING SYSTEM VALUE "
		"VALUES (1, 's.m', 'ops', 'higher', 'rate', true, 'a')");
	pg_exec("INSERT INTO metric_layout (id, metrics, digest) OVERRIDING SYSTEM VALUE "
		"VALUES (1, ARRAY[1], sha256('x'))");
	pg_exec("INSERT INTO boot (commit, job, wanted_runs, state, class, machine, took_s, started, finished) "
		"SELECT hash, 1, 2, 'done', 'ok', 'm1', 100, now(), now() FROM commit, generate_series(1, 2)");
	pg_exec("INSERT INTO run (boot, n, class, exit_status, wall_s) SELECT id, n, 'ok', 0, 30 "
		"FROM boot, generate_series(1, 2) n");
	pg_exec("INSERT INTO run_values SELECT id, 1, ARRAY[100 * exp(0.014 * sin(12.9898 * id))] FROM run");
	return 0;
}

static struct bisection_power ask(double min_effect, int64_t max_runs)
{
	struct bisection_power_ask a = { .job = 1,
					 .metric = "s.m",
					 .commits = 64,
					 .min_effect = min_effect,
					 .confidence = 0.99,
					 .max_runs = max_runs,
					 .machines = 1,
					 .runs_per_boot = 2 };
	struct bisection_power p = { 0 };
	struct err e = { 0 };

	assert_ok(bisection_power(pg_db(), &a, &p, &e), &e);
	assert_true(p.known);
	assert_true(p.noise_sd > 0.005 && p.noise_sd < 0.03);
	return p;
}

static void a_large_change_is_found_within_the_budget(void **state)
{
	struct bisection_power p = ask(0.1, 400);

	(void)state;
	assert_true(p.p_right > 0.9 && p.p_free > 0.9);
	assert_true(p.effect_found == 0);
	/* What verifies it is a part of it. */
	assert_true(p.steps > 23 && p.runs > 46 && p.runs_p90 >= p.runs &&
		    p.runs_least < p.runs_p90);
}

static void the_budget_that_is_told_is_enough(void **state)
{
	struct bisection_power few = ask(0.1, 16);
	struct bisection_power enough = ask(0.1, (int64_t)few.runs_least);

	(void)state;
	assert_true(few.p_right < BISECTION_POWER_LEAST && few.p_free > 0.9);
	assert_true(enough.p_right > 0.8);
}

static void what_noise_hides_is_told_with_what_it_does_not(void **state)
{
	struct bisection_power p = ask(0.0005, 400);

	(void)state;
	assert_true(p.p_free < BISECTION_POWER_LEAST && p.p_right < BISECTION_POWER_LEAST);
	assert_true(p.effect_found > 0.001 && p.effect_found < 0.2);
	assert_true(ask(p.effect_found, 400).p_right >= BISECTION_POWER_LEAST);
}

static void runs_take_no_longer_than_their_boot(void **state)
{
	struct bisection_cost cost;
	struct err e = { 0 };

	(void)state;
	assert_ok(bisection_cost(pg_db(), 1, &cost, &e), &e);
	assert_float_equal(cost.boot, 40.0 / 60, 1e-9);
	assert_float_equal(cost.run, 0.5, 1e-9);
	/* Guests with a clock of their own, fast against ours. */
	pg_exec("UPDATE run SET wall_s = 200 * n");
	assert_ok(bisection_cost(pg_db(), 1, &cost, &e), &e);
	assert_true(cost.boot < 0.001);
	assert_float_equal(cost.run, 50.0 / 60, 1e-9);
}

#define T(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_large_change_is_found_within_the_budget),
		T(the_budget_that_is_told_is_enough),
		T(what_noise_hides_is_told_with_what_it_does_not),
		T(runs_take_no_longer_than_their_boot),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
