/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parsers of what perf script and turbostat print, and of a file of /proc, on 100 MB of it, beside
 * counting the lines of the same text with memchr(). Prints MB per second of CPU time, the ratio, and
 * how much memory the parser took at its peak beyond what was taken before.
 */
#include "bot/base/strbuf.h"
#include "runners/monitors/monitor.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define TEXT_BYTES ((size_t)100 << 20)
#define FUNCTIONS  4000u

static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* One of 3,000 chains of 4 to 35 functions; those near the top differ little. */
static void make_chain(struct strbuf *b, uint32_t seed, uint32_t offset)
{
	unsigned depth = 4 + next(&seed) % 32;

	for (unsigned i = 0; i < depth; i++) {
		unsigned left = depth - i;
		unsigned f = left < 8 ? left : next(&seed) % (16 * left * left) % FUNCTIONS;

		strbuf_addf(b, "\tffffffff81%06x %s_function_%u+0x%x ([kernel.kallsyms])\n",
			    f * 512, f % 3 ? "some" : "another_longer", f, offset);
	}
}

static void make_script(struct strbuf *b)
{
	uint32_t seed = 7;
	double at = 1000;

	while (b->len < TEXT_BYTES) {
		uint32_t chain = next(&seed) % 3000;

		at += 0.001;
		strbuf_addf(b, "worker-%u %u/%u %.6f:     250000 cycles:P: \n", next(&seed) % 16,
			    4000 + next(&seed) % 16, 4000 + next(&seed) % 16, at);
		make_chain(b, (chain + 1) * 2654435761u, next(&seed) % 512);
		strbuf_addch(b, '\n');
	}
}

static void make_turbostat(struct strbuf *b)
{
	uint32_t seed = 7;
	double at = 1000;

	strbuf_addstr(b, "usec\tTime_Of_Day_Seconds\tCore\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\tTSC_MHz\t"
			 "IRQ\tC1\tC1%\tPkgWatt\n");
	while (b->len < TEXT_BYTES) {
		at += 1;
		for (int cpu = -1; cpu < 128; cpu++) {
			uint32_t r = next(&seed);

			strbuf_addf(b, "%u\t%.6f\t", r % 1000, at);
			if (cpu < 0)
				strbuf_addstr(b, "-\t-\t");
			else
				strbuf_addf(b, "%d\t%d\t", cpu / 2, cpu);
			strbuf_addf(b, "%u\t%u.%02u\t2000\t2100\t%u\t%u\t%u.%02u\t%u.%02u\n",
				    r % 3000, r % 100, r % 97, r % 5000, r % 77, r % 100, r % 91,
				    r % 200, r % 89);
		}
	}
}

/* CPU time: other programs do not count. */
static double seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double count_lines(const struct strbuf *b, size_t *ret)
{
	double start = seconds();
	const char *p = b->s, *end = b->s + b->len;
	size_t n = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		n++;
	}
	*ret = n;
	return seconds() - start;
}

static double peak_mb(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

static void tell(const char *what, const struct strbuf *b, double took_s, double lines_s,
		 double grew_mb)
{
	double mb = (double)b->len / 1e6;

	print_message("%-32s %7.0f MB/s, %5.2f times as long as a count of lines (%.0f MB/s), %.1f "
		      "MB more at the peak\n",
		      what, mb / took_s, took_s / lines_s, mb / lines_s, grew_mb);
}

static void run(const char *monitor, const struct strbuf *b)
{
	struct monitor_run r = { .span_s = 60, .work = 1, .cpus = 128 };
	double best = 1e9, lines_s = 1e9, before = peak_mb();
	size_t lines, metrics = 0;

	for (int i = 0; i < 3; i++) {
		struct suite_output out = { 0 };
		double start, took;

		took = count_lines(b, &lines);
		lines_s = took < lines_s ? took : lines_s;
		start = seconds();
		monitor_parse(monitor_find(monitor), b->s, b->len, &r, &out);
		took = seconds() - start;
		best = took < best ? took : best;
		if (out.problems_n)
			fail_msg("%s", out.problems[0].text);
		metrics = out.n;
		suite_output_done(&out);
	}
	assert_true(metrics > 5);
	assert_true(peak_mb() - before < 64);
	tell(monitor, b, best, lines_s, peak_mb() - before);
}

static void profile_of_100_mb(void **state)
{
	struct strbuf b = STRBUF_INIT, out = STRBUF_INIT;
	struct profile_fold *f;
	double start, took, before;
	size_t lines;

	(void)state;
	make_script(&b);
	run("perf-profile", &b);
	f = profile_fold_new();
	before = peak_mb();
	start = seconds();
	for (size_t at = 0; at < b.len; at += 65536)
		profile_fold_feed(f, b.s + at, b.len - at < 65536 ? b.len - at : 65536);
	profile_fold_text(f, &out);
	took = seconds() - start;
	tell("perf-profile, summed in pieces", &b, took, count_lines(&b, &lines),
	     peak_mb() - before);
	print_message("%zu lines; the summed profile has %.2f MB\n", lines, (double)out.len / 1e6);
	profile_fold_free(f);
	strbuf_done(&b);
	strbuf_done(&out);
}

static void turbostat_of_100_mb(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	make_turbostat(&b);
	run("turbostat", &b);
	strbuf_done(&b);
}

static void samples_of_vmstat_of_100_mb(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	for (unsigned i = 0; b.len < TEXT_BYTES; i++) {
		strbuf_addf(&b, "#sample %u.5\n#file /proc/vmstat\n", i);
		for (unsigned k = 0; k < 200; k++)
			strbuf_addf(&b, "%s_event_number_%u %u\n", k % 4 ? "pg" : "nr", k,
				    i * (k + 1));
	}
	run("proc-vmstat", &b);
	strbuf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_of_100_mb),
		cmocka_unit_test(turbostat_of_100_mb),
		cmocka_unit_test(samples_of_vmstat_of_100_mb),
	};

	return cmocka_run_group_tests_name("parsers of monitors", tests, NULL, NULL);
}
