/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel writes to its console: kept with a cap, and searched for signs of trouble. */
#pragma once

#include "bot/base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** CONSOLE_HEAD_MAX, CONSOLE_TAIL_MAX - bytes kept from the beginning and from the end. */
#define CONSOLE_HEAD_MAX (2u << 20)
#define CONSOLE_TAIL_MAX (2u << 20)

/** enum console_sign - what lines tell, from harmless to fatal. */
enum console_sign {
	CONSOLE_NONE,
	CONSOLE_HANG,  /* lockup, stall, hung task: it may go on all the same */
	CONSOLE_OOM,   /* something was killed for memory */
	CONSOLE_OOPS,  /* oops, BUG, general protection fault */
	CONSOLE_PANIC, /* the kernel stopped */
	CONSOLE_SIGNS
};

/**
 * struct console - a console so far. Caller-owned, zero-initialised.
 * @head, @tail: bytes kept; @tail holds up to twice its maximum.
 * @dropped: bytes left out between them.
 * @line: the current line, cut at a sane length for matching.
 * @line_sign: what the current line matched so far.
 * @signs: the first line of each sign; NULL if there was none; owned.
 * @agent: the agent's last line; NULL if there was none; owned.
 */
struct console {
	struct strbuf head, tail;
	size_t dropped;
	struct strbuf line;
	enum console_sign line_sign;
	char *signs[CONSOLE_SIGNS];
	char *agent;
};

/** console_add() - the next bytes. Lines may be split anywhere, and need not end. */
void console_add(struct console *c, const void *data, size_t len);

/** console_text() - all that was kept, with a line on what was not; free() it. */
char *console_text(const struct console *c, size_t *ret_len);

/**
 * console_line_sign() - what one line tells.
 * @line: may start with log level, time stamp and caller, and hold ANSI sequences.
 * @ret_text: if not NULL, where the message itself starts.
 */
enum console_sign console_line_sign(const char *line, const char **ret_text);

void console_done(struct console *c);
