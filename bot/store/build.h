/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds, keyed by (commit, kconfig hash, compiler, variant). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct db;
struct err;

enum build_state {
	BUILD_STATE_WANTED,
	BUILD_STATE_OK,
	BUILD_STATE_FAILED
};

/** struct build - a row; build_done() frees it. Texts are "" where there is nothing. */
struct build {
	int64_t id;
	char commit[41];
	char *kconfig;
	char *kconfig_hash;
	char *compiler;
	enum build_state state;
	char *detail;
	char *image; /* artefact */
	char *gnu_build_id;
	char *variant; /* see build_want() */
	double took_s;
};
void build_done(struct build *b);

/**
 * build_want() - the row for this key, made and queued as work with @prio when there is none.
 * @variant: "" or "align64", see bot/build/build.h.
 */
int build_want(struct db *db, const char *commit, const char *kconfig, const char *kconfig_hash,
	       const char *compiler, const char *variant, int prio, int64_t *ret_id,
	       enum build_state *ret_state, struct err *e);

int build_get(struct db *db, int64_t id, struct build *ret, struct err *e);

/** build_find() - state of a build (variant "") without asking for it. ERR_NOENT: never asked for. */
int build_find(struct db *db, const char *commit, const char *kconfig_hash, const char *compiler,
	       struct build *ret, struct err *e);

/**
 * struct build_outcome - how a build ended; borrowed texts, NULL where there is nothing.
 * @fail_class: NULL when it is good.
 */
struct build_outcome {
	const char *fail_class;
	const char *detail;
	const char *image, *config, *log; /* artefacts */
	const char *objects, *deps;	  /* artefacts */
	const char *gnu_build_id;
	double took_s;
};

/** build_finish() - store the end and wake everyone who waits for it. In a transaction. */
int build_finish(struct db *db, int64_t id, const struct build_outcome *o, struct err *e);

/** struct build_list - what is known of what a good build was made into; texts "" where nothing is. */
struct build_list {
	char commit[41];
	char objects[65]; /* artefacts: see bot/build/build.h */
	char deps[65];
	char gnu_build_id[129];
};

/**
 * build_lists() - of the good builds (variant "") of some commits, in the order in which they ended.
 * @ret: free() it.
 */
int build_lists(struct db *db, const char *const *commits, size_t n, const char *kconfig_hash,
		const char *compiler, struct build_list **ret, size_t *ret_n, struct err *e);
