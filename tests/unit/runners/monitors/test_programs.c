/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitors that are programs, and tables of sysstat's tools. */
#include "bot/base/cleanup.h"
#include "runners/monitors/sysstat.h"
#include "tests/test.h"
#include "tests/unit/runners/monitors/recordings.h"

#include <string.h>

/* ---- mpstat, sar, pidstat ---- */

struct expected {
	int64_t at_s, took_s;
	bool dated, average;
	const char *fields; /* "NAME=VALUE NAME=VALUE" */
};

static void expect_fields(const struct sysstat_row *row, const char *fields)
{
	for (const char *p = fields; *p;) {
		const char *eq = strchr(p, '=');
		size_t n = strcspn(eq + 1, " ");
		char name[32] = { 0 };
		const struct word *w;

		memcpy(name, p, (size_t)(eq - p));
		w = sysstat_field(row, name);
		if (!w || w->len != n || memcmp(w->s, eq + 1, n) != 0)
			fail_msg("%s is not %.*s", name, (int)n, eq + 1);
		p = eq + 1 + n;
		p += *p == ' ';
	}
}

static void expect_rows(const char *text, size_t len, const struct expected *want, size_t n)
{
	struct suite_output out = { 0 };
	struct sysstat s = { .lines = { .text = text, .len = len }, .out = &out };

	for (size_t i = 0; i < n; i++) {
		assert_true(sysstat_next(&s));
		assert_int_equal(s.row.average, want[i].average);
		if (!want[i].average) {
			assert_int_equal(s.row.at_s, want[i].at_s);
			assert_int_equal(s.row.took_s, want[i].took_s);
			assert_int_equal(s.row.dated, want[i].dated);
		}
		expect_fields(&s.row, want[i].fields);
	}
	assert_false(sysstat_next(&s));
	assert_int_equal(out.problems_n, 0);
	suite_output_done(&out);
}

static void expect_file(const char *name, const struct expected *want, size_t n)
{
	size_t len;
	_cleanup_(freep) char *text = recording_load(name, &len);

	expect_rows(text, len, want, n);
}

static void reads_clocks_of_all_kinds(void **state)
{
	static const char pidstat[] =
		"UID=0 PID=1 %usr=0.00 %system=0.00 %guest=0.00 %CPU=0.00 CPU=1 Command=systemd";
	const struct expected a = { 14 * 3600 + 13 * 60 + 8, 0, false, false, pidstat };
	const struct expected b = { 1498587221, 0, true, false, pidstat };
	const struct expected c = { 1456272601, 600, true, false,
				    "CPU=all %user=0.32 %nice=0.00 %system=0.13 %iowait=0.01 "
				    "%steal=0.00 %idle=99.54" };
	const struct expected d = { 1456272000 + 14 * 3600 + 25 * 60 + 52, 35, true, false,
				    "CPU=all %user=1.77 %nice=0.00 %system=0.36 %iowait=0.01 "
				    "%steal=0.00 %idle=97.85" };
	const struct expected e[] = {
		{ 1759363199, 1, true, false, "%usr=1.00 %sys=2.00 %soft=0.50 %idle=96.50" },
		{ 1759363200, 1, true, false, "%usr=1.50 %sys=2.50 %soft=0.50 %idle=95.50" },
		{ 1759363201, 1, true, false, "%usr=2.00 %sys=3.00 %soft=0.50 %idle=94.50" },
		{ 0, 0, true, true, "CPU=all %usr=1.50 %sys=2.50 %idle=95.50" },
	};

	(void)state;
	expect_file("sysstat-a-ampm", &a, 1);
	expect_file("sysstat-b-epoch", &b, 1);
	expect_file("sysstat-c-ja", &c, 1);
	expect_file("sysstat-d-iso", &d, 1);
	expect_file("sysstat-e-midnight", e, 4);
}

static void averages_samples_not_the_average(void **state)
{
	struct suite_output out;
	const struct suite_metric *m;

	(void)state;
	recording_read("sysstat-e-midnight", "mpstat", 3, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "mpstat.cpu.all.usr%", 1.5, "%");
	expect_metric(&out, "mpstat.cpu.all.sys%", 2.5, "%");
	expect_metric(&out, "mpstat.cpu.all.idle%", 95.5, "%");
	expect_metric(&out, "mpstat.cpu.all.steal%", 0, "%");
	m = suite_metric_find(&out, "mpstat.cpu.all.usr%");
	assert_int_equal(m->series_n, 3);
	assert_near(m->series[2], 2.0, 0);
	suite_output_done(&out);
	/* sar's columns have other meanings and names. */
	recording_read("sysstat-d-iso", "mpstat", 3, &out);
	expect_metric(&out, "mpstat.cpu.all.system%", 0.36, "%");
	expect_missing(&out, "mpstat.cpu.all.sys%");
	suite_output_done(&out);
	/* Tables of processes have nothing to say of all CPUs. */
	recording_read("sysstat-a-ampm", "mpstat", 3, &out);
	assert_int_equal(out.n, 0);
	expect_problem(&out, "no row for all CPUs");
	suite_output_done(&out);
}

static void columns_go_by_heading(void **state)
{
	static const char text[] = "10:00:00 CPU %steal %irq %soft %usr %sys %idle\n"
				   "10:00:01 all 1.00 2.00 3.00 4.00 5.00 85.00\n"
				   "10:00:01 0 9.00 9.00 9.00 9.00 9.00 9.00\n"
				   "\n10:00:01 CPU %usr %sys %irq %soft %steal %idle\n"
				   "10:00:04 all 8.00 9.00 2.00 3.00 1.00 77.00\n";
	struct suite_output out;

	(void)state;
	recording_parse("mpstat", text, strlen(text), 4, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "mpstat.cpu.all.steal%", 1, "%");
	expect_metric(&out, "mpstat.cpu.all.irq%", 2, "%");
	expect_metric(&out, "mpstat.cpu.all.usr%", (4 + 3 * 8) / 4.0, "%");
	suite_output_done(&out);
}

static void never_delivers_shifted_columns(void **state)
{
	static const char *const bad[] = {
		"02:00:00 PM CPU %usr %idle\n02:00:01 all 1.00 99.00\n",
		"14:00:00 CPU %usr %idle\n02:00:01 PM all 1.00 99.00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all 1,00 99,00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all 1.00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all 1.00 2.00 99.00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all nan 99.00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all -1.00 99.00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all 1000.00 99.00\n",
		"14:00:00 CPU %usr %idle\n13:59:59 all 1.00 99.00\n",
		"14:00:00 PM CPU %usr %idle\n14:00:01 PM all 1.00 99.00\n",
		"00:00:00 AM CPU %usr %idle\n00:00:01 AM all 1.00 99.00\n",
		"24:00:00 CPU %usr %idle\n24:00:01 all 1.00 99.00\n",
		"14:00:00 CPU %usr %idle\n1498587221 all 1.00 99.00\n",
		"14:00:01 all 1.00 99.00\n",
		"14:00:00 CPU %usr %idle\n14:00:01 all 1.00 99.00",
	};
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		recording_parse("mpstat", bad[i], strlen(bad[i]), 1, &out);
		if (out.n > 0 || out.problems_n == 0)
			fail_msg("'%s' gives %zu metrics", bad[i], out.n);
		suite_output_done(&out);
	}
}

/* ---- perf stat ---- */

static void perf_stat_reads_what_a_guest_without_counters_gives(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("perf-stat-csv", "perf-stat", 0.2, &out);
	expect_metric(&out, "perf-stat.i.task-clock", 1.10e-3 / 0.2, "s/s");
	expect_metric(&out, "perf-stat.i.page-faults", 77 / 0.2, "1/s");
	expect_metric(&out, "perf-stat.i.page-faults.per_op", 7.7, "1/op");
	expect_missing(&out, "perf-stat.i.cycles");
	expect_missing(&out, "perf-stat.overall.ipc");
	expect_problem(&out, "event 'cycles' was <not supported>");
	assert_int_equal(out.problems_n, 3);
	suite_output_done(&out);
	recording_read("perf-stat-json", "perf-stat", 0.2, &out);
	expect_metric(&out, "perf-stat.i.task-clock", 0.931774e-3 / 0.2, "s/s");
	expect_metric(&out, "perf-stat.i.context-switches", 5, "1/s");
	assert_int_equal(out.problems_n, 2);
	suite_output_done(&out);
	recording_read("perf-stat-interval", "perf-stat", 1.7, &out);
	expect_metric(&out, "perf-stat.i.context-switches", (67 + 36 + 54 + 17) / 1.702502475,
		      "1/s");
	expect_metric(&out, "perf-stat.i.context-switches.per_op", 17.4, "1/op");
	assert_int_equal(suite_metric_find(&out, "perf-stat.i.context-switches")->series_n, 4);
	assert_near(suite_metric_find(&out, "perf-stat.i.context-switches")->series[0],
		    67 / 0.500885445, 1e-12);
	suite_output_done(&out);
}

static void perf_stat_derives_ratios_of_counters(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("perf-stat-hardware", "perf-stat", 2.0002, &out);
	expect_metric(&out, "perf-stat.i.cycles", 6e9 / 2.0002, "1/s");
	expect_metric(&out, "perf-stat.i.cycles.per_op", 6e8, "1/op");
	expect_metric(&out, "perf-stat.overall.ipc", 1, "1");
	expect_metric(&out, "perf-stat.overall.cache-miss-rate%", 15, "%");
	expect_metric(&out, "perf-stat.overall.MPKI", 2, "1");
	expect_metric(&out, "perf-stat.i.cpu/event=0x3c,umask=0x1/", 4e5 / 2.0002, "1/s");
	expect_metric(&out, "perf-stat.i.power/energy-pkg/", 100 / 2.0002, "W");
	expect_metric(&out, "perf-stat.i.power/energy-pkg/.per_op", 10, "J/op");
	/* Only in the second interval: its rate is known, the work it was counted for is not. */
	expect_metric(&out, "perf-stat.i.branches", 500 / 1.0001, "1/s");
	expect_missing(&out, "perf-stat.i.branches.per_op");
	expect_metric(&out, "perf-stat.running%", 25, "%");
	suite_output_done(&out);
}

static void perf_stat_refuses_decimal_commas(void **state)
{
	static const char *const bad[] = {
		"1,10,msec,task-clock,1100865,100,00,0,005,CPUs utilized\n",
		"77,,page-faults,1100865,100,00,69,945,K/sec\n",
		"77,,page-faults,1100865,75,32,,\n",
		"     0,500885445,67,,context-switches,1002875240,100,00,66,808,/sec\n",
		"     0,500885445,1002,87,msec,task-clock,1002871219,100,00,2,006,CPUs utilized\n",
		"nan,,cycles,1,100.00,,\n",
		"-5,,cycles,1,100.00,,\n",
		"1e9,,cycles,1,100.00,,\n",
		"1,234,,cycles,1,100.00,,\n",
		"5,,cycles,1,100.50,,\n",
		"5,,cycles,1,0.00,,\n",
		"5,furlongs,cycles,1,100.00,,\n",
		"{\"counter-value\" : \"5,5\", \"unit\" : \"\", \"event\" : \"cycles\", \"pcnt-running\" : 100.0}\n",
		"{\"counter-value\" : 5, \"unit\" : \"\", \"event\" : \"cycles\", \"pcnt-running\" : 100.0}\n",
		"{\"counter-value\" : \"5\", \"unit\" : \"\", \"event\" : \"cycles\", \"pcnt-running\" : 100,00}\n",
		"5,,cycles,1,100.00,,",
	};
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		recording_parse("perf-stat", bad[i], strlen(bad[i]), 1, &out);
		if (out.n > 0 || out.problems_n == 0)
			fail_msg("'%s' gives %s", bad[i], out.metrics[0].name);
		suite_output_done(&out);
	}
}

static void perf_stat_reads_past_what_it_computed_itself(void **state)
{
	static const char text[] = "     1.000000000,50,,branches,1000,100.00,,\n"
				   "     1.000000000,,,,,,1.50,insn per cycle\n"
				   "     1.000000000,,,,,,49.7,%  tma_backend_bound\n";
	struct suite_output out;

	(void)state;
	recording_parse("perf-stat", text, strlen(text), 1, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "perf-stat.i.branches", 50, "1/s");
	assert_int_equal(out.n, 3);
	suite_output_done(&out);
}

/* ---- turbostat ---- */

static void turbostat_goes_by_headings_and_summary_rows(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("turbostat-2018", "turbostat", 3, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "turbostat.Avg_MHz", 200, "MHz");
	expect_metric(&out, "turbostat.Busy%", 10.25, "%");
	expect_metric(&out, "turbostat.C1%", 1.52, "%");
	expect_metric(&out, "turbostat.CPU%c1", 93.1, "%");
	expect_metric(&out, "turbostat.CoreTmp", 42, "degree C");
	expect_metric(&out, "turbostat.PkgWatt", 30.2, "W");
	expect_metric(&out, "turbostat.IRQ", 2500, "1/s");
	expect_metric(&out, "turbostat.C1", 50, "1/s");
	expect_metric(&out, "turbostat.C1.per_op", 50 * 3 / 10.0, "1/op");
	expect_missing(&out, "turbostat.usec");
	expect_missing(&out, "turbostat.CPU");
	suite_output_done(&out);
	recording_read("turbostat-2022", "turbostat", 2, &out);
	expect_metric(&out, "turbostat.Avg_MHz", 20, "MHz");
	expect_metric(&out, "turbostat.IPC", 1.5, "1");
	expect_metric(&out, "turbostat.RAMWatt", 5, "W");
	expect_missing(&out, "turbostat.IRQ");
	expect_problem(&out, "Time_Of_Day_Seconds");
	suite_output_done(&out);
	recording_read("turbostat-2013", "turbostat", 2, &out);
	expect_metric(&out, "turbostat.%Busy", 10, "%");
	expect_metric(&out, "turbostat.CPU%c1", 85, "%");
	suite_output_done(&out);
}

static void turbostat_distrusts_rows(void **state)
{
	static const char *const bad[] = {
		"",
		"turbostat version 18.07.27\n",
		"turbostat: no /dev/cpu/0/msr, Try \"# modprobe msr\"\n",
		"Core\tCPU\tAvg_MHz\n-\t-\t5\t6\n",
		"Core\tCPU\tAvg_MHz\n-\t-\n",
		"Core\tCPU\tAvg_MHz\n0\t0\t5\n",
		"Core\tCPU\tAvg_MHz\n-\t-\tnan\n",
		"Core\tCPU\tAvg_MHz\n-\t-\t1,5\n",
		"Core\tCPU\tAvg_MHz\n-\t-\t-5\n",
		"Core\tCPU\tAvg_MHz\tAvg_MHz\n-\t-\t5\t6\n",
		"Core\tCPU\tAvg_MHz\n-\t-\t5",
	};
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		recording_parse("turbostat", bad[i], strlen(bad[i]), 1, &out);
		if (out.n > 0)
			fail_msg("'%s' gives %s", bad[i], out.metrics[0].name);
		suite_output_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_clocks_of_all_kinds),
		cmocka_unit_test(averages_samples_not_the_average),
		cmocka_unit_test(columns_go_by_heading),
		cmocka_unit_test(never_delivers_shifted_columns),
		cmocka_unit_test(perf_stat_reads_what_a_guest_without_counters_gives),
		cmocka_unit_test(perf_stat_derives_ratios_of_counters),
		cmocka_unit_test(perf_stat_refuses_decimal_commas),
		cmocka_unit_test(perf_stat_reads_past_what_it_computed_itself),
		cmocka_unit_test(turbostat_goes_by_headings_and_summary_rows),
		cmocka_unit_test(turbostat_distrusts_rows),
	};

	return cmocka_run_group_tests_name("monitors that are programs", tests, NULL, NULL);
}
