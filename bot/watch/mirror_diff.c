/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/watch/mirror.h"
#include "bot/watch/mirror_priv.h"

#include <string.h>

DEFINE_CLEANUP(git_tree *, git_tree_free);
DEFINE_CLEANUP(git_diff *, git_diff_free);

static int tree_of(struct mirror *m, const char *hash, git_tree **ret, struct err *e)
{
	_cleanup_(git_commit_freep) git_commit *commit = NULL;
	git_oid oid;
	int r = mirror_oid(hash, &oid, e);

	if (r < 0)
		return r;
	r = git_commit_lookup(&commit, m->repo, &oid);
	if (r == GIT_ENOTFOUND)
		return err_set(e, ERR_NOENT, "no commit %s in the mirror", hash);
	if (r < 0 || git_commit_tree(ret, commit) < 0)
		return err_set(e, ERR_GIT, "cannot read commit %s: %s", hash, git_why());
	return 0;
}

int mirror_changed_files(struct mirror *m, const char *old_hash, const char *new_hash, size_t limit,
			 char ***ret, size_t *ret_n, bool *ret_more, struct err *e)
{
	_cleanup_(git_tree_freep) git_tree *a = NULL;
	_cleanup_(git_tree_freep) git_tree *b = NULL;
	_cleanup_(git_diff_freep) git_diff *diff = NULL;
	git_diff_options opt;
	VEC(char *) v = { 0 };
	size_t n;
	int r;

	r = tree_of(m, old_hash, &a, e);
	if (r == 0)
		r = tree_of(m, new_hash, &b, e);
	if (r < 0)
		return r;
	(void)git_diff_options_init(&opt, GIT_DIFF_OPTIONS_VERSION);
	/* A renamed file is one that went and one that came: both may matter. */
	opt.flags = GIT_DIFF_SKIP_BINARY_CHECK | GIT_DIFF_INCLUDE_TYPECHANGE;
	opt.ignore_submodules = GIT_SUBMODULE_IGNORE_NONE;
	if (git_diff_tree_to_tree(&diff, m->repo, a, b, &opt) < 0)
		return err_set(e, ERR_GIT, "could not compare %.12s and %.12s: %s", old_hash,
			       new_hash, git_why());
	n = git_diff_num_deltas(diff);
	for (size_t i = 0; i < n && i < limit; i++) {
		char *path = xstrdup(git_diff_get_delta(diff, i)->new_file.path);

		vec_push(&v, path);
	}
	*ret = v.items;
	*ret_n = v.len;
	*ret_more = n > limit;
	return 0;
}

void mirror_files_free(char **files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i]);
	free(files);
}
