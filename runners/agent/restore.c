/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/restore.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/agent/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define FILE_MAX_BYTES 1048576

int restore_write(const char *path, const char *value, struct err *e)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		return err_errno(e, errno, "cannot write '%.100s' to '%.200s'", value, path);
	return 0;
}

/* Only what settings.c may have written: the file is ours, but this is done as root. */
static bool is_setting(const char *path)
{
	return (!strncmp(path, "/proc/sys/", 10) || !strncmp(path, "/sys/", 5)) &&
	       !strstr(path, "..");
}

unsigned restore_all(int fd)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	char buf[4096];
	unsigned n = 0;
	ssize_t got;

	while (text.len < FILE_MAX_BYTES &&
	       (got = pread(fd, buf, sizeof(buf), (off_t)text.len)) > 0)
		strbuf_add(&text, buf, (size_t)got);
	/* From the end; a last line without its end was never followed by a change. */
	while (text.len) {
		char *nl = memrchr(text.s, '\n', text.len), *line, *tab;
		const char *before;

		if (!nl)
			break;
		*nl = '\0';
		before = memrchr(text.s, '\n', (size_t)(nl - text.s));
		line = before ? text.s + (before - text.s) + 1 : text.s;
		tab = strchr(line, '\t');
		if (tab) {
			*tab = '\0';
			n += is_setting(line) && restore_write(line, tab + 1, NULL) == 0;
		}
		strbuf_cut(&text, (size_t)(line - text.s));
	}
	(void)!ftruncate(fd, 0);
	return n;
}

/* The lock on the file that has this name now; -1 with errno, EWOULDBLOCK while another has it. */
static int lock(const char *file, int flags)
{
	for (;;) {
		int fd = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_APPEND | flags, 0600);
		struct stat st, now;

		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			int why = errno;

			(void)close(fd);
			errno = why;
			return -1;
		}
		/* Removed by its owner between our open and our lock? */
		if (fstat(fd, &st) == 0 && lstat(file, &now) == 0 && st.st_ino == now.st_ino &&
		    st.st_dev == now.st_dev)
			return fd;
		(void)close(fd);
		if (!(flags & O_CREAT) && access(file, F_OK) < 0)
			return -1;
	}
}

int restore_open(const char *file, int *ret_fd, struct err *e)
{
	int fd = lock(file, O_CREAT);

	if (fd < 0 && errno == EWOULDBLOCK)
		return err_set(e, ERR_CONFLICT,
			       "another agent has changed settings of this machine");
	if (fd < 0)
		return err_errno(e, errno, "could not make '%s'", file);
	(void)restore_all(fd);
	*ret_fd = fd;
	return 0;
}

int restore_add(int fd, const char *path, const char *value, struct err *e)
{
	_cleanup_(freep) char *line = xasprintf("%s\t%s\n", path, value);
	size_t len = strlen(line);

	/* In one piece, or it does not count. */
	if (write(fd, line, len) != (ssize_t)len)
		return err_errno(e, errno, "could not write what is to be restored");
	return 0;
}

void restore_close(const char *file, int fd)
{
	(void)unlink(file);
	(void)close(fd);
}

unsigned settings_rescue(const char *restore_file)
{
	int fd = lock(restore_file, 0);
	unsigned n;

	if (fd < 0)
		return 0;
	n = restore_all(fd);
	restore_close(restore_file, fd);
	return n;
}
