/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Typed growing arrays: `struct { double *items; size_t len, cap; } v = { 0 };` */
#pragma once

#include "bot/base/strbuf.h"

/** VEC() - an anonymous growing array of @type; name it in a struct or typedef-less variable. */
#define VEC(type)            \
	struct {             \
		type *items; \
		size_t len;  \
		size_t cap;  \
	}

/** vec_push() - append @item; aborts when memory runs out. */
#define vec_push(v, item)                                                                        \
	do {                                                                                     \
		if ((v)->len == (v)->cap) {                                                      \
			(v)->cap = (v)->cap ? (v)->cap * 2 : 8;                                  \
			(v)->items = xreallocarray((v)->items, (v)->cap, sizeof((v)->items[0])); \
		}                                                                                \
		(v)->items[(v)->len++] = (item);                                                 \
	} while (0)

/** vec_done() - free the array, not what its items point to. */
#define vec_done(v)                      \
	do {                             \
		free((v)->items);        \
		(v)->items = NULL;       \
		(v)->len = (v)->cap = 0; \
	} while (0)

/** vec_foreach() - loop with @it as a pointer to each item. */
#define vec_foreach(it, v) \
	for (__typeof__(*(v)->items) *it = (v)->items; it && it < (v)->items + (v)->len; it++)
