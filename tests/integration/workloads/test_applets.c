/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The helpers of kperfbot-workloads, and the options of usemem that no case takes. */
#include "bot/base/file.h"
#include "tests/integration/workloads/program.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[] = TEST_BIN_DIR "/../tests/applets.XXXXXX";

/* @out: extended regular expression for one line of the output, or NULL. */
static void expect(const char *line, int status, const char *out, const char *err)
{
	struct program p;

	program_start(&p, line, -1);
	program_wait(&p);
	if (!WIFEXITED(p.status) || WEXITSTATUS(p.status) != status)
		fail_msg("%s: wait status %d: %s", line, p.status, strbuf_str(&p.err));
	if ((out && count_lines(strbuf_str(&p.out), out) != 1) || !strstr(strbuf_str(&p.err), err))
		fail_msg("%s printed: %s%s", line, strbuf_str(&p.out), strbuf_str(&p.err));
	program_done(&p);
}

static off_t size_of(const char *path, blkcnt_t *ret_blocks)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	*ret_blocks = st.st_blocks;
	return st.st_size;
}

static void makes_and_removes_files(void **state)
{
	blkcnt_t blocks;

	(void)state;
	expect("make-file sparse 64m", 0, NULL, "");
	assert_int_equal(size_of("sparse", &blocks), 64 << 20);
	assert_true(blocks < 1024);
	expect("make-file full 1m --random", 0, NULL, "");
	assert_int_equal(size_of("full", &blocks), 1 << 20);
	expect("make-file full 4097 --zero", 0, NULL, "");
	assert_int_equal(size_of("full", &blocks), 4097);
	expect("make-folder a/b/c", 0, NULL, "");
	expect("make-folder a/b/c", 0, NULL, "");
	expect("make-file a/b/c 1m", 1, NULL, "a/b/c");
	expect("remove-files sparse full none", 0, NULL, "");
	assert_int_equal(size_of("full", &blocks), -1);
	expect("remove-files a", 1, NULL, "a: ");
}

static void wrong_arguments_are_told(void **state)
{
	static const char *const lines[] = { "case",
					     "case BIG",
					     "case a/b",
					     "make-file x",
					     "make-file x 1.5g",
					     "make-file x -1",
					     "make-file x 1m --full",
					     "make-file x 1m --random --zero",
					     "remove-files",
					     "mount-tmpfs d 0",
					     "mount-tmpfs d",
					     "unmount",
					     "need-disk .",
					     "set-sysctl vm.swappiness",
					     "set-sysctl /etc/passwd 1",
					     "set-sysctl ../../etc/passwd 1",
					     "set-sysctl --at-least vm.swappiness many",
					     "restore-sysctls",
					     "make-memcg ../x 1m",
					     "in-memcg name",
					     "read-file",
					     "read-file --runtime x f",
					     "read-file --readers 0 f",
					     "truncate-files 0 1m",
					     "truncate-files 1",
					     "remap-file f 1",
					     "migrate-pages 0 1",
					     "move-pages",
					     "ksm 0 1m 1",
					     "hugetlb 0",
					     "swapin 1 1m" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect(lines[i], 1, NULL, "usage: ");
	assert_int_not_equal(access("x", F_OK), 0);
}

static void a_case_is_marked_and_timed(void **state)
{
	(void)state;
	expect("case anon-w-seq", 0, "\\./case-anon-w-seq", "");
	expect("case mincore usemem -N -P 1m", 0, "case mincore took [1-9][0-9]* usecs", "");
	/* What fails has no time, and its reason is part of the output. */
	expect("case mincore usemem -N 1m", 1, "'-N' needs --prealloc|usemem: '-N' needs.*", "");
	expect("case x /nonexistent/program", 1, ".*cannot execute '/nonexistent/program'.*", "");
}

static void reads_like_dd(void **state)
{
	(void)state;
	expect("make-file file 10m", 0, NULL, "");
	expect("read-file file", 0,
	       "10485760 bytes \\(10 MB, 10 MiB\\) copied, [0-9.e-]+ s, [0-9.]+ [kMG]B/s", "");
	expect("read-file file", 0, "2560\\+0 records in", "");
	expect("read-file none", 1, NULL, "none");
	expect("remove-files file", 0, NULL, "");
}

static void needs_a_disk_with_room(void **state)
{
	(void)state;
	expect("need-disk . 1m", 0, NULL, "");
	expect("need-disk . 4194303t", 1, NULL, "MiB free");
	expect("need-disk /dev/shm 0", 1, NULL, "tmpfs");
	expect("need-disk none 0", 1, NULL, "none");
}

static void puts_back_what_was_noted(void **state)
{
	static const char text[] = "/proc/sys/vm/swappiness\n";
	struct err e = { 0 };

	(void)state;
	expect("restore-sysctls none", 0, NULL, "");
	assert_ok(file_write("notes", text, strlen(text), 0600, &e), &e);
	expect("restore-sysctls notes", 1, NULL, "line 1");
	assert_ok(file_write("notes", "/etc/passwd x\n", 14, 0600, &e), &e);
	expect("restore-sysctls notes", 1, NULL, "line 1");
	expect("remove-files notes", 0, NULL, "");
	/* At least 0: it is noted and stays as it is. */
	expect("set-sysctl --save notes --at-least vm.swappiness 0", 0, NULL, "");
	expect("restore-sysctls notes", 0, NULL, "");
	assert_int_not_equal(access("notes", F_OK), 0);
	expect("set-sysctl --save notes vm.no_such_value 1", 1, NULL, "no_such_value");
	assert_int_not_equal(access("notes", F_OK), 0);
}

static void refuses_what_this_machine_lacks(void **state)
{
	(void)state;
	if (access("/sys/devices/system/node/node1", F_OK) == 0)
		return;
	expect("migrate-pages 1m 1", 1, NULL, "needs 2 NUMA nodes");
	expect("move-pages 1m", 1, NULL, "needs 2 NUMA nodes");
}

static void swapin_times_one_read_of_each_process(void **state)
{
	struct program p;

	(void)state;
	program_start(&p, "swapin 2 1m 1m", -1);
	program_wait(&p);
	assert_int_equal(p.status, 0);
	assert_int_equal(
		count_lines(strbuf_str(&p.out), "1048576 bytes / [0-9]+ usecs = [0-9]+ KB/s"), 2);
	program_done(&p);
}

static void usemem_takes_the_newer_options(void **state)
{
	(void)state;
	expect("usemem -L 1m", 0, "1310720 bytes / .*", "");
	expect("usemem -m 7 -o 1m", 0, "1179648 bytes / .*", "");
	expect("usemem --memfd --punch-holes 1m", 0, "1179648 bytes / .*", "");
	expect("usemem --touch-alloc --madv-pageout -Z 1m", 0, "read again 1048576 bytes / .*", "");
	expect("usemem --show-addr 1m", 0, "mapped at 0x[0-9a-f]+ to 0x[0-9a-f]+", "");
	expect("usemem --first-access-speed -r 2 1m", 0, "first access 1048576 bytes / .*", "");
	expect("usemem --numa-cpu 0 --numa-memory 0 1m", 0, "1179648 bytes / .*", "");
	expect("usemem -D /etc/hostname", 0, "[0-9]+ usecs to free memory", "");
	expect("usemem -N -P 1m", 0, NULL, "");
	expect("usemem -R -j 1t 4m", 0, "524296 bytes / .*", "");
}

static void usemem_refuses_what_does_not_go_together(void **state)
{
	static const char *const lines[] = {
		"usemem -N 1m",
		"usemem --memfd -O 1m",
		"usemem --memfd -f x 1m",
		"usemem --numa-cpu -1 1m",
		"usemem --signal-read-count 0 1m",
		"usemem --signal-read-verify --readonly 1m",
		"usemem --write-signal-write --readonly 1m",
		"usemem -m x 1m",
		/* Long names that the original does not know. */
		"usemem --anonymous 1m",
		"usemem --sync-free 1m",
		"usemem --mincore 1m",
		"usemem --lock 1m",
		"usemem --advise /etc/hostname",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect(lines[i], 1, NULL, "usage: ");
	expect("usemem -D none", 1, NULL, "none");
	expect("usemem --numa-cpu 1000 1m", 1, NULL, "node 1000");
}

static void await_lines(const struct program *p, const char *regex, size_t n)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	char text[4096];

	for (int i = 0; i < 500; i++) {
		ssize_t len = pread(p->out_fd, text, sizeof(text) - 1, 0);

		text[len > 0 ? len : 0] = '\0';
		if (count_lines(text, regex) >= n)
			return;
		(void)nanosleep(&pause, NULL);
	}
	fail_msg("after 10 s: %s", text);
}

static void usemem_waits_for_a_signal(void **state)
{
	struct program p;
	pid_t task;

	(void)state;
	program_start(&p, "usemem -t 2 -W --signal-read-verify --signal-read-count 2 1m", -1);
	await_lines(&p, "Read Process [0-9]+ is waiting signal", 2);
	program_await_children(p.pid, &task, 1);
	assert_int_equal(kill(task, SIGUSR1), 0);
	program_wait(&p);
	assert_int_equal(p.status, 0);
	assert_int_equal(count_lines(strbuf_str(&p.out), "2097152 bytes / .*"), 2);
	program_done(&p);

	program_start(&p, "usemem --signal-loop --write-signal-write 1m", -1);
	await_lines(&p, "Write Process [0-9]+ is waiting signal", 1);
	program_await_children(p.pid, &task, 1);
	for (size_t i = 1; i <= 3; i++) {
		assert_int_equal(kill(task, SIGUSR1), 0);
		await_lines(&p, "Write Process [0-9]+ is waiting signal", i + 1);
	}
	assert_int_equal(kill(p.pid, SIGKILL), 0);
	program_wait(&p);
	assert_int_equal(count_lines(strbuf_str(&p.out), "1048576 bytes / .*"), 3);
	program_done(&p);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) && chdir(root) == 0 ? 0 : -1;
}

static int remove_root(void **state)
{
	struct err e = { 0 };

	(void)state;
	return file_remove_tree(root, &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_and_removes_files),
		cmocka_unit_test(wrong_arguments_are_told),
		cmocka_unit_test(a_case_is_marked_and_timed),
		cmocka_unit_test(reads_like_dd),
		cmocka_unit_test(needs_a_disk_with_room),
		cmocka_unit_test(puts_back_what_was_noted),
		cmocka_unit_test(refuses_what_this_machine_lacks),
		cmocka_unit_test(swapin_times_one_read_of_each_process),
		cmocka_unit_test(usemem_takes_the_newer_options),
		cmocka_unit_test(usemem_refuses_what_does_not_go_together),
		cmocka_unit_test(usemem_waits_for_a_signal),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
