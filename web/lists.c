/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of regressions and bisections, and tables of them on other pages. */
#include "bot/base/parse.h"
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"

#include <math.h>
#include <string.h>

static void id_cell(struct html *h, const char *before, const char *id)
{
	td(h);
	html_open(h, "a");
	html_attr(h, "class", "id");
	html_href(h, before, id, NULL);
	html_text(h, id);
	html_close(h);
	html_close(h);
}

/* The interval on a line of its own: the table has many columns. */
static void change_cell(struct html *h, const json_t *effect)
{
	td_num(h);
	html_open(h, "b");
	part_percent(h, json_f64(effect, "rel", NAN));
	html_close(h);
	html_open(h, "br");
	html_elf(h, "span", "dim", "%+.1f .. %+.1f", json_f64(effect, "lo", NAN) * 100,
		 json_f64(effect, "hi", NAN) * 100);
	html_close(h);
}

static void regression_row(struct html *h, const json_t *r)
{
	const json_t *culprit = json_object_get(r, "culprit");

	html_open(h, "tr");
	id_cell(h, "/r/", json_str(r, "id", ""));
	td_state(h, json_str(r, "state", ""));
	change_cell(h, json_object_get(r, "effect"));
	html_div(h, "td", "wide");
	html_text(h, json_str(json_object_get(r, "metric"), "name", ""));
	html_open(h, "br");
	html_div(h, "span", "dim");
	part_params(h, json_object_get(r, "params"));
	html_close(h);
	html_close(h);
	td(h);
	html_textf(h, "%s %s", json_str(r, "tree", ""), json_str(r, "branch", ""));
	html_open(h, "br");
	html_elf(h, "span", "dim", "on %s", json_str(r, "machine", ""));
	html_close(h);
	html_div(h, "td", "wide");
	if (culprit)
		part_commit(h, json_str(culprit, "commit", ""), json_str(culprit, "title", ""));
	else
		html_el(h, "span", "dim", "not known yet");
	html_close(h);
	td_num(h);
	part_p(h, json_f64(culprit, "p", NAN));
	html_close(h);
	td(h);
	part_date(h, json_str(r, "created", NULL));
	html_close(h);
	html_close(h);
}

void regression_rows(struct html *h, const json_t *items)
{
	const json_t *r;
	size_t i;

	table_begin(h, "Regressions",
		    "Id|State|>Change|Metric and test|Tree|First bad commit|>P|"
		    "Found");
	json_array_foreach (items, i, r)
		regression_row(h, r);
	table_end(h);
}

void bisection_rows(struct html *h, const json_t *items)
{
	const json_t *b;
	size_t i;

	table_begin(h, "Bisections", "Id|State|Tree|Good|Bad|Job|>Steps|>Boots|Result|Asked");
	json_array_foreach (items, i, b) {
		const json_t *result = json_object_get(b, "result");
		const json_t *boots = json_object_get(b, "boots");

		html_open(h, "tr");
		id_cell(h, "/b/", json_str(b, "id", ""));
		td_state(h, json_str(b, "state", ""));
		html_el(h, "td", NULL, json_str(b, "tree", ""));
		td_commit(h, json_str(b, "good", NULL), NULL);
		td_commit(h, json_str(b, "bad", NULL), NULL);
		html_el(h, "td", NULL, json_str(b, "job", ""));
		html_elf(h, "td", "num", "%d",
			 (int)json_i64(json_object_get(b, "steps"), "done", 0));
		td_num(h);
		if (boots)
			html_textf(h, "%d", (int)json_i64(boots, "used", 0));
		html_close(h);
		td(h);
		if (json_str(result, "culprit", NULL)) {
			part_commit(h, json_str(result, "culprit", NULL), NULL);
			html_text(h, " P ");
			part_p(h, json_f64(result, "p", NAN));
			if (json_is_false(json_object_get(result, "confirmed")))
				html_text(h, ", not verified");
		} else if (json_str(json_object_get(result, "gain"), "commit", NULL)) {
			html_text(h, "lacks ");
			part_commit(h, json_str(json_object_get(result, "gain"), "commit", NULL),
				    NULL);
		} else {
			html_short(h, json_str(b, "state_text", ""), 80);
		}
		html_close(h);
		td_time(h, json_str(b, "created", NULL));
		html_close(h);
	}
	table_end(h);
}

static int read_filter(struct request *q, struct page_filter *f, struct err *e)
{
	const char *limit = url_query(&q->url, "limit");
	int r;

	*f = (struct page_filter){ .state = url_query(&q->url, "state"),
				   .tree = url_query(&q->url, "tree"),
				   .class = url_query(&q->url, "class"),
				   .suite = url_query(&q->url, "suite"),
				   .after = url_query(&q->url, "after"),
				   .limit = 50 };
	if (!limit)
		return 0;
	r = parse_i64(limit, 1, 500, &f->limit, e);
	return r < 0 ? err_wrap(e, "limit") : 0;
}

static void more_link(struct html *h, struct request *q, const json_t *j)
{
	const char *next = json_str(j, "next", NULL);
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	if (!next)
		return;
	html_open(h, "p");
	html_open(h, "a");
	for (size_t i = 0; i < q->url.n; i++)
		if (strcmp(q->url.keys[i], "after") != 0 && parse_name(q->url.values[i]))
			strbuf_addf(&b, "%s=%s&", q->url.keys[i], q->url.values[i]);
	html_attrf(h, "href", "?%safter=%s", strbuf_str(&b), next);
	html_text(h, "Older ones");
	html_close(h);
	html_close(h);
}

int load_regressions(struct request *q, json_t **ret, struct err *e)
{
	struct page_filter f;
	int r = read_filter(q, &f, e);

	return r < 0 ? r : page_regressions(q->db, &f, ret, e);
}

static void filter_links(struct html *h, const char *now, const char *const *names)
{
	html_div(h, "p", "filters");
	html_text(h, "Show ");
	for (size_t i = 0; names[i]; i++) {
		bool all = i == 0;

		html_open(h, "a");
		if (all)
			html_attr(h, "href", "?");
		else
			html_href(h, "?state=", names[i], NULL);
		if (all ? !now : now && !strcmp(now, names[i]))
			html_attr(h, "aria-current", "true");
		html_text(h, names[i]);
		html_close(h);
		html_text(h, " ");
	}
	html_close(h);
}

void render_regressions(struct request *q, struct html *h, const json_t *j)
{
	static const char *const names[] = { "all but invalid",
					     "confirmed",
					     "bisecting",
					     "reported",
					     "acknowledged",
					     "expected",
					     "fixed",
					     "invalid",
					     "dup",
					     "layout",
					     NULL };
	const char *state = url_query(&q->url, "state");
	const json_t *items = json_object_get(j, "items");

	page_begin(q, h, "Regressions", "/regressions");
	html_el(h, "h1", NULL, "Regressions");
	filter_links(h, state, names);
	if (json_array_size(items))
		regression_rows(h, items);
	else
		part_empty(
			h,
			"None. A change for the worse is listed here once fresh runs confirm it.");
	more_link(h, q, j);
	page_end(q, h);
}

int load_bisects(struct request *q, json_t **ret, struct err *e)
{
	struct page_filter f;
	int r = read_filter(q, &f, e);

	return r < 0 ? r : page_bisections(q->db, &f, ret, e);
}

void render_bisects(struct request *q, struct html *h, const json_t *j)
{
	const json_t *items = json_object_get(j, "items");

	page_begin(q, h, "Bisections", "/bisects");
	html_el(h, "h1", NULL, "Bisections");
	if (json_array_size(items))
		bisection_rows(h, items);
	else
		part_empty(h, "None. kperfbot starts one for each confirmed regression; "
			      "'kperfbot bisect start' asks for one.");
	more_link(h, q, j);
	page_end(q, h);
}

static void machine_row(struct html *h, const json_t *m)
{
	html_open(h, "tr");
	id_cell(h, "/machines/", json_str(m, "name", ""));
	html_el(h, "td", NULL, json_str(m, "group", ""));
	html_el(h, "td", NULL, json_str(m, "driver", ""));
	td_state(h, json_str(m, "health", ""));
	td_state(h, json_is_true(json_object_get(m, "busy")) ? "busy" : "idle");
	td_age(h, json_str(m, "last_seen", NULL));
	html_div(h, "td", "wide");
	html_short(h, json_str(m, "note", ""), 120);
	html_close(h);
	html_close(h);
}

void machine_rows(struct html *h, const json_t *items)
{
	const json_t *m;
	size_t i;

	table_begin(h, "Machines", "Machine|Group|Driver|Health|Now|Last seen|Note");
	json_array_foreach (items, i, m)
		machine_row(h, m);
	table_end(h);
}
