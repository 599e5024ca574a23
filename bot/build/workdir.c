/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/build/build_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOBODY	     65534
#define OUTPUT_AGE_S 3600

/* A folder for the user in the sandbox. What another user left in it cannot be written: away. */
static int sandbox_folder(const struct workdir *w, const char *path, struct err *e)
{
	struct stat st;
	int r;

	if (lstat(path, &st) == 0 && (!S_ISDIR(st.st_mode) || st.st_uid != w->uid)) {
		r = file_remove_tree(path, e);
		if (r < 0)
			return r;
	}
	r = file_mkdirs(path, 0700, e);
	if (r == 0 && w->root && lchown(path, w->uid, w->gid) < 0)
		r = err_errno(e, errno, "could not give '%s' to user %u", path, w->uid);
	return r;
}

/* Unlike the folders of a build it may be the operator's: nothing in it is removed. */
static int cache_folder(const struct workdir *w, struct err *e)
{
	struct stat st;

	if (stat(w->ccache, &st) < 0)
		return err_errno(e, errno, "could not look at '%s'", w->ccache);
	if (st.st_uid == w->uid)
		return 0;
	/* A folder with something in it cannot be removed like this. */
	if (!w->root || rmdir(w->ccache) < 0 || mkdir(w->ccache, 0700) < 0 ||
	    lchown(w->ccache, w->uid, w->gid) < 0)
		return err_set(e, ERR_PERM,
			       "compile cache '%s' belongs to user %u; builds run as user %u",
			       w->ccache, st.st_uid, w->uid);
	return 0;
}

static int lock_workdir(struct workdir *w, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/lock", w->dir);

	w->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (w->lock_fd < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	if (flock(w->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(e, ERR_CONFLICT, "work folder '%s' is in use by another build",
			       w->dir);
	return 0;
}

/*
 * What earlier builds left in out/, unless it is young: their caller may still be copying it. A
 * name of its own for each commit, so that nobody ever reads another build's image as his.
 */
static int clear_outputs(const struct workdir *w, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/out", w->dir);
	DIR *dir = opendir(path);
	struct dirent *de;
	time_t now = time(NULL);
	int r = 0;

	if (!dir)
		return errno == ENOENT ? 0 : err_errno(e, errno, "could not read '%s'", path);
	while (r == 0 && (de = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): own stream */
		_cleanup_(freep) char *entry = xasprintf("%s/%s", path, de->d_name);
		struct stat st;

		if (de->d_name[0] != '.' && lstat(entry, &st) == 0 &&
		    (st.st_mtime < now - OUTPUT_AGE_S || strcmp(entry, w->out) == 0))
			r = file_remove_tree(entry, e);
	}
	(void)closedir(dir);
	return r;
}

/* Absolute, since children run in other folders. */
static int make_root(const char *path, mode_t mode, char **ret, struct err *e)
{
	int r = file_mkdirs(path, mode, e);

	if (r == 0 && !(*ret = realpath(path, NULL)))
		r = err_errno(e, errno, "could not find '%s'", path);
	return r;
}

static int make_folders(struct workdir *w, struct err *e)
{
	int r = clear_outputs(w, e);

	if (r == 0)
		r = file_mkdirs(w->out, 0700, e);
	if (r == 0)
		r = file_mkdirs(w->src, 0755, e);
	if (r == 0)
		r = file_mkdirs(w->in, 0755, e);
	if (r == 0 && (chmod(w->src, 0755) < 0 || chmod(w->in, 0755) < 0))
		r = err_errno(e, errno, "could not open up '%s'", w->src);
	if (r == 0)
		r = sandbox_folder(w, w->o, e);
	if (r == 0)
		r = sandbox_folder(w, w->oc, e);
	if (r == 0 && w->ccache)
		r = cache_folder(w, e);
	return r;
}

int workdir_init(const struct build_request *req, struct workdir *w, struct err *e)
{
	int r;

	*w = (struct workdir){ .lock_fd = -1 };
	w->root = geteuid() == 0;
	w->uid = !w->root ? geteuid() : req->uid ? req->uid : NOBODY;
	w->gid = !w->root ? getegid() : req->gid ? req->gid : NOBODY;
	r = make_root(req->work_dir, 0700, &w->dir, e);
	if (r == 0 && req->ccache_dir)
		r = make_root(req->ccache_dir, 0700, &w->ccache, e);
	if (r < 0)
		return r;
	w->src = xasprintf("%s/src", w->dir);
	w->git = xasprintf("%s/git", w->dir);
	w->index = xasprintf("%s/index", w->dir);
	w->o = xasprintf("%s/o", w->dir);
	w->oc = xasprintf("%s/oc", w->dir);
	w->in = xasprintf("%s/in", w->dir);
	w->out = xasprintf("%s/out/%s", w->dir, req->commit);
	r = lock_workdir(w, e);
	return r < 0 ? r : make_folders(w, e);
}

int workdir_empty(const struct workdir *w, struct err *e)
{
	static const char *const ours[] = { "config-made", "in/building" };
	int r = file_remove_tree(w->o, e);

	if (r == 0)
		r = file_remove_tree(w->oc, e);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", w->dir, ours[i]);

		(void)unlink(path);
	}
	if (r == 0)
		r = sandbox_folder(w, w->o, e);
	return r < 0 ? r : sandbox_folder(w, w->oc, e);
}

void workdir_done(struct workdir *w)
{
	closep(&w->lock_fd);
	free(w->dir);
	free(w->src);
	free(w->git);
	free(w->index);
	free(w->o);
	free(w->oc);
	free(w->in);
	free(w->out);
	free(w->ccache);
}
