/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/mirror.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/vec.h"
#include "bot/watch/mirror_priv.h"
#include "bot/watch/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/sys/commit_graph.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Objects that stay in memory: a walk over a million commits would take a gigabyte otherwise. */
#define CACHE_BYTES ((ssize_t)(64 << 20))

const char *git_why(void)
{
	const git_error *err = git_error_last();

	return err && err->message && err->message[0] ? err->message : "no reason given";
}

int mirror_oid(const char *hash, git_oid *ret, struct err *e)
{
	if (!parse_hash(hash) || git_oid_fromstr(ret, hash) < 0)
		return err_set(e, ERR_INVAL, "'%s' is not a full commit hash", hash);
	return 0;
}

/* libgit2 says only "config value 'safe.directory' was not found" when the owner is wrong. */
static int open_error(const char *dir, struct err *e)
{
	const char *why = git_why();
	struct stat st;

	if (strstr(why, "safe.directory") && stat(dir, &st) == 0)
		return err_set(e, ERR_PERM,
			       "cannot open repository '%s': it belongs to user %u, not to user %u",
			       dir, st.st_uid, geteuid());
	if (strstr(why, "extension"))
		return err_set(
			e, ERR_UNSUPPORTED,
			"cannot open repository '%s': %s (SHA-256 and other extensions are not supported)",
			dir, why);
	return err_set(e, ERR_GIT, "could not open repository '%s': %s", dir, why);
}

static int set_config(git_repository *repo, struct err *e)
{
	static const struct {
		const char *name, *value;
	} want[] = {
		/* libgit2 reads no later version of the graph, and says nothing about it. */
		{ "commitgraph.generationversion", "1" },
		{ "transfer.fsckobjects", "true" },
		/* Odd, but nothing that we read trips over them: one such commit must not stop a tree. */
		{ "fetch.fsck.nulincommit", "warn" },
		{ "fetch.fsck.badtimezone", "warn" },
		{ "fetch.fsck.zeropaddedfilemode", "warn" },
		/* In the foreground: what runs on behind our back would be killed with its group. */
		{ "gc.autodetach", "false" },
		{ "gc.writecommitgraph", "false" },
		{ "maintenance.auto", "false" },
		{ "fetch.writecommitgraph", "false" },
		{ "core.hookspath", "/dev/null" },
		{ "core.logallrefupdates", "false" },
	};
	_cleanup_(git_config_freep) git_config *cfg = NULL;

	if (git_repository_config(&cfg, repo) < 0)
		return err_set(e, ERR_GIT, "could not read the mirror's config: %s", git_why());
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (git_config_set_string(cfg, want[i].name, want[i].value) < 0)
			return err_set(e, ERR_GIT, "could not set '%s' in the mirror: %s",
				       want[i].name, git_why());
	return 0;
}

/* Under a lock, since several workers may be the first. */
static int create(struct mirror *m, struct err *e)
{
	static const char marker[] = "# made by kperfbot; trees are fetched into refs/kperfbot/\n"
				     "[safe]\n\tdirectory = *\n";
	_cleanup_(freep) char *lock = xasprintf("%s.lock", m->dir);
	_cleanup_(closep) int fd = -1;
	git_repository *repo = NULL;
	int r;

	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return err_errno(e, errno, "could not lock '%s'", lock);
	if (access(m->gitconfig, F_OK) == 0)
		return 0;
	if (git_repository_init(&repo, m->dir, true) < 0)
		return err_set(e, ERR_GIT, "could not make repository '%s': %s", m->dir, git_why());
	r = set_config(repo, e);
	git_repository_free(repo);
	/* Written last: with it the repository is complete. */
	return r < 0 ? r : file_write(m->gitconfig, marker, strlen(marker), 0600, e);
}

int mirror_open(const char *dir, struct mirror **ret, struct err *e)
{
	struct mirror *m = xcalloc(1, sizeof(*m));
	int r = 0;

	(void)git_libgit2_init();
	(void)git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, CACHE_BYTES);
	r = file_mkdirs(dir, 0700, e);
	/* Whole, since git runs in another folder. */
	if (r == 0 && !(m->dir = realpath(dir, NULL)))
		r = err_errno(e, errno, "could not find '%s'", dir);
	if (r == 0)
		m->gitconfig = xasprintf("%s/kperfbot.gitconfig", m->dir);
	if (r == 0 && access(m->gitconfig, F_OK) < 0)
		r = create(m, e);
	if (r == 0 && git_repository_open_bare(&m->repo, dir) < 0)
		r = open_error(dir, e);
	if (r == 0 && git_repository_is_shallow(m->repo) == 1)
		r = err_set(e, ERR_UNSUPPORTED,
			    "repository '%s' is shallow, which is not supported", dir);
	if (r < 0) {
		mirror_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

void mirror_free(struct mirror *m)
{
	if (!m)
		return;
	git_repository_free(m->repo);
	free(m->dir);
	free(m->gitconfig);
	free(m);
	(void)git_libgit2_shutdown();
}

const char *mirror_dir(const struct mirror *m)
{
	return m->dir;
}

bool mirror_graph_usable(struct mirror *m)
{
	_cleanup_(freep) char *objects = xasprintf("%s/objects", m->dir);
	git_commit_graph *graph = NULL;
	bool ok = git_commit_graph_open(&graph, objects) == 0;

	git_commit_graph_free(graph);
	return ok;
}

static int head_cmp(const void *a, const void *b)
{
	return strcmp(((const struct mirror_head *)a)->branch,
		      ((const struct mirror_head *)b)->branch);
}

int mirror_heads(struct mirror *m, const char *tree, const char *const *branches,
		 struct mirror_head **ret, size_t *ret_n, struct err *e)
{
	_cleanup_(git_reference_iterator_freep) git_reference_iterator *it = NULL;
	_cleanup_(freep) char *glob = NULL;
	VEC(struct mirror_head) v = { 0 };
	git_reference *ref;
	int r;

	r = remote_tree_check(tree, e);
	if (r < 0)
		return r;
	glob = xasprintf("refs/kperfbot/tree/%s/heads/*", tree);
	if (git_reference_iterator_glob_new(&it, m->repo, glob) < 0)
		return err_set(e, ERR_GIT, "could not list branches of '%s': %s", tree, git_why());
	while ((r = git_reference_next(&ref, it)) == 0) {
		_cleanup_(git_reference_freep) git_reference *owned = ref;
		_cleanup_(git_object_freep) git_object *commit = NULL;
		const char *branch = git_reference_name(owned) + strlen(glob) - 1;
		struct mirror_head head = { 0 };

		if (branches && !remote_patterns_match(branches, branch))
			continue;
		if (git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) < 0)
			continue;
		(void)git_oid_tostr(head.hash, sizeof(head.hash), git_object_id(commit));
		head.branch = xstrdup(branch);
		vec_push(&v, head);
	}
	if (r != GIT_ITEROVER) {
		mirror_heads_free(v.items, v.len);
		return err_set(e, ERR_GIT, "could not list branches of '%s': %s", tree, git_why());
	}
	if (v.len)
		qsort(v.items, v.len, sizeof(v.items[0]), head_cmp);
	*ret = v.items;
	*ret_n = v.len;
	return 0;
}

/* Adds the commit that @ref or the hash prefix @what names; a second, other one is ambiguous. */
static int add_candidate(const git_oid *oid, const char *what, char ret[41], struct err *e)
{
	char hex[41];

	(void)git_oid_tostr(hex, sizeof(hex), oid);
	if (ret[0] && strcmp(ret, hex) != 0)
		return err_set(e, ERR_AMBIGUOUS, "'%s' is ambiguous: %.12s or %.12s", what, ret,
			       hex);
	memcpy(ret, hex, sizeof(hex));
	return 0;
}

static int resolve_ref(struct mirror *m, const char *tree, const char *kind, const char *what,
		       char ret[41], struct err *e)
{
	_cleanup_(freep) char *name = xasprintf("refs/kperfbot/tree/%s/%s/%s", tree, kind, what);
	_cleanup_(git_reference_freep) git_reference *ref = NULL;
	_cleanup_(git_object_freep) git_object *commit = NULL;
	int valid = 0;

	if (git_reference_name_is_valid(&valid, name) < 0 || !valid)
		return 0;
	if (git_reference_lookup(&ref, m->repo, name) < 0 ||
	    git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) < 0)
		return 0;
	return add_candidate(git_object_id(commit), what, ret, e);
}

static int resolve_hash(struct mirror *m, const char *what, char ret[41], struct err *e)
{
	_cleanup_(git_object_freep) git_object *obj = NULL;
	size_t len = strlen(what);
	git_oid oid;
	int r;

	if (len < 8 || len > 40 || strspn(what, "0123456789abcdefABCDEF") != len ||
	    git_oid_fromstrn(&oid, what, len) < 0)
		return 0;
	r = git_object_lookup_prefix(&obj, m->repo, &oid, len, GIT_OBJECT_ANY);
	if (r == GIT_EAMBIGUOUS)
		return err_set(e, ERR_AMBIGUOUS, "'%s' is ambiguous: give more digits", what);
	if (r < 0 || git_object_type(obj) != GIT_OBJECT_COMMIT)
		return 0;
	return add_candidate(git_object_id(obj), what, ret, e);
}

int mirror_resolve(struct mirror *m, const char *tree, const char *what, char ret[41],
		   struct err *e)
{
	char found[41] = "";
	int r = 0;

	if (tree) {
		r = remote_tree_check(tree, e);
		/* A full hash is never a name. */
		if (r == 0 && !parse_hash(what))
			r = resolve_ref(m, tree, "tags", what, found, e);
		if (r == 0 && !parse_hash(what))
			r = resolve_ref(m, tree, "heads", what, found, e);
	}
	if (r == 0)
		r = resolve_hash(m, what, found, e);
	if (r < 0)
		return r;
	if (!found[0])
		return err_set(
			e, ERR_NOENT,
			"no commit '%s' in %s%s: give a tag, a branch or at least 8 digits of a hash",
			what, tree ? "tree " : "the mirror", tree ? tree : "");
	memcpy(ret, found, sizeof(found));
	return 0;
}
