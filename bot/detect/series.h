/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories as CSV: runs of commits, in the order of the commits. */
#pragma once

#include "bot/base/vec.h"
#include "bot/detect/changes.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum {
	SERIES_MAX = 100000,
	SERIES_NAME_MAX = 1000,
	SERIES_FIELD_MAX = 65536
};

/**
 * struct series - one metric on one machine.
 * @name, @machine: "" without such a column; owned.
 * @points: one a commit; @rows, @last_rows: first and last row of each, counted from 0 among the
 *	rows of this series; @commits: their names, "" without such a column; owned.
 * @again: rows of a commit that were measured after two later commits had been.
 * @nrows: rows of this series. @gaps: values that are unknown.
 */
struct series {
	char *name;
	char *machine;
	VEC(struct series_point) points;
	VEC(size_t) rows;
	VEC(size_t) last_rows;
	VEC(char *) commits;
	VEC(struct series_remeasure) again;
	size_t nrows;
	size_t gaps;
};

/**
 * struct series_file - what a file holds; `struct series_file f = { 0 };`, series_file_done().
 * @items: in the order they were met.
 * @has_time: there is a column of that name.
 */
struct series_file {
	VEC(struct series) items;
	bool has_time;
};

void series_file_done(struct series_file *f);

/**
 * series_parse() - read CSV with a header line.
 * @text: @len untrusted bytes.
 * @each_row: every row is a point of its own, as for a control build; otherwise rows of one commit
 *	are its runs and their median is its value, and rows without a commit column are one each.
 * @ret: zero; filled on success only.
 *
 * Columns in any order: value, and any of commit, time, series, boot, machine. Fields may be quoted
 * (RFC 4180); lines end in LF or CR LF. value: a number with a decimal point, or nan, inf, NA: not
 * known. time: seconds, or 2024-02-29[T12:00[:00[.5]][Z|+02:00]]; empty: not known. A commit may
 * come again after others only with a time: it was measured once more then.
 *
 * Pure. The line is named in every error.
 * Return: 0; ERR_PARSE (no header, wrong columns, holes, no number, NUL, not UTF-8, commits out of
 * order); ERR_TOO_BIG.
 */
int series_parse(const char *text, size_t len, bool each_row, struct series_file *ret,
		 struct err *e);

/** series_file_has() - is there a series of this name? */
bool series_file_has(const struct series_file *f, const char *name);

/** series_file_keep() - forget all series with other names. */
void series_file_keep(struct series_file *f, const char *name);

/**
 * series_file_control() - the control build's series in @f for @s.
 * Return: the one of the same name and machine; else the only one of the machine, or that may be of
 * it as one of both is not named; else NULL. Belongs to @f.
 */
const struct series *series_file_control(const struct series_file *f, const struct series *s);
