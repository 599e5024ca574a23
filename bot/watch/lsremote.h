/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `git ls-remote --heads --tags`, which a remote side controls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

/**
 * struct lsremote_ref - one branch or tag of the remote.
 * @name: without "refs/heads/" or "refs/tags/"; owned.
 * @hash: what the ref holds.
 * @peeled: for an annotated tag the object it points to in the end, else equal to @hash.
 */
struct lsremote_ref {
	bool is_tag;
	char *name;
	char hash[41];
	char peeled[41];
};

struct lsremote {
	struct lsremote_ref *refs;
	size_t n;
};

/**
 * lsremote_parse() - "HASH\tREF\n" lines into @ret.
 *
 * Names that remote_branch_ok() refuses and refs that are neither branch nor tag are left out.
 * Return: 0; ERR_UNSUPPORTED for SHA-256 names; ERR_PARSE on anything else that git does not write.
 */
int lsremote_parse(const char *text, size_t len, struct lsremote *ret, struct err *e);
void lsremote_done(struct lsremote *l);
