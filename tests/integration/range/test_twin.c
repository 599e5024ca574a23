/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commits of a tree that was made anew: the same change under another hash. */
#include "tests/integration/range/repo.h"

#include "bot/watch/twin.h"

static int set_up(void **state)
{
	struct repo *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	repo_init(r);
	repo_commits(r, 2, "a.c");
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	repo_done(*state);
	free(*state);
	return 0;
}

/* Hash of a commit on the branch at hand, made by a shell line. */
static char *commit(const struct repo *r, const char *change, const char *title)
{
	return repo_sh(r, "%s; git add -A; git commit -q --allow-empty -m '%s'; git rev-parse HEAD",
		       change, title);
}

static void check(const struct repo *r, const char *a, const char *b, int want)
{
	struct err e = { 0 };

	assert_ok(twin_is(r->git, a, b, &e), &e);
	assert_int_equal(twin_is(r->git, a, b, NULL), want);
	assert_int_equal(twin_is(r->git, b, a, NULL), want);
}

static void the_same_patch_on_a_new_base_is_a_twin(void **state)
{
	const struct repo *r = *state;
	char *first = commit(r, "echo slow > b.c", "mm: slow");
	char *second, *other, *title, *author;

	free(repo_sh(r, "git checkout -q -b next HEAD~1"));
	free(commit(r, "echo x > new.c", "base: moved"));
	second = commit(r, "echo slow > b.c", "mm: slow");
	check(r, first, second, 1);
	free(repo_sh(r, "git checkout -q -b third HEAD~1"));
	other = commit(r, "echo slower > b.c", "mm: slow");
	check(r, first, other, 0);
	free(repo_sh(r, "git reset -q --hard HEAD~1"));
	title = commit(r, "echo slow > b.c", "mm: quick");
	check(r, first, title, 0);
	author = repo_sh(
		r,
		"git commit -q --amend -m 'mm: slow' --author 'B <b@example.org>'; git rev-parse HEAD");
	check(r, first, author, 0);
	free(first);
	free(second);
	free(other);
	free(title);
	free(author);
}

/* Reading it would take minutes and all memory, while others wait. */
static void giants_are_compared_with_nothing(void **state)
{
	static const char big[] = "yes 0123456789abcdef | head -c 40000000 > big.txt";
	const struct repo *r = *state;
	char *first, *second;

	free(commit(r, big, "base: big"));
	first = commit(r, "echo x >> big.txt", "mm: slow");
	free(repo_sh(r, "git checkout -q -b next HEAD~1"));
	free(commit(r, "echo x > new.c", "base: moved"));
	second = commit(r, "echo x >> big.txt", "mm: slow");
	check(r, first, second, 0);
	free(first);
	free(second);
}

static void what_else_is_in_the_files_does_not_matter(void **state)
{
	static const char change[] =
		"sed -i s/^1$/slow/ long.c; chmod +x a.c; rm gone.c; echo y > z.c";
	const struct repo *r = *state;
	char *first, *second;

	free(commit(r, "seq 100 > long.c; touch gone.c", "base"));
	first = commit(r, change, "mm: slow");
	free(repo_sh(r, "git checkout -q -b next HEAD~1"));
	free(commit(r, "echo other >> long.c; echo other >> a.c", "base: moved"));
	second = commit(r, change, "mm: slow");
	check(r, first, second, 1);
	free(first);
	free(second);
}

static void binary_files_are_compared_as_well(void **state)
{
	const struct repo *r = *state;
	char *first = commit(r, "printf 'a\\000b' > fw.bin", "fw: new");
	char *second, *third;

	free(repo_sh(r, "git checkout -q -b next HEAD~1"));
	free(commit(r, "echo x > new.c", "base: moved"));
	second = commit(r, "printf 'a\\000c' > fw.bin", "fw: new");
	check(r, first, second, 0);
	free(repo_sh(r, "git reset -q --hard HEAD~1"));
	third = commit(r, "printf 'a\\000b' > fw.bin", "fw: new");
	check(r, first, third, 1);
	free(first);
	free(second);
	free(third);
}

static void what_is_applied_again_later_is_no_twin(void **state)
{
	const struct repo *r = *state;
	char *first = commit(r, "echo slow > b.c", "mm: slow"), *again;

	free(repo_sh(r, "git revert --no-edit HEAD"));
	again = commit(r, "echo slow > b.c", "mm: slow");
	check(r, first, again, 0);
	check(r, first, first, 0);
	free(first);
	free(again);
}

/* Commits without a change have one patch id, whatever they are. */
static void empty_commits_merges_and_strangers_have_no_twin(void **state)
{
	static const char none[] = "0123456789012345678901234567890123456789";
	const struct repo *r = *state;
	char *a = commit(r, "true", "start next"), *b, *m, *n;
	struct err e = { 0 };

	free(repo_sh(r, "git checkout -q -b two HEAD~1"));
	b = commit(r, "true", "start next");
	check(r, a, b, 0);
	check(r, a, none, 0);
	assert_err(twin_is(r->git, "main", a, &e), ERR_INVAL, &e);
	free(repo_sh(r, "git checkout -q -b side HEAD~1"));
	free(commit(r, "echo s > s.c", "side"));
	m = repo_sh(r,
		    "git checkout -q main; git merge -q --no-ff -m merge side; git rev-parse HEAD");
	n = repo_sh(r,
		    "git checkout -q two; git merge -q --no-ff -m merge side; git rev-parse HEAD");
	check(r, m, n, 0);
	free(a);
	free(b);
	free(m);
	free(n);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_same_patch_on_a_new_base_is_a_twin),
		T(giants_are_compared_with_nothing),
		T(what_else_is_in_the_files_does_not_matter),
		T(binary_files_are_compared_as_well),
		T(what_is_applied_again_later_is_no_twin),
		T(empty_commits_merges_and_strangers_have_no_twin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
