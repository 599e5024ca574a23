/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that survive a crash, hashes and random ids. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct strbuf;

/**
 * file_read() - read a whole file, "-" is stdin.
 * @max: refuse more bytes than this (ERR_TOO_BIG).
 * @ret: appended to, as it was on failure; caller's.
 */
int file_read(const char *path, size_t max, struct strbuf *ret, struct err *e);

/**
 * file_write() - write temp file, fsync, rename, fsync folder: the old or the new, never half. The
 * temp file is PATH.XXXXXX, and locked while it is written: see file_is_abandoned().
 */
int file_write(const char *path, const void *data, size_t len, mode_t mode, struct err *e);

/** file_mkdirs() - mkdir -p. */
int file_mkdirs(const char *path, mode_t mode, struct err *e);

/**
 * file_remove_tree() - rm -rf without following links out; no error when nothing is there.
 * Any depth, also folders that their owner has closed.
 */
int file_remove_tree(const char *path, struct err *e);

/**
 * file_is_abandoned() - is @path a regular file that no file_write() or file_copy() is at?
 * @older_s: and nothing was written to it for so many seconds; 0: whatever its age.
 */
bool file_is_abandoned(const char *path, double older_s);

/** file_sha256_hex() - SHA-256 of bytes as 64 hex digits. */
void file_sha256_hex(const void *data, size_t len, char ret[65]);

/** file_sha256_path() - SHA-256 of a regular file and its size; does not follow a last link. */
int file_sha256_path(const char *path, char ret[65], size_t *ret_size, struct err *e);

/** file_copy() - copy a regular file (not a link), at most @max bytes, durable as file_write(). */
int file_copy(const char *from, const char *to, size_t max, mode_t mode, struct err *e);

/** id_new() - @prefix and 7 random base32 characters (no i, l, o, u), e.g. "r7f3k2qa". */
void id_new(char prefix, char ret[9]);

/** id_valid() - does @s have the form that id_new(@prefix) makes? */
bool id_valid(char prefix, const char *s);

/** random_hex() - 2 * @nbytes hex digits of kernel randomness and a NUL into @ret. */
void random_hex(size_t nbytes, char *ret);
