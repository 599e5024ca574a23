/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/twin.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_commit *, git_commit_free);
DEFINE_CLEANUP(git_tree *, git_tree_free);
DEFINE_CLEANUP(git_diff *, git_diff_free);
DEFINE_CLEANUP(git_odb *, git_odb_free);

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

static size_t size_of(git_odb *odb, const git_diff_file *file)
{
	git_object_t type;
	size_t size = 0;

	/* What is not there, such as a submodule, is not compared either. */
	if (git_oid_is_zero(&file->id) || git_odb_read_header(&size, &type, odb, &file->id) < 0)
		return 0;
	return size;
}

/* Files are read whole, and compared line by line. */
static int is_small(git_repository *repo, const git_commit *c, const git_diff *diff, struct err *e)
{
	_cleanup_(git_odb_freep) git_odb *odb = NULL;
	size_t n = git_diff_num_deltas(diff), bytes = 0;

	if (git_repository_odb(&odb, repo) < 0)
		return fail(c, e);
	for (size_t i = 0; n <= TWIN_FILES_MAX && i < n && bytes <= TWIN_BYTES_MAX; i++) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i);
		size_t old = size_of(odb, &delta->old_file), new = size_of(odb, &delta->new_file);

		if (old > TWIN_BYTES_MAX || new > TWIN_BYTES_MAX)
			return 0;
		bytes += old + new;
	}
	return n > 0 && n <= TWIN_FILES_MAX && bytes <= TWIN_BYTES_MAX;
}

/* What a commit changes. @binaries: over the files that have no lines, whose patch id is their name. */
struct change {
	git_oid patch;
	git_oid binaries;
};

static int find_change(const git_commit *c, git_diff *diff, struct change *ret, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf ids = STRBUF_INIT;
	size_t n = git_diff_num_deltas(diff);

	/* It reads the files, and knows then which are binary. */
	if (git_diff_patchid(&ret->patch, diff, NULL) < 0)
		return fail(c, e);
	for (size_t i = 0; i < n; i++) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i);

		if (delta->flags & GIT_DIFF_FLAG_NOT_BINARY ||
		    git_oid_equal(&delta->old_file.id, &delta->new_file.id))
			continue;
		strbuf_add(&ids, (const char *)delta->old_file.id.id, GIT_OID_RAWSZ);
		strbuf_add(&ids, (const char *)delta->new_file.id.id, GIT_OID_RAWSZ);
	}
	if (git_odb_hash(&ret->binaries, strbuf_str(&ids), ids.len, GIT_OBJECT_BLOB) < 0)
		return fail(c, e);
	return 1;
}

/* 1: *ret is what the commit changes; 0: it changes nothing, or too much. */
static int read_change(git_repository *repo, git_commit *c, struct change *ret, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *parent = NULL;
	_cleanup_(git_tree_freep) git_tree *tree = NULL;
	_cleanup_(git_tree_freep) git_tree *before = NULL;
	_cleanup_(git_diff_freep) git_diff *diff = NULL;
	int r;

	if (git_commit_tree(&tree, c) < 0)
		return fail(c, e);
	if (git_commit_parentcount(c) &&
	    (git_commit_parent(&parent, c, 0) < 0 || git_commit_tree(&before, parent) < 0))
		return fail(c, e);
	if (git_diff_tree_to_tree(&diff, repo, before, tree, NULL) < 0)
		return fail(c, e);
	r = is_small(repo, c, diff, e);
	return r <= 0 ? r : find_change(c, diff, ret, e);
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
	struct change of_x, of_y;
	int r = load(repo, a, &x, e);

	if (r > 0)
		r = load(repo, b, &y, e);
	if (r <= 0)
		return r;
	if (git_commit_parentcount(x) > 1 || git_commit_parentcount(y) > 1 || !same_words(x, y))
		return 0;
	r = read_change(repo, x, &of_x, e);
	if (r > 0)
		r = read_change(repo, y, &of_y, e);
	if (r <= 0 || !git_oid_equal(&of_x.patch, &of_y.patch) ||
	    !git_oid_equal(&of_x.binaries, &of_y.binaries))
		return r < 0 ? r : 0;
	/* last, for it may walk far */
	r = on_one_line(repo, x, y, e);
	return r < 0 ? r : !r;
}
