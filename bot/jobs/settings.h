/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every process of the daemon derives from the configuration. */
#pragma once

struct config;
struct db;
struct err;

/** settings_state_dir() - absolute path of the state folder; belongs to @c. */
const char *settings_state_dir(const struct config *c);

/** settings_conninfo() - configured database, else that of the private cluster; free() it. */
char *settings_conninfo(const struct config *c);

/** settings_programs() - folder of kperfbot-agent and kperfbot-workloads; free() it. */
char *settings_programs(const struct config *c);

/** settings_db() - open the database as @application; waits up to @away_s for it. */
int settings_db(const struct config *c, const char *application, double away_s, struct db **ret,
		struct err *e);
