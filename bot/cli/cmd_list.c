/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/page_read.h"

static int read_options(struct cli *cli, int argc, char **argv, struct page_filter *f,
			bool *exit_code)
{
	const struct cli_option options[] = {
		CLI_TEXT("state", &f->state),
		CLI_TEXT("tree", &f->tree),
		CLI_TEXT("class", &f->class),
		CLI_TEXT("suite", &f->suite),
		CLI_I64("limit", &f->limit, 1, 500, .letter = 'n'),
		CLI_FLAG("exit-code", exit_code),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	return at < argc ? cli_usage(cli, "takes no argument '%s'", argv[at]) : 0;
}

int cmd_list(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct page_filter f = { .limit = 50 };
	struct err e = { 0 };
	bool exit_code = false;
	const json_t *items, *r;
	size_t i;
	int rc;

	rc = read_options(cli, argc, argv, &f, &exit_code);
	if (rc)
		return rc;
	if (cli_db(cli, &c, &db, &e) < 0 || page_regressions(db, &f, &j, &e) < 0)
		return cli_fail(cli, &e);
	items = json_object_get(j, "items");
	if (cli->json) {
		cli_json(j);
	} else {
		json_array_foreach (items, i, r)
			cli_regression_line(cli, r);
		if (json_array_size(items) == 0)
			cli_note(cli, "no regressions");
	}
	return exit_code && json_array_size(items) > 0 ? EXIT_WORSE : EXIT_DONE;
}
