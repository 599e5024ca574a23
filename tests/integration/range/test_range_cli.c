/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kperfbot range` and `kperfbot bisect simulate` as a script sees them. */
#include "tests/integration/range/repo.h"

static int set_up(void **state)
{
	struct repo *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	repo_init(r);
	repo_commits(r, 6, "a.c");
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	repo_done(*state);
	free(*state);
	return 0;
}

/* Output and exit code of kperfbot in the repository; both streams. */
static char *kperfbot(const struct repo *r, const char *args, int *code)
{
	char *out = repo_sh(r, "'%s/kperfbot' %s > out 2>&1; echo $? > code", TEST_BIN_DIR, args);

	free(out);
	out = repo_sh(r, "cat code");
	*code = atoi(out);
	free(out);
	return repo_sh(r, "cat out");
}

static void check(const struct repo *r, const char *args, int want, const char *say)
{
	int code;
	char *out = kperfbot(r, args, &code);

	if (code != want || !strstr(out, say))
		fail_msg("'%s' gave %d and '%s'", args, code, out);
	free(out);
}

static void range_prints_and_exits_as_told(void **state)
{
	const struct repo *r = *state;

	check(r, "range --json HEAD~4 HEAD --repo .", 0, "\"commits\":4");
	check(r, "range HEAD~4 main --path a.c", 0, "commits        4");
	check(r, "range --json HEAD~4 HEAD --path b.c", 1, "\"code\":\"RANGE\"");
	check(r, "range HEAD HEAD~4", 1, "swapped");
	check(r, "range HEAD~4 nothing", 129, "'nothing'");
	check(r, "range HEAD~4", 129, "usage:");
	check(r, "range HEAD~4 HEAD --repo /nonexistent", 128, "/nonexistent");
}

static void simulate_prints_and_exits_as_told(void **state)
{
	const struct repo *r = *state;

	check(r, "bisect simulate --json --linear 8 --effect-sigma 6 --trials 3", 0,
	      "\"accuracy\":1.0");
	check(r, "bisect simulate --repo . HEAD~4 HEAD --effect-sigma 6 --trials 3", 0, "3 right");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --strategy plain:3 --trials 2", 0,
	      "named            2");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --no-step --trials 2", 0,
	      "ends equal       2");
	check(r, "bisect simulate --linear 8", 129, "--effect-sigma");
	check(r, "bisect simulate --effect-sigma 6", 129, "--linear");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --strategy best", 129, "plain:N");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --cost gas=3", 129, "'gas'");
	check(r, "bisect simulate --linear 0 --effect-sigma 6", 129, "--linear");
	check(r, "bisect guess", 129, "'guess'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(range_prints_and_exits_as_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(simulate_prints_and_exits_as_told, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
