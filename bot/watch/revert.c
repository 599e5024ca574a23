/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/revert.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"
#include "bot/base/visible.h"
#include "bot/watch/mirror.h"
#include "bot/watch/mirror_priv.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_tree *, git_tree_free);
DEFINE_CLEANUP(git_index *, git_index_free);
DEFINE_CLEANUP(git_signature *, git_signature_free);
DEFINE_CLEANUP(git_index_conflict_iterator *, git_index_conflict_iterator_free);

#define SHOWN_MAX 200

/* What git itself refuses beyond: the end of the year 2099. */
#define TIME_MAX INT64_C(4102444800)

void revert_done(struct revert *r)
{
	for (size_t i = 0; i < r->n_paths; i++)
		free(r->paths[i]);
	free(r->paths);
	*r = (struct revert){ 0 };
}

const char *revert_end_name(enum revert_end end)
{
	static const char *const names[] = { "done", "conflicts", "empty", "not-in", "root" };

	return names[end];
}

static int look_up(struct mirror *m, const char *hash, git_commit **ret, struct err *e)
{
	git_oid oid;
	int r = mirror_oid(hash, &oid, e);

	if (r < 0)
		return r;
	r = git_commit_lookup(ret, m->repo, &oid);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no commit %s in the mirror", hash);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot read commit %s: %s", hash, git_why());
	return 0;
}

/* Text from a commit as it can stand in another one. */
static char *shown(const char *text)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(freep) char *clean = utf8_clean(text, strlen(text), SHOWN_MAX);

	visible_add(&b, clean, strlen(clean));
	return strbuf_take(&b);
}

static int read_conflicts(git_index *index, struct revert *ret, struct err *e)
{
	_cleanup_(git_index_conflict_iterator_freep) git_index_conflict_iterator *it = NULL;
	const git_index_entry *base;
	const git_index_entry *ours;
	const git_index_entry *theirs;
	int r;

	if (git_index_conflict_iterator_new(&it, index) < 0)
		return err_set(e, ERR_GIT, "cannot list conflicts: %s", git_why());
	while ((r = git_index_conflict_next(&base, &ours, &theirs, it)) == 0) {
		const git_index_entry *any = ours ? ours : base ? base : theirs;

		if (ret->n_conflicts++ >= REVERT_PATHS_MAX || !any)
			continue;
		ret->paths = xreallocarray(ret->paths, ret->n_paths + 1, sizeof(*ret->paths));
		ret->paths[ret->n_paths++] = shown(any->path);
	}
	return r == GIT_ITEROVER ? 0 : err_set(e, ERR_GIT, "cannot list conflicts: %s", git_why());
}

/* Later than both, whatever their clocks said, and the same each time. */
static int64_t time_of(const git_commit *culprit, const git_commit *onto)
{
	int64_t a = git_commit_time(culprit);
	int64_t b = git_commit_time(onto);
	int64_t t = a > b ? a : b;

	return t < 0 ? 0 : t > TIME_MAX ? TIME_MAX : t;
}

/* The ref comes with the object, so that no clean-up ever takes it for lost. */
static int write_commit(struct mirror *m, git_commit *culprit, git_commit *onto, git_tree *tree,
			const char *host, git_oid *ret, struct err *e)
{
	_cleanup_(freep) char *mail = xasprintf("kperfbot@%s", host);
	_cleanup_(freep) char *subject =
		shown(git_commit_summary(culprit) ? git_commit_summary(culprit) : "");
	_cleanup_(git_signature_freep) git_signature *sig = NULL;
	_cleanup_(git_reference_freep) git_reference *ref = NULL;
	_cleanup_(freep) char *message = NULL;
	_cleanup_(freep) char *name = NULL;
	const git_commit *parents[] = { onto };
	char from[41];
	char to[41];

	(void)git_oid_tostr(from, sizeof(from), git_commit_id(culprit));
	(void)git_oid_tostr(to, sizeof(to), git_commit_id(onto));
	name = xasprintf("refs/kperfbot/revert/%s-%s", from, to);
	message = xasprintf("Revert \"%s\"\n\nThis takes back commit %s\non top of %s\n"
			    "to measure it.\n",
			    subject, from, to);
	if (git_signature_new(&sig, "kperfbot", mail, time_of(culprit, onto), 0) < 0)
		return err_set(e, ERR_INVAL, "'%s' is not a mail address: %s", mail, git_why());
	if (git_commit_create(ret, m->repo, NULL, sig, sig, NULL, message, tree, 1, parents) < 0)
		return err_set(e, ERR_GIT, "could not store a revert: %s", git_why());
	if (git_reference_create(&ref, m->repo, name, ret, 1, NULL) < 0)
		return err_set(e, ERR_GIT, "could not store '%s': %s", name, git_why());
	return 0;
}

static int make(struct mirror *m, git_commit *culprit, git_commit *onto, const char *host,
		struct revert *ret, struct err *e)
{
	_cleanup_(git_index_freep) git_index *index = NULL;
	_cleanup_(git_tree_freep) git_tree *tree = NULL;
	git_merge_options opt;
	git_oid oid;
	int r;

	(void)git_merge_options_init(&opt, GIT_MERGE_OPTIONS_VERSION);
	r = git_revert_commit(&index, m->repo, culprit, onto,
			      git_commit_parentcount(culprit) > 1 ? 1 : 0, &opt);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot revert %.12s: %s",
			       git_oid_tostr_s(git_commit_id(culprit)), git_why());
	if (git_index_has_conflicts(index)) {
		ret->end = REVERT_CONFLICTS;
		return read_conflicts(index, ret, e);
	}
	if (git_index_write_tree_to(&oid, index, m->repo) < 0)
		return err_set(e, ERR_GIT, "could not store a tree: %s", git_why());
	if (git_oid_equal(&oid, git_commit_tree_id(onto))) {
		ret->end = REVERT_EMPTY;
		return 0;
	}
	if (git_tree_lookup(&tree, m->repo, &oid) < 0)
		return err_set(e, ERR_GIT, "cannot read a tree: %s", git_why());
	r = write_commit(m, culprit, onto, tree, host, &oid, e);
	if (r == 0)
		(void)git_oid_tostr(ret->hash, sizeof(ret->hash), &oid);
	return r;
}

int mirror_revert(struct mirror *m, const char *culprit, const char *onto, const char *host,
		  struct revert *ret, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *c = NULL;
	_cleanup_(git_commit_freep) git_commit *o = NULL;
	struct revert made = { .end = REVERT_DONE };
	int r;

	r = look_up(m, culprit, &c, e);
	if (r == 0)
		r = look_up(m, onto, &o, e);
	if (r == 0)
		r = mirror_is_ancestor(m, culprit, onto, e);
	if (r < 0)
		return r;
	if (r == 0)
		made.end = REVERT_NOT_IN;
	else if (git_commit_parentcount(c) == 0)
		made.end = REVERT_ROOT;
	r = made.end == REVERT_DONE ? make(m, c, o, host, &made, e) : 0;
	if (r < 0)
		revert_done(&made);
	else
		*ret = made;
	return r;
}
