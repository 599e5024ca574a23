/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each way in which a guest, its agent or QEMU can go wrong, and the class that has to come out. */
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "runners/drivers/driver.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

static char scratch[] = "/tmp/kperfbot-lab-XXXXXX";

static char mode_key[] = "mode", mode_value[] = "process";
static char task_key[] = "nr_task", task_value[] = "1";
static const struct suite_param params[] = { { mode_key, mode_value }, { task_key, task_value } };

static char thp_key[] = "thp", thp_value[] = "never", thp_wrong[] = "sometimes";
static const struct suite_param thp_never = { thp_key, thp_value };
static const struct suite_param thp_sometimes = { thp_key, thp_wrong };

static struct lab_machine machine(const char *accel)
{
	return (struct lab_machine){ .name = "fake1",
				     .driver = "qemu",
				     .accel = accel,
				     .cpus = 2,
				     .qemu = FAKE_QEMU,
				     .boot_timeout_s = 60,
				     .silence_timeout_s = 60,
				     .first_byte_timeout_s = 60,
				     .workloads_path = TEST_SOURCE_DIR "/COPYING",
				     .agent_path = TEST_SOURCE_DIR "/COPYING" };
}

static struct lab_request request(void)
{
	return (struct lab_request){ .kernel_path = TEST_SOURCE_DIR "/COPYING",
				     .build_id = "aabbcc",
				     .suite = "will-it-scale",
				     .test = "page_fault1",
				     .params = params,
				     .nparams = ARRAY_SIZE(params),
				     .runs = 2,
				     .nonce = "n-1",
				     .scratch_dir = scratch,
				     .settings = &thp_never,
				     .nsettings = 1 };
}

static int boot(const char *mode, const struct lab_machine *m, const struct lab_request *q,
		struct lab_result *ret, struct err *e)
{
	int r;

	(void)setenv("FAKE_QEMU_MODE", mode, 1);
	r = lab_boot(m, q, ret, e);
	/* Whatever happened, no process is left behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_non_null(ret->console);
	return r;
}

/* struct fake - what a mode of fake_qemu.c has to come to; limits only where they are to pass. */
struct fake {
	const char *mode;
	enum lab_class class;
	const char *detail; /* part of it */
	double boot_s, silence_s, first_byte_s, total_s;
	size_t runs;
};

static const struct fake fake_modes[] = {
	{ .mode = "silent", LAB_ACCEL, "not one byte", .first_byte_s = 0.3 },
	{ .mode = "boot-hang", LAB_BOOT_HANG, "did not speak", .boot_s = 0.5 },
	{ .mode = "boot-oops", LAB_BOOT_PANIC, "BUG: kernel NULL pointer", .boot_s = 0.5 },
	{ .mode = "boot-panic", LAB_BOOT_PANIC, "VFS: Unable to mount root fs" },
	{ .mode = "boot-panic-stays", LAB_BOOT_PANIC, "not syncing: stuck" },
	{ .mode = "boot-oom", LAB_OOM, "deadlocked on memory" },
	{ .mode = "boot-reset", LAB_BOOT_PANIC, "reset itself" },
	{ .mode = "no-port", LAB_AGENT, "no virtio-serial port" },
	{ .mode = "waits-for-port", LAB_AGENT, "waiting for port", .boot_s = 0.5 },
	{ .mode = "wrong-build-id", LAB_WRONG_KERNEL, "build id 'aabbcd', not 'aabbcc'" },
	{ .mode = "no-build-id", LAB_WRONG_KERNEL, "shows no build id" },
	{ .mode = "wrong-nonce", LAB_WRONG_KERNEL, "nonce 'another-boot', not 'n-1'" },
	{ .mode = "no-boot-id", LAB_AGENT, "shows no boot id" },
	{ .mode = "bad-version", LAB_AGENT, "protocol version 99" },
	{ .mode = "garbage", LAB_AGENT, "too much garbage" },
	{ .mode = "lying-length", LAB_AGENT, "powered itself off before the agent spoke" },
	{ .mode = "no-hello", LAB_AGENT, "did not say hello first" },
	{ .mode = "agent-fault", LAB_AGENT, "died of signal 11" },
	{ .mode = "hang-after-hello", LAB_HANG, "no sign of life", .silence_s = 0.4 },
	{ .mode = "hang-in-run", LAB_HANG, "no sign of life", .silence_s = 0.4, .runs = 1 },
	{ .mode = "panic-in-run", LAB_OOPS, "Fatal exception", .runs = 1 },
	{ .mode = "reset-in-run", LAB_OOPS, "reset itself", .runs = 1 },
	{ .mode = "off-in-run", LAB_AGENT, "powered itself off during the job", .runs = 1 },
	{ .mode = "oops-in-run", LAB_OOPS, "general protection fault", .runs = 2 },
	{ .mode = "oom-in-run", LAB_OOM, "Killed process 77", .runs = 2 },
	{ .mode = "hello-twice", LAB_AGENT, "hello twice", .runs = 1 },
	{ .mode = "run-not-started", LAB_AGENT, "output outside of a run" },
	{ .mode = "wrong-run", LAB_AGENT, "a run that was not open", .runs = 1 },
	{ .mode = "leaves-early", LAB_AGENT, "left after 1 of 2 runs", .runs = 1 },
	{ .mode = "bench-error",
	  LAB_BENCH_ERROR,
	  "run 0: the benchmark ended with status 3",
	  .runs = 2 },
	{ .mode = "bench-timeout",
	  LAB_BENCH_TIMEOUT,
	  "run 0: the benchmark was killed",
	  .runs = 2 },
	{ .mode = "setup-fault", LAB_SETUP, "cannot set governor 'performance'" },
	{ .mode = "not-ready", LAB_AGENT, "not its turn" },
	{ .mode = "ready-twice", LAB_AGENT, "not its turn" },
	{ .mode = "other-cpus", LAB_SETUP, "has 1 CPUs now, and the job is planned for 2" },
	{ .mode = "clock", LAB_CLOCK, "run 0: the wall clock jumped by -3600 s", .runs = 2 },
	{ .mode = "stream-not-named", LAB_AGENT, "a stream that it did not name", .runs = 1 },
	{ .mode = "stream-twice", LAB_AGENT, "named a stream twice", .runs = 1 },
	{ .mode = "endless", LAB_BENCH_TIMEOUT, "total time", .total_s = 1, .runs = 1 },
};

static void puts_every_misfortune_into_its_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fake_modes); i++) {
		const struct fake *f = &fake_modes[i];
		struct lab_machine m = machine("tcg");
		struct lab_request q = request();
		struct lab_result r;
		struct err e = { 0 };

		if (f->boot_s > 0)
			m.boot_timeout_s = f->boot_s;
		if (f->silence_s > 0)
			m.silence_timeout_s = f->silence_s;
		if (f->first_byte_s > 0)
			m.first_byte_timeout_s = f->first_byte_s;
		q.total_timeout_s = f->total_s;
		assert_ok(boot(f->mode, &m, &q, &r, &e), &e);
		if (r.class != f->class || !strstr(r.detail ? r.detail : "", f->detail) ||
		    r.nruns != f->runs)
			fail_msg("mode %s: class %s, '%s', %zu runs", f->mode,
				 lab_class_name(r.class), r.detail, r.nruns);
		lab_result_done(&r);
	}
}

static void brings_back_runs_and_facts_of_a_good_guest(void **state)
{
	struct lab_machine m = machine("icount");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("ok", &m, &q, &r, &e), &e);
	assert_string_equal(lab_class_name(r.class), "ok");
	assert_null(r.detail);
	assert_string_equal(r.boot_id, "b-1");
	assert_string_equal(r.accel_used, "icount");
	assert_int_equal(r.nruns, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(r.runs[i].class, LAB_OK);
		assert_string_equal(r.runs[i].raw, "testcase:fake\nwarmup\naverage:100\n");
		assert_int_equal(r.runs[i].raw_len, strlen(r.runs[i].raw));
		assert_string_equal(r.runs[i].errors, "a remark\n");
		assert_int_equal(r.runs[i].exit_status, 0);
		assert_true(r.runs[i].wall_s == 8.1);
		assert_false(r.runs[i].raw_truncated);
	}
	assert_non_null(strstr(r.console, "Linux version 6.12"));
	assert_string_equal(json_string_value(json_object_get(r.facts, "thp")), "never");
	assert_int_equal(json_integer_value(json_object_get(r.facts, "tasks")), 1);
	assert_int_equal(json_array_size(json_object_get(r.facts, "commands")), 1);
	assert_true(r.boot_s >= 0 && r.boot_s <= r.total_s);
	lab_result_done(&r);
}

static void survives_noise_before_the_first_message(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("garbage-then-hello", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	lab_result_done(&r);
}

static void a_stall_that_passes_is_no_failure(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("stall-in-run", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	lab_result_done(&r);
}

static void a_panic_at_power_off_leaves_the_runs_alone(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("panic-after-bye", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_non_null(strstr(r.console, "at power-off"));
	lab_result_done(&r);
}

static void keeps_what_was_printed_before_the_guest_died(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("panic-in-run", &m, &q, &r, &e), &e);
	assert_int_equal(r.nruns, 1);
	assert_int_equal(r.runs[0].class, LAB_OOPS);
	assert_int_equal(r.runs[0].exit_status, -1);
	assert_true(isnan(r.runs[0].wall_s));
	assert_string_equal(r.runs[0].raw, "testcase:fake\nwarmup\n");
	lab_result_done(&r);
}

static void caps_output_without_end(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	q.runs = 1;
	assert_ok(boot("flood", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_int_equal(r.runs[0].raw_len, 16 << 20);
	assert_true(r.runs[0].raw_truncated);
	lab_result_done(&r);
}

static void falls_back_to_tcg_when_kvm_runs_nothing(void **state)
{
	static const char *const modes[][2] = {
		{ "kvm-silent", "tcg (kvm probe failed: not one byte in 3 s)" },
		{ "kvm-refused",
		  "tcg (kvm probe failed: QEMU ended: Could not access KVM kernel module: No such file "
		  "or directory)" },
		{ "kvm-internal-error",
		  "tcg (kvm probe failed: kvm: internal-error: KVM internal error. Suberror: 1)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct lab_machine m = machine("kvm");
		struct lab_request q = request();
		struct lab_result r;
		struct err e = { 0 };

		if (i == 0)
			m.first_byte_timeout_s = 3;
		assert_ok(boot(modes[i][0], &m, &q, &r, &e), &e);
		assert_int_equal(r.class, LAB_OK);
		assert_string_equal(r.accel_used, modes[i][1]);
		assert_int_equal(r.nruns, 2);
		lab_result_done(&r);
	}
}

static void uses_kvm_where_it_works(void **state)
{
	struct lab_machine m = machine("kvm");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("ok", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_string_equal(r.accel_used, "kvm");
	lab_result_done(&r);
}

static void a_dead_qemu_is_our_fault(void **state)
{
	static const char *const modes[][2] = {
		{ "dies", "QEMU died of signal 9" },
		{ "dies-in-run", "QEMU died of signal 9" },
		{ "refuses", "-m 9T: cannot set up guest memory" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct lab_machine m = machine("tcg");
		struct lab_request q = request();
		struct lab_result r;
		struct err e = { 0 };

		assert_err(boot(modes[i][0], &m, &q, &r, &e), ERR_LAB, &e);
		assert_int_equal(r.class, LAB_FAULT);
		assert_non_null(strstr(r.detail, modes[i][1]));
		assert_non_null(strstr(e.msg, "machine 'fake1': "));
		assert_false(lab_class_blames_kernel(r.class));
		lab_result_done(&r);
	}
}

static void refuses_a_qemu_that_speaks_no_qmp(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_true(boot("qmp-garbage", &m, &q, &r, &e) < 0);
	assert_int_equal(r.class, LAB_FAULT);
	lab_result_done(&r);
}

static void stops_when_asked_to(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };
	const int yes = 1;

	(void)state;
	q.cancel = &yes;
	assert_ok(boot("boot-hang", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_CANCELLED);
	lab_result_done(&r);
}

static void refuse(const struct lab_machine *m, const struct lab_request *q, int code,
		   const char *text)
{
	struct lab_result r;
	struct err e = { 0 };

	assert_err(lab_boot(m, q, &r, &e), code, &e);
	if (!strstr(e.msg, text))
		fail_msg("'%s' does not say '%s'", e.msg, text);
	assert_int_equal(r.class, LAB_FAULT);
	lab_result_done(&r);
}

static void refuses_requests_that_can_never_work(void **state)
{
	struct lab_machine m = machine("tcg");
	struct lab_request q = request();

	(void)state;
	q.build_id = "";
	refuse(&m, &q, ERR_INVAL, "build id");
	q = request();
	q.suite = "no-such";
	refuse(&m, &q, ERR_NOENT, "no suite 'no-such'");
	q = request();
	q.test = "no-such";
	refuse(&m, &q, ERR_NOENT, "no-such");
	q = request();
	q.nonce = "a b";
	refuse(&m, &q, ERR_INVAL, "nonce 'a b'");
	q = request();
	q.runs = 0;
	refuse(&m, &q, ERR_RANGE, "0 runs");
	q = request();
	q.settings = &thp_sometimes;
	refuse(&m, &q, ERR_INVAL, "thp 'sometimes'");
	q = request();
	q.kernel_path = "/nonexistent/bzImage";
	refuse(&m, &q, ERR_NOENT, "/nonexistent/bzImage");
	q = request();
	m.accel = "hvf";
	refuse(&m, &q, ERR_INVAL, "accel 'hvf'");
	m = machine("tcg");
	m.driver = "pigeon";
	refuse(&m, &q, ERR_INVAL, "no driver 'pigeon'");
	m = machine("tcg");
	m.qemu = "/nonexistent/qemu";
	refuse(&m, &q, ERR_LAB, "/nonexistent/qemu");
	m = machine("tcg");
	m.agent_path = "/nonexistent/agent";
	refuse(&m, &q, ERR_NOENT, "/nonexistent/agent");
}

static void names_of_classes_lead_back_to_them(void **state)
{
	struct err e = { 0 };
	enum lab_class c;

	(void)state;
	for (int i = LAB_OK; i <= LAB_CANCELLED; i++) {
		assert_ok(lab_class_find(lab_class_name((enum lab_class)i), &c, &e), &e);
		assert_int_equal(c, i);
	}
	assert_err(lab_class_find("nonsense", &c, &e), ERR_NOENT, &e);
	assert_true(lab_class_blames_kernel(LAB_BOOT_PANIC));
	assert_true(lab_class_blames_kernel(LAB_HANG));
	assert_false(lab_class_blames_kernel(LAB_WRONG_KERNEL));
	assert_false(lab_class_blames_kernel(LAB_BENCH_ERROR));
	assert_false(lab_class_blames_kernel(LAB_ACCEL));
}

static int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	return file_remove_tree(scratch, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_every_misfortune_into_its_class),
		cmocka_unit_test(brings_back_runs_and_facts_of_a_good_guest),
		cmocka_unit_test(survives_noise_before_the_first_message),
		cmocka_unit_test(a_stall_that_passes_is_no_failure),
		cmocka_unit_test(a_panic_at_power_off_leaves_the_runs_alone),
		cmocka_unit_test(keeps_what_was_printed_before_the_guest_died),
		cmocka_unit_test(caps_output_without_end),
		cmocka_unit_test(falls_back_to_tcg_when_kvm_runs_nothing),
		cmocka_unit_test(uses_kvm_where_it_works),
		cmocka_unit_test(a_dead_qemu_is_our_fault),
		cmocka_unit_test(refuses_a_qemu_that_speaks_no_qmp),
		cmocka_unit_test(stops_when_asked_to),
		cmocka_unit_test(refuses_requests_that_can_never_work),
		cmocka_unit_test(names_of_classes_lead_back_to_them),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
