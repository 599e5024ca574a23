/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/tree.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"
#include "bot/db/db.h"

#include <string.h>

int tree_sync(struct db *db, const struct config *c, struct err *e)
{
	_cleanup_(freep) const char **names = config_names(c, "tree");
	int r = 0;

	for (size_t i = 0; r == 0 && names[i]; i++)
		r = db_run(db, SQL_TREE_UPSERT, NULL, e, "ss", names[i],
			   config_str(c, "tree", names[i], "url"));
	return r;
}

int tree_looked_at(struct db *db, const char *tree, const char *odd, bool *ret_new, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_TREE_LOOKED_AT, &rows, e, "ss", tree, odd);
	if (r < 0)
		return r;
	*ret_new = db_bool(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int tree_fetched(struct db *db, const char *tree, const char *why, int *ret_failures, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_TREE_FETCHED, &rows, e, "ss", tree, why);
	if (r < 0)
		return r;
	*ret_failures = (int)db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return 0;
}

int tree_heads(struct db *db, const char *tree, struct tree_head **ret, size_t *ret_n,
	       struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(db, SQL_TREE_HEADS, &rows, e, "s", tree);
	if (r < 0)
		return r;
	*ret_n = (size_t)rows.n;
	*ret = xcalloc(*ret_n, sizeof(**ret));
	for (int i = 0; i < rows.n; i++) {
		(*ret)[i].branch = xstrdup(db_str(&rows, i, 0));
		(void)snprintf((*ret)[i].commit, sizeof((*ret)[i].commit), "%s",
			       db_str(&rows, i, 1));
	}
	db_rows_done(&rows);
	return 0;
}

void tree_heads_free(struct tree_head *heads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(heads[i].branch);
	free(heads);
}

int tree_event(struct db *db, const char *tree, const char *branch, const char *kind,
	       const char *old_hash, const char *new_hash, struct err *e)
{
	int r;

	r = db_run(db, SQL_TREE_EVENT_ADD, NULL, e, "sssss", tree, branch, kind, old_hash,
		   new_hash);
	if (r < 0)
		return r;
	if (!new_hash)
		return db_run(db, SQL_TREE_HEAD_DROP, NULL, e, "ss", tree, branch);
	return db_run(db, SQL_TREE_HEAD_SET, NULL, e, "sss", tree, branch, new_hash);
}

int commit_insert(struct db *db, const struct commit_row *c, struct err *e)
{
	_cleanup_(freep) char *parents = db_text_array(c->parents, c->n_parents);
	_cleanup_(freep) char *subject = utf8_clean(c->subject, strlen(c->subject), 2000);
	_cleanup_(freep) char *an = utf8_clean(c->author_name, strlen(c->author_name), 300);
	_cleanup_(freep) char *am = utf8_clean(c->author_mail, strlen(c->author_mail), 300);
	_cleanup_(freep) char *cn = utf8_clean(c->committer_name, strlen(c->committer_name), 300);
	_cleanup_(freep) char *cm = utf8_clean(c->committer_mail, strlen(c->committer_mail), 300);

	return db_run(db, SQL_COMMIT_INSERT, NULL, e, "sssssissiy", c->hash, parents, subject, an,
		      am, c->author_time, cn, cm, c->commit_time, (const void *)c->message,
		      c->message_len);
}

int commit_get(struct db *db, const char *hash, struct commit *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run_one(db, SQL_COMMIT_GET, &rows, e, "s", hash);
	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "commit %s is not known", hash);
	if (r < 0)
		return r;
	*ret = (struct commit){ .subject = xstrdup(db_str(&rows, 0, 0)),
				.author_name = xstrdup(db_str(&rows, 0, 1)),
				.author_mail = xstrdup(db_str(&rows, 0, 2)),
				.committer_name = xstrdup(db_str(&rows, 0, 3)),
				.committer_mail = xstrdup(db_str(&rows, 0, 4)),
				.parent = xstrdup(db_str(&rows, 0, 5)),
				.date = xstrdup(db_str(&rows, 0, 7)) };
	ret->message = db_bytes(&rows, 0, 6, &ret->message_len);
	db_rows_done(&rows);
	return 0;
}

void commit_done(struct commit *c)
{
	free(c->subject);
	free(c->author_name);
	free(c->author_mail);
	free(c->committer_name);
	free(c->committer_mail);
	free(c->parent);
	free(c->message);
	free(c->date);
	*c = (struct commit){ 0 };
}
