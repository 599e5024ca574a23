/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/judge_print.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/base/visible.h"
#include "bot/cli/cli.h"
#include "bot/detect/verdict_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *judge_visible(const char *text)
{
	struct strbuf b = STRBUF_INIT;

	visible_add(&b, text, strlen(text));
	for (size_t i = 0; i < b.len; i++) {
		if (b.s[i] == '\n' || b.s[i] == '\t')
			b.s[i] = ' ';
	}
	return strbuf_take(&b);
}

static void put_line(const char *before, const char *text, const char *after)
{
	_cleanup_(freep) char *line = judge_visible(text);

	(void)printf("%s%s%s", before, line, after);
}

static void print_findings(const struct judged *j)
{
	vec_foreach (f, &j->findings.items) {
		vec_foreach (t, &f->text)
			put_line(t == f->text.items ? "" : "  ", *t, "\n");
	}
	if (j->findings.more)
		(void)printf("and %zu more findings\n", j->findings.more);
	if (j->findings.items.len)
		(void)printf("\n");
}

/* Hundredths of a percent, as long as anybody wants to read them. */
static void print_percent(const char *before, double ratio, const char *after)
{
	(void)printf(fabs(ratio) < 100 ? "%s%+.2f%%%s" : "%s%+.4g%%%s", before, 100 * ratio, after);
}

static void print_change(const struct judged_metric *m)
{
	const struct detect_result *r = &m->result;

	if (judged_is_share(m) && isfinite(r->abs)) {
		(void)printf("%+.2f points", r->abs);
		if (isfinite(r->abs_lo))
			(void)printf(" [%+.2f, %+.2f]", r->abs_lo, r->abs_hi);
		return;
	}
	if (isfinite(r->rel))
		print_percent("", r->rel, "");
	else if (isfinite(r->abs))
		(void)printf("%+.6g", r->abs);
	if (isfinite(r->lo)) {
		print_percent(" [", r->lo, ", ");
		print_percent("", r->hi, "]");
	}
}

/* The change that these runs would have shown four times in five. */
static void print_detectable(const struct judged_metric *m)
{
	double mde = m->result.mde;

	if (judged_is_share(m) && isfinite(m->result.base.center))
		(void)printf(" detectable=%.3g points", mde * fabs(m->result.base.center));
	else
		(void)printf(mde < 100 ? " detectable=%.2f%%" : " detectable=%.4g%%", 100 * mde);
}

/* "cannot tell" says what would help, if anything does. */
static void print_what_next(const struct judged_metric *m)
{
	const struct detect_result *r = &m->result;
	int more = verdict_more_runs(r);

	if (more && r->verdict == DETECT_CANDIDATE)
		(void)printf("                %d more run%s a side, on new boots, will confirm it "
			     "or not\n",
			     more, more == 1 ? "" : "s");
	else if (more)
		(void)printf("                cannot tell: %d more run%s a side, on new boots, "
			     "might\n",
			     more, more == 1 ? "" : "s");
}

/* The mean, or where the values are and how many of them. */
static void print_side(const char *before, const struct detect_side *s)
{
	if (s->nmodes < 2) {
		(void)printf("%s%.6g", before, s->center);
		return;
	}
	(void)printf("%s(", before);
	for (int i = s->nmodes; i-- > 0;)
		(void)printf("%.4g in %.0f%%%s", s->modes[i].center, 100 * s->modes[i].share,
			     i ? ", " : ")");
}

static void print_metric(const struct judged *j, size_t i)
{
	const struct judged_metric *m = &j->metrics.items[i];
	const struct judged_checks *c = judged_checks_of(j, i);
	const struct detect_result *r = &m->result;
	char buf[160];

	(void)printf("%-15s ", detect_verdict_name(r->verdict));
	put_line("", m->name, ": ");
	print_change(m);
	if (isfinite(r->base.center) && isfinite(r->head.center)) {
		print_side("  ", &r->base);
		print_side(" -> ", &r->head);
		put_line(m->unit[0] ? " " : "", m->unit, "");
	}
	(void)printf("  n=%d+%d", r->base.units, r->head.units);
	if (isfinite(r->p))
		(void)printf(" p=%.2g q=%.2g", r->p, r->q);
	if (isfinite(r->mde) && r->verdict >= DETECT_SAME)
		print_detectable(m);
	(void)printf("\n");
	if (m->headline || !j->headlines)
		print_what_next(m);
	if (j->headlines && j->findings.role[i] == FINDINGS_ROLE_FOLLOWS)
		put_line("                follows ",
			 j->metrics.items[j->findings.items.items[j->findings.of[i]].lead].name,
			 "\n");
	for (int b = 0; b < DETECT_NOTES; b++) {
		enum detect_note bit = (enum detect_note)(1U << b);

		if ((r->notes & bit) && bit != DETECT_NOTE_NO_HISTORY)
			(void)printf("                %s\n",
				     detect_note_text(r, bit, buf, sizeof(buf)));
	}
	if (c && c->failed >= 0)
		(void)printf("                %s\n",
			     control_text(&c->check[c->failed], buf, sizeof(buf)));
}

static void print_group(const struct judged *j, int group)
{
	(void)printf("                one fact with:");
	vec_foreach (m, &j->metrics) {
		if (m->group == group)
			put_line(" ", m->name, "");
	}
	(void)printf("\n");
}

/* Facts by verdict; what follows a headline is no fact of its own and not counted. */
static void print_counts(const struct judged *j, size_t followers)
{
	for (int v = 0; v < DETECT_VERDICTS; v++)
		(void)printf("%s%s %zu", v ? ", " : "", detect_verdict_name((enum detect_verdict)v),
			     j->counts[v]);
	if (followers)
		(void)printf("; %zu that follow%s a headline not counted", followers,
			     followers == 1 ? "s" : "");
	(void)printf("\n");
}

void judge_print(const struct cli *cli, const struct judged *j)
{
	_cleanup_(freep) bool *seen = xcalloc((size_t)j->groups + 1, sizeof(*seen));
	size_t followers = 0;

	print_findings(j);
	for (int v = 0; v < DETECT_VERDICTS; v++) {
		for (size_t i = 0; i < j->metrics.len; i++) {
			const struct judged_metric *m = &j->metrics.items[i];

			if ((int)m->result.verdict != v || (m->group && seen[m->group]))
				continue;
			seen[m->group] = true;
			followers += j->headlines && j->findings.role[i] == FINDINGS_ROLE_FOLLOWS;
			if (v == DETECT_SAME && !m->headline && !cli->verbose)
				continue;
			print_metric(j, i);
			if (m->group)
				print_group(j, m->group);
		}
	}
	print_counts(j, followers);
}
