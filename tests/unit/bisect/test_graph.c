/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/graph.h"
#include "tests/unit/bisect/history.h"

static void add(struct bisect_graph *g, const char *name, int p1, int p2)
{
	struct err e = { 0 };
	int parents[2] = { p1, p2 };

	assert_ok(bisect_graph_add(g, name, parents, p1 < 0 ? 0 : p2 < 0 ? 1 : 2, false, &e), &e);
}

static void line_knows_its_ancestors(void **state)
{
	struct bisect_graph g = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(bisect_graph_add_line(&g, 5, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_true(g.line);
	assert_null(g.bits);
	assert_true(bisect_graph_contains(&g, 3, 3));
	assert_true(bisect_graph_contains(&g, 3, 0));
	assert_false(bisect_graph_contains(&g, 3, 4));
	assert_int_equal(bisect_graph_midpoint(&g), 1);
	bisect_graph_done(&g);
}

static void merge_joins_both_sides(void **state)
{
	struct bisect_graph g = { 0 };
	struct err e = { 0 };

	(void)state;
	add(&g, "a", -1, -1);
	add(&g, "b", 0, -1);
	add(&g, "c", 0, -1);
	add(&g, "d", 1, 2);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_false(g.line);
	assert_true(bisect_graph_contains(&g, 3, 1));
	assert_true(bisect_graph_contains(&g, 3, 2));
	assert_true(bisect_graph_contains(&g, 2, 0));
	assert_false(bisect_graph_contains(&g, 2, 1));
	assert_int_equal(bisect_graph_find(&g, "c", &e), 2);
	assert_err(bisect_graph_find(&g, "x", &e), ERR_NOENT, &e);
	bisect_graph_done(&g);
}

static void rows_work_past_one_word(void **state)
{
	struct bisect_graph g = { 0 };
	struct err e = { 0 };
	int parents[2] = { 0, 199 };

	(void)state;
	assert_ok(bisect_graph_add_line(&g, 200, &e), &e);
	assert_ok(bisect_graph_add(&g, "merge", parents, 2, false, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	for (size_t c = 0; c < 200; c++) {
		assert_true(bisect_graph_contains(&g, 200, c));
		assert_int_equal(bisect_graph_contains(&g, 128, c), c <= 128);
	}
	bisect_graph_done(&g);
}

/* Past one chunk of columns, beside the counts of the graph's rows. */
static void ancestors_are_counted_without_a_graph(void **state)
{
	struct bisect_graph g = { 0 };
	struct bisect_links links[5000];
	size_t count[5000];

	(void)state;
	history_make(&g, 5000, 4);
	for (size_t x = 0; x < g.n; x++)
		links[x] = (struct bisect_links){ g.commits[x].parents, g.commits[x].n_parents };
	bisect_count_ancestors(links, g.n, count);
	for (size_t x = 0; x < g.n; x += 7) {
		size_t n = 0;

		for (size_t c = 0; c <= x; c++)
			n += bisect_graph_contains(&g, x, c);
		assert_int_equal(count[x], n);
	}
	bisect_graph_done(&g);
}

static void refuses_bad_graphs(void **state)
{
	struct bisect_graph g = { 0 };
	struct err e = { 0 };
	int late = 1;

	(void)state;
	assert_err(bisect_graph_prepare(&g, &e), ERR_INVAL, &e);
	add(&g, "a", -1, -1);
	assert_err(bisect_graph_add(&g, "b", &late, 1, false, &e), ERR_INVAL, &e);
	late = -1;
	assert_err(bisect_graph_add(&g, "b", &late, 1, false, &e), ERR_INVAL, &e);
	assert_err(bisect_graph_add(&g, "0123456789012345678901234567890123456789x", NULL, 0, false,
				    &e),
		   ERR_INVAL, &e);
	assert_int_equal(g.n, 1);
	add(&g, "lonely", -1, -1);
	assert_err(bisect_graph_prepare(&g, &e), ERR_INVAL, &e);
	bisect_graph_done(&g);
	bisect_graph_done(NULL);
}

static void refuses_more_than_its_limit(void **state)
{
	struct bisect_graph g = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(bisect_graph_add_line(&g, BISECT_MAX_COMMITS, &e), &e);
	assert_err(bisect_graph_add_line(&g, 1, &e), ERR_TOO_BIG, &e);
	bisect_graph_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_knows_its_ancestors),
		cmocka_unit_test(merge_joins_both_sides),
		cmocka_unit_test(rows_work_past_one_word),
		cmocka_unit_test(ancestors_are_counted_without_a_graph),
		cmocka_unit_test(refuses_bad_graphs),
		cmocka_unit_test(refuses_more_than_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
