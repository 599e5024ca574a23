/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/log.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
	struct bisect_graph g;
	struct bisect_state s;
};

static void tell(struct bisect_state *s, int commit, int boot, double y)
{
	struct err e = { 0 };

	assert_ok(bisect_add_run(s, commit, boot, y, &e), &e);
}

/* Eight commits with a merge: 0-1-2-6-7 and 3-4-5, merged by 6; the culprit is 4. */
static int set_up(void **state)
{
	static const int parents[8][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 }, { 0, -1 },
					   { 3, -1 },  { 4, -1 }, { 2, 5 },  { 6, -1 } };
	struct fixture *f = calloc(1, sizeof(*f));
	struct bisect_params p = bisect_params_default();
	struct err e = { 0 };

	assert_non_null(f);
	for (int i = 0; i < 8; i++) {
		char name[2] = { (char)('a' + i), '\0' };
		size_t n = parents[i][1] >= 0 ? 2 : parents[i][0] >= 0 ? 1 : 0;

		assert_ok(bisect_graph_add(&f->g, name, parents[i], n, i == 0, &e), &e);
	}
	p.step = 0.1;
	assert_ok(bisect_graph_prepare(&f->g, &e), &e);
	assert_ok(bisect_init(&f->s, &f->g, &p, &e), &e);
	assert_ok(bisect_set_prior(&f->s, 1, 0.25, &e), &e);
	assert_ok(bisect_mark_built(&f->s, 7, &e), &e);
	for (int boot = 1; boot <= 2; boot++) {
		tell(&f->s, BISECT_GOOD_END, boot, 5 + 1.0 / 3);
		tell(&f->s, 7, 2 + boot, 5.1 + 1.0 / 3);
	}
	assert_ok(bisect_skip(&f->s, 2, BISECT_SKIP_BOOT, &e), &e);
	for (int boot = 5; boot <= 6; boot++) {
		tell(&f->s, 4, boot, 5.1 + 1.0 / 3);
		tell(&f->s, 3, 2 + boot, 5 + 1.0 / 3);
	}
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	bisect_done(&f->s);
	bisect_graph_done(&f->g);
	free(f);
	return 0;
}

static void log_comes_back_event_by_event(void **state)
{
	struct fixture *f = *state;
	struct bisect_log log;
	struct bisect_state again;
	struct err e = { 0 };
	double p[8], q[8];
	char *text = bisect_log_write(&f->s, "0123456789012345678901234567890123456789", NULL);
	char *second;

	assert_ok(bisect_log_read(text, strlen(text), &log, &e), &e);
	assert_string_equal(log.good, "0123456789012345678901234567890123456789");
	assert_int_equal(log.n_events, f->s.n_events);
	assert_int_equal(log.graph.n, 8);
	assert_false(log.graph.line);
	assert_ok(bisect_log_start(&log, &again, &e), &e);
	for (size_t i = 0; i < log.n_events; i++)
		assert_ok(bisect_log_apply(&again, &log.events[i], &e), &e);
	bisect_posterior(&f->s, p, NULL);
	bisect_posterior(&again, q, NULL);
	assert_memory_equal(p, q, sizeof(p));
	second = bisect_log_write(&again, log.good, NULL);
	assert_string_equal(text, second);
	free(text);
	free(second);
	bisect_done(&again);
	bisect_log_done(&log);
	bisect_log_done(NULL);
}

static void what_it_cost_is_in_the_log(void **state)
{
	struct fixture *f = *state;
	const unsigned char made[9] = { [2] = 1, [8] = 1 };
	const unsigned char given[3] = { [1] = 1 };
	const struct bisect_log_cost cost = { .made = made,
					      .given = given,
					      .n_given = 3,
					      .beside = { .builds = 1, .boots = 5, .runs = 7 } };
	struct bisect_log log;
	struct err e = { 0 };
	char *text;

	assert_ok(bisect_mark_built(&f->s, 1, &e), &e);
	assert_ok(bisect_mark_built(&f->s, 2, &e), &e);
	text = bisect_log_write(&f->s, "0000", &cost);
	assert_ok(bisect_log_read(text, strlen(text), &log, &e), &e);
	assert_int_equal(log.beside.builds, 1);
	assert_int_equal(log.beside.boots, 5);
	assert_int_equal(log.beside.runs, 7);
	for (size_t i = 0; i < log.n_events; i++) {
		const struct bisect_event *event = &log.events[i];

		assert_int_equal(event->made,
				 event->kind == BISECT_EVENT_BUILT && event->commit == 2);
		assert_int_equal(event->given, event->kind == BISECT_EVENT_RUN && event->boot == 1);
	}
	free(text);
	bisect_log_done(&log);
}

static void summary_tells_what_holds_most(void **state)
{
	struct bisect_params p = bisect_params_default();
	struct bisect_graph g = { 0 };
	struct bisect_summary sum;
	struct bisect_state s;
	struct err e = { 0 };

	(void)state;
	p.prior_none = 0.1;
	assert_ok(bisect_graph_add_line(&g, 20, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_ok(bisect_init(&s, &g, &p, &e), &e);
	assert_ok(bisect_set_prior(&s, 7, 81, &e), &e);
	bisect_summarise(&s, &sum);
	assert_int_equal(sum.likeliest, 7);
	assert_float_equal(sum.p, 0.9 * 0.81, 1e-9);
	assert_float_equal(sum.p_none, 0.1, 1e-9);
	/* 0.81 and fourteen of 0.01 are 0.95. */
	assert_in_range(sum.hold, 15, 16);
	bisect_done(&s);
	bisect_graph_done(&g);
}

static void refuse(const char *text, size_t len, int code, const char *say)
{
	struct bisect_log log = { .n_events = 77 };
	struct err e = { 0 };

	assert_err(bisect_log_read(text, len, &log, &e), code, &e);
	if (!strstr(e.msg, say))
		fail_msg("'%s' does not say '%s'", e.msg, say);
	assert_int_equal(log.n_events, 77);
}

static void refuses_every_log_cut_within_a_line(void **state)
{
	struct fixture *f = *state;
	char *text = bisect_log_write(&f->s, NULL, NULL);

	for (size_t n = strlen(text) - 1; n-- > 0;) {
		struct bisect_log log;
		struct err e = { 0 };
		int r = bisect_log_read(text, n, &log, &e);

		if (r == 0) {
			assert_true(text[n] == '\n' || text[n - 1] == '\n');
			bisect_log_done(&log);
		} else {
			assert_true(e.msg[0] != '\0');
		}
	}
	free(text);
}

static void says_what_is_wrong_with_a_log(void **state)
{
	static const struct {
		const char *from, *to, *say;
		int code;
	} cases[] = {
		{ "bisect-log/1", "bisect-log/7", "line 1: format", ERR_FORMAT },
		{ "\"sigma\"", "\"sigmo\"", "'sigma'", ERR_PARSE },
		{ "\"parents\":[\"a\"]", "\"parents\":[\"z\"]", "commit 2", ERR_NOENT },
		{ "{\"commit\":\"b\"", "{\"commit\":\"a\"", "twice", ERR_PARSE },
		{ "{\"commit\":\"b\"", "{\"commit\":\"-\"", "no name", ERR_PARSE },
		{ "\"boot\":1", "\"boat\":1", "line 4: a run has no boot", ERR_PARSE },
		{ "\"reason\":\"boot\"", "\"reason\":\"boat\"", "'boat'", ERR_PARSE },
		{ "{\"commit\":\"h\"}", "{\"commit\":\"y\"}", "'y'", ERR_NOENT },
	};
	struct fixture *f = *state;

	refuse("", 0, ERR_PARSE, "empty");
	refuse("\n\n", 2, ERR_PARSE, "empty");
	refuse("[]", 2, ERR_PARSE, "line 1");
	refuse("{}", 2, ERR_FORMAT, "line 1");
	refuse("{\0}", 3, ERR_PARSE, "line 1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = bisect_log_write(&f->s, NULL, NULL);
		char *at = strstr(text, cases[i].from);

		assert_non_null(at);
		memcpy(at, cases[i].to, strlen(cases[i].to));
		refuse(text, strlen(text), cases[i].code, cases[i].say);
		free(text);
	}
}

static void later_events_are_ignored(void **state)
{
	struct fixture *f = *state;
	char *text = bisect_log_write(&f->s, NULL, NULL);
	size_t n = strlen(text);
	struct bisect_log log;
	struct err e = { 0 };

	text = realloc(text, n + 64);
	assert_non_null(text);
	memcpy(text + n, "{\"weather\":{\"commit\":\"q\"}}\n", 28);
	assert_ok(bisect_log_read(text, strlen(text), &log, &e), &e);
	assert_int_equal(log.n_events, f->s.n_events);
	bisect_log_done(&log);
	free(text);
}

static const char *subject(const char *hash, void *arg)
{
	assert_string_equal(arg, "told");
	return hash[0] == 'e' ? "mm: be\t\033[31m\xc2\x9bslow\n\nbody" : NULL;
}

static void git_log_has_words_in_order(void **state)
{
	struct fixture *f = *state;
	struct bisect_step step = { .action = BISECT_DONE,
				    .commit = 4,
				    .second = BISECT_NO_COMMIT };
	char arg[] = "told";
	static const char *const goods[] = { "1111" };
	static const char *const paths[] = { "mm", "it's a path!" };
	struct bisect_git_about about = { .subject = subject, .arg = arg };
	char *text = bisect_log_git(&f->s, "0000", &step, &about);

	assert_string_equal(text, "git bisect start\n"
				  "# status: waiting for both good and bad commits\n"
				  "# bad: [h] \ngit bisect bad h\n"
				  "# status: waiting for good commit(s), bad commit known\n"
				  "# good: [0000] \ngit bisect good 0000\n"
				  "# skip: [c] \ngit bisect skip c\n"
				  "# bad: [e] mm: be\t[31mslow\ngit bisect bad e\n"
				  "# good: [d] \ngit bisect good d\n"
				  "# first bad commit: [e] mm: be\t[31mslow\n");
	free(text);
	about.reversed = true;
	text = bisect_log_git(&f->s, "0000", &step, &about);
	assert_non_null(strstr(text, "# new: [h] \ngit bisect new h\n"));
	assert_non_null(strstr(text, "# old: [0000] \ngit bisect old 0000\n"));
	assert_non_null(strstr(text, "# first new commit: [e] mm: be"));
	assert_null(strstr(text, "git bisect bad"));
	assert_null(strstr(text, "git bisect good"));
	free(text);
	about = (struct bisect_git_about){
		.goods = goods, .n_goods = 1, .paths = paths, .n_paths = 2, .first_parent = true
	};
	text = bisect_log_git(&f->s, "0000", NULL, &about);
	assert_ptr_equal(strstr(text, "git bisect start '--first-parent' '--' 'mm' "
				      "'it'\\''s a path'\\!''\n"),
			 text);
	assert_non_null(
		strstr(text, "git bisect good 0000\n# good: [1111] \ngit bisect good 1111\n"));
	free(text);
}

static void what_is_unsure_is_a_comment(void **state)
{
	struct bisect_params p = bisect_params_default();
	struct bisect_graph g = { 0 };
	struct bisect_state s;
	struct err e = { 0 };
	char *text;

	(void)state;
	p.step = 0.1;
	assert_ok(bisect_graph_add_line(&g, 8, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_ok(bisect_init(&s, &g, &p, &e), &e);
	tell(&s, BISECT_GOOD_END, 1, 5.0);
	tell(&s, 7, 2, 5.1);
	tell(&s, 3, 3, 5.05);
	text = bisect_log_git(&s, "0000", NULL, NULL);
	assert_non_null(strstr(text, "# unsure: [0000000000000000000000000000000000000003]"));
	assert_null(strstr(text, "git bisect good 0000000000000000000000000000000000000003"));
	assert_null(strstr(text, "git bisect bad 0000000000000000000000000000000000000003"));
	free(text);
	bisect_done(&s);
	bisect_graph_done(&g);
}

static void git_log_is_read(void **state)
{
	static const char text[] =
		"# bad: [1111] subject\n"
		"# good: [2222] it's a 'quote'\n"
		"git bisect start '--first-parent' '1111' '2222' '--' 'mm/it'\\''s' 'fs'\n"
		"# skip: [3333] x\n"
		"git bisect skip 3333\r\n"
		"git bisect good 4444 5555\n"
		"\n"
		"# first bad commit: [0123456789012345678901234567890123456789] why\n";
	static const char *const names[] = { "1111", "2222", "3333", "4444", "5555" };
	static const enum bisect_word words[] = { BISECT_WORD_BAD, BISECT_WORD_GOOD,
						  BISECT_WORD_SKIP, BISECT_WORD_GOOD,
						  BISECT_WORD_GOOD };
	struct bisect_git_log log;
	struct err e = { 0 };

	(void)state;
	assert_true(bisect_git_log_is(text, strlen(text)));
	assert_ok(bisect_git_log_read(text, strlen(text), &log, &e), &e);
	assert_int_equal(log.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(log.names[i], names[i]);
		assert_int_equal(log.words[i], words[i]);
	}
	assert_true(log.first_parent);
	assert_int_equal(log.n_paths, 2);
	assert_string_equal(log.paths[0], "mm/it's");
	assert_string_equal(log.culprit, "0123456789012345678901234567890123456789");
	bisect_git_log_done(&log);
}

/* HEAD is elsewhere as soon as the bisection has begun; git writes in comments what it was. */
static void names_of_the_start_mean_what_they_meant_then(void **state)
{
#define BAD  "0123456789012345678901234567890123456789"
#define GOOD "abcdefabcdefabcdefabcdefabcdefabcdefabcd"
	static const char text[] = "# slow: [" BAD "] HEAD then\n"
				   "# fast: [" GOOD "] v1\n"
				   "# status: waiting for both good and bad commits\n"
				   "# first bad commit: [" BAD "] not an end\n"
				   "#: [" BAD "] no word\n"
				   "# x:\n"
				   "#\n"
				   "# : [" BAD "] \n"
				   "# short: [0123456789]\n"
				   "git bisect start 'HEAD' 'v1' 'v2'\n"
				   "git bisect start 'HEAD'\n";
	static const char *const names[] = { BAD, GOOD, "v2", "HEAD" };
	struct bisect_git_log log;
	struct err e = { 0 };

	(void)state;
	assert_ok(bisect_git_log_read(text, strlen(text), &log, &e), &e);
	assert_int_equal(log.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(log.names[i], names[i]);
	bisect_git_log_done(&log);
#undef BAD
#undef GOOD
}

static void other_terms_are_understood(void **state)
{
	static const char text[] = "git bisect start --term-old=fast '--term-new' 'slow'\n"
				   "git bisect slow aa\n"
				   "git bisect fast bb\n"
				   "git bisect new cc\n";
	struct bisect_git_log log;
	struct err e = { 0 };

	(void)state;
	assert_ok(bisect_git_log_read(text, strlen(text), &log, &e), &e);
	assert_int_equal(log.n, 3);
	assert_int_equal(log.words[0], BISECT_WORD_BAD);
	assert_int_equal(log.words[1], BISECT_WORD_GOOD);
	assert_int_equal(log.words[2], BISECT_WORD_BAD);
	bisect_git_log_done(&log);
}

static void refuses_what_is_no_git_log(void **state)
{
	static const struct {
		const char *text, *say;
	} cases[] = {
		{ "", "nothing" },
		{ "git bisect start\n", "nothing" },
		{ "git bisect start\ngit bisect guess aa\n", "line 2: 'git bisect guess'" },
		{ "git bisect bad\n", "no commit" },
		{ "git bisect bad 'aa\n", "quote" },
		{ "git bisect start 'aa\n", "quote" },
		{ "rm -rf /\n", "line 1: not a line" },
		{ "git\n", "line 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bisect_git_log log = { .n = 77 };
		struct err e = { 0 };

		assert_err(bisect_git_log_read(cases[i].text, strlen(cases[i].text), &log, &e),
			   ERR_PARSE, &e);
		if (!strstr(e.msg, cases[i].say))
			fail_msg("'%s' does not say '%s'", e.msg, cases[i].say);
		assert_int_equal(log.n, 77);
	}
	assert_false(bisect_git_log_is("{\"format\"", 9));
	assert_false(bisect_git_log_is("# only a comment", 16));
}

static void words_leave_what_agrees(void **state)
{
	struct fixture *f = *state;
	struct bisect_word_said said[] = {
		{ 7, BISECT_WORD_BAD },	 { BISECT_GOOD_END, BISECT_WORD_GOOD },
		{ 5, BISECT_WORD_BAD },	 { 2, BISECT_WORD_SKIP },
		{ 3, BISECT_WORD_GOOD }, { 5, BISECT_WORD_GOOD }
	};
	double p[8];
	size_t left;

	(void)state;
	bisect_words_posterior(&f->g, said, 5, 0, p, &left);
	assert_int_equal(left, 2);
	assert_near(p[4], 0.5, 1e-9);
	assert_near(p[5], 0.5, 1e-9);
	assert_true(p[3] == 0);
	bisect_words_posterior(&f->g, said, 5, 0.01, p, &left);
	assert_near(p[4], 0.5, 0.05);
	assert_true(p[3] > 0);
	bisect_words_posterior(&f->g, said, 6, 0, p, &left);
	assert_int_equal(left, 0);
	assert_true(p[4] == 0);
	bisect_words_posterior(&f->g, said, 6, 0.01, p, &left);
	assert_int_equal(left, 0);
	assert_true(p[4] > 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(log_comes_back_event_by_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_it_cost_is_in_the_log, set_up, tear_down),
		cmocka_unit_test(summary_tells_what_holds_most),
		cmocka_unit_test_setup_teardown(refuses_every_log_cut_within_a_line, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(says_what_is_wrong_with_a_log, set_up, tear_down),
		cmocka_unit_test_setup_teardown(later_events_are_ignored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(git_log_has_words_in_order, set_up, tear_down),
		cmocka_unit_test(what_is_unsure_is_a_comment),
		cmocka_unit_test(git_log_is_read),
		cmocka_unit_test(names_of_the_start_mean_what_they_meant_then),
		cmocka_unit_test(other_terms_are_understood),
		cmocka_unit_test(refuses_what_is_no_git_log),
		cmocka_unit_test_setup_teardown(words_leave_what_agrees, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
