/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/verdict.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/detect/rules.h"
#include "bot/detect/stats.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

/* One comparison on its way to a verdict. */
struct work {
	const struct rules *rules;
	const struct detect_profile *profile; /* NULL: no history, or not usable */
	struct units_pair pair;
	enum detect_better better;
	double min_effect;
	double ref; /* what ratios are of, on the raw scale */
	struct detect_result *r;
};

static size_t least_units(const struct work *w)
{
	return w->profile ? MIN_UNITS : MIN_UNITS_NO_HISTORY;
}

/* An effect on the test's scale as a ratio. */
static double as_ratio(const struct work *w, double effect)
{
	if (w->pair.ln)
		return expm1(effect);
	return w->ref > 0 ? effect / w->ref : 0;
}

/* How noisy keys with two modes move: other shares of the modes, or a shift inside them. */
static double mode_p(const struct detect_profile *p, const double *a, size_t n, const double *b,
		     size_t m)
{
	double sum[2][2] = { { 0 } }, h_all = 0, shift = 0, p_shift = 1, p_share;
	unsigned count[2][2] = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		count[0][a[i] >= p->cut]++;
		sum[0][a[i] >= p->cut] += a[i];
	}
	for (size_t i = 0; i < m; i++) {
		count[1][b[i] >= p->cut]++;
		sum[1][b[i] >= p->cut] += b[i];
	}
	for (int mode = 0; mode < 2; mode++) {
		double na = count[0][mode], nb = count[1][mode], h = na * nb / (na + nb);

		if (na < 2 || nb < 2)
			continue;
		shift += h * (sum[1][mode] / nb - sum[0][mode] / na);
		h_all += h;
	}
	if (h_all > 0 && p->sd_in > 0)
		p_shift = stats_t_two_sided(shift / h_all / (p->sd_in / sqrt(h_all)), p->dof_in);
	p_share = stats_fisher(count[0][0], count[0][1], count[1][0], count[1][1]);
	return fmin(1, 2 * fmin(p_share, p_shift));
}

/*
 * Test the first @n and @m units. @ret_guard: an outlier among so few units that the answer has
 * to wait. With history the clipped copies are tested; ranks and modes need no clipping.
 */
static void test_first(const struct work *w, size_t n, size_t m, struct stats_test *ret,
		       bool *ret_guard)
{
	const double *a = w->pair.base.y, *b = w->pair.head.y;
	const struct detect_profile *p = w->profile;

	*ret_guard = false;
	if (p) {
		struct stats_prior prior = { p->d0, p->s0sq, p->scsq,
					     detect_profile_lambda(p, n < m ? n : m), p->history };
		_cleanup_(freep) double *c = xcalloc(n + m, sizeof(*c));
		size_t moved;

		memcpy(c, a, n * sizeof(*c));
		memcpy(c + n, b, m * sizeof(*c));
		moved = stats_clip(c, n, p->lo, p->hi) + stats_clip(c + n, m, p->lo, p->hi);
		*ret_guard = moved && (n == MIN_UNITS || m == MIN_UNITS);
		stats_moderated(c, n, c + n, m, &prior, ret);
	} else {
		stats_welch(a, n, b, m, ret);
	}
	if (n >= DETECT_VERDICT_LOOK && m >= DETECT_VERDICT_LOOK)
		ret->p = stats_cauchy(ret->p, stats_mwu(a, n, b, m, NULL));
	if (p && p->bimodal)
		ret->p = fmin(1, 2 * fmin(ret->p, mode_p(p, a, n, b, m)));
}

static bool crosses(const struct work *w, const struct stats_test *t)
{
	return t->p <= w->rules->alpha && fabs(as_ratio(w, t->effect)) >= w->min_effect;
}

static void fill_effect(const struct work *w, const struct stats_test *t, double half)
{
	struct detect_result *r = w->r;
	double base = r->base.center;

	if (w->pair.ln) {
		r->rel = expm1(t->effect);
		r->lo = expm1(t->effect - half);
		r->hi = expm1(t->effect + half);
		r->abs = r->rel * base;
		r->abs_lo = r->lo * base;
		r->abs_hi = r->hi * base;
		return;
	}
	r->abs = t->effect * w->pair.scale;
	r->abs_lo = (t->effect - half) * w->pair.scale;
	r->abs_hi = (t->effect + half) * w->pair.scale;
	if (base != 0) {
		r->rel = r->abs / fabs(base);
		r->lo = r->abs_lo / fabs(base);
		r->hi = r->abs_hi / fabs(base);
	}
}

static double mde_of(const struct work *w, double se, double df)
{
	double t = stats_t_upper(w->rules->alpha / 2, df) + stats_t_upper(.2, df);

	return fabs(as_ratio(w, t * se));
}

/* Smallest look whose detectable change is below the target, with the noise seen now. */
static int units_needed(const struct work *w, const struct stats_test *t, size_t n, size_t m)
{
	const struct detect_profile *p = w->profile;
	double lambda = p ? detect_profile_lambda(p, n < m ? n : m) : 1;
	double jitter = p ? 2 * p->scsq : 0;
	double unit =
		(t->se * t->se / (lambda * lambda) - jitter) / (1 / (double)n + 1 / (double)m);

	for (size_t i = 0; i < w->rules->nlooks; i++) {
		int size = w->rules->looks[i];
		double df = 2. * size - 2 + (p ? p->d0 : 0);
		double f = p ? detect_profile_lambda(p, (size_t)size) : 1;
		double se = f * sqrt(fmax(0, unit) * 2 / size + jitter);

		if (p && p->scsq > 0)
			df = fmin(df, p->history - 1);
		if ((size_t)size >= least_units(w) &&
		    mde_of(w, se, df) <= w->rules->o->target_effect)
			return size;
	}
	return 0;
}

static enum detect_verdict direction(const struct work *w, double effect)
{
	if (w->better == DETECT_BETTER_NONE)
		return DETECT_CHANGE;
	return (effect > 0) == (w->better == DETECT_BETTER_HIGHER) ? DETECT_IMPROVEMENT
								   : DETECT_REGRESSION;
}

static size_t pair_units(const struct work *w)
{
	return w->pair.base.n < w->pair.head.n ? w->pair.base.n : w->pair.head.n;
}

/* Every run of a side equals the others of it: compare exactly. */
static void judge_constant(struct work *w)
{
	struct detect_result *r = w->r;
	double a = w->pair.base.value, b = w->pair.head.value;
	double ref = w->pair.ln ? fabs(a) : fmax(fabs(a), fabs(b));
	int next = detect_rules_next_look(w->rules, false, (int)pair_units(w));
	int now = detect_rules_look_index(w->rules, pair_units(w));

	r->look = w->rules->o->single_look ? (int)pair_units(w)
		  : now < 0		   ? 0
					   : w->rules->looks[now];
	r->abs = r->abs_lo = r->abs_hi = b - a;
	if (a == b)
		r->rel = r->lo = r->hi = 0;
	else if (a != 0)
		r->rel = r->lo = r->hi = (b - a) / fabs(a);
	r->mde = 0;
	r->more_units = 0;
	r->notes = (r->notes & ~(unsigned)DETECT_NOTE_NO_HISTORY) | DETECT_NOTE_DETERMINISTIC;
	if (a == b || fabs(b - a) / ref < w->min_effect) {
		r->verdict = DETECT_SAME;
	} else if (w->rules->o->single_look || pair_units(w) >= DETECT_VERDICT_LOOK) {
		r->verdict = direction(w, b - a);
	} else {
		/* Coarse numbers can be equal by chance a few times in a row. */
		r->verdict = DETECT_CANDIDATE;
		r->more_units = next;
	}
}

/* When the metric crossed first, and what the units say that came after. */
static bool confirmed(struct work *w, int now, const struct stats_test *t)
{
	const struct rules *ru = w->rules;
	struct detect_result *r = w->r;
	double fresh;

	r->candidate_look = ru->looks[now];
	for (int i = 0; i < now; i++) {
		size_t n = (size_t)ru->looks[i];
		struct stats_test early;
		bool guard;

		if (n < least_units(w))
			continue;
		test_first(w, n, n, &early, &guard);
		if (guard || !crosses(w, &early))
			continue;
		r->candidate_look = ru->looks[i];
		fresh = stats_mean(w->pair.head.y + n, w->pair.head.n - n) -
			stats_mean(w->pair.base.y + n, w->pair.base.n - n);
		r->fresh_rel = as_ratio(w, fresh);
		if (ru->looks[now] < DETECT_VERDICT_LOOK)
			return false;
		if (fresh != 0 && (fresh > 0) == (t->effect > 0))
			return true;
		r->notes |= DETECT_NOTE_FRESH_AGAINST;
		return false;
	}
	return false;
}

/* What is known without the other metrics; candidates get their verdict when q is known. */
static void judge_tested(struct work *w)
{
	const struct rules *ru = w->rules;
	struct detect_result *r = w->r;
	size_t n = w->pair.base.n, m = w->pair.head.n;
	int now = detect_rules_look_index(ru, pair_units(w));
	struct stats_test t;
	double upper;
	bool guard, single = ru->o->single_look;

	test_first(w, n, m, &t, &guard);
	if (!isfinite(t.se) || !isfinite(t.effect)) {
		r->notes |= DETECT_NOTE_BLIND;
		return;
	}
	fill_effect(w, &t, t.se > 0 ? t.se * stats_t_upper((1 - r->level) / 2, t.df) : 0);
	r->p = t.p;
	r->q = fmin(1, t.p * (single || now < 0 ? 1 : ru->factor[now]));
	r->t = t.t;
	r->df = t.df;
	r->mde = mde_of(w, t.se, t.df);
	r->units_needed = units_needed(w, &t, n, m);
	r->look = single ? (int)pair_units(w) : ru->looks[now];
	r->more_units = single ? 0 : detect_rules_next_look(ru, w->profile, (int)pair_units(w));
	if (guard) {
		r->notes |= DETECT_NOTE_CLIPPED;
		return;
	}
	if (crosses(w, &t)) {
		r->verdict = DETECT_CANDIDATE;
		if (single || confirmed(w, now, &t))
			r->verdict = direction(w, t.effect);
		return;
	}
	if (t.p <= ru->alpha)
		r->notes |= DETECT_NOTE_SMALL;
	upper = fabs(t.effect) + (t.se > 0 ? t.se * stats_t_upper(.05, t.df) : 0);
	if ((w->pair.ln ? upper : as_ratio(w, upper)) < ru->same) {
		r->verdict = DETECT_SAME;
		r->more_units = 0;
		return;
	}
	r->verdict = DETECT_INCONCLUSIVE;
	if (r->more_units)
		return;
	if (r->mde > ru->o->target_effect) {
		r->verdict = DETECT_NOT_ENOUGH_DATA;
		r->notes |= DETECT_NOTE_BLIND;
	} else {
		r->notes |= DETECT_NOTE_END;
	}
	if (single && r->units_needed > r->look)
		r->more_units = r->units_needed;
}

static void note_basics(struct work *w)
{
	struct detect_result *r = w->r;
	const struct units_side *a = &w->pair.base, *b = &w->pair.head;

	if (a->info.dropped || b->info.dropped)
		r->notes |= DETECT_NOTE_DROPPED;
	if (!w->profile)
		r->notes |= DETECT_NOTE_NO_HISTORY;
	if (!a->n || !b->n) {
		r->notes |= DETECT_NOTE_MISSING;
		return;
	}
	if (!w->pair.ln)
		r->notes |= DETECT_NOTE_ABSOLUTE;
	if (a->info.nmodes)
		r->notes |= DETECT_NOTE_MODES_BASE;
	if (b->info.nmodes)
		r->notes |= DETECT_NOTE_MODES_HEAD;
	if (a->n > 2 && b->n > 2 && (a->order_max < b->order_min || b->order_max < a->order_min))
		r->notes |= DETECT_NOTE_BLOCKS;
}

static void load_pair(struct work *w, const struct detect_metric *m)
{
	const struct detect_profile *p = m->profile && m->profile->have ? m->profile : NULL;
	bool raw = p && !p->ln_scale;

	units_pair_init(&w->pair, m->base, m->nbase, m->head, m->nhead, raw, raw);
	w->profile = p;
	if (p && p->ln_scale && !w->pair.ln) {
		w->profile = NULL;
		w->r->notes |= DETECT_NOTE_OTHER_SCALE;
	}
	w->ref = fmax(fabs(stats_mean(w->pair.base.y, w->pair.base.n)),
		      fabs(stats_mean(w->pair.head.y, w->pair.head.n)));
}

/* Everything but what needs the q of the other metrics. */
static void judge(const struct rules *ru, const struct detect_metric *m, struct detect_result *r)
{
	struct work w = { .rules = ru, .better = m->better, .r = r };
	struct stats_test t = { 0 };
	size_t least, have;

	*r = (struct detect_result){ .verdict = DETECT_NOT_ENOUGH_DATA,
				     .level = ru->o->level,
				     .rel = NO_VALUE,
				     .lo = NO_VALUE,
				     .hi = NO_VALUE,
				     .abs = NO_VALUE,
				     .abs_lo = NO_VALUE,
				     .abs_hi = NO_VALUE,
				     .fresh_rel = NO_VALUE,
				     .p = NO_VALUE,
				     .q = NO_VALUE,
				     .t = NO_VALUE,
				     .df = NO_VALUE,
				     .mde = NO_VALUE };
	w.min_effect = m->headline ? ru->o->min_effect : ru->o->monitor_min_effect;
	load_pair(&w, m);
	r->base = w.pair.base.info;
	r->head = w.pair.head.info;
	r->ln_scale = w.pair.ln;
	note_basics(&w);
	have = pair_units(&w);
	least = least_units(&w);
	r->more_units = detect_rules_next_look(ru, w.profile, (int)have);
	if (have) {
		t.effect = stats_mean(w.pair.head.y, w.pair.head.n) -
			   stats_mean(w.pair.base.y, w.pair.base.n);
		fill_effect(&w, &t, NO_VALUE);
	}
	if (w.pair.base.one_boot || w.pair.head.one_boot)
		r->notes |= DETECT_NOTE_ONE_BOOT;
	else if (have >= MIN_UNITS && w.pair.base.constant && w.pair.head.constant)
		judge_constant(&w);
	else if (have < least || (!ru->o->single_look && detect_rules_look_index(ru, have) < 0))
		r->notes |= have ? DETECT_NOTE_FEW : 0;
	else
		judge_tested(&w);
	units_pair_done(&w.pair);
}

/* A change needs its q and an interval without zero; a monitor asks for runs only when sure. */
static void settle(const struct rules *ru, const struct detect_metric *m, double q,
		   struct detect_result *r)
{
	double limit = m->headline ? ru->o->fdr_q : ru->o->monitor_fdr_q;
	bool change = r->verdict == DETECT_REGRESSION || r->verdict == DETECT_IMPROVEMENT ||
		      r->verdict == DETECT_CHANGE;

	r->q = q;
	if (change && !isnan(r->p)) {
		if (q <= limit && !(r->abs_lo <= 0 && r->abs_hi >= 0))
			r->more_units = 0;
		else
			r->verdict = DETECT_CANDIDATE;
	}
	/* One monitor in a hundred crosses by chance: most of thousands are not worth a name. */
	if (r->verdict == DETECT_CANDIDATE && !m->headline && !isnan(r->p) && q > limit)
		r->verdict = DETECT_INCONCLUSIVE;
	if (r->verdict == DETECT_CANDIDATE && !r->more_units) {
		r->verdict = DETECT_INCONCLUSIVE;
		r->notes |= ru->o->single_look ? DETECT_NOTE_END : DETECT_NOTE_LAST_LOOK;
	}
	if (!m->headline && !ru->o->single_look &&
	    !(r->verdict == DETECT_CANDIDATE && (isnan(r->p) || r->p <= 1e-4)))
		r->more_units = 0;
}

int detect_compare_many(const struct detect_metric *metrics, size_t n,
			const struct detect_options *options, struct detect_result *ret,
			struct err *e)
{
	_cleanup_(freep) double *q = xcalloc(n ? n : 1, 2 * sizeof(*q));
	double *headline = q, *monitor = q + n;
	struct rules ru;
	int r = detect_options_check(options, e);

	if (r < 0)
		return r;
	detect_rules_init(&ru, options);
	for (size_t i = 0; i < n; i++) {
		judge(&ru, &metrics[i], &ret[i]);
		headline[i] = metrics[i].headline ? ret[i].q : NO_VALUE;
		monitor[i] = metrics[i].headline ? NO_VALUE : ret[i].q;
	}
	stats_bh(headline, n, headline);
	stats_bh(monitor, n, monitor);
	for (size_t i = 0; i < n; i++)
		settle(&ru, &metrics[i], metrics[i].headline ? headline[i] : monitor[i], &ret[i]);
	return 0;
}

int detect_compare(const struct detect_sample *base, size_t nbase, const struct detect_sample *head,
		   size_t nhead, enum detect_better better, const struct detect_profile *profile,
		   const struct detect_options *options, struct detect_result *ret, struct err *e)
{
	struct detect_metric m = { base, nbase, head, nhead, better, true, profile };

	return detect_compare_many(&m, 1, options, ret, e);
}
