/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/initramfs.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PROGRAM_MAX ((size_t)256 << 20)
#define OVERLAY_MAX ((size_t)1 << 30)

struct archive {
	FILE *f;
	unsigned inode;
};

/* struct entry - one member; @data only for regular files. */
struct entry {
	const char *name;
	unsigned mode;
	unsigned major, minor;
	const char *data;
	size_t len;
};

static void pad(struct archive *a, size_t len)
{
	while (len++ % 4)
		(void)fputc(0, a->f);
}

/* Errors are looked for once, at the end: stdio remembers them. */
static void add(struct archive *a, const struct entry *m)
{
	size_t name = strlen(m->name) + 1;
	int n;

	/* magic, inode, mode, uid, gid, links, mtime, size, dev (2), rdev (2), name size, check */
	n = fprintf(a->f, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ++a->inode,
		    m->mode, 0u, 0u, S_ISDIR(m->mode) ? 2u : 1u, 0u, (unsigned)m->len, 0u, 0u,
		    m->major, m->minor, (unsigned)name, 0u);
	(void)fwrite(m->name, 1, name, a->f);
	pad(a, (size_t)(n > 0 ? n : 0) + name);
	if (m->len)
		(void)fwrite(m->data, 1, m->len, a->f);
	pad(a, m->len);
}

static int add_program(struct archive *a, const char *name, const char *path, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf data = STRBUF_INIT;
	int r = file_read(path, PROGRAM_MAX, &data, e);

	if (r < 0)
		return r;
	add(a, &(struct entry){
		       .name = name, .mode = S_IFREG | 0755, .data = data.s, .len = data.len });
	return 0;
}

int initramfs_write(const char *path, const char *agent_path, const char *workloads_path,
		    struct err *e)
{
	static const struct entry fixed[] = {
		{ .name = "dev", .mode = S_IFDIR | 0755 },
		/* Before devtmpfs is mounted, the kernel opens this for /init. */
		{ .name = "dev/console", .mode = S_IFCHR | 0600, .major = 5, .minor = 1 },
		{ .name = "dev/null", .mode = S_IFCHR | 0666, .major = 1, .minor = 3 },
		{ .name = "proc", .mode = S_IFDIR | 0555 },
		{ .name = "sys", .mode = S_IFDIR | 0555 },
		{ .name = "tmp", .mode = S_IFDIR | 01777 },
		{ .name = "bin", .mode = S_IFDIR | 0755 },
	};
	struct archive a = { .f = fopen(path, "we") };
	int r = 0, bad;

	if (!a.f)
		return err_errno(e, errno, "could not create '%s'", path);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		add(&a, &fixed[i]);
	r = add_program(&a, "init", agent_path, e);
	if (r == 0)
		r = add_program(&a, "bin/kperfbot-workloads", workloads_path, e);
	add(&a, &(struct entry){ .name = "TRAILER!!!" });
	bad = ferror(a.f);
	if ((fclose(a.f) != 0 || bad) && r == 0)
		r = err_errno(e, errno ? errno : EIO, "could not write '%s'", path);
	return r;
}

int initramfs_overlay(const char *path, const char *overlay, struct err *e)
{
	_cleanup_(closep) int from = open(overlay, O_RDONLY | O_CLOEXEC);
	_cleanup_(closep) int to = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	char buf[65536];
	size_t total = 0;
	ssize_t n;

	if (from < 0)
		return err_errno(e, errno, "could not open overlay '%s'", overlay);
	if (to < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	/* Each archive ends on a multiple of four bytes, as the kernel wants the next to begin. */
	while ((n = read(from, buf, sizeof(buf))) > 0) {
		total += (size_t)n;
		if (total > OVERLAY_MAX)
			return err_set(e, ERR_TOO_BIG, "overlay '%s' has more than %zu bytes",
				       overlay, OVERLAY_MAX);
		for (ssize_t done = 0, k; done < n; done += k) {
			k = write(to, buf + done, (size_t)(n - done));
			if (k < 0)
				return err_errno(e, errno, "could not write '%s'", path);
		}
	}
	return n < 0 ? err_errno(e, errno, "could not read overlay '%s'", overlay) : 0;
}
