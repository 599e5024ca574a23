/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/cluster.h"
#include "bot/db/db.h"
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER "postgres"

static char base[] = "/tmp/kpb-cl-XXXXXX";
static char *dir; /* the state folder of most tests */

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(base));
	assert_int_equal(chmod(base, 0755), 0);
	dir = xasprintf("%s/state", base);
	return 0;
}

static struct cluster *start(const char *where)
{
	struct cluster *c = NULL;
	struct err e = { 0 };

	assert_ok(cluster_start(where, USER, &c, &e), &e);
	assert_non_null(c);
	return c;
}

/* @patience_s: a busy machine starts a server slowly. */
static int exec_on(const char *conninfo, const char *sql, double patience_s, struct err *e)
{
	struct db_options o = { .conninfo = conninfo, .no_prepare = true, .away_s = patience_s };
	struct db *db = NULL;
	int r = db_open(&o, &db, e);

	if (r == 0)
		r = db_exec(db, sql, e);
	db_close(db);
	return r;
}

static void exec(const struct cluster *c, const char *sql)
{
	struct err e = { 0 };

	assert_ok(exec_on(cluster_conninfo(c), sql, 90, &e), &e);
}

/* Process id of the server in @where. */
static pid_t server(const char *where)
{
	char *path = xasprintf("%s/pg/data/postmaster.pid", where);
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };
	pid_t pid;

	assert_ok(file_read(path, 4096, &b, &e), &e);
	pid = (pid_t)strtol(strbuf_str(&b), NULL, 10);
	strbuf_done(&b);
	free(path);
	return pid;
}

static int tear_down(void **state)
{
	struct cluster *c = NULL;

	(void)state;
	if (cluster_start(dir, USER, &c, NULL) == 0)
		(void)cluster_stop(c, NULL);
	cluster_free(c);
	free(dir);
	return file_remove_tree(base, NULL);
}

static void refuses(const char *where, const char *user, int code, const char *word)
{
	struct cluster *c = NULL;
	struct err e = { 0 };

	assert_err(cluster_start(where, user, &c, &e), code, &e);
	assert_null(c);
	if (!strstr(e.msg, word))
		fail_msg("'%s' does not say '%s'", e.msg, word);
}

static void makes_starts_and_stops_a_cluster(void **state)
{
	struct cluster *c = start(dir);
	struct err e = { 0 };
	struct stat st;
	char *path;

	(void)state;
	exec(c, "CREATE TABLE keep (x int); INSERT INTO keep VALUES (1)");
	exec(c, "DO $$ BEGIN ASSERT current_setting('listen_addresses') = ''; "
		"ASSERT current_setting('unix_socket_permissions') = '0700'; END $$");
	path = xasprintf("%s/pg/data", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(geteuid() != 0 || st.st_uid != 0);
	free(path);
	path = cluster_path_conninfo(dir);
	assert_string_equal(path, cluster_conninfo(c));
	free(path);
	assert_ok(cluster_stop(c, &e), &e);
	assert_int_equal(exec_on("host=/nonexistent", "SELECT 1", 0.5, NULL), ERR_DB_AWAY);
	assert_ok(cluster_stop(c, &e), &e); /* twice */
	cluster_free(c);
	cluster_free(NULL);
	c = start(dir);
	exec(c, "INSERT INTO keep VALUES (2)");
	cluster_free(c); /* runs on */
}

static void a_running_server_is_adopted(void **state)
{
	pid_t pid = server(dir);
	struct cluster *c = start(dir);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(server(dir), pid);
	exec(c, "SELECT * FROM keep");
	assert_ok(cluster_stop(c, &e), &e);
	cluster_free(c);
}

static void several_starts_at_once_over_half_made_data_give_one_server(void **state)
{
	char *where = xasprintf("%s/race", base);
	char *half = xasprintf("%s/pg/data.new/base/1", where); /* of a start that was killed */
	struct cluster *c;
	struct err e = { 0 };
	pid_t pids[3];

	(void)state;
	assert_ok(file_mkdirs(half, 0700, &e), &e);
	free(half);
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct cluster *mine = NULL;

			if (cluster_start(where, USER, &mine, &e) < 0) {
				(void)fprintf(stderr, "%s\n", e.msg);
				_exit(1);
			}
			_exit(exec_on(cluster_conninfo(mine), "SELECT 1", 90, &e) < 0 ? 2 : 0);
		}
	}
	for (int i = 0; i < 3; i++) {
		int status = -1;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	c = start(where);
	assert_ok(cluster_stop(c, &e), &e);
	cluster_free(c);
	free(where);
}

/* Process ids of the server and all that it started. */
static size_t family(pid_t pid, pid_t ret[64])
{
	char *path = xasprintf("/proc/%d/task/%d/children", (int)pid, (int)pid);
	struct strbuf b = STRBUF_INIT;
	size_t n = 0;
	char *p;

	ret[n++] = pid;
	if (file_read(path, 4096, &b, NULL) == 0)
		for (p = b.s; p && *p && n < 64; p += strspn(p, " "))
			ret[n++] = (pid_t)strtol(p, &p, 10);
	strbuf_done(&b);
	free(path);
	return n;
}

static void a_server_that_was_killed_is_started_again(void **state)
{
	struct err e = { 0 };

	(void)state;
	for (int with_backends = 0; with_backends < 2; with_backends++) {
		struct cluster *c = start(dir);
		pid_t pids[64];
		size_t n;

		exec(c, "DELETE FROM keep; INSERT INTO keep VALUES (3)");
		n = family(server(dir), pids);
		assert_true(n > 3);
		for (size_t i = with_backends ? n : 1; i > 0; i--)
			assert_int_equal(kill(pids[i - 1], SIGKILL), 0);
		cluster_free(c);
		c = start(dir);
		exec(c, "DO $$ BEGIN ASSERT (SELECT sum(x) FROM keep) = 3; END $$");
		assert_ok(cluster_stop(c, &e), &e);
		cluster_free(c);
	}
}

static void a_stale_pid_file_that_names_a_stranger_does_not_hold_it_up(void **state)
{
	char *path = xasprintf("%s/pg/data/postmaster.pid", dir);
	char *text = xasprintf("%d\n%s/pg/data\n1\n5432\n%s/pg/sock\n\n0 0\nready\n", (int)getpid(),
			       dir, dir);
	struct cluster *c;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
	c = start(dir);
	assert_int_not_equal(server(dir), getpid());
	assert_ok(cluster_stop(c, &e), &e);
	cluster_free(c);
	free(path);
	free(text);
}

static void a_moved_state_folder_is_followed(void **state)
{
	char *moved = xasprintf("%s/moved here", base);
	struct cluster *c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(rename(dir, moved), 0);
	(void)setenv("PGPORT", "6543", 1); /* NOLINT(concurrency-mt-unsafe) */
	c = start(moved);
	(void)unsetenv("PGPORT"); /* NOLINT(concurrency-mt-unsafe) */
	exec(c, "SELECT * FROM keep");
	assert_ok(cluster_stop(c, &e), &e);
	cluster_free(c);
	assert_int_equal(rename(moved, dir), 0);
	free(moved);
}

static void paths_that_cannot_work_are_refused(void **state)
{
	char *long_path = xasprintf("%s/%0100d", base, 0);
	char *quote = xasprintf("%s/it's", base);
	char *comma = xasprintf("%s/a,b", base);

	(void)state;
	refuses(long_path, USER, ERR_INVAL, "too long");
	refuses(quote, USER, ERR_INVAL, "quotes");
	refuses(comma, USER, ERR_INVAL, "commas");
	refuses("relative/path", USER, ERR_INVAL, "absolute");
	assert_int_equal(access(quote, F_OK), -1);
	free(long_path);
	free(quote);
	free(comma);
}

static void folders_that_cannot_be_used_are_named(void **state)
{
	char *file = xasprintf("%s/file", base);
	char *below = xasprintf("%s/file/state", base);
	char *closed = xasprintf("%s/closed", base);
	int status = 0;
	struct err e = { 0 };
	pid_t pid;

	(void)state;
	assert_ok(file_write(file, "x", 1, 0644, &e), &e);
	refuses(below, USER, ERR_NOENT, file);
	refuses(file, USER, ERR_NOENT, file);
	assert_ok(file_mkdirs(closed, 0755, &e), &e);
	pid = fork();
	if (pid == 0) {
		struct cluster *c = NULL;

		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		(void)chmod(closed, 0555);
		if (cluster_start(closed, USER, &c, &e) != ERR_PERM || !strstr(e.msg, closed))
			_exit(3);
		/* The data of another user. */
		if (cluster_start(dir, USER, &c, &e) != ERR_PERM)
			_exit(4);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(file);
	free(below);
	free(closed);
}

static void the_user_must_exist_and_own_the_data(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return;
	refuses(dir, "no-such-user-here", ERR_NOENT, "no-such-user-here");
	refuses(dir, "root", ERR_NOENT, "root");
	refuses(dir, "nobody", ERR_PERM, "belongs to user");
}

static void a_start_that_failed_for_another_user_leaves_the_first_one_working(void **state)
{
	struct cluster *c = start(dir);
	struct err e = { 0 };

	(void)state;
	exec(c, "SELECT * FROM keep");
	assert_ok(cluster_stop(c, &e), &e);
	cluster_free(c);
}

static void data_of_another_version_names_it(void **state)
{
	char *where = xasprintf("%s/old", base);
	char *data = xasprintf("%s/pg/data", where);
	char *version = xasprintf("%s/PG_VERSION", data);
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(data, 0755, &e), &e);
	assert_ok(file_write(version, "9\n", 2, 0644, &e), &e);
	refuses(where, USER, ERR_NOENT, "PostgreSQL 9");
	free(where);
	free(data);
	free(version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_starts_and_stops_a_cluster),
		cmocka_unit_test(a_running_server_is_adopted),
		cmocka_unit_test(several_starts_at_once_over_half_made_data_give_one_server),
		cmocka_unit_test(a_server_that_was_killed_is_started_again),
		cmocka_unit_test(a_stale_pid_file_that_names_a_stranger_does_not_hold_it_up),
		cmocka_unit_test(a_moved_state_folder_is_followed),
		cmocka_unit_test(paths_that_cannot_work_are_refused),
		cmocka_unit_test(folders_that_cannot_be_used_are_named),
		cmocka_unit_test(the_user_must_exist_and_own_the_data),
		cmocka_unit_test(a_start_that_failed_for_another_user_leaves_the_first_one_working),
		cmocka_unit_test(data_of_another_version_names_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
