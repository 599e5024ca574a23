/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of the kperfbot program: global options, the table of commands, exit codes. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct config;
struct err;

/* Exit codes, the same for every command. */
enum {
	EXIT_DONE = 0,
	EXIT_WORSE = 1,
	EXIT_NOT_FOUND = 3,
	EXIT_NOT_ALLOWED = 4,
	EXIT_CONFLICT = 5,
	EXIT_LATER = 75,
	EXIT_CANNOT_TELL = 125,
	EXIT_FATAL = 128,
	EXIT_USAGE = 129,
	EXIT_INTERRUPTED = 130,
};

/**
 * struct cli - global options, read before the command.
 * @json: print JSON on stdout, errors too.
 * @quiet, @verbose: less or more on stderr.
 * @color: stdout may be coloured.
 * @config_path: -C, --config; the default is /etc/kperfbot/kperfbot.conf.
 * @command: its name, for messages.
 * @usage: the command's usage line.
 */
struct cli {
	bool json;
	bool quiet;
	bool verbose;
	bool color;
	const char *config_path;
	const char *command;
	const char *usage;
};

/* Every command: @argv[0] is its name; returns an exit code. Global options may also stand here. */
#define CLI_COMMAND(name, fn, usage, summary) int fn(struct cli *cli, int argc, char **argv);
#include "bot/cli/commands.def"
#undef CLI_COMMAND

/** cli_global_option() - take a global option (--json, -q, -v, --color=…) that getopt_long() found. */
bool cli_global_option(struct cli *cli, const char *name, const char *value);

/** cli_color_known() - is @when auto, always or never? */
bool cli_color_known(const char *when);

/**
 * cli_usage() - print what is wrong and the usage to stderr, with --json also a problem object to
 * stdout. Return: EXIT_USAGE.
 */
int cli_usage(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** cli_bad_option() - cli_usage() about what getopt_long() has just returned '?' for. */
int cli_bad_option(const struct cli *cli, char **argv);

/**
 * cli_wants_help() - is --help or -h among @argv[1…]? Then usage and @summary (or NULL) are printed.
 */
bool cli_wants_help(const struct cli *cli, int argc, char **argv, const char *summary);

/**
 * cli_fail() - print the reason in @e: "kperfbot COMMAND: reason" on stderr, with --json a problem
 * object on stdout. Return: the exit code that fits @e->code.
 */
int cli_fail(const struct cli *cli, const struct err *e);

/** cli_note() - a line on stderr unless --quiet. */
void cli_note(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** cli_config() - load the configuration that the options name. */
int cli_config(const struct cli *cli, struct config **ret, struct err *e);
