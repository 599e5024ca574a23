/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scope-bound cleanup: the compiler calls the destructor when the variable goes out of scope. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * _cleanup_() - run @fn on the address of the variable at the end of its scope.
 * @fn: destructor that takes a pointer to the variable, as DEFINE_CLEANUP() makes them.
 */
#define _cleanup_(fn) __attribute__((cleanup(fn)))

/**
 * DEFINE_CLEANUP() - define the destructor `free_fnp` for use with _cleanup_().
 * @type: type of the variable, e.g. `struct db *`.
 * @free_fn: its destructor; must accept NULL.
 */
#define DEFINE_CLEANUP(type, free_fn)                                  \
	__attribute__((unused)) static inline void free_fn##p(type *p) \
	{                                                              \
		free_fn(*p);                                           \
	}                                                              \
	struct cleanup_needs_semicolon_##free_fn

/** take_ptr() - hand over the pointer in variable @p and leave NULL behind. */
#define take_ptr(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

/** take_fd() - hand over the descriptor in variable @fd and leave -1 behind. */
#define take_fd(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

/** freep() - free() for any pointer variable. */
static inline void freep(void *p)
{
	free(*(void **)p);
}

/** closep() - close a descriptor variable, if it holds one. */
static inline void closep(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/** fclosep() - close a stdio stream variable, if it holds one. */
static inline void fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
