/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names numbered in the order they are met. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * struct nametab - `struct nametab t = { 0 };`, nametab_done() frees it.
 * @name, @length: @len names, NUL-terminated too; owned.
 * @seed: set before the first name from outside: whoever chooses names shall not know it.
 */
struct nametab {
	char **name;
	uint32_t *length;
	uint64_t *hash;
	size_t len, cap;
	uint32_t *slot;
	size_t nslots;
	uint64_t seed;
};

void nametab_done(struct nametab *t);

/** nametab_find() - the number of a name; SIZE_MAX if it is new. */
size_t nametab_find(const struct nametab *t, const char *name, size_t len);

/** nametab_get() - the same; a new name gets the next number. */
size_t nametab_get(struct nametab *t, const char *name, size_t len);

/** nametab_seed() - a seed that hangs on every byte of a text. */
uint64_t nametab_seed(const char *text, size_t len);
