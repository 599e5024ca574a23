/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "bisect/log.h"
#include "bot/base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct err;

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

/**
 * struct replay_cost - what was spent, by the log's own prices.
 * @builds, @boots, @runs, @minutes: all of it. @unused: builds of commits that were not measured.
 * @beside: checks of the answer on commits beside the range, in the sums above.
 * @sure_step, @sure_minutes: from this step on one commit had the wanted probability; 0: none has.
 */
struct replay_cost {
	int builds;
	int boots;
	int runs;
	int unused;
	double minutes;
	struct bisect_log_beside beside;
	int sure_step;
	double sure_minutes;
};

/** replay_cost_unused() - add the build of @commit if it was not measured. */
void replay_cost_unused(struct replay_cost *c, struct bisect_state *s, int commit);

/** replay_cost_beside() - add the checks beside the range. */
void replay_cost_beside(struct replay_cost *c, const struct bisect_log *log);

/**
 * struct replay_plain - plain bisection of the same range, with 3 and with 10 boots a step.
 * @trials: searches simulated; 0: too many commits, only @minutes are there, and computed.
 * @none: no step was there to be found, so that every commit it names is wrong.
 * @right: share of the searches that named the culprit.
 */
struct replay_plain {
	int trials;
	bool none;
	double minutes[2];
	double right[2];
};

/**
 * replay_plain() - on the graph of @s, with noise, step and cost as measured, the same each time.
 * @step: its answer: the culprit, or that there is none, is taken to be true.
 */
int replay_plain(struct bisect_state *s, const struct bisect_step *step, struct replay_plain *ret,
		 struct err *e);

/** replay_cost_json() - keys "cost", "plain" and "plain_minutes" of @o. */
void replay_cost_json(json_t *o, const struct replay_cost *c, const struct replay_plain *plain);
void replay_cost_print(const struct replay_cost *c, const struct replay_plain *plain);

/** replay_left() - 2^entropy of @p: how many commits are left, in effect. */
double replay_left(const double *p, size_t n);
