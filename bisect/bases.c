/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/bases.h"

#include <math.h>
#include <string.h>

/* One-sided 99 % of the normal distribution. */
#define SURE_SDS 2.326

static const char *const names[] = {
	[BISECT_BASE_OPEN] = "open",	     [BISECT_BASE_GOOD] = "good",
	[BISECT_BASE_BAD] = "bad",	     [BISECT_BASE_BETWEEN] = "between",
	[BISECT_BASE_UNTESTED] = "untested",
};

enum bisect_base_side bisect_base_side(const struct bisect_level *good,
				       const struct bisect_level *bad,
				       const struct bisect_level *base)
{
	double step = bad->mean - good->mean;
	double from_middle = base->mean - (good->mean + bad->mean) / 2;
	double sd = sqrt(base->sd * base->sd + (good->sd * good->sd + bad->sd * bad->sd) / 4);
	double sds = (step < 0 ? -from_middle : from_middle) / sd;

	if (base->boots > 0 && good->boots > 0 && bad->boots > 0 && step != 0) {
		if (sds >= SURE_SDS)
			return BISECT_BASE_BAD;
		if (sds <= -SURE_SDS)
			return BISECT_BASE_GOOD;
	}
	return base->boots >= BISECT_BASE_BOOTS_MOST ? BISECT_BASE_BETWEEN : BISECT_BASE_OPEN;
}

static size_t first_of(const enum bisect_base_side *sides, size_t n, enum bisect_base_side side)
{
	size_t i = 0;

	while (i < n && sides[i] != side)
		i++;
	return i;
}

enum bisect_bases_search bisect_bases_decide(const enum bisect_base_side *sides, size_t n,
					     size_t *ret)
{
	*ret = first_of(sides, n, BISECT_BASE_OPEN);
	if (*ret < n)
		return BISECT_BASES_MEASURE;
	*ret = first_of(sides, n, BISECT_BASE_BAD);
	if (*ret < n)
		return BISECT_BASES_GOOD_SIDE;
	*ret = n == 1 ? 0 : n;
	for (size_t i = 0; i < n; i++)
		if (sides[i] != BISECT_BASE_UNTESTED)
			return BISECT_BASES_BAD_SIDE;
	return BISECT_BASES_UNKNOWN;
}

const char *bisect_base_side_name(enum bisect_base_side side)
{
	return names[side];
}

enum bisect_base_side bisect_base_side_find(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return (enum bisect_base_side)i;
	return BISECT_BASE_OPEN;
}
