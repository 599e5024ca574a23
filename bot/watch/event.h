/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened to the branches of a tree between two looks at it. Calls only what it is given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

/** struct mirror_head - a branch (without refs/heads/) and the commit it is at. */
struct mirror_head {
	char *branch;
	char hash[41];
};

void mirror_heads_free(struct mirror_head *heads, size_t n);

/**
 * enum mirror_event_kind - FIRST: a branch of a tree seen for the first time; NEW: a new branch of
 * a known tree; MOVED: the old head is an ancestor of the new one; FORCED: it is not.
 */
enum mirror_event_kind {
	MIRROR_FIRST,
	MIRROR_NEW,
	MIRROR_MOVED,
	MIRROR_FORCED,
	MIRROR_DELETED
};

/** struct mirror_event - @old_hash is "" for FIRST and NEW, @new_hash is "" for DELETED. */
struct mirror_event {
	enum mirror_event_kind kind;
	char *branch;
	char old_hash[41];
	char new_hash[41];
};

/** mirror_is_ancestor_fn - 1 if @old_hash is an ancestor of or equal to @new_hash, 0, or ERR_*. */
typedef int mirror_is_ancestor_fn(void *arg, const char *old_hash, const char *new_hash,
				  struct err *e);

/**
 * mirror_events() - compare two lists of heads.
 * @old_heads, @new_heads: in any order, branches unique; borrowed.
 * @first_time: the tree was never looked at before: its branches are FIRST, not NEW.
 * @is_ancestor: asked once for each branch that moved.
 * @ret: events sorted by branch; free with mirror_events_free(). NULL if none.
 */
int mirror_events(const struct mirror_head *old_heads, size_t n_old,
		  const struct mirror_head *new_heads, size_t n_new, bool first_time,
		  mirror_is_ancestor_fn *is_ancestor, void *arg, struct mirror_event **ret,
		  size_t *ret_n, struct err *e);
void mirror_events_free(struct mirror_event *events, size_t n);

/** mirror_event_kind_name() - "first", "new", "moved", "forced", "deleted". */
const char *mirror_event_kind_name(enum mirror_event_kind kind);
