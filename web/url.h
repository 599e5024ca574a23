/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking a request target apart. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

#define URL_MAX_QUERY 16

/**
 * struct url - a decoded target; url_done() frees it.
 * @path: decoded, begins with '/', without the suffix and without /api/v1.
 * @api: it stood below /api/v1.
 * @suffix: it ended in ".json" or ".csv".
 * @json: the form asked for is JSON (by suffix or @api). @csv: it is CSV.
 * @keys, @values: decoded query.
 */
struct url {
	char *path;
	bool api;
	bool suffix;
	bool json;
	bool csv;
	const char *keys[URL_MAX_QUERY];
	const char *values[URL_MAX_QUERY];
	size_t n;
	char *query;
};

/**
 * url_parse() - from "/path?query" as it came.
 * Return: 0; ERR_PARSE: not a path, a broken or forbidden %-sequence (control bytes), a key twice,
 * too many keys.
 */
int url_parse(const char *target, struct url *ret, struct err *e);
void url_done(struct url *u);

/** url_query() - value of @key, or NULL. */
const char *url_query(const struct url *u, const char *key);
