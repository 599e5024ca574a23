/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths with a number in them: one for each CPU, or for each node. */
#pragma once

#include <stddef.h>

/**
 * numbered_paths() - the paths that exist where the one '*' of @pattern is a number, by number.
 * @ret: NULL-terminated; free it with numbered_free().
 * Return: how many.
 */
size_t numbered_paths(const char *pattern, char ***ret);
void numbered_free(char **paths);
