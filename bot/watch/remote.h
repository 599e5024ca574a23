/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a [tree] section may say: names, addresses, branch patterns. */
#pragma once

#include <stdbool.h>

struct err;

/**
 * remote_url_check() - may this address be given to git?
 * @url: https://, ssh://, git:// or user@host:path; with @allow_file also file:// or /path.
 *
 * Refuses what git would take as an option or as a command ("--upload-pack=…", "ext::…"), hosts
 * that start with '-', control bytes and blanks.
 * Return: 0; ERR_PERM for a local path without @allow_file; ERR_INVAL otherwise.
 */
int remote_url_check(const char *url, bool allow_file, struct err *e);

/** remote_tree_check() - a tree's name: parse_name() and fit to be part of a ref name. */
int remote_tree_check(const char *name, struct err *e);

/**
 * remote_pattern_check() - is @pattern a branch name in which '*' stands for anything?
 * Return: 0 or ERR_INVAL.
 */
int remote_pattern_check(const char *pattern, struct err *e);

/** remote_pattern_match() - does @branch fit @pattern? '*' matches any bytes, also '/' and none. */
bool remote_pattern_match(const char *pattern, const char *branch);

/** remote_patterns_match() - does @branch fit one of the NULL-terminated @patterns? */
bool remote_patterns_match(const char *const *patterns, const char *branch);

/** remote_branch_ok() - is @name a branch that we carry: valid for git, UTF-8, <= 200 bytes? */
bool remote_branch_ok(const char *name);
