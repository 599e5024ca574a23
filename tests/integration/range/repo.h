/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Git repositories made for one test, read by git itself for comparison. */
#pragma once

#include "tests/test.h"

#include "bot/base/strbuf.h"

#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct repo {
	char dir[64];
	git_repository *git;
};

/** repo_sh() - run a shell command in the repository; its output without the last line end. */
static inline char *repo_sh(const struct repo *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline char *repo_sh(const struct repo *r, const char *fmt, ...)
{
	struct strbuf cmd = STRBUF_INIT;
	struct strbuf out = STRBUF_INIT;
	va_list ap;
	FILE *f;
	int c;

	strbuf_addf(&cmd,
		    "cd '%s' && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null "
		    "GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C "
		    "GIT_COMMITTER_EMAIL=c@example.org && { ",
		    r->dir);
	va_start(ap, fmt);
	strbuf_vaddf(&cmd, fmt, ap);
	va_end(ap);
	strbuf_addstr(&cmd, "\n}");
	f = popen(strbuf_str(&cmd), "r");
	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		strbuf_addch(&out, (char)c);
	if (pclose(f) != 0)
		fail_msg("failed: %s", strbuf_str(&cmd));
	while (out.len > 0 && out.s[out.len - 1] == '\n')
		out.s[--out.len] = '\0';
	strbuf_done(&cmd);
	return strbuf_take(&out);
}

static inline void repo_init(struct repo *r)
{
	*r = (struct repo){ .dir = "/tmp/kperfbot-range-XXXXXX" };
	assert_true(git_libgit2_init() > 0);
	assert_non_null(mkdtemp(r->dir));
	free(repo_sh(r, "git init -q -b main ."));
	assert_int_equal(git_repository_open(&r->git, r->dir), 0);
}

static inline void repo_done(struct repo *r)
{
	git_repository_free(r->git);
	git_libgit2_shutdown();
	free(repo_sh(r, "rm -rf '%s'", r->dir));
}

/** repo_commits() - @n commits on the current branch, each changing the file @file. */
static inline void repo_commits(const struct repo *r, int n, const char *file)
{
	free(repo_sh(r,
		     "for i in $(seq %d); do mkdir -p \"$(dirname %s)\"; echo $i $RANDOM >> %s; "
		     "git add -A; git commit -q -m \"%s $i\"; done",
		     n, file, file, file));
}
