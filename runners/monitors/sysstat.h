/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables as mpstat, sar and pidstat print them: a clock, then columns with a heading. The clock may
 * have 12 hours, letters of any script, or count seconds; columns come in any order.
 */
#pragma once

#include "runners/monitors/internal.h"

#define SYSSTAT_COLUMNS 64

enum sysstat_clock {
	CLOCK_NONE,
	CLOCK_DAY,   /* 24 hours */
	CLOCK_NOON,  /* 12 hours, AM or PM */
	CLOCK_EPOCH, /* seconds since 1970 */
	CLOCK_AVERAGE
};

/**
 * struct sysstat_row - one line of numbers.
 * @at_s: seconds since 1970-01-01 00:00 by the clock that printed it, whatever its time zone, where
 *	@dated; else since the start of the first row's day.
 * @took_s: since the row or heading before; 0 if not known.
 * @average: not a sample but the mean of those before; has no time.
 * @columns, @fields: @n of each; parts of the text.
 */
struct sysstat_row {
	int64_t at_s, took_s;
	bool dated, average;
	struct word columns[SYSSTAT_COLUMNS], fields[SYSSTAT_COLUMNS];
	size_t n;
	struct line line;
};

/** struct sysstat - the state of reading; start with { .lines = { text, len }, .out = … }. */
struct sysstat {
	struct lines lines;
	struct suite_output *out;
	struct sysstat_row row;
	enum sysstat_clock clock;
	int64_t day_s, last_s;
	bool timed;
};

/** sysstat_next() - the next row in @s->row; false at the end. Lines of another form are problems. */
bool sysstat_next(struct sysstat *s);

/** sysstat_field() - what is below the heading @column, or NULL. */
const struct word *sysstat_field(const struct sysstat_row *row, const char *column);
