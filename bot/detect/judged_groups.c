/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the metrics that moved are one fact. */
#include "bot/detect/judged_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metrics of one fact agree in every digit that a benchmark prints; noise does not. */
static const double same_fact = 2e-5;
enum {
	NEIGHBOURS_MAX = 200
};

static int cmp_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

bool judged_moved(const struct detect_result *r, const struct detect_options *o)
{
	return judged_is_change(r->verdict) ||
	       ((r->verdict == DETECT_SAME || r->verdict == DETECT_INCONCLUSIVE) &&
		r->q <= o->monitor_fdr_q && fabs(r->rel) >= o->min_effect);
}

/* A metric that moved, with the sorted values of both sides. */
struct mover {
	double rel;
	size_t index;
	size_t nbase, nhead;
	double *values; /* those of base first; owned */
};

static size_t copy_sorted(const struct runs *r, const char *name, double **v)
{
	const struct runs_metric *m = runs_metric_find(r, name);
	size_t n = 0;

	for (size_t i = 0; m && i < m->samples.len; i++) {
		if (isfinite(m->samples.items[i].value))
			(*v)[n++] = m->samples.items[i].value;
	}
	if (n)
		qsort(*v, n, sizeof(**v), cmp_double);
	*v += n;
	return n;
}

static struct mover mover_of(const struct runs *base, const struct runs *head,
			     const struct judged_metric *m, size_t index)
{
	const struct runs_metric *a = runs_metric_find(base, m->name);
	const struct runs_metric *b = runs_metric_find(head, m->name);
	size_t n = (a ? a->samples.len : 0) + (b ? b->samples.len : 0);
	struct mover v = { .rel = m->result.rel, .index = index };
	double *at;

	v.values = at = xcalloc(n + 1, sizeof(*v.values));
	v.nbase = copy_sorted(base, m->name, &at);
	v.nhead = copy_sorted(head, m->name, &at);
	return v;
}

/* Is every value of one the same multiple of the other's? */
static bool is_multiple(const struct mover *x, const struct mover *y)
{
	double factor;

	if (x->nbase != y->nbase || x->nhead != y->nhead || !x->nbase)
		return false;
	factor = y->values[0] / x->values[0];
	for (size_t i = 0; i < x->nbase + x->nhead; i++) {
		if (!(x->values[i] > 0) || !(y->values[i] > 0) ||
		    fabs(y->values[i] / x->values[i] / factor - 1) > same_fact)
			return false;
	}
	return true;
}

static bool same_suite(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n == strcspn(b, ".") && !strncmp(a, b, n);
}

static int cmp_mover(const void *pa, const void *pb)
{
	const struct mover *a = pa, *b = pb;

	if (a->rel != b->rel)
		return a->rel < b->rel ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/*
 * Two metrics of one suite are one fact when one is a fixed multiple of the other. What changed by
 * the same share stands together once sorted; only neighbours are compared.
 */
static void join_neighbours(struct judged *j, const struct mover *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct judged_metric *x = &j->metrics.items[v[i].index];

		if (x->group)
			continue;
		for (size_t k = i + 1; k < n && k - i < NEIGHBOURS_MAX; k++) {
			struct judged_metric *y = &j->metrics.items[v[k].index];

			if (v[k].rel - v[i].rel > 2 * same_fact)
				break;
			if (y->group || !same_suite(x->name, y->name) || !is_multiple(&v[i], &v[k]))
				continue;
			if (!x->group)
				x->group = ++j->groups;
			y->group = x->group;
		}
	}
}

void judged_group(const struct runs *base, const struct runs *head, const struct detect_options *o,
		  struct judged *j)
{
	_cleanup_(freep) struct mover *v = xcalloc(j->metrics.len, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < j->metrics.len; i++) {
		const struct judged_metric *m = &j->metrics.items[i];

		if (judged_moved(&m->result, o) && isfinite(m->result.rel))
			v[n++] = mover_of(base, head, m, i);
	}
	qsort(v, n, sizeof(*v), cmp_mover);
	join_neighbours(j, v, n);
	for (size_t i = 0; i < n; i++)
		free(v[i].values);
}
