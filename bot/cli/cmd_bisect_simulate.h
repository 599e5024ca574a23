/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

struct cli;

/** CMD_BISECT_SIMULATE_USAGE - its usage line. */
#define CMD_BISECT_SIMULATE_USAGE                                                               \
	"bisect simulate [--repo DIR GOOD BAD | --linear N] --effect-sigma D [--boot-sigma S] " \
	"[--commit-sigma S] [--outliers P] [--skip P] [--machines K] "                          \
	"[--cost build=10,incr=10,boot=2,run=3] [--strategy ours|plain:N] [--trials N] "        \
	"[--seed S] [--no-step | --second P | --reverted]"

/** cmd_bisect_simulate() - `kperfbot bisect simulate`; @argv[0] is "simulate". */
int cmd_bisect_simulate(struct cli *cli, int argc, char **argv);
