/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a change still there when all functions are aligned alike? Pure. */
#pragma once

/* Name of the build variant, of the check in reports, and what it is to people. */
#define LAYOUT_VARIANT "align64"
#define LAYOUT_PEOPLE  "64-byte aligned functions"

enum layout {
	LAYOUT_STILL,	/* as bad as before: the code itself does it */
	LAYOUT_GONE,	/* at most half of it is left: the commit moved other code about */
	LAYOUT_PART,	/* surely something is left, and surely less than half */
	LAYOUT_UNCLEAR, /* the interval says neither */
};

/** struct layout_effect - change of the headline metric as a ratio, with its interval. */
struct layout_effect {
	double rel, lo, hi;
};

/**
 * layout_judge() - what the comparison of the aligned builds says about a change for the worse.
 * @normal: the change as it was found; only @rel counts, not 0. @aligned: the same commits, aligned.
 *
 * STILL needs half of @normal, with an interval clear of zero; GONE one without that half, and
 * with zero or on the better side. Not measured, NaN or not an interval: UNCLEAR.
 */
enum layout layout_judge(const struct layout_effect *normal, const struct layout_effect *aligned);
