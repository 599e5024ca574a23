/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/settings.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/cluster.h"
#include "bot/db/db.h"

#include <string.h>
#include <unistd.h>

const char *settings_state_dir(const struct config *c)
{
	return config_str(c, "kperfbot", NULL, "state");
}

char *settings_conninfo(const struct config *c)
{
	const char *given = config_str(c, "kperfbot", NULL, "database");

	return given ? xstrdup(given) : cluster_path_conninfo(settings_state_dir(c));
}

char *settings_programs(const struct config *c)
{
	const char *given = config_str(c, "kperfbot", NULL, "programs");
	char path[4096];
	ssize_t n;

	if (given)
		return xstrdup(given);
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return xstrdup("/usr/bin");
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return xstrdup(path);
}

int settings_db(const struct config *c, const char *application, double away_s, struct db **ret,
		struct err *e)
{
	_cleanup_(freep) char *conninfo = settings_conninfo(c);
	struct db_options o = { .conninfo = conninfo,
				.application = application,
				.away_s = away_s };

	return db_open(&o, ret, e);
}
