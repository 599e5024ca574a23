/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/judged.h"

#include "bot/base/err.h"
#include "bot/detect/judged_internal.h"
#include "bot/detect/rules.h"
#include "bot/detect/units.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
	UNITS_SEEN = 64,
	/* Calibration of the noise profile draws from a generator: always the same, so is the answer. */
	SEED = 20240229
};

void judged_done(struct judged *j)
{
	vec_done(&j->metrics);
	vec_done(&j->checks);
	findings_done(&j->findings);
}

bool judged_is_change(enum detect_verdict v)
{
	return v == DETECT_REGRESSION || v == DETECT_IMPROVEMENT || v == DETECT_CHANGE ||
	       v == DETECT_CANDIDATE;
}

/* Runs that a unit of these samples is the mean of; 0 where they have no boots to say so. */
static size_t runs_a_unit(const struct detect_sample *s, size_t n)
{
	size_t seen = n < UNITS_SEEN ? n : UNITS_SEEN, boots = 0;

	for (size_t i = 0; i < seen; i++) {
		size_t k = 0;

		while (k < i && (s[i].boot < 0 || s[k].boot != s[i].boot))
			k++;
		boots += k == i;
	}
	return boots > 1 ? seen / boots : 0;
}

/* The coarser noise of the two sides: that of the units with fewer runs. */
static size_t runs_both(const struct detect_metric *m)
{
	size_t a = runs_a_unit(m->base, m->nbase), b = runs_a_unit(m->head, m->nhead);

	return a && b ? (a < b ? a : b) : a + b;
}

/*
 * Units of an earlier kernel: boot means; nothing when all its runs are of one boot. A mean of more
 * runs than the units to compare have would show less noise than theirs: @per_unit are taken, if
 * not 0.
 */
static void add_commit(const struct runs_metric *m, size_t per_unit, struct detect_commit *c)
{
	double *units = xcalloc(m->samples.len ? m->samples.len : 1, sizeof(*units));
	size_t n = 0, boots = 0, own = 0;

	for (size_t i = 0; i < m->samples.len; i++) {
		const struct detect_sample *s = &m->samples.items[i];
		double sum = 0;
		size_t k = 0, first = i;

		for (size_t j = 0; s->boot >= 0 && j < m->samples.len; j++) {
			if (m->samples.items[j].boot != s->boot || (per_unit && k == per_unit))
				continue;
			first = j < first ? j : first;
			sum += m->samples.items[j].value;
			k++;
		}
		if (s->boot < 0) {
			units[n++] = s->value;
			own++;
		} else if (first == i) {
			units[n++] = sum / (double)k;
			boots++;
		}
	}
	if (boots + own == 1 && m->samples.len > 1)
		n = 0;
	*c = (struct detect_commit){ .units = units, .n = n };
}

/* Calibration costs the most: looks that @runs cannot reach are left out. */
int judged_profile(const struct judged_plan *plan, const char *name, size_t runs, size_t per_unit,
		   struct detect_profile *ret, struct err *e)
{
	struct detect_commit *c = xcalloc(plan->nhistory + 1, sizeof(*c));
	struct rules ru;
	size_t n = 0, nsizes = 1;
	int err;

	for (size_t i = 0; i < plan->nhistory; i++) {
		const struct runs_metric *m = runs_metric_find(&plan->history[i], name);

		if (!m)
			continue;
		add_commit(m, per_unit, &c[n]);
		c[n].borrowed = i < plan->nborrowed;
		n++;
	}
	detect_rules_init(&ru, plan->options);
	while (nsizes < ru.nlooks && (size_t)ru.looks[nsizes] <= runs)
		nsizes++;
	err = detect_profile_fit(c, n, ru.looks, nsizes, SEED, ret, e);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)c[i].units);
	free(c);
	return err;
}

static void add_metric(struct judged *j, const struct runs_metric *a, const struct runs_metric *b)
{
	const struct runs_metric *some = a ? a : b;
	struct judged_metric m = { .name = some->name, .unit = some->unit };

	m.kind = a && a->kind ? a->kind : b ? b->kind : FINDINGS_KIND_NONE;
	m.headline = (a && a->headline) || (b && b->headline);
	m.better = a && a->described ? a->better : b ? b->better : DETECT_BETTER_NONE;
	if (!m.unit[0] && b)
		m.unit = b->unit;
	j->headlines += m.headline;
	vec_push(&j->metrics, m);
}

static bool wanted(const struct judged_plan *plan, const char *name)
{
	return !plan->want || plan->want(name, plan->want_arg);
}

/* Headline metrics first, otherwise in the order of the files. */
static void collect(const struct runs *base, const struct runs *head,
		    const struct judged_plan *plan, struct judged *j)
{
	for (int headline = 1; headline >= 0; headline--) {
		vec_foreach (a, &base->metrics) {
			const struct runs_metric *b = runs_metric_find(head, a->name);
			bool is = a->headline || (b && b->headline);

			if (is == headline && wanted(plan, a->name))
				add_metric(j, a, b);
		}
		vec_foreach (b, &head->metrics) {
			if (b->headline == headline && !runs_metric_find(base, b->name) &&
			    wanted(plan, b->name))
				add_metric(j, NULL, b);
		}
	}
}

/*
 * A kernel that differs from itself says that the box moved, and so nothing about the other kernel:
 * more units, or no verdict.
 */
static void check_box(struct judged *j, size_t i, const struct detect_metric *m,
		      const struct detect_options *o)
{
	struct detect_result *r = &j->metrics.items[i].result;
	struct judged_checks c = { .metric = i, .failed = -1 };
	int units = r->base.units < r->head.units ? r->base.units : r->head.units;

	c.n = control_check_all(m->base, m->nbase, m->head, m->nhead, m->profile, o,
				r->candidate_look, c.check);
	for (size_t k = c.n; k-- > 0;) {
		if (!c.check[k].ok)
			c.failed = (int)k;
	}
	vec_push(&j->checks, c);
	if (c.failed < 0 || r->verdict == DETECT_CANDIDATE)
		return;
	r->more_units =
		o->single_look ? 0 : detect_next_look(o, m->profile && m->profile->have, units);
	r->verdict = r->more_units ? DETECT_CANDIDATE : DETECT_INCONCLUSIVE;
}

static int cmp_checks(const void *key, const void *item)
{
	size_t i = *(const size_t *)key, at = ((const struct judged_checks *)item)->metric;

	return (i > at) - (i < at);
}

const struct judged_checks *judged_checks_of(const struct judged *j, size_t i)
{
	if (!j->checks.len)
		return NULL;
	return bsearch(&i, j->checks.items, j->checks.len, sizeof(*j->checks.items), cmp_checks);
}

static int compare_all(const struct runs *base, const struct runs *head,
		       const struct judged_plan *plan, struct judged *j, struct err *e)
{
	size_t n = j->metrics.len;
	_cleanup_(freep) struct detect_metric *m = xcalloc(n, sizeof(*m));
	_cleanup_(freep) struct detect_result *r = xcalloc(n, sizeof(*r));
	_cleanup_(freep) struct detect_profile *p = NULL;
	int err;

	if (plan->nhistory)
		p = xcalloc(n, sizeof(*p));
	for (size_t i = 0; i < n; i++) {
		const struct judged_metric *x = &j->metrics.items[i];
		const struct runs_metric *a = runs_metric_find(base, x->name);
		const struct runs_metric *b = runs_metric_find(head, x->name);

		m[i].better = x->better;
		m[i].headline = x->headline || !j->headlines;
		if (a) {
			m[i].base = a->samples.items;
			m[i].nbase = a->samples.len;
		}
		if (b) {
			m[i].head = b->samples.items;
			m[i].nhead = b->samples.len;
		}
		if (!p)
			continue;
		err = judged_profile(plan, x->name,
				     m[i].nbase < m[i].nhead ? m[i].nbase : m[i].nhead,
				     runs_both(&m[i]), &p[i], e);
		if (err < 0)
			return err;
		m[i].profile = &p[i];
	}
	err = detect_compare_many(m, n, plan->options, r, e);
	if (err < 0)
		return err;
	for (size_t i = 0; i < n; i++) {
		j->metrics.items[i].result = r[i];
		if (m[i].headline && judged_is_change(r[i].verdict))
			check_box(j, i, &m[i], plan->options);
	}
	return 0;
}

static struct findings_metric for_findings(const struct judged *j, const struct judged_metric *m,
					   const struct detect_options *o)
{
	const struct detect_result *r = &m->result;

	return (struct findings_metric){ .name = m->name,
					 .unit = m->unit,
					 .kind = m->kind,
					 .better = m->better,
					 .verdict = r->verdict,
					 .lead = j->headlines ? m->headline
							      : m->better != DETECT_BETTER_NONE,
					 .moved = judged_moved(r, o),
					 .group = m->group,
					 .rel = r->rel,
					 .lo = r->lo,
					 .hi = r->hi,
					 .abs = r->abs,
					 .t = r->t,
					 .p = r->p,
					 .per_rel = NO_VALUE,
					 .per_lo = NO_VALUE,
					 .per_hi = NO_VALUE };
}

bool judged_is_share(const struct judged_metric *m)
{
	struct findings_metric f = { .name = m->name, .unit = m->unit, .kind = m->kind };

	return findings_is_share(&f);
}

/* Metric @x for each unit of @work in the runs that have both. Return: how many; @ret is freed. */
static size_t ratios(const struct runs *r, const char *x, const char *work,
		     struct detect_sample **ret)
{
	const struct runs_metric *a = runs_metric_find(r, x), *b = runs_metric_find(r, work);
	size_t n = 0, k = 0;

	*ret = xcalloc(a ? a->samples.len + 1 : 1, sizeof(**ret));
	for (size_t i = 0; a && b && i < a->samples.len; i++) {
		while (k < b->run.len && b->run.items[k] < a->run.items[i])
			k++;
		if (k == b->run.len || b->run.items[k] != a->run.items[i] ||
		    !(b->samples.items[k].value > 0))
			continue;
		(*ret)[n] = a->samples.items[i];
		(*ret)[n++].value /= b->samples.items[k].value;
	}
	return n;
}

/* Noise that a metric has in common with the work goes out of their ratio. */
static int compare_per_work(const struct runs *base, const struct runs *head, const char *work,
			    const struct detect_options *options, struct findings_metric *m,
			    struct err *e)
{
	_cleanup_(freep) struct detect_sample *a = NULL;
	_cleanup_(freep) struct detect_sample *b = NULL;
	struct detect_options o = *options;
	struct detect_result r;
	size_t na = ratios(base, m->name, work, &a), nb = ratios(head, m->name, work, &b);
	int err;

	o.single_look = true;
	o.level = .99;
	err = detect_compare(a, na, b, nb, DETECT_BETTER_NONE, NULL, &o, &r, e);
	if (err < 0)
		return err;
	m->per_rel = r.rel;
	m->per_lo = r.lo;
	m->per_hi = r.hi;
	return 0;
}

/* A metric that only goes along with the work is neither worse nor better. */
static void take_back(struct judged *j, const struct findings_metric *m)
{
	for (size_t i = 0; i < j->metrics.len; i++) {
		enum detect_verdict *v = &j->metrics.items[i].result.verdict;

		if (j->findings.role[i] == FINDINGS_ROLE_FOLLOWS && !m[i].lead &&
		    (*v == DETECT_REGRESSION || *v == DETECT_IMPROVEMENT))
			*v = DETECT_CHANGE;
	}
}

static int find(const struct runs *base, const struct runs *head, const struct judged_plan *plan,
		struct judged *j, struct err *e)
{
	size_t n = j->metrics.len, work;
	_cleanup_(freep) struct findings_metric *m = xcalloc(n, sizeof(*m));
	int err = 0;

	for (size_t i = 0; i < n; i++)
		m[i] = for_findings(j, &j->metrics.items[i], plan->options);
	work = findings_work(m, n);
	for (size_t i = 0; work < n && i < n && err == 0; i++) {
		if (m[i].moved && i != work)
			err = compare_per_work(base, head, m[work].name, plan->options, &m[i], e);
	}
	if (err < 0)
		return err;
	findings_make(m, n, &j->findings);
	take_back(j, m);
	return 0;
}

/* Where values gather in several places their mean is one that nobody ever measured. */
static void tell_modes(struct judged *j)
{
	static const enum detect_note bits[] = { DETECT_NOTE_MODES_BASE, DETECT_NOTE_MODES_HEAD };
	char buf[160];

	vec_foreach (f, &j->findings.items) {
		const struct detect_result *r = &j->metrics.items[f->lead].result;

		for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
			if (r->notes & bits[i])
				vec_push(&f->text,
					 xstrdup(detect_note_text(r, bits[i], buf, sizeof(buf))));
		}
	}
}

static void count(struct judged *j)
{
	_cleanup_(freep) bool *seen = xcalloc((size_t)j->groups + 1, sizeof(*seen));

	for (size_t i = 0; i < j->metrics.len; i++) {
		const struct judged_metric *m = &j->metrics.items[i];

		if (m->group && seen[m->group])
			continue;
		seen[m->group] = true;
		if (j->headlines && j->findings.role[i] == FINDINGS_ROLE_FOLLOWS)
			continue;
		j->counts[m->result.verdict]++;
	}
}

int judged_compare(const struct runs *base, const struct runs *head, const struct judged_plan *plan,
		   struct judged *ret, struct err *e)
{
	struct judged j = { 0 };
	int err = runs_check_pair(base, head, e);

	if (err < 0)
		return err;
	err = detect_options_check(plan->options, e);
	if (err < 0)
		return err;
	collect(base, head, plan, &j);
	if (!j.metrics.len)
		return err_set(e, ERR_NOENT, "no metric to compare");
	err = compare_all(base, head, plan, &j, e);
	if (err < 0) {
		judged_done(&j);
		return err;
	}
	judged_group(base, head, plan->options, &j);
	err = find(base, head, plan, &j, e);
	if (err < 0) {
		judged_done(&j);
		return err;
	}
	tell_modes(&j);
	count(&j);
	*ret = j;
	return 0;
}

int judged_exit(const struct judged *j)
{
	size_t known = 0, candidates = 0;

	if (j->counts[DETECT_REGRESSION])
		return 1;
	vec_foreach (m, &j->metrics) {
		enum detect_verdict v = m->result.verdict;

		if (j->headlines && !m->headline)
			continue;
		candidates += j->headlines && v == DETECT_CANDIDATE;
		known += v == DETECT_SAME || v == DETECT_IMPROVEMENT || v == DETECT_CHANGE;
	}
	return known && !candidates ? 0 : 125;
}
