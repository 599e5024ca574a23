/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a shell command under @o; the result is to be freed. */
static struct child_result sh(struct child_run_opts o, const char *cmd)
{
	const char *argv[] = { "sh", "-c", cmd, NULL };
	struct child_result res = { 0 };
	struct err e = { 0 };

	o.spawn.argv = argv;
	if (!o.total_s)
		o.total_s = 60;
	assert_ok(child_run(&o, &res, &e), &e);
	return res;
}

#define OPTS(...) ((struct child_run_opts){ .spawn = CHILD_OPTS_INIT, __VA_ARGS__ })

static void assert_text(const struct child_result *r, const char *want)
{
	char buf[64];

	assert_string_equal(child_end_text(r, buf), want);
}

static void exit_codes_and_output_come_back(void **state)
{
	static const int codes[] = { 0, 1, 127, 255 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		char cmd[64];
		struct child_result r;

		(void)snprintf(cmd, sizeof(cmd), "echo out; echo err >&2; exit %d", codes[i]);
		r = sh(OPTS(0), cmd);
		assert_int_equal(r.end, CHILD_EXITED);
		assert_int_equal(r.status, codes[i]);
		assert_string_equal(r.out, "out\nerr\n");
		assert_int_equal(r.out_len, 8);
		assert_int_equal(r.out_total, 8);
		assert_string_equal(r.err, "");
		child_result_done(&r);
	}
}

static void a_signal_is_told_from_an_exit(void **state)
{
	struct child_result r = sh(OPTS(0), "kill -SEGV $$");

	(void)state;
	assert_int_equal(r.end, CHILD_SIGNALLED);
	assert_int_equal(r.status, SIGSEGV);
	assert_text(&r, "killed by signal 11");
	child_result_done(&r);
	r = sh(OPTS(0), "kill -KILL $$");
	assert_int_equal(r.end, CHILD_SIGNALLED);
	assert_int_equal(r.status, SIGKILL);
	child_result_done(&r);
}

static void stderr_can_be_kept_apart(void **state)
{
	struct child_result r = sh(OPTS(.split_stderr = true), "echo out; echo err >&2; exit 3");

	(void)state;
	assert_string_equal(r.out, "out\n");
	assert_string_equal(r.err, "err\n");
	assert_text(&r, "exit status 3");
	child_result_done(&r);
}

static void a_child_that_takes_too_long_is_killed(void **state)
{
	struct child_result r = sh(OPTS(.total_s = 0.3), "while :; do echo x; sleep 0.05; done");

	(void)state;
	assert_int_equal(r.end, CHILD_TIMEOUT);
	assert_true(r.out_total > 0);
	child_result_done(&r);
	r = sh(OPTS(.total_s = 0.3), "trap '' TERM INT HUP; sleep 100");
	assert_int_equal(r.end, CHILD_TIMEOUT);
	child_result_done(&r);
}

static void a_silent_child_is_killed(void **state)
{
	struct child_result r = sh(OPTS(.idle_s = 0.3), "echo x; exec >/dev/null 2>&1; sleep 100");

	(void)state;
	assert_int_equal(r.end, CHILD_IDLE);
	assert_string_equal(r.out, "x\n");
	child_result_done(&r);
	r = sh(OPTS(.idle_s = 5), "for i in 1 2 3; do echo $i >&2; sleep 0.1; done");
	assert_int_equal(r.end, CHILD_EXITED);
	child_result_done(&r);
	r = sh(OPTS(.idle_s = 1e9, .total_s = 1e9), "exit 0");
	assert_int_equal(r.end, CHILD_EXITED);
	child_result_done(&r);
}

static void a_flood_is_stopped(void **state)
{
	struct child_result r = sh(OPTS(.kill_over_output = 100000), "yes");

	(void)state;
	assert_int_equal(r.end, CHILD_FLOOD);
	assert_true(r.out_total > 100000);
	assert_text(&r, "too much output");
	child_result_done(&r);
}

static void big_output_keeps_head_and_tail(void **state)
{
	struct child_result r = sh(OPTS(.max_output = 2000),
				   "echo first; yes middle | head -c 3000000; echo; echo last");

	(void)state;
	assert_int_equal(r.end, CHILD_EXITED);
	assert_int_equal(r.out_total, 6 + 3000000 + 1 + 5);
	assert_true(r.out_len < 2200);
	assert_int_equal(strncmp(r.out, "first\n", 6), 0);
	assert_string_equal(r.out + r.out_len - 5, "last\n");
	assert_non_null(strstr(r.out, "bytes left out"));
	child_result_done(&r);
	r = sh(OPTS(.max_output = 10), "printf 0123456789");
	assert_string_equal(r.out, "0123456789");
	child_result_done(&r);
	r = sh(OPTS(.max_output = 1), "printf 01234");
	assert_int_equal(r.out_total, 5);
	child_result_done(&r);
}

static void count_output(void *arg, const char *data, size_t len)
{
	(void)data;
	*(size_t *)arg += len;
}

static void output_is_given_piece_by_piece(void **state)
{
	size_t n = 0;
	struct child_result r = sh(OPTS(.on_output = count_output, .arg = &n, .max_output = 100),
				   "head -c 1000000 /dev/zero");

	(void)state;
	assert_int_equal(n, 1000000);
	assert_int_equal(r.out_total, 1000000);
	child_result_done(&r);
}

/* Gone, or a zombie that someone else has to reap. */
static bool is_dead(pid_t pid)
{
	char path[64];
	char line[256] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	(void)fclose(f);
	return !line[0] || strstr(line, ") Z ");
}

static void wait_dead(pid_t pid)
{
	for (int i = 0; i < 500 && !is_dead(pid); i++)
		(void)usleep(10000);
	assert_true(is_dead(pid));
}

static void grandchildren_go_with_the_group_and_do_not_hold_us_up(void **state)
{
	struct child_result r = sh(OPTS(0), "sleep 300 & echo $!; exit 0");

	(void)state;
	assert_int_equal(r.end, CHILD_EXITED);
	assert_int_equal(r.status, 0);
	assert_true(r.took_s < 30);
	wait_dead((pid_t)strtol(r.out, NULL, 10));
	child_result_done(&r);
	r = sh(OPTS(.total_s = 0.5), "sleep 300 & echo $!; sleep 300");
	assert_int_equal(r.end, CHILD_TIMEOUT);
	wait_dead((pid_t)strtol(r.out, NULL, 10));
	child_result_done(&r);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
	const char *argv[] = { "/nonexistent/program", NULL };
	struct child_run_opts o = OPTS(0);
	struct child_result r = { .status = 42 };
	struct err e = { 0 };
	pid_t pid = 7;

	(void)state;
	o.spawn.argv = argv;
	assert_err(child_run(&o, &r, &e), ERR_NOENT, &e);
	assert_non_null(strstr(e.msg, "/nonexistent/program"));
	assert_int_equal(r.status, 42);
	assert_err(child_spawn(&o.spawn, &pid, &e), ERR_NOENT, &e);
	assert_int_equal(pid, 7);
	argv[0] = "/etc/passwd";
	assert_err(child_run(&o, &r, &e), ERR_PERM, &e);
	argv[0] = "true";
	o.spawn.cwd = "/nonexistent";
	assert_err(child_run(&o, &r, &e), ERR_NOENT, &e);
	o.spawn.cwd = NULL;
	o.spawn.stdin_fd = 999;
	assert_true(child_run(&o, &r, &e) < 0);
	/* Nothing is left to wait for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void the_environment_is_exactly_what_was_given(void **state)
{
	const char *env[] = { "A=1", NULL };
	const char *argv[] = { "/usr/bin/env", NULL };
	struct child_run_opts o = OPTS(.total_s = 60);
	struct child_result r = { 0 };
	struct err e = { 0 };

	(void)state;
	(void)setenv("SECRET", "x", 1); /* NOLINT(concurrency-mt-unsafe) */
	o.spawn.argv = argv;
	o.spawn.env = env;
	assert_ok(child_run(&o, &r, &e), &e);
	assert_string_equal(r.out, "A=1\n");
	child_result_done(&r);
	env[0] = NULL;
	assert_ok(child_run(&o, &r, &e), &e);
	assert_string_equal(r.out, "");
	child_result_done(&r);
	o.spawn.env = NULL;
	assert_ok(child_run(&o, &r, &e), &e);
	assert_non_null(strstr(r.out, "SECRET=x"));
	child_result_done(&r);
}

static void descriptors_are_not_leaked(void **state)
{
	int leaky = open("/dev/zero", O_RDONLY); /* NOLINT(android-cloexec-open): on purpose */
	int passed = open("/dev/full", O_RDONLY | O_CLOEXEC);
	struct child_run_opts o = OPTS(.total_s = 60);
	struct child_result r;

	(void)state;
	r = sh(o, "ls -l /proc/$$/fd");
	assert_null(strstr(r.out, "/dev/zero"));
	assert_null(strstr(r.out, "/dev/full"));
	assert_non_null(strstr(r.out, "0 -> /dev/null"));
	child_result_done(&r);
	r = sh(o, "exec ls /proc/self/fd");
	assert_string_equal(r.out, "0\n1\n2\n3\n"); /* 3 is the folder that ls reads */
	child_result_done(&r);
	o.spawn.pass_fds = &passed;
	o.spawn.pass_fds_n = 1;
	r = sh(o, "ls -l /proc/$$/fd");
	assert_non_null(strstr(r.out, "/dev/full"));
	assert_null(strstr(r.out, "/dev/zero"));
	child_result_done(&r);
	(void)close(leaky);
	(void)close(passed);
}

static void our_own_descriptors_do_not_grow(void **state)
{
	int before = dup(0);
	int after;

	(void)state;
	(void)close(before);
	for (int i = 0; i < 20; i++) {
		struct child_result r = sh(OPTS(.split_stderr = i % 2), "exit 0");

		child_result_done(&r);
	}
	after = dup(0);
	(void)close(after);
	assert_int_equal(before, after);
}

static void signals_are_at_their_defaults_in_the_child(void **state)
{
	struct child_result r;
	sigset_t all;
	sigset_t old;

	(void)state;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &old); /* NOLINT(concurrency-mt-unsafe) */
	(void)signal(SIGPIPE, SIG_IGN);
	r = sh(OPTS(0), "grep -E 'Sig(Blk|Ign)' /proc/self/status");
	(void)sigprocmask(SIG_SETMASK, &old, NULL); /* NOLINT(concurrency-mt-unsafe) */
	assert_string_equal(r.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	child_result_done(&r);
}

static void the_user_is_changed_for_good(void **state)
{
	struct child_run_opts o = OPTS(.total_s = 60);
	struct child_result r = { 0 };

	(void)state;
	o.spawn.set_ids = true;
	o.spawn.uid = geteuid() == 0 ? 65534 : 0;
	o.spawn.gid = o.spawn.uid;
	if (geteuid() != 0) {
		const char *argv[] = { "true", NULL };
		struct err e = { 0 };

		o.spawn.argv = argv;
		assert_err(child_run(&o, &r, &e), ERR_PERM, &e);
		return;
	}
	r = sh(o, "grep -E '^(Uid|Gid|Groups)' /proc/self/status");
	assert_string_equal(r.out,
			    "Uid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n"
			    "Groups:\t \n");
	child_result_done(&r);
}

static void limits_reach_the_child(void **state)
{
	struct child_run_opts o = OPTS(.total_s = 60);
	struct child_result r;

	(void)state;
	o.spawn.limit_file_bytes = 1 << 20;
	o.spawn.limit_cpu_s = 5;
	o.spawn.cwd = "/";
	r = sh(o, "ulimit -f; ulimit -t; pwd");
	assert_string_equal(r.out, "2048\n5\n/\n");
	child_result_done(&r);
}

static void a_child_dies_with_its_parent_unless_it_may_outlive_it(void **state)
{
	for (int outlive = 0; outlive < 2; outlive++) {
		int p[2];
		pid_t grandchild = 0;
		pid_t pid;

		(void)state;
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		pid = fork();
		if (pid == 0) {
			const char *argv[] = { "sleep", "300", NULL };
			struct child_opts o = CHILD_OPTS_INIT;

			o.argv = argv;
			o.outlive = outlive;
			if (child_spawn(&o, &grandchild, NULL) == 0)
				(void)!write(p[1], &grandchild, sizeof(grandchild));
			_exit(0);
		}
		assert_int_equal(read(p[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		if (outlive) {
			assert_false(is_dead(grandchild));
			assert_int_equal(kill(grandchild, SIGKILL), 0);
		}
		wait_dead(grandchild);
		(void)close(p[0]);
		(void)close(p[1]);
	}
}

static void a_killed_group_gives_its_status(void **state)
{
	const char *argv[] = { "sleep", "300", NULL };
	struct child_opts o = CHILD_OPTS_INIT;
	struct err e = { 0 };
	pid_t pid;

	(void)state;
	o.argv = argv;
	assert_ok(child_spawn(&o, &pid, &e), &e);
	assert_int_equal(getpgid(pid), pid);
	assert_int_equal(WTERMSIG(child_kill_group(pid)), SIGKILL);
	o.keep_group = true;
	assert_ok(child_spawn(&o, &pid, &e), &e);
	assert_int_equal(getpgid(pid), getpgid(0));
	assert_int_equal(WTERMSIG(child_kill_group(pid)), SIGKILL);
}

static void a_closed_stdin_of_ours_does_not_confuse_the_child(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		const char *missing[] = { "/nonexistent/program", NULL };
		struct child_run_opts o = OPTS(.total_s = 60);
		struct child_result r;
		struct err e = { 0 };
		int bad = 0;

		(void)close(0);
		(void)close(1);
		(void)close(2);
		r = sh(o, "echo out; echo err >&2; read x || echo eof");
		bad |= strcmp(r.out, "out\nerr\neof\n") != 0;
		child_result_done(&r);
		o.spawn.argv = missing;
		bad |= child_run(&o, &r, &e) != ERR_NOENT ? 2 : 0;
		bad |= child_spawn(&o.spawn, &pid, &e) != ERR_NOENT ? 4 : 0;
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes_and_output_come_back),
		cmocka_unit_test(a_signal_is_told_from_an_exit),
		cmocka_unit_test(stderr_can_be_kept_apart),
		cmocka_unit_test(a_child_that_takes_too_long_is_killed),
		cmocka_unit_test(a_silent_child_is_killed),
		cmocka_unit_test(a_flood_is_stopped),
		cmocka_unit_test(big_output_keeps_head_and_tail),
		cmocka_unit_test(output_is_given_piece_by_piece),
		cmocka_unit_test(grandchildren_go_with_the_group_and_do_not_hold_us_up),
		cmocka_unit_test(a_program_that_is_not_there_is_an_error),
		cmocka_unit_test(the_environment_is_exactly_what_was_given),
		cmocka_unit_test(descriptors_are_not_leaked),
		cmocka_unit_test(our_own_descriptors_do_not_grow),
		cmocka_unit_test(signals_are_at_their_defaults_in_the_child),
		cmocka_unit_test(the_user_is_changed_for_good),
		cmocka_unit_test(limits_reach_the_child),
		cmocka_unit_test(a_child_dies_with_its_parent_unless_it_may_outlive_it),
		cmocka_unit_test(a_killed_group_gives_its_status),
		cmocka_unit_test(a_closed_stdin_of_ours_does_not_confuse_the_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
