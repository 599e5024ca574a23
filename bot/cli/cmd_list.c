/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/db/db.h"
#include "bot/store/page_read.h"

#include <getopt.h>

static int read_options(struct cli *cli, int argc, char **argv, struct page_filter *f,
			bool *exit_code)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' },
						 { "state", required_argument, NULL, 's' },
						 { "tree", required_argument, NULL, 't' },
						 { "class", required_argument, NULL, 'c' },
						 { "suite", required_argument, NULL, 'u' },
						 { "limit", required_argument, NULL, 'n' },
						 { "exit-code", no_argument, NULL, 'x' },
						 { 0 } };
	struct err e = { 0 };
	int o;

	while ((o = getopt_long(argc, argv, "n:", options, NULL)) != -1) { /* NOLINT */
		switch (o) {
		case 'j':
			cli->json = true;
			break;
		case 's':
			f->state = optarg;
			break;
		case 't':
			f->tree = optarg;
			break;
		case 'c':
			f->class = optarg;
			break;
		case 'u':
			f->suite = optarg;
			break;
		case 'n':
			if (parse_i64(optarg, 1, 500, &f->limit, &e) < 0)
				return cli_usage(cli, "--limit: %s", e.msg);
			break;
		case 'x':
			*exit_code = true;
			break;
		default:
			return cli_bad_option(cli, argv);
		}
	}
	return optind < argc ? cli_usage(cli, "takes no argument '%s'", argv[optind]) : 0;
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
