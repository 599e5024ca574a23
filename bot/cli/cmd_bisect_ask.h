/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sub-commands of bisect that need the database. */
#pragma once

struct cli;

#define CMD_BISECT_START_USAGE                                                                \
	"bisect start [--json] --tree T --good G --bad B --job J [--metric M] [--note TEXT] " \
	"[--machine M] [--priority low|normal|high] [--deadline TIME] [--max-runs N] "        \
	"[--min-effect F] [--dry-run]"

/** cmd_bisect_start() - ask for a bisection. */
int cmd_bisect_start(struct cli *cli, int argc, char **argv);

/** cmd_bisect_one() - 'status ID' prints it; 'watch ID' waits until it has ended, then prints it. */
int cmd_bisect_one(struct cli *cli, int argc, char **argv);
