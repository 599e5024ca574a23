/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/artefact.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

char *artefact_path(const char *state_dir, const char *hash)
{
	assert(strlen(hash) == 64 && strspn(hash, "0123456789abcdef") == 64);
	return xasprintf("%s/artefacts/%.2s/%s", state_dir, hash, hash);
}

static int make_place(const char *state_dir, const char *hash, char **ret_path, struct err *e)
{
	_cleanup_(freep) char *folder = xasprintf("%s/artefacts/%.2s", state_dir, hash);
	int r;

	r = file_mkdirs(folder, 0755, e);
	if (r == 0)
		*ret_path = artefact_path(state_dir, hash);
	return r;
}

static int add_row(struct db *db, const char *hash, size_t size, const char *kind, struct err *e)
{
	return db_run(db, SQL_ARTEFACT_INSERT, NULL, e, "sis", hash, (int64_t)size, kind);
}

int artefact_put(struct db *db, const char *state_dir, const char *kind, const void *data,
		 size_t len, char ret_hash[65], struct err *e)
{
	_cleanup_(freep) char *path = NULL;
	char hash[65];
	int r;

	file_sha256_hex(data, len, hash);
	r = make_place(state_dir, hash, &path, e);
	if (r == 0 && access(path, F_OK) < 0)
		r = file_write(path, data, len, 0644, e);
	if (r == 0)
		r = add_row(db, hash, len, kind, e);
	if (r == 0)
		memcpy(ret_hash, hash, sizeof(hash));
	return r;
}

int artefact_put_file(struct db *db, const char *state_dir, const char *kind, const char *path,
		      size_t max, char ret_hash[65], struct err *e)
{
	_cleanup_(freep) char *place = NULL;
	char hash[65];
	size_t size;
	int r;

	r = file_sha256_path(path, hash, &size, e);
	if (r < 0)
		return r;
	if (size > max)
		return err_set(e, ERR_TOO_BIG, "'%s' has more than %zu bytes", path, max);
	r = make_place(state_dir, hash, &place, e);
	if (r == 0 && access(place, F_OK) < 0)
		r = file_copy(path, place, max, 0644, e);
	if (r == 0)
		r = add_row(db, hash, size, kind, e);
	if (r == 0)
		memcpy(ret_hash, hash, sizeof(hash));
	return r;
}

/* HASH.XXXXXX, as file_write() and file_copy() name what is not complete yet. */
static bool is_temp_name(const char *name)
{
	return strlen(name) == 71 && strspn(name, "0123456789abcdef") == 64 && name[64] == '.';
}

/* Nobody writes it: left by a writer that was killed. What people put beside it is theirs. */
static void sweep_file(const char *path, const char *name, double older_s)
{
	if (is_temp_name(name) && file_is_abandoned(path, older_s))
		(void)unlink(path);
}

static int sweep_folder(const char *folder, double older_s, struct err *e)
{
	DIR *d = opendir(folder);
	const struct dirent *entry;

	if (!d)
		return errno == ENOENT ? 0 : err_errno(e, errno, "could not read '%s'", folder);
	while ((entry = readdir(d))) { /* NOLINT(concurrency-mt-unsafe) */
		_cleanup_(freep) char *path = xasprintf("%s/%s", folder, entry->d_name);

		sweep_file(path, entry->d_name, older_s);
	}
	(void)closedir(d);
	return 0;
}

int artefact_sweep(const char *state_dir, double older_s, struct err *e)
{
	int r = 0;

	for (int i = 0; r == 0 && i < 256; i++) {
		_cleanup_(freep) char *folder = xasprintf("%s/artefacts/%02x", state_dir, i);

		r = sweep_folder(folder, older_s, e);
	}
	return r;
}

int artefact_get(const char *state_dir, const char *hash, size_t max, struct strbuf *ret,
		 struct err *e)
{
	_cleanup_(freep) char *path = artefact_path(state_dir, hash);
	size_t before = ret->len;
	char have[65];
	int r;

	r = file_read(path, max, ret, e);
	if (r < 0)
		return r;
	file_sha256_hex(strbuf_str(ret) + before, ret->len - before, have);
	if (strcmp(have, hash) != 0) {
		strbuf_cut(ret, before);
		return err_set(e, ERR_IO, "artefact '%s' was altered on disk", path);
	}
	return 0;
}
