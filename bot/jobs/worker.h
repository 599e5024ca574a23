/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that does one piece of work, and the role process that claims work for it. */
#pragma once

#include <stdint.h>

struct config;
struct err;

/** struct worker_options - which work to do. @machine: held machine, or NULL. */
struct worker_options {
	const char *config_path;
	int64_t work;
	int64_t fence;
	const char *machine;
};

/** worker_run() - load, handle, and note failure. Return: exit status, 0 or 1. */
int worker_run(const struct config *c, const struct worker_options *o);

/**
 * struct role - a role of the daemon.
 * @kinds: kinds of work that it claims, NULL-terminated; NULL for role web.
 */
struct role {
	const char *name;
	const char *kinds[3];
};

/** role_owner() - name under which @role of this host and state folder holds leases; free() it. */
char *role_owner(const struct config *c, const char *role);

/** role_find() - NULL if there is none; role_names() - for messages. */
const struct role *role_find(const char *name);
const char *role_names(void);

/**
 * role_run() - claim work until SIGTERM, keep its leases, and reap workers. Blocks.
 * @config_path: handed to workers.
 */
int role_run(const struct config *c, const char *config_path, const struct role *role,
	     struct err *e);
