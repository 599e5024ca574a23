/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "tests/integration/queue/queue.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

/* Everything about row @id that a stale worker must not change. */
static char *row(int64_t id)
{
	return queue_text("SELECT work::text FROM work WHERE id = %lld", (long long)id);
}

static void assert_state(int64_t id, const char *want)
{
	char *have = queue_text("SELECT state FROM work WHERE id = %lld", (long long)id);

	assert_string_equal(have, want);
	free(have);
}

static int try_claim(const char *kind)
{
	const char *kinds[] = { kind };
	struct work w = { 0 };
	struct err e = { 0 };
	int r = work_claim(pg_db(), kinds, 1, "other", 60, &w, &e);

	assert_ok(r, &e);
	work_done(&w);
	return r;
}

static void an_equal_request_is_joined_and_brought_forward(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(work_enqueue(pg_db(), "plan", 1, 3600, "plan:1", "{\"a\":1}", &e), &e);
	assert_int_equal(try_claim("plan"), 0);
	assert_ok(work_enqueue(pg_db(), "plan", 5, 60, "plan:1", "{\"a\":2}", &e), &e);
	assert_ok(work_enqueue(pg_db(), "plan", 3, 7200, "plan:1", "{\"a\":3}", &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM work"), 1);
	assert_int_equal(queue_num("SELECT prio FROM work"), 5);
	assert_int_equal(queue_num("SELECT (run_at < now() + interval '61 s' AND run_at > now() + "
				   "interval '50 s')::int FROM work"),
			 1);
	assert_int_equal(queue_num("SELECT again::int FROM work"), 0);
	assert_ok(work_enqueue(pg_db(), "plan", 0, 0, "plan:1", "{}", &e), &e);
	assert_int_equal(try_claim("plan"), 1);
}

static void requests_without_a_name_and_ended_ones_are_never_joined(void **state)
{
	struct err e = { 0 };
	struct work w;

	(void)state;
	(void)queue_add("plan", 0, NULL);
	(void)queue_add("plan", 0, NULL);
	assert_int_equal(queue_num("SELECT count(*) FROM work"), 2);
	(void)queue_add("build", 0, "b");
	w = queue_claim("build", "me");
	assert_ok(work_finish(pg_db(), w.id, w.fence, &e), &e);
	work_done(&w);
	(void)queue_add("build", 0, "b");
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE kind = 'build'"), 2);
}

static void helpers_make_name_and_payload(void **state)
{
	struct err e = { 0 };
	char *s;

	(void)state;
	assert_ok(work_enqueue_id(pg_db(), "build", "build", INT64_MAX, 0, &e), &e);
	assert_ok(work_enqueue_name(pg_db(), "fetch", "tree", "li\"nus", &e), &e);
	s = queue_text("SELECT string_agg(dedupe || payload, ';' ORDER BY id) FROM work");
	assert_string_equal(s, "build:9223372036854775807{\"build\": 9223372036854775807};"
			       "fetch:li\"nus{\"tree\": \"li\\\"nus\"}");
	free(s);
}

static void refuses_a_kind_or_payload_that_cannot_be(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_err(work_enqueue(pg_db(), "nonsense", 0, 0, NULL, "{}", &e), ERR_DB, &e);
	assert_err(work_enqueue(pg_db(), "plan", 0, 0, NULL, "{", &e), ERR_DB, &e);
	assert_err(work_enqueue(pg_db(), "plan", 0, 0, "\xff", "{}", &e), ERR_DB, &e);
	assert_err(work_enqueue(pg_db(), "plan", 0, NAN, NULL, "{}", &e), ERR_DB, &e);
	assert_int_equal(queue_num("SELECT count(*) FROM work"), 0);
}

static void asked_for_while_leased_it_runs_once_more(void **state)
{
	struct err e = { 0 };
	struct work a;
	struct work b;

	(void)state;
	(void)queue_add("plan", 0, "p");
	a = queue_claim("plan", "me");
	(void)queue_add("plan", 0, "p");
	(void)queue_add("plan", 0, "p");
	assert_int_equal(queue_num("SELECT count(*) FROM work"), 1);
	assert_int_equal(try_claim("plan"), 0);
	assert_ok(work_finish(pg_db(), a.id, a.fence, &e), &e);
	b = queue_claim("plan", "me");
	assert_int_equal(b.id, a.id);
	assert_true(b.fence > a.fence);
	assert_int_equal(b.attempts, 1);
	assert_ok(work_finish(pg_db(), b.id, b.fence, &e), &e);
	assert_state(b.id, "done");
	assert_int_equal(try_claim("plan"), 0);
	work_done(&a);
	work_done(&b);
}

static void a_request_during_the_last_attempt_is_not_lost(void **state)
{
	struct err e = { 0 };
	struct work w;

	(void)state;
	(void)queue_add("plan", 0, "p");
	w = queue_claim("plan", "me");
	(void)queue_add("plan", 0, "p");
	assert_ok(work_fail(pg_db(), w.id, w.fence, "no", 0, 1, &e), &e);
	assert_state(w.id, "ready");
	work_done(&w);
	w = queue_claim("plan", "me");
	assert_int_equal(w.attempts, 1);
	assert_ok(work_fail(pg_db(), w.id, w.fence, "no", 0, 1, &e), &e);
	assert_state(w.id, "failed");
	work_done(&w);
}

static void the_order_is_priority_then_time_then_number(void **state)
{
	static const struct {
		int prio;
		double delay;
	} in[] = {
		{ 0, -5 }, { 0, -5 }, { 9, -1 }, { 9, -3 }, { -1, -100 }, { 0, -6 }, { 99, 60 }
	};
	static const int want[] = { 4, 3, 6, 1, 2, 5 };
	struct err e = { 0 };

	(void)state;
	pg_exec("BEGIN"); /* one now() for all */
	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		assert_ok(work_enqueue(pg_db(), "plan", in[i].prio, in[i].delay, NULL, "{}", &e),
			  &e);
	pg_exec("COMMIT");
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		struct work w = queue_claim("plan", "me");

		assert_int_equal(w.id, want[i]);
		work_done(&w);
	}
	assert_int_equal(try_claim("plan"), 0);
}

static void a_claim_takes_one_row_of_the_wanted_kinds(void **state)
{
	const char *kinds[] = { "report", "send" };
	struct err e = { 0 };
	struct work w = { 0 };

	(void)state;
	(void)queue_add("plan", 9, NULL);
	(void)queue_add("send", 0, NULL);
	(void)queue_add("report", 0, NULL);
	for (int i = 0; i < 50; i++)
		(void)queue_add("report", -1, NULL);
	assert_int_equal(work_claim(pg_db(), kinds, 2, "me", 60, &w, &e), 1);
	assert_string_equal(w.kind, "send");
	assert_string_equal(w.payload, "{}");
	assert_int_equal(w.attempts, 1);
	assert_int_equal(w.crashes, 0);
	work_done(&w);
	work_done(&w);
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE state = 'leased'"), 1);
	/* Also when the table was never analysed, or is known to be small. */
	pg_exec("ANALYZE work");
	for (int i = 2; i < 20; i++) {
		w = queue_claim("report", "me");
		work_done(&w);
		assert_int_equal(queue_num("SELECT count(*) FROM work WHERE state = 'leased'"), i);
	}
	assert_int_equal(work_claim(pg_db(), kinds, 0, "me", 60, &w, &e), 0);
}

static void fences_only_grow(void **state)
{
	struct err e = { 0 };
	int64_t last = 0;

	(void)state;
	(void)queue_add("plan", 0, NULL);
	for (int i = 0; i < 20; i++) {
		struct work w = queue_claim("plan", "me");

		assert_true(w.fence > last);
		last = w.fence;
		assert_ok(work_reschedule(pg_db(), w.id, w.fence, 0, NULL, &e), &e);
		work_done(&w);
	}
}

/* Every write that names the fence, under that of @old: refused, and the row as it was. */
static void assert_fenced_out(const struct work *old)
{
	char *before = row(old->id);
	struct work loaded = { .id = 77 };
	struct err e = { 0 };
	bool lost = false;
	char *after;

	assert_err(work_finish(pg_db(), old->id, old->fence, &e), ERR_LEASE_LOST, &e);
	assert_err(work_fail(pg_db(), old->id, old->fence, "x", 0, 9, &e), ERR_LEASE_LOST, &e);
	assert_err(work_reschedule(pg_db(), old->id, old->fence, 0, "x", &e), ERR_LEASE_LOST, &e);
	assert_err(work_load(pg_db(), old->id, old->fence, &loaded, &e), ERR_LEASE_LOST, &e);
	assert_int_equal(loaded.id, 77);
	assert_ok(work_crashed(pg_db(), old->id, old->fence, "x", &e), &e);
	assert_ok(work_heartbeat(pg_db(), &old->id, &old->fence, 1, 1000, &lost, &e), &e);
	assert_true(lost);
	after = row(old->id);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void a_lost_lease_changes_nothing_any_more(void **state)
{
	struct err e = { 0 };
	struct work old;
	struct work new;
	int n = 0;

	(void)state;
	(void)queue_add("plan", 0, "p");
	old = queue_claim("plan", "me");
	queue_expire(old.id);
	assert_ok(work_reap(pg_db(), &n, &e), &e);
	assert_int_equal(n, 1);
	assert_fenced_out(&old); /* ready */
	new = queue_claim("plan", "other");
	assert_int_equal(new.crashes, 1);
	assert_int_equal(new.attempts, 1);
	assert_fenced_out(&old); /* leased by another */
	assert_ok(work_finish(pg_db(), new.id, new.fence, &e), &e);
	assert_fenced_out(&old); /* done */
	assert_fenced_out(&new); /* twice */
	old.id = 4711;
	assert_err(work_finish(pg_db(), old.id, old.fence, &e), ERR_LEASE_LOST, &e);
	work_done(&old);
	work_done(&new);
}

static void a_lease_that_ran_out_can_be_saved_until_someone_took_it(void **state)
{
	struct err e = { 0 };
	struct work w;
	bool lost = true;
	int n = 9;

	(void)state;
	(void)queue_add("plan", 0, NULL);
	w = queue_claim("plan", "me");
	queue_expire(w.id);
	assert_ok(work_heartbeat(pg_db(), &w.id, &w.fence, 1, 60, &lost, &e), &e);
	assert_false(lost);
	assert_ok(work_reap(pg_db(), &n, &e), &e);
	assert_int_equal(n, 0);
	queue_expire(w.id);
	assert_ok(work_finish(pg_db(), w.id, w.fence, &e), &e);
	assert_ok(work_reap(pg_db(), &n, &e), &e);
	assert_int_equal(n, 0);
	assert_state(w.id, "done");
	work_done(&w);
}

static void the_third_lost_lease_quarantines(void **state)
{
	struct err e = { 0 };
	struct work w = { 0 };
	int n;

	(void)state;
	(void)queue_add("plan", 0, "p");
	for (int i = 0; i < 3; i++) {
		w = queue_claim("plan", "me");
		assert_int_equal(w.attempts, 1);
		assert_int_equal(w.crashes, i);
		if (i == 1) {
			assert_ok(work_crashed(pg_db(), w.id, w.fence, "killed by signal 9", &e),
				  &e);
			assert_int_equal(try_claim("plan"), 0);
			queue_due(w.id);
		} else {
			queue_expire(w.id);
			assert_ok(work_reap(pg_db(), &n, &e), &e);
			assert_int_equal(n, 1);
		}
		assert_state(w.id, i < 2 ? "ready" : "quarantined");
		work_done(&w);
	}
	assert_int_equal(try_claim("plan"), 0);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work WHERE finished IS NOT NULL AND crashes = 3 "
			  "AND lease_owner IS NULL AND lease_until IS NULL"),
		1);
	(void)queue_add("plan", 0, "p");
	assert_int_equal(try_claim("plan"), 1);
}

static void what_a_dead_process_held_goes_back_without_blame(void **state)
{
	struct err e = { 0 };
	struct work a;
	struct work b;
	int n = 0;

	(void)state;
	(void)queue_add("plan", 1, NULL);
	(void)queue_add("plan", 0, NULL);
	a = queue_claim("plan", "host:/a:plan");
	b = queue_claim("plan", "host:/b:plan");
	assert_ok(work_release_owner(pg_db(), "host:/a:plan", &n, &e), &e);
	assert_int_equal(n, 1);
	assert_state(a.id, "ready");
	assert_state(b.id, "leased");
	assert_int_equal(
		queue_num("SELECT crashes + attempts FROM work WHERE id = %lld", (long long)a.id),
		0);
	assert_fenced_out(&a);
	assert_ok(work_release_owner(pg_db(), "host:/a:plan", &n, &e), &e);
	assert_int_equal(n, 0);
	work_done(&a);
	work_done(&b);
}

static void failures_wait_and_end_at_the_limit(void **state)
{
	struct err e = { 0 };
	struct work w;
	char *s;

	(void)state;
	(void)queue_add("plan", 0, "p");
	w = queue_claim("plan", "me");
	assert_ok(work_fail(pg_db(), w.id, w.fence, "disk 'x' is full", 100, 3, &e), &e);
	assert_state(w.id, "ready");
	assert_int_equal(try_claim("plan"), 0);
	assert_int_equal(
		queue_num(
			"SELECT (run_at - now() BETWEEN interval '90 s' AND interval '100 s')::int "
			"FROM work"),
		1);
	for (int i = 2; i <= 3; i++) {
		work_done(&w);
		pg_exec("UPDATE work SET run_at = now()");
		w = queue_claim("plan", "me");
		assert_int_equal(w.attempts, i);
		assert_ok(work_fail(pg_db(), w.id, w.fence, "disk 'x' is full", 0, 3, &e), &e);
	}
	assert_state(w.id, "failed");
	s = queue_text("SELECT last_error FROM work WHERE finished IS NOT NULL");
	assert_string_equal(s, "disk 'x' is full");
	free(s);
	work_done(&w);
}

static void a_reason_from_outside_can_be_stored(void **state)
{
	struct err e = { 0 };
	struct err why = { 0 };
	struct work w;

	(void)state;
	(void)queue_add("plan", 0, NULL);
	w = queue_claim("plan", "me");
	(void)err_set(&why, ERR_GIT, "remote: %s", "caf\xe9 \xff\xfe\033[31m\n");
	assert_ok(work_fail(pg_db(), w.id, w.fence, why.msg, 0, 3, &e), &e);
	work_done(&w);
}

static void recurring_work_comes_back_with_fresh_budgets(void **state)
{
	struct err e = { 0 };
	struct work w;

	(void)state;
	(void)queue_add("fetch", 0, "f");
	pg_exec("UPDATE work SET attempts = 4");
	w = queue_claim("fetch", "me");
	assert_ok(work_reschedule(pg_db(), w.id, w.fence, 100, "not reachable", &e), &e);
	assert_int_equal(try_claim("fetch"), 0);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work WHERE state = 'ready' AND attempts = 0 AND "
			  "last_error = 'not reachable' AND run_at > now() + interval '90 s'"),
		1);
	(void)queue_add("fetch", 0, "f"); /* at once */
	work_done(&w);
	w = queue_claim("fetch", "me");
	(void)queue_add("fetch", 0, "f"); /* meanwhile */
	assert_ok(work_reschedule(pg_db(), w.id, w.fence, 100, NULL, &e), &e);
	assert_int_equal(try_claim("fetch"), 1);
	work_done(&w);
}

static void a_heartbeat_tells_lost_and_cancelled_from_held(void **state)
{
	struct err e = { 0 };
	struct work w[4];
	int64_t ids[4];
	int64_t fences[4];
	bool lost[4];
	int n;

	(void)state;
	for (int i = 0; i < 4; i++) {
		(void)queue_add("plan", 0, NULL);
		w[i] = queue_claim("plan", "me");
		ids[i] = w[i].id;
		fences[i] = w[i].fence;
	}
	assert_ok(work_finish(pg_db(), ids[1], fences[1], &e), &e);
	pg_exec("UPDATE work SET cancel_asked = true WHERE id = 3");
	fences[3]++;
	assert_ok(work_heartbeat(pg_db(), ids, fences, 4, 500, lost, &e), &e);
	assert_false(lost[0]);
	assert_true(lost[1]);
	assert_true(lost[2]);
	assert_true(lost[3]);
	assert_int_equal(
		queue_num(
			"SELECT (lease_until > now() + interval '400 s')::int FROM work WHERE id = 1"),
		1);
	assert_int_equal(
		queue_num(
			"SELECT (lease_until > now() + interval '400 s')::int FROM work WHERE id = 4"),
		0);
	assert_ok(work_heartbeat(pg_db(), ids, fences, 0, 500, lost, &e), &e);
	/* What was to be cancelled ends so, however its worker is lost. */
	queue_expire(ids[2]);
	assert_ok(work_reap(pg_db(), &n, &e), &e);
	assert_state(ids[2], "cancelled");
	for (int i = 0; i < 4; i++)
		work_done(&w[i]);
}

static void cancelled_work_does_not_come_back(void **state)
{
	struct err e = { 0 };
	struct work w;
	int n;

	(void)state;
	for (int i = 0; i < 2; i++) {
		(void)queue_add("plan", 0, NULL);
		w = queue_claim("plan", "me");
		pg_exec("UPDATE work SET cancel_asked = true WHERE state = 'leased'");
		if (i)
			assert_ok(work_crashed(pg_db(), w.id, w.fence, "killed", &e), &e);
		else
			assert_ok(work_release_owner(pg_db(), "me", &n, &e), &e);
		assert_state(w.id, "cancelled");
		work_done(&w);
	}
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE finished IS NULL"), 0);
}

static void claimed_work_can_be_loaded_by_its_worker(void **state)
{
	struct err e = { 0 };
	struct work w;
	struct work l = { 0 };

	(void)state;
	assert_ok(work_enqueue(pg_db(), "build", 0, 0, NULL, "{\"build\": 7}", &e), &e);
	w = queue_claim("build", "me");
	assert_ok(work_load(pg_db(), w.id, w.fence, &l, &e), &e);
	assert_string_equal(l.kind, "build");
	assert_string_equal(l.payload, "{\"build\": 7}");
	assert_int_equal(l.attempts, 1);
	assert_int_equal(l.fence, w.fence);
	work_done(&l);
	work_done(&w);
}

static void only_old_finished_rows_are_forgotten(void **state)
{
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		(void)queue_add("plan", 0, NULL);
	pg_exec("UPDATE work SET created = now() - interval '99 d', run_at = now() - interval '99 d';"
		"UPDATE work SET state = 'done', finished = now() - interval '31 d' WHERE id = 1;"
		"UPDATE work SET state = 'failed', finished = now() - interval '29 d' WHERE id = 2");
	assert_ok(work_purge(pg_db(), 30, &e), &e);
	assert_int_equal(queue_num("SELECT count(*) FROM work"), 3);
	assert_int_equal(queue_num("SELECT min(id) FROM work"), 2);
}

static void the_back_off_doubles_up_to_an_hour(void **state)
{
	(void)state;
	assert_true(work_backoff_s(0, 1) == 10);
	assert_true(work_backoff_s(1, 1) == 20);
	assert_true(work_backoff_s(3, 0.5) == 40);
	assert_true(work_backoff_s(9, 1) == 3600);
	assert_true(work_backoff_s(INT32_MAX, 1) == 3600);
	assert_true(work_backoff_s(-1, 1) == 10);
}

#define T(name) cmocka_unit_test_setup(name, queue_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_equal_request_is_joined_and_brought_forward),
		T(requests_without_a_name_and_ended_ones_are_never_joined),
		T(helpers_make_name_and_payload),
		T(refuses_a_kind_or_payload_that_cannot_be),
		T(asked_for_while_leased_it_runs_once_more),
		T(a_request_during_the_last_attempt_is_not_lost),
		T(the_order_is_priority_then_time_then_number),
		T(a_claim_takes_one_row_of_the_wanted_kinds),
		T(fences_only_grow),
		T(a_lost_lease_changes_nothing_any_more),
		T(a_lease_that_ran_out_can_be_saved_until_someone_took_it),
		T(the_third_lost_lease_quarantines),
		T(what_a_dead_process_held_goes_back_without_blame),
		T(failures_wait_and_end_at_the_limit),
		T(a_reason_from_outside_can_be_stored),
		T(recurring_work_comes_back_with_fresh_budgets),
		T(a_heartbeat_tells_lost_and_cancelled_from_held),
		T(cancelled_work_does_not_come_back),
		T(claimed_work_can_be_loaded_by_its_worker),
		T(only_old_finished_rows_are_forgotten),
		T(the_back_off_doubles_up_to_an_hour),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
