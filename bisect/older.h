/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * History that is older than the good end, as a topic that left before it and was merged behind it.
 * The good end may have something that such history lacks; then the commits of that topic are as bad
 * as what they grew from, and none of them is the first bad one.
 */
#pragma once

#include "bisect/graph.h"

/** struct bisect_interval - a change as a ratio, and where it lies. NAN: not known. */
struct bisect_interval {
	double rel, lo, hi;
};

enum bisect_older {
	BISECT_OLDER_GOOD,    /* the culprit is worse than this parent */
	BISECT_OLDER_ASK,     /* it is not: the parent and the good end have to be compared */
	BISECT_OLDER_BAD,     /* this parent is worse than the good end, as the culprit is */
	BISECT_OLDER_UNKNOWN, /* neither can be said */
};

/**
 * bisect_older_judge() - what a parent outside of the range is like.
 * @down: the bad end has the lower value.
 * @step: from the parent to the culprit.
 * @parent, @culprit: each from the good end; NULL while that is not measured.
 *
 * Where intervals leave it open, it is bad if the culprit is and it has half of that step or more.
 */
enum bisect_older bisect_older_judge(bool down, const struct bisect_interval *step,
				     const struct bisect_interval *parent,
				     const struct bisect_interval *culprit);

/**
 * bisect_older_mark() - commits whose level says nothing, as they grew from a bad parent and the good
 * end is not in them.
 * @from_bad: per commit: a parent outside of the range is bad.
 * @from_good: per commit: a parent is the good end. Changed: all that has the good end in it.
 * @ret: per commit: is it one of them?
 */
void bisect_older_mark(const struct bisect_graph *g, const unsigned char *from_bad,
		       unsigned char *from_good, unsigned char *ret);

/**
 * bisect_older_merge() - the first commit that has both @commit and the good end in it.
 * @has_good: as bisect_older_mark() leaves it. Return: an index, or BISECT_NO_COMMIT.
 */
int bisect_older_merge(const struct bisect_graph *g, const unsigned char *has_good, int commit);
