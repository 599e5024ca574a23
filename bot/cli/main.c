/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"

#include <errno.h>
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

static void print_problem(const char *title, int status, const char *code, const char *detail)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;

	json_set_str(o, "type", "about:blank");
	json_set_str(o, "title", title);
	json_set_i64(o, "status", status);
	json_set_str(o, "code", code);
	json_set_str(o, "detail", detail);
	text = json_text(o);
	(void)printf("%s\n", text);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	_cleanup_(strbuf_done) struct strbuf why = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&why, fmt, ap);
	va_end(ap);
	(void)fprintf(stderr, "kperfbot %s: %s\nusage: kperfbot %s\n", cli->command,
		      strbuf_str(&why), cli->usage);
	if (cli->json)
		print_problem("wrong usage", 400, "USAGE", strbuf_str(&why));
	return EXIT_USAGE;
}

/* getopt_long() tells an option it does not know from one without its value by optopt only. */
int cli_bad_option(const struct cli *cli, char **argv)
{
	const char *word = argv[optind - 1];

	if (strncmp(word, "--", 2) != 0)
		return cli_usage(cli, "unknown option '-%c'", optopt);
	if (!optopt)
		return cli_usage(cli, "unknown option '%s'", word);
	if (strchr(word, '='))
		return cli_usage(cli, "option '%.*s' takes no value", (int)strcspn(word, "="),
				 word);
	return cli_usage(cli, "option '%s' needs a value", word);
}

bool cli_wants_help(const struct cli *cli, int argc, char **argv, const char *summary)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0)
			continue;
		(void)printf("usage: kperfbot %s\n", cli->usage);
		if (summary)
			(void)printf("\nkperfbot %s: %s\n", cli->command, summary);
		(void)printf(
			"\nGlobal options are --json, --color=auto|always|never, -q and -v; see "
			"kperfbot(1).\n");
		return true;
	}
	return false;
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
	if (cli->json)
		print_problem(err_text(e->code), err_http_status(e->code), err_name(e->code),
			      e->msg);
	else
		(void)fprintf(stderr, "kperfbot %s: %s\n", cli->command, e->msg);
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

bool cli_color_known(const char *when)
{
	return !strcmp(when, "auto") || !strcmp(when, "always") || !strcmp(when, "never");
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
		/* A command with commands of its own says more about each of them. */
		if (commands[i].run != cmd_bisect &&
		    cli_wants_help(cli, argc, argv, commands[i].summary))
			return EXIT_DONE;
		optind = 0;
		opterr = 0;
		return commands[i].run(cli, argc, argv);
	}
	(void)fprintf(stderr, "kperfbot: no command '%s'; 'kperfbot --help' lists them\n", argv[0]);
	return EXIT_USAGE;
}

/* What a full disk cut must not look like an answer. A reader that left early wants no more of it. */
static int written(const struct cli *cli, int code)
{
	bool failed = fflush(stdout) != 0;

	if (!failed && !ferror(stdout))
		return code;
	if (!failed || errno != EPIPE)
		(void)fprintf(stderr, "kperfbot %s: could not write all of the output%s%s\n",
			      cli->command, failed ? ": " : "",
			      failed ? strerrordesc_np(errno) : "");
	return EXIT_FATAL;
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
			if (!cli_color_known(optarg)) {
				(void)fprintf(stderr,
					      "kperfbot: --color is '%s', want auto, always or "
					      "never\n",
					      optarg);
				return EXIT_USAGE;
			}
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
	/* What is wrong with an earlier word is told as JSON too. */
	for (int i = optind; i < argc && strcmp(argv[i], "--") != 0; i++)
		cli.json |= !strcmp(argv[i], "--json");
	log_setup(NULL, cli.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN);
	if (optind >= argc) {
		help(stderr);
		return EXIT_USAGE;
	}
	return written(&cli, run(&cli, argc - optind, argv + optind));
}
