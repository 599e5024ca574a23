/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "bot/watch/lsremote.h"
#include "bot/watch/mirror.h"
#include "bot/watch/mirror_priv.h"
#include "bot/watch/remote.h"

#include <string.h>

#define NS	  "refs/kperfbot/tree/"
#define CONNECT_S 30
#define IDLE_S	  120
#define TOTAL_S	  7200
#define UPKEEP_S  3600

static void ref_hash(struct mirror *m, const char *name, char ret[41])
{
	git_oid oid;

	ret[0] = '\0';
	if (git_reference_name_to_id(&oid, m->repo, name) == 0)
		(void)git_oid_tostr(ret, 41, &oid);
}

static int ref_delete(struct mirror *m, const char *name, struct err *e)
{
	int r = git_reference_remove(m->repo, name);

	if (r < 0 && r != GIT_ENOTFOUND)
		return err_set(e, ERR_GIT, "could not remove '%s': %s", name, git_why());
	return 0;
}

/* A tip that is about to go; 1 if it was not kept before. */
static int keep_tip(struct mirror *m, const char *hash, struct err *e)
{
	_cleanup_(freep) char *name = xasprintf("refs/kperfbot/keep/%s", hash);
	_cleanup_(git_reference_freep) git_reference *ref = NULL;
	git_oid oid;
	int r = mirror_oid(hash, &oid, e);

	if (r < 0)
		return r;
	r = git_reference_create(&ref, m->repo, name, &oid, 0, NULL);
	if (r < 0 && r != GIT_EEXISTS)
		return err_set(e, ERR_GIT, "could not keep %s: %s", hash, git_why());
	return r == 0;
}

/* A head that moved; @kept is the keep ref that only a forced move needs. */
struct move {
	const char *branch;
	char old_hash[41];
	bool kept;
};

struct plan {
	const struct mirror_tree *t;
	struct lsremote remote;
	struct mirror_head *local;
	size_t n_local;
	struct strbuf specs;
	VEC(struct move) moves;
};

static const struct lsremote_ref *remote_find(const struct plan *p, bool is_tag, const char *name)
{
	for (size_t i = 0; i < p->remote.n; i++)
		if (p->remote.refs[i].is_tag == is_tag && strcmp(p->remote.refs[i].name, name) == 0)
			return &p->remote.refs[i];
	return NULL;
}

static const struct mirror_head *local_find(const struct plan *p, const char *branch)
{
	for (size_t i = 0; i < p->n_local; i++)
		if (strcmp(p->local[i].branch, branch) == 0)
			return &p->local[i];
	return NULL;
}

/* Drops first, so that a branch "a" makes room for a branch "a/b". */
static int plan_drops(struct mirror *m, struct plan *p, struct mirror_fetched *f, struct err *e)
{
	for (size_t i = 0; i < p->n_local; i++) {
		_cleanup_(freep) char *name = NULL;
		const char *branch = p->local[i].branch;
		int r;

		if (remote_find(p, false, branch) && remote_patterns_match(p->t->branches, branch))
			continue;
		name = xasprintf(NS "%s/heads/%s", p->t->name, branch);
		r = keep_tip(m, p->local[i].hash, e);
		if (r >= 0)
			r = ref_delete(m, name, e);
		if (r < 0)
			return r;
		f->changed = true;
	}
	return 0;
}

static int plan_heads(struct mirror *m, struct plan *p, struct mirror_fetched *f, struct err *e)
{
	for (size_t i = 0; i < p->remote.n; i++) {
		const struct lsremote_ref *ref = &p->remote.refs[i];
		const struct mirror_head *local;
		struct move move = { .branch = ref->name };

		if (ref->is_tag || !remote_patterns_match(p->t->branches, ref->name))
			continue;
		f->matched++;
		local = local_find(p, ref->name);
		if (local && strcmp(local->hash, ref->hash) == 0)
			continue;
		if (local) {
			int r = keep_tip(m, local->hash, e);

			if (r < 0)
				return r;
			move.kept = r > 0;
			memcpy(move.old_hash, local->hash, sizeof(move.old_hash));
		}
		vec_push(&p->moves, move);
		strbuf_addf(&p->specs, "+refs/heads/%s:" NS "%s/heads/%s\n", ref->name, p->t->name,
			    ref->name);
	}
	return 0;
}

/* The tips came? Those whose old one is an ancestor need no keep ref. */
static int check_moves(struct mirror *m, struct plan *p, struct err *e)
{
	vec_foreach (move, &p->moves) {
		_cleanup_(freep) char *name = xasprintf(NS "%s/heads/%s", p->t->name, move->branch);
		char now[41];
		int r;

		ref_hash(m, name, now);
		if (!now[0])
			return err_set(
				e, ERR_UNSUPPORTED,
				"git did not store branch '%s': is the remote shallow? that is not supported",
				move->branch);
		if (!move->kept)
			continue;
		r = mirror_is_ancestor(m, move->old_hash, now, e);
		if (r == 1) {
			_cleanup_(freep) char *keep =
				xasprintf("refs/kperfbot/keep/%s", move->old_hash);

			r = ref_delete(m, keep, e);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Tags of the remote that point into history that we have, and no others. */
static int fetch_tags(struct mirror *m, struct plan *p, struct err *e)
{
	_cleanup_(git_odb_freep) git_odb *odb = NULL;

	if (git_repository_odb(&odb, m->repo) < 0)
		return err_set(e, ERR_GIT, "could not read the mirror: %s", git_why());
	strbuf_reset(&p->specs);
	for (size_t i = 0; i < p->remote.n; i++) {
		const struct lsremote_ref *ref = &p->remote.refs[i];
		_cleanup_(freep) char *name = NULL;
		char have[41];
		git_oid oid;

		if (!ref->is_tag || git_oid_fromstr(&oid, ref->peeled) < 0 ||
		    !git_odb_exists_ext(odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH))
			continue;
		name = xasprintf(NS "%s/tags/%s", p->t->name, ref->name);
		ref_hash(m, name, have);
		if (strcmp(have, ref->hash) != 0)
			strbuf_addf(&p->specs, "+refs/tags/%s:%s\n", ref->name, name);
	}
	return p->specs.len ? mirror_git_transfer(m, p->t, &p->specs, e) : 0;
}

static int tag_name_cmp(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int drop_tags(struct mirror *m, struct plan *p, struct err *e)
{
	_cleanup_(freep) char *glob = xasprintf(NS "%s/tags/*", p->t->name);
	_cleanup_(git_reference_iterator_freep) git_reference_iterator *it = NULL;
	VEC(const char *) remote = { 0 };
	VEC(char *) drop = { 0 };
	const char *name;
	int r = 0;

	for (size_t i = 0; i < p->remote.n; i++)
		if (p->remote.refs[i].is_tag)
			vec_push(&remote, p->remote.refs[i].name);
	if (remote.len)
		qsort((void *)remote.items, remote.len, sizeof(char *), name_cmp);
	if (git_reference_iterator_glob_new(&it, m->repo, glob) < 0)
		r = err_set(e, ERR_GIT, "could not list tags: %s", git_why());
	while (r == 0 && git_reference_next_name(&name, it) == 0)
		if (!remote.len || !bsearch(name + strlen(glob) - 1, (const void *)remote.items,
					    remote.len, sizeof(char *), tag_name_cmp))
			vec_push(&drop, xstrdup(name));
	vec_foreach (d, &drop) {
		if (r == 0)
			r = ref_delete(m, *d, e);
		free(*d);
	}
	vec_done(&drop);
	vec_done(&remote);
	return r;
}

/* Its failure costs speed, not truth: a note. */
static void upkeep(struct mirror *m, struct mirror_fetched *f)
{
	static const char *const gc[] = { "git", "gc", "--auto", "--quiet", NULL };
	static const char *const graph[] = { "git",	    "commit-graph",  "write",
					     "--reachable", "--no-progress", NULL };
	struct child_result res;
	struct err e = { 0 };

	if (mirror_git_run(m, NULL, gc, -1, 0, UPKEEP_S, &res, &e) == 0)
		child_result_done(&res);
	if (mirror_git_run(m, NULL, graph, -1, 0, UPKEEP_S, &res, &e) == 0)
		child_result_done(&res);
	if (e.code)
		f->note = xstrdup(e.msg);
}

static void find_missing(const struct plan *p, struct mirror_fetched *f)
{
	struct strbuf b = STRBUF_INIT;

	for (const char *const *pat = p->t->branches; pat && *pat; pat++)
		if (!strchr(*pat, '*') && !remote_find(p, false, *pat))
			strbuf_addf(&b, "%s%s", b.len ? ", " : "", *pat);
	if (b.len)
		f->missing = strbuf_take(&b);
	strbuf_done(&b);
}

static int fetch_steps(struct mirror *m, struct plan *p, struct mirror_fetched *f, struct err *e)
{
	int r;

	r = mirror_git_list(m, p->t, &p->remote, e);
	if (r == 0)
		r = mirror_heads(m, p->t->name, NULL, &p->local, &p->n_local, e);
	if (r == 0)
		r = plan_drops(m, p, f, e);
	if (r == 0)
		r = plan_heads(m, p, f, e);
	if (r == 0)
		r = drop_tags(m, p, e);
	if (r == 0 && p->specs.len) {
		f->changed = true;
		r = mirror_git_transfer(m, p->t, &p->specs, e);
		if (r == 0)
			r = check_moves(m, p, e);
	}
	if (r == 0)
		r = fetch_tags(m, p, e);
	if (r == 0)
		find_missing(p, f);
	return r;
}

static int check_tree(const struct mirror_tree *t, struct err *e)
{
	int r = remote_tree_check(t->name, e);

	if (r == 0)
		r = remote_url_check(t->url, t->allow_file, e);
	for (const char *const *b = t->branches; r == 0 && b && *b; b++)
		r = remote_pattern_check(*b, e);
	return r;
}

static void plan_done(struct plan *p)
{
	lsremote_done(&p->remote);
	mirror_heads_free(p->local, p->n_local);
	strbuf_done(&p->specs);
	vec_done(&p->moves);
	*p = (struct plan){ .t = p->t };
}

int mirror_fetch(struct mirror *m, const struct mirror_tree *tree, struct mirror_fetched *ret,
		 struct err *e)
{
	struct mirror_tree t = *tree;
	struct plan p = { .t = &t };
	struct mirror_fetched f = { 0 };
	_cleanup_(closep) int lock = -1;
	int r;

	t.connect_s = t.connect_s > 0 ? t.connect_s : CONNECT_S;
	t.idle_s = t.idle_s > 0 ? t.idle_s : IDLE_S;
	t.total_s = t.total_s > 0 ? t.total_s : TOTAL_S;
	r = check_tree(&t, e);
	if (r == 0)
		r = mirror_locks_share(m, &lock, e);
	if (r == 0) {
		mirror_packs_sweep(m, lock);
		r = fetch_steps(m, &p, &f, e);
	}
	if (r < 0 && lock >= 0 && mirror_locks_sweep(m, lock)) {
		plan_done(&p);
		r = fetch_steps(m, &p, &f, e);
	}
	if (r == 0 && f.changed)
		upkeep(m, &f);
	/* For the next time. */
	if (f.note)
		(void)mirror_locks_sweep(m, lock);
	plan_done(&p);
	if (r == 0 && ret)
		*ret = f;
	else
		mirror_fetched_done(&f);
	return r < 0 ? r : 0;
}

void mirror_fetched_done(struct mirror_fetched *f)
{
	free(f->missing);
	free(f->note);
	*f = (struct mirror_fetched){ 0 };
}
