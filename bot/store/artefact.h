/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files named by their SHA-256, in STATE/artefacts/aa/HASH; a row of table artefact for each. */
#pragma once

#include <stddef.h>

struct db;
struct err;
struct strbuf;

/**
 * artefact_put() - store bytes. The file is durable before the row is written.
 * @kind: image, config, log, console, raw, file, initrd, objects or deps.
 * @ret_hash: its name, 64 hex digits.
 */
int artefact_put(struct db *db, const char *state_dir, const char *kind, const void *data,
		 size_t len, char ret_hash[65], struct err *e);

/** artefact_put_file() - store a regular file (no link) of at most @max bytes. */
int artefact_put_file(struct db *db, const char *state_dir, const char *kind, const char *path,
		      size_t max, char ret_hash[65], struct err *e);

/**
 * artefact_sweep() - remove what writers that were killed have left beside the artefacts.
 * @older_s: only files that no one has written to for this many seconds; 0: when no one may have
 *	begun one a moment ago. What is being written stays, however old; so does what others than
 *	our writers have put there.
 */
int artefact_sweep(const char *state_dir, double older_s, struct err *e);

/** artefact_path() - path of an artefact; free() it. @hash must be 64 hex digits. */
char *artefact_path(const char *state_dir, const char *hash);

/** artefact_get() - read and check against its hash. ERR_IO when it was altered, ERR_NOENT. */
int artefact_get(const char *state_dir, const char *hash, size_t max, struct strbuf *ret,
		 struct err *e);
