/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bisection whose good end is not an ancestor of the bad one. Both and their merge bases are
 * measured in turns before anything else. Where the bases are as good as the good end, the range
 * behind them is searched for the first bad commit, as ever. Where one is as bad as the bad end,
 * the step is not in that range: the good end has something that the bad end lacks, and it is
 * looked for between that base and the good end. Nobody is blamed for it.
 *
 * The stage is kept with the status of the bisection.
 */
#pragma once

#include "bisect/bases.h"
#include "bot/base/json.h"

#include <git2/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bisect_params;
struct bisect_step;
struct bisection_asked;
struct bisection_run;
struct err;
struct range_options;

/** BISECTION_BASES_MAX - merge bases of one pair of ends that are measured. */
#define BISECTION_BASES_MAX 8

enum bisection_stage {
	BISECTION_PLAIN,     /* the good end is an ancestor of the bad one */
	BISECTION_BASES,     /* ends and merge bases are measured */
	BISECTION_BAD_SIDE,  /* the first bad commit is looked for */
	BISECTION_GOOD_SIDE, /* what the bad end lacks is looked for: all is the other way round */
};

/**
 * struct bisection_fork - where such a bisection stands.
 * @bases, @n_bases: merge bases of both ends.
 * @instead: the merge base that cannot be measured, and for which that in @bases stands; or "".
 * @older: how many commits before it.
 * @sides: what each of them is like; @rel: its change against the good end, NAN: not known.
 * @from: start of the search: a base, or the good end itself.
 * @total: merge bases that there are; no more than the newest BISECTION_BASES_MAX are measured.
 * @commits: from the bases to the bad end.
 * @stored: readers have the subjects of the commits of this stage.
 * @unlimited: paths and first parents left nothing on the good side, so all of it is searched.
 */
struct bisection_fork {
	enum bisection_stage stage;
	char bases[BISECTION_BASES_MAX][41];
	char instead[BISECTION_BASES_MAX][41];
	int older[BISECTION_BASES_MAX];
	size_t n_bases;
	enum bisect_base_side sides[BISECTION_BASES_MAX];
	double rel[BISECTION_BASES_MAX];
	char from[41];
	size_t total;
	int64_t commits;
	bool stored;
	bool unlimited;
};

/** bisection_stage_name() - "plain", "bases", "bad-side", "good-side". Static string. */
const char *bisection_stage_name(enum bisection_stage stage);

/** bisection_bases_is_rewound() - is the bad end an ancestor of the good one? */
bool bisection_bases_is_rewound(const struct bisection_run *b);

/** bisection_bases_rewind() - as the status of the bisection has it, or as it begins. */
void bisection_bases_rewind(struct bisection_run *b);

/**
 * bisection_bases_read() - b->range, which has been read, becomes that of the stage.
 * Return: 0; ERR_INVAL: no common ancestor; those of range_read().
 */
int bisection_bases_read(struct bisection_run *b, git_repository *repo,
			 const struct range_options *opt, struct err *e);

/**
 * bisection_bases_rewound() - the bad end is an ancestor of the good one: what a branch lost when it
 * was set back. As if the bad end were the merge base, and bad.
 */
int bisection_bases_rewound(struct bisection_run *b, git_repository *repo,
			    const struct range_options *opt, struct err *e);

/** bisection_bases_commits() - adds ends and bases to @list, at most BISECTION_BASES_MAX + 2. */
size_t bisection_bases_commits(const struct bisection_run *b, const char **list);

/** bisection_bases_runs() - values of ends and bases beside the range: the search does not know them. */
int bisection_bases_runs(const struct bisection_run *b);

/** bisection_bases_params() - the step that is looked for, in the direction of the stage. */
void bisection_bases_params(const struct bisection_run *b, struct bisect_params *p);

/**
 * bisection_bases_order() - in stage BASES, with nothing under way: two boots of ends and bases in
 * turns. Return: 1 ordered, 0 they are there, an error.
 */
int bisection_bases_order(struct bisection_run *b, struct err *e);

/** bisection_bases_answer() - the ends differ: where to go on, or more boots. */
int bisection_bases_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e);

/**
 * bisection_bases_untestable() - can @hash, beside the range, not be built, booted or run?
 * @ret_reason: "build" or "boot"; static. Return: 1 it cannot; 0; an error. Asks for its build.
 */
int bisection_bases_untestable(struct bisection_run *b, const char *hash, const char **ret_reason,
			       struct err *e);

/** BISECTION_OLDER_MOST - commits before one that cannot be measured which are tried in its place. */
#define BISECTION_OLDER_MOST 8

/** bisection_bases_reset() - nothing that was measured counts. */
void bisection_bases_reset(struct bisection_run *b);

/** bisection_bases_level() - commit whose level others are told against: the good end. */
const char *bisection_bases_level(const struct bisection_run *b);

/**
 * bisection_bases_log() - log a base as a step. Return: 1 logged, or not a base; 0 it is not measured
 * yet; an error.
 */
int bisection_bases_log(struct bisection_run *b, const struct bisection_asked *asked,
			struct err *e);

/** bisection_bases_status() - adds "fork" and "notes"; takes out what is not of the range. */
void bisection_bases_status(const struct bisection_run *b, json_t *status);

/** bisection_bases_result() - adds "fork" to @result, and a sentence to its text. */
void bisection_bases_result(const struct bisection_run *b, json_t *result);
