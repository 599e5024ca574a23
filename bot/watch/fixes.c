/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/fixes.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/mail/trailers.h"
#include "bot/watch/fixes_titles.h"

#include <string.h>

DEFINE_CLEANUP(git_object *, git_object_free);
DEFINE_CLEANUP(git_odb *, git_odb_free);

static const struct {
	const char *name, *text;
} ends[] = {
	[FIXES_FOUND] = { "found", "names a commit" },
	[FIXES_NO_ID] = { "no-id", "no id of 8 to 40 digits" },
	[FIXES_REVERT] = { "revert", "stands in a revert, and speaks of what that takes back" },
	[FIXES_MERGE] = { "merge", "names a merge, not what is wrong in it" },
	[FIXES_AMBIGUOUS] = { "ambiguous", "several commits begin with this id" },
	[FIXES_UNKNOWN] = { "unknown", "no commit of this id or title" },
	[FIXES_TITLES] = { "titles", "no commit of this id, several of this title" },
	[FIXES_TOO_LONG] = { "too-long", "no commit of this id; history too long for titles" },
};

const char *fixes_end_name(enum fixes_end end)
{
	return ends[end].name;
}

const char *fixes_end_text(enum fixes_end end)
{
	return ends[end].text;
}

int fixes_tip(git_repository *repo, const char *rev, char ret[41], struct err *e)
{
	_cleanup_(git_object_freep) git_object *object = NULL;
	_cleanup_(git_object_freep) git_object *commit = NULL;
	int r;

	if (rev[0] == '\0' || rev[0] == '-' || strstr(rev, "..") || strlen(rev) > 1024)
		return err_set(e, ERR_INVAL, "'%.64s' is not the name of one commit", rev);
	r = git_revparse_single(&object, repo, rev);
	if (r == GIT_EAMBIGUOUS)
		return err_set(e, ERR_AMBIGUOUS, "short id '%s' is ambiguous, give more digits",
			       rev);
	if (r == GIT_EINVALIDSPEC)
		return err_set(e, ERR_INVAL, "'%s' is not the name of one commit", rev);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no commit, branch or tag '%s'", rev);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot resolve '%s': %s", rev, fixes_why());
	if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
		return err_set(e, ERR_INVAL, "'%s' is not a commit but a %s", rev,
			       git_object_type2string(git_object_type(object)));
	(void)git_oid_tostr(ret, 41, git_object_id(commit));
	return 0;
}

/* What holds for all tags of one call. */
struct resolver {
	git_repository *repo;
	git_odb *odb;
	git_oid tip;
};

static int set_found(const struct resolver *x, const git_oid *oid, bool by_title,
		     struct fixes_named *ret, struct err *e)
{
	struct fixes_raw raw = { 0 };
	int r = fixes_raw_read(x->odb, oid, &raw, e);

	if (r < 0)
		return r;
	ret->end = raw.parents > 1 ? FIXES_MERGE : FIXES_FOUND;
	ret->by_title = by_title && ret->end == FIXES_FOUND;
	if (ret->end == FIXES_FOUND)
		(void)git_oid_tostr(ret->hash, sizeof(ret->hash), oid);
	fixes_raw_done(&raw);
	return 0;
}

/* By the id alone. Return: 1 it is that of *ret_oid, which may be in another history; 0; an error. */
static int by_id(const struct resolver *x, const struct trailer_fix *fix, git_oid *ret_oid,
		 struct fixes_named *ret, struct err *e)
{
	int r;

	*ret = (struct fixes_named){ .end = !fix->id	 ? FIXES_NO_ID
					    : fix->merge ? FIXES_MERGE
					    : !fix->ok	 ? FIXES_REVERT
							 : FIXES_UNKNOWN };
	if (ret->end != FIXES_UNKNOWN)
		return 0;
	r = fixes_id(x->repo, x->odb, fix->id, ret_oid, e);
	if (r > 1)
		ret->end = FIXES_AMBIGUOUS;
	return r > 1 ? 0 : r;
}

/* FIXES_TITLES says that the title has to be looked for. */
static int by_ids(const struct resolver *x, const struct trailer_fix *fixes, size_t n,
		  struct fixes_named *ret, struct err *e)
{
	_cleanup_(freep) git_oid *oids = xcalloc(n + 1, sizeof(*oids));
	_cleanup_(freep) size_t *of = xcalloc(n + 1, sizeof(*of));
	_cleanup_(freep) bool *in = xcalloc(n + 1, sizeof(*in));
	size_t n_oids = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = by_id(x, &fixes[i], &oids[n_oids], &ret[i], e);
		if (r == 1)
			of[n_oids++] = i;
	}
	if (r >= 0)
		r = fixes_in_history_all(x->repo, &x->tip, oids, n_oids, in, e);
	for (size_t k = 0; r >= 0 && k < n_oids; k++)
		if (in[k])
			r = set_found(x, &oids[k], false, &ret[of[k]], e);
	for (size_t i = 0; r >= 0 && i < n; i++)
		if (ret[i].end == FIXES_UNKNOWN && fixes[i].title)
			ret[i].end = FIXES_TITLES;
	return r < 0 ? r : 0;
}

static int by_title(const struct resolver *x, const struct trailer_fix *fix,
		    const struct fixes_wanteds *w, bool whole, struct fixes_named *ret,
		    struct err *e)
{
	const struct fixes_wanted *hit = fixes_counted(w, fix->title);
	unsigned n = hit ? hit->n : 0;

	if (n > 1)
		return 0;
	ret->end = whole ? FIXES_UNKNOWN : FIXES_TOO_LONG;
	if (n == 1 && whole)
		return set_found(x, &hit->oid, true, ret, e);
	return 0;
}

static int resolve_all(const struct resolver *x, const struct trailer_fix *fixes, size_t n,
		       struct fixes_named *ret, struct fixes_wanteds *w, struct err *e)
{
	bool whole = true;
	int r = by_ids(x, fixes, n, ret, e);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct fixes_wanted wanted = { .title = fixes[i].title };

		if (r == 0 && ret[i].end == FIXES_TITLES)
			vec_push(&w->v, wanted);
	}
	if (r == 0)
		r = fixes_count(x->repo, &x->tip, w, &whole, e);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (ret[i].end == FIXES_TITLES)
			r = by_title(x, &fixes[i], w, whole, &ret[i], e);
	return r;
}

int fixes_resolve(git_repository *repo, const char *tip, const struct trailer_fix *fixes, size_t n,
		  struct fixes_named *ret, struct err *e)
{
	_cleanup_(git_odb_freep) git_odb *odb = NULL;
	_cleanup_(freep) struct fixes_named *all = xcalloc(n + 1, sizeof(*all));
	struct resolver x = { .repo = repo };
	struct fixes_wanteds w = { 0 };
	int r;

	if (strlen(tip) != 40 || git_oid_fromstr(&x.tip, tip) < 0)
		return err_set(e, ERR_INVAL, "'%.64s' is not a full commit id", tip);
	if (git_repository_odb(&odb, repo) < 0)
		return err_set(e, ERR_GIT, "cannot read the repository: %s", fixes_why());
	if (!git_odb_exists(odb, &x.tip))
		return err_set(e, ERR_NOENT, "no commit %s", tip);
	x.odb = odb;
	r = resolve_all(&x, fixes, n, all, &w, e);
	vec_done(&w.v);
	if (r == 0 && n)
		memcpy(ret, all, n * sizeof(*all));
	return r;
}

static int title_of(git_odb *odb, const char *hash, char **ret, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf title = STRBUF_INIT;
	struct fixes_raw raw;
	git_oid oid;
	int r;

	if (strlen(hash) != 40 || git_oid_fromstr(&oid, hash) < 0)
		return err_set(e, ERR_INVAL, "'%.64s' is not a full commit id", hash);
	r = fixes_raw_read(odb, &oid, &raw, e);
	if (r <= 0)
		return r;
	fixes_title(raw.msg, raw.len, &title);
	*ret = strbuf_take(&title);
	fixes_raw_done(&raw);
	return 0;
}

/* A commit that left the history is looked for as a tag is that names it. */
int fixes_here(git_repository *repo, const char *tip, const char *const *commits, size_t n,
	       char (*ret)[41], struct err *e)
{
	_cleanup_(git_odb_freep) git_odb *odb = NULL;
	_cleanup_(freep) struct trailer_fix *fixes = xcalloc(n + 1, sizeof(*fixes));
	_cleanup_(freep) struct fixes_named *named = xcalloc(n + 1, sizeof(*named));
	int r = 0;

	if (git_repository_odb(&odb, repo) < 0)
		return err_set(e, ERR_GIT, "cannot read the repository: %s", fixes_why());
	for (size_t i = 0; r == 0 && i < n; i++) {
		fixes[i].id = xstrdup(commits[i]);
		fixes[i].ok = true;
		r = title_of(odb, commits[i], &fixes[i].title, e);
	}
	if (r == 0)
		r = fixes_resolve(repo, tip, fixes, n, named, e);
	for (size_t i = 0; i < n; i++) {
		free(fixes[i].id);
		free(fixes[i].title);
		if (r == 0)
			memcpy(ret[i], named[i].hash, sizeof(ret[i]));
	}
	return r;
}
