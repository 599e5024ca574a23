/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/file.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int file_read(const char *path, size_t max, struct strbuf *ret, struct err *e)
{
	_cleanup_(closep) int owned = -1;
	int fd = STDIN_FILENO;
	size_t before = ret->len;
	char buf[65536];
	ssize_t n;
	int r = 0;

	if (strcmp(path, "-") != 0) {
		owned = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		fd = owned;
		if (fd < 0)
			return err_errno(e, errno, "could not open '%s'", path);
	}
	while (r == 0 && (n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = err_errno(e, errno, "could not read '%s'", path);
		else if (ret->len - before + (size_t)n > max)
			r = err_set(e, ERR_TOO_BIG, "'%s' has more than %zu bytes", path, max);
		else
			strbuf_add(ret, buf, (size_t)n);
	}
	if (r < 0)
		strbuf_cut(ret, before);
	return r;
}

static int sync_folder_of(const char *path, struct err *e)
{
	_cleanup_(freep) char *copy = xstrdup(path);
	_cleanup_(closep) int fd = -1;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): own copy */
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return err_errno(e, errno, "could not sync the folder of '%s'", path);
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Opens PATH.XXXXXX beside @path, where rename() is atomic; locked as long as we are at it. */
static int temp_beside(const char *path, mode_t mode, char **ret_tmp, struct err *e)
{
	char *tmp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(tmp, O_CLOEXEC);

	if (fd < 0) {
		int r = err_errno(e, errno, "could not create '%s'", tmp);

		free(tmp);
		return r;
	}
	(void)flock(fd, LOCK_EX | LOCK_NB);
	(void)fchmod(fd, mode);
	*ret_tmp = tmp;
	return fd;
}

bool file_is_abandoned(const char *path, double older_s)
{
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (older_s <= 0 || difftime(time(NULL), st.st_mtime) > older_s) &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static int commit_temp(int fd, const char *tmp, const char *path, struct err *e)
{
	if (fsync(fd) < 0 || rename(tmp, path) < 0)
		return err_errno(e, errno, "could not write '%s'", path);
	return sync_folder_of(path, e);
}

int file_write(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
	_cleanup_(freep) char *tmp = NULL;
	_cleanup_(closep) int fd = -1;
	int r;

	fd = temp_beside(path, mode, &tmp, e);
	if (fd < 0)
		return fd;
	r = write_all(fd, data, len);
	if (r < 0)
		r = err_errno(e, -r, "could not write '%s'", path);
	else
		r = commit_temp(fd, tmp, path, e);
	if (r < 0 && tmp)
		(void)unlink(tmp);
	return r;
}

static int make_folder(const char *path, mode_t mode, struct err *e)
{
	struct stat st;
	int why;

	if (mkdir(path, mode) == 0)
		return 0;
	why = errno;
	if (why == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return err_errno(e, why == EEXIST ? ENOTDIR : why, "could not create folder '%s'", path);
}

int file_mkdirs(const char *path, mode_t mode, struct err *e)
{
	_cleanup_(freep) char *p = xstrdup(path);
	int r = 0;

	for (char *s = p; r == 0 && *s; s++) {
		if (*s != '/' || s == p)
			continue;
		*s = '\0';
		r = make_folder(p, mode, e);
		*s = '/';
	}
	return r < 0 ? r : make_folder(p, mode, e);
}

/* Deeper folders are moved up first: each level holds a descriptor. */
#define REMOVE_DEPTH 64

/* Opens folder @name for removal; one that its owner cannot enter or change is made so. */
static DIR *open_folder(int dirfd, const char *name)
{
	_cleanup_(closep) int place = -1;
	char self[40];
	struct stat st;
	DIR *dir;
	int fd;

	place = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0 || fstat(place, &st) < 0)
		return NULL;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	if ((st.st_mode & S_IRWXU) != S_IRWXU)
		(void)chmod(self, S_IRWXU);
	fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		closep(&fd);
	return dir;
}

static int remove_at(int parent, const char *name, int top, unsigned depth, struct err *e);

/* Everything in @dir; *@ret_any tells that there was something. */
static int remove_entries(DIR *dir, int top, unsigned depth, bool *ret_any, struct err *e)
{
	struct dirent *de;
	int r = 0;

	*ret_any = false;
	rewinddir(dir);
	while (r == 0 && (de = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): own stream */
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		*ret_any = true;
		r = remove_at(dirfd(dir), de->d_name, top, depth + 1, e);
	}
	return r;
}

/* Moves folder @name into the top one under a free name, where it is met again. */
static int move_up(int dirfd, const char *name, int top, struct err *e)
{
	char fresh[20] = "up-";
	DIR *dir = open_folder(dirfd, name); /* makes a closed folder one that may be moved */

	if (dir)
		(void)closedir(dir);
	random_hex(8, fresh + 3);
	if (renameat(dirfd, name, top, fresh) < 0)
		return err_errno(e, errno, "could not remove '%s'", name);
	return 0;
}

static int remove_at(int parent, const char *name, int top, unsigned depth, struct err *e)
{
	bool any = true;
	DIR *dir;
	int r = 0;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_errno(e, errno, "could not remove '%s'", name);
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return 0;
	if (depth >= REMOVE_DEPTH)
		return move_up(parent, name, top, e);
	dir = open_folder(parent, name);
	if (!dir)
		return err_errno(e, errno, "could not open folder '%s'", name);
	/* Again until it is empty: folders are moved into the top one, and readdir() may miss some. */
	while (r == 0 && any)
		r = remove_entries(dir, depth ? top : dirfd(dir), depth, &any, e);
	(void)closedir(dir);
	if (r == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0)
		r = err_errno(e, errno, "could not remove folder '%s'", name);
	return r;
}

int file_remove_tree(const char *path, struct err *e)
{
	return remove_at(AT_FDCWD, path, -1, 0, e);
}

static void to_hex(const unsigned char *bytes, size_t n, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * n] = '\0';
}

void file_sha256_hex(const void *data, size_t len, char ret[65])
{
	unsigned char sum[32];

	if (EVP_Digest(data, len, sum, NULL, EVP_sha256(), NULL) != 1)
		abort();
	to_hex(sum, sizeof(sum), ret);
}

static int open_regular(const char *path, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return err_set(e, ERR_INVAL, "'%s' is not a regular file", path);
	}
	return fd;
}

int file_sha256_path(const char *path, char ret[65], size_t *ret_size, struct err *e)
{
	_cleanup_(closep) int fd = open_regular(path, e);
	unsigned char sum[32];
	char buf[65536];
	size_t total = 0;
	EVP_MD_CTX *md;
	ssize_t n;

	if (fd < 0)
		return fd;
	md = EVP_MD_CTX_new();
	if (!md || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
		abort();
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		(void)EVP_DigestUpdate(md, buf, (size_t)n);
		total += (size_t)n;
	}
	(void)EVP_DigestFinal_ex(md, sum, NULL);
	EVP_MD_CTX_free(md);
	if (n < 0)
		return err_errno(e, errno, "could not read '%s'", path);
	to_hex(sum, sizeof(sum), ret);
	*ret_size = total;
	return 0;
}

int file_copy(const char *from, const char *to, size_t max, mode_t mode, struct err *e)
{
	_cleanup_(closep) int in = open_regular(from, e);
	_cleanup_(freep) char *tmp = NULL;
	_cleanup_(closep) int out = -1;
	char buf[65536];
	size_t total = 0;
	ssize_t n = 0;
	int r = 0;

	if (in < 0)
		return in;
	out = temp_beside(to, mode, &tmp, e);
	if (out < 0)
		return out;
	while (r == 0 && (n = read(in, buf, sizeof(buf))) > 0) {
		total += (size_t)n;
		r = total > max ? -EFBIG : write_all(out, buf, (size_t)n);
	}
	if (r == -EFBIG)
		r = err_set(e, ERR_TOO_BIG, "'%s' has more than %zu bytes", from, max);
	else if (r < 0)
		r = err_errno(e, -r, "could not write '%s'", to);
	else if (n < 0)
		r = err_errno(e, errno, "could not read '%s'", from);
	else
		r = commit_temp(out, tmp, to, e);
	if (r < 0 && tmp)
		(void)unlink(tmp);
	return r;
}

static const char base32[] = "abcdefghjkmnpqrstvwxyz0123456789";

static void random_bytes(void *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = getrandom((char *)buf + have, len - have, 0);

		if (n < 0 && errno != EINTR)
			abort();
		if (n > 0)
			have += (size_t)n;
	}
}

void id_new(char prefix, char ret[9])
{
	unsigned char r[7];

	random_bytes(r, sizeof(r));
	ret[0] = prefix;
	for (size_t i = 0; i < sizeof(r); i++)
		ret[i + 1] = base32[r[i] & 31];
	ret[8] = '\0';
}

bool id_valid(char prefix, const char *s)
{
	return s[0] == prefix && strlen(s) == 8 && strspn(s + 1, base32) == 7;
}

void random_hex(size_t nbytes, char *ret)
{
	unsigned char buf[64];

	if (nbytes > sizeof(buf))
		abort();
	random_bytes(buf, nbytes);
	to_hex(buf, nbytes, ret);
}
