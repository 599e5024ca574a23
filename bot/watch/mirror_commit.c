/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "bot/watch/mirror.h"
#include "bot/watch/mirror_priv.h"

#include <string.h>

#define COMMIT_OBJECT_MAX (16 << 20)
#define SUBJECT_MAX	  1000

/* From the raw object: libgit2's message ends at the first NUL byte. */
static int read_message(struct mirror *m, const git_oid *oid, struct mirror_commit *c,
			struct err *e)
{
	_cleanup_(git_odb_freep) git_odb *odb = NULL;
	_cleanup_(git_odb_object_freep) git_odb_object *obj = NULL;
	git_object_t type;
	const char *data;
	const char *body;
	size_t size;
	size_t n;

	if (git_repository_odb(&odb, m->repo) < 0 ||
	    git_odb_read_header(&size, &type, odb, oid) < 0)
		return err_set(e, ERR_GIT, "could not read commit %s: %s", c->hash, git_why());
	if (size > COMMIT_OBJECT_MAX)
		return err_set(e, ERR_TOO_BIG, "commit %s has %zu bytes, more than %d", c->hash,
			       size, COMMIT_OBJECT_MAX);
	if (git_odb_read(&obj, odb, oid) < 0)
		return err_set(e, ERR_GIT, "could not read commit %s: %s", c->hash, git_why());
	data = git_odb_object_data(obj);
	size = git_odb_object_size(obj);
	body = memmem(data, size, "\n\n", 2);
	body = body ? body + 2 : data + size;
	n = (size_t)(data + size - body);
	if (n > MIRROR_MESSAGE_MAX)
		n = MIRROR_MESSAGE_MAX;
	c->message = xcalloc(1, n + 1);
	memcpy(c->message, body, n);
	c->message_len = n;
	n = strcspn(c->message, "\n");
	c->subject = xstrndup(c->message, n < SUBJECT_MAX ? n : SUBJECT_MAX);
	return 0;
}

static struct mirror_sig copy_sig(const git_signature *sig)
{
	return (struct mirror_sig){ .name = xstrdup(sig->name),
				    .mail = xstrdup(sig->email),
				    .time = sig->when.time,
				    .offset_min = sig->when.offset };
}

static int read_commit(struct mirror *m, const git_oid *oid, struct mirror_commit *ret,
		       struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *commit = NULL;
	struct mirror_commit c = { 0 };
	int r;

	(void)git_oid_tostr(c.hash, sizeof(c.hash), oid);
	r = git_commit_lookup(&commit, m->repo, oid);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no commit %s in the mirror", c.hash);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot read commit %s: %s", c.hash, git_why());
	r = read_message(m, oid, &c, e);
	if (r < 0)
		return r;
	(void)git_oid_tostr(c.tree_hash, sizeof(c.tree_hash), git_commit_tree_id(commit));
	c.n_parents = git_commit_parentcount(commit);
	c.parents = xcalloc(c.n_parents + 1, sizeof(c.parents[0]));
	for (size_t i = 0; i < c.n_parents; i++)
		(void)git_oid_tostr(c.parents[i], sizeof(c.parents[0]),
				    git_commit_parent_id(commit, (unsigned int)i));
	c.author = copy_sig(git_commit_author(commit));
	c.committer = copy_sig(git_commit_committer(commit));
	*ret = c;
	return 0;
}

int mirror_commit(struct mirror *m, const char *hash, struct mirror_commit *ret, struct err *e)
{
	git_oid oid;
	int r = mirror_oid(hash, &oid, e);

	return r < 0 ? r : read_commit(m, &oid, ret, e);
}

void mirror_commit_done(struct mirror_commit *c)
{
	free(c->parents);
	free(c->author.name);
	free(c->author.mail);
	free(c->committer.name);
	free(c->committer.mail);
	free(c->subject);
	free(c->message);
	*c = (struct mirror_commit){ 0 };
}

void mirror_commits_free(struct mirror_commit *commits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mirror_commit_done(&commits[i]);
	free(commits);
}

int mirror_is_ancestor(struct mirror *m, const char *old_hash, const char *new_hash, struct err *e)
{
	git_oid a;
	git_oid b;
	int r;

	r = mirror_oid(old_hash, &a, e);
	if (r == 0)
		r = mirror_oid(new_hash, &b, e);
	if (r < 0)
		return r;
	if (git_oid_equal(&a, &b))
		return 1;
	r = git_graph_descendant_of(m->repo, &b, &a);
	if (r < 0)
		return err_set(e, r == GIT_ENOTFOUND ? ERR_NOENT : ERR_GIT,
			       "could not compare commits %.12s and %.12s: %s", old_hash, new_hash,
			       git_why());
	return r;
}

int mirror_is_ancestor_cb(void *mirror, const char *old_hash, const char *new_hash, struct err *e)
{
	return mirror_is_ancestor(mirror, old_hash, new_hash, e);
}

int mirror_new_commits(struct mirror *m, const char *old_hash, const char *new_hash, size_t limit,
		       struct mirror_commit **ret, size_t *ret_n, bool *ret_more, struct err *e)
{
	_cleanup_(git_revwalk_freep) git_revwalk *walk = NULL;
	VEC(struct mirror_commit) v = { 0 };
	bool more = false;
	git_oid from;
	git_oid oid;
	int walked = 0;
	int r;

	r = mirror_oid(new_hash, &oid, e);
	if (r == 0 && old_hash)
		r = mirror_oid(old_hash, &from, e);
	if (r < 0)
		return r;
	if (git_revwalk_new(&walk, m->repo) < 0 ||
	    git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME) < 0 ||
	    git_revwalk_push(walk, &oid) < 0 || (old_hash && git_revwalk_hide(walk, &from) < 0))
		return err_set(e, ERR_GIT, "could not walk from %.12s to %.12s: %s",
			       old_hash ? old_hash : "nothing", new_hash, git_why());
	if (!old_hash)
		limit = 1;
	while (r == 0 &&
	       (walked = !old_hash && v.len ? GIT_ITEROVER : git_revwalk_next(&oid, walk)) == 0) {
		struct mirror_commit c;

		if (v.len == limit) {
			more = true;
			break;
		}
		r = read_commit(m, &oid, &c, e);
		if (r == 0)
			vec_push(&v, c);
	}
	if (r == 0 && walked != 0 && walked != GIT_ITEROVER)
		r = err_set(e, ERR_GIT, "could not walk to %.12s: %s", new_hash, git_why());
	if (r < 0) {
		mirror_commits_free(v.items, v.len);
		return r;
	}
	*ret = v.items;
	*ret_n = v.len;
	*ret_more = more;
	return 0;
}
