/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct bisect_graph;

/** CMD_BISECT_REPLAY_USAGE - its usage line. */
#define CMD_BISECT_REPLAY_USAGE \
	"bisect replay [--git-log] [--repo DIR] [--wrong P] [--top N] [--json] LOG"

/** cmd_bisect_replay() - `kperfbot bisect replay`; @argv[0] is "replay". */
int cmd_bisect_replay(struct cli *cli, int argc, char **argv);

/**
 * struct replay_options - what was asked for.
 * @repo: where the commits of a `git bisect log` are.
 * @wrong: probability that one of its words is wrong.
 * @top: commits shown after each step.
 * @git_log: print the log as git would.
 */
struct replay_options {
	const char *path;
	const char *repo;
	double wrong;
	int top;
	bool git_log;
};

/** cmd_bisect_replay_git() - follow a `git bisect log`. Return: an exit code. */
int cmd_bisect_replay_git(const struct cli *cli, const struct replay_options *q, const char *text,
			  size_t len);

/** struct replay_likely - a commit and its posterior. */
struct replay_likely {
	size_t commit;
	double p;
};

/** replay_top() - the @n likeliest of @p, at most @most; @ret has room. Return: how many. */
size_t replay_top(const double *p, size_t n, size_t most, struct replay_likely *ret);

/** replay_left() - 2^entropy of @p: how many commits are left, in effect. */
double replay_left(const double *p, size_t n);
