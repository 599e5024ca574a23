/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/json.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <stdlib.h>

int json_read(const char *text, size_t len, const char *what, json_t **ret, struct err *e)
{
	json_error_t je;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);

	if (!j)
		return err_set(e, ERR_PARSE, "%s is not JSON: line %d: %s", what, je.line, je.text);
	*ret = j;
	return 0;
}

char *json_text(const json_t *j)
{
	char *s = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);

	if (!s)
		abort();
	return s;
}

const char *json_str(const json_t *obj, const char *key, const char *missing)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : missing;
}

int64_t json_i64(const json_t *obj, const char *key, int64_t missing)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_integer(v) ? json_integer_value(v) : missing;
}

double json_f64(const json_t *obj, const char *key, double missing)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_number(v) ? json_number_value(v) : missing;
}

static void set(json_t *obj, const char *key, json_t *value)
{
	if (json_object_set_new(obj, key, value) < 0)
		abort();
}

/* Bytes that are not UTF-8 (jansson refuses them) become '?'. */
static json_t *string_of(const char *value)
{
	json_t *s = json_string(value);
	char *copy;

	if (s)
		return s;
	copy = xstrdup(value);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	s = json_string(copy);
	free(copy);
	return s;
}

void json_set_str(json_t *obj, const char *key, const char *value)
{
	if (value)
		set(obj, key, string_of(value));
}

void json_set_f64(json_t *obj, const char *key, double value)
{
	if (isfinite(value))
		set(obj, key, json_real(value));
}

void json_set_i64(json_t *obj, const char *key, int64_t value)
{
	set(obj, key, json_integer(value));
}

void json_set_bool(json_t *obj, const char *key, int value)
{
	set(obj, key, json_boolean(value));
}
