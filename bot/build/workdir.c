/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/build/build_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

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

int workdir_init(const struct build_request *req, struct workdir *w, struct err *e)
{
	int r;

	*w = (struct workdir){ .dir = req->work_dir, .lock_fd = -1 };
	w->root = geteuid() == 0;
	w->uid = !w->root ? geteuid() : req->uid ? req->uid : NOBODY;
	w->gid = !w->root ? getegid() : req->gid ? req->gid : NOBODY;
	w->src = xasprintf("%s/src", w->dir);
	w->git = xasprintf("%s/git", w->dir);
	w->index = xasprintf("%s/index", w->dir);
	w->o = xasprintf("%s/o", w->dir);
	w->oc = xasprintf("%s/oc", w->dir);
	w->in = xasprintf("%s/in", w->dir);
	w->out = xasprintf("%s/out", w->dir);
	w->ccache = req->ccache_dir ? xstrdup(req->ccache_dir) : NULL;
	r = file_mkdirs(w->dir, 0700, e);
	if (r == 0)
		r = lock_workdir(w, e);
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
		r = sandbox_folder(w, w->ccache, e);
	return r;
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
	free(w->src);
	free(w->git);
	free(w->index);
	free(w->o);
	free(w->oc);
	free(w->in);
	free(w->out);
	free(w->ccache);
}
