/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scratch folder and real git repositories in it, made by shell lines. Include after test.h. */
#pragma once

#include "bot/base/child.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"

#include <stdlib.h>
#include <string.h>

static char *repo_scratch;

/* Runs a shell line in the scratch folder; the test fails with its output if it does. */
__attribute__((format(printf, 1, 2), unused)) static char *sh(const char *fmt, ...)
{
	static const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
					   "HOME=/nonexistent",
					   "LC_ALL=C",
					   "GIT_CONFIG_NOSYSTEM=1",
					   "GIT_CONFIG_GLOBAL=/dev/null",
					   "GIT_AUTHOR_NAME=Ann Author",
					   "GIT_AUTHOR_EMAIL=ann@example.org",
					   "GIT_AUTHOR_DATE=1700000000 +0100",
					   "GIT_COMMITTER_NAME=Carl Committer",
					   "GIT_COMMITTER_EMAIL=carl@example.org",
					   "GIT_COMMITTER_DATE=1700000060 -0230",
					   NULL };
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT, .total_s = 60 };
	const char *argv[] = { "sh", "-ec", NULL, NULL };
	struct strbuf line = STRBUF_INIT;
	struct child_result res;
	struct err e = { 0 };
	char *out;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	argv[2] = strbuf_str(&line);
	opts.spawn.argv = argv;
	opts.spawn.env = env;
	opts.spawn.cwd = repo_scratch;
	assert_ok(child_run(&opts, &res, &e), &e);
	if (res.end != CHILD_EXITED || res.status != 0)
		fail_msg("'%s' failed: %s", line.s, res.out);
	strbuf_done(&line);
	out = xstrdup(res.out);
	out[strcspn(out, "\n")] = '\0';
	child_result_done(&res);
	return out;
}

/* The same where the output does not matter. */
#define run(...) free(sh(__VA_ARGS__))

__attribute__((unused)) static int repo_setup(void **state)
{
	char path[] = "/tmp/kperfbot-test.XXXXXX";

	(void)state;
	if (!mkdtemp(path))
		return -1;
	repo_scratch = xstrdup(path);
	return 0;
}

__attribute__((unused)) static int repo_teardown(void **state)
{
	(void)state;
	(void)file_remove_tree(repo_scratch, NULL);
	free(repo_scratch);
	repo_scratch = NULL;
	return 0;
}
