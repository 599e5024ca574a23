/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Child processes: started close-on-exec in a process group of their own, killed with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct strbuf;

/**
 * struct child_opts - what to start.
 * @argv: NULL-terminated; @argv[0] is looked up in PATH; borrowed.
 * @env: NULL-terminated "K=V" list that is the whole environment; NULL inherits ours.
 * @cwd: folder, or NULL for ours.
 * @stdin_fd, @stdout_fd, @stderr_fd: descriptors to use; -1 is /dev/null. Borrowed.
 * @pass_fds, @pass_fds_n: further descriptors that stay open in the child under the same number.
 * @set_ids, @uid, @gid: run as this user (supplementary groups dropped); needs root.
 * @keep_group: stay in our process group (default: a new one).
 * @outlive: do not die with us (default: SIGKILL when our thread ends).
 * @limit_cpu_s, @limit_file_bytes: rlimits, 0 for none.
 */
struct child_opts {
	const char *const *argv;
	const char *const *env;
	const char *cwd;
	int stdin_fd, stdout_fd, stderr_fd;
	const int *pass_fds;
	size_t pass_fds_n;
	bool set_ids;
	uid_t uid;
	gid_t gid;
	bool keep_group;
	bool outlive;
	unsigned long limit_cpu_s;
	unsigned long limit_file_bytes;
};

#define CHILD_OPTS_INIT                                          \
	{                                                        \
		.stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 \
	}

/**
 * child_spawn() - fork and exec.
 * @ret_pid: the child; the caller waits for it.
 *
 * A program that cannot be executed is an error here, not an exit status 127 later.
 */
int child_spawn(const struct child_opts *opts, pid_t *ret_pid, struct err *e);

/** child_kill_group() - SIGKILL to the process group of @pid and reap @pid. Status or -1. */
int child_kill_group(pid_t pid);

/**
 * struct child_run_opts - limits for child_run().
 * @spawn: what to start; its stdout_fd and stderr_fd are used by child_run().
 * @total_s, @idle_s: seconds until the group is killed; 0 is no limit. Idle: without output.
 * @max_output: bytes of output kept (head and tail); more is counted, not kept. 0: 1 MiB.
 * @kill_over_output: kill the group when it writes more than this many bytes; 0: never.
 * @split_stderr: keep stderr apart from stdout.
 * @on_output: called with each piece of stdout; may be NULL.
 */
struct child_run_opts {
	struct child_opts spawn;
	double total_s, idle_s;
	size_t max_output;
	size_t kill_over_output;
	bool split_stderr;
	void (*on_output)(void *arg, const char *data, size_t len);
	void *arg;
};

enum child_end {
	CHILD_EXITED,
	CHILD_SIGNALLED,
	CHILD_TIMEOUT,
	CHILD_IDLE,
	CHILD_FLOOD
};

/**
 * struct child_result - how it ended; child_result_done() frees it.
 * @status: exit status, or signal number when signalled.
 * @out, @err: output, NUL-terminated; @err is empty unless split.
 * @out_total: bytes written in all; more than @out_len when output was left out in the middle.
 */
struct child_result {
	enum child_end end;
	int status;
	char *out;
	size_t out_len;
	size_t out_total;
	char *err;
	double took_s;
};

/**
 * child_run() - run to the end under limits, collecting output; kills the whole group at the end.
 * Return: 0 however the child ended; ERR_* only if it could not be started or waited for.
 */
int child_run(const struct child_run_opts *opts, struct child_result *ret, struct err *e);
void child_result_done(struct child_result *r);

/** child_end_text() - "exit status 2", "killed by signal 9", "no output for 120 s", … into @buf. */
const char *child_end_text(const struct child_result *r, char buf[64]);
