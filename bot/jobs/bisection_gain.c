/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_gain.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_answer.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_result.h"
#include "bot/watch/mirror.h"

#include <math.h>
#include <string.h>

#define SET_TEXT_MAX 20
#define SET_MAX	     500

static void set_new(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, v) < 0)
		abort();
}

static int answer_set(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *result = json_object();
	json_t *gain = json_object(), *set = json_array();
	double sum = 0;

	strbuf_addf(&text, "%s; what the bad end lacks is one of these %zu commits with %.0f %%:",
		    b->late	      ? "the deadline has passed"
		    : step->exhausted ? "the budget is spent"
				      : "what is left cannot be built, booted or told apart",
		    step->n_set, 95 * (1 - step->p_none));
	for (size_t i = 0; i < step->n_set; i++) {
		const char *hash = bisection_run_hash(b, step->set[i]);
		json_t *o;

		sum += step->set_p[i];
		if (i < SET_TEXT_MAX)
			strbuf_addf(&text, " %.12s (%.2f)", hash, step->set_p[i]);
		if (i >= SET_MAX)
			continue;
		o = json_object();
		json_set_str(o, "commit", hash);
		json_set_f64(o, "p", step->set_p[i]);
		if (json_array_append_new(set, o) < 0)
			abort();
	}
	if (step->n_set > SET_TEXT_MAX)
		strbuf_addf(&text, " and %zu more", step->n_set - SET_TEXT_MAX);
	set_new(gain, "set", set);
	json_set_f64(gain, "set_p", sum);
	set_new(result, "gain", gain);
	json_set_bool(result, "exhausted", step->exhausted);
	return bisection_answer_end(b, "inconclusive", result, strbuf_str(&text), e);
}

/* What a merge brought from before the merge base: no part of the search, as its level says nothing. */
static int add_merged(const struct bisection_run *b, const char *hash,
		      const struct bisection_against *a, size_t n, json_t *gain,
		      struct strbuf *text, struct err *e)
{
	struct mirror_commit commit;
	json_t *merged = json_array();
	int r = mirror_commit(b->mirror, hash, &commit, e);

	if (r < 0) {
		json_decref(merged);
		return r;
	}
	for (size_t i = 0; i < commit.n_parents; i++) {
		size_t k = 0;

		while (k < n && strcmp(a[k].parent, commit.parents[i]) != 0)
			k++;
		if (k == n && commit.n_parents > 1 &&
		    json_array_append_new(merged, json_string(commit.parents[i])) < 0)
			abort();
	}
	mirror_commit_done(&commit);
	if (json_array_size(merged))
		strbuf_addf(text,
			    "; it is a merge of %.12s, which branched off before the merge base",
			    json_string_value(json_array_get(merged, 0)));
	if (json_array_size(merged))
		set_new(gain, "merged", merged);
	else
		json_decref(merged);
	return 0;
}

static json_t *gain_json(const struct bisection_run *b, const struct bisect_step *step,
			 const struct bisection_against *a, struct strbuf *text)
{
	const char *hash = bisection_run_hash(b, step->commit);
	const struct detect_result *effect = &a[0].effect;
	json_t *o = json_object();

	json_set_str(o, "commit", hash);
	json_set_str(o, "parent", a[0].parent);
	json_set_f64(o, "p", step->probability);
	json_set_bool(o, "confirmed", true);
	set_new(o, "effect", bisection_effect_json(effect));
	strbuf_addf(text, "the bad end %.12s lacks commit %.12s, which is better", b->row.bad,
		    hash);
	if (isfinite(effect->rel))
		strbuf_addf(text, " by %+.1f %%", 100 * effect->rel);
	if (isfinite(effect->lo) && isfinite(effect->hi))
		strbuf_addf(text, " (%+.1f %% to %+.1f %%)", 100 * effect->lo, 100 * effect->hi);
	strbuf_addf(text, " than its parent %.12s; no commit is to blame", a[0].parent);
	return o;
}

/* The commit and its parents, in turns. */
static int verify(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	const char *hash = bisection_run_hash(b, step->commit);
	_cleanup_(freep) const char **parents = NULL;
	_cleanup_(freep) struct bisection_side *sides = NULL;
	_cleanup_(freep) struct bisection_against *a = NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *result = NULL;
	struct bisect_step named = *step;
	json_t *gain;
	size_t n = bisection_run_parents(b, step->commit, &parents);
	int r;

	if (step->action == BISECT_DONE &&
	    bisection_result_too_wide(b, step, parents, n, BISECTION_VERIFY_BOOTS,
				      "what the bad end lacks", &text))
		return bisection_answer_failed(b, "inconclusive", strbuf_str(&text), e);
	sides = xcalloc(n + 1, sizeof(*sides));
	for (size_t i = 0; i <= n; i++)
		sides[i].hash = i < n ? parents[i] : hash;
	for (size_t i = 0; b->spent && i <= n; i++)
		if (bisection_run_fresh(b, sides[i].hash) < BISECTION_VERIFY_BOOTS)
			return answer_set(b, step, e);
	r = bisection_order_turns(b, sides, n + 1, BISECTION_VERIFY_BOOTS, e);
	if (r != 0)
		return r < 0 ? r : bisection_order_progress(b, "verifying", e);
	a = xcalloc(n, sizeof(*a));
	for (size_t i = 0; i < n; i++) {
		a[i].parent = parents[i];
		r = bisection_run_effect(b, hash, parents[i], &a[i].effect, e);
		if (r < 0)
			return r;
		if (!bisection_effect_differs(&a[i].effect)) {
			strbuf_addf(
				&text,
				"measured again, commit %.12s, which the bad end seemed to lack, "
				"does not differ from its parent %.12s",
				hash, parents[i]);
			return bisection_answer_failed(b, "not-reproduced", strbuf_str(&text), e);
		}
	}
	result = json_object();
	gain = gain_json(b, step, a, &text);
	set_new(result, "gain", gain);
	r = add_merged(b, hash, a, n, gain, &text, e);
	if (r < 0)
		return r;
	/* Also where it was a spent budget that ended the search, the log names it. */
	named.action = BISECT_DONE;
	b->step = &named;
	r = bisection_answer_end(b, "done", result, strbuf_str(&text), e);
	b->step = step;
	return r;
}

int bisection_gain_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e)
{
	b->spent = step->action == BISECT_SET && step->exhausted;
	return step->action == BISECT_DONE || bisection_result_sure(b, step)
		       ? verify(b, step, e)
		       : answer_set(b, step, e);
}
