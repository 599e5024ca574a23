/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/older.h"

static bool is_worse(bool down, const struct bisect_interval *i)
{
	return down ? i->hi < 0 : i->lo > 0;
}

enum bisect_older bisect_older_judge(bool down, const struct bisect_interval *step,
				     const struct bisect_interval *parent,
				     const struct bisect_interval *culprit)
{
	double sign = down ? -1 : 1;

	if (is_worse(down, step))
		return BISECT_OLDER_GOOD;
	if (!parent || !culprit)
		return BISECT_OLDER_ASK;
	if (is_worse(down, parent) ||
	    (is_worse(down, culprit) && sign * parent->rel >= sign * culprit->rel / 2))
		return BISECT_OLDER_BAD;
	return BISECT_OLDER_UNKNOWN;
}

void bisect_older_mark(const struct bisect_graph *g, const unsigned char *from_bad,
		       unsigned char *from_good, unsigned char *ret)
{
	for (size_t c = 0; c < g->n; c++) {
		const struct bisect_commit *commit = &g->commits[c];

		ret[c] = from_bad[c];
		for (size_t i = 0; i < commit->n_parents; i++) {
			from_good[c] |= from_good[commit->parents[i]];
			ret[c] |= ret[commit->parents[i]];
		}
		if (from_good[c])
			ret[c] = 0;
	}
}

int bisect_older_merge(const struct bisect_graph *g, const unsigned char *has_good, int commit)
{
	for (size_t c = (size_t)commit; c < g->n; c++)
		if (has_good[c] && bisect_graph_contains(g, c, (size_t)commit))
			return (int)c;
	return BISECT_NO_COMMIT;
}
