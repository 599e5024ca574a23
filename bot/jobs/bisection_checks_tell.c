/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the revert and the tip have shown, for programs and for people. */
#include "bot/jobs/bisection_checks.h"
#include "bot/jobs/bisection_result.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

/* Paths in conflict that a sentence names. */
#define PATHS_TEXT_MAX 2

/* Is the step @rel in @effect? */
enum presence {
	PRESENT, /* something of its sign is */
	ABSENT,	 /* nothing, or less than half of it */
	UNCLEAR
};

static enum presence presence_of(const struct detect_result *effect, double rel)
{
	double near = rel > 0 ? effect->lo : -effect->hi;
	double far = rel > 0 ? effect->hi : -effect->lo;

	if (!isfinite(near) || !isfinite(far))
		return UNCLEAR;
	return near > 0 ? PRESENT : far < fabs(rel) / 2 ? ABSENT : UNCLEAR;
}

static json_t *compared(const char *with, const struct detect_result *effect)
{
	json_t *o = bisection_effect_json(effect);

	json_set_str(o, "commit", with);
	return o;
}

static void set_new(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, v) < 0)
		abort();
}

static void add_effect(json_t *o, const struct detect_result *effect)
{
	json_t *from = bisection_effect_json(effect);

	if (json_object_update(o, from) < 0)
		abort();
	json_decref(from);
}

/* Why it was not measured; NULL: it was. */
static const char *why_not(const struct bisection_run *b, const char *key, const char *hash,
			   int boots)
{
	_cleanup_(freep) char *name = xasprintf("%s_why", key);
	const char *why = json_str(b->checks, name, NULL);

	if (why || bisection_run_fresh(b, hash) >= boots)
		return why;
	return b->late ? "the deadline has passed" : "the budget is spent";
}

/* The revert against the bad end, and what of the step it leaves against the parent. */
static int revert_measured(struct bisection_run *b, const char *hash, const char *parent,
			   double rel, json_t *o, struct strbuf *text, struct err *e)
{
	static const char *const words[] = {
		[PRESENT] = "takes the step away",
		[ABSENT] = "does not take the step away",
		[UNCLEAR] = "may or may not take the step away",
	};
	static const char *const names[] = {
		[PRESENT] = "undone",
		[ABSENT] = "stays",
		[UNCLEAR] = "unclear",
	};
	const char *bad = bisection_run_hash(b, (int)b->range.graph.n - 1);
	struct detect_result from_bad, from_parent;
	enum presence presence;
	int r = bisection_run_effect(b, hash, bad, &from_bad, e);

	if (r == 0)
		r = bisection_run_effect(b, hash, parent, &from_parent, e);
	if (r < 0)
		return r;
	presence = presence_of(&from_bad, -rel);
	json_set_str(o, "step", names[presence]);
	set_new(o, "against_bad", compared(bad, &from_bad));
	add_effect(o, &from_parent);
	strbuf_addf(text, "; reverted on top of the bad end it %s: ", words[presence]);
	bisection_effect_text(&from_bad, text);
	strbuf_addstr(text, " against the bad end, ");
	bisection_effect_text(&from_parent, text);
	strbuf_addstr(text, " against the parent");
	return 0;
}

static void revert_conflicts(const struct bisection_run *b, json_t *o, struct strbuf *text)
{
	json_t *list = json_object_get(b->checks, "conflicts");
	int64_t n = json_i64(b->checks, "n_conflicts", 0);
	size_t shown =
		json_array_size(list) < PATHS_TEXT_MAX ? json_array_size(list) : PATHS_TEXT_MAX;

	if (list && json_object_set(o, "conflicts", list) < 0)
		abort();
	json_set_i64(o, "n_conflicts", n);
	strbuf_addstr(text, "; it cannot be reverted cleanly on top of the bad end");
	for (size_t i = 0; i < shown; i++)
		strbuf_addf(text, "%s%s", i ? ", " : ": conflicts in ",
			    json_string_value(json_array_get(list, i)));
	if (n > (int64_t)shown && shown)
		strbuf_addf(text, " and %lld more", (long long)n - (long long)shown);
}

static int tell_revert(struct bisection_run *b, const char *parent, double rel, int boots,
		       json_t *result, struct strbuf *text, struct err *e)
{
	const char *end = json_str(b->checks, "revert_end", NULL);
	const char *hash = json_str(b->checks, "revert", NULL);
	json_t *o;

	if (!end)
		return 0;
	o = json_object();
	set_new(result, "revert", o);
	json_set_bool(o, "applies", hash != NULL);
	json_set_str(o, "end", end);
	json_set_str(o, "on", bisection_run_hash(b, (int)b->range.graph.n - 1));
	json_set_str(o, "commit", hash);
	if (hash) {
		const char *why = why_not(b, "revert", hash, boots);

		if (!why)
			return revert_measured(b, hash, parent, rel, o, text, e);
		json_set_str(o, "why", why);
		strbuf_addf(text, "; reverted on top of the bad end it was not measured: %s", why);
	} else if (!strcmp(end, "conflicts")) {
		revert_conflicts(b, o, text);
	} else if (!strcmp(end, "empty")) {
		strbuf_addstr(text, "; nothing of it is left to revert at the bad end");
	} else if (!strcmp(end, "failed")) {
		const char *why = json_str(b->checks, "revert_why", "");

		json_set_str(o, "why", why);
		strbuf_addf(text, "; it could not be reverted on top of the bad end: %s", why);
	}
	return 0;
}

static int tip_measured(struct bisection_run *b, const char *hash, const char *parent, double rel,
			json_t *o, struct strbuf *text, struct err *e)
{
	static const char *const words[] = {
		[PRESENT] = "still there",
		[ABSENT] = "gone",
		[UNCLEAR] = "it is not clear whether it is still there",
	};
	static const char *const names[] = {
		[PRESENT] = "present",
		[ABSENT] = "gone",
		[UNCLEAR] = "unclear",
	};
	struct detect_result effect;
	enum presence presence;
	int r = bisection_run_effect(b, hash, parent, &effect, e);

	if (r < 0)
		return r;
	presence = presence_of(&effect, rel);
	json_set_str(o, "step", names[presence]);
	add_effect(o, &effect);
	strbuf_addf(text, "; %s at the tip %.12s of branch %s: ", words[presence], hash,
		    json_str(b->checks, "tip_branch", ""));
	bisection_effect_text(&effect, text);
	strbuf_addstr(text, " against the parent");
	if (json_is_true(json_object_get(b->checks, "tip_strays"))) {
		json_set_bool(o, "contains_bad", false);
		strbuf_addstr(text, " (that branch was rewritten, the bad end is not in it)");
	}
	return 0;
}

static int tell_tip(struct bisection_run *b, const char *parent, double rel, int boots,
		    json_t *result, struct strbuf *text, struct err *e)
{
	const char *hash = json_str(b->checks, "tip", NULL);
	const char *branch = json_str(b->checks, "tip_branch", NULL);
	json_t *o = json_object();
	const char *why;

	set_new(result, "tip", o);
	json_set_str(o, "commit", hash);
	json_set_str(o, "branch", branch);
	why = why_not(b, "tip", hash ? hash : "", boots);
	if (!why)
		return tip_measured(b, hash, parent, rel, o, text, e);
	json_set_str(o, "why", why);
	if (!hash)
		strbuf_addf(text, "; no tip was measured: %s", why);
	else if (!strcmp(hash, bisection_run_hash(b, (int)b->range.graph.n - 1)))
		strbuf_addf(text, "; the bad end is the tip of branch %s", branch);
	else
		strbuf_addf(text, "; the tip %.12s of branch %s was not measured: %s", hash, branch,
			    why);
	return 0;
}

int bisection_checks_tell(struct bisection_run *b, const char *parent, double rel, int boots,
			  json_t *result, struct strbuf *text, struct err *e)
{
	int r;

	/* A budget that was spent before they were chosen: nothing was looked at. */
	if (!json_str(b->checks, "culprit", NULL))
		return 0;
	r = tell_revert(b, parent, rel, boots, result, text, e);
	return r < 0 ? r : tell_tip(b, parent, rel, boots, result, text, e);
}
