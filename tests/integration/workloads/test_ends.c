/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the bundled programs end: good, told to, or badly. */
#include "tests/integration/workloads/program.h"
#include "tests/test.h"

#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void expect_exit(const char *line, int status, const char *out, const char *err)
{
	struct program p;

	program_start(&p, line, -1);
	program_wait(&p);
	if (!WIFEXITED(p.status) || WEXITSTATUS(p.status) != status)
		fail_msg("%s: wait status %d", line, p.status);
	if (!strstr(strbuf_str(&p.out), out) || !strstr(strbuf_str(&p.err), err))
		fail_msg("%s printed: %s%s", line, strbuf_str(&p.out), strbuf_str(&p.err));
	program_done(&p);
}

static void wrong_usage_ends_with_1(void **state)
{
	(void)state;
	expect_exit("brk1_processes -x", 1, "usage: brk1_processes", "");
	expect_exit("brk1_processes stray", 1, "usage:", "");
	expect_exit("brk1_processes -h", 1, "usage:", "");
	expect_exit("brk1_processes -m -n", 1, "usage:", "");
	expect_exit("brk1_processes -t 0", 1, "usage:", "");
	expect_exit("brk1_processes -t 2x", 1, "usage:", "");
	expect_exit("brk1_processes -s -1", 1, "usage:", "");
	expect_exit("brk1_threads -t 2049", 1, "at most 2048", "");
	expect_exit("usemem", 1, "", "usage: usemem");
	expect_exit("usemem 1m 1m", 1, "", "usage: usemem");
	expect_exit("usemem 1.5g", 1, "", "'1.5g'");
	expect_exit("usemem -j 4 1m", 1, "", "'4'");
	expect_exit("usemem -U 1m", 1, "", "needs -O");
	expect_exit("usemem -y -u 1k 1m", 1, "", "--sync-rw");
	expect_exit("usemem -b 99999 1m", 1, "", "99999");
	expect_exit("kperfbot-workloads", 1, "", "usage: kperfbot-workloads");
	expect_exit("kperfbot-workloads brk9_processes", 1, "", "'brk9_processes'");
	expect_exit("brk1", 1, "", "usage: kperfbot-workloads");
}

static void names_its_suite_and_its_workloads(void **state)
{
	struct program p;

	(void)state;
	expect_exit("kperfbot-workloads --version", 0, "bundled:" KPERFBOT_VERSION "\n", "");
	expect_exit("page_fault1_threads --version", 0, "bundled:" KPERFBOT_VERSION "\n", "");
	expect_exit("kperfbot-workloads usemem --version", 0, "bundled:" KPERFBOT_VERSION "\n", "");
	program_start(&p, "kperfbot-workloads --list", -1);
	program_wait(&p);
	assert_int_equal(count_lines(strbuf_str(&p.out), "[a-z_0-9]+_(processes|threads)"), 120);
	assert_int_equal(count_lines(strbuf_str(&p.out), "usemem"), 1);
	program_done(&p);
}

static void a_dead_task_ends_the_run(void **state)
{
	pid_t tasks[2];
	struct program p;

	(void)state;
	program_start(&p, "getppid1_processes -t 2 -s 0", -1);
	program_await_children(p.pid, tasks, 2);
	assert_int_equal(kill(tasks[1], SIGKILL), 0);
	program_wait(&p);
	assert_true(WIFEXITED(p.status) && WEXITSTATUS(p.status) == 1);
	assert_non_null(strstr(strbuf_str(&p.err), "task 1 was killed by signal 9"));
	program_done(&p);
}

static void await_output(const struct program *p, off_t bytes)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct stat st;

	for (int i = 0; i < 500 && fstat(p->out_fd, &st) == 0 && st.st_size < bytes; i++)
		(void)nanosleep(&pause, NULL);
}

static void a_dead_helper_ends_the_run(void **state)
{
	pid_t tasks[2], helper;
	struct program p;

	(void)state;
	program_start(&p, "context_switch1_processes -t 2 -s 0", -1);
	program_await_children(p.pid, tasks, 2);
	program_await_children(tasks[1], &helper, 1);
	assert_int_equal(kill(helper, SIGKILL), 0);
	program_wait(&p);
	assert_true(WIFEXITED(p.status) && WEXITSTATUS(p.status) == 1);
	assert_non_null(strstr(strbuf_str(&p.err), "task 1 "));
	program_done(&p);
}

static void a_helper_says_nothing_about_the_end(void **state)
{
	struct program p[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		program_start(&p[i], "context_switch1_processes -t 8 -s 1", -1);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		program_wait(&p[i]);
		assert_int_equal(p[i].status, 0);
		assert_string_equal(strbuf_str(&p[i].err), "");
		program_done(&p[i]);
	}
}

static void many_threads_have_all_their_files(void **state)
{
	struct program p;
	pid_t none;

	(void)state;
	program_start(&p, "poll2_threads -t 16 -s 0", -1);
	/* A task that cannot open its files ends the run before the first line. */
	await_output(&p, 40);
	assert_int_equal(program_children(p.pid, &none, 1), 0);
	assert_int_equal(kill(p.pid, SIGTERM), 0);
	program_wait(&p);
	if (!WIFSIGNALED(p.status))
		fail_msg("poll2: wait status %d: %s", p.status, strbuf_str(&p.err));
	program_done(&p);
}

static void a_task_that_fails_ends_usemem_with_1(void **state)
{
	(void)state;
	expect_exit("usemem -n 2 4096t", 1, "", "mmap failed");
	expect_exit("usemem -n 2 -y 4096t", 1, "", "mmap failed");
	expect_exit("usemem -f /nonexistent/file 1m", 1, "", "/nonexistent/file");
}

/* This process takes in the orphans, so it sees them end. */
static void await_orphans(const pid_t *pids, int n)
{
	for (int i = 0; i < n; i++) {
		while (waitpid(pids[i], NULL, 0) < 0)
			assert_int_equal(errno, EINTR);
	}
}

static void no_task_outlives_a_killed_parent(void **state)
{
	pid_t tasks[2], helper;
	struct program p;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	program_start(&p, "context_switch1_processes -t 2 -s 0", -1);
	program_await_children(p.pid, tasks, 2);
	program_await_children(tasks[0], &helper, 1);
	assert_int_equal(kill(p.pid, SIGKILL), 0);
	program_wait(&p);
	await_orphans(tasks, 2);
	await_orphans(&helper, 1);
	program_done(&p);

	program_start(&p, "usemem -n 2 -s -1 1m", -1);
	program_await_children(p.pid, tasks, 2);
	assert_int_equal(kill(p.pid, SIGKILL), 0);
	program_wait(&p);
	await_orphans(tasks, 2);
	program_done(&p);
}

/* Files of the run whose parent is @pid cannot be told from others': count them all. */
static size_t files_left(void)
{
	glob_t g = { 0 };
	size_t n;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	if (glob("/tmp/willitscale.*", 0, NULL, &g) != 0)
		g.gl_pathc = 0;
	n = g.gl_pathc;
	globfree(&g);
	return n;
}

static void a_signal_ends_it_and_takes_the_files_away(void **state)
{
	static const char *const lines[] = { "open2_processes -t 2", "unlink1_threads -t 2",
					     "open1_threads -t 2", "page_fault3_processes -t 1" };
	size_t before = files_left();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct program p;

		program_start(&p, lines[i], -1);
		/* The title comes when all tasks are there. */
		await_output(&p, 10);
		assert_int_equal(kill(p.pid, SIGTERM), 0);
		program_wait(&p);
		if (!WIFSIGNALED(p.status) || WTERMSIG(p.status) != SIGTERM)
			fail_msg("%s: wait status %d: %s", lines[i], p.status, strbuf_str(&p.err));
		program_done(&p);
	}
	assert_int_equal(files_left(), before);
}

static void check_allowed(pid_t pid, int cpu)
{
	char path[64], line[256], want[64];
	bool found = false;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	(void)snprintf(want, sizeof(want), "Cpus_allowed_list:\t%d\n", cpu);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found |= !strcmp(line, want);
	(void)fclose(f);
	assert_true(found);
}

static void keeps_to_the_cpus_that_it_was_given(void **state)
{
	static const char *const pins[] = { "", " -m", " -n" };
	cpu_set_t set;
	int last = -1;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			last = cpu;
	for (size_t i = 0; i < ARRAY_SIZE(pins); i++) {
		_cleanup_(freep) char *line = xasprintf("getppid1_processes -t 2 -s 0%s", pins[i]);
		pid_t tasks[2];
		struct program p;

		program_start(&p, line, last);
		program_await_children(p.pid, tasks, 2);
		await_output(&p, 10);
		check_allowed(tasks[0], last);
		check_allowed(tasks[1], last);
		assert_int_equal(kill(p.pid, SIGTERM), 0);
		program_wait(&p);
		program_done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_usage_ends_with_1),
		cmocka_unit_test(names_its_suite_and_its_workloads),
		cmocka_unit_test(a_dead_task_ends_the_run),
		cmocka_unit_test(a_dead_helper_ends_the_run),
		cmocka_unit_test(a_helper_says_nothing_about_the_end),
		cmocka_unit_test(many_threads_have_all_their_files),
		cmocka_unit_test(a_task_that_fails_ends_usemem_with_1),
		cmocka_unit_test(no_task_outlives_a_killed_parent),
		cmocka_unit_test(a_signal_ends_it_and_takes_the_files_away),
		cmocka_unit_test(keeps_to_the_cpus_that_it_was_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
