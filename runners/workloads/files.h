/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Temporary files of the tests. Those without a name in the file system vanish with the program
 * whatever it dies of; the others are taken away by files_remove().
 */
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#define FILES_TMP "/tmp"
#define FILES_SHM "/dev/shm"

/** file_own() - a new unlinked file in @dir, sparse and @size bytes long. Dies on failure. */
int file_own(const char *dir, off_t size);

/** file_own_filled() - the same in /tmp, with @size bytes of data written. */
int file_own_filled(off_t size);

/** file_reopen() - another description, with @flags, of the file behind @fd. Dies on failure. */
int file_reopen(int fd, int flags);

/** files_named_init() - choose names for task 0 to @tasks - 1, in /tmp or each in its own folder. */
void files_named_init(unsigned tasks, int own_folders);

/** file_named() - path of the file of task @nr, static or the caller's @buf of PATH_MAX bytes. */
const char *file_named(unsigned nr, char *buf);

/** file_named_make() - make the file of task @nr empty. */
void file_named_make(unsigned nr);

/** files_remove() - take away everything that files_named_init() led to. Safe to call twice. */
void files_remove(void);
