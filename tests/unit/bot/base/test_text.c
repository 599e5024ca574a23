/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strbuf, vec and utf8: the three that hold text. */
#include "bot/base/utf8.h"
#include "bot/base/vec.h"
#include "tests/test.h"

#include <string.h>

static void an_empty_buffer_is_an_empty_string(void **state)
{
	struct strbuf b = STRBUF_INIT;
	char *s;

	(void)state;
	assert_string_equal(strbuf_str(&b), "");
	strbuf_reset(&b);
	strbuf_cut(&b, 0);
	s = strbuf_take(&b);
	assert_string_equal(s, "");
	free(s);
	strbuf_done(&b);
	strbuf_done(&b);
}

static void a_buffer_grows_and_keeps_nul_bytes(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&b, (char)(i % 7 ? 'x' : '\0'));
	assert_int_equal(b.len, 100000);
	assert_int_equal(b.s[b.len], 0);
	strbuf_add(&b, NULL, 0);
	strbuf_addf(&b, "%s-%d", "é", 42);
	assert_string_equal(b.s + 100000, "é-42");
	strbuf_cut(&b, 3);
	assert_int_equal(b.len, 3);
	assert_int_equal(b.s[3], 0);
	strbuf_cut(&b, 10);
	assert_int_equal(b.len, 3);
	strbuf_reset(&b);
	assert_int_equal(b.len, 0);
	strbuf_done(&b);
}

static void printing_more_than_the_buffer_holds_works(void **state)
{
	char big[10000];
	struct strbuf b = STRBUF_INIT;
	char *s;

	(void)state;
	memset(big, 'q', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	strbuf_addf(&b, "<%s>", big);
	assert_int_equal(b.len, sizeof(big) + 1);
	s = strbuf_take(&b);
	assert_int_equal(strlen(s), sizeof(big) + 1);
	assert_null(b.s);
	free(s);
	s = xstrndup("abc", 2);
	assert_string_equal(s, "ab");
	free(s);
	s = xstrndup("abc", 99);
	assert_string_equal(s, "abc");
	free(s);
	s = xasprintf("%d", 5);
	assert_string_equal(s, "5");
	free(s);
}

static void a_vector_keeps_order_over_growth(void **state)
{
	VEC(int) v = { 0 };
	int n = 0;

	(void)state;
	vec_foreach (it, &v)
		fail_msg("%d in an empty vector", *it);
	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	vec_foreach (it, &v)
		assert_int_equal(*it, n++);
	assert_int_equal(n, 1000);
	vec_done(&v);
	assert_null(v.items);
	vec_done(&v);
}

static void every_character_has_its_length(void **state)
{
	(void)state;
	for (uint32_t c = 1; c <= 0x10ffff; c += c < 0x900 ? 1 : 61) {
		char s[4];
		size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		uint32_t read = 0;

		if (n == 1) {
			s[0] = (char)c;
		} else {
			for (size_t i = n - 1; i; i--)
				s[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
			s[0] = (char)((0xf00 >> n & 0xf0) | c >> (6 * (n - 1)));
			if (n == 2)
				s[0] = (char)(0xc0 | c >> 6);
		}
		assert_int_equal(utf8_length(s, n), c >= 0xd800 && c < 0xe000 ? 0 : n);
		if (utf8_read(s, n, &read))
			assert_int_equal(read, c);
		else
			assert_int_equal(utf8_length(s, n), 0);
		for (size_t cut = 0; cut < n; cut++)
			assert_int_equal(utf8_read(s, cut, &read), 0);
	}
	assert_int_equal(utf8_length("\0", 1), 1);
}

static const char *const invalid[] = {
	"\x80",
	"\xbf",
	"\xc0\x80",
	"\xc1\xbf",
	"\xc2",
	"\xc2\x41",
	"\xe0\x80\x80",
	"\xe0\x9f\xbf",
	"\xe2\x82",
	"\xed\xa0\x80",
	"\xed\xbf\xbf",
	"\xf0\x80\x80\x80",
	"\xf0\x8f\xbf\xbf",
	"\xf4\x90\x80\x80",
	"\xf5\x80\x80\x80",
	"\xf8\x88\x80\x80",
	"\xfe",
	"\xff",
	"\xf0\x9f\x98",
	"\xe2\x28\xa1",
};

static void no_invalid_form_has_a_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		assert_int_equal(utf8_length(invalid[i], strlen(invalid[i])), 0);
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		assert_false(utf8_is_valid(invalid[i]));
	assert_true(utf8_is_valid(""));
	assert_true(utf8_is_valid("a\xc3\xa4\xf0\x9f\x90\xa7"));
}

static void assert_valid(const char *s)
{
	size_t n;

	for (size_t left = strlen(s); left; s += n, left -= n) {
		n = utf8_length(s, left);
		assert_true(n > 0);
	}
}

static void cleaned_text_is_valid_whatever_went_in(void **state)
{
	unsigned seed = 1;
	char *out;

	(void)state;
	out = utf8_clean("a\0b\xff"
			 "c",
			 5, 100);
	assert_string_equal(out, "a\xef\xbf\xbd"
				 "b\xef\xbf\xbd"
				 "c");
	free(out);
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		out = utf8_clean(invalid[i], strlen(invalid[i]), 100);
		assert_valid(out);
		assert_non_null(strstr(out, "\xef\xbf\xbd"));
		free(out);
	}
	for (int round = 0; round < 2000; round++) {
		char in[40];
		size_t max = (size_t)round % 50;

		for (size_t i = 0; i < sizeof(in); i++) {
			seed = seed * 1103515245 + 12345;
			in[i] = (char)(seed >> 16);
		}
		out = utf8_clean(in, sizeof(in), max);
		assert_valid(out);
		assert_true(strlen(out) <= max);
		free(out);
	}
}

static void text_is_cut_between_characters(void **state)
{
	static const char *const want[] = { "", "a", "a", "a", "a€", "a€b", "a€b" };

	(void)state;
	for (size_t max = 0; max < ARRAY_SIZE(want); max++) {
		char *out = utf8_clean("a€b", 5, max);

		assert_string_equal(out, want[max]);
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_is_an_empty_string),
		cmocka_unit_test(a_buffer_grows_and_keeps_nul_bytes),
		cmocka_unit_test(printing_more_than_the_buffer_holds_works),
		cmocka_unit_test(a_vector_keeps_order_over_growth),
		cmocka_unit_test(every_character_has_its_length),
		cmocka_unit_test(no_invalid_form_has_a_length),
		cmocka_unit_test(cleaned_text_is_valid_whatever_went_in),
		cmocka_unit_test(text_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
