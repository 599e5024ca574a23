/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/series_time.h"

#include "bot/base/err.h"
#include "bot/base/parse.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define TIME_MAX 1e15

/* @n digits into @ret. */
static bool digits(const char **s, int n, int *ret)
{
	*ret = 0;
	for (; n > 0; n--, (*s)++) {
		if (**s < '0' || **s > '9')
			return false;
		*ret = 10 * *ret + (**s - '0');
	}
	return true;
}

static bool take(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* Days since 1970-01-01 in the Gregorian calendar; years begin in March, so the odd day is last. */
static int days(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool date(const char **s, double *ret)
{
	static const int length[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int y, m, d;
	bool leap;

	if (!digits(s, 4, &y) || !take(s, '-') || !digits(s, 2, &m) || !take(s, '-') ||
	    !digits(s, 2, &d) || y < 1 || m < 1 || m > 12 || d < 1 || d > length[m - 1])
		return false;
	leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	if (m == 2 && d == 29 && !leap)
		return false;
	*ret = 86400.0 * days(y, m, d);
	return true;
}

static bool fraction(const char **s, double *ret)
{
	double part = 1;

	if (**s < '0' || **s > '9')
		return false;
	while (**s >= '0' && **s <= '9') {
		part /= 10;
		*ret += part * (**s - '0');
		(*s)++;
	}
	return true;
}

static bool clock_time(const char **s, double *ret)
{
	int h, m, sec = 0;

	if (!digits(s, 2, &h) || !take(s, ':') || !digits(s, 2, &m) || h > 23 || m > 59)
		return false;
	if (take(s, ':')) {
		if (!digits(s, 2, &sec) || sec > 60)
			return false;
		if (take(s, '.') && !fraction(s, ret))
			return false;
	}
	*ret += 3600.0 * h + 60.0 * m + sec;
	return true;
}

static bool zone(const char **s, double *ret)
{
	int h, m, sign;

	if (!**s || take(s, 'Z'))
		return true;
	sign = **s == '-' ? 1 : -1;
	if ((**s != '-' && **s != '+'))
		return false;
	(*s)++;
	if (!digits(s, 2, &h) || (take(s, ':'), !digits(s, 2, &m)) || h > 14 || m > 59)
		return false;
	*ret += sign * (3600.0 * h + 60.0 * m);
	return true;
}

int series_time_parse(const char *s, double *ret)
{
	double t = 0;

	if (!*s) {
		*ret = (double)NAN;
		return 0;
	}
	if (parse_f64(s, -TIME_MAX, TIME_MAX, ret, NULL) == 0)
		return 0;
	if (!date(&s, &t))
		return ERR_PARSE;
	if (*s) {
		if (!take(&s, 'T') && !take(&s, ' '))
			return ERR_PARSE;
		if (!clock_time(&s, &t) || !zone(&s, &t))
			return ERR_PARSE;
	}
	if (*s)
		return ERR_PARSE;
	*ret = t;
	return 0;
}
