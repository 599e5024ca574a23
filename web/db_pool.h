/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One database connection for each thread of the server, closed when the thread ends. */
#pragma once

struct db;
struct err;
struct web_options;

/** db_pool_get() - the connection of this thread, opened when there is none. ERR_DB_AWAY, … */
int db_pool_get(const struct web_options *o, struct db **ret, struct err *e);

/** db_pool_drop() - close the connection of this thread. */
void db_pool_drop(void);
