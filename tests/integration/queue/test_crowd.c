/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many processes at one queue, some of them killed. */
#include "bot/base/clock.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "tests/integration/queue/queue.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED 20301106u

static int set_up(void **state)
{
	(void)queue_reset(state);
	pg_exec("CREATE TABLE IF NOT EXISTS crowd (work bigint, fence bigint, machine text);"
		"CREATE TABLE IF NOT EXISTS claimed (work bigint, fence bigint);"
		"CREATE TABLE IF NOT EXISTS counter (n bigint, seen bigint);"
		"TRUNCATE crowd, claimed, counter; INSERT INTO counter VALUES (0, 0)");
	return 0;
}

static void sql(struct db *db, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void sql(struct db *db, const char *fmt, ...)
{
	char buf[500];
	struct err e = { 0 };
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (db_exec(db, buf, &e) < 0) {
		(void)fprintf(stderr, "%s: %s\n", buf, e.msg);
		_exit(91);
	}
}

struct result {
	struct work *w;
	const char *machine;
};

static int store(struct db *db, void *arg, struct err *e)
{
	const struct result *r = arg;
	char buf[200];
	int rc;

	(void)snprintf(buf, sizeof(buf), "INSERT INTO crowd VALUES (%lld, %lld, '%s')",
		       (long long)r->w->id, (long long)r->w->fence, r->machine ? r->machine : "");
	rc = db_exec(db, buf, e);
	return rc < 0 ? rc : work_finish(db, r->w->id, r->w->fence, e);
}

/* One piece of work: claim, think, store in one transaction. Return: 0 when there was none. */
static int serve(struct db *db, const char *machine, double lease_s, unsigned *seed)
{
	static const char *const kinds[] = { "plan" };
	struct work w = { 0 };
	struct result res = { &w, machine };
	struct err e = { 0 };
	char owner[40];
	int r;

	(void)snprintf(owner, sizeof(owner), "p%d", (int)getpid());
	r = machine ? work_claim_boot(db, machine, owner, lease_s, &w, &e)
		    : work_claim(db, kinds, 1, owner, lease_s, &w, &e);
	if (r > 0) {
		sql(db, "INSERT INTO claimed VALUES (%lld, %lld)", (long long)w.id,
		    (long long)w.fence);
		(void)usleep((useconds_t)(rand_r(seed) % 4000));
		r = db_tx(db, store, &res, &e);
		r = r == ERR_LEASE_LOST ? 1 : r < 0 ? r : 1;
		work_done(&w);
	}
	if (r < 0) {
		(void)fprintf(stderr, "worker: %s\n", e.msg);
		_exit(92);
	}
	return r;
}

/* A process that works until nothing was there for @idle rounds of 20 ms. */
static pid_t start_worker(const char *machine, double lease_s, unsigned seed, int idle)
{
	pid_t pid = fork();
	struct db *db;
	int none = 0;

	if (pid)
		return pid;
	(void)alarm(60);
	db = queue_connect();
	while (none < idle) {
		if (serve(db, machine, lease_s, &seed)) {
			none = 0;
			continue;
		}
		none++;
		(void)usleep(20000);
	}
	_exit(0);
}

static void assert_ended_well(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Each row done by exactly one attempt, the last one; fences grow over the attempts. */
static void assert_exactly_once(int64_t rows)
{
	assert_int_equal(queue_num("SELECT count(*) FROM work"), rows);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work WHERE state NOT IN ('done', 'quarantined')"),
		0);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work WHERE state = 'quarantined' AND crashes < 3"),
		0);
	assert_int_equal(
		queue_num(
			"SELECT count(*) FROM (SELECT work FROM crowd GROUP BY 1 HAVING count(*) > 1) t"),
		0);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work FULL JOIN crowd c ON c.work = work.id WHERE "
			  "(state = 'done') IS DISTINCT FROM (c.work IS NOT NULL)"),
		0);
	assert_int_equal(
		queue_num(
			"SELECT count(*) FROM crowd c JOIN work w ON w.id = c.work WHERE c.fence <> w.fence"),
		0);
	assert_int_equal(
		queue_num(
			"SELECT count(*) FROM work WHERE lease_owner IS NOT NULL OR lease_until IS NOT NULL"),
		0);
	assert_int_equal(queue_num("SELECT count(*) - count(DISTINCT fence) FROM claimed"), 0);
	assert_int_equal(queue_num("SELECT count(*) FROM machine WHERE lease_owner IS NOT NULL"),
			 0);
}

static void no_row_is_given_to_two(void **state)
{
	pid_t pids[6];

	(void)state;
	pg_exec("INSERT INTO work (kind, payload) SELECT 'plan', '{}' FROM generate_series(1, 400)");
	for (unsigned i = 0; i < 6; i++)
		pids[i] = start_worker(NULL, 60, SEED + i, 10);
	for (int i = 0; i < 6; i++)
		assert_ended_well(pids[i]);
	assert_exactly_once(400);
	assert_int_equal(queue_num("SELECT count(*) FROM claimed"), 400);
	assert_int_equal(
		queue_num("SELECT count(*) FROM work WHERE state = 'done' AND attempts = 1"), 400);
}

static pid_t start_asker(int times)
{
	pid_t pid = fork();
	struct err e = { 0 };
	struct db *db;

	if (pid)
		return pid;
	(void)alarm(60);
	db = queue_connect();
	for (int i = 0; i < times; i++) {
		sql(db, "UPDATE counter SET n = n + 1");
		if (work_enqueue(db, "detect", 0, 0, "detect:1", "{}", &e) < 0)
			_exit(93);
	}
	_exit(0);
}

/* Looks at the counter, then finishes: a request that came after the look must wake it again. */
static pid_t start_looker(void)
{
	static const char *const kinds[] = { "detect" };
	pid_t pid = fork();
	struct db *db;

	if (pid)
		return pid;
	(void)alarm(60);
	db = queue_connect();
	for (int none = 0; none < 25;) {
		struct work w = { 0 };
		struct err e = { 0 };
		int r = work_claim(db, kinds, 1, "looker", 60, &w, &e);

		if (r == 1) {
			sql(db, "UPDATE counter SET seen = n");
			r = work_finish(db, w.id, w.fence, &e);
			none = 0;
		} else {
			none++;
			(void)usleep(20000);
		}
		if (r < 0)
			_exit(94);
		work_done(&w);
	}
	_exit(0);
}

static void no_request_is_lost_between_look_and_finish(void **state)
{
	pid_t pids[5];

	(void)state;
	for (int i = 0; i < 2; i++)
		pids[i] = start_looker();
	for (int i = 2; i < 5; i++)
		pids[i] = start_asker(150);
	for (int i = 0; i < 5; i++)
		assert_ended_well(pids[i]);
	assert_int_equal(queue_num("SELECT n FROM counter"), 450);
	assert_int_equal(queue_num("SELECT seen FROM counter"), 450);
	assert_int_equal(queue_num("SELECT count(*) FROM work WHERE state <> 'done'"), 0);
}

#define WORKERS 6
#define KILLS	80

/* Kills one of the workers at random times and starts another; gives back what their leases held. */
static void kill_at_random(pid_t pids[WORKERS], const char *const machines[WORKERS], double lease_s)
{
	unsigned seed = SEED;
	struct err e = { 0 };
	int n;

	for (int kill_n = 0; kill_n < KILLS; kill_n++) {
		unsigned i = (unsigned)rand_r(&seed) % WORKERS;

		(void)usleep((useconds_t)(rand_r(&seed) % 60000));
		(void)kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		pids[i] = start_worker(machines[i], lease_s, SEED + 100 + (unsigned)kill_n, 100);
		assert_ok(work_reap(pg_db(), &n, &e), &e);
	}
}

/* Until all is done, at most 20 s. */
static void drain(void)
{
	usec_t end = clock_boottime() + 20 * USEC_PER_SEC;
	struct err e = { 0 };
	int n;

	while (queue_num("SELECT count(*) FROM work WHERE state IN ('ready', 'leased')") &&
	       clock_boottime() < end) {
		assert_ok(work_reap(pg_db(), &n, &e), &e);
		(void)usleep(50000);
	}
}

static void killed_workers_lose_and_double_nothing(void **state)
{
	static const char *const machines[WORKERS] = { NULL, NULL, NULL, NULL, "m1", "m2" };
	pid_t pids[WORKERS];

	(void)state;
	(void)printf("seed %u, %d kills\n", SEED, KILLS);
	pg_exec("INSERT INTO machine (name, group_name, driver) VALUES ('m1', 'g', 'local'), ('m2', 'g', 'local');"
		"INSERT INTO work (kind, payload) SELECT 'plan', '{}' FROM generate_series(1, 600);"
		"INSERT INTO work (kind, payload) SELECT 'boot', '{\"group\": \"g\"}' FROM generate_series(1, 200)");
	for (unsigned i = 0; i < WORKERS; i++)
		pids[i] = start_worker(machines[i], 0.4, SEED + i, 100);
	kill_at_random(pids, machines, 0.4);
	drain();
	for (int i = 0; i < WORKERS; i++) {
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
	}
	assert_exactly_once(800);
	assert_true(queue_num("SELECT count(*) FROM claimed") > 0);
	(void)printf("%lld attempts, %lld crashes, %lld quarantined\n",
		     (long long)queue_num("SELECT count(*) FROM claimed"),
		     (long long)queue_num("SELECT sum(crashes) FROM work"),
		     (long long)queue_num("SELECT count(*) FROM work WHERE state = 'quarantined'"));
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(no_row_is_given_to_two),
		T(no_request_is_lost_between_look_and_finish),
		T(killed_workers_lose_and_double_nothing),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
