/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/parse.h"
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"
#include "web/verdict.h"

#include <string.h>

int load_queue(struct request *q, json_t **ret, struct err *e)
{
	const char *limit = url_query(&q->url, "limit");
	int64_t n = 100;

	if (limit && parse_i64(limit, 1, 500, &n, e) < 0) {
		(void)err_wrap(e, "limit");
		return ERR_INVAL;
	}
	return page_queue(q->db, n, ret, e);
}

static void payload(struct html *h, const json_t *p)
{
	const char *key;
	json_t *v;
	int n = 0;

	json_object_foreach ((json_t *)(uintptr_t)p, key, v) {
		_cleanup_(freep) char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);

		html_text(h, n++ ? ", " : "");
		html_short(h, key, 40);
		html_text(h, " ");
		html_short(h, json_is_string(v) ? json_string_value(v) : text ? text : "", 60);
	}
}

/* Which look it is for, and what that can see. */
static void for_comparison(struct html *h, const json_t *k)
{
	if (!k)
		return;
	html_open(h, "br");
	html_open(h, "a");
	html_attrf(h, "href", "/comparisons/%lld", (long long)json_i64(k, "id", 0));
	html_textf(h, "comparison %lld", (long long)json_i64(k, "id", 0));
	html_close(h);
	html_text(h, " ");
	verdict_look(h, k);
}

static void work_row(struct html *h, const json_t *w)
{
	const char *state = json_str(w, "state", "");

	html_open(h, "tr");
	html_elf(h, "td", "num", "%lld", (long long)json_i64(w, "id", 0));
	html_el(h, "td", NULL, json_str(w, "kind", ""));
	td_state(h, json_is_true(json_object_get(w, "waiting")) ? "waiting" : state);
	html_div(h, "td", "wide");
	payload(h, json_object_get(w, "payload"));
	for_comparison(h, json_object_get(w, "comparison"));
	html_close(h);
	html_elf(h, "td", "num", "%lld", (long long)json_i64(w, "attempts", 0));
	html_elf(h, "td", "num", "%lld", (long long)json_i64(w, "crashes", 0));
	td_age(h, json_str(w, "finished", json_str(w, "run_at", NULL)));
	html_div(h, "td", "wide");
	html_short(h, json_str(w, "last_error", json_str(w, "owner", "")), 160);
	html_close(h);
	html_close(h);
}

static void work_table(struct html *h, const json_t *list, const char *label, const char *heads)
{
	const json_t *w;
	size_t i;

	table_begin(h, label, heads);
	json_array_foreach (list, i, w)
		work_row(h, w);
	table_end(h);
}

void render_queue(struct request *q, struct html *h, const json_t *j)
{
	const json_t *items = json_object_get(j, "items"), *gave_up = json_object_get(j, "gave_up");
	const json_t *counts = json_object_get(j, "counts");

	page_begin(q, h, "Queue", "/queue");
	html_el(h, "h1", NULL, "Queue");
	html_elf(h, "p", "dim", "%lld running, %lld waiting, %lld done so far.",
		 (long long)json_i64(counts, "leased", 0), (long long)json_i64(counts, "ready", 0),
		 (long long)json_i64(counts, "done", 0));
	if (json_array_size(items))
		work_table(h, items, "Queue",
			   ">Id|Kind|State|What|>Tries|>Crashes|Due|Owner, last error");
	else
		part_empty(h, "Nothing to do.");
	if (json_array_size(gave_up)) {
		part_h2(h, "gave-up", "Gave up");
		work_table(h, gave_up, "Gave up",
			   ">Id|Kind|State|What|>Tries|>Crashes|Ended|Last error");
	}
	page_end(q, h);
}
