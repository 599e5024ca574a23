/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/build/build_priv.h"
#include "bot/build/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int collect_open(const char *dir, const char *path, size_t max, size_t *ret_size, struct err *e)
{
	_cleanup_(closep) int dirfd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* O_NONBLOCK: a FIFO must not hold us up before we see that it is one. */
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };
	_cleanup_(closep) int fd = -1;
	struct stat st;

	if (dirfd < 0)
		return err_errno(e, errno, "could not open '%s'", dir);
	fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	if (fd < 0 && (errno == ELOOP || errno == EXDEV))
		return err_set(e, ERR_INVAL, "'%s' is a link or lies behind one", path);
	if (fd < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_INVAL, "'%s' is not a regular file", path);
	if ((uintmax_t)st.st_size > max)
		return err_set(e, ERR_TOO_BIG, "'%s' has %jd bytes, more than %zu", path,
			       (intmax_t)st.st_size, max);
	*ret_size = (size_t)st.st_size;
	return take_fd(fd);
}

int collect_read(const char *dir, const char *path, size_t max, struct strbuf *ret, struct err *e)
{
	size_t size;
	_cleanup_(closep) int fd = collect_open(dir, path, max, &size, e);
	char buf[65536];
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		if (ret->len + (size_t)n > max)
			return err_set(e, ERR_TOO_BIG, "'%s' grew beyond %zu bytes", path, max);
		strbuf_add(ret, buf, (size_t)n);
	}
	return n < 0 ? err_errno(e, errno, "could not read '%s'", path) : 0;
}

int collect_copy(const char *dir, const char *path, size_t max, const char *to, struct err *e)
{
	struct strbuf b = STRBUF_INIT;
	int r = collect_read(dir, path, max, &b, e);

	if (r == 0)
		r = file_write(to, b.s, b.len, 0600, e);
	strbuf_done(&b);
	return r;
}

int collect_build_id(const char *dir, const char *path, char ret[129], struct err *e)
{
	size_t size = 0;
	_cleanup_(closep) int fd = collect_open(dir, path, (size_t)4 << 30, &size, e);
	void *map;
	int r;

	if (fd < 0)
		return fd;
	if (size == 0)
		return err_set(e, ERR_PARSE, "'%s' is empty", path);
	/* Whoever could shorten the file is dead: the sandbox had a PID namespace of its own. */
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_errno(e, errno, "could not map '%s'", path);
	r = elf_build_id(map, size, ret, e);
	(void)munmap(map, size);
	return r < 0 && e ? err_wrap(e, "'%s'", path) : r;
}
