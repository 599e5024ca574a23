/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structured log: a constant message and fields. To the journal when stderr is connected to it,
 * else "<4>message FIELD=value …" lines on stderr. */
#pragma once

#include <stdint.h>

struct err;

enum log_level {
	LOG_LEVEL_ERR = 3,
	LOG_LEVEL_WARN = 4,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

/**
 * struct log_field - one name and value; made by lf_str(), lf_i64(), lf_f64().
 * @name: listed in log_fields.def; NULL ends a list.
 */
struct log_field {
	const char *name;
	enum {
		LOG_FIELD_STR,
		LOG_FIELD_I64,
		LOG_FIELD_F64
	} type;
	const char *str;
	int64_t i64;
	double f64;
};

#define lf_str(n, v)                                           \
	{                                                      \
		.name = (n), .type = LOG_FIELD_STR, .str = (v) \
	}
#define lf_i64(n, v)                                                    \
	{                                                               \
		.name = (n), .type = LOG_FIELD_I64, .i64 = (int64_t)(v) \
	}
#define lf_f64(n, v)                                           \
	{                                                      \
		.name = (n), .type = LOG_FIELD_F64, .f64 = (v) \
	}

/* The two fields of a struct err variable @e. */
#define lf_err(e) lf_str("ERROR", (e).msg), lf_str("ERR_CODE", err_name((e).code))

#define log_error(msg, ...) LOG_EMIT(LOG_LEVEL_ERR, msg, __VA_ARGS__)
#define log_warn(msg, ...)  LOG_EMIT(LOG_LEVEL_WARN, msg, __VA_ARGS__)
#define log_info(msg, ...)  LOG_EMIT(LOG_LEVEL_INFO, msg, __VA_ARGS__)
#define log_debug(msg, ...) LOG_EMIT(LOG_LEVEL_DEBUG, msg, __VA_ARGS__)

#define LOG_EMIT(level, msg, ...) \
	log_emit(level, msg, (const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ 0 } })

/** log_setup() - @role is put on each line (may be NULL); @max is the least severe level shown. */
void log_setup(const char *role, enum log_level max);

/**
 * log_emit() - write one line; @fields end with a NULL name.
 * Control characters and bytes that are not UTF-8 are escaped; a text is cut after 4096 bytes.
 */
void log_emit(enum log_level level, const char *msg, const struct log_field *fields);
