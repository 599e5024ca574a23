/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots of bisections on one machine and on several, and what people may ask of one. */
#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/sql.h"
#include "bot/store/bisection_control.h"
#include "bot/store/boot.h"
#include "bot/store/comparison.h"
#include "bot/store/machine.h"
#include "tests/integration/queue/queue.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_up(void **state)
{
	(void)queue_reset(state);
	pg_exec("TRUNCATE machine, tree, commit, job, comparison, bisection, boot, run, control, "
		"machine_event, build CASCADE");
	pg_exec("INSERT INTO machine (name, group_name, driver, last_seen) SELECT name, g, 'qemu', now() "
		"FROM (VALUES ('m1', 'g'), ('m2', 'g'), ('m3', 'g'), ('other', 'h')) m (name, g)");
	pg_exec("INSERT INTO tree (name, url) VALUES ('t', 'u')");
	pg_exec("INSERT INTO commit SELECT repeat(d, 40), '{}', 's', 'a', 'a@example.org', now(), "
		"'a', 'a@example.org', now(), 'm' FROM unnest(ARRAY['a', 'b']) d");
	pg_exec("INSERT INTO job (id, name, def_hash, suite, test, params, metric, group_name, "
		"kconfig, thp, runs_per_boot, min_effect, timeout_s) OVERRIDING SYSTEM VALUE "
		"VALUES (1, 'j', 'h', 's', 't', '{}', 's.m', 'g', '', 'keep', 1, 0.01, 60)");
	pg_exec("INSERT INTO bisection (id, tree, good, bad, job, metric, dedupe, request, asked_by) "
		"SELECT id, 't', repeat('a', 40), repeat('b', 40), 1, 's.m', id, '{}', 't1234567' "
		"FROM unnest(ARRAY['b1111111', 'b2222222']) id");
	return 0;
}

static int64_t order(const char *bisection, const char *place, int prio)
{
	char hash[41];
	struct boot_order o = { .commit = hash,
				.job = 1,
				.bisection = bisection,
				.place = place,
				.prio = prio,
				.runs = 1 };
	struct err e = { 0 };

	memset(hash, 'a', 40);
	hash[40] = '\0';
	assert_ok(boot_order(pg_db(), &o, "g", true, &e), &e);
	return queue_num("SELECT max(id) FROM boot");
}

/* Return: the boot that @machine took and ended at once; 0: none. */
static int64_t claim(const char *machine)
{
	struct work w = { 0 };
	struct err e = { 0 };
	int64_t boot = 0;
	int r = work_claim_boot(pg_db(), machine, "me", 60, &w, &e);

	assert_ok(r, &e);
	if (r) {
		boot = strtoll(strstr(w.payload, "\"boot\":") + 7, NULL, 10);
		assert_ok(work_finish(pg_db(), w.id, w.fence, &e), &e);
		pg_exec("UPDATE machine SET lease_owner = NULL, lease_until = NULL");
	}
	work_done(&w);
	return boot;
}

static size_t join(const char *id, int machines)
{
	struct err e = { 0 };
	json_t *names = NULL;
	size_t n;

	assert_ok(bisection_join(pg_db(), id, machines, &names, &e), &e);
	n = json_array_size(names);
	json_decref(names);
	return n;
}

static void one_machine_has_all_until_others_join(void **state)
{
	struct err e = { 0 };
	json_t *names = NULL;

	(void)state;
	assert_err(bisection_join(pg_db(), "b1111111", 3, &names, &e), ERR_NOENT, &e);
	(void)order("b1111111", NULL, 0);
	(void)order("b1111111", NULL, 0);
	assert_true(claim("m1") > 0);
	assert_int_equal(claim("m2"), 0);
	assert_int_equal(join("b1111111", 1), 1);
	assert_int_equal(join("b1111111", 1), 1);
	assert_int_equal(claim("m3"), 0);
	assert_true(claim("m2") > 0);
	assert_int_equal(queue_num("SELECT count(*) FROM bisection WHERE machine = 'm1'"), 1);
}

static void a_boot_with_a_place_goes_there_alone(void **state)
{
	json_t *placed = NULL;
	struct err e = { 0 };
	int64_t boot;

	(void)state;
	(void)order("b1111111", NULL, 0);
	assert_true(claim("m1") > 0);
	assert_int_equal(join("b1111111", 2), 2);
	boot = order("b1111111", "m3", 0);
	assert_int_equal(claim("m1"), 0);
	assert_int_equal(claim("m2"), 0);
	assert_ok(bisection_placed(pg_db(), "b1111111", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				   &placed, &e),
		  &e);
	assert_int_equal(json_i64(placed, "m3", 0), 1);
	json_decref(placed);
	assert_int_equal(claim("m3"), boot);
}

static void a_machine_that_is_away_is_done_without(void **state)
{
	struct err e = { 0 };
	int64_t boot;

	(void)state;
	(void)order("b1111111", NULL, 0);
	assert_true(claim("m1") > 0);
	assert_int_equal(join("b1111111", 1), 1);
	boot = order("b1111111", "m2", 0);
	pg_exec("UPDATE machine SET health = 'quarantined', drained_at = now() - interval '1 h' "
		"WHERE name = 'm2'");
	assert_ok(machine_repin(pg_db(), 60, 600, &e), &e);
	assert_int_equal(
		queue_num("SELECT cardinality(machines) FROM bisection WHERE id = 'b1111111'"), 0);
	assert_int_equal(claim("m1"), boot);
	/* The first one goes as well: another begins, and the further ones are chosen again. */
	assert_int_equal(join("b1111111", 1), 1);
	boot = order("b1111111", "m1", 0);
	pg_exec("UPDATE machine SET health = 'quarantined', drained_at = now() - interval '1 h' "
		"WHERE name = 'm1'");
	assert_ok(machine_repin(pg_db(), 60, 600, &e), &e);
	assert_int_equal(claim("m3"), boot);
	assert_int_equal(queue_num("SELECT count(*) FROM bisection WHERE machine = 'm3' "
				   "AND machines = '{}'"),
			 1);
}

static void the_machine_that_a_person_chose_is_waited_for(void **state)
{
	struct err e = { 0 };
	int64_t boot;

	(void)state;
	pg_exec("UPDATE bisection SET machine = 'm2', request = request || '{\"machine\":\"m2\"}' "
		"WHERE id = 'b1111111'");
	boot = order("b1111111", NULL, 0);
	pg_exec("UPDATE machine SET health = 'quarantined', drained_at = now() - interval '1 h' "
		"WHERE name = 'm2'");
	assert_ok(machine_repin(pg_db(), 60, 600, &e), &e);
	assert_int_equal(claim("m1"), 0);
	pg_exec("UPDATE machine SET health = 'good' WHERE name = 'm2'");
	assert_int_equal(claim("m2"), boot);
}

static void assert_waits(const char *want)
{
	char *text = queue_text("SELECT coalesce(bisection_waits(b), '') FROM bisection b "
				"WHERE id = 'b1111111'");

	if (strcmp(text, want) != 0)
		fail_msg("'%s', not '%s'", text, want);
	free(text);
}

static void what_it_waits_for_is_told(void **state)
{
	(void)state;
	assert_waits("");
	pg_exec("UPDATE machine SET last_seen = now() - interval '1 h'");
	assert_waits("waits: no machine of group g is up");
	pg_exec("UPDATE machine SET last_seen = NULL WHERE group_name = 'g'");
	assert_waits("waits: no machine of group g is up");
	pg_exec("UPDATE machine SET last_seen = now()");
	(void)order("b1111111", NULL, 0);
	assert_true(claim("m1") > 0);
	pg_exec("UPDATE machine SET health = 'quarantined' WHERE name = 'm1'");
	assert_waits("waits for machine m1, which is in state quarantined; it will move to another "
		     "machine of the group");
	pg_exec("UPDATE machine SET health = 'maintenance' WHERE name IN ('m2', 'm3')");
	assert_waits(
		"waits for machine m1, which is in state quarantined; no other machine of group g "
		"is up");
	pg_exec("UPDATE bisection SET request = request || '{\"machine\":\"m1\"}' "
		"WHERE id = 'b1111111'");
	assert_waits("waits for machine m1, which is in state quarantined and was asked for");
	pg_exec("UPDATE machine SET health = 'suspect' WHERE name = 'm1'");
	assert_waits("waits for machine m1, which is looked after and was asked for");
	pg_exec("UPDATE machine SET health = 'good', last_seen = '2030-11-06 08:12Z' WHERE name = 'm1'");
	assert_waits("");
	pg_exec("UPDATE machine SET last_seen = '2020-11-06 08:12Z' WHERE name = 'm1'");
	assert_waits("waits for machine m1, not seen since 2020-11-06 08:12 and was asked for");
	pg_exec("UPDATE bisection SET state = 'done', finished = now() WHERE id = 'b1111111'");
	assert_waits("");
	pg_exec("UPDATE machine SET group_name = 'h'");
	assert_waits("");
	pg_exec("UPDATE bisection SET state = 'running', finished = NULL WHERE id = 'b1111111'");
	assert_waits("waits: there is no machine in group g");
}

static void its_turn_is_told(void **state)
{
	(void)state;
	pg_exec("UPDATE bisection SET machine = 'm1'");
	(void)order("b2222222", NULL, 0);
	(void)order("b2222222", NULL, 0);
	(void)order("b1111111", NULL, 0);
	assert_waits("");
	pg_exec("UPDATE machine SET lease_owner = 'x', lease_until = now() + interval '1 min' "
		"WHERE name = 'm1'");
	assert_waits("waits for its turn on machine m1, 2 boots of others are before it");
	(void)order("b1111111", NULL, 2);
	assert_waits("waits for its turn on machine m1, which is at work for others");
	pg_exec("UPDATE work SET state = 'leased', lease_owner = 'x', lease_until = now() + "
		"interval '1 min' WHERE prio = 2");
	assert_waits("");
}

static void assert_tip(const char *want)
{
	struct bisection_tip *tips = NULL;
	struct err e = { 0 };
	size_t n = 0;

	assert_ok(bisection_tips(pg_db(), "b1111111", &tips, &n, &e), &e);
	if (!want)
		assert_int_equal(n, 0);
	else
		assert_string_equal(tips[0].branch, want);
	bisection_tips_free(tips, n);
}

/* Which branch's tip is measured when its bad end is known. */
static void the_best_tip_comes_first(void **state)
{
	(void)state;
	assert_tip(NULL);
	pg_exec("INSERT INTO tree (name, url) VALUES ('t2', 'u')");
	pg_exec("INSERT INTO head (tree, branch, commit, since) VALUES "
		"('t2', 'master', repeat('c', 40), now()), ('t', 'old', repeat('d', 40), now() - interval '1 d'), "
		"('t', 'new', repeat('e', 40), now()), ('t', 'bad', repeat('b', 40), now())");
	assert_tip("new");
	pg_exec("UPDATE bisection SET request = '{\"bad\":\"old\"}'");
	assert_tip("old");
	pg_exec("UPDATE bisection SET request = '{\"bad\":\"bad\"}'");
	assert_tip("new");
	pg_exec("INSERT INTO head (tree, branch, commit, since) VALUES ('t', 'main', repeat('f', 40), "
		"now() - interval '9 d')");
	assert_tip("main");
	pg_exec("INSERT INTO regression (id, state, tree, branch, job, metric, rel, lo, hi, level, base, "
		"head) VALUES ('r1111111', 'bisecting', 't', 'bad', 1, 's.m', -0.1, -0.2, -0.05, 0.95, "
		"repeat('a', 40), repeat('b', 40))");
	pg_exec("UPDATE bisection SET regression = 'r1111111' WHERE id = 'b1111111'");
	assert_tip("bad");
	pg_exec("UPDATE bisection SET regression = NULL");
	pg_exec("DELETE FROM regression");
	pg_exec("DELETE FROM head");
}

/* However many branches moved later, that whose tip is the bad end contains it. */
static void a_tip_that_is_the_bad_end_is_never_left_out(void **state)
{
	struct bisection_tip *tips = NULL;
	struct err e = { 0 };
	size_t n = 0;

	(void)state;
	pg_exec("INSERT INTO head (tree, branch, commit, since) SELECT 't', 'b' || g, repeat('e', 40), "
		"now() FROM generate_series(1, 30) g");
	pg_exec("INSERT INTO head (tree, branch, commit, since) VALUES ('t', 'bad', repeat('b', 40), "
		"now() - interval '9 d')");
	assert_ok(bisection_tips(pg_db(), "b1111111", &tips, &n, &e), &e);
	assert_int_equal(n, 17);
	assert_string_equal(tips[16].branch, "bad");
	bisection_tips_free(tips, n);
	pg_exec("DELETE FROM head");
}

static void two_share_a_machine_by_priority_and_then_by_age(void **state)
{
	int64_t low, first, second, high;

	(void)state;
	low = order("b1111111", NULL, -2);
	first = order("b1111111", NULL, 0);
	second = order("b2222222", NULL, 0);
	high = order("b2222222", NULL, 2);
	assert_int_equal(claim("m1"), high);
	assert_int_equal(claim("m1"), first);
	assert_int_equal(claim("m1"), second);
	assert_int_equal(claim("m1"), low);
}

static void cancelled_once_and_with_a_reason(void **state)
{
	struct err e = { 0 };
	char *text;

	(void)state;
	assert_err(bisection_cancel(pg_db(), "b1111111", "joe", "", &e), ERR_INVAL, &e);
	assert_ok(bisection_cancel(pg_db(), "b1111111", "joe", "not \"needed\"", &e), &e);
	text = queue_text("SELECT result->>'text' FROM bisection WHERE id = 'b1111111'");
	assert_string_equal(text, "cancelled by joe: not \"needed\"");
	free(text);
	assert_err(bisection_cancel(pg_db(), "b1111111", "joe", "again", &e), ERR_CONFLICT, &e);
	assert_err(bisection_cancel(pg_db(), "b9999999", "joe", "x", &e), ERR_NOENT, &e);
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE dedupe = 'bisect:b1111111'"),
			 1);
}

static void extended_while_it_runs(void **state)
{
	struct config *c = NULL;
	struct err e = { 0 };
	int64_t max = 0;
	char path[] = "/tmp/kperfbot-conf.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_ok(config_load(path, &c, &e), &e);
	assert_int_equal(unlink(path), 0);
	assert_err(bisection_extend(pg_db(), c, "b1111111", 0, &max, &e), ERR_INVAL, &e);
	assert_ok(bisection_extend(pg_db(), c, "b1111111", 10, &max, &e), &e);
	assert_int_equal(max, 210);
	assert_ok(bisection_extend(pg_db(), c, "b1111111", 5, &max, &e), &e);
	assert_int_equal(max, 215);
	/* the limit of the configuration is one of boots */
	pg_exec("UPDATE job SET runs_per_boot = 3");
	assert_ok(bisection_extend(pg_db(), c, "b2222222", 10, &max, &e), &e);
	assert_int_equal(max, 610);
	/* as often as one likes, and still a number that can be reckoned with */
	pg_exec("UPDATE bisection SET request = '{\"max_runs\":99999995}'");
	assert_ok(bisection_extend(pg_db(), c, "b2222222", 10, &max, &e), &e);
	assert_int_equal(max, 100000000);
	pg_exec("UPDATE bisection SET state = 'done', finished = now()");
	assert_err(bisection_extend(pg_db(), c, "b1111111", 5, &max, &e), ERR_CONFLICT, &e);
	config_free(c);
}

/* Who is told that there are more runs must not read next that the budget is spent. */
static void what_was_extended_as_it_was_to_end_goes_on(void **state)
{
	_cleanup_(bisection_done) struct bisection read = { 0 }, again = { 0 };
	_cleanup_(json_decrefp) json_t *result = json_object();
	struct err e = { 0 };

	(void)state;
	assert_ok(bisection_get(pg_db(), "b1111111", &read, &e), &e);
	pg_exec("UPDATE bisection SET request = request || '{\"max_runs\":300}'");
	assert_err(bisection_finish(pg_db(), &read, "inconclusive", result, &e), ERR_CONFLICT, &e);
	assert_int_equal(queue_num("SELECT count(*) FROM bisection WHERE finished IS NULL"), 2);
	assert_ok(bisection_get(pg_db(), "b1111111", &again, &e), &e);
	assert_ok(bisection_finish(pg_db(), &again, "inconclusive", result, &e), &e);
	assert_err(bisection_finish(pg_db(), &again, "done", result, &e), ERR_CONFLICT, &e);
}

static void tried_again_with_its_regression(void **state)
{
	struct err e = { 0 };
	bool taken = true;
	char id[9], again[9];

	(void)state;
	pg_exec("INSERT INTO regression (id, state, tree, branch, job, metric, rel, lo, hi, level, base, "
		"head) VALUES ('r1111111', 'confirmed', 't', 'b', 1, 's.m', -0.1, -0.2, -0.05, 0.95, "
		"repeat('a', 40), repeat('b', 40))");
	pg_exec("UPDATE bisection SET regression = 'r1111111' WHERE id = 'b1111111'");
	assert_err(bisection_retry(pg_db(), "b1111111", "joe", id, &e), ERR_CONFLICT, &e);
	/* cancelled, and role bisect has not looked yet */
	pg_exec("UPDATE regression SET state = 'bisecting'");
	assert_ok(bisection_cancel(pg_db(), "b1111111", "joe", "later", &e), &e);
	assert_err(bisection_retry(pg_db(), "b1111111", "joe", id, &e), ERR_CONFLICT, &e);
	pg_exec("UPDATE regression SET state = 'confirmed'");
	pg_exec("UPDATE bisection SET state = 'not-reproduced', finished = now(), request = request || "
		"(SELECT jsonb_build_object('machine', name) FROM machine ORDER BY name LIMIT 1) "
		"WHERE id = 'b1111111'");
	assert_ok(bisection_retry(pg_db(), "b1111111", "joe", id, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM bisection WHERE id = '%s' AND machine = "
				   "request->>'machine'",
				   id),
			 1);
	assert_err(bisection_retry(pg_db(), "b1111111", "joe", again, &e), ERR_CONFLICT, &e);
	assert_ok(bisection_take_over(pg_db(), id, &taken, &e), &e);
	assert_true(taken);
	assert_ok(bisection_take_over(pg_db(), id, &taken, &e), &e);
	assert_false(taken);
	assert_int_equal(
		queue_num(
			"SELECT count(*) FROM bisection WHERE regression = 'r1111111' AND id = '%s'",
			id),
		1);
	pg_exec("UPDATE bisection SET regression = NULL");
	pg_exec("DELETE FROM regression");
}

/* Boots of years lie there; which of them are waited for is asked again and again. */
static void boots_of_long_ago_are_not_looked_through(void **state)
{
	static const enum sql_id queries[] = { SQL_BISECTION_QUEUE, SQL_PAGE_BISECTION };
	static const char *const args[] = { "'b1111111', 0", "'b1111111'" };

	(void)state;
	pg_exec("INSERT INTO boot (commit, job, wanted_runs, state) SELECT repeat('a', 40), 1, 1, "
		"'cancelled' FROM generate_series(1, 20000)");
	pg_exec("ANALYZE boot");
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(freep) char *sql =
			xasprintf("PREPARE q AS %s", sql_queries[queries[i]].text);
		_cleanup_(freep) char *plan = NULL;

		pg_exec(sql);
		plan = queue_text("EXPLAIN (FORMAT JSON) EXECUTE q(%s)", args[i]);
		pg_exec("DEALLOCATE q");
		assert_non_null(strstr(plan, "boot_wanted"));
	}
}

static void only_who_asked_for_it_may_change_it(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(bisection_may(pg_db(), "b1111111", "t1234567", &e), &e);
	assert_err(bisection_may(pg_db(), "b1111111", "t7654321", &e), ERR_PERM, &e);
	assert_err(bisection_may(pg_db(), "b9999999", "t1234567", &e), ERR_NOENT, &e);
}

#define T(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_machine_has_all_until_others_join),
		T(a_boot_with_a_place_goes_there_alone),
		T(a_machine_that_is_away_is_done_without),
		T(the_machine_that_a_person_chose_is_waited_for),
		T(what_it_waits_for_is_told),
		T(its_turn_is_told),
		T(the_best_tip_comes_first),
		T(a_tip_that_is_the_bad_end_is_never_left_out),
		T(two_share_a_machine_by_priority_and_then_by_age),
		T(cancelled_once_and_with_a_reason),
		T(extended_while_it_runs),
		T(what_was_extended_as_it_was_to_end_goes_on),
		T(tried_again_with_its_regression),
		T(boots_of_long_ago_are_not_looked_through),
		T(only_who_asked_for_it_may_change_it),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
