/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose.h"
#include "bot/mail/text.h"
#include "bot/mail/wire.h"
#include "tests/test.h"

#include <gmime/gmime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
	(void)state;
	compose_setup();
	return 0;
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

static json_t *load(const char *name)
{
	size_t len;
	_cleanup_(freep) char *text = read_data(name, &len);
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	return root;
}

/* Compose @root, which is used up. */
static struct compose_mail compose(json_t *root)
{
	struct compose_input in;
	struct compose_mail m;
	struct err e = { 0 };

	assert_ok(compose_input_from_json(root, &in, &e), &e);
	assert_ok(compose_report(&in, &m, &e), &e);
	assert_ok(wire_check(m.bytes, m.len, &e), &e);
	compose_input_done(&in);
	json_decref(root);
	return m;
}

/* The text of a mail as its reader sees it, with LF. */
static char *body_of(const struct compose_mail *m)
{
	GMimeStream *s = g_mime_stream_mem_new_with_buffer(m->bytes, m->len);
	GMimeParser *p = g_mime_parser_new_with_stream(s);
	GMimeMessage *msg = g_mime_parser_construct_message(p, NULL);
	char *text = g_mime_text_part_get_text(GMIME_TEXT_PART(g_mime_message_get_mime_part(msg)));
	struct strbuf b = STRBUF_INIT;

	for (const char *c = text; *c; c++) {
		if (*c != '\r')
			strbuf_addch(&b, *c);
	}
	g_free(text);
	g_object_unref(msg);
	g_object_unref(p);
	g_object_unref(s);
	return strbuf_take(&b);
}

static void check_golden(const char *json, const char *eml)
{
	size_t len;
	_cleanup_(freep) char *want = read_data(eml, &len);
	struct compose_mail m = compose(load(json));

	assert_string_equal(m.bytes, want);
	assert_int_equal(m.len, len);
	compose_mail_done(&m);
}

static void writes_the_example_of_the_manual(void **state)
{
	struct compose_mail m;

	(void)state;
	check_golden("report.json", "report.eml");
	m = compose(load("report.json"));
	assert_string_equal(m.message_id, "r7f3k2qa-1.20301106@perf.example.org");
	assert_string_equal(m.from, "kperfbot+r7f3k2qa@perf.example.org");
	assert_int_equal(m.rcpts.len, 3);
	compose_mail_done(&m);
}

static void leaves_out_what_was_not_measured(void **state)
{
	(void)state;
	check_golden("icount.json", "icount.eml");
}

static void tells_modes_followers_and_how_it_was_found(void **state)
{
	(void)state;
	check_golden("history.json", "history.eml");
}

static void check_limits(const char *body)
{
	size_t lines = 0;

	assert_true(strlen(body) <= COMPOSE_MAX_BYTES);
	for (const char *p = body; *p; lines++) {
		const char *end = strchrnul(p, '\n');
		_cleanup_(freep) char *line = xstrndup(p, (size_t)(end - p));
		bool long_ok = strstr(line, "://") || strstr(line, "(\"") || line[0] == ' ';

		assert_true(long_ok || text_width(line) <= 80);
		p = *end ? end + 1 : end;
	}
	assert_true(lines <= COMPOSE_MAX_LINES);
}

/* The report of the manual with these checks. */
static char *body_with(const char *checks)
{
	json_t *root = load("report.json"), *list = json_loads(checks, 0, NULL);
	struct compose_mail m;
	char *body;

	assert_non_null(list);
	(void)json_object_set_new(root, "checks", list);
	(void)json_object_del(root, "net");
	m = compose(root);
	body = body_of(&m);
	compose_mail_done(&m);
	return body;
}

static void says_what_aligned_functions_showed(void **state)
{
	static const struct {
		const char *check;
		const char *says;
	} cases[] = {
		{ "{\"name\":\"align64\",\"rel\":-0.036,\"lo\":-0.041,\"hi\":-0.031,\"ok\":true}",
		  "Checks  64-byte aligned functions: -3.6% (-4.1 .. -3.1), so not code\n        layout\n" },
		{ "{\"name\":\"align64\",\"rel\":-0.009,\"lo\":-0.013,\"hi\":-0.005,\"ok\":false}",
		  "so code" },
		{ "{\"name\":\"align64\",\"text\":\"not measured, head does not build\",\"ok\":false}",
		  "Checks  64-byte aligned functions: not measured, head does not build\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *list = xasprintf("[%s]", cases[i].check);
		_cleanup_(freep) char *body = body_with(list);

		if (!strstr(body, cases[i].says))
			fail_msg("'%s' is not in:\n%s", cases[i].says, body);
	}
}

static void says_what_was_measured_again(void **state)
{
	static const struct {
		const char *check;
		const char *says;
	} cases[] = {
		{ "{\"name\":\"aa\",\"rel\":0.001,\"lo\":-0.004,\"hi\":0.006,\"ok\":true,\"same_day\":true,"
		  "\"commit\":\"77b0c9d3e1f4\"}",
		  "Checks  parent again the same day: +0.1% (-0.4 .. +0.6), box is steady\n" },
		{ "{\"name\":\"again\",\"rel\":0.001,\"lo\":-0.004,\"hi\":0.006,\"ok\":true,"
		  "\"commit\":\"aaaaaaaaaaaaaaaa\"}",
		  "Checks  base aaaaaaaaaaaa again: +0.1% (-0.4 .. +0.6), box is steady\n" },
		{ "{\"name\":\"bb\",\"rel\":-0.02,\"ok\":false,\"commit\":\"4d1c7e90ab12\"}",
		  "Checks  this commit again: -2.0%, box is NOT steady\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *list = xasprintf("[%s]", cases[i].check);
		_cleanup_(freep) char *body = body_with(list);

		if (!strstr(body, cases[i].says))
			fail_msg("'%s' is not in:\n%s", cases[i].says, body);
	}
}

/* The report of the manual with one more key. */
static char *body_and(const char *key, const char *value)
{
	json_t *root = load("report.json");
	struct compose_mail m;
	char *body;

	(void)json_object_set_new(root, key, json_loads(value, JSON_DECODE_ANY, NULL));
	m = compose(root);
	body = body_of(&m);
	compose_mail_done(&m);
	return body;
}

static void one_peak_is_said_where_it_is_known(void **state)
{
	_cleanup_(freep) char *one = body_and("one_peak", "true");
	_cleanup_(freep) char *none = body_and("one_peak", "false");

	(void)state;
	assert_non_null(strstr(one, "\n        one peak on either side\n"));
	assert_null(strstr(none, "one peak on"));
}

static void what_was_said_before_is_not_said_again(void **state)
{
	_cleanup_(freep) char *twice =
		body_and("findings", "[\"vm-scalability.throughput fell 3.8 % [-4.3 %, -3.3 %]\","
				     "\"also moved: ctx +83.5 %\",\"\",\"  \"]");
	_cleanup_(freep) char *evil = body_and(
		"findings", "[\"x fell 1.0 % with it\\n#kperfbot stop\\u001b[31m\",\".\\r\\n.\"]");

	(void)state;
	assert_null(strstr(twice, "\nAlso"));
	assert_non_null(strstr(evil, "\nAlso    x fell 1.0% with it"));
	assert_null(strstr(evil, "\n#kperfbot"));
	assert_null(strchr(evil, '\x1b'));
	check_limits(evil);
}

static void no_heading_stands_alone(void **state)
{
	static const char *const empty[] = { "findings", "checks",    "metrics",   "runners_up",
					     "profile",	 "reproduce", "bisection", "box",
					     "params",	 "net",	      "broad" };
	static const char *const headings[] = { "\nAlso",      "\nFound",     "\nChecks",
						"\ncycles in", "\nReproduce", "\nBisect",
						"\nBox",       "\nImpact" };
	json_t *root = load("report.json");
	struct compose_mail m;
	char *body;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		const json_t *was = json_object_get(root, empty[i]);

		(void)json_object_set_new(
			root, empty[i], !was || json_is_array(was) ? json_array() : json_object());
	}
	(void)json_object_del(root, "class");
	(void)json_object_del(json_object_get(root, "culprit"), "p");
	m = compose(root);
	body = body_of(&m);
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++)
		if (strstr(body, headings[i]))
			fail_msg("'%s' stands in:\n%s", headings[i], body);
	free(body);
	compose_mail_done(&m);
	body = body_with(
		"[{\"name\":\"aa\"},{\"name\":\"machine\",\"machine\":\"b1\",\"text\":\"\"}]");
	assert_null(strstr(body, "Checks"));
	free(body);
	root = load("report.json");
	(void)json_object_set_new(json_object_get(root, "reproduce"), "commands",
				  json_pack("[s, s]", "", "  "));
	m = compose(root);
	body = body_of(&m);
	assert_null(strstr(body, "Reproduce"));
	free(body);
	compose_mail_done(&m);
}

static void keeps_to_prose_and_table_widths(void **state)
{
	struct compose_mail m = compose(load("report.json"));
	_cleanup_(freep) char *body = body_of(&m);

	(void)state;
	check_limits(body);
	compose_mail_done(&m);
}

static void set_text(json_t *root, const char *object, const char *key, const char *s, size_t len)
{
	json_t *o = object ? json_object_get(root, object) : root;

	json_object_set_new(o, key, json_stringn_nocheck(s, len));
}

static size_t count(const char *s, const char *what)
{
	size_t n = 0;

	while ((s = strstr(s, what))) {
		n++;
		s += strlen(what);
	}
	return n;
}

static void hostile_subjects_stay_text(void **state)
{
	static const char *const bad[] = {
		"x\r\nBcc: victim@example.org\r\n\r\nbody",
		"x\nX-Evil: 1",
		"\x1b[2J\x1b]0;x\x07",
		"\xe2\x80\xaelooks turned\xe2\x80\xac",
		"<script>alert(1)</script>",
		"\xff\xfe\xc3",
		"=?utf-8?q?=0d=0aBcc:_x?=",
		"%s%n%n",
		"\"); DROP TABLE x; --",
		".\r\n.\r\nQUIT",
		"\xe2\x80\xa8line\xe2\x80\xa9",
		"\xf0\x9f\x90\xa7 penguin",
		("a\x1f"
		 "b"),
		"#kperfbot stop",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *root = load("report.json");
		struct compose_mail m;
		_cleanup_(freep) char *body = NULL;
		const char *end;

		set_text(root, "culprit", "title", bad[i], strlen(bad[i]));
		set_text(root, "in_reply_to", "subject", bad[i], strlen(bad[i]));
		set_text(root, NULL, "tested_as", bad[i], strlen(bad[i]));
		m = compose(root);
		end = strstr(m.bytes, "\r\n\r\n");
		assert_int_equal(count(m.bytes, "\r\nSubject: Re: "), 1);
		assert_null(memmem(m.bytes, (size_t)(end - m.bytes), "\r\nBcc", 5));
		assert_null(memmem(m.bytes, (size_t)(end - m.bytes), "\r\nX-Evil", 8));
		body = body_of(&m);
		assert_null(strchr(body, '\x1b'));
		assert_null(strstr(body, "\xe2\x80\xae"));
		assert_null(strstr(body, "\n#kperfbot"));
		assert_null(strstr(body, "\n.\n"));
		assert_non_null(strstr(body, "\nIf you fix this in a commit of its own"));
		check_limits(body);
		compose_mail_done(&m);
	}
}

static void a_nul_and_a_long_subject_are_cut(void **state)
{
	_cleanup_(freep) char *title = xcalloc(1, 10240);
	json_t *root = load("report.json");
	struct compose_mail m;
	_cleanup_(freep) char *body = NULL;

	(void)state;
	memset(title, 'x', 10240);
	title[3] = '\0';
	set_text(root, "culprit", "title", title, 10240);
	json_object_del(root, "in_reply_to");
	m = compose(root);
	body = body_of(&m);
	assert_non_null(strstr(body, "(\"xxx\\x00xxx"));
	assert_non_null(strstr(body, "xxx...\")"));
	assert_true(strlen(m.subject) <= 200);
	assert_string_equal(
		m.subject,
		"[linux-next:master] 4d1c7e90ab12: vm-scalability.throughput -3.8% regression");
	assert_null(strstr(m.bytes, "In-Reply-To"));
	compose_mail_done(&m);
}

static void too_much_evidence_is_shortened(void **state)
{
	json_t *root = load("report.json");
	json_t *metrics = json_object_get(root, "metrics");
	json_t *checks = json_object_get(root, "checks");
	json_t *profile = json_object_get(root, "profile");
	json_t *commands = json_object_get(json_object_get(root, "reproduce"), "commands");
	json_t *findings = json_array();
	char line[480];
	struct compose_mail m;
	_cleanup_(freep) char *body = NULL;

	(void)state;
	memset(line, 'y', sizeof(line));
	(void)json_object_set_new(root, "findings", findings);
	for (int i = 0; i < 300; i++) {
		json_array_append(metrics, json_array_get(metrics, 0));
		json_array_append(checks, json_array_get(checks, 1));
		json_array_append(profile, json_array_get(profile, 0));
		json_array_append_new(findings, json_stringn(line, sizeof(line)));
		json_array_append_new(commands, json_stringn(line, sizeof(line)));
	}
	m = compose(root);
	body = body_of(&m);
	check_limits(body);
	assert_non_null(strstr(body, "more metrics changed)"));
	assert_non_null(strstr(body, "more lines on the page"));
	compose_mail_done(&m);
}

static void reports_times_that_rise(void **state)
{
	json_t *root = load("report.json");
	json_t *effect = json_object_get(root, "effect");
	struct compose_mail m;

	(void)state;
	set_text(root, "metric", "better", "lower", 5);
	json_object_set_new(effect, "rel", json_real(0.123));
	json_object_set_new(effect, "lo", json_real(-0.01));
	json_object_set_new(effect, "hi", json_real(0.25));
	m = compose(root);
	assert_non_null(strstr(m.bytes, "rose by 12.3% (95% interval: -1.0% to +25.0%,"));
	assert_non_null(strstr(m.bytes, "less is better"));
	compose_mail_done(&m);
}

static void where_no_program_reads_answers_a_person_is_named(void **state)
{
	json_t *root = load("report.json");
	struct compose_mail m;

	(void)state;
	json_object_set_new(root, "replies", json_false());
	m = compose(root);
	assert_non_null(strstr(m.bytes, "List-Unsubscribe: <mailto:lab@perf.example.org?"));
	assert_non_null(strstr(m.bytes, "To get no more mail, write to lab@perf.example.org\r\n"));
	assert_null(strstr(m.bytes, "/stop"));
	compose_mail_done(&m);
}

static void hashes_and_long_titles_keep_to_the_width(void **state)
{
	json_t *root = load("report.json");
	json_t *b = json_object_get(root, "bisection");
	struct compose_mail m;

	(void)state;
	json_object_set_new(b, "good", json_string("74d987cec08f2606ea50a40b85823bcb9202fa03"));
	json_object_set_new(json_object_get(root, "culprit"), "title",
			    json_string("mm/demo: watch how often faults come next to each other"));
	m = compose(root);
	assert_non_null(strstr(m.bytes, "Bisect  74d987cec08f (good) .. "));
	assert_non_null(strstr(m.bytes,
			       "\r\n  commit 4d1c7e90ab12\r\n         (\"mm/demo: watch how often "
			       "faults come next to each other\")\r\n"));
	compose_mail_done(&m);
}

static void replies_keep_their_thread(void **state)
{
	json_t *root = load("report.json");
	json_t *refs = json_array();
	struct compose_mail m;

	(void)state;
	for (int i = 0; i < 40; i++)
		json_array_append_new(refs, json_sprintf("ref%d@example.org", i));
	json_object_set_new(json_object_get(root, "in_reply_to"), "references", refs);
	m = compose(root);
	assert_non_null(strstr(m.bytes, "References: <ref0@example.org> <ref31@example.org>"));
	assert_non_null(strstr(m.bytes, " <20301028101500.4242-3-jane@example.org>\r\nAuto"));
	compose_mail_done(&m);
}

static void check_refused(json_t *root, int code)
{
	struct compose_input in = { .seq = 77 };
	struct compose_mail m = { .len = 77 };
	struct err e = { 0 };
	int r = compose_input_from_json(root, &in, &e);

	if (r == 0) {
		r = compose_report(&in, &m, &e);
		compose_input_done(&in);
	} else {
		assert_int_equal(in.seq, 77);
	}
	assert_int_equal(r, code);
	assert_int_equal(m.len, 77);
	assert_true(e.msg[0]);
	json_decref(root);
}

static void refuses_input_that_is_not_right(void **state)
{
	static const struct {
		const char *object;
		const char *key;
		const char *value;
		int code;
	} cases[] = {
		{ NULL, "id", "\"x1234567\"", ERR_INVAL },
		{ NULL, "id", "\"r123456l\"", ERR_INVAL },
		{ NULL, "id", "null", ERR_PARSE },
		{ NULL, "format", "\"kperfbot-report/2\"", ERR_FORMAT },
		{ NULL, "at", "\"2030-02-30T00:00:00Z\"", ERR_PARSE },
		{ NULL, "at", "\"yesterday\"", ERR_PARSE },
		{ NULL, "at", "\"2030-11-06T08:12:00+02:00\"", ERR_PARSE },
		{ NULL, "host", "\"a b\"", ERR_INVAL },
		{ NULL, "host", "\"x.org>\\r\\nBcc: y\"", ERR_INVAL },
		{ NULL, "seq", "0", ERR_RANGE },
		{ NULL, "direction", "\"better\"", ERR_INVAL },
		{ NULL, "tree", "5", ERR_PARSE },
		{ NULL, "params", "[]", ERR_PARSE },
		{ NULL, "metrics", "{}", ERR_PARSE },
		{ NULL, "recipients", "[{\"addr\":\"a@b\\r\\nRCPT TO:<c@d>\"}]", ERR_INVAL },
		{ NULL, "recipients", "[{\"addr\":\"a b@example.org\"}]", ERR_INVAL },
		{ NULL, "recipients", "[{}]", ERR_PARSE },
		{ NULL, "contact", "\"nobody\"", ERR_INVAL },
		{ NULL, "findings", "\"one\"", ERR_PARSE },
		{ NULL, "findings", "[7]", ERR_PARSE },
		{ NULL, "one_peak", "1", ERR_PARSE },
		{ NULL, "found", "{}", ERR_PARSE },
		{ NULL, "checks", "[{\"name\":\"aa\",\"commit\":\"x\\r\\ny\"}]", ERR_INVAL },
		{ "effect", "base", "{\"modes\":{}}", ERR_PARSE },
		{ "effect", "head", "{\"modes\":[{\"share\":0.5}]}", ERR_PARSE },
		{ "effect", "head", "{\"modes\":[{\"share\":1.5,\"center\":1}]}", ERR_RANGE },
		{ "metric", "name", "null", ERR_PARSE },
		{ "metric", "better", "\"sideways\"", ERR_INVAL },
		{ "effect", "rel", "\"much\"", ERR_PARSE },
		{ "effect", "rel", "0.038", ERR_INVAL },
		{ "effect", "rel", "0", ERR_INVAL },
		{ "effect", "lo", "0.5", ERR_INVAL },
		{ "effect", "level", "1", ERR_RANGE },
		{ "effect", "rel", "1e300", ERR_RANGE },
		{ "culprit", "commit", "\"4D1C\"", ERR_INVAL },
		{ "culprit", "p", "1.5", ERR_RANGE },
		{ "culprit", "lives_in", "\"moon\"", ERR_INVAL },
		{ "in_reply_to", "message_id", "\"a b@c\"", ERR_INVAL },
		{ "in_reply_to", "message_id", "\"<a@b>\"", ERR_INVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *root = load("report.json");
		json_t *o = cases[i].object ? json_object_get(root, cases[i].object) : root;

		json_object_set_new(o, cases[i].key,
				    json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		check_refused(root, cases[i].code);
	}
	check_refused(json_array(), ERR_PARSE);
	check_refused(json_object(), ERR_PARSE);
}

static void gates_hold_back_doubtful_reports(void **state)
{
	static const struct {
		const char *object;
		const char *key;
		double value;
	} cases[] = { { "culprit", "p", 0.89 }, { "effect", "hi", 0.001 }, { NULL, NULL, 0 } };
	struct compose_input in;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *root = load("report.json");

		if (cases[i].object)
			json_object_set_new(json_object_get(root, cases[i].object), cases[i].key,
					    json_real(cases[i].value));
		else
			json_object_del(root, "recipients");
		assert_ok(compose_input_from_json(root, &in, &e), &e);
		assert_err(compose_gate(&in, &e), ERR_PERM, &e);
		compose_input_done(&in);
		json_decref(root);
	}
	for (int text = 0; text < 2; text++) {
		json_t *root = load("report.json");
		const char *check =
			text ? "[{\"name\":\"align64\",\"ok\":false,\"text\":\"no build\"}]"
			     : "[{\"name\":\"align64\",\"ok\":false,\"rel\":-0.001}]";

		json_object_set_new(root, "checks", json_loads(check, 0, NULL));
		assert_ok(compose_input_from_json(root, &in, &e), &e);
		assert_err(compose_gate(&in, &e), ERR_PERM, &e);
		assert_non_null(strstr(e.msg, text ? "aligned functions: no build"
						   : "the change is -0.1%"));
		compose_input_done(&in);
		json_decref(root);
	}
	{
		json_t *root = load("report.json");

		assert_ok(compose_input_from_json(root, &in, &e), &e);
		assert_ok(compose_gate(&in, &e), &e);
		compose_input_done(&in);
		json_decref(root);
	}
}

static void refuses_unknown_kinds_by_name(void **state)
{
	struct compose_mail m = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_err(compose_kind("retract", NULL, &m, &e), ERR_UNSUPPORTED, &e);
	assert_non_null(strstr(e.msg, "'retract'"));
	assert_err(compose_kind("poem", NULL, &m, &e), ERR_INVAL, &e);
	assert_non_null(strstr(e.msg, "'poem'"));
}

static void notes_keys_it_does_not_know(void **state)
{
	json_t *root = load("icount.json");
	struct compose_input in;
	struct err e = { 0 };

	(void)state;
	assert_ok(compose_input_from_json(root, &in, &e), &e);
	assert_int_equal(in.notes.len, 1);
	assert_non_null(strstr(in.notes.items[0], "'colour'"));
	compose_input_done(&in);
	json_decref(root);
}

/* "[{…}, …]" as the possible fixes of the example; the text from "Fix" to the end of that entry. */
static char *fixes_text(const char *list)
{
	json_t *root = load("report.json");
	struct compose_mail m;
	char *body, *from, *end, *ret;

	assert_int_equal(json_object_set_new(root, "possibly_fixed", json_loads(list, 0, NULL)), 0);
	m = compose(root);
	body = body_of(&m);
	from = strstr(body, "\nFix     ");
	end = strstr(body, "\nAsk     ");
	assert_non_null(end);
	ret = from ? xstrndup(from + 1, (size_t)(end - from)) : xstrdup("");
	compose_mail_done(&m);
	free(body);
	return ret;
}

#define FIX(more) "{\"commit\":\"9f4ad9e425a1bb\",\"title\":\"mm: fast\"" more "}"

static void tells_what_claims_to_be_a_fix(void **state)
{
	_cleanup_(freep) char *one =
		fixes_text("[" FIX(",\"says\":\"fixes\",\"branch\":\"master\",\"commit_time\":"
				   "\"2030-11-05T10:00:00+00:00\",\"measured\":false") "]");
	_cleanup_(freep) char *many =
		fixes_text("[" FIX(",\"says\":\"reverts\",\"measured\":true") "," FIX(
			",\"by_title\":true") "," FIX("") "," FIX("") "]");
	_cleanup_(freep) char *odd = fixes_text("[" FIX(",\"commit_time\":\"+292277-01-09\"") "]");
	_cleanup_(freep) char *none = fixes_text("[]");

	(void)state;
	assert_string_equal(one,
			    "Fix     possibly fixed by 9f4ad9e425a1 (\"mm: fast\"), in linux-next\n"
			    "        master, committed 2030-11-05; not measured yet\n");
	assert_string_equal(
		many, "Fix     possibly taken back by 9f4ad9e425a1 (\"mm: fast\")\n"
		      "        possibly fixed by 9f4ad9e425a1 (\"mm: fast\"), which gives the\n"
		      "        title with an id that is not there; and 2 more say so\n");
	assert_string_equal(odd, "Fix     possibly fixed by 9f4ad9e425a1 (\"mm: fast\")\n");
	assert_string_equal(none, "");
}

/* Tags are copied from the mail: an id that is shorter than 12 digits is ambiguous soon. */
static void ids_for_tags_have_twelve_digits(void **state)
{
	struct compose_mail m = compose(load("report.json"));
	_cleanup_(freep) char *body = body_of(&m);
	const char *tag = strstr(body, "\n  Fixes: ");

	(void)state;
	assert_non_null(tag);
	assert_true(strspn(tag + 10, "0123456789abcdef") >= 12);
	compose_mail_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_claims_to_be_a_fix),
		cmocka_unit_test(ids_for_tags_have_twelve_digits),
		cmocka_unit_test(writes_the_example_of_the_manual),
		cmocka_unit_test(leaves_out_what_was_not_measured),
		cmocka_unit_test(tells_modes_followers_and_how_it_was_found),
		cmocka_unit_test(says_what_was_measured_again),
		cmocka_unit_test(one_peak_is_said_where_it_is_known),
		cmocka_unit_test(what_was_said_before_is_not_said_again),
		cmocka_unit_test(says_what_aligned_functions_showed),
		cmocka_unit_test(no_heading_stands_alone),
		cmocka_unit_test(keeps_to_prose_and_table_widths),
		cmocka_unit_test(hostile_subjects_stay_text),
		cmocka_unit_test(a_nul_and_a_long_subject_are_cut),
		cmocka_unit_test(too_much_evidence_is_shortened),
		cmocka_unit_test(reports_times_that_rise),
		cmocka_unit_test(where_no_program_reads_answers_a_person_is_named),
		cmocka_unit_test(hashes_and_long_titles_keep_to_the_width),
		cmocka_unit_test(replies_keep_their_thread),
		cmocka_unit_test(refuses_input_that_is_not_right),
		cmocka_unit_test(gates_hold_back_doubtful_reports),
		cmocka_unit_test(refuses_unknown_kinds_by_name),
		cmocka_unit_test(notes_keys_it_does_not_know),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
