/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bot/watch/mirror.h"
#include "bot/watch/revert.h"
#include "tests/integration/repo.h"

#include <string.h>

static struct mirror *mirror;

/* Repository "m" is the mirror, "r" a work tree of it that pushes into it at once. */
static int setup(void **state)
{
	_cleanup_(freep) char *dir = NULL;
	struct err e = { 0 };

	if (repo_setup(state) < 0)
		return -1;
	dir = xasprintf("%s/m", repo_scratch);
	assert_ok(mirror_open(dir, &mirror, &e), &e);
	run("git init -q -b master r; cd r; git remote add m ../m; mkdir mm; "
	    "printf '1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n' >mm/f; echo x >other; git add -A; "
	    "git commit -qm start");
	return 0;
}

static int teardown(void **state)
{
	mirror_free(mirror);
	return repo_teardown(state);
}

/* Runs @line in the work tree, commits everything, and gives the hash. */
static char *commit(const char *line, const char *message)
{
	char *hash = sh("cd r; %s; git add -A; git commit -q --allow-empty -m '%s'; "
			"git rev-parse HEAD",
			line, message);

	run("cd r; git push -q -f m HEAD:refs/kperfbot/tree/demo/heads/master");
	return hash;
}

static struct revert reverted(const char *culprit, const char *onto, enum revert_end want)
{
	struct revert v;
	struct err e = { 0 };

	memset(&v, 0x5a, sizeof(v));
	assert_ok(mirror_revert(mirror, culprit, onto, "host.example.org", &v, &e), &e);
	if (v.end != want)
		fail_msg("%s, not %s", revert_end_name(v.end), revert_end_name(want));
	assert_int_equal(strlen(v.hash), want == REVERT_DONE ? 40 : 0);
	return v;
}

static void takes_back_one_commit_below_others(void **state)
{
	_cleanup_(freep) char *bad = commit("sed -i s/2/two/ mm/f", "mm: slower");
	_cleanup_(freep) char *tip = commit("sed -i s/8/eight/ mm/f", "mm: more");
	_cleanup_(revert_done) struct revert v = reverted(bad, tip, REVERT_DONE);
	_cleanup_(freep) char *text = sh("git -C m show %s:mm/f | tr '\\n' ' '", v.hash);
	_cleanup_(freep) char *parents = sh("git -C m rev-list --parents -n1 %s", v.hash);
	_cleanup_(freep) char *want = xasprintf("%s %s", v.hash, tip);
	_cleanup_(freep) char *subject = sh("git -C m log -n1 --format=%%s %s", v.hash);
	_cleanup_(freep) char *who =
		sh("git -C m log -n1 --format='%%an %%ae %%at %%ai %%cn %%ce %%ct' %s", v.hash);

	(void)state;
	assert_string_equal(text, "1 2 3 4 5 6 7 eight 9 ");
	assert_string_equal(parents, want);
	assert_string_equal(subject, "Revert \"mm: slower\"");
	assert_string_equal(who, "kperfbot kperfbot@host.example.org 1700000060 "
				 "2023-11-14 22:14:20 +0000 kperfbot kperfbot@host.example.org "
				 "1700000060");
	run("git -C m fsck --strict --no-dangling");
}

static void is_the_same_commit_each_time_and_stays(void **state)
{
	_cleanup_(freep) char *bad = commit("sed -i s/2/two/ mm/f", "slower");
	_cleanup_(freep) char *tip = commit("echo y >other", "more");
	_cleanup_(revert_done) struct revert v = reverted(bad, tip, REVERT_DONE);
	_cleanup_(revert_done) struct revert again = { 0 };
	struct mirror_commit c;
	struct err e = { 0 };

	(void)state;
	run("git -C m gc -q --prune=now");
	assert_ok(mirror_commit(mirror, v.hash, &c, &e), &e);
	mirror_commit_done(&c);
	/* A mirror that never saw it. */
	run("git -C m update-ref -d refs/kperfbot/revert/%s-%s; git -C m gc -q --prune=now; "
	    "! git -C m cat-file -e %s 2>/dev/null",
	    bad, tip, v.hash);
	mirror_free(mirror);
	mirror = NULL;
	{
		_cleanup_(freep) char *dir = xasprintf("%s/m", repo_scratch);

		assert_ok(mirror_open(dir, &mirror, &e), &e);
	}
	again = reverted(bad, tip, REVERT_DONE);
	assert_string_equal(again.hash, v.hash);
}

static void takes_back_what_a_merge_brought(void **state)
{
	_cleanup_(freep) char *side = commit("git checkout -q -b side; echo side >side.c; "
					     "sed -i s/9/nine/ mm/f",
					     "side");
	_cleanup_(freep) char *one = commit("git checkout -q master; echo z >other", "main");
	_cleanup_(freep) char *merge = NULL;
	_cleanup_(freep) char *tip = NULL;
	_cleanup_(freep) char *files = NULL;
	_cleanup_(revert_done) struct revert v = { 0 };

	(void)state;
	run("cd r; git merge -q --no-ff -m merge side");
	merge = sh("git -C r rev-parse HEAD");
	tip = commit("echo after >after", "after");
	v = reverted(merge, tip, REVERT_DONE);
	files = sh("git -C m ls-tree -r --name-only %s | tr '\\n' ' '", v.hash);
	assert_string_equal(files, "after mm/f other ");
	run("git -C m show %s:mm/f | grep -qx 9; git -C m show %s:other | grep -qx z", v.hash,
	    v.hash);
}

static void names_the_files_that_conflict(void **state)
{
	_cleanup_(freep) char *bad = commit("sed -i s/2/two/ mm/f; echo y >other; "
					    "echo 1 >\"$(printf 'a\\033[1mb')\"",
					    "slower");
	_cleanup_(freep) char *tip = commit("sed -i s/two/zwei/ mm/f; "
					    "echo 2 >\"$(printf 'a\\033[1mb')\"",
					    "on top");
	_cleanup_(revert_done) struct revert v = reverted(bad, tip, REVERT_CONFLICTS);

	(void)state;
	assert_int_equal(v.n_conflicts, 2);
	assert_int_equal(v.n_paths, 2);
	assert_null(strchr(v.paths[0], 033));
	assert_string_equal(v.paths[1], "mm/f");
}

static void keeps_a_few_of_many_conflicts(void **state)
{
	_cleanup_(freep) char *bad =
		commit("for i in $(seq 60); do echo 1 >c$i; done", "sixty files");
	_cleanup_(freep) char *tip =
		commit("for i in $(seq 60); do echo 2 >c$i; done", "and again");
	_cleanup_(revert_done) struct revert v = reverted(bad, tip, REVERT_CONFLICTS);

	(void)state;
	assert_int_equal(v.n_conflicts, 60);
	assert_int_equal(v.n_paths, REVERT_PATHS_MAX);
}

static void sees_that_nothing_is_left_to_revert(void **state)
{
	_cleanup_(freep) char *bad = commit("sed -i s/2/two/ mm/f", "slower");
	_cleanup_(freep) char *undone = commit("sed -i s/two/2/ mm/f", "Revert slower");
	_cleanup_(freep) char *empty = commit("true", "changes nothing");

	(void)state;
	(void)reverted(bad, undone, REVERT_EMPTY);
	(void)reverted(empty, empty, REVERT_EMPTY);
}

static void wants_the_commit_in_the_history(void **state)
{
	_cleanup_(freep) char *root = sh("git -C r rev-parse HEAD");
	_cleanup_(freep) char *one = commit("echo 1 >one", "one");
	_cleanup_(freep) char *two = commit("git reset -q --hard HEAD~; echo 2 >two", "two");
	struct revert v = { .n_paths = 77 };
	struct err e = { 0 };

	(void)state;
	/* @one is still in the mirror: its objects were pushed. */
	(void)reverted(one, two, REVERT_NOT_IN);
	(void)reverted(root, two, REVERT_ROOT);
	assert_err(mirror_revert(mirror, "HEAD", two, "h.example.org", &v, &e), ERR_INVAL, &e);
	assert_err(mirror_revert(mirror, "0123456789012345678901234567890123456789", two,
				 "h.example.org", &v, &e),
		   ERR_NOENT, &e);
	assert_err(mirror_revert(mirror, two, two, "h<\n", &v, &e), ERR_INVAL, &e);
	assert_int_equal(v.n_paths, 77);
}

static void makes_a_clean_text_of_a_hostile_subject(void **state)
{
	_cleanup_(freep) char *bad = NULL;
	_cleanup_(revert_done) struct revert v = { 0 };
	_cleanup_(freep) char *subject = NULL;

	(void)state;
	run("cd r; echo 5 >other; git add -A; printf 'a\\377\\033]0;x\\007 \"b' >../msg; "
	    "git commit -q -F ../msg");
	bad = commit("sed -i s/2/two/ mm/f", "again");
	free(bad);
	bad = sh("git -C r rev-parse HEAD~");
	{
		_cleanup_(freep) char *tip = sh("git -C r rev-parse HEAD");

		v = reverted(bad, tip, REVERT_DONE);
	}
	subject = sh("git -C m log -n1 --format=%%s %s", v.hash);
	assert_null(strchr(subject, 033));
	assert_null(strchr(subject, 007));
	assert_null(strchr(subject, 0377));
	run("git -C m fsck --strict --no-dangling");
}

/* Trees that git itself would not make. */
static void makes_nothing_of_paths_that_lead_elsewhere(void **state)
{
	static const char *const names[] = { "..", ".git", "a/../../b", "." };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *start = sh("git -C r rev-parse HEAD");
		_cleanup_(freep) char *bad = NULL;
		_cleanup_(freep) char *tip = NULL;
		struct revert v = { 0 };
		struct err e = { 0 };
		int r;

		run("cd r; git push -q -f m HEAD:refs/kperfbot/tree/demo/heads/master");
		/* On top of @start a commit with the odd entry, and one without. */
		bad = sh("cd m; blob=$(echo evil | git hash-object -w --stdin); "
			 "tree=$(python3 -c 'import sys; h = bytes.fromhex(sys.argv[2]); "
			 "sys.stdout.buffer.write(b\"100644 \" + sys.argv[1].encode() + b\"\\0\" + "
			 "h)' '%s' $blob | git hash-object -w -t tree --literally --stdin); "
			 "git commit-tree -p %s -m odd $tree",
			 names[i], start);
		tip = sh("cd m; git commit-tree -p %s -m next %s^{tree}", bad, start);
		r = mirror_revert(mirror, bad, tip, "h.example.org", &v, &e);
		if (r == 0 && v.end == REVERT_DONE)
			fail_msg("'%s' was taken", names[i]);
		if (r == 0)
			revert_done(&v);
		/* The odd entry as what comes out: @tip had taken it away. */
		r = mirror_revert(mirror, tip, tip, "h.example.org", &v, &e);
		if (r == 0 && v.end == REVERT_DONE)
			fail_msg("'%s' was brought back", names[i]);
		if (r == 0)
			revert_done(&v);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(takes_back_one_commit_below_others),
		T(is_the_same_commit_each_time_and_stays),
		T(takes_back_what_a_merge_brought),
		T(names_the_files_that_conflict),
		T(keeps_a_few_of_many_conflicts),
		T(sees_that_nothing_is_left_to_revert),
		T(wants_the_commit_in_the_history),
		T(makes_a_clean_text_of_a_hostile_subject),
		T(makes_nothing_of_paths_that_lead_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
