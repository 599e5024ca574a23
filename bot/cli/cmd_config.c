/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/config_check.h"
#include "bot/cli/options.h"

#include <math.h>
#include <string.h>

static const char *type_name(enum config_type t)
{
	static const char *const names[] = {
		[CONFIG_STR] = "text",	    [CONFIG_PATH] = "path",    [CONFIG_INT] = "number",
		[CONFIG_F64] = "number",    [CONFIG_BOOL] = "boolean", [CONFIG_SIZE] = "size",
		[CONFIG_DURATION] = "time", [CONFIG_RATIO] = "ratio",  [CONFIG_ENUM] = "choice",
		[CONFIG_REF] = "name",
	};

	return names[t];
}

/* scdoc reads *, _ and \ as markup. */
static void add_escaped(struct strbuf *b, const char *s)
{
	for (; *s; s++)
		strbuf_addf(b, strchr("*_\\<>[]#", *s) ? "\\%c" : "%c", *s);
}

/* "choice: a, b", "time, 1s to 1h", "name of a [tree] section". */
static void add_type(struct strbuf *b, const struct config_key *k)
{
	strbuf_addstr(b, type_name(k->type));
	if (k->type == CONFIG_REF) {
		strbuf_addf(b, " of a \\[%s\\] section", k->extra);
	} else if (k->type == CONFIG_ENUM) {
		strbuf_addstr(b, ": ");
		for (const char *p = k->extra; *p; p++)
			strbuf_addf(b, *p == '|' ? ", " : "%c", *p);
	} else if (k->max > 0) {
		strbuf_addstr(b, ", ");
		config_value_add(b, k->type, k->min);
		strbuf_addstr(b, " to ");
		config_value_add(b, k->type, k->max);
	}
	if (k->flags & K_MULTI)
		strbuf_addstr(b, "; may be repeated");
}

/* The keys as scdoc text: kperfbot.conf(5) is made of it. */
static void add_manual(struct strbuf *b)
{
	const struct config_key *k;
	const char *last = "";
	size_t n;

	k = config_keys(&n);
	for (size_t i = 0; i < n; i++, k++) {
		if (strcmp(k->section, last) != 0)
			strbuf_addf(b, k->named ? "## [%s NAME]\n\n" : "## [%s]\n\n", k->section);
		last = k->section;
		strbuf_addf(b, "*%s* (", k->key);
		add_type(b, k);
		strbuf_addstr(b, ")\n\t");
		add_escaped(b, k->doc);
		if (k->flags & K_NEEDED)
			strbuf_addstr(b, " Must be there.");
		if (k->fallback) {
			strbuf_addstr(b, " Default: ");
			add_escaped(b, k->fallback);
			strbuf_addstr(b, ".");
		}
		if (k->flags & K_RELOAD)
			strbuf_addstr(b, " Reloadable.");
		strbuf_addstr(b, "\n\n");
	}
}

int cmd_config(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct err e = { 0 };
	int at = cli_options(cli, argc, argv, NULL, 0);

	if (at < 0)
		return EXIT_USAGE;
	argc -= at;
	argv += at;
	if (argc == 1 && !strcmp(argv[0], "man")) {
		add_manual(&text);
		(void)fputs(strbuf_str(&text), stdout);
		return EXIT_DONE;
	}
	if (argc < 1 || argc > 2 || (strcmp(argv[0], "check") != 0 && strcmp(argv[0], "show") != 0))
		return cli_usage(cli, "say 'check', 'show' or 'man'");
	if (argc == 2)
		cli->config_path = argv[1];
	if (cli_config(cli, &c, &e) < 0)
		return cli_fail(cli, &e);
	if (!strcmp(argv[0], "check")) {
		if (config_check(c, &e) < 0) {
			(void)err_wrap(&e, "%s", cli->config_path);
			return cli_fail(cli, &e);
		}
		(void)printf("%s: good\n", cli->config_path);
		return EXIT_DONE;
	}
	config_show(c, &text);
	(void)fputs(strbuf_str(&text), stdout);
	return EXIT_DONE;
}
