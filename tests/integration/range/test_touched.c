/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/touched.h"
#include "tests/integration/range/repo.h"

static struct repo repo;

static int set_up(void **state)
{
	(void)state;
	repo_init(&repo);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	repo_done(&repo);
	return 0;
}

/* Runs @line, commits all that it did, and gives what the commit touches. */
static struct touched after(const char *line, bool content)
{
	char *hash = repo_sh(&repo,
			     "%s; git add -A; git commit -q --allow-empty -m x; "
			     "git rev-parse HEAD",
			     line);
	struct touched t;
	struct err e = { 0 };

	assert_ok(touched_read(repo.git, hash, 1000, content, &t, &e), &e);
	free(hash);
	return t;
}

/* The same files as git names? */
static void check(const char *line)
{
	struct touched t = after(line, true);
	char *want = repo_sh(&repo, "git diff-tree --root --no-commit-id -r --no-renames "
				    "--name-only -z HEAD | tr '\\0' ' '");
	struct strbuf got = STRBUF_INIT;

	for (size_t i = 0; i < t.n; i++)
		strbuf_addf(&got, "%s ", t.paths[i]);
	if (strcmp(strbuf_str(&got), want) != 0)
		fail_msg("%s: '%s', but git says '%s'", line, strbuf_str(&got), want);
	assert_false(t.more);
	strbuf_done(&got);
	touched_done(&t);
	free(want);
}

static void names_the_files_that_git_names(void **state)
{
	(void)state;
	check("mkdir -p a/b c; echo 1 >a/b/x; echo 2 >a/y; echo 3 >c/z; echo 4 >top");
	check("echo 5 >a/b/x");
	check("chmod +x a/y; rm top; ln -s a top");
	check("git mv a/b/x a/x; echo 6 >new");
	check("rm a/y; mkdir a/y; echo 7 >a/y/file"); /* a file that becomes a folder */
	check("rm -r a/y; echo 8 >a/y");
	check("echo 1 >a.c; echo 2 >a-b; mkdir a0; echo 3 >a0/q"); /* sorted round a/ */
	check("rm -r a");
	check("true");
	check("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; mkdir sub");
	check("mkdir \"$(printf 'd\\377')\"; echo 1 >\"$(printf 'd\\377/\\033x')\"");
}

static void compares_a_merge_with_its_first_parent(void **state)
{
	struct touched t;

	(void)state;
	t = after("echo 1 >a; echo 1 >b", false);
	assert_int_equal(t.n_parents, 0);
	assert_int_equal(t.n, 2);
	touched_done(&t);
	touched_done(&(struct touched){ 0 });
	t = after("git checkout -q -b side; echo 2 >a", false);
	touched_done(&t);
	t = after("git checkout -q main; echo 2 >b", false);
	touched_done(&t);
	t = after("git merge -q --no-ff -m m side; git commit -q --amend -m n", false);
	touched_done(&t);
	{
		char *hash = repo_sh(&repo, "git rev-parse HEAD~");
		struct err e = { 0 };

		assert_ok(touched_read(repo.git, hash, 10, true, &t, &e), &e);
		free(hash);
	}
	assert_int_equal(t.n_parents, 2);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.paths[0], "a");
	touched_done(&t);
}

static void sees_which_files_only_change_comments(void **state)
{
	struct touched t;

	(void)state;
	t = after("echo 'int a;' >a.c; echo 'int b;' >b.c; echo x >c.txt; echo 'int d;' >d.c; "
		  "printf 'config A\\n\\thelp\\n\\t  x\\n' >Kconfig; ln -s //nowhere l.c",
		  true);
	for (size_t i = 0; i < t.n; i++)
		assert_false(t.same_code[i]); /* new files */
	touched_done(&t);
	t = after("echo '/* x */' >>a.c; echo 'int c;' >>b.c; echo y >c.txt; chmod +x d.c; "
		  "printf 'config A\\n\\thelp\\n\\t  y\\n' >Kconfig; ln -sfn //neither l.c",
		  true);
	assert_int_equal(t.n, 6);
	assert_string_equal(t.paths[0], "Kconfig");
	assert_true(t.same_code[0]);
	assert_true(t.same_code[1]); /* a.c */
	assert_false(t.same_code[2]);
	assert_false(t.same_code[3]);
	assert_false(t.same_code[4]); /* d.c: its mode */
	touched_done(&t);
	t = after("echo '/* y */' >>a.c", false);
	assert_false(t.same_code[0]);
	touched_done(&t);
}

static void stops_at_the_limit(void **state)
{
	struct touched t;
	struct err e = { 0 };
	char *hash;

	(void)state;
	t = after("mkdir d; for i in $(seq 50); do echo 'int a;' >d/f$i.c; done", true);
	assert_int_equal(t.n, 50);
	touched_done(&t);
	t = after("for i in $(seq 50); do echo '// x' >>d/f$i.c; done", true);
	assert_int_equal(t.n, 50);
	assert_false(t.same_code[0]); /* too many to look into */
	touched_done(&t);
	hash = repo_sh(&repo, "git rev-parse HEAD");
	assert_ok(touched_read(repo.git, hash, 49, true, &t, &e), &e);
	assert_int_equal(t.n, 49);
	assert_true(t.more);
	touched_done(&t);
	assert_ok(touched_read(repo.git, hash, 0, true, &t, &e), &e);
	assert_int_equal(t.n, 0);
	assert_true(t.more);
	touched_done(&t);
	free(hash);
	/* Deeper than anybody builds a tree. */
	t = after("d=x; for i in $(seq 100); do d=$d/x; done; mkdir -p $d; echo >$d/f", true);
	assert_true(t.more);
	touched_done(&t);
}

static void refuses_what_is_no_commit(void **state)
{
	struct touched t = { .n = 5 };
	struct err e = { 0 };
	char *tree;

	(void)state;
	t = after("echo 1 >a", false);
	touched_done(&t);
	t.n = 5;
	tree = repo_sh(&repo, "git rev-parse HEAD^{tree}");
	assert_err(touched_read(repo.git, "HEAD", 10, false, &t, &e), ERR_INVAL, &e);
	assert_err(touched_read(repo.git, "0123456789012345678901234567890123456789", 10, false, &t,
				&e),
		   ERR_NOENT, &e);
	assert_true(touched_read(repo.git, tree, 10, false, &t, &e) < 0);
	assert_int_equal(t.n, 5);
	free(tree);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(names_the_files_that_git_names),
		T(compares_a_merge_with_its_first_parent),
		T(sees_which_files_only_change_comments),
		T(stops_at_the_limit),
		T(refuses_what_is_no_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
