/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of driver "netboot". */
#pragma once

#include "runners/drivers/console.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/session.h"

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct netboot - one boot.
 * @scripts_hello: how often the script had been asked for when the agent first spoke.
 * @away_s: since when the server cannot be asked, 0 when it can; @lost_s: how long it could not be so
 *	far: the machine had to wait too.
 * @console_due_s: when to start the command.
 */
struct netboot {
	const struct lab_machine *m;
	const struct lab_request *q;
	const struct lab_netboot *ops;
	struct lab_result *ret;
	struct session session;
	struct console console;
	enum console_sign trouble;
	char *append;
	char kernel[65], initrd[65];
	pid_t console_pid;
	int console_fd;
	double console_due_s;
	unsigned events, scripts_hello;
	bool offered, lost_lease;
	double start_s, on_s, script_s, heard_s, stop_at_s, away_s, lost_s;
};

/** netboot_is_cancelled() - does nobody want this boot any more? */
bool netboot_is_cancelled(const struct netboot *n);

/** netboot_scripts() - how often the machine has asked for its script. */
unsigned netboot_scripts(const struct netboot *n);

/** netboot_total_end_s() - when the boot is over, whatever happens. */
double netboot_total_end_s(const struct netboot *n);

/**
 * netboot_blame() - lost without a farewell: what the console tells is better than @class and @why,
 * where the time ran out.
 */
void netboot_blame(struct netboot *n, enum lab_class class, const char *why);

/**
 * netboot_limit_passed() - has a limit passed? Then the result says so. @ret_again: it never asked
 * for anything, so it may be the outlet or the firmware, and another power cycle is worth a try.
 */
bool netboot_limit_passed(struct netboot *n, bool *ret_again);

/**
 * netboot_trouble_blame() - runs that ended well on a kernel that was not: their numbers are worth
 * nothing.
 */
void netboot_trouble_blame(struct netboot *n);
