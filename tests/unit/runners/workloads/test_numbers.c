/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/numbers.h"

#include "bot/base/cleanup.h"
#include "tests/test.h"

static void expect_bytes(const char *text, size_t want)
{
	size_t v = 7;

	if (!bytes_parse(text, &v) || v != want)
		fail_msg("'%s' gives %zu", text, v);
}

static void expect_no_bytes(const char *text)
{
	size_t v = 7;

	if (bytes_parse(text, &v))
		fail_msg("'%s' gives %zu", text, v);
	assert_int_equal(v, 7);
}

static void reads_sizes_with_their_suffix(void **state)
{
	(void)state;
	expect_bytes("0", 0);
	expect_bytes("4096", 4096);
	expect_bytes("1k", 1024);
	expect_bytes("3M", 3 << 20);
	expect_bytes("2g", (size_t)2 << 30);
	expect_bytes("4T", (size_t)4 << 40);
	expect_bytes("4194304t", (size_t)1 << 62);
}

static void refuses_what_is_no_size(void **state)
{
	static const char *const texts[] = { "",
					     "k",
					     "-1",
					     "+1",
					     " 1",
					     "1.5g",
					     "1kk",
					     "1x",
					     "0x10",
					     "nan",
					     "1 k",
					     "1`",
					     "4194305t",
					     "18446744073709551616",
					     "9223372036854775808" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect_no_bytes(texts[i]);
}

static void keeps_counts_within_their_limit(void **state)
{
	uint64_t v = 7;

	(void)state;
	assert_true(count_parse("10", 10, &v));
	assert_int_equal(v, 10);
	assert_false(count_parse("11", 10, &v));
	assert_false(count_parse("1k", 10000, &v));
	assert_false(count_parse("18446744073709551616", UINT64_MAX, &v));
	assert_int_equal(v, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sizes_with_their_suffix),
		cmocka_unit_test(refuses_what_is_no_size),
		cmocka_unit_test(keeps_counts_within_their_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
