/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"
#include "web/verdict.h"

#include <math.h>
#include <string.h>

int load_tree(struct request *q, json_t **ret, struct err *e)
{
	return page_tree(q->db, q->arg, ret, e);
}

static void facts(struct html *h, const json_t *j)
{
	html_div(h, "dl", "facts");
	fact(h, "Address");
	html_short(h, json_str(j, "url", ""), 300);
	html_close(h);
	fact(h, "Last fetch");
	part_age(h, json_str(j, "last_ok", NULL));
	html_close(h);
	if (json_str(j, "last_error", NULL)) {
		fact(h, "Trouble");
		if (json_i64(j, "failures", 0)) {
			part_state(h, "failed");
			html_textf(h, " %d times in a row, last ", (int)json_i64(j, "failures", 0));
			part_age(h, json_str(j, "last_try", NULL));
			html_text(h, ": ");
		}
		html_short(h, json_str(j, "last_error", ""), 500);
		html_close(h);
	}
	html_close(h);
}

static void heads(struct html *h, const json_t *list)
{
	const json_t *b;
	size_t i;

	table_begin(h, "Heads", "Branch|Commit|Author|Since");
	json_array_foreach (list, i, b) {
		html_open(h, "tr");
		html_el(h, "td", NULL, json_str(b, "branch", ""));
		html_div(h, "td", "wide");
		part_commit(h, json_str(b, "commit", NULL), json_str(b, "title", ""));
		html_close(h);
		td(h);
		html_short(h, json_str(b, "author", ""), 60);
		html_close(h);
		td_age(h, json_str(b, "since", NULL));
		html_close(h);
	}
	table_end(h);
}

static void comparisons(struct html *h, const json_t *list)
{
	const json_t *k;
	size_t i;

	table_begin(h, "Comparisons",
		    ">Id|Branch|Base|Head|Job|State|Verdict|>Change|Regression|Ended");
	json_array_foreach (list, i, k) {
		html_open(h, "tr");
		td_comparison(h, k);
		html_el(h, "td", NULL, json_str(k, "branch", ""));
		td_commit(h, json_str(k, "base", NULL), NULL);
		html_div(h, "td", "wide");
		part_commit(h, json_str(k, "head", NULL), json_str(k, "title", ""));
		html_close(h);
		html_el(h, "td", NULL, json_str(k, "job", ""));
		td(h);
		part_state(h, json_str(k, "state", ""));
		if (!strcmp(json_str(k, "state", ""), "open")) {
			html_text(h, ", ");
			verdict_look(h, k);
		}
		html_close(h);
		html_div(h, "td", "wide");
		if (json_str(k, "verdict", NULL))
			part_state(h, json_str(k, "verdict", ""));
		html_short(h, json_str(k, "detail", ""), 120);
		html_close(h);
		td_num(h);
		part_change(h, k);
		html_close(h);
		td(h);
		if (json_str(k, "regression", NULL)) {
			html_open(h, "a");
			html_attr(h, "class", "id");
			html_href(h, "/r/", json_str(k, "regression", ""), NULL);
			html_text(h, json_str(k, "regression", ""));
			html_close(h);
		}
		html_close(h);
		td(h);
		if (json_str(k, "finished", NULL))
			part_date(h, json_str(k, "finished", NULL));
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void events(struct html *h, const json_t *list)
{
	const json_t *v;
	size_t i;

	table_begin(h, "Events", "When|Branch|What|From|To");
	json_array_foreach (list, i, v) {
		html_open(h, "tr");
		td_time(h, json_str(v, "at", NULL));
		html_el(h, "td", NULL, json_str(v, "branch", ""));
		td_state(h, json_str(v, "kind", ""));
		td_commit(h, json_str(v, "old", NULL), NULL);
		html_div(h, "td", "wide");
		part_commit(h, json_str(v, "new", NULL), json_str(v, "title", ""));
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

void render_tree(struct request *q, struct html *h, const json_t *j)
{
	_cleanup_(freep) char *title = xasprintf("Tree %s", json_str(j, "name", ""));

	page_begin(q, h, title, NULL);
	html_el(h, "h1", NULL, title);
	facts(h, j);
	part_list(h, j, "heads", "Heads", heads, "No branch was met yet.");
	part_list(h, j, "series", "Series", series_rows,
		  "None yet: a series begins with the first verdict.");
	part_list(h, j, "comparisons", "Comparisons", comparisons,
		  "None yet: the first head of a branch is the baseline.");
	part_list(h, j, "events", "Events", events, "None.");
	page_end(q, h);
}
