/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/bases.h"

static enum bisect_base_side side(double good, double bad, double base, double sd, int boots)
{
	const struct bisect_level g = { good, sd, 3 }, b = { bad, sd, 3 }, m = { base, sd, boots };

	return bisect_base_side(&g, &b, &m);
}

static void a_base_is_like_the_end_that_it_is_near(void **state)
{
	(void)state;
	assert_int_equal(side(0, -6, 0.1, 1, 2), BISECT_BASE_GOOD);
	assert_int_equal(side(0, -6, -6.2, 1, 2), BISECT_BASE_BAD);
	assert_int_equal(side(0, 6, 0.1, 1, 2), BISECT_BASE_GOOD);
	assert_int_equal(side(0, 6, 5.9, 1, 2), BISECT_BASE_BAD);
}

static void what_lies_beyond_an_end_is_like_that_end(void **state)
{
	(void)state;
	assert_int_equal(side(0, -5, 20, 1, 2), BISECT_BASE_GOOD);
	assert_int_equal(side(0, -5, -50, 1, 2), BISECT_BASE_BAD);
}

static void the_middle_stays_open_until_it_was_measured_often(void **state)
{
	(void)state;
	assert_int_equal(side(0, -5, -2.6, 1, 2), BISECT_BASE_OPEN);
	assert_int_equal(side(0, -5, -2.6, 1, BISECT_BASE_BOOTS_MOST - 1), BISECT_BASE_OPEN);
	assert_int_equal(side(0, -5, -2.6, 1, BISECT_BASE_BOOTS_MOST), BISECT_BASE_BETWEEN);
	/* Less noise tells them apart. */
	assert_int_equal(side(0, -5, -2.6, 0.01, 2), BISECT_BASE_BAD);
}

static void nothing_is_said_without_values(void **state)
{
	const struct bisect_level none = { 0, 1, 0 }, good = { 0, 1, 3 }, bad = { -9, 1, 3 };

	(void)state;
	assert_int_equal(bisect_base_side(&good, &bad, &none), BISECT_BASE_OPEN);
	assert_int_equal(bisect_base_side(&none, &bad, &good), BISECT_BASE_OPEN);
	assert_int_equal(side(1, 1, 1, 1, 3), BISECT_BASE_OPEN);
	assert_int_equal(side(1, 1, 5, 1, BISECT_BASE_BOOTS_MOST), BISECT_BASE_BETWEEN);
}

#define G BISECT_BASE_GOOD
#define B BISECT_BASE_BAD
#define O BISECT_BASE_OPEN
#define N BISECT_BASE_UNTESTED
#define M BISECT_BASE_BETWEEN

static void all_bases_together_say_where_to_search(void **state)
{
	static const struct {
		enum bisect_base_side sides[3];
		size_t n;
		enum bisect_bases_search search;
		size_t from;
	} cases[] = {
		{ { O }, 1, BISECT_BASES_MEASURE, 0 },
		{ { G }, 1, BISECT_BASES_BAD_SIDE, 0 },
		{ { M }, 1, BISECT_BASES_BAD_SIDE, 0 },
		{ { N }, 1, BISECT_BASES_UNKNOWN, 0 },
		{ { N, N }, 2, BISECT_BASES_UNKNOWN, 2 },
		{ { B }, 1, BISECT_BASES_GOOD_SIDE, 0 },
		{ { G, O }, 2, BISECT_BASES_MEASURE, 1 },
		{ { G, G }, 2, BISECT_BASES_BAD_SIDE, 2 },
		{ { G, B }, 2, BISECT_BASES_GOOD_SIDE, 1 },
		{ { B, O }, 2, BISECT_BASES_MEASURE, 1 },
		{ { B, B, G }, 3, BISECT_BASES_GOOD_SIDE, 0 },
		{ { N, G, M }, 3, BISECT_BASES_BAD_SIDE, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t from = 9;

		assert_int_equal(bisect_bases_decide(cases[i].sides, cases[i].n, &from),
				 cases[i].search);
		assert_int_equal(from, cases[i].from);
	}
}

static void names_are_found_again(void **state)
{
	(void)state;
	for (int i = BISECT_BASE_OPEN; i <= BISECT_BASE_UNTESTED; i++)
		assert_int_equal(
			bisect_base_side_find(bisect_base_side_name((enum bisect_base_side)i)), i);
	assert_int_equal(bisect_base_side_find("worse"), BISECT_BASE_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_base_is_like_the_end_that_it_is_near),
		cmocka_unit_test(what_lies_beyond_an_end_is_like_that_end),
		cmocka_unit_test(the_middle_stays_open_until_it_was_measured_often),
		cmocka_unit_test(nothing_is_said_without_values),
		cmocka_unit_test(all_bases_together_say_where_to_search),
		cmocka_unit_test(names_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
