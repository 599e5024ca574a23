/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of judged. */
#pragma once

#include "bot/detect/judged.h"

/**
 * judged_moved() - may a metric explain a headline? A verdict on a monitor asks for more than chance
 * among thousands: a change that is large enough. To explain a headline any is enough that a headline
 * may have.
 */
bool judged_moved(const struct detect_result *r, const struct detect_options *o);

/** judged_group() - give those of @j's metrics that moved and are one fact the same group. */
void judged_group(const struct runs *base, const struct runs *head, const struct detect_options *o,
		  struct judged *j);
