/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fetch a tree, note what happened to its branches, and ask for a plan where a head is new. */
#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/fix_claims.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/store/tree.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

DEFINE_CLEANUP(struct mirror *, mirror_free);

/* What one fetch found; stored in one transaction. */
struct found {
	struct job_ctx *c;
	const char *tree;
	struct mirror *mirror;
	struct mirror_event *events;
	size_t n;
	double poll_s;
	char *missing;
	bool missing_new;
};

static int plan_work(struct found *f, const struct mirror_event *ev, struct err *e)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *payload = NULL;

	json_set_str(o, "tree", f->tree);
	json_set_str(o, "branch", ev->branch);
	json_set_str(o, "kind", mirror_event_kind_name(ev->kind));
	json_set_str(o, "old", ev->old_hash);
	json_set_str(o, "new", ev->new_hash);
	payload = json_text(o);
	return work_enqueue(f->c->db, "plan", 0, 0, NULL, payload, e);
}

static int store_event(struct found *f, const struct mirror_event *ev, struct err *e)
{
	bool gone = ev->kind == MIRROR_DELETED;
	int r = 0;

	if (!gone)
		r = job_mirror_store_commit(f->c->db, f->mirror, ev->new_hash, e);
	if (r == 0)
		r = tree_event(f->c->db, f->tree, ev->branch, mirror_event_kind_name(ev->kind),
			       ev->old_hash[0] ? ev->old_hash : NULL, gone ? NULL : ev->new_hash,
			       e);
	if (r == 0 && !gone)
		r = plan_work(f, ev, e);
	if (r == 0 && !gone)
		r = fix_claims_ask(f->c, f->tree, ev->branch, e);
	return r;
}

static int store_found(struct db *db, void *arg, struct err *e)
{
	struct found *f = arg;
	int r;

	r = tree_looked_at(db, f->tree, f->missing, &f->missing_new, e);
	for (size_t i = 0; r == 0 && i < f->n; i++)
		r = store_event(f, &f->events[i], e);
	FAILPOINT("fetch.before_commit");
	if (r == 0)
		r = work_reschedule(db, f->c->work->id, f->c->work->fence, f->poll_s, f->missing,
				    e);
	return r;
}

struct away {
	struct job_ctx *c;
	const char *tree;
	const char *why;
	double poll_s;
};

/* The tree is shown as away and tried again, later each time; nothing else is held up. */
static int store_away(struct db *db, void *arg, struct err *e)
{
	struct away *a = arg;
	int failures;
	double delay;
	int r;

	r = tree_fetched(db, a->tree, a->why, &failures, e);
	if (r < 0)
		return r;
	delay = fmax(a->poll_s,
		     work_backoff_s(failures - 1, 0.5 + (double)(clock_realtime() % 1000) / 2000));
	return work_reschedule(db, a->c->work->id, a->c->work->fence, fmin(delay, 3600), a->why, e);
}

/* The heads that the database knows, as the watch library wants them. */
static int known_heads(struct job_ctx *c, const char *tree, struct mirror_head **ret, size_t *ret_n,
		       struct err *e)
{
	struct tree_head *heads;
	size_t n;
	int r;

	r = tree_heads(c->db, tree, &heads, &n, e);
	if (r < 0)
		return r;
	*ret = xcalloc(n, sizeof(**ret));
	*ret_n = n;
	for (size_t i = 0; i < n; i++) {
		(*ret)[i].branch = take_ptr(heads[i].branch);
		memcpy((*ret)[i].hash, heads[i].commit, sizeof(heads[i].commit));
	}
	tree_heads_free(heads, n);
	return 0;
}

static int look(struct found *f, const struct mirror_tree *t, struct err *e)
{
	struct mirror_fetched fetched = { 0 };
	struct mirror_head *before = NULL;
	struct mirror_head *now = NULL;
	size_t n_before = 0;
	size_t n_now = 0;
	int r;

	r = mirror_fetch(f->mirror, t, &fetched, e);
	if (r < 0)
		return r;
	if (fetched.missing)
		f->missing = xasprintf("no branch '%s' there; branch in [tree \"%s\"] is a name as "
				       "'git branch -r' prints it, * stands for any text",
				       fetched.missing, t->name);
	if (fetched.note)
		log_warn("mirror upkeep failed, going on", lf_str("TREE", t->name),
			 lf_str("ERROR", fetched.note));
	r = known_heads(f->c, t->name, &before, &n_before, e);
	if (r == 0)
		r = mirror_heads(f->mirror, t->name, t->branches, &now, &n_now, e);
	if (r == 0)
		r = mirror_events(before, n_before, now, n_now, n_before == 0,
				  mirror_is_ancestor_cb, f->mirror, &f->events, &f->n, e);
	mirror_fetched_done(&fetched);
	mirror_heads_free(before, n_before);
	mirror_heads_free(now, n_now);
	return r;
}

int job_fetch(struct job_ctx *c, struct err *e)
{
	const char *name = json_str(c->payload, "tree", "");
	_cleanup_(mirror_freep) struct mirror *mirror = NULL;
	_cleanup_(freep) const char **branches = NULL;
	_cleanup_(freep) char *dir = job_mirror_dir(c);
	struct found f = { .c = c, .tree = name };
	struct mirror_tree t = { .name = name };
	int r;

	if (!config_has(c->config, "tree", name))
		return job_finish(c, e); /* taken out of the configuration */
	branches = config_all(c->config, "tree", name, "branch");
	t.url = config_str(c->config, "tree", name, "url");
	t.branches = branches;
	t.allow_file = config_bool(c->config, "tree", name, "allow-file");
	f.poll_s = config_f64(c->config, "tree", name, "poll");
	r = mirror_open(dir, &mirror, e);
	if (r < 0)
		return r;
	f.mirror = mirror;
	r = look(&f, &t, e);
	if (r < 0 && r != ERR_NOSPACE && r != ERR_IO && r != ERR_DB_AWAY && r != ERR_DB_RETRY) {
		struct err why = *e;
		struct away a = { c, name, why.msg, f.poll_s };

		log_warn("could not fetch tree, will try again", lf_str("TREE", name), lf_err(why));
		r = db_tx(c->db, store_away, &a, e);
	} else if (r == 0) {
		for (size_t i = 0; i < f.n; i++)
			log_info("head moved", lf_str("TREE", name),
				 lf_str("BRANCH", f.events[i].branch),
				 lf_str("STATE", mirror_event_kind_name(f.events[i].kind)),
				 lf_str("COMMIT", f.events[i].new_hash));
		r = db_tx(c->db, store_found, &f, e);
		if (r == 0 && f.missing && f.missing_new)
			log_warn("a branch is not there, watching the others", lf_str("TREE", name),
				 lf_str("ERROR", f.missing));
	}
	mirror_events_free(f.events, f.n);
	free(f.missing);
	return r;
}
