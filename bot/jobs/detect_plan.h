/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the noise before a comparison is measured, and what that lets it see. */
#pragma once

#include "bot/detect/judged.h"

#include <jansson.h>

struct comparison;
struct err;
struct job;
struct job_ctx;

/**
 * struct detect_past - runs of earlier commits; detect_past_done() frees it.
 * @nborrowed: the first so many of @history are not commits of the branch; there are some only
 *	while the branch has too few of its own.
 */
struct detect_past {
	struct runs *history;
	size_t nhistory;
	size_t nborrowed;
};
void detect_past_done(struct detect_past *p);

/**
 * detect_past_load() - what the branch's earlier commits gave, on the machine of @cmp or, while
 * none is chosen, on the one that measured most of them; and what others gave on machines of
 * @group while those are too few.
 * @metric: NULL takes all of them.
 */
int detect_past_load(struct job_ctx *c, const struct comparison *cmp, const char *group,
		     const char *metric, struct detect_past *ret, struct err *e);

/**
 * detect_plan_make() - the plan of a comparison, as a JSON object for people:
 * `commits` (earlier ones, `borrowed` of them not of the branch), `boot_sd` (of one boot's mean, a ratio; absent without history),
 * `looks` [{`boots` a side, `detectable` (ratio, 4 times in 5; absent without history)}].
 * @metric: the headline metric. @per_boot: runs that a boot will have. @ret_first: boots a side of the first look.
 */
int detect_plan_make(const struct detect_past *past, const char *metric, size_t per_boot,
		     const struct detect_options *o, json_t **ret, int *ret_first, struct err *e);
