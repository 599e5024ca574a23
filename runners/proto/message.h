/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages inside the frames: each a struct, how it is written, and how it is read. Pure. */
#pragma once

#include "runners/proto/frame.h"

#include <jansson.h>

/** PROTO_COMMANDS_MAX, PROTO_ARGS_MAX - most commands in a job, and arguments in a command. */
#define PROTO_COMMANDS_MAX 256
#define PROTO_ARGS_MAX	   256

/** PROTO_STDOUT, PROTO_STDERR - the streams of an output message; PROTO_NAMED and up have names. */
#define PROTO_STDOUT	 1
#define PROTO_STDERR	 2
#define PROTO_NAMED	 3
#define PROTO_STREAM_MAX 66

/** PROTO_NAME_MAX - longest name of a stream: "monitor/vmstat", "file/metrics.yaml". */
#define PROTO_NAME_MAX 100

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

/** enum proto_phase - set-up and clean-up are outside of the measured time and of rusage. */
enum proto_phase {
	PROTO_PHASE_RUN,
	PROTO_PHASE_SETUP,
	PROTO_PHASE_CLEANUP, /* started however the run ended */
};

/**
 * struct proto_command - one argument vector, NULL-terminated, @argv and its strings owned.
 * @copies: started at the same time, 1 to 65536; "{i}" in an argument is the copy's number, from 0.
 */
struct proto_command {
	char **argv;
	enum proto_phase phase;
	unsigned copies;
};

/**
 * struct proto_job - what the agent is to do.
 * @commands: run one after the other; together they are one run.
 * @runs: how often, 1 or more.
 * @deadline_s: for one run, seconds of the machine's own clock.
 * @output_max_bytes: cap of each stream of one run; what is above is dropped and said.
 * @aslr: false: programs start with ADDR_NO_RANDOMIZE.
 * @owned: the machine's settings may be changed; they are restored before bye.
 * @settings: object of strings; "thp" (never, madvise, always), "governor", "smt" (on, off), "turbo"
 *	(on, off), "sysctl.NAME". Each is written, read back and told in the ready message; one that
 *	does not take ends the job with a fault of stage "setup".
 * @path: folder where programs without a slash are looked for first; NULL: the bundled ones only,
 *	then PATH.
 * @dir: working directory; NULL: an empty one for each run, removed after it.
 * @env, @keep, @identify, @monitors: NULL-terminated or NULL; "KEY=value"; files in the working
 *	directory to send as streams "file/NAME"; files to tell among the programs as "suite:NAME"; names
 *	of monitors to send as streams "monitor/NAME".
 * @monitor_interval_s: between samples.
 * @repeat_s, @repeat_max: as in struct suite_plan.
 * @nofile: RLIMIT_NOFILE to ask for; 0 leaves it.
 *
 * All strings and lists are owned.
 */
struct proto_job {
	struct proto_command *commands;
	size_t ncommands;
	unsigned runs;
	double deadline_s;
	uint64_t output_max_bytes;
	bool aslr;
	bool owned;
	json_t *settings;
	char *path, *dir;
	char **env, **keep, **identify, **monitors;
	double monitor_interval_s;
	double repeat_s;
	unsigned repeat_max, nofile;
};

/**
 * struct proto_ready - the machine is set up.
 * @settings: object: each setting of the job as it was read back.
 * @facts: object: as in the hello, taken again.
 */
struct proto_ready {
	json_t *settings;
	json_t *facts;
};

/** struct proto_stream - stream @stream (PROTO_NAMED to PROTO_STREAM_MAX) of the open run is @name. */
struct proto_stream {
	unsigned stream;
	char *name;
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
 * @rusage: object: utime_s, stime_s, maxrss_kib, minflt, majflt, nvcsw, nivcsw of the commands of
 *	the run's own phase; owned.
 * @run_s: seconds that the commands of the run's own phase took; within @wall_s.
 * @clock_jump_s: how far the wall clock moved against the monotonic one.
 * @taint: /proc/sys/kernel/tainted after the run; 0 when it cannot be read.
 * @programs: array of {"name", "path", "sha256"}: what was executed; owned.
 * @monitors: object: for each monitor asked "ok", or why there is nothing of it; owned.
 *	A file that was to be kept is in it as "file/NAME" where there is something to say of it; what
 *	begins with "cut " is incomplete.
 * @facts: object: facts that are not as in the ready message; owned.
 * @failed: which command it was that ended badly, "'mount' (set-up)"; NULL: none, or the only one.
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
	double run_s, clock_jump_s;
	uint64_t taint;
	json_t *programs, *monitors, *facts;
	char *failed;
};

/** struct proto_fault - what went wrong outside of a run. @stage: one word, @text: one line. */
struct proto_fault {
	char *stage;
	char *text;
};

/**
 * proto_*_add() - append the message as a frame to @out; nothing is appended on failure.
 * Return: 0; ERR_INVAL for text that is not UTF-8, and for what is no name of a stream; ERR_TOO_BIG
 * above the type's limit.
 */
int proto_hello_add(struct strbuf *out, const struct proto_hello *m, struct err *e);
int proto_job_add(struct strbuf *out, const struct proto_job *m, struct err *e);
int proto_ready_add(struct strbuf *out, const struct proto_ready *m, struct err *e);
int proto_run_start_add(struct strbuf *out, unsigned run, struct err *e);
int proto_stream_add(struct strbuf *out, unsigned stream, const char *name, struct err *e);
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
int proto_ready_parse(const struct proto_frame *f, struct proto_ready *ret, struct err *e);
int proto_run_start_parse(const struct proto_frame *f, unsigned *ret_run, struct err *e);
/** proto_stream_parse() - a name is "monitor/" or "file/" and letters, digits, '.', '_', '-'. */
int proto_stream_parse(const struct proto_frame *f, struct proto_stream *ret, struct err *e);
int proto_run_end_parse(const struct proto_frame *f, struct proto_run_end *ret, struct err *e);
int proto_fault_parse(const struct proto_frame *f, struct proto_fault *ret, struct err *e);

/** proto_output_parse() - @ret_data points into the frame. */
int proto_output_parse(const struct proto_frame *f, int *ret_stream, const unsigned char **ret_data,
		       size_t *ret_len, struct err *e);

void proto_hello_done(struct proto_hello *m);
void proto_job_done(struct proto_job *m);
void proto_ready_done(struct proto_ready *m);
void proto_stream_done(struct proto_stream *m);
void proto_run_end_done(struct proto_run_end *m);
void proto_fault_done(struct proto_fault *m);
