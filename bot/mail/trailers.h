/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a commit message says in its trailers: people, links, fixes, reverts. */
#pragma once

#include "bot/base/vec.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

/** TRAILERS_MAX_BYTES - longest message that is read. */
#define TRAILERS_MAX_BYTES (4U << 20)
/** TRAILERS_MAX - most trailers kept; later ones set @truncated. */
#define TRAILERS_MAX 1000

/**
 * struct trailer - one trailer line; a line with several addresses gives one entry for each.
 * @key: as written, e.g. "Signed-off-by".
 * @value: all after the colon, continuation lines joined with one blank.
 * @name, @addr: the person, for Cc, To and keys that end in -by; NULL if there is none.
 * @comment: what follows the address, with its sign ("# 5.10+"); NULL if none.
 */
struct trailer {
	char *key;
	char *value;
	char *name;
	char *addr;
	char *comment;
};

enum trailer_link_kind {
	TRAILER_LINK_PATCH,
	TRAILER_LINK_REPORT,
	TRAILER_LINK_OTHER,
};

/**
 * struct trailer_link - a Link, Closes, BugLink or Message-ID trailer.
 * @url: NULL for a Message-ID trailer.
 * @message_id: without `<>`; NULL if the URL names none.
 * @kind: patch: the mail that became this commit, the only one that may be answered. That is a
 *        patch.msgid.link, a Message-ID trailer, or a Link to a list archive just above the last
 *        Signed-off-by (the committer's). report: Closes, BugLink, a Link right below a
 *        Reported-by, a bug tracker. All else: other.
 */
struct trailer_link {
	char *url;
	char *message_id;
	enum trailer_link_kind kind;
	size_t index;
};

/**
 * struct trailer_fix - one Fixes tag.
 * @id: 8 to 40 lower-case hex digits; NULL if the tag has none.
 * @title: title within ("...") or (...), line breaks joined with one blank; the whole text if there
 *         is no @id; NULL if empty.
 * @ok: the tag may be used as a link to a culprit. Not so without an id, if the title is that of a
 *      merge, or if the commit itself is a revert (whose tags speak of the commit it takes back).
 *      The id may still be unknown in the tree: fixes_resolve() looks for a commit of this title.
 * @merge: the title is that of a merge.
 */
struct trailer_fix {
	char *id;
	char *title;
	bool ok;
	bool merge;
};

/** struct trailer_revert - a commit taken back: @id 8 to 40 hex digits or NULL, @title or NULL. */
struct trailer_revert {
	char *id;
	char *title;
};

/**
 * struct trailers - all that was found. Every string is valid one-line UTF-8 (text_clean()).
 * @subject: first paragraph as one line; NULL if the message begins with a trailer or is empty.
 */
struct trailers {
	char *subject;
	VEC(struct trailer) trailers;
	VEC(struct trailer_link) links;
	VEC(struct trailer_fix) fixes;
	VEC(struct trailer_revert) reverts;
	bool truncated;
};

/**
 * trailers_parse() - read a commit message.
 * @msg: any bytes, @len of them; not trusted.
 * @ret: filled on success only; trailers_done() it.
 *
 * A paragraph below the subject counts when it is the last one or at least half of its lines are
 * trailers that the kernel uses. Pure; O(len).
 * Return: 0; ERR_TOO_BIG above TRAILERS_MAX_BYTES.
 */
int trailers_parse(const char *msg, size_t len, struct trailers *ret, struct err *e);

void trailers_done(struct trailers *t);

/** trailers_to_json() - {"subject", "trailers", "links", "fixes", "reverts"}; json_decref() it. */
json_t *trailers_to_json(const struct trailers *t);

/** trailers_patch_id() - Message-ID of the mail that became this commit; NULL; belongs to @t. */
const char *trailers_patch_id(const struct trailers *t);

/** trailer_link_kind_name() - "patch", "report", "other". Static string. */
const char *trailer_link_kind_name(enum trailer_link_kind kind);
