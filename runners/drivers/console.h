/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a machine writes to its console: kept with a cap, and searched for signs of trouble. */
#pragma once

#include "bot/base/strbuf.h"
#include "runners/drivers/driver.h"

#include <stdbool.h>
#include <stddef.h>

/** CONSOLE_HEAD_MAX, CONSOLE_TAIL_MAX - bytes kept from the beginning and from the end. */
#define CONSOLE_HEAD_MAX (2u << 20)
#define CONSOLE_TAIL_MAX (2u << 20)

/** CONSOLE_LOOP_BOOTS - kernels that started without an agent: the machine boots in a loop. */
#define CONSOLE_LOOP_BOOTS 3

/** enum console_sign - what lines tell, from harmless to fatal. */
enum console_sign {
	CONSOLE_NONE,
	CONSOLE_NOTE,  /* a warning, a data race, undefined behaviour: to be told, nothing more */
	CONSOLE_NET,   /* the firmware found nothing to boot */
	CONSOLE_DISK,  /* a disk or a file system fails, or is full */
	CONSOLE_HANG,  /* lockup, stall, hung task: it may go on all the same */
	CONSOLE_OOM,   /* something was killed for memory */
	CONSOLE_OOPS,  /* oops, BUG, general protection fault */
	CONSOLE_PANIC, /* the kernel stopped */
	CONSOLE_SIGNS
};

/** CONSOLE_OPEN_MAX - callers whose cut message may yet go on. */
#define CONSOLE_OPEN_MAX 8

/**
 * struct console_open - a message that another one was written into.
 * @caller: "T12", "C3", or "" where the kernel does not tell; @text: of it so far, owned.
 */
struct console_open {
	char caller[12];
	char *text;
};

/**
 * struct console - a console so far. Caller-owned, zero-initialised.
 * @head, @tail: bytes kept; @tail holds up to twice its maximum.
 * @dropped: bytes left out between them.
 * @line: the current line, cut at a sane length for matching.
 * @lines: how many came before it.
 * @stamped: the kernel that speaks puts time stamps before its messages, so that text without one is
 *	somebody else's.
 * @boots: kernels that started.
 * @signs: the first message of each sign; NULL if there was none; owned.
 * @sign_line: the number of the line it was on.
 * @agent: the agent's last line; NULL if there was none; owned.
 */
struct console {
	struct strbuf head, tail;
	size_t dropped;
	struct strbuf line;
	size_t lines;
	bool stamped;
	unsigned boots;
	char *signs[CONSOLE_SIGNS];
	size_t sign_line[CONSOLE_SIGNS];
	char *agent;
	struct console_open open[CONSOLE_OPEN_MAX];
	unsigned nopen;
};

/** console_add() - the next bytes. Lines may be split anywhere, and need not end. */
void console_add(struct console *c, const void *data, size_t len);

/** console_forget() - another boot begins: signs and boots so far do not count. The text stays. */
void console_forget(struct console *c);

/** console_text() - all that was kept, with a line on what was not; free() it. */
char *console_text(const struct console *c, size_t *ret_len);

/**
 * console_line_sign() - what one line tells.
 * @line: may start with log level, time stamp and caller; without ANSI sequences.
 * @ret_text: if not NULL, where the message itself starts.
 */
enum console_sign console_line_sign(const char *line, const char **ret_text);

/**
 * console_class() - what the console alone says about a boot or a run that went wrong.
 * @up: the agent had spoken.
 * @ret_line: the message that tells, for a person; NULL with LAB_OK. Belongs to @c.
 *
 * For a machine that was lost: a sign of a hang or of a bad disk says nothing about one that works.
 */
enum lab_class console_class(const struct console *c, bool up, const char **ret_line);

void console_done(struct console *c);
