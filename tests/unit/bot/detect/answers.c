/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/bot/detect/answers.h"

#include "tests/test.h"

#include <math.h>
#include <string.h>

static json_t *all;

json_t *answer_find(const char *name)
{
	size_t i;
	json_t *entry;

	if (!all)
		all = json_load_file(TEST_SOURCE_DIR "/tests/data/series/known_answers.json",
				     JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(all);
	json_array_foreach (all, i, entry) {
		if (!strcmp(json_string_value(json_object_get(entry, "name")), name))
			return entry;
	}
	fail_msg("no known answer '%s'", name);
	return NULL;
}

void answers_close(void)
{
	json_decref(all);
	all = NULL;
}

json_t *answer_get(json_t *entry, const char *path)
{
	char key[64];
	const char *s = path;

	while (*s) {
		size_t len = strcspn(s, "/");

		assert_true(len < sizeof(key));
		memcpy(key, s, len);
		key[len] = '\0';
		entry = json_object_get(entry, key);
		if (!entry)
			fail_msg("no '%s'", path);
		s += len + (s[len] == '/');
	}
	return entry;
}

double answer_num(json_t *entry, const char *path)
{
	json_t *v = answer_get(entry, path);

	if (json_is_string(v) && !strcmp(json_string_value(v), "inf"))
		return HUGE_VAL;
	assert_true(json_is_number(v));
	return json_number_value(v);
}

size_t answer_array(json_t *entry, const char *path, double *x, size_t max)
{
	json_t *v = answer_get(entry, path), *item;
	size_t i;

	assert_true(json_is_array(v) && json_array_size(v) <= max);
	json_array_foreach (v, i, item)
		x[i] = json_number_value(item);
	return json_array_size(v);
}
