/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What consoles, kernels, other programs and broken counters do to an output: what is still right
 * stays, what is not is missing, and nothing is wrong.
 */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <math.h>
#include <string.h>

/* The suites that are read by patterns; the two others have tests of their own. */
static bool is_ours(const struct output_case *c)
{
	return strcmp(c->suite, "will-it-scale") != 0 && strcmp(c->suite, "vm-scalability") != 0;
}

/* Is every metric of @part one of @whole, with the same value? */
static void check_subset(const char *what, const struct output_case *c,
			 const struct suite_output *part, const struct suite_output *whole)
{
	for (size_t i = 0; i < part->n; i++) {
		const struct suite_metric *m = suite_metric_find(whole, part->metrics[i].name);

		if (!m || m->value != part->metrics[i].value)
			fail_msg("%s, %s: %s is %.17g", c->file, what, part->metrics[i].name,
				 part->metrics[i].value);
	}
}

static void check_equal(const char *what, const struct output_case *c, const struct strbuf *b,
			const struct suite_output *whole)
{
	struct suite_output out;

	output_parse(c, b->s, b->len, &out);
	check_subset(what, c, &out, whole);
	if (out.n != whole->n)
		fail_msg("%s, %s: %zu metrics, not %zu: %s", c->file, what, out.n, whole->n,
			 out.problems_n ? out.problems[out.problems_n - 1].text : "");
	suite_output_done(&out);
}

/* Every line of @text between @before and @after. */
static void dress(struct strbuf *b, const char *text, size_t len, const char *before,
		  size_t before_len, const char *after, size_t after_len)
{
	strbuf_reset(b);
	for (size_t at = 0; at < len;) {
		const char *nl = memchr(text + at, '\n', len - at);
		size_t n = nl ? (size_t)(nl - text) - at : len - at;

		strbuf_add(b, before, before_len);
		strbuf_add(b, text + at, n);
		strbuf_add(b, after, after_len);
		strbuf_addch(b, '\n');
		at += n + 1;
	}
}

static void reads_past_what_consoles_add(void **state)
{
#define DRESS(s) s, sizeof(s) - 1
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		struct suite_output whole;

		if (!is_ours(c))
			continue;
		output_parse(c, text, len, &whole);
		dress(&b, text, len, DRESS("\033[1;32m"), DRESS("\033[0m\033[K"));
		check_equal("colours", c, &b, &whole);
		dress(&b, text, len, DRESS(""), DRESS("\r"));
		check_equal("CR LF", c, &b, &whole);
		dress(&b, text, len, DRESS("\0\0"), DRESS("\0"));
		check_equal("NUL bytes", c, &b, &whole);
		dress(&b, text, len, DRESS("[   12.345678] usb 1-1: new device number 7\n"),
		      DRESS(""));
		check_equal("kernel log", c, &b, &whole);
		dress(&b, text, len, DRESS("<4>[    1.000000] Time: 5.000\n"), DRESS(" "));
		check_equal("kernel log with levels", c, &b, &whole);
		suite_output_done(&whole);
	}
	strbuf_done(&b);
}

static bool is_number_start(const char *text, size_t at)
{
	return text[at] >= '0' && text[at] <= '9' &&
	       (at == 0 || memchr(" \t\n(:=[", text[at - 1], 8));
}

static size_t number_len(const char *text, size_t len, size_t at)
{
	size_t n = 0;

	while (at + n < len && ((text[at + n] >= '0' && text[at + n] <= '9') ||
				(text[at + n] == '.' && at + n + 1 < len &&
				 text[at + n + 1] >= '0' && text[at + n + 1] <= '9')))
		n++;
	return n;
}

static void check_replaced(const struct output_case *c, const char *text, size_t len, size_t at,
			   size_t n, const char *with, const struct suite_output *whole)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	strbuf_add(&b, text, at);
	strbuf_addstr(&b, with);
	strbuf_add(&b, text + at + n, len - at - n);
	output_parse(c, b.s, b.len, &out);
	check_subset(with, c, &out, whole);
	suite_output_done(&out);
}

/* Number after number, each of them broken in each way: the metric is right or missing. */
static void a_broken_number_is_missing_and_spoils_nothing(void **state)
{
	static const char *const broken[] = { "nan",
					      "-nan",
					      "inf",
					      "-1",
					      "-0.5",
					      "1,5",
					      "0x10",
					      "",
					      "1.2.3",
					      "--",
					      ".5",
					      "5.",
					      "99999999999999999999999999999999999999999" };

	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		struct suite_output whole;

		if (!is_ours(c))
			continue;
		output_parse(c, text, len, &whole);
		for (size_t at = 0; at < len; at++) {
			size_t n = is_number_start(text, at) ? number_len(text, len, at) : 0;

			for (size_t i = 0; n > 0 && i < ARRAY_SIZE(broken); i++)
				check_replaced(c, text, len, at, n, broken[i], &whole);
		}
		suite_output_done(&whole);
	}
}

static double value_of(const char *suite, const char *text, const char *metric,
		       size_t *ret_problems)
{
	const struct suite *s = suite_find(suite);
	const struct suite_metric *m;
	struct suite_output out;
	struct err e = { 0 };
	double v;

	assert_ok(suite_parse(s, NULL, text, strlen(text), NULL, 0, &out, &e), &e);
	m = suite_metric_find(&out, metric);
	v = m ? m->value : -1;
	*ret_problems = out.problems_n;
	suite_output_done(&out);
	return v;
}

static void groups_of_digits_are_read_where_perf_prints_them(void **state)
{
#define PIPE_OPS "perf-bench-sched-pipe.ops_per_sec"
	size_t n;

	(void)state;
	assert_true(value_of("perf-bench-sched-pipe", "  321,874 ops/sec\n", PIPE_OPS, &n) ==
		    321874);
	assert_int_equal(n, 0);
	assert_true(value_of("perf-bench-sched-pipe", "  1,321,874 ops/sec\n", PIPE_OPS, &n) ==
		    1321874);
	assert_true(value_of("perf-bench-sched-pipe", "  1,003.106800 usecs/op\n",
			     "perf-bench-sched-pipe.usecs_per_op", &n) == 1003.1068);
	assert_true(value_of("perf-bench-sched-pipe", "  3,106800 usecs/op\n",
			     "perf-bench-sched-pipe.usecs_per_op", &n) == -1);
	assert_true(n > 0);
	assert_true(value_of("perf-bench-sched-pipe", "  32,18,74 ops/sec\n", PIPE_OPS, &n) == -1);
	assert_true(value_of("perf-bench-sched-pipe", "  0,321 ops/sec\n", PIPE_OPS, &n) == -1);
	assert_true(value_of("perf-bench-sched-pipe", "  ,321 ops/sec\n", PIPE_OPS, &n) == -1);
	assert_true(value_of("perf-bench-sched-pipe", "  1234,321 ops/sec\n", PIPE_OPS, &n) == -1);
	assert_true(value_of("ebizzy", "26,031 records/s\n", "ebizzy.throughput", &n) == -1);
	assert_true(value_of("hackbench", "Time: 1,311\n", "hackbench.time", &n) == -1);
	assert_int_equal(n, 1);
}

static void none_is_said_where_nothing_was_done(void **state)
{
	size_t n;

	(void)state;
#define HEAD "stressor bogo ops real time usr time sys time bogo ops/s bogo ops/s\n"
	assert_true(value_of("stress-ng", HEAD "fault 0 5.00 0.05 0.70 0.00 0.00\n",
			     "stress-ng.fault.ops_per_sec", &n) == -1);
	assert_true(n > 0);
	assert_true(value_of("stress-ng", HEAD "fault 5 5.00 0.05 0.70 1.00 2.00\n",
			     "stress-ng.fault.ops_per_sec", &n) == 1);
	assert_true(value_of("stress-ng",
			     HEAD "fault 5 5.00 0.05 0.70 1.00 2.00\nstress-ng: info:  [1] "
				  "unsuccessful run completed in 5.00s\n",
			     "stress-ng.fault.ops_per_sec", &n) == -1);
	assert_true(value_of("stress-ng",
			     HEAD "fault 5 5.00 0.05 0.70 1.00 2.00\nmetrics untrustworthy: 1: "
				  "fault (1)\n",
			     "stress-ng.fault.ops_per_sec", &n) == -1);
	assert_true(value_of("stress-ng",
			     "metrics:\n    - stressor: mmap\n      bogo-ops: 0\n"
			     "      bogo-ops-per-second-real-time: 0.0\n...\n",
			     "stress-ng.mmap.ops_per_sec", &n) == -1);
	assert_true(value_of("perf-bench-sched-pipe", "  0 ops/sec\n", PIPE_OPS, &n) == -1);
	assert_true(value_of("hackbench",
			     "Running in process mode with 2 groups using 40 file descriptors each "
			     "(== 80 tasks)\nEach sender will pass 1000 messages of 100 bytes\n"
			     "Time: 0.000\n",
			     "hackbench.throughput", &n) == -1);
	assert_true(value_of("pft", "   0    1   1     0.00s     0.00s     0.00s         nan 1.5\n",
			     "pft.faults_per_sec", &n) == -1);
	assert_true(value_of("lmbench3", "Pagefaults on f: 0.0000 microseconds\n",
			     "lmbench3.Pagefaults.us", &n) == -1);
}

/* One line of a megabyte, a hundred thousand lines: read in full, told in a hundred words. */
static void huge_outputs_are_read_to_the_end(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		struct suite_output whole;

		/* One of each suite will do. */
		if (!is_ours(c) || (c > output_cases && !strcmp(c[-1].suite, c->suite)))
			continue;
		output_parse(c, text, len, &whole);
		strbuf_reset(&b);
		for (int i = 0; i < 1 << 17; i++)
			strbuf_addstr(&b, "#xxxxxxx");
		strbuf_addch(&b, '\n');
		for (int i = 0; i < 100000; i++)
			strbuf_addstr(&b, i % 2 ? "#\n" : "[    1.000000] x\n");
		strbuf_add(&b, text, len);
		check_equal("huge", c, &b, &whole);
		suite_output_done(&whole);
	}
	strbuf_done(&b);
}

static void nothing_and_garbage_give_nothing(void **state)
{
	char bytes[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 2654435761U >> 13);
	for (size_t i = 0; suite_list(i); i++) {
		for (size_t n = 0; n < sizeof(bytes); n += 97) {
			struct suite_output out;
			struct err e = { 0 };

			assert_ok(suite_parse(suite_list(i), NULL, bytes, n, NULL, 0, &out, &e),
				  &e);
			assert_int_equal(out.n, 0);
			assert_true(out.problems_n > 0 && out.problems_n <= 100);
			suite_output_done(&out);
		}
	}
}

static void problems_name_line_and_byte_behind_colours(void **state)
{
	static const char text[] = "\033[31mRunning\033[0m\n\033[1mTime: x\033[0m\n";
	struct suite_output out;
	struct err e = { 0 };

	(void)state;
	assert_ok(suite_parse(suite_find("hackbench"), NULL, text, sizeof(text) - 1, NULL, 0, &out,
			      &e),
		  &e);
	assert_int_equal(out.problems[0].line, 2);
	assert_int_equal(out.problems[0].byte, strchr(text, '\n') + 1 - text);
	suite_output_done(&out);
}

static void problems_are_printable(void **state)
{
	static const char *const texts[][2] = {
		{ "pft", "   0    1   1     0.00s     0.00s     0.00s         inf 4\x01\xff.5\n" },
		{ "exec", "a \x1b]0;x\x07\n" },
		{ "exec", "a \x80\x81\n" },
		{ "stress-ng", "dispatching hogs: 1 m\xe2\x80\xaem\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct suite_output out;
		struct err e = { 0 };

		assert_ok(suite_parse(suite_find(texts[i][0]), NULL, texts[i][1],
				      strlen(texts[i][1]), NULL, 0, &out, &e),
			  &e);
		assert_true(out.problems_n > 0);
		for (size_t k = 0; k < out.problems_n; k++)
			for (const char *p = out.problems[k].text; *p; p++)
				assert_true(*p >= ' ' && *p <= '~');
		suite_output_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_past_what_consoles_add),
		cmocka_unit_test(a_broken_number_is_missing_and_spoils_nothing),
		cmocka_unit_test(groups_of_digits_are_read_where_perf_prints_them),
		cmocka_unit_test(none_is_said_where_nothing_was_done),
		cmocka_unit_test(huge_outputs_are_read_to_the_end),
		cmocka_unit_test(nothing_and_garbage_give_nothing),
		cmocka_unit_test(problems_are_printable),
		cmocka_unit_test(problems_name_line_and_byte_behind_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
