/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One lab machine: is it sound, why not, what its control build gave, what it did. */
#include "bot/store/page_read.h"
#include "web/parts.h"
#include "web/request.h"

#include <math.h>
#include <string.h>

int load_machine(struct request *q, json_t **ret, struct err *e)
{
	return page_machine(q->db, q->arg, ret, e);
}

int load_machines(struct request *q, json_t **ret, struct err *e)
{
	return page_machines(q->db, ret, e);
}

static void seconds_fact(struct html *h, const char *term, const json_t *j, const char *key)
{
	double s = json_f64(j, key, NAN);

	fact(h, term);
	if (isfinite(s))
		html_textf(h, "%.1f s", s);
	else
		html_text(h, "not known yet");
	html_close(h);
}

static void facts(struct html *h, const json_t *j)
{
	const json_t *control = json_object_get(j, "control");

	html_div(h, "dl", "facts");
	fact(h, "Health");
	part_state(h, json_str(j, "health", ""));
	if (json_str(j, "note", NULL)) {
		html_text(h, " ");
		html_short(h, json_str(j, "note", ""), 300);
		html_textf(h, ", by %s, ", json_str(j, "drained_by", "?"));
		part_age(h, json_str(j, "drained_at", NULL));
	}
	html_close(h);
	fact(h, "Now");
	html_textf(h, "%s, %d boots wait", json_str(j, "state", ""),
		   (int)json_i64(j, "waiting", 0));
	html_close(h);
	fact(h, "Group, driver");
	html_textf(h, "%s, %s", json_str(j, "group", ""), json_str(j, "driver", ""));
	html_close(h);
	fact(h, "Last seen");
	part_age(h, json_str(j, "last_seen", NULL));
	html_close(h);
	fact(h, "Last 7 days");
	html_textf(h, "%d boots, %d failed", (int)json_i64(j, "boots", 0),
		   (int)json_i64(j, "failed", 0));
	html_close(h);
	seconds_fact(h, "Power-on to agent, median", j, "boot_s");
	seconds_fact(h, "Agent to first run, median", j, "setup_s");
	seconds_fact(h, "A run beside its commands, median", j, "overhead_s");
	fact(h, "Idle on the last day");
	if (isfinite(json_f64(j, "idle", NAN)))
		html_textf(h, "%.0f %%", 100 * json_f64(j, "idle", NAN));
	else
		html_text(h, "not known yet");
	html_close(h);
	fact(h, "Control build");
	if (control) {
		part_commit(h, json_str(control, "commit", NULL), json_str(control, "title", ""));
		html_textf(h, ", job %s, measured last ", json_str(control, "job", ""));
		part_age(h, json_str(j, "last_check", NULL));
	} else {
		html_text(h, "none yet: the first good boot of the group makes it");
	}
	html_close(h);
	html_close(h);
}

static void controls(struct html *h, const json_t *list)
{
	const json_t *c;
	size_t i;

	table_begin(h, "Control boots", "When|Commit|State|Metric|>Value|Detail");
	json_array_foreach (list, i, c) {
		html_open(h, "tr");
		td_time(h, json_str(c, "at", NULL));
		td_commit(h, json_str(c, "commit", NULL), NULL);
		td_state(h, json_str(c, "class", json_str(c, "state", "")));
		html_el(h, "td", NULL, json_str(c, "metric", ""));
		td_num(h);
		part_value(h, json_f64(c, "value", NAN));
		html_close(h);
		html_div(h, "td", "wide");
		if (json_is_true(json_object_get(c, "excluded")))
			html_text(h, "does not count. ");
		html_short(h, json_str(c, "detail", ""), 160);
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void events(struct html *h, const json_t *list)
{
	const json_t *v;
	size_t i;

	table_begin(h, "Events", "When|What|By|Why");
	json_array_foreach (list, i, v) {
		html_open(h, "tr");
		td_time(h, json_str(v, "at", NULL));
		td_state(h, json_str(v, "kind", ""));
		html_el(h, "td", NULL, json_str(v, "by", ""));
		html_div(h, "td", "wide");
		html_short(h, json_str(v, "text", ""), 300);
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void console_link(struct html *h, const json_t *b)
{
	char number[32];

	if (!json_is_true(json_object_get(b, "console")))
		return;
	(void)snprintf(number, sizeof(number), "%lld", (long long)json_i64(b, "boot", 0));
	html_open(h, "a");
	html_href(h, "/boots/", number, "/console.txt");
	html_text(h, "console");
	html_close(h);
}

static void seconds_cell(struct html *h, const json_t *b, const char *key)
{
	double s = json_f64(b, key, NAN);

	td_num(h);
	if (isfinite(s))
		html_textf(h, "%.1f s", s);
	html_close(h);
}

static void recent(struct html *h, const json_t *list)
{
	const json_t *b;
	size_t i;

	table_begin(h, "Boots", "When|Commit|Job|For|State|>Boot|>Set-up|>In all|Log|Detail");
	json_array_foreach (list, i, b) {
		html_open(h, "tr");
		td_time(h, json_str(b, "at", NULL));
		td_commit(h, json_str(b, "commit", NULL), NULL);
		html_el(h, "td", NULL, json_str(b, "job", ""));
		html_el(h, "td", NULL, json_str(b, "purpose", ""));
		td_state(h, json_str(b, "class", json_str(b, "state", "")));
		seconds_cell(h, b, "boot_s");
		seconds_cell(h, b, "setup_s");
		seconds_cell(h, b, "took_s");
		td(h);
		console_link(h, b);
		html_close(h);
		html_div(h, "td", "wide");
		if (json_is_true(json_object_get(b, "excluded")))
			html_text(h, "does not count. ");
		if (json_object_get(b, "proven_by"))
			html_text(h, "proven by another build. ");
		html_short(h, json_str(b, "detail", ""), 160);
		html_close(h);
		html_close(h);
	}
	table_end(h);
}

static void machine_facts(struct html *h, const json_t *j)
{
	const json_t *all = json_object_get(j, "facts");
	const char *key;
	json_t *v;

	if (!json_object_size(all)) {
		part_empty(h, "It never answered.");
		return;
	}
	html_div(h, "dl", "facts");
	json_object_foreach ((json_t *)(uintptr_t)all, key, v) {
		if (!json_is_string(v) && !json_is_integer(v))
			continue;
		fact(h, key);
		if (json_is_string(v))
			html_short(h, json_string_value(v), 300);
		else
			html_textf(h, "%lld", (long long)json_integer_value(v));
		html_close(h);
	}
	html_close(h);
}

void render_machine(struct request *q, struct html *h, const json_t *j)
{
	_cleanup_(freep) char *title = xasprintf("Machine %s", json_str(j, "name", ""));

	page_begin(q, h, title, NULL);
	html_el(h, "h1", NULL, title);
	facts(h, j);
	part_list(h, j, "controls", "Control build", controls, "It was not measured here yet.");
	part_list(h, j, "events", "Events", events, "None.");
	part_list(h, j, "recent", "Boots", recent, "None yet.");
	part_h2(h, "facts", "Facts at the last boot");
	machine_facts(h, j);
	page_end(q, h);
}

void render_machines(struct request *q, struct html *h, const json_t *j)
{
	page_begin(q, h, "Machines", NULL);
	html_el(h, "h1", NULL, "Machines");
	machine_rows(h, json_object_get(j, "items"));
	page_end(q, h);
}
