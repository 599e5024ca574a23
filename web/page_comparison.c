/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/store/page_read.h"
#include "web/csv.h"
#include "web/parts.h"
#include "web/request.h"
#include "web/verdict.h"

#include <math.h>
#include <string.h>

int load_comparison(struct request *q, json_t **ret, struct err *e)
{
	int64_t id;
	int r = parse_i64(q->arg, 1, INT64_MAX, &id, e);

	return r < 0 ? ERR_NOENT : page_comparison(q->db, id, ret, e);
}

static const char *metric_name(const json_t *j)
{
	return json_str(json_object_get(j, "metric"), "name", "");
}

static const json_t *headline(const json_t *j)
{
	return verdict_metric(json_object_get(j, "metrics"), metric_name(j));
}

/* What a change has to be for "no change" to mean something. */
static void said_same(struct html *h, const json_t *j)
{
	double sees = json_f64(json_object_get(headline(j), "power"), "detectable", NAN);

	html_text(h, " did not change: ");
	part_change(h, json_object_get(j, "effect"));
	if (isfinite(sees))
		html_textf(h, "; a change of %.2g%% would have been seen", 100 * sees);
}

static void said_open(struct html *h, const json_t *j)
{
	int64_t more = json_i64(json_object_get(headline(j), "power"), "more_runs", 0);

	html_text(h, ": ");
	part_change(h, json_object_get(j, "effect"));
	html_text(h, " so far, and nothing is sure");
	if (more)
		html_textf(h, "; %lld more runs a side are needed", (long long)more);
}

static void verdict(struct html *h, const json_t *j)
{
	const json_t *effect = json_object_get(j, "effect"), *m = headline(j);
	const char *v = json_str(j, "verdict", "");
	double level = json_f64(m, "level", NAN);

	html_div(h, "p", "verdict");
	if (!*v) {
		html_text(h, "Nothing was judged yet.");
		html_close(h);
		return;
	}
	part_state(h, v);
	html_text(h, " ");
	html_el(h, "b", NULL, metric_name(j));
	if (verdict_is_change(v)) {
		html_text(h, json_f64(effect, "rel", NAN) < 0 ? " fell: " : " rose: ");
		part_change(h, effect);
		if (isfinite(level))
			html_textf(h, ", %.3g%% interval", 100 * level);
	} else if (!strcmp(v, "same")) {
		said_same(h, j);
	} else {
		said_open(h, j);
	}
	html_text(h, ".");
	html_close(h);
}

static void id_link(struct html *h, const char *folder, const char *id)
{
	html_open(h, "a");
	html_attr(h, "class", "id");
	html_href(h, folder, id, NULL);
	html_text(h, id);
	html_close(h);
}

static void why(struct html *h, const json_t *j)
{
	const json_t *changes = json_object_get(j, "changes"), *c;
	const char *purpose = json_str(j, "purpose", "");
	double target = json_f64(j, "target", NAN);
	size_t i;

	fact(h, "Why");
	if (!strcmp(purpose, "confirm"))
		html_text(h, "a step was seen in the history: both levels are measured again, "
			     "in turns");
	else if (!strcmp(purpose, "layout"))
		html_textf(h, "check of code layout: both commits built with %s",
			   !strcmp(json_str(j, "variant", ""), "align64")
				   ? "all functions aligned to 64 bytes"
				   : json_str(j, "variant", "another layout"));
	else
		html_text(h, "a new head against the one before");
	if (json_str(j, "asked_by", NULL)) {
		html_text(h, ", of regression ");
		id_link(h, "/r/", json_str(j, "asked_by", ""));
	}
	json_array_foreach (changes, i, c) {
		html_text(h, i ? ", " : "; series ");
		id_link(h, "/series/", json_str(c, "series", ""));
		html_text(h, " ");
		part_state(h, json_str(c, "state", ""));
	}
	if (isfinite(target))
		html_textf(h, "; looks for a change of %.2g%%", 100 * target);
	html_close(h);
}

static void boots_of(struct html *h, const json_t *side, const char *name)
{
	int64_t wanted = json_i64(side, "wanted", 0), failed = json_i64(side, "failed", 0);

	html_textf(h, "%lld of %s", (long long)json_i64(side, "done", 0), name);
	if (wanted)
		html_textf(h, " (%lld to do)", (long long)wanted);
	if (failed)
		html_textf(h, " (%lld failed)", (long long)failed);
}

static int64_t boots_at_most(const json_t *j)
{
	const json_t *looks = json_object_get(json_object_get(j, "plan"), "looks");
	size_t n = json_array_size(looks);

	return n ? json_i64(json_array_get(looks, n - 1), "boots", 0) : 0;
}

/* How far the plan was followed, and what it spared. */
static void boots(struct html *h, const json_t *j)
{
	const json_t *b = json_object_get(j, "boots");
	const json_t *base = json_object_get(b, "base"), *head = json_object_get(b, "head");
	int64_t most = boots_at_most(j),
		done = json_i64(base, "done", 0) + json_i64(head, "done", 0);
	int64_t runs = json_i64(j, "runs_per_boot", 1);

	fact(h, "Boots");
	boots_of(h, base, "base");
	html_text(h, ", ");
	boots_of(h, head, "head");
	if (most)
		html_textf(h, ", of at most %lld a side", (long long)most);
	if (!strcmp(json_str(j, "state", ""), "done") && 2 * most > done)
		html_textf(h, ": looking early saved %lld boots (%lld runs)",
			   (long long)(2 * most - done), (long long)((2 * most - done) * runs));
	html_close(h);
}

static void end_of(struct html *h, const char *term, const json_t *c)
{
	fact(h, term);
	part_commit(h, json_str(c, "commit", NULL), json_str(c, "title", NULL));
	html_close(h);
}

static void where(struct html *h, const json_t *j)
{
	fact(h, "Tree");
	html_open(h, "a");
	html_href(h, "/trees/", json_str(j, "tree", ""), NULL);
	html_text(h, json_str(j, "tree", ""));
	html_close(h);
	html_textf(h, " %s", json_str(j, "branch", ""));
	html_close(h);
	fact(h, "Test");
	html_textf(h, "%s ", json_str(j, "suite", ""));
	part_params(h, json_object_get(j, "params"));
	html_textf(h, " (job %s) on ", json_str(j, "job", ""));
	if (json_str(j, "machine", NULL)) {
		html_open(h, "a");
		html_href(h, "/machines/", json_str(j, "machine", ""), NULL);
		html_text(h, json_str(j, "machine", ""));
		html_close(h);
	} else {
		html_textf(h, "machines %s", json_str(j, "group", ""));
	}
	html_close(h);
}

static void facts(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "regressions"), *r;
	double fresh = json_f64(headline(j), "fresh_rel", NAN);
	size_t i;

	html_div(h, "dl", "facts");
	fact(h, "State");
	part_state(h, json_str(j, "state", ""));
	if (json_str(j, "detail", NULL)) {
		html_text(h, " ");
		html_short(h, json_str(j, "detail", ""), 300);
	}
	html_close(h);
	why(h, j);
	where(h, j);
	end_of(h, "Base", json_object_get(j, "base"));
	end_of(h, "Head", json_object_get(j, "head"));
	boots(h, j);
	if (isfinite(fresh)) {
		fact(h, "Fresh boots");
		part_percent(h, fresh);
		html_text(h, " by the boots alone that were made after the suspicion");
		html_close(h);
	}
	if (json_array_size(list)) {
		fact(h, "Regression");
		json_array_foreach (list, i, r) {
			html_text(h, i ? ", " : "");
			id_link(h, "/r/", json_is_string(r) ? json_string_value(r) : "");
		}
		html_close(h);
	}
	fact(h, json_str(j, "finished", NULL) ? "Ended" : "Begun");
	part_age(h, json_str(j, "finished", json_str(j, "created", NULL)));
	html_close(h);
	html_close(h);
}

static void look_row(struct html *h, const json_t *l, size_t n, const json_t *j, int64_t before)
{
	int64_t look = json_i64(j, "look", 0), at = json_i64(l, "boots", 0);
	bool open = !strcmp(json_str(j, "state", ""), "open");
	double sees = json_f64(l, "detectable", NAN);

	html_open(h, "tr");
	html_elf(h, "td", NULL, "%zu", n);
	html_elf(h, "td", NULL, "%lld", (long long)at);
	td(h);
	if (isfinite(sees))
		html_textf(h, "%.2g%%", 100 * sees);
	else
		html_text(h, "not known");
	html_close(h);
	td_state(h, at < look || (at == look && !open)	  ? "done"
		    : look > before && look <= at && open ? "running"
		    : open				  ? "waiting"
							  : "not needed");
	html_close(h);
}

static void plan(struct html *h, const json_t *j)
{
	const json_t *p = json_object_get(j, "plan"), *looks = json_object_get(p, "looks"), *l;
	double sd = json_f64(p, "boot_sd", NAN);
	int64_t before = 0;
	size_t i;

	if (json_array_size(looks) == 0)
		return;
	part_h2(h, "plan", "Plan");
	html_open(h, "p");
	if (isfinite(sd))
		html_textf(h,
			   "From boot to boot %s varied by %.2g%% over the %lld commits before. "
			   "With this noise ",
			   metric_name(j), 100 * sd, (long long)json_i64(p, "commits", 0));
	else
		html_text(h,
			  "Too little was known of the noise to say before what would be seen. ");
	json_array_foreach (looks, i, l) {
		double sees = json_f64(l, "detectable", NAN);

		if (isfinite(sd) && isfinite(sees))
			html_textf(h,
				   i ? ", %lld see %.2g%%"
				     : "%lld boots a side see a change of %.2g%%",
				   (long long)json_i64(l, "boots", 0), 100 * sees);
	}
	html_text(h, isfinite(sd) ? ". It ends at the first look that is sure." : "");
	html_close(h);
	table_begin(h, "Looks", "Look|Boots a side|Sees|State");
	json_array_foreach (looks, i, l) {
		look_row(h, l, i + 1, j, before);
		before = json_i64(l, "boots", 0);
	}
	table_end(h);
}

void render_comparison(struct request *q, struct html *h, const json_t *j)
{
	_cleanup_(freep) char *title = xasprintf("Comparison %s", q->arg);
	const json_t *findings = json_object_get(j, "findings");

	page_begin(q, h, title, NULL);
	html_el(h, "h1", NULL, title);
	verdict(h, j);
	verdict_modes(h, headline(j));
	facts(h, j);
	verdict_findings(h, findings);
	verdict_checks(h, verdict_checks_of(findings));
	plan(h, j);
	verdict_metrics(h, json_object_get(j, "metrics"));
	page_end(q, h);
}

static void csv_side(struct strbuf *b, const json_t *s)
{
	csv_num(b, json_f64(s, "n", NAN));
	csv_num(b, json_f64(s, "boots", NAN));
	csv_num(b, json_f64(s, "center", NAN));
	csv_num(b, json_f64(s, "sd", NAN));
}

void table_comparison(const json_t *j, struct strbuf *b)
{
	static const char *const numbers[] = { "rel", "lo",	   "hi",      "level",
					       "p",   "fresh_rel", "per_work" };
	const json_t *m;
	size_t i;

	csv_heads(b, "metric,unit,better,verdict,follows,rel,lo,hi,level,p,fresh_rel,per_work,"
		     "base_runs,base_boots,base_center,base_sd,"
		     "head_runs,head_boots,head_center,head_sd");
	json_array_foreach (json_object_get(j, "metrics"), i, m) {
		csv_str(b, json_str(m, "name", ""));
		csv_str(b, json_str(m, "unit", ""));
		csv_str(b, json_str(m, "better", ""));
		csv_str(b, json_str(m, "verdict", ""));
		csv_str(b, json_str(m, "follows", ""));
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
			csv_num(b, json_f64(m, numbers[k], NAN));
		csv_side(b, json_object_get(m, "base"));
		csv_side(b, json_object_get(m, "head"));
		csv_end(b);
	}
}
