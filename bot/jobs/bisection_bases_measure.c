/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends and merge bases: measuring them, and where to go on from what they gave. */
#include "bot/jobs/bisection_bases.h"
#include "bot/jobs/bisection_failures.h"

#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/jobs/bisection_answer.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/watch/mirror.h"
#include "runners/drivers/driver.h"

#include <math.h>
#include <string.h>

/* Boots of ends and bases before anything is decided. */
#define FIRST_BOOTS 2
/* Boots that the job's own noise counts for against what was seen. */
#define NOISE_BOOTS 4

/* Boots of @hash that were made here for this purpose, and what they gave. */
struct measured {
	double mean, squares; /* of boot means, about their mean */
	int boots, runs;
	int ok; /* with or without a value */
};

static bool is_ours(const struct bisection_run *b, const struct boot_brief *boot, const char *hash)
{
	return boot->ok && !strcmp(boot->commit, hash) && !strcmp(boot->bisection, b->row.id) &&
	       !strcmp(boot->machine, b->row.machine);
}

static struct measured measure_of(const struct bisection_run *b, const char *hash)
{
	struct measured m = { 0 };

	for (size_t i = 0; i < b->n_boots; i++) {
		double sum = 0, mean, off;
		int n = 0;

		if (!is_ours(b, &b->boots[i], hash))
			continue;
		m.ok++;
		for (size_t k = 0; k < b->n_values; k++) {
			if (b->values[k].boot != b->boots[i].id)
				continue;
			sum += b->values[k].value;
			n++;
		}
		if (!n)
			continue;
		mean = sum / n;
		off = mean - m.mean;
		m.boots++;
		m.runs += n;
		m.mean += off / m.boots;
		m.squares += off * (mean - m.mean);
	}
	return m;
}

/* Variance of one boot's mean: as the job's history has it, with what is seen of ends and bases. */
static double boot_variance(const struct bisection_run *b)
{
	const struct bisect_params *p = &b->state.params;
	const int runs = b->job.runs_per_boot > 0 ? b->job.runs_per_boot : 1;
	double sum = NOISE_BOOTS * (p->boot_sd * p->boot_sd + p->sigma * p->sigma / runs);
	double dof = NOISE_BOOTS;
	const char *list[BISECTION_BASES_MAX + 2];
	size_t n = bisection_bases_commits(b, list);

	for (size_t i = 0; i < n; i++) {
		struct measured m = measure_of(b, list[i]);

		sum += m.squares;
		dof += m.boots > 1 ? m.boots - 1 : 0;
	}
	return sum / dof;
}

static struct bisect_level level_of(const struct measured *m, double boot_variance,
				    const struct bisect_params *p)
{
	return (struct bisect_level){ .mean = m->mean,
				      .sd = sqrt(p->commit_sd * p->commit_sd +
						 boot_variance / (m->boots ? m->boots : 1)),
				      .boots = m->boots };
}

int bisection_bases_untestable(struct bisection_run *b, const char *hash, const char **ret_reason,
			       struct err *e)
{
	enum need_state need = NEED_READY;
	int64_t build;
	int blamed = 0, tainted = 0, ok = 0;
	int r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);

	if (r == 0)
		r = need_build(b->c, &b->job, hash, bisection_order_prio(b), &build, &need, e);
	if (r < 0)
		return r;
	*ret_reason = "build";
	if (need == NEED_FAILED)
		return 1;
	*ret_reason = "boot";
	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *o = &b->boots[i];
		enum lab_class class;

		if (strcmp(o->commit, hash) != 0 || o->wanted || o->excluded || o->unproven)
			continue;
		ok += o->ok;
		tainted += !o->ok && bisection_failures_taint(o->class);
		if (!o->ok && lab_class_find(o->class, &class, NULL) == 0)
			blamed += lab_class_blames_kernel(class);
	}
	return !ok && (blamed >= 2 || tainted >= 3);
}

/* In place of base @i its first parent, which both ends have as well. */
static int go_back(struct bisection_run *b, size_t i, struct err *e)
{
	struct bisection_fork *f = &b->fork;
	struct mirror_commit commit;
	int r;

	r = mirror_commit(b->mirror, f->bases[i], &commit, e);
	if (r < 0)
		return r;
	if (f->older[i] == BISECTION_OLDER_MOST || commit.n_parents == 0) {
		f->sides[i] = BISECT_BASE_UNTESTED;
	} else {
		if (!f->instead[i][0])
			memcpy(f->instead[i], f->bases[i], sizeof(f->instead[i]));
		memcpy(f->bases[i], commit.parents[0], sizeof(f->bases[i]));
		f->older[i]++;
	}
	mirror_commit_done(&commit);
	return 0;
}

static int replace_broken(struct bisection_run *b, struct err *e)
{
	struct bisection_fork *f = &b->fork;
	const char *reason;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->n_bases; i++)
		while (f->sides[i] == BISECT_BASE_OPEN &&
		       (r = bisection_bases_untestable(b, f->bases[i], &reason, e)) > 0) {
			r = go_back(b, i, e);
			if (r < 0)
				break;
		}
	return r < 0 ? r : 0;
}

/* Ends and the bases that are still open, the ends outermost. */
static size_t open_commits(const struct bisection_run *b, struct bisection_side *list)
{
	const struct bisection_fork *f = &b->fork;
	size_t n = 0;

	list[n++] = (struct bisection_side){ .hash = b->row.good };
	for (size_t i = 0; i < f->n_bases; i++)
		if (f->sides[i] == BISECT_BASE_OPEN)
			list[n++] = (struct bisection_side){ .hash = f->bases[i] };
	list[n++] = (struct bisection_side){ .hash = b->row.bad };
	return n;
}

int bisection_bases_order(struct bisection_run *b, struct err *e)
{
	struct bisection_side list[BISECTION_BASES_MAX + 2];
	int r;

	/* The search will say that an end is broken. */
	if (b->state.skip[b->range.graph.n - 1] != BISECT_TESTABLE)
		return 0;
	r = replace_broken(b, e);
	return r < 0 ? r : bisection_order_turns(b, list, open_commits(b, list), FIRST_BOOTS, e);
}

/* Which end each base is like, by all that was measured so far. */
static void judge(struct bisection_run *b)
{
	const struct bisect_params *p = &b->state.params;
	struct bisection_fork *f = &b->fork;
	const double variance = boot_variance(b);
	const struct measured g = measure_of(b, b->row.good), d = measure_of(b, b->row.bad);
	const struct bisect_level good = level_of(&g, variance, p), bad = level_of(&d, variance, p);

	for (size_t i = 0; i < f->n_bases; i++) {
		const struct measured m = measure_of(b, f->bases[i]);
		const struct bisect_level base = level_of(&m, variance, p);

		if (m.boots && b->ln)
			f->rel[i] = expm1(m.mean - g.mean);
		if (f->sides[i] != BISECT_BASE_OPEN)
			continue;
		f->sides[i] = bisect_base_side(&good, &bad, &base);
		/* Boots that do not give the metric never will. */
		if (f->sides[i] == BISECT_BASE_OPEN && m.ok >= BISECT_BASE_BOOTS_MOST)
			f->sides[i] = m.boots ? BISECT_BASE_BETWEEN : BISECT_BASE_UNTESTED;
	}
}

static int go_on(struct bisection_run *b, enum bisection_stage stage, size_t from, struct err *e)
{
	struct bisection_fork *f = &b->fork;
	int r;

	f->stage = stage;
	f->stored = false;
	(void)snprintf(f->from, sizeof(f->from), "%s",
		       from < f->n_bases ? f->bases[from] : b->row.good);
	log_info(stage == BISECTION_GOOD_SIDE
			 ? "a merge base is bad, what the bad end lacks is looked for"
			 : "merge bases are good, the bad side is searched",
		 lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", f->from));
	b->n_asked = 0;
	b->step = NULL;
	r = bisection_order_progress(b, "checking-ends", e);
	return r < 0 ? r : work_enqueue_name(b->c->db, "bisect", "bisection", b->row.id, e);
}

/* One more boot of each open base, with the ends around it. */
static int measure_more(struct bisection_run *b, struct err *e)
{
	struct bisection_side list[BISECTION_BASES_MAX + 2];
	size_t n = open_commits(b, list);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = bisection_order(b, list[i].hash, 1, b->job.runs_per_boot, true, e);
	return r < 0 ? r : bisection_order_progress(b, "checking-ends", e);
}

int bisection_bases_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	struct bisection_fork *f = &b->fork;
	size_t from;

	if (step->action != BISECT_DONE)
		return bisection_answer_failed(
			b, "inconclusive",
			b->late ? "the deadline passed before it was known on which side of the "
				  "merge base the ends differ"
				: "the budget was spent before it was known on which side of the "
				  "merge base the ends differ",
			e);
	judge(b);
	switch (bisect_bases_decide(f->sides, f->n_bases, &from)) {
	case BISECT_BASES_MEASURE:
		return measure_more(b, e);
	case BISECT_BASES_BAD_SIDE:
		return go_on(b, BISECTION_BAD_SIDE, from, e);
	case BISECT_BASES_GOOD_SIDE:
		return go_on(b, BISECTION_GOOD_SIDE, from, e);
	case BISECT_BASES_UNKNOWN:
		break;
	}
	return bisection_answer_failed(b, "inconclusive",
				       "the ends differ, but neither their merge base nor the "
				       "commits before it can be measured: the step may be older "
				       "than the branches",
				       e);
}

static size_t base_of(const struct bisection_fork *f, const char *hash)
{
	size_t i = 0;

	while (i < f->n_bases && strcmp(f->bases[i], hash) != 0)
		i++;
	return i;
}

int bisection_bases_log(struct bisection_run *b, const struct bisection_asked *asked, struct err *e)
{
	struct bisect_step_row s = { .commit = asked->hash, .p_bad = NAN, .rel = NAN };
	const struct measured m = measure_of(b, asked->hash), g = measure_of(b, b->row.good);
	int r;

	if (b->fork.stage != BISECTION_BASES || base_of(&b->fork, asked->hash) == b->fork.n_bases)
		return 1;
	s.boots = m.boots;
	s.runs = m.runs;
	s.left_eff = (double)b->fork.commits;
	s.took_s = (double)(b->now_s - asked->at);
	r = bisection_bases_untestable(b, asked->hash, &s.reason, e);
	if (r < 0)
		return r;
	if (r > 0) {
		s.verdict = "skip";
		s.detail = "the merge base cannot be measured, its parent is taken instead";
	} else if (!m.ok) {
		return 0;
	} else {
		struct bisection_fork was = b->fork;

		judge(b);
		s.verdict = b->fork.sides[base_of(&b->fork, asked->hash)] == BISECT_BASE_BAD ? "bad"
			    : b->fork.sides[base_of(&b->fork, asked->hash)] == BISECT_BASE_GOOD
				    ? "good"
				    : "unsure";
		b->fork = was;
		s.reason = NULL;
		if (b->ln && m.boots && g.boots)
			s.rel = expm1(m.mean - g.mean);
	}
	r = bisection_step_add(b->c->db, b->row.id, &s, e);
	return r < 0 ? r : 1;
}
