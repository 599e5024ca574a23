/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be said about a configuration before anything runs. */
#pragma once

struct config;
struct err;

/**
 * config_check() - check what the table of keys cannot: jobs, files, addresses, servers.
 * @c: as config_load() gave it.
 *
 * The roles check the same when they use a value, and go on without what is wrong. Nothing is
 * contacted: whether a tree or a server answers is seen when it is used.
 * Return: 0; ERR_CONFIG with one line that names section, key and value.
 */
int config_check(const struct config *c, struct err *e);
