/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitors that record files of the kernel. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/monitors/recordings.h"

#include <jansson.h>
#include <string.h>

static void parse(const char *monitor, const char *text, double span_s, struct suite_output *out)
{
	recording_parse(monitor, text, strlen(text), span_s, out);
}

static void finds_monitors_by_name(void **state)
{
	size_t n = 0;

	(void)state;
	while (monitor_list(n)) {
		assert_ptr_equal(monitor_find(monitor_list(n)->name), monitor_list(n));
		assert_non_null(strstr(monitor_names(), monitor_list(n)->name));
		n++;
	}
	assert_int_equal(n, 14);
	assert_null(monitor_find("vmstatt"));
	assert_int_equal(strncmp(monitor_names(), "time, vmstat, ", 14), 0);
	assert_true(monitor_find("vmstat")->cheap);
	assert_false(monitor_find("turbostat")->cheap);
}

static void vmstat_counts_events_and_averages_levels(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("vmstat", "vmstat", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "vmstat.system.cs", (39594784 - 39575506) / 6.06, "1/s");
	expect_metric(&out, "vmstat.system.cs.per_op", (39594784 - 39575506) / 10.0, "1/op");
	expect_metric(&out, "vmstat.system.in", (11719891 - 11716232) / 6.06, "1/s");
	expect_metric(&out, "vmstat.system.forks", (773814 - 765886) / 6.06, "1/s");
	/* 1, 4, 1 tasks, less the reader, ends weigh half */
	expect_metric(&out, "vmstat.procs.r", 1.5, "tasks");
	expect_metric(&out, "vmstat.procs.b", 0, "tasks");
	expect_metric(&out, "vmstat.load.1min", (0.30 + 2 * 0.30 + 0.44) / 4, "tasks");
	assert_int_equal(suite_metric_find(&out, "vmstat.system.cs")->kind, KIND_RATE);
	suite_output_done(&out);
}

static void mpstat_shares_cpu_time(void **state)
{
	struct suite_output out;
	double total = 394 + 229 + 606 + 1;

	(void)state;
	recording_read("mpstat", "mpstat", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "mpstat.cpu.all.usr%", 394 / total * 100, "%");
	expect_metric(&out, "mpstat.cpu.all.sys%", 229 / total * 100, "%");
	expect_metric(&out, "mpstat.cpu.all.idle%", 606 / total * 100, "%");
	expect_metric(&out, "mpstat.cpu.all.soft%", 1 / total * 100, "%");
	expect_metric(&out, "mpstat.cpu.all.steal%", 0, "%");
	suite_output_done(&out);
}

static void mpstat_takes_guests_out_of_user_time(void **state)
{
	struct suite_output out;

	(void)state;
	parse("mpstat",
	      "#sample 0\n#file /proc/stat\ncpu  100 10 0 0 50 0 0 0 40 4\n"
	      "#sample 1\n#file /proc/stat\ncpu  160 20 20 10 50 0 0 0 60 6\n",
	      1, &out);
	expect_metric(&out, "mpstat.cpu.all.usr%", 40, "%");
	expect_metric(&out, "mpstat.cpu.all.guest%", 20, "%");
	expect_metric(&out, "mpstat.cpu.all.nice%", 8, "%");
	expect_metric(&out, "mpstat.cpu.all.gnice%", 2, "%");
	suite_output_done(&out);
	/* Waiting for disks may be taken back. */
	parse("mpstat",
	      "#sample 0\n#file /proc/stat\ncpu 100 0 0 0 50\n"
	      "#sample 1\n#file /proc/stat\ncpu 160 0 20 20 49\n",
	      1, &out);
	expect_metric(&out, "mpstat.cpu.all.usr%", 60, "%");
	expect_missing(&out, "mpstat.cpu.all.iowait%");
	expect_missing(&out, "mpstat.cpu.all.steal%");
	expect_problem(&out, "went down");
	suite_output_done(&out);
	parse("mpstat",
	      "#sample 0\n#file /proc/stat\ncpu 100 0 30 0 50\n"
	      "#sample 1\n#file /proc/stat\ncpu 160 0 20 20 50\n",
	      1, &out);
	assert_int_equal(out.n, 0);
	suite_output_done(&out);
}

static void vmstat_file_tells_counters_from_levels(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("proc-vmstat", "proc-vmstat", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "proc-vmstat.pgfault", (585992969 - 585232463) / 6.06, "1/s");
	expect_metric(&out, "proc-vmstat.pgfault.per_op", (585992969 - 585232463) / 10.0, "1/op");
	expect_metric(&out, "proc-vmstat.nr_dirtied", (23649109 - 23649066) / 6.06, "1/s");
	expect_metric(&out, "proc-vmstat.nr_free_pages", (3187393 + 2 * 3197052 + 3201716) / 4.0,
		      "pages");
	expect_missing(&out, "proc-vmstat.nr_free_pages.per_op");
	assert_string_equal(suite_metric_find(&out, "proc-vmstat.pgpgout")->unit, "KiB/s");
	suite_output_done(&out);
	recording_read("numa-vmstat", "numa-vmstat", 6.06, &out);
	expect_metric(&out, "numa-vmstat.node0.nr_free_pages",
		      suite_metric_find(&out, "numa-vmstat.all.nr_free_pages")->value, "pages");
	assert_int_equal(out.problems_n, 0);
	suite_output_done(&out);
}

static void nodes_are_summed_while_all_are_there(void **state)
{
	struct suite_output out;

	(void)state;
	parse("numa-vmstat",
	      "#sample 0\n#file /sys/devices/system/node/node0/vmstat\nnr_shmem 10\nnuma_hit 5\n"
	      "#file /sys/devices/system/node/node12/vmstat\nnr_shmem 20\nnuma_hit 7\n"
	      "#sample 2\n#file /sys/devices/system/node/node0/vmstat\nnr_shmem 20\nnuma_hit 9\n"
	      "#file /sys/devices/system/node/node12/vmstat\nnr_shmem 20\nnuma_hit 9\n",
	      2, &out);
	expect_metric(&out, "numa-vmstat.node0.nr_shmem", 15, "pages");
	expect_metric(&out, "numa-vmstat.node12.numa_hit", 1, "1/s");
	expect_metric(&out, "numa-vmstat.all.nr_shmem", 35, "pages");
	expect_metric(&out, "numa-vmstat.all.numa_hit", 3, "1/s");
	suite_output_done(&out);
	parse("numa-vmstat",
	      "#sample 0\n#file /sys/devices/system/node/node0/vmstat\nnr_shmem 10\nnuma_hit 5\n"
	      "#file /sys/devices/system/node/node1/vmstat\nnr_shmem 20\nnuma_hit 7\n"
	      "#sample 2\n#file /sys/devices/system/node/node0/vmstat\nnr_shmem 20\nnuma_hit 9\n",
	      2, &out);
	expect_metric(&out, "numa-vmstat.node0.numa_hit", 2, "1/s");
	expect_missing(&out, "numa-vmstat.node1.numa_hit");
	expect_missing(&out, "numa-vmstat.all.numa_hit");
	expect_missing(&out, "numa-vmstat.all.nr_shmem");
	expect_problem(&out, "came or went");
	suite_output_done(&out);
}

static void meminfo_weighs_by_time(void **state)
{
	struct suite_output out;

	(void)state;
	parse("meminfo",
	      "#sample 0\n#file /proc/meminfo\nActive(anon):   100 kB\nHugePages_Total:  2\n"
	      "#sample 1\n#file /proc/meminfo\nActive(anon):   300 kB\nHugePages_Total:  2\n"
	      "#sample 5\n#file /proc/meminfo\nActive(anon):   300 kB\nHugePages_Total:  2\n",
	      5, &out);
	expect_metric(&out, "meminfo.Active(anon)", (200 * 1 + 300 * 4) / 5.0, "KiB");
	expect_metric(&out, "meminfo.HugePages_Total", 2, "pages");
	suite_output_done(&out);
	recording_read("meminfo", "meminfo", 6.06, &out);
	expect_metric(&out, "meminfo.MemTotal", 24684084, "KiB");
	assert_int_equal(out.problems_n, 0);
	suite_output_done(&out);
}

static void interrupts_are_summed_over_cpus(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("interrupts", "interrupts", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "interrupts.LOC", (2614952 - 2613723 + 2717298 - 2716077) / 6.06,
		      "1/s");
	expect_metric(&out, "interrupts.36:virtio1-req.0", (2904715 - 2904697) / 6.06, "1/s");
	expect_metric(&out, "interrupts.ERR", 0, "1/s");
	expect_metric(&out, "interrupts.MIS.per_op", 0, "1/op");
	suite_output_done(&out);
	recording_read("softirqs", "softirqs", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "softirqs.RCU", (2119545 - 2115200 + 2453053 - 2449197) / 6.06, "1/s");
	suite_output_done(&out);
}

static void interrupts_know_plugged_cpus(void **state)
{
	static const char before[] = "#sample 0\n#file /proc/interrupts\n"
				     "       CPU0  CPU3\n"
				     " 11:      1     2   GICv3  27 Level     arch timer, eth0\n"
				     " 12:      1     2   GICv3  28 Edge\n"
				     "IPI0:     5     6   Rescheduling interrupts\nErr:   1\n";
	static const char same[] = "#sample 1\n#file /proc/interrupts\n"
				   "       CPU0  CPU3\n"
				   " 11:      3     2   GICv3  27 Level     arch timer, eth0\n"
				   " 12:      1     7   GICv3  28 Edge\n"
				   "IPI0:     5     6   Rescheduling interrupts\nErr:   3\n";
	static const char other[] = "#sample 1\n#file /proc/interrupts\n"
				    "       CPU0\n"
				    " 11:      9   GICv3  27 Level     arch timer, eth0\n"
				    "IPI0:     15  Rescheduling interrupts\nErr:   3\n";
	struct suite_output out;
	char *text;

	(void)state;
	text = xasprintf("%s%s", before, same);
	parse("interrupts", text, 1, &out);
	free(text);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "interrupts.11:arch_timer,_eth0", 2, "1/s");
	expect_metric(&out, "interrupts.12:GICv3", 5, "1/s");
	expect_metric(&out, "interrupts.IPI0", 0, "1/s");
	expect_metric(&out, "interrupts.Err", 2, "1/s");
	suite_output_done(&out);
	text = xasprintf("%s%s", before, other);
	parse("interrupts", text, 1, &out);
	free(text);
	assert_int_equal(out.n, 2);
	expect_metric(&out, "interrupts.Err", 2, "1/s");
	expect_problem(&out, "came or went");
	suite_output_done(&out);
}

static void schedstat_sums_cpus_of_known_versions(void **state)
{
	static const char *const names[] = { "schedstat-15", "schedstat-17" };
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		recording_read(names[i], "schedstat", 2, &out);
		assert_int_equal(out.problems_n, 0);
		expect_metric(&out, "schedstat.run_time", 1.25, "s/s");
		expect_metric(&out, "schedstat.run_time.per_op", 0.25, "s/op");
		expect_metric(&out, "schedstat.wait_time", 0.15, "s/s");
		expect_metric(&out, "schedstat.timeslices", 200, "1/s");
		expect_metric(&out, "schedstat.goidle", 100, "1/s");
		suite_output_done(&out);
	}
	parse("schedstat",
	      "#sample 0\n#file /proc/schedstat\nversion 14\ncpu0 1 2 3 4 5 6 7 8 9\n"
	      "#sample 1\n#file /proc/schedstat\nversion 14\ncpu0 1 2 3 4 5 6 7 8 9\n",
	      1, &out);
	assert_int_equal(out.n, 0);
	expect_problem(&out, "version 15");
	suite_output_done(&out);
}

static void slabinfo_refuses_other_versions(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("slabinfo", "slabinfo", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "slabinfo.dentry.active_objs", (613657 + 3 * 613797.0) / 4, "objects");
	expect_metric(&out, "slabinfo.dentry.num_objs", 738948, "objects");
	suite_output_done(&out);
	parse("slabinfo",
	      "#sample 0\n#file /proc/slabinfo\nslabinfo - version: 2.2\n"
	      "dentry 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0\n",
	      1, &out);
	assert_int_equal(out.n, 0);
	expect_problem(&out, "version 2.1");
	suite_output_done(&out);
}

static void diskstats_takes_old_and_new_columns(void **state)
{
	struct suite_output out;

	(void)state;
	recording_read("diskstats", "diskstats", 6.06, &out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "diskstats.vda.read_ios", (1202483 - 1202430) / 6.06, "1/s");
	expect_metric(&out, "diskstats.vda.read_bytes", (26913586 - 26912442) * 512 / 6.06, "B/s");
	expect_metric(&out, "diskstats.vda.write_bytes.per_op",
		      (130259200 - 130253320) * 512 / 10.0, "B/op");
	expect_metric(&out, "diskstats.vda.write_time", (1154341 - 1154333) / 1000.0 / 6.06, "s/s");
	expect_metric(&out, "diskstats.vda.flush_ios", 0, "1/s");
	expect_metric(&out, "diskstats.vda.in_flight", 0, "requests");
	suite_output_done(&out);
	parse("diskstats",
	      "#sample 0\n#file /proc/diskstats\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
	      "8 1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n8 2 sda2 1 2 3 4\n"
	      "#sample 1\n#file /proc/diskstats\n8 0 sda 2 2 3 4 5 6 7 8 9 10 11\n"
	      "8 1 sda1 3 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n8 2 sda2 1 2 3 4\n",
	      1, &out);
	expect_metric(&out, "diskstats.sda.read_ios", 1, "1/s");
	expect_metric(&out, "diskstats.sda.in_flight", 9, "requests");
	expect_missing(&out, "diskstats.sda.discard_ios");
	expect_metric(&out, "diskstats.sda1.discard_time", 0, "s/s");
	expect_missing(&out, "diskstats.sda1.flush_ios");
	expect_missing(&out, "diskstats.sda2.read_ios");
	assert_int_equal(out.problems_n, 2);
	suite_output_done(&out);
}

static void leaves_out_counters_that_fell(void **state)
{
	struct suite_output out;

	(void)state;
	/* At 32 bits, or between the ends only. */
	parse("proc-vmstat",
	      "#sample 0\n#file /proc/vmstat\npgfault 4294967290\npgfree 5\npgscan 18446744073709551610\n"
	      "nr_mlock 18446744073709551610\n"
	      "#sample 1\n#file /proc/vmstat\npgfault 10\npgfree 2\npgscan 18446744073709551615\nnr_mlock 1\n"
	      "#sample 2\n#file /proc/vmstat\npgfault 20\npgfree 9\npgscan 18446744073709551615\nnr_mlock 3\n",
	      2, &out);
	expect_missing(&out, "proc-vmstat.pgfault");
	expect_missing(&out, "proc-vmstat.pgfree");
	expect_metric(&out, "proc-vmstat.pgscan", 2.5, "1/s");
	expect_metric(&out, "proc-vmstat.nr_mlock", 2, "pages");
	expect_problem(&out, "2 counters went down, 'proc-vmstat.pgfault'");
	suite_output_done(&out);
}

static void zero_is_zero_and_missing_is_missing(void **state)
{
	struct suite_output out;

	(void)state;
	parse("proc-vmstat",
	      "#sample 0\n#file /proc/vmstat\npgfault 7\npgfree 5\n"
	      "#sample 2\n#file /proc/vmstat\npgfault 7\npgscan 5\n",
	      2, &out);
	expect_metric(&out, "proc-vmstat.pgfault", 0, "1/s");
	expect_metric(&out, "proc-vmstat.pgfault.per_op", 0, "1/op");
	assert_int_equal(out.n, 2);
	expect_problem(&out, "2 counters are not in both");
	suite_output_done(&out);
}

static void one_sample_gives_levels_only(void **state)
{
	struct suite_output out;

	(void)state;
	parse("proc-vmstat", "#sample 0\n#file /proc/vmstat\npgfault 7\nnr_mlock 5\n", 2, &out);
	assert_int_equal(out.n, 1);
	expect_metric(&out, "proc-vmstat.nr_mlock", 5, "pages");
	expect_problem(&out, "one sample only");
	suite_output_done(&out);
}

static void unknown_span_and_work_give_no_rates(void **state)
{
	static const char text[] = "#sample 0\n#file /proc/vmstat\npgfault 7\n"
				   "#sample 2\n#file /proc/vmstat\npgfault 9\n";
	struct monitor_run run = { 0 };
	struct suite_output out = { 0 };

	(void)state;
	monitor_parse(monitor_find("proc-vmstat"), text, strlen(text), &run, &out);
	assert_int_equal(out.n, 0);
	run.work = 4;
	monitor_parse(monitor_find("proc-vmstat"), text, strlen(text), &run, &out);
	assert_int_equal(out.n, 1);
	expect_metric(&out, "proc-vmstat.pgfault.per_op", 0.5, "1/op");
	suite_output_done(&out);
	assert_near(monitor_span(text, strlen(text)), 2.0, 0);
	assert_near(monitor_span("x\n", 2), 0.0, 0);
}

static void samples_of_half_a_run_say_nothing_of_all_work(void **state)
{
	struct suite_output out;

	(void)state;
	parse("proc-vmstat",
	      "#sample 0\n#file /proc/vmstat\npgfault 7\n#sample 2\n#file /proc/vmstat\npgfault 9\n",
	      4, &out);
	expect_metric(&out, "proc-vmstat.pgfault", 1, "1/s");
	expect_missing(&out, "proc-vmstat.pgfault.per_op");
	expect_problem(&out, "cover 2 of 4 s");
	suite_output_done(&out);
}

static void distrusts_the_frame_of_a_recording(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"nr_mlock 5\n",
		"#file /proc/vmstat\nnr_mlock 5\n",
		"#sample nan\n#file /proc/vmstat\nnr_mlock 5\n",
		"#sample -1\n#file /proc/vmstat\nnr_mlock 5\n",
		"#sample 1e3\n#file /proc/vmstat\nnr_mlock 5\n",
		"#sample 0\n#file /proc/vmstat2\nnr_mlock 5\n",
		"#sample 0\n#file /proc/vmsta\nnr_mlock 5\n",
		"#sample 0\nnr_mlock 5\n",
		"#sample 0\n#file /proc/vmstat\nnr_mlock 5",
		"#sample 0\n#file /proc/vmstat\nnr_mlock -5\n",
		"#sample 0\n#file /proc/vmstat\nnr_mlock 5 5\n",
		"#sample 0\n#file /proc/vmstat\nnr_mlock 99999999999999999999\n",
	};
	struct suite_output out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		parse("proc-vmstat", bad[i], 1, &out);
		if (out.n > 0 || out.problems_n == 0)
			fail_msg("'%s' gives %zu metrics", bad[i], out.n);
		suite_output_done(&out);
	}
	/* Time that goes back, a file twice. */
	parse("proc-vmstat",
	      "#sample 1\n#file /proc/vmstat\nnr_mlock 5\n#file /proc/vmstat\nnr_mlock 7\n"
	      "#sample 0\n#file /proc/vmstat\nnr_mlock 100\n"
	      "#sample 2\n#file /proc/vmstat\nnr_mlock 7\n",
	      1, &out);
	expect_metric(&out, "proc-vmstat.nr_mlock", 6, "pages");
	assert_int_equal(out.problems_n, 2);
	suite_output_done(&out);
}

static void account_of_the_job_gives_time_metrics(void **state)
{
	struct monitor_run run = { .span_s = 2, .work = 10, .cpus = 2 };
	struct suite_output out = { 0 };
	json_t *j =
		json_pack("{s:f,s:f,s:i,s:i,s:i,s:i,s:i}", "utime_s", 1.5, "stime_s", 0.5,
			  "maxrss_kib", 2048, "minflt", 100, "majflt", 0, "nvcsw", 7, "nivcsw", 3);

	(void)state;
	monitor_parse_rusage(j, &run, &out);
	check_sane(&out);
	assert_int_equal(out.problems_n, 0);
	expect_metric(&out, "time.user_time", 0.75, "s/s");
	expect_metric(&out, "time.user_time.per_op", 0.15, "s/op");
	expect_metric(&out, "time.maximum_resident_set_size", 2048, "KiB");
	expect_metric(&out, "time.minor_page_faults", 50, "1/s");
	expect_metric(&out, "time.major_page_faults", 0, "1/s");
	expect_metric(&out, "time.voluntary_context_switches", 3.5, "1/s");
	expect_metric(&out, "time.elapsed_time", 2, "s");
	expect_metric(&out, "time.percent_of_cpu_this_job_got", 100, "%");
	suite_output_done(&out);
	(void)json_object_del(j, "stime_s");
	(void)json_object_set_new(j, "minflt", json_string("5"));
	(void)json_object_set_new(j, "nvcsw", json_integer(-1));
	monitor_parse_rusage(j, &run, &out);
	assert_int_equal(out.problems_n, 3);
	expect_missing(&out, "time.system_time");
	expect_missing(&out, "time.minor_page_faults");
	expect_missing(&out, "time.voluntary_context_switches");
	expect_missing(&out, "time.percent_of_cpu_this_job_got");
	suite_output_done(&out);
	monitor_parse_rusage(NULL, &run, &out);
	assert_int_equal(out.n, 1);
	suite_output_done(&out);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_monitors_by_name),
		cmocka_unit_test(vmstat_counts_events_and_averages_levels),
		cmocka_unit_test(mpstat_shares_cpu_time),
		cmocka_unit_test(mpstat_takes_guests_out_of_user_time),
		cmocka_unit_test(vmstat_file_tells_counters_from_levels),
		cmocka_unit_test(nodes_are_summed_while_all_are_there),
		cmocka_unit_test(meminfo_weighs_by_time),
		cmocka_unit_test(interrupts_are_summed_over_cpus),
		cmocka_unit_test(interrupts_know_plugged_cpus),
		cmocka_unit_test(schedstat_sums_cpus_of_known_versions),
		cmocka_unit_test(slabinfo_refuses_other_versions),
		cmocka_unit_test(diskstats_takes_old_and_new_columns),
		cmocka_unit_test(leaves_out_counters_that_fell),
		cmocka_unit_test(zero_is_zero_and_missing_is_missing),
		cmocka_unit_test(one_sample_gives_levels_only),
		cmocka_unit_test(unknown_span_and_work_give_no_rates),
		cmocka_unit_test(samples_of_half_a_run_say_nothing_of_all_work),
		cmocka_unit_test(distrusts_the_frame_of_a_recording),
		cmocka_unit_test(account_of_the_job_gives_time_metrics),
	};

	return cmocka_run_group_tests_name("monitors of files", tests, NULL, NULL);
}
