/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tests/data/series/known_answers.json: name, input, expect. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/** answer_find() - the entry called @name; borrowed until answers_close(); fails the test. */
json_t *answer_find(const char *name);
void answers_close(void);

/** answer_get() - value at a path of object keys, "expect/p"; fails the test when absent. */
json_t *answer_get(json_t *entry, const char *path);

/** answer_num() - number at a path; the string "inf" is infinite. */
double answer_num(json_t *entry, const char *path);

/** answer_array() - numbers at a path into @x, at most @max. Return: how many. */
size_t answer_array(json_t *entry, const char *path, double *x, size_t max);
