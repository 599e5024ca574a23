/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * git and libgit2 create NAME.lock before they change NAME, and whoever finds one there gives up. One
 * that was killed in between leaves it, and then nothing of that name is ever changed again. What it
 * had received by then stays in a file that may be as large as the whole history.
 */
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/watch/mirror_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Who changes references without fetching does so within this time. */
#define QUICK_S	  5
#define DEPTH_MAX 32

static bool is_lock(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".lock");
}

static bool is_half_a_pack(const char *name)
{
	return !strncmp(name, "tmp_pack_", 9) || !strncmp(name, "tmp_idx_", 8) ||
	       !strncmp(name, "tmp_rev_", 8);
}

static int sweep(int parent, const char *name, bool (*is_left)(const char *), bool deep, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *de;
	int n = 0;

	if (!d) {
		closep(&fd);
		return 0;
	}
	while ((de = readdir(d))) { /* NOLINT(concurrency-mt-unsafe): own stream */
		struct stat st;

		if (de->d_name[0] == '.' ||
		    fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && deep && depth < DEPTH_MAX)
			n += sweep(dirfd(d), de->d_name, is_left, true, depth + 1);
		else if (S_ISREG(st.st_mode) && is_left(de->d_name) &&
			 difftime(time(NULL), st.st_mtime) > QUICK_S)
			n += unlinkat(dirfd(d), de->d_name, 0) == 0;
	}
	(void)closedir(d);
	return n;
}

int mirror_locks_share(const struct mirror *m, int *ret_fd, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s.fetch.lock", m->dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || flock(fd, LOCK_SH) < 0) {
		int r = err_errno(e, errno, "could not lock '%s'", path);

		closep(&fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int mirror_locks_sweep(const struct mirror *m, int fd)
{
	_cleanup_(freep) char *refs = xasprintf("%s/refs", m->dir);
	_cleanup_(freep) char *info = xasprintf("%s/objects/info", m->dir);
	int n = 0;

	/* Another one that fetches may hold any of them for long. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		n = sweep(AT_FDCWD, m->dir, is_lock, false, 0) +
		    sweep(AT_FDCWD, refs, is_lock, true, 0) +
		    sweep(AT_FDCWD, info, is_lock, true, 0);
	(void)flock(fd, LOCK_SH);
	return n;
}

void mirror_packs_sweep(const struct mirror *m, int fd)
{
	_cleanup_(freep) char *packs = xasprintf("%s/objects/pack", m->dir);

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)sweep(AT_FDCWD, packs, is_half_a_pack, false, 0);
	(void)flock(fd, LOCK_SH);
}
