/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/trailers.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct trailers parse(const char *msg)
{
	struct trailers t = { 0 };
	struct err e = { 0 };

	assert_ok(trailers_parse(msg, strlen(msg), &t, &e), &e);
	return t;
}

static void check_text(const char *got, const char *want)
{
	assert_string_equal(got ? got : "(none)", want ? want : "(none)");
}

static void reads_a_common_message(void **state)
{
	struct trailers t = parse("mm/demo: take the range lock\nbefore the walk\n"
				  "\n"
				  "Some text: with a colon.\n"
				  "Note: this is prose as well.\n"
				  "\n"
				  "Reported-by: A B <a@example.org>\n"
				  "Closes: https://lore.example.org/all/bug@example.org/\n"
				  "Suggested-by: \"C, D\" <c@example.org>\n"
				  "Cc: Long Name\n"
				  " <long@example.org>\n"
				  "[max: fixed a typo]\n"
				  "Signed-off-by: Jane <jane@example.org>\n"
				  "Link: https://lore.example.org/r/1-2-jane%2Bx@example.org\n"
				  "Signed-off-by: Max <max@example.org>\n");

	(void)state;
	check_text(t.subject, "mm/demo: take the range lock before the walk");
	assert_int_equal(t.trailers.len, 7);
	check_text(t.trailers.items[0].name, "A B");
	check_text(t.trailers.items[2].name, "C, D");
	check_text(t.trailers.items[3].addr, "long@example.org");
	check_text(t.trailers.items[3].value, "Long Name <long@example.org>");
	assert_int_equal(t.links.len, 2);
	assert_int_equal(t.links.items[0].kind, TRAILER_LINK_REPORT);
	check_text(t.links.items[0].message_id, "bug@example.org");
	assert_int_equal(t.links.items[1].kind, TRAILER_LINK_PATCH);
	check_text(trailers_patch_id(&t), "1-2-jane+x@example.org");
	trailers_done(&t);
}

static enum trailer_link_kind only_link(const char *block)
{
	_cleanup_(freep) char *msg = xasprintf("a: b\n\ntext\n\n%s", block);
	struct trailers t = parse(msg);
	enum trailer_link_kind kind;

	assert_int_equal(t.links.len, 1);
	kind = t.links.items[0].kind;
	trailers_done(&t);
	return kind;
}

static void answers_only_the_mail_of_the_patch(void **state)
{
	(void)state;
	assert_int_equal(
		only_link("Link: https://patch.msgid.link/a@example.org\n"
			  "Acked-by: X <x@example.org>\nSigned-off-by: M <m@example.org>\n"),
		TRAILER_LINK_PATCH);
	assert_int_equal(
		only_link("Message-ID: <a@example.org>\nSigned-off-by: M <m@example.org>\n"),
		TRAILER_LINK_PATCH);
	/* not just above the last Signed-off-by */
	assert_int_equal(
		only_link("Link: https://lore.example.org/r/a@example.org\n"
			  "Signed-off-by: J <j@example.org>\nSigned-off-by: M <m@example.org>\n"),
		TRAILER_LINK_OTHER);
	assert_int_equal(only_link("Signed-off-by: M <m@example.org>\n"
				   "Link: https://lore.example.org/r/a@example.org\n"),
			 TRAILER_LINK_OTHER);
	assert_int_equal(only_link("Reported-by: R <r@example.org>\n"
				   "Link: https://lore.example.org/r/a@example.org\n"
				   "Signed-off-by: M <m@example.org>\n"),
			 TRAILER_LINK_REPORT);
	assert_int_equal(only_link("Link: https://lore.example.org/r/a@example.org [1]\n"
				   "Signed-off-by: M <m@example.org>\n"),
			 TRAILER_LINK_OTHER);
	assert_int_equal(only_link("Link: https://bugzilla.example.org/show_bug.cgi?id=1\n"
				   "Signed-off-by: M <m@example.org>\n"),
			 TRAILER_LINK_REPORT);
	assert_int_equal(only_link("Link: https://www.example.org/a@b/\n"
				   "Signed-off-by: M <m@example.org>\n"),
			 TRAILER_LINK_OTHER);
	/* an escaped line break makes no Message-ID */
	assert_int_equal(only_link("Link: https://lore.example.org/r/a%0d%0aX:@example.org\n"
				   "Signed-off-by: M <m@example.org>\n"),
			 TRAILER_LINK_OTHER);
}

static char *read_data(const char *name, size_t *ret_len)
{
	_cleanup_(freep) char *path = xasprintf(TEST_SOURCE_DIR "/tests/data/mail/%s", name);
	FILE *f = fopen(path, "re");
	struct strbuf b = STRBUF_INIT;
	int c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		strbuf_addch(&b, (char)c);
	(void)fclose(f);
	*ret_len = b.len;
	return strbuf_take(&b);
}

/* "\n" of the table as a line break. */
static char *unescape(const char *s)
{
	struct strbuf b = STRBUF_INIT;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] == 'n') {
			strbuf_addch(&b, '\n');
			s++;
		} else {
			strbuf_addch(&b, *s);
		}
	}
	return strbuf_take(&b);
}

/* The title as a reader of the table sees it: within ("...") or (...), breaks as one blank. */
static char *wanted_title(const char *tag)
{
	const char *s = strchr(tag, '(') + 1;
	const char *end = strrchr(tag, ')');
	struct strbuf b = STRBUF_INIT;

	if (*s == '"') {
		s++;
		end--;
	}
	for (; s < end; s++) {
		if (*s == '\n' || *s == ' ') {
			while (s + 1 < end && (s[1] == '\n' || s[1] == ' '))
				s++;
			strbuf_addch(&b, ' ');
		} else {
			strbuf_addch(&b, *s);
		}
	}
	return strbuf_take(&b);
}

static void check_tag(int n, const char *tag)
{
	bool in_revert = n == 8, merge = n == 15;
	_cleanup_(freep) char *msg =
		xasprintf("%s\n\ntext\n\n%s\nSigned-off-by: J <j@example.org>\n",
			  in_revert ? "Revert \"arm64: demo\"" : "x: y", tag);
	_cleanup_(freep) char *title = wanted_title(tag);
	_cleanup_(freep) char *id = xstrndup(tag + 7, strcspn(tag + 7, " "));
	struct trailers t = parse(msg);

	assert_int_equal(t.fixes.len, 1);
	check_text(t.fixes.items[0].id, id);
	check_text(t.fixes.items[0].title, title);
	assert_int_equal(t.fixes.items[0].ok, !in_revert && !merge);
	assert_int_equal(t.trailers.len, 2);
	trailers_done(&t);
	/* the bare tag is no subject */
	t = parse(tag);
	assert_null(t.subject);
	assert_int_equal(t.fixes.len, 1);
	check_text(t.fixes.items[0].title, title);
	trailers_done(&t);
}

static void reads_real_fixes_tags(void **state)
{
	size_t len;
	_cleanup_(freep) char *table = read_data("fixes-tags.tsv", &len);
	char *save = NULL;
	int n = 0;

	(void)state;
	for (char *l = strtok_r(table, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *tag = strchr(l, '\t') + 1;
		_cleanup_(freep) char *text = NULL;

		if (n++ == 0)
			continue;
		*strchr(tag, '\t') = '\0';
		text = unescape(tag);
		check_tag(atoi(l), text);
	}
	assert_int_equal(n, 21);
}

static void keeps_the_text_of_a_fixes_tag_without_id(void **state)
{
	struct trailers t = parse("a: b\n\ntext\n\nFixes: the boot problem\n"
				  "Fixes: https://bugs.example.org/1\nFixes: a1f84a3 (\"short\")\n"
				  "Fixes: commit 0123456789AB (\"C (d) \"e\"\")\n"
				  "Signed-off-by: J <j@example.org>\n");

	(void)state;
	assert_int_equal(t.fixes.len, 4);
	assert_null(t.fixes.items[0].id);
	check_text(t.fixes.items[0].title, "the boot problem");
	assert_false(t.fixes.items[0].ok);
	assert_null(t.fixes.items[1].id);
	assert_null(t.fixes.items[2].id);
	check_text(t.fixes.items[3].id, "0123456789ab");
	check_text(t.fixes.items[3].title, "C (d) \"e\"");
	assert_true(t.fixes.items[3].ok);
	trailers_done(&t);
}

static void keeps_comments_out_of_addresses(void **state)
{
	static const char *const comments[] = {
		"# v4.11+",
		"# 5.10+",
		"# v6.0+",
		"# for >= v6.6",
		"# Also to 6.12.y after the `alloc` backport lands",
		"# 5.11",
		"# 6.6+",
		"# Not a bug fix but it is needed for later bug fixes",
		"# 3.3.x: a1f84a3: sched: Check for idle",
		"# 3.3.x",
		NULL,
		NULL,
		NULL,
	};
	size_t len;
	_cleanup_(freep) char *block = read_data("cc-stable-comments.txt", &len);
	_cleanup_(freep) char *msg = xasprintf("a: b\n\ntext\n\n%s", block);

	(void)state;
	for (int bare = 0; bare < 2; bare++) {
		struct trailers t = parse(bare ? block : msg);

		assert_int_equal(t.trailers.len, 13);
		for (size_t i = 0; i < 13; i++) {
			check_text(t.trailers.items[i].key, i == 6 ? "CC" : "Cc");
			check_text(t.trailers.items[i].addr,
				   i == 11 ? "stable@kernel.org" : "stable@vger.kernel.org");
			check_text(t.trailers.items[i].comment, comments[i]);
		}
		assert_int_equal(t.fixes.len + t.links.len + t.reverts.len, 0);
		trailers_done(&t);
	}
}

static void splits_a_list_of_people(void **state)
{
	struct trailers t = parse(
		"a: b\n\nCc: a@example.org, B <b@example.org>, \"C, c\" <c@example.org>, # x\n"
		"Cc: Doe, John <j@example.org>\nCc: nobody at all\n");

	(void)state;
	assert_int_equal(t.trailers.len, 5);
	check_text(t.trailers.items[0].addr, "a@example.org");
	check_text(t.trailers.items[1].addr, "b@example.org");
	check_text(t.trailers.items[2].name, "C, c");
	check_text(t.trailers.items[2].comment, "# x");
	check_text(t.trailers.items[3].addr, "j@example.org");
	check_text(t.trailers.items[4].addr, NULL);
	trailers_done(&t);
}

static void finds_reverts(void **state)
{
	struct trailers t = parse(
		"Revert \"mm: a \"b\"\"\n\nThis reverts commit "
		"0123456789abcdef0123456789abcdef01234567.\n\nSigned-off-by: J <j@example.org>\n");

	(void)state;
	assert_int_equal(t.reverts.len, 1);
	check_text(t.reverts.items[0].id, "0123456789abcdef0123456789abcdef01234567");
	check_text(t.reverts.items[0].title, "mm: a \"b\"");
	trailers_done(&t);
	t = parse("Revert \"x\"\n\nno id given\n");
	assert_int_equal(t.reverts.len, 1);
	assert_null(t.reverts.items[0].id);
	trailers_done(&t);
}

static void does_not_take_prose_for_trailers(void **state)
{
	struct trailers t = parse("cc: drop the old helper\n\nWarning: this text\nhas: colons\n"
				  "and goes on.\nhttps://example.org/x\n\nFinal words: none.\n");

	(void)state;
	check_text(t.subject, "cc: drop the old helper");
	assert_int_equal(t.trailers.len, 0);
	trailers_done(&t);
}

static void survives_hostile_messages(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct trailers t = { 0 };
	struct err e = { 0 };
	json_t *j;
	char *text;

	(void)state;
	strbuf_addstr(&b, "mm: <script>alert(1)</script> \x1b[31m\xff\xe2\x80\xae");
	strbuf_add(&b, "\0", 1);
	while (b.len < 100000)
		strbuf_addstr(&b, "long ");
	strbuf_addstr(&b, "\n\n");
	while (b.len < 200000)
		strbuf_addstr(&b, "Cc: a <a@example.org>\nFixes: 12345678 (\"open\n");
	strbuf_addstr(&b, "Cc: <script>@x\r\nCc: a@b\x01.org\n");
	assert_ok(trailers_parse(b.s, b.len, &t, &e), &e);
	assert_true(strlen(t.subject) <= 20000 * 4);
	assert_non_null(
		strstr(t.subject, "<script>alert(1)</script> \\x1b[31m\xef\xbf\xbd<U+202E>\\x00"));
	assert_true(t.truncated);
	assert_int_equal(t.trailers.len, TRAILERS_MAX);
	j = trailers_to_json(&t);
	text = json_dumps(j, JSON_COMPACT);
	assert_non_null(text);
	free(text);
	json_decref(j);
	trailers_done(&t);
	strbuf_done(&b);
}

static void refuses_a_message_over_the_limit(void **state)
{
	_cleanup_(freep) char *big = xcalloc(1, TRAILERS_MAX_BYTES + 1);
	struct trailers t = { .truncated = true };
	struct err e = { 0 };

	(void)state;
	assert_err(trailers_parse(big, TRAILERS_MAX_BYTES + 1, &t, &e), ERR_TOO_BIG, &e);
	assert_true(t.truncated);
}

static void reads_an_empty_message(void **state)
{
	struct trailers t = parse("");

	(void)state;
	assert_null(t.subject);
	trailers_done(&t);
	t = parse("\n\n \n");
	assert_null(t.subject);
	trailers_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_common_message),
		cmocka_unit_test(answers_only_the_mail_of_the_patch),
		cmocka_unit_test(reads_real_fixes_tags),
		cmocka_unit_test(keeps_the_text_of_a_fixes_tag_without_id),
		cmocka_unit_test(keeps_comments_out_of_addresses),
		cmocka_unit_test(splits_a_list_of_people),
		cmocka_unit_test(finds_reverts),
		cmocka_unit_test(does_not_take_prose_for_trailers),
		cmocka_unit_test(survives_hostile_messages),
		cmocka_unit_test(refuses_a_message_over_the_limit),
		cmocka_unit_test(reads_an_empty_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
