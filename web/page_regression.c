/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/page_read.h"
#include "web/csv.h"
#include "web/parts.h"
#include "web/request.h"
#include "web/verdict.h"

#include <math.h>
#include <string.h>

enum {
	RUNS_MAX = 100 /* in the table */
};

int load_regression(struct request *q, json_t **ret, struct err *e)
{
	json_t *mails = NULL;
	int r = page_regression(q->db, q->arg, ret, e);

	/* The text is for readers of the page; programs take it from the mail archive. */
	if (r < 0 || q->url.json || q->url.csv)
		return r;
	r = page_mails(q->db, q->arg, &mails, e);
	if (r == 0 && json_object_set_new(*ret, "mails", mails) < 0)
		abort();
	return r;
}

/* The sentence that the mail begins with. */
static void verdict(struct html *h, const json_t *j)
{
	const json_t *effect = json_object_get(j, "effect"),
		     *culprit = json_object_get(j, "culprit");
	double rel = json_f64(effect, "rel", NAN), lo = json_f64(effect, "lo", NAN),
	       hi = json_f64(effect, "hi", NAN);

	html_div(h, "p", "verdict");
	html_open(h, "b");
	html_text(h, json_str(json_object_get(j, "metric"), "name", ""));
	html_close(h);
	html_textf(h, " %s by ", rel < 0 ? "fell" : "rose");
	html_elf(h, "b", NULL, "%.1f%%", fabs(rel) * 100);
	html_textf(h, " (%.0f%% interval: %.1f%% to %.1f%%) ", json_f64(effect, "level", NAN) * 100,
		   fabs(rel < 0 ? lo : hi) * 100, fabs(rel < 0 ? hi : lo) * 100);
	html_text(h, culprit ? "at " : "between base and head of ");
	if (culprit)
		part_commit(h, json_str(culprit, "commit", ""), json_str(culprit, "title", ""));
	else
		html_textf(h, "%s %s", json_str(j, "tree", ""), json_str(j, "branch", ""));
	html_close(h);
}

/* Commits that claim to fix the culprit: their word, until it is measured. */
static void possibly_fixed(struct html *h, const json_t *j)
{
	const json_t *f;
	size_t i;

	json_array_foreach (json_object_get(j, "possibly_fixed"), i, f) {
		bool reverts = !strcmp(json_str(f, "says", ""), "reverts");

		html_open(h, "p");
		html_textf(h, "Possibly %s ", reverts ? "taken back by" : "fixed by");
		part_commit(h, json_str(f, "commit", NULL), json_str(f, "title", ""));
		html_textf(h, ", in %s %s, committed ", json_str(j, "tree", ""),
			   json_str(f, "branch", ""));
		part_date(h, json_str(f, "commit_time", NULL));
		html_text(h, ", seen ");
		part_date(h, json_str(f, "seen", NULL));
		if (json_is_true(json_object_get(f, "by_title")))
			html_text(h, "; it gives the title with an id that is not in the branch");
		html_text(h, json_is_true(json_object_get(f, "measured"))
				     ? "."
				     : ": its own words, not measured yet.");
		html_close(h);
	}
}

static void numbered_link(struct html *h, const char *folder, int64_t n, const char *file,
			  const char *text)
{
	html_open(h, "a");
	html_attrf(h, "href", "/%s/%lld%s%s", folder, (long long)n, file ? "/" : "",
		   file ? file : "");
	html_text(h, text);
	html_close(h);
}

/* Which comparison found it, and whether neighbours showed it at all. */
static void found_by(struct html *h, const json_t *j)
{
	const json_t *k = json_object_get(j, "comparison");

	if (!k)
		return;
	html_open(h, "p");
	html_text(h, "Found by ");
	if (!strcmp(json_str(k, "purpose", ""), "confirm"))
		html_text(h, "a step in the history, which was then measured again, in turns: ");
	numbered_link(h, "comparisons", json_i64(k, "id", 0), NULL, "comparison");
	html_textf(h, " %lld.", (long long)json_i64(k, "id", 0));
	html_close(h);
}

static void end_of_range(struct html *h, const char *term, const json_t *c)
{
	fact(h, term);
	part_commit(h, json_str(c, "commit", NULL), json_str(c, "title", NULL));
	html_close(h);
}

static void facts(struct html *h, const json_t *j)
{
	const json_t *culprit = json_object_get(j, "culprit");

	html_div(h, "dl", "facts");
	fact(h, "State");
	part_state(h, json_str(j, "state", ""));
	html_textf(h, ", class %s", json_str(j, "class", ""));
	if (!strcmp(json_str(j, "state", ""), "layout"))
		html_text(h, ": layout effect, not a regression of this commit");
	html_close(h);
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
	html_textf(h, " (job %s) on machines %s", json_str(j, "job", ""),
		   json_str(j, "machine", ""));
	html_close(h);
	if (json_str(j, "series", NULL)) {
		fact(h, "History");
		html_text(h, "series ");
		html_open(h, "a");
		html_attr(h, "class", "id");
		html_href(h, "/series/", json_str(j, "series", ""), NULL);
		html_text(h, json_str(j, "series", ""));
		html_close(h);
		html_close(h);
	}
	end_of_range(h, "Base", json_object_get(j, "base"));
	end_of_range(h, "Head", json_object_get(j, "head"));
	if (culprit) {
		end_of_range(h, "First bad commit", culprit);
		fact(h, "Author");
		html_short(h, json_str(culprit, "author", ""), 80);
		html_close(h);
		fact(h, "Probability");
		part_p(h, json_f64(culprit, "p", NAN));
		html_close(h);
	}
	fact(h, "Found");
	part_age(h, json_str(j, "created", NULL));
	html_close(h);
	html_close(h);
}

/* @modes: where the runs gather, if at several values: their mean says nothing. */
static void side_row(struct html *h, const char *name, const json_t *commit, const json_t *s,
		     const json_t *modes)
{
	int64_t build = json_i64(s, "build", 0);
	double mean = json_f64(s, "mean", NAN), sd = json_f64(s, "sd", NAN);

	html_open(h, "tr");
	html_el(h, "td", NULL, name);
	td_commit(h, json_str(commit, "commit", NULL), NULL);
	html_elf(h, "td", "num", "%d", (int)json_i64(s, "n", 0));
	html_elf(h, "td", "num", "%d", (int)json_i64(s, "boots", 0));
	td_num(h);
	if (json_array_size(modes) > 1)
		html_textf(h, "%zu modes", json_array_size(modes));
	else
		part_value(h, mean);
	html_close(h);
	td_num(h);
	if (isfinite(sd) && mean != 0)
		html_textf(h, "%.2f%%", 100 * sd / fabs(mean));
	else
		html_text(h, "\xe2\x80\x93");
	html_close(h);
	td(h);
	if (build) {
		numbered_link(h, "builds", build, "config.txt", "config");
		html_text(h, " ");
		numbered_link(h, "builds", build, "log.txt", "build log");
	}
	html_close(h);
	html_close(h);
}

static void run_rows(struct html *h, const json_t *j)
{
	const json_t *runs = json_object_get(j, "runs"), *r;
	size_t i;

	html_open(h, "details");
	html_elf(h, "summary", NULL,
		 json_array_size(runs) > RUNS_MAX
			 ? "The last of %zu runs as a table; the JSON form has all"
			 : "All runs as a table: %zu",
		 json_array_size(runs));
	table_begin(h, "Runs", "Commit|>Boot|>Run|>Value|Machine|Measured|Output");
	json_array_foreach (runs, i, r) {
		if (i + RUNS_MAX < json_array_size(runs))
			continue;
		html_open(h, "tr");
		td_commit(h, json_str(r, "commit", NULL), NULL);
		html_elf(h, "td", "num", "%lld", (long long)json_i64(r, "boot", 0));
		html_elf(h, "td", "num", "%lld", (long long)json_i64(r, "n", 0));
		td_num(h);
		part_value(h, json_f64(r, "value", NAN));
		html_close(h);
		html_elf(h, "td", NULL, "%s%s", json_str(r, "machine", ""),
			 json_object_get(r, "excluded") ? " (taken out)" : "");
		td_time(h, json_str(r, "at", NULL));
		td(h);
		numbered_link(h, "runs", json_i64(r, "run", 0), "raw.txt", "raw");
		html_text(h, " ");
		numbered_link(h, "boots", json_i64(r, "boot", 0), "console.txt", "console");
		html_close(h);
		html_close(h);
	}
	table_end(h);
	html_close(h);
}

static void runs(struct html *h, const json_t *j)
{
	const json_t *effect = json_object_get(j, "effect"), *metric = json_object_get(j, "metric");
	const json_t *parent = json_object_get(j, "parent"),
		     *culprit = json_object_get(j, "culprit");
	const json_t *m =
		verdict_metric(json_object_get(j, "metrics"), json_str(metric, "name", ""));

	part_h2(h, "runs", "Runs");
	html_div(h, "p", "dim");
	html_textf(h, "%s, %s", json_str(metric, "name", ""), json_str(metric, "unit", ""));
	if (json_str(metric, "better", NULL))
		html_textf(h, ", %s is better", json_str(metric, "better", ""));
	if (json_str(metric, "about", NULL))
		html_textf(h, ": %s", json_str(metric, "about", ""));
	html_text(h, ".");
	html_close(h);
	plot_runs(h, j);
	verdict_modes(h, m);
	table_begin(h, "Measured sides",
		    "Side|Commit|>Runs|>Boots|>Mean|>Standard deviation|Kernel");
	side_row(h, "base", json_object_get(j, "base"), json_object_get(effect, "base"),
		 json_object_get(json_object_get(m, "base"), "modes"));
	side_row(h, "head", json_object_get(j, "head"), json_object_get(effect, "head"),
		 json_object_get(json_object_get(m, "head"), "modes"));
	if (parent)
		side_row(h, "parent", parent, json_object_get(parent, "stats"), NULL);
	if (culprit)
		side_row(h, "first bad commit", culprit, json_object_get(culprit, "stats"), NULL);
	table_end(h);
	run_rows(h, j);
}

static void bisection(struct html *h, const json_t *j)
{
	const json_t *b = json_object_get(j, "bisection"), *up = json_object_get(j, "runners_up"),
		     *u;
	size_t i;

	part_h2(h, "bisection", "Bisection");
	if (!b) {
		part_empty(h, "Not started.");
		return;
	}
	html_open(h, "p");
	html_open(h, "a");
	html_attr(h, "class", "id");
	html_href(h, "/b/", json_str(b, "id", ""), NULL);
	html_text(h, json_str(b, "id", ""));
	html_close(h);
	html_text(h, " ");
	part_state(h, json_str(b, "state", ""));
	html_textf(h, ", %d steps, %d boots%s ",
		   (int)json_i64(json_object_get(b, "steps"), "done", 0),
		   (int)json_i64(json_object_get(b, "boots"), "used", 0),
		   json_object_get(j, "culprit") ? "." : ":");
	if (!json_object_get(j, "culprit"))
		html_short(h,
			   json_str(json_object_get(b, "result"), "text",
				    json_str(b, "state_text", "")),
			   300);
	html_close(h);
	if (json_array_size(up) == 0)
		return;
	html_open(h, "p");
	html_text(h, "Next likely: ");
	json_array_foreach (up, i, u) {
		html_text(h, i ? ", " : "");
		part_commit(h, json_str(u, "commit", NULL), NULL);
		html_text(h, " ");
		part_p(h, json_f64(u, "p", NAN));
	}
	html_close(h);
}

static const char *mail_text(const json_t *j, const char *message_id)
{
	const json_t *list = json_object_get(j, "mails"), *m;
	size_t i;

	json_array_foreach (list, i, m)
		if (!strcmp(json_str(m, "message_id", ""), message_id))
			return json_str(m, "text", NULL);
	return NULL;
}

static void one_mail(struct html *h, const json_t *j, const json_t *t)
{
	const json_t *rcpts = json_object_get(t, "recipients"), *r;
	const char *text = mail_text(j, json_str(t, "message_id", ""));
	size_t i;

	html_div(h, "div", "card");
	html_open(h, "p");
	html_open(h, "b");
	html_short(h, json_str(t, "subject", ""), 200);
	html_close(h);
	html_open(h, "br");
	html_div(h, "span", "dim");
	html_textf(h, "%s, Message-ID ", json_str(t, "kind", ""));
	html_short(h, json_str(t, "message_id", ""), 200);
	html_close(h);
	html_close(h);
	html_open(h, "ul");
	json_array_foreach (rcpts, i, r) {
		html_open(h, "li");
		part_state(h, json_str(r, "state", ""));
		html_textf(h, " %s", json_str(r, "address", ""));
		html_elf(h, "span", "dim", " (%s) ", json_str(r, "reason", ""));
		if (json_str(r, "sent", NULL))
			part_time(h, json_str(r, "sent", NULL));
		html_close(h);
	}
	html_close(h);
	if (text) {
		html_open(h, "details");
		html_el(h, "summary", NULL, "The mail as sent");
		html_div(h, "pre", "scroll");
		html_attr(h, "tabindex", "0");
		/* Line ends of a mail are CR LF; shown, the CR would be noise. */
		for (const char *s = text; *s;) {
			size_t n = strcspn(s, "\r");

			html_textn(h, s, n);
			s += n + (s[n] == '\r' && s[n + 1] == '\n');
			if (s[0] == '\r') {
				html_textn(h, s, 1);
				s++;
			}
		}
		html_close(h);
		html_close(h);
	}
	html_close(h);
}

static void history(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "history"), *s;
	size_t i;

	part_h2(h, "history", "History");
	table_begin(h, "History", "When|From|To|By|Why");
	json_array_foreach (list, i, s) {
		html_open(h, "tr");
		td_time(h, json_str(s, "at", NULL));
		td(h);
		if (json_str(s, "from", NULL))
			part_state(h, json_str(s, "from", ""));
		html_close(h);
		td_state(h, json_str(s, "to", ""));
		html_el(h, "td", NULL, json_str(s, "by", ""));
		html_div(h, "td", "wide");
		html_short(h, json_str(s, "why", ""), 300);
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

void render_regression(struct request *q, struct html *h, const json_t *j)
{
	const json_t *threads = json_object_get(j, "threads"), *t;
	_cleanup_(freep) char *title = xasprintf("Regression %s", q->arg);
	size_t i;

	page_begin(q, h, title, "/regressions");
	html_el(h, "h1", NULL, title);
	verdict(h, j);
	possibly_fixed(h, j);
	found_by(h, j);
	facts(h, j);
	verdict_findings(h, json_object_get(j, "findings"));
	verdict_checks(h, json_object_get(j, "checks"));
	runs(h, j);
	bisection(h, j);
	verdict_metrics(h, json_object_get(j, "metrics"));
	part_h2(h, "mail", "Mail");
	if (json_array_size(threads) == 0)
		part_empty(h, "No mail was written about it.");
	json_array_foreach (threads, i, t)
		one_mail(h, j, t);
	history(h, j);
	page_end(q, h);
}

void table_regression(const json_t *j, struct strbuf *b)
{
	const json_t *r;
	size_t i;

	csv_heads(b, "commit,machine,boot,run,time,value,excluded");
	json_array_foreach (json_object_get(j, "runs"), i, r) {
		csv_str(b, json_str(r, "commit", ""));
		csv_str(b, json_str(r, "machine", ""));
		csv_num(b, (double)json_i64(r, "boot", 0));
		csv_num(b, (double)json_i64(r, "run", 0));
		csv_str(b, json_str(r, "at", ""));
		csv_num(b, json_f64(r, "value", NAN));
		csv_num(b, json_object_get(r, "excluded") ? 1 : 0);
		csv_end(b);
	}
}
