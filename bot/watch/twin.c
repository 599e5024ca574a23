/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/twin.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_commit *, git_commit_free);
DEFINE_CLEANUP(git_tree *, git_tree_free);
DEFINE_CLEANUP(git_diff *, git_diff_free);

static const char *why(void)
{
	const git_error *last = git_error_last();

	return last && last->message ? last->message : "no reason given";
}

static int fail(const git_commit *c, struct err *e)
{
	return err_set(e, ERR_GIT, "cannot compare the change of %s: %s",
		       git_oid_tostr_s(git_commit_id(c)), why());
}

/* 1: *ret is the patch id of the commit; 0: it changes nothing, or too much. */
static int patch_id(git_repository *repo, git_commit *c, git_oid *ret, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *parent = NULL;
	_cleanup_(git_tree_freep) git_tree *tree = NULL;
	_cleanup_(git_tree_freep) git_tree *before = NULL;
	_cleanup_(git_diff_freep) git_diff *diff = NULL;
	size_t n;

	if (git_commit_tree(&tree, c) < 0)
		return fail(c, e);
	if (git_commit_parentcount(c) &&
	    (git_commit_parent(&parent, c, 0) < 0 || git_commit_tree(&before, parent) < 0))
		return fail(c, e);
	if (git_diff_tree_to_tree(&diff, repo, before, tree, NULL) < 0)
		return fail(c, e);
	n = git_diff_num_deltas(diff);
	if (!n || n > TWIN_FILES_MAX)
		return 0;
	return git_diff_patchid(ret, diff, NULL) < 0 ? fail(c, e) : 1;
}

static int load(git_repository *repo, const char *hash, git_commit **ret, struct err *e)
{
	git_oid oid;
	int r;

	if (strlen(hash) != 40 || git_oid_fromstr(&oid, hash) < 0)
		return err_set(e, ERR_INVAL, "'%.64s' is not a full commit id", hash);
	r = git_commit_lookup(ret, repo, &oid);
	if (r == GIT_ENOTFOUND)
		return 0;
	return r < 0 ? err_set(e, ERR_GIT, "cannot read commit %s: %s", hash, why()) : 1;
}

static bool same_words(git_commit *a, git_commit *b)
{
	const char *x = git_commit_summary(a), *y = git_commit_summary(b);

	return x && y && !strcmp(x, y) &&
	       !strcmp(git_commit_author(a)->email, git_commit_author(b)->email);
}

/* 1: one is the other, or an ancestor of it. */
static int on_one_line(git_repository *repo, git_commit *a, git_commit *b, struct err *e)
{
	const git_oid *x = git_commit_id(a), *y = git_commit_id(b);
	int r = git_oid_equal(x, y);

	if (r == 0)
		r = git_graph_descendant_of(repo, x, y);
	if (r == 0)
		r = git_graph_descendant_of(repo, y, x);
	return r < 0 ? fail(a, e) : r;
}

int twin_is(git_repository *repo, const char *a, const char *b, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *x = NULL;
	_cleanup_(git_commit_freep) git_commit *y = NULL;
	git_oid id_x, id_y;
	int r = load(repo, a, &x, e);

	if (r > 0)
		r = load(repo, b, &y, e);
	if (r <= 0)
		return r;
	if (git_commit_parentcount(x) > 1 || git_commit_parentcount(y) > 1 || !same_words(x, y))
		return 0;
	r = patch_id(repo, x, &id_x, e);
	if (r > 0)
		r = patch_id(repo, y, &id_y, e);
	if (r <= 0 || !git_oid_equal(&id_x, &id_y))
		return r < 0 ? r : 0;
	/* last, for it may walk far */
	r = on_one_line(repo, x, y, e);
	return r < 0 ? r : !r;
}
