/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/range/repo.h"

#include "bot/watch/range.h"

static int set_up(void **state)
{
	struct repo *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	repo_init(r);
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	repo_done(*state);
	free(*state);
	return 0;
}

static const char *order_options(const struct range_options *opt)
{
	if (opt && opt->descendants)
		return "--ancestry-path";
	return opt && opt->first_parent ? "--first-parent" : "";
}

static size_t git_count(const struct repo *r, const char *good, const char *bad,
			const struct range_options *opt, const char *more)
{
	struct strbuf paths = STRBUF_INIT;
	char *out;
	size_t n;

	for (size_t i = 0; opt && i < opt->n_paths; i++)
		strbuf_addf(&paths, " '%s'", opt->paths[i]);
	out = repo_sh(r, "git rev-list --count %s %s %s..%s --%s", order_options(opt), more, good,
		      bad, strbuf_str(&paths));
	n = strtoul(out, NULL, 10);
	free(out);
	strbuf_done(&paths);
	return n;
}

/* How evenly git says that @hash divides the range: "HASH (dist=3)". */
static int git_distance(const struct repo *r, const char *good, const char *bad,
			const struct range_options *opt, const char *hash)
{
	char *out = repo_sh(r,
			    "git rev-list --bisect-all %s %s..%s | sed -n "
			    "'s/^%s .*dist=\\([0-9]*\\).*/\\1/p'",
			    order_options(opt), good, bad, hash);
	int d = atoi(out);

	free(out);
	return d;
}

static void compare(const struct repo *r, const char *good, const char *bad,
		    const struct range_options *opt)
{
	struct err e = { 0 };
	struct range got;
	char *want;

	assert_ok(range_read(r->git, good, bad, opt, &got, &e), &e);
	assert_int_equal(got.commits, git_count(r, good, bad, opt, ""));
	assert_int_equal(got.merges, git_count(r, good, bad, opt, "--merges"));
	assert_int_equal(got.roots, git_count(r, good, bad, opt, "--max-parents=0"));
	want = repo_sh(r, "git rev-parse '%s^{commit}'", good);
	assert_string_equal(got.good, want);
	free(want);
	want = repo_sh(r, "git rev-parse '%s^{commit}'", bad);
	assert_string_equal(got.bad, want);
	assert_string_equal(got.graph.commits[got.graph.n - 1].hash, want);
	free(want);
	want = repo_sh(r, "git merge-base --all '%s' '%s' | sort", good, bad);
	assert_int_equal(got.n_merge_bases, (strlen(want) + 1) / 41);
	for (size_t i = 0; i < got.n_merge_bases; i++)
		assert_non_null(strstr(want, got.merge_bases[i]));
	free(want);
	want = repo_sh(r, "git merge-base --is-ancestor '%s' '%s' && echo yes || echo no", good,
		       bad);
	assert_int_equal(got.good_is_ancestor, strcmp(want, "yes") == 0);
	free(want);
	if (!opt || opt->n_paths == 0) {
		assert_int_equal(got.graph.n, got.commits);
		want = repo_sh(r, "git rev-list --bisect %s %s..%s", order_options(opt), good, bad);
		assert_int_equal(git_distance(r, good, bad, opt, got.midpoint),
				 git_distance(r, good, bad, opt, want));
		free(want);
	}
	range_done(&got);
}

static void line_counts_as_git_does(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	repo_commits(r, 9, "a.c");
	compare(r, "HEAD~8", "HEAD", NULL);
	compare(r, "HEAD~3", "main", NULL);
	compare(r, "HEAD~1", "HEAD", NULL);
	assert_ok(range_read(r->git, "HEAD~8", "HEAD", NULL, &got, &e), &e);
	assert_true(got.graph.line);
	assert_int_equal(got.expected_steps, 3);
	assert_int_equal(got.n_warnings, 0);
	range_done(&got);
}

static void make_merges(struct repo *r)
{
	repo_commits(r, 3, "a.c");
	free(repo_sh(r, "git tag start && git checkout -q -b side"));
	repo_commits(r, 4, "mm/side.c");
	free(repo_sh(r, "git checkout -q main"));
	repo_commits(r, 2, "b.c");
	free(repo_sh(r, "git merge -q --no-ff -m 'merge side' side && git checkout -q -b old "
			"start~1"));
	repo_commits(r, 3, "mm/old.c");
	free(repo_sh(r, "git checkout -q main && git merge -q --no-ff -m 'merge old' old"));
	repo_commits(r, 2, "a.c");
}

static void merges_count_as_git_does(void **state)
{
	struct repo *r = *state;
	const struct range_options first = { .first_parent = true };

	make_merges(r);
	compare(r, "start", "main", NULL);
	compare(r, "start~1", "main", NULL);
	compare(r, "start", "main", &first);
	compare(r, "side", "main", NULL);
	compare(r, "side~2", "main", &first);
}

static void paths_limit_as_git_does(void **state)
{
	static const char *const sets[][2] = { { "mm", NULL },
					       { "a.c", NULL },
					       { "b.c", "mm/old.c" },
					       { "mm/side.c", "a.c" },
					       { "mm/", NULL } };
	struct repo *r = *state;

	make_merges(r);
	for (size_t i = 0; i < 5; i++) {
		const struct range_options opt = { .paths = sets[i],
						   .n_paths = sets[i][1] ? 2 : 1 };

		compare(r, "start~1", "main", &opt);
		compare(r, "start", "main", &opt);
	}
}

static void good_beside_bad_gives_the_merge_base(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	make_merges(r);
	compare(r, "side", "old", NULL);
	assert_ok(range_read(r->git, "side", "old", NULL, &got, &e), &e);
	assert_false(got.good_is_ancestor);
	assert_int_equal(got.n_warnings, 1);
	range_done(&got);
}

/* What was merged from before the good end is part of its merge, and no commit of its own. */
static void only_descendants_count_as_git_does(void **state)
{
	const struct range_options way = { .descendants = true };
	static const char *const paths[] = { "a.c" };
	const struct range_options some = { .descendants = true, .paths = paths, .n_paths = 1 };
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;
	char *merge;

	make_merges(r);
	compare(r, "start", "main", &way);
	compare(r, "start~1", "main", &way);
	assert_ok(range_read(r->git, "start", "main", &way, &got, &e), &e);
	assert_int_equal(got.commits, 10);
	merge = repo_sh(r, "git rev-parse main~2");
	/* The merge of "old", which left before "start": its other parent is not the good end. */
	for (size_t i = 0; i < got.graph.n; i++)
		if (!strcmp(got.graph.commits[i].hash, merge)) {
			assert_int_equal(got.graph.commits[i].n_parents, 1);
			assert_false(got.graph.commits[i].outside);
		}
	free(merge);
	range_done(&got);
	assert_ok(range_read(r->git, "start", "main", &some, &got, &e), &e);
	assert_int_equal(got.commits, 2);
	range_done(&got);
	/* "old" does not descend from "side" at all. */
	assert_err(range_read(r->git, "side", "old", &way, &got, &e), ERR_RANGE, &e);
}

static void criss_cross_has_two_merge_bases(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	repo_commits(r, 1, "a.c");
	free(repo_sh(r, "git checkout -q -b left"));
	repo_commits(r, 1, "l.c");
	free(repo_sh(r, "git tag m1 && git checkout -q -b right main"));
	repo_commits(r, 1, "r.c");
	free(repo_sh(r, "git tag m2 && git merge -q --no-ff -m x m1 && git checkout -q left && "
			"git merge -q --no-ff -m y m2"));
	repo_commits(r, 2, "l.c");
	compare(r, "right", "left", NULL);
	assert_ok(range_read(r->git, "right", "left", NULL, &got, &e), &e);
	assert_int_equal(got.n_merge_bases, 2);
	assert_int_equal(got.n_warnings, 1);
	assert_non_null(strstr(got.warnings[0], "merge bases"));
	assert_non_null(strstr(got.warnings[0], "have to be measured first"));
	range_done(&got);
}

static void roots_and_strange_dates_are_read(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	repo_commits(r, 2, "a.c");
	free(repo_sh(r, "git checkout -q --orphan other && git rm -rfq --cached . && rm -f a.c"));
	repo_commits(r, 2, "o.c");
	free(repo_sh(r, "git checkout -q -f main && "
			"git merge -q --allow-unrelated-histories -m join other && "
			"for d in 100 2000000000 5; do GIT_COMMITTER_DATE=\"@$d +0000\" "
			"git commit -q --allow-empty -m \"at $d\"; done"));
	compare(r, "main~4", "main", NULL);
	assert_ok(range_read(r->git, "main~4", "main", NULL, &got, &e), &e);
	assert_int_equal(got.roots, 1);
	range_done(&got);
	assert_ok(range_read(r->git, "main~4", "other", NULL, &got, &e), &e);
	assert_int_equal(got.n_merge_bases, 0);
	assert_int_equal(got.n_warnings, 1);
	range_done(&got);
}

static void refuse(struct repo *r, const char *good, const char *bad, int code, const char *say)
{
	struct err e = { 0 };
	struct range got;

	memset(&got, 0x5a, sizeof(got));
	assert_err(range_read(r->git, good, bad, NULL, &got, &e), code, &e);
	if (!strstr(e.msg, say))
		fail_msg("'%s' does not say '%s'", e.msg, say);
	assert_int_equal(got.good[0], 0x5a);
}

/* The way from good to its ancestors leads over commits older than what hangs on them. */
static void wrong_dates_do_not_widen_the_range(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	repo_commits(r, 2, "a.c");
	free(repo_sh(
		r, "at() { GIT_COMMITTER_DATE=\"@$1 +0000\" git commit -q --allow-empty -m $1; }; "
		   "at 2000000000; git tag shared; for i in $(seq 12); do at $i; done; "
		   "at 2100000000; git tag good; git checkout -q -b side shared; "
		   "at 2100000001; git tag bad"));
	assert_ok(range_read(r->git, "good", "bad", NULL, &got, &e), &e);
	assert_int_equal(got.commits, 1);
	assert_string_equal(got.midpoint, got.bad);
	range_done(&got);
	refuse(r, "good", "shared", ERR_RANGE, "swapped");
}

/* A merge that keeps the side good came from takes good's change away: it is no empty range. */
static void merge_that_drops_a_change_of_good_counts(void **state)
{
	static const char *const path[] = { "mm" };
	const struct range_options opt = { .paths = path, .n_paths = 1 };
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	repo_commits(r, 1, "mm/a.c");
	free(repo_sh(r, "git tag old"));
	repo_commits(r, 1, "mm/a.c");
	free(repo_sh(r, "git tag good; git checkout -q -b side old; git merge -q -s ours --no-ff "
			"-m drop good"));
	repo_commits(r, 1, "b.c");
	assert_ok(range_read(r->git, "good", "HEAD", &opt, &got, &e), &e);
	assert_int_equal(got.commits, 1);
	assert_int_equal(got.merges, 1);
	range_done(&got);
}

static void octopus_merge_is_read_whole(void **state)
{
	const struct range_options first = { .first_parent = true };
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	free(repo_sh(r, "git fast-import --quiet < '%s/tests/data/bisect/octopus.fi'",
		     TEST_SOURCE_DIR));
	compare(r, "v6.1", "next", NULL);
	compare(r, "v6.1", "next", &first);
	compare(r, "next-old", "next", NULL);
	assert_ok(range_read(r->git, "v6.1", "next", NULL, &got, &e), &e);
	assert_true(bisect_graph_find(&got.graph, "022c22736f9cc173b1dfcff2564032e33da6692d", &e) >=
		    0);
	assert_int_equal(got.graph.commits[got.graph.n - 1].n_parents, 5);
	assert_true(got.graph.commits[got.graph.n - 1].outside);
	range_done(&got);
}

static void says_what_is_wrong_with_the_ends(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;
	static const char *const wrong[] = { "../x",  "/etc", "",    ".",     "./a.c",	   "a//b",
					     "a/./b", "a/..", "*.c", ":!a.c", ":(glob)a.c" };
	static const char *const none[] = { "none.c" };
	struct range_options opt = { .n_paths = 1 };

	repo_commits(r, 4, "a.c");
	free(repo_sh(r, "git tag tree-tag HEAD^{tree} && git tag -a -m blob blob-tag HEAD:a.c && "
			"git tag twice HEAD~1 && git branch twice HEAD~2"));
	refuse(r, "v9.9", "HEAD", ERR_NOENT, "'v9.9'");
	refuse(r, "HEAD~1", "0123456789012345678901234567890123456789", ERR_NOENT, "'0123");
	refuse(r, "HEAD", "HEAD~2", ERR_RANGE, "swapped");
	refuse(r, "HEAD", "main", ERR_RANGE, "same commit");
	refuse(r, "tree-tag", "HEAD", ERR_INVAL, "'tree-tag' is not a commit but a tree");
	refuse(r, "blob-tag", "HEAD", ERR_INVAL, "'blob-tag' is not a commit but a blob");
	refuse(r, "twice", "HEAD", ERR_AMBIGUOUS, "refs/tags/twice");
	refuse(r, "HEAD~2..HEAD", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, "--all", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, "", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, ":/a.c 2", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, ":0:a.c", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, "HEAD^{/a.c}", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, "HEAD^@", "HEAD", ERR_INVAL, "name of one commit");
	refuse(r, "tree-tag^{commit}", "HEAD", ERR_INVAL, "'tree-tag^{commit}' is not");
	compare(r, "refs/heads/twice", "refs/tags/twice", NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		opt.paths = &wrong[i];
		assert_err(range_read(r->git, "HEAD~1", "HEAD", &opt, &got, &e), ERR_INVAL, &e);
	}
	opt.paths = none;
	assert_err(range_read(r->git, "HEAD~1", "HEAD", &opt, &got, &e), ERR_RANGE, &e);
}

/* Two commits whose ids share their first hex digits, found by trying. */
static void refuses_an_ambiguous_short_id(void **state)
{
	struct repo *r = *state;
	char *prefix;

	repo_commits(r, 2, "a.c");
	/* Fixed dates, so that the ids are the same in every run. */
	free(repo_sh(r, "export GIT_AUTHOR_DATE='1700000000 +0000' "
			"GIT_COMMITTER_DATE='1700000000 +0000'; t=$(git write-tree); "
			"for i in $(seq 600); do git commit-tree -m \"$i\" $t; done > ids"));
	prefix = repo_sh(r, "cut -c1-4 ids | sort | uniq -d | head -n 1");
	assert_int_equal(strlen(prefix), 4);
	refuse(r, prefix, "HEAD", ERR_AMBIGUOUS, "ambiguous");
	free(prefix);
}

static void refuses_cut_histories(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	git_repository *git = NULL;
	char *path;

	repo_commits(r, 5, "a.c");
	free(repo_sh(r, "git clone -q --depth 2 \"file://$PWD\" shallow"));
	path = repo_sh(r, "echo \"$PWD/shallow\"");
	assert_err(range_open(path, &git, &e), ERR_UNSUPPORTED, &e);
	assert_non_null(strstr(e.msg, "shallow"));
	free(path);
	assert_ok(range_open(r->dir, &git, &e), &e);
	git_repository_free(git);
	git = NULL;
	free(repo_sh(r, "git rev-parse HEAD > .git/info/grafts"));
	assert_err(range_open(r->dir, &git, &e), ERR_UNSUPPORTED, &e);
	refuse(r, "HEAD~1", "HEAD", ERR_UNSUPPORTED, "grafts");
	assert_err(range_open("/nonexistent", &git, &e), ERR_NOENT, &e);
	assert_null(git);
}

static void says_what_is_less_known_of_a_long_range(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	free(repo_sh(r, "{ for i in $(seq 2002); do printf 'commit refs/heads/long\\ncommitter a "
			"<a@example.org> %%d +0000\\ndata 0\\n\\n' $((1700000000 + i)); done; } | "
			"git fast-import --quiet"));
	assert_ok(range_read(r->git, "long~2000", "long", NULL, &got, &e), &e);
	assert_int_equal(got.n_warnings, 0);
	range_done(&got);
	assert_ok(range_read(r->git, "long~2001", "long", NULL, &got, &e), &e);
	assert_int_equal(got.n_warnings, 1);
	assert_non_null(strstr(got.warnings[0], "2001 commits: of more than 2000"));
	range_done(&got);
}

static void warns_of_replaced_commits(void **state)
{
	struct repo *r = *state;
	struct err e = { 0 };
	struct range got;

	repo_commits(r, 4, "a.c");
	free(repo_sh(r, "git replace HEAD~1 HEAD~3"));
	assert_ok(range_read(r->git, "HEAD~3", "HEAD", NULL, &got, &e), &e);
	assert_int_equal(got.commits, 3);
	assert_int_equal(got.n_warnings, 1);
	range_done(&got);
}

#define WITH_REPO(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_REPO(line_counts_as_git_does),
		WITH_REPO(merges_count_as_git_does),
		WITH_REPO(paths_limit_as_git_does),
		WITH_REPO(good_beside_bad_gives_the_merge_base),
		WITH_REPO(only_descendants_count_as_git_does),
		WITH_REPO(criss_cross_has_two_merge_bases),
		WITH_REPO(roots_and_strange_dates_are_read),
		WITH_REPO(wrong_dates_do_not_widen_the_range),
		WITH_REPO(merge_that_drops_a_change_of_good_counts),
		WITH_REPO(octopus_merge_is_read_whole),
		WITH_REPO(says_what_is_wrong_with_the_ends),
		WITH_REPO(refuses_an_ambiguous_short_id),
		WITH_REPO(refuses_cut_histories),
		WITH_REPO(says_what_is_less_known_of_a_long_range),
		WITH_REPO(warns_of_replaced_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
