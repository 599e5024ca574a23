/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commits by title, and commits read raw. Used by fixes.c and fixes_scan.c alone. */
#pragma once

#include "bot/base/strbuf.h"
#include "bot/base/vec.h"

#include <git2.h>
#include <stdbool.h>

struct err;

/** fixes_why() - libgit2's last reason. */
const char *fixes_why(void);

/**
 * struct fixes_raw - a commit as stored. @msg: @len bytes within @obj. @parents: counted.
 * @time: committer's, 0 if it cannot be read.
 */
struct fixes_raw {
	git_odb_object *obj;
	const char *msg;
	size_t len;
	unsigned parents;
	int64_t time;
};

/** fixes_raw_read() - 1: read, free with fixes_raw_done(); 0: not there, or no commit; ERR_GIT. */
int fixes_raw_read(git_odb *odb, const git_oid *oid, struct fixes_raw *ret, struct err *e);
void fixes_raw_done(struct fixes_raw *raw);

/** fixes_title() - first paragraph as one clean line, the same as the title in a tag; into @ret. */
void fixes_title(const char *msg, size_t len, struct strbuf *ret);

/** struct fixes_wanted - @title: borrowed. @n: commits that have it, counted up to 2. @oid: one. */
struct fixes_wanted {
	const char *title;
	unsigned n;
	git_oid oid;
};

/** struct fixes_wanteds - a set; fill with fixes_want(), then sort it once with fixes_count(). */
struct fixes_wanteds {
	VEC(struct fixes_wanted) v;
};

/**
 * fixes_count() - count in the history of @tip; sorts @w and drops doubles.
 * @ret_whole: false when there are more than FIXES_HISTORY_MAX commits.
 */
int fixes_count(git_repository *repo, const git_oid *tip, struct fixes_wanteds *w, bool *ret_whole,
		struct err *e);

/** fixes_counted() - the entry of @title, NULL if it was not wanted. */
const struct fixes_wanted *fixes_counted(const struct fixes_wanteds *w, const char *title);

/** fixes_id() - commits whose id begins with @id: 0, 1 (then *@ret is it), 2 for more; ERR_GIT. */
int fixes_id(git_repository *repo, git_odb *odb, const char *id, git_oid *ret, struct err *e);

/**
 * fixes_in_history_all() - which of @oids are @tip or an ancestor of it.
 * @ret: @n answers; filled on success only.
 *
 * Many are looked for in one walk, some 10 us a commit, down to the oldest of them, or over the whole
 * history if one is not there. Return: 0; ERR_GIT.
 */
int fixes_in_history_all(git_repository *repo, const git_oid *tip, const git_oid *oids, size_t n,
			 bool *ret, struct err *e);

/** fixes_in_history() - 1 if @oid is @tip or an ancestor of it, 0, ERR_GIT. */
int fixes_in_history(git_repository *repo, const git_oid *tip, const git_oid *oid, struct err *e);
