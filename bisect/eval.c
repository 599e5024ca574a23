/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evidence of each class of commits, and the posterior. */
#include "bisect/eval.h"
#include "bisect/grid.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

void bisect_eval_free(struct bisect_eval *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_nodes; i++) {
		free(v->nodes[i].boot_product);
		free(v->nodes[i].like);
		free(v->nodes[i].log_like);
	}
	for (size_t k = 0; k < v->n_classes; k++) {
		free(v->classes[k].q0);
		free(v->classes[k].q1);
	}
	free(v->nodes);
	free(v->classes);
	free(v->class_of);
	free(v->step_up);
	free(v->step_down);
	free(v->row_norm);
	free(v->none_q);
	free(v->p);
	free(v);
}

const struct bisect_node *bisect_eval_node(const struct bisect_eval *v, int commit)
{
	for (size_t i = 0; i < v->n_nodes; i++)
		if (v->nodes[i].commit == commit)
			return &v->nodes[i];
	return NULL;
}

/*
 * A step that is both a small part of the one reported and small against the noise is not what is
 * searched for; and it would explain equal ends as well as none does.
 */
#define STEP_LEAST_SHARE 0.4
#define STEP_LEAST_SDS	 0.8
/* Where only its least size is known, one that looks smaller may still be it. */
#define STEP_LEAST_LOOKS 0.5

/* The prior of the step by its size in cells; a step that is not known may go either way. */
static void step_prior(struct bisect_eval *v, const struct bisect_params *p)
{
	double sd = fmax(p->step_sd, fabs(p->step) / 2);
	double noise =
		sqrt(v->sigma * v->sigma + p->boot_sd * p->boot_sd + p->commit_sd * p->commit_sd);
	double least = fmin(STEP_LEAST_SHARE * fabs(p->step), STEP_LEAST_SDS * noise);

	if (p->step == 0)
		least = STEP_LEAST_LOOKS * p->step_least;
	v->step_up = xcalloc(v->grid, sizeof(double));
	v->step_down = xcalloc(v->grid, sizeof(double));
	v->row_norm = xcalloc(v->grid, sizeof(double));
	for (size_t i = 0; i < v->grid; i++) {
		double z = sd > 0 ? ((double)i * v->h - fabs(p->step)) / sd : 0;
		double density = exp(-0.5 * z * z) * (i == 0 ? 0.5 : 1);

		if (density < 1e-12 || (double)i * v->h < least)
			density = 0;
		v->step_up[i] = p->step >= 0 ? density : 0;
		v->step_down[i] = p->step <= 0 ? density : 0;
	}
}

/* ret[m] = sum over i of up[i] src[m + i] + down[i] src[m - i] */
static void step_apply(const double *up, const double *down, const double *src, double *ret,
		       size_t n)
{
	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		if (up[i] > 0)
			for (size_t m = 0; m + i < n; m++)
				ret[m] += up[i] * src[m + i];
		if (down[i] > 0)
			for (size_t m = i; m < n; m++)
				ret[m] += down[i] * src[m - i];
	}
}

static void step_norm(struct bisect_eval *v, double *norm)
{
	_cleanup_(freep) double *ones = xcalloc(v->grid, sizeof(double));

	for (size_t i = 0; i < v->grid; i++)
		ones[i] = 1;
	step_apply(v->step_up, v->step_down, ones, norm, v->grid);
	/* A level so near the edge that no step fits must not blow up. */
	for (size_t i = 0; i < v->grid; i++)
		norm[i] = fmax(norm[i], 1e-6);
}

static void split_classes(struct bisect_eval *v, const struct bisect_state *s)
{
	const size_t n = s->graph->n;
	_cleanup_(freep) size_t *to = xcalloc(2 * n + 2, sizeof(*to));
	size_t k = 1;

	v->class_of = xcalloc(n, sizeof(*v->class_of));
	for (size_t i = 0; i < v->n_nodes; i++) {
		int x = v->nodes[i].commit;
		size_t next = 0;

		if (x == BISECT_GOOD_END || x == (int)n - 1)
			continue;
		memset(to, 0, 2 * k * sizeof(*to));
		for (size_t c = 0; c < n; c++) {
			size_t id = 2 * v->class_of[c] + bisect_eval_is_bad(s, x, c);

			if (to[id] == 0)
				to[id] = ++next;
			v->class_of[c] = to[id] - 1;
		}
		k = next;
	}
	v->n_classes = k;
	v->classes = xcalloc(k, sizeof(*v->classes));
	for (size_t c = n; c-- > 0;)
		v->classes[v->class_of[c]].member = c;
}

/* exp(a - max a) in place; returns the max. */
static double exp_scaled(double *a, size_t n)
{
	double top = a[0];

	for (size_t i = 1; i < n; i++)
		top = fmax(top, a[i]);
	for (size_t i = 0; i < n; i++)
		a[i] = exp(a[i] - top);
	return top;
}

struct sides {
	double *e0; /* product of the good side's likelihoods, largest 1, over the row norm */
	double *e1; /* of the bad side's */
	double *t;  /* step prior applied to e1 */
	double log_scale;
};

static void sides_compute(struct sides *w, const struct bisect_eval *v,
			  const struct bisect_state *s, size_t member)
{
	memset(w->e0, 0, v->grid * sizeof(double));
	memset(w->e1, 0, v->grid * sizeof(double));
	for (size_t i = 0; i < v->n_nodes; i++) {
		const double *l = v->nodes[i].log_like;
		double *to = bisect_eval_is_bad(s, v->nodes[i].commit, member) ? w->e1 : w->e0;

		for (size_t g = 0; g < v->grid; g++)
			to[g] += l[g];
	}
	w->log_scale = exp_scaled(w->e0, v->grid) + exp_scaled(w->e1, v->grid);
	for (size_t g = 0; g < v->grid; g++)
		w->e0[g] /= v->row_norm[g];
	step_apply(v->step_up, v->step_down, w->e1, w->t, v->grid);
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double *normalised_product(const double *a, const double *b, size_t n)
{
	double *q = xcalloc(n, sizeof(double));
	double sum = dot(a, b, n);

	for (size_t i = 0; i < n; i++)
		q[i] = sum > 0 ? a[i] * b[i] / sum : 1.0 / (double)n;
	return q;
}

static void none_compute(struct bisect_eval *v)
{
	double sum = 0;
	double top;

	v->none_q = xcalloc(v->grid, sizeof(double));
	for (size_t i = 0; i < v->n_nodes; i++)
		for (size_t g = 0; g < v->grid; g++)
			v->none_q[g] += v->nodes[i].log_like[g];
	top = exp_scaled(v->none_q, v->grid);
	for (size_t g = 0; g < v->grid; g++)
		sum += v->none_q[g];
	for (size_t g = 0; g < v->grid; g++)
		v->none_q[g] /= sum;
	v->none_log_ev = top + log(sum);
}

static void posterior_compute(struct bisect_eval *v, const struct bisect_state *s)
{
	const size_t n = s->graph->n;
	double top = v->none_log_ev;
	double weight = 0;
	double none;
	double total;

	v->p = xcalloc(n, sizeof(double));
	for (size_t k = 0; k < v->n_classes; k++)
		top = fmax(top, v->classes[k].log_ev);
	for (size_t c = 0; c < n; c++)
		weight += s->prior[c];
	none = s->params.prior_none * exp(v->none_log_ev - top);
	total = none;
	for (size_t c = 0; c < n; c++) {
		v->p[c] = (1 - s->params.prior_none) * s->prior[c] / weight *
			  exp(v->classes[v->class_of[c]].log_ev - top);
		total += v->p[c];
	}
	v->p_none = none / total;
	for (size_t c = 0; c < n; c++) {
		v->p[c] /= total;
		v->classes[v->class_of[c]].mass += v->p[c];
	}
}

/* The levels, for the classes that matter to a forecast. */
static double level_mean(const double *q, size_t n)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += q[i] * (double)i;
	return mean;
}

static void levels_compute(struct bisect_eval *v, const struct bisect_state *s, struct sides *w)
{
	_cleanup_(freep) double *back = xcalloc(v->grid, sizeof(double));
	double mass = 0;

	for (size_t k = 0; k < v->n_classes; k++) {
		struct bisect_class *c = &v->classes[k];

		if (c->mass < BISECT_CLASS_LEAST)
			continue;
		sides_compute(w, v, s, c->member);
		c->q0 = normalised_product(w->e0, w->t, v->grid);
		/* Seen from the bad level, a step up came from below. */
		step_apply(v->step_down, v->step_up, w->e0, back, v->grid);
		c->q1 = normalised_product(w->e1, back, v->grid);
		v->step_today += c->mass *
				 fabs(level_mean(c->q1, v->grid) - level_mean(c->q0, v->grid)) *
				 v->h;
		mass += c->mass;
	}
	v->step_today = mass > 0 ? v->step_today / mass : fabs(s->params.step);
}

/* Evidence that the ends differ by less than @least, any difference below being as likely. */
static double ends_small(const struct bisect_eval *v, const struct bisect_node *good,
			 const struct bisect_node *bad, double least)
{
	double all = 0;
	double norm = 0;

	for (size_t g = 0; g < v->grid; g++) {
		for (size_t m = 0; m < v->grid; m++) {
			if (fabs((double)m - (double)g) * v->h >= least)
				continue;
			all += good->like[g] * bad->like[m];
			norm += 1.0 / (double)v->grid;
		}
	}
	return all / norm;
}

/* Do the ends alone differ? ln Bayes factors against one common level. */
static void ends_compute(struct bisect_eval *v, const struct bisect_state *s, struct sides *w)
{
	const struct bisect_node *good = bisect_eval_node(v, BISECT_GOOD_END);
	const struct bisect_node *bad = bisect_eval_node(v, (int)s->graph->n - 1);
	_cleanup_(freep) double *up = xcalloc(v->grid, sizeof(double));
	_cleanup_(freep) double *down = xcalloc(v->grid, sizeof(double));
	_cleanup_(freep) double *norm = xcalloc(v->grid, sizeof(double));
	double least = s->params.step != 0	  ? fabs(s->params.step) / 2
		       : s->params.step_least > 0 ? s->params.step_least
						  : s->params.sigma;
	double none;
	double large = 0;
	double all = 0;

	if (!good || !bad)
		return;
	none = dot(good->like, bad->like, v->grid);
	step_apply(v->step_up, v->step_down, bad->like, w->t, v->grid);
	for (size_t g = 0; g < v->grid; g++)
		all += good->like[g] * w->t[g] / v->row_norm[g];
	v->ends_log_differ = log(all / none);
	for (size_t i = 0; i < v->grid; i++) {
		up[i] = (double)i * v->h >= least ? v->step_up[i] : 0;
		down[i] = (double)i * v->h >= least ? v->step_down[i] : 0;
		w->e1[i] = 1;
	}
	step_apply(up, down, w->e1, norm, v->grid);
	step_apply(up, down, bad->like, w->t, v->grid);
	for (size_t g = 0; g < v->grid; g++)
		large += norm[g] > 1e-6 ? good->like[g] * w->t[g] / norm[g] : 0;
	v->ends_log_equal = log((s->params.step == 0 && s->params.step_least > 0
					 ? ends_small(v, good, bad, least)
					 : none) /
				fmax(large, 1e-300));
}

struct bisect_eval *bisect_eval_get(struct bisect_state *s)
{
	struct bisect_eval *v = s->eval;
	struct sides w;

	if (v)
		return v;
	v = s->eval = xcalloc(1, sizeof(*v));
	bisect_grid_fill(v, s);
	step_prior(v, &s->params);
	step_norm(v, v->row_norm);
	split_classes(v, s);
	w = (struct sides){ .e0 = xcalloc(v->grid, sizeof(double)),
			    .e1 = xcalloc(v->grid, sizeof(double)),
			    .t = xcalloc(v->grid, sizeof(double)) };
	for (size_t k = 0; k < v->n_classes; k++) {
		sides_compute(&w, v, s, v->classes[k].member);
		v->classes[k].log_ev = w.log_scale + log(dot(w.e0, w.t, v->grid) + 1e-300);
	}
	none_compute(v);
	/* Without runs there is no evidence, and the edges of the grid are none either. */
	if (v->n_nodes == 0)
		v->none_log_ev = v->classes[0].log_ev;
	posterior_compute(v, s);
	levels_compute(v, s, &w);
	ends_compute(v, s, &w);
	free(w.e0);
	free(w.e1);
	free(w.t);
	return v;
}

/*
 * Different weights within one class are told apart up to that many, and rounded beyond. In a large
 * class roundings average out.
 */
#define PLANES_MOST  4
#define PLANES_LARGE 2
#define LARGE_CLASS  1000

/*
 * The weights of one class as few values, with a mask of commits for each: then a sum over
 * ancestors is a count of bits.
 */
struct planes {
	double value[PLANES_MOST];
	uint64_t *mask[PLANES_MOST];
	size_t n;
	size_t most;
	size_t first, last; /* words with any bit */
};

/* The plane whose value is nearest; a new one while there is room. */
static size_t plane_of(struct planes *pl, double p)
{
	size_t best = 0;

	for (size_t i = 0; i < pl->n; i++) {
		if (pl->value[i] == p)
			return i;
		if (fabs(pl->value[i] - p) < fabs(pl->value[best] - p))
			best = i;
	}
	if (pl->n == pl->most)
		return best;
	pl->value[pl->n] = p;
	return pl->n++;
}

static void planes_fill(struct planes *pl, const struct bisect_state *s,
			const struct bisect_eval *v, size_t class, const double *p)
{
	double sum[PLANES_MOST] = { 0 };
	double n[PLANES_MOST] = { 0 };

	size_t members = 0;

	for (size_t i = 0; i < PLANES_MOST; i++)
		memset(pl->mask[i], 0, s->graph->words * sizeof(uint64_t));
	for (size_t c = v->classes[class].member; c < s->graph->n; c++)
		members += v->class_of[c] == class;
	pl->most = members > LARGE_CLASS ? PLANES_LARGE : PLANES_MOST;
	pl->n = 0;
	pl->first = v->classes[class].member / 64;
	pl->last = pl->first;
	for (size_t c = v->classes[class].member; c < s->graph->n; c++) {
		size_t i;

		if (v->class_of[c] != class || p[c] <= 0)
			continue;
		i = plane_of(pl, p[c]);
		pl->mask[i][c / 64] |= UINT64_C(1) << (c % 64);
		pl->last = c / 64;
		sum[i] += p[c];
		n[i]++;
	}
	for (size_t i = 0; i < pl->n; i++)
		pl->value[i] = sum[i] / n[i];
}

static void planes_add(const struct planes *pl, const struct bisect_graph *g, size_t from,
		       double *ret)
{
	/* A class is a stretch of history: most words of a row have nothing to do with it. */
	for (size_t x = from; x < g->n; x++) {
		const uint64_t *row = g->bits + x * g->words;
		size_t last = pl->last < x / 64 ? pl->last : x / 64;

		for (size_t i = 0; i < pl->n; i++) {
			size_t n = 0;

			for (size_t w = pl->first; w <= last; w++)
				n += bisect_popcount(row[w] & pl->mask[i][w]);
			ret[x] += (double)n * pl->value[i];
		}
	}
}

void bisect_eval_p_bad_all(const struct bisect_state *s, const struct bisect_eval *v,
			   const double *p, double *ret)
{
	const struct bisect_graph *g = s->graph;
	_cleanup_(freep) double *mass = xcalloc(v->n_classes, sizeof(*mass));
	struct planes pl = { 0 };
	double sum = 0;

	memset(ret, 0, g->n * sizeof(*ret));
	for (size_t x = 0; x < g->n; x++) {
		mass[v->class_of[x]] += p[x];
		sum += p[x];
		if (g->line)
			ret[x] = sum;
	}
	if (g->line)
		return;
	for (size_t i = 0; i < PLANES_MOST; i++)
		pl.mask[i] = xcalloc(g->words, sizeof(uint64_t));
	for (size_t k = 0; k < v->n_classes; k++) {
		if (mass[k] < 1e-7 * sum)
			continue;
		planes_fill(&pl, s, v, k, p);
		planes_add(&pl, g, v->classes[k].member, ret);
	}
	for (size_t i = 0; i < PLANES_MOST; i++)
		free(pl.mask[i]);
}

void bisect_posterior(struct bisect_state *s, double *p, double *p_none)
{
	const struct bisect_eval *v = bisect_eval_get(s);

	if (p)
		memcpy(p, v->p, s->graph->n * sizeof(*p));
	if (p_none)
		*p_none = v->p_none;
}

double bisect_p_bad(struct bisect_state *s, int commit)
{
	const struct bisect_eval *v = bisect_eval_get(s);
	double sum = 0;

	if (commit < 0 || commit >= (int)s->graph->n)
		return 0;
	for (size_t c = 0; c < s->graph->n; c++)
		if (bisect_eval_is_bad(s, commit, c))
			sum += v->p[c];
	return sum;
}
