/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose.h"
#include "bot/mail/wire.h"
#include "tests/test.h"

#include <gmime/gmime.h>
#include <string.h>

static int setup(void **state)
{
	(void)state;
	compose_setup();
	return 0;
}

static void check_body(const char *text, const char *want)
{
	struct strbuf b = STRBUF_INIT;
	const char *body;

	wire_body(&b, text, strlen(text));
	body = strstr(b.s, "\r\n\r\n");
	assert_non_null(body);
	assert_string_equal(body + 4, want);
	assert_int_equal(wire_check(b.s, b.len, NULL), 0);
	strbuf_done(&b);
}

static void sends_plain_text_as_it_is(void **state)
{
	(void)state;
	check_body("a\n.\nFrom b\n-- \nend", "a\r\n.\r\nFrom b\r\n-- \r\nend\r\n");
	check_body("a\n", "a\r\n");
	check_body("", "");
}

static void encodes_other_text(void **state)
{
	(void)state;
	check_body("\xc2\xb1 x \n.", "=C2=B1 x=20\r\n.\r\n");
	check_body("\xc2\xb1\n", "=C2=B1\r\n");
	check_body("a=\xc2\xb1", "a=3D=C2=B1\r\n");
}

static void breaks_lines_too_long_for_smtp(void **state)
{
	struct strbuf text = STRBUF_INIT, mail = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 999; i++)
		strbuf_addch(&text, 'x');
	wire_body(&mail, text.s, text.len);
	assert_non_null(strstr(mail.s, "quoted-printable"));
	assert_int_equal(wire_check(mail.s, mail.len, NULL), 0);
	strbuf_done(&mail);
	wire_body(&mail, text.s, 998);
	assert_non_null(strstr(mail.s, "7bit"));
	strbuf_done(&text);
	strbuf_done(&mail);
}

static void check_header(const char *text)
{
	struct strbuf b = STRBUF_INIT;
	char *unfolded, *back;

	wire_header_text(&b, "Subject", text);
	strbuf_addstr(&b, "\r\n");
	assert_int_equal(wire_check(b.s, b.len, NULL), 0);
	/* one header only: every further line begins with a blank */
	for (const char *p = strstr(b.s, "\r\n"); p[2] && p[2] != '\r'; p = strstr(p + 2, "\r\n"))
		assert_int_equal(p[2], ' ');
	unfolded = g_mime_utils_header_unfold(b.s + strlen("Subject: "));
	back = g_mime_utils_header_decode_text(NULL, unfolded);
	assert_string_equal(g_strstrip(back), text);
	g_free(unfolded);
	g_free(back);
	strbuf_done(&b);
}

static void headers_decode_to_what_they_were(void **state)
{
	(void)state;
	check_header("[tree:main] [mm] 0123456789ab: metric -3.8% regression");
	check_header("gr\xc3\xbc\xc3\x9f"
		     "e in a subject that is long enough to be folded over "
		     "several lines, with \xe4\xb8\xad\xe6\x96\x87 at the end");
	check_header("a long subject in plain text that goes on and on, well beyond the 76 columns "
		     "of one line, and ends here");
}

static void does_not_let_a_subject_pose_as_an_encoded_word(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	wire_header_text(&b, "Subject", "=?utf-8?q?a=0d=0aBcc:x?=");
	assert_null(strstr(b.s, "=?"));
	strbuf_done(&b);
}

static void check_mailbox(const char *name, const char *want)
{
	struct strbuf b = STRBUF_INIT;

	wire_mailbox(&b, name, "a@example.org");
	assert_string_equal(b.s, want);
	strbuf_done(&b);
}

static void quotes_names(void **state)
{
	(void)state;
	check_mailbox(NULL, "a@example.org");
	check_mailbox("Jane D", "Jane D <a@example.org>");
	check_mailbox("D, \"J\" <b@x>", "\"D, \\\"J\\\" <b@x>\" <a@example.org>");
	check_mailbox("J\xc3\xbcrgen", "=?UTF-8?b?SsO8cmdlbg==?= <a@example.org>");
}

static void refuses_what_smtp_servers_refuse(void **state)
{
	static const struct {
		const char *s;
		size_t len;
	} bad[] = {
		{ "A: b\r\n\r\nx\n", 10 },
		{ "A: b\r\n\r\nx\ry\r\n", 13 },
		{ "A: b\r\n\r\nx", 9 },
		{ "A: b\r\n\r\n\xc3\xbc\r\n", 12 },
		{ "A: b\r\n\r\n\0\r\n", 11 },
		{ "A: b\r\n", 6 },
		{ "", 0 },
		{ "\n", 1 },
		{ "A: b\r\n\r\n.\n.\r\n", 13 },
	};
	struct err e = { 0 };
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(wire_check(bad[i].s, bad[i].len, &e), ERR_INVAL, &e);
	strbuf_addstr(&b, "A: b\r\n\r\n");
	for (int i = 0; i < 999; i++)
		strbuf_addch(&b, 'x');
	strbuf_addstr(&b, "\r\n");
	assert_err(wire_check(b.s, b.len, &e), ERR_INVAL, &e);
	strbuf_done(&b);
}

static void writes_dates(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	wire_date(&b, 1920183120);
	strbuf_addch(&b, '|');
	wire_date(&b, 2147483648); /* past 2038 */
	assert_string_equal(b.s, "Wed, 06 Nov 2030 08:12:00 +0000|Tue, 19 Jan 2038 03:14:08 +0000");
	strbuf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_plain_text_as_it_is),
		cmocka_unit_test(encodes_other_text),
		cmocka_unit_test(breaks_lines_too_long_for_smtp),
		cmocka_unit_test(headers_decode_to_what_they_were),
		cmocka_unit_test(does_not_let_a_subject_pose_as_an_encoded_word),
		cmocka_unit_test(quotes_names),
		cmocka_unit_test(refuses_what_smtp_servers_refuse),
		cmocka_unit_test(writes_dates),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
