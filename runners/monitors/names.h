/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of names that are numbered in the order of their first appearance; it stops at a limit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** NAMES_FULL - what names_intern() gives for a new name beyond the limit. */
#define NAMES_FULL UINT32_MAX

struct name {
	char *s;
	uint32_t len;
	uint32_t hash;
};

/**
 * struct names - the set.
 * @items: @n names; owned.
 * @max: no more names than this are taken.
 * @slots: open addressing, number of the name + 1; a power of two of them.
 */
struct names {
	struct name *items;
	uint32_t n, cap, max;
	uint32_t *slots;
	uint32_t slots_n;
};

void names_init(struct names *t, uint32_t max);
void names_done(struct names *t);

/** names_hash() - of @len bytes; not keyed, so whoever knows it can make a set slow but not big. */
uint32_t names_hash(const char *s, size_t len);

/** names_intern() - number of the name of @len bytes, added if it is new; NAMES_FULL. */
uint32_t names_intern(struct names *t, const char *s, size_t len);
