/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/two_sample.h"

#include "bot/detect/rules.h"

#include <math.h>
#include <string.h>

/*
 * Units of which one was made next to one of the other side share noise: from so many pairs on,
 * and if history shows so much of it.
 */
enum {
	MIN_PAIRS = 5
};
static const double min_pair_rho = .3;

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

/* A sample to be tested: all units of a side, or @n that follow each other; ascending. */
struct part {
	const double *sorted;
	size_t n;
	struct stats_sum sum;
	double median;
};

static struct part whole_side(const struct units_side *s)
{
	return (struct part){ s->sorted, s->n, s->sum, s->median };
}

static struct part some_units(const struct units_side *s, size_t from, size_t n, double *room)
{
	memcpy(room, s->y + from, n * sizeof(*room));
	stats_sort(room, n);
	return (struct part){ room, n, stats_sum_of(room, n), stats_quantile(room, n, .5) };
}

/*
 * Sum of the units, those beyond the profile's limits moved to them (or left out, with @drop).
 * Return: how many are beyond.
 */
static size_t clipped_sum(const struct part *s, const struct detect_profile *p, bool drop,
			  struct stats_sum *ret)
{
	double lo = s->median + p->lo, hi = s->median + p->hi;
	size_t from = 0, to = s->n, n;
	double low, high, sum = 0, ss = 0;

	while (from < to && s->sorted[from] < lo)
		from++;
	while (to > from && s->sorted[to - 1] > hi)
		to--;
	*ret = s->sum;
	n = s->n - (to - from);
	if (!n)
		return 0;
	low = drop ? 0 : (double)from;
	high = drop ? 0 : (double)(s->n - to);
	for (size_t i = from; i < to; i++)
		sum += s->sorted[i] - s->median;
	ret->n = drop ? to - from : s->n;
	sum = (sum + low * p->lo + high * p->hi) / (double)ret->n;
	for (size_t i = from; i < to; i++) {
		double d = s->sorted[i] - s->median - sum;

		ss += d * d;
	}
	ret->mean = s->median + sum;
	ret->ss = ss + low * (p->lo - sum) * (p->lo - sum) + high * (p->hi - sum) * (p->hi - sum);
	return n;
}

/*
 * Is each unit of base next to one of head, made at the same moment as it were? Only worth asking
 * when neighbours are known to share much of their noise.
 */
static bool in_pairs(const struct two_sample *w, size_t n, size_t m)
{
	const double *a = w->pair->base.order, *b = w->pair->head.order;

	if (!w->profile || w->profile->pair_rho <= min_pair_rho || n != m || n < MIN_PAIRS || !a ||
	    !b)
		return false;
	for (size_t i = 0; i + 1 < n; i++) {
		if (fmax(a[i], b[i]) >= fmin(a[i + 1], b[i + 1]))
			return false;
	}
	return true;
}

/* The noise that a pair shares is not in its difference. */
static void test_pairs(const struct two_sample *w, size_t n, const struct stats_prior *prior,
		       struct stats_test *ret)
{
	const struct detect_profile *p = w->profile;
	double share = 2 * (1 - p->pair_rho), *d = w->scratch;
	struct stats_prior of_pairs = *prior;
	struct stats_sum sum;

	for (size_t i = 0; i < n; i++)
		d[i] = w->pair->head.y[i] - w->pair->base.y[i];
	(void)stats_clip(d, n, sqrt(share) * fmin(p->lo, -p->hi),
			 sqrt(share) * fmax(p->hi, -p->lo));
	stats_sort(d, n);
	sum = stats_sum_of(d, n);
	of_pairs.s0sq *= share;
	stats_moderated_paired(&sum, &of_pairs, ret);
}

static void test_with_history(const struct two_sample *w, const struct part *a,
			      const struct part *b, struct two_sample_test *ret)
{
	const struct detect_profile *p = w->profile;
	double lambda = detect_profile_lambda(p, a->n < b->n ? a->n : b->n);
	struct stats_prior prior = { p->d0, p->s0sq, p->scsq, lambda, p->history };
	struct stats_test without;
	struct stats_sum sa, sb;
	size_t moved = clipped_sum(a, p, false, &sa) + clipped_sum(b, p, false, &sb);

	stats_moderated_sums(&sa, &sb, &prior, &ret->t);
	ret->se = ret->t.se / lambda;
	ret->guard = moved && (a->n == MIN_UNITS || b->n == MIN_UNITS);
	if (!ret->guard)
		return;
	ret->raw = b->sum.mean - a->sum.mean;
	(void)clipped_sum(a, p, true, &sa);
	(void)clipped_sum(b, p, true, &sb);
	if (sa.n < 2 || sb.n < 2) {
		ret->t.p = 1;
		return;
	}
	stats_moderated_sums(&sa, &sb, &prior, &without);
	ret->t.p = without.effect * ret->t.effect > 0 ? fmax(ret->t.p, without.p) : 1;
}

static void test_parts(const struct two_sample *w, const struct part *a, const struct part *b,
		       struct two_sample_test *ret)
{
	ret->guard = false;
	if (w->profile) {
		test_with_history(w, a, b, ret);
		return;
	}
	stats_welch_sums(&a->sum, &b->sum, &ret->t);
	ret->se = ret->t.se;
}

/* Ranks and modes need no clipping. */
void two_sample_first(const struct two_sample *w, size_t n, size_t m, struct two_sample_test *ret)
{
	const struct units_side *base = &w->pair->base, *head = &w->pair->head;
	const struct detect_profile *p = w->profile;
	double *room = w->scratch;
	struct part a, b;

	ret->guard = false;
	if (in_pairs(w, n, m)) {
		double lambda = detect_profile_lambda(p, n);
		struct stats_prior prior = { p->d0, p->s0sq, p->scsq, lambda, p->history };

		test_pairs(w, n, &prior, &ret->t);
		ret->se = ret->t.se / lambda;
		return;
	}
	a = n == base->n ? whole_side(base) : some_units(base, 0, n, room);
	b = m == head->n ? whole_side(head) : some_units(head, 0, m, room + n);
	test_parts(w, &a, &b, ret);
	if (n >= DETECT_VERDICT_LOOK && m >= DETECT_VERDICT_LOOK)
		ret->t.p = stats_cauchy(ret->t.p,
					stats_mwu_sorted(a.sorted, n, b.sorted, m, w->tails, NULL));
	if (p && p->bimodal)
		ret->t.p = fmin(1, 2 * fmin(ret->t.p, mode_p(p, base->y, n, head->y, m)));
}

void two_sample_rest(const struct two_sample *w, size_t n, struct two_sample_test *ret)
{
	const struct units_side *base = &w->pair->base, *head = &w->pair->head;
	struct part a = some_units(base, n, base->n - n, w->scratch);
	struct part b = some_units(head, n, head->n - n, w->scratch + base->n);

	test_parts(w, &a, &b, ret);
}
