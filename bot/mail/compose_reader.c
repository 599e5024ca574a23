/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/compose_reader.h"

#include "bot/base/err.h"
#include "bot/mail/text.h"

#include <math.h>
#include <string.h>
#include <time.h>

void reader_fail(struct compose_reader *r, int code, const char *what, const char *want)
{
	if (!r->code)
		r->code = err_set(r->e, code, "report input: %s %s", what, want);
}

const char *reader_keep(struct compose_reader *r, char *s)
{
	vec_push(&r->in->pool, s);
	return s;
}

const json_t *reader_get(struct compose_reader *r, const json_t *o, const char *key,
			 const char *what, bool needed)
{
	const json_t *v = o ? json_object_get(o, key) : NULL;

	if (json_is_null(v))
		v = NULL;
	if (!v && needed)
		reader_fail(r, ERR_PARSE, what, "is missing");
	return v;
}

const char *reader_text(struct compose_reader *r, const json_t *o, const char *key,
			const char *what, size_t max, bool needed)
{
	const json_t *v = reader_get(r, o, key, what, needed);
	const char *s;

	if (!v)
		return NULL;
	if (!json_is_string(v)) {
		reader_fail(r, ERR_PARSE, what, "must be a string");
		return NULL;
	}
	s = reader_keep(r, text_clean_dup(json_string_value(v), json_string_length(v), max));
	if (!*s && needed)
		reader_fail(r, ERR_PARSE, what, "is empty");
	return *s ? s : NULL;
}

double reader_f64(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		  bool needed)
{
	const json_t *v = reader_get(r, o, key, what, needed);

	if (!v)
		return NAN;
	if (!json_is_number(v)) {
		reader_fail(r, ERR_PARSE, what, "must be a number");
		return NAN;
	}
	if (fabs(json_number_value(v)) > 1e18)
		reader_fail(r, ERR_RANGE, what, "is above 1e18");
	return json_number_value(v);
}

int64_t reader_i64(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		   int64_t missing)
{
	const json_t *v = reader_get(r, o, key, what, false);

	if (!v)
		return missing;
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		reader_fail(r, ERR_PARSE, what, "must be a whole number from 0");
		return missing;
	}
	return json_integer_value(v);
}

int reader_bool(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		int missing)
{
	const json_t *v = reader_get(r, o, key, what, false);

	if (v && !json_is_boolean(v))
		reader_fail(r, ERR_PARSE, what, "must be true or false");
	return v ? json_is_true(v) : missing;
}

const json_t *reader_object(struct compose_reader *r, const json_t *o, const char *key,
			    const char *what, bool needed)
{
	const json_t *v = reader_get(r, o, key, what, needed);

	if (v && !json_is_object(v)) {
		reader_fail(r, ERR_PARSE, what, "must be an object");
		return NULL;
	}
	return v;
}

size_t reader_array(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		    const json_t **ret)
{
	*ret = reader_get(r, o, key, what, false);
	if (*ret && !json_is_array(*ret)) {
		reader_fail(r, ERR_PARSE, what, "must be an array");
		return 0;
	}
	if (json_array_size(*ret) > COMPOSE_LIST_MAX) {
		reader_fail(r, ERR_TOO_BIG, what, "has more than 500 entries");
		return 0;
	}
	return json_array_size(*ret);
}

static bool is_hash(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return !s[n] && n >= 12 && n <= 40;
}

const char *reader_hash(struct compose_reader *r, const json_t *o, const char *key,
			const char *what, bool needed)
{
	const char *s = reader_text(r, o, key, what, 64, needed);

	if (s && !is_hash(s))
		reader_fail(r, ERR_INVAL, what,
			    "must be a commit hash of 12 to 40 lower-case hex digits");
	return s;
}

const char *reader_id(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		      char first, bool needed)
{
	const char *s = reader_text(r, o, key, what, 64, needed);

	if (s && (s[0] != first || strlen(s) != 8 ||
		  strspn(s + 1, "0123456789abcdefghjkmnpqrstvwxyz") != 7))
		reader_fail(r, ERR_INVAL, what,
			    "must be its letter and 7 of 0-9, a-z without i, l, o, u");
	return s;
}

/* "2030-11-06T08:12:00Z"; a fraction of a second is dropped. */
static bool time_parse(const char *s, int64_t *ret)
{
	struct tm tm = { 0 };
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	int v[6] = { 0 }, field = 0;
	struct tm back;
	time_t t;

	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] == 'd') {
			if (s[i] < '0' || s[i] > '9')
				return false;
			v[field] = v[field] * 10 + (s[i] - '0');
		} else if (s[i] != shape[i]) {
			return false;
		} else {
			field++;
		}
	}
	s += sizeof(shape) - 1;
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789");
	if (strcmp(s, "Z") != 0 && strcmp(s, "+00:00") != 0)
		return false;
	tm.tm_year = v[0] - 1900;
	tm.tm_mon = v[1] - 1;
	tm.tm_mday = v[2];
	tm.tm_hour = v[3];
	tm.tm_min = v[4];
	tm.tm_sec = v[5];
	t = timegm(&tm);
	/* timegm() turns 31 April into 1 May */
	if (v[0] < 1970 || !gmtime_r(&t, &back) || back.tm_mday != v[2] || back.tm_hour != v[3] ||
	    back.tm_min != v[4])
		return false;
	*ret = t;
	return true;
}

int64_t reader_time(struct compose_reader *r, const json_t *o, const char *key, const char *what)
{
	const char *s = reader_text(r, o, key, what, 64, false);
	int64_t t = -1;

	if (s && !time_parse(s, &t))
		reader_fail(r, ERR_PARSE, what, "must be a time such as 2030-11-06T08:12:00Z");
	return t;
}

struct compose_change reader_change(struct compose_reader *r, const json_t *o, const char *what)
{
	struct compose_change c = {
		.rel = reader_f64(r, o, "rel", what, false),
		.lo = reader_f64(r, o, "lo", what, false),
		.hi = reader_f64(r, o, "hi", what, false),
	};

	if (!isnan(c.lo) && !isnan(c.hi) && c.lo > c.hi)
		reader_fail(r, ERR_INVAL, what, "has an interval whose lo is above its hi");
	if (isnan(c.lo) || isnan(c.hi))
		c.lo = c.hi = NAN;
	return c;
}

void reader_texts(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		  size_t max, void (*add)(struct compose_input *, const char *))
{
	const json_t *list;
	size_t n = reader_array(r, o, key, what, &list);

	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);
		_cleanup_(freep) char *text = NULL;
		int indent = 0;

		if (!json_is_string(v)) {
			reader_fail(r, ERR_PARSE, what, "must hold strings");
			return;
		}
		text = text_clean_dup(json_string_value(v), json_string_length(v), max);
		/* the lines of a shell command keep their shape */
		if (max == SHELL_CHARS)
			indent = (int)strspn(json_string_value(v), " ") & 0xf;
		add(r->in, reader_keep(r, xasprintf("%*s%s", indent, "", text)));
	}
}
