/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file format kperfbot-changes/1. */
#pragma once

#include "bot/detect/series.h"

struct json_out;

/**
 * changes_json_open(), changes_json_close() - the object around all series.
 * changes_json_add() - one series. Where a commit has several rows, index, lo, hi and n count rows
 *	of the series, index being the first one of the new level.
 */
void changes_json_open(struct json_out *o);
void changes_json_add(struct json_out *o, const struct series *s, const struct changes *c);
void changes_json_close(struct json_out *o);
