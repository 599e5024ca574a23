/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured, as the pure libraries take it. */
#pragma once

#include <stddef.h>

struct db;
struct db_rows;
struct err;
struct runs;

/**
 * measured_load() - runs from rows of values.
 * @rows: columns commit, boot, layout, values (float8[]), seconds since 1970; rows of one commit
 *	stand together. They are done with.
 * @metric: NULL takes all metrics.
 * @ret: one element a commit, in the order of the rows; measured_free() it.
 */
int measured_load(struct db *db, struct db_rows *rows, const char *metric, struct runs **ret,
		  size_t *ret_n, struct err *e);
void measured_free(struct runs *list, size_t n);
