/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parsers on outputs of 100 MB, beside a pass over the same bytes that only counts their lines, in
 * the same run. Peak memory of the process is looked at before and after: what a parser takes must
 * go with the number of metrics and not with the length of the output.
 */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/suites/suite.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define OUTPUT_BYTES ((size_t)100 << 20)
#define NAMES	     200
/* Far more than 200 names with their samples need. */
#define MEMORY_MAX_KIB 16384

static long peak_kib(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

/* CPU time of the process: others may be using the machine. */
static double cpu_s(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fill(struct strbuf *b, const char *what)
{
	bool stress = !strcmp(what, "stress-ng");

	for (unsigned i = 0; b->len < OUTPUT_BYTES; i++) {
		unsigned v = i * 2654435761U;

		if (stress)
			strbuf_addf(b,
				    "stress-ng: metrc: [17047] fault%-3u      %u.%02u minor page "
				    "faults per sec (geometric mean of 2 instances)\n",
				    i % NAMES, v % 1000000, v % 100);
		else
			strbuf_addf(b, "metric_%03u %u.%04u ops/s\n", i % NAMES, v % 1000000,
				    v % 10000);
	}
}

static size_t count_lines(const struct strbuf *b)
{
	size_t n = 0;

	for (const char *p = b->s, *end = b->s + b->len; (p = memchr(p, '\n', (size_t)(end - p)));
	     p++)
		n++;
	return n;
}

static void measure(const char *suite)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct suite_output out;
	double lines_s, parse_s;
	struct err e = { 0 };
	double start;
	size_t lines;
	long before, after;

	fill(&b, suite);
	start = cpu_s();
	lines = count_lines(&b);
	lines_s = cpu_s() - start;
	before = peak_kib();
	start = cpu_s();
	assert_ok(suite_parse(suite_find(suite), NULL, b.s, b.len, NULL, 0, &out, &e), &e);
	parse_s = cpu_s() - start;
	after = peak_kib();
	assert_true(out.n >= NAMES);
	suite_output_done(&out);
	(void)printf("bench: %s: %zu MB, %zu lines: %.0f MB/s, counting lines %.0f MB/s, ratio "
		     "%.1f; peak memory %ld KiB with the text, %ld KiB more for the parser\n",
		     suite, b.len >> 20, lines, (double)(b.len >> 20) / parse_s,
		     (double)(b.len >> 20) / lines_s, parse_s / lines_s, after, after - before);
	assert_true(after - before < MEMORY_MAX_KIB);
}

static void parsers_against_counting_lines(void **state)
{
	(void)state;
	measure("exec");
	measure("stress-ng");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parsers_against_counting_lines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
