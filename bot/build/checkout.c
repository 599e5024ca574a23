/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/build/build_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIT_TIMEOUT_S 1800

/* Above a tree's own .gitattributes: what is checked out are the bytes of the commit. */
#define ATTRIBUTES "* -text !eol -ident !filter !working-tree-encoding\n"

static int git_child(const struct workdir *w, const char *const *args, struct child_result *ret,
		     struct err *e)
{
	/* The source must be readable for the user in the sandbox, whatever our own umask is. */
	static const char *const head[] = { "sh", "-c", "umask 022 && exec git \"$@\"", "sh" };
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT,
				       .total_s = GIT_TIMEOUT_S,
				       .max_output = 64 << 20 };
	_cleanup_(freep) char *dir = xasprintf("GIT_DIR=%s", w->git);
	_cleanup_(freep) char *tree = xasprintf("GIT_WORK_TREE=%s", w->src);
	_cleanup_(freep) char *index = xasprintf("GIT_INDEX_FILE=%s", w->index);
	const char *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
			      "HOME=/nonexistent",
			      "LC_ALL=C",
			      "GIT_CONFIG_NOSYSTEM=1",
			      "GIT_CONFIG_GLOBAL=/dev/null",
			      "GIT_ATTR_NOSYSTEM=1",
			      "GIT_TERMINAL_PROMPT=0",
			      dir,
			      tree,
			      index,
			      NULL };
	VEC(const char *) argv = { 0 };
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		vec_push(&argv, head[i]);
	for (; *args; args++)
		vec_push(&argv, *args);
	vec_push(&argv, NULL);
	opts.spawn.argv = argv.items;
	opts.spawn.env = env;
	opts.spawn.cwd = w->src;
	r = child_run(&opts, ret, e);
	vec_done(&argv);
	return r;
}

/* 0 on success, 1 if git was not content (its reason in @e), or ERR_*. */
static int git(const struct workdir *w, const char *const *args, struct err *e)
{
	struct child_result res;
	char end[64];
	int r = git_child(w, args, &res, e);

	if (r < 0)
		return r;
	if (res.end != CHILD_EXITED || res.status != 0) {
		res.out[strcspn(res.out, "\n")] = '\0';
		(void)err_set(e, ERR_GIT, "git %s: %.300s", args[0],
			      res.out[0] ? res.out : child_end_text(&res, end));
		r = 1;
	}
	child_result_done(&res);
	return r;
}

#define GIT(w, e, ...) git(w, (const char *const[]){ __VA_ARGS__, NULL }, e)

static int put(const struct workdir *w, const char *name, const char *text, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", w->git, name);

	return file_write(path, text, strlen(text), 0600, e);
}

/* A repository of our own that borrows the objects: no config or attributes but ours count. */
static int prepare_git(const struct workdir *w, const char *mirror, struct err *e)
{
	static const char *const folders[] = { "objects/info", "refs/heads", "info" };
	_cleanup_(freep) char *real = realpath(mirror, NULL);
	_cleanup_(freep) char *line = NULL;
	int r = 0;

	if (!real)
		return err_errno(e, errno, "could not find mirror '%s'", mirror);
	line = xasprintf("%s/objects\n", real);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(folders); i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", w->git, folders[i]);

		r = file_mkdirs(path, 0700, e);
	}
	if (r == 0)
		r = put(w, "objects/info/alternates", line, e);
	if (r == 0)
		r = put(w, "info/attributes", ATTRIBUTES, e);
	if (r == 0)
		r = put(w, "config", "[core]\n\trepositoryformatversion = 0\n", e);
	return r == 0 ? put(w, "HEAD", "ref: refs/heads/none\n", e) : r;
}

/* Is each file of the index there as it should be? */
static int verify(const struct workdir *w, struct err *e)
{
	int r = GIT(w, e, "update-index", "-q", "--refresh");

	if (r == 0)
		r = GIT(w, e, "diff-files", "--quiet");
	return r;
}

static int switch_to(const struct workdir *w, const char *commit, bool repair, struct err *e)
{
	int r = GIT(w, e, "read-tree", "--reset", "-u", commit);

	if (r == 0 && repair)
		r = GIT(w, e, "checkout-index", "-q", "-f", "-u", "-a");
	if (r == 0 && repair)
		r = GIT(w, e, "clean", "-ffdxq");
	return r ? r : verify(w, e);
}

static int start_afresh(const struct workdir *w, struct err *e)
{
	int r = file_remove_tree(w->src, e);

	if (r == 0)
		r = file_mkdirs(w->src, 0755, e);
	if (r == 0 && chmod(w->src, 0755) < 0)
		r = err_errno(e, errno, "could not open up '%s'", w->src);
	(void)unlink(w->index);
	return r;
}

int checkout_run(const struct workdir *w, const char *mirror, const char *commit, struct err *e)
{
	_cleanup_(freep) char *object = xasprintf("%s^{commit}", commit);
	_cleanup_(freep) char *marker = xasprintf("%s/checking-out", w->dir);
	_cleanup_(freep) char *lock = xasprintf("%s.lock", w->index);
	bool repair;
	int r;

	r = prepare_git(w, mirror, e);
	if (r < 0)
		return r;
	r = GIT(w, e, "cat-file", "-e", object);
	if (r > 0)
		return err_set(e, ERR_NOENT, "commit %s is not in mirror '%s'", commit, mirror);
	if (r < 0)
		return r;
	/* A checkout that was killed leaves files that the index knows nothing about. */
	repair = access(marker, F_OK) == 0;
	(void)unlink(lock);
	r = file_write(marker, "", 0, 0600, e);
	if (r == 0)
		r = switch_to(w, commit, repair, e);
	if (r > 0)
		r = switch_to(w, commit, true, e);
	if (r > 0) {
		r = start_afresh(w, e);
		if (r == 0)
			r = switch_to(w, commit, false, e);
	}
	if (r > 0)
		return ERR_GIT;
	if (r == 0)
		(void)unlink(marker);
	return r;
}

static bool matters_to_kconfig(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return strncmp(base, "Kconfig", 7) == 0 || strncmp(base, "Makefile", 8) == 0 ||
	       strncmp(path, "scripts/", 8) == 0 || strstr(path, "/configs/") ||
	       strstr(base, ".config") || strstr(base, "defconfig");
}

int checkout_touches_kconfig(const struct workdir *w, const char *from, const char *to,
			     struct err *e)
{
	const char *const args[] = { "diff-tree",    "-r", "-z", "--name-only",
				     "--no-renames", from, to,	 NULL };
	struct child_result res;
	size_t off = 0;
	int r = git_child(w, args, &res, e);

	if (r < 0)
		return r;
	/* What is cut or failed may hide something. */
	r = res.end != CHILD_EXITED || res.status != 0 || res.out_total != res.out_len;
	while (r == 0 && off < res.out_len) {
		r = matters_to_kconfig(res.out + off);
		off += strlen(res.out + off) + 1;
	}
	child_result_done(&res);
	return r;
}
