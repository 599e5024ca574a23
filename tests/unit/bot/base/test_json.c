/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/json.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static void refuses_what_is_not_json(void **state)
{
	static const char *const bad[] = { "",
					   " ",
					   "{",
					   "{\"a\":1,\"a\":2}",
					   "[1,]",
					   "{\"a\":}",
					   "nan",
					   "[1] x",
					   "\"\\u0000\"",
					   "[\"\\u0000\"]",
					   "[\"\xff\"]",
					   "[\"\xed\xa0\x80\"]",
					   "[\"a\nb\"]",
					   "[1e999]",
					   "[99999999999999999999]",
					   "{\"a\\u0000\":1}" };
	struct err e = { 0 };
	json_t *j = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_err(json_read(bad[i], strlen(bad[i]), "body", &j, &e), ERR_PARSE, &e);
		assert_null(j);
		assert_int_equal(strncmp(e.msg, "body is not JSON", 16), 0);
	}
	assert_err(json_read("{\"a\":1}\0{}", 10, "body", &j, &e), ERR_PARSE, &e);
}

static void deep_nesting_is_refused_not_run_into(void **state)
{
	size_t n = 200000;
	char *text = malloc(n);
	struct err e = { 0 };
	json_t *j = NULL;

	(void)state;
	memset(text, '[', n);
	assert_err(json_read(text, n, "body", &j, &e), ERR_PARSE, &e);
	free(text);
}

static void getters_take_a_wrong_type_as_absent(void **state)
{
	static const char text[] = "{\"s\":\"x\",\"i\":5,\"f\":1.5,\"n\":null,\"b\":true}";
	json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	assert_ok(json_read(text, strlen(text), "body", &j, &e), &e);
	assert_string_equal(json_str(j, "s", "d"), "x");
	assert_string_equal(json_str(j, "i", "d"), "d");
	assert_string_equal(json_str(j, "n", "d"), "d");
	assert_null(json_str(j, "none", NULL));
	assert_int_equal(json_i64(j, "i", 9), 5);
	assert_int_equal(json_i64(j, "f", 9), 9);
	assert_int_equal(json_i64(j, "s", 9), 9);
	assert_true(json_f64(j, "i", 9) == 5);
	assert_true(json_f64(j, "f", 9) == 1.5);
	assert_true(json_f64(j, "b", 9) == 9);
	assert_int_equal(json_i64(NULL, "i", 9), 9);
	json_decref(j);
}

static void setters_leave_out_what_has_no_value(void **state)
{
	json_t *j = json_object();
	char *s;

	(void)state;
	json_set_str(j, "a", NULL);
	json_set_f64(j, "b", NAN);
	json_set_f64(j, "c", INFINITY);
	json_set_str(j, "bad", "x\xffy");
	json_set_f64(j, "f", 0.1);
	json_set_i64(j, "i", INT64_MIN);
	json_set_bool(j, "t", 2);
	s = json_text(j);
	assert_string_equal(s,
			    "{\"bad\":\"x?y\",\"f\":0.10000000000000001,\"i\":-9223372036854775808,"
			    "\"t\":true}");
	free(s);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_is_not_json),
		cmocka_unit_test(deep_nesting_is_refused_not_run_into),
		cmocka_unit_test(getters_take_a_wrong_type_as_absent),
		cmocka_unit_test(setters_leave_out_what_has_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
