/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of mirror.h only. */
#pragma once

#include "bot/base/cleanup.h"

#include <git2.h>

struct child_result;
struct err;
struct lsremote;
struct mirror_tree;
struct strbuf;

struct mirror {
	git_repository *repo;
	char *dir;
	char *gitconfig;
};

DEFINE_CLEANUP(git_reference *, git_reference_free);
DEFINE_CLEANUP(git_object *, git_object_free);
DEFINE_CLEANUP(git_commit *, git_commit_free);
DEFINE_CLEANUP(git_config *, git_config_free);
DEFINE_CLEANUP(git_odb *, git_odb_free);
DEFINE_CLEANUP(git_odb_object *, git_odb_object_free);
DEFINE_CLEANUP(git_revwalk *, git_revwalk_free);
DEFINE_CLEANUP(git_reference_iterator *, git_reference_iterator_free);

/* libgit2's reason; it may have none. */
const char *git_why(void);

/* Full hash into an oid: ERR_INVAL if it is none. */
int mirror_oid(const char *hash, git_oid *ret, struct err *e);

/*
 * A git command in the mirror, with an environment of our own; @t may be NULL. Return: 0 with @ret
 * filled; ERR_GIT_AWAY where later may be better; ERR_GIT.
 */
int mirror_git_run(struct mirror *m, const struct mirror_tree *t, const char *const *argv,
		   int stdin_fd, double idle_s, double total_s, struct child_result *ret,
		   struct err *e);

/* Heads and tags that the remote has now. */
int mirror_git_list(struct mirror *m, const struct mirror_tree *t, struct lsremote *ret,
		    struct err *e);

/* Transfers the refs listed in @specs, one "+from:to" a line. */
int mirror_git_transfer(struct mirror *m, const struct mirror_tree *t, const struct strbuf *specs,
			struct err *e);

/** mirror_locks_share() - held by each that fetches, as long as it does; close() @ret_fd. */
int mirror_locks_share(const struct mirror *m, int *ret_fd, struct err *e);

/**
 * mirror_locks_sweep() - remove lock files that a killed git has left, unless another one fetches.
 * @fd: of mirror_locks_share(). Return: how many.
 */
int mirror_locks_sweep(const struct mirror *m, int fd);

/** mirror_packs_sweep() - the same for packs that were not received whole. */
void mirror_packs_sweep(const struct mirror *m, int fd);
