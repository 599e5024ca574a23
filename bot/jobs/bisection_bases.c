/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_bases.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/jobs/bisection_run.h"

#include <math.h>
#include <string.h>

/* Of a branch that was set back the bad end is the base, and as bad as itself. */
bool bisection_bases_is_rewound(const struct bisection_run *b)
{
	return b->fork.n_bases == 1 && !strcmp(b->fork.bases[0], b->row.bad);
}

void bisection_bases_reset(struct bisection_run *b)
{
	struct bisection_fork *f = &b->fork;

	if (f->stage == BISECTION_PLAIN)
		return;
	f->stage = BISECTION_BASES;
	f->from[0] = '\0';
	f->stored = false;
	for (size_t i = 0; i < f->n_bases; i++) {
		f->sides[i] = BISECT_BASE_OPEN;
		f->rel[i] = NAN;
		if (f->instead[i][0])
			memcpy(f->bases[i], f->instead[i], sizeof(f->bases[i]));
		f->instead[i][0] = '\0';
		f->older[i] = 0;
	}
	if (bisection_bases_is_rewound(b))
		f->sides[0] = BISECT_BASE_BAD;
}

static void load_base(struct bisection_fork *f, const json_t *o)
{
	size_t i = f->n_bases++;

	(void)snprintf(f->bases[i], 41, "%s", json_str(o, "commit", ""));
	(void)snprintf(f->instead[i], 41, "%s", json_str(o, "instead_of", ""));
	f->older[i] = (int)json_i64(o, "older", 0);
	f->sides[i] = bisect_base_side_find(json_str(o, "like", ""));
	f->rel[i] = json_f64(o, "rel", NAN);
}

void bisection_bases_rewind(struct bisection_run *b)
{
	const json_t *o = json_object_get(b->row.status, "fork"), *base;
	const char *stage = json_str(o, "stage", "");
	struct bisection_fork *f = &b->fork;
	bool stored = f->stored, unlimited = f->unlimited;
	size_t i;

	if (!o) {
		bisection_bases_reset(b);
		return;
	}
	*f = (struct bisection_fork){ .stage = BISECTION_BASES,
				      .commits = json_i64(o, "commits", 0),
				      .total = (size_t)json_i64(o, "total", 0),
				      .unlimited = unlimited,
				      .stored = stored ||
						json_is_true(json_object_get(o, "stored")) };
	(void)snprintf(f->from, sizeof(f->from), "%s", json_str(o, "from", ""));
	for (int k = BISECTION_BASES; k <= BISECTION_GOOD_SIDE; k++)
		if (!strcmp(stage, bisection_stage_name((enum bisection_stage)k)))
			f->stage = (enum bisection_stage)k;
	json_array_foreach (json_object_get(o, "bases"), i, base)
		if (i < BISECTION_BASES_MAX)
			load_base(f, base);
}

/* The ends alone: only whether they differ is asked. */
static int read_ends(struct bisection_run *b, struct err *e)
{
	int r;

	range_done(&b->range);
	(void)snprintf(b->good, sizeof(b->good), "%s", b->row.good);
	r = bisect_graph_add(&b->range.graph, b->row.bad, NULL, 0, true, e);
	return r < 0 ? r : bisect_graph_prepare(&b->range.graph, e);
}

/*
 * Only what descends from the base, all of which has what made the base bad. Where the limits leave
 * nothing, what the bad end lacks is elsewhere, and is looked for there.
 */
static int read_good_side(struct bisection_run *b, git_repository *repo,
			  const struct range_options *opt, struct err *e)
{
	struct range_options way = *opt;
	int r;

	way.descendants = true;
	range_done(&b->range);
	r = range_read(repo, b->fork.from, b->row.good, &way, &b->range, e);
	if (r == ERR_RANGE && (opt->n_paths || opt->first_parent)) {
		b->fork.unlimited = true;
		way = (struct range_options){ .descendants = true };
		r = range_read(repo, b->fork.from, b->row.good, &way, &b->range, e);
	}
	return r;
}

static int read_stage(struct bisection_run *b, git_repository *repo,
		      const struct range_options *opt, struct err *e)
{
	if (b->fork.stage == BISECTION_BASES)
		return read_ends(b, e);
	(void)snprintf(b->good, sizeof(b->good), "%s", b->fork.from);
	return b->fork.stage == BISECTION_GOOD_SIDE ? read_good_side(b, repo, opt, e) : 0;
}

int bisection_bases_read(struct bisection_run *b, git_repository *repo,
			 const struct range_options *opt, struct err *e)
{
	struct bisection_fork *f = &b->fork;
	const struct range *range = &b->range;

	if (!range->n_merge_bases)
		return err_set(e, ERR_INVAL, "%.12s and %.12s have no common ancestor", b->row.good,
			       b->row.bad);
	if (f->stage == BISECTION_PLAIN) {
		f->total = range->n_merge_bases;
		f->n_bases = f->total < BISECTION_BASES_MAX ? f->total : BISECTION_BASES_MAX;
		for (size_t i = 0; i < f->n_bases; i++)
			memcpy(f->bases[i], range->merge_bases[i], sizeof(f->bases[i]));
		f->commits = (int64_t)range->commits;
		f->stage = BISECTION_BASES;
		bisection_bases_reset(b);
	}
	return read_stage(b, repo, opt, e);
}

int bisection_bases_rewound(struct bisection_run *b, git_repository *repo,
			    const struct range_options *opt, struct err *e)
{
	struct bisection_fork *f = &b->fork;

	if (f->stage == BISECTION_PLAIN) {
		memcpy(f->bases[0], b->row.bad, sizeof(f->bases[0]));
		f->n_bases = f->total = 1;
		f->stage = BISECTION_BASES;
		bisection_bases_reset(b);
	}
	return read_stage(b, repo, opt, e);
}

size_t bisection_bases_commits(const struct bisection_run *b, const char **list)
{
	size_t n = 0;

	if (b->fork.stage == BISECTION_PLAIN)
		return 0;
	list[n++] = b->row.good;
	list[n++] = b->row.bad;
	for (size_t i = 0; i < b->fork.n_bases; i++)
		list[n++] = b->fork.bases[i];
	return n;
}

static bool is_beside(const struct bisection_run *b, const char *hash)
{
	const char *list[BISECTION_BASES_MAX + 2];
	size_t n = bisection_bases_commits(b, list);

	if (!strcmp(hash, b->good) || bisect_graph_find(&b->range.graph, hash, NULL) >= 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(hash, list[i]))
			return true;
	return false;
}

int bisection_bases_runs(const struct bisection_run *b)
{
	int n = 0;

	for (size_t i = 0; b->fork.stage != BISECTION_PLAIN && i < b->n_boots; i++)
		if (!strcmp(b->boots[i].bisection, b->row.id) && is_beside(b, b->boots[i].commit))
			for (size_t k = 0; k < b->n_values; k++)
				n += b->values[k].boot == b->boots[i].id;
	return n;
}

void bisection_bases_params(const struct bisection_run *b, struct bisect_params *p)
{
	if (b->fork.stage == BISECTION_GOOD_SIDE)
		p->step = -p->step;
}

const char *bisection_bases_level(const struct bisection_run *b)
{
	return b->fork.stage == BISECTION_GOOD_SIDE ? b->row.good : b->good;
}
