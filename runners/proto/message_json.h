/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing the members of a message. Internal to proto. */
#pragma once

#include "runners/proto/message.h"

#define PROTO_RUNS_MAX 10000

/** message_add() - append @j; takes it over, NULL stands for one that jansson refused (no UTF-8). */
int message_add(struct strbuf *out, enum proto_type type, json_t *j, struct err *e);

/** message_parse() - the payload as an object; NULL with a reason. */
json_t *message_parse(const struct proto_frame *f, struct err *e);

/** message_TYPE() - member @key. Return: 0; ERR_PARSE for another type or none, ERR_RANGE. */
int message_int(const json_t *j, const char *key, json_int_t min, json_int_t max, json_int_t *ret,
		struct err *e);
int message_uint(const json_t *j, const char *key, json_int_t min, json_int_t max, unsigned *ret,
		 struct err *e);
int message_bytes(const json_t *j, const char *key, uint64_t *ret, struct err *e);
int message_seconds(const json_t *j, const char *key, double *ret, struct err *e);
int message_number(const json_t *j, const char *key, double *ret, struct err *e);
int message_bool(const json_t *j, const char *key, bool *ret, struct err *e);

/** message_string() - an absent or null member is NULL, unless it is @needed. */
int message_string(const json_t *j, const char *key, bool needed, char **ret, struct err *e);

/** message_object(), message_array() - an absent member is an empty one. */
int message_object(const json_t *j, const char *key, json_t **ret, struct err *e);
int message_array(const json_t *j, const char *key, json_t **ret, struct err *e);

/** message_list() - at most @max strings; an absent or null member is NULL. */
int message_list(const json_t *j, const char *key, size_t max, char ***ret, struct err *e);
void message_list_free(char **list);
