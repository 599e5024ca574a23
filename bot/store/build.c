/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/build.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/work.h"

#include <string.h>

void build_done(struct build *b)
{
	free(b->kconfig);
	free(b->kconfig_hash);
	free(b->compiler);
	free(b->detail);
	free(b->image);
	free(b->gnu_build_id);
	free(b->variant);
	*b = (struct build){ 0 };
}

static enum build_state state_of(const char *s)
{
	if (!strcmp(s, "ok"))
		return BUILD_STATE_OK;
	return !strcmp(s, "failed") ? BUILD_STATE_FAILED : BUILD_STATE_WANTED;
}

int build_want(struct db *db, const char *commit, const char *kconfig, const char *kconfig_hash,
	       const char *compiler, const char *variant, int prio, int64_t *ret_id,
	       enum build_state *ret_state, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_BUILD_WANT, &rows, e, "sssss", commit, kconfig, kconfig_hash,
		       compiler, variant);
	if (r < 0)
		return r;
	*ret_id = db_i64(&rows, 0, 0);
	*ret_state = state_of(db_str(&rows, 0, 1));
	db_rows_done(&rows);
	if (*ret_state != BUILD_STATE_WANTED)
		return 0;
	return work_enqueue_id(db, "build", "build", *ret_id, prio, e);
}

int build_get(struct db *db, int64_t id, struct build *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_BUILD_GET, &rows, e, "i", id);
	if (r < 0)
		return r;
	*ret = (struct build){ .id = id,
			       .kconfig = xstrdup(db_str(&rows, 0, 1)),
			       .kconfig_hash = xstrdup(db_str(&rows, 0, 2)),
			       .compiler = xstrdup(db_str(&rows, 0, 3)),
			       .state = state_of(db_str(&rows, 0, 4)),
			       .detail = xstrdup(db_str(&rows, 0, 5)),
			       .image = xstrdup(db_str(&rows, 0, 6)),
			       .gnu_build_id = xstrdup(db_str(&rows, 0, 7)),
			       .variant = xstrdup(db_str(&rows, 0, 8)) };
	(void)snprintf(ret->commit, sizeof(ret->commit), "%s", db_str(&rows, 0, 0));
	db_rows_done(&rows);
	return 0;
}

int build_find(struct db *db, const char *commit, const char *kconfig_hash, const char *compiler,
	       struct build *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_BUILD_FIND, &rows, e, "sss", commit, kconfig_hash, compiler);
	if (r < 0)
		return r;
	*ret = (struct build){ .id = db_i64(&rows, 0, 0),
			       .state = state_of(db_str(&rows, 0, 1)),
			       .detail = xstrdup(db_str(&rows, 0, 2)),
			       .took_s = db_f64(&rows, 0, 3) };
	(void)snprintf(ret->commit, sizeof(ret->commit), "%s", commit);
	db_rows_done(&rows);
	return 0;
}

int build_finish(struct db *db, int64_t id, const struct build_outcome *o, struct err *e)
{
	int r;

	r = db_run(db, SQL_BUILD_FINISH, NULL, e, "isssssssdss", id,
		   o->fail_class ? "failed" : "ok", o->fail_class, o->detail, o->image, o->config,
		   o->log, o->gnu_build_id, o->took_s, o->objects, o->deps);
	return r < 0 ? r : db_run(db, SQL_BUILD_WAKE, NULL, e, "i", id);
}

int build_lists(struct db *db, const char *const *commits, size_t n, const char *kconfig_hash,
		const char *compiler, struct build_list **ret, size_t *ret_n, struct err *e)
{
	_cleanup_(freep) char *list = db_text_array(commits, n);
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_BUILD_LISTS, &rows, e, "sss", list, kconfig_hash, compiler);
	if (r < 0)
		return r;
	*ret = xcalloc((size_t)rows.n + 1, sizeof(**ret));
	*ret_n = (size_t)rows.n;
	for (int i = 0; i < rows.n; i++) {
		struct build_list *b = &(*ret)[i];

		(void)snprintf(b->commit, sizeof(b->commit), "%s", db_str(&rows, i, 0));
		(void)snprintf(b->objects, sizeof(b->objects), "%s", db_str(&rows, i, 1));
		(void)snprintf(b->deps, sizeof(b->deps), "%s", db_str(&rows, i, 2));
		(void)snprintf(b->gnu_build_id, sizeof(b->gnu_build_id), "%s", db_str(&rows, i, 3));
	}
	db_rows_done(&rows);
	return 0;
}
