/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings in sentences. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/findings_internal.h"

#include <math.h>
#include <string.h>

enum {
	LIST_MAX = 5,
	MOVERS_TOLD = 5,
	SEGMENTS_MAX = 7
};

/* All that a sentence is about. */
struct teller {
	const struct findings_metric *m;
	size_t n;
	const struct findings *f;
	struct finding *x;
};

/* Names of the headline's own suite need not say so. */
static const char *short_name(const struct teller *t, size_t i)
{
	const char *name = t->m[i].name, *lead = t->m[t->x->lead].name;

	if (findings_same_prefix(name, lead))
		return name + findings_prefix(name);
	return name;
}

static void take(struct teller *t, struct strbuf *b)
{
	vec_push(&t->x->text, strbuf_take(b));
}

static void add_list(const struct teller *t, struct strbuf *b, const struct finding_list *list)
{
	size_t told = list->len <= LIST_MAX ? list->len : LIST_MAX - 1;

	for (size_t i = 0; i < told; i++) {
		const char *gap = i == 0 ? "" : i + 1 == list->len ? " and " : ", ";

		strbuf_addf(b, "%s%s", gap, short_name(t, list->items[i]));
	}
	if (told < list->len)
		strbuf_addf(b, " and %zu more", list->len - told);
}

/* Tenths of a percent; less than one of them is told with a digit more. */
static void add_percent(struct strbuf *b, double rel, bool sign)
{
	double v = 100 * (sign ? rel : fabs(rel));
	int digits = fabs(v) < .1 ? 2 : 1;

	if (fabs(v) >= 1e4)
		strbuf_addf(b, sign ? "%+.3g %%" : "%.3g %%", v);
	else if (sign)
		strbuf_addf(b, "%+.*f %%", digits, v);
	else
		strbuf_addf(b, "%.*f %%", digits, v);
}

static void add_interval(struct strbuf *b, const struct findings_metric *m)
{
	if (fabs(m->lo) >= 100 || fabs(m->hi) >= 100)
		strbuf_addf(b, " [%+.3g %%, %+.3g %%]", 100 * m->lo, 100 * m->hi);
	else
		strbuf_addf(b, " [%+.1f %%, %+.1f %%]", 100 * m->lo, 100 * m->hi);
}

static const char *went(double change)
{
	return change < 0 ? "fell" : "rose";
}

static void tell_headline(struct teller *t)
{
	const struct findings_metric *l = &t->m[t->x->lead];
	struct strbuf b = STRBUF_INIT;

	strbuf_addstr(&b, l->name);
	if (findings_is_share(l) || !isfinite(l->rel)) {
		strbuf_addf(&b, " %s", went(l->abs));
		if (isfinite(l->abs))
			strbuf_addf(&b, " by %.4g%s", fabs(l->abs),
				    findings_is_share(l) ? " points" : "");
	} else {
		strbuf_addf(&b, " %s ", went(l->rel));
		add_percent(&b, l->rel, false);
		if (isfinite(l->lo) && isfinite(l->hi))
			add_interval(&b, l);
	}
	if (t->x->same.len > 1) {
		struct finding_list others = { 0 };

		for (size_t i = 1; i < t->x->same.len; i++)
			vec_push(&others, t->x->same.items[i]);
		strbuf_addstr(&b, "; ");
		add_list(t, &b, &others);
		strbuf_addf(&b, "%s", others.len > 1 ? " are the same fact" : " is the same fact");
		vec_done(&others);
	}
	if (l->verdict == DETECT_CANDIDATE)
		strbuf_addstr(&b, "; not sure yet");
	take(t, &b);
}

/* "6.6 %", or "18.9 to 20.7 %" where they are not all alike. */
static void add_range(const struct teller *t, struct strbuf *b, const struct finding_list *list)
{
	double lo = (double)INFINITY, hi = 0;

	for (size_t i = 0; i < list->len; i++) {
		lo = fmin(lo, fabs(t->m[list->items[i]].rel));
		hi = fmax(hi, fabs(t->m[list->items[i]].rel));
	}
	if (hi - lo < .001)
		add_percent(b, (lo + hi) / 2, false);
	else
		strbuf_addf(b, "%.1f to %.1f %%", 100 * lo, 100 * hi);
}

/* What else a run counted, for each unit of its work. */
static void add_per_work(const struct teller *t, struct strbuf *b, const struct finding_list *list)
{
	struct finding_list still = { 0 };
	size_t told = 0;

	for (size_t i = 0; i < list->len && told + still.len < LIST_MAX; i++) {
		size_t at = list->items[i];
		const char *name = t->m[at].name;
		double per = t->f->per_work[at];

		if (at == t->f->work || !findings_is_amount(&t->m[at]) || !isfinite(per) ||
		    (findings_same_prefix(name, t->m[t->x->lead].name) && !strstr(name, ".time.")))
			continue;
		if (fabs(per) < .0005) {
			vec_push(&still, at);
			continue;
		}
		strbuf_addf(b, "%s%s ", told++ ? ", " : "; per unit of work ", short_name(t, at));
		add_percent(b, per, true);
	}
	if (still.len) {
		strbuf_addstr(b, told ? ", and " : "; per unit of work ");
		add_list(t, b, &still);
		strbuf_addstr(b, " did not change");
	}
	vec_done(&still);
}

/* Did the run last as long as before, as far as anybody measured it? */
static bool same_time(const struct teller *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strstr(t->m[i].name, ".time.elapsed_time") && t->m[i].moved)
			return false;
	}
	return true;
}

static void tell_followers(struct teller *t, const struct finding_list *list, bool with_work)
{
	struct strbuf b = STRBUF_INIT;
	double change;
	size_t work = t->f->work;

	if (!list->len)
		return;
	change = t->m[list->items[0]].rel;
	add_list(t, &b, list);
	strbuf_addf(&b, " %s ", went(change));
	add_range(t, &b, list);
	strbuf_addstr(&b, " with it");
	if (with_work && work < t->n && t->f->role[work] == FINDINGS_ROLE_FOLLOWS) {
		const char *amount = t->m[work].rel < 0 ? "fewer" : "more";

		if (same_time(t))
			strbuf_addf(&b, ": %s iterations fitted in the same time", amount);
		else
			strbuf_addf(&b, ": %s iterations were made", amount);
	}
	add_per_work(t, &b, list);
	take(t, &b);
}

/* Those that went with the work first; then with the headline, if that is not the same; then against. */
static void tell_follows(struct teller *t)
{
	struct finding_list with_work = { 0 }, with_lead = { 0 }, against = { 0 };

	for (size_t i = 0; i < t->x->follows.len; i++) {
		size_t at = t->x->follows.items[i];
		double rel = t->m[at].rel, lead = t->m[t->x->lead].rel;

		if (t->f->with_work[at])
			vec_push(&with_work, at);
		else if ((rel > 0) == (lead > 0))
			vec_push(&with_lead, at);
		else
			vec_push(&against, at);
	}
	tell_followers(t, &with_work, true);
	tell_followers(t, &with_lead, false);
	tell_followers(t, &against, false);
	vec_done(&with_work);
	vec_done(&with_lead);
	vec_done(&against);
}

static void tell_movers(struct teller *t)
{
	struct strbuf b = STRBUF_INIT;
	size_t n = t->x->movers.len, told = n < MOVERS_TOLD ? n : MOVERS_TOLD;

	if (!n)
		return;
	strbuf_addstr(&b, "also moved: ");
	for (size_t i = 0; i < told; i++) {
		size_t at = t->x->movers.items[i];
		const struct findings_metric *m = &t->m[at];

		strbuf_addf(&b, "%s%s ", i ? ", " : "", short_name(t, at));
		if (findings_is_share(m))
			strbuf_addf(&b, "%+.1f points", m->abs);
		else if (isfinite(m->rel))
			add_percent(&b, m->rel, true);
		else
			strbuf_addf(&b, "%+.4g%s%s", m->abs, m->unit[0] ? " " : "", m->unit);
		if (isfinite(t->f->per_work[at])) {
			strbuf_addstr(&b, " (");
			add_percent(&b, t->f->per_work[at], true);
			strbuf_addstr(&b, " per unit of work)");
		}
	}
	if (n - told + t->x->movers_more)
		strbuf_addf(&b, " and %zu more", n - told + t->x->movers_more);
	take(t, &b);
}

static const char *step_word(const struct findings_metric *m)
{
	switch (m->verdict) {
	case DETECT_IMPROVEMENT:
		return "better";
	case DETECT_REGRESSION:
		return "worse";
	case DETECT_CHANGE:
		return m->rel > 0 ? "higher" : "lower";
	case DETECT_SAME:
		return "the same";
	case DETECT_CANDIDATE:
		if (m->better == DETECT_BETTER_NONE)
			return "perhaps changed";
		return (m->rel > 0) == (m->better == DETECT_BETTER_HIGHER) ? "perhaps better"
									   : "perhaps worse";
	default:
		return "not sure";
	}
}

/* What the number in the names counts. */
static const char *step_unit(const char *pattern)
{
	static const char *const words[] = { "task", "thread", "process", "cpu" };
	static const char *const units[] = { " tasks", " threads", " processes", " cpus" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strstr(pattern, words[i]))
			return units[i];
	}
	return !strncmp(pattern, "pft.", 4) || strstr(pattern, "faults/") ? " tasks" : "";
}

/* " (-3.7 to -10.1 %)": by how much the least and the most of @n steps changed that went one way. */
static void add_step_sizes(const struct teller *t, struct strbuf *b, const struct finding_step *s,
			   size_t n)
{
	double lo = (double)INFINITY, hi = 0, sign = t->m[s[0].metric].rel < 0 ? -1 : 1;
	enum detect_verdict v = t->m[s[0].metric].verdict;

	if (v != DETECT_REGRESSION && v != DETECT_IMPROVEMENT && v != DETECT_CHANGE &&
	    v != DETECT_CANDIDATE)
		return;
	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, fabs(t->m[s[i].metric].rel));
		hi = fmax(hi, fabs(t->m[s[i].metric].rel));
	}
	if (!isfinite(lo) || !isfinite(hi) || hi >= 100)
		return;
	strbuf_addstr(b, " (");
	if (hi - lo >= .001)
		strbuf_addf(b, "%+.1f to ", 100 * sign * lo);
	add_percent(b, sign * hi, true);
	strbuf_addstr(b, ")");
}

static void tell_ladder(struct teller *t)
{
	const struct finding_step *s = t->x->ladder.items;
	size_t n = t->x->ladder.len, segments = 0;
	struct strbuf b = STRBUF_INIT;
	const char *unit = step_unit(t->x->ladder_name);

	strbuf_addf(&b, "%s: ", t->x->ladder_name);
	for (size_t i = 0; i < n;) {
		const char *word = step_word(&t->m[s[i].metric]);
		size_t end = i + 1;

		while (end < n && !strcmp(step_word(&t->m[s[end].metric]), word))
			end++;
		if (segments < SEGMENTS_MAX) {
			strbuf_addf(&b, "%s%s at %.0f", segments ? ", " : "", word, s[i].at);
			if (end - i > 1)
				strbuf_addf(&b, "%s%.0f", end - i > 2 ? " … " : " and ",
					    s[end - 1].at);
			if (!segments)
				strbuf_addstr(&b, unit);
			add_step_sizes(t, &b, s + i, end - i);
		} else if (segments == SEGMENTS_MAX) {
			strbuf_addf(&b, ", and so on up to %.0f", s[n - 1].at);
		}
		segments++;
		i = end;
	}
	take(t, &b);
}

void findings_tell(const struct findings_metric *m, size_t n, struct findings *f)
{
	vec_foreach (x, &f->items) {
		struct teller t = { m, n, f, x };

		if (x->ladder_name)
			tell_ladder(&t);
		else
			tell_headline(&t);
		tell_follows(&t);
		tell_movers(&t);
	}
}
