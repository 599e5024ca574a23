/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parents older than the good end: what they are like, and which commits say nothing then. */
#include "bisect/bisect.h"
#include "bisect/older.h"
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct bisect_interval drop = { -0.05, -0.06, -0.04 };
static const struct bisect_interval rise = { 0.05, 0.04, 0.06 };
static const struct bisect_interval none = { 0.001, -0.01, 0.01 };
static const struct bisect_interval wide = { -0.04, -0.09, 0.01 };
static const struct bisect_interval unknown = { NAN, NAN, NAN };

static void takes_a_parent_for_good_that_the_culprit_is_worse_than(void **state)
{
	(void)state;
	assert_int_equal(bisect_older_judge(true, &drop, NULL, NULL), BISECT_OLDER_GOOD);
	assert_int_equal(bisect_older_judge(false, &rise, NULL, NULL), BISECT_OLDER_GOOD);
}

static void asks_for_the_good_end_before_it_takes_a_parent_for_bad(void **state)
{
	(void)state;
	assert_int_equal(bisect_older_judge(true, &none, NULL, NULL), BISECT_OLDER_ASK);
	/* Even worse than the culprit is not good. */
	assert_int_equal(bisect_older_judge(true, &rise, NULL, &drop), BISECT_OLDER_ASK);
	assert_int_equal(bisect_older_judge(false, &drop, &drop, NULL), BISECT_OLDER_ASK);
}

static void takes_a_parent_for_bad_that_is_worse_than_the_good_end(void **state)
{
	(void)state;
	assert_int_equal(bisect_older_judge(true, &none, &drop, &drop), BISECT_OLDER_BAD);
	assert_int_equal(bisect_older_judge(false, &none, &rise, &rise), BISECT_OLDER_BAD);
	/* Half of the step and more, where its own interval is too wide. */
	assert_int_equal(bisect_older_judge(true, &none, &wide, &drop), BISECT_OLDER_BAD);
}

static void says_nothing_of_a_parent_without_a_step_anywhere(void **state)
{
	(void)state;
	assert_int_equal(bisect_older_judge(true, &none, &none, &none), BISECT_OLDER_UNKNOWN);
	assert_int_equal(bisect_older_judge(true, &none, &none, &drop), BISECT_OLDER_UNKNOWN);
	assert_int_equal(bisect_older_judge(true, &none, &rise, &none), BISECT_OLDER_UNKNOWN);
	assert_int_equal(bisect_older_judge(true, &unknown, &unknown, &unknown),
			 BISECT_OLDER_UNKNOWN);
}

/*
 * 0 and 3 grew from the good end, 1 from older history. 1 - 2 is a topic, 4 = 0 + 2 its merge, 5 is
 * another topic from elsewhere, 6 = 3 + 5, 7 = 4 + 6.
 */
static void make(struct bisect_graph *g)
{
	static const struct {
		int parents[2];
		size_t n;
		bool outside;
	} commits[] = {
		{ { 0 }, 0, true },	{ { 0 }, 0, true },	{ { 1 }, 1, false },
		{ { 0 }, 0, true },	{ { 0, 2 }, 2, false }, { { 0 }, 0, true },
		{ { 3, 5 }, 2, false }, { { 4, 6 }, 2, false },
	};
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(commits); i++) {
		char name[2] = { (char)('0' + i), '\0' };

		assert_ok(bisect_graph_add(g, name, commits[i].parents, commits[i].n,
					   commits[i].outside, &e),
			  &e);
	}
	assert_ok(bisect_graph_prepare(g, &e), &e);
}

static void marks_a_topic_up_to_where_it_meets_the_good_end(void **state)
{
	_cleanup_(bisect_graph_done) struct bisect_graph g = { 0 };
	const unsigned char bad[8] = { [1] = 1 };
	unsigned char good[8] = { [0] = 1, [3] = 1 };
	const unsigned char expect[8] = { [1] = 1, [2] = 1 };
	const unsigned char has[8] = { 1, 0, 0, 1, 1, 0, 1, 1 };
	unsigned char got[8];

	(void)state;
	make(&g);
	bisect_older_mark(&g, bad, good, got);
	assert_memory_equal(got, expect, sizeof(got));
	assert_memory_equal(good, has, sizeof(good));
	assert_int_equal(bisect_older_merge(&g, good, 1), 4);
	assert_int_equal(bisect_older_merge(&g, good, 5), 6);
	assert_int_equal(bisect_older_merge(&g, good, 4), 4);
}

static void finds_no_merge_where_nothing_has_the_good_end(void **state)
{
	_cleanup_(bisect_graph_done) struct bisect_graph g = { 0 };
	const unsigned char none_has[8] = { 0 };

	(void)state;
	make(&g);
	assert_int_equal(bisect_older_merge(&g, none_has, 1), BISECT_NO_COMMIT);
}

static void keeps_why_such_a_commit_is_left_out(void **state)
{
	_cleanup_(bisect_graph_done) struct bisect_graph g = { 0 };
	const struct bisect_params p = bisect_params_default();
	struct bisect_state s, again;
	struct err e = { 0 };
	char *saved;

	(void)state;
	make(&g);
	assert_ok(bisect_init(&s, &g, &p, &e), &e);
	assert_ok(bisect_skip(&s, 1, BISECT_SKIP_OLDER, &e), &e);
	saved = bisect_save(&s);
	assert_non_null(strstr(saved, "\"older\""));
	assert_ok(bisect_load(&again, &g, saved, &e), &e);
	assert_int_equal(again.skip[1], BISECT_SKIP_OLDER);
	free(saved);
	bisect_done(&again);
	bisect_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_parent_for_good_that_the_culprit_is_worse_than),
		cmocka_unit_test(asks_for_the_good_end_before_it_takes_a_parent_for_bad),
		cmocka_unit_test(takes_a_parent_for_bad_that_is_worse_than_the_good_end),
		cmocka_unit_test(says_nothing_of_a_parent_without_a_step_anywhere),
		cmocka_unit_test(marks_a_topic_up_to_where_it_meets_the_good_end),
		cmocka_unit_test(keeps_why_such_a_commit_is_left_out),
		cmocka_unit_test(finds_no_merge_where_nothing_has_the_good_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
