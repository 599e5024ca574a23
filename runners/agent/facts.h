/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine tells about itself. Everything may be missing on a small kernel. */
#pragma once

#include "runners/proto/message.h"

/**
 * facts_read_line() - first line of a small file, made printable ASCII.
 * Return: the line, to be freed; NULL if it cannot be read or is empty.
 */
char *facts_read_line(const char *path);

/** facts_thp() - the THP mode in force ("always", "madvise", "never"); NULL without THP. */
char *facts_thp(void);

/**
 * facts_hello() - fill @ret from /proc and /sys.
 * @nonce: overrides what the kernel's command line says; NULL: look there.
 * @missing: names of what could not be set up, joined to the facts; array or NULL.
 */
void facts_hello(const char *nonce, json_t *missing, struct proto_hello *ret);
