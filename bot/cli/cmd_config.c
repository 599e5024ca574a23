/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"

#include <string.h>

int cmd_config(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct err e = { 0 };

	if (argc < 2 || argc > 3 || (strcmp(argv[1], "check") != 0 && strcmp(argv[1], "show") != 0))
		return cli_usage(cli, "say 'check' or 'show'");
	if (argc == 3)
		cli->config_path = argv[2];
	if (cli_config(cli, &c, &e) < 0)
		return cli_fail(cli, &e);
	if (!strcmp(argv[1], "check")) {
		(void)printf("%s: good\n", cli->config_path);
		return EXIT_DONE;
	}
	config_show(c, &text);
	(void)fputs(strbuf_str(&text), stdout);
	return EXIT_DONE;
}
