/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's whole talk with its driver: hello, job, runs, bye. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/**
 * struct serve_opts - where and for whom the agent works.
 * @in, @out: descriptors of the line.
 * @workloads: path of the multi-call workload program.
 * @nonce: overrides that of the kernel's command line; NULL: look there.
 * @whole_machine: the machine is ours: its settings may be changed and every process killed.
 * @not_set_up: what could not be set up, told among the facts; array or NULL; borrowed.
 */
struct serve_opts {
	int in, out;
	const char *workloads;
	const char *nonce;
	bool whole_machine;
	json_t *not_set_up;
};

/** serve() - talk until bye. Return: exit status for the process, 0 when all was said. */
int serve(const struct serve_opts *opts);
