/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ranges with merges in a real repository: what `git rev-list --bisect` and `--count` say and take,
 * beside what range_read() says and takes, in the same run. Some commits have wrong dates.
 */
#include "bisect/graph.h"
#include "bot/base/clock.h"
#include "bot/watch/range.h"
#include "tests/integration/range/repo.h"
#include "tests/unit/bisect/history.h"

#include <sys/resource.h>

static void write_commit(FILE *out, const struct bisect_graph *g, size_t c, uint64_t *seed)
{
	const struct bisect_commit *commit = &g->commits[c];
	bool first = true;
	long date = 1600000000 + 60 * (long)c;

	/* One in fifty was made on a machine whose clock is wrong. */
	if (history_random(seed) < 0.02)
		date = (long)(history_random(seed) * 2e9);
	(void)fprintf(out,
		      "commit refs/heads/main\nmark :%zu\n"
		      "committer C <c@example.org> %ld +0000\ndata 1\nx\n",
		      c + 2, date);
	if (commit->n_parents == 0)
		(void)fprintf(out, "from :1\n");
	for (size_t i = 0; i < commit->n_parents; i++, first = false)
		(void)fprintf(out, "%s :%d\n", first ? "from" : "merge", commit->parents[i] + 2);
	if (commit->outside && commit->n_parents > 0)
		(void)fprintf(out, "merge :1\n");
	(void)fprintf(out, "M 100644 inline f\ndata <<E\n%zu\nE\n\n", c);
}

static void write_history(const struct repo *r, const struct bisect_graph *g, bool again)
{
	char cmd[128];
	uint64_t seed = 5;
	FILE *out;

	(void)snprintf(cmd, sizeof(cmd), "git -C '%s' fast-import --quiet", r->dir);
	out = popen(cmd, "w");
	assert_non_null(out);
	(void)fprintf(out,
		      "commit refs/heads/start\nmark :1\n"
		      "committer C <c@example.org> 1599999999 +0000\ndata 1\nx\n%s\n",
		      again ? "from refs/heads/start^0\n" : "");
	for (size_t c = 0; c < g->n; c++)
		write_commit(out, g, c, &seed);
	assert_int_equal(pclose(out), 0);
}

/* How evenly @hash divides the range: the smaller half. */
static size_t evenness(const struct bisect_graph *g, const char *hash)
{
	struct err e = { 0 };
	int x = bisect_graph_find(g, hash, &e);
	size_t a = 0;

	assert_true(x >= 0);
	for (size_t c = 0; c < g->n; c++)
		a += bisect_graph_contains(g, (size_t)x, c);
	return a < g->n - a ? a : g->n - a;
}

static double since(usec_t start)
{
	return (double)(clock_boottime() - start) / 1e6;
}

static void compare(size_t n, uint64_t history)
{
	struct bisect_graph g = { 0 };
	struct range range;
	struct repo r;
	struct err e = { 0 };
	double git_s, git_count_s, ours_s;
	usec_t start;
	char *git;
	char *count;

	repo_init(&r);
	history_make(&g, n, history);
	write_history(&r, &g, false);
	start = clock_boottime();
	git = repo_sh(&r, "git rev-list --bisect start..main");
	git_s = since(start);
	start = clock_boottime();
	count = repo_sh(&r, "git rev-list --count start..main");
	git_count_s = since(start);
	start = clock_boottime();
	assert_ok(range_read(r.git, "start", "main", NULL, &range, &e), &e);
	ours_s = since(start);
	(void)printf("bench: %zu commits, %zu merges: git rev-list --bisect %.12s halves to %zu in "
		     "%.3f s (count %s in %.3f s), ours %.12s to %zu in %.3f s\n",
		     range.commits, range.merges, git, evenness(&range.graph, git), git_s, count,
		     git_count_s, range.midpoint, evenness(&range.graph, range.midpoint), ours_s);
	assert_int_equal(range.commits, strtoul(count, NULL, 10));
	assert_int_equal(range.commits, n);
	assert_int_equal(range.graph.n, n);
	assert_true(evenness(&range.graph, range.midpoint) >= evenness(&range.graph, git));
	free(git);
	free(count);
	range_done(&range);
	bisect_graph_done(&g);
	repo_done(&r);
}

/* A history too long for a graph: the midpoint is counted all the same. */
static void compare_long(size_t n, uint64_t history)
{
	struct bisect_graph parts[3] = { 0 };
	struct range range;
	struct repo r;
	struct err e = { 0 };
	usec_t start;
	double git_s;
	double ours_s;
	char *git;
	size_t distance[2];

	repo_init(&r);
	for (int i = 0; i < 3; i++) {
		history_make(&parts[i], n, history + (uint64_t)i);
		write_history(&r, &parts[i], i > 0);
		free(repo_sh(&r, "test -n \"$(git tag)\" || git tag origin start; "
				 "git branch -qf start main"));
		bisect_graph_done(&parts[i]);
	}
	start = clock_boottime();
	git = repo_sh(&r, "git rev-list --bisect origin..main");
	git_s = since(start);
	start = clock_boottime();
	assert_ok(range_read(r.git, "origin", "main", NULL, &range, &e), &e);
	ours_s = since(start);
	assert_int_equal(range.graph.n, 0);
	for (int i = 0; i < 2; i++) {
		char *a = repo_sh(&r, "git rev-list --count origin..%s", i ? range.midpoint : git);

		distance[i] = strtoul(a, NULL, 10);
		if (distance[i] > range.commits - distance[i])
			distance[i] = range.commits - distance[i];
		free(a);
	}
	(void)printf("bench: %zu commits: git halves to %zu in %.3f s, ours to %zu in %.3f s\n",
		     range.commits, distance[0], git_s, distance[1], ours_s);
	assert_true(distance[1] >= distance[0]);
	free(git);
	range_done(&range);
	repo_done(&r);
}

static void midpoint_is_as_good_as_that_of_git(void **state)
{
	struct rusage use;

	(void)state;
	compare(734, 3);
	compare(1024, 1);
	compare(18185, 5);
	compare(20000, 7);
	compare_long(15000, 8);
	assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
	(void)printf("bench: %ld MB at most\n", use.ru_maxrss / 1024);
	assert_true(use.ru_maxrss < 300 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(midpoint_is_as_good_as_that_of_git) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
