/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kperfbot bisect replay`: our own logs and git's, and git replaying what we export. */
#include "tests/integration/range/repo.h"

#include "bisect/log.h"
#include "bot/watch/range.h"

#include <math.h>

struct fixture {
	struct repo repo;
	char *culprit;
};

/* A side branch of four commits, the third of which is slow, merged into a line. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	repo_init(&f->repo);
	repo_commits(&f->repo, 2, "a.c");
	free(repo_sh(&f->repo, "git tag start; git checkout -q -b side"));
	repo_commits(&f->repo, 2, "s.c");
	free(repo_sh(&f->repo,
		     "echo slow > speed; git add speed; git commit -q -m 'be	slow  ' -m body"));
	f->culprit = repo_sh(&f->repo, "git rev-parse HEAD");
	repo_commits(&f->repo, 1, "s.c");
	free(repo_sh(&f->repo, "git checkout -q main"));
	repo_commits(&f->repo, 4, "a.c");
	free(repo_sh(&f->repo, "git merge -q --no-ff -m merge side"));
	repo_commits(&f->repo, 3, "a.c");
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	free(f->culprit);
	repo_done(&f->repo);
	free(f);
	return 0;
}

/* A bisection of the repository; its log is in the file "log". */
static void bisect(const struct fixture *f)
{
	struct bisect_params p = bisect_params_default();
	struct bisect_step step = { 0 };
	struct bisect_state s;
	struct range range;
	struct err e = { 0 };
	char path[128];
	char *text;
	FILE *out;
	int culprit;

	p.step = 0.1;
	assert_ok(range_read(f->repo.git, "start", "main", NULL, &range, &e), &e);
	culprit = bisect_graph_find(&range.graph, f->culprit, &e);
	assert_true(culprit >= 0);
	assert_ok(bisect_init(&s, &range.graph, &p, &e), &e);
	for (int boot = 1; boot < 100; boot++) {
		bool bad;

		bisect_step_done(&step);
		assert_ok(bisect_next(&s, &step, &e), &e);
		if (step.action != BISECT_MEASURE)
			break;
		bad = step.commit >= 0 &&
		      bisect_graph_contains(&range.graph, (size_t)step.commit, (size_t)culprit);
		for (int i = 0; i < step.runs; i++)
			assert_ok(bisect_add_run(&s, step.commit, boot, bad ? 5.1 : 5, &e), &e);
	}
	assert_int_equal(step.action, BISECT_DONE);
	bisect_step_done(&step);
	text = bisect_log_write(&s, range.good, NULL);
	(void)snprintf(path, sizeof(path), "%s/log", f->repo.dir);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	free(text);
	bisect_done(&s);
	range_done(&range);
}

static void check(const struct fixture *f, const char *args, int want, const char *say)
{
	char *out = repo_sh(&f->repo, "'%s/kperfbot' %s > out 2>&1; echo $? > code", TEST_BIN_DIR,
			    args);
	char *code = repo_sh(&f->repo, "cat code");

	free(out);
	out = repo_sh(&f->repo, "cat out");
	if (atoi(code) != want || !strstr(out, say))
		fail_msg("'%s' gave %s and '%s'", args, code, out);
	free(out);
	free(code);
}

static void own_log_is_followed(void **state)
{
	const struct fixture *f = *state;
	char *want = xasprintf("first bad commit %s", f->culprit);

	bisect(f);
	check(f, "bisect replay log", 0, want);
	check(f, "bisect replay - < log", 0, want);
	check(f, "bisect replay log", 0, "plain bisection:");
	check(f, "bisect replay --json log", 0, "\"format\":\"kperfbot-bisect-replay/1\"");
	check(f, "bisect replay --json log", 0, "\"action\":\"done\"");
	check(f, "bisect replay log", 0, "200 searches each, simulated");
	check(f, "bisect replay log", 0, "boots a step, right in");
	check(f, "bisect replay --json log", 0, "\"strategy\":\"plain:10\",\"trials\":200");
	free(repo_sh(&f->repo, "head -n 4 log > cut"));
	check(f, "bisect replay cut", 125, "not finished");
	free(want);
}

static void git_replays_what_is_exported(void **state)
{
	const struct fixture *f = *state;
	char *want = xasprintf("%s is the first bad commit", f->culprit);
	char *out;

	bisect(f);
	free(repo_sh(&f->repo, "'%s/kperfbot' bisect replay --git-log log > ours", TEST_BIN_DIR));
	out = repo_sh(&f->repo, "git bisect replay ours 2>&1; git bisect log > theirs; "
				"git bisect reset >/dev/null 2>&1");
	assert_non_null(strstr(out, want));
	free(out);
	free(want);
	want = xasprintf("first bad commit %s", f->culprit);
	check(f, "bisect replay theirs", 0, want);
	check(f, "bisect replay --json theirs", 0, "\"action\":\"done\"");
	check(f, "bisect replay ours", 0, want);
	free(want);
}

/* Byte for byte, but for the place where git says which is the first bad commit. */
static void export_is_as_git_writes_it(void **state)
{
	const struct fixture *f = *state;

	bisect(f);
	free(repo_sh(&f->repo,
		     "'%s/kperfbot' bisect replay --git-log --repo . log > ours; "
		     "grep '^git' ours | sh >/dev/null 2>&1; git bisect log > theirs; "
		     "git bisect reset >/dev/null 2>&1; grep -q 'slow$' ours && "
		     "grep -v '^# first bad' ours > ours.cut; "
		     "grep -v '^# first bad' theirs | cmp - ours.cut && "
		     "test \"$(grep '^# first bad' ours)\" = \"$(grep '^# first bad' theirs)\"",
		     TEST_BIN_DIR));
}

/* Of two branches that are merged in turns, and a commit in between that nobody can build. */
static void git_replays_skips_and_merges(void **state)
{
	const struct fixture *f = *state;
	char *out;

	free(repo_sh(&f->repo, "git tag top; git checkout -q -b other start; "
			       "for i in 1 2 3; do echo $i >> o.c; git add o.c; "
			       "git commit -q -m \"o $i\"; done; git checkout -q main; "
			       "git merge -q --no-ff -m again other"));
	bisect(f);
	free(repo_sh(&f->repo,
		     "s=$(git rev-parse other~1); sed -i \"2i{\\\"skip\\\":{\\\"commit\\\":"
		     "\\\"$s\\\",\\\"reason\\\":\\\"build\\\"}}\" log; "
		     "'%s/kperfbot' bisect replay --git-log --repo . log > ours",
		     TEST_BIN_DIR));
	out = repo_sh(&f->repo, "grep -c '^git bisect skip' ours; git bisect replay ours 2>&1; "
				"git bisect reset >/dev/null 2>&1");
	assert_int_equal(atoi(out), 1);
	if (!strstr(out, f->culprit) || !strstr(out, "is the first bad commit"))
		fail_msg("%s", out);
	free(out);
}

static void log_of_git_is_followed_word_by_word(void **state)
{
	const struct fixture *f = *state;
	char *want = xasprintf("first bad commit %s", f->culprit);

	free(repo_sh(&f->repo, "{ git bisect start main start -- && git bisect run sh -c "
			       "'! test -e speed'; git bisect log > theirs; git bisect reset; } "
			       ">/dev/null 2>&1"));
	check(f, "bisect replay theirs", 0, want);
	free(repo_sh(&f->repo, "grep -v '^#' theirs | head -n 2 > cut"));
	check(f, "bisect replay cut", 125, "not finished");
	free(repo_sh(&f->repo, "printf 'git bisect good %s\\n' >> theirs", f->culprit));
	check(f, "bisect replay theirs", 125, "contradict");
	free(want);
}

/* git's log keeps the names that were given, and HEAD moves with each step. */
static void log_of_git_is_read_while_it_goes_on(void **state)
{
	const struct fixture *f = *state;
	char *want = xasprintf("first bad commit %s", f->culprit);

	free(repo_sh(&f->repo, "git checkout -q main; { git bisect start HEAD start && git bisect "
			       "run sh -c '! test -e speed'; } >/dev/null 2>&1; "
			       "git bisect log > theirs; grep -q \"start 'HEAD' 'start'\" theirs"));
	check(f, "bisect replay theirs", 0, want);
	free(repo_sh(&f->repo, "git bisect reset >/dev/null 2>&1"));
	free(want);
}

/*
 * A line of four commits that are equally likely, the third measured bad without doubt: the first
 * three share what is known. The same in each way that git writes a log.
 */
static void posterior_of_a_line_of_four_is_a_third_each(void **state)
{
	const struct fixture *f = *state;
	static const char *const logs[] = { "four", "terms", "crlf" };

	free(repo_sh(&f->repo,
		     "git checkout -q -b four start; for i in 1 2 3 4; do "
		     "git commit -q --allow-empty -m $i; done; g=$(git rev-parse start) "
		     "b=$(git rev-parse four) t=$(git rev-parse four~1); "
		     "printf \"git bisect start\\n# status: waiting\\ngit bisect good $g\\n"
		     "git bisect bad $b\\ngit bisect bad $t\\n\" > four; "
		     "printf \"git bisect start '--term-new=slow' '--term-old' 'fast'\\n"
		     "git bisect fast $g\\ngit bisect slow $b\\ngit bisect slow $t\\n\" > terms; "
		     "sed 's/$/\\r/' four > crlf; git checkout -q main"));
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		char *out, *at;

		out = repo_sh(&f->repo,
			      "'%s/kperfbot' bisect replay --wrong 0 --top 10 %s || "
			      "test $? = 125",
			      TEST_BIN_DIR, logs[i]);
		at = strstr(out, "  3  ");
		assert_non_null(at);
		for (int k = 0; k < 3; k++) {
			at = strstr(at + 1, "0.333");
			assert_non_null(at);
		}
		assert_null(strstr(at + 1, "0."));
		free(out);
	}
}

static void says_what_is_wrong(void **state)
{
	const struct fixture *f = *state;

	check(f, "bisect replay", 129, "usage:");
	check(f, "bisect replay nothing", 128, "nothing");
	free(repo_sh(&f->repo,
		     "echo '{}' > bad; echo 'git bisect good start' > half; "
		     "printf 'git bisect start main start\\ngit bisect bad xyz\\n' > who; "
		     "echo 'git bisect start start main' > ends; head -c 67108865 /dev/zero > big; "
		     "printf 'git bisect start main start\\ngit bisect bad --upload-pack=x\\n' > "
		     "option"));
	check(f, "bisect replay bad", 128, "line 1");
	check(f, "bisect replay half", 129, "no bad commit");
	check(f, "bisect replay who", 129, "'xyz'");
	check(f, "bisect replay --wrong 0.7 half", 129, "--wrong");
	check(f, "bisect replay --top x half", 129, "--top");
	check(f, "bisect replay --repo /nonexistent half", 128, "/nonexistent");
	check(f, "bisect replay --repo . ends", 129, "swapped");
	check(f, "bisect replay --repo . option", 129, "'--upload-pack=x'");
	check(f, "bisect replay big", 128, "more than");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_log_is_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(git_replays_what_is_exported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(export_is_as_git_writes_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(posterior_of_a_line_of_four_is_a_third_each, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(git_replays_skips_and_merges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(log_of_git_is_followed_word_by_word, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(log_of_git_is_read_while_it_goes_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(says_what_is_wrong, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
