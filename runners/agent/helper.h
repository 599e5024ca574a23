/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitors that are programs: perf stat, perf record, turbostat. */
#pragma once

#include "runners/agent/link.h"

#include <sys/types.h>

#define HELPERS_MAX 8

/**
 * struct helper - one of them.
 * @pid: -1 when it does not run. @fd: what it prints, -1 at the end.
 * @kept: is what it prints the recording? Else only its last line is looked at, for a reason.
 * @last: the last line of what it printed.
 * @fold: what it prints is summed up, and the sums are the recording.
 * @data: of perf record: the file that it writes, in a folder of its own; owned.
 */
struct helper {
	const char *name;
	pid_t pid;
	int fd, status;
	bool kept, ended, last_ended;
	unsigned stream;
	uint64_t sent;
	char last[200];
	size_t last_len;
	struct profile_fold *fold;
	char *path, *dir, *data;
};

/** struct helpers - those of a run. Caller-owned; helpers_init() before use. */
struct helpers {
	struct sink *sink;
	json_t *notes;
	struct helper list[HELPERS_MAX];
	size_t n;
};

/** helpers_init() - those of @job that are asked for. */
void helpers_init(struct helpers *h, const struct proto_job *job, struct sink *sink, json_t *notes);

/** helpers_start() - start them; what cannot be started gets a note. */
void helpers_start(struct helpers *h);

/** helpers_pump() - take what the one with descriptor @fd has printed. False: none has. */
bool helpers_pump(struct helpers *h, int fd);

/** helpers_reaped() - the child @pid has ended. Return: was it one of them? */
bool helpers_reaped(struct helpers *h, pid_t pid, int status);

/** helpers_stop() - end them, and make recordings of what they have written. Takes some seconds. */
void helpers_stop(struct helpers *h);

void helpers_done(struct helpers *h);
