/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/message_json.h"

#include "bot/base/err.h"

#include <math.h>
#include <string.h>

#define DEADLINE_MAX 1e6
#define BYTES_MAX    ((json_int_t)1 << 62)

int message_add(struct strbuf *out, enum proto_type type, json_t *j, struct err *e)
{
	_cleanup_(json_decrefp) json_t *own = j;
	_cleanup_(freep) char *text = NULL;

	if (own)
		text = json_dumps(own, JSON_COMPACT | JSON_SORT_KEYS);
	if (!text)
		return err_set(e, ERR_INVAL, "a %s message holds text that is not UTF-8",
			       proto_type_name((int)type));
	return proto_frame_add(out, type, text, strlen(text), e);
}

json_t *message_parse(const struct proto_frame *f, struct err *e)
{
	json_error_t why;
	json_t *j = json_loadb((const char *)f->payload, f->len, JSON_REJECT_DUPLICATES, &why);

	if (!j || !json_is_object(j)) {
		(void)err_set(e, ERR_PARSE, "a %s message is not a JSON object: %s",
			      proto_type_name((int)f->type),
			      j ? "another kind of value" : why.text);
		json_decref(j);
		return NULL;
	}
	return j;
}

int message_int(const json_t *j, const char *key, json_int_t min, json_int_t max, json_int_t *ret,
		struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_integer(v))
		return err_set(e, ERR_PARSE, "'%s' has to be a whole number", key);
	if (json_integer_value(v) < min || json_integer_value(v) > max)
		return err_set(e, ERR_RANGE, "'%s' is %lld, not within %lld and %lld", key,
			       (long long)json_integer_value(v), (long long)min, (long long)max);
	*ret = json_integer_value(v);
	return 0;
}

int message_uint(const json_t *j, const char *key, json_int_t min, json_int_t max, unsigned *ret,
		 struct err *e)
{
	json_int_t v = 0;
	int r = message_int(j, key, min, max, &v, e);

	if (r < 0)
		return r;
	*ret = (unsigned)v;
	return 0;
}

int message_bytes(const json_t *j, const char *key, uint64_t *ret, struct err *e)
{
	json_int_t v = 0;
	int r = message_int(j, key, 0, BYTES_MAX, &v, e);

	if (r < 0)
		return r;
	*ret = (uint64_t)v;
	return 0;
}

int message_seconds(const json_t *j, const char *key, double *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_number(v))
		return err_set(e, ERR_PARSE, "'%s' has to be a number of seconds", key);
	if (!(json_number_value(v) >= 0 && json_number_value(v) <= DEADLINE_MAX))
		return err_set(e, ERR_RANGE, "'%s' is %g seconds, not within 0 and %g", key,
			       json_number_value(v), DEADLINE_MAX);
	*ret = json_number_value(v);
	return 0;
}

int message_bool(const json_t *j, const char *key, bool *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_boolean(v))
		return err_set(e, ERR_PARSE, "'%s' has to be true or false", key);
	*ret = json_is_true(v);
	return 0;
}

int message_string(const json_t *j, const char *key, bool needed, char **ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!needed && (!v || json_is_null(v))) {
		*ret = NULL;
		return 0;
	}
	if (!json_is_string(v))
		return err_set(e, ERR_PARSE, "'%s' has to be a string", key);
	*ret = xstrdup(json_string_value(v));
	return 0;
}

int message_object(const json_t *j, const char *key, json_t **ret, struct err *e)
{
	json_t *v = json_object_get(j, key);

	if (!v) {
		*ret = json_object();
		return 0;
	}
	if (!json_is_object(v))
		return err_set(e, ERR_PARSE, "'%s' has to be an object", key);
	*ret = json_incref(v);
	return 0;
}

int message_number(const json_t *j, const char *key, double *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_number(v) || !isfinite(json_number_value(v)))
		return err_set(e, ERR_PARSE, "'%s' has to be a number", key);
	*ret = json_number_value(v);
	return 0;
}

int message_array(const json_t *j, const char *key, json_t **ret, struct err *e)
{
	json_t *v = json_object_get(j, key);

	if (!v) {
		*ret = json_array();
		return 0;
	}
	if (!json_is_array(v))
		return err_set(e, ERR_PARSE, "'%s' has to be an array", key);
	*ret = json_incref(v);
	return 0;
}

void message_list_free(char **list)
{
	for (char **w = list; w && *w; w++)
		free(*w);
	free(list);
}

int message_list(const json_t *j, const char *key, size_t max, char ***ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);
	size_t n = json_array_size(v);
	char **list;

	*ret = NULL;
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_array(v) || n > max)
		return err_set(e, ERR_PARSE, "'%s' has to be an array of at most %zu strings", key,
			       max);
	list = xcalloc(n + 1, sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		const char *s = json_string_value(json_array_get(v, i));

		if (!s) {
			message_list_free(list);
			return err_set(e, ERR_PARSE, "item %zu of '%s' is not a string", i, key);
		}
		list[i] = xstrdup(s);
	}
	*ret = list;
	return 0;
}
