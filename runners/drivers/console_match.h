/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How lines of a console are told apart. */
#pragma once

#include "runners/drivers/console.h"

/**
 * struct console_prefix - what the kernel puts before a message.
 * @stamped: there is a time. @time_s: it, in seconds since the kernel started.
 * @caller: "T12" or "C3", or "".
 */
struct console_prefix {
	bool stamped;
	double time_s;
	char caller[12];
};

/** console_prefix_skip() - the message behind level, time and caller at @s; they go to @ret. */
const char *console_prefix_skip(const char *s, struct console_prefix *ret);

/** console_stamp_find() - the next time stamp in @s that starts a message written into a line. */
const char *console_stamp_find(const char *s);

/** console_message_sign() - what a message without its prefix tells. */
enum console_sign console_message_sign(const char *text);

/** console_firmware_sign() - what a line tells if it is firmware's or a boot loader's. */
enum console_sign console_firmware_sign(const char *text);

/** console_is_restart() - does this line say that another kernel or the firmware comes next? */
bool console_is_restart(const char *text);

/** console_line_clean() - printable ASCII without escape sequences, fit for a log, page or mail. */
void console_line_clean(const char *in, size_t len, struct strbuf *out);
