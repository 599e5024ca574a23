/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outlet of a machine: commands that work, lie, fail and hang, and ipmitool against ipmi_sim that
 * starts and stops a QEMU guest.
 */
#include "bot/base/child.h"
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/driver.h"
#include "runners/drivers/power.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[64];
static char notes[4096];
static bool ours;

static bool still_ours(void *arg)
{
	assert_ptr_equal(arg, notes);
	return ours;
}

static void note(void *arg, const char *text)
{
	size_t n = strlen(notes);

	assert_ptr_equal(arg, notes);
	(void)snprintf(notes + n, sizeof(notes) - n, "%s\n", text);
}

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/kperfbot-power-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	notes[0] = '\0';
	ours = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	return file_remove_tree(dir, NULL);
}

static struct lab_power outlet(void)
{
	return (struct lab_power){
		.on = "echo on >state; date +on=%s.%N >>log",
		.off = "echo off >state; date +off=%s.%N >>log",
		.status = "cat state",
		.off_s = 0.01,
		.timeout_s = 1,
		.still_ours = still_ours,
		.note = note,
		.arg = notes,
	};
}

static char *slurp(const char *path)
{
	struct strbuf b = STRBUF_INIT;

	(void)file_read(path, 1 << 20, &b, NULL);
	return strbuf_take(&b);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(file_write(name, text, strlen(text), 0755, NULL), 0);
}

static void switches_and_reads_back(void **state)
{
	struct lab_power p = outlet();
	struct err e = { 0 };
	bool on = false;

	(void)state;
	assert_ok(power_set(&p, true, NULL, &e), &e);
	assert_ok(power_read(&p, &on, &e), &e);
	assert_true(on);
	assert_ok(power_set(&p, false, NULL, &e), &e);
	assert_ok(power_read(&p, &on, &e), &e);
	assert_false(on);
	assert_non_null(strstr(notes, "power on: begins\npower on: done"));
	assert_non_null(strstr(notes, "power off: begins\npower off: done"));
}

static void stays_off_as_long_as_asked(void **state)
{
	struct lab_power p = outlet();
	_cleanup_(freep) char *log = NULL;
	struct err e = { 0 };
	double off = 0, on = 0;

	(void)state;
	p.off_s = 0.5;
	assert_ok(power_cycle(&p, NULL, &e), &e);
	log = slurp("log");
	assert_non_null(strstr(log, "off="));
	assert_non_null(strstr(log, "on="));
	off = strtod(strstr(log, "off=") + 4, NULL);
	on = strtod(strstr(log, "\non=") + 4, NULL);
	assert_true(on - off >= 0.5);
}

static void refuses_a_status_of_neither_or_both(void **state)
{
	static const char *const words[] = { "echo", "echo maybe", "echo 'on or off'",
					     "echo onwards", "head -c 100000 /dev/zero" };
	struct lab_power p = outlet();
	bool on = false;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct err e = { 0 };

		p.status = words[i];
		assert_err(power_read(&p, &on, &e), ERR_LAB, &e);
		assert_non_null(strstr(e.msg, "neither on nor off"));
	}
	p.status = "echo 'Chassis Power is ON'";
	assert_ok(power_read(&p, &on, NULL), &(struct err){ 0 });
	assert_true(on);
}

static void says_what_a_failing_command_said_last(void **state)
{
	struct lab_power p = outlet();
	struct err e = { 0 };

	(void)state;
	put("state", "off\n");
	p.on = "echo first; echo 'the fuse is blown' >&2; exit 3";
	assert_err(power_set(&p, true, NULL, &e), ERR_LAB, &e);
	assert_non_null(strstr(e.msg, "the fuse is blown"));
	assert_non_null(strstr(e.msg, "3"));
	/* Tried twice. */
	assert_int_equal(count(notes, "power on: begins"), 2);
	assert_int_equal(count(notes, "power on: failed"), 2);
}

static void a_state_that_is_right_forgives_the_command(void **state)
{
	struct lab_power p = outlet();
	struct err e = { 0 };

	(void)state;
	put("state", "off\n");
	p.off = "echo 'not possible in this state'; exit 1";
	assert_ok(power_set(&p, false, NULL, &e), &e);
}

static void notices_an_off_that_does_not_switch_off(void **state)
{
	struct lab_power p = outlet();
	_cleanup_(freep) char *log = NULL;
	struct err e = { 0 };

	(void)state;
	put("state", "on\n");
	p.off = "echo off >>log";
	p.timeout_s = 0.6;
	assert_err(power_cycle(&p, NULL, &e), ERR_LAB, &e);
	assert_non_null(strstr(e.msg, "still on"));
	/* Two tries in each of two cycles, and the last word is off; never on. */
	log = slurp("log");
	assert_int_equal(count(log, "off"), 6);
	assert_int_equal(count(log, "on"), 0);
}

static void waits_for_a_slow_control(void **state)
{
	struct lab_power p = outlet();
	struct err e = { 0 };

	(void)state;
	put("state", "off\n");
	p.timeout_s = 20;
	/* Out of its process group before the command ends, or it would be killed with it. */
	p.on = "setsid sh -c 'touch begun; sleep 0.7; echo on >state' >/dev/null 2>&1 & "
	       "while [ ! -e begun ]; do sleep 0.01; done";
	assert_ok(power_set(&p, true, NULL, &e), &e);
	assert_int_equal(count(notes, "power on: begins"), 1);
}

static void kills_a_command_that_hangs_with_its_children(void **state)
{
	struct lab_power p = outlet();
	_cleanup_(freep) char *pid = NULL;
	struct err e = { 0 };

	(void)state;
	put("state", "off\n");
	p.timeout_s = 0.3;
	p.on = "sleep 1000 & echo $! >pid; echo waiting; wait";
	assert_err(power_set(&p, true, NULL, &e), ERR_LAB, &e);
	assert_non_null(strstr(e.msg, "waiting"));
	pid = slurp("pid");
	for (int i = 0; i < 200 && kill(atoi(pid), 0) == 0; i++)
		(void)usleep(10000);
	assert_int_equal(kill(atoi(pid), 0), -1);
}

static void without_a_status_the_command_is_believed(void **state)
{
	struct lab_power p = outlet();
	struct err e = { 0 };
	bool on;

	(void)state;
	p.status = NULL;
	assert_ok(power_cycle(&p, NULL, &e), &e);
	assert_err(power_read(&p, &on, &e), ERR_UNSUPPORTED, &e);
	p.on = "exit 1";
	assert_err(power_set(&p, true, NULL, &e), ERR_LAB, &e);
}

static void touches_nothing_that_is_no_longer_ours(void **state)
{
	struct lab_power p = outlet();
	struct err e = { 0 };

	(void)state;
	ours = false;
	assert_err(power_set(&p, false, NULL, &e), ERR_LEASE_LOST, &e);
	assert_err(power_cycle(&p, NULL, &e), ERR_LEASE_LOST, &e);
	assert_int_equal(access("log", F_OK), -1);
	assert_string_equal(notes, "");
}

static void a_wish_to_cancel_leaves_it_off(void **state)
{
	struct lab_power p = outlet();
	const volatile int cancel = 1;
	struct err e = { 0 };
	bool on = true;

	(void)state;
	p.off_s = 1000;
	assert_err(power_cycle(&p, &cancel, &e), ERR_CANCELLED, &e);
	assert_ok(power_read(&p, &on, &e), &e);
	assert_false(on);
}

static void says_what_is_missing(void **state)
{
	struct lab_power p = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_false(power_exists(&p));
	assert_ok(power_check(&p, &e), &e);
	p.on = "x";
	assert_true(power_exists(&p));
	assert_err(power_check(&p, &e), ERR_CONFIG, &e);
	p.off = "x";
	assert_ok(power_check(&p, &e), &e);
	p.ipmi_host = "h";
	assert_err(power_check(&p, &e), ERR_CONFIG, &e);
	p = (struct lab_power){ .ipmi_host = "h", .ipmi_user = "u" };
	assert_err(power_check(&p, &e), ERR_CONFIG, &e);
	p.ipmi_password_file = "f";
	assert_ok(power_check(&p, &e), &e);
	p = (struct lab_power){ .status = "x" };
	assert_err(power_check(&p, &e), ERR_CONFIG, &e);
}

/* ---- ipmitool and ipmi_sim ---- */

static int udp_port(int *ret_fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*ret_fd = fd;
	return ntohs(a.sin_port);
}

static char ipmi_host[64];

static struct lab_power ipmi(const char *password_file)
{
	return (struct lab_power){ .ipmi_host = ipmi_host,
				   .ipmi_user = "operator",
				   .ipmi_password_file = password_file,
				   .off_s = 0.01,
				   .timeout_s = 30 };
}

static void the_password_is_in_no_argument(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s:%s", dir, getenv("PATH"));
	_cleanup_(freep) char *before = xstrdup(getenv("PATH"));
	_cleanup_(freep) char *args = NULL;
	struct lab_power p = ipmi("secret-file");
	struct err e = { 0 };
	bool on = false;

	(void)state;
	(void)snprintf(ipmi_host, sizeof(ipmi_host), "192.0.2.7:1234");
	put("secret-file", "swordfish\n");
	put("ipmitool", "#!/bin/sh\necho \"$@\" >args; env >>args; echo Chassis Power is on\n");
	(void)setenv("PATH", path, 1);
	assert_ok(power_read(&p, &on, &e), &e);
	(void)setenv("PATH", before, 1);
	args = slurp("args");
	assert_non_null(strstr(args,
			       "-I lanplus -R 2 -H 192.0.2.7 -p 1234 -U operator -f secret-file "
			       "chassis power status"));
	assert_null(strstr(args, "swordfish"));
}

static void a_host_may_have_a_port_or_be_a_long_address(void **state)
{
	static const struct {
		const char *host, *want;
	} cases[] = {
		{ "bmc.example.org", "-H bmc.example.org -p 623 " },
		{ "bmc.example.org:624", "-H bmc.example.org -p 624 " },
		{ "2001:db8::7", "-H 2001:db8::7 -p 623 " },
		{ "[2001:db8::7]", "-H 2001:db8::7 -p 623 " },
		{ "[2001:db8::7]:624", "-H 2001:db8::7 -p 624 " },
	};
	_cleanup_(freep) char *path = xasprintf("%s:%s", dir, getenv("PATH"));
	_cleanup_(freep) char *before = xstrdup(getenv("PATH"));

	(void)state;
	put("ipmitool", "#!/bin/sh\necho \"$@\" >args; echo Chassis Power is on\n");
	(void)setenv("PATH", path, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *args = NULL;
		struct lab_power p = ipmi("secret-file");
		struct err e = { 0 };
		bool on = false;

		p.ipmi_host = cases[i].host;
		assert_ok(power_read(&p, &on, &e), &e);
		args = slurp("args");
		if (!strstr(args, cases[i].want))
			fail_msg("%s: %s", cases[i].host, args);
	}
	(void)setenv("PATH", before, 1);
}

static pid_t sim_start(void)
{
	_cleanup_(freep) char *lan = NULL;
	const char *argv[] = { "ipmi_sim", "-n", "-c", "lan.conf", "-f", "emu", "-s", "sim", NULL };
	struct child_opts opts = CHILD_OPTS_INIT;
	struct err e = { 0 };
	int fd, port = udp_port(&fd);
	pid_t pid;

	(void)close(fd);
	(void)snprintf(ipmi_host, sizeof(ipmi_host), "127.0.0.1:%d", port);
	lan = xasprintf(
		"name \"kperfbot\"\nset_working_mc 0x20\nstartlan 1\naddr 127.0.0.1 %d\n"
		"priv_limit admin\nallowed_auths_callback none md2 md5 straight\nallowed_auths_user none md2 md5 straight\n"
		"allowed_auths_operator none md2 md5 straight\nallowed_auths_admin none md2 md5 straight\n"
		"guid a123456789abcdefa123456789abcdef\nendlan\n"
		"chassis_control \"%s/chassis\"\n"
		"user 2 true \"operator\" \"swordfish\" admin 10 none md2 md5 straight\n",
		port, dir);
	put("lan.conf", lan);
	put("emu", "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\n"
		   "mc_enable 0x20\n");
	put("chassis",
	    "#!/bin/sh\n"
	    "cd \"$(dirname \"$0\")\"\n"
	    "pid=$(cat guest.pid 2>/dev/null)\n"
	    "case \"$1 $2 $3\" in\n"
	    "'get power '*) if kill -0 \"$pid\" 2>/dev/null; then echo power:1; else echo power:0; fi ;;\n"
	    "'set power 1') kill -0 \"$pid\" 2>/dev/null || qemu-system-x86_64 -accel tcg -m 64M "
	    "-display none -monitor none -serial none -daemonize -pidfile guest.pid ;;\n"
	    "'set power 0') kill -9 \"$pid\" 2>/dev/null; rm -f guest.pid ;;\n"
	    "*) exit 1 ;;\n"
	    "esac\nexit 0\n");
	put("right", "swordfish\n");
	put("wrong", "sturgeon\n");
	assert_int_equal(mkdir("sim", 0700), 0);
	opts.argv = argv;
	assert_ok(child_spawn(&opts, &pid, &e), &e);
	return pid;
}

/* The process number of the guest, 0 when it does not run. */
static pid_t guest(void)
{
	_cleanup_(freep) char *text = slurp("guest.pid");
	pid_t pid = atoi(text);

	return pid > 0 && kill(pid, 0) == 0 ? pid : 0;
}

static void ipmitool_switches_a_guest(void **state)
{
	pid_t sim = sim_start();
	struct lab_power p = ipmi("right");
	struct err e = { 0 };
	bool on = true;
	pid_t first;

	(void)state;
	assert_ok(power_read(&p, &on, &e), &e);
	assert_false(on);
	assert_ok(power_set(&p, true, NULL, &e), &e);
	first = guest();
	assert_true(first > 0);
	assert_ok(power_cycle(&p, NULL, &e), &e);
	assert_true(guest() > 0);
	assert_int_not_equal(guest(), first);
	assert_ok(power_set(&p, false, NULL, &e), &e);
	assert_int_equal(guest(), 0);
	assert_ok(power_read(&p, &on, &e), &e);
	assert_false(on);
	p.ipmi_password_file = "wrong";
	assert_err(power_read(&p, &on, &e), ERR_LAB, &e);
	assert_non_null(strstr(e.msg, "Unable to establish"));
	p.ipmi_password_file = "nowhere";
	assert_err(power_read(&p, &on, &e), ERR_LAB, &e);
	(void)child_kill_group(sim);
}

static void gives_up_on_a_silent_host(void **state)
{
	struct lab_power p = ipmi("right");
	struct err e = { 0 };
	int fd, port = udp_port(&fd);

	(void)state;
	put("right", "swordfish\n");
	(void)snprintf(ipmi_host, sizeof(ipmi_host), "127.0.0.1:%d", port);
	p.timeout_s = 1;
	assert_err(power_set(&p, true, NULL, &e), ERR_LAB, &e);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	(void)close(fd);
}

#define outlet_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		outlet_test(switches_and_reads_back),
		outlet_test(stays_off_as_long_as_asked),
		outlet_test(refuses_a_status_of_neither_or_both),
		outlet_test(says_what_a_failing_command_said_last),
		outlet_test(a_state_that_is_right_forgives_the_command),
		outlet_test(notices_an_off_that_does_not_switch_off),
		outlet_test(waits_for_a_slow_control),
		outlet_test(kills_a_command_that_hangs_with_its_children),
		outlet_test(without_a_status_the_command_is_believed),
		outlet_test(touches_nothing_that_is_no_longer_ours),
		outlet_test(a_wish_to_cancel_leaves_it_off),
		outlet_test(says_what_is_missing),
		outlet_test(the_password_is_in_no_argument),
		outlet_test(a_host_may_have_a_port_or_be_a_long_address),
		outlet_test(ipmitool_switches_a_guest),
		outlet_test(gives_up_on_a_silent_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
