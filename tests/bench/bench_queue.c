/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Full cycles of the queue (enqueue, claim, finish: three commits) beside what three commits of one
 * row cost on the same server in the same run. The ratio is what the queue adds to the disk.
 */
#include "bot/base/clock.h"
#include "bot/db/db.h"
#include "bot/store/work.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <stdio.h>

#define SECONDS 3

static double cycles_per_s(struct db *db)
{
	static const char *const kinds[] = { "plan" };
	usec_t start = clock_boottime();
	usec_t end = start + SECONDS * USEC_PER_SEC;
	struct err e = { 0 };
	int n = 0;

	for (; clock_boottime() < end; n++) {
		struct work w = { 0 };

		assert_ok(work_enqueue(db, "plan", 0, 0, NULL, "{}", &e), &e);
		assert_int_equal(work_claim(db, kinds, 1, "bench", 60, &w, &e), 1);
		assert_ok(work_finish(db, w.id, w.fence, &e), &e);
		work_done(&w);
	}
	return n / ((double)(clock_boottime() - start) / 1e6);
}

static double triple_commits_per_s(struct db *db)
{
	usec_t start = clock_boottime();
	usec_t end = start + SECONDS * USEC_PER_SEC;
	struct err e = { 0 };
	int n = 0;

	assert_ok(db_exec(db,
			  "CREATE TABLE bench_row (v integer); INSERT INTO bench_row VALUES (0)",
			  &e),
		  &e);
	for (; clock_boottime() < end; n++)
		for (int i = 0; i < 3; i++)
			assert_ok(db_exec(db, "UPDATE bench_row SET v = v + 1", &e), &e);
	return n / ((double)(clock_boottime() - start) / 1e6);
}

static void queue_against_bare_commits(void **state)
{
	double ours = cycles_per_s(pg_db());
	double bare = triple_commits_per_s(pg_db());

	(void)state;
	(void)printf("bench: queue cycles %.0f/s, three bare commits %.0f/s, ratio %.2f\n", ours,
		     bare, ours / bare);
	assert_true(ours > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(queue_against_bare_commits) };

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
