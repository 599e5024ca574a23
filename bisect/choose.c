/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurement that tells most about the culprit per minute. */
#include "bisect/eval.h"
#include "bisect/inform.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define SCREENED 8
/*
 * A new build can be measured again for little, and will be where its first boot says least: what
 * it gives per minute in the end is more than what its first boot does. Dynamic programming over
 * the log odds of one commit says 1.02 for a step of five times the noise and 1.12 for twice the
 * noise with known levels; the levels are not known, and new commits tell about them too.
 */
#define WORTH_OF_BUILD 1.2

/*
 * A world is one outcome of the measurements under way: the commits that agree with it keep their
 * posterior, the others have 0. What a further measurement tells is averaged over the worlds.
 */
struct world {
	double *p;
	double p_none;
	double *p_bad;
	struct bisect_outlook forecast;
};

#define WORLDS_MOST 8

struct chooser {
	const struct bisect_state *s;
	const struct bisect_eval *v;
	struct world worlds[WORLDS_MOST];
	size_t n_worlds;
	struct bisect_component *good_level; /* per class */
	struct bisect_component *bad_level;
	double *testable;
	double *verified; /* probability of being the culprit or a parent of it */
	double *scratch;
	double *blurred;
	struct bisect_choice best;
};

static struct bisect_component grid_moments(const double *q, const struct bisect_eval *v,
					    double weight)
{
	struct bisect_component c = { .weight = weight };
	double sum = 0;
	double sq = 0;
	double mean = 0;

	for (size_t i = 0; i < v->grid; i++) {
		sum += q[i];
		mean += q[i] * (double)i;
	}
	mean /= sum;
	for (size_t i = 0; i < v->grid; i++)
		sq += q[i] * ((double)i - mean) * ((double)i - mean);
	c.mean = v->lo + mean * v->h;
	c.var = sq / sum * v->h * v->h;
	return c;
}

static void forecast_push(struct bisect_outlook *f, struct bisect_component c)
{
	if (c.weight >= BISECT_CLASS_LEAST)
		f->items[f->n++] = c;
}

static struct bisect_component with_weight(struct bisect_component c, double weight,
					   double more_var)
{
	c.weight = weight;
	c.var += more_var;
	return c;
}

/* A commit not measured before may split each class in a bad and a good part. */
static void forecast_new(struct chooser *ch, struct world *w, int x)
{
	const struct bisect_eval *v = ch->v;
	const double u = ch->s->params.commit_sd;
	_cleanup_(freep) double *bad = xcalloc(v->n_classes, sizeof(*bad));
	_cleanup_(freep) double *good = xcalloc(v->n_classes, sizeof(*good));

	for (size_t c = 0; c < ch->s->graph->n; c++) {
		double *to = bisect_eval_is_bad(ch->s, x, c) ? bad : good;

		to[v->class_of[c]] += w->p[c];
	}
	w->forecast.n = 0;
	for (size_t k = 0; k < v->n_classes; k++) {
		if (!v->classes[k].q0)
			continue;
		forecast_push(&w->forecast, with_weight(ch->bad_level[k], bad[k], u * u));
		forecast_push(&w->forecast, with_weight(ch->good_level[k], good[k], u * u));
	}
	if (w->p_none >= BISECT_CLASS_LEAST)
		forecast_push(&w->forecast,
			      with_weight(grid_moments(v->none_q, v, 1), w->p_none, u * u));
}

/*
 * The level of a build that exists: what is known of its side without it, times its own boots. If
 * the two do not meet, the build was off, and would be so again: measuring it once more tells
 * nothing, measuring another commit does.
 */
static struct bisect_component build_moments(struct chooser *ch, const struct bisect_node *node,
					     const double *q, double weight)
{
	const struct bisect_eval *v = ch->v;
	double sum = 0;

	for (size_t i = 0; i < v->grid; i++)
		sum += ch->scratch[i] = q[i] / node->like[i];
	bisect_grid_spread(ch->s, v, ch->scratch, ch->blurred, ch->s->params.commit_sd);
	for (size_t i = 0; i < v->grid; i++)
		ch->blurred[i] = (ch->blurred[i] + sum * node->anywhere) * node->boot_product[i];
	return grid_moments(ch->blurred, v, weight);
}

static void forecast_again(struct chooser *ch, struct world *w, const struct bisect_node *node)
{
	const struct bisect_eval *v = ch->v;
	_cleanup_(freep) double *mass = xcalloc(v->n_classes, sizeof(*mass));

	for (size_t c = 0; c < ch->s->graph->n; c++)
		mass[v->class_of[c]] += w->p[c];
	w->forecast.n = 0;
	for (size_t k = 0; k < v->n_classes; k++) {
		const struct bisect_class *c = &v->classes[k];
		bool bad = bisect_eval_is_bad(ch->s, node->commit, c->member);

		if (c->q0 && mass[k] >= BISECT_CLASS_LEAST)
			forecast_push(&w->forecast,
				      build_moments(ch, node, bad ? c->q1 : c->q0, mass[k]));
	}
	if (w->p_none >= BISECT_CLASS_LEAST)
		forecast_push(&w->forecast, build_moments(ch, node, v->none_q, w->p_none));
}

static double worlds_bits(const struct chooser *ch, double extra_var)
{
	double bits = 0;

	for (size_t i = 0; i < ch->n_worlds; i++)
		if (ch->worlds[i].forecast.n > 1)
			bits += bisect_outlook_bits(&ch->worlds[i].forecast, extra_var);
	return bits;
}

/*
 * Before a commit is named it and its parents are booted twice. A boot of a commit that is likely
 * among them does not cost what it saves then.
 */
static double minutes_saved(const struct chooser *ch, int commit, double build)
{
	const struct bisect_params *p = &ch->s->params;

	if (commit == BISECT_GOOD_END || bisect_boots(ch->s, commit) >= 2)
		return 0;
	return fmin(0.9, ch->verified[commit]) * (build + p->cost_boot + p->cost_run);
}

static void consider(struct chooser *ch, int commit)
{
	static const int runs[] = { 1, 2, 3, 4, 6, 8 };
	const struct bisect_params *p = &ch->s->params;
	const struct bisect_eval *v = ch->v;
	double testable = commit == BISECT_GOOD_END ? 1 : ch->testable[commit];
	double build = bisect_build_minutes(ch->s, commit);
	double saved = minutes_saved(ch, commit, build);
	double last = 0;

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		double extra = p->boot_sd * p->boot_sd + v->sigma_mean * v->sigma_mean / runs[i];
		double minutes = build + p->cost_boot + runs[i] * p->cost_run;
		double bits = worlds_bits(ch, extra);
		double rate =
			testable * bits / (minutes - saved) * (build > 0 ? WORTH_OF_BUILD : 1);

		if (rate > ch->best.rate)
			ch->best = (struct bisect_choice){ .commit = commit,
							   .runs = runs[i],
							   .bits = bits,
							   .minutes = minutes,
							   .rate = rate };
		/* More runs on a boot tell less and less: past its top the rate only falls. */
		if (rate < last)
			break;
		last = rate;
	}
}

static void distance_sweep(double *d, size_t n)
{
	for (size_t i = 1; i < n; i++)
		d[i] = fmin(d[i], d[i - 1] + 1);
	for (size_t i = n - 1; i-- > 0;)
		d[i] = fmin(d[i], d[i + 1] + 1);
}

/* Broken commits come in clusters: their neighbours are likely broken too, until one is not. */
static void fill_testable(struct chooser *ch)
{
	const struct bisect_state *s = ch->s;
	const size_t n = s->graph->n;
	_cleanup_(freep) double *to_broken = xcalloc(n, sizeof(double));
	_cleanup_(freep) double *to_sound = xcalloc(n, sizeof(double));

	for (size_t i = 0; i < n; i++) {
		ch->testable[i] = 1;
		to_broken[i] = s->skip[i] && s->skip[i] != BISECT_SKIP_OLDER ? 0 : INFINITY;
		to_sound[i] = bisect_eval_node(ch->v, (int)i) ? 0 : INFINITY;
	}
	if (s->n_skipped == 0)
		return;
	distance_sweep(to_broken, n);
	distance_sweep(to_sound, n);
	for (size_t i = 0; i < n; i++) {
		double share = isinf(to_sound[i]) ? 1 : to_sound[i] / (to_sound[i] + to_broken[i]);

		ch->testable[i] = 1 - 0.9 * exp(-to_broken[i] / 15) * share;
	}
}

static double binary_entropy(double w)
{
	if (w <= 0 || w >= 1)
		return 0;
	return -w * log2(w) - (1 - w) * log2(1 - w);
}

/* Two levels and the same noise everywhere: then what counts is how evenly x divides. */
static double screen_score(const struct chooser *ch, size_t x)
{
	const struct bisect_params *p = &ch->s->params;
	double minutes = bisect_build_minutes(ch->s, (int)x) + p->cost_boot + p->cost_run;
	double bits = 0;

	for (size_t i = 0; i < ch->n_worlds; i++) {
		const struct world *w = &ch->worlds[i];
		double total = w->p_bad[ch->s->graph->n - 1] + w->p_none;

		if (total > 0)
			bits += total * binary_entropy(w->p_bad[x] / total);
	}
	return bits * ch->testable[x] / minutes;
}

static size_t screen_new(const struct chooser *ch, int *ret)
{
	double score[SCREENED];
	size_t n = 0;

	for (size_t x = 0; x < ch->s->graph->n; x++) {
		double now;
		size_t at = n;

		if (ch->s->skip[x] || ch->s->pending[x] || bisect_eval_node(ch->v, (int)x))
			continue;
		now = screen_score(ch, x);
		while (at > 0 && score[at - 1] < now)
			at--;
		if (now <= 0 || at == SCREENED)
			continue;
		if (n < SCREENED)
			n++;
		memmove(&score[at + 1], &score[at], (n - 1 - at) * sizeof(*score));
		memmove(&ret[at + 1], &ret[at], (n - 1 - at) * sizeof(*ret));
		score[at] = now;
		ret[at] = (int)x;
	}
	return n;
}

static void consider_measured(struct chooser *ch)
{
	const int bad_end = (int)ch->s->graph->n - 1;

	for (size_t i = 0; i < ch->v->n_nodes; i++) {
		const struct bisect_node *node = &ch->v->nodes[i];
		bool end = node->commit == BISECT_GOOD_END || node->commit == bad_end;
		double bad = 0;

		for (size_t w = 0; w < ch->n_worlds && !end; w++)
			bad += ch->worlds[w].p_bad[node->commit];
		/* A commit whose side is clear tells about its level only, and the ends know best. */
		if ((!end && (bad < 1e-3 || bad > 1 - 1e-3)) ||
		    ch->s->pending[end && node->commit != bad_end ? ch->s->graph->n
								  : (size_t)node->commit])
			continue;
		for (size_t w = 0; w < ch->n_worlds; w++)
			forecast_again(ch, &ch->worlds[w], node);
		consider(ch, node->commit);
	}
}

/* Halve the worlds by the outcome of measuring @x; NONE agrees with good. */
static void split_worlds(struct chooser *ch, size_t x)
{
	const size_t n = ch->s->graph->n;
	const size_t before = ch->n_worlds;

	for (size_t i = 0; i < before; i++) {
		struct world *good = &ch->worlds[i];
		struct world *bad = &ch->worlds[ch->n_worlds++];

		bad->p = xcalloc(n, sizeof(double));
		for (size_t c = 0; c < n; c++)
			if (bisect_graph_contains(ch->s->graph, x, c)) {
				bad->p[c] = good->p[c];
				good->p[c] = 0;
			}
	}
}

static void make_worlds(struct chooser *ch)
{
	const size_t n = ch->s->graph->n;
	struct world *first = &ch->worlds[0];

	ch->n_worlds = 1;
	first->p = xcalloc(n, sizeof(double));
	memcpy(first->p, ch->v->p, n * sizeof(double));
	first->p_none = ch->v->p_none;
	for (size_t x = 0; x + 1 < n && 2 * ch->n_worlds <= WORLDS_MOST; x++)
		if (ch->s->pending[x])
			split_worlds(ch, x);
	for (size_t i = 0; i < ch->n_worlds; i++) {
		struct world *w = &ch->worlds[i];

		w->p_bad = xcalloc(n, sizeof(double));
		bisect_eval_p_bad_all(ch->s, ch->v, w->p, w->p_bad);
		w->forecast.items = xcalloc(2 * ch->v->n_classes + 1, sizeof(*w->forecast.items));
	}
}

static void fill_verified(struct chooser *ch)
{
	const struct bisect_graph *g = ch->s->graph;

	for (size_t c = 0; c < g->n; c++) {
		ch->verified[c] += ch->v->p[c];
		for (size_t j = 0; j < g->commits[c].n_parents; j++)
			ch->verified[g->commits[c].parents[j]] += ch->v->p[c];
	}
}

static void chooser_init(struct chooser *ch)
{
	const struct bisect_eval *v = ch->v;

	make_worlds(ch);
	ch->testable = xcalloc(ch->s->graph->n, sizeof(double));
	ch->verified = xcalloc(ch->s->graph->n, sizeof(double));
	ch->scratch = xcalloc(v->grid, sizeof(double));
	ch->blurred = xcalloc(v->grid, sizeof(double));
	ch->good_level = xcalloc(v->n_classes, sizeof(*ch->good_level));
	ch->bad_level = xcalloc(v->n_classes, sizeof(*ch->bad_level));
	for (size_t k = 0; k < v->n_classes; k++)
		if (v->classes[k].q0) {
			ch->good_level[k] = grid_moments(v->classes[k].q0, v, 1);
			ch->bad_level[k] = grid_moments(v->classes[k].q1, v, 1);
		}
	fill_testable(ch);
	fill_verified(ch);
}

static void chooser_done(struct chooser *ch)
{
	for (size_t i = 0; i < ch->n_worlds; i++) {
		free(ch->worlds[i].p);
		free(ch->worlds[i].p_bad);
		free(ch->worlds[i].forecast.items);
	}
	free(ch->testable);
	free(ch->verified);
	free(ch->scratch);
	free(ch->blurred);
	free(ch->good_level);
	free(ch->bad_level);
}

void bisect_choose(const struct bisect_state *s, const struct bisect_eval *v,
		   struct bisect_choice *ret)
{
	struct chooser ch = { .s = s, .v = v };
	int screened[SCREENED];
	size_t n_screened;

	chooser_init(&ch);
	n_screened = screen_new(&ch, screened);
	for (size_t i = 0; i < n_screened; i++) {
		for (size_t w = 0; w < ch.n_worlds; w++)
			forecast_new(&ch, &ch.worlds[w], screened[i]);
		consider(&ch, screened[i]);
	}
	consider_measured(&ch);
	*ret = ch.best;
	chooser_done(&ch);
}
