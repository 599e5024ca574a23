/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot parse as a program. */
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define OUTPUTS TEST_SOURCE_DIR "/tests/data/outputs/"

/* Return: exit code; what was printed, errors too where the words send them there, in *@ret. */
static int run(const char *words, struct strbuf *ret)
{
	_cleanup_(freep) char *line =
		xasprintf("cd '" OUTPUTS "' && '" TEST_BIN_DIR "/kperfbot' parse %s", words);
	FILE *f = popen(line, "re"); /* NOLINT(cert-env33-c): our own words */
	char buf[4096];
	int status;
	size_t n;

	strbuf_reset(ret);
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(ret, buf, n);
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void gives_metrics_as_json(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	json_t *m;

	(void)state;
	assert_int_equal(run("--json will-it-scale wis-page_fault1-threads-t2-s5.txt "
			     "--param mode=thread --param nr_task=2 --param runtime=5s",
			     &out),
			 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-metrics/1");
	assert_string_equal(json_str(j, "suite", ""), "will-it-scale");
	assert_int_equal(json_array_size(json_object_get(j, "series")), 5);
	assert_int_equal(json_array_size(json_object_get(j, "problems")), 0);
	m = json_array_get(json_object_get(j, "metrics"), 0);
	assert_string_equal(json_str(m, "name", ""), "will-it-scale.per_thread_ops");
	assert_string_equal(json_str(m, "unit", ""), "ops/s");
	assert_string_equal(json_str(m, "better", ""), "higher");
	assert_string_equal(json_str(m, "kind", ""), "rate");
	assert_true(json_is_true(json_object_get(m, "headline")));
	assert_true(json_number_value(json_object_get(m, "value")) == 105554.5);
}

static void a_missing_headline_is_exit_code_1_and_a_problem(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	json_t *p;

	(void)state;
	assert_int_equal(
		run("--json will-it-scale - < wis-getppid1-processes-t2-s2-childkilled.txt", &out),
		1);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_int_equal(json_array_size(json_object_get(j, "metrics")), 0);
	p = json_array_get(json_object_get(j, "problems"), 0);
	assert_int_equal(json_i64(p, "line", 0), 12);
	assert_int_equal(json_i64(p, "byte", 0), 316);
}

static void several_files_give_a_line_each(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	const char *second;

	(void)state;
	assert_int_equal(run("--json vm-scalability vms-remap.txt vms-migrate.txt", &out), 0);
	second = strchr(strbuf_str(&out), '\n');
	assert_non_null(strstr(strbuf_str(&out), "\"file\":\"vms-remap.txt\""));
	assert_non_null(strstr(second, "\"file\":\"vms-migrate.txt\""));
}

/* Every captured output, whose numbers are known here and in the README of the captures. */
static void reads_every_captured_output(void **state)
{
	static const struct {
		const char *words, *metric;
		double value;
		int code;
	} files[] = {
		{ "hackbench hackbench-g2-l1000-process.txt", "hackbench.throughput",
		  5958.810068649886, 0 },
		{ "hackbench hackbench-g2-l1000-threads-pipe.txt", "hackbench.time", 0.505, 0 },
		{ "perf-bench-sched-messaging perf-bench-sched-messaging-g2-l1000.txt",
		  "perf-bench-sched-messaging.total_time_sec", 1.242, 0 },
		{ "perf-bench-sched-pipe perf-bench-sched-pipe-l50000.txt",
		  "perf-bench-sched-pipe.ops_per_sec", 321874, 0 },
		{ "perf-bench-sched-pipe perf-bench-simple-sched-pipe.txt",
		  "perf-bench-sched-pipe.total_time_sec", 0.118, 1 },
		{ "perf-bench-syscall perf-bench-syscall-basic.txt",
		  "perf-bench-syscall.getppid.ops_per_sec", 5131994, 0 },
		{ "perf-bench-mem perf-bench-mem-memcpy-16MB.txt",
		  "perf-bench-mem.memcpy.default.GB_per_sec", 5.534010, 0 },
		{ "perf-bench-mem perf-bench-mem-memset-1MB.txt", NULL, 0, 0 },
		{ "perf-bench-futex perf-bench-futex-hash-t2-r2.txt",
		  "perf-bench-futex.ops_per_sec", 1309696, 0 },
		{ "perf-bench-futex perf-bench-futex-wake-t4.txt",
		  "perf-bench-futex.wokeup_time_ms", 0.1530, 0 },
		{ "perf-bench-futex perf-bench-futex-wake-parallel-t4.txt", NULL, 0, 0 },
		{ "perf-bench-futex perf-bench-futex-requeue-t4.txt",
		  "perf-bench-futex.requeue_time_ms", 0.0071, 0 },
		{ "perf-bench-futex perf-bench-futex-lockpi-t2-r1.txt",
		  "perf-bench-futex.ops_per_sec", 2471, 0 },
		{ "perf-bench-epoll perf-bench-epoll-wait-t2-r1.txt",
		  "perf-bench-epoll.ops_per_sec", 236134, 0 },
		{ "perf-bench-numa-mem perf-bench-numa-mem-p1-t2.txt",
		  "perf-bench-numa-mem.total_speed", 2.472, 0 },
		{ "stress-ng stress-ng-fault2-metrics-brief.txt", "stress-ng.fault.ops_per_sec",
		  2028.71, 0 },
		{ "stress-ng stress-ng-context2-metrics-times.txt",
		  "stress-ng.context.swapcontext_calls_per_sec", 940437.20, 0 },
		{ "stress-ng stress-ng-mmap1-pagemove1-metrics-brief.txt",
		  "stress-ng.pagemove.ops_per_sec", 22.41, 0 },
		{ "stress-ng stress-ng-mmap1-pagemove1.yaml", "stress-ng.pagemove.ops_per_sec",
		  22.413636, 0 },
		{ "pft pft-256M.txt --param iterations=3", "pft.faults_per_sec",
		  (282728.551 + 296280.982 + 284633.453) / 3, 0 },
		{ "pft pft-edge.txt", "pft.faults_per_sec_per_cpu", 661285.115, 0 },
		{ "lmbench3 lmbench-lat_pagefault-16MB.txt", "lmbench3.Pagefaults.us", 0.2647, 0 },
		{ "ebizzy ebizzy-t2-S3.txt", "ebizzy.workload", 78093, 0 },
		{ "sysbench sysbench-cpu-t2.txt", NULL, 0, 0 },
		{ "sysbench sysbench-memory-t2.txt", NULL, 0, 0 },
		{ "sysbench sysbench-threads-t4.txt", NULL, 0, 0 },
		{ "sysbench sysbench-mutex-t4.txt --param test=mutex", NULL, 0, 0 },
		{ "cyclictest cyclictest-t2-D1.txt", NULL, 0, 0 },
		{ "stress-ng ../cases/27/a-old-info.txt", "stress-ng.context.ops_per_sec", 4485.82,
		  0 },
		{ "stress-ng ../cases/27/b-no-prefix.txt", "stress-ng.ramfs.ops_per_sec", 12253.05,
		  0 },
		{ "stress-ng ../cases/27/c-new-metrc.txt", "stress-ng.close.ops_per_sec", 26108.29,
		  0 },
		{ "stress-ng ../cases/27/d-misc-only.txt",
		  "stress-ng.longjmp.nanosecs_per_longjmp_call", 924.65, 1 },
		{ "stress-ng ../cases/27/e-brief-huge.txt", "stress-ng.msg.ops_per_sec",
		  26845470.19, 0 },
	};
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(freep) char *words = xasprintf("--json %s", files[i].words);
		_cleanup_(json_decrefp) json_t *j = NULL;
		struct err e = { 0 };
		bool found = false;
		const json_t *m;
		size_t k;

		if (run(words, &out) != files[i].code)
			fail_msg("%s: not exit code %d", words, files[i].code);
		assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
		json_array_foreach (json_object_get(j, "metrics"), k, m)
			found |= !files[i].metric ||
				 (!strcmp(json_str(m, "name", ""), files[i].metric) &&
				  fabs(json_number_value(json_object_get(m, "value")) -
				       files[i].value) <= 1e-15 * files[i].value);
		if (!found)
			fail_msg("%s: no %s of %.17g: %s", words, files[i].metric, files[i].value,
				 out.s);
	}
}

static void reads_stdin_of_any_suite(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("exec - <<'END'\nspeed 12.5 MB/s higher\nEND", &out), 0);
	assert_non_null(strstr(strbuf_str(&out), "* exec.speed"));
	assert_int_equal(
		run("exec - --param format=json <<'END'\n{\"a\": 1, \"b\": nan}\nEND", &out), 1);
	assert_int_equal(run("hackbench - < /dev/null", &out), 1);
}

static void wrong_usage_is_exit_code_129_and_names_the_choices(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("will-it-fail vms-remap.txt 2>&1", &out), 129);
	assert_non_null(strstr(strbuf_str(&out), "will-it-scale, vm-scalability"));
	assert_int_equal(run("vm-scalability 2>&1", &out), 129);
	assert_int_equal(run("will-it-scale x --param mode=fibre 2>&1", &out), 129);
	assert_non_null(strstr(strbuf_str(&out), "process, thread"));
	assert_int_equal(run("hackbench x --param test=nosuch 2>&1", &out), 129);
	assert_non_null(strstr(out.s, "hackbench has no test 'nosuch'; it has hackbench"));
	assert_int_equal(run("will-it-scale x --param mode 2>&1", &out), 129);
	assert_int_equal(run("will-it-scale x --param cpus=2 2>&1", &out), 129);
	assert_int_equal(run("will-it-scale no-such-file 2>&1", &out), 128);
	assert_non_null(strstr(strbuf_str(&out), "no-such-file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_metrics_as_json),
		cmocka_unit_test(a_missing_headline_is_exit_code_1_and_a_problem),
		cmocka_unit_test(several_files_give_a_line_each),
		cmocka_unit_test(reads_every_captured_output),
		cmocka_unit_test(reads_stdin_of_any_suite),
		cmocka_unit_test(wrong_usage_is_exit_code_129_and_names_the_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
