/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/monitors/sysstat.h"

#include "bot/base/cleanup.h"

#include <string.h>
#include <time.h>

#define DAY_S INT64_C(86400)

/* @n digits, or fewer but one at least. */
static bool take_digits(struct scan *s, unsigned min, unsigned max, int *ret)
{
	unsigned n = 0;
	int v = 0;

	while (n < max && s->p < s->end && *s->p >= '0' && *s->p <= '9') {
		v = v * 10 + (*s->p++ - '0');
		n++;
	}
	*ret = v;
	return n >= min;
}

/* ':', '.', or letters outside of ASCII as in 10時25分. */
static bool take_mark(struct scan *s)
{
	const char *start = s->p;

	if (s->p < s->end && (*s->p == ':' || *s->p == '.')) {
		s->p++;
		return true;
	}
	while (s->p < s->end && (unsigned char)*s->p >= 0x80 && s->p - start < 4)
		s->p++;
	return s->p > start;
}

static bool clock_of_day(const struct word *w, int64_t *ret_s)
{
	struct scan s = { .p = w->s, .end = w->s + w->len };
	int h, m, sec;

	if (!take_digits(&s, 1, 2, &h) || !take_mark(&s) || !take_digits(&s, 2, 2, &m) ||
	    !take_mark(&s) || !take_digits(&s, 2, 2, &sec))
		return false;
	if (s.p < s.end && (unsigned char)*s.p >= 0x80)
		(void)take_mark(&s);
	if (!scan_end(&s) || h > 23 || m > 59 || sec > 60)
		return false;
	*ret_s = h * 3600 + m * 60 + sec;
	return true;
}

/* Seconds of the day to 24 hours; hour 12 is the first of either half. */
static bool apply_half(const struct word *w, int64_t *at_s, bool *ret_is_half)
{
	bool am = word_eq(w, "AM") || word_eq(w, "am");
	bool pm = word_eq(w, "PM") || word_eq(w, "pm");

	*ret_is_half = am || pm;
	if (!am && !pm)
		return true;
	if (*at_s < 3600 || *at_s >= 13 * INT64_C(3600))
		return false;
	*at_s = *at_s % (12 * INT64_C(3600)) + (pm ? 12 * 3600 : 0);
	return true;
}

/*
 * Takes the clock from the start of a line. Return: how many words it has; 0 if there is none.
 * CLOCK_EPOCH only where the heading said so: a line may start with any number.
 */
static size_t take_clock(const struct word *w, size_t n, enum sysstat_clock before,
			 enum sysstat_clock *ret, int64_t *ret_s)
{
	uint64_t epoch;
	bool half = false;

	if (n == 0)
		return 0;
	if (before == CLOCK_EPOCH && number_u64(w[0].s, w[0].len, &epoch) && epoch < 1ULL << 40) {
		*ret = CLOCK_EPOCH;
		*ret_s = (int64_t)epoch;
		return 1;
	}
	if (clock_of_day(&w[0], ret_s)) {
		if (n > 1 && !apply_half(&w[1], ret_s, &half))
			return 0;
		*ret = half ? CLOCK_NOON : CLOCK_DAY;
		return half ? 2 : 1;
	}
	if (w[0].len > 1 && w[0].s[w[0].len - 1] == ':') {
		*ret = CLOCK_AVERAGE;
		return 1;
	}
	return 0;
}

/* A date as month/day/year or year-month-day; other orders cannot be told apart and are not taken. */
static bool take_date(const struct word *w, int64_t *ret_s)
{
	struct scan s = { .p = w->s, .end = w->s + w->len };
	struct tm tm = { 0 };
	int a, b, c;

	if (!take_digits(&s, 1, 4, &a))
		return false;
	if (scan_lit(&s, "/")) {
		if (!take_digits(&s, 1, 2, &b) || !scan_lit(&s, "/") || !take_digits(&s, 2, 4, &c))
			return false;
		tm.tm_mon = a - 1;
		tm.tm_mday = b;
		tm.tm_year = (c < 100 ? 2000 + c : c) - 1900;
	} else {
		if (!scan_lit(&s, "-") || !take_digits(&s, 1, 2, &b) || !scan_lit(&s, "-") ||
		    !take_digits(&s, 1, 2, &c) || a < 1970)
			return false;
		tm.tm_year = a - 1900;
		tm.tm_mon = b - 1;
		tm.tm_mday = c;
	}
	if (!scan_end(&s) || tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
	    tm.tm_year < 70)
		return false;
	*ret_s = (int64_t)timegm(&tm);
	return true;
}

static void read_banner(struct sysstat *s, const struct word *w, size_t n)
{
	s->row.dated = false;
	s->day_s = 0;
	s->timed = false;
	for (size_t i = 3; i < n && !s->row.dated; i++)
		s->row.dated = take_date(&w[i], &s->day_s);
}

/* A heading has no numbers and at least one column that sysstat's tools have. */
static bool is_heading(const struct word *w, size_t n)
{
	bool known = false;
	uint64_t v;

	for (size_t i = 0; i < n; i++) {
		if (number_u64(w[i].s, w[i].len, &v))
			return false;
		known |= word_eq(&w[i], "CPU") || word_eq(&w[i], "UID") || w[i].s[0] == '%';
	}
	return known;
}

/* Puts the clock of a line into one time that only goes on. false: the clock went back. */
static bool take_time(struct sysstat *s, enum sysstat_clock clock, int64_t at_s)
{
	if (clock == CLOCK_EPOCH) {
		s->row.dated = true;
		s->day_s = 0;
	} else {
		at_s += s->day_s;
		/* Only a fall of half a day or more can be midnight. */
		if (s->timed && s->last_s - at_s > DAY_S / 2) {
			s->day_s += DAY_S;
			at_s += DAY_S;
		}
	}
	if (s->timed && at_s < s->last_s)
		return false;
	s->row.at_s = at_s;
	s->row.took_s = s->timed ? at_s - s->last_s : 0;
	s->last_s = at_s;
	s->timed = true;
	return true;
}

static void read_heading(struct sysstat *s, const struct word *w, size_t n)
{
	if (n > SYSSTAT_COLUMNS) {
		problem_bad_line(s->out, &s->row.line, "a heading of usual length");
		n = 0;
	}
	memcpy(s->row.columns, w, n * sizeof(*w));
	s->row.n = n;
}

/* The fields behind the clock; a command at the end may have blanks in it. */
static bool read_fields(struct sysstat *s, const struct word *w, size_t n)
{
	struct sysstat_row *row = &s->row;

	if (row->n == 0 || n < row->n ||
	    (n > row->n && !word_eq(&row->columns[row->n - 1], "Command")))
		return false;
	memcpy(row->fields, w, row->n * sizeof(*w));
	row->fields[row->n - 1].len = (size_t)(w[n - 1].s + w[n - 1].len - w[row->n - 1].s);
	return true;
}

static bool read_row(struct sysstat *s, const struct word *w, size_t n)
{
	enum sysstat_clock clock = CLOCK_NONE;
	int64_t at_s = 0;
	size_t used;

	if (word_eq(&w[0], "#") && n > 2 && word_eq(&w[1], "Time")) {
		s->clock = CLOCK_EPOCH;
		read_heading(s, w + 2, n - 2);
		return false;
	}
	used = take_clock(w, n, s->clock, &clock, &at_s);
	if (used == 0 || used == n) {
		problem_bad_line(s->out, &s->row.line, "a row with a clock");
		return false;
	}
	if (is_heading(w + used, n - used)) {
		read_heading(s, w + used, n - used);
		if (clock != CLOCK_AVERAGE) {
			s->clock = clock;
			if (!take_time(s, clock, at_s))
				problem_bad_line(s->out, &s->row.line, "later than the row before");
		}
		return false;
	}
	if ((clock != s->clock && clock != CLOCK_AVERAGE) || !read_fields(s, w + used, n - used)) {
		problem_bad_line(s->out, &s->row.line, "a row of the form of its heading");
		return false;
	}
	s->row.average = clock == CLOCK_AVERAGE;
	if (s->row.average || take_time(s, clock, at_s))
		return true;
	problem_bad_line(s->out, &s->row.line, "later than the row before");
	return false;
}

bool sysstat_next(struct sysstat *s)
{
	struct word w[2 * SYSSTAT_COLUMNS];
	size_t n;

	while (lines_next(&s->lines, &s->row.line)) {
		if (!s->row.line.whole) {
			problem_bad_line(s->out, &s->row.line, "a whole line; the text is cut");
			continue;
		}
		n = words_split(&s->row.line, w, ARRAY_SIZE(w));
		if (n == 0 || line_starts(&s->row.line, "#program "))
			continue;
		if (n > ARRAY_SIZE(w))
			problem_bad_line(s->out, &s->row.line, "a row of usual length");
		else if (word_eq(&w[0], "Linux"))
			read_banner(s, w, n);
		else if (read_row(s, w, n))
			return true;
	}
	return false;
}

const struct word *sysstat_field(const struct sysstat_row *row, const char *column)
{
	for (size_t i = 0; i < row->n; i++)
		if (word_eq(&row->columns[i], column))
			return &row->fields[i];
	return NULL;
}
