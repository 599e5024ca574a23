/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/log.h"
#include "bot/cli/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_CONFIG "/etc/kperfbot/kperfbot.conf"

static const struct {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *usage;
	const char *summary;
} commands[] = {
#define CLI_COMMAND(n, fn, u, s) { n, fn, u, s },
#include "bot/cli/commands.def"
#undef CLI_COMMAND
};

static void help(FILE *to)
{
	(void)fprintf(to, "usage: kperfbot [-C FILE] [--json] [--color=auto|always|never] [-q|-v] "
			  "COMMAND …\n\ncommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		(void)fprintf(to, "  %-10s %s\n             kperfbot %s\n", commands[i].name,
			      commands[i].summary, commands[i].usage);
	(void)fprintf(to, "\nThe configuration is %s unless -C or KPERFBOT_CONFIG names another.\n",
		      DEFAULT_CONFIG);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "kperfbot %s: ", cli->command);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fprintf(stderr, "\nusage: kperfbot %s\n", cli->usage);
	return EXIT_USAGE;
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	if (cli->quiet)
		return;
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

static int exit_of(int code)
{
	switch (code) {
	case ERR_NOENT:
		return EXIT_NOT_FOUND;
	case ERR_AUTH:
	case ERR_PERM:
		return EXIT_NOT_ALLOWED;
	case ERR_CONFLICT:
	case ERR_EXIST:
		return EXIT_CONFLICT;
	default:
		return EXIT_FATAL;
	}
}

int cli_fail(const struct cli *cli, const struct err *e)
{
	_cleanup_(json_decrefp) json_t *o = NULL;
	_cleanup_(freep) char *text = NULL;

	if (!cli->json) {
		(void)fprintf(stderr, "kperfbot %s: %s\n", cli->command, e->msg);
		return exit_of(e->code);
	}
	o = json_object();
	json_set_str(o, "type", "about:blank");
	json_set_str(o, "title", err_text(e->code));
	json_set_i64(o, "status", err_http_status(e->code));
	json_set_str(o, "code", err_name(e->code));
	json_set_str(o, "detail", e->msg);
	text = json_text(o);
	(void)printf("%s\n", text);
	return exit_of(e->code);
}

int cli_config(const struct cli *cli, struct config **ret, struct err *e)
{
	return config_load(cli->config_path, ret, e);
}

static bool want_color(const char *when)
{
	const char *no_color = getenv("NO_COLOR"); /* NOLINT(concurrency-mt-unsafe) */

	if (!strcmp(when, "always"))
		return true;
	return !strcmp(when, "auto") && !(no_color && *no_color) && isatty(STDOUT_FILENO);
}

bool cli_global_option(struct cli *cli, const char *name, const char *value)
{
	if (!strcmp(name, "json"))
		cli->json = true;
	else if (!strcmp(name, "quiet"))
		cli->quiet = true;
	else if (!strcmp(name, "verbose"))
		cli->verbose = true;
	else if (!strcmp(name, "config"))
		cli->config_path = value;
	else if (!strcmp(name, "color"))
		cli->color = want_color(value);
	else
		return false;
	return true;
}

static int run(struct cli *cli, int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name) != 0)
			continue;
		cli->command = commands[i].name;
		cli->usage = commands[i].usage;
		optind = 0;
		return commands[i].run(cli, argc, argv);
	}
	(void)fprintf(stderr, "kperfbot: no command '%s'; 'kperfbot --help' lists them\n", argv[0]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' },
						 { "quiet", no_argument, NULL, 'q' },
						 { "verbose", no_argument, NULL, 'v' },
						 { "config", required_argument, NULL, 'C' },
						 { "color", required_argument, NULL, 'c' },
						 { "help", no_argument, NULL, 'h' },
						 { "version", no_argument, NULL, 'V' },
						 { 0 } };
	const char *env = getenv("KPERFBOT_CONFIG"); /* NOLINT(concurrency-mt-unsafe) */
	struct cli cli = { .config_path = env && *env ? env : DEFAULT_CONFIG,
			   .color = want_color("auto"),
			   .command = "" };
	int c;

	while ((c = getopt_long(argc, argv, "+C:qvhV", options, NULL)) != -1) { /* NOLINT */
		switch (c) {
		case 'j':
			cli.json = true;
			break;
		case 'q':
			cli.quiet = true;
			break;
		case 'v':
			cli.verbose = true;
			break;
		case 'C':
			cli.config_path = optarg;
			break;
		case 'c':
			cli.color = want_color(optarg);
			break;
		case 'h':
			help(stdout);
			return EXIT_DONE;
		case 'V':
			(void)printf("kperfbot %s\n", KPERFBOT_VERSION);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	log_setup(NULL, cli.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN);
	if (optind >= argc) {
		help(stderr);
		return EXIT_USAGE;
	}
	return run(&cli, argc - optind, argv + optind);
}
