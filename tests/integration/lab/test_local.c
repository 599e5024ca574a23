/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real agent as a child of driver "local", with a stand-in for the workloads. */
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/driver.h"
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static char scratch[] = "/tmp/kperfbot-lab-XXXXXX";

static char mode_key[] = "mode", mode_value[] = "process";
static char task_key[] = "nr_task", task_value[] = "1";
static char time_key[] = "runtime", time_value[] = "1s";
static const struct suite_param params[] = { { mode_key, mode_value },
					     { task_key, task_value },
					     { time_key, time_value } };

static struct lab_machine machine(void)
{
	return (struct lab_machine){
		.name = "here",
		.driver = "local",
		.boot_timeout_s = 60,
		.silence_timeout_s = 60,
		.workloads_path = TEST_SOURCE_DIR "/tests/integration/lab/fake_workloads.sh",
		.agent_path = TEST_BIN_DIR "/kperfbot-agent",
	};
}

static struct lab_request request(void)
{
	return (struct lab_request){ .suite = "will-it-scale",
				     .test = "page_fault1",
				     .params = params,
				     .nparams = ARRAY_SIZE(params),
				     .runs = 1,
				     .nonce = "n-2",
				     .scratch_dir = scratch };
}

static void boot(const char *mode, const struct lab_request *q, struct lab_result *ret)
{
	struct lab_machine m = machine();
	struct err e = { 0 };

	(void)setenv("FAKE_WORKLOADS_MODE", mode, 1);
	assert_ok(lab_boot(&m, q, ret, &e), &e);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void runs_the_commands_of_the_plan(void **state)
{
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	q.runs = 2;
	boot("ok", &q, &r);
	assert_int_equal(r.class, LAB_OK);
	assert_int_equal(r.nruns, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(r.runs[i].raw, "testcase:page_fault1_processes -t 1 -s 1\n");
		assert_string_equal(r.runs[i].errors, "a remark\n");
		assert_int_equal(r.runs[i].exit_status, 0);
		assert_true(json_real_value(json_object_get(r.runs[i].rusage, "utime_s")) >= 0);
	}
	assert_true(json_integer_value(json_object_get(r.facts, "cpus")) >= 1);
	assert_true(json_integer_value(json_object_get(r.facts, "mem_total_bytes")) > 0);
	assert_true(json_is_string(json_object_get(r.facts, "release")));
	assert_null(r.accel_used);
	lab_result_done(&r);
}

static void on_progress(void *arg, enum lab_state state)
{
	(void)strcat(arg, lab_state_name(state));
	(void)strcat(arg, " ");
}

static void tells_where_it_is(void **state)
{
	char states[200] = "";
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	q.progress = on_progress;
	q.progress_arg = states;
	boot("ok", &q, &r);
	assert_string_equal(states, "booting up running collecting idle ");
	lab_result_done(&r);
}

static void runs_a_bundled_workload(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	m.workloads_path = TEST_BIN_DIR "/kperfbot-workloads";
	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_non_null(strstr(r.runs[0].raw, "\nmeasurement\n"));
	assert_non_null(strstr(r.runs[0].raw, "\naverage:"));
	lab_result_done(&r);
}

static void tells_how_a_benchmark_failed(void **state)
{
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	boot("status", &q, &r);
	assert_int_equal(r.class, LAB_BENCH_ERROR);
	assert_int_equal(r.runs[0].exit_status, 3);
	assert_string_equal(r.runs[0].raw, "before\n");
	lab_result_done(&r);
	boot("signal", &q, &r);
	assert_int_equal(r.class, LAB_BENCH_ERROR);
	assert_int_equal(r.runs[0].exit_status, 128 + SIGTERM);
	assert_non_null(strstr(r.detail, "died of signal 15"));
	lab_result_done(&r);
}

static void gives_up_at_the_total_limit(void **state)
{
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	q.total_timeout_s = 1;
	boot("forever", &q, &r);
	assert_int_equal(r.class, LAB_BENCH_TIMEOUT);
	assert_int_equal(r.nruns, 1);
	assert_string_equal(r.runs[0].raw, "before\n");
	assert_int_equal(r.runs[0].exit_status, -1);
	lab_result_done(&r);
}

static void nothing_outlives_its_run(void **state)
{
	_cleanup_(strbuf_done) struct strbuf pid = STRBUF_INIT;
	_cleanup_(freep) char *path = xasprintf("%s/pid", scratch);
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };
	int64_t n;

	(void)state;
	(void)setenv("FAKE_WORKLOADS_PIDS", path, 1);
	boot("leaves-children", &q, &r);
	assert_int_equal(r.class, LAB_OK);
	lab_result_done(&r);
	assert_ok(file_read(path, 100, &pid, &e), &e);
	pid.s[strcspn(pid.s, "\n")] = '\0';
	assert_ok(parse_i64(pid.s, 2, INT32_MAX, &n, &e), &e);
	assert_int_equal(kill((pid_t)n, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void caps_output_without_end(void **state)
{
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	boot("flood", &q, &r);
	assert_int_equal(r.class, LAB_OK);
	assert_int_equal(r.runs[0].raw_len, 16 << 20);
	assert_true(r.runs[0].raw_truncated);
	lab_result_done(&r);
}

static void programs_start_without_address_randomisation(void **state)
{
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	boot("aslr", &q, &r);
	assert_string_equal(r.runs[0].raw, "00040000\n");
	lab_result_done(&r);
}

static void an_agent_that_dies_is_not_the_kernels_fault(void **state)
{
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	boot("kills-agent", &q, &r);
	assert_int_equal(r.class, LAB_AGENT);
	assert_false(lab_class_blames_kernel(r.class));
	lab_result_done(&r);
}

static void nothing_outlives_an_agent_that_does_not_clean_up(void **state)
{
	static const char *const modes[] = { "kills-agent-alone", "kills-agent-and-guard",
					     "stops-agent-alone", "stops-agent-and-guard" };
	_cleanup_(freep) char *path = xasprintf("%s/pid", scratch);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		_cleanup_(strbuf_done) struct strbuf pid = STRBUF_INIT;
		struct lab_machine m = machine();
		struct lab_request q = request();
		struct lab_result r;
		struct err e = { 0 };

		(void)unlink(path);
		(void)setenv("FAKE_WORKLOADS_PIDS", path, 1);
		(void)setenv("FAKE_WORKLOADS_MODE", modes[i], 1);
		m.silence_timeout_s = 1;
		assert_ok(lab_boot(&m, &q, &r, &e), &e);
		assert_int_equal(r.class, LAB_AGENT);
		lab_result_done(&r);
		assert_ok(file_read(path, 100, &pid, &e), &e);
		assert_int_equal(kill((pid_t)strtol(pid.s, NULL, 10), 0), -1);
		assert_int_equal(errno, ESRCH);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
}

static void a_child_of_ours_from_before_lives_on(void **state)
{
	struct lab_request q = request();
	struct lab_machine m = machine();
	struct lab_result r;
	struct err e = { 0 };
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	(void)setenv("FAKE_WORKLOADS_MODE", "kills-agent", 1);
	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	lab_result_done(&r);
}

static void records_monitors_and_says_what_ran(void **state)
{
	const char *const monitors[] = { "vmstat", "mpstat", "time", NULL };
	struct lab_request q = request();
	const struct lab_run *run;
	struct lab_result r;

	(void)state;
	q.monitors = monitors;
	boot("ok", &q, &r);
	assert_int_equal(r.class, LAB_OK);
	run = &r.runs[0];
	assert_int_equal(run->nfiles, 2);
	assert_string_equal(run->files[0].name, "monitor/vmstat");
	assert_memory_equal(run->files[0].data, "#sample 0.000", 13);
	assert_int_equal(run->files[0].len, strlen(run->files[0].data));
	assert_false(run->files[0].truncated);
	assert_true(run->run_s > 0 && run->run_s < run->wall_s);
	assert_int_equal(json_array_size(run->programs), 1);
	assert_true(json_is_object(r.settings));
	assert_true(r.setup_s >= 0);
	lab_result_done(&r);
}

static void settings_of_a_machine_that_is_not_ours_are_refused(void **state)
{
	static char key[] = "sysctl.fs.lease-break-time", value[] = "36";
	const struct suite_param settings[] = { { key, value } };
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	q.settings = settings;
	q.nsettings = 1;
	boot("ok", &q, &r);
	assert_int_equal(r.class, LAB_SETUP);
	assert_non_null(strstr(r.detail, "not ours to change"));
	assert_int_equal(r.nruns, 0);
	lab_result_done(&r);
}

static void a_job_too_big_for_the_machine_is_told_before_it_runs(void **state)
{
	static char many[] = "2000000";
	struct suite_param own[] = { { mode_key, mode_value },
				     { task_key, many },
				     { time_key, time_value } };
	struct lab_request q = request();
	struct lab_result r;

	(void)state;
	q.params = own;
	boot("ok", &q, &r);
	assert_int_equal(r.class, LAB_TOO_SMALL);
	assert_int_equal(r.nruns, 0);
	lab_result_done(&r);
}

static void refuses_what_it_cannot_prove_or_set(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	q.build_id = "aa";
	assert_err(lab_boot(&m, &q, &r, &e), ERR_INVAL, &e);
	lab_result_done(&r);
	q = request();
	m.workloads_path = "/nonexistent/workloads";
	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_AGENT);
	assert_non_null(strstr(r.detail, "cannot execute '/nonexistent/workloads'"));
	lab_result_done(&r);
}

static int make_scratch(void **state)
{
	(void)state;
	/* What killed agents leave goes with it. */
	return mkdtemp(scratch) && setenv("TMPDIR", scratch, 1) == 0 ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	return file_remove_tree(scratch, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_the_commands_of_the_plan),
		cmocka_unit_test(tells_where_it_is),
		cmocka_unit_test(runs_a_bundled_workload),
		cmocka_unit_test(tells_how_a_benchmark_failed),
		cmocka_unit_test(gives_up_at_the_total_limit),
		cmocka_unit_test(nothing_outlives_its_run),
		cmocka_unit_test(caps_output_without_end),
		cmocka_unit_test(programs_start_without_address_randomisation),
		cmocka_unit_test(an_agent_that_dies_is_not_the_kernels_fault),
		cmocka_unit_test(nothing_outlives_an_agent_that_does_not_clean_up),
		cmocka_unit_test(a_child_of_ours_from_before_lives_on),
		cmocka_unit_test(records_monitors_and_says_what_ran),
		cmocka_unit_test(settings_of_a_machine_that_is_not_ours_are_refused),
		cmocka_unit_test(a_job_too_big_for_the_machine_is_told_before_it_runs),
		cmocka_unit_test(refuses_what_it_cannot_prove_or_set),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
