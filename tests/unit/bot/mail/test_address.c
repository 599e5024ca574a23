/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/mail/address.h"
#include "bot/mail/text.h"
#include "tests/test.h"

#include <string.h>

static void takes_plain_addresses(void **state)
{
	static const char *const good[] = {
		"jane@example.org",
		"jane.doe+tag@lists.example.org",
		"kperfbot+r7f3k2qa@a-b.example.org",
		"x@localhost",
		"o'neil_{}@example.org",
	};
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_ok(address_check(good[i], strlen(good[i]), &e), &e);
}

static void refuses_what_smtp_could_misread(void **state)
{
	static const char *const bad[] = {
		"",
		"jane",
		"@example.org",
		"jane@",
		"a b@example.org",
		"a@b@example.org",
		"<a@example.org>",
		"a@example.org>\r\nRCPT TO:<b@example.org",
		"a@example.org\n",
		"a@exa mple.org",
		"\"a b\"@example.org",
		"a@[127.0.0.1]",
		".a@example.org",
		"a..b@example.org",
		"a.@example.org",
		"a@-example.org",
		"a@example-.org",
		"a@example..org",
		"a@example.org.",
		"a@.org",
		"j\xc3\xa4ne@example.org",
		"a@ex\xc3\xa4mple.org",
		"a,b@example.org",
		"a@example.org,b",
		"a(b)@example.org",
		"a\\b@example.org",
		"a@example.org 5.10+",
		"a\t@example.org",
	};
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(address_check(bad[i], strlen(bad[i]), &e), ERR_INVAL, &e);
	assert_err(address_check("a@example.org\0x", 15, &e), ERR_INVAL, &e);
}

static void refuses_addresses_over_the_limits(void **state)
{
	char s[400];
	struct err e = { 0 };

	(void)state;
	memset(s, 'a', sizeof(s));
	memcpy(s + 65, "@example.org", 13);
	assert_err(address_check(s, strlen(s), &e), ERR_INVAL, &e);
	assert_ok(address_check(s + 1, strlen(s + 1), &e), &e);
	memset(s, 'a', sizeof(s));
	s[1] = '@';
	for (size_t i = 40; i < 300; i += 40)
		s[i] = '.';
	assert_ok(address_check(s, 254, &e), &e);
	assert_err(address_check(s, 255, &e), ERR_INVAL, &e);
}

static void checks_message_ids(void **state)
{
	(void)state;
	assert_true(address_message_id_check("20301028101500.4242-3-jane@example.org", 38));
	assert_false(address_message_id_check("a b@example.org", 15));
	assert_false(address_message_id_check("<a@b>", 5));
	assert_false(address_message_id_check("a@b@c", 5));
	assert_false(address_message_id_check("abc", 3));
	assert_false(address_message_id_check("a@b\r\n", 5));
}

static void check_split(const char *s, const char *name, const char *addr, const char *comment)
{
	_cleanup_(freep) char *n = NULL;
	_cleanup_(freep) char *a = NULL;
	_cleanup_(freep) char *c = NULL;

	assert_int_equal(address_split(s, &n, &a, &c), addr != NULL);
	if (addr) {
		assert_non_null(a);
		assert_string_equal(a, addr);
	}
	assert_string_equal(n ? n : "-", name ? name : "-");
	assert_string_equal(c ? c : "-", comment ? comment : "-");
}

static void splits_name_address_and_comment(void **state)
{
	(void)state;
	check_split("Jane <jane@example.org>", "Jane", "jane@example.org", NULL);
	check_split("<jane@example.org> # 3.3.x: a1f84a3: x", NULL, "jane@example.org",
		    "# 3.3.x: a1f84a3: x");
	check_split("jane@example.org # 5.10+", NULL, "jane@example.org", "# 5.10+");
	check_split("jane@example.org, # 5.10+", NULL, "jane@example.org", "# 5.10+");
	check_split("jane@example.org#5.10", NULL, "jane@example.org", "#5.10");
	check_split("\"Doe, \\\"J\\\" # 1\" <jane@example.org> [v2]", "Doe, \"J\" # 1",
		    "jane@example.org", "[v2]");
	check_split("jane@example.org (maintainer)", NULL, "jane@example.org", "(maintainer)");
	check_split("nobody # asked by <jane@example.org>", NULL, NULL, NULL);
	check_split("Jane <jane@example.org", NULL, NULL, NULL);
	check_split("Jane <jane at example.org>", NULL, NULL, NULL);
	check_split("", NULL, NULL, NULL);
}

static void shows_what_would_hide_or_act(void **state)
{
	_cleanup_(freep) char *a = text_clean_dup("a\x1b[31mb\0c\r\nd\xe2\x80\xae"
						  "e\xff\xc3",
						  18, 100);
	_cleanup_(freep) char *b = text_clean_dup("  gr\xc3\xbc\xc3\x9f"
						  "e  ",
						  11, 100);
	_cleanup_(freep) char *c = text_clean_dup("gr\xc3\xbc\xc3\x9f"
						  "e",
						  7, 4);
	_cleanup_(freep) char *d = text_clean_dup("\xc0\xaf\xed\xa0\x80", 5, 10);

	(void)state;
	assert_string_equal(a, "a\\x1b[31mb\\x00c  d<U+202E>e\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(b, "gr\xc3\xbc\xc3\x9f"
			       "e");
	assert_string_equal(c, "g...");
	assert_non_null(strstr(d, "\xef\xbf\xbd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_plain_addresses),
		cmocka_unit_test(refuses_what_smtp_could_misread),
		cmocka_unit_test(refuses_addresses_over_the_limits),
		cmocka_unit_test(checks_message_ids),
		cmocka_unit_test(splits_name_address_and_comment),
		cmocka_unit_test(shows_what_would_hide_or_act),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
