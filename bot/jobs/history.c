/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/history.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/db/db.h"
#include "bot/detect/changes.h"
#include "bot/detect/stats.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/store/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Commits that a step may lie back and still be news. */
	HISTORY_COMMITS = CHANGES_TAIL,
	/* The same step may be found a commit or two to the side as its level gets known better. */
	SAME_STEP = 2,
	/* Commits after which a step that is not found any more was none. */
	GONE_AFTER = 5
};

/* Growth of a step that was not confirmed that makes a new suspicion of it; as in set.sql. */
#define GROWN 1.5

/* One series as the library wants it. Point i is commit hash[i]. */
struct history {
	struct job_ctx *c;
	struct series_key key;
	char id[9];
	enum detect_better better;
	struct series_value *values;
	size_t nvalues;
	VEC(struct series_point) points;
	VEC(const char *) hash;
	VEC(struct series_remeasure) again;
	VEC(struct series_point) control;
	struct change_row *rows;
	size_t nrows;
	VEC(bool) row_found;
};

static void history_done(struct history *h)
{
	free(h->values);
	free(h->rows);
	vec_done(&h->points);
	vec_done(&h->hash);
	vec_done(&h->again);
	vec_done(&h->control);
	vec_done(&h->row_found);
}

/* Boots of one commit that ran hours apart: the later ones say what the machine does by now. */
static void add_remeasured(struct history *h, size_t index, const struct series_value *v, size_t n)
{
	enum {
		APART_S = 3600
	};

	for (size_t i = 1; i < n; i++)
		if (v[i].at - v[0].at > APART_S)
			vec_push(&h->again,
				 ((struct series_remeasure){ index, v[i].at, v[i].value }));
}

static void make_points(struct history *h)
{
	_cleanup_(freep) double *y = xcalloc(h->nvalues + 1, sizeof(*y));

	for (size_t i = 0; i < h->nvalues;) {
		const struct series_value *v = &h->values[i];
		size_t n = 0;

		for (; i + n < h->nvalues && !strcmp(v[n].commit, v->commit); n++)
			y[n] = v[n].value;
		add_remeasured(h, h->points.len, v, n);
		vec_push(&h->hash, v->commit);
		vec_push(&h->points,
			 ((struct series_point){ stats_median(y, n), (double)n, v->at }));
		i += n;
	}
}

static int load(struct history *h, struct err *e)
{
	struct series_control *control = NULL;
	size_t n = 0;
	int r;

	r = series_id(h->c->db, &h->key, h->id, e);
	if (r == 0)
		r = series_values(h->c->db, &h->key, HISTORY_COMMITS, &h->values, &h->nvalues, e);
	if (r == 0)
		r = series_control(h->c->db, h->key.machine, &control, &n, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		vec_push(&h->control,
			 ((struct series_point){ control[i].value, 1, control[i].at }));
	free(control);
	make_points(h);
	r = change_rows(h->c->db, h->id, &h->rows, &h->nrows, e);
	for (size_t i = 0; i < h->nrows; i++)
		vec_push(&h->row_found, false);
	return r;
}

static size_t place_of(const struct history *h, const char *commit)
{
	size_t i = 0;

	while (i < h->hash.len && strcmp(h->hash.items[i], commit) != 0)
		i++;
	return i;
}

/* From 0 there is no ratio to anything; a page and the confirmation want a number. */
static double ratio_of(const struct change_point *p)
{
	return isfinite(p->rel) ? p->rel : copysign(1, p->abs);
}

/* What was measured again and not found was smaller then: a loss in parts goes on. */
static bool has_grown(const struct change_row *row, const struct change_point *p)
{
	return (!strcmp(row->state, "refuted") || !strcmp(row->state, "unconfirmed")) &&
	       fabs(ratio_of(p)) > GROWN * fabs(row->rel);
}

/* The row of a step that was seen before, perhaps a commit to the side. */
static struct change_row *row_of(struct history *h, const struct change_point *p)
{
	for (size_t i = 0; i < h->nrows; i++) {
		size_t at = place_of(h, h->rows[i].first);

		if (at == h->hash.len || at + SAME_STEP < p->lo || at > p->hi + SAME_STEP ||
		    (h->rows[i].rel > 0) != (p->abs > 0))
			continue;
		h->row_found.items[i] = true;
		if (!has_grown(&h->rows[i], p))
			return &h->rows[i];
	}
	return NULL;
}

/* A regression in the history alone is a suspicion: both levels are measured again, in turns. */
static int confirm(struct history *h, struct change_row *row, struct err *e)
{
	struct comparison_ask ask = { .tree = h->key.tree,
				      .branch = h->key.branch,
				      .base = row->last,
				      .head = row->first,
				      .job = h->key.job,
				      .purpose = "confirm",
				      .target = fabs(row->rel) };
	_cleanup_(comparison_done) struct comparison made = { 0 };
	int64_t id;
	int r;

	r = comparison_want(h->c->db, &ask, &id, e);
	if (r == 0)
		r = comparison_get(h->c->db, id, &made, e);
	if (r < 0)
		return r;
	if (!made.open) /* these very commits were measured for it before */
		return change_state(h->c->db, row->id, "refuted", id, NULL, e);
	log_info("step in the history: measured again", lf_str("SERIES_ID", h->id),
		 lf_str("COMMIT", row->first), lf_i64("COMPARISON_ID", id));
	return change_state(h->c->db, row->id, "confirming", id, NULL, e);
}

static int act(struct history *h, const struct change_point *p, struct change_row *row,
	       struct err *e)
{
	int64_t comparison;
	int r;

	if (strcmp(row->state, "seen") != 0)
		return 0;
	if (change_is_machine(p))
		return change_state(h->c->db, row->id, "drift", 0, change_reason_text(p->reason),
				    e);
	r = change_known(h->c->db, &h->key, &h->hash.items[p->lo], p->hi - p->lo + 1, &comparison,
			 e);
	if (r < 0)
		return r;
	if (comparison)
		return change_state(h->c->db, row->id, "known", comparison, NULL, e);
	if (p->worse > 0 || h->better == DETECT_BETTER_NONE)
		return confirm(h, row, e);
	return 0;
}

static int store(struct history *h, const struct change_point *p, struct err *e)
{
	struct change_row *known = row_of(h, p);
	struct change_row row = { .rel = ratio_of(p), .p = p->p };
	int r;

	if (known)
		row = *known;
	else if (p->lo == 0 || p->hi >= h->hash.len)
		return 0;
	if (!known) {
		(void)snprintf(row.first, sizeof(row.first), "%s", h->hash.items[p->hi]);
		(void)snprintf(row.last, sizeof(row.last), "%s", h->hash.items[p->lo - 1]);
	}
	row.rel = ratio_of(p);
	row.p = p->p;
	r = change_set(h->c->db, h->id, &row, e);
	return r < 0 ? r : act(h, p, &row, e);
}

/* What later commits do not show any more, and nobody has confirmed meanwhile. */
static int retire(struct history *h, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < h->nrows; i++) {
		size_t at = place_of(h, h->rows[i].first);

		if (h->row_found.items[i] || at + GONE_AFTER >= h->hash.len ||
		    (strcmp(h->rows[i].state, "seen") != 0 &&
		     strcmp(h->rows[i].state, "drift") != 0))
			continue;
		r = change_state(h->c->db, h->rows[i].id, "went-away", 0, NULL, e);
	}
	return r;
}

static int find(struct history *h, double min_effect, struct err *e)
{
	struct changes_control control = { h->control.items, h->control.len, h->again.items,
					   h->again.len };
	struct changes_options o = { .sensitivity = CHANGES_ONLINE,
				     .better = h->better,
				     .min_effect = min_effect };
	_cleanup_(changes_done) struct changes found = { 0 };
	int r;

	r = changes_find(h->points.items, h->points.len, &control, &o, &found, e);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		if (found.items[i].kind != CHANGE_OUTLIER_RUN)
			r = store(h, &found.items[i], e);
	return r == 0 ? retire(h, e) : r;
}

static int better_of(struct job_ctx *c, const char *metric, enum detect_better *ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(c->db, SQL_METRIC_BETTER, &rows, e, "s", metric);
	if (r < 0)
		return r;
	*ret = rows.n ? (enum detect_better)detect_better_parse(db_str(&rows, 0, 0))
		      : DETECT_BETTER_NONE;
	db_rows_done(&rows);
	return 0;
}

int history_update(struct job_ctx *c, const struct comparison *cmp, const struct job *job,
		   struct err *e)
{
	_cleanup_(history_done) struct history h = {
		.c = c,
		.key = { cmp->tree, cmp->branch, cmp->job, cmp->machine, job->metric },
	};
	int r;

	if (!cmp->machine[0] || !strcmp(cmp->purpose, "layout"))
		return 0;
	r = better_of(c, job->metric, &h.better, e);
	if (r == 0)
		r = load(&h, e);
	return r < 0 ? r : find(&h, job->min_effect, e);
}

int history_confirmed(struct job_ctx *c, const struct comparison *cmp, const char *verdict,
		      struct err *e)
{
	bool change = verdict && (!strcmp(verdict, "regression") ||
				  !strcmp(verdict, "improvement") || !strcmp(verdict, "change"));
	bool same = verdict && !strcmp(verdict, "same");

	return change_settle(c->db, cmp->id,
			     change ? "confirmed"
			     : same ? "refuted"
				    : "unconfirmed",
			     verdict ? NULL : "it could not be measured again", e);
}
