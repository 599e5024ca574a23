/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The perf-profile metrics, from what perf script or perf report --stdio printed, or from samples
 * that were summed on the machine.
 */
#include "bot/base/strbuf.h"
#include "runners/monitors/profile.h"

#include <string.h>

enum form {
	FORM_SCRIPT,
	FORM_REPORT,
	FORM_FOLDED
};

/* A list of samples has no such headings in front. */
static enum form form_of(const char *text, size_t len)
{
	struct lines ls = { .text = text, .len = len };
	struct line l;

	while (lines_next(&ls, &l)) {
		if (line_starts(&l, "# Samples:") || line_starts(&l, "# Overhead"))
			return FORM_REPORT;
		if (line_starts(&l, "#profile "))
			return FORM_FOLDED;
		if (l.len > 0 && l.s[0] != '#')
			break;
	}
	return FORM_SCRIPT;
}

static void parse_samples(struct profile *p, struct lines *ls, enum form form)
{
	struct perf_report report = { 0 };
	struct perf_script script = { 0 };
	struct line l = { .nr = 1 };

	while (lines_next(ls, &l)) {
		if (!l.whole)
			problem_bad_line(p->out, &l, "a whole line; the text is cut");
		else if (form == FORM_REPORT)
			perf_report_line(p, &report, &l);
		else
			perf_script_line(p, &script, &l);
	}
	perf_script_end(p, &script, &l);
	profile_give(p);
}

static void parse_folded(struct profile *p, struct lines *ls)
{
	struct fold_reader r = { 0 };
	struct line l = { .nr = 1 };

	while (lines_next(ls, &l)) {
		if (line_starts(&l, "#profile ") && (l.len != 10 || l.s[9] != '1')) {
			problem_bad_line(p->out, &l, "version 1 of a summed profile");
			r.bad = true;
		} else if (l.whole) {
			fold_reader_line(p, &r, &l);
		}
	}
	if (fold_reader_end(p, &r, &l))
		profile_give(p);
}

void parse_perf_profile(const struct monitor *m, const char *text, size_t len,
			const struct monitor_run *run, struct suite_output *out)
{
	struct lines ls = { .text = text, .len = len };
	struct profile *p = xcalloc(1, sizeof(*p));
	enum form form = form_of(text, len);

	(void)m;
	(void)run;
	profile_init(p, out);
	if (form == FORM_FOLDED)
		parse_folded(p, &ls);
	else
		parse_samples(p, &ls, form);
	profile_done(p);
	free(p);
}
