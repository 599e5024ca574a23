/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/touched.h"

#include "bisect/prior.h"
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_commit *, git_commit_free);
DEFINE_CLEANUP(git_tree *, git_tree_free);
DEFINE_CLEANUP(git_blob *, git_blob_free);

#define DEPTH_MAX     64
#define PATH_BYTES    4096
#define CONTENT_PATHS 32
#define CONTENT_BYTES (1 << 20)

/* The two versions of each path, for a second look. */
struct pair {
	git_oid a, b;
	bool blobs;
};

struct reader {
	git_repository *repo;
	size_t max_paths;
	struct touched *t;
	struct pair pairs[CONTENT_PATHS];
	struct strbuf path;
};

static const char *why(void)
{
	const git_error *last = git_error_last();

	return last && last->message ? last->message : "no reason given";
}

void touched_done(struct touched *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->paths[i]);
	free(t->paths);
	free(t->same_code);
	*t = (struct touched){ 0 };
}

static void add(struct reader *r, const git_tree_entry *a, const git_tree_entry *b)
{
	struct touched *t = r->t;

	if (t->n == r->max_paths || r->path.len >= PATH_BYTES) {
		t->more = true;
		return;
	}
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 8;
		t->paths = xreallocarray(t->paths, t->cap, sizeof(*t->paths));
		t->same_code = xreallocarray(t->same_code, t->cap, sizeof(*t->same_code));
	}
	if (t->n < CONTENT_PATHS) {
		struct pair *p = &r->pairs[t->n];

		/* A mode of its own may be a script that now runs: not looked into. */
		p->blobs = a && b && git_tree_entry_type(a) == GIT_OBJECT_BLOB &&
			   git_tree_entry_filemode_raw(a) == git_tree_entry_filemode_raw(b);
		if (p->blobs) {
			git_oid_cpy(&p->a, git_tree_entry_id(a));
			git_oid_cpy(&p->b, git_tree_entry_id(b));
		}
	}
	t->same_code[t->n] = false;
	t->paths[t->n++] = xstrdup(strbuf_str(&r->path));
}

static int compare_trees(struct reader *r, const git_tree *a, const git_tree *b, int depth,
			 struct err *e);

static bool is_tree(const git_tree_entry *t)
{
	return t && git_tree_entry_type(t) == GIT_OBJECT_TREE;
}

static int open_tree(struct reader *r, const git_tree_entry *entry, git_tree **ret, struct err *e)
{
	*ret = NULL;
	if (is_tree(entry) && git_tree_lookup(ret, r->repo, git_tree_entry_id(entry)) < 0)
		return err_set(e, ERR_GIT, "cannot read a tree: %s", why());
	return 0;
}

/* Entries of one name, one of them NULL when it is new or gone. */
static int compare_entries(struct reader *r, const git_tree_entry *a, const git_tree_entry *b,
			   int depth, struct err *e)
{
	_cleanup_(git_tree_freep) git_tree *x = NULL;
	_cleanup_(git_tree_freep) git_tree *y = NULL;
	size_t len = r->path.len;
	int ret = 0;

	if (a && b && git_oid_equal(git_tree_entry_id(a), git_tree_entry_id(b)) &&
	    git_tree_entry_filemode_raw(a) == git_tree_entry_filemode_raw(b))
		return 0;
	strbuf_addf(&r->path, "%s%s", len ? "/" : "", git_tree_entry_name(a ? a : b));
	if (!is_tree(a) && !is_tree(b)) {
		add(r, a, b);
	} else if (depth == DEPTH_MAX || r->path.len >= PATH_BYTES) {
		r->t->more = true;
	} else {
		ret = open_tree(r, a, &x, e);
		if (ret == 0)
			ret = open_tree(r, b, &y, e);
		if (ret == 0)
			ret = compare_trees(r, x, y, depth + 1, e);
	}
	strbuf_cut(&r->path, len);
	return ret;
}

/* Both are sorted by git_tree_entry_cmp(), where a folder and a file of one name differ. */
static int compare_trees(struct reader *r, const git_tree *a, const git_tree *b, int depth,
			 struct err *e)
{
	size_t n = a ? git_tree_entrycount(a) : 0;
	size_t m = b ? git_tree_entrycount(b) : 0;
	size_t i = 0;
	size_t k = 0;
	int ret = 0;

	while (ret == 0 && !r->t->more && (i < n || k < m)) {
		const git_tree_entry *x = i < n ? git_tree_entry_byindex(a, i) : NULL;
		const git_tree_entry *y = k < m ? git_tree_entry_byindex(b, k) : NULL;
		int order = !x ? 1 : !y ? -1 : git_tree_entry_cmp(x, y);

		i += order <= 0;
		k += order >= 0;
		ret = compare_entries(r, order <= 0 ? x : NULL, order >= 0 ? y : NULL, depth, e);
	}
	return ret;
}

/* Is the code of both versions the same? Not when they cannot be read. */
static bool same_code(git_repository *repo, const char *path, const struct pair *p)
{
	_cleanup_(git_blob_freep) git_blob *a = NULL;
	_cleanup_(git_blob_freep) git_blob *b = NULL;

	/* Is it a kind of file that it knows? */
	if (!p->blobs || !prior_same_code(path, "", 0, "", 0))
		return false;
	if (git_blob_lookup(&a, repo, &p->a) < 0 || git_blob_lookup(&b, repo, &p->b) < 0)
		return false;
	if (git_blob_rawsize(a) > CONTENT_BYTES || git_blob_rawsize(b) > CONTENT_BYTES)
		return false;
	return prior_same_code(path, git_blob_rawcontent(a), (size_t)git_blob_rawsize(a),
			       git_blob_rawcontent(b), (size_t)git_blob_rawsize(b));
}

static int look_up(git_repository *repo, const char *hash, git_commit **ret, struct err *e)
{
	git_oid oid;
	int r;

	if (strlen(hash) != 40 || git_oid_fromstr(&oid, hash) < 0)
		return err_set(e, ERR_INVAL, "'%.64s' is not a full commit hash", hash);
	r = git_commit_lookup(ret, repo, &oid);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no commit %s in the repository", hash);
	return r < 0 ? err_set(e, ERR_GIT, "cannot read commit %s: %s", hash, why()) : 0;
}

static int read_trees(struct reader *r, const git_commit *commit, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *parent = NULL;
	_cleanup_(git_tree_freep) git_tree *a = NULL;
	_cleanup_(git_tree_freep) git_tree *b = NULL;

	if (git_commit_tree(&b, commit) < 0)
		return err_set(e, ERR_GIT, "cannot read a tree: %s", why());
	if (r->t->n_parents &&
	    (git_commit_parent(&parent, commit, 0) < 0 || git_commit_tree(&a, parent) < 0))
		return err_set(e, ERR_GIT, "cannot read a tree: %s", why());
	if (a && git_oid_equal(git_tree_id(a), git_tree_id(b)))
		return 0;
	return compare_trees(r, a, b, 0, e);
}

int touched_read(git_repository *repo, const char *hash, size_t max_paths, bool content,
		 struct touched *ret, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *commit = NULL;
	struct touched t = { 0 };
	struct reader reader = { .repo = repo, .max_paths = max_paths, .t = &t };
	int r;

	r = look_up(repo, hash, &commit, e);
	if (r < 0)
		return r;
	t.n_parents = git_commit_parentcount(commit);
	r = read_trees(&reader, commit, e);
	strbuf_done(&reader.path);
	if (r < 0) {
		touched_done(&t);
		return r;
	}
	for (size_t i = 0; content && t.n <= CONTENT_PATHS && i < t.n; i++)
		t.same_code[i] = same_code(repo, t.paths[i], &reader.pairs[i]);
	*ret = t;
	return 0;
}
