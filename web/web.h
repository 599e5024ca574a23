/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Role web: the pages and the HTTP interface. */
#pragma once

#include <stdint.h>

struct config;
struct err;
struct web;

/**
 * struct web_options - all borrowed until the server has stopped.
 * @config: listen address, state folder, url, trees and jobs are read from it.
 * @conninfo: libpq connection string of the database.
 * @threads: of the pool, each with a database connection; 0 is 4.
 */
struct web_options {
	const struct config *config;
	const char *conninfo;
	unsigned threads;
};

/**
 * web_start() - listen and serve in threads of its own. The database may be away: requests then get
 * 503. Signals that the caller handles are to be blocked before.
 * @ret: web_stop() it.
 * Return: 0; ERR_INVAL the listen address has no form, ERR_IO port in use, ERR_PERM.
 */
int web_start(const struct web_options *o, struct web **ret, struct err *e);
uint16_t web_port(const struct web *w);
/** web_stop() - finish the requests that run, close all connections. */
void web_stop(struct web *w);

/** web_run() - serve until SIGTERM or SIGINT. Return: 0 or as web_start(). */
int web_run(const struct web_options *o, struct err *e);

/**
 * web_listen() - a listening socket for "address:port", "[v6]:port", "*:port" or ":port".
 * @ret_port: the port in fact, when 0 was asked for.
 */
int web_listen(const char *listen, int *ret_fd, uint16_t *ret_port, struct err *e);
