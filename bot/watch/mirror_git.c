/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transfers of mirror_fetch(): git as a child process, and what it means when it fails. */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/watch/lsremote.h"
#include "bot/watch/mirror.h"
#include "bot/watch/mirror_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIST_MAX   (64 << 20) /* bytes of ls-remote output: some 600 000 refs */
#define REASON_MAX 300

struct env {
	VEC(const char *) v;
	VEC(char *) owned;
};

/* Nothing of ours but what finding programs, keys and proxies takes; above all no GIT_*. */
static void env_make(const struct mirror *m, const struct mirror_tree *t, struct env *env)
{
	static const char *const keep[] = { "PATH",	  "HOME",	   "USER",
					    "LOGNAME",	  "SSH_AUTH_SOCK", "TMPDIR",
					    "http_proxy", "https_proxy",   "HTTPS_PROXY",
					    "all_proxy",  "ALL_PROXY",	   "no_proxy",
					    "NO_PROXY" };

	for (size_t i = 0; i < ARRAY_SIZE(keep); i++) {
		const char *value = getenv(keep[i]); /* NOLINT(concurrency-mt-unsafe) */

		if (value)
			vec_push(&env->owned, xasprintf("%s=%s", keep[i], value));
	}
	vec_push(&env->owned, xasprintf("GIT_CONFIG_GLOBAL=%s", m->gitconfig));
	vec_push(&env->owned, xasprintf("GIT_ALLOW_PROTOCOL=https:ssh:git%s",
					t && t->allow_file ? ":file" : ""));
	vec_foreach (s, &env->owned)
		vec_push(&env->v, *s);
	vec_push(&env->v, "GIT_CONFIG_NOSYSTEM=1");
	vec_push(&env->v, "GIT_TERMINAL_PROMPT=0");
	vec_push(&env->v, "GIT_ASKPASS=/bin/false");
	vec_push(&env->v, "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=30 "
			  "-oServerAliveInterval=15");
	vec_push(&env->v, "LC_ALL=C");
	vec_push(&env->v, NULL);
}

static void env_done(struct env *env)
{
	vec_foreach (s, &env->owned)
		free(*s);
	vec_done(&env->owned);
	vec_done(&env->v);
}

static bool has_any(const char *line, const char *const *words)
{
	for (; *words; words++)
		if (strstr(line, *words))
			return true;
	return false;
}

/*
 * git's reason is its first line with one of these, and the next one if it ends with a colon; what
 * follows is advice or a consequence.
 */
static char *reason_of(const char *text)
{
	static const char *const heads[] = { "fatal:", "error:", "ssh:", NULL };
	struct strbuf b = STRBUF_INIT;
	bool found = false;

	while (*text) {
		size_t n = strcspn(text, "\r\n");
		const char *line = text;

		text += n + (text[n] != '\0');
		if (n == 0)
			continue;
		if (!found)
			strbuf_reset(&b);
		else
			strbuf_addch(&b, ' ');
		strbuf_add(&b, line, n < REASON_MAX ? n : REASON_MAX);
		found = has_any(b.s, heads);
		if (found && (b.len > REASON_MAX || b.s[b.len - 1] != ':'))
			break;
	}
	return b.len ? strbuf_take(&b) : NULL;
}

/* Would another try perhaps work? What is not known to pass counts as lasting. */
static bool reason_is_transient(const char *reason)
{
	static const char *const lasting[] = { "returned error: 4", "not appear to be a git",
					       "transport '", "Authentication failed", NULL };
	static const char *const passing[] = { "unable to access",
					       "unable to connect",
					       "unable to look up",
					       "early EOF",
					       "hung up",
					       "Could not read",
					       "timed out",
					       "Connection",
					       "could not resolve",
					       "Could not resolve",
					       "couldn't find remote ref",
					       "bytes of body",
					       "index-pack",
					       "No route",
					       "ssh:",
					       "returned error: 5",
					       "RPC failed",
					       NULL };

	return !has_any(reason, lasting) && has_any(reason, passing);
}

int mirror_git_run(struct mirror *m, const struct mirror_tree *t, const char *const *argv,
		   int stdin_fd, double idle_s, double total_s, struct child_result *ret,
		   struct err *e)
{
	_cleanup_(freep) char *reason = NULL;
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT };
	struct env env = { 0 };
	char end[64];
	int r;

	env_make(m, t, &env);
	opts.spawn.argv = argv;
	opts.spawn.env = env.v.items;
	opts.spawn.cwd = m->dir;
	opts.spawn.stdin_fd = stdin_fd;
	opts.idle_s = idle_s;
	opts.total_s = total_s;
	opts.max_output = LIST_MAX;
	opts.kill_over_output = LIST_MAX;
	opts.split_stderr = true;
	r = child_run(&opts, ret, e);
	env_done(&env);
	if (r < 0 || (ret->end == CHILD_EXITED && ret->status == 0))
		return r;
	if (ret->end == CHILD_EXITED)
		reason = reason_of(ret->err);
	if (ret->end == CHILD_TIMEOUT || ret->end == CHILD_IDLE)
		r = ERR_GIT_AWAY;
	else
		r = reason && reason_is_transient(reason) ? ERR_GIT_AWAY : ERR_GIT;
	r = err_set(e, r, "git: %s", reason ? reason : child_end_text(ret, end));
	child_result_done(ret);
	return r;
}

int mirror_git_list(struct mirror *m, const struct mirror_tree *t, struct lsremote *ret,
		    struct err *e)
{
	const char *argv[] = { "git", "ls-remote", "--heads", "--tags", "--", t->url, NULL };
	struct child_result res;
	int r;

	r = mirror_git_run(m, t, argv, -1, t->connect_s, t->total_s, &res, e);
	if (r < 0)
		return r;
	r = lsremote_parse(res.out, res.out_len, ret, e);
	child_result_done(&res);
	return r;
}

int mirror_git_transfer(struct mirror *m, const struct mirror_tree *t, const struct strbuf *specs,
			struct err *e)
{
	/* --refmap= and no configured remote: nothing but @specs is written. */
	const char *argv[] = { "git",
			       "fetch",
			       "--no-tags",
			       "--no-recurse-submodules",
			       "--no-auto-maintenance",
			       "--no-write-fetch-head",
			       "--progress",
			       "--refmap=",
			       "--stdin",
			       "--",
			       t->url,
			       NULL };
	_cleanup_(closep) int fd = memfd_create("refspecs", MFD_CLOEXEC);
	struct child_result res;
	git_odb *odb = NULL;
	int r;

	if (fd < 0 || write(fd, specs->s, specs->len) != (ssize_t)specs->len ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(e, errno, "could not hand %zu bytes of refspecs to git",
				 specs->len);
	r = mirror_git_run(m, t, argv, fd, t->idle_s, t->total_s, &res, e);
	if (r < 0)
		return r;
	child_result_done(&res);
	if (git_repository_odb(&odb, m->repo) == 0)
		(void)git_odb_refresh(odb);
	git_odb_free(odb);
	return 0;
}
