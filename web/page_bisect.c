/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/visible.h"
#include "bot/store/bisection_control.h"
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Candidates shown one by one; the rest is summed up. */
#define MAX_BARS 60
/* Those of the answer; all are among the candidates. */
#define MAX_SET 20
/* The page of an open one is read again that often. */
#define REFRESH_S 30

int load_bisect(struct request *q, json_t **ret, struct err *e)
{
	return page_bisection(q->db, q->arg, ret, e);
}

int serve_bisect_log(struct request *q, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;
	_cleanup_(freep) char *git = NULL;
	int r = page_bisection(q->db, q->arg, &j, e);

	if (r < 0)
		return r;
	page_bisection_log(j, &log);
	r = bisection_git_log(q->db, q->arg, &git, e);
	if (r < 0)
		return r;
	if (*git)
		strbuf_addf(&log, "#\n%s", git);
	visible_add(&shown, strbuf_str(&log), log.len);
	answer_text(q, 200, "text/plain; charset=utf-8", strbuf_str(&shown));
	return 0;
}

static void part_machine_time(struct html *h, double hours)
{
	part_seconds(h, 3600 * hours);
	html_text(h, " of machine time");
}

/* Noise and cost that it reckons with. */
static void noise(struct html *h, const json_t *m)
{
	double scale = json_is_true(json_object_get(m, "ln")) ? 100 : 1;
	const char *unit = scale > 1 ? " %" : "";

	if (!m)
		return;
	fact(h, "Assumes");
	html_textf(h, "noise of %.2f%s a run and %.2f%s a boot; ", scale * json_f64(m, "sigma", 0),
		   unit, scale * json_f64(m, "boot_sd", 0), unit);
	part_seconds(h, 60 * json_f64(m, "incremental_min", 0));
	html_text(h, " a build, ");
	part_seconds(h, 60 * json_f64(m, "boot_min", 0));
	html_text(h, " a boot, ");
	part_seconds(h, 60 * json_f64(m, "run_min", 0));
	html_text(h, " a run");
	html_close(h);
}

static void fact_commit(struct html *h, const char *what, const char *hash, const char *title)
{
	fact(h, what);
	part_commit(h, hash, title);
	html_close(h);
}

static void fact_test(struct html *h, const json_t *j)
{
	fact(h, "Test");
	html_textf(h, "%s ", json_str(j, "suite", ""));
	part_params(h, json_object_get(j, "params"));
	html_textf(h, " (job %s), metric %s", json_str(j, "job", ""),
		   json_str(json_object_get(j, "metric"), "name", ""));
	html_close(h);
}

/* Steps, what is left of the range, and of the budget. */
static void fact_progress(struct html *h, const json_t *j)
{
	const json_t *steps = json_object_get(j, "steps"), *runs = json_object_get(j, "runs");
	const json_t *hours = json_object_get(j, "machine_hours");
	int done = (int)json_i64(steps, "done", 0), max = (int)json_i64(runs, "max", 0);
	double expect = json_f64(json_object_get(steps, "expect"), "p50", NAN);
	double left = json_f64(j, "effective_left", NAN), used = json_f64(hours, "used", NAN);

	fact(h, "Progress");
	html_textf(h, "%d step%s", done, done == 1 ? "" : "s");
	if (isfinite(expect) && !json_object_get(j, "finished"))
		html_textf(h, " of about %.0f", expect);
	html_textf(h, " in %d commits",
		   (int)json_i64(json_object_get(j, "resolved"), "commits", 0));
	if (isfinite(left))
		html_textf(h, ", %.1f left", left);
	html_close(h);
	if (!max && !isfinite(used))
		return;
	fact(h, "Used");
	if (max)
		html_textf(h, "%d of at most %d runs, %d boots, ", (int)json_i64(runs, "used", 0),
			   max, (int)json_i64(json_object_get(j, "boots"), "used", 0));
	if (isfinite(used))
		part_machine_time(h, used);
	if (max)
		plot_bar(h, fmin(1, (double)json_i64(runs, "used", 0) / max));
	html_close(h);
}

/* What was reckoned with before the first run. */
static void fact_plan(struct html *h, const json_t *j)
{
	const json_t *plan = json_object_get(j, "plan");

	if (!plan)
		return;
	fact(h, "Plan");
	html_textf(h, "%.0f boots (nine times in ten up to %.0f), ", json_f64(plan, "steps_p50", 0),
		   json_f64(plan, "steps_p90", 0));
	part_machine_time(h, json_f64(plan, "machine_hours", 0));
	html_text(h, ", ");
	part_seconds(h, json_f64(plan, "p50_s", 0));
	html_text(h, " to ");
	part_seconds(h, json_f64(plan, "p90_s", 0));
	html_close(h);
}

/* Of an open one: what it does, what it waits for, when it ends. */
static void facts_now(struct html *h, const json_t *j)
{
	const json_t *eta = json_object_get(j, "eta"), *queue = json_object_get(j, "queue");
	int ahead = (int)json_i64(queue, "position", 0);
	double left = page_seconds_left(j);

	if (json_object_get(j, "finished"))
		return;
	if (json_str(j, "measuring", NULL))
		fact_commit(h, "Now", json_str(j, "measuring", NULL),
			    json_str(j, "measuring_title", NULL));
	if (ahead > 0) {
		fact(h, "Queue");
		html_textf(h, "%d boot%s of others come%s first, ", ahead, ahead == 1 ? "" : "s",
			   ahead == 1 ? "s" : "");
		part_seconds(h, json_f64(queue, "ahead_s", 0));
		html_close(h);
	}
	if (!isfinite(left))
		return;
	fact(h, "Time left");
	if (left > 0) {
		html_text(h, "about ");
		part_seconds(h, left);
		html_text(h, ", until ");
		part_time(h, json_str(eta, "p50", ""));
		html_text(h, "; nine times in ten by ");
	} else {
		html_text(h, "later than expected; nine times in ten by ");
	}
	part_time(h, json_str(eta, "p90", ""));
	html_close(h);
}

static void facts_asked(struct html *h, const json_t *j)
{
	const json_t *paths = json_object_get(j, "paths"), *p;
	double effect = json_f64(j, "min_effect", NAN), confidence = json_f64(j, "confidence", NAN);
	size_t i;

	fact(h, "Asked");
	part_age(h, json_str(j, "created", NULL));
	html_textf(h, " by %s", json_str(j, "asked_by", ""));
	if (json_str(j, "priority", NULL))
		html_textf(h, ", priority %s", json_str(j, "priority", ""));
	if (isfinite(effect))
		html_textf(h, ", a change of %.2f %% or more", 100 * effect);
	if (isfinite(confidence))
		html_textf(h, ", confidence %g", confidence);
	if (json_str(j, "deadline", NULL))
		html_textf(h, ", until %s", json_str(j, "deadline", ""));
	if (json_is_true(json_object_get(j, "first_parent")))
		html_text(h, ", first parents only");
	json_array_foreach (paths, i, p) {
		html_text(h, i ? ", " : ", paths ");
		html_short(h, json_is_string(p) ? json_string_value(p) : "", 100);
		if (i == 4)
			break;
	}
	html_close(h);
	if (json_str(j, "regression", NULL)) {
		fact(h, "Regression");
		html_open(h, "a");
		html_attr(h, "class", "id");
		html_href(h, "/r/", json_str(j, "regression", ""), NULL);
		html_text(h, json_str(j, "regression", ""));
		html_close(h);
		html_close(h);
	}
	if (json_str(j, "note", NULL)) {
		fact(h, "Note");
		html_short(h, json_str(j, "note", ""), 500);
		html_close(h);
	}
}

/* What people have to know of the range: its merge bases, its length. */
static void facts_notes(struct html *h, const json_t *j)
{
	const json_t *note;
	size_t i;

	json_array_foreach (json_object_get(j, "notes"), i, note) {
		fact(h, "Range");
		html_short(h, json_is_string(note) ? json_string_value(note) : "", 1000);
		html_close(h);
	}
}

static void facts(struct html *h, const json_t *j)
{
	const json_t *range = json_object_get(j, "resolved");

	html_div(h, "dl", "facts");
	fact(h, "State");
	part_state(h, json_str(j, "state", ""));
	if (json_str(j, "state_text", NULL)) {
		html_text(h, " ");
		html_short(h, json_str(j, "state_text", ""), 200);
	}
	html_close(h);
	facts_now(h, j);
	fact_progress(h, j);
	fact_plan(h, j);
	fact_commit(h, "Good", json_str(range, "good", NULL), json_str(j, "good_title", NULL));
	fact_commit(h, "Bad", json_str(range, "bad", NULL), json_str(j, "bad_title", NULL));
	facts_notes(h, j);
	fact_test(h, j);
	noise(h, json_object_get(j, "noise"));
	facts_asked(h, j);
	html_close(h);
}

static void check_row(struct html *h, const char *what, const char *commit, const json_t *effect)
{
	html_open(h, "tr");
	html_el(h, "td", "wide", what);
	td(h);
	part_commit(h, commit, NULL);
	html_close(h);
	td_num(h);
	if (isfinite(json_f64(effect, "lo", NAN)))
		part_change(h, effect);
	else
		part_percent(h, json_f64(effect, "rel", NAN));
	html_close(h);
	html_close(h);
}

/* The bad end without the commit, against the bad end and against the good level. */
static void revert_rows(struct html *h, const json_t *revert)
{
	const json_t *conflicts = json_object_get(revert, "conflicts");
	const char *first = json_string_value(json_array_get(conflicts, 0));
	const char *why = json_str(revert, "why", NULL), *commit = json_str(revert, "commit", NULL);
	_cleanup_(freep) char *text = NULL;

	if (!revert)
		return;
	if (why || !commit) {
		text = why ? xasprintf("reverted on top of the bad end: not measured, %.200s", why)
			   : xasprintf("does not revert cleanly on top of the bad end%s%.200s%s",
				       first ? ": conflicts in " : "", first ? first : "",
				       json_array_size(conflicts) > 1 ? " and more" : "");
		check_row(h, text, commit, NULL);
		return;
	}
	if (json_object_get(revert, "against_bad"))
		check_row(h, "reverted on top of the bad end, against the bad end", commit,
			  json_object_get(revert, "against_bad"));
	check_row(h, "reverted on top of the bad end, against the good level", commit, revert);
}

static void tip_row(struct html *h, const json_t *tip)
{
	const char *why = json_str(tip, "why", NULL), *step = json_str(tip, "step", "");
	const char *branch = json_str(tip, "branch", NULL);
	_cleanup_(freep) char *text = NULL;

	if (!tip)
		return;
	text = xasprintf("%sthe tip of %s%.200s%s%.200s",
			 why			    ? ""
			 : !strcmp(step, "present") ? "still there at "
			 : !strcmp(step, "gone")    ? "gone at "
						    : "",
			 branch ? "branch " : "the branch", branch ? branch : "",
			 why ? ": not measured, " : ", against the good level", why ? why : "");
	check_row(h, text, json_str(tip, "commit", NULL), why ? NULL : tip);
}

/* What was measured again beside the commit and its parent. */
static void checks(struct html *h, const json_t *r)
{
	const json_t *parents = json_object_get(r, "parents"), *p;
	const json_t *second = json_object_get(r, "second");
	const json_t *taken = json_object_get(r, "reverted");
	const json_t *revert = json_object_get(r, "revert"), *tip = json_object_get(r, "tip");
	const json_t *ends = json_object_get(r, "ends");
	size_t i;

	if (!parents && !second && !taken && !ends && !revert && !tip)
		return;
	table_begin(h, "Checks", "What|Commit|>Change");
	json_array_foreach (parents, i, p)
		check_row(h, "this merge against its parent", json_str(p, "commit", NULL), p);
	if (second)
		check_row(h, "a second step in the range", json_str(second, "commit", NULL),
			  second);
	if (taken) {
		check_row(h, "brought a step", json_str(taken, "commit", NULL), taken);
		check_row(h, "took it away again", json_str(taken, "by", NULL), NULL);
	}
	revert_rows(h, revert);
	tip_row(h, tip);
	if (ends)
		check_row(h, "the bad end against the good one", NULL, ends);
	table_end(h);
}

static const char *title_of(const json_t *j, const char *commit)
{
	const json_t *u;
	size_t i;

	json_array_foreach (json_object_get(j, "posterior"), i, u)
		if (!strcmp(json_str(u, "commit", ""), commit))
			return json_str(u, "title", NULL);
	return NULL;
}

/* The commits that it may be, when no single one can be named; with why one was not measured. */
static void set(struct html *h, const json_t *j, const json_t *r)
{
	const json_t *list = json_object_get(r, "set"), *s;
	size_t i;

	if (!json_array_size(list))
		return;
	table_begin(h, "One of these", "Commit|>P|Probability");
	json_array_foreach (list, i, s) {
		const char *skip = json_str(s, "skip", NULL);

		html_open(h, "tr");
		html_div(h, "td", "wide");
		part_commit(h, json_str(s, "commit", NULL), title_of(j, json_str(s, "commit", "")));
		if (skip && !strcmp(skip, "older"))
			html_el(h, "span", "dim", " as bad as what it grew from");
		else if (skip)
			html_elf(h, "span", "dim", " not measured: %.20s", skip);
		html_close(h);
		td_num(h);
		part_p(h, json_f64(s, "p", 0));
		html_close(h);
		td(h);
		plot_bar(h, json_f64(s, "p", 0));
		html_close(h);
		html_close(h);
		if (i + 1 == MAX_SET)
			break;
	}
	table_end(h);
	if (json_array_size(list) > MAX_SET)
		html_elf(h, "p", "dim", "%zu further commits are told below.",
			 json_array_size(list) - MAX_SET);
}

/* Nothing bad was found: the bad end lacks something good. */
static void gain(struct html *h, const json_t *j, const json_t *g)
{
	if (!json_str(g, "commit", NULL))
		return;
	html_open(h, "p");
	html_text(h, "The bad end lacks commit ");
	part_commit(h, json_str(g, "commit", NULL), json_str(j, "gain_title", ""));
	html_text(h, ", probability ");
	html_open(h, "b");
	part_p(h, json_f64(g, "p", NAN));
	html_close(h);
	html_text(h, ", change ");
	part_change(h, json_object_get(g, "effect"));
	html_close(h);
}

static void result(struct html *h, const json_t *j)
{
	const json_t *r = json_object_get(j, "result");
	bool unverified = json_is_false(json_object_get(r, "confirmed"));
	_cleanup_(freep) char *text = NULL;

	if (!json_is_object(r))
		return;
	html_div(h, "div", "verdict");
	if (json_str(r, "culprit", NULL)) {
		html_open(h, "p");
		html_text(h, unverified ? "Not verified, likeliest first bad commit "
					: "First bad commit ");
		part_commit(h, json_str(r, "culprit", NULL), json_str(j, "culprit_title", ""));
		html_text(h, ", probability ");
		html_open(h, "b");
		part_p(h, json_f64(r, "p", NAN));
		html_close(h);
		if (json_object_get(r, "effect")) {
			html_text(h, ", change ");
			part_change(h, json_object_get(r, "effect"));
		}
		html_close(h);
	}
	gain(h, j, json_object_get(r, "gain"));
	/* With one commit and nothing else to tell, the text says the same once more. */
	if (json_str(r, "text", NULL) &&
	    (!json_str(r, "culprit", NULL) || unverified || json_object_get(r, "second") ||
	     json_object_get(r, "interaction") || json_object_get(r, "fork") ||
	     json_object_get(r, "outside") || json_object_get(r, "older"))) {
		text = xstrdup(json_str(r, "text", ""));
		*text = (char)toupper((unsigned char)*text);
		html_open(h, "p");
		html_short(h, text, 1000);
		html_close(h);
	}
	html_close(h);
	checks(h, r);
	set(h, j, r);
}

/* The MAX_BARS likeliest stay, in commit order: everything at least as likely as the returned p. */
static double bar_threshold(const json_t *list)
{
	double lo = 0, hi = 1;

	if (json_array_size(list) <= MAX_BARS)
		return 0;
	for (int i = 0; i < 50; i++) {
		double mid = (lo + hi) / 2;
		size_t k, n = 0;
		const json_t *u;

		json_array_foreach (list, k, u)
			n += json_f64(u, "p", 0) >= mid;
		if (n > MAX_BARS)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

static void posterior(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "posterior"), *u;
	double least = bar_threshold(list), rest = 0;
	size_t i, hidden = 0;

	part_h2(h, "posterior", "Which commit it is");
	if (json_array_size(list) == 0) {
		part_empty(h, json_object_get(j, "finished") ? "Nothing came out."
							     : "Nothing is known yet.");
		return;
	}
	table_begin(h, "Candidates", "Commit, oldest first|>P|Probability");
	json_array_foreach (list, i, u) {
		double p = json_f64(u, "p", 0);

		if (p < least) {
			hidden++;
			rest += p;
			continue;
		}
		html_open(h, "tr");
		html_div(h, "td", "wide");
		part_commit(h, json_str(u, "commit", NULL), json_str(u, "title", ""));
		html_close(h);
		td_num(h);
		part_p(h, p);
		html_close(h);
		td(h);
		plot_bar(h, p);
		html_close(h);
		html_close(h);
	}
	table_end(h);
	if (hidden)
		html_elf(h, "p", "dim", "%zu further commits have %.3f together.", hidden, rest);
}

/* What was known then: the likeliest commit, and how many are left. */
static void step_after(struct html *h, const json_t *s)
{
	const json_t *after = json_object_get(s, "after");
	char text[PROBABILITY_TEXT];

	td(h);
	if (after) {
		html_open(h, "a");
		html_attr(h, "class", "hash");
		html_href(h, "/commit/", json_str(after, "commit", ""), NULL);
		html_textf(h, "%.12s", json_str(after, "commit", ""));
		html_close(h);
		html_textf(h, " %s", probability_text(text, json_f64(after, "p", NAN)));
	}
	html_close(h);
	td_num(h);
	if (after)
		html_textf(h, "%lld", (long long)json_i64(after, "hold95", 0));
	html_close(h);
	td_num(h);
	if (after)
		html_textf(h, "%.1f", json_f64(after, "bits", NAN));
	else if (isfinite(json_f64(s, "left", NAN)))
		html_textf(h, "%.1f", log2(json_f64(s, "left", NAN)));
	html_close(h);
}

static void step_row(struct html *h, const json_t *s)
{
	html_open(h, "tr");
	html_elf(h, "td", "num", "%d", (int)json_i64(s, "n", 0));
	html_div(h, "td", "wide");
	part_commit(h, json_str(s, "commit", NULL), json_str(s, "title", ""));
	html_close(h);
	html_div(h, "td", "wide");
	part_state(h, json_str(s, "verdict", ""));
	if (json_str(s, "reason", NULL)) {
		html_open(h, "br");
		html_textf(h, "%s: ", json_str(s, "reason", ""));
		html_short(h, json_str(s, "detail", ""), 120);
	}
	if (json_str(s, "log", NULL)) {
		html_text(h, " ");
		html_open(h, "a");
		html_attr(h, "href", json_str(s, "log", ""));
		html_text(h, "log");
		html_close(h);
	}
	html_close(h);
	td_num(h);
	part_percent(h, json_f64(s, "rel", NAN));
	html_close(h);
	td_num(h);
	part_p(h, json_f64(s, "p_bad", NAN));
	html_close(h);
	html_elf(h, "td", "num", "%d", (int)json_i64(s, "boots", 0));
	html_elf(h, "td", "num", "%d", (int)json_i64(s, "runs", 0));
	td_num(h);
	part_seconds(h, json_f64(s, "took_s", NAN));
	html_close(h);
	step_after(h, s);
	html_close(h);
}

void render_bisect(struct request *q, struct html *h, const json_t *j)
{
	_cleanup_(freep) char *title = xasprintf("Bisection %s", q->arg);
	const json_t *log = json_object_get(j, "log"), *s;
	size_t i;

	/* Without a script; when nothing has changed it costs a few bytes. */
	q->answer.refresh = json_object_get(j, "finished") ? 0 : REFRESH_S;
	page_begin(q, h, title, "/bisects");
	html_el(h, "h1", NULL, title);
	result(h, j);
	facts(h, j);
	posterior(h, j);
	part_h2(h, "steps", "Steps");
	if (json_array_size(log) == 0)
		part_empty(h, "No step was finished yet.");
	else {
		table_begin(h, "Steps",
			    ">Step|Commit|Verdict|>Change|>P(bad)|>Boots|>Runs|>Took|"
			    "Likeliest then, P|>Hold 95 %|>Bits left");
		json_array_foreach (log, i, s)
			step_row(h, s);
		table_end(h);
	}
	html_open(h, "p");
	html_open(h, "a");
	html_href(h, "/b/", q->arg, "/log.txt");
	html_text(h, "Log as plain text");
	html_close(h);
	html_close(h);
	page_end(q, h);
}
