/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurement that tells most about the culprit per minute. */
#include "bisect/eval.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define SCREENED    8
#define INFO_POINTS 72

/* One outcome of a measurement: with probability weight, its mean is N(mean, var). */
struct component {
	double weight;
	double mean;
	double var;
};

struct forecast {
	struct component *items;
	size_t n;
};

struct chooser {
	const struct bisect_state *s;
	const struct bisect_eval *v;
	struct forecast forecast;
	double *p_bad;
	double *testable;
	double *scratch;
	double *blurred;
	struct bisect_choice best;
};

static struct component grid_moments(const double *q, const struct bisect_eval *v, double weight)
{
	struct component c = { .weight = weight };
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

/*
 * Mutual information in bits between the component and the observed mean, by sums over points.
 * No component is narrower than the spacing, or it could fall between two points.
 */
static double forecast_bits(const struct forecast *f, double extra_var)
{
	_cleanup_(freep) double *density = NULL;
	double mix[INFO_POINTS] = { 0 };
	double lo = INFINITY;
	double hi = -INFINITY;
	double total = 0;
	double bits = 0;
	double h;

	for (size_t k = 0; k < f->n; k++) {
		double sd = sqrt(f->items[k].var + extra_var);

		lo = fmin(lo, f->items[k].mean - 4 * sd);
		hi = fmax(hi, f->items[k].mean + 4 * sd);
		total += f->items[k].weight;
	}
	h = (hi - lo) / (INFO_POINTS - 1);
	density = xcalloc(f->n * INFO_POINTS, sizeof(*density));
	for (size_t k = 0; k < f->n; k++) {
		const struct component *c = &f->items[k];
		double *d = density + k * INFO_POINTS;
		double sd = fmax(sqrt(c->var + extra_var), 0.7 * h);
		double sum = 0;

		for (size_t i = 0; i < INFO_POINTS; i++) {
			double z = (lo + (double)i * h - c->mean) / sd;

			if (fabs(z) < 6)
				sum += d[i] = exp(-0.5 * z * z);
		}
		for (size_t i = 0; i < INFO_POINTS; i++) {
			d[i] /= sum;
			mix[i] += c->weight / total * d[i];
		}
	}
	for (size_t k = 0; k < f->n; k++)
		for (size_t i = 0; i < INFO_POINTS; i++) {
			double d = density[k * INFO_POINTS + i];

			if (d > 0)
				bits += f->items[k].weight / total * d * log2(d / mix[i]);
		}
	return bits * total;
}

static void forecast_push(struct forecast *f, struct component c)
{
	if (c.weight >= BISECT_CLASS_LEAST)
		f->items[f->n++] = c;
}

/* A commit not measured before may split each class in a bad and a good part. */
static void forecast_new(struct chooser *ch, int x)
{
	const struct bisect_eval *v = ch->v;
	const double u = ch->s->params.commit_sd;
	_cleanup_(freep) double *bad = xcalloc(v->n_classes, sizeof(*bad));

	for (size_t c = 0; c < ch->s->graph->n; c++)
		if (bisect_eval_is_bad(ch->s, x, c))
			bad[v->class_of[c]] += v->p[c];
	ch->forecast.n = 0;
	for (size_t k = 0; k < v->n_classes; k++) {
		const struct bisect_class *c = &v->classes[k];
		struct component part;

		if (!c->q0)
			continue;
		part = grid_moments(c->q1, v, bad[k]);
		part.var += u * u;
		forecast_push(&ch->forecast, part);
		part = grid_moments(c->q0, v, c->mass - bad[k]);
		part.var += u * u;
		forecast_push(&ch->forecast, part);
	}
	if (v->p_none >= BISECT_CLASS_LEAST) {
		struct component part = grid_moments(v->none_q, v, v->p_none);

		part.var += u * u;
		forecast_push(&ch->forecast, part);
	}
}

/* The level of a build that exists: what is known of its side without it, times its own boots. */
static struct component build_moments(struct chooser *ch, const struct bisect_node *node,
				      const double *q, double weight)
{
	const struct bisect_eval *v = ch->v;

	for (size_t i = 0; i < v->grid; i++)
		ch->scratch[i] = q[i] / node->like[i];
	bisect_grid_blur(ch->scratch, ch->blurred, v->grid, v->h, ch->s->params.commit_sd);
	for (size_t i = 0; i < v->grid; i++)
		ch->blurred[i] *= node->boot_product[i];
	return grid_moments(ch->blurred, v, weight);
}

static void forecast_again(struct chooser *ch, const struct bisect_node *node)
{
	const struct bisect_eval *v = ch->v;

	ch->forecast.n = 0;
	for (size_t k = 0; k < v->n_classes; k++) {
		const struct bisect_class *c = &v->classes[k];
		bool bad = bisect_eval_is_bad(ch->s, node->commit, c->member);

		if (c->q0)
			forecast_push(&ch->forecast,
				      build_moments(ch, node, bad ? c->q1 : c->q0, c->mass));
	}
	if (v->p_none >= BISECT_CLASS_LEAST)
		forecast_push(&ch->forecast, build_moments(ch, node, v->none_q, v->p_none));
}

static void consider(struct chooser *ch, int commit)
{
	static const int runs[] = { 1, 2, 3, 4, 6, 8 };
	const struct bisect_params *p = &ch->s->params;
	const struct bisect_eval *v = ch->v;
	double testable = commit == BISECT_GOOD_END ? 1 : ch->testable[commit];
	double build = bisect_build_minutes(ch->s, commit);
	double last = 0;

	for (size_t i = 0; i < ARRAY_SIZE(runs) && ch->forecast.n > 1; i++) {
		double extra = p->boot_sd * p->boot_sd + v->sigma_mean * v->sigma_mean / runs[i];
		double minutes = build + p->cost_boot + runs[i] * p->cost_run;
		double bits = forecast_bits(&ch->forecast, extra);
		double rate = testable * bits / minutes;

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
		to_broken[i] = s->skip[i] ? 0 : INFINITY;
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
static size_t screen_new(const struct chooser *ch, int *ret)
{
	const struct bisect_params *p = &ch->s->params;
	double score[SCREENED];
	size_t n = 0;

	for (size_t x = 0; x < ch->s->graph->n; x++) {
		double minutes = bisect_build_minutes(ch->s, (int)x) + p->cost_boot + p->cost_run;
		double now = binary_entropy(ch->p_bad[x]) * ch->testable[x] / minutes;
		size_t at = n;

		if (now <= 0 || ch->s->skip[x] || bisect_eval_node(ch->v, (int)x))
			continue;
		while (at > 0 && score[at - 1] < now)
			at--;
		if (at == SCREENED)
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
		double w = node->commit == BISECT_GOOD_END ? 0 : ch->p_bad[node->commit];
		bool end = node->commit == BISECT_GOOD_END || node->commit == bad_end;

		/* A commit whose side is clear tells about its level only, and the ends know best. */
		if (!end && (w < 1e-3 || w > 1 - 1e-3))
			continue;
		forecast_again(ch, node);
		consider(ch, node->commit);
	}
}

void bisect_choose(const struct bisect_state *s, const struct bisect_eval *v,
		   struct bisect_choice *ret)
{
	const size_t n = s->graph->n;
	struct chooser ch = { .s = s, .v = v };
	int screened[SCREENED];
	size_t n_screened;

	ch.forecast.items = xcalloc(2 * v->n_classes + 1, sizeof(*ch.forecast.items));
	ch.p_bad = xcalloc(n, sizeof(double));
	ch.testable = xcalloc(n, sizeof(double));
	ch.scratch = xcalloc(v->grid, sizeof(double));
	ch.blurred = xcalloc(v->grid, sizeof(double));
	bisect_eval_p_bad_all(s, v, ch.p_bad);
	fill_testable(&ch);
	n_screened = screen_new(&ch, screened);
	for (size_t i = 0; i < n_screened; i++) {
		forecast_new(&ch, screened[i]);
		consider(&ch, screened[i]);
	}
	consider_measured(&ch);
	*ret = ch.best;
	free(ch.forecast.items);
	free(ch.p_bad);
	free(ch.testable);
	free(ch.scratch);
	free(ch.blurred);
}
