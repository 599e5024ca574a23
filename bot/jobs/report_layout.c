/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/report_layout.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"
#include "bot/base/visible.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/lab/layout.h"
#include "bot/lab/relevance.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

/* A commit of more files is a change of everything. */
#define FILES_MAX 2000

/*
 * The comparison must be able to see half of the change: it calls sides the same when any change is
 * below three quarters of its target.
 */
#define TARGET_SHARE (2. / 3)

struct ask {
	struct job_ctx *c;
	const struct regression *reg;
	const char *why;
};

/* Names of files are any bytes. */
static char *far_away(const char *test, const char *file, size_t n)
{
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;
	_cleanup_(freep) char *name = utf8_clean(file, strlen(file), 100);

	visible_add(&shown, name, strlen(name));
	return xasprintf(
		"it touches nothing that %s runs (%s%s); measured again with " LAYOUT_PEOPLE, test,
		strbuf_str(&shown), n > 1 ? ", …" : "");
}

static int judge_files(struct job_ctx *c, const struct regression *reg, const struct job *job,
		       enum relevance *ret, char **ret_why, struct err *e)
{
	_cleanup_(freep) char *dir = job_mirror_dir(c);
	_cleanup_(freep) char *arch = job_arch(c, job->kconfig);
	struct relevance_input in = { .suite = job->suite, .test = job->test, .arch = arch };
	struct mirror *m;
	char **files = NULL;
	bool more;
	size_t why;
	int r;

	r = mirror_open(dir, &m, e);
	if (r < 0)
		return r;
	r = mirror_changed_files(m, reg->parent, reg->culprit, FILES_MAX, &files, &in.n_paths,
				 &more, e);
	mirror_free(m);
	if (r < 0)
		return r;
	in.paths = (const char *const *)files;
	*ret = more ? RELEVANCE_UNKNOWN : relevance_judge(&in, &why);
	if (*ret == RELEVANCE_NO)
		*ret_why = far_away(job->test, files[0], in.n_paths);
	mirror_files_free(files, in.n_paths);
	return 0;
}

static int store_ask(struct db *db, void *arg, struct err *e)
{
	const struct ask *a = arg;
	struct comparison_ask q = { .tree = a->reg->tree,
				    .branch = a->reg->branch,
				    .base = a->reg->parent,
				    .head = a->reg->culprit,
				    .job = a->reg->job,
				    .purpose = "layout",
				    .regression = a->reg->id,
				    .variant = LAYOUT_VARIANT,
				    .target = fabs(a->reg->rel) * TARGET_SHARE };
	int64_t id;
	int r;

	r = regression_state(db, a->reg->id, "confirmed", "confirmed", "kperfbot", a->why, e);
	if (r == 0)
		r = comparison_want(db, &q, &id, e);
	if (r == 0)
		log_info("checking for an effect of code layout",
			 lf_str("REGRESSION_ID", a->reg->id), lf_i64("COMPARISON_ID", id));
	return r < 0 ? r : job_finish(a->c, e);
}

static int ask_if_needed(struct job_ctx *c, const struct regression *reg, const struct job *job,
			 const char *mode, struct report_layout *ret, struct err *e)
{
	_cleanup_(freep) char *why = NULL;
	enum relevance relevance = RELEVANCE_UNKNOWN;
	struct ask a = { .c = c, .reg = reg };
	int r = 0;

	if (!strcmp(mode, "always"))
		why = xstrdup("measured again with " LAYOUT_PEOPLE);
	else
		r = judge_files(c, reg, job, &relevance, &why, e);
	if (r < 0 || !why)
		return r;
	a.why = why;
	r = db_tx(c->db, store_ask, &a, e);
	ret->ended = r >= 0;
	return r;
}

static int store_end(struct db *db, void *arg, struct err *e)
{
	const struct ask *a = arg;
	char freed[9] = "";
	int r;

	/* A bisection that finds the same commit must see the state before or after this. */
	r = regression_lock(db, a->reg->culprit, e);
	if (r == 0)
		r = regression_state(db, a->reg->id, "confirmed", "layout", "kperfbot", a->why, e);
	if (r == 0)
		r = regression_free_dups(db, a->reg->id, freed, e);
	if (r == 0 && freed[0])
		r = work_enqueue_name(db, "report", "regression", freed, e);
	if (r == 0)
		log_info("layout effect, not a regression of this commit",
			 lf_str("REGRESSION_ID", a->reg->id), lf_str("COMMIT", a->reg->culprit));
	return r < 0 ? r : job_finish(a->c, e);
}

static json_t *check_of(const struct comparison_effect *x, bool ok, const char *text)
{
	json_t *o = json_object();

	json_set_str(o, "name", LAYOUT_VARIANT);
	json_set_bool(o, "ok", ok);
	json_set_str(o, "text", text);
	if (x && isfinite(x->rel)) {
		json_set_f64(o, "rel", x->rel);
		json_set_f64(o, "lo", x->lo);
		json_set_f64(o, "hi", x->hi);
	}
	return o;
}

static int draw_conclusion(struct job_ctx *c, const struct regression *reg,
			   const struct comparison_checked *k, struct report_layout *ret,
			   struct err *e)
{
	const struct layout_effect normal = { .rel = reg->rel };
	const struct layout_effect aligned = { k->effect.rel, k->effect.lo, k->effect.hi };
	enum layout l = layout_judge(&normal, &aligned);
	_cleanup_(freep) char *why = NULL;
	struct ask a = { .c = c, .reg = reg };
	int r;

	/* "same" is said of what is surely smaller than half, also where it is not nothing. */
	if (l == LAYOUT_PART && !strcmp(k->verdict, "same"))
		l = LAYOUT_GONE;
	if (l != LAYOUT_GONE) {
		const char *text = !isfinite(aligned.rel) ? "not measured well enough"
				   : l == LAYOUT_UNCLEAR  ? "not sure enough to tell"
							  : NULL;

		ret->check = check_of(&k->effect, l == LAYOUT_STILL, text);
		return 0;
	}
	why = xasprintf(
		LAYOUT_PEOPLE
		": %+.1f%% (%+.1f .. %+.1f): layout effect, not a regression of this commit",
		100 * aligned.rel, 100 * aligned.lo, 100 * aligned.hi);
	a.why = why;
	r = db_tx(c->db, store_end, &a, e);
	ret->ended = r >= 0;
	return r;
}

int report_layout(struct job_ctx *c, const struct regression *reg, struct report_layout *ret,
		  struct err *e)
{
	const char *mode = config_str(c->config, "report", NULL, "layout-check");
	_cleanup_(comparison_checked_done) struct comparison_checked k = { 0 };
	_cleanup_(job_done) struct job job = { 0 };
	int r;

	*ret = (struct report_layout){ 0 };
	r = job_get(c->db, reg->job, &job, e);
	/* What boots no kernel of its own has none to align. */
	if (r < 0 || !job.kconfig[0] || !reg->parent[0])
		return r;
	r = comparison_layout(c->db, reg->job, reg->parent, reg->culprit, LAYOUT_VARIANT, &k, e);
	if (r < 0)
		return r;
	if (!k.state[0])
		return strcmp(mode, "never") != 0 ? ask_if_needed(c, reg, &job, mode, ret, e) : 0;
	if (!strcmp(k.state, "open")) {
		r = job_finish(c, e);
		ret->ended = r >= 0;
		return r;
	}
	if (!strcmp(k.state, "done"))
		return draw_conclusion(c, reg, &k, ret, e);
	{
		_cleanup_(freep) char *text =
			xasprintf("not measured, %s",
				  k.detail[0] ? k.detail : "the comparison was cancelled");

		ret->check = check_of(NULL, false, text);
	}
	return 0;
}
