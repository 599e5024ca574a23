/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/series.h"

#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/detect/csv.h"
#include "bot/detect/series_parts.h"
#include "bot/detect/series_time.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum column {
	COLUMN_VALUE,
	COLUMN_COMMIT,
	COLUMN_TIME,
	COLUMN_SERIES,
	COLUMN_BOOT,
	COLUMN_MACHINE,
	COLUMNS
};

static const char *const column_names[COLUMNS] = { "value",  "commit", "time",
						   "series", "boot",   "machine" };

/*
 * Tables of series by name and machine, and for each series of its commits by name: open addressing,
 * slots are indexes + 1. @hashes: of the entries.
 */
struct table {
	uint32_t *slots;
	size_t nslots;
	VEC(uint64_t) hashes;
};

struct reader {
	struct csv csv;
	int at[COLUMNS]; /* index of the field, -1 without such a column */
	size_t ncolumns;
	bool each_row;
	struct series_file *file;
	struct series_rows rows;
	struct table series;
	VEC(struct table) commits;
	size_t last_series;
};

static void series_done(struct series *s)
{
	vec_foreach (c, &s->commits)
		free(*c);
	vec_done(&s->commits);
	vec_done(&s->points);
	vec_done(&s->rows);
	vec_done(&s->last_rows);
	vec_done(&s->again);
	free(s->name);
	free(s->machine);
}

void series_file_done(struct series_file *f)
{
	vec_foreach (s, &f->items)
		series_done(s);
	vec_done(&f->items);
	f->has_time = false;
}

static void table_done(struct table *t)
{
	vec_done(&t->hashes);
	free(t->slots);
}

static void reader_done(struct reader *r)
{
	csv_done(&r->csv);
	vec_done(&r->rows);
	table_done(&r->series);
	vec_foreach (t, &r->commits)
		table_done(t);
	vec_done(&r->commits);
}

/* FNV-1a. */
#define HASH_START 0xcbf29ce484222325ULL

static uint64_t hash_text(const char *s, uint64_t h)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	/* Where one of two strings ends counts. */
	return (h ^ 0xff) * 0x100000001b3ULL;
}

static size_t first_slot(uint64_t h, size_t nslots)
{
	h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
	h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
	return (size_t)(h ^ (h >> 33)) & (nslots - 1);
}

/* Room for one more entry. */
static void table_grow(struct table *t)
{
	size_t nslots = t->nslots ? 2 * t->nslots : 64;
	uint32_t *slots;

	if (2 * (t->hashes.len + 1) <= t->nslots)
		return;
	slots = xcalloc(nslots, sizeof(*slots));
	for (size_t i = 0; i < t->hashes.len; i++) {
		size_t k = first_slot(t->hashes.items[i], nslots);

		while (slots[k])
			k = (k + 1) & (nslots - 1);
		slots[k] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = nslots;
}

static void table_add(struct table *t, size_t slot, uint64_t hash)
{
	vec_push(&t->hashes, hash);
	t->slots[slot] = (uint32_t)t->hashes.len;
}

static const char *field(const struct reader *r, enum column c)
{
	return r->at[c] < 0 ? "" : r->csv.fields[r->at[c]];
}

static bool is_series(const struct reader *r, size_t i)
{
	const struct series *s = &r->file->items.items[i];

	return !strcmp(s->name, field(r, COLUMN_SERIES)) &&
	       !strcmp(s->machine, field(r, COLUMN_MACHINE));
}

static int check_name(const struct reader *r, enum column c, struct err *e)
{
	const char *s = field(r, c);

	if (strlen(s) > SERIES_NAME_MAX)
		return err_set(e, ERR_TOO_BIG,
			       "line %zu: %s '%.40s…' has %zu bytes, at most %d are taken",
			       r->csv.line, column_names[c], s, strlen(s), SERIES_NAME_MAX);
	return 0;
}

static int find_series(struct reader *r, size_t *ret, struct err *e)
{
	struct series s = { 0 };
	struct table none = { 0 };
	uint64_t h;
	size_t k;

	if (r->file->items.len && is_series(r, r->last_series)) {
		*ret = r->last_series;
		return 0;
	}
	table_grow(&r->series);
	h = hash_text(field(r, COLUMN_MACHINE), hash_text(field(r, COLUMN_SERIES), HASH_START));
	for (k = first_slot(h, r->series.nslots); r->series.slots[k];
	     k = (k + 1) & (r->series.nslots - 1)) {
		*ret = r->series.slots[k] - 1;
		if (r->series.hashes.items[*ret] == h && is_series(r, *ret)) {
			r->last_series = *ret;
			return 0;
		}
	}
	if (r->file->items.len == SERIES_MAX)
		return err_set(e, ERR_TOO_BIG, "line %zu: more than %d series", r->csv.line,
			       SERIES_MAX);
	if (check_name(r, COLUMN_SERIES, e) < 0 || check_name(r, COLUMN_MACHINE, e) < 0)
		return ERR_TOO_BIG;
	s.name = xstrdup(field(r, COLUMN_SERIES));
	s.machine = xstrdup(field(r, COLUMN_MACHINE));
	vec_push(&r->file->items, s);
	*ret = r->last_series = r->file->items.len - 1;
	table_add(&r->series, k, h);
	vec_push(&r->commits, none);
	return 0;
}

/* A new commit of series @si. */
static int add_commit(struct reader *r, size_t si, struct err *e)
{
	struct series *s = &r->file->items.items[si];
	struct series_point p = { (double)NAN, 0, (double)NAN };

	if (s->points.len == CHANGES_POINTS_MAX)
		return err_set(e, ERR_TOO_BIG, "line %zu: more than %d commits in a series",
			       r->csv.line, CHANGES_POINTS_MAX);
	if (check_name(r, COLUMN_COMMIT, e) < 0)
		return ERR_TOO_BIG;
	vec_push(&s->points, p);
	vec_push(&s->rows, s->nrows);
	vec_push(&s->last_rows, s->nrows);
	vec_push(&s->commits, xstrdup(field(r, COLUMN_COMMIT)));
	return 0;
}

static int find_commit(struct reader *r, size_t si, double time, uint32_t *ret, struct err *e)
{
	struct series *s = &r->file->items.items[si];
	struct table *t = &r->commits.items[si];
	const char *name = field(r, COLUMN_COMMIT);
	uint64_t h;
	size_t k;
	int err;

	if (r->at[COLUMN_COMMIT] < 0 || r->each_row) {
		err = add_commit(r, si, e);
		*ret = (uint32_t)s->points.len - 1;
		return err;
	}
	if (!*name)
		return err_set(e, ERR_PARSE, "line %zu: no commit", r->csv.line);
	if (s->commits.len && !strcmp(s->commits.items[s->commits.len - 1], name)) {
		*ret = (uint32_t)s->commits.len - 1;
		return 0;
	}
	table_grow(t);
	h = hash_text(name, HASH_START);
	for (k = first_slot(h, t->nslots); t->slots[k]; k = (k + 1) & (t->nslots - 1)) {
		*ret = t->slots[k] - 1;
		if (t->hashes.items[*ret] != h || strcmp(s->commits.items[*ret], name) != 0)
			continue;
		if (isfinite(time))
			return 0;
		return err_set(e, ERR_PARSE,
			       "line %zu: commit '%.80s' again, after others; rows must be in the "
			       "order of the commits, or have a time",
			       r->csv.line, name);
	}
	err = add_commit(r, si, e);
	if (err < 0)
		return err;
	table_add(t, k, h);
	*ret = (uint32_t)s->points.len - 1;
	return 0;
}

/*
 * Most numbers in such files are like 45915.37: digits that fit a double exactly, divided by a power
 * of ten that does too, which rounds as strtod() would.
 */
static bool plain_number(const char *s, double *ret)
{
	static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10 };
	uint64_t v = 0;
	size_t n = 0, places = 0;

	for (; *s >= '0' && *s <= '9'; s++, n++)
		v = 10 * v + (uint64_t)(*s - '0');
	if (n && *s == '.') {
		for (s++; *s >= '0' && *s <= '9' && places < 10; s++, n++, places++)
			v = 10 * v + (uint64_t)(*s - '0');
	}
	if (*s || !n || n > 15)
		return false;
	*ret = (double)v / tens[places];
	return true;
}

static int read_value(const struct reader *r, double *ret, struct err *e)
{
	static const char *const unknown[] = { "nan",  "na",	   "inf",      "-inf",
					       "+inf", "infinity", "-infinity" };
	const char *s = field(r, COLUMN_VALUE);

	if (plain_number(s, ret))
		return 0;
	*ret = (double)NAN;
	if (!*s)
		return err_set(e, ERR_PARSE, "line %zu: no value; what is not known is nan",
			       r->csv.line);
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		if (!strcasecmp(s, unknown[i]))
			return 0;
	}
	if (parse_f64(s, -DBL_MAX, DBL_MAX, ret, NULL) == 0)
		return 0;
	if (strchr(s, ','))
		return err_set(e, ERR_PARSE,
			       "line %zu: value '%.80s' has a comma; the decimal sign is a point",
			       r->csv.line, s);
	return err_set(e, ERR_PARSE, "line %zu: value '%.80s' is no number", r->csv.line, s);
}

static int read_row(struct reader *r, struct err *e)
{
	struct series_row row = { .time = (double)NAN };
	struct series *s;
	size_t si = 0;
	int err;

	if (r->csv.nfields != r->ncolumns)
		return err_set(e, ERR_PARSE, "line %zu: %zu fields under %zu column names%s",
			       r->csv.line, r->csv.nfields, r->ncolumns,
			       r->csv.nfields > r->ncolumns ? "; the decimal sign is a point" : "");
	err = read_value(r, &row.value, e);
	if (err < 0)
		return err;
	if (series_time_parse(field(r, COLUMN_TIME), &row.time) < 0)
		return err_set(e, ERR_PARSE,
			       "line %zu: time '%.80s' is neither seconds nor a date as in "
			       "2024-02-29T12:00:00Z",
			       r->csv.line, field(r, COLUMN_TIME));
	err = find_series(r, &si, e);
	if (err < 0)
		return err;
	err = find_commit(r, si, row.time, &row.commit, e);
	if (err < 0)
		return err;
	s = &r->file->items.items[si];
	if (row.commit + 1 == s->points.len)
		s->last_rows.items[row.commit] = s->nrows;
	s->nrows++;
	s->gaps += isnan(row.value) ? 1 : 0;
	row.series = (uint32_t)si;
	row.boot = hash_text(field(r, COLUMN_BOOT), HASH_START);
	vec_push(&r->rows, row);
	return 0;
}

static int read_header(struct reader *r, struct err *e)
{
	int err = csv_next(&r->csv, SERIES_FIELD_MAX, e);

	if (err < 0)
		return err;
	if (err == 0)
		return err_set(e, ERR_PARSE,
			       "line 1: no header; want value and any of commit, "
			       "time, series, boot, machine");
	memset(r->at, -1, sizeof(r->at));
	r->ncolumns = r->csv.nfields;
	for (size_t i = 0; i < r->ncolumns; i++) {
		size_t c = 0;

		while (c < COLUMNS && strcmp(r->csv.fields[i], column_names[c]) != 0)
			c++;
		if (c == COLUMNS)
			return err_set(e, ERR_PARSE,
				       "line 1: unknown column '%.80s'; want value and any of "
				       "commit, time, series, boot, machine, with commas between",
				       r->csv.fields[i]);
		if (r->at[c] >= 0)
			return err_set(e, ERR_PARSE, "line 1: column '%s' twice", column_names[c]);
		r->at[c] = (int)i;
	}
	if (r->at[COLUMN_VALUE] < 0)
		return err_set(e, ERR_PARSE, "line 1: no column 'value'");
	r->file->has_time = r->at[COLUMN_TIME] >= 0;
	return 0;
}

/* Empty lines may end a file; inside it they are holes. */
static bool is_end(const struct reader *r)
{
	if (r->csv.nfields != 1 || r->csv.fields[0][0])
		return false;
	for (const char *p = r->csv.s; p < r->csv.end; p++) {
		if (*p != '\n' && *p != '\r')
			return false;
	}
	return true;
}

int series_parse(const char *text, size_t len, bool each_row, struct series_file *ret,
		 struct err *e)
{
	_cleanup_(series_file_done) struct series_file file = { 0 };
	_cleanup_(reader_done) struct reader r = { .each_row = each_row, .file = &file };
	int err;

	/* A byte order mark, as spreadsheets put it. */
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	r.csv.s = text;
	r.csv.end = text + len;
	err = read_header(&r, e);
	if (err < 0)
		return err;
	while ((err = csv_next(&r.csv, SERIES_FIELD_MAX, e)) > 0 && !is_end(&r)) {
		err = read_row(&r, e);
		if (err < 0)
			break;
	}
	if (err < 0)
		return err;
	series_fill_points(&file, &r.rows, r.at[COLUMN_BOOT] >= 0);
	*ret = file;
	file = (struct series_file){ 0 };
	return 0;
}

bool series_file_has(const struct series_file *f, const char *name)
{
	vec_foreach (s, &f->items) {
		if (!strcmp(s->name, name))
			return true;
	}
	return false;
}

void series_file_keep(struct series_file *f, const char *name)
{
	size_t kept = 0;

	vec_foreach (s, &f->items) {
		if (strcmp(s->name, name) != 0)
			series_done(s);
		else
			f->items.items[kept++] = *s;
	}
	f->items.len = kept;
}

const struct series *series_file_control(const struct series_file *f, const struct series *s)
{
	const struct series *only = NULL;
	size_t n = 0;

	vec_foreach (c, &f->items) {
		if (!strcmp(c->name, s->name) && !strcmp(c->machine, s->machine))
			return c;
	}
	vec_foreach (c, &f->items) {
		if (!strcmp(c->machine, s->machine) || !*c->machine || !*s->machine) {
			only = c;
			n++;
		}
	}
	return n == 1 ? only : NULL;
}
