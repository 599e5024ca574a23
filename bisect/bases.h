/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends that are not ancestors of each other: what the levels of their merge bases say about where
 * to search. A base as good as the good end leaves the step between it and the bad end. One as bad
 * as the bad end has the step behind it, or it was never as good: then the good end has something
 * that the bad end lacks, and this lies between the base and the good end.
 */
#pragma once

#include <stddef.h>

/** BISECT_BASE_BOOTS_MOST - boots of a base after which it is taken for one between the ends. */
#define BISECT_BASE_BOOTS_MOST 8

enum bisect_base_side {
	BISECT_BASE_OPEN,     /* not measured often enough to tell */
	BISECT_BASE_GOOD,     /* at the level of the good end, or beyond */
	BISECT_BASE_BAD,      /* at the level of the bad end, or beyond */
	BISECT_BASE_BETWEEN,  /* measured often, and still not to be told */
	BISECT_BASE_UNTESTED, /* cannot be built or booted */
};

enum bisect_bases_search {
	BISECT_BASES_MEASURE,	/* a base is open */
	BISECT_BASES_BAD_SIDE,	/* from the bases to the bad end, for what made it bad */
	BISECT_BASES_GOOD_SIDE, /* from a bad base to the good end, for what made it good */
	BISECT_BASES_UNKNOWN,	/* none can be measured */
};

/**
 * struct bisect_level - what was measured of one commit.
 * @mean: of its boots, in units of y; @sd: its error, > 0; @boots: how many, 0: no value.
 */
struct bisect_level {
	double mean;
	double sd;
	int boots;
};

/**
 * bisect_base_side() - which end is @base like?
 *
 * The ends are known to differ. The likelihood ratio of two levels with equal errors is decided by
 * the distance from the middle between them, here by 99 % of a normal error on either side.
 * Pure. Return: BISECT_BASE_OPEN, _GOOD, _BAD or _BETWEEN.
 */
enum bisect_base_side bisect_base_side(const struct bisect_level *good,
				       const struct bisect_level *bad,
				       const struct bisect_level *base);

/**
 * bisect_bases_decide() - where to go on from here.
 * @ret: index of the base to start from: with GOOD_SIDE the first bad one; with BAD_SIDE a single
 *       base; @n: the good end itself is the start. With MEASURE: the first open one.
 *
 * One bad base decides, whatever the others turned out to be: the good end descends from it as well.
 * Of several good ones none has all that both ends have, but the good end has.
 */
enum bisect_bases_search bisect_bases_decide(const enum bisect_base_side *sides, size_t n,
					     size_t *ret);

/** bisect_base_side_name() - "open", "good", "bad", "between", "untested". Static string. */
const char *bisect_base_side_name(enum bisect_base_side side);

/** bisect_base_side_find() - by its name; BISECT_BASE_OPEN for any other. */
enum bisect_base_side bisect_base_side_find(const char *name);
