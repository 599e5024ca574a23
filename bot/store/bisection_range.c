/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_range.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/store/bisection_ask.h"
#include "bot/watch/range.h"

#include <git2.h>
#include <stdarg.h>
#include <string.h>

DEFINE_CLEANUP(git_object *, git_object_free);
DEFINE_CLEANUP(git_reference *, git_reference_free);
DEFINE_CLEANUP(git_reference_iterator *, git_reference_iterator_free);

static const char *git_why(void)
{
	const git_error *ge = git_error_last();

	return ge && ge->message ? ge->message : "no reason given";
}

json_t *ask_problem(json_t *problems, const char *pointer, const char *code, const char *fmt, ...)
{
	_cleanup_(strbuf_done) struct strbuf detail = STRBUF_INIT;
	json_t *p = json_object();
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&detail, fmt, ap);
	va_end(ap);
	json_set_str(p, "pointer", pointer);
	json_set_str(p, "code", code);
	json_set_str(p, "detail", strbuf_str(&detail));
	if (json_array_append_new(problems, p) < 0)
		abort();
	return p;
}

static bool all_hex(const char *s)
{
	return strspn(s, "0123456789abcdef") == strlen(s);
}

/* What the tag or branch of the tree points to, tags followed; NULL when there is none. */
static git_object *by_ref(git_repository *repo, const char *tree, const char *kind,
			  const char *name)
{
	_cleanup_(git_reference_freep) git_reference *ref = NULL;
	_cleanup_(freep) char *full = xasprintf("refs/kperfbot/tree/%s/%s/%s", tree, kind, name);
	git_object *o = NULL;
	int valid = 0;

	if (git_reference_name_is_valid(&valid, full) < 0 || !valid)
		return NULL;
	if (git_reference_lookup(&ref, repo, full) < 0)
		return NULL;
	return git_reference_peel(&o, ref, GIT_OBJECT_ANY) < 0 ? NULL : o;
}

/* Return: 1 and @ret when it is a tag or branch, 0 when not, ERR_INVAL when a problem was added. */
static int resolve_ref(git_repository *repo, const char *tree, const char *name,
		       const char *pointer, git_object **ret, json_t *problems)
{
	_cleanup_(git_object_freep) git_object *tag = by_ref(repo, tree, "tags", name);
	_cleanup_(git_object_freep) git_object *head = by_ref(repo, tree, "heads", name);
	git_object *found = tag ? tag : head;

	if (!found)
		return 0;
	if (tag && head && !git_oid_equal(git_object_id(tag), git_object_id(head))) {
		_cleanup_(freep) char *hint = NULL;
		char branch[41];

		(void)git_oid_tostr(branch, sizeof(branch), git_object_id(head));
		hint = xasprintf("give the hash: the tag is %s, the branch %s",
				 git_oid_tostr_s(git_object_id(tag)), branch);
		json_set_str(ask_problem(problems, pointer, "ambiguous_commit",
					 "'%s' is a tag and a branch of tree '%s'", name, tree),
			     "hint", hint);
		return ERR_INVAL;
	}
	if (git_object_type(found) != GIT_OBJECT_COMMIT) {
		ask_problem(problems, pointer, "unknown_commit",
			    "tag '%s' of tree '%s' is not a commit but a %s", name, tree,
			    git_object_type2string(git_object_type(found)));
		return ERR_INVAL;
	}
	*ret = found;
	if (found == tag)
		tag = NULL;
	else
		head = NULL;
	return 1;
}

static int resolve_hash(git_repository *repo, const char *tree, const char *name,
			const char *pointer, git_object **ret, json_t *problems, struct err *e)
{
	size_t n = strlen(name);
	git_oid id;
	int r;

	if (n < 8 || n > 40 || !all_hex(name)) {
		json_t *p = ask_problem(problems, pointer, "unknown_commit",
					"'%s' is no tag or branch of tree '%s'", name, tree);

		json_set_str(p, "hint", "a hash has 8 to 40 lower-case hex digits");
		return ERR_INVAL;
	}
	if (git_oid_fromstrn(&id, name, n) < 0)
		return err_set(e, ERR_GIT, "could not read '%s': %s", name, git_why());
	r = git_object_lookup_prefix(ret, repo, &id, n, GIT_OBJECT_COMMIT);
	if (r == GIT_EAMBIGUOUS) {
		ask_problem(problems, pointer, "ambiguous_commit",
			    "'%s' fits more than one object; give more digits", name);
		return ERR_INVAL;
	}
	if (r < 0) {
		ask_problem(problems, pointer, "unknown_commit", "no commit '%s' in tree '%s'",
			    name, tree);
		return ERR_INVAL;
	}
	return 0;
}

int ends_resolve(git_repository *repo, const char *tree, const char *name, const char *pointer,
		 char ret[41], json_t *problems, struct err *e)
{
	_cleanup_(git_object_freep) git_object *o = NULL;
	size_t n = strlen(name);
	int r;

	if (n == 0 || n > 200) {
		ask_problem(problems, pointer, "unknown_commit",
			    "a hash, tag or branch of at most 200 characters is needed");
		return ERR_INVAL;
	}
	r = resolve_ref(repo, tree, name, pointer, &o, problems);
	if (r == 0)
		r = resolve_hash(repo, tree, name, pointer, &o, problems, e);
	if (r < 0)
		return r;
	git_oid_tostr(ret, 41, git_object_id(o));
	return 0;
}

/* Is @commit in the history of one of the refs that @glob names? */
static int held_by(git_repository *repo, const char *glob, const git_oid *commit, bool *ret,
		   struct err *e)
{
	_cleanup_(git_reference_iterator_freep) git_reference_iterator *it = NULL;
	_cleanup_(freep) git_oid *tips = NULL;
	git_reference *ref;
	size_t n = 0;
	int r;

	if (git_reference_iterator_glob_new(&it, repo, glob) < 0)
		return err_set(e, ERR_GIT, "cannot list '%s': %s", glob, git_why());
	while ((r = git_reference_next(&ref, it)) == 0) {
		_cleanup_(git_object_freep) git_object *o = NULL;

		if (git_reference_peel(&o, ref, GIT_OBJECT_COMMIT) == 0) {
			tips = xreallocarray(tips, n + 1, sizeof(*tips));
			git_oid_cpy(&tips[n++], git_object_id(o));
		}
		git_reference_free(ref);
	}
	r = n ? git_graph_reachable_from_any(repo, commit, tips, n) : 0;
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot walk the history: %s", git_why());
	*ret = r == 1;
	return 0;
}

int ends_check_tree(git_repository *repo, const char *tree, const char *bad, json_t *problems,
		    struct err *e)
{
	_cleanup_(freep) char *own = xasprintf("refs/kperfbot/tree/%s/*", tree);
	bool here, elsewhere = false;
	git_oid id;
	int r;

	if (git_oid_fromstr(&id, bad) < 0)
		return err_set(e, ERR_GIT, "could not read '%s': %s", bad, git_why());
	r = held_by(repo, own, &id, &here, e);
	/* What no branch holds any more was rebased away, and can still be built. */
	if (r == 0 && !here)
		r = held_by(repo, "refs/kperfbot/tree/*", &id, &elsewhere, e);
	if (r < 0 || !elsewhere)
		return r;
	ask_problem(problems, "/bad", "unknown_commit",
		    "commit %.12s is in another tree, not in tree '%s'", bad, tree);
	return ERR_INVAL;
}

json_t *ends_notes(const struct ends_facts *f)
{
	_cleanup_(freep) char *copy = xstrdup(f->notes);
	json_t *list = json_array();
	char *rest = NULL;

	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (json_array_append_new(list, json_string(line)) < 0)
			abort();
	return list;
}

json_t *ends_bases(const struct ends_facts *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->n_bases; i++)
		if (json_array_append_new(list, json_string(f->bases[i])) < 0)
			abort();
	return list;
}

/* The ends are the wrong way round, or of two histories. Return: 1 a problem was added, 0, ERR_GIT. */
static int check_order(git_repository *repo, const char *good, const char *bad, json_t *problems,
		       struct err *e)
{
	git_oid g, b, base;
	json_t *p;
	int r;

	if (git_oid_fromstr(&g, good) < 0 || git_oid_fromstr(&b, bad) < 0)
		return err_set(e, ERR_GIT, "could not read '%s': %s", good, git_why());
	if (git_oid_equal(&g, &b))
		return 0;
	r = git_merge_base(&base, repo, &g, &b);
	if (r < 0 && r != GIT_ENOTFOUND)
		return err_set(e, ERR_GIT, "cannot find the merge base: %s", git_why());
	if (r == 0 && !git_oid_equal(&base, &b))
		return 0;
	p = ask_problem(problems, "/good", "not_ancestor",
			r == 0 ? "%.12s is not an ancestor of %.12s but the other way round"
			       : "%.12s and %.12s have no common ancestor",
			good, bad);
	json_set_str(p, "hint",
		     r == 0 ? "swap good and bad"
			    : "no commit is known to be good; name a good commit of the history of "
			      "bad");
	return 1;
}

static int tell_facts(const struct range *range, struct ends_facts *ret, json_t *problems)
{
	size_t at = 0;

	if (range->graph.n == 0) {
		ask_problem(problems, "/good", "range_too_large", "%zu commits; at most %d can be",
			    range->commits, BISECT_MAX_COMMITS - 1);
		return ERR_INVAL;
	}
	*ret = (struct ends_facts){ .commits = (int64_t)range->commits,
				    .steps = range->expected_steps };
	for (size_t i = 0;
	     i < range->n_merge_bases && i < ENDS_BASES_MAX && !range->good_is_ancestor; i++)
		memcpy(ret->bases[ret->n_bases++], range->merge_bases[i], 41);
	for (size_t i = 0; i < range->n_warnings && at < sizeof(ret->notes); i++)
		at += (size_t)snprintf(ret->notes + at, sizeof(ret->notes) - at, "%s\n",
				       range->warnings[i]);
	return 0;
}

int ends_check(git_repository *repo, const char *good, const char *bad,
	       const struct bisection_ask *ask, struct ends_facts *ret, json_t *problems,
	       struct err *e)
{
	size_t n_paths = json_array_size(ask->paths);
	_cleanup_(freep) const char **paths = xcalloc(n_paths + 1, sizeof(*paths));
	struct range_options opt = { .paths = paths,
				     .n_paths = n_paths,
				     .first_parent = ask->first_parent };
	_cleanup_(range_done) struct range range = { 0 };
	struct err why = { 0 };
	int r;

	for (size_t i = 0; i < n_paths; i++)
		paths[i] = json_string_value(json_array_get(ask->paths, i));
	r = check_order(repo, good, bad, problems, e);
	if (r != 0)
		return r < 0 ? r : ERR_INVAL;
	r = range_read(repo, good, bad, &opt, &range, &why);
	if (r == ERR_RANGE) {
		ask_problem(problems, "/bad", "range_empty", "%s", why.msg);
		return ERR_INVAL;
	}
	if (r == ERR_INVAL || r == ERR_UNSUPPORTED) {
		ask_problem(problems,
			    n_paths && strncmp(why.msg, "path ", 5) == 0 ? "/paths" : "/good",
			    "invalid", "%s", why.msg);
		return ERR_INVAL;
	}
	if (r < 0)
		return err_set(e, r, "%s", why.msg);
	return tell_facts(&range, ret, problems);
}
