/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles: samples with call chains, summed here or on the machine. */
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/monitors/recordings.h"

#include <math.h>
#include <string.h>

static void parse(const char *text, struct suite_output *out)
{
	recording_parse("perf-profile", text, strlen(text), 1, out);
}

/* Four samples: weights 10, 20, 30, 40. */
static const char samples[] =
	"my prog 12/13 [001] 1.000001:         10 cycles:P: \n"
	"\tffffffff81000010 leaf+0x10 ([kernel.kallsyms])\n"
	"\tffffffff81000020 mid+0x1 ([kernel.kallsyms])\n"
	"\t          401000 main (/usr/bin/my prog (deleted))\n"
	"\n"
	"my prog 12/13 [001] 1.000002:         20 cycles:P: \n"
	"\tffffffff81000020 mid+0x1 ([kernel.kallsyms])\n"
	"\t          401000 main (/usr/bin/my prog (deleted))\n"
	"\n"
	"other 14/14 1.000003:         30 cycles:P: \n"
	"\t          402000 operator new(unsigned long)+0x1f (/usr/lib/libstdc++.so.6)\n"
	"\t          401000 fib (/usr/bin/other)\n"
	"\t          401000 fib (/usr/bin/other)\n"
	"\t          401000 fib (/usr/bin/other)\n"
	"\t          401000 main (/usr/bin/other)\n"
	"\n"
	"other 14/14 1.000004:         40 cycles:P:  ffffffff81000010 leaf+0x10 ([kernel.kallsyms])\n";

static void expect_samples(const struct suite_output *out)
{
	expect_metric(out, "perf-profile.samples.cycles:P", 4, "samples");
	expect_metric(out, "perf-profile.self.cycles-P.leaf", 50, "%");
	expect_metric(out, "perf-profile.self.cycles-P.mid", 20, "%");
	expect_metric(out, "perf-profile.self.cycles-P.operator_new(unsigned_long)", 30, "%");
	expect_missing(out, "perf-profile.self.cycles-P.main");
	expect_metric(out, "perf-profile.children.cycles-P.main", 60, "%");
	expect_metric(out, "perf-profile.children.cycles-P.mid", 30, "%");
	expect_metric(out, "perf-profile.children.cycles-P.leaf", 50, "%");
	/* A function that calls itself is in the sample once. */
	expect_metric(out, "perf-profile.children.cycles-P.fib", 30, "%");
	expect_metric(out, "perf-profile.calltrace.cycles-P.fib.fib.main", 30, "%");
	expect_metric(out, "perf-profile.calltrace.cycles-P.leaf.mid.main", 10, "%");
	expect_metric(out, "perf-profile.calltrace.cycles-P.mid.main", 30, "%");
	expect_metric(
		out, "perf-profile.calltrace.cycles-P.operator_new(unsigned_long).fib.fib.fib.main",
		30, "%");
	expect_metric(out, "perf-profile.comm.cycles-P.my_prog", 30, "%");
	expect_metric(out, "perf-profile.comm.cycles-P.other", 70, "%");
	expect_metric(out, "perf-profile.dso.cycles-P.[kernel.kallsyms]", 70, "%");
	expect_metric(out, "perf-profile.dso.cycles-P.libstdc++.so.6", 30, "%");
}

static void shares_weight_by_function_caller_and_program(void **state)
{
	struct suite_output out;

	(void)state;
	parse(samples, &out);
	/* "fib.fib.main" and "fib.fib.fib.main" too: names that are as long as they are deep */
	assert_int_equal(out.problems_n, 0);
	expect_samples(&out);
	suite_output_done(&out);
}

static void folding_gives_the_same_whatever_the_pieces(void **state)
{
	static const size_t pieces[] = { 1, 7, 64, 100000 };
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct profile_fold *f = profile_fold_new();
		struct strbuf b = STRBUF_INIT;

		for (size_t at = 0; at < strlen(samples); at += pieces[i]) {
			size_t n = strlen(samples) - at;

			profile_fold_feed(f, samples + at, n < pieces[i] ? n : pieces[i]);
		}
		profile_fold_text(f, &b);
		recording_parse("perf-profile", strbuf_str(&b), b.len, 1, &out);
		assert_int_equal(out.problems_n, 0);
		expect_samples(&out);
		suite_output_done(&out);
		/* Every cut is noticed. */
		for (size_t len = 0; len < b.len; len++) {
			recording_parse("perf-profile", b.s, len, 1, &out);
			assert_int_equal(out.n, 0);
			suite_output_done(&out);
		}
		strbuf_done(&b);
		profile_fold_free(f);
	}
	profile_fold_free(NULL);
}

static void folding_keeps_problems_and_long_lines_out(void **state)
{
	struct profile_fold *f = profile_fold_new();
	struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	(void)state;
	for (int i = 0; i < 3000; i++)
		profile_fold_feed(f, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 50);
	profile_fold_feed(f, "\n", 1);
	profile_fold_feed(f, samples, strlen(samples));
	profile_fold_feed(f, "cut 1/1 2.0: 5 cyc", 18);
	profile_fold_text(f, &b);
	profile_fold_free(f);
	recording_parse("perf-profile", strbuf_str(&b), b.len, 1, &out);
	expect_samples(&out);
	assert_int_equal(out.problems_n, 2);
	expect_problem(&out, "'?' is not the start of a sample");
	expect_problem(&out, "the last line is cut");
	suite_output_done(&out);
	strbuf_done(&b);
}

static void refuses_folded_text_that_does_not_add_up(void **state)
{
	static const char *const bad[] = {
		"#profile 2\nevent 1 10 0 0 e\nsymbol 5 5 f\nend\n",
		"#profile 1\nsymbol 5 5 f\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol 5 50 f\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol 5 4 f\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol nan 4 f\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol 5 5 f\npath 5 0 1\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol 5 5 f\npath 5 0\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol 5 5 f\npath 5 0 0 0 0 0 0\nend\n",
		"#profile 1\nevent 1 10 0 0 e\ncomm 11 f\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nevent 1 10 0 0 e\nend\n",
		"#profile 1\nevent 1 0 0 0 e\nend\n",
		"#profile 1\nevent 1 10 0 0 e\nsymbol 5 5 f\n",
		"#profile 1\nhello\nend\n",
	};
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		parse(bad[i], &out);
		if (out.n > 0)
			fail_msg("'%s' gives %s", bad[i], out.metrics[0].name);
		suite_output_done(&out);
	}
}

static void agrees_with_perf_report(void **state)
{
	struct suite_output script, report;
	unsigned compared = 0;

	(void)state;
	recording_read("perf-script", "perf-profile", 2, &script);
	recording_read("perf-report", "perf-profile", 2, &report);
	assert_int_equal(script.problems_n, 0);
	assert_int_equal(report.problems_n, 0);
	expect_metric(&script, "perf-profile.samples.cpu-clock", 139, "samples");
	/* One sample in fifty is in the script. */
	for (size_t i = 0; i < report.n; i++) {
		const struct suite_metric *m = suite_metric_find(&script, report.metrics[i].name);

		if (!m || !strstr(m->name, ".children."))
			continue;
		assert_true(fabs(m->value - report.metrics[i].value) < 15);
		compared++;
	}
	assert_true(compared >= 10);
	expect_metric(&report, "perf-profile.children.cpu-clock.do_idle", 47.16, "%");
	expect_metric(&report, "perf-profile.self.cpu-clock.pv_native_safe_halt", 46.41, "%");
	suite_output_done(&script);
	suite_output_done(&report);
}

static void leaves_out_samples_that_are_cut_or_odd(void **state)
{
	static const char good[] = "a 1/1 1.0: 10 e: \n\t10 f (/b)\n\n";
	static const char *const bad[] = {
		"a 1/1 1.0: 10 e: \n\t10 f (/b)\n",
		"a 1/1 1.0: 10 e: \n\t10 f (/b)\n\t10 g",
		"a 1/1 1.0: 10 e: \n\t10 f (/b)\n\tzz g (/b)\n\n",
		"a 1/1 1.0: 10 e: \n\t10 f (/b)\nb 1/1 1.0: 10 e: \n",
		"a 1/1 1.0: 10 e: \n\n",
		"a 1/1 nan: 10 e: \n\t10 f (/b)\n\n",
		"a x 1.0: 10 e: \n\t10 f (/b)\n\n",
		"a 1/1 1.0: 10 e\n\t10 f (/b)\n\n",
		"a 1/1 1.0: -10 e: \n\t10 f (/b)\n\n",
		"\t10 f (/b)\n\n",
	};
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = xasprintf("%s%s", good, bad[i]);

		parse(bad[i], &out);
		if (out.n > 0 || out.problems_n == 0)
			fail_msg("'%s' gives %s", bad[i], out.metrics[0].name);
		suite_output_done(&out);
		parse(text, &out);
		expect_metric(&out, "perf-profile.samples.e", 1, "samples");
		expect_metric(&out, "perf-profile.self.e.f", 100, "%");
		suite_output_done(&out);
		free(text);
	}
}

static void weighs_events_apart(void **state)
{
	static const char text[] =
		"a 1/1 1.0: 10 e: \n\t10 f (/b)\n\na 1/1 1.0: 10 e: \n\t10 g (/b)\n\n"
		"a 1/1 1.0: 5 sched:sched_switch: \n\t10 h (/b)\n\n";
	struct suite_output out;

	(void)state;
	parse(text, &out);
	expect_metric(&out, "perf-profile.self.e.f", 50, "%");
	expect_metric(&out, "perf-profile.self.sched-sched_switch.h", 100, "%");
	expect_missing(&out, "perf-profile.self.e.h");
	suite_output_done(&out);
}

/* Each sample has names of its own. */
static void tables_stop_growing_at_their_limits(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	(void)state;
	for (int i = 0; i < 70000; i++) {
		strbuf_addf(&b, "c%d 1/1 1.0: 1 e: \n\t10 f%d (/b%d)\n\t10 g (/b)\n\n", i, i, i);
		strbuf_addstr(&b, "c 1/1 1.0: 9 e: \n\t10 g (/b)\n\n");
	}
	recording_parse("perf-profile", b.s, b.len, 1, &out);
	expect_metric(&out, "perf-profile.samples.e", 140000, "samples");
	expect_metric(&out, "perf-profile.self.e.g", 90, "%");
	expect_metric(&out, "perf-profile.children.e.g", 100, "%");
	expect_problem(&out, "more than 65536 functions");
	suite_output_done(&out);
	strbuf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_weight_by_function_caller_and_program),
		cmocka_unit_test(folding_gives_the_same_whatever_the_pieces),
		cmocka_unit_test(folding_keeps_problems_and_long_lines_out),
		cmocka_unit_test(refuses_folded_text_that_does_not_add_up),
		cmocka_unit_test(agrees_with_perf_report),
		cmocka_unit_test(leaves_out_samples_that_are_cut_or_odd),
		cmocka_unit_test(weighs_events_apart),
		cmocka_unit_test(tables_stop_growing_at_their_limits),
	};

	return cmocka_run_group_tests_name("monitors: profiles", tests, NULL, NULL);
}
