/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A driver's side of the talk with an agent: checks who speaks, sends the job, collects the runs. */
#pragma once

#include "runners/drivers/driver.h"
#include "runners/proto/message.h"

/** SESSION_RAW_MAX, SESSION_ERRORS_MAX - bytes of stdout and stderr kept of one run. */
#define SESSION_RAW_MAX	   ((size_t)16 << 20)
#define SESSION_ERRORS_MAX ((size_t)1 << 20)

/** SESSION_FILE_MAX, SESSION_FILES_MAX - bytes kept of one named stream, and of all of a boot. */
#define SESSION_FILE_MAX  ((size_t)64 << 20)
#define SESSION_FILES_MAX ((size_t)256 << 20)

/** SESSION_CLOCK_MAX_S - how far the wall clock may move against the monotonic one in a run. */
#define SESSION_CLOCK_MAX_S 1.0

/** struct session_file - a named stream of the open run. */
struct session_file {
	unsigned stream;
	char *name;
	struct strbuf data;
	bool truncated;
};

/**
 * struct session - one talk. Caller-owned; session_init() before use.
 * @proves_kernel: the agent must prove by build id and boot id which kernel runs.
 * @out: bytes to send to the agent, emptied by the caller.
 * @hello_seen: it has spoken. @ready: the machine is set up. @over: all is said, or it went wrong.
 *	@bye: it said farewell.
 * @run_s: after which the agent ends a run. @deadline_s: with what comes after it, clean-up and
 *	recordings: nothing of a run may take longer; both by the machine's clock, 0 before the job is
 *	sent.
 * @cpus, @tasks, @hang_ok: what the job was planned for.
 * @files, @files_len: named streams of the open run, and bytes of those of all runs so far.
 * @file_max, @files_max: SESSION_FILE_MAX, SESSION_FILES_MAX; less in tests.
 */
struct session {
	const struct lab_machine *machine;
	const struct lab_request *request;
	struct lab_result *result;
	bool proves_kernel;
	struct proto_decoder decoder;
	struct strbuf out;
	struct strbuf raw, errors;
	struct session_file *files;
	size_t nfiles, files_len, file_max, files_max;
	bool hello_seen, ready, over, bye, running;
	double run_s, deadline_s, hello_at_s;
	double run_began_s; /* by our clock */
	int cpus;
	unsigned tasks;
	bool hang_ok;
};

void session_init(struct session *s, const struct lab_machine *m, const struct lab_request *q,
		  struct lab_result *result, bool proves_kernel);

/**
 * session_add() - the next bytes from the agent.
 * What goes wrong on the machine is put into the result, and @s->over is then true.
 * Return: 0; an error only for what is our fault: a job that can be planned for no machine.
 */
int session_add(struct session *s, const void *data, size_t len, struct err *e);

/**
 * session_end() - the line is gone: close a run that never ended, with the result's class.
 * An agent that left without a word of farewell is LAB_AGENT, unless a class is set already.
 */
void session_end(struct session *s);

void session_done(struct session *s);

/**
 * session_job_send() - plan the job for the machine that said @h, and put it into @s->out.
 * Return: 0, also when the machine is too small, which ends the session with that class; an error
 * as for session_add().
 */
int session_job_send(struct session *s, const struct proto_hello *h, struct err *e);

/** session_fail() - the machine or its agent went wrong; the session is over. */
void session_fail(struct session *s, enum lab_class class, const char *why);

/** session_class_of() - LAB_DISK for a reason of the agent that is one of its disk, else LAB_AGENT. */
enum lab_class session_class_of(const char *why);

/** session_run_is() - messages that belong to a run, session_run_take() takes them. */
bool session_run_is(enum proto_type type);
void session_run_take(struct session *s, const struct proto_frame *f);

/** session_run_close() - hand over to the run that is open what came for it. */
void session_run_close(struct session *s);

/** result_blame() - set class and detail of a result, unless it has one. Takes no ownership. */
void result_blame(struct lab_result *r, enum lab_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
