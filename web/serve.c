/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is no page: logs from the artefact store, health. */
#include "bot/base/config.h"
#include "bot/base/parse.h"
#include "bot/db/db.h"
#include "bot/store/page_read.h"
#include "web/db_pool.h"
#include "web/request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The name is a hash from the database, checked, so it cannot lead out of the store. */
static int open_artefact(struct request *q, const char *hash, struct err *e)
{
	const char *state = config_str(q->o->config, "kperfbot", NULL, "state");
	_cleanup_(freep) char *path = xasprintf("%s/artefacts/%.2s/%s", state, hash, hash);
	_cleanup_(closep) int fd = -1;
	struct stat st;

	if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
		return err_set(e, ERR_BUG, "'%s' is no SHA-256", hash);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOENT, "the file is no longer in the artefact store");
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_BUG, "'%s' is not a file", path);
	q->answer.status = 200;
	q->answer.type = "text/plain; charset=utf-8";
	q->answer.fd = take_fd(fd);
	q->answer.fd_size = (uint64_t)st.st_size;
	q->answer.lasting = true;
	return 0;
}

static int serve_log(struct request *q, enum page_log kind, struct err *e)
{
	char hash[65];
	int64_t id;
	int r;

	r = parse_i64(q->arg, 1, INT64_MAX, &id, e);
	if (r == 0)
		r = page_log(q->db, kind, id, hash, e);
	return r < 0 ? r : open_artefact(q, hash, e);
}

int serve_build_config(struct request *q, struct err *e)
{
	return serve_log(q, PAGE_BUILD_CONFIG, e);
}

int serve_build_log(struct request *q, struct err *e)
{
	return serve_log(q, PAGE_BUILD_LOG, e);
}

int serve_boot_console(struct request *q, struct err *e)
{
	return serve_log(q, PAGE_BOOT_CONSOLE, e);
}

int serve_run_raw(struct request *q, struct err *e)
{
	return serve_log(q, PAGE_RUN_RAW, e);
}

int serve_healthz(struct request *q, struct err *e)
{
	(void)e;
	answer_text(q, 200, "text/plain; charset=utf-8", "ok\n");
	return 0;
}

int serve_readyz(struct request *q, struct err *e)
{
	const char *state = config_str(q->o->config, "kperfbot", NULL, "state");
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct statvfs fs;
	bool ready = true;
	struct db *db;

	if (db_pool_get(q->o, &db, e) == 0 && db_ping(db, e) == 0) {
		strbuf_addstr(&b, "database ok\n");
	} else {
		ready = false;
		strbuf_addstr(&b, "database away\n");
	}
	if (statvfs(state, &fs) < 0) {
		ready = false;
		strbuf_addstr(&b, "disk unreadable\n");
	} else {
		strbuf_addf(&b, "disk ok, %.1f GB free\n",
			    (double)fs.f_bavail * (double)fs.f_frsize / 1e9);
	}
	answer_text(q, ready ? 200 : 503, "text/plain; charset=utf-8", strbuf_str(&b));
	q->answer.retry_after = ready ? 0 : 5;
	return 0;
}
