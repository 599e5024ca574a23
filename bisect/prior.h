/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How likely a commit is to be the first bad one before anything is measured, by what it changes.
 * Pure. One that cannot matter gets little weight, never none: what is known may be wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * enum prior_kind - why a path, or a commit by the one of its paths that can matter most, gets less.
 * Where several fit to a path, the last.
 * @PRIOR_PLAIN: no reason.
 * @PRIOR_OFF_PATH: the benchmark is known not to run it (bot/lab/relevance.h).
 * @PRIOR_QUIET_FOLDER: a Makefile or Kconfig of a folder of which nothing is built.
 * @PRIOR_NOT_BUILT: source or header that is in no build.
 * @PRIOR_SAME_OBJECT: its object file is the same in the builds of both ends.
 * @PRIOR_COMMENTS: only comments, blanks or help texts change.
 * @PRIOR_OTHER_ARCH: below arch/ and not of the built architecture.
 * @PRIOR_TESTS: tests, samples, tools, that are not part of the kernel.
 * @PRIOR_DOCS: documentation and lists of people.
 * @PRIOR_SAME_BINARY: builds before and after it are the same, or it changes no file.
 */
enum prior_kind {
	PRIOR_PLAIN,
	PRIOR_OFF_PATH,
	PRIOR_QUIET_FOLDER,
	PRIOR_NOT_BUILT,
	PRIOR_SAME_OBJECT,
	PRIOR_COMMENTS,
	PRIOR_OTHER_ARCH,
	PRIOR_TESTS,
	PRIOR_DOCS,
	PRIOR_SAME_BINARY,
	PRIOR_KINDS
};

/** prior_kind_name() - "plain", "off-path", "quiet-folder", "not-built", … Static string. */
const char *prior_kind_name(enum prior_kind k);

/** prior_kind_weight() - 1 for PRIOR_PLAIN, else less and > 0; a chosen table, see prior.c. */
double prior_kind_weight(enum prior_kind k);

/** PRIOR_MERGE_WEIGHT - factor for a merge: it is the first bad one only by what its sides do together. */
#define PRIOR_MERGE_WEIGHT 0.3

/**
 * struct prior_set - sorted words, for looking them up; prior_set_done() frees it.
 * @items: @n of them, owned. @cap: room for so many.
 */
struct prior_set {
	char **items;
	size_t n;
	size_t cap;
};
void prior_set_done(struct prior_set *s);

/** prior_set_add() - add each line of @text, up to its first blank; call prior_set_sort() after. */
void prior_set_add(struct prior_set *s, const char *text, size_t len);

/** prior_set_sort() - make it ready for prior_set_has(); twice the same word counts once. */
void prior_set_sort(struct prior_set *s);
bool prior_set_has(const struct prior_set *s, const char *word);

/** prior_set_below() - is there a word that begins with @folder, which ends in '/'? */
bool prior_set_below(const struct prior_set *s, const char *folder, size_t len);

/**
 * prior_same_objects() - object files that two builds have in common.
 * @a, @b: artefacts "objects": lines "PATH HASH", sorted by path.
 * @ret: paths without ".o" that are in both with the same hash; sorted, prior_set_done() it.
 * Return: is everything the same, and is there anything at all?
 */
bool prior_same_objects(const char *a, size_t a_len, const char *b, size_t b_len,
			struct prior_set *ret);

/**
 * struct prior_context - what is known of the whole range; all borrowed.
 * @arch: as the kernel names its folder, "x86".
 * @suite, @test: of the job as bot/lab/relevance.h takes them; NULL: not known.
 * @built: sources and headers that went into builds of this kconfig, of the ends at least; NULL or
 *	empty: not known.
 * @same: object files, without ".o", that are equal in the builds of both ends; NULL: not known.
 */
struct prior_context {
	const char *arch;
	const char *suite;
	const char *test;
	const struct prior_set *built;
	const struct prior_set *same;
};

/**
 * struct prior_commit - one commit; all borrowed.
 * @paths: what it changes against its first parent, @n_paths of them.
 * @same_code: for each path: prior_same_code() said yes; NULL: not looked at.
 * @more: there are more paths than these.
 * @merge: it has several parents.
 * @same_binary: a build before and a build after it are equal.
 */
struct prior_commit {
	const char *const *paths;
	const bool *same_code;
	size_t n_paths;
	bool more;
	bool merge;
	bool same_binary;
};

/** prior_path_kind() - of one path. @same_code: as in struct prior_commit. */
enum prior_kind prior_path_kind(const struct prior_context *c, const char *path, bool same_code);

/**
 * prior_weight() - weight of a commit, for bisect_set_prior(); > 0, at most 1.
 * @ret_kind: may be NULL.
 */
double prior_weight(const struct prior_context *c, const struct prior_commit *commit,
		    enum prior_kind *ret_kind);

/**
 * prior_same_code() - do two versions of the file @path differ in nothing that is compiled?
 *
 * C and assembler (.c .h .S): without comments, and with each run of blanks as one, they are equal.
 * Kconfig: the same without comments and help texts. Other files, or doubt: false. Line numbers do
 * not count, although __LINE__ may have got into the code. O(n) time and memory.
 */
bool prior_same_code(const char *path, const char *a, size_t a_len, const char *b, size_t b_len);

/** enum prior_suspicion - what makes a named culprit look odd; bits. */
enum prior_suspicion {
	PRIOR_SUSPECT_COMMENTS = 1,
	PRIOR_SUSPECT_DOCS = 2,
	PRIOR_SUSPECT_ARCH = 4,
	PRIOR_SUSPECT_TESTS = 8,
	PRIOR_SUSPECT_MERGE = 16,
	PRIOR_SUSPECT_BINARY = 32,
	PRIOR_SUSPECT_NOT_BUILT = 64
};

/**
 * prior_suspicions() - bits of enum prior_suspicion. A bit stands for all paths of the commit: a
 * comment and a text together are COMMENTS and DOCS, one line of code beside them is neither.
 */
unsigned prior_suspicions(const struct prior_context *c, const struct prior_commit *commit);

/** prior_suspicion_name() - "comment-only", "docs-only", "other-arch", "tests-only", "merge", … */
const char *prior_suspicion_name(enum prior_suspicion s);
