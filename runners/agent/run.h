/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: set-up, commands, clean-up under a deadline, with all output sent on. */
#pragma once

#include "runners/agent/link.h"
#include "runners/agent/programs.h"

/**
 * struct run_env - how commands are started.
 * @programs: what is known of programs.
 * @no_thp: switch transparent huge pages off for the commands alone.
 * @whole_machine: as for tree_kill().
 * @ready_facts: what the ready message said; borrowed.
 */
struct run_env {
	struct programs programs;
	bool no_thp;
	bool whole_machine;
	json_t *ready_facts;
};

/**
 * run_once() - run all commands of @job and send output messages and the final run-end message.
 * The first command that fails ends the run, but for the clean-up. Nothing that it started is left
 * when this returns, and no folder that it was given.
 * Return: 0 however the commands ended; ERR_IO when the driver is gone, ERR_CANCELLED when a signal
 * told us to stop.
 */
int run_once(struct link *l, struct run_env *env, const struct proto_job *job, unsigned run,
	     struct err *e);
