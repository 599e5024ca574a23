/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/workdir.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

/* Mounts on mounts come off one by one. */
#define MOUNT_ROUNDS 1000

/* Where folders are made; to be freed. */
static char *base_of(void)
{
	const char *tmp = getenv("TMPDIR");
	char *base = realpath(tmp && *tmp == '/' ? tmp : "/tmp", NULL);

	return base ? base : xstrdup("/tmp");
}

char *workdir_make(const char *prefix, struct err *e)
{
	_cleanup_(freep) char *base = base_of();
	_cleanup_(freep) char *path = xasprintf("%s/%s.XXXXXX", base, prefix);

	if (!mkdtemp(path)) {
		(void)err_errno(e, errno, "could not make a folder '%s'", path);
		return NULL;
	}
	return take_ptr(path);
}

/* "\040" and the like in /proc/self/mountinfo, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* The last mount at or below @path, to be freed; NULL if there is none. */
static char *mount_below(const char *path)
{
	_cleanup_(fclosep) FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_(freep) char *line = NULL, *found = NULL;
	size_t size = 0, len = strlen(path);

	while (f && getline(&line, &size, f) > 0) {
		char *save = NULL, *w = strtok_r(line, " ", &save);

		for (int i = 0; w && i < 4; i++)
			w = strtok_r(NULL, " ", &save);
		if (!w)
			continue;
		unescape(w);
		if (strncmp(w, path, len) != 0 || (w[len] && w[len] != '/'))
			continue;
		free(found);
		found = xstrdup(w);
	}
	return take_ptr(found);
}

static int unmount_all(const char *path, struct err *e)
{
	for (int i = 0; i < MOUNT_ROUNDS; i++) {
		_cleanup_(freep) char *at = mount_below(path);

		if (!at)
			return 0;
		if (umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
			return err_errno(e, errno, "could not unmount '%s'", at);
	}
	return err_set(e, ERR_IO, "more than %d mounts in '%s'", MOUNT_ROUNDS, path);
}

/* A folder in the folder @at, on the same mount and no symbolic link. */
static int open_folder(int at, const char *name)
{
	const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				      .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS |
						 RESOLVE_BENEATH };
	int fd = (int)syscall(SYS_openat2, at, name, &how, sizeof(how));

	/* Before Linux 5.6 the look for mounts above has to do. */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

/*
 * Empties the folder @name of @root and removes it; folders in it move up to @root first, so that no
 * depth needs a stack. Return: did anything change?
 */
static bool flatten(int root, const char *name, unsigned *number)
{
	int fd = open_folder(root, name);
	DIR *d;
	struct dirent *de;
	bool moved = false;

	if (fd < 0 && errno == EACCES && fchmodat(root, name, 0700, 0) == 0)
		fd = open_folder(root, name);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d) {
		closep(&fd);
		return unlinkat(root, name, AT_REMOVEDIR) == 0;
	}
	(void)fchmod(fd, 0700);
	while ((de = readdir(d))) {
		char up[40];

		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (unlinkat(fd, de->d_name, 0) == 0) {
			moved = true;
			continue;
		}
		do {
			(void)snprintf(up, sizeof(up), "moved-up.%u", (*number)++);
		} while (faccessat(root, up, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
		if (renameat(fd, de->d_name, root, up) == 0)
			moved = true;
	}
	(void)closedir(d);
	return unlinkat(root, name, AT_REMOVEDIR) == 0 || moved;
}

/* One round over what is in @root. Return: did anything change? @ret_stays: a name that did not go. */
static bool empty_once(int root, unsigned *number, char **ret_stays)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *de;
	bool changed = false;

	free(*ret_stays);
	*ret_stays = NULL;
	while (d && (de = readdir(d))) {
		bool gone;

		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		gone = unlinkat(root, de->d_name, 0) == 0 || flatten(root, de->d_name, number);
		changed |= gone;
		if (!gone && !*ret_stays)
			*ret_stays = xstrdup(de->d_name);
	}
	if (d)
		(void)closedir(d);
	else
		closep(&fd);
	return changed;
}

int workdir_remove(const char *path, struct err *e)
{
	_cleanup_(closep) int root = -1;
	_cleanup_(freep) char *stays = NULL;
	unsigned number = 0;
	int r;

	r = unmount_all(path, e);
	if (r < 0)
		return r;
	root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return errno == ENOENT ? 0 : err_errno(e, errno, "could not open '%s'", path);
	(void)fchmod(root, 0700);
	while (empty_once(root, &number, &stays))
		;
	if (rmdir(path) < 0)
		return stays ? err_set(e, ERR_IO, "could not remove '%s' in '%s'", stays, path)
			     : err_errno(e, errno, "could not remove '%s'", path);
	return 0;
}

int workdir_lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

unsigned workdir_rescue(const char *prefix, long age_s)
{
	_cleanup_(freep) char *base = base_of();
	DIR *d = opendir(base);
	size_t len = strlen(prefix);
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d))) {
		_cleanup_(freep) char *path = NULL;
		_cleanup_(closep) int fd = -1;
		struct stat st;

		if (strncmp(de->d_name, prefix, len) != 0 || de->d_name[len] != '.' ||
		    strlen(de->d_name) != len + 7)
			continue;
		path = xasprintf("%s/%s", base, de->d_name);
		fd = workdir_lock(path);
		/* Not one that somebody has just made and not locked yet. */
		if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
		    time(NULL) - st.st_ctim.tv_sec < age_s)
			continue;
		n += workdir_remove(path, NULL) == 0;
	}
	if (d)
		(void)closedir(d);
	return n;
}
