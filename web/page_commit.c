/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"

#include <math.h>
#include <string.h>

int load_commit(struct request *q, json_t **ret, struct err *e)
{
	return page_commit(q->db, q->arg, ret, e);
}

static void log_link(struct html *h, const char *path, const char *text)
{
	if (!path)
		return;
	html_text(h, " ");
	html_open(h, "a");
	html_attr(h, "href", path);
	html_text(h, text);
	html_close(h);
}

static void builds(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "builds"), *b;
	size_t i;

	part_h2(h, "builds", "Builds");
	if (json_array_size(list) == 0) {
		part_empty(h, "Not built.");
		return;
	}
	table_begin(h, "Builds", "Configuration|Compiler|State|>Took|Ended|Log");
	json_array_foreach (list, i, b) {
		html_open(h, "tr");
		html_elf(h, "td", NULL, "%s%s%s", json_str(b, "kconfig", ""),
			 json_str(b, "variant", NULL) ? "+" : "", json_str(b, "variant", ""));
		td(h);
		html_short(h, json_str(b, "compiler", ""), 60);
		html_close(h);
		html_div(h, "td", "wide");
		part_state(h, json_str(b, "state", ""));
		if (json_str(b, "class", NULL)) {
			html_textf(h, " %s: ", json_str(b, "class", ""));
			html_short(h, json_str(b, "detail", ""), 160);
		}
		html_close(h);
		td_num(h);
		part_seconds(h, json_f64(b, "took_s", NAN));
		html_close(h);
		td_time(h, json_str(b, "finished", NULL));
		td(h);
		log_link(h, json_str(b, "log", NULL), "log");
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void boots(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "boots"), *b, *r;
	size_t i, k;

	part_h2(h, "boots", "Boots and runs");
	if (json_array_size(list) == 0) {
		part_empty(h, "Not measured.");
		return;
	}
	table_begin(h, "Boots", ">Boot|Job|Machine|State|>Took|Runs|Console");
	json_array_foreach (list, i, b) {
		const json_t *runs = json_object_get(b, "runs");

		html_open(h, "tr");
		html_elf(h, "td", "num", "%lld", (long long)json_i64(b, "id", 0));
		html_el(h, "td", NULL, json_str(b, "job", ""));
		html_el(h, "td", NULL, json_str(b, "machine", ""));
		html_div(h, "td", "wide");
		part_state(h, json_str(b, "state", ""));
		if (json_str(b, "class", NULL) && strcmp(json_str(b, "class", ""), "ok") != 0) {
			html_textf(h, " %s: ", json_str(b, "class", ""));
			html_short(h, json_str(b, "detail", ""), 160);
		}
		html_close(h);
		td_num(h);
		part_seconds(h, json_f64(b, "took_s", NAN));
		html_close(h);
		html_div(h, "td", "wide");
		json_array_foreach (runs, k, r) {
			char buf[32];
			double v = json_f64(r, "value", NAN);

			log_link(h, json_str(r, "raw", NULL),
				 isfinite(v) ? value_text(v, buf) : json_str(r, "class", "?"));
		}
		html_close(h);
		td(h);
		log_link(h, json_str(b, "console", NULL), "console");
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void facts(struct html *h, const json_t *j)
{
	const json_t *parents = json_object_get(j, "parents"), *heads = json_object_get(j, "heads"),
		     *v;
	size_t i;

	html_div(h, "dl", "facts");
	fact(h, "Commit");
	html_el(h, "code", NULL, json_str(j, "commit", ""));
	html_close(h);
	fact(h, "Author");
	html_short(h, json_str(j, "author", ""), 100);
	html_text(h, ", ");
	part_time(h, json_str(j, "author_time", NULL));
	html_close(h);
	fact(h, "Committer");
	html_short(h, json_str(j, "committer", ""), 100);
	html_text(h, ", ");
	part_time(h, json_str(j, "commit_time", NULL));
	html_close(h);
	fact(h, "Parents");
	json_array_foreach (parents, i, v) {
		part_commit(h, json_string_value(v), NULL);
		html_text(h, " ");
	}
	html_close(h);
	if (json_array_size(heads)) {
		fact(h, "Head of");
		json_array_foreach (heads, i, v)
			html_textf(h, "%s%s %s", i ? ", " : "", json_str(v, "tree", ""),
				   json_str(v, "branch", ""));
		html_close(h);
	}
	html_close(h);
}

void render_commit(struct request *q, struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "regressions"), *r;
	_cleanup_(freep) char *title = xasprintf("Commit %.12s", json_str(j, "commit", ""));
	size_t i;

	page_begin(q, h, title, NULL);
	html_el(h, "h1", NULL, title);
	html_div(h, "p", "verdict");
	html_short(h, json_str(j, "title", ""), 400);
	html_close(h);
	facts(h, j);
	if (json_array_size(list)) {
		part_h2(h, "regressions", "Regressions");
		html_open(h, "ul");
		json_array_foreach (list, i, r) {
			html_open(h, "li");
			html_open(h, "a");
			html_attr(h, "class", "id");
			html_href(h, "/r/", json_str(r, "id", ""), NULL);
			html_text(h, json_str(r, "id", ""));
			html_close(h);
			html_text(h, " ");
			part_state(h, json_str(r, "state", ""));
			html_textf(h, " %s ", json_str(r, "metric", ""));
			part_percent(h, json_f64(r, "rel", NAN));
			if (json_is_true(json_object_get(r, "blamed")))
				html_text(h, ", blamed on this commit");
			html_close(h);
		}
		html_close(h);
	}
	builds(h, j);
	boots(h, j);
	page_end(q, h);
}
