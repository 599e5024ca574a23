/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jansson with our errors. Optional values are left out, null is never written. */
#pragma once

#include "bot/base/cleanup.h"

#include <jansson.h>
#include <stdint.h>

struct err;

/* For cleanup there is jansson's own json_decrefp(): `_cleanup_(json_decrefp) json_t *j`. */

/** json_read() - parse untrusted text; duplicate keys are refused. @what names it in errors. */
int json_read(const char *text, size_t len, const char *what, json_t **ret, struct err *e);

/** json_text() - compact text; free() it. Aborts when memory runs out. */
char *json_text(const json_t *j);

/* Getters: the value, or @missing when absent. A wrong type counts as absent. */
const char *json_str(const json_t *obj, const char *key, const char *missing);
int64_t json_i64(const json_t *obj, const char *key, int64_t missing);
double json_f64(const json_t *obj, const char *key, double missing);

/** json_set_str() - set @key unless @value is NULL. json_set_f64(): unless not finite. */
void json_set_str(json_t *obj, const char *key, const char *value);
void json_set_f64(json_t *obj, const char *key, double value);
void json_set_i64(json_t *obj, const char *key, int64_t value);
void json_set_bool(json_t *obj, const char *key, int value);
