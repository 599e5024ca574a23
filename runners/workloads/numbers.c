/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool number_parse(const char *s, uint64_t *ret, const char **ret_rest)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || errno != 0)
		return false;
	*ret = v;
	*ret_rest = end;
	return true;
}

bool count_parse(const char *s, uint64_t max, uint64_t *ret)
{
	const char *rest;
	uint64_t v;

	if (!number_parse(s, &v, &rest) || *rest || v > max)
		return false;
	*ret = v;
	return true;
}

bool bytes_parse(const char *s, size_t *ret)
{
	static const char units[] = "kmgt";
	const char *rest, *unit;
	unsigned shift = 0;
	uint64_t v;

	if (!number_parse(s, &v, &rest))
		return false;
	if (*rest) {
		unit = strchr(units, *rest | 0x20);
		if (!unit || !*unit || rest[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (v > (UINT64_C(1) << 62) >> shift)
		return false;
	*ret = (size_t)(v << shift);
	return true;
}
