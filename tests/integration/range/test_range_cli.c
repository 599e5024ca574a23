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

/* Ends on two branches have a range and a merge base; those of two histories have only the range. */
static void ends_apart_are_told_by_each_verb(void **state)
{
	const struct repo *r = *state;
	static const char sim[] = "bisect simulate --effect-sigma 6 --trials 2 --repo . ";
	char *base = repo_sh(r, "git checkout -q -b side HEAD~2 && git rev-parse HEAD");
	char *args = NULL;

	repo_commits(r, 3, "s.c");
	free(repo_sh(r, "git checkout -q --orphan other && git commit -q -m other"));
	check(r, "range main side", 0, "commits        3");
	check(r, "range main side", 0, base);
	check(r, "range main side", 0, "is not an ancestor of bad");
	check(r, "range --json main side", 0, "\"good_is_ancestor\":false");
	check(r, "range --json main other", 0, "\"merge_bases\":[]");
	check(r, "range --json main other", 0, "\"commits\":1");
	check(r, "range --json main other", 0, "have no common ancestor");
	check(r, "range main other", 0, "merge base     none");
	args = xasprintf("%s main side", sim);
	check(r, args, 0, "note: good");
	check(r, args, 0, "2 right");
	free(args);
	args = xasprintf("%s main other", sim);
	check(r, args, 129, "have no common ancestor");
	free(args);
	args = xasprintf("%s side side~1", sim);
	check(r, args, 129, "swapped");
	free(args);
	free(base);
}

/* As git counts: an octopus of five topics, and the same made anew by a forced push. */
static void range_reads_a_rebuilt_octopus(void **state)
{
	const struct repo *r = *state;

	free(repo_sh(r, "git fast-import --quiet < '%s/tests/data/bisect/octopus.fi'",
		     TEST_SOURCE_DIR));
	check(r, "range --json v6.1 next", 0, "\"commits\":17");
	check(r, "range --json v6.1 next", 0, "\"merges\":1");
	/* only the new merge and the commit that is new in it */
	check(r, "range --json next-old next", 0, "\"commits\":2");
	check(r, "range --json next-old next", 0, "\"good_is_ancestor\":false");
	check(r, "range --json v6.1 next --path speed", 0,
	      "\"midpoint\":\"022c22736f9cc173b1dfcff2564032e33da6692d\"");
	/* along first parents there is the merge alone */
	check(r, "range --json v6.1 next --first-parent", 0, "\"commits\":1");
}

static void simulate_prints_and_exits_as_told(void **state)
{
	const struct repo *r = *state;
	char *out;

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
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --cost run=0", 129,
	      "--cost: run: '0'");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --second 1", 129, "--second: 1");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --no-step --reverted", 129,
	      "want one of");
	check(r, "bisect simulate --repo . HEAD nope --effect-sigma 6", 129, "'nope'");
	check(r, "bisect simulate --repo /nonexistent a b --effect-sigma 6", 128, "/nonexistent");
	check(r, "bisect simulate --linear 8 --effect-sigma 6 --skip 1", 129, "skipped");
	check(r, "bisect simulate --linear 8 --effect-sigma inf", 129, "--effect-sigma: 'inf'");
	check(r,
	      "bisect simulate --linear 8 --effect-sigma 6 --trials 2 --seed 3 > a; "
	      "'" TEST_BIN_DIR "/kperfbot' bisect simulate --linear 8 --effect-sigma 6 --trials 2 "
	      "--seed 3 > b; cmp a b && echo the same",
	      0, "the same");
	out = repo_sh(r,
		      "'%s/kperfbot' bisect simulate --linear 8 --effect-sigma 6 --trials 2 "
		      "2>&1 > /dev/full; echo $?",
		      TEST_BIN_DIR);
	if (!strstr(out, "No space left") || !strstr(out, "128"))
		fail_msg("%s", out);
	free(out);
}

/* 'machine minutes' of few trials: nine in ten are not below the median. */
static void simulate_says_no_quantile_below_another(void **state)
{
	const struct repo *r = *state;
	char *out;
	int code;
	double median, most;

	out = kperfbot(r,
		       "bisect simulate --linear 8 --effect-sigma 3 --trials 2 --seed 2 | "
		       "sed -n 's/.*median \\([0-9.]*\\), 90 % below \\([0-9.]*\\).*/\\1 \\2/p'",
		       &code);
	assert_int_equal(sscanf(out, "%lf %lf", &median, &most), 2);
	assert_true(most >= median);
	free(out);
	check(r, "bisect guess", 129, "'guess'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(range_prints_and_exits_as_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(range_reads_a_rebuilt_octopus, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_apart_are_told_by_each_verb, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(simulate_prints_and_exits_as_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(simulate_says_no_quantile_below_another, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
