/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot bisect: the sub-commands about bisections. */
#include "bot/base/cleanup.h"
#include "bot/cli/cli.h"
#include "bot/cli/cmd_bisect_simulate.h"

#include <getopt.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
} verbs[] = {
	{ "simulate", cmd_bisect_simulate },
};

int cmd_bisect(struct cli *cli, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			optind = 0;
			return verbs[i].run(cli, argc - 1, argv + 1);
		}
	return cli_usage(cli, "no sub-command '%s'", argc > 1 ? argv[1] : "");
}
