/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of mirror.h only. */
#pragma once

#include "bot/base/cleanup.h"

#include <git2.h>

struct err;

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
