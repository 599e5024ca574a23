/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/layout.h"

#include <math.h>

enum layout layout_judge(const struct layout_effect *normal, const struct layout_effect *aligned)
{
	/* Upwards is worse from here on. */
	double sign = normal->rel < 0 ? -1 : 1;
	double least = sign * (sign < 0 ? aligned->hi : aligned->lo);
	double most = sign * (sign < 0 ? aligned->lo : aligned->hi);
	double half = fabs(normal->rel) / 2;

	if (!(isfinite(aligned->rel) && isfinite(least) && isfinite(most)) || least > most ||
	    !(half > 0))
		return LAYOUT_UNCLEAR;
	if (most < half)
		return least > 0 ? LAYOUT_PART : LAYOUT_GONE;
	return least > 0 && sign * aligned->rel >= half ? LAYOUT_STILL : LAYOUT_UNCLEAR;
}
