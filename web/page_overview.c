/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"
#include "web/verdict.h"

#include <math.h>
#include <string.h>

int load_overview(struct request *q, json_t **ret, struct err *e)
{
	return page_overview(q->db, ret, e);
}

static void tile(struct html *h, const char *href, const char *name, int64_t n, const char *more)
{
	html_open(h, "a");
	html_attr(h, "class", "tile");
	html_attr(h, "href", href);
	html_elf(h, "b", NULL, "%lld", (long long)n);
	html_elf(h, "span", NULL, " %s", name);
	if (more && *more)
		html_el(h, "small", NULL, more);
	html_close(h);
}

static void tiles(struct html *h, const json_t *j)
{
	const json_t *work = json_object_get(j, "work"), *builds = json_object_get(j, "builds"),
		     *boots = json_object_get(j, "boots"), *mails = json_object_get(j, "mails");
	char more[5][64];

	(void)snprintf(more[0], sizeof(more[0]), "%lld running",
		       (long long)json_i64(work, "leased", 0));
	(void)snprintf(more[1], sizeof(more[1]), "%lld failed, %lld to do",
		       (long long)json_i64(builds, "failed", 0),
		       (long long)json_i64(builds, "wanted", 0));
	(void)snprintf(more[2], sizeof(more[2]), "%lld failed, %lld to do",
		       (long long)json_i64(boots, "failed", 0),
		       (long long)json_i64(boots, "wanted", 0));
	(void)snprintf(more[3], sizeof(more[3]), "on these boots");
	(void)snprintf(more[4], sizeof(more[4]), "%lld waiting",
		       (long long)json_i64(mails, "queued", 0) +
			       (long long)json_i64(mails, "held", 0));
	html_div(h, "div", "tiles");
	tile(h, "/queue", "waiting", json_i64(work, "ready", 0), more[0]);
	tile(h, "/queue", "builds", json_i64(builds, "ok", 0), more[1]);
	tile(h, "/queue", "boots", json_i64(boots, "done", 0), more[2]);
	tile(h, "/queue", "runs", json_i64(j, "runs", 0), more[3]);
	tile(h, "/regressions", json_i64(mails, "sent", 0) == 1 ? "mail sent" : "mails sent",
	     json_i64(mails, "sent", 0), more[4]);
	html_close(h);
}

static void tree_row(struct html *h, const json_t *t)
{
	const json_t *heads = json_object_get(t, "heads"), *r = json_object_get(t, "regressions");
	const json_t *tested = json_object_get(t, "tested"), *b;
	size_t i;

	html_open(h, "tr");
	td(h);
	html_open(h, "a");
	html_href(h, "/trees/", json_str(t, "name", ""), NULL);
	html_text(h, json_str(t, "name", ""));
	html_close(h);
	html_close(h);
	html_div(h, "td", "wide");
	json_array_foreach (heads, i, b) {
		if (i == 5) {
			html_elf(h, "span", "dim", "and %zu more", json_array_size(heads) - i);
			break;
		}
		html_div(h, "div", NULL);
		html_textf(h, "%s ", json_str(b, "branch", ""));
		part_commit(h, json_str(b, "commit", NULL), json_str(b, "title", ""));
		html_close(h);
	}
	html_close(h);
	html_div(h, "td", "wide");
	part_commit(h, json_str(tested, "commit", NULL), NULL);
	html_text(h, " ");
	part_age(h, json_str(tested, "at", NULL));
	html_close(h);
	html_elf(h, "td", "num", "%lld", (long long)json_i64(r, "broad", 0));
	html_elf(h, "td", "num", "%lld",
		 (long long)json_i64(r, "micro", 0) + (long long)json_i64(r, "unknown", 0));
	html_div(h, "td", "wide");
	if (json_i64(t, "failures", 0) > 0)
		part_state(h, "failed");
	else
		part_age(h, json_str(t, "last_ok", NULL));
	html_text(h, " ");
	html_short(h, json_str(t, "last_error", ""), 120);
	html_close(h);
	html_close(h);
}

static void trees(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "trees"), *t;
	size_t i;

	part_h2(h, "trees", "Trees");
	if (json_array_size(list) == 0) {
		part_empty(h, "No tree was fetched yet.");
		return;
	}
	table_begin(h, "Trees", "Tree|Heads|Last tested|>Broad|>Micro|Last fetch");
	json_array_foreach (list, i, t)
		tree_row(h, t);
	table_end(h);
}

static void comparisons(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "comparisons"), *k;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	part_h2(h, "comparisons", "Being compared");
	table_begin(h, "Comparisons", ">Id|Tree|Base|Head|Job|Verdict so far|>Change|>Boots|Look");
	json_array_foreach (list, i, k) {
		const json_t *boots = json_object_get(k, "boots");

		html_open(h, "tr");
		td_comparison(h, k);
		html_elf(h, "td", NULL, "%s %s", json_str(k, "tree", ""),
			 json_str(k, "branch", ""));
		td_commit(h, json_str(k, "base", NULL), NULL);
		td_commit(h, json_str(k, "head", NULL), NULL);
		html_el(h, "td", NULL, json_str(k, "job", ""));
		td_state(h, json_str(k, "verdict", "not-enough-data"));
		td_num(h);
		part_change(h, k);
		html_close(h);
		html_elf(h, "td", "num", "%lld of %lld", (long long)json_i64(boots, "done", 0),
			 (long long)json_i64(boots, "done", 0) +
				 (long long)json_i64(boots, "wanted", 0));
		td(h);
		verdict_look(h, k);
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void machines(struct html *h, const json_t *j)
{
	const json_t *list = json_object_get(j, "machines");

	part_h2(h, "machines", "Machines");
	if (json_array_size(list))
		machine_rows(h, list);
	else
		part_empty(h, "No machine is known yet.");
}

void render_overview(struct request *q, struct html *h, const json_t *j)
{
	const json_t *regressions = json_object_get(j, "regressions");
	const json_t *bisections = json_object_get(j, "bisections");

	page_begin(q, h, "Overview", "/");
	html_el(h, "h1", NULL, "Overview");
	tiles(h, j);
	part_h2(h, "regressions", "Newest regressions");
	if (json_array_size(regressions))
		regression_rows(h, regressions);
	else
		part_empty(h, "No regression was found yet.");
	comparisons(h, j);
	if (json_array_size(bisections)) {
		part_h2(h, "bisections", "Being bisected");
		bisection_rows(h, bisections);
	}
	trees(h, j);
	machines(h, j);
	page_end(q, h);
}
