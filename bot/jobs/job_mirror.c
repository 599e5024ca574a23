/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/job_mirror.h"

#include "bot/base/strbuf.h"
#include "bot/store/tree.h"
#include "bot/watch/mirror.h"

int job_mirror_store_commit(struct db *db, struct mirror *m, const char *hash, struct err *e)
{
	_cleanup_(freep) const char **parents = NULL;
	_cleanup_(mirror_commit_done) struct mirror_commit c = { 0 };
	struct commit_row row;
	int r;

	r = mirror_commit(m, hash, &c, e);
	if (r < 0)
		return r;
	parents = xcalloc(c.n_parents, sizeof(*parents));
	for (size_t i = 0; i < c.n_parents; i++)
		parents[i] = c.parents[i];
	row = (struct commit_row){ .hash = c.hash,
				   .parents = parents,
				   .n_parents = c.n_parents,
				   .subject = c.subject,
				   .author_name = c.author.name,
				   .author_mail = c.author.mail,
				   .committer_name = c.committer.name,
				   .committer_mail = c.committer.mail,
				   .author_time = c.author.time,
				   .commit_time = c.committer.time,
				   .message = c.message,
				   .message_len = c.message_len };
	return commit_insert(db, &row, e);
}
