/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Driver "ssh": a machine with a system of its own. One call reaches it, ends what an earlier run left
 * there, copies agent, workloads and kernel (by hash, if they are not there), starts the kernel, has
 * the agent of that boot do the job, and gets the machine back if the kernel did not bear it.
 *
 * After a good run the machine stays in the kernel that was measured: the next boot starts from
 * whatever runs, and takes the command line of the machine's own system from where the first one has
 * noted it. After a kernel that failed it goes back to its own system, by the reboot after a panic, by
 * ssh, or by its power control. Without a build id nothing is booted.
 */
#pragma once

#include "runners/drivers/console.h"
#include "runners/drivers/session.h"
#include "runners/drivers/ssh_script.h"

#include <stdbool.h>
#include <sys/types.h>

/** enum ssh_file_role - what a call needs there. */
enum ssh_file_role {
	SSH_FILE_AGENT,
	SSH_FILE_WORKLOADS,
	SSH_FILE_KERNEL,
	SSH_FILES
};

/**
 * struct ssh_machine - one call of the driver.
 * @console, @console_fd, @console_pid: of the machine; -1 if nobody reads it.
 * @log: what the agent and ssh say on stderr.
 * @boots: a kernel is to be started. @boot_id: what ran before it.
 * @new_boot_id: of a boot that was not ours, or NULL. @new_boots: how many there were.
 * @start_s: when it was told to start; @heard_s: the agent's last byte.
 */
struct ssh_machine {
	const struct lab_machine *m;
	const struct lab_request *q;
	struct lab_result *ret;
	struct session session;
	struct console console, log;
	int console_fd;
	pid_t console_pid;
	struct ssh_file files[SSH_FILES];
	bool boots;
	char *boot_id;
	char *new_boot_id;
	unsigned new_boots;
	double start_s, heard_s, panic_s;
};

/** enum ssh_try - how an attempt to have the agent work ended. */
enum ssh_try {
	SSH_TRY_DONE,	 /* the session is over, or the result has its class */
	SSH_TRY_OLD,	 /* still the boot from before */
	SSH_TRY_OTHER,	 /* a boot that is not ours; @said: which */
	SSH_TRY_NOBODY,	 /* no answer */
	SSH_TRY_REFUSED, /* an answer, and no login */
	SSH_TRY_LOST,	 /* the agent had spoken, and the line is gone */
};

/**
 * ssh_agent_try() - connect, and talk with the agent to the end.
 * @limit_s: when to give up as long as it has not spoken, on driver_now_s()'s clock.
 * @ret_status: of ssh; 255: its own failure. @ret_said: what there was on stderr; to be freed.
 */
int ssh_agent_try(struct ssh_machine *s, double limit_s, enum ssh_try *ret, int *ret_status,
		  char **ret_said, struct err *e);

/** ssh_console_open(), ssh_console_pump(), ssh_console_close() - what the machine writes there. */
int ssh_console_open(struct ssh_machine *s, struct err *e);
void ssh_console_pump(struct ssh_machine *s);
void ssh_console_close(struct ssh_machine *s);

/** ssh_tick() - for waits: read the console. Return: is it time to stop? */
bool ssh_tick(void *machine);

/** ssh_nap() - wait, but not for a wish to cancel or a panic. */
void ssh_nap(struct ssh_machine *s, double seconds);

/** ssh_restore() - get the machine back after a kernel that failed; the result may be told more. */
int ssh_restore(struct ssh_machine *s, struct err *e);

/**
 * ssh_wait_back() - until the machine answers with another boot than @not_boot_id.
 * Return: 0 and true in @ret if it does before @end_s.
 */
int ssh_wait_back(struct ssh_machine *s, const char *not_boot_id, double end_s, bool *ret,
		  struct err *e);

/** ssh_power_cycle() - count it, and blame what fails on the control. Return: 0; ERR_LEASE_LOST. */
int ssh_power_cycle(struct ssh_machine *s, bool *ret_done, struct err *e);
