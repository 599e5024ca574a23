/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/failpoint.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KPERFBOT_WITH_FAILPOINTS
int main(void)
{
	return 0; /* compiled out: nothing to test */
}
#else

/* Wait status of a process that passes the points a, ab, a, a under @env. */
static int run(const char *env)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		(void)setenv("KPERFBOT_FAILPOINTS", env, 1); /* NOLINT(concurrency-mt-unsafe) */
		FAILPOINT("a");
		FAILPOINT("ab");
		FAILPOINT("a");
		FAILPOINT("a");
		_exit(9);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	if (WIFSTOPPED(status)) {
		(void)kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	return status;
}

static void nothing_happens_at_points_that_are_not_named(void **state)
{
	static const char *const none[] = { "",	       "b=kill", "a",	  "a@1",      "A=kill",
					    "aa=kill", ",,,",	 "=kill", "a=nothing" };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(WEXITSTATUS(run(none[i])), 9);
}

static void kills_stops_and_exits_at_the_wanted_hit(void **state)
{
	(void)state;
	assert_int_equal(WTERMSIG(run("a=kill")), SIGKILL);
	assert_int_equal(WTERMSIG(run("b=exit,a=kill@3")), SIGKILL);
	assert_int_equal(WEXITSTATUS(run("a=exit@2")), 1);
	assert_int_equal(WEXITSTATUS(run("a=kill@4")), 9);
	assert_int_equal(WEXITSTATUS(run("ab=exit,a=kill@2")), 1);
	assert_true(WIFSTOPPED(run("a=stop@3")));
}

/* A piece of work of two changes, the last of which ends it. Exit status 9 when it comes to its end. */
static int work(const char *folder, const char *how, const char *kind, int64_t id)
{
	char env[200];
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		(void)snprintf(env, sizeof(env), "kill %s boot,bisect %s", how, folder);
		(void)setenv("KPERFBOT_FAILPOINTS_COMMITS", env,
			     1); /* NOLINT(concurrency-mt-unsafe) */
		failpoint_scope(kind, id);
		failpoint_commit(false);
		failpoint_commit(true);
		failpoint_last();
		failpoint_commit(false);
		failpoint_commit(true);
		failpoint_end();
		_exit(9);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void make_folder(char *folder)
{
	(void)strcpy(folder, "/tmp/kperfbot-failpoint.XXXXXX");
	assert_non_null(mkdtemp(folder));
}

static void remove_folder(const char *folder)
{
	struct err e = { 0 };

	assert_ok(file_remove_tree(folder, &e), &e);
}

static void assert_log(const char *folder, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(freep) char *path = xasprintf("%s/log", folder);
	struct err e = { 0 };

	assert_ok(file_read(path, 10000, &b, &e), &e);
	assert_string_equal(strbuf_str(&b), expected);
}

static void each_piece_of_work_dies_before_and_after_each_of_its_changes(void **state)
{
	char folder[40];

	(void)state;
	make_folder(folder);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 4; i++)
			assert_int_equal(work(folder, "each", "bisect", 7), -SIGKILL);
	assert_int_equal(work(folder, "each", "bisect", 8), -SIGKILL);
	assert_int_equal(work(folder, "each", "build", 9), 9);
	assert_log(folder,
		   "bisect 7 0 before\nbisect 7 0 after\nbisect 7 1 before\nbisect 7 1 after\n"
		   "bisect 7 0 before\nbisect 7 0 after\nbisect 7 1 before\nbisect 7 1 after\n"
		   "bisect 8 0 before\n");
	remove_folder(folder);
}

static void each_kind_dies_once_at_each_change(void **state)
{
	char folder[40];

	(void)state;
	make_folder(folder);
	for (int i = 0; i < 4; i++)
		assert_int_equal(work(folder, "once", "boot", i), -SIGKILL);
	assert_int_equal(work(folder, "once", "boot", 4), 9);
	assert_int_equal(work(folder, "once", "boot", 5), 9);
	assert_int_equal(work(folder, "once", "bisect", 6), -SIGKILL);
	assert_int_equal(work(folder, "once", "boo", 7), 9);
	assert_log(folder, "boot 0 0 before\nboot 1 0 after\nboot 2 1 before\nboot 3 1 after\n"
			   "bisect 6 0 before\n");
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_happens_at_points_that_are_not_named),
		cmocka_unit_test(kills_stops_and_exits_at_the_wanted_hit),
		cmocka_unit_test(each_piece_of_work_dies_before_and_after_each_of_its_changes),
		cmocka_unit_test(each_kind_dies_once_at_each_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
