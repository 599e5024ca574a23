/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of metrics and the profile below it: 80 columns at most. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose_text.h"
#include "bot/mail/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MIN 17
#define LABEL_MAX 25

/* What fits at each level of shortening. */
static const size_t rows_max[] = { 12, 6, 2, 0, 0 };
static const size_t symbols_max[] = { 8, 4, 2, 0, 0 };

/* @s in exactly @width columns or more; printf would count bytes. */
static void add_padded(struct strbuf *out, const char *s, size_t width)
{
	size_t w = text_width(s);

	strbuf_addstr(out, s);
	for (; w < width; w++)
		strbuf_addch(out, ' ');
}

static char *label_dup(const struct compose_metric *m)
{
	_cleanup_(freep) char *name = NULL;
	size_t unit = m->unit ? text_width(m->unit) + 1 : 0;
	size_t room = unit < LABEL_MAX - 10 ? LABEL_MAX - 1 - unit : 10;

	name = text_clean_dup(m->name, strlen(m->name), room);
	if (!m->unit)
		return take_ptr(name);
	{
		_cleanup_(freep) char *both = xasprintf("%s %s", name, m->unit);

		return text_clean_dup(both, strlen(both), LABEL_MAX - 1);
	}
}

/* "41872000 0.6%": mean in 8 columns, the standard deviation of the runs in 4. */
static void side_text(char *buf, size_t size, const struct compose_side *s)
{
	char mean[COMPOSE_NUMBER] = "", sd[COMPOSE_NUMBER] = "";

	if (s->nmodes > 1)
		(void)snprintf(mean, sizeof(mean), "%zu modes", s->nmodes);
	else if (!isnan(s->mean))
		(void)compose_mean(mean, s->mean);
	if (s->nmodes < 2 && !isnan(s->sd) && !isnan(s->mean) && fabs(s->mean) > 0) {
		double rel = fabs(s->sd / s->mean);

		(void)compose_pct(sd, rel, rel < 0.0995 ? 1 : 0, false);
		/* ".02%" where "0.0%" would say that there is none */
		if (rel > 0 && rel < 0.0005)
			(void)snprintf(sd, sizeof(sd), ".%02d%%", (int)fmax(1, round(rel * 1e4)));
	}
	(void)snprintf(buf, size, "%8s %4s", mean, sd);
}

static void add_row(struct strbuf *out, const struct compose_metric *m, size_t label)
{
	_cleanup_(freep) char *name = label_dup(m);
	int decimals = compose_decimals(&m->change);
	char base[2 * COMPOSE_NUMBER], head[2 * COMPOSE_NUMBER];
	char rel[COMPOSE_NUMBER] = "", lo[COMPOSE_NUMBER] = "", hi[COMPOSE_NUMBER] = "";
	struct strbuf line = STRBUF_INIT;

	side_text(base, sizeof(base), &m->base);
	side_text(head, sizeof(head), &m->head);
	if (!isnan(m->change.rel))
		(void)compose_pct(rel, m->change.rel, decimals, true);
	add_padded(&line, name, label);
	strbuf_addf(&line, "%s   %s %9s", base, head, rel);
	if (!isnan(m->change.lo)) {
		(void)compose_pct(lo, m->change.lo, decimals, true);
		(void)compose_pct(hi, m->change.hi, decimals, true);
		lo[strcspn(lo, "%")] = hi[strcspn(hi, "%")] = '\0';
		strbuf_addf(&line, "  %5s .. %s", lo, hi);
	}
	compose_line(out, "%s", strbuf_str(&line));
	strbuf_done(&line);
}

static void add_symbol(struct strbuf *out, const struct compose_symbol *s, size_t label)
{
	char base[COMPOSE_NUMBER] = "", head[COMPOSE_NUMBER] = "", diff[COMPOSE_NUMBER] = "";
	_cleanup_(freep) char *name = text_clean_dup(s->symbol, strlen(s->symbol), label);
	struct strbuf line = STRBUF_INIT;

	if (!isnan(s->base))
		(void)compose_pct(base, s->base, 1, false);
	if (!isnan(s->head))
		(void)compose_pct(head, s->head, 1, false);
	if (!isnan(s->base) && !isnan(s->head)) {
		(void)compose_pct(diff, s->head - s->base, 1, true);
		diff[strcspn(diff, "%")] = '\0';
	}
	strbuf_addstr(&line, "  ");
	add_padded(&line, name, label);
	strbuf_addf(&line, "%6s%16s%15s", base, head, diff);
	compose_line(out, "%s", strbuf_str(&line));
	strbuf_done(&line);
}

static void add_profile(const struct compose_text *t, size_t label)
{
	const struct compose_input *in = t->in;
	size_t max = symbols_max[t->shrink];

	if (!in->profile.len || !max)
		return;
	compose_line(t->out, "cycles in (share of all):");
	for (size_t i = 0; i < in->profile.len && i < max; i++)
		add_symbol(t->out, &in->profile.items[i], label);
	if (in->profile.len > max)
		compose_line(t->out, "  (%zu more)", in->profile.len - max);
}

static void add_title(const struct compose_text *t, size_t label)
{
	const struct compose_input *in = t->in;
	int64_t nb = in->headline.base.n, nh = in->headline.head.n;
	char text[COMPOSE_NUMBER] = "mean, sd";

	char interval[COMPOSE_NUMBER] = "";

	if (!isnan(in->headline.change.lo))
		(void)snprintf(interval, sizeof(interval), "%.4g%% interval", in->level * 100);
	if (nb && nb == nh)
		(void)snprintf(text, sizeof(text), "mean, sd, %lld runs", (long long)nb);
	else if (nb && nh && label > LABEL_MIN)
		(void)snprintf(text, sizeof(text), "mean, sd, %lld+%lld runs", (long long)nb,
			       (long long)nh);
	compose_line(t->out, "%-*s%13s%16s%10s  %s", (int)label, text, "parent", "this commit",
		     "change", interval);
	compose_line(t->out, "%*.12s%16.12s", (int)label + 13, in->parent ? in->parent : "",
		     in->culprit.commit);
}

void compose_add_table(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	size_t rows = in->metrics.len, max = rows_max[t->shrink];
	size_t label = LABEL_MIN;

	/* with nothing but the change itself the first sentence has said all */
	if (!rows && isnan(in->headline.base.mean) && isnan(in->headline.head.mean) &&
	    !in->profile.len)
		return;
	if (rows > max)
		rows = max;
	for (size_t i = 0; i <= rows; i++) {
		const struct compose_metric *m = i ? &in->metrics.items[i - 1] : &in->headline;
		_cleanup_(freep) char *name = label_dup(m);

		if (text_width(name) + 1 > label)
			label = text_width(name) + 1;
	}
	strbuf_addch(t->out, '\n');
	add_title(t, label);
	add_row(t->out, &in->headline, label);
	for (size_t i = 0; i < rows; i++)
		add_row(t->out, &in->metrics.items[i], label);
	if (in->metrics.len > rows)
		compose_line(t->out, "(%zu more metrics changed)", in->metrics.len - rows);
	add_profile(t, label);
}
