/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strict parsing of numbers and sizes: the whole string or an error that names it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct err;

/** parse_i64() - decimal integer within [@min, @max]. Return: 0, ERR_PARSE, ERR_RANGE. */
int parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret, struct err *e);

/** parse_f64() - finite decimal number (no hex, inf or nan) within [@min, @max]. */
int parse_f64(const char *s, double min, double max, double *ret, struct err *e);

/** parse_bool() - true/false, yes/no, on/off, 1/0. */
int parse_bool(const char *s, bool *ret, struct err *e);

/** parse_size() - bytes with optional K, M, G, T (powers of 1024; then optional 'i', 'B' or "iB"). */
int parse_size(const char *s, uint64_t *ret_bytes, struct err *e);

/** parse_duration() - seconds from "90", "90s", "5m", "2h", "3d", "250ms". */
int parse_duration(const char *s, double *ret_s, struct err *e);

/** parse_ratio() - a fraction from "0.038" or "3.8%". */
int parse_ratio(const char *s, double *ret, struct err *e);

/**
 * parse_listen() - "127.0.0.1:8080", "[::1]:8080", "*:8080" or "host:8080" taken apart.
 * @ret_host: without brackets, "" for any address; @ret_port: 0 to 65535. free() both.
 */
int parse_listen(const char *s, char **ret_host, char **ret_port, struct err *e);

/** parse_hash() - 40 lower-case hex digits? (SHA-1 object names only.) */
bool parse_hash(const char *s);

/** parse_name() - [A-Za-z0-9][A-Za-z0-9._-]{0,63}: safe as file name, in URLs and in logs. */
bool parse_name(const char *s);
