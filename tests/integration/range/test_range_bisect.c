/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bisections of real repositories: each commit has its speed in a file. */
#include "tests/integration/range/repo.h"

#include "bisect/bisect.h"
#include "bot/watch/range.h"

#include <math.h>

struct search {
	struct repo repo;
	struct range range;
	struct bisect_state s;
	struct bisect_step step;
};

static double speed_of(const struct search *x, int commit)
{
	char *out = repo_sh(&x->repo, "git show %s:speed",
			    commit == BISECT_GOOD_END ? x->range.good
						      : x->range.graph.commits[commit].hash);
	double v = atof(out);

	free(out);
	assert_true(v > 0);
	return v;
}

static void run_in(struct search *x, const char *good, const char *bad,
		   const struct range_options *opt)
{
	struct bisect_params p = bisect_params_default();
	struct err e = { 0 };

	p.sigma = 0.01;
	p.step = log(0.85);
	assert_ok(range_read(x->repo.git, good, bad, opt, &x->range, &e), &e);
	assert_ok(bisect_init(&x->s, &x->range.graph, &p, &e), &e);
	for (int boot = 1; boot < 100; boot++) {
		bisect_step_done(&x->step);
		assert_ok(bisect_next(&x->s, &x->step, &e), &e);
		if (x->step.action != BISECT_MEASURE)
			return;
		for (int i = 0; i < x->step.runs; i++)
			assert_ok(bisect_add_run(&x->s, x->step.commit, boot,
						 log(speed_of(x, x->step.commit)), &e),
				  &e);
	}
	fail_msg("no answer");
}

static void run(struct search *x, const char *good, const char *bad)
{
	run_in(x, good, bad, NULL);
}

static void finish(struct search *x)
{
	bisect_step_done(&x->step);
	bisect_done(&x->s);
	range_done(&x->range);
}

/* The culprit sits in one arm of a merge with six parents; the merge itself is not to blame. */
static void culprit_in_an_arm_of_an_octopus(void **state)
{
	static const char *const tips[] = { "next", "next-old" };
	struct search x = { 0 };

	(void)state;
	repo_init(&x.repo);
	free(repo_sh(&x.repo, "git fast-import --quiet < '%s/tests/data/bisect/octopus.fi'",
		     TEST_SOURCE_DIR));
	for (int i = 0; i < 2; i++) {
		const struct bisect_commit *c;

		run(&x, "v6.1", tips[i]);
		assert_int_equal(x.step.action, BISECT_DONE);
		c = &x.range.graph.commits[x.step.commit];
		assert_string_equal(c->hash, "022c22736f9cc173b1dfcff2564032e33da6692d");
		assert_false(x.step.merge);
		assert_true(x.step.probability >= 0.99);
		assert_int_equal(c->n_parents, 1);
		assert_memory_equal(x.range.graph.commits[c->parents[0]].hash, "fa2c4019bcf8", 12);
		finish(&x);
	}
	repo_done(&x.repo);
}

/* Limited to the file that tells the speed, what is left is one arm, and still not the merge. */
static void paths_lead_into_the_arm_of_an_octopus(void **state)
{
	static const char *const speed[] = { "speed" }, *const others[] = { "topic1", "topic5" };
	struct range_options opt = { .paths = speed, .n_paths = 1 };
	struct search x = { 0 };

	(void)state;
	repo_init(&x.repo);
	free(repo_sh(&x.repo, "git fast-import --quiet < '%s/tests/data/bisect/octopus.fi'",
		     TEST_SOURCE_DIR));
	run_in(&x, "v6.1", "next", &opt);
	assert_int_equal(x.range.commits, 1);
	assert_int_equal(x.step.action, BISECT_DONE);
	assert_memory_equal(x.range.graph.commits[x.step.commit].hash, "022c22736f9c", 12);
	assert_false(x.step.merge);
	finish(&x);
	/* a branch that has not the culprit: no step, and no commit is blamed */
	for (int i = 0; i < 2; i++) {
		run_in(&x, "v6.1", others[i], NULL);
		assert_int_equal(x.step.action, BISECT_NONE);
		finish(&x);
	}
	repo_done(&x.repo);
}

/* Each side is fast alone, together they are slow. */
static void merge_of_two_good_sides_is_the_culprit(void **state)
{
	struct search x = { 0 };
	char *merge;

	(void)state;
	repo_init(&x.repo);
	free(repo_sh(&x.repo, "echo 100 > speed; git add speed; git commit -q -m start; "
			      "git tag start; git checkout -q -b side"));
	repo_commits(&x.repo, 3, "side.c");
	free(repo_sh(&x.repo, "git checkout -q main"));
	repo_commits(&x.repo, 3, "main.c");
	free(repo_sh(&x.repo,
		     "git merge -q --no-ff --no-commit side >/dev/null 2>&1 && echo 85 > speed && "
		     "git commit -q -a -m merge"));
	merge = repo_sh(&x.repo, "git rev-parse HEAD");
	repo_commits(&x.repo, 2, "main.c");
	run(&x, "start", "main");
	assert_int_equal(x.step.action, BISECT_DONE);
	assert_true(x.step.merge);
	assert_string_equal(x.range.graph.commits[x.step.commit].hash, merge);
	free(merge);
	finish(&x);
	repo_done(&x.repo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(culprit_in_an_arm_of_an_octopus),
		cmocka_unit_test(paths_lead_into_the_arm_of_an_octopus),
		cmocka_unit_test(merge_of_two_good_sides_is_the_culprit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
