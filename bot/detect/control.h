/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Was the box steady while it measured? The same kernel against itself, from runs that are there. */
#pragma once

#include "bot/detect/verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	CONTROL_CHECKS_MAX = 3
};

/**
 * struct control_check - one kernel compared with itself.
 * @name: "aa", "bb" (base or head: its 1st, 3rd … units in time against its 2nd, 4th …), "again"
 *	(base: the units made after the look that raised the suspicion against those before). Static.
 * @rel, @lo, @hi: the change between the two parts as a ratio, with its interval.
 * @p: of a t test, two-sided. @n: units of both parts together.
 * @ok: nothing speaks against a steady box.
 */
struct control_check {
	const char *name;
	double rel, lo, hi, p;
	int n;
	bool ok;
};

/**
 * control_check_all() - all checks that there are units for.
 * @profile: as for detect_compare(); with history the noise is known better.
 * @o: the level of the intervals, and the least effect that is worth a word.
 * @candidate_look: units a side at the look that raised the suspicion; 0: none.
 * @ret: at most CONTROL_CHECKS_MAX results.
 *
 * A check needs two units in either part, and speaks against the box with p <= .001 and a change as
 * large as is worth a verdict. p is the larger of two: with the noise of the side itself, and with
 * that of both sides. On a steady box less than one comparison in 250 fails a check (test_control).
 * Pure. Return: how many there are.
 */
size_t control_check_all(const struct detect_sample *base, size_t nbase,
			 const struct detect_sample *head, size_t nhead,
			 const struct detect_profile *profile, const struct detect_options *o,
			 int candidate_look, struct control_check *ret);

/** control_text() - the sentence for a check that is not ok. @buf: at least 160 bytes. */
const char *control_text(const struct control_check *c, char *buf, size_t size);
