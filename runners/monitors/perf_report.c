/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf report --stdio: lines "# Samples: … of event 'NAME'", a heading, a line of dots that gives the
 * columns' places, rows of percentages. Call graphs between the rows are passed over.
 */
#include "runners/monitors/profile.h"

#include <string.h>

static void take_event(struct profile *p, struct perf_report *s, const struct line *l)
{
	static const char mark[] = "of event '";
	const char *at = memmem(l->s, l->len, mark, sizeof(mark) - 1);
	const char *end = at ? memrchr(at, '\'', (size_t)(l->s + l->len - at)) : NULL;
	struct word w;

	s->has_columns = false;
	s->n = 0;
	if (!at || end <= at + sizeof(mark) - 2)
		return;
	w.s = at + sizeof(mark) - 1;
	w.len = (size_t)(end - w.s);
	s->event = profile_event(p, &w);
	s->has_event = s->event < PROFILE_EVENTS_MAX;
	/* Weights are percentages here. */
	if (s->has_event)
		p->events[s->event].total = 100;
	else
		problem_bad_line(p->out, l, "of one of the first events; left out");
}

static bool part_is(const struct word *w, size_t start, size_t end, const char *lit)
{
	struct word part;

	while (start < w->len && start < end && w->s[start] == ' ')
		start++;
	if (end > w->len)
		end = w->len;
	if (start >= end)
		return false;
	part = (struct word){ w->s + start, end - start };
	while (part.len > 0 && part.s[part.len - 1] == ' ')
		part.len--;
	return word_eq(&part, lit);
}

/* "# ........  ......": where the columns are whose titles stand above. */
static void take_places(struct perf_report *s, const struct line *l)
{
	size_t i = 1;

	s->n = 0;
	while (i < l->len && s->n < 12) {
		size_t start, end;

		while (i < l->len && l->s[i] == ' ')
			i++;
		start = i;
		while (i < l->len && l->s[i] == '.')
			i++;
		if (i == start)
			break;
		end = i;
		s->columns[s->n].start = s->n ? start : 0;
		s->columns[s->n].end = end;
		s->columns[s->n].what = REPORT_OTHER;
		if (part_is(&s->titles, start, end, "Children"))
			s->columns[s->n].what = REPORT_CHILDREN;
		else if (part_is(&s->titles, start, end, "Self") ||
			 part_is(&s->titles, start, end, "Overhead"))
			s->columns[s->n].what = REPORT_SELF;
		else if (part_is(&s->titles, start, end, "Command"))
			s->columns[s->n].what = REPORT_COMMAND;
		else if (part_is(&s->titles, start, end, "Shared Object"))
			s->columns[s->n].what = REPORT_DSO;
		else if (part_is(&s->titles, start, end, "Symbol"))
			s->columns[s->n].what = REPORT_SYMBOL;
		s->n++;
	}
	/* Only the last column may be longer than its place. */
	s->has_columns =
		s->n > 1 && s->columns[s->n - 1].what == REPORT_SYMBOL &&
		(s->columns[0].what == REPORT_CHILDREN || s->columns[0].what == REPORT_SELF);
}

static struct word cell(const struct perf_report *s, size_t k, const struct line *l)
{
	size_t start = s->columns[k].start, end = k + 1 == s->n ? l->len : s->columns[k].end;

	if (end > l->len)
		end = l->len;
	while (start < end && l->s[start] == ' ')
		start++;
	while (end > start && l->s[end - 1] == ' ')
		end--;
	return (struct word){ l->s + start, end > start ? end - start : 0 };
}

static bool take_percent(const struct word *w, double *ret)
{
	return w->len > 1 && w->s[w->len - 1] == '%' && number_f64(w->s, w->len - 1, ret) &&
	       *ret <= 100;
}

/* A row starts with blanks, digits, a point, digits and '%'. */
static bool is_row(const struct perf_report *s, const struct line *l)
{
	struct word w = cell(s, 0, l);
	double v;

	return l->s[0] == ' ' && take_percent(&w, &v);
}

static bool is_address(const struct word *w)
{
	size_t i = w->len > 2 && !memcmp(w->s, "0x", 2) ? 2 : 0;

	if (i == 0 && w->len < 16)
		return false;
	for (; i < w->len; i++)
		if (!(w->s[i] >= '0' && w->s[i] <= '9') && !(w->s[i] >= 'a' && w->s[i] <= 'f'))
			return false;
	return true;
}

static void take_row(struct profile *p, struct perf_report *s, const struct line *l)
{
	struct word comm = { 0 }, dso = { 0 }, symbol = { 0 }, w;
	double self = -1, children = -1;
	bool good = true;

	for (size_t k = 0; k < s->n; k++) {
		w = cell(s, k, l);
		switch (s->columns[k].what) {
		case REPORT_CHILDREN:
			good &= take_percent(&w, &children);
			break;
		case REPORT_SELF:
			good &= take_percent(&w, &self);
			break;
		case REPORT_COMMAND:
			comm = w;
			break;
		case REPORT_DSO:
			dso = w;
			break;
		case REPORT_SYMBOL:
			symbol = w;
			break;
		default:
			break;
		}
	}
	/* "[k] name", "[.] name" */
	if (!good || self < 0 || symbol.len < 5 || symbol.s[0] != '[' || symbol.s[2] != ']' ||
	    symbol.s[3] != ' ') {
		problem_bad_line(p->out, l, "a row of the report");
		return;
	}
	symbol.s += 4;
	symbol.len -= 4;
	/* Addresses without a name: each has a row, and what they hold together cannot be told. */
	if (is_address(&symbol)) {
		symbol = (struct word){ "[unknown]", 9 };
		children = 0;
	}
	profile_add_symbol(p, s->event, profile_symbol(p, symbol.s, symbol.len), self,
			   children > 0 ? children : 0);
	profile_add_group(&p->comms, s->event, &comm, self);
	profile_add_group(&p->dsos, s->event, &dso, self);
}

void perf_report_line(struct profile *p, struct perf_report *s, const struct line *l)
{
	if (line_starts(l, "# Samples:")) {
		take_event(p, s, l);
	} else if (line_starts(l, "# ...")) {
		take_places(s, l);
		if (!s->has_columns)
			problem_bad_line(p->out, l,
					 "below the columns Children or Overhead to Symbol");
	} else if (l->len > 0 && l->s[0] == '#') {
		s->titles = (struct word){ l->s, l->len };
	} else if (s->has_event && s->has_columns && l->len > 0 && is_row(s, l)) {
		take_row(p, s, l);
	}
}
