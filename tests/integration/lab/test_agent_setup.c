/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the real agent sets a machine up and puts it back, whatever happens to it in between. Needs
 * root. fs.lease-break-time counts for leases that somebody breaks: here nobody does.
 */
#include "bot/base/file.h"
#include "tests/integration/lab/agent_talk.h"
#include "tests/test.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LEASE	     "/proc/sys/fs/lease-break-time"
#define RESTORE_FILE "/run/kperfbot-agent.restore"
#define OURS	     "37"

static char scratch[] = "/tmp/kperfbot-setup-test-XXXXXX";
static char *lease_before;

static char *lease_now(void)
{
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(file_read(LEASE, 100, &b, &e), &e);
	b.s[strcspn(b.s, "\n")] = '\0';
	return strbuf_take(&b);
}

static void assert_lease_is(const char *want)
{
	_cleanup_(freep) char *now = lease_now();

	assert_string_equal(now, want);
}

/* A job that prints the setting, and lasts. */
static void lease_job(struct shell_job *j, const char *value, bool owned)
{
	const char *const scripts[] = { "cat " LEASE "; sleep 1000", NULL };

	shell_job(j, scratch, scripts);
	j->job.settings = json_pack("{ss}", "sysctl.fs.lease-break-time", value);
	j->job.owned = owned;
}

/* The job's run has begun. */
static void lease_talk(struct talk *t, struct shell_job *j)
{
	talk_start(t);
	talk_send(t, &j->job);
	talk_until_out(t, OURS "\n");
	json_decref(j->job.settings);
}

static void sets_reads_back_and_restores(void **state)
{
	const char *const scripts[] = { "cat " LEASE, NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.settings = json_pack("{ss}", "sysctl.fs.lease-break-time", OURS);
	j.job.owned = true;
	talk_job(&t, &j.job);
	json_decref(j.job.settings);
	assert_string_equal(strbuf_str(&t.out), OURS "\n");
	assert_string_equal(
		json_string_value(json_object_get(t.ready.settings, "sysctl.fs.lease-break-time")),
		OURS);
	assert_true(t.bye);
	assert_null(t.fault_text);
	assert_lease_is(lease_before);
	assert_int_equal(access(RESTORE_FILE, F_OK), -1);
	talk_done(&t);
}

static void a_machine_that_is_not_ours_stays_as_it_is(void **state)
{
	struct shell_job j;
	struct talk t;

	(void)state;
	lease_job(&j, OURS, false);
	talk_job(&t, &j.job);
	json_decref(j.job.settings);
	assert_string_equal(t.fault_stage, "setup");
	assert_non_null(strstr(t.fault_text, "not ours to change"));
	assert_non_null(strstr(t.fault_text, "fs.lease-break-time '" OURS "'"));
	assert_int_equal(t.nruns, 0);
	assert_true(t.bye);
	assert_lease_is(lease_before);
	talk_done(&t);
}

static void what_already_is_so_needs_no_leave(void **state)
{
	const char *const scripts[] = { "echo ran", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.settings = json_pack("{ss}", "sysctl.fs.lease-break-time", lease_before);
	talk_job(&t, &j.job);
	json_decref(j.job.settings);
	assert_string_equal(strbuf_str(&t.out), "ran\n");
	talk_done(&t);
}

static void no_huge_pages_for_the_job_alone_need_no_leave(void **state)
{
	const char *const scripts[] = { "grep THP_enabled /proc/self/status", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.settings = json_pack("{ss}", "thp", "never");
	talk_job(&t, &j.job);
	json_decref(j.job.settings);
	assert_null(t.fault_text);
	assert_string_equal(strbuf_str(&t.out), "THP_enabled:\t0\n");
	talk_done(&t);
}

static void says_what_cannot_be_set_and_takes_back_the_rest(void **state)
{
	static const char *const bad[][3] = {
		{ "sysctl.fs.no-such-thing", "1", "cannot be read" },
		{ "sysctl.fs.lease-break-time", "many", "cannot set" },
		{ "sysctl.kernel.ostype", "Hurd", "" },
		{ "sysctl...etc.passwd", "x", "no name of a sysctl" },
		{ "governor", "no-such-governor", "" },
		{ "colour", "red", "no setting 'colour'" },
	};
	const char *const scripts[] = { "echo ran", NULL };
	struct shell_job j;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct talk t;

		shell_job(&j, scratch, scripts);
		j.job.owned = true;
		j.job.settings = json_pack("{ss}", "sysctl.fs.lease-break-time", OURS);
		(void)json_object_set_new(j.job.settings, bad[i][0], json_string(bad[i][1]));
		talk_job(&t, &j.job);
		json_decref(j.job.settings);
		assert_string_equal(t.fault_stage, "setup");
		assert_non_null(strstr(t.fault_text, bad[i][2]));
		assert_int_equal(t.nruns, 0);
		assert_lease_is(lease_before);
		talk_done(&t);
	}
}

static void restores_when_the_driver_goes_away(void **state)
{
	struct shell_job j;
	struct talk t;

	(void)state;
	lease_job(&j, OURS, true);
	lease_talk(&t, &j);
	(void)close(t.fd);
	t.fd = -1;
	(void)talk_finish(&t);
	assert_lease_is(lease_before);
	talk_done(&t);
}

static void restores_when_it_is_told_to_stop(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct shell_job j;
		struct talk t;

		lease_job(&j, OURS, true);
		lease_talk(&t, &j);
		(void)kill(t.pid, signals[i]);
		assert_true(WIFEXITED(talk_finish(&t)));
		assert_string_equal(t.fault_stage, "run");
		assert_non_null(strstr(t.fault_text, "told to stop by signal"));
		assert_lease_is(lease_before);
		talk_done(&t);
	}
}

/* The process that serves is the child of the one that was started. */
static pid_t server_of(pid_t guard)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/task/%d/children", guard, guard);
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };
	pid_t pid;

	assert_ok(file_read(path, 1000, &b, &e), &e);
	pid = (pid_t)strtol(strbuf_str(&b), NULL, 10);
	strbuf_done(&b);
	assert_true(pid > 1);
	return pid;
}

static void restores_what_a_killed_one_left(void **state)
{
	struct shell_job j;
	struct talk t;

	(void)state;
	lease_job(&j, OURS, true);
	lease_talk(&t, &j);
	(void)kill(server_of(t.pid), SIGKILL);
	(void)talk_finish(&t);
	assert_string_equal(t.fault_stage, "agent");
	assert_non_null(strstr(t.fault_text, "died of signal 9"));
	assert_true(t.bye);
	assert_lease_is(lease_before);
	talk_done(&t);
}

static void the_next_agent_restores_what_two_killed_ones_left(void **state)
{
	struct shell_job j;
	struct talk t;
	pid_t server;

	(void)state;
	lease_job(&j, OURS, true);
	lease_talk(&t, &j);
	server = server_of(t.pid);
	(void)kill(server, SIGSTOP);
	(void)kill(t.pid, SIGKILL);
	(void)kill(server, SIGKILL);
	(void)talk_finish(&t);
	talk_done(&t);
	assert_lease_is(OURS);
	talk_start(&t);
	assert_lease_is(lease_before);
	assert_int_equal(access(RESTORE_FILE, F_OK), -1);
	(void)close(t.fd);
	t.fd = -1;
	talk_done(&t);
}

static void two_agents_do_not_change_one_machine(void **state)
{
	struct shell_job j;
	struct talk first, second;

	(void)state;
	lease_job(&j, OURS, true);
	lease_talk(&first, &j);
	lease_job(&j, "38", true);
	talk_job(&second, &j.job);
	json_decref(j.job.settings);
	assert_non_null(strstr(second.fault_text, "another agent has changed settings"));
	talk_done(&second);
	assert_lease_is(OURS);
	(void)kill(first.pid, SIGTERM);
	talk_done(&first);
	assert_lease_is(lease_before);
}

#define CPU_DIR "/sys/devices/system/cpu"

static void cpu_file(const char *name, const char *text)
{
	_cleanup_(freep) char *path = xasprintf(CPU_DIR "/%s", name);
	_cleanup_(freep) char *dir = xstrdup(path);
	_cleanup_(fclosep) FILE *f = NULL;
	struct err e = { 0 };

	*strrchr(dir, '/') = '\0';
	assert_ok(file_mkdirs(dir, 0755, &e), &e);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static void assert_cpu_file_is(const char *name, const char *want)
{
	_cleanup_(freep) char *path = xasprintf(CPU_DIR "/%s", name);
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(file_read(path, 100, &b, &e), &e);
	b.s[strcspn(b.s, "\n")] = '\0';
	assert_string_equal(b.s, want);
	strbuf_done(&b);
}

/* A machine with four CPUs that can be switched, in a mount namespace of this test's own. */
static void fake_cpus(void)
{
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount("none", CPU_DIR, "tmpfs", 0, NULL), 0);
	for (int i = 0; i < 4; i++) {
		_cleanup_(freep) char *governor = xasprintf("cpu%d/cpufreq/scaling_governor", i);
		_cleanup_(freep) char *siblings =
			xasprintf("cpu%d/topology/thread_siblings_list", i);

		cpu_file(governor, i == 3 ? "ondemand\n" : "powersave\n");
		cpu_file(siblings, i < 2 ? "0-1\n" : "2-3\n");
	}
	cpu_file("present", "0-3\n");
	cpu_file("smt/control", "on\n");
	cpu_file("intel_pstate/no_turbo", "0\n");
}

static void switches_all_processors(void **state)
{
	const char *const scripts[] = { "cd " CPU_DIR "; cat cpu*/cpufreq/scaling_governor "
					"smt/control intel_pstate/no_turbo | tr '\\n' ' '",
					NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	fake_cpus();
	shell_job(&j, scratch, scripts);
	j.job.owned = true;
	j.job.settings =
		json_pack("{ss ss ss}", "turbo", "off", "governor", "performance", "smt", "off");
	talk_job(&t, &j.job);
	/* Files without the kernel behind them keep no line ends. */
	assert_string_equal(strbuf_str(&t.out), "performanceperformanceperformanceperformanceoff1");
	assert_string_equal(json_string_value(json_object_get(t.ready.facts, "governor")),
			    "performance");
	assert_string_equal(json_string_value(json_object_get(t.hello.facts, "governor")),
			    "powersave, ondemand");
	assert_int_equal(json_integer_value(json_object_get(t.hello.facts, "cores")), 2);
	assert_int_equal(json_integer_value(json_object_get(t.hello.facts, "cpus_present")), 4);
	talk_done(&t);
	assert_cpu_file_is("cpu0/cpufreq/scaling_governor", "powersave");
	assert_cpu_file_is("cpu3/cpufreq/scaling_governor", "ondemand");
	assert_cpu_file_is("smt/control", "on");
	assert_cpu_file_is("intel_pstate/no_turbo", "0");
	/* One that cannot be switched: what was is put back. */
	assert_int_equal(unlink(CPU_DIR "/cpu2/cpufreq/scaling_governor"), 0);
	(void)json_object_set_new(j.job.settings, "governor", json_string("schedutil"));
	assert_int_equal(symlink("../../present", CPU_DIR "/cpu2/cpufreq/scaling_governor"), 0);
	talk_job(&t, &j.job);
	json_decref(j.job.settings);
	assert_string_equal(t.fault_stage, "setup");
	assert_non_null(strstr(t.fault_text, "cannot set governor 'schedutil'"));
	assert_int_equal(t.nruns, 0);
	talk_done(&t);
	assert_cpu_file_is("cpu0/cpufreq/scaling_governor", "powersave");
	assert_cpu_file_is("smt/control", "on");
}

static int before(void **state)
{
	(void)state;
	lease_before = lease_now();
	/* What killed agents leave goes with it. */
	return mkdtemp(scratch) && setenv("TMPDIR", scratch, 1) == 0 &&
			       strcmp(lease_before, OURS) != 0
		       ? 0
		       : -1;
}

/* Also after a test that failed in between. */
static int after(void **state)
{
	_cleanup_(fclosep) FILE *f = fopen(LEASE, "we");

	(void)state;
	if (f)
		(void)fputs(lease_before, f);
	(void)unlink(RESTORE_FILE);
	free(lease_before);
	return file_remove_tree(scratch, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_reads_back_and_restores),
		cmocka_unit_test(a_machine_that_is_not_ours_stays_as_it_is),
		cmocka_unit_test(what_already_is_so_needs_no_leave),
		cmocka_unit_test(no_huge_pages_for_the_job_alone_need_no_leave),
		cmocka_unit_test(says_what_cannot_be_set_and_takes_back_the_rest),
		cmocka_unit_test(restores_when_the_driver_goes_away),
		cmocka_unit_test(restores_when_it_is_told_to_stop),
		cmocka_unit_test(restores_what_a_killed_one_left),
		cmocka_unit_test(the_next_agent_restores_what_two_killed_ones_left),
		cmocka_unit_test(two_agents_do_not_change_one_machine),
		/* The last one: its namespace stays. */
		cmocka_unit_test(switches_all_processors),
	};

	return cmocka_run_group_tests(tests, before, after);
}
