/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a command as a table: name, kind, range, and where the value goes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct err;

/* Most options that one table may have. */
#define CLI_OPTIONS_MAX 24

enum cli_option_kind {
	CLI_KIND_FLAG,
	CLI_KIND_TEXT,
	CLI_KIND_INT,
	CLI_KIND_I64,
	CLI_KIND_F64,
	CLI_KIND_RATIO,
	CLI_KIND_SECONDS,
	CLI_KIND_TAKE,
};

/**
 * struct cli_option - one option; written with the macros below.
 * @name: of the long option, without dashes.
 * @kind: which member of @to is set.
 * @letter: of the short option, or 0.
 * @to: where the value goes; text is borrowed from argv.
 * @lo, @hi: range of a whole number, ends included.
 * @lo_f64, @hi_f64: the same of a CLI_KIND_F64.
 * @take: called with @to.any and the value, which stays in argv; fails with what is wrong with it.
 * @given: becomes true when the option is there; may be NULL.
 */
struct cli_option {
	const char *name;
	enum cli_option_kind kind;
	char letter;
	union {
		bool *flag;
		const char **text;
		int *i;
		int64_t *i64;
		double *f64;
		void *any;
	} to;
	int64_t lo, hi;
	double lo_f64, hi_f64;
	int (*take)(void *to, const char *value, struct err *e);
	bool *given;
};

/* Fields that a macro has no argument for may follow: CLI_RATIO("level", &d->level, .given = &g). */
#define CLI_FLAG(n, p, ...)                                                     \
	{                                                                       \
		.name = (n), .kind = CLI_KIND_FLAG, .to.flag = (p), __VA_ARGS__ \
	}
#define CLI_TEXT(n, p, ...)                                                     \
	{                                                                       \
		.name = (n), .kind = CLI_KIND_TEXT, .to.text = (p), __VA_ARGS__ \
	}
#define CLI_RATIO(n, p, ...)                                                    \
	{                                                                       \
		.name = (n), .kind = CLI_KIND_RATIO, .to.f64 = (p), __VA_ARGS__ \
	}
#define CLI_SECONDS(n, p, ...)                                                    \
	{                                                                         \
		.name = (n), .kind = CLI_KIND_SECONDS, .to.f64 = (p), __VA_ARGS__ \
	}
#define CLI_INT(n, p, min, max, ...)                                                      \
	{                                                                                 \
		.name = (n), .kind = CLI_KIND_INT, .to.i = (p), .lo = (min), .hi = (max), \
		__VA_ARGS__                                                               \
	}
#define CLI_I64(n, p, min, max, ...)                                                        \
	{                                                                                   \
		.name = (n), .kind = CLI_KIND_I64, .to.i64 = (p), .lo = (min), .hi = (max), \
		__VA_ARGS__                                                                 \
	}
#define CLI_F64(n, p, min, max, ...)                                               \
	{                                                                          \
		.name = (n), .kind = CLI_KIND_F64, .to.f64 = (p), .lo_f64 = (min), \
		.hi_f64 = (max), __VA_ARGS__                                       \
	}
#define CLI_TAKE(n, fn, p, ...)                                                              \
	{                                                                                    \
		.name = (n), .kind = CLI_KIND_TAKE, .to.any = (p), .take = (fn), __VA_ARGS__ \
	}

/**
 * cli_options() - read the options of a command, and the global ones (--json, -q, --quiet, -v,
 * --verbose, --color) wherever they stand. Targets keep what they have where an option is not given
 * or its value is refused.
 * @options: @n of them, at most CLI_OPTIONS_MAX.
 *
 * Return: index in @argv of the first word that is no option (getopt_long() moves them to the end);
 * -1 after cli_usage().
 */
int cli_options(struct cli *cli, int argc, char **argv, const struct cli_option *options, int n);
