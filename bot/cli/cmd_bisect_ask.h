/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sub-commands of bisect that need the database. */
#pragma once

struct cli;
struct err;

#define CMD_BISECT_OPTIONS                                                                     \
	"[--json] --tree T --good G --bad B --job J [--metric M] [--note TEXT] [--machine M] " \
	"[--priority low|normal|high] [--deadline TIME] [--max-runs N] [--min-effect F] "      \
	"[--path P]... [--first-parent]"
#define CMD_BISECT_START_USAGE "bisect start " CMD_BISECT_OPTIONS " [--dry-run]"
#define CMD_BISECT_PLAN_USAGE  "bisect plan " CMD_BISECT_OPTIONS

/** cmd_bisect_start() - ask for a bisection; as 'plan' only say what it will take. */
int cmd_bisect_start(struct cli *cli, int argc, char **argv);

/** cmd_bisect_one() - 'status ID' prints it; 'watch ID' waits until it has ended, then prints it. */
int cmd_bisect_one(struct cli *cli, int argc, char **argv);

/* As over HTTP. */
#define CMD_BISECT_TEXT_MOST 1000

/** cmd_bisect_take_text() - a CLI_TAKE() for a const char *: valid UTF-8 of 1 to 1000 bytes. */
int cmd_bisect_take_text(void *to, const char *value, struct err *e);
