/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands that read the database share. */
#pragma once

#include "bot/base/json.h"

struct cli;
struct config;
struct db;
struct err;

/** cli_db() - load the configuration and connect to the database that it names. */
int cli_db(const struct cli *cli, struct config **ret_config, struct db **ret, struct err *e);

/** cli_out() - print to stdout, with control characters of foreign text made visible. */
void cli_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** cli_json() - print as one line. */
void cli_json(const json_t *j);

/** cli_state() - a state, padded to @width, coloured if wanted. */
void cli_state(const struct cli *cli, const char *state, int width);

/** cli_regression_line() - one line about an element of "regressions" or of a list. */
void cli_regression_line(const struct cli *cli, const json_t *r);
