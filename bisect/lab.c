/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/lab.h"
#include "bisect/eval.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define OUTLIER_WIDTH 4.0
#define STEPS_MOST    5000

static size_t lab_slot(const struct bisect_lab *lab, int commit)
{
	return commit == BISECT_GOOD_END ? lab->g->n : (size_t)commit;
}

/* Any other commit; one that reverts must come after. */
static void draw_second(struct bisect_lab *lab)
{
	const size_t n = lab->g->n;

	while (n > 1 && lab->second == BISECT_NO_COMMIT) {
		size_t c = gsl_rng_uniform_int(lab->rng, n);

		if (lab->culprit == (int)n - 1)
			lab->culprit = (int)gsl_rng_uniform_int(lab->rng, n);
		else if ((int)c != lab->culprit &&
			 (lab->sim->second > 0 ||
			  bisect_graph_contains(lab->g, c, (size_t)lab->culprit)))
			lab->second = (int)c;
	}
}

void bisect_lab_init(struct bisect_lab *lab, const struct bisect_graph *g,
		     const struct bisect_sim *sim)
{
	*lab = (struct bisect_lab){ .g = g, .sim = sim };
	lab->build_effect = xcalloc(g->n + 1, sizeof(*lab->build_effect));
	lab->boots_of = xcalloc(g->n + 1, sizeof(*lab->boots_of));
	lab->broken = xcalloc(g->n, sizeof(*lab->broken));
	lab->rng = gsl_rng_alloc(gsl_rng_taus2);
}

void bisect_lab_done(struct bisect_lab *lab)
{
	gsl_rng_free(lab->rng);
	free(lab->build_effect);
	free(lab->boots_of);
	free(lab->broken);
}

/* The finaliser of splitmix64. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Boot 0 stands for the build. */
static void lab_seek(struct bisect_lab *lab, size_t slot, int boot)
{
	gsl_rng_set(lab->rng, mix(mix(lab->seed + slot) + (uint64_t)boot) & UINT32_MAX);
}

void bisect_lab_reset(struct bisect_lab *lab, uint64_t seed, int trial)
{
	const size_t n = lab->g->n;

	lab->seed = mix(mix(seed) + (uint64_t)trial);
	gsl_rng_set(lab->rng, lab->seed & UINT32_MAX);

	lab->boot = lab->builds = lab->boots = lab->runs = 0;
	lab->minutes = lab->wall = 0;
	lab->culprit = lab->sim->culprit;
	if (lab->culprit == BISECT_SIM_ANY)
		lab->culprit = (int)gsl_rng_uniform_int(lab->rng, n);
	while (lab->culprit == BISECT_SIM_MERGE) {
		size_t c = gsl_rng_uniform_int(lab->rng, n);

		if (bisect_graph_is_merge(lab->g, c))
			lab->culprit = (int)c;
	}
	lab->second = BISECT_NO_COMMIT;
	if (lab->sim->second != 0 && lab->culprit >= 0)
		draw_second(lab);
	for (size_t c = 0; c <= n; c++)
		lab->build_effect[c] = (double)NAN;
	memset(lab->boots_of, 0, (n + 1) * sizeof(*lab->boots_of));
	for (size_t c = 0; c < n; c++)
		lab->broken[c] = gsl_rng_uniform(lab->rng) < lab->sim->skip && c + 1 < n &&
				 (int)c != lab->culprit && (int)c != lab->second;
	for (int c = lab->culprit - lab->sim->cluster;
	     lab->sim->cluster > 0 && lab->culprit >= 0 && c <= lab->culprit + lab->sim->cluster;
	     c++)
		if (c >= 0 && c + 1 < (int)n)
			lab->broken[c] = true;
}

bool bisect_lab_is_broken(const struct bisect_lab *lab, int commit)
{
	return commit != BISECT_GOOD_END && lab->broken[commit];
}

static double lab_level(struct bisect_lab *lab, int commit)
{
	const struct bisect_params *p = &lab->sim->model;
	size_t at = lab_slot(lab, commit);
	double share = 0;

	if (commit != BISECT_GOOD_END && lab->culprit >= 0 &&
	    bisect_graph_contains(lab->g, (size_t)commit, (size_t)lab->culprit))
		share += lab->second >= 0 && lab->sim->second > 0 ? 1 - lab->sim->second : 1;
	if (commit != BISECT_GOOD_END && lab->second >= 0 &&
	    bisect_graph_contains(lab->g, (size_t)commit, (size_t)lab->second))
		share += lab->sim->second;
	if (isnan(lab->build_effect[at])) {
		lab_seek(lab, at, 0);
		lab->build_effect[at] = gsl_ran_gaussian(lab->rng, p->commit_sd);
	}
	return lab->base + lab->build_effect[at] + share * p->step;
}

void bisect_lab_boot(struct bisect_lab *lab, int commit, int n, double *y)
{
	const struct bisect_params *p = &lab->sim->model;
	double level = lab_level(lab, commit);
	size_t at = lab_slot(lab, commit);

	lab_seek(lab, at, ++lab->boots_of[at]);
	level += gsl_ran_gaussian(lab->rng, p->boot_sd);
	for (int i = 0; i < n; i++) {
		bool wide = gsl_rng_uniform(lab->rng) < lab->sim->outliers;

		y[i] = level + gsl_ran_gaussian(lab->rng, p->sigma * (wide ? OUTLIER_WIDTH : 1.0));
	}
	lab->boot++;
	lab->boots++;
	lab->runs += n;
	lab->minutes += p->cost_boot + n * p->cost_run;
}

/* A measurement under way on one machine. */
struct machine {
	bool busy;
	double until;
	struct bisect_step step;
};

static int machine_start(struct bisect_lab *lab, struct bisect_state *s, struct machine *m,
			 struct err *e)
{
	double build = bisect_build_minutes(s, m->step.commit);
	double took = build;

	if (build > 0) {
		lab->builds++;
		lab->minutes += build;
	}
	if (!bisect_lab_is_broken(lab, m->step.commit))
		took += m->step.boots * (s->params.cost_boot + m->step.runs * s->params.cost_run);
	m->busy = true;
	m->until = lab->wall + took;
	return bisect_set_pending(s, m->step.commit,
				  s->pending[lab_slot(lab, m->step.commit)] + m->step.boots, e);
}

static int machine_finish(struct bisect_lab *lab, struct bisect_state *s, struct machine *m,
			  struct err *e)
{
	int commit = m->step.commit;
	int r = bisect_set_pending(s, commit, s->pending[lab_slot(lab, commit)] - m->step.boots, e);

	m->busy = false;
	if (r < 0)
		return r;
	if (bisect_lab_is_broken(lab, commit))
		return bisect_skip(s, commit, BISECT_SKIP_BUILD, e);
	for (int b = 0; b < m->step.boots; b++) {
		double y[16];

		bisect_lab_boot(lab, commit, m->step.runs, y);
		for (int i = 0; i < m->step.runs; i++) {
			r = bisect_add_run(s, commit, lab->boot, y[i], e);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static struct machine *first_to_finish(struct machine *machines, int n)
{
	struct machine *first = NULL;

	for (int i = 0; i < n; i++)
		if (machines[i].busy && (!first || machines[i].until < first->until))
			first = &machines[i];
	return first;
}

static struct machine *first_idle(struct machine *machines, int n)
{
	for (int i = 0; i < n; i++)
		if (!machines[i].busy)
			return &machines[i];
	return NULL;
}

static void take_answer(const struct bisect_lab *lab, const struct bisect_step *step,
			struct bisect_answer *ret)
{
	*ret = (struct bisect_answer){ .action = step->action,
				       .commit = step->commit,
				       .probability = step->probability,
				       .second = step->second,
				       .second_probability = step->second_probability,
				       .merge = step->merge,
				       .drifted = step->drifted };
	for (size_t i = 0; i < step->n_set; i++)
		ret->in_set |= step->set[i] == lab->culprit;
}

int bisect_lab_search(struct bisect_lab *lab, struct bisect_state *s, struct bisect_answer *ret,
		      struct err *e)
{
	struct machine machines[BISECT_MACHINES_MOST] = { 0 };
	const int n = lab->sim->machines;

	for (int i = 0; i < STEPS_MOST; i++) {
		struct machine *m = first_idle(machines, n);
		struct bisect_step step = { .action = BISECT_WAIT };
		int r;

		lab->cut = lab->steps == 1;
		if (lab->cut)
			return 0;
		lab->steps -= m && lab->steps;
		r = m ? bisect_next(s, &step, e) : 0;

		if (r == 0 && m && step.action == BISECT_MEASURE) {
			m->step = step;
			r = machine_start(lab, s, m, e);
			if (r < 0)
				return r;
			continue;
		}
		if (r == 0 && step.action != BISECT_WAIT) {
			take_answer(lab, &step, ret);
			bisect_step_done(&step);
			return 0;
		}
		m = first_to_finish(machines, n);
		if (r == 0 && !m)
			return err_set(e, ERR_BUG, "the search waits for nothing");
		if (r == 0) {
			lab->wall = m->until;
			r = machine_finish(lab, s, m, e);
		}
		if (r < 0)
			return r;
	}
	return err_set(e, ERR_BUG, "no answer after %d steps", STEPS_MOST);
}
