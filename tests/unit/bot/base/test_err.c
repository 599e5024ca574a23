/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/utf8.h"
#include "tests/test.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static void every_code_has_a_name_a_text_and_a_status(void **state)
{
	(void)state;
	for (int code = -1; code > -ERR_CODE_COUNT; code--) {
		assert_string_not_equal(err_name(code), "UNKNOWN");
		assert_string_not_equal(err_name(code), "OK");
		assert_true(strlen(err_text(code)) > 3);
		assert_in_range(err_http_status(code), 400, 599);
		for (int other = code - 1; other > -ERR_CODE_COUNT; other--)
			assert_string_not_equal(err_name(code), err_name(other));
	}
	assert_string_equal(err_name(ERR_NOENT), "NOENT");
	assert_string_equal(err_name(0), "OK");
	assert_int_equal(err_http_status(0), 200);
	assert_false(err_is_transient(0));
}

static void transient_errors_are_answered_with_try_again(void **state)
{
	(void)state;
	for (int code = -1; code > -ERR_CODE_COUNT; code--)
		if (err_is_transient(code))
			assert_int_equal(err_http_status(code), 503);
	assert_true(err_is_transient(ERR_DB_AWAY));
	assert_false(err_is_transient(ERR_LEASE_LOST));
}

static void unknown_codes_are_harmless(void **state)
{
	static const int bad[] = { 1, 99, -ERR_CODE_COUNT, -ERR_CODE_COUNT - 1, INT_MAX, INT_MIN };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_string_equal(err_name(bad[i]), "UNKNOWN");
		assert_string_equal(err_text(bad[i]), "unknown error");
		assert_int_equal(err_http_status(bad[i]), 500);
		assert_false(err_is_transient(bad[i]));
	}
}

static void set_gives_the_code_back_with_and_without_a_place_for_the_reason(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, ERR_PARSE, "'%s' is bad", "x"), ERR_PARSE);
	assert_string_equal(e.msg, "'x' is bad");
	assert_int_equal(e.code, ERR_PARSE);
	assert_int_equal(err_set(NULL, ERR_PARSE, "'%s' is bad", "x"), ERR_PARSE);
	assert_int_equal(err_errno(NULL, ENOENT, "x"), ERR_NOENT);
	err_clear(&e);
	assert_string_equal(e.msg, "");
	assert_int_equal(e.code, 0);
	err_clear(NULL);
}

static void wrap_puts_context_in_front(void **state)
{
	struct err e = { 0 };

	(void)state;
	(void)err_set(&e, ERR_GIT, "no branch 'x'");
	assert_int_equal(err_wrap(&e, "tree '%s'", "linus"), ERR_GIT);
	assert_string_equal(e.msg, "tree 'linus': no branch 'x'");
}

static void wrap_without_a_reason_is_a_bug_of_ours(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_wrap(&e, "tree"), ERR_BUG);
	assert_int_equal(e.code, ERR_BUG);
	assert_int_equal(err_wrap(NULL, "tree"), ERR_BUG);
}

static void long_reasons_are_cut_not_overrun(void **state)
{
	struct err e = { 0 };
	char big[5000];

	(void)state;
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	(void)err_set(&e, ERR_BUG, "%s", big);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	(void)err_wrap(&e, "%s", big);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	(void)err_errno(&e, EIO, "%s", big);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	for (int i = 0; i < 300; i++)
		(void)err_wrap(&e, "again");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
}

static void assert_clean(const char *s)
{
	size_t n;

	for (size_t left = strlen(s); left; s += n, left -= n) {
		n = utf8_length(s, left);
		assert_true(n > 0);
		assert_false((unsigned char)*s < 0x20 || *s == 0x7f);
	}
}

static void hostile_bytes_cannot_make_a_second_line_or_break_the_encoding(void **state)
{
	struct err e = { 0 };
	char all[256];

	(void)state;
	(void)err_set(&e, ERR_BUG, "a\nb\r\033[2Jc\x7f");
	assert_string_equal(e.msg, "a?b??[2Jc?");
	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = '\0';
	(void)err_set(&e, ERR_BUG, "%s", all);
	assert_clean(e.msg);
	(void)err_wrap(&e, "%s", all);
	assert_clean(e.msg);
	(void)err_errno(&e, ENOENT, "%s", all);
	assert_clean(e.msg);
	(void)err_set(&e, ERR_BUG, "schön bleibt '%s'", "héllo €");
	assert_string_equal(e.msg, "schön bleibt 'héllo €'");
}

static void a_cut_in_the_middle_of_a_character_stays_valid(void **state)
{
	struct err e = { 0 };
	char big[3000];

	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		memset(big, 'a', sizeof(big));
		for (size_t i = shift; i + 3 < sizeof(big); i += 3)
			memcpy(big + i, "€", 3);
		big[sizeof(big) - 3] = '\0';
		(void)err_set(&e, ERR_BUG, "%s", big);
		assert_clean(e.msg);
		(void)err_wrap(&e, "x");
		assert_clean(e.msg);
	}
}

static void errno_becomes_code_and_text(void **state)
{
	static const struct {
		int num, code;
	} want[] = { { ENOENT, ERR_NOENT },  { EACCES, ERR_PERM },    { EPERM, ERR_PERM },
		     { EEXIST, ERR_EXIST },  { ENOSPC, ERR_NOSPACE }, { EDQUOT, ERR_NOSPACE },
		     { EIO, ERR_IO },	     { ENOMEM, ERR_NOMEM },   { EINVAL, ERR_INVAL },
		     { EROFS, ERR_PERM },    { EMFILE, ERR_IO },      { 99999, ERR_IO },
		     { ENOTDIR, ERR_NOENT }, { ELOOP, ERR_INVAL } };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(err_errno(&e, want[i].num, "could not"), want[i].code);
		assert_true(strlen(e.msg) > strlen("could not: "));
		assert_null(strstr(e.msg, "null"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_a_name_a_text_and_a_status),
		cmocka_unit_test(transient_errors_are_answered_with_try_again),
		cmocka_unit_test(unknown_codes_are_harmless),
		cmocka_unit_test(set_gives_the_code_back_with_and_without_a_place_for_the_reason),
		cmocka_unit_test(wrap_puts_context_in_front),
		cmocka_unit_test(wrap_without_a_reason_is_a_bug_of_ours),
		cmocka_unit_test(long_reasons_are_cut_not_overrun),
		cmocka_unit_test(hostile_bytes_cannot_make_a_second_line_or_break_the_encoding),
		cmocka_unit_test(a_cut_in_the_middle_of_a_character_stays_valid),
		cmocka_unit_test(errno_becomes_code_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
