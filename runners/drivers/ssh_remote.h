/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One command on a machine, over ssh: how ssh is started, and what its failures mean. */
#pragma once

#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "runners/drivers/driver.h"

#include <stdbool.h>
#include <stddef.h>

/** struct ssh_args - words of a command line, NULL at the end; ssh_args_done() frees them. */
struct ssh_args {
	VEC(char *) argv;
};

/**
 * ssh_check() - can a machine be reached by these settings at all?
 * Host, user and paths come to stand among options of ssh: what could be taken for one is refused.
 * Return: 0; ERR_CONFIG with what is wrong or missing.
 */
int ssh_check(const struct lab_ssh *s, struct err *e);

/**
 * ssh_args_make() - ssh that runs @script by /bin/sh there.
 * @connect_s: time for the connection, seconds, 1 or more.
 * The script goes as one argument, so stdin stays free for data.
 */
void ssh_args_make(struct ssh_args *a, const struct lab_ssh *s, const char *script, int connect_s);
void ssh_args_done(struct ssh_args *a);

/** ssh_quote_add() - append @text as one word for a shell. */
void ssh_quote_add(struct strbuf *b, const char *text);

/**
 * ssh_failure_class() - what ssh itself (status 255) or a command there complained of.
 * @status: exit status of ssh. @said: its stderr, any bytes.
 * @ret_line: the line that tells; "" if none does; to be freed.
 *
 * Return: LAB_SSH where the machine answers and refuses, LAB_NET where nobody answers, LAB_DISK where
 * a disk is full, broken or read-only.
 */
enum lab_class ssh_failure_class(int status, const char *said, char **ret_line);

/** enum ssh_end - how a command ended; with SSH_EXITED there is a status. */
enum ssh_end {
	SSH_EXITED,
	SSH_LATE,
	SSH_STOPPED,
};

/**
 * struct ssh_answer - what came back; ssh_answer_done() frees it.
 * @status: exit status of the command there; 255: of ssh itself; 128 + signal.
 * @out, @said: stdout and stderr, at most 64 KiB each.
 */
struct ssh_answer {
	enum ssh_end end;
	int status;
	struct strbuf out, said;
};

/**
 * struct ssh_call - a command to run.
 * @stdin_fd: a file with its input; -1: none.
 * @deadline_s: seconds until it is killed.
 * @connect_s: as in ssh_args_make(); 0: 10.
 * @tick: called four times a second; true stops the command. @arg: for it.
 */
struct ssh_call {
	const struct lab_ssh *ssh;
	const char *script;
	int stdin_fd;
	double deadline_s;
	int connect_s;
	bool (*tick)(void *arg);
	void *arg;
};

/** ssh_call() - run it. Return: 0 however it ended; ERR_* if ssh could not be started here. */
int ssh_call(const struct ssh_call *c, struct ssh_answer *ret, struct err *e);
void ssh_answer_done(struct ssh_answer *a);

/** ssh_answer_word() - value of the first line "KEY VALUE" of @out, to be freed; NULL: none. */
char *ssh_answer_word(const struct ssh_answer *a, const char *key);
