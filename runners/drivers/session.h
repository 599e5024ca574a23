/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A driver's side of the talk with an agent: checks who speaks, sends the job, collects the runs. */
#pragma once

#include "runners/drivers/driver.h"
#include "runners/proto/message.h"

/** SESSION_RAW_MAX, SESSION_ERRORS_MAX - bytes of stdout and stderr kept of one run. */
#define SESSION_RAW_MAX	   ((size_t)16 << 20)
#define SESSION_ERRORS_MAX ((size_t)1 << 20)

/**
 * struct session - one talk. Caller-owned; session_init() before use.
 * @proves_kernel: the agent must prove by build id and boot id which kernel runs.
 * @out: bytes to send to the agent, emptied by the caller.
 * @hello_seen: it has spoken. @over: all is said, or it went wrong. @bye: it said farewell.
 * @deadline_s: of one run, by the machine's clock; 0 before the job is sent.
 */
struct session {
	const struct lab_machine *machine;
	const struct lab_request *request;
	struct lab_result *result;
	bool proves_kernel;
	struct proto_decoder decoder;
	struct strbuf out;
	struct strbuf raw, errors;
	bool hello_seen, over, bye, running;
	double deadline_s;
};

void session_init(struct session *s, const struct lab_machine *m, const struct lab_request *q,
		  struct lab_result *result, bool proves_kernel);

/**
 * session_add() - the next bytes from the agent.
 * What goes wrong on the machine is put into the result, and @s->over is then true.
 * Return: 0; an error only for what is our fault: a job that cannot be planned for this machine.
 */
int session_add(struct session *s, const void *data, size_t len, struct err *e);

/**
 * session_end() - the line is gone: close a run that never ended, with the result's class.
 * An agent that left without a word of farewell is LAB_AGENT, unless a class is set already.
 */
void session_end(struct session *s);

void session_done(struct session *s);

/** result_blame() - set class and detail of a result, unless it has one. Takes no ownership. */
void result_blame(struct lab_result *r, enum lab_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
