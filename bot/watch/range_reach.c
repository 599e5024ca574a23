/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/range_reach.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_commit *, git_commit_free);

struct seen {
	git_oid oid;
	int64_t date; /* no lower than that of a parent */
};

struct reach {
	git_repository *repo;
	VEC(struct seen) all; /* every commit met */
	VEC(size_t) heap;     /* of those that wait, the latest first */
	int *by_oid;	      /* open addressing, index in all + 1 */
	size_t table;
};

static void reach_done(struct reach *w)
{
	vec_done(&w->all);
	vec_done(&w->heap);
	free(w->by_oid);
}

static int *slot(const struct reach *w, const git_oid *oid)
{
	size_t at;

	memcpy(&at, oid->id, sizeof(at));
	for (at &= w->table - 1; w->by_oid[at]; at = (at + 1) & (w->table - 1))
		if (git_oid_equal(&w->all.items[w->by_oid[at] - 1].oid, oid))
			break;
	return &w->by_oid[at];
}

static void grow(struct reach *w)
{
	free(w->by_oid);
	w->table = w->table ? 2 * w->table : 4096;
	w->by_oid = xcalloc(w->table, sizeof(*w->by_oid));
	for (size_t i = 0; i < w->all.len; i++)
		*slot(w, &w->all.items[i].oid) = (int)i + 1;
}

static int64_t date_of(const struct reach *w, size_t place)
{
	return w->all.items[w->heap.items[place]].date;
}

static void swap(struct reach *w, size_t a, size_t b)
{
	size_t t = w->heap.items[a];

	w->heap.items[a] = w->heap.items[b];
	w->heap.items[b] = t;
}

static void heap_push(struct reach *w, size_t seen)
{
	size_t at = w->heap.len;

	vec_push(&w->heap, seen);
	for (; at > 0 && date_of(w, (at - 1) / 2) < date_of(w, at); at = (at - 1) / 2)
		swap(w, at, (at - 1) / 2);
}

static size_t heap_pop(struct reach *w)
{
	size_t top = w->heap.items[0];
	size_t at = 0;

	w->heap.items[0] = w->heap.items[--w->heap.len];
	while (2 * at + 1 < w->heap.len) {
		size_t kid = 2 * at + 1;

		if (kid + 1 < w->heap.len && date_of(w, kid) < date_of(w, kid + 1))
			kid++;
		if (date_of(w, at) >= date_of(w, kid))
			break;
		swap(w, at, kid);
		at = kid;
	}
	return top;
}

static int read_commit(const struct reach *w, const git_oid *oid, git_commit **ret, struct err *e)
{
	if (git_commit_lookup(ret, w->repo, oid) < 0)
		return err_set(e, ERR_GIT, "cannot read a commit: %s",
			       git_error_last() ? git_error_last()->message : "no reason given");
	return 0;
}

static int meet(struct reach *w, const git_oid *oid, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *commit = NULL;
	struct seen seen = { .oid = *oid };
	int r;

	if (w->all.len * 2 >= w->table)
		grow(w);
	if (*slot(w, oid))
		return 0;
	r = read_commit(w, oid, &commit, e);
	if (r < 0)
		return r;
	seen.date = git_commit_time(commit);
	for (unsigned i = 0; i < git_commit_parentcount(commit); i++) {
		_cleanup_(git_commit_freep) git_commit *parent = NULL;

		r = read_commit(w, git_commit_parent_id(commit, i), &parent, e);
		if (r < 0)
			return r;
		if (git_commit_time(parent) > seen.date)
			seen.date = git_commit_time(parent);
	}
	vec_push(&w->all, seen);
	*slot(w, oid) = (int)w->all.len;
	heap_push(w, w->all.len - 1);
	return 0;
}

static int meet_parents(struct reach *w, size_t seen, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *commit = NULL;
	int r = read_commit(w, &w->all.items[seen].oid, &commit, e);

	for (unsigned i = 0; r == 0 && i < git_commit_parentcount(commit); i++)
		r = meet(w, git_commit_parent_id(commit, i), e);
	return r;
}

int range_reach(git_repository *repo, const git_oid *good, int64_t oldest, size_t many,
		const struct range_member *member, struct err *e)
{
	_cleanup_(reach_done) struct reach w = { .repo = repo };
	size_t below = 0;
	int r = meet(&w, good, e);

	for (size_t n = 0; r == 0 && w.heap.len > 0 && n < RANGE_REACH_MOST + many; n++) {
		size_t at = heap_pop(&w);
		int found = member->find(member->ctx, &w.all.items[at].oid);

		if (found >= 0)
			member->mark(member->ctx, found);
		below = found >= 0 || w.all.items[at].date >= oldest ? 0 : below + 1;
		if (below > RANGE_REACH_SLOP)
			break;
		r = meet_parents(&w, at, e);
	}
	return r;
}
