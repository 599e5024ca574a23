/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/parse.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
	char *end;
	long long v;

	if (!(*s == '-' || (*s >= '0' && *s <= '9')))
		return err_set(e, ERR_PARSE, "'%.80s' is not a whole number", s);
	errno = 0;
	v = strtoll(s, &end, 10);
	if (end == s || *end)
		return err_set(e, ERR_PARSE, "'%.80s' is not a whole number", s);
	if (errno == ERANGE || v < min || v > max)
		return err_set(e, ERR_RANGE, "'%.80s' is not between %lld and %lld", s,
			       (long long)min, (long long)max);
	*ret = v;
	return 0;
}

static bool number_chars(const char *s)
{
	return strspn(s, "+-.0123456789eE") == strlen(s) && *s;
}

int parse_f64(const char *s, double min, double max, double *ret, struct err *e)
{
	char *end;
	double v;

	if (!number_chars(s))
		return err_set(e, ERR_PARSE, "'%.80s' is not a number", s);
	v = strtod(s, &end);
	if (end == s || *end || !isfinite(v))
		return err_set(e, ERR_PARSE, "'%.80s' is not a number", s);
	if (v < min || v > max)
		return err_set(e, ERR_RANGE, "'%.80s' is not between %g and %g", s, min, max);
	*ret = v;
	return 0;
}

int parse_bool(const char *s, bool *ret, struct err *e)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (!strcasecmp(s, yes[i])) {
			*ret = true;
			return 0;
		}
		if (!strcasecmp(s, no[i])) {
			*ret = false;
			return 0;
		}
	}
	return err_set(e, ERR_PARSE, "'%.80s' is not true or false", s);
}

/* The leading digits (and point) as a number; *@ret_rest points behind them. */
static int leading_number(const char *s, double *ret, const char **ret_rest, struct err *e)
{
	size_t n = strspn(s, ".0123456789");
	char digits[32];

	if (n == 0 || n >= sizeof(digits))
		return err_set(e, ERR_PARSE, "'%.80s' does not start with a number", s);
	memcpy(digits, s, n);
	digits[n] = '\0';
	*ret_rest = s + n;
	return parse_f64(digits, 0, 1e18, ret, e);
}

int parse_size(const char *s, uint64_t *ret_bytes, struct err *e)
{
	static const char units[] = "KMGT";
	const char *rest;
	const char *unit;
	double v;
	int r;

	r = leading_number(s, &v, &rest, e);
	if (r < 0)
		return r;
	if (*rest && *rest != 'B') {
		unit = strchr(units, *rest & ~0x20);
		if (!unit || !*unit)
			return err_set(e, ERR_PARSE, "'%.80s' is not a size such as 512M or 2G", s);
		v = ldexp(v, 10 * (int)(unit - units + 1));
		rest++;
		if (*rest == 'i')
			rest++;
	}
	if (*rest == 'B')
		rest++;
	if (*rest)
		return err_set(e, ERR_PARSE, "'%.80s' is not a size such as 512M or 2G", s);
	if (v > 9e18)
		return err_set(e, ERR_RANGE, "'%.80s' is larger than 8 EiB", s);
	*ret_bytes = (uint64_t)v;
	return 0;
}

int parse_duration(const char *s, double *ret_s, struct err *e)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = { { "", 1 },   { "s", 1 },	  { "ms", 1e-3 },
		      { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	const char *rest;
	double v;
	int r;

	r = leading_number(s, &v, &rest, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(rest, units[i].suffix)) {
			*ret_s = v * units[i].factor;
			return 0;
		}
	}
	return err_set(e, ERR_PARSE, "'%.80s' is not a time such as 90s, 5m or 2h", s);
}

int parse_ratio(const char *s, double *ret, struct err *e)
{
	size_t n = strlen(s);
	char digits[32];
	double v;
	int r;

	if (n > 0 && n < sizeof(digits) && s[n - 1] == '%') {
		memcpy(digits, s, n - 1);
		digits[n - 1] = '\0';
		r = parse_f64(digits, -1e6, 1e6, &v, NULL);
		if (r < 0)
			return err_set(e, r, "'%.80s' is not a fraction such as 0.038 or 3.8%%", s);
		*ret = v / 100;
		return 0;
	}
	r = parse_f64(s, -1e4, 1e4, &v, NULL);
	if (r < 0)
		return err_set(e, r, "'%.80s' is not a fraction such as 0.038 or 3.8%%", s);
	*ret = v;
	return 0;
}

bool parse_hash(const char *s)
{
	return strlen(s) == 40 && strspn(s, "0123456789abcdef") == 40;
}

bool parse_name(const char *s)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(s);

	return n >= 1 && n <= 64 && strspn(s, ok) == n && *s != '.' && *s != '-' && *s != '_';
}

static int not_listen(const char *s, struct err *e)
{
	return err_set(e, ERR_PARSE,
		       "'%.80s' is not an address and port such as 127.0.0.1:8080, [::1]:8080 or "
		       "*:8080",
		       s);
}

int parse_listen(const char *s, char **ret_host, char **ret_port, struct err *e)
{
	const char *colon = strrchr(s, ':');
	size_t n = colon ? (size_t)(colon - s) : 0;
	int64_t port;

	if (!colon || parse_i64(colon + 1, 0, 65535, &port, NULL) < 0)
		return not_listen(s, e);
	if (n >= 2 && s[0] == '[' && s[n - 1] == ']')
		*ret_host = xstrndup(s + 1, n - 2);
	else if (!n || memchr(s, ':', n))
		return not_listen(s, e);
	else
		*ret_host = xstrndup(s, n == 1 && s[0] == '*' ? 0 : n);
	*ret_port = xstrdup(colon + 1);
	return 0;
}
