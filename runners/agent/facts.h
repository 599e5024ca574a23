/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine tells about itself. Everything may be missing on a small kernel. */
#pragma once

#include "runners/proto/message.h"

/**
 * facts_read_line() - first line of a small file, made printable ASCII.
 * Return: the line, to be freed; NULL if it cannot be read or is empty.
 */
char *facts_read_line(const char *path);

/** facts_read_field() - value of "KEY<blanks>: VALUE" in a file; to be freed; NULL if there is none. */
char *facts_read_field(const char *path, const char *key);

/** facts_read_chosen() - the word in brackets of "always [madvise] never"; to be freed; or NULL. */
char *facts_read_chosen(const char *path);

/** facts_thp() - the THP mode in force ("always", "madvise", "never"); NULL without THP. */
char *facts_thp(void);

/** facts_cpus() - CPUs that we may run on, 1 or more. */
int facts_cpus(void);

/** facts_list_count() - how many numbers a list such as "0-3,8" in the file @path has; 0 without. */
int facts_list_count(const char *path);

/** facts_cmdline() - @line without words that are other on each boot ("kperfbot.…"); to be freed. */
char *facts_cmdline(const char *line);

/**
 * facts_now() - object with what can change a measurement; the caller's.
 * @missing: names of what could not be set up, joined to it; array or NULL.
 */
json_t *facts_now(json_t *missing);

/** facts_machine() - add to @facts what belongs to processor, memory and firmware. */
void facts_machine(json_t *facts);

/** facts_changed() - add to @ret what is in @now and other in @before, null for what is gone. */
void facts_changed(json_t *before, json_t *now, json_t *ret);

/** facts_busy() - add to @ret how many others want a CPU now, as "running_others", if any do. */
void facts_busy(json_t *ret);

/** facts_clock_offset_s() - wall clock minus the clock that only counts. */
double facts_clock_offset_s(void);

/**
 * facts_hello() - fill @ret from /proc and /sys.
 * @nonce: overrides what the kernel's command line says; NULL: look there.
 * @missing: as for facts_now().
 */
void facts_hello(const char *nonce, json_t *missing, struct proto_hello *ret);
