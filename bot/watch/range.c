/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/range.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/watch/range_reach.h"

#include <git2.h>
#include <math.h>
#include <string.h>

DEFINE_CLEANUP(git_object *, git_object_free);
DEFINE_CLEANUP(git_commit *, git_commit_free);
DEFINE_CLEANUP(git_tree *, git_tree_free);
DEFINE_CLEANUP(git_tree_entry *, git_tree_entry_free);
DEFINE_CLEANUP(git_revwalk *, git_revwalk_free);
DEFINE_CLEANUP(git_repository *, git_repository_free);
DEFINE_CLEANUP(git_reference_iterator *, git_reference_iterator_free);

static const char *git_why(void)
{
	const git_error *last = git_error_last();

	return last && last->message ? last->message : "no reason given";
}

void range_done(struct range *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_warnings; i++)
		free(r->warnings[i]);
	free(r->warnings);
	free(r->merge_bases);
	bisect_graph_done(&r->graph);
	memset(r, 0, sizeof(*r));
}

static void warn(struct range *r, char *line)
{
	r->warnings = xreallocarray(r->warnings, r->n_warnings + 1, sizeof(*r->warnings));
	r->warnings[r->n_warnings++] = line;
}

/* Histories that are cut or bent would give other ranges than the real one, without a word. */
static int check_history(git_repository *repo, struct err *e)
{
	_cleanup_(freep) char *grafts = xasprintf("%sinfo/grafts", git_repository_commondir(repo));

	if (git_repository_is_shallow(repo))
		return err_set(e, ERR_UNSUPPORTED,
			       "repository '%s' is shallow, run 'git fetch --unshallow' in it",
			       git_repository_path(repo));
	if (access(grafts, F_OK) == 0)
		return err_set(e, ERR_UNSUPPORTED, "repository '%s' has grafts, remove '%s'",
			       git_repository_path(repo), grafts);
	return 0;
}

int range_open(const char *path, git_repository **ret, struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	int r = git_repository_open_ext(&repo, path, 0, NULL);

	if (r == GIT_ENOTFOUND && strstr(git_why(), "safe.directory"))
		return err_set(e, ERR_PERM,
			       "repository '%s' belongs to another user, allow it with "
			       "'git config --global --add safe.directory'",
			       path);
	if (r == GIT_EOWNER)
		return err_set(e, ERR_PERM, "repository '%s' belongs to another user", path);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no git repository at '%s'", path);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot open repository '%s': %s", path, git_why());
	r = check_history(repo, e);
	if (r < 0)
		return r;
	*ret = take_ptr(repo);
	return 0;
}

/* A tag and a branch of one name: git takes the tag with a warning that nobody reads. */
static int check_one_meaning(git_repository *repo, const char *name, struct err *e)
{
	_cleanup_(freep) char *tag_name = xasprintf("refs/tags/%s^{}", name);
	_cleanup_(freep) char *branch_name = xasprintf("refs/heads/%s", name);
	_cleanup_(git_object_freep) git_object *tag = NULL;
	_cleanup_(git_object_freep) git_object *branch = NULL;

	if (git_revparse_single(&tag, repo, tag_name) < 0 ||
	    git_revparse_single(&branch, repo, branch_name) < 0 ||
	    git_oid_equal(git_object_id(tag), git_object_id(branch)))
		return 0;
	return err_set(e, ERR_AMBIGUOUS,
		       "'%s' is a tag and a branch, say 'refs/tags/%s' or 'refs/heads/%s'", name,
		       name, name);
}

static int resolve(git_repository *repo, const char *name, git_oid *ret, struct err *e)
{
	_cleanup_(git_object_freep) git_object *object = NULL;
	_cleanup_(git_object_freep) git_object *commit = NULL;
	int r;

	/* A search of all messages and all parents at once are names of no one commit. */
	if (name[0] == '\0' || name[0] == '-' || name[0] == ':' || strstr(name, "..") ||
	    strstr(name, "^{/") || strstr(name, "^@") || strlen(name) > 1024)
		return err_set(e, ERR_INVAL, "'%.64s' is not the name of one commit", name);
	r = check_one_meaning(repo, name, e);
	if (r < 0)
		return r;
	r = git_revparse_single(&object, repo, name);
	if (r == GIT_EAMBIGUOUS)
		return err_set(e, ERR_AMBIGUOUS, "short id '%s' is ambiguous, give more digits",
			       name);
	if (r == GIT_EINVALIDSPEC)
		return err_set(e, ERR_INVAL, "'%s' is not the name of one commit", name);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no commit, branch or tag '%s'", name);
	if (r == GIT_EPEEL)
		return err_set(e, ERR_INVAL, "'%s' is not a commit", name);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot resolve '%s': %s", name, git_why());
	r = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
	if (r < 0) {
		_cleanup_(git_object_freep) git_object *target = NULL;

		if (git_object_peel(&target, object, GIT_OBJECT_ANY) < 0)
			target = NULL;
		return err_set(e, ERR_INVAL, "'%s' is not a commit but a %s", name,
			       git_object_type2string(git_object_type(target ? target : object)));
	}
	git_oid_cpy(ret, git_object_id(commit));
	return 0;
}

/* One commit as the walk gave it. */
struct item {
	git_oid oid;
	int *parents; /* indexes of in-range parents, OUTSIDE or ASIDE */
	size_t n_parents;
	unsigned all_parents; /* those left out by first_parent as well */
	bool reached;	      /* from the good end */
	bool counted;	      /* false: simplified away by the paths, or aside */
	bool aside;	      /* does not descend from the good end, though it should */
	int next;	      /* where a simplified commit leads: index, OUTSIDE or ASIDE */
	int place;	      /* index in the graph */
};

#define OUTSIDE (-1)
#define ASIDE	(-2)

struct walk {
	git_repository *repo;
	const struct range_options *opt;
	git_oid good;
	VEC(struct item) items;
	int *by_oid; /* open addressing, item index + 1 */
	size_t table;
};

static void walk_done(struct walk *w)
{
	vec_foreach (it, &w->items)
		free(it->parents);
	vec_done(&w->items);
	free(w->by_oid);
}

static int *walk_slot(const struct walk *w, const git_oid *oid)
{
	size_t at;

	memcpy(&at, oid->id, sizeof(at));
	for (at &= w->table - 1; w->by_oid[at]; at = (at + 1) & (w->table - 1))
		if (git_oid_equal(&w->items.items[w->by_oid[at] - 1].oid, oid))
			break;
	return &w->by_oid[at];
}

static void walk_index(struct walk *w)
{
	free(w->by_oid);
	for (w->table = 64; w->table < 2 * w->items.len; w->table *= 2)
		;
	w->by_oid = xcalloc(w->table, sizeof(*w->by_oid));
	for (size_t i = 0; i < w->items.len; i++)
		*walk_slot(w, &w->items.items[i].oid) = (int)i + 1;
}

static int walk_collect(struct walk *w, const git_oid *bad, struct err *e)
{
	_cleanup_(git_revwalk_freep) git_revwalk *walk = NULL;
	git_oid oid;
	int r;

	if (git_revwalk_new(&walk, w->repo) < 0 ||
	    git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE) < 0 ||
	    git_revwalk_push(walk, bad) < 0 || git_revwalk_hide(walk, &w->good) < 0 ||
	    (w->opt->first_parent && git_revwalk_simplify_first_parent(walk) < 0))
		return err_set(e, ERR_GIT, "cannot walk the history: %s", git_why());
	while ((r = git_revwalk_next(&oid, walk)) == 0) {
		struct item item = { .oid = oid, .counted = true, .place = OUTSIDE };

		vec_push(&w->items, item);
	}
	if (r != GIT_ITEROVER)
		return err_set(e, ERR_GIT, "cannot walk the history: %s", git_why());
	walk_index(w);
	return 0;
}

static int find_member(const void *ctx, const git_oid *oid)
{
	return *walk_slot(ctx, oid) - 1;
}

static void mark_member(void *ctx, int member)
{
	((struct walk *)ctx)->items.items[member].reached = true;
}

/* libgit2, as git, stops by dates: wrong ones leave commits in the range that good has. */
static int drop_reached(struct walk *w, struct err *e)
{
	const struct range_member member = { find_member, mark_member, w };
	int64_t oldest = INT64_MAX;
	size_t n = 0;
	int r;

	vec_foreach (item, &w->items) {
		_cleanup_(git_commit_freep) git_commit *commit = NULL;

		if (git_commit_lookup(&commit, w->repo, &item->oid) < 0)
			return err_set(e, ERR_GIT, "cannot read a commit: %s", git_why());
		if (git_commit_time(commit) < oldest)
			oldest = git_commit_time(commit);
	}
	r = range_reach(w->repo, &w->good, oldest, w->items.len, &member, e);
	for (size_t i = w->items.len; r == 0 && i-- > 0;) {
		_cleanup_(git_commit_freep) git_commit *commit = NULL;

		if (!w->items.items[i].reached)
			continue;
		if (git_commit_lookup(&commit, w->repo, &w->items.items[i].oid) < 0)
			return err_set(e, ERR_GIT, "cannot read a commit: %s", git_why());
		for (unsigned p = 0; p < git_commit_parentcount(commit); p++) {
			int at = find_member(w, git_commit_parent_id(commit, p));

			if (at != OUTSIDE)
				mark_member(w, at);
		}
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < w->items.len; i++)
		if (!w->items.items[i].reached)
			w->items.items[n++] = w->items.items[i];
	w->items.len = n;
	walk_index(w);
	return 0;
}

/* A parent that neither is the good end nor descends from it leads to another part of the history. */
static int on_the_way(const struct walk *w, int at, const git_oid *parent)
{
	if (!w->opt->descendants)
		return at;
	if (at == OUTSIDE)
		return git_oid_equal(parent, &w->good) ? OUTSIDE : ASIDE;
	return w->items.items[at].aside ? ASIDE : at;
}

static void load_parents(const struct walk *w, struct item *item, git_commit *commit)
{
	unsigned n = item->all_parents = git_commit_parentcount(commit);

	if (w->opt->first_parent && n > 1)
		n = 1;
	item->n_parents = n;
	item->parents = xcalloc(n + 1, sizeof(*item->parents));
	item->aside = w->opt->descendants;
	for (unsigned i = 0; i < n; i++) {
		const git_oid *parent = git_commit_parent_id(commit, i);

		item->parents[i] = on_the_way(w, *walk_slot(w, parent) - 1, parent);
		item->aside &= item->parents[i] == ASIDE;
	}
}

static bool same_entry(const git_tree *a, const git_tree *b, const char *path)
{
	_cleanup_(git_tree_entry_freep) git_tree_entry *x = NULL;
	_cleanup_(git_tree_entry_freep) git_tree_entry *y = NULL;

	if (!a || git_tree_entry_bypath(&x, a, path) < 0)
		x = NULL;
	if (!b || git_tree_entry_bypath(&y, b, path) < 0)
		y = NULL;
	if (!x || !y)
		return x == y;
	return git_oid_equal(git_tree_entry_id(x), git_tree_entry_id(y)) &&
	       git_tree_entry_filemode(x) == git_tree_entry_filemode(y);
}

static bool same_paths(const struct walk *w, const git_tree *a, const git_tree *b)
{
	for (size_t i = 0; i < w->opt->n_paths; i++)
		if (!same_entry(a, b, w->opt->paths[i]))
			return false;
	return true;
}

/* The good end counts among a merge's sides, what only it reaches does not. */
static bool is_relevant(const struct walk *w, const struct item *item, const git_commit *commit,
			size_t i)
{
	return item->parents[i] >= 0 ||
	       git_oid_equal(git_commit_parent_id(commit, (unsigned)i), &w->good);
}

/*
 * git's default simplification: a commit that leaves the paths as one of its parents has them is
 * not counted, and history goes on at that parent alone. A parent that lies outside must not take
 * the other sides of a merge out of the range: it decides only where all parents lie outside.
 */
static int simplify(const struct walk *w, struct item *item, git_commit *commit, struct err *e)
{
	_cleanup_(git_tree_freep) git_tree *tree = NULL;
	bool relevant = false;
	bool changed = false;

	if (git_commit_tree(&tree, commit) < 0)
		return err_set(e, ERR_GIT, "cannot read a tree: %s", git_why());
	item->next = OUTSIDE;
	if (git_commit_parentcount(commit) == 0)
		changed = !same_paths(w, tree, NULL);
	for (size_t i = 0; i < item->n_parents; i++) {
		_cleanup_(git_commit_freep) git_commit *parent = NULL;
		_cleanup_(git_tree_freep) git_tree *parent_tree = NULL;
		bool same;

		if (item->parents[i] == ASIDE)
			continue;
		if (git_commit_parent(&parent, commit, (unsigned)i) < 0 ||
		    git_commit_tree(&parent_tree, parent) < 0)
			return err_set(e, ERR_GIT, "cannot read a tree: %s", git_why());
		same = same_paths(w, tree, parent_tree);
		if (same && is_relevant(w, item, commit, i)) {
			item->next = item->parents[i];
			item->counted = false;
			return 0;
		}
		relevant |= is_relevant(w, item, commit, i);
		changed |= !same;
	}
	item->counted = relevant || changed;
	return 0;
}

static int walk_load(struct walk *w, struct err *e)
{
	vec_foreach (item, &w->items) {
		_cleanup_(git_commit_freep) git_commit *commit = NULL;
		int r = 0;

		if (git_commit_lookup(&commit, w->repo, &item->oid) < 0)
			return err_set(e, ERR_GIT, "cannot read a commit: %s", git_why());
		load_parents(w, item, commit);
		item->counted = !item->aside;
		item->next = ASIDE;
		if (w->opt->n_paths > 0 && !item->aside)
			r = simplify(w, item, commit, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Past simplified commits to the next that counts. */
static int follow(const struct walk *w, int at)
{
	while (at >= 0 && !w->items.items[at].counted)
		at = w->items.items[at].next;
	return at;
}

/* What the bad end still reaches once simplified merges follow one parent only. */
static void keep_reachable(struct walk *w)
{
	_cleanup_(freep) bool *reached = xcalloc(w->items.len + 1, sizeof(*reached));
	int top = follow(w, (int)w->items.len - 1);

	if (top >= 0)
		reached[top] = true;
	for (size_t i = w->items.len; i-- > 0;) {
		struct item *item = &w->items.items[i];

		for (size_t p = 0; p < item->n_parents && reached[i]; p++) {
			int to = follow(w, item->parents[p]);

			if (to >= 0)
				reached[to] = true;
		}
	}
	for (size_t i = 0; i < w->items.len; i++)
		w->items.items[i].counted &= reached[i];
}

static void count(const struct walk *w, struct range *ret)
{
	vec_foreach (item, &w->items) {
		ret->commits += item->counted;
		ret->merges += item->counted && item->all_parents > 1;
		ret->roots += item->counted && item->all_parents == 0;
	}
}

static int graph_add_item(struct walk *w, struct item *item, struct bisect_graph *g, struct err *e)
{
	_cleanup_(freep) int *parents = xcalloc(item->n_parents + 1, sizeof(*parents));
	bool outside = false;
	char hash[41];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < item->n_parents; i++) {
		int to = follow(w, item->parents[i]);

		if (to == OUTSIDE)
			outside = true;
		else if (to >= 0)
			parents[n++] = w->items.items[to].place;
	}
	outside |= n == 0;
	(void)git_oid_tostr(hash, sizeof(hash), &item->oid);
	r = bisect_graph_add(g, hash, parents, n, outside, e);
	if (r < 0)
		return r;
	item->place = (int)g->n - 1;
	return 0;
}

static int build_graph(struct walk *w, struct range *ret, struct err *e)
{
	int r;

	for (size_t i = 0; i < w->items.len; i++) {
		struct item *item = &w->items.items[i];
		bool bad_end = i + 1 == w->items.len;

		if (!item->counted && !bad_end)
			continue;
		/* Not counted, the bad end hangs on what it was simplified to. */
		if (!item->counted) {
			item->n_parents = 1;
			item->parents[0] = follow(w, (int)i);
		}
		r = graph_add_item(w, item, &ret->graph, e);
		if (r < 0)
			return r;
	}
	r = bisect_graph_prepare(&ret->graph, e);
	if (r < 0)
		return r;
	memcpy(ret->midpoint, ret->graph.commits[bisect_graph_midpoint(&ret->graph)].hash,
	       sizeof(ret->midpoint));
	return 0;
}

/* Too long for a graph, the range still has a middle. */
static void find_midpoint(struct walk *w, struct range *ret)
{
	const size_t n = w->items.len;
	_cleanup_(freep) struct bisect_links *links = xcalloc(n, sizeof(*links));
	_cleanup_(freep) size_t *count = xcalloc(n, sizeof(*count));
	size_t k = 0;
	size_t best = 0;
	size_t at = 0;

	if (ret->commits > BISECT_COUNT_MOST)
		return;
	for (size_t i = 0; i < n; i++) {
		struct item *item = &w->items.items[i];

		if (!item->counted)
			continue;
		for (size_t p = 0; p < item->n_parents; p++) {
			int to = follow(w, item->parents[p]);

			item->parents[p] = to < 0 ? OUTSIDE : w->items.items[to].place;
		}
		item->place = (int)k;
		links[k++] = (struct bisect_links){ item->parents, item->n_parents };
	}
	bisect_count_ancestors(links, k, count);
	k = 0;
	for (size_t i = 0; i < n; i++) {
		size_t even;

		if (!w->items.items[i].counted)
			continue;
		even = count[k] < ret->commits - count[k] ? count[k] : ret->commits - count[k];
		k++;
		if (k == 1 || even > best) {
			best = even;
			at = i;
		}
	}
	(void)git_oid_tostr(ret->midpoint, sizeof(ret->midpoint), &w->items.items[at].oid);
}

/* "merge base M1 has", "merge bases M1, M2 and 3 more have" */
static void warn_fork(struct range *r)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	const size_t most = 4;

	for (size_t i = 0; i < r->n_merge_bases && i < most; i++)
		strbuf_addf(&names, "%s%.12s", i ? ", " : "", r->merge_bases[i]);
	if (r->n_merge_bases > most)
		strbuf_addf(&names, " and %zu more", r->n_merge_bases - most);
	warn(r,
	     xasprintf("good %.12s is not an ancestor of bad %.12s: the merge base%s %s %s to be "
		       "measured first",
		       r->good, r->bad, r->n_merge_bases > 1 ? "s" : "", strbuf_str(&names),
		       r->n_merge_bases > 1 ? "have" : "has"));
}

static int read_merge_bases(git_repository *repo, const git_oid *good, const git_oid *bad,
			    struct range *ret, struct err *e)
{
	git_oidarray bases = { 0 };
	int r = git_merge_bases(&bases, repo, good, bad);

	if (r == GIT_ENOTFOUND) {
		warn(ret,
		     xasprintf("good %.12s and bad %.12s have no common ancestor: no commit is "
			       "known to be good, so nothing can be bisected between them",
			       ret->good, ret->bad));
		return 0;
	}
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot find the merge base: %s", git_why());
	ret->merge_bases = xcalloc(bases.count, sizeof(*ret->merge_bases));
	for (size_t i = 0; i < bases.count; i++)
		(void)git_oid_tostr(ret->merge_bases[ret->n_merge_bases++], 41, &bases.ids[i]);
	ret->good_is_ancestor = bases.count == 1 && git_oid_equal(&bases.ids[0], good);
	git_oidarray_dispose(&bases);
	if (!ret->good_is_ancestor)
		warn_fork(ret);
	return 0;
}

static void warn_replaced(git_repository *repo, struct range *ret)
{
	_cleanup_(git_reference_iterator_freep) git_reference_iterator *it = NULL;
	const char *name;

	if (git_reference_iterator_glob_new(&it, repo, "refs/replace/*") == 0 &&
	    git_reference_next_name(&name, it) == 0)
		warn(ret, xstrdup("refs/replace is not followed, the range is that of the real "
				  "commits"));
}

static int check_empty(const struct range *ret, const struct range_options *opt, const char *good,
		       const char *bad, struct err *e)
{
	if (strcmp(ret->good, ret->bad) == 0)
		return err_set(e, ERR_RANGE, "good '%s' and bad '%s' are the same commit %.12s",
			       good, bad, ret->good);
	if (ret->n_merge_bases == 1 && strcmp(ret->merge_bases[0], ret->bad) == 0)
		return err_set(e, ERR_RANGE,
			       "bad '%s' is an ancestor of good '%s', are they swapped", bad, good);
	if (ret->commits == 0)
		return err_set(e, ERR_RANGE, "no commit between '%s' and '%s'%s", good, bad,
			       opt->n_paths > 0 ? " changes the given paths" : "");
	return 0;
}

/* git would read "./mm" as "mm", and "." as everything; a tree has no such entries. */
static bool is_plain_path(const char *p)
{
	size_t n;

	if (p[0] == '\0' || strpbrk(p, "*?[:"))
		return false;
	for (; *p != '\0'; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
	}
	return true;
}

static int check_paths(const struct range_options *opt, struct err *e)
{
	for (size_t i = 0; i < opt->n_paths; i++)
		if (!is_plain_path(opt->paths[i]))
			return err_set(e, ERR_INVAL,
				       "path '%.64s' is not a file or folder below the top, "
				       "like 'mm/memory.c'",
				       opt->paths[i]);
	return 0;
}

static int read_commits(struct walk *w, const git_oid *bad, struct range *ret, struct err *e)
{
	int r = walk_collect(w, bad, e);

	if (r == 0)
		r = drop_reached(w, e);
	if (r < 0 || w->items.len == 0)
		return r;
	r = walk_load(w, e);
	if (r < 0)
		return r;
	if (w->opt->n_paths > 0)
		keep_reachable(w);
	count(w, ret);
	if (ret->commits == 0)
		return 0;
	ret->expected_steps = (int)ceil(log2((double)ret->commits) - 1e-9);
	if (ret->commits >= BISECT_MAX_COMMITS) {
		warn(ret, xasprintf("%zu commits are too many to bisect at once, at most %d: "
				    "bisect along first parents before",
				    ret->commits, BISECT_MAX_COMMITS));
		find_midpoint(w, ret);
		return 0;
	}
	if (ret->commits > RANGE_LONG)
		warn(ret,
		     xasprintf(
			     "%zu commits: of more than %d it is not looked at which change nothing "
			     "but comments, and the time that is left is not forecast",
			     ret->commits, RANGE_LONG));
	r = build_graph(w, ret, e);
	/* The graph holds the bad end, what is counted may not. */
	if (r == 0 && !w->items.items[w->items.len - 1].counted)
		find_midpoint(w, ret);
	return r;
}

int range_read(git_repository *repo, const char *good, const char *bad,
	       const struct range_options *opt, struct range *ret, struct err *e)
{
	static const struct range_options everything = { 0 };
	_cleanup_(range_done) struct range range = { 0 };
	_cleanup_(walk_done) struct walk w = { .repo = repo, .opt = opt ? opt : &everything };
	git_oid bad_oid;
	int r;

	r = check_paths(w.opt, e);
	if (r == 0)
		r = check_history(repo, e);
	if (r == 0)
		r = resolve(repo, good, &w.good, e);
	if (r == 0)
		r = resolve(repo, bad, &bad_oid, e);
	if (r < 0)
		return r;
	(void)git_oid_tostr(range.good, sizeof(range.good), &w.good);
	(void)git_oid_tostr(range.bad, sizeof(range.bad), &bad_oid);
	r = read_merge_bases(repo, &w.good, &bad_oid, &range, e);
	if (r == 0)
		r = read_commits(&w, &bad_oid, &range, e);
	if (r == 0)
		r = check_empty(&range, w.opt, good, bad, e);
	if (r < 0)
		return r;
	warn_replaced(repo, &range);
	*ret = range;
	range = (struct range){ 0 };
	return 0;
}
