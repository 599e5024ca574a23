/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/failpoint.h"
#include "tests/test.h"

#include <signal.h>
#include <stdlib.h>
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
	assert_int_equal(waitpid(pid, &status, 0), pid);
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

static void kills_and_exits_at_the_wanted_hit(void **state)
{
	(void)state;
	assert_int_equal(WTERMSIG(run("a=kill")), SIGKILL);
	assert_int_equal(WTERMSIG(run("b=exit,a=kill@3")), SIGKILL);
	assert_int_equal(WEXITSTATUS(run("a=exit@2")), 1);
	assert_int_equal(WEXITSTATUS(run("a=kill@4")), 9);
	assert_int_equal(WEXITSTATUS(run("ab=exit,a=kill@2")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_happens_at_points_that_are_not_named),
		cmocka_unit_test(kills_and_exits_at_the_wanted_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
