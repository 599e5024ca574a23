/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each text of the corpus, as it is and in every way that a serial line spoils it. */
#include "runners/drivers/console.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

struct sample {
	char name[64];
	char sign[16], before[32], after[32];
	struct strbuf text;
};

static struct sample samples[256];
static size_t nsamples;

static const char *const sign_names[] = {
	[CONSOLE_NONE] = "none", [CONSOLE_NOTE] = "note",   [CONSOLE_NET] = "net",
	[CONSOLE_DISK] = "disk", [CONSOLE_HANG] = "hang",   [CONSOLE_OOM] = "oom",
	[CONSOLE_OOPS] = "oops", [CONSOLE_PANIC] = "panic",
};

static int corpus_read(void **state)
{
	FILE *f = fopen(TEST_SOURCE_DIR "/tests/data/console/corpus.txt", "re");
	struct sample *s = NULL;
	char line[1024];

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		if (strncmp(line, "== ", 3) != 0) {
			assert_non_null(s);
			strbuf_addstr(&s->text, line);
			continue;
		}
		s = &samples[nsamples++];
		assert_int_equal(sscanf(line, "== %63s %15s %31s %31s", s->name, s->sign, s->before,
					s->after),
				 4);
	}
	return fclose(f);
}

static int corpus_done(void **state)
{
	(void)state;
	while (nsamples)
		strbuf_done(&samples[--nsamples].text);
	return 0;
}

static enum console_sign worst(const struct console *c)
{
	for (int i = CONSOLE_SIGNS - 1; i > CONSOLE_NONE; i--) {
		if (c->signs[i])
			return (enum console_sign)i;
	}
	return CONSOLE_NONE;
}

/* @piece: bytes at a time; 0: all at once. */
static void expect(const struct sample *s, const char *how, const char *text, size_t len,
		   size_t piece)
{
	_cleanup_(console_done) struct console c = { 0 };
	const char *line, *before, *after;

	for (size_t i = 0; i < len;) {
		size_t n = piece && piece < len - i ? piece : len - i;

		console_add(&c, text + i, n);
		i += n;
	}
	before = lab_class_name(console_class(&c, false, &line));
	after = lab_class_name(console_class(&c, true, &line));
	if (strcmp(sign_names[worst(&c)], s->sign) != 0)
		fail_msg("%s, %s: sign '%s', not '%s': %s\n%.*s", s->name, how,
			 sign_names[worst(&c)], s->sign, c.signs[worst(&c)], (int)len, text);
	if (strcmp(before, s->before) != 0 || strcmp(after, s->after) != 0)
		fail_msg("%s, %s: classes '%s' and '%s', not '%s' and '%s'\n%.*s", s->name, how,
			 before, after, s->before, s->after, (int)len, text);
}

/* A way to spoil one line: what comes in place of @line; @stamp: bytes of its time stamp, or 0. */
typedef void spoil_line(struct strbuf *out, const char *line, size_t len, size_t stamp);

static size_t stamp_len(const char *line)
{
	const char *end = strchr(line, ']');

	return line[0] == '[' && end && strspn(line + 1, " .0123456789") == (size_t)(end - line - 1)
		       ? (size_t)(end - line + 1)
		       : 0;
}

static void spoil_cr(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	(void)stamp;
	strbuf_addf(out, "%.*s\r\n", (int)len, line);
}

static void spoil_colour(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	strbuf_addf(out, "\033]0;guest\a\033[32m%.*s\033[0m\033[1;31m%.*s\033[0m\n", (int)stamp,
		    line, (int)(len - stamp), line + stamp);
}

static void spoil_level(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	strbuf_addf(out, "%s%.*s\n", stamp ? "<3>" : "", (int)len, line);
}

static void spoil_caller(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	strbuf_addf(out, "%.*s%s%.*s\n", (int)stamp, line, stamp ? "[   T77]" : "",
		    (int)(len - stamp), line + stamp);
}

static void spoil_behind_text(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	strbuf_addf(out, "%s%.*s\n", stamp ? "brk1: pass 3 of " : "", (int)len, line);
}

/* Another CPU writes into the message; the rest follows alone, or with its prefix once more. */
static void cut_in(struct strbuf *out, const char *line, size_t len, size_t stamp, bool again)
{
	size_t part = stamp + (len - stamp < 9 ? len - stamp : 9);

	if (!stamp) {
		strbuf_addf(out, "%.*s\n", (int)len, line);
		return;
	}
	strbuf_addf(out, "%.*s[   T77]%.*s", (int)stamp, line, (int)(part - stamp), line + stamp);
	strbuf_addstr(out, "[    1.500000][    C3] example: another processor speaks\n");
	if (again)
		strbuf_addf(out, "%.*s[   T77] %.*s\n", (int)stamp, line, (int)(len - part),
			    line + part);
	else
		strbuf_addf(out, "%.*s\n", (int)(len - part), line + part);
}

static void spoil_cut_in(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	cut_in(out, line, len, stamp, false);
}

static void spoil_cut_again(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	cut_in(out, line, len, stamp, true);
}

static void spoil_doubled(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	bool starts = strstr(line, "Linux version ") == line + stamp + 1;

	/* Twice the start of a kernel would be another story. */
	strbuf_addf(out, "%.*s\n", (int)len, line);
	if (!starts)
		strbuf_addf(out, "%.*s\n", (int)len, line);
}

static void spoil_noise(struct strbuf *out, const char *line, size_t len, size_t stamp)
{
	(void)stamp;
	strbuf_addf(out, "%.*s\n\n", (int)len, line);
	/* No message, no stamp: what a line with the wrong speed looks like. */
	strbuf_add(out, "\x80\xff\xfe\x01~~\n", 7);
}

static const struct {
	const char *how;
	spoil_line *spoil;
} ways[] = {
	{ "with carriage returns", spoil_cr },
	{ "coloured", spoil_colour },
	{ "with levels", spoil_level },
	{ "with callers", spoil_caller },
	{ "behind another text", spoil_behind_text },
	{ "cut by another processor", spoil_cut_in },
	{ "cut, and gone on with a stamp", spoil_cut_again },
	{ "each line twice", spoil_doubled },
	{ "with noise between", spoil_noise },
};

static void spoil(const struct sample *s, spoil_line *how, struct strbuf *out)
{
	const char *p = strbuf_str(&s->text);

	while (*p) {
		size_t len = strcspn(p, "\n");

		how(out, p, len, stamp_len(p));
		p += len + (p[len] == '\n');
	}
}

static void each_text_has_its_class(void **state)
{
	(void)state;
	assert_true(nsamples >= 80);
	for (size_t i = 0; i < nsamples; i++)
		expect(&samples[i], "as it is", samples[i].text.s, samples[i].text.len, 0);
}

static void each_text_has_its_class_in_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < nsamples; i++) {
		const struct sample *s = &samples[i];

		for (size_t piece = 1; piece <= 17; piece += 4)
			expect(s, "in pieces", s->text.s, s->text.len, piece);
		/* A machine that dies does not end its line; one that starts does. */
		if (strcmp(s->before, "boot-loop") != 0)
			expect(s, "without its last byte", s->text.s, s->text.len - 1, 5);
	}
}

static void each_text_has_its_class_however_spoilt(void **state)
{
	(void)state;
	for (size_t i = 0; i < nsamples; i++) {
		for (size_t w = 0; w < ARRAY_SIZE(ways); w++) {
			_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

			/* Cut there, "---[ end" and a true panic are one and the same. */
			if (ways[w].spoil == spoil_cut_again &&
			    !strcmp(samples[i].name, "rest-of-a-panic"))
				continue;
			spoil(&samples[i], ways[w].spoil, &text);
			expect(&samples[i], ways[w].how, text.s, text.len, 0);
			expect(&samples[i], ways[w].how, text.s, text.len, 7);
		}
	}
}

static void each_text_has_its_class_behind_a_flood(void **state)
{
	_cleanup_(strbuf_done) struct strbuf flood = STRBUF_INIT;

	(void)state;
	while (flood.len < 16384)
		strbuf_addstr(&flood, "loader: one of very many lines that mean nothing at all\n");
	for (size_t i = 0; i < nsamples; i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		strbuf_add(&text, flood.s, flood.len);
		strbuf_add(&text, samples[i].text.s, samples[i].text.len);
		expect(&samples[i], "behind a flood", text.s, text.len, 4096);
	}
}

/* Two kernels that fail at once, line by line: what the worse of both says stays. */
static void two_texts_at_once_do_not_hide_each_other(void **state)
{
	static const char other[] = "[   60.100200] watchdog: BUG: soft lockup - CPU#0 stuck\n";

	(void)state;
	for (size_t i = 0; i < nsamples; i++) {
		_cleanup_(console_done) struct console c = { 0 };
		const char *p = strbuf_str(&samples[i].text);

		while (*p) {
			size_t len = strcspn(p, "\n") + 1;

			console_add(&c, other, sizeof(other) - 1);
			console_add(&c, p, len);
			p += len;
		}
		assert_non_null(c.signs[CONSOLE_HANG]);
		if (!strcmp(samples[i].sign, "panic") && !strstr(samples[i].name, "bad-image"))
			assert_non_null(c.signs[CONSOLE_PANIC]);
		if (!strcmp(samples[i].sign, "oops"))
			assert_non_null(c.signs[CONSOLE_OOPS]);
	}
}

/* A sign that a half line gave is taken back when the line goes on otherwise. */
static void a_half_line_may_still_turn_harmless(void **state)
{
	_cleanup_(console_done) struct console c = { 0 };

	(void)state;
	console_add(&c, "[   60.100200] BUG: w", 21);
	assert_non_null(c.signs[CONSOLE_OOPS]);
	console_add(&c, "orkqueue lockup - pool", 22);
	assert_null(c.signs[CONSOLE_OOPS]);
	assert_string_equal(c.signs[CONSOLE_HANG], "BUG: workqueue lockup - pool");
}

static void joins_what_another_processor_cut(void **state)
{
	static const char text[] =
		"[    1.000000][   T1] Kernel pan[    1.000001][   C2] eth0: up\n"
		"ic - not syncing: gone\n";
	_cleanup_(console_done) struct console c = { 0 };

	(void)state;
	console_add(&c, text, sizeof(text) - 1);
	assert_string_equal(c.signs[CONSOLE_PANIC], "Kernel panic - not syncing: gone");
}

static void forgets_an_earlier_boot(void **state)
{
	static const char text[] = "[    0.000000] Linux version 6\n[    1.000000] BUG: x\n"
				   "kperfbot-agent: here\n";
	_cleanup_(console_done) struct console c = { 0 };
	_cleanup_(freep) char *all = NULL;
	const char *line;
	size_t len;

	(void)state;
	console_add(&c, text, sizeof(text) - 1);
	assert_int_equal(c.boots, 1);
	console_forget(&c);
	assert_int_equal(console_class(&c, false, &line), LAB_OK);
	assert_null(line);
	assert_null(c.agent);
	assert_int_equal(c.boots, 0);
	all = console_text(&c, &len);
	assert_string_equal(all, text);
}

/* Any bytes: nothing may be read or written out of bounds, and nothing grows without end. */
static void bears_hostile_bytes(void **state)
{
	static const char *const bad[] = {
		"[",
		"[[[[[",
		"[ 1.",
		"[1.000000",
		"[    1.000000]",
		"<",
		"<3>[",
		"\033[",
		"\033]0;",
		"\033(",
		"[99999999999999999999999999999.999999] BUG: x",
		"[T]",
		"[C99999999999999999]x",
		"[    1.000000][T123456789012345678901234567890] x[    1.000000] y",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(console_done) struct console c = { 0 };
		const char *line;

		for (int n = 0; n < 3000; n++)
			console_add(&c, bad[i], strlen(bad[i]));
		console_add(&c, "\0\n\r\0", 4);
		(void)console_class(&c, i % 2 == 1, &line);
		for (int k = 0; k < CONSOLE_SIGNS; k++)
			assert_true(!c.signs[k] || strlen(c.signs[k]) < 4096);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_has_its_class),
		cmocka_unit_test(each_text_has_its_class_in_pieces),
		cmocka_unit_test(each_text_has_its_class_however_spoilt),
		cmocka_unit_test(each_text_has_its_class_behind_a_flood),
		cmocka_unit_test(two_texts_at_once_do_not_hide_each_other),
		cmocka_unit_test(a_half_line_may_still_turn_harmless),
		cmocka_unit_test(joins_what_another_processor_cut),
		cmocka_unit_test(forgets_an_earlier_boot),
		cmocka_unit_test(bears_hostile_bytes),
	};

	return cmocka_run_group_tests(tests, corpus_read, corpus_done);
}
