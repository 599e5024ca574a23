/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged outputs: a metric that cannot be had is absent, with a problem; never wrong, never 0. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <math.h>
#include <string.h>

#define MUTATIONS 1000

static const char good[] = "testcase:some title\nwarmup\n"
			   "min:1000 max:1100 total:2100\nmin:1010 max:1090 total:2100\n"
			   "min:1005 max:1095 total:2100\nmin:1004 max:1096 total:2100\n"
			   "min:1003 max:1097 total:2100\nmin:1002 max:1098 total:2100\n"
			   "measurement\n"
			   "min:1000 max:1200 total:2200\nmin:1000 max:1100 total:2100\n"
			   "min:1000 max:1001 total:2001\naverage:2100\n";

static const struct output_case invented = { "", "will-it-scale", "page_fault1",
					     "mode=process nr_task=2 runtime=3s" };

/* @good with the first @from behind "measurement" replaced by @to. */
static char *replaced(const char *from, const char *to)
{
	struct strbuf b = STRBUF_INIT;
	const char *at = strstr(strstr(good, "measurement"), from);

	assert_non_null(at);
	strbuf_add(&b, good, (size_t)(at - good));
	strbuf_addstr(&b, to);
	strbuf_addstr(&b, at + strlen(from));
	return strbuf_take(&b);
}

/* Value of the headline metric; 0 if there is none. */
static double headline_of(const struct suite_output *out)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->metrics[i].headline)
			return out->metrics[i].value;
	return 0;
}

static void check_sane(const struct suite_output *out)
{
	for (size_t i = 0; i < out->n; i++) {
		assert_true(isfinite(out->metrics[i].value));
		assert_true(out->metrics[i].value >= 0);
		assert_true(out->metrics[i].value > 0 || !out->metrics[i].headline);
	}
	for (size_t i = 0; i < out->problems_n; i++) {
		assert_true(out->problems[i].line >= 1);
		for (const char *p = out->problems[i].text; *p; p++)
			assert_true(*p >= ' ' && *p <= '~');
	}
	assert_true(headline_of(out) > 0 || out->problems_n > 0);
}

static void expect_rejected(const char *from, const char *to, unsigned line)
{
	_cleanup_(freep) char *text = replaced(from, to);
	struct suite_output out;

	output_parse(&invented, text, strlen(text), &out);
	check_sane(&out);
	if (out.n > 0)
		fail_msg("'%s' for '%s' still gives %s", to, from, out.metrics[0].name);
	assert_int_equal(out.problems[0].line, line);
	assert_true(out.problems[0].byte < strlen(text));
	suite_output_done(&out);
}

static void rejects_damaged_samples_and_names_the_line(void **state)
{
	(void)state;
	expect_rejected("total:2100", "total:nan", 11);
	expect_rejected("total:2100", "total:inf", 11);
	expect_rejected("total:2100", "total:-2100", 11);
	expect_rejected("total:2100", "total:2,100", 11);
	expect_rejected("total:2100", "total:2100.0", 11);
	expect_rejected("total:2100", "total:99999999999999999999999", 11);
	expect_rejected("total:2100", "[   12.345678] usb 1-1: new device", 11);
	expect_rejected("total:2100", "total:2109", 11);
	expect_rejected("min:1000 max:1100 total:2100", "min:0 max:1100 total:1100", 12);
	expect_rejected("average:2100", "average:", 13);
	expect_rejected("average:2100\n", "", 12);
	expect_rejected("min:1000 max:1001 total:2001\n", "", 12);
	expect_rejected("measurement\n", "", 12);
	expect_rejected("average:2100\n", "average:2100\ntestcase:again\n", 14);
}

static void rejects_a_task_that_died_in_the_measurement(void **state)
{
	static const char dead[] =
		"measurement\nmin:0 max:1100 total:1100\nmin:0 max:900 total:900\n"
		"min:0 max:1000 total:1000\naverage:1000\n";
	struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	(void)state;
	strbuf_add(&b, good, (size_t)(strstr(good, "measurement") - good));
	strbuf_addstr(&b, dead);
	output_parse(&invented, b.s, b.len, &out);
	assert_int_equal(out.n, 0);
	assert_non_null(strstr(out.problems[0].text, "from line 10 to the end"));
	suite_output_done(&out);
	strbuf_done(&b);
}

static void expect_tolerated(const char *text, size_t len, size_t problems)
{
	struct suite_output out;

	output_parse(&invented, text, len, &out);
	check_sane(&out);
	assert_true(headline_of(&out) == 1050);
	assert_int_equal(out.problems_n, problems);
	suite_output_done(&out);
}

static void reads_past_whole_lines_that_are_not_of_the_benchmark(void **state)
{
	_cleanup_(freep) char *colour = replaced("total:2100", "\033[1;31mtotal:2100\033[0m\033[K");
	_cleanup_(freep) char *klog = replaced("min:", "[   12.345678] usb 1-1: new device\nmin:");
	struct strbuf crlf = STRBUF_INIT;

	(void)state;
	expect_tolerated(good, sizeof(good) - 1, 0);
	expect_tolerated(klog, strlen(klog), 1);
	expect_tolerated(colour, strlen(colour), 0);
	for (const char *p = good; *p; p++)
		strbuf_addf(&crlf, *p == '\n' ? "\r\n" : "%c", *p);
	expect_tolerated(crlf.s, crlf.len, 0);
	strbuf_done(&crlf);
}

static void a_nul_byte_ends_nothing(void **state)
{
	_cleanup_(freep) char *text = replaced("total:2100", "total:2#00");
	struct suite_output out;

	(void)state;
	*strchr(text, '#') = '\0';
	output_parse(&invented, text, sizeof(good) - 1, &out);
	assert_int_equal(out.n, 0);
	assert_int_equal(out.problems[0].line, 11);
	suite_output_done(&out);
}

static void an_empty_output_is_a_problem(void **state)
{
	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		struct suite_output out;

		output_parse(c, "", 0, &out);
		assert_int_equal(out.n, 0);
		assert_true(out.problems_n > 0);
		suite_output_done(&out);
	}
}

/* The headline of a whole output; 0 if it has none. */
static double truth(const struct output_case *c, const char *text, size_t len)
{
	struct suite_output out;
	double v;

	output_parse(c, text, len, &out);
	check_sane(&out);
	v = headline_of(&out);
	suite_output_done(&out);
	return v;
}

/* Nothing of a prefix may differ from what the whole says. */
static void check_part(const struct output_case *c, size_t n, const struct suite_output *part,
		       const struct suite_output *whole)
{
	for (size_t i = 0; i < part->n; i++) {
		const struct suite_metric *m = suite_metric_find(whole, part->metrics[i].name);

		if (!m || m->value != part->metrics[i].value)
			fail_msg("%s, first %zu bytes: %s is %.17g", c->file, n,
				 part->metrics[i].name, part->metrics[i].value);
	}
}

static bool is_direct_wis(const struct output_case *c)
{
	return !strncmp(c->file, "wis-", 4) && strstr(c->file, ".txt");
}

static void every_prefix_is_read_right_or_not_at_all(void **state)
{
	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		double want = truth(c, text, len);
		struct suite_output whole;

		output_parse(c, text, len, &whole);
		for (size_t n = 0; n < len; n++) {
			/* A copy of the right size lets the sanitizer see a read behind its end. */
			_cleanup_(freep) char *cut = xcalloc(1, n ? n : 1);
			struct suite_output out;

			memcpy(cut, text, n);
			output_parse(c, cut, n, &out);
			check_sane(&out);
			if (is_direct_wis(c) && headline_of(&out) > 0)
				assert_true(headline_of(&out) == want);
			if (strcmp(c->suite, "vm-scalability") != 0 &&
			    strcmp(c->suite, "will-it-scale") != 0)
				check_part(c, n, &out, &whole);
			suite_output_done(&out);
		}
		suite_output_done(&whole);
	}
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Changes, inserts or takes out a few bytes, or exchanges two stretches. */
static void mutate(struct strbuf *b, const char *text, size_t len, uint64_t *rnd)
{
	static const char bytes[] = "0123456789.,:-+ eE\n\r\0\033[m%xnainf<>";
	size_t at = next_random(rnd) % len, n = 1 + next_random(rnd) % 8;
	char c = bytes[next_random(rnd) % (sizeof(bytes) - 1)];

	if (at + n > len)
		n = len - at;
	strbuf_reset(b);
	strbuf_add(b, text, at);
	switch (next_random(rnd) % 4) {
	case 0:
		strbuf_addch(b, c);
		strbuf_add(b, text + at + 1, len - at - 1);
		break;
	case 1:
		strbuf_addch(b, c);
		strbuf_add(b, text + at, len - at);
		break;
	case 2:
		strbuf_add(b, text + at + n, len - at - n);
		break;
	default:
		strbuf_add(b, text + len - n, n);
		strbuf_add(b, text + at, len - at);
		break;
	}
}

static void mutations_never_give_a_wrong_rate(void **state)
{
	struct strbuf b = STRBUF_INIT;
	uint64_t rnd = 20240607;

	(void)state;
	for (const struct output_case *c = output_cases; c->file; c++) {
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		double want = truth(c, text, len);

		for (int i = 0; i < MUTATIONS; i++) {
			struct suite_output out;

			mutate(&b, text, len, &rnd);
			output_parse(c, b.s, b.len, &out);
			check_sane(&out);
			if (is_direct_wis(c) && headline_of(&out) > 0 && headline_of(&out) != want)
				fail_msg("%s, mutation %d: %.17g, not %.17g:\n%.*s", c->file, i,
					 headline_of(&out), want, (int)b.len, b.s);
			suite_output_done(&out);
		}
	}
	strbuf_done(&b);
}

static void expect_vms_rejected(const char *text)
{
	static const struct output_case c = { "", "vm-scalability", "anon-w-seq", "nr_task=2" };
	struct suite_output out;

	output_parse(&c, text, strlen(text), &out);
	check_sane(&out);
	if (out.n > 0)
		fail_msg("'%s' gives %s", text, out.metrics[0].name);
	suite_output_done(&out);
}

static void rejects_damaged_usemem_lines(void **state)
{
#define A_LINE "150994944 bytes / 418024 usecs = 352745 KB/s\n"
	(void)state;
	expect_vms_rejected(A_LINE);
	expect_vms_rejected(A_LINE A_LINE A_LINE);
	expect_vms_rejected(A_LINE "150994944 bytes / 418024 usecs = 35274");
	expect_vms_rejected(A_LINE "150994944 bytes / 0 usecs = 352745 KB/s\n");
	expect_vms_rejected(A_LINE "150994944 bytes / 418024 usecs = inf KB/s\n");
	expect_vms_rejected(A_LINE "-150994944 bytes / 418024 usecs = 352745 KB/s\n");
	expect_vms_rejected(A_LINE "150994944 bytes / 418024 usecs = 352799 KB/s\n");
	expect_vms_rejected(A_LINE "150,994,944 bytes / 418024 usecs = 352745 KB/s\n");
	expect_vms_rejected(A_LINE A_LINE "./usemem: mmap failed: Cannot allocate memory\n");
	expect_vms_rejected("1024 bytes truncated in 5.5-5.5 seconds\n");
	expect_vms_rejected("167772160 bytes (168 MB, 160 MiB) copied, 0 s, 81.4 MB/s\n");
	expect_vms_rejected("./case-anon-w-seq\n./case-anon-w-seq\n" A_LINE A_LINE);
}

static void refuses_parameters_that_cannot_be_read(void **state)
{
	struct suite_param p = { .key = (char[]){ "nr_task" }, .value = (char[]){ "many" } };
	struct suite_output out = { .n = 7 };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; suite_list(i); i++)
		assert_err(suite_parse(suite_list(i), NULL, "", 0, &p, 1, &out, &e), ERR_PARSE, &e);
	assert_int_equal(out.n, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects_damaged_samples_and_names_the_line),
		cmocka_unit_test(rejects_a_task_that_died_in_the_measurement),
		cmocka_unit_test(reads_past_whole_lines_that_are_not_of_the_benchmark),
		cmocka_unit_test(a_nul_byte_ends_nothing),
		cmocka_unit_test(an_empty_output_is_a_problem),
		cmocka_unit_test(every_prefix_is_read_right_or_not_at_all),
		cmocka_unit_test(mutations_never_give_a_wrong_rate),
		cmocka_unit_test(rejects_damaged_usemem_lines),
		cmocka_unit_test(refuses_parameters_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
