/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/verdict.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/detect/rules.h"
#include "bot/detect/stats.h"
#include "bot/detect/two_sample.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

/*
 * A change is suspected from the first look with p below so many times alpha. What comes after it
 * is fresh: those units have to agree, and say how large the change is. To ask for alpha itself
 * here would only make changes wait that are certain at a verdict look.
 */
static const double suspect = 10;

/* Up to this level intervals need no widening for the tails of the noise. */
static const double mid_level = .951;

/* What one call of detect_compare_many() uses again for every metric. */
struct desk {
	const struct rules *rules;
	struct units_room room;
	struct stats_mwu_tails tails;
};

/* One comparison on its way to a verdict. */
struct work {
	struct desk *desk;
	const struct rules *rules;
	const struct detect_profile *profile; /* NULL: no history, or not usable */
	struct units_pair pair;
	enum detect_better better;
	double min_effect;
	double ref; /* what ratios are of, on the raw scale */
	struct detect_result *r;
};

static struct two_sample samples(const struct work *w)
{
	return (struct two_sample){ &w->pair, w->profile, w->desk->room.scratch, &w->desk->tails };
}

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

static bool crosses(const struct work *w, const struct stats_test *t)
{
	return t->p <= w->rules->alpha && fabs(as_ratio(w, t->effect)) >= w->min_effect;
}

/*
 * Half of the interval. Ranks and modes can be sure of a change where the means alone are not:
 * the interval of the test that was made is then the one that just leaves out zero at p.
 */
static double half_interval(const struct work *w, const struct two_sample_test *x)
{
	const struct stats_test *t = &x->t;
	double level = w->r->level, crit, half;

	if (!(t->se > 0))
		return 0;
	crit = stats_t_upper((1 - level) / 2, t->df);
	half = (level > mid_level ? t->se : x->se) * crit;
	if (t->p <= 1 - level && half >= fabs(t->effect))
		half = fabs(t->effect) * crit / stats_t_upper(t->p / 2, t->df) * (1 - 1e-9);
	return half;
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

/* Change that is found 4 times in 5, on the test's scale. */
static double mde_of(const struct work *w, double se, double df)
{
	return se * (stats_t_upper(w->rules->alpha / 2, df) + stats_t_upper(.2, df));
}

/* Smallest look whose detectable change is below the target, with the noise seen now. */
static int units_needed(const struct work *w, const struct stats_test *t, size_t n, size_t m)
{
	const struct detect_profile *p = w->profile;
	double lambda = p ? detect_profile_lambda(p, n < m ? n : m) : 1;
	double jitter = p ? 2 * p->scsq : 0;
	double target = w->rules->o->target_effect;
	double unit =
		(t->se * t->se / (lambda * lambda) - jitter) / (1 / (double)n + 1 / (double)m);

	target = w->pair.ln ? log1p(target) : target * w->ref;
	for (size_t i = 0; i < w->rules->nlooks; i++) {
		int size = w->rules->looks[i];
		double df = 2. * size - 2 + (p ? p->d0 : 0);
		double f = p ? detect_profile_lambda(p, (size_t)size) : 1;
		double se = f * sqrt(fmax(0, unit) * 2 / size + jitter);

		if (p && p->scsq > 0)
			df = fmin(df, p->history - 1);
		if ((size_t)size >= least_units(w) && mde_of(w, se, df) <= target)
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
	r->size_rel = r->size_lo = r->size_hi = r->rel;
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

/* What the units say that came after the first @n of each side. Return: its sign. */
static int see_fresh(struct work *w, size_t n)
{
	bool both = w->pair.base.n > n + 1 && w->pair.head.n > n + 1;
	struct two_sample ts = samples(w);
	struct detect_result *r = w->r;
	struct two_sample_test x;
	double effect, half = NO_VALUE;

	two_sample_rest(&ts, n, &x);
	effect = x.t.effect;
	if (both)
		half = x.se > 0 ? x.se * stats_t_upper((1 - r->level) / 2, x.t.df) : 0;
	r->fresh_rel = as_ratio(w, effect);
	r->fresh_lo = as_ratio(w, effect - half);
	r->fresh_hi = as_ratio(w, effect + half);
	return (effect > 0) - (effect < 0);
}

/* First look before @now at which a change like @t was suspected, or with @sure crossed; or @now. */
static int first_sight(const struct work *w, int now, const struct stats_test *t, bool sure)
{
	const struct rules *ru = w->rules;
	struct two_sample ts = samples(w);

	for (int i = 0; i < now; i++) {
		size_t n = (size_t)ru->looks[i];
		struct two_sample_test early;

		if (n < least_units(w))
			continue;
		two_sample_first(&ts, n, n, &early);
		if (early.t.effect * t->effect > 0 &&
		    (sure ? crosses(w, &early.t) : early.t.p <= suspect * ru->alpha))
			return i;
	}
	return now;
}

/*
 * When the metric was seen first, and whether the units that came after agree. A change that
 * crossed before was picked by units that show it too large: its size is that of the others. One
 * that crosses only now was held back by its earlier units as much as its last ones helped it.
 */
static bool confirmed(struct work *w, int now, const struct stats_test *t)
{
	const struct rules *ru = w->rules;
	struct detect_result *r = w->r;
	int seen = first_sight(w, now, t, false), crossed, sign;

	r->candidate_look = ru->looks[seen];
	if (seen == now)
		return false;
	sign = see_fresh(w, (size_t)ru->looks[seen]);
	crossed = first_sight(w, now, t, true);
	if (crossed > seen && crossed < now) {
		r->candidate_look = ru->looks[crossed];
		(void)see_fresh(w, (size_t)ru->looks[crossed]);
	}
	if (crossed < now) {
		r->size_rel = r->fresh_rel;
		r->size_lo = r->fresh_lo;
		r->size_hi = r->fresh_hi;
	}
	/* Looking several times must not add up to more than alpha. */
	if (ru->looks[now] < DETECT_VERDICT_LOOK || t->p * ru->factor[now] > ru->alpha)
		return false;
	if (sign && (sign > 0) == (t->effect > 0))
		return true;
	r->notes |= DETECT_NOTE_FRESH_AGAINST;
	return false;
}

/* Even the largest change that the test allows is of no interest. */
static bool is_same(const struct work *w, const struct two_sample_test *x)
{
	double effect = fmax(fabs(x->t.effect), x->guard ? fabs(x->raw) : 0);
	double upper = effect + (x->se > 0 ? x->se * stats_t_upper(.05, x->t.df) : 0);

	return (w->pair.ln ? upper : as_ratio(w, upper)) < w->rules->same;
}

/* Nothing crossed and nothing is ruled out: more units, or the end. */
static void judge_open(struct work *w)
{
	struct detect_result *r = w->r;

	r->verdict = DETECT_INCONCLUSIVE;
	if (r->more_units)
		return;
	if (r->mde > w->rules->o->target_effect) {
		r->verdict = DETECT_NOT_ENOUGH_DATA;
		r->notes |= DETECT_NOTE_BLIND;
	} else {
		r->notes |= DETECT_NOTE_END;
	}
	if (w->rules->o->single_look && r->units_needed > r->look)
		r->more_units = r->units_needed;
}

/* What is known without the other metrics; candidates get their verdict when q is known. */
static void judge_tested(struct work *w)
{
	const struct rules *ru = w->rules;
	struct detect_result *r = w->r;
	size_t n = w->pair.base.n, m = w->pair.head.n;
	int now = detect_rules_look_index(ru, pair_units(w));
	bool single = ru->o->single_look;
	struct two_sample ts = samples(w);
	struct two_sample_test x;

	two_sample_first(&ts, n, m, &x);
	if (!isfinite(x.t.se) || !isfinite(x.t.effect)) {
		r->notes |= DETECT_NOTE_BLIND;
		return;
	}
	fill_effect(w, &x.t, half_interval(w, &x));
	r->size_rel = r->rel;
	r->size_lo = r->lo;
	r->size_hi = r->hi;
	r->p = x.t.p;
	r->q = fmin(1, x.t.p * (single || now < 0 ? 1 : ru->factor[now]));
	r->t = x.t.t;
	r->df = x.t.df;
	r->mde = fabs(as_ratio(w, mde_of(w, x.t.se, x.t.df)));
	r->units_needed = units_needed(w, &x.t, n, m);
	r->look = single ? (int)pair_units(w) : ru->looks[now];
	r->more_units = single ? 0 : detect_rules_next_look(ru, w->profile, (int)pair_units(w));
	if (crosses(w, &x.t)) {
		r->verdict = DETECT_CANDIDATE;
		if (single || confirmed(w, now, &x.t))
			r->verdict = direction(w, x.t.effect);
	} else if (is_same(w, &x)) {
		r->notes |= x.t.p <= ru->alpha ? DETECT_NOTE_SMALL : 0;
		r->verdict = DETECT_SAME;
		r->more_units = 0;
	} else if (x.guard) {
		r->notes |= DETECT_NOTE_CLIPPED;
	} else {
		r->notes |= x.t.p <= ru->alpha ? DETECT_NOTE_SMALL : 0;
		judge_open(w);
	}
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

	units_pair_init(&w->pair, &w->desk->room, m->base, m->nbase, m->head, m->nhead, p);
	w->profile = p;
	if (p && p->ln_scale && !w->pair.ln) {
		w->profile = NULL;
		w->r->notes |= DETECT_NOTE_OTHER_SCALE;
	}
	w->ref = fmax(fabs(w->pair.base.sum.mean), fabs(w->pair.head.sum.mean));
}

/* All runs of a side equal the others of it; where history has noise, only if nothing changed. */
static bool is_deterministic(const struct work *w)
{
	const struct units_side *a = &w->pair.base, *b = &w->pair.head;

	return a->constant && b->constant && (!w->profile || a->value == b->value);
}

/* Everything but what needs the q of the other metrics. */
static void judge(struct desk *desk, const struct detect_metric *m, struct detect_result *r)
{
	const struct rules *ru = desk->rules;
	struct work w = { .desk = desk, .rules = ru, .better = m->better, .r = r };
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
				     .size_rel = NO_VALUE,
				     .size_lo = NO_VALUE,
				     .size_hi = NO_VALUE,
				     .fresh_rel = NO_VALUE,
				     .fresh_lo = NO_VALUE,
				     .fresh_hi = NO_VALUE,
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
		t.effect = w.pair.head.sum.mean - w.pair.base.sum.mean;
		fill_effect(&w, &t, NO_VALUE);
	}
	if (w.pair.base.one_boot || w.pair.head.one_boot) {
		r->notes |= DETECT_NOTE_ONE_BOOT;
		r->more_units = detect_rules_next_look(ru, w.profile, have > 0);
	} else if (have >= MIN_UNITS && is_deterministic(&w)) {
		judge_constant(&w);
	} else if (have < least || (!ru->o->single_look && detect_rules_look_index(ru, have) < 0)) {
		r->notes |= have ? DETECT_NOTE_FEW : 0;
	} else {
		judge_tested(&w);
	}
}

/* A change needs its q and an interval without zero; a monitor asks for runs only when sure. */
static void settle(const struct rules *ru, const struct detect_metric *m, double q,
		   struct detect_result *r)
{
	double limit = m->headline ? ru->o->fdr_q : ru->o->monitor_fdr_q;
	bool change = r->verdict == DETECT_REGRESSION || r->verdict == DETECT_IMPROVEMENT ||
		      r->verdict == DETECT_CHANGE;

	r->q = q;
	/* What one metric in a hundred does by chance is not significant among thousands. */
	if (q > limit)
		r->notes &= ~(unsigned)DETECT_NOTE_SMALL;
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
	struct desk desk = { .rules = &ru };
	int r = detect_options_check(options, e);

	if (r < 0)
		return r;
	detect_rules_init(&ru, options);
	for (size_t i = 0; i < n; i++) {
		judge(&desk, &metrics[i], &ret[i]);
		headline[i] = metrics[i].headline ? ret[i].q : NO_VALUE;
		monitor[i] = metrics[i].headline ? NO_VALUE : ret[i].q;
	}
	units_room_done(&desk.room);
	stats_mwu_tails_done(&desk.tails);
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
