/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting the copies of one command. */
#pragma once

#include "runners/proto/message.h"

#include <sys/types.h>

/**
 * struct cmd - how a command is started; everything borrowed.
 * @argv: as in the job; @path, @applet: as programs_find() says.
 * @dir: working directory.
 * @env: "KEY=value" beside our environment, or NULL.
 * @out, @err: descriptors for its output.
 * @aslr: may addresses be random? @no_thp: no huge pages. @nofile: 0 leaves the limit.
 * @oom_default: give up our own protection from the OOM killer.
 */
struct cmd {
	char *const *argv;
	const char *path;
	bool applet;
	const char *dir;
	char *const *env;
	int out, err;
	bool aslr, no_thp, oom_default;
	unsigned nofile;
};

/**
 * cmd_start() - start @copies of it at the same time, in one new process group.
 * @pids: room for @copies; the first leads the group.
 * @ret_start_s: when they were let go.
 *
 * The programs are executed together after the last process was made. Where one cannot be, none is
 * left running.
 * Return: 0; ERR_LAB, ERR_NOENT and the like with a reason that names the program.
 */
int cmd_start(const struct cmd *c, unsigned copies, pid_t *pids, double *ret_start_s,
	      struct err *e);

/** cmd_pids_sort() - put @pids in ascending order. cmd_pids_find() - where @pid is then, or -1. */
void cmd_pids_sort(pid_t *pids, size_t n);
ssize_t cmd_pids_find(const pid_t *pids, size_t n, pid_t pid);
