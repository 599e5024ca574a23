/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configuration in git-config syntax, read through libgit2, checked against one table of keys. */
#pragma once

#include "bot/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct err;
struct strbuf;

enum config_type {
	CONFIG_STR,
	CONFIG_PATH,
	CONFIG_INT,
	CONFIG_F64,
	CONFIG_BOOL,
	CONFIG_SIZE,
	CONFIG_DURATION,
	CONFIG_RATIO,
	CONFIG_ENUM,
	CONFIG_REF
};

#define K_MULTI	 1
#define K_NEEDED 2
#define K_RELOAD 4

/** struct config_key - one row of config_keys.def; see there. */
struct config_key {
	const char *section;
	bool named;
	const char *key;
	enum config_type type;
	const char *extra;
	double min, max;
	const char *fallback;
	int flags;
	const char *doc;
};

/** config_value_add() - append @v as people write it in a value of this type: "64M", "1h", "0.01%". */
void config_value_add(struct strbuf *b, enum config_type type, double v);

/** config_keys() - the table, *@ret_n rows, in the order of the manual. */
const struct config_key *config_keys(size_t *ret_n);

/**
 * config_load() - read and check a file with its includes.
 * @path: the file, at most 1 MiB. Relative PATH values are relative to its folder.
 * @ret: config_free() it.
 *
 * Return: 0; ERR_CONFIG with one line that names file, key and value, and says what would be right.
 */
int config_load(const char *path, struct config **ret, struct err *e);
void config_free(struct config *c);
DEFINE_CLEANUP(struct config *, config_free);

/*
 * Getters. @name is NULL for sections without one. Asking for a key that is not in the table is a
 * bug (assert). Values were checked by config_load(), so nothing can fail here.
 */

/** config_str() - last value, else default, else NULL; belongs to @c. */
const char *config_str(const struct config *c, const char *section, const char *name,
		       const char *key);
/** config_i64() - INT or SIZE (bytes); 0 when there is neither value nor default. */
int64_t config_i64(const struct config *c, const char *section, const char *name, const char *key);
/** config_f64() - F64, DURATION (seconds), RATIO; 0 when there is neither value nor default. */
double config_f64(const struct config *c, const char *section, const char *name, const char *key);
bool config_bool(const struct config *c, const char *section, const char *name, const char *key);

/** config_all() - all values of a K_MULTI key; NULL-terminated; free the array, not the strings. */
const char **config_all(const struct config *c, const char *section, const char *name,
			const char *key);

/** config_count() - how many there are in what config_all() or config_names() returned. */
size_t config_count(const char **list);

/** config_names() - names of the sections [@section "NAME"] in file order; free the array only. */
const char **config_names(const struct config *c, const char *section);

/** config_has() - is there a section [@section "@name"]? */
bool config_has(const struct config *c, const char *section, const char *name);

/** config_show() - the values in force as a config file, defaults as comments, into @ret. */
void config_show(const struct config *c, struct strbuf *ret);
