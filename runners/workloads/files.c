/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/files.h"

#include "runners/workloads/harness.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* base: a folder that reserves the name; files are BASE.NR, or BASE.NR/file. */
static struct {
	char base[64];
	unsigned tasks;
	int own_folders;
} named;

int file_own(const char *dir, off_t size)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/willitscale.XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		die("could not make a file in %s: %m", dir);
	(void)unlink(path);
	if (size > 0)
		must(ftruncate(fd, size) == 0, "size of a temporary file");
	return fd;
}

int file_own_filled(off_t size)
{
	static const char block[4096];
	int fd = file_own(FILES_TMP, 0);

	for (off_t at = 0; at < size; at += (off_t)sizeof(block))
		must(pwrite(fd, block, sizeof(block), at) == (ssize_t)sizeof(block),
		     "filling of a temporary file");
	return fd;
}

int file_reopen(int fd, int flags)
{
	char path[64];
	int again;

	/* Opens the file itself, also an unlinked one, with a description of its own. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	if (again < 0)
		die("could not open a temporary file again%s: %m",
		    flags & O_DIRECT ? " with O_DIRECT" : "");
	return again;
}

void files_named_init(unsigned tasks, int own_folders)
{
	char path[PATH_MAX];

	strcpy(named.base, FILES_TMP "/willitscale.XXXXXX");
	if (!mkdtemp(named.base)) {
		named.base[0] = '\0';
		die("could not make a folder in %s: %m", FILES_TMP);
	}
	named.own_folders = own_folders;
	for (unsigned i = 0; own_folders && i < tasks; i++) {
		(void)snprintf(path, sizeof(path), "%s.%u", named.base, i);
		named.tasks = i + 1;
		must(mkdir(path, 0700) == 0, path);
	}
	named.tasks = tasks;
}

const char *file_named(unsigned nr, char *buf)
{
	(void)snprintf(buf, PATH_MAX, "%s.%u%s", named.base, nr, named.own_folders ? "/file" : "");
	return buf;
}

void file_named_make(unsigned nr)
{
	char path[PATH_MAX];
	int fd = open(file_named(nr, path), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	must(fd >= 0, path);
	(void)close(fd);
}

void files_remove(void)
{
	char path[PATH_MAX];

	if (!named.base[0])
		return;
	for (unsigned i = 0; i < named.tasks; i++) {
		(void)unlink(file_named(i, path));
		if (named.own_folders) {
			*strrchr(path, '/') = '\0';
			(void)rmdir(path);
		}
	}
	(void)rmdir(named.base);
	named.base[0] = '\0';
}
