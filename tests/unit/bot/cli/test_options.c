/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of options, with the frame of the program replaced by one that keeps what is said. */
#include "bot/cli/options.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/cli/cli.h"
#include "tests/test.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 16

static char said[256];
static char line[256];
static char *words[WORDS_MAX + 1];
static struct cli cli;

/* What a table can fill. */
static struct {
	bool flag, given;
	const char *text;
	int i;
	int64_t i64;
	double f64, ratio, seconds;
	char taken[32];
} got;

int cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	(void)c;
	va_start(ap, fmt);
	(void)vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	return EXIT_USAGE;
}

int cli_bad_option(const struct cli *c, char **argv)
{
	return cli_usage(c, "bad option %s", argv[optind - 1]);
}

bool cli_color_known(const char *when)
{
	return !strcmp(when, "never");
}

bool cli_global_option(struct cli *c, const char *name, const char *value)
{
	c->json |= !strcmp(name, "json");
	c->quiet |= !strcmp(name, "quiet");
	c->verbose |= !strcmp(name, "verbose");
	c->color |= !strcmp(name, "color") && value;
	return true;
}

static int take(void *to, const char *value, struct err *e)
{
	if (!strcmp(value, "bad"))
		return err_set(e, ERR_INVAL, "'%s' is not good", value);
	(void)strncat(to, value, 7);
	return 0;
}

/* cli_options() of the words of @text with a table of all kinds. */
static int parse(const char *text)
{
	static const struct cli_option options[] = {
		CLI_FLAG("flag", &got.flag, .letter = 'f'),
		CLI_TEXT("text", &got.text, .letter = 't'),
		CLI_INT("int", &got.i, -5, 64, .given = &got.given),
		CLI_I64("i64", &got.i64, 0, INT64_MAX),
		CLI_F64("number", &got.f64, 0, 1e3),
		CLI_RATIO("ratio", &got.ratio),
		CLI_SECONDS("seconds", &got.seconds),
		CLI_TAKE("take", take, got.taken),
	};
	char *rest = NULL;
	int n = 0;

	memset(&got, 0, sizeof(got));
	memset(&cli, 0, sizeof(cli));
	said[0] = '\0';
	optind = 0;
	opterr = 0;
	(void)snprintf(line, sizeof(line), "verb %s", text);
	for (char *w = strtok_r(line, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		assert_true(n < WORDS_MAX);
		words[n++] = w;
	}
	words[n] = NULL;
	return cli_options(&cli, n, words, options, ARRAY_SIZE(options));
}

static void refuses(const char *text, const char *why)
{
	assert_int_equal(parse(text), -1);
	assert_string_equal(said, why);
}

static void fills_each_kind_of_target(void **state)
{
	(void)state;
	assert_int_equal(parse("--flag --text x --int=-5 --i64 9223372036854775807 --number 1e3 "
			       "--ratio 3.5% --seconds 2m"),
			 10 + 3);
	assert_true(got.flag && got.given);
	assert_string_equal(got.text, "x");
	assert_int_equal(got.i, -5);
	assert_true(got.i64 == INT64_MAX);
	assert_true(got.f64 == 1000 && got.ratio == 0.035 && got.seconds == 120);
}

static void keeps_the_targets_of_what_is_not_given(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 1);
	assert_false(got.flag || got.given || got.text || got.i);
}

static void calls_for_each_value_of_its_own_kind(void **state)
{
	(void)state;
	assert_int_equal(parse("--take a --take b"), 5);
	assert_string_equal(got.taken, "ab");
	refuses("--take bad", "--take: 'bad' is not good");
}

static void letters_stand_for_their_options(void **state)
{
	(void)state;
	assert_int_equal(parse("-ft x -qv"), 4);
	assert_true(got.flag && cli.quiet && cli.verbose);
	assert_string_equal(got.text, "x");
}

static void words_may_stand_anywhere(void **state)
{
	(void)state;
	assert_int_equal(parse("a --int 3 b -- --flag"), 4);
	assert_string_equal(words[4], "a");
	assert_string_equal(words[5], "b");
	assert_string_equal(words[6], "--flag");
	assert_false(got.flag);
}

static void global_options_are_options_of_all(void **state)
{
	(void)state;
	assert_int_equal(parse("--json --quiet --verbose --color=never"), 5);
	assert_true(cli.json && cli.quiet && cli.verbose && cli.color);
	refuses("--color=blue", "--color: 'blue' is none of auto, always, never");
}

static void a_bad_value_is_named_with_what_would_be_right(void **state)
{
	(void)state;
	refuses("--int 65", "--int: '65' is not between -5 and 64");
	assert_false(got.given);
	assert_int_equal(got.i, 0);
	refuses("--int -6", "--int: '-6' is not between -5 and 64");
	refuses("--int 1x", "--int: '1x' is not a whole number");
	refuses("--i64 9223372036854775808",
		"--i64: '9223372036854775808' is not between 0 and 9223372036854775807");
	refuses("--number 1001", "--number: '1001' is not between 0 and 1000");
	refuses("--number nan", "--number: 'nan' is not a number");
	/* The whole name is said where only its beginning was given. */
	refuses("--num 1e4", "--number: '1e4' is not between 0 and 1000");
	assert_int_equal(parse("--ratio x"), -1);
	assert_non_null(strstr(said, "--ratio: 'x'"));
	assert_int_equal(parse("--seconds x"), -1);
	assert_non_null(strstr(said, "--seconds: 'x'"));
}

static void what_is_no_option_is_told(void **state)
{
	(void)state;
	refuses("--wat", "bad option --wat");
	refuses("--text", "option '--text' needs a value");
	refuses("-ft", "option '-t' needs a value");
	refuses("--t", "option '--t' may be --text, --take");
	refuses("--t=1", "option '--t' may be --text, --take");
	refuses("--flag=1", "bad option --flag=1");
	refuses("-x", "bad option -x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_each_kind_of_target),
		cmocka_unit_test(keeps_the_targets_of_what_is_not_given),
		cmocka_unit_test(calls_for_each_value_of_its_own_kind),
		cmocka_unit_test(letters_stand_for_their_options),
		cmocka_unit_test(words_may_stand_anywhere),
		cmocka_unit_test(global_options_are_options_of_all),
		cmocka_unit_test(a_bad_value_is_named_with_what_would_be_right),
		cmocka_unit_test(what_is_no_option_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
