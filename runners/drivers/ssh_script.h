/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the ssh driver has /bin/sh do on a machine. All of them free() the result. */
#pragma once

#include "runners/drivers/driver.h"

#include <stdbool.h>
#include <stddef.h>

/** SSH_KEPT_FILES - files of ours that stay on a machine, the latest used. */
#define SSH_KEPT_FILES 8

/** Exit statuses of the scripts, beside those of what they call. */
#define SSH_EXIT_DAMAGED 4  /* copy: what arrived is not what was sent */
#define SSH_EXIT_KEXEC	 5  /* boot: kexec refuses */
#define SSH_EXIT_COMMAND 6  /* boot: the operator's command failed */
#define SSH_EXIT_OLD	 75 /* agent: still the boot from before */
#define SSH_EXIT_OTHER	 76 /* agent: a new boot, but not the one that was asked for */

/** struct ssh_file - a file that has to be there. @hash: sha256, hex. */
struct ssh_file {
	char hash[65];
	size_t size_bytes;
};

/**
 * ssh_script_reach() - end what an earlier run left behind, tell who is there, and make room.
 * Prints lines: "boot_id ID", "release TEXT", "uid N", "have HASH" for each of @files that is there
 * unharmed, "free_kb N" and "need_kb N" for what is missing; "killed PID" for what was left.
 */
char *ssh_script_reach(const struct lab_ssh *s, const struct ssh_file *files, size_t n);

/** ssh_script_copy() - take a file from stdin; it is there whole or not at all. */
char *ssh_script_copy(const struct lab_ssh *s, const char *hash);

/**
 * ssh_script_boot() - start kernel @hash a second after the connection is closed.
 * @append: its command line, behind that of the machine's own system without what earlier runs added.
 */
char *ssh_script_boot(const struct lab_ssh *s, const char *hash, const char *append);

/**
 * ssh_script_agent() - become the agent.
 * @old_boot_id: the boot that it must not be; NULL: any boot, and the nonce is told to the agent.
 */
char *ssh_script_agent(const struct lab_ssh *s, const char *agent, const char *workloads,
		       const char *old_boot_id, const char *nonce);

/** ssh_script_probe() - prints "boot_id ID" and "nonce TEXT" of the boot that answers. */
char *ssh_script_probe(void);

/** ssh_script_reboot() - back to the machine's own system, a second later. */
char *ssh_script_reboot(void);
