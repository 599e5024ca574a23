/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/db/cluster.h"
#include "bot/db/db.h"
#include "bot/db/migrate.h"

#include <string.h>

static int open_db(const struct config *c, struct db **ret, struct err *e)
{
	const char *given = config_str(c, "kperfbot", NULL, "database");
	_cleanup_(freep) char *conninfo =
		given ? xstrdup(given)
		      : cluster_path_conninfo(config_str(c, "kperfbot", NULL, "state"));
	struct db_options o = { .conninfo = conninfo,
				.application = "kperfbot db",
				.no_prepare = true };
	int r;

	r = db_open(&o, ret, e);
	if (r == ERR_DB_AWAY && !given) {
		struct err why = *e;

		return err_set(e, r, "%.900s; does kperfbotd run?", why.msg);
	}
	return r;
}

static int show_status(const struct cli *cli, struct db *db)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;
	struct migrate_status st;
	struct err e = { 0 };

	if (migrate_status(db, &st, &e) < 0)
		return cli_fail(cli, &e);
	json_set_i64(o, "server", db_server_version(db));
	json_set_i64(o, "schema", st.have);
	json_set_i64(o, "schema_wanted", st.want);
	text = json_text(o);
	if (cli->json)
		(void)printf("%s\n", text);
	else
		(void)printf("server %d.%d, schema %d of %d%s\n", db_server_version(db) / 10000,
			     db_server_version(db) % 10000, st.have, st.want,
			     st.have < st.want	 ? "; run 'kperfbot db migrate'"
			     : st.have > st.want ? "; it is newer than this kperfbot, install "
						   "the version that made it or a later one"
						 : ", up to date");
	return st.have == st.want ? EXIT_DONE : EXIT_WORSE;
}

int cmd_db(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	struct err e = { 0 };
	int at = cli_options(cli, argc, argv, NULL, 0);
	int r;

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 1 || (strcmp(argv[at], "status") != 0 && strcmp(argv[at], "migrate") != 0))
		return cli_usage(cli, "say 'status' or 'migrate'");
	if (cli_config(cli, &c, &e) < 0 || open_db(c, &db, &e) < 0)
		return cli_fail(cli, &e);
	if (!strcmp(argv[at], "status"))
		return show_status(cli, db);
	r = migrate_run(db, &e);
	if (r < 0)
		return cli_fail(cli, &e);
	cli_note(cli, "%d migrations run", r);
	return EXIT_DONE;
}
