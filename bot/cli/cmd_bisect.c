/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot bisect: the sub-commands about bisections. */
#include "bot/base/cleanup.h"
#include "bot/cli/cli.h"
#include "bot/cli/cmd_bisect_ask.h"
#include "bot/cli/cmd_bisect_change.h"
#include "bot/cli/cmd_bisect_replay.h"
#include "bot/cli/cmd_bisect_simulate.h"

#include <getopt.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *usage;
} verbs[] = {
	{ "plan", cmd_bisect_start, CMD_BISECT_PLAN_USAGE },
	{ "start", cmd_bisect_start, CMD_BISECT_START_USAGE },
	{ "status", cmd_bisect_one, "bisect status [--json] ID" },
	{ "watch", cmd_bisect_one, "bisect watch [--json] ID" },
	{ "log", cmd_bisect_log, CMD_BISECT_LOG_USAGE },
	{ "extend", cmd_bisect_change, CMD_BISECT_EXTEND_USAGE },
	{ "cancel", cmd_bisect_change, CMD_BISECT_CANCEL_USAGE },
	{ "retry", cmd_bisect_change, CMD_BISECT_RETRY_USAGE },
	{ "simulate", cmd_bisect_simulate, CMD_BISECT_SIMULATE_USAGE },
	{ "replay", cmd_bisect_replay, CMD_BISECT_REPLAY_USAGE },
};

int cmd_bisect(struct cli *cli, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			optind = 0;
			cli->usage = verbs[i].usage;
			if (cli_wants_help(cli, argc - 1, argv + 1, NULL))
				return EXIT_DONE;
			return verbs[i].run(cli, argc - 1, argv + 1);
		}
	if (argc > 1 && cli_wants_help(cli, 2, argv, "find the first bad commit")) {
		for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
			(void)printf("  kperfbot %s\n", verbs[i].usage);
		return EXIT_DONE;
	}
	return argc > 1 ? cli_usage(cli, "no sub-command '%s'", argv[1])
			: cli_usage(cli, "say what to do");
}
