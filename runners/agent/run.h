/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: its commands one after the other, under a deadline, with all output sent on. */
#pragma once

#include "runners/agent/link.h"

/**
 * struct run_env - how commands are started.
 * @workloads: the multi-call program that runs every command whose name has no slash.
 * @no_thp: switch transparent huge pages off for the command alone.
 * @whole_machine: as for tree_kill().
 */
struct run_env {
	const char *workloads;
	bool no_thp;
	bool whole_machine;
};

/**
 * run_once() - run all commands of @job and send output messages and the final run-end message.
 * The first command that fails ends the run. Nothing that it started is left when this returns.
 * Return: 0 however the commands ended; ERR_IO when the driver is gone.
 */
int run_once(struct link *l, const struct run_env *env, const struct proto_job *job, unsigned run,
	     struct err *e);
