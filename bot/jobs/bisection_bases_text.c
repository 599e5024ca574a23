/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What readers are told of ends that are not ancestors of each other. */
#include "bot/jobs/bisection_bases.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_run.h"

#include <math.h>
#include <string.h>

static const char *const stage_names[] = {
	[BISECTION_PLAIN] = "plain",
	[BISECTION_BASES] = "bases",
	[BISECTION_BAD_SIDE] = "bad-side",
	[BISECTION_GOOD_SIDE] = "good-side",
};

const char *bisection_stage_name(enum bisection_stage stage)
{
	return stage_names[stage];
}

static void add_names(const struct bisection_fork *f, enum bisect_base_side side, bool all,
		      struct strbuf *text)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < f->n_bases; i++)
		n += all || f->sides[i] == side;
	strbuf_addstr(text, n == 1 ? "merge base" : "merge bases");
	for (size_t i = 0; i < f->n_bases; i++) {
		if (!all && f->sides[i] != side)
			continue;
		strbuf_addf(text, "%s %.12s", k == 0 ? "" : k + 1 == n ? " and" : ",", f->bases[i]);
		k++;
		if (f->instead[i][0])
			strbuf_addf(text, " (for %.12s, which cannot be measured)", f->instead[i]);
		if (isfinite(f->rel[i]))
			strbuf_addf(text, " (%+.1f %%)", 100 * f->rel[i]);
	}
	if (all && f->total > f->n_bases)
		strbuf_addf(text, " of %zu", f->total);
}

static size_t count_of(const struct bisection_fork *f, enum bisect_base_side side)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_bases; i++)
		n += f->sides[i] == side;
	return n;
}

static void add_like(const struct bisection_fork *f, enum bisect_base_side side, const char *one,
		     const char *more, struct strbuf *text)
{
	size_t n = count_of(f, side);

	if (!n)
		return;
	strbuf_addstr(text, ", ");
	add_names(f, side, false, text);
	strbuf_addf(text, " %s", n == 1 ? one : more);
}

static void tell_good_side(const struct bisection_run *b, struct strbuf *text)
{
	const struct bisection_fork *f = &b->fork;

	if (bisection_bases_is_rewound(b)) {
		strbuf_addf(
			text,
			"%.12s is an ancestor of %.12s, the branch was set back: what is better "
			"came between them and is no longer there",
			b->row.bad, b->row.good);
		return;
	}
	add_names(f, BISECT_BASE_BAD, false, text);
	strbuf_addf(
		text,
		" %s as bad as %.12s: what makes %.12s better is on its side, the step is not in "
		"%.12s..%.12s",
		count_of(f, BISECT_BASE_BAD) == 1 ? "is" : "are", b->row.bad, b->row.good, f->from,
		b->row.bad);
	add_like(f, BISECT_BASE_GOOD, "is good", "are good", text);
	if (f->unlimited)
		strbuf_addstr(text, "; the limits of the request leave nothing there, so all of it "
				    "was searched");
}

static void tell_bad_side(const struct bisection_run *b, struct strbuf *text)
{
	const struct bisection_fork *f = &b->fork;

	strbuf_addf(text, "%.12s is not an ancestor of %.12s", b->row.good, b->row.bad);
	add_like(f, BISECT_BASE_GOOD, "is as good", "are as good", text);
	add_like(f, BISECT_BASE_BETWEEN,
		 "is neither as good nor as bad, so a part may have come on the other side",
		 "are neither as good nor as bad, so a part may have come on the other side", text);
	add_like(f, BISECT_BASE_UNTESTED, "cannot be measured", "cannot be measured", text);
	strbuf_addf(text, ", the search began at %.12s", f->from);
}

static void tell(const struct bisection_run *b, struct strbuf *text)
{
	const struct bisection_fork *f = &b->fork;

	if (f->stage == BISECTION_GOOD_SIDE) {
		tell_good_side(b, text);
	} else if (f->stage == BISECTION_BAD_SIDE) {
		tell_bad_side(b, text);
	} else if (bisection_bases_is_rewound(b)) {
		strbuf_addf(text, "%.12s is an ancestor of %.12s, the branch was set back",
			    b->row.bad, b->row.good);
	} else {
		strbuf_addf(text, "%.12s is not an ancestor of %.12s, so ", b->row.good,
			    b->row.bad);
		add_names(f, BISECT_BASE_OPEN, true, text);
		strbuf_addstr(text, f->n_bases == 1 ? " comes first" : " come first");
	}
}

static json_t *fork_json(const struct bisection_run *b)
{
	const struct bisection_fork *f = &b->fork;
	json_t *o = json_object(), *bases = json_array();

	json_set_str(o, "stage", bisection_stage_name(f->stage));
	json_set_i64(o, "total", (int64_t)f->total);
	for (size_t i = 0; i < f->n_bases; i++) {
		json_t *base = json_object();

		json_set_str(base, "commit", f->bases[i]);
		json_set_str(base, "like", bisect_base_side_name(f->sides[i]));
		json_set_f64(base, "rel", f->rel[i]);
		if (f->instead[i][0]) {
			json_set_str(base, "instead_of", f->instead[i]);
			json_set_i64(base, "older", f->older[i]);
		}
		if (json_array_append_new(bases, base) < 0)
			abort();
	}
	if (json_object_set_new(o, "bases", bases) < 0)
		abort();
	if (f->from[0])
		json_set_str(o, "from", f->from);
	return o;
}

static void add_note(json_t *notes, const char *text)
{
	if (json_array_append_new(notes, json_string(text)) < 0)
		abort();
}

void bisection_bases_status(const struct bisection_run *b, json_t *status)
{
	const struct bisection_fork *f = &b->fork;
	json_t *notes = json_array(), *o;

	if (f->stage != BISECTION_PLAIN) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		tell(b, &text);
		add_note(notes, strbuf_str(&text));
		o = fork_json(b);
		json_set_i64(o, "commits", f->commits);
		json_set_bool(o, "stored", f->stored);
		if (json_object_set_new(status, "fork", o) < 0)
			abort();
	}
	/* The first warning about such ends is what was just told. */
	for (size_t i = b->range.good_is_ancestor ? 0 : 1; i < b->range.n_warnings; i++)
		add_note(notes, b->range.warnings[i]);
	if (json_object_set_new(status, "notes", notes) < 0)
		abort();
	if (f->stage == BISECTION_PLAIN || f->stored)
		return;
	/* Of the range to search nothing is known yet. */
	(void)json_object_del(status, "effective_left");
	if (f->commits)
		json_set_i64(status, "commits", f->commits);
	else
		(void)json_object_del(status, "commits");
	if (json_object_set_new(status, "posterior", json_array()) < 0)
		abort();
}

void bisection_bases_result(const struct bisection_run *b, json_t *result)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (b->fork.stage == BISECTION_PLAIN)
		return;
	strbuf_addf(&text, "%s; ", json_str(result, "text", ""));
	tell(b, &text);
	json_set_str(result, "text", strbuf_str(&text));
	if (json_object_set_new(result, "fork", fork_json(b)) < 0)
		abort();
}
