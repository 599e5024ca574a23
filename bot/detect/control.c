/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/control.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/stats.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

static const double fails_p = .001;
enum {
	PART_MIN = 2
};

/* What the two sides have in common. */
struct control {
	const struct detect_profile *profile; /* NULL: none, or not of this scale */
	const struct detect_options *o;
	bool ln;
};

/* One side cut in two: @y holds the first @n units of the one part, then @m of the other. */
struct parts {
	double *y; /* owned */
	size_t n, m;
	double mean; /* of both */
};

static void parts_done(struct parts *p)
{
	free(p->y);
}

static bool parts_are_enough(const struct parts *p)
{
	return p->n >= PART_MIN && p->m >= PART_MIN;
}

/*
 * @after: cut after so many units; 0: take them alternately. One unit far from all the others is an
 * outlier, whichever part it fell into: the units of alternate parts are clipped before. In two
 * parts of two or three it would look like a box that is not steady.
 */
static struct parts cut(const struct control *c, const struct units_side *s, size_t after)
{
	size_t n = s->one_boot ? 0 : s->n, first = after ? after : (n + 1) / 2;
	struct parts p = { .y = xcalloc(n + 1, sizeof(*p.y)), .n = first < n ? first : n };

	p.m = n - p.n;
	p.mean = stats_mean(s->y, n);
	for (size_t i = 0; i < n; i++) {
		double v = s->y[i];

		if (c->profile && !after)
			v = fmin(fmax(v, s->median + c->profile->lo), s->median + c->profile->hi);
		p.y[after ? i : i % 2 ? p.n + i / 2 : i / 2] = v;
	}
	if (c->profile && after && n) {
		(void)stats_clip(p.y, p.n, c->profile->lo, c->profile->hi);
		(void)stats_clip(p.y + p.n, p.m, c->profile->lo, c->profile->hi);
	}
	return p;
}

static double as_ratio(const struct control *c, const struct parts *p, double effect)
{
	if (c->ln)
		return expm1(effect);
	return p->mean != 0 ? effect / fabs(p->mean) : NO_VALUE;
}

/* One kernel has no jitter between kernels: that part of the history is left out. */
static struct stats_prior noise_of(const struct control *c, const struct parts *p)
{
	struct stats_prior prior = { .lambda = 1 };

	if (c->profile) {
		prior.d0 = c->profile->d0;
		prior.s0sq = c->profile->s0sq;
		prior.lambda = detect_profile_lambda(c->profile, p->n < p->m ? p->n : p->m);
	}
	return prior;
}

/*
 * Where noise has two modes, chance alone may leave none in parts of a few units. The other side's
 * noise inside its parts tells then.
 */
static struct stats_prior noise_with(struct stats_prior prior, const struct parts *other)
{
	double d = (double)(other->n + other->m) - 2, ss;

	if (!parts_are_enough(other) || isinf(prior.d0))
		return prior;
	ss = (double)(other->n - 1) * stats_var(other->y, other->n) +
	     (double)(other->m - 1) * stats_var(other->y + other->n, other->m);
	prior.s0sq = (prior.d0 * prior.s0sq + ss) / (prior.d0 + d);
	prior.d0 += d;
	return prior;
}

/* Return: 1 if there are units for a check, else 0. */
static size_t compare(const struct control *c, const struct parts *p, const struct parts *other,
		      const char *name, struct control_check *ret)
{
	struct stats_prior own = noise_of(c, p), both = noise_with(own, other);
	struct stats_test t, u;
	double half;

	if (!parts_are_enough(p))
		return 0;
	stats_moderated(p->y, p->n, p->y + p->n, p->m, &own, &t);
	stats_moderated(p->y, p->n, p->y + p->n, p->m, &both, &u);
	if (u.p > t.p)
		t = u;
	if (!isfinite(t.effect) || !isfinite(t.se))
		return 0;
	half = t.se > 0 ? t.se * stats_t_upper((1 - c->o->level) / 2, t.df) : 0;
	*ret = (struct control_check){ .name = name,
				       .rel = as_ratio(c, p, t.effect),
				       .lo = as_ratio(c, p, t.effect - half),
				       .hi = as_ratio(c, p, t.effect + half),
				       .p = t.p,
				       .n = (int)(p->n + p->m) };
	ret->ok = !(t.p <= fails_p && fabs(ret->rel) >= c->o->min_effect);
	return 1;
}

size_t control_check_all(const struct detect_sample *base, size_t nbase,
			 const struct detect_sample *head, size_t nhead,
			 const struct detect_profile *profile, const struct detect_options *o,
			 int candidate_look, struct control_check *ret)
{
	const struct detect_profile *p = profile && profile->have ? profile : NULL;
	_cleanup_(units_room_done) struct units_room room = { 0 };
	struct control c = { .o = o };
	struct units_pair pair;
	size_t n = 0;

	units_pair_init(&pair, &room, base, nbase, head, nhead, p);
	c.profile = p && p->ln_scale == pair.ln ? p : NULL;
	c.ln = pair.ln;
	for (int late = 0; late <= (candidate_look > 0); late++) {
		size_t after = late ? (size_t)candidate_look : 0;
		_cleanup_(parts_done) struct parts a = cut(&c, &pair.base, after);
		_cleanup_(parts_done) struct parts b = cut(&c, &pair.head, after);

		n += compare(&c, &a, &b, late ? "again" : "aa", &ret[n]);
		if (!late)
			n += compare(&c, &b, &a, "bb", &ret[n]);
	}
	return n;
}

const char *control_text(const struct control_check *c, char *buf, size_t size)
{
	const char *what = "base's units taken alternately";

	if (!strcmp(c->name, "bb"))
		what = "head's units taken alternately";
	else if (!strcmp(c->name, "again"))
		what = "base measured again";
	(void)snprintf(buf, size, "the box is not steady: %s differ%s by %+.2f%%", what,
		       strcmp(c->name, "again") != 0 ? "" : "s", 100 * c->rel);
	return buf;
}
