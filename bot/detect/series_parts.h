/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that read histories share; nobody else includes it. */
#pragma once

#include "bot/detect/series.h"

#include <stdint.h>

/** struct series_row - one row as it was read. @boot: hash of its name. @series, @commit: indexes. */
struct series_row {
	double value;
	double time;
	uint64_t boot;
	uint32_t series;
	uint32_t commit;
};

struct series_rows {
	struct series_row *items;
	size_t len;
	size_t cap;
};

/**
 * series_fill_points() - values of the commits from their rows, and what was measured again.
 * @rows: of all series; reordered. @by_boot: boots of a commit count, not its runs.
 */
void series_fill_points(struct series_file *f, struct series_rows *rows, bool by_boot);
