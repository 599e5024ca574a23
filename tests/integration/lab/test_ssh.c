/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver "ssh" with a stand-in for ssh that runs the true scripts and the true agent here. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/driver.h"
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char scratch[] = "/tmp/kperfbot-ssh-XXXXXX";
static char next_file[64], key_file[64], known_hosts[64], dir[64], bin[64], path[1024];

static char mode_key[] = "mode", mode_value[] = "process";
static char task_key[] = "nr_task", task_value[] = "1";
static char time_key[] = "runtime", time_value[] = "1s";
static const struct suite_param params[] = { { mode_key, mode_value },
					     { task_key, task_value },
					     { time_key, time_value } };

static void sh(const char *command)
{
	int status = system(command); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */

	assert_int_equal(status, 0);
}

static void write_text(const char *name, const char *text)
{
	_cleanup_(freep) char *p = xasprintf("%s/%s", scratch, name);
	FILE *f = fopen(p, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static char *read_text(const char *name)
{
	static char text[4096];
	_cleanup_(freep) char *p = xasprintf("%s/%s", scratch, name);
	FILE *f = fopen(p, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	if (f)
		(void)fclose(f);
	return text;
}

static struct lab_machine machine(void)
{
	return (struct lab_machine){
		.name = "box",
		.driver = "ssh",
		.boot_timeout_s = 60,
		.silence_timeout_s = 60,
		.workloads_path = TEST_SOURCE_DIR "/tests/integration/lab/fake_workloads.sh",
		.agent_path = TEST_BIN_DIR "/kperfbot-agent",
		.ssh = { .host = "box.example.org",
			 .key_file = key_file,
			 .known_hosts_file = known_hosts,
			 .dir = dir },
	};
}

static struct lab_request request(const char *build_id)
{
	return (struct lab_request){ .suite = "will-it-scale",
				     .test = "page_fault1",
				     .params = params,
				     .nparams = ARRAY_SIZE(params),
				     .kernel_path = key_file,
				     .build_id = build_id,
				     .runs = 1,
				     .nonce = "n-1",
				     .scratch_dir = scratch };
}

static int boot(const char *mode, const struct lab_machine *m, const struct lab_request *q,
		struct lab_result *ret, struct err *e)
{
	static int run;
	char number[16];
	int r;

	write_text("boot_id", "11111111-01\n");
	write_text("cmdline", "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 quiet panic=0\n");
	write_text("log", "");
	(void)snprintf(number, sizeof(number), "%d", ++run);
	write_text("run", number);
	(void)setenv("FAKE_RUN", number, 1);
	(void)setenv("FAKE_MODE", mode, 1);
	r = lab_boot(m, q, ret, e);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return r;
}

static void runs_a_job_without_a_boot(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };
	struct stat st;

	(void)state;
	(void)setenv("FAKE_WORKLOADS_MODE", "ok", 1);
	assert_ok(boot("", &m, &q, &r, &e), &e);
	if (r.class != LAB_OK)
		fail_msg("class %s: %s", lab_class_name(r.class), r.detail);
	assert_int_equal(r.nruns, 1);
	assert_int_equal(r.runs[0].class, LAB_OK);
	assert_non_null(r.boot_id);
	assert_string_equal(read_text("log"), "copy\ncopy\nagent\n");
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	lab_result_done(&r);

	/* What is there already is not copied again. */
	assert_ok(boot("", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_string_equal(read_text("log"), "agent\n");
	lab_result_done(&r);
}

static void copies_again_what_is_damaged_there(void **state)
{
	_cleanup_(freep) char *spoil = xasprintf(
		"cd \"%s/files\" && for f in *; do echo x >>$f; done; touch half.part", dir);
	_cleanup_(freep) char *gone = xasprintf("test ! -e \"%s/files/half.part\"", dir);
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	sh(spoil);
	assert_ok(boot("", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_string_equal(read_text("log"), "copy\ncopy\nagent\n");
	sh(gone);
	lab_result_done(&r);
}

static void keeps_the_latest_files_only(void **state)
{
	_cleanup_(freep) char *fill = xasprintf(
		"cd \"%s/files\" && for i in 0 1 2 3 4 5 6 7 8 9; do echo $i >old$i; done; "
		"touch -d yesterday *",
		dir);
	_cleanup_(freep) char *count = xasprintf("test $(ls \"%s/files\" | wc -l) = 8", dir);
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	sh(fill);
	assert_ok(boot("", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	assert_string_equal(read_text("log"), "agent\n");
	sh(count);
	lab_result_done(&r);
}

struct fake {
	const char *mode;
	enum lab_class class;
	const char *detail;
	bool late, no_files; /* late: the deadline has to pass */
};

static const struct fake fakes[] = {
	{ "host-key", LAB_SSH, "Host key verification failed", false, false },
	{ "login", LAB_SSH, "Permission denied (publickey)", false, false },
	{ "refused", LAB_NET, "Connection refused", false, false },
	{ "banner", LAB_NET, "timed out during banner exchange", false, false },
	{ "silent-failure", LAB_SSH, "status 255", false, false },
	{ "no-linux", LAB_SSH, "shows no boot id", false, false },
	{ "full", LAB_DISK, "No space left on device", false, true },
	{ "read-only", LAB_DISK, "Read-only file system", false, true },
	{ "damaged", LAB_NET, "what arrived is not what was sent", false, true },
	{ "refuses", LAB_SSH, "kexec_load failed", false, false },
	{ "stays", LAB_SSH, "did not leave the kernel", true, false },
	{ "goes-back", LAB_BOOT_PANIC, "back in its own", false, false },
	{ "later-refused", LAB_BOOT_HANG, "Connection refused", true, false },
	{ "later-login", LAB_SSH, "Permission denied", true, false },
	{ "later-host-key", LAB_SSH, "another machine answered", false, false },
	/* The true agent looks at the true command line. */
	{ "wrong-nonce", LAB_WRONG_KERNEL, "not 'n-1'", false, false },
};

/* An agent that goes on after its driver was killed, in the session that its command was. */
static void ends_what_a_cut_run_left(void **state)
{
	_cleanup_(freep) char *start =
		xasprintf("cd \"%s\" && setsid sh -c 'read -r l </proc/$$/stat; set -- ${l##*) }; "
			  "echo 11111111-01 $$ ${20} >session; echo $$ >../left; sleep 1000' "
			  ">/dev/null 2>&1 & sleep 0.3",
			  dir);
	_cleanup_(freep) char *gone =
		xasprintf("test $(readlink /proc/$(cat %s/left)/exe | grep -c .) = 0", scratch);
	_cleanup_(freep) char *kept =
		xasprintf("cd \"%s\" && echo 11111111-01 $(cat ../left) 1 >session", dir);
	_cleanup_(freep) char *alive = xasprintf("kill $(cat %s/left)", scratch);
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	sh(start);
	assert_ok(boot("", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	lab_result_done(&r);
	sh(gone);

	/* A process that was only given the same number is somebody else's. */
	sh(start);
	sh(kept);
	assert_ok(boot("", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	lab_result_done(&r);
	sh(alive);
}

/* A server that runs commands in its own session must not be taken for a left agent. */
static void remembers_no_session_that_others_share(void **state)
{
	_cleanup_(freep) char *none = xasprintf("test ! -e \"%s/session\"", dir);
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(boot("same-session", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_OK);
	lab_result_done(&r);
	sh(none);
}

static void puts_every_misfortune_into_its_class(void **state)
{
	_cleanup_(freep) char *empty = xasprintf("rm -rf \"%s\"", dir);

	(void)state;
	if (geteuid() != 0)
		print_message("only root may start kernels: those cases say so\n");
	for (size_t i = 0; i < ARRAY_SIZE(fakes); i++) {
		const struct fake *f = &fakes[i];
		struct lab_machine m = machine();
		struct lab_request q = request("aabbcc");
		struct lab_result r;
		struct err e = { 0 };

		m.boot_timeout_s = f->late ? 3 : 30;
		if (f->no_files)
			sh(empty);
		assert_ok(boot(f->mode, &m, &q, &r, &e), &e);
		if (geteuid() != 0 && r.class == LAB_SSH && strstr(r.detail, "is not root there")) {
			lab_result_done(&r);
			continue;
		}
		if (r.class != f->class || !strstr(r.detail ? r.detail : "", f->detail))
			fail_msg("mode %s: class %s, '%s'", f->mode, lab_class_name(r.class),
				 r.detail);
		assert_int_equal(r.nruns, 0);
		assert_int_equal(r.power_cycles, 0);
		lab_result_done(&r);
	}
}

static void tells_that_the_console_was_silent(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request("aabbcc");
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	if (geteuid() != 0)
		return;
	m.boot_timeout_s = 3;
	m.console_command = "true";
	assert_ok(boot("later-refused", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_BOOT_HANG);
	assert_non_null(strstr(r.detail, "; nothing came from the console"));
	lab_result_done(&r);

	/* What the console tells counts more than that nobody answers; what it told before does not. */
	m.console_command =
		"echo '[    1.000000] BUG: of yesterday'; while ! [ -e $FAKE_DIR/next ]; do "
		"sleep 0.1; done; sleep 1; echo '[    0.100000] EXT4-fs error (device x)'; "
		"sleep 60";
	(void)unlink(next_file);
	assert_ok(boot("later-refused", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_DISK);
	assert_string_equal(r.detail, "EXT4-fs error (device x)");
	/* It answered, from the kernel that failed. */
	assert_non_null(strstr(read_text("log"), "\nreboot\n"));
	assert_string_equal(read_text("cmdline"), "quiet\n");
	assert_non_null(strstr(r.console, "of yesterday"));
	lab_result_done(&r);
}

static void gives_the_kernel_the_own_command_line(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request("aabbcc");
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	if (geteuid() != 0)
		return;
	m.append = "mem=2G x='a b'";
	m.boot_timeout_s = 1.5;
	assert_ok(boot("", &m, &q, &r, &e), &e);
	lab_result_done(&r);
	assert_string_equal(read_text("next"), "root=/dev/sda1 quiet panic=5 oops=panic "
					       "kperfbot.nonce=n-1 mem=2G x='a b'\n");
}

static void one_boot_entry_that_was_not_taken_is_a_wrong_kernel(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request("aabbcc");
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	if (geteuid() != 0)
		return;
	m.ssh.boot = "command";
	m.ssh.boot_command = "echo 44444444-04 >$FAKE_DIR/boot_id; "
			     "echo \"$KERNEL|$INITRD|$APPEND\" >$FAKE_DIR/next";
	m.ssh.initrd = "/boot/initrd.img";
	m.boot_timeout_s = 5;
	assert_ok(boot("", &m, &q, &r, &e), &e);
	if (r.class != LAB_WRONG_KERNEL)
		fail_msg("class %s: %s", lab_class_name(r.class), r.detail);
	assert_non_null(
		strstr(read_text("next"), "|/boot/initrd.img|root=/dev/sda1 quiet panic=5"));
	lab_result_done(&r);

	m.ssh.boot_command = "echo no such entry >&2; false";
	assert_ok(boot("", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_SSH);
	assert_string_equal(r.detail, "boot command: no such entry");
	lab_result_done(&r);
}

static volatile int cancel;

static void on_alarm(int sig)
{
	cancel = sig;
}

static void stops_when_asked_to(void **state)
{
	static const char *const modes[] = { "stuck", "flood" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct lab_machine m = machine();
		struct lab_request q = request(NULL);
		struct lab_result r;
		struct err e = { 0 };

		cancel = 0;
		q.cancel = &cancel;
		(void)signal(SIGALRM, on_alarm);
		(void)alarm(1);
		assert_ok(boot(modes[i], &m, &q, &r, &e), &e);
		assert_int_equal(r.class, LAB_CANCELLED);
		assert_true(r.total_s < 10);
		lab_result_done(&r);
	}
}

static void a_power_control_that_fails_is_to_blame(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	m.power = (struct lab_power){ .on = "true",
				      .off = "echo socket 7 is gone >&2; false",
				      .off_s = 0.1,
				      .timeout_s = 5 };
	assert_ok(boot("refused", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_POWER);
	assert_non_null(strstr(r.detail, "socket 7 is gone"));
	lab_result_done(&r);
}

/* The switch is what makes the machine answer again. */
static void a_machine_that_does_not_answer_is_switched_off_and_on(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request(NULL);
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	m.power = (struct lab_power){ .on = "true", .off = "true", .off_s = 0.1, .timeout_s = 5 };
	m.boot_timeout_s = 1.5;
	assert_ok(boot("refused", &m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_NET);
	assert_int_equal(r.power_cycles, 1);
	assert_non_null(strstr(r.detail, "after a power cycle"));
	lab_result_done(&r);
}

static void refuses_settings_that_ssh_would_misread(void **state)
{
	static const struct {
		const char *host, *user, *key, *dir;
		int port;
	} bad[] = {
		{ "-oProxyCommand=x", NULL, NULL, NULL, 0 },
		{ "a b", NULL, NULL, NULL, 0 },
		{ "user@host", NULL, NULL, NULL, 0 },
		{ "", NULL, NULL, NULL, 0 },
		{ NULL, NULL, NULL, NULL, 0 },
		{ "box", "-l", NULL, NULL, 0 },
		{ "box", "a;b", NULL, NULL, 0 },
		{ "box", NULL, "/tmp/a\"b", NULL, 0 },
		{ "box", NULL, "/tmp/%h", NULL, 0 },
		{ "box", NULL, "key", NULL, 0 },
		{ "box", NULL, "/nonexistent/key", NULL, 0 },
		{ "box", NULL, NULL, "relative", 0 },
		{ "box", NULL, NULL, "/a\nb", 0 },
		{ "box", NULL, NULL, NULL, 70000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct lab_machine m = machine();
		struct lab_request q = request(NULL);
		struct lab_result r;
		struct err e = { 0 };

		m.ssh.host = bad[i].host;
		m.ssh.user = bad[i].user;
		if (bad[i].key)
			m.ssh.key_file = bad[i].key;
		if (bad[i].dir)
			m.ssh.dir = bad[i].dir;
		m.ssh.port = bad[i].port;
		if (boot("stuck", &m, &q, &r, &e) == 0)
			fail_msg("case %zu is let through", i);
		assert_int_equal(r.class, LAB_FAULT);
		lab_result_done(&r);
	}
}

static int set_up(void **state)
{
	_cleanup_(freep) char *links = NULL;

	(void)state;
	assert_non_null(mkdtemp(scratch));
	(void)snprintf(key_file, sizeof(key_file), "%s/key", scratch);
	(void)snprintf(known_hosts, sizeof(known_hosts), "%s/known_hosts", scratch);
	(void)snprintf(dir, sizeof(dir), "%s/a dir", scratch);
	(void)snprintf(next_file, sizeof(next_file), "%s/next", scratch);
	(void)snprintf(bin, sizeof(bin), "%s/bin", scratch);
	write_text("key", "not a kernel, not a key\n");
	write_text("known_hosts", "");
	links = xasprintf("mkdir %s && ln -s " TEST_SOURCE_DIR "/tests/integration/lab/fake_ssh.sh "
			  "%s/ssh && ln -s " TEST_SOURCE_DIR
			  "/tests/integration/lab/fake_kexec.sh %s/kexec && "
			  "ln -s /bin/true %s/reboot && ln -s /bin/true %s/sync",
			  bin, bin, bin, bin, bin);
	sh(links);
	(void)snprintf(path, sizeof(path), "%s:%s", bin, getenv("PATH"));
	(void)setenv("PATH", path, 1);
	return setenv("FAKE_DIR", scratch, 1);
}

static int tear_down(void **state)
{
	_cleanup_(freep) char *remove = xasprintf("rm -rf %s", scratch);

	(void)state;
	sh(remove);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_a_job_without_a_boot),
		cmocka_unit_test(copies_again_what_is_damaged_there),
		cmocka_unit_test(keeps_the_latest_files_only),
		cmocka_unit_test(ends_what_a_cut_run_left),
		cmocka_unit_test(remembers_no_session_that_others_share),
		cmocka_unit_test(puts_every_misfortune_into_its_class),
		cmocka_unit_test(tells_that_the_console_was_silent),
		cmocka_unit_test(gives_the_kernel_the_own_command_line),
		cmocka_unit_test(one_boot_entry_that_was_not_taken_is_a_wrong_kernel),
		cmocka_unit_test(stops_when_asked_to),
		cmocka_unit_test(a_power_control_that_fails_is_to_blame),
		cmocka_unit_test(a_machine_that_does_not_answer_is_switched_off_and_on),
		cmocka_unit_test(refuses_settings_that_ssh_would_misread),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
