/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages inside the frames: each a struct, how it is written, and how it is read. Pure. */
#pragma once

#include "runners/proto/frame.h"

#include <jansson.h>

/** PROTO_COMMANDS_MAX, PROTO_ARGS_MAX - most commands in a job, and arguments in a command. */
#define PROTO_COMMANDS_MAX 256
#define PROTO_ARGS_MAX	   256

/** PROTO_STDOUT, PROTO_STDERR - the streams of an output message. */
#define PROTO_STDOUT 1
#define PROTO_STDERR 2

/**
 * struct proto_hello - who speaks, and on which machine.
 * @version: PROTO_VERSION of the agent.
 * @cpus: CPUs online, 1 or more.
 * @mem_total_bytes: from /proc/meminfo; @mem_available_bytes and @swap_total_bytes as well.
 * @release: `uname -r`.
 * @build_id: hex, from /sys/kernel/notes; NULL if the kernel shows none.
 * @boot_id: from /proc/sys/kernel/random/boot_id; NULL if the kernel shows none.
 * @nonce: value of kperfbot.nonce= on the kernel's command line; NULL if there is none.
 * @facts: object of whatever else the machine tells (governor, thp, smt, …); owned.
 *
 * Strings are owned; proto_hello_done() frees them.
 */
struct proto_hello {
	unsigned version;
	int cpus;
	uint64_t mem_total_bytes;
	uint64_t mem_available_bytes;
	uint64_t swap_total_bytes;
	char *release;
	char *build_id;
	char *boot_id;
	char *nonce;
	json_t *facts;
};

/** struct proto_command - one argument vector, NULL-terminated, @argv and its strings owned. */
struct proto_command {
	char **argv;
};

/**
 * struct proto_job - what the agent is to do.
 * @commands: run one after the other; together they are one run.
 * @runs: how often, 1 or more.
 * @deadline_s: for one run, seconds of the machine's own clock.
 * @output_max_bytes: cap of each stream of one run; what is above is dropped and said.
 * @thp: "never", "always", "madvise": written to transparent_hugepage/enabled; NULL leaves it.
 * @aslr: false: programs start with ADDR_NO_RANDOMIZE.
 */
struct proto_job {
	struct proto_command *commands;
	size_t ncommands;
	unsigned runs;
	double deadline_s;
	uint64_t output_max_bytes;
	char *thp;
	bool aslr;
};

/**
 * struct proto_run_end - how one run ended.
 * @run: number of the run, from 0.
 * @exit_status: of the last command that ran; -1 if it ended by a signal or never ran.
 * @signal: number of the signal that ended it, or 0.
 * @timed_out: the agent killed it at its deadline.
 * @truncated: output was above the cap.
 * @left_over: processes that outlived their run and were killed.
 * @wall_s: seconds from start to end.
 * @error: why a command could not be started; NULL when all could.
 * @rusage: object: utime_s, stime_s, maxrss_kib, minflt, majflt, nvcsw, nivcsw; owned.
 */
struct proto_run_end {
	unsigned run;
	int exit_status;
	int signal;
	bool timed_out;
	bool truncated;
	unsigned left_over;
	double wall_s;
	char *error;
	json_t *rusage;
};

/** struct proto_fault - what went wrong outside of a run. @stage: one word, @text: one line. */
struct proto_fault {
	char *stage;
	char *text;
};

/**
 * proto_*_add() - append the message as a frame to @out; nothing is appended on failure.
 * Return: 0; ERR_INVAL for text that is not UTF-8; ERR_TOO_BIG above the type's limit.
 */
int proto_hello_add(struct strbuf *out, const struct proto_hello *m, struct err *e);
int proto_job_add(struct strbuf *out, const struct proto_job *m, struct err *e);
int proto_run_start_add(struct strbuf *out, unsigned run, struct err *e);
int proto_run_end_add(struct strbuf *out, const struct proto_run_end *m, struct err *e);
int proto_fault_add(struct strbuf *out, const char *stage, const char *text, struct err *e);

/** proto_output_add() - append @len raw bytes of @stream as one or more output frames. */
void proto_output_add(struct strbuf *out, int stream, const void *data, size_t len);

/**
 * proto_*_parse() - read the payload of a frame of that type.
 * @ret: filled on success only; free it with the matching proto_*_done().
 * Return: 0; ERR_PARSE when it is not the JSON wanted, with the member's name; ERR_RANGE.
 */
int proto_hello_parse(const struct proto_frame *f, struct proto_hello *ret, struct err *e);
int proto_job_parse(const struct proto_frame *f, struct proto_job *ret, struct err *e);
int proto_run_start_parse(const struct proto_frame *f, unsigned *ret_run, struct err *e);
int proto_run_end_parse(const struct proto_frame *f, struct proto_run_end *ret, struct err *e);
int proto_fault_parse(const struct proto_frame *f, struct proto_fault *ret, struct err *e);

/** proto_output_parse() - @ret_data points into the frame. */
int proto_output_parse(const struct proto_frame *f, int *ret_stream, const unsigned char **ret_data,
		       size_t *ret_len, struct err *e);

void proto_hello_done(struct proto_hello *m);
void proto_job_done(struct proto_job *m);
void proto_run_end_done(struct proto_run_end *m);
void proto_fault_done(struct proto_fault *m);
