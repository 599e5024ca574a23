/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A symbolic link could lead to any file of the machine, a FIFO nowhere. */
#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

void keep_init(struct keep *k, const char *dir, char *const *names)
{
	_cleanup_(closep) int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*k = (struct keep){ .names = names };
	while (names && names[k->n])
		k->n++;
	k->before = xcalloc(k->n + 1, sizeof(*k->before));
	for (size_t i = 0; i < k->n; i++) {
		if (!names || at < 0 ||
		    fstatat(at, names[i], &k->before[i], AT_SYMLINK_NOFOLLOW) < 0)
			k->before[i] = (struct stat){ 0 };
	}
}

static bool is_as_before(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Return: NULL, or what is to be said of it. Static string. */
static const char *send_one(int at, const char *name, const struct stat *before, uint64_t max_bytes,
			    struct sink *sink)
{
	_cleanup_(freep) char *stream_name = xasprintf("file/%s", name);
	_cleanup_(closep) int fd = -1;
	uint64_t sent = 0;
	unsigned stream;
	struct stat st;

	if (strchr(name, '/'))
		return "not the name of a file in the working directory";
	fd = openat(at, name, OPEN_FLAGS);
	if (fd < 0)
		return errno == ENOENT	? "missing"
		       : errno == ELOOP ? "a symbolic link"
					: "cannot be read";
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return "not a regular file";
	if (is_as_before(&st, before))
		return "not written by this run";
	stream = sink_open(sink, stream_name);
	if (!stream)
		return "too many streams";
	while (sink->ret == 0) {
		char buf[32768];
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return "cut by an error on reading";
		if (n == 0)
			break;
		if ((uint64_t)n > max_bytes - sent) {
			sink_put(sink, stream, buf, (size_t)(max_bytes - sent));
			return "cut at the limit of output";
		}
		sink_put(sink, stream, buf, (size_t)n);
		sent += (uint64_t)n;
		(void)sink_flush(sink);
	}
	return NULL;
}

void keep_send(const struct keep *k, const char *dir, uint64_t max_bytes, struct sink *sink,
	       json_t *notes)
{
	_cleanup_(closep) int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < k->n && sink->ret == 0; i++) {
		_cleanup_(freep) char *key = xasprintf("file/%.200s", k->names[i]);
		const char *why =
			at < 0 ? "the working directory is gone"
			       : send_one(at, k->names[i], &k->before[i], max_bytes, sink);

		if (why)
			(void)json_object_set_new(notes, key, json_string(why));
	}
}

void keep_done(struct keep *k)
{
	free(k->before);
	*k = (struct keep){ 0 };
}
