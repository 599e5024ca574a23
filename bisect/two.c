/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two steps: mean(x) = m + d1 [x behind c1] + d2 [x behind c2], one value per measured commit,
 * errors with the tails of Student's t, so that one odd build or boot is not taken for a step up
 * and down again. The evidence of each pair of classes is Laplace's approximation at the fit.
 */
#include "bisect/two.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define T_DOF	     4.0 /* of one boot; more boots have lighter tails */
#define ITERATIONS   4
#define WINSOR_SDS   2.5
#define SCALE_NODES  7
#define SCALE_DOF    10.0 /* what the profile counts for against the residuals */
#define PARAMS_MOST  3
#define LEVEL_SPREAD 1e6 /* prior variance of the first level, in units of the noise's */
/* A second step below this share of the first one is what builds differ by anyway. */
#define SMALLER_LEAST 0.2

/* The measured commits, and the prior of the steps. */
struct values {
	size_t n;
	double *y;
	double *var;
	double *dof;
	bool *behind; /* class k, node i: k * n + i */
	double noise;
	double one_mean, one_sd; /* the only step */
	double two_mean, two_sd; /* each of two */
};

struct fit {
	double beta[PARAMS_MOST];
	double log_ev;
};

static double node_level(const struct bisect_state *s, const struct bisect_node *node, double sigma)
{
	double sum = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].commit == node->commit)
			sum += fmax(-WINSOR_SDS * sigma,
				    fmin(WINSOR_SDS * sigma, s->runs[i].y - node->median));
	return node->median + sum / node->n_runs;
}

static void values_init(struct values *w, const struct bisect_state *s, const struct bisect_eval *v)
{
	const struct bisect_params *p = &s->params;
	double size = fabs(p->step);
	double lo = INFINITY;
	double hi = -INFINITY;

	*w = (struct values){ .n = v->n_nodes,
			      .y = xcalloc(v->n_nodes, sizeof(double)),
			      .var = xcalloc(v->n_nodes, sizeof(double)),
			      .dof = xcalloc(v->n_nodes, sizeof(double)),
			      .behind = xcalloc(v->n_nodes * v->n_classes, sizeof(bool)) };
	w->noise =
		sqrt(v->sigma * v->sigma + p->boot_sd * p->boot_sd + p->commit_sd * p->commit_sd);
	for (size_t i = 0; i < w->n; i++) {
		const struct bisect_node *node = &v->nodes[i];

		w->y[i] = node_level(s, node, v->sigma);
		w->var[i] = p->commit_sd * p->commit_sd + p->boot_sd * p->boot_sd / node->n_boots +
			    v->sigma_mean * v->sigma_mean / node->n_runs;
		w->dof[i] = T_DOF * node->n_boots * node->n_boots;
		lo = fmin(lo, w->y[i]);
		hi = fmax(hi, w->y[i]);
		for (size_t k = 0; k < v->n_classes; k++)
			w->behind[k * w->n + i] =
				bisect_eval_is_bad(s, node->commit, v->classes[k].member);
	}
	if (size == 0)
		size = fmax(hi - lo, 3 * w->noise);
	w->one_mean = p->step;
	w->one_sd = p->step != 0 ? fmax(p->step_sd, size / 2) : size;
	w->two_mean = p->step / 2;
	w->two_sd = size;
}

static void values_done(struct values *w)
{
	free(w->y);
	free(w->var);
	free(w->dof);
	free(w->behind);
}

/* Cholesky factor of the symmetric @a in place (lower), solving for @b. Return: ln det. */
static double solve(double a[PARAMS_MOST][PARAMS_MOST], double *b, size_t n)
{
	double log_det = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double sum = a[i][j];

			for (size_t k = 0; k < j; k++)
				sum -= a[i][k] * a[j][k];
			a[i][j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / a[j][j];
		}
		log_det += 2 * log(a[i][i]);
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= a[k][i] * b[k];
		b[i] /= a[i][i];
	}
	return log_det;
}

static double predicted(const struct fit *f, const bool *a, const bool *b, size_t i)
{
	return f->beta[0] + (a && a[i] ? f->beta[1] : 0) + (b && b[i] ? f->beta[2] : 0);
}

/* One step of reweighted least squares; all in units of the noise. Return: ln det. */
static double fit_iterate(const struct values *w, const bool *a, const bool *b, const double *mean,
			  const double *precision, size_t n_params, const double *weight,
			  struct fit *f)
{
	double m[PARAMS_MOST][PARAMS_MOST] = { 0 };
	double rhs[PARAMS_MOST] = { 0 };
	double log_det;

	for (size_t p = 0; p < n_params; p++) {
		m[p][p] = precision[p];
		rhs[p] = precision[p] * mean[p];
	}
	for (size_t i = 0; i < w->n; i++) {
		double x1 = a && a[i];
		double x2 = b && b[i];

		m[0][0] += weight[i];
		m[1][0] += weight[i] * x1;
		m[1][1] += weight[i] * x1;
		m[2][0] += weight[i] * x2;
		m[2][1] += weight[i] * x1 * x2;
		m[2][2] += weight[i] * x2;
		rhs[0] += weight[i] * w->y[i];
		rhs[1] += weight[i] * x1 * w->y[i];
		rhs[2] += weight[i] * x2 * w->y[i];
	}
	log_det = solve(m, rhs, n_params);
	memcpy(f->beta, rhs, sizeof(f->beta));
	return log_det;
}

/* @a, @b: which nodes lie behind the first and the second step; NULL: there is no such step. */
static struct fit fit_steps(const struct values *w, const bool *a, const bool *b, double scale2,
			    double *weight)
{
	const size_t n_params = b ? 3 : a ? 2 : 1;
	const double d_mean = b ? w->two_mean : w->one_mean;
	const double d_sd = b ? w->two_sd : w->one_sd;
	const double mean[PARAMS_MOST] = { w->y[0], d_mean, d_mean };
	const double precision[PARAMS_MOST] = { 1 / (LEVEL_SPREAD * w->noise * w->noise),
						1 / (d_sd * d_sd), 1 / (d_sd * d_sd) };
	struct fit f = { 0 };
	double log_det = 0;

	for (size_t i = 0; i < w->n; i++)
		weight[i] = 1 / (w->var[i] * scale2);
	for (int round = 0; round < ITERATIONS; round++) {
		log_det = fit_iterate(w, a, b, mean, precision, n_params, weight, &f);
		for (size_t i = 0; i < w->n; i++) {
			double var = w->var[i] * scale2;
			double r = w->y[i] - predicted(&f, a, b, i);

			weight[i] = (w->dof[i] + 1) / (w->dof[i] + r * r / var) / var;
		}
	}
	f.log_ev = -0.5 * log_det;
	for (size_t p = 0; p < n_params; p++) {
		double z2 = (f.beta[p] - mean[p]) * (f.beta[p] - mean[p]) * precision[p];

		f.log_ev += 0.5 * log(precision[p]) - 0.5 * z2;
	}
	for (size_t i = 0; i < w->n; i++) {
		double var = w->var[i] * scale2;
		double r = w->y[i] - predicted(&f, a, b, i);

		f.log_ev -=
			0.5 * (w->dof[i] + 1) * log1p(r * r / (w->dof[i] * var)) + 0.5 * log(var);
	}
	return f;
}

struct pairs {
	size_t k; /* classes, by lowest member */
	size_t *order;
	double *log_weight; /* prior of each class */
	struct fit *fits;   /* early i, late j >= i: i * k + j */
	double top;	    /* largest weighted evidence */
	size_t best;
	struct fit one; /* the best single step or none */
	const bool *one_behind;
	double log_one;
	double log_two;
};

static double log_add(double a, double b)
{
	double hi = fmax(a, b);

	return isinf(hi) ? hi : hi + log(exp(a - hi) + exp(b - hi));
}

static void pairs_init(struct pairs *p, const struct bisect_state *s, const struct bisect_eval *v)
{
	double total = 0;

	*p = (struct pairs){ .k = v->n_classes,
			     .order = xcalloc(v->n_classes, sizeof(size_t)),
			     .log_weight = xcalloc(v->n_classes, sizeof(double)),
			     .fits = xcalloc(v->n_classes * v->n_classes, sizeof(struct fit)) };
	for (size_t c = 0; c < s->graph->n; c++) {
		p->log_weight[v->class_of[c]] += s->prior[c];
		total += s->prior[c];
	}
	for (size_t k = 0; k < p->k; k++) {
		size_t at = k;

		p->log_weight[k] = log(p->log_weight[k] / total);
		while (at > 0 && v->classes[p->order[at - 1]].member > v->classes[k].member) {
			p->order[at] = p->order[at - 1];
			at--;
		}
		p->order[at] = k;
	}
}

static void pairs_done(struct pairs *p)
{
	free(p->order);
	free(p->log_weight);
	free(p->fits);
}

static double pair_log(const struct pairs *p, size_t i, size_t j)
{
	return p->fits[i * p->k + j].log_ev + p->log_weight[p->order[i]] +
	       p->log_weight[p->order[j]] + (i == j ? 0 : M_LN2);
}

static void fit_one(struct pairs *p, const struct bisect_state *s, const struct values *w,
		    double scale2, double *weight)
{
	double top;

	p->one = fit_steps(w, NULL, NULL, scale2, weight);
	p->one_behind = NULL;
	top = p->log_one = p->one.log_ev + log(s->params.prior_none);
	for (size_t k = 0; k < p->k; k++) {
		const bool *a = w->behind + k * w->n;
		struct fit f = fit_steps(w, a, NULL, scale2, weight);
		double l = f.log_ev + p->log_weight[k] + log1p(-s->params.prior_none);

		p->log_one = log_add(p->log_one, l);
		if (l > top) {
			top = l;
			p->one = f;
			p->one_behind = a;
		}
	}
}

static void fit_two(struct pairs *p, const struct values *w, double scale2, double *weight)
{
	p->log_two = p->top = -INFINITY;
	for (size_t i = 0; i < p->k; i++)
		for (size_t j = i; j < p->k; j++) {
			const bool *a = w->behind + p->order[i] * w->n;
			const bool *b = w->behind + p->order[j] * w->n;
			double l;

			p->fits[i * p->k + j] = fit_steps(w, a, b, scale2, weight);
			l = pair_log(p, i, j);
			p->log_two = log_add(p->log_two, l);
			if (l > p->top) {
				p->top = l;
				p->best = i * p->k + j;
			}
		}
}

static int compare_double(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Where even the best pair fits badly, the profile is too quiet: how much, as a variance ratio. */
static double misfit(const struct pairs *p, const struct values *w)
{
	_cleanup_(freep) double *z = xcalloc(w->n, sizeof(*z));
	const bool *a;
	const bool *b;
	double sd;

	if (w->n < SCALE_NODES || p->k == 0)
		return 1;
	a = w->behind + p->order[p->best / p->k] * w->n;
	b = w->behind + p->order[p->best % p->k] * w->n;
	for (size_t i = 0; i < w->n; i++)
		z[i] = fabs(w->y[i] - predicted(&p->fits[p->best], a, b, i)) / sqrt(w->var[i]);
	qsort(z, w->n, sizeof(*z), compare_double);
	sd = z[w->n / 2] / 0.6745;
	return fmax(1, (SCALE_DOF + (double)w->n * sd * sd) / (SCALE_DOF + (double)w->n));
}

static void marginals(const struct pairs *p, const struct values *w, struct bisect_two *ret)
{
	double total = 0;

	for (size_t i = 0; i < p->k; i++)
		for (size_t j = i; j < p->k; j++) {
			const struct fit *f = &p->fits[i * p->k + j];
			double post = exp(pair_log(p, i, j) - p->log_two);
			const bool *a = w->behind + p->order[i] * w->n;
			const bool *b = w->behind + p->order[j] * w->n;

			total += post;
			ret->size[0] += post * f->beta[1];
			ret->size[1] += post * f->beta[2];
			for (size_t x = 0; x < w->n && post > 1e-9; x++) {
				ret->p_node[0][x] += post * a[x];
				ret->p_node[1][x] += post * b[x];
			}
		}
	for (int t = 0; t < 2; t++) {
		ret->size[t] /= total;
		for (size_t x = 0; x < w->n; x++)
			ret->p_node[t][x] /= total;
	}
}

static void worst_residual(const struct pairs *p, const struct values *w, double scale2,
			   struct bisect_two *ret)
{
	for (size_t i = 0; i < w->n; i++) {
		double r = fabs(w->y[i] - predicted(&p->one, p->one_behind, NULL, i)) /
			   sqrt(w->var[i] * scale2);

		if (r > ret->residual_sds) {
			ret->residual_sds = r;
			ret->residual = i;
		}
	}
}

void bisect_two_fit(const struct bisect_state *s, const struct bisect_eval *v,
		    struct bisect_two *ret)
{
	_cleanup_(freep) double *weight = NULL;
	struct values w;
	struct pairs p;
	double scale2;

	*ret = (struct bisect_two){ .log_odds = -INFINITY };
	if (v->n_nodes < 3)
		return;
	ret->p_node[0] = xcalloc(v->n_nodes, sizeof(double));
	ret->p_node[1] = xcalloc(v->n_nodes, sizeof(double));
	weight = xcalloc(v->n_nodes, sizeof(*weight));
	values_init(&w, s, v);
	pairs_init(&p, s, v);
	fit_two(&p, &w, 1, weight);
	scale2 = misfit(&p, &w);
	if (scale2 > 1)
		fit_two(&p, &w, scale2, weight);
	fit_one(&p, s, &w, scale2, weight);
	ret->log_odds = p.log_two - p.log_one;
	marginals(&p, &w, ret);
	worst_residual(&p, &w, scale2, ret);
	pairs_done(&p);
	values_done(&w);
}

void bisect_two_done(struct bisect_two *t)
{
	if (!t)
		return;
	free(t->p_node[0]);
	free(t->p_node[1]);
	memset(t, 0, sizeof(*t));
}

bool bisect_two_is(const struct bisect_state *s, const struct bisect_two *t, double least_log_odds)
{
	double a = fabs(t->size[0]);
	double b = fabs(t->size[1]);
	double least = SMALLER_LEAST * fmax(fmax(a, b), fabs(s->params.step));

	return t->log_odds >= least_log_odds && fmin(a, b) >= least;
}

static size_t node_of(const struct bisect_eval *v, int commit)
{
	size_t i = 0;

	while (v->nodes[i].commit != commit)
		i++;
	return i;
}

void bisect_two_single(const struct bisect_state *s, const struct bisect_eval *v,
		       const struct bisect_two *t, int which, struct bisect_state *ret)
{
	const double other = t->size[1 - which];

	*ret = *s;
	ret->eval = NULL;
	ret->params.step = t->size[which];
	ret->params.step_sd = fabs(t->size[which]) / 2;
	ret->runs = xcalloc(s->n_runs + 1, sizeof(*ret->runs));
	for (size_t i = 0; i < s->n_runs; i++) {
		ret->runs[i] = s->runs[i];
		ret->runs[i].y -= other * t->p_node[1 - which][node_of(v, s->runs[i].commit)];
	}
}

void bisect_two_single_done(struct bisect_state *single)
{
	bisect_eval_free(single->eval);
	free(single->runs);
	memset(single, 0, sizeof(*single));
}
