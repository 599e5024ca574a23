/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/parse.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static void whole_numbers_up_to_both_ends(void **state)
{
	struct err e = { 0 };
	int64_t v = 7;

	(void)state;
	assert_ok(parse_i64("9223372036854775807", INT64_MIN, INT64_MAX, &v, &e), &e);
	assert_true(v == INT64_MAX);
	assert_ok(parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &v, &e), &e);
	assert_true(v == INT64_MIN);
	assert_ok(parse_i64("010", 10, 10, &v, &e), &e);
	assert_int_equal(v, 10);
	assert_err(parse_i64("9223372036854775808", INT64_MIN, INT64_MAX, &v, &e), ERR_RANGE, &e);
	assert_err(parse_i64("-9223372036854775809", INT64_MIN, INT64_MAX, &v, &e), ERR_RANGE, &e);
	assert_err(parse_i64("11", 0, 10, &v, &e), ERR_RANGE, &e);
	assert_err(parse_i64("-1", 0, 10, &v, &e), ERR_RANGE, &e);
	assert_int_equal(v, 10);
}

static void refuses_what_is_not_a_whole_number(void **state)
{
	static const char *const bad[] = { "",	  " ",	  " 1", "1 ",  "+1",  "-",  "--1", "1.0",
					   "1e3", "0x10", "1k", "- 1", "\t1", "１", "1\n", "nan" };
	struct err e = { 0 };
	int64_t v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(parse_i64(bad[i], INT64_MIN, INT64_MAX, &v, &e), ERR_PARSE, &e);
	assert_int_equal(v, 7);
}

static void floating_numbers_are_finite_and_decimal(void **state)
{
	static const char *const bad[] = { "",	     "inf",  "nan", "-inf", "0x1p3", "1e999",
					   "-1e999", "1..2", "1 ",  " 1",   "e5",    ".",
					   "+-1",    "1e",   "1,5", "1e+e", "1f",    "infinity" };
	struct err e = { 0 };
	double v = 7;

	(void)state;
	assert_ok(parse_f64("-1.5e3", -1e9, 1e9, &v, &e), &e);
	assert_true(v == -1500);
	assert_ok(parse_f64("1e-320", 0, 1, &v, &e), &e);
	assert_true(v > 0);
	v = 7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(parse_f64(bad[i], -INFINITY, INFINITY, &v, &e), ERR_PARSE, &e);
	assert_err(parse_f64("1.0001", 0, 1, &v, &e), ERR_RANGE, &e);
	assert_err(parse_f64("-0.0001", 0, 1, &v, &e), ERR_RANGE, &e);
	assert_true(v == 7);
}

static void truth_has_four_words_for_each_side(void **state)
{
	static const char *const bad[] = { "", "2", "y", "t", "truee", " true", "tru", "ja", "01" };
	struct err e = { 0 };
	bool v;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		static const char *const yes[] = { "true", "YES", "on", "1", "True" };
		static const char *const no[] = { "false", "No", "OFF", "0", "False" };

		v = false;
		assert_ok(parse_bool(yes[i], &v, &e), &e);
		assert_true(v);
		assert_ok(parse_bool(no[i], &v, &e), &e);
		assert_false(v);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(parse_bool(bad[i], &v, &e), ERR_PARSE, &e);
}

static void sizes_have_units_of_1024(void **state)
{
	static const struct {
		const char *s;
		uint64_t v;
	} good[] = { { "0", 0 },	   { "1", 1 },		 { "7B", 7 },
		     { "1K", 1024 },	   { "1k", 1024 },	 { "1KB", 1024 },
		     { "1KiB", 1024 },	   { "1.5K", 1536 },	 { "2m", 2 << 20 },
		     { "3G", 3ULL << 30 }, { "7T", 7ULL << 40 }, { "8000000T", 8000000ULL << 40 } };
	static const char *const bad[] = { "",	    "-1",  "+1",  "K",	   "1KK",  "1 K",
					   "1P",    "1iB", "1Bi", "1KiBx", "0x10", "1e3",
					   "1.2.3", "1@",  "1 ",  "1kib" };
	struct err e = { 0 };
	uint64_t v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(parse_size(bad[i], &v, &e), ERR_PARSE, &e);
	assert_err(parse_size("9000000T", &v, &e), ERR_RANGE, &e);
	assert_err(parse_size("99999999999999999999", &v, &e), ERR_RANGE, &e);
	assert_err(parse_size("00000000000000000000000000000001", &v, &e), ERR_PARSE, &e);
	assert_true(v == 7);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_ok(parse_size(good[i].s, &v, &e), &e);
		assert_true(v == good[i].v);
	}
}

static void durations_are_in_seconds(void **state)
{
	static const struct {
		const char *s;
		double v;
	} good[] = { { "90", 90 },     { "90s", 90 },	  { "5m", 300 },  { "2h", 7200 },
		     { "3d", 259200 }, { "250ms", 0.25 }, { "1.5m", 90 }, { "0", 0 } };
	static const char *const bad[] = { "",	   "s",	  "-1s", "1 s", "1M",
					   "1min", "1hh", "1e3", "1sm", "5m " };
	struct err e = { 0 };
	double v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(parse_duration(bad[i], &v, &e), ERR_PARSE, &e);
	assert_true(v == 7);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_ok(parse_duration(good[i].s, &v, &e), &e);
		assert_near(v, good[i].v, 1e-12);
	}
}

static void ratios_are_fractions_or_percents(void **state)
{
	static const char *const bad[] = { "",	   "%",	     "1%%", "1 %", "x",
					   "nan%", "1e999%", "%1",  "--1%" };
	struct err e = { 0 };
	double v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(parse_ratio(bad[i], &v, &e), ERR_PARSE, &e);
	assert_err(parse_ratio("10001", &v, &e), ERR_RANGE, &e);
	assert_true(v == 7);
	assert_ok(parse_ratio("3.8%", &v, &e), &e);
	assert_near(v, 0.038, 1e-12);
	assert_ok(parse_ratio("-0.5", &v, &e), &e);
	assert_true(v == -0.5);
}

static void object_names_are_forty_lower_case_digits(void **state)
{
	(void)state;
	assert_true(parse_hash("0123456789abcdef0123456789abcdef01234567"));
	assert_false(parse_hash("0123456789ABCDEF0123456789abcdef01234567"));
	assert_false(parse_hash("0123456789abcdef0123456789abcdef0123456"));
	assert_false(parse_hash("0123456789abcdef0123456789abcdef012345678"));
	assert_false(parse_hash("0123456789abcdef0123456789abcdef0123456\n"));
	assert_false(parse_hash(""));
}

static void names_are_safe_as_files(void **state)
{
	static const char *const bad[] = { "",	  ".",	 "..", "-a", "_a",  ".a",   "a/b",
					   "a b", "a\n", "ä",  "a%", "a:b", "a\\b", "a;b" };
	char name[66];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(parse_name(bad[i]));
	assert_true(parse_name("a"));
	assert_true(parse_name("9.x-y_Z"));
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	assert_true(parse_name(name));
	name[64] = 'a';
	name[65] = '\0';
	assert_false(parse_name(name));
}

static void reasons_name_the_value_and_stay_short(void **state)
{
	struct err e = { 0 };
	char big[3000];
	int64_t v;

	(void)state;
	assert_err(parse_i64("12x", 0, 1, &v, &e), ERR_PARSE, &e);
	assert_non_null(strstr(e.msg, "'12x'"));
	memset(big, 'z', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_err(parse_i64(big, 0, 1, &v, &e), ERR_PARSE, &e);
	assert_true(strlen(e.msg) < 200);
	assert_int_equal(parse_i64("x", 0, 1, &v, NULL), ERR_PARSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_up_to_both_ends),
		cmocka_unit_test(refuses_what_is_not_a_whole_number),
		cmocka_unit_test(floating_numbers_are_finite_and_decimal),
		cmocka_unit_test(truth_has_four_words_for_each_side),
		cmocka_unit_test(sizes_have_units_of_1024),
		cmocka_unit_test(durations_are_in_seconds),
		cmocka_unit_test(ratios_are_fractions_or_percents),
		cmocka_unit_test(object_names_are_forty_lower_case_digits),
		cmocka_unit_test(names_are_safe_as_files),
		cmocka_unit_test(reasons_name_the_value_and_stay_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
