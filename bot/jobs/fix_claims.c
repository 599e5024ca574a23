/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/fix_claims.h"

#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/mail/text.h"
#include "bot/store/regression_fix.h"
#include "bot/store/tree.h"
#include "bot/watch/fixes.h"
#include "bot/watch/mirror.h"
#include "bot/watch/range.h"
#include "bot/watch/twin.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);
DEFINE_CLEANUP(struct mirror *, mirror_free);

#define TITLE_CHARS 100

struct look {
	struct job_ctx *c;
	const char *tree, *branch;
	char tip[41];
	struct fix_open *open;
	size_t n;
	struct fixes_claims claims;
	struct mirror *mirror;
	bool finish;
};

static int read_tip(struct look *l, struct err *e)
{
	struct tree_head *heads;
	size_t n;
	int r = tree_heads(l->c->db, l->tree, &heads, &n, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(heads[i].branch, l->branch))
			(void)snprintf(l->tip, sizeof(l->tip), "%s", heads[i].commit);
	tree_heads_free(heads, n);
	return 0;
}

static int store_claim(struct db *db, struct look *l, const struct fixes_claim *claim,
		       struct err *e)
{
	_cleanup_(freep) char *title =
		text_clean_dup(claim->title, strlen(claim->title), TITLE_CHARS);
	_cleanup_(freep) char *why = xasprintf(
		"possibly %s %.12s (\"%s\"), which is in %s: a claim, not measured",
		claim->reverts ? "taken back by" : "fixed by", claim->hash, title, l->branch);
	struct fix_claim_row row = { .regression = l->open[claim->culprit].id,
				     .commit = claim->hash,
				     .says = claim->reverts ? "reverts" : "fixes",
				     .by_title = claim->by_title,
				     .tip = l->tip,
				     .why = why };
	int r = job_mirror_store_commit(db, l->mirror, claim->hash, e);

	if (r == 0)
		r = fix_add(db, &row, e);
	if (r > 0)
		log_info("a commit claims to fix a culprit",
			 lf_str("REGRESSION_ID", row.regression), lf_str("COMMIT", claim->hash),
			 lf_str("BRANCH", l->branch));
	return r < 0 ? r : 0;
}

static int store(struct db *db, void *arg, struct err *e)
{
	struct look *l = arg;
	int r = l->tip[0] ? fix_head_is(db, l->tree, l->branch, l->tip, e) : 0;

	if (r == 1) {
		r = 0;
		vec_foreach (claim, &l->claims.v)
			if (r == 0)
				r = store_claim(db, l, claim, e);
		for (size_t i = 0; r == 0 && i < l->n; i++)
			r = fix_drop(db, l->open[i].id, l->tip, e);
	}
	return r < 0 || !l->finish ? r : job_finish(l->c, e);
}

/*
 * A branch that was made anew has the culprit under another hash, and what fixes it names that one.
 * Merges keep their own hash: what they are is not their patch.
 */
static int find_here(const struct look *l, git_repository *repo, char (*here)[41],
		     const char **culprits, struct err *e)
{
	int r = fixes_here(repo, l->tip, culprits, l->n, here, e);

	for (size_t i = 0; r >= 0 && i < l->n; i++) {
		if (!here[i][0] || !strcmp(here[i], culprits[i]))
			continue;
		r = twin_is(repo, culprits[i], here[i], e);
		if (r == 1)
			culprits[i] = here[i];
	}
	return r < 0 ? r : 0;
}

/* Regressions of one culprit each have a claim of their own. */
static int scan(struct look *l, struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	_cleanup_(freep) char *dir = job_mirror_dir(l->c);
	_cleanup_(freep) const char **culprits = xcalloc(l->n + 1, sizeof(*culprits));
	_cleanup_(freep) char(*here)[41] = xcalloc(l->n + 1, sizeof(*here));
	int r;

	for (size_t i = 0; i < l->n; i++)
		culprits[i] = l->open[i].culprit;
	r = mirror_open(dir, &l->mirror, e);
	if (r == 0)
		r = range_open(dir, &repo, e);
	if (r == 0)
		r = find_here(l, repo, here, culprits, e);
	if (r == 0)
		r = fixes_scan(repo, l->tip, culprits, l->n, 0, &l->claims, e);
	if (r == 0 && l->claims.cut)
		log_debug("more commits or claims than are looked at", lf_str("TREE", l->tree),
			  lf_str("BRANCH", l->branch));
	return r;
}

static void only(struct look *l, const char *regression)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->open[i].id, regression))
			l->open[n++] = l->open[i];
	l->n = n;
}

int fix_claims_look(struct job_ctx *c, const char *tree, const char *branch, const char *regression,
		    bool finish, struct err *e)
{
	struct look l = { .c = c, .tree = tree, .branch = branch, .finish = finish };
	int r = fix_open(c->db, tree, branch, &l.open, &l.n, e);

	if (r == 0 && regression)
		only(&l, regression);
	if (r == 0 && l.n)
		r = read_tip(&l, e);
	if (r == 0 && l.tip[0])
		r = scan(&l, e);
	if (r == 0)
		r = db_tx(c->db, store, &l, e);
	fixes_claims_done(&l.claims);
	mirror_free(l.mirror);
	free(l.open);
	return r;
}

int fix_claims_ask(struct job_ctx *c, const char *tree, const char *branch, struct err *e)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *payload = NULL, *dedupe = NULL;
	_cleanup_(freep) struct fix_open *open = NULL;
	size_t n;
	int r = fix_open(c->db, tree, branch, &open, &n, e);

	if (r < 0 || !n)
		return r;
	json_set_str(o, "tree", tree);
	json_set_str(o, "branch", branch);
	payload = json_text(o);
	dedupe = xasprintf("fixes:%s:%s", tree, branch);
	return work_enqueue(c->db, "fixes", 0, 0, dedupe, payload, e);
}
