/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/series.h"

#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/detect/csv.h"
#include "bot/detect/series_time.h"
#include "bot/detect/stats.h"

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

/* One row as it was read; @commit counts the points of its series. */
struct row {
	double value;
	double time;
	uint64_t boot;
	uint32_t series;
	uint32_t commit;
};

/*
 * A table of series by name and machine, and one of commits by series and name: open addressing,
 * entries are indexes + 1.
 */
struct table {
	uint32_t *slots;
	size_t nslots;
	size_t used;
};

struct reader {
	struct csv csv;
	int at[COLUMNS]; /* index of the field, -1 without such a column */
	size_t ncolumns;
	bool each_row;
	struct series_file *file;
	VEC(struct row) rows;
	VEC(uint32_t) commit_of;    /* entries of @commits: their series … */
	VEC(uint32_t) commit_index; /* … and index in it */
	struct table series;
	struct table commits;
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

static void reader_done(struct reader *r)
{
	csv_done(&r->csv);
	vec_done(&r->rows);
	vec_done(&r->commit_of);
	vec_done(&r->commit_index);
	free(r->series.slots);
	free(r->commits.slots);
}

static uint64_t hash_text(const char *s, uint64_t h)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	/* Where one of two strings ends counts. */
	return (h ^ 0xff) * 0x100000001b3ULL;
}

static size_t first_slot(uint64_t h, size_t nslots)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ULL;
	return (size_t)(h >> 20) & (nslots - 1);
}

static uint64_t series_hash(const struct reader *r, size_t i)
{
	const struct series *s = &r->file->items.items[i];

	return hash_text(s->machine, hash_text(s->name, 0xcbf29ce484222325ULL));
}

static uint64_t commit_hash(const struct reader *r, size_t i)
{
	uint32_t series = r->commit_of.items[i];
	const struct series *s = &r->file->items.items[series];

	return hash_text(s->commits.items[r->commit_index.items[i]],
			 0xcbf29ce484222325ULL ^ ((uint64_t)series << 32));
}

/* Room for one more entry; @hash gives that of an entry already in the table. */
static void table_grow(const struct reader *r, struct table *t,
		       uint64_t (*hash)(const struct reader *, size_t))
{
	struct table bigger = { .nslots = t->nslots ? 2 * t->nslots : 64, .used = t->used };

	if (2 * (t->used + 1) <= t->nslots)
		return;
	bigger.slots = xcalloc(bigger.nslots, sizeof(*bigger.slots));
	for (size_t i = 0; i < t->used; i++) {
		size_t k = first_slot(hash(r, i), bigger.nslots);

		while (bigger.slots[k])
			k = (k + 1) & (bigger.nslots - 1);
		bigger.slots[k] = (uint32_t)i + 1;
	}
	free(t->slots);
	*t = bigger;
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
	uint64_t h;
	size_t k;

	if (r->file->items.len && is_series(r, r->last_series)) {
		*ret = r->last_series;
		return 0;
	}
	table_grow(r, &r->series, series_hash);
	h = hash_text(field(r, COLUMN_MACHINE),
		      hash_text(field(r, COLUMN_SERIES), 0xcbf29ce484222325ULL));
	for (k = first_slot(h, r->series.nslots); r->series.slots[k];
	     k = (k + 1) & (r->series.nslots - 1)) {
		*ret = r->series.slots[k] - 1;
		if (is_series(r, *ret)) {
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
	r->series.slots[k] = (uint32_t)r->file->items.len;
	r->series.used++;
	return 0;
}

/* A new commit of series @si, known under its name from now on if it has one. */
static int add_commit(struct reader *r, size_t si, size_t slot, struct err *e)
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
	if (slot < r->commits.nslots) {
		vec_push(&r->commit_of, (uint32_t)si);
		vec_push(&r->commit_index, (uint32_t)s->points.len - 1);
		r->commits.slots[slot] = (uint32_t)++r->commits.used;
	}
	return 0;
}

static int find_commit(struct reader *r, size_t si, double time, uint32_t *ret, struct err *e)
{
	struct series *s = &r->file->items.items[si];
	const char *name = field(r, COLUMN_COMMIT);
	size_t k;
	int err;

	if (r->at[COLUMN_COMMIT] < 0 || r->each_row) {
		err = add_commit(r, si, SIZE_MAX, e);
		*ret = (uint32_t)s->points.len - 1;
		return err;
	}
	if (!*name)
		return err_set(e, ERR_PARSE, "line %zu: no commit", r->csv.line);
	if (s->commits.len && !strcmp(s->commits.items[s->commits.len - 1], name)) {
		*ret = (uint32_t)s->commits.len - 1;
		return 0;
	}
	table_grow(r, &r->commits, commit_hash);
	k = first_slot(hash_text(name, 0xcbf29ce484222325ULL ^ ((uint64_t)si << 32)),
		       r->commits.nslots);
	for (; r->commits.slots[k]; k = (k + 1) & (r->commits.nslots - 1)) {
		size_t c = r->commits.slots[k] - 1;

		*ret = r->commit_index.items[c];
		if (r->commit_of.items[c] != si || strcmp(s->commits.items[*ret], name) != 0)
			continue;
		if (isfinite(time))
			return 0;
		return err_set(e, ERR_PARSE,
			       "line %zu: commit '%.80s' again, after others; rows must be in the "
			       "order of the commits, or have a time",
			       r->csv.line, name);
	}
	err = add_commit(r, si, k, e);
	*ret = (uint32_t)s->points.len - 1;
	return err;
}

static bool is_word(const char *s, const char *word)
{
	return strcasecmp(s, word) == 0;
}

static int read_value(const struct reader *r, double *ret, struct err *e)
{
	static const char *const unknown[] = { "nan",  "na",	   "inf",      "-inf",
					       "+inf", "infinity", "-infinity" };
	const char *s = field(r, COLUMN_VALUE);

	*ret = (double)NAN;
	if (!*s)
		return err_set(e, ERR_PARSE, "line %zu: no value; what is not known is nan",
			       r->csv.line);
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		if (is_word(s, unknown[i]))
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
	struct row row = { .time = (double)NAN };
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
	row.boot = hash_text(field(r, COLUMN_BOOT), 0xcbf29ce484222325ULL);
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

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->commit != y->commit)
		return x->commit < y->commit ? -1 : 1;
	if (isnan(x->time) || isnan(y->time))
		return isnan(y->time) - isnan(x->time);
	return (x->time > y->time) - (x->time < y->time);
}

/*
 * When the second of the commits after each had been measured, NaN where that is not known: rows of
 * a commit from after then were measured again, unless all of its rows are.
 */
static double *again_from(const struct series *s)
{
	double *from = xcalloc(s->points.len + 1, sizeof(*from));
	double first = INFINITY, second = INFINITY;

	for (size_t i = s->points.len; i-- > 0;) {
		double t = s->points.items[i].time;

		from[i] = t < second ? second : (double)INFINITY;
		if (t < first) {
			second = first;
			first = t;
		} else if (t < second) {
			second = t;
		}
	}
	return from;
}

/* Value of a commit from its @n rows, and what was measured again. */
static void fill_point(struct series *s, const struct row *rows, size_t n, double again,
		       bool by_boot, double *values)
{
	struct series_point *p = &s->points.items[rows->commit];
	size_t known = 0, boots = 0;

	for (size_t i = 0; i < n; i++) {
		bool seen = false;

		if (!isfinite(rows[i].value))
			continue;
		if (rows[i].time > again) {
			struct series_remeasure a = { rows->commit, rows[i].time, rows[i].value };

			vec_push(&s->again, a);
			continue;
		}
		for (size_t k = i; by_boot && k-- > 0 && !seen && i - k < 1000;)
			seen = rows[k].boot == rows[i].boot && isfinite(rows[k].value);
		boots += !seen;
		values[known++] = rows[i].value;
	}
	p->units = (double)(by_boot ? boots : known);
	p->value = known ? stats_median(values, known) : p->value;
}

static void fill_points(struct reader *r)
{
	_cleanup_(freep) double *values = xcalloc(r->rows.len + 1, sizeof(*values));
	_cleanup_(freep) double *again = NULL;
	size_t last = SIZE_MAX;

	if (!r->rows.len)
		return;
	qsort(r->rows.items, r->rows.len, sizeof(*r->rows.items), compare_rows);
	vec_foreach (row, &r->rows) {
		double *t = &r->file->items.items[row->series].points.items[row->commit].time;

		if (isfinite(row->time) && !(*t <= row->time))
			*t = row->time;
	}
	for (size_t i = 0, n; i < r->rows.len; i += n) {
		const struct row *rows = &r->rows.items[i];
		struct series *s = &r->file->items.items[rows->series];

		for (n = 1; i + n < r->rows.len && rows[n].series == rows->series &&
			    rows[n].commit == rows->commit;)
			n++;
		if (rows->series != last) {
			free(again);
			again = again_from(s);
			last = rows->series;
		}
		fill_point(s, rows, n, again[rows->commit], r->at[COLUMN_BOOT] >= 0, values);
	}
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
	fill_points(&r);
	*ret = file;
	file = (struct series_file){ 0 };
	return 0;
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
