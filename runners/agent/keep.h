/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a run leaves in its working directory and that are sent as streams. */
#pragma once

#include "runners/agent/link.h"

#include <sys/stat.h>

/** struct keep - files of one run as they were before it. Caller-owned. */
struct keep {
	char *const *names;
	struct stat *before;
	size_t n;
};

/** keep_init() - look at the files @names of @dir; NULL-terminated, or NULL. Borrowed. */
void keep_init(struct keep *k, const char *dir, char *const *names);

/**
 * keep_send() - send those that the run has written, each up to @max_bytes.
 * @notes: gets a member "file/NAME" for one that is missing or not complete.
 */
void keep_send(const struct keep *k, const char *dir, uint64_t max_bytes, struct sink *sink,
	       json_t *notes);

void keep_done(struct keep *k);
