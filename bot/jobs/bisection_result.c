/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_result.h"

#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_outside.h"
#include "bot/jobs/bisection_priors.h"

#include <math.h>
#include <string.h>

#define SET_TEXT_MAX	 8
#define SET_MAX		 500
#define PARENTS_TEXT_MAX 4
/* Merges of more are rare, and of hundreds no work of a person. */
#define PARENTS_ALWAYS 8

static void set_new(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, v) < 0)
		abort();
}

static void push_new(json_t *list, json_t *v)
{
	if (json_array_append_new(list, v) < 0)
		abort();
}

json_t *bisection_effect_json(const struct detect_result *effect)
{
	json_t *o = json_object();

	json_set_f64(o, "rel", effect->rel);
	json_set_f64(o, "lo", effect->lo);
	json_set_f64(o, "hi", effect->hi);
	json_set_f64(o, "level", effect->level);
	return o;
}

void bisection_effect_text(const struct detect_result *effect, struct strbuf *text)
{
	if (!isfinite(effect->rel)) {
		strbuf_addstr(text, "no value");
		return;
	}
	strbuf_addf(text, "%+.1f %%", 100 * effect->rel);
	if (isfinite(effect->lo) && isfinite(effect->hi))
		strbuf_addf(text, " (%+.1f %% to %+.1f %%)", 100 * effect->lo, 100 * effect->hi);
}

/* A step in units of y as a ratio; NAN where the metric has no logarithm. */
static double ratio_of(const struct bisection_run *b, double y)
{
	return b->ln ? expm1(y) : NAN;
}

static bool has_second(const struct bisect_step *step)
{
	return step->second != BISECT_NO_COMMIT && step->second != BISECT_GOOD_END;
}

static void add_second(const struct bisection_run *b, const struct bisect_step *step,
		       json_t *result, struct strbuf *text)
{
	const char *hash;
	json_t *o;

	if (!has_second(step))
		return;
	hash = bisection_run_hash(b, step->second);
	o = json_object();
	json_set_str(o, "commit", hash);
	json_set_f64(o, "p", step->second_probability);
	json_set_f64(o, "rel", ratio_of(b, step->second_size));
	set_new(result, "second", o);
	strbuf_addf(text, "; the range has a second step");
	if (b->ln)
		strbuf_addf(text, " of %+.1f %%", 100 * ratio_of(b, step->second_size));
	strbuf_addf(text, ", %s %.12s",
		    step->second_probability >= 0.9 ? "brought by" : "likeliest brought by", hash);
}

static const char *why_no_more(const struct bisection_run *b)
{
	return b->late ? "the deadline has passed" : "the budget is spent";
}

/* The same range without a step is the other answer, and no commit of the set has its share. */
static void add_none(const struct bisect_step *step, json_t *result, struct strbuf *text)
{
	json_set_f64(result, "p_none", step->p_none);
	if (step->p_none >= 0.05)
		strbuf_addf(text, "; with probability %.2f the ends do not differ today",
			    step->p_none);
}

/* A name that is as sure as wanted, but for the boots that would verify it. */
static void add_unverified(const struct bisection_run *b, const struct bisect_step *step,
			   json_t *result, struct strbuf *text)
{
	const char *hash = bisection_run_hash(b, step->set[0]);
	char p[PROBABILITY_TEXT];

	json_set_str(result, "culprit", hash);
	json_set_f64(result, "p", step->set_p[0]);
	json_set_bool(result, "confirmed", false);
	strbuf_addf(text,
		    "%s before it could be verified; the first bad commit is most likely "
		    "%.12s (probability %s)",
		    why_no_more(b), hash, probability_text(p, step->set_p[0]));
}

bool bisection_result_too_wide(const struct bisection_run *b, const struct bisect_step *step,
			       const char *const *parents, size_t n, int boots, const char *what,
			       struct strbuf *text)
{
	_cleanup_(freep) struct bisection_side *sides = xcalloc(n + 1, sizeof(*sides));
	const char *hash = bisection_run_hash(b, step->commit);
	int64_t runs, left = b->max_runs > b->own_runs ? b->max_runs - b->own_runs : 0;

	if (n <= PARENTS_ALWAYS)
		return false;
	for (size_t i = 0; i <= n; i++)
		sides[i].hash = i < n ? parents[i] : hash;
	runs = (int64_t)bisection_order_missing(b, sides, n + 1, boots) * b->job.runs_per_boot;
	if (runs <= left)
		return false;
	strbuf_addf(text,
		    "%s is most likely %.12s (%.3f), a merge of %zu parents; to measure it against "
		    "each of them takes %lld runs more, and the budget has %lld",
		    what, hash, step->probability, n, (long long)runs, (long long)left);
	return true;
}

bool bisection_result_sure(const struct bisection_run *b, const struct bisect_step *step)
{
	return step->exhausted && step->n_set == 1 && step->set_p[0] >= b->state.params.confidence;
}

/* Why a commit of the set was not measured; NULL: it could be. */
static const char *skipped(const struct bisection_run *b, int commit)
{
	static const char *const words[] = {
		[BISECT_SKIP_BUILD] = "does not build",
		[BISECT_SKIP_BOOT] = "does not boot",
		[BISECT_SKIP_TAINTED] = "does not run",
		[BISECT_SKIP_OLDER] = "as bad as what it grew from",
	};

	return words[b->state.skip[commit]];
}

static json_t *set_json(const struct bisection_run *b, const struct bisect_step *step)
{
	json_t *set = json_array();

	for (size_t i = 0; i < step->n_set && i < SET_MAX; i++) {
		json_t *o = json_object();

		json_set_str(o, "commit", bisection_run_hash(b, step->set[i]));
		json_set_f64(o, "p", step->set_p[i]);
		if (skipped(b, step->set[i]))
			json_set_str(
				o, "skip",
				bisect_skip_name((enum bisect_skip)b->state.skip[step->set[i]]));
		push_new(set, o);
	}
	return set;
}

static void set_text(const struct bisection_run *b, const struct bisect_step *step, double sum,
		     struct strbuf *text)
{
	strbuf_addf(text, "%s; the first bad commit is one of %zu commits (together %.0f %%):",
		    step->exhausted ? why_no_more(b) : "what is left cannot be told apart",
		    step->n_set, 100 * sum);
	for (size_t i = 0; i < step->n_set && i < SET_TEXT_MAX; i++) {
		const char *why = skipped(b, step->set[i]);

		strbuf_addf(text, "%s %.12s (%.2f%s%s)", i ? "," : "",
			    bisection_run_hash(b, step->set[i]), step->set_p[i], why ? ", " : "",
			    why ? why : "");
	}
	if (step->n_set > SET_TEXT_MAX)
		strbuf_addf(text, " and %zu more", step->n_set - SET_TEXT_MAX);
}

json_t *bisection_result_set(const struct bisection_run *b, const struct bisect_step *step,
			     struct strbuf *text)
{
	json_t *result = json_object();
	double sum = 0;

	for (size_t i = 0; i < step->n_set; i++)
		sum += step->set_p[i];
	if (bisection_result_sure(b, step))
		add_unverified(b, step, result, text);
	else
		set_text(b, step, sum, text);
	set_new(result, "set", set_json(b, step));
	json_set_f64(result, "set_p", sum);
	json_set_bool(result, "exhausted", step->exhausted);
	add_none(step, result, text);
	add_second(b, step, result, text);
	return result;
}

/* What brought the step is not in the bad end any more. */
static void add_reverted(const struct bisection_run *b, const struct bisect_step *step,
			 json_t *result, struct strbuf *text)
{
	const char *brought = bisection_run_hash(b, step->commit);
	const char *took = bisection_run_hash(b, step->second);
	json_t *o = json_object();

	json_set_str(o, "commit", brought);
	json_set_f64(o, "p", step->probability);
	json_set_f64(o, "rel", ratio_of(b, step->size));
	json_set_str(o, "by", took);
	json_set_f64(o, "by_p", step->second_probability);
	set_new(result, "reverted", o);
	strbuf_addf(text, "; %.12s brought a step", brought);
	if (b->ln)
		strbuf_addf(text, " of %+.1f %%", 100 * ratio_of(b, step->size));
	strbuf_addf(text, " and %.12s took it away again", took);
}

bool bisection_effect_differs(const struct detect_result *effect)
{
	return effect->lo > 0 || effect->hi < 0;
}

/* The ends in words, measured against what was asked for; @least 0: anything. */
static void ends_text(const struct detect_result *effect, double least, bool blind,
		      struct strbuf *text)
{
	bool differ = bisection_effect_differs(effect);

	if (blind)
		strbuf_addf(text, "noise hides whether the ends differ by the %g %% asked for",
			    100 * least);
	else if (least > 0)
		strbuf_addf(text, "the ends %s by the %g %% asked for",
			    differ ? "differ today, but not" : "do not differ today", 100 * least);
	else
		strbuf_addstr(text, differ ? "the ends hardly differ today"
					   : "the ends do not differ today");
	if (isfinite(effect->lo) && isfinite(effect->hi))
		strbuf_addf(text,
			    ": %+.2f %% (%.0f %% interval %+.2f %% to %+.2f %%, %d + %d boots)",
			    100 * effect->rel, 100 * effect->level, 100 * effect->lo,
			    100 * effect->hi, effect->base.boots, effect->head.boots);
	if (!differ && isfinite(effect->mde) && effect->mde > 0)
		strbuf_addf(text, "; a change of %.2g %% would have been seen four times in five",
			    100 * effect->mde);
}

json_t *bisection_result_none(const struct bisection_run *b, const struct bisect_step *step,
			      const struct detect_result *effect, bool *ret_blind,
			      struct strbuf *text)
{
	double least = json_f64(b->row.request, "min_effect", 0);
	json_t *result = json_object();
	json_t *ends = bisection_effect_json(effect);

	*ret_blind = least > 0 && !(effect->lo > -least && effect->hi < least);
	json_set_f64(ends, "mde", effect->mde);
	if (least > 0) {
		json_set_f64(ends, "min_effect", least);
		json_set_bool(ends, "ruled_out", !*ret_blind);
	}
	set_new(result, "ends", ends);
	ends_text(effect, least, *ret_blind, text);
	if (step->reverted && has_second(step))
		add_reverted(b, step, result, text);
	return result;
}

/* A commit that cannot matter by what it changes, and yet seems to. */
static json_t *suspicions(const struct bisection_run *b, const char *culprit, const char *parent)
{
	struct err e = { 0 };
	json_t *list = NULL;

	if (bisection_suspicions(b, culprit, parent, &list, &e) == 0)
		return list;
	log_warn("what a culprit changes cannot be read, going on without",
		 lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", culprit), lf_str("ERROR", e.msg));
	return json_array();
}

static json_t *parents_json(const struct bisection_against *a, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = bisection_effect_json(&a[i].effect);

		json_set_str(o, "commit", a[i].parent);
		push_new(list, o);
	}
	return list;
}

/* Along first parents a merge stands for all that it merged: it is where to look, not whom to blame. */
static void add_inside(const char *culprit, const char *parent, const json_t *suspicious, json_t *o,
		       struct strbuf *text)
{
	const json_t *name;
	json_t *inside;
	size_t i;

	json_array_foreach (suspicious, i, name) {
		if (strcmp(json_string_value(name), "merge") != 0)
			continue;
		inside = json_object();
		json_set_str(inside, "good", parent);
		json_set_str(inside, "bad", culprit);
		set_new(o, "inside", inside);
		strbuf_addf(text,
			    "; it is a merge, and what it merged was not looked at: bisect from "
			    "%.12s to it without first_parent for the commit",
			    parent);
		return;
	}
}

json_t *bisection_result_culprit(const struct bisection_run *b, const struct bisect_step *step,
				 const struct bisection_against *a, size_t n, struct strbuf *text)
{
	const char *culprit = bisection_run_hash(b, step->commit);
	char p[PROBABILITY_TEXT];
	json_t *o = json_object(), *suspicious;

	json_set_str(o, "culprit", culprit);
	json_set_str(o, "parent", a[0].parent);
	json_set_f64(o, "p", step->probability);
	json_set_bool(o, "confirmed", true);
	set_new(o, "effect", bisection_effect_json(&a[0].effect));
	strbuf_addf(text, "first bad commit %.12s (probability %s): ", culprit,
		    probability_text(p, step->probability));
	bisection_effect_text(&a[0].effect, text);
	strbuf_addstr(text, " against ");
	bisection_outside_text(b, n > 1 ? "parent" : "its parent", a[0].parent, text);
	if (n > 1) {
		set_new(o, "parents", parents_json(a, n));
		json_set_bool(o, "interaction", true);
		for (size_t i = 1; i < n && i < PARENTS_TEXT_MAX; i++) {
			strbuf_addstr(text, ", ");
			bisection_effect_text(&a[i].effect, text);
			strbuf_addstr(text, " against ");
			bisection_outside_text(b, "parent", a[i].parent, text);
		}
		strbuf_addf(text,
			    ": an interaction, this merge is bad and %s of its %zu parents is",
			    n == 2 ? "neither" : "none", n);
	}
	if (fabs(a[0].effect.rel) < json_f64(b->row.request, "min_effect", 0))
		strbuf_addf(text, ", which is less than the %g %% asked for",
			    100 * json_f64(b->row.request, "min_effect", 0));
	suspicious = suspicions(b, culprit, a[0].parent);
	if (json_is_true(json_object_get(b->row.request, "first_parent")))
		add_inside(culprit, a[0].parent, suspicious, o, text);
	add_second(b, step, o, text);
	bisection_outside_result(b, culprit, o);
	set_new(o, "suspicious", suspicious);
	return o;
}
