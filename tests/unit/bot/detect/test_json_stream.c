/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing JSON in place, beside what jansson and the C library make of it. */
#include "bot/base/err.h"
#include "bot/detect/json_read.h"
#include "bot/detect/json_write.h"
#include "bot/detect/nametab.h"
#include "tests/test.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t state_of_random = 88172645463325252ULL;

static uint64_t random_bits(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

static double random_double(void)
{
	for (;;) {
		uint64_t bits = random_bits();
		double v;

		memcpy(&v, &bits, sizeof(v));
		if (isfinite(v))
			return v;
	}
}

/* The same to the last bit, and to the sign of zero. */
static bool same_double(double a, double b)
{
	uint64_t x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	return x == y;
}

static double read_number(const char *text)
{
	struct json_in in;
	struct err e = { 0 };
	double v = 0;

	json_in_init(&in, text, strlen(text), &e);
	assert_ok(json_in_number(&in, &v), &e);
	assert_int_equal(in.p - text, strlen(text));
	json_in_done(&in);
	return v;
}

static void numbers_are_read_as_strtod_does(void **state)
{
	static const char *const fixed[] = {
		"0",
		"-0",
		"0.0e99999",
		"1e22",
		"1e23",
		"9007199254740993",
		"9007199254740992.5",
		"0.1",
		"1e-27",
		"123456789012345678901234567890",
		"4.9e-324",
		"2.2250738585072011e-308",
		"1.7976931348623157e308",
		"0.3e1",
		"1E+5",
		"100000000000000016777215.5",
		"0.000000000000000000000000000000000000000000000000000000000000000000000001"
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		double a = read_number(fixed[i]), b = strtod(fixed[i], NULL);

		if (!same_double(a, b))
			fail_msg("%s is read as %.17g", fixed[i], a);
	}
	for (int i = 0; i < 200000; i++) {
		double v = i & 1 ? random_double() : (double)(random_bits() >> 20) / 1e6;
		double a;

		(void)snprintf(text, sizeof(text), "%.*g", 1 + (int)(random_bits() % 17), v);
		v = strtod(text, NULL);
		if (!isfinite(v))
			continue;
		a = read_number(text);
		if (!same_double(a, v))
			fail_msg("%s is read as %.17g", text, a);
	}
}

static void numbers_are_written_to_fifteen_digits(void **state)
{
	static const double fixed[] = { 0,
					1,
					-1,
					.1,
					1e-5,
					9.9e-6,
					1e14,
					1e15,
					123456789012345,
					4.9e-324,
					1.7976931348623157e308,
					1e300,
					1e-300,
					.99999999999999989,
					999999999999999.9,
					9.99999999999999999e22,
					-0.038,
					100,
					65536 };
	struct strbuf b = STRBUF_INIT;
	struct json_out o = { .b = &b };

	(void)state;
	for (int i = 0; i < 200000; i++) {
		double v = i < (int)(sizeof(fixed) / sizeof(fixed[0])) ? fixed[i] : random_double();
		double back;
		json_t *parsed;

		strbuf_reset(&b);
		o.more = false;
		json_out_num(&o, NULL, v);
		back = strtod(b.s, NULL);
		if (!(fabs(back - v) <= 5.1e-15 * fabs(v)) &&
		    !(isinf(back) && fabs(v) > 1.79e308) && fabs(v) > 1e-307)
			fail_msg("%.17g is written as %s", v, b.s);
		parsed = json_loadb(b.s, b.len, JSON_DECODE_ANY, NULL);
		if (!parsed && fabs(v) < 1.79e308)
			fail_msg("%s is no JSON", b.s);
		if (parsed && !json_is_real(parsed))
			fail_msg("%s is no real", b.s);
		json_decref(parsed);
	}
	strbuf_reset(&b);
	o.more = false;
	json_out_num(&o, "x", (double)NAN);
	json_out_num(&o, "x", (double)INFINITY);
	assert_int_equal(b.len, 0);
	json_out_num(&o, "x", -.038);
	json_out_int(&o, "y", -9223372036854775807L - 1);
	json_out_int(&o, "z", 0);
	assert_string_equal(b.s, "\"x\":-0.038,\"y\":-9223372036854775808,\"z\":0");
	strbuf_done(&b);
}

static void strings_survive_both_ways(void **state)
{
	static const char *const strings[] = {
		"", "plain", "\"\\/", "\x01\x1f\n\t", "é…\xf0\x9f\x98\x80", "\x7f", "a\"b\\c"
	};
	struct strbuf b = STRBUF_INIT;
	struct json_out o = { .b = &b };

	(void)state;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		struct json_in in;
		struct json_text t;
		struct err e = { 0 };
		json_t *v;

		strbuf_reset(&b);
		o.more = false;
		json_out_str(&o, NULL, strings[i]);
		v = json_loadb(b.s, b.len, JSON_DECODE_ANY, NULL);
		assert_string_equal(json_string_value(v), strings[i]);
		json_decref(v);
		json_in_init(&in, b.s, b.len, &e);
		assert_ok(json_in_string(&in, &t), &e);
		assert_true(json_text_is(&t, strings[i]));
		json_in_done(&in);
	}
	strbuf_reset(&b);
	o.more = false;
	json_out_str(&o, NULL, "a\xff\xc3");
	assert_string_equal(b.s, "\"a\\ufffd\\ufffd\"");
	strbuf_done(&b);
}

static int check(const char *text, size_t len)
{
	struct json_in in;
	struct err e = { 0 };
	int r;

	json_in_init(&in, text, len, &e);
	r = json_in_check(&in);
	json_in_done(&in);
	if (r < 0 && !strstr(e.msg, "line "))
		fail_msg("'%s' names no line", e.msg);
	return r;
}

static void takes_and_refuses_what_jansson_does(void **state)
{
	static const char *const texts[] = { "",
					     " ",
					     "{",
					     "}",
					     "{}",
					     "[]",
					     "[1]",
					     "[1,]",
					     "[,1]",
					     "{\"a\"}",
					     "{\"a\":}",
					     "{\"a\":1",
					     "{\"a\":1,}",
					     "{\"a\":1}x",
					     "{\"a\":1} \n",
					     "[01]",
					     "[1.]",
					     "[.1]",
					     "[-]",
					     "[--1]",
					     "[+1]",
					     "[1e]",
					     "[1e+]",
					     "[1e5]",
					     "[tru]",
					     "[true]",
					     "[nul]",
					     "[null]",
					     "[false]",
					     "[NaN]",
					     "[Infinity]",
					     "[\"a]",
					     "[\"\\x\"]",
					     "[\"\\u12\"]",
					     "[\"\\u0000\"]",
					     "[\"\\ud800\"]",
					     "[\"\\ud800\\u0041\"]",
					     "[\"\\udc00\"]",
					     "[\"\\ud83d\\ude00\"]",
					     "[\"\xc0\x80\"]",
					     "[\"\xed\xa0\x80\"]",
					     "[\"\xf4\x90\x80\x80\"]",
					     "[\"\xe2\x82\"]",
					     "[\"\xff\"]",
					     "[\"\n\"]",
					     "[\"\xc3\xa9\"]",
					     "1",
					     "\"a\"",
					     "[[[[]]]]",
					     "[{\"a\":[{}]}]",
					     "[1 2]",
					     "{1:2}",
					     "[\"a\":1]",
					     "{\"a\" 1}",
					     "[1}",
					     "{\"a\":1]",
					     "[\"\\/\\b\\f\\n\\r\\t\"]",
					     "\xef\xbb\xbf[]",
					     "[1]\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *v = json_loadb(texts[i], strlen(texts[i]), 0, NULL);

		if ((check(texts[i], strlen(texts[i])) == 0) != (v != NULL))
			fail_msg("'%s' is %s by jansson", texts[i], v ? "taken" : "refused");
		json_decref(v);
	}
	assert_true(check("[1]\0", 4) < 0);
	assert_true(check("[\"a\0b\"]", 7) < 0);
}

/* A good text with bytes changed, left out or cut off: both readers agree on all of them. */
static void damaged_texts_are_taken_and_refused_alike(void **state)
{
	static const char good[] =
		"{\"format\":\"kperfbot-runs/1\",\"kernel\":\"\\u00e9\\ud83d\\ude00\","
		"\"runs\":[{\"order\":-1.5e-3,\"values\":{\"a\":0.25,\"b\":null}},"
		"{\"boot\":\"é\",\"values\":{\"a\":12,\"c\":true}}]}";
	static const char bytes[] = "{}[]\",:\\u0019.eE+- \ntfnx\x80\xc3\xff";
	char text[sizeof(good)];

	(void)state;
	for (int i = 0; i < 60000; i++) {
		size_t len = sizeof(good) - 1, n = 1 + random_bits() % 3;
		json_t *v;

		memcpy(text, good, sizeof(good));
		while (n--)
			text[random_bits() % len] = bytes[random_bits() % (sizeof(bytes) - 1)];
		if (random_bits() % 4 == 0)
			len = random_bits() % len;
		v = json_loadb(text, len, 0, NULL);
		if ((check(text, len) == 0) != (v != NULL))
			fail_msg("'%.*s' is %s by jansson", (int)len, text,
				 v ? "taken" : "refused");
		json_decref(v);
	}
}

static void depth_has_a_limit(void **state)
{
	char text[2 * (JSON_IN_DEPTH + 2)];

	(void)state;
	memset(text, '[', JSON_IN_DEPTH);
	memset(text + JSON_IN_DEPTH, ']', JSON_IN_DEPTH);
	assert_int_equal(check(text, (size_t)2 * JSON_IN_DEPTH), 0);
	memset(text, '[', JSON_IN_DEPTH + 1);
	memset(text + JSON_IN_DEPTH + 1, ']', JSON_IN_DEPTH + 1);
	assert_true(check(text, (size_t)2 * (JSON_IN_DEPTH + 1)) < 0);
}

static void too_large_a_number_is_refused_where_it_is_read(void **state)
{
	struct json_in in;
	struct err e = { 0 };
	double v;

	(void)state;
	json_in_init(&in, "\n 1e999", 7, &e);
	assert_err(json_in_number(&in, &v), ERR_PARSE, &e);
	assert_non_null(strstr(e.msg, "line 2, column 7: number out of range"));
	json_in_done(&in);
}

static void names_keep_their_numbers(void **state)
{
	struct nametab t = { .seed = 5 };
	char name[24];

	(void)state;
	assert_true(nametab_find(&t, "a", 1) == SIZE_MAX);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 5000; i++) {
			int n = snprintf(name, sizeof(name), "metric.%d", i);

			assert_int_equal(nametab_get(&t, name, (size_t)n), i);
		}
	}
	assert_int_equal(t.len, 5000);
	assert_int_equal(nametab_get(&t, "", 0), 5000);
	assert_int_equal(nametab_find(&t, "", 0), 5000);
	assert_int_equal(nametab_get(&t, "metric.1\0x", 10), 5001);
	assert_string_equal(t.name[7], "metric.7");
	assert_true(nametab_seed("ab", 2) != nametab_seed("ac", 2));
	nametab_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_as_strtod_does),
		cmocka_unit_test(numbers_are_written_to_fifteen_digits),
		cmocka_unit_test(strings_survive_both_ways),
		cmocka_unit_test(takes_and_refuses_what_jansson_does),
		cmocka_unit_test(damaged_texts_are_taken_and_refused_alike),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(too_large_a_number_is_refused_where_it_is_read),
		cmocka_unit_test(names_keep_their_numbers),
	};

	return cmocka_run_group_tests_name("json_stream", tests, NULL, NULL);
}
