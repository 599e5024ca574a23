/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which other metrics moved together with a headline, and say something new. Pure. */
#pragma once

#include <stddef.h>

/** struct mover_side - what one side's runs gave. */
struct mover_side {
	double mean, sd;
	int n;
};

/**
 * struct mover - a metric on both sides.
 * @name: borrowed; "NAME.per_op" is the count "NAME" for each unit of work.
 * @rel: head ÷ base − 1; filled by movers_pick(), INFINITY where only the head has any.
 */
struct mover {
	const char *name;
	struct mover_side base, head;
	double rel;
};

/**
 * movers_pick() - put the metrics that are worth telling first, the largest change before all.
 * @list: @n metrics, in any order; sorted anew.
 * @headline_rel: change of the headline.
 *
 * A metric moved if its means differ by more than chance allows among thousands, and by 1 % at least.
 * A count that is taken per second and per unit of work moved only if it did in both: else a clock's
 * ticks would grow per operation, and an operation's faults fall per second, when nothing but the
 * speed has changed. Such a count is told once, per unit of work. What changed just as the headline
 * did is the same fact, and left out.
 *
 * Return: how many of the first in @list are worth telling.
 */
size_t movers_pick(struct mover *list, size_t n, double headline_rel);
