/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which machine may take which boot, and what the end of one means for others. */
#include "bot/db/db.h"
#include "bot/store/boot.h"
#include "bot/store/machine.h"
#include "runners/suites/suite.h"
#include "tests/integration/queue/queue.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const unsure[] = { "boot-panic", "hang", NULL };

static int set_up(void **state)
{
	(void)queue_reset(state);
	pg_exec("TRUNCATE machine, tree, commit, job, comparison, bisection, boot, run, control, "
		"machine_event, build CASCADE");
	pg_exec("INSERT INTO machine (name, group_name, driver, last_seen) SELECT name, g, 'qemu', now() "
		"FROM (VALUES ('m1', 'g'), ('m2', 'g'), ('other', 'h')) m (name, g)");
	pg_exec("INSERT INTO tree (name, url) VALUES ('t', 'u')");
	pg_exec("INSERT INTO commit SELECT repeat(d, 40), '{}', 's', 'a', 'a@example.org', now(), "
		"'a', 'a@example.org', now(), 'm' FROM unnest(ARRAY['a', 'b']) d");
	pg_exec("INSERT INTO build (id, commit, kconfig, kconfig_hash, compiler, state) OVERRIDING "
		"SYSTEM VALUE VALUES (1, repeat('a', 40), 'k', 'h', 'c', 'ok'), "
		"(2, repeat('b', 40), 'k', 'h', 'c', 'ok')");
	pg_exec("INSERT INTO job (id, name, def_hash, suite, test, params, metric, group_name, "
		"kconfig, thp, runs_per_boot, min_effect, timeout_s) OVERRIDING SYSTEM VALUE "
		"VALUES (1, 'j', 'h', 's', 't', '{}', 's.m', 'g', 'k', 'keep', 1, 0.01, 60)");
	return 0;
}

/* A comparison of a and b. Return: its id. */
static int64_t add_comparison(int branch)
{
	return queue_num("INSERT INTO comparison (tree, branch, base, head, job) VALUES ('t', "
			 "'b%d', repeat('a', 40), repeat('b', 40), 1) RETURNING id",
			 branch);
}

static void order(char commit, int64_t comparison)
{
	char hash[41];
	struct boot_order o = {
		.commit = hash,
		.build = commit - 'a' + 1,
		.job = 1,
		.comparison = comparison,
		.runs = 1,
	};
	struct err e = { 0 };

	memset(hash, commit, 40);
	hash[40] = '\0';
	assert_ok(boot_order(pg_db(), &o, "g", true, &e), &e);
}

/* Return: boot that @machine took, 0 for none. @ret may be NULL. */
static int64_t claim(struct db *db, const char *machine, struct work *ret)
{
	struct work w = { 0 };
	struct err e = { 0 };
	int64_t boot = 0;
	int r = work_claim_boot(db, machine, "me", 60, &w, &e);

	assert_ok(r, &e);
	if (r)
		boot = strtoll(strstr(w.payload, "\"boot\":") + 7, NULL, 10);
	if (ret)
		*ret = w;
	else
		work_done(&w);
	return boot;
}

/* Takes the next boot of @machine and ends it with @class. Return: the boot. */
static int64_t run_boot(const char *machine, const char *class)
{
	struct work w = { 0 };
	int64_t boot = claim(pg_db(), machine, &w);
	bool ok = !strcmp(class, "ok");
	struct boot_outcome o = { .failed = !ok,
				  .class = class,
				  .detail = ok ? NULL : "it broke",
				  .machine = machine,
				  .boot_s = 1,
				  .setup_s = 1,
				  .took_s = 2 };
	struct err e = { 0 };

	assert_true(boot > 0);
	assert_ok(boot_finish(pg_db(), boot, w.fence, &o, &e), &e);
	assert_ok(work_finish(pg_db(), w.id, w.fence, &e), &e);
	if (ok)
		assert_ok(boot_proven(pg_db(), boot, machine, unsure, &e), &e);
	if (ok)
		assert_ok(control_keep(pg_db(), boot, &e), &e);
	assert_ok(machine_outcome(pg_db(), machine, ok ? MACHINE_OK : MACHINE_FAILED,
				  ok ? NULL : "it broke", NULL, &e),
		  &e);
	work_done(&w);
	return boot;
}

static char *health(const char *machine)
{
	return queue_text("SELECT health FROM machine WHERE name = '%s'", machine);
}

static void assert_health(const char *machine, const char *want)
{
	char *have = health(machine);

	assert_string_equal(have, want);
	free(have);
}

static void a_comparison_stays_on_the_machine_that_took_its_first_boot(void **state)
{
	int64_t c = add_comparison(1);

	(void)state;
	order('a', c);
	order('b', c);
	order('a', c);
	assert_true(claim(pg_db(), "m2", NULL) > 0);
	assert_int_equal(claim(pg_db(), "m1", NULL), 0);
	assert_int_equal(queue_num("SELECT count(*) FROM comparison WHERE machine = 'm2'"), 1);
	/* Another one is free to go to the other. */
	order('a', add_comparison(2));
	assert_true(claim(pg_db(), "m1", NULL) > 0);
	assert_int_equal(claim(pg_db(), "other", NULL), 0);
}

/* Claims for @machine until nothing is left, and notes in each boot who had it. */
static void claim_all(const char *machine)
{
	struct db *db = queue_connect();
	struct err e = { 0 };
	int idle = 0;

	while (idle < 50) {
		struct work w = { 0 };
		int64_t boot = claim(db, machine, &w);
		char sql[160];

		if (!boot) {
			idle++;
			(void)usleep(2000);
			continue;
		}
		idle = 0;
		(void)snprintf(sql, sizeof(sql),
			       "UPDATE boot SET machine = '%s' WHERE id = %lld AND machine IS NULL",
			       machine, (long long)boot);
		if (db_exec(db, sql, &e) < 0 || work_finish(db, w.id, w.fence, &e) < 0)
			_exit(1);
		work_done(&w);
	}
	_exit(0);
}

static void machines_that_claim_at_the_same_time_never_share_a_comparison(void **state)
{
	static const char *const names[] = { "m1", "m2" };
	pid_t pids[4];
	int status;

	(void)state;
	for (int i = 0; i < 40; i++) {
		int64_t c = add_comparison(i);

		for (int k = 0; k < 3; k++) {
			order('a', c);
			order('b', c);
		}
	}
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			claim_all(names[i % 2]);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE machine IS NULL"), 0);
	assert_int_equal(queue_num("SELECT count(*) FROM (SELECT comparison FROM boot GROUP BY 1 "
				   "HAVING count(DISTINCT machine) > 1) x"),
			 0);
	assert_int_equal(queue_num("SELECT count(DISTINCT machine) FROM boot"), 2);
}

static void a_failure_speaks_about_the_kernel_once_another_build_has_booted_there(void **state)
{
	int64_t c = add_comparison(1);
	struct boot_brief *b;
	struct err e = { 0 };
	size_t n;

	(void)state;
	order('a', c);
	order('b', c);
	order('b', c);
	order('a', c);
	(void)run_boot("m1", "ok");
	(void)run_boot("m1", "boot-panic");
	assert_ok(boot_of_comparison(pg_db(), c, unsure, &b, &n, &e), &e);
	assert_int_equal(n, 4);
	assert_true(b[0].ok && !b[0].unproven);
	assert_true(b[1].unproven);
	free(b);
	(void)run_boot("m1", "boot-panic");
	assert_health("m1", "suspect");
	/* Only its control build may run now. */
	assert_int_equal(claim(pg_db(), "m1", NULL), 0);
	assert_ok(control_order(pg_db(), "m1", "k", 0, 0, "failure", NULL, &e), &e);
	(void)run_boot("m1", "ok");
	assert_ok(boot_of_comparison(pg_db(), c, unsure, &b, &n, &e), &e);
	assert_false(b[1].unproven || b[2].unproven || b[1].ok || b[1].excluded);
	free(b);
	assert_int_equal(
		queue_num("SELECT count(*) FROM boot b JOIN boot k ON k.id = b.control_boot "
			  "WHERE k.purpose = 'control'"),
		2);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work WHERE dedupe = 'detect:%lld'", (long long)c),
		1);
}

static void failures_of_an_unsound_machine_do_not_count(void **state)
{
	int64_t c = add_comparison(1);
	struct boot_brief *b;
	struct err e = { 0 };
	int gone = 0;
	size_t n;

	(void)state;
	order('a', c);
	order('b', c);
	order('b', c);
	(void)run_boot("m1", "ok");
	(void)run_boot("m1", "hang");
	(void)run_boot("m1", "boot-panic");
	assert_ok(boot_disown(pg_db(), "m1", false, unsure, &gone, &e), &e);
	assert_int_equal(gone, 2);
	assert_ok(boot_of_comparison(pg_db(), c, unsure, &b, &n, &e), &e);
	assert_true(b[0].ok && b[1].excluded && b[2].excluded && !b[1].unproven);
	free(b);
	/* A drift takes all of it. */
	assert_ok(boot_disown(pg_db(), "m1", true, unsure, &gone, &e), &e);
	assert_int_equal(gone, 1);
}

static void the_control_build_is_wanted_once_and_hurried_when_asked(void **state)
{
	struct err e = { 0 };
	int64_t boot = 9;
	int64_t again = 9;

	(void)state;
	assert_ok(control_order(pg_db(), "m1", "", 0, 0, "check", &boot, &e), &e);
	assert_int_equal(boot, 0); /* there is none yet */
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	assert_int_equal(queue_num("SELECT count(*) FROM control WHERE group_name = 'g'"), 1);
	assert_ok(control_order(pg_db(), "m1", "", 3600, 0, "failure", &boot, &e), &e);
	assert_true(boot > 0);
	assert_ok(control_order(pg_db(), "m1", "", 0, 0, "check", &again, &e), &e);
	assert_int_equal(again, 0);
	assert_int_equal(claim(pg_db(), "m1", NULL), 0);
	assert_ok(control_hurry(pg_db(), "m1", &again, &e), &e);
	assert_int_equal(again, boot);
	assert_int_equal(claim(pg_db(), "m2", NULL), 0);
	assert_int_equal(claim(pg_db(), "m1", NULL), boot);
}

static void a_check_is_due_after_time_and_after_boots(void **state)
{
	struct err e = { 0 };

	(void)state;
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	assert_ok(control_due(pg_db(), "m1", 3600, 2, &e), &e);
	assert_ok(control_due(pg_db(), "m1", 0, 0, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE purpose = 'control'"), 0);
	pg_exec("UPDATE control SET since = now() - interval '2 hours'");
	assert_ok(control_due(pg_db(), "m1", 3600, 0, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE purpose = 'control'"), 1);
	pg_exec("UPDATE machine SET boots_since_check = 2, last_check = now() WHERE name = 'm2'");
	assert_ok(control_due(pg_db(), "m2", 3600, 2, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE only_machine = 'm2'"), 1);
}

static void what_a_drained_machine_holds_begins_again_on_another(void **state)
{
	int64_t c = add_comparison(1);
	struct err e = { 0 };

	(void)state;
	order('a', c);
	order('b', c);
	(void)run_boot("m1", "ok");
	assert_ok(
		machine_health(pg_db(), "m1", "maintenance", "joe", "new disk", "drain", false, &e),
		&e);
	assert_int_equal(claim(pg_db(), "m2", NULL), 0);
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_int_equal(claim(pg_db(), "m2", NULL), 0);
	pg_exec("UPDATE machine SET drained_at = now() - interval '20 min' WHERE name = 'm1'");
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE excluded"), 1);
	assert_true(claim(pg_db(), "m2", NULL) > 0);
	assert_int_equal(queue_num("SELECT count(*) FROM comparison WHERE machine = 'm2'"), 1);
	assert_err(machine_health(pg_db(), "m9", "good", "joe", "?", "undrain", false, &e),
		   ERR_NOENT, &e);
}

/* How many boots of comparison @c count as failures of which nobody knows yet whose they are. */
static int count_unproven(int64_t c)
{
	struct boot_brief *b;
	struct err e = { 0 };
	int found = 0;
	size_t n;

	assert_ok(boot_of_comparison(pg_db(), c, unsure, &b, &n, &e), &e);
	for (size_t i = 0; i < n; i++)
		found += b[i].unproven;
	free(b);
	return found;
}

static void a_failure_is_settled_by_the_next_good_boot_of_its_own_build_too(void **state)
{
	struct err e = { 0 };
	int64_t c;
	int n = 9;

	(void)state;
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	c = add_comparison(2);
	order('b', c);
	order('b', c);
	(void)run_boot("m1", "hang");
	assert_int_equal(count_unproven(c), 1);
	assert_ok(machine_unproven(pg_db(), "m1", unsure, &n, &e), &e);
	assert_int_equal(n, 1);
	(void)run_boot("m1", "ok");
	assert_int_equal(count_unproven(c), 0);
	assert_ok(machine_unproven(pg_db(), "m1", unsure, &n, &e), &e);
	assert_int_equal(n, 0);
}

static void failures_stay_unproven_when_a_person_calls_the_machine_good(void **state)
{
	struct err e = { 0 };
	int n = 9;

	(void)state;
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	order('b', add_comparison(2));
	(void)run_boot("m1", "hang");
	assert_ok(machine_health(pg_db(), "m1", "good", "joe", "it is", "undrain", false, &e), &e);
	assert_ok(machine_unproven(pg_db(), "m1", unsure, &n, &e), &e);
	assert_int_equal(n, 1);
}

static void drained_long_ago(const char *machine)
{
	char sql[160];

	(void)snprintf(
		sql, sizeof(sql),
		"UPDATE machine SET drained_at = now() - interval '20 min' WHERE name = '%s'",
		machine);
	pg_exec(sql);
}

static void a_comparison_does_not_move_while_its_machine_still_measures_it(void **state)
{
	int64_t c = add_comparison(1);
	struct err e = { 0 };

	(void)state;
	order('a', c);
	assert_true(claim(pg_db(), "m1", NULL) > 0);
	assert_ok(machine_health(pg_db(), "m1", "maintenance", "joe", "disk", "drain", false, &e),
		  &e);
	drained_long_ago("m1");
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM comparison WHERE machine = 'm1'"), 1);
	pg_exec("UPDATE machine SET lease_until = NULL");
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM comparison WHERE machine IS NULL"), 1);
}

static void a_boot_on_another_machine_than_its_comparisons_does_not_count(void **state)
{
	int64_t c = add_comparison(1);
	struct work w = { 0 };
	struct err e = { 0 };
	struct boot_outcome o = { .class = "ok", .machine = "m1" };
	int64_t boot;

	(void)state;
	order('a', c);
	boot = claim(pg_db(), "m1", &w);
	pg_exec("UPDATE comparison SET machine = 'm2'");
	assert_ok(boot_finish(pg_db(), boot, w.fence, &o, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE excluded"), 1);
	work_done(&w);
}

static void what_waits_for_a_machine_that_nobody_runs_any_more_moves(void **state)
{
	int64_t c = add_comparison(1);
	struct err e = { 0 };

	(void)state;
	order('a', c);
	order('b', c);
	(void)run_boot("m1", "ok");
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_int_equal(claim(pg_db(), "m2", NULL), 0);
	pg_exec("UPDATE machine SET last_seen = now() - interval '20 min'");
	/* The other may be gone as well. */
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_int_equal(claim(pg_db(), "m2", NULL), 0);
	assert_ok(machine_look_after(pg_db(), "m2", 600, unsure, &e), &e);
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_true(claim(pg_db(), "m2", NULL) > 0);
}

static void what_waits_for_a_machine_of_another_group_moves(void **state)
{
	int64_t c = add_comparison(1);
	struct err e = { 0 };

	(void)state;
	order('a', c);
	order('b', c);
	(void)run_boot("m1", "ok");
	pg_exec("UPDATE machine SET group_name = 'h' WHERE name = 'm1'");
	assert_int_equal(claim(pg_db(), "m1", NULL), 0);
	assert_ok(machine_repin(pg_db(), 600, 600, &e), &e);
	assert_true(claim(pg_db(), "m2", NULL) > 0);
}

static void checks_that_fail_are_counted_and_do_not_put_off_the_move(void **state)
{
	struct machine m = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(machine_health(pg_db(), "m1", "quarantined", "kperfbot", "x", "drain", true, &e),
		  &e);
	drained_long_ago("m1");
	for (int i = 0; i < 3; i++) {
		assert_ok(machine_health(pg_db(), "m1", "quarantined", "kperfbot", "x",
					 i ? "check" : "drift", true, &e),
			  &e);
	}
	assert_ok(machine_get(pg_db(), "m1", &m, &e), &e);
	assert_int_equal(m.failed_checks, 3);
	machine_done(&m);
	assert_int_equal(queue_num("SELECT count(*) FROM machine WHERE name = 'm1' AND drained_at "
				   "< now() - interval '10 min'"),
			 1);
}

static void a_control_boot_asked_for_by_two_at_once_is_made_once(void **state)
{
	struct err e = { 0 };
	pid_t pid;
	int status;

	(void)state;
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	pg_exec("BEGIN");
	assert_ok(control_order(pg_db(), "m1", "", 0, 0, "check", NULL, &e), &e);
	pid = fork();
	if (pid == 0) {
		int r = control_order(queue_connect(), "m1", "", 0, 0, "failure", NULL, &e);

		_exit(r < 0);
	}
	(void)usleep(300000);
	pg_exec("COMMIT");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(queue_num("SELECT count(*) FROM boot WHERE purpose = 'control'"), 1);
}

static void a_machine_in_maintenance_boots_only_what_a_person_asks_for(void **state)
{
	struct err e = { 0 };
	int64_t boot = 0;

	(void)state;
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	assert_ok(control_order(pg_db(), "m1", "", 0, 10, "check", NULL, &e), &e);
	assert_ok(machine_health(pg_db(), "m1", "maintenance", "joe", "disk", "drain", false, &e),
		  &e);
	assert_int_equal(claim(pg_db(), "m1", NULL), 0);
	assert_ok(control_hurry(pg_db(), "m1", &boot, &e), &e);
	assert_true(boot > 0);
	assert_int_equal(claim(pg_db(), "m1", NULL), boot);
}

static void a_machine_without_control_build_stays_in_service(void **state)
{
	int64_t c = add_comparison(1);

	(void)state;
	for (int i = 0; i < 3; i++)
		order('b', c);
	(void)run_boot("m1", "boot-panic");
	(void)run_boot("m1", "boot-panic");
	assert_health("m1", "good");
	(void)run_boot("m1", "boot-panic");
}

static int64_t controls_wanted(const char *machine)
{
	return queue_num(
		"SELECT count(*) FROM work WHERE dedupe = 'control:%s' AND state = 'ready'",
		machine);
}

static void look_after(const char *machine)
{
	struct err e = { 0 };

	assert_ok(machine_look_after(pg_db(), machine, 600, unsure, &e), &e);
}

static void a_drained_machine_whose_control_boot_was_lost_is_tried_again(void **state)
{
	struct err e = { 0 };

	(void)state;
	order('a', add_comparison(1));
	(void)run_boot("m1", "ok");
	look_after("m1");
	assert_int_equal(controls_wanted("m1"), 0);
	assert_ok(machine_health(pg_db(), "m1", "maintenance", "joe", "disk", "drain", false, &e),
		  &e);
	look_after("m1");
	assert_int_equal(controls_wanted("m1"), 0);
	assert_ok(machine_health(pg_db(), "m1", "quarantined", "kperfbot", "x", "drain", true, &e),
		  &e);
	look_after("m1");
	look_after("m1");
	assert_int_equal(controls_wanted("m1"), 1);
	assert_ok(machine_health(pg_db(), "m2", "suspect", "joe", "x", "undrain", true, &e), &e);
	look_after("m2");
	assert_int_equal(controls_wanted("m2"), 1);
}

static void a_drained_machine_that_has_no_control_build_gets_another_chance(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(machine_health(pg_db(), "m1", "quarantined", "kperfbot", "x", "drain", false, &e),
		  &e);
	look_after("m1");
	assert_health("m1", "quarantined");
	drained_long_ago("m1");
	look_after("m1");
	assert_health("m1", "good");
	assert_int_equal(queue_num("SELECT count(*) FROM machine_event WHERE machine = 'm1' AND "
				   "kind = 'recovered'"),
			 1);
}

static void failures_from_before_there_was_a_control_build_are_judged_later(void **state)
{
	int64_t c = add_comparison(1);

	(void)state;
	order('b', c);
	(void)run_boot("m2", "hang");
	assert_int_equal(count_unproven(c), 0);
	order('a', add_comparison(2));
	(void)run_boot("m1", "ok");
	assert_int_equal(count_unproven(c), 1);
	look_after("m1");
	look_after("m2");
	assert_int_equal(controls_wanted("m1"), 0);
	assert_int_equal(controls_wanted("m2"), 1);
	(void)run_boot("m2", "ok");
	assert_int_equal(count_unproven(c), 0);
}

/* Ends the next boot of @machine well, with @value, on @accel. */
static void measure(const char *machine, const char *accel, double value)
{
	char name[] = "s.m";
	struct suite_metric m = { .name = name, .unit = "ops/s", .headline = true, .value = value };
	struct run_row run = { .n = 1, .class = "ok", .wall_s = 1, .run_s = 1 };
	struct boot_outcome o = {
		.class = "ok", .machine = machine, .accel = accel, .suite_version = "bundled:1"
	};
	struct work w = { 0 };
	int64_t boot = claim(pg_db(), machine, &w);
	struct err e = { 0 };

	assert_true(boot > 0);
	assert_ok(boot_finish(pg_db(), boot, w.fence, &o, &e), &e);
	assert_ok(run_add(pg_db(), boot, &run, &m, 1, &e), &e);
	assert_ok(work_finish(pg_db(), w.id, w.fence, &e), &e);
	work_done(&w);
}

static void numbers_of_two_accelerators_or_machines_never_meet(void **state)
{
	char a[41], b[41];
	const char *commits[] = { a, b };
	struct db_rows rows = { 0 };
	struct boot_brief *boots;
	struct err e = { 0 };
	int64_t c = add_comparison(1);
	int64_t c2 = add_comparison(2);
	size_t n;

	(void)state;
	memset(a, 'a', 40);
	a[40] = '\0';
	memset(b, 'b', 40);
	b[40] = '\0';
	order('a', c);
	measure("m1", "kvm", 100);
	order('a', c);
	measure("m1", "tcg (kvm probe failed: x)", 1);
	order('b', c);
	measure("m1", "tcg (kvm probe failed: y)", 3);
	assert_ok(boot_of_job(pg_db(), 1, "m1", commits, 2, unsure, &boots, &n, &e), &e);
	assert_int_equal(n, 2);
	free(boots);
	order('a', c2);
	measure("m2", "tcg", 1000);
	/* The mail's numbers: of the machine that measured the head last. */
	assert_ok(db_run_one(pg_db(), SQL_RUN_SIDES, &rows, &e, "isss", (int64_t)1, a, b, NULL),
		  &e);
	assert_true(db_f64(&rows, 0, 3) == 1);
	assert_true(db_f64(&rows, 0, 6) == 3);
	db_rows_done(&rows);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_comparison_stays_on_the_machine_that_took_its_first_boot),
		T(machines_that_claim_at_the_same_time_never_share_a_comparison),
		T(a_failure_speaks_about_the_kernel_once_another_build_has_booted_there),
		T(failures_of_an_unsound_machine_do_not_count),
		T(the_control_build_is_wanted_once_and_hurried_when_asked),
		T(a_check_is_due_after_time_and_after_boots),
		T(what_a_drained_machine_holds_begins_again_on_another),
		T(numbers_of_two_accelerators_or_machines_never_meet),
		T(a_failure_is_settled_by_the_next_good_boot_of_its_own_build_too),
		T(failures_stay_unproven_when_a_person_calls_the_machine_good),
		T(a_comparison_does_not_move_while_its_machine_still_measures_it),
		T(a_boot_on_another_machine_than_its_comparisons_does_not_count),
		T(what_waits_for_a_machine_that_nobody_runs_any_more_moves),
		T(what_waits_for_a_machine_of_another_group_moves),
		T(checks_that_fail_are_counted_and_do_not_put_off_the_move),
		T(a_control_boot_asked_for_by_two_at_once_is_made_once),
		T(a_machine_in_maintenance_boots_only_what_a_person_asks_for),
		T(a_machine_without_control_build_stays_in_service),
		T(a_drained_machine_whose_control_boot_was_lost_is_tried_again),
		T(a_drained_machine_that_has_no_control_build_gets_another_chance),
		T(failures_from_before_there_was_a_control_build_are_judged_later),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
