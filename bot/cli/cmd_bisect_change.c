/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/cmd_bisect_change.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/cmd_bisect_ask.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/bisection_control.h"
#include "bot/store/page_read.h"

#include <string.h>

struct asked {
	const char *id;
	const char *why;
	int64_t runs;
};

static int read_args(struct cli *cli, int argc, char **argv, struct asked *a)
{
	const struct cli_option why[] = { CLI_TAKE("why", cmd_bisect_take_text, &a->why) };
	const struct cli_option runs[] = { CLI_I64("runs", &a->runs, 1, BISECTION_EXTEND_MOST) };
	bool cancel = !strcmp(argv[0], "cancel"), extend = !strcmp(argv[0], "extend");
	int at = cli_options(cli, argc, argv, cancel ? why : runs, cancel || extend);

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 1 || !id_valid('b', argv[at]))
		return cli_usage(cli, "say the id of a bisection, b and seven letters or digits");
	a->id = argv[at];
	if (cancel && !(a->why && strlen(a->why) <= 500))
		return cli_usage(cli, a->why ? "--why: want at most 500 bytes" : "say --why");
	if (extend && !a->runs)
		return cli_usage(cli, "say how many --runs more");
	return 0;
}

int cmd_bisect_log(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(freep) char *text = NULL;
	struct asked a = { 0 };
	struct err e = { 0 };
	int rc = read_args(cli, argc, argv, &a);

	if (rc)
		return rc;
	if (cli_db(cli, &c, &db, &e) < 0 ||
	    (cli->json ? bisection_replay_log(db, a.id, &text, &e)
		       : bisection_git_log(db, a.id, &text, &e)) < 0)
		return cli_fail(cli, &e);
	if (!*text) {
		cli_note(cli, "bisection %s has measured nothing yet", a.id);
		return EXIT_CANNOT_TELL;
	}
	cli_out("%s", text);
	return EXIT_DONE;
}

static int print(const struct cli *cli, struct db *db, const char *id, const char *text)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	if (!cli->json) {
		cli_out("%s %s\n", id, text);
		return EXIT_DONE;
	}
	if (page_bisection(db, id, &j, &e) < 0)
		return cli_fail(cli, &e);
	cli_json(j);
	return EXIT_DONE;
}

int cmd_bisect_change(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(freep) char *text = NULL;
	char made[9] = "";
	struct asked a = { 0 };
	struct err e = { 0 };
	int64_t max = 0;
	int rc = read_args(cli, argc, argv, &a);
	int r;

	if (rc)
		return rc;
	r = cli_db(cli, &c, &db, &e);
	if (r == 0 && !strcmp(argv[0], "cancel"))
		r = bisection_cancel(db, a.id, "cli", a.why, &e);
	else if (r == 0 && !strcmp(argv[0], "extend"))
		r = bisection_extend(db, c, a.id, a.runs, &max, &e);
	else if (r == 0)
		r = bisection_retry(db, a.id, "cli", made, &e);
	if (r < 0)
		return cli_fail(cli, &e);
	text = made[0] ? xasprintf("asks for the same as %s once more", a.id)
	       : max   ? xasprintf("may make %lld runs in all", (long long)max)
		       : xstrdup("cancelled");
	return print(cli, db, made[0] ? made : a.id, text);
}
