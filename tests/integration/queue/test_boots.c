/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots are claimed together with the machine that runs them. */
#include "bot/db/db.h"
#include "tests/integration/queue/queue.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>

static int set_up(void **state)
{
	(void)queue_reset(state);
	pg_exec("INSERT INTO machine (name, group_name, driver) VALUES ('m1', 'g', 'qemu'), ('m2', 'g', 'qemu'), "
		"('other', 'h', 'qemu')");
	return 0;
}

static void add_boot(const char *group, int prio)
{
	struct err e = { 0 };
	char payload[64];

	(void)snprintf(payload, sizeof(payload), "{\"group\": \"%s\", \"boot\": 1}", group);
	assert_ok(work_enqueue(pg_db(), "boot", prio, 0, NULL, payload, &e), &e);
}

/* Return: as work_claim_boot(); @w is filled when 1. */
static int claim(const char *machine, struct work *w)
{
	struct err e = { 0 };
	int r;

	*w = (struct work){ 0 };
	r = work_claim_boot(pg_db(), machine, "me", 60, w, &e);
	assert_ok(r, &e);
	return r;
}

static struct work take(const char *machine)
{
	struct work w;

	assert_int_equal(claim(machine, &w), 1);
	return w;
}

static void assert_nothing(const char *machine)
{
	struct work w;

	assert_int_equal(claim(machine, &w), 0);
}

static bool is_free(const char *machine)
{
	return queue_num("SELECT (lease_owner IS NULL AND lease_until IS NULL)::int FROM machine "
			 "WHERE name = '%s'",
			 machine);
}

static void work_and_machine_are_taken_together(void **state)
{
	struct work w;

	(void)state;
	assert_nothing("m1");
	assert_true(is_free("m1"));
	add_boot("g", 0);
	w = take("m1");
	assert_string_equal(w.kind, "boot");
	assert_int_equal(
		queue_num(
			"SELECT count(*) FROM machine m JOIN work w ON w.fence = m.fence AND w.lease_until "
			"= m.lease_until AND w.lease_owner = m.lease_owner WHERE m.name = 'm1' AND "
			"w.state = 'leased'"),
		1);
	assert_true(is_free("m2"));
	work_done(&w);
}

static void only_boots_of_its_group_in_their_order(void **state)
{
	struct work w;

	(void)state;
	add_boot("h", 9);
	(void)queue_add("plan", 9, NULL);
	add_boot("g", 0);
	add_boot("g", 5);
	w = take("m1");
	assert_int_equal(w.id, 4);
	work_done(&w);
	w = take("m2");
	assert_int_equal(w.id, 3);
	work_done(&w);
	w = take("other");
	assert_int_equal(w.id, 1);
	work_done(&w);
	assert_nothing("unknown");
}

static void a_held_machine_is_not_given_again(void **state)
{
	struct work w;

	(void)state;
	add_boot("g", 0);
	add_boot("g", 0);
	w = take("m1");
	assert_nothing("m1");
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE state = 'ready'"), 1);
	work_done(&w);
}

static void a_machine_in_bad_health_gets_nothing(void **state)
{
	static const char *const bad[] = { "suspect", "quarantined", "maintenance", "retired" };
	struct work w;

	(void)state;
	add_boot("g", 0);
	for (size_t i = 0; i < 4; i++) {
		char sql[100];

		(void)snprintf(sql, sizeof(sql),
			       "UPDATE machine SET health = '%s' WHERE name = 'm1'", bad[i]);
		pg_exec(sql);
		assert_nothing("m1");
	}
	w = take("m2");
	work_done(&w);
}

static void the_machine_is_free_again_however_the_boot_ends(void **state)
{
	struct err e = { 0 };
	int n;

	(void)state;
	add_boot("g", 0);
	for (int how = 0; how < 6; how++) {
		struct work w = take("m1");

		assert_false(is_free("m1"));
		if (how == 0)
			assert_ok(work_fail(pg_db(), w.id, w.fence, "x", 0, 9, &e), &e);
		if (how == 1) {
			assert_ok(work_crashed(pg_db(), w.id, w.fence, "x", &e), &e);
			queue_due(w.id);
		}
		if (how == 2) {
			queue_expire(w.id);
			assert_ok(work_reap(pg_db(), &n, &e), &e);
		}
		if (how == 3)
			assert_ok(work_reschedule(pg_db(), w.id, w.fence, 0, NULL, &e), &e);
		if (how == 4)
			assert_ok(work_release_owner(pg_db(), "me", &n, &e), &e);
		if (how == 5)
			assert_ok(work_finish(pg_db(), w.id, w.fence, &e), &e);
		assert_true(is_free("m1"));
		work_done(&w);
	}
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE state = 'done'"), 1);
}

static void a_stale_worker_does_not_free_the_machine_of_another(void **state)
{
	struct err e = { 0 };
	struct work old;
	struct work new;
	bool lost;
	int n;

	(void)state;
	add_boot("g", 0);
	old = take("m1");
	queue_expire(old.id);
	assert_ok(work_reap(pg_db(), &n, &e), &e);
	new = take("m1");
	assert_int_equal(work_finish(pg_db(), old.id, old.fence, &e), ERR_LEASE_LOST);
	assert_int_equal(work_fail(pg_db(), old.id, old.fence, "x", 0, 9, &e), ERR_LEASE_LOST);
	assert_ok(work_crashed(pg_db(), old.id, old.fence, "x", &e), &e);
	assert_ok(work_heartbeat(pg_db(), &old.id, &old.fence, 1, 9999, &lost, &e), &e);
	assert_true(lost);
	assert_int_equal(
		queue_num(
			"SELECT fence FROM machine WHERE name = 'm1' AND lease_owner IS NOT NULL AND "
			"lease_until < now() + interval '61 s'"),
		new.fence);
	work_done(&old);
	work_done(&new);
}

static void a_lease_that_ran_out_keeps_the_machine_until_it_is_reaped(void **state)
{
	struct err e = { 0 };
	struct work old;
	bool lost = true;
	int n;

	(void)state;
	add_boot("g", 1);
	add_boot("g", 0);
	old = take("m1");
	queue_expire(old.id);
	/* Else two boots would share the machine when the late worker renews. */
	assert_nothing("m1");
	assert_ok(work_heartbeat(pg_db(), &old.id, &old.fence, 1, 60, &lost, &e), &e);
	assert_false(lost);
	assert_int_equal(queue_num("SELECT count(*) FROM machine WHERE lease_until > now()"), 1);
	queue_expire(old.id);
	assert_ok(work_reap(pg_db(), &n, &e), &e);
	work_done(&old);
	old = take("m1");
	work_done(&old);
}

static void a_machine_left_held_by_no_work_is_free_when_its_lease_ran_out(void **state)
{
	struct work w;

	(void)state;
	add_boot("g", 0);
	pg_exec("UPDATE machine SET fence = 999999, lease_owner = 'x', lease_until = now() + interval '9 s' "
		"WHERE name = 'm1'");
	assert_nothing("m1");
	pg_exec("UPDATE machine SET lease_until = now() - interval '1 s' WHERE name = 'm1'");
	w = take("m1");
	work_done(&w);
}

static void heartbeats_renew_the_machine_too(void **state)
{
	struct err e = { 0 };
	struct work w;
	bool lost;

	(void)state;
	add_boot("g", 0);
	w = take("m1");
	assert_ok(work_heartbeat(pg_db(), &w.id, &w.fence, 1, 500, &lost, &e), &e);
	assert_false(lost);
	assert_int_equal(
		queue_num(
			"SELECT count(*) FROM machine m JOIN work w USING (fence, lease_until) WHERE "
			"m.lease_until > now() + interval '400 s'"),
		1);
	work_done(&w);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(work_and_machine_are_taken_together),
		T(only_boots_of_its_group_in_their_order),
		T(a_held_machine_is_not_given_again),
		T(a_machine_in_bad_health_gets_nothing),
		T(the_machine_is_free_again_however_the_boot_ends),
		T(a_stale_worker_does_not_free_the_machine_of_another),
		T(a_lease_that_ran_out_keeps_the_machine_until_it_is_reaped),
		T(a_machine_left_held_by_no_work_is_free_when_its_lease_ran_out),
		T(heartbeats_renew_the_machine_too),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
