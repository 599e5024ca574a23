/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parent of the roles. */
#pragma once

#include <stdbool.h>

struct config;
struct err;

/**
 * supervisor_run() - database, migrations, roles; until SIGTERM. Blocks.
 * @roles: comma-separated, NULL for all.
 *
 * A role that ends is started again, later each time (1 s to 60 s). On SIGTERM the roles are ended
 * first, the private database last.
 * Return: 0 after SIGTERM; ERR_CONFLICT another supervisor has the state folder; ERR_CONFIG,
 * ERR_SCHEMA, ERR_INVAL and errors of cluster_start().
 */
int supervisor_run(const struct config *c, const char *config_path, const char *roles, bool verbose,
		   struct err *e);
