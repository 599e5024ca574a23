/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/findings.h"

#include "bot/base/cleanup.h"
#include "bot/detect/findings_internal.h"
#include "bot/detect/stats.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

#define WORK   ".workload"
#define PER_OP ".per_op"

/* Changes that differ by no more than this part of the smaller one may be the same change … */
static const double follow_share = .25;
/* … if the difference is below what is worth a verdict, or within so many standard errors. */
static const double follow_ratio = .01, follow_errors = 2.8;
/* The work differs if its p is this small and its change this large. */
static const double work_p = .01, work_ratio = .005;
/* A share that moved less, in points, explains nothing. */
static const double least_points = .1;

static const char *const kinds[] = { "", "rate", "time", "count", "share" };

const char *findings_kind_name(enum findings_kind kind)
{
	return kinds[kind];
}

int findings_kind_parse(const char *name)
{
	for (size_t i = 1; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(name, kinds[i]))
			return (int)i;
	}
	return -1;
}

static bool starts_with(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool ends_with(const char *s, const char *with)
{
	size_t n = strlen(s), k = strlen(with);

	return n > k && !strcmp(s + n - k, with);
}

size_t findings_prefix(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

bool findings_same_prefix(const char *a, const char *b)
{
	size_t n = findings_prefix(a);

	return n && n == findings_prefix(b) && !strncmp(a, b, n);
}

bool findings_is_share(const struct findings_metric *m)
{
	return m->kind == FINDINGS_KIND_SHARE || !strcmp(m->unit, "%") ||
	       starts_with(m->name, "perf-profile.") || ends_with(m->name, "%");
}

/* Does twice the work make it twice as large? Of gauges, latencies and ratios nobody knows. */
bool findings_is_amount(const struct findings_metric *m)
{
	static const char *const counters[] = { "numa-numastat.", "proc-vmstat.", "interrupts.",
						"softirqs.", "cpuidle." };

	if (findings_is_share(m))
		return false;
	if (m->kind == FINDINGS_KIND_RATE || m->kind == FINDINGS_KIND_COUNT ||
	    ends_with(m->unit, "/s"))
		return true;
	if (strstr(m->name, ".time."))
		return !strstr(m->name, "maximum_") && !strstr(m->name, "percent_");
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (starts_with(m->name, counters[i]))
			return !strstr(m->name, ".nr_");
	}
	return false;
}

static bool is_change(enum detect_verdict v)
{
	return v == DETECT_REGRESSION || v == DETECT_IMPROVEMENT || v == DETECT_CHANGE ||
	       v == DETECT_CANDIDATE;
}

static bool is_lead(const struct findings_metric *m)
{
	return m->lead && is_change(m->verdict);
}

static bool same_fact(const struct findings_metric *a, const struct findings_metric *b)
{
	return a->group && a->group == b->group;
}

size_t findings_work(const struct findings_metric *m, size_t n)
{
	size_t only = n, lead = n, count = 0, leads = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_lead(&m[i]) && (lead == n || !same_fact(&m[i], &m[lead]))) {
			lead = lead == n ? i : lead;
			leads++;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (!ends_with(m[i].name, WORK))
			continue;
		if (lead < n && findings_same_prefix(m[i].name, m[lead].name) &&
		    findings_prefix(m[i].name) == strlen(m[i].name) - strlen(WORK) + 1)
			return i;
		only = i;
		count++;
	}
	if (count == 1)
		return only;
	return leads == 1 && m[lead].better == DETECT_BETTER_HIGHER ? lead : n;
}

static double ln_change(double rel)
{
	return rel > -1 ? log1p(rel) : NO_VALUE;
}

static double ln_error(const struct findings_metric *m)
{
	return isfinite(m->t) && m->t != 0 ? fabs(ln_change(m->rel) / m->t) : 0;
}

bool findings_work_differs(const struct findings_metric *m, size_t n, size_t work)
{
	const struct findings_metric *w = work < n ? &m[work] : NULL;

	return w && isfinite(w->rel) && w->rel != 0 && w->rel > -1 &&
	       (w->moved || is_lead(w) || (w->p <= work_p && fabs(w->rel) >= work_ratio));
}

/* All that is needed while the facts are put together. */
struct maker {
	const struct findings_metric *m;
	size_t n;
	struct findings *f;
	bool work_differs;
	size_t *per_op; /* of "NAME", the index of "NAME.per_op"; n where there is none */
	bool *shadow;	/* is a "NAME.per_op" whose NAME is there */
};

struct named {
	const char *name;
	size_t index;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void pair_up(struct maker *k)
{
	_cleanup_(freep) struct named *sorted = xcalloc(k->n + 1, sizeof(*sorted));

	for (size_t i = 0; i < k->n; i++) {
		k->per_op[i] = k->n;
		sorted[i] = (struct named){ k->m[i].name, i };
	}
	qsort(sorted, k->n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < k->n; i++) {
		_cleanup_(freep) char *plain = NULL;
		struct named key, *hit;

		if (!ends_with(k->m[i].name, PER_OP))
			continue;
		plain = xstrndup(k->m[i].name, strlen(k->m[i].name) - strlen(PER_OP));
		key.name = plain;
		hit = bsearch(&key, sorted, k->n, sizeof(*sorted), by_name);
		if (!hit)
			continue;
		k->per_op[hit->index] = i;
		k->shadow[i] = true;
	}
}

/* The ratio to the work as it was compared, else what follows from both changes. */
static double per_work(const struct maker *k, size_t i, double *lo, double *hi)
{
	const struct findings_metric *m = &k->m[i];
	size_t op = k->per_op[i];

	*lo = *hi = NO_VALUE;
	if (!k->work_differs || findings_is_share(m))
		return NO_VALUE;
	if (op < k->n && isfinite(k->m[op].rel)) {
		*lo = k->m[op].lo;
		*hi = k->m[op].hi;
		return k->m[op].rel;
	}
	if (isfinite(m->per_rel)) {
		*lo = m->per_lo;
		*hi = m->per_hi;
		return m->per_rel;
	}
	return m->rel > -1 ? (1 + m->rel) / (1 + k->m[k->f->work].rel) - 1 : NO_VALUE;
}

/* @d: how far apart two changes are, on the scale of logarithms. */
static bool as_one(double d, double reference, double error)
{
	return fabs(d) <= follow_share * fabs(reference) &&
	       (fabs(d) <= follow_ratio || fabs(d) <= follow_errors * error);
}

static bool follows_work(const struct maker *k, size_t i)
{
	const struct findings_metric *m = &k->m[i], *w;
	double lo, hi, per, d, reference;

	if (!k->work_differs || findings_is_share(m) || !(m->rel > -1))
		return false;
	w = &k->m[k->f->work];
	per = per_work(k, i, &lo, &hi);
	d = ln_change(per);
	reference = ln_change(w->rel);
	if (isfinite(lo) && isfinite(hi))
		return fabs(d) <= follow_share * fabs(reference) &&
		       (fabs(d) <= follow_ratio || (lo <= 0 && hi >= 0));
	return as_one(d, reference, hypot(ln_error(m), ln_error(w)));
}

static bool follows_lead(const struct maker *k, size_t i, size_t lead)
{
	const struct findings_metric *m = &k->m[i], *l = &k->m[lead];
	double change = ln_change(m->rel), reference = ln_change(l->rel);
	double error = hypot(ln_error(m), ln_error(l));

	if (findings_is_share(m) || !isfinite(change) || !isfinite(reference))
		return false;
	if (as_one(change - reference, reference, error))
		return true;
	/* The same work in more time: what is counted by the second falls. */
	return l->better == DETECT_BETTER_LOWER &&
	       (m->kind == FINDINGS_KIND_RATE || ends_with(m->unit, "/s")) &&
	       as_one(change + reference, reference, error);
}

/* A lead on its way to its finding. */
struct candidate {
	bool work;
	size_t index;
	enum detect_verdict verdict;
	int rank;
};

static int by_rank(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->work != b->work)
		return a->work - b->work;
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank - b->rank;
	return (a->index > b->index) - (a->index < b->index);
}

/*
 * Of equal verdicts, which headline heads the finding: not one that says no more than how much work
 * was done; and of the names of one fact rather the rate of a task than the sum of 104 of them.
 */
static int rank_of(const struct maker *k, size_t i)
{
	const struct findings_metric *m = &k->m[i];
	size_t work = k->f->work;

	if (!(work < k->n && same_fact(m, &k->m[work])) && follows_work(k, i))
		return 2;
	return findings_has_number(m->name);
}

static void finding_add(struct maker *k, size_t lead)
{
	struct finding new = { .lead = lead };

	vec_push(&k->f->items, new);
	for (size_t i = 0; i < k->n; i++) {
		if (i != lead && !same_fact(&k->m[i], &k->m[lead]))
			continue;
		k->f->role[i] = i == lead ? FINDINGS_ROLE_LEAD : FINDINGS_ROLE_SAME;
		k->f->of[i] = k->f->items.len - 1;
	}
}

/* Is the one good news and the other bad? */
static bool oppose(const struct findings_metric *a, const struct findings_metric *b)
{
	bool good_a = (a->rel > 0) == (a->better == DETECT_BETTER_HIGHER);
	bool good_b = (b->rel > 0) == (b->better == DETECT_BETTER_HIGHER);

	return a->better != DETECT_BETTER_NONE && b->better != DETECT_BETTER_NONE &&
	       good_a != good_b;
}

/*
 * Does headline @i say no more than the finding: that so much work was done? Two headlines that fell
 * by about the same are two all the same where nothing tells that they are of one work.
 */
static bool joins(const struct maker *k, size_t i, size_t lead)
{
	const struct findings_metric *a = &k->m[i], *b = &k->m[lead];

	return findings_same_prefix(a->name, b->name) && !oppose(a, b) && follows_work(k, i);
}

static void add_leads(struct maker *k)
{
	_cleanup_(freep) struct candidate *c = xcalloc(k->n + 1, sizeof(*c));
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (!is_lead(&k->m[i]) || k->f->role[i] || k->shadow[i])
			continue;
		c[n++] = (struct candidate){ i == k->f->work, i, k->m[i].verdict, rank_of(k, i) };
	}
	qsort(c, n, sizeof(*c), by_rank);
	for (size_t i = 0; i < n; i++) {
		size_t at = c[i].index, home = 0;

		if (k->f->role[at])
			continue;
		while (home < k->f->items.len && (k->f->items.items[home].ladder_name ||
						  !joins(k, at, k->f->items.items[home].lead)))
			home++;
		if (home < k->f->items.len) {
			k->f->role[at] = FINDINGS_ROLE_FOLLOWS;
			k->f->of[at] = home;
			k->f->with_work[at] = true;
		} else if (k->f->items.len < FINDINGS_MAX) {
			finding_add(k, at);
		} else {
			k->f->more++;
		}
	}
}

/* What has no finding of its own and changed: it follows one, or moved beside them. */
static void add_others(struct maker *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct findings_metric *m = &k->m[i];
		bool work;
		size_t home = 0;

		if (k->f->role[i] || k->shadow[i] || !(m->moved || i == k->f->work) || is_lead(m))
			continue;
		work = i == k->f->work ? k->work_differs : follows_work(k, i);
		while (!work && home < k->f->items.len &&
		       !follows_lead(k, i, k->f->items.items[home].lead))
			home++;
		if (home < k->f->items.len) {
			k->f->role[i] = FINDINGS_ROLE_FOLLOWS;
			k->f->of[i] = home;
			k->f->with_work[i] = work;
			continue;
		}
		if (!m->moved || (findings_is_share(m) && !(fabs(m->abs) >= least_points)))
			continue;
		/* The ticks of a clock grow per unit of work when nothing but the speed has changed. */
		if (k->per_op[i] < k->n && !k->m[k->per_op[i]].moved)
			continue;
		k->f->role[i] = FINDINGS_ROLE_MOVER;
	}
}

/* The most telling first; a change without noise tells all. */
struct mover {
	double t, rel;
	size_t index;
};

static int by_t(const void *pa, const void *pb)
{
	const struct mover *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t > b->t ? -1 : 1;
	if (a->rel != b->rel)
		return a->rel > b->rel ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void add_movers(struct maker *k)
{
	_cleanup_(freep) struct mover *v = xcalloc(k->n + 1, sizeof(*v));
	int groups = 0;
	size_t n = 0, facts = 0;

	for (size_t i = 0; i < k->n; i++) {
		double t = fabs(k->m[i].t), rel = fabs(k->m[i].rel);

		groups = k->m[i].group > groups ? k->m[i].group : groups;
		if (k->f->role[i] == FINDINGS_ROLE_MOVER)
			v[n++] = (struct mover){ isnan(t) ? (double)INFINITY : t,
						 isnan(rel) ? (double)INFINITY : rel, i };
	}
	qsort(v, n, sizeof(*v), by_t);
	if (n) {
		_cleanup_(freep) bool *seen = xcalloc((size_t)groups + 1, sizeof(*seen));

		for (size_t i = 0; i < n; i++) {
			int g = k->m[v[i].index].group;

			if (g && seen[g])
				continue;
			seen[g] = true;
			v[facts++] = v[i];
		}
	}
	vec_foreach (f, &k->f->items) {
		size_t told = facts < FINDINGS_MOVERS_MAX ? facts : FINDINGS_MOVERS_MAX;

		for (size_t i = 0; i < told; i++)
			vec_push(&f->movers, v[i].index);
		f->movers_more = facts - told;
	}
}

static void list_members(struct maker *k)
{
	struct findings *f = k->f;

	vec_foreach (x, &f->items)
		vec_push(&x->same, x->lead);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < k->n; i++) {
			struct finding *x;

			if ((f->role[i] != FINDINGS_ROLE_SAME &&
			     f->role[i] != FINDINGS_ROLE_FOLLOWS) ||
			    (i == f->work) != (pass == 0))
				continue;
			x = &f->items.items[f->of[i]];
			if (f->role[i] == FINDINGS_ROLE_SAME)
				vec_push(&x->same, i);
			else
				vec_push(&x->follows, i);
		}
	}
}

static void add_per_work(struct maker *k)
{
	double lo, hi;

	for (size_t i = 0; i < k->n; i++) {
		bool told = k->f->role[i] == FINDINGS_ROLE_FOLLOWS ||
			    (k->f->role[i] == FINDINGS_ROLE_MOVER &&
			     (findings_is_amount(&k->m[i]) || k->per_op[i] < k->n));

		k->f->per_work[i] = told ? per_work(k, i, &lo, &hi) : NO_VALUE;
		if (k->work_differs && i == k->f->work)
			k->f->per_work[i] = 0;
	}
}

void findings_make(const struct findings_metric *m, size_t n, struct findings *ret)
{
	struct maker k = { .m = m, .n = n, .f = ret };

	*ret = (struct findings){ .work = findings_work(m, n),
				  .role = xcalloc(n + 1, sizeof(*ret->role)),
				  .of = xcalloc(n + 1, sizeof(*ret->of)),
				  .with_work = xcalloc(n + 1, sizeof(*ret->with_work)),
				  .per_work = xcalloc(n + 1, sizeof(*ret->per_work)) };
	k.work_differs = findings_work_differs(m, n, ret->work);
	k.per_op = xcalloc(n + 1, sizeof(*k.per_op));
	k.shadow = xcalloc(n + 1, sizeof(*k.shadow));
	pair_up(&k);
	findings_ladders(m, n, ret);
	add_leads(&k);
	add_others(&k);
	list_members(&k);
	add_movers(&k);
	add_per_work(&k);
	findings_tell(m, n, ret);
	free(k.per_op);
	free(k.shadow);
}

void findings_done(struct findings *f)
{
	vec_foreach (x, &f->items) {
		vec_foreach (t, &x->text)
			free(*t);
		vec_done(&x->text);
		vec_done(&x->same);
		vec_done(&x->follows);
		vec_done(&x->movers);
		vec_done(&x->ladder);
		free(x->ladder_name);
	}
	vec_done(&f->items);
	free(f->role);
	free(f->of);
	free(f->with_work);
	free(f->per_work);
	*f = (struct findings){ 0 };
}
