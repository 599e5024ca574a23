/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a run share. */
#pragma once

#include "runners/agent/helper.h"
#include "runners/agent/record.h"
#include "runners/agent/run.h"
#include "runners/agent/usage.h"

/** struct stream - one output pipe. @number: 0 for the log of a phase that is not open yet. */
struct stream {
	int fd;
	unsigned number;
	uint64_t sent;
};

/** struct outcome - how a command ended, of its copies the first that ended badly. */
struct outcome {
	int exit_status, signal;
	bool timed_out;
	char *error;
};

/**
 * struct run - @pids, @npids, @done, @live: copies of the command that runs. @spare: what the set-up
 * left running for the run. @log: where both outputs of set-up or clean-up go.
 */
struct run {
	struct sink sink;
	struct run_env *env;
	const struct proto_job *job;
	struct proto_run_end end;
	struct stream streams[2], log;
	double deadline_s;
	struct usage usage;
	enum proto_phase phase;
	const char *dir;
	struct recorder recorder;
	struct helpers helpers;
	pid_t *pids, *spare, group;
	bool *done;
	size_t npids, live, nspare;
	struct outcome *outcome;
};

/** run_command() - run one command to its end. @o: how it ended. Return: did it end well? */
bool run_command(struct run *r, const struct proto_command *c, struct outcome *o);

/** run_kill_left() - end what is left, but not what the set-up or a monitor needs. How many? */
unsigned run_kill_left(struct run *r);
