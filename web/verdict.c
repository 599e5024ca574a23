/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/verdict.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "web/html.h"
#include "web/parts.h"

#include <math.h>
#include <string.h>

enum {
	SENTENCES_MAX = 40,
	CHANGED_MAX = 80,
	REST_MAX = 120
};

const json_t *verdict_metric(const json_t *metrics, const char *name)
{
	const json_t *m;
	size_t i;

	json_array_foreach (metrics, i, m)
		if (!strcmp(json_str(m, "name", ""), name))
			return m;
	return NULL;
}

bool verdict_is_change(const char *v)
{
	return !strcmp(v, "regression") || !strcmp(v, "improvement") || !strcmp(v, "change");
}

/* Pages write "6.6%". */
static void say(struct html *h, const char *s)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	for (; *s; s++)
		if (s[0] != ' ' || s[1] != '%')
			strbuf_addch(&b, *s);
	html_open(h, "li");
	html_short(h, strbuf_str(&b), 600);
	html_close(h);
}

void verdict_findings(struct html *h, const json_t *findings)
{
	const json_t *f, *t;
	size_t i, k, n = 0;

	if (json_array_size(findings) == 0)
		return;
	part_h2(h, "findings", "What changed");
	html_div(h, "ul", "says");
	json_array_foreach (findings, i, f) {
		json_array_foreach (json_object_get(f, "text"), k, t) {
			if (!json_is_string(t) || n++ >= SENTENCES_MAX)
				continue;
			say(h, json_string_value(t));
		}
	}
	if (n > SENTENCES_MAX)
		html_elf(h, "li", "dim", "and %zu more sentences in the JSON form",
			 n - SENTENCES_MAX);
	html_close(h);
}

const json_t *verdict_checks_of(const json_t *findings)
{
	return json_object_get(json_array_get(findings, 0), "checks");
}

static const char *check_text(const char *name)
{
	static const struct {
		const char *name, *text;
	} texts[] = {
		{ "aa", "base against itself: every other boot" },
		{ "bb", "head against itself: every other boot" },
		{ "again", "base again: boots after the suspicion against those before" },
		{ "align64", "the commit against its parent, all functions aligned to 64 bytes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(texts[i].name, name))
			return texts[i].text;
	return name;
}

static void td_p(struct html *h, const json_t *o)
{
	double p = json_f64(o, "p", NAN);

	if (isfinite(p))
		html_elf(h, "td", "num", "%.2g", p);
	else
		html_el(h, "td", "num", "\xe2\x80\x93");
}

static void check_row(struct html *h, const json_t *c)
{
	const json_t *ok = json_object_get(c, "ok");
	bool measured = json_is_number(json_object_get(c, "rel"));

	html_open(h, "tr");
	html_div(h, "td", "wide");
	html_short(h, check_text(json_str(c, "name", "")), 120);
	if (json_str(c, "text", NULL)) {
		html_open(h, "br");
		html_div(h, "span", "dim small");
		html_short(h, json_str(c, "text", ""), 200);
		html_close(h);
	}
	html_close(h);
	td_num(h);
	part_change(h, c);
	html_close(h);
	td_p(h, c);
	td(h);
	if (ok)
		part_state(h, json_is_true(ok) ? "ok" : measured ? "not ok" : "not measured");
	else
		part_state(h, "running");
	html_close(h);
	html_close(h);
}

void verdict_checks(struct html *h, const json_t *checks)
{
	const json_t *c;
	size_t i;

	if (json_array_size(checks) == 0)
		return;
	part_h2(h, "checks", "Checks");
	table_begin(h, "Checks", "What|>Change|>p|Verdict");
	json_array_foreach (checks, i, c)
		check_row(h, c);
	table_end(h);
}

static void modes_of(struct html *h, const json_t *m, const char *side)
{
	const json_t *modes = json_object_get(json_object_get(m, side), "modes"), *o;
	size_t i, n = json_array_size(modes);

	if (n < 2)
		return;
	html_div(h, "p", "modes");
	part_state(h, n == 2 ? "two modes" : "several modes");
	html_textf(h, " in %s: ", side);
	json_array_foreach (modes, i, o) {
		html_textf(h, "%s%.0f%% of the runs near ", i ? ", " : "",
			   100 * json_f64(o, "share", NAN));
		part_value(h, json_f64(o, "center", NAN));
	}
	html_text(h, ". No run is near their mean.");
	html_close(h);
}

void verdict_modes(struct html *h, const json_t *m)
{
	modes_of(h, m, "base");
	modes_of(h, m, "head");
}

static void td_side(struct html *h, const json_t *s)
{
	int n = (int)json_i64(s, "n", 0), boots = (int)json_i64(s, "boots", 0);

	td_num(h);
	part_value(h, json_f64(s, "center", NAN));
	if (json_array_size(json_object_get(s, "modes")) > 1)
		html_el(h, "span", "dim", " 2 modes");
	html_close(h);
	if (boots && boots != n)
		html_elf(h, "td", "num", "%d on %d", n, boots);
	else
		html_elf(h, "td", "num", "%d", n);
}

static void metric_row(struct html *h, const json_t *m)
{
	const char *follows = json_str(m, "follows", NULL);
	double per_work = json_f64(m, "per_work", NAN);

	html_open(h, "tr");
	html_div(h, "td", "wide");
	html_short(h, json_str(m, "name", ""), 120);
	if (follows) {
		html_open(h, "br");
		html_div(h, "span", "dim small");
		html_text(h, "follows ");
		html_short(h, follows, 60);
		html_close(h);
	}
	html_close(h);
	td_state(h, json_str(m, "verdict", ""));
	td_num(h);
	part_change(h, m);
	html_close(h);
	td_num(h);
	if (isfinite(per_work))
		part_percent(h, per_work);
	html_close(h);
	td_p(h, m);
	td_side(h, json_object_get(m, "base"));
	td_side(h, json_object_get(m, "head"));
	html_close(h);
}

static void metric_rows(struct html *h, const json_t *metrics, bool changed, size_t max)
{
	const json_t *m;
	size_t i, n = 0;

	table_begin(h, changed ? "Changed metrics" : "Other metrics",
		    "Metric|Verdict|>Change|>Per unit of work|>p|>Base|>Runs|>Head|>Runs");
	json_array_foreach (metrics, i, m)
		if (verdict_is_change(json_str(m, "verdict", "")) == changed && n++ < max)
			metric_row(h, m);
	table_end(h);
	if (n > max)
		html_elf(h, "p", "dim", "%zu more are in the other forms of this page.", n - max);
}

void verdict_metrics(struct html *h, const json_t *metrics)
{
	size_t n = json_array_size(metrics), changed = 0, i;
	const json_t *m;

	if (n == 0)
		return;
	json_array_foreach (metrics, i, m)
		changed += verdict_is_change(json_str(m, "verdict", ""));
	part_h2(h, "metrics", "All metrics");
	if (changed)
		metric_rows(h, metrics, true, CHANGED_MAX);
	if (changed == n)
		return;
	html_open(h, "details");
	html_elf(h, "summary", NULL, "Metrics without a sure change: %zu", n - changed);
	metric_rows(h, metrics, false, REST_MAX);
	html_close(h);
}

void td_comparison(struct html *h, const json_t *k)
{
	const char *purpose = json_str(k, "purpose", "head");

	td_num(h);
	html_open(h, "a");
	html_attrf(h, "href", "/comparisons/%lld", (long long)json_i64(k, "id", 0));
	html_textf(h, "%lld", (long long)json_i64(k, "id", 0));
	html_close(h);
	if (strcmp(purpose, "head") != 0)
		html_elf(h, "span", "dim", " %s", purpose);
	html_close(h);
}

void verdict_look(struct html *h, const json_t *k)
{
	const json_t *looks = json_object_get(json_object_get(k, "plan"), "looks"), *l;
	int64_t look = json_i64(k, "look", 0);
	size_t i, n = json_array_size(looks);

	if (look == 0)
		return;
	json_array_foreach (looks, i, l) {
		double sees = json_f64(l, "detectable", NAN);

		if (json_i64(l, "boots", 0) < look)
			continue;
		html_textf(h, "look %zu of %zu", i + 1, n);
		if (isfinite(sees))
			html_textf(h, ", sees %.2g%%", 100 * sees);
		return;
	}
	html_textf(h, "%lld boots a side", (long long)look);
}
