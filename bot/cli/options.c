/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/options.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

/* What getopt_long() returns: letters as they are, then the options of the table, then the global. */
#define OF_TABLE  0x100
#define OF_GLOBAL 0x200

static const struct option global[] = { { "json", no_argument, NULL, 0 },
					{ "quiet", no_argument, NULL, 0 },
					{ "verbose", no_argument, NULL, 0 },
					{ "color", required_argument, NULL, 0 } };

static int take_value(const struct cli_option *o, char *value, struct err *e)
{
	int64_t n = 0;
	int r = 0;

	switch (o->kind) {
	case CLI_KIND_FLAG:
		*o->to.flag = true;
		return 0;
	case CLI_KIND_TEXT:
		*o->to.text = value;
		return 0;
	case CLI_KIND_INT:
		r = parse_i64(value, o->lo, o->hi, &n, e);
		if (r == 0)
			*o->to.i = (int)n;
		return r;
	case CLI_KIND_I64:
		return parse_i64(value, o->lo, o->hi, o->to.i64, e);
	case CLI_KIND_F64:
		return parse_f64(value, o->lo_f64, o->hi_f64, o->to.f64, e);
	case CLI_KIND_RATIO:
		return parse_ratio(value, o->to.f64, e);
	case CLI_KIND_SECONDS:
		return parse_duration(value, o->to.f64, e);
	case CLI_KIND_TAKE:
		return o->take(o->to.any, value, e);
	}
	return err_set(e, ERR_BUG, "no such kind of option");
}

static int take_option(struct cli *cli, const struct cli_option *o, char *value)
{
	struct err e = { 0 };

	if (take_value(o, value, &e) < 0) {
		(void)err_wrap(&e, "--%s", o->name);
		(void)cli_usage(cli, "%s", e.msg);
		return -1;
	}
	if (o->given)
		*o->given = true;
	return 0;
}

static int take_global(struct cli *cli, const char *name, const char *value)
{
	if (!strcmp(name, "color") && !cli_color_known(value)) {
		(void)cli_usage(cli, "--color: '%.40s' is none of auto, always, never", value);
		return -1;
	}
	(void)cli_global_option(cli, name, value);
	return 0;
}

/* The index of a letter in the table, or -1. */
static int find_letter(const struct cli_option *options, int n, int letter)
{
	for (int i = 0; i < n; i++) {
		if (options[i].letter == letter)
			return i;
	}
	return -1;
}

/* The table in getopt_long()'s form. */
static void fill(const struct cli_option *options, int n, struct option *longs, char *letters)
{
	*letters++ = ':'; /* then a value that is missing has an answer of its own */
	for (int i = 0; i < n; i++) {
		int has = options[i].kind == CLI_KIND_FLAG ? no_argument : required_argument;

		*longs++ = (struct option){ options[i].name, has, NULL, OF_TABLE + i };
		if (!options[i].letter)
			continue;
		*letters++ = options[i].letter;
		if (has == required_argument)
			*letters++ = ':';
	}
	for (size_t i = 0; i < ARRAY_SIZE(global); i++) {
		*longs = global[i];
		longs++->val = OF_GLOBAL + (int)i;
	}
	*longs = (struct option){ 0 };
	memcpy(letters, "qv", sizeof("qv"));
}

/* getopt_long() does not tell a beginning of several options from that of none. */
static int refuse_word(const struct cli *cli, char **argv, const struct option *longs)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	const char *word = argv[optind - 1];
	size_t len = strcspn(word, "=");
	int found = 0;

	for (; !optopt && len > 2 && longs->name; longs++) {
		if (strncmp(word + 2, longs->name, len - 2) != 0)
			continue;
		strbuf_addf(&names, "%s--%s", found++ ? ", " : "", longs->name);
	}
	return found ? cli_usage(cli, "option '%.*s' may be %s", (int)len, word, strbuf_str(&names))
		     : cli_bad_option(cli, argv);
}

static int refuse_missing(const struct cli *cli, char **argv)
{
	const char *word = argv[optind - 1];

	return word[1] == '-' ? cli_usage(cli, "option '%s' needs a value", word)
			      : cli_usage(cli, "option '-%c' needs a value", optopt);
}

int cli_options(struct cli *cli, int argc, char **argv, const struct cli_option *options, int n)
{
	struct option longs[CLI_OPTIONS_MAX + ARRAY_SIZE(global) + 1];
	char letters[CLI_OPTIONS_MAX * sizeof("x:") + sizeof(":qv")];
	int c;

	assert(n <= CLI_OPTIONS_MAX);
	fill(options, n, longs, letters);
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) { /* NOLINT */
		int r, i = c < OF_TABLE ? find_letter(options, n, c) : c - OF_TABLE;

		if (c == '?' || c == ':') {
			(void)(c == ':' ? refuse_missing(cli, argv)
					: refuse_word(cli, argv, longs));
			return -1;
		}
		if (i < 0)
			r = take_global(cli, c == 'q' ? "quiet" : "verbose", NULL);
		else if (c >= OF_GLOBAL)
			r = take_global(cli, global[c - OF_GLOBAL].name, optarg);
		else
			r = take_option(cli, &options[i], optarg);
		if (r < 0)
			return -1;
	}
	return optind;
}
