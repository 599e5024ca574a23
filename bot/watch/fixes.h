/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which commits say that they fix another one, or take it back. A tag is a claim, not a fact. */
#pragma once

#include "bot/base/vec.h"

#include <git2/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct trailer_fix;

/** FIXES_HISTORY_MAX - commits that are looked at for a title; of longer histories nothing is said. */
#define FIXES_HISTORY_MAX 3000000
/** FIXES_SCAN_MAX - commits below a tip in which fixes are looked for, the newest. */
#define FIXES_SCAN_MAX 200000
/** FIXES_CULPRITS_MAX - culprits of one scan. */
#define FIXES_CULPRITS_MAX 500
/** FIXES_CLAIMS_MAX - claims about one culprit that are kept, the newest. */
#define FIXES_CLAIMS_MAX 8

/**
 * enum fixes_end - what became of a tag. FOUND: it names a commit. NO_ID: no 8 to 40 hex digits.
 * REVERT: the commit that has the tag is a revert, whose tags speak of what it takes back. MERGE: it
 * names a merge, which is no link to a culprit. AMBIGUOUS: several commits begin with the id.
 * UNKNOWN: neither the id nor a commit of exactly this title is in the history. TITLES: the id is
 * not, and several commits have the title. TOO_LONG: the id is not, and the history is too long for
 * looking.
 */
enum fixes_end {
	FIXES_FOUND,
	FIXES_NO_ID,
	FIXES_REVERT,
	FIXES_MERGE,
	FIXES_AMBIGUOUS,
	FIXES_UNKNOWN,
	FIXES_TITLES,
	FIXES_TOO_LONG
};

/** fixes_end_name() - "found", "no-id", "revert", "merge", "ambiguous", …. Static string. */
const char *fixes_end_name(enum fixes_end end);
/** fixes_end_text() - the same for people. Static string. */
const char *fixes_end_text(enum fixes_end end);

/** struct fixes_named - @hash: "" unless FOUND. @by_title: the id is not in the history. */
struct fixes_named {
	enum fixes_end end;
	char hash[41];
	bool by_title;
};

/**
 * fixes_tip() - the commit that @rev names: a branch, tag, hash or what git understands.
 * Return: 0; ERR_NOENT, ERR_AMBIGUOUS, ERR_INVAL (no name, or not a commit), ERR_GIT.
 */
int fixes_tip(git_repository *repo, const char *rev, char ret[41], struct err *e);

/**
 * fixes_resolve() - which commits tags name.
 * @tip: full hash; only its history counts.
 * @fixes: as trailers_parse() gives them, @n of them.
 * @ret: @n entries; filled on success only.
 *
 * An id is what `git rev-parse --verify ID^{commit}` makes of it, without branches and tags of that
 * name. One that is not in the history (trees are rebuilt) gives the only commit there with exactly
 * the title of the tag, or nothing: never one that is only near. Costs a walk over the history, some
 * 10 us a commit, when there is such an id.
 * Return: 0; ERR_INVAL (@tip is no hash), ERR_NOENT, ERR_GIT.
 */
int fixes_resolve(git_repository *repo, const char *tip, const struct trailer_fix *fixes, size_t n,
		  struct fixes_named *ret, struct err *e);

/**
 * fixes_here() - where each of @commits is in the history of @tip, which may have been made anew.
 * @commits: @n full hashes.
 * @ret: @n hashes: the commit itself if it is there, else the only one of its title, else "". Whether
 *	that is the same change is for twin_is() to say. Filled on success only.
 *
 * Costs what fixes_resolve() costs. Return: as fixes_resolve().
 */
int fixes_here(git_repository *repo, const char *tip, const char *const *commits, size_t n,
	       char (*ret)[41], struct err *e);

/**
 * struct fixes_claim - a commit that says so.
 * @culprit: index. @hash, @title: of the commit; owned. @time: when it was committed, s since 1970.
 * @reverts: it takes the culprit back; else it has a Fixes tag.
 * @by_title: the id in it is not in the history, the title is that of the culprit alone.
 */
struct fixes_claim {
	size_t culprit;
	char hash[41];
	char *title;
	int64_t time;
	bool reverts;
	bool by_title;
};

/** struct fixes_claims - @v: newest first, those by title last. @cut: more commits, or more claims, than are looked at. */
struct fixes_claims {
	VEC(struct fixes_claim) v;
	bool cut;
};
void fixes_claims_done(struct fixes_claims *c);

/**
 * fixes_scan() - look below @tip for commits that fix or revert one of @culprits.
 * @tip: full hash. @culprits: @n full hashes, at most FIXES_CULPRITS_MAX; unknown ones have no claim.
 * @limit: read at most this many commits, the newest; 0 is FIXES_SCAN_MAX.
 * @ret: filled on success only; fixes_claims_done() it.
 *
 * A claim of a commit that was itself reverted does not count, nor does a revert after which the
 * culprit was applied again under its title. A merge has no fixes, but can be reverted. Reads what
 * is reachable from @tip and not from all the culprits.
 * Return: 0; ERR_INVAL (not a hash), ERR_NOENT (no such tip), ERR_TOO_BIG (@n), ERR_GIT.
 */
int fixes_scan(git_repository *repo, const char *tip, const char *const *culprits, size_t n,
	       size_t limit, struct fixes_claims *ret, struct err *e);
