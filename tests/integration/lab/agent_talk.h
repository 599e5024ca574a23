/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A driver's side of the protocol that hides nothing: for tests of the agent itself. */
#pragma once

#include "runners/proto/message.h"

#include <sys/types.h>

#define TALK_RUNS_MAX  8
#define TALK_FILES_MAX 80

/**
 * struct talk - a real agent, and all that it said. talk_start() before use.
 * @out, @err: of all runs. @names, @files: named streams of all runs.
 * @fault_stage, @fault_text: of the first fault, or NULL.
 */
struct talk {
	pid_t pid;
	int fd;
	struct proto_decoder decoder;
	struct proto_hello hello;
	struct proto_ready ready;
	struct proto_run_end ends[TALK_RUNS_MAX];
	size_t nruns, nended;
	struct strbuf out, err;
	char *names[TALK_FILES_MAX];
	struct strbuf files[TALK_FILES_MAX];
	unsigned streams[TALK_FILES_MAX];
	size_t nfiles;
	char *fault_stage, *fault_text;
	bool bye;
};

/** talk_start() - start an agent and take its hello. */
void talk_start(struct talk *t);

/** talk_send() - give it the job. */
void talk_send(struct talk *t, const struct proto_job *job);

/** talk_until_out() - take messages until stdout holds @text; fails the test at the end of the line. */
void talk_until_out(struct talk *t, const char *text);

/** talk_finish() - take messages until the end of the line, and the agent's exit status. */
int talk_finish(struct talk *t);

/** talk_job() - all of it. */
void talk_job(struct talk *t, const struct proto_job *job);

/** talk_file() - what the stream @name holds, NULL if there is none of that name. */
const struct strbuf *talk_file(const struct talk *t, const char *name);

void talk_done(struct talk *t);

/* argv[] of a job is never written to. */
#define ARG(s) ((char *)(uintptr_t)(s))

/** struct shell_job - a job of shell commands. */
struct shell_job {
	char *argv[6][4];
	struct proto_command commands[6];
	struct proto_job job;
};

/**
 * shell_job() - a job of the commands @scripts, NULL-terminated.
 * "setup: " and "cleanup: " in front say what they are. @scratch: what $SCRATCH is in them.
 */
void shell_job(struct shell_job *j, const char *scratch, const char *const *scripts);
