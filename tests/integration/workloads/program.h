/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running kperfbot-workloads as a child. */
#pragma once

#include "bot/base/strbuf.h"

#include <sys/types.h>

#define WORKLOADS TEST_BIN_DIR "/kperfbot-workloads"

/** struct program - a child and what it printed. */
struct program {
	pid_t pid;
	int out_fd, err_fd;
	int status;
	struct strbuf out, err;
};

/**
 * program_start() - run kperfbot-workloads with the words of @line as argv, argv[0] included, so
 * that the first word says which workload is meant.
 * @cpu: the only CPU that it may use; -1: as this process.
 */
void program_start(struct program *p, const char *line, int cpu);

/** program_wait() - until it ended; then @out, @err and @status (of waitpid()) are there. */
void program_wait(struct program *p);
void program_done(struct program *p);

/** program_children() - pids of the children of @pid, at most @max; their number is returned. */
int program_children(pid_t pid, pid_t *ret, int max);

/** program_await_children() - wait until @pid has @n children, at most 10 s; fails the test else. */
void program_await_children(pid_t pid, pid_t *ret, int n);

/** matches() - does the extended regular expression match all of @text? */
int matches(const char *text, const char *regex);

/** count_lines() - lines of @text that match. */
size_t count_lines(const char *text, const char *regex);
