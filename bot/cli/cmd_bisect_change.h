/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sub-commands that change a bisection, and its log for git. */
#pragma once

struct cli;

#define CMD_BISECT_LOG_USAGE	"bisect log [--json] ID"
#define CMD_BISECT_EXTEND_USAGE "bisect extend [--json] --runs N ID"
#define CMD_BISECT_CANCEL_USAGE "bisect cancel [--json] --why TEXT ID"
#define CMD_BISECT_RETRY_USAGE	"bisect retry [--json] ID"

/** cmd_bisect_log() - what `git bisect replay` accepts. */
int cmd_bisect_log(struct cli *cli, int argc, char **argv);

/** cmd_bisect_change() - extend, cancel or retry, as argv[0] says. */
int cmd_bisect_change(struct cli *cli, int argc, char **argv);
