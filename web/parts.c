/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/parts.h"

#include "bot/base/clock.h"
#include "web/html.h"

#include <math.h>
#include <string.h>
#include <time.h>

void part_h2(struct html *h, const char *id, const char *text)
{
	html_open(h, "h2");
	html_attr(h, "id", id);
	html_text(h, text);
	html_close(h);
}

/* sign, class of colour */
static const struct {
	const char *state, *sign, *class;
} states[] = {
	{ "new", "\xe2\x97\x8f", "warn" },
	{ "confirmed", "\xe2\x96\xbc", "bad" },
	{ "bisecting", "\xe2\x96\xb6", "busy" },
	{ "reported", "\xe2\x9c\x89", "bad" },
	{ "acknowledged", "\xe2\x9c\x93", "dim" },
	{ "expected", "\xe2\x89\x88", "dim" },
	{ "fix-pending", "\xe2\x80\xa6", "warn" },
	{ "fixed", "\xe2\x9c\x93", "good" },
	{ "invalid", "\xe2\x9c\x97", "dim" },
	{ "lab", "\xe2\x9a\x91", "warn" },
	{ "dup", "=", "dim" },
	{ "layout", "\xe2\x87\x84", "dim" },
	{ "queued", "\xe2\x80\xa6", "dim" },
	{ "checking-ends", "\xe2\x96\xb6", "busy" },
	{ "running", "\xe2\x96\xb6", "busy" },
	{ "verifying", "\xe2\x96\xb6", "busy" },
	{ "done", "\xe2\x9c\x93", "good" },
	{ "inconclusive", "?", "warn" },
	{ "not-reproduced", "\xe2\x89\xa0", "warn" },
	{ "failed", "\xe2\x9c\x97", "bad" },
	{ "cancelled", "\xe2\x80\x93", "dim" },
	{ "ok", "\xe2\x9c\x93", "good" },
	{ "wanted", "\xe2\x80\xa6", "dim" },
	{ "ready", "\xe2\x80\xa6", "dim" },
	{ "leased", "\xe2\x96\xb6", "busy" },
	{ "quarantined", "\xe2\x9a\x91", "bad" },
	{ "good", "\xe2\x9c\x93", "good" },
	{ "suspect", "?", "warn" },
	{ "maintenance", "\xe2\x80\x93", "dim" },
	{ "retired", "\xe2\x80\x93", "dim" },
	{ "regression", "\xe2\x96\xbc", "bad" },
	{ "improvement", "\xe2\x96\xb2", "good" },
	{ "change", "\xe2\x97\x86", "warn" },
	{ "same", "=", "dim" },
	{ "candidate", "?", "warn" },
	{ "not-enough-data", "\xe2\x80\xa6", "dim" },
	{ "bad", "\xe2\x96\xbc", "bad" },
	{ "unsure", "?", "warn" },
	{ "skip", "\xe2\x80\x93", "dim" },
	{ "sent", "\xe2\x9c\x93", "good" },
	{ "sending", "\xe2\x96\xb6", "busy" },
	{ "deferred", "\xe2\x80\xa6", "warn" },
	{ "dead", "\xe2\x9c\x97", "bad" },
	{ "held", "\xe2\x8f\xb8", "warn" },
	{ "open", "\xe2\x96\xb6", "busy" },
	{ "waiting", "\xe2\x80\xa6", "dim" },
	{ "busy", "\xe2\x96\xb6", "busy" },
	{ "forced", "!", "warn" },
	{ "deleted", "\xe2\x9c\x97", "warn" },
	{ "seen", "\xe2\x97\x8f", "warn" },
	{ "known", "\xe2\x97\x86", "dim" },
	{ "confirming", "\xe2\x96\xb6", "busy" },
	{ "refuted", "\xe2\x9c\x97", "dim" },
	{ "unconfirmed", "?", "warn" },
	{ "drift", "\xe2\x9a\x91", "warn" },
	{ "two modes", "\xe2\x97\x86", "warn" },
	{ "several modes", "\xe2\x97\x86", "warn" },
	{ "not ok", "\xe2\x9c\x97", "bad" },
	{ "not measured", "?", "warn" },
	{ "not needed", "\xe2\x80\x93", "dim" },
	{ "went-away", "\xe2\x80\x93", "dim" },
};

static size_t state_find(const char *state)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(states) && strcmp(states[i].state, state) != 0)
		i++;
	return i;
}

const char *state_sign(const char *state)
{
	size_t i = state_find(state);

	return i < ARRAY_SIZE(states) ? states[i].sign : "\xc2\xb7";
}

const char *state_class(const char *state)
{
	size_t i = state_find(state);

	return i < ARRAY_SIZE(states) ? states[i].class : "dim";
}

void part_state(struct html *h, const char *state)
{
	html_open(h, "span");
	html_attrf(h, "class", "state %s", state_class(state));
	html_open(h, "span");
	html_attr(h, "aria-hidden", "true");
	html_text(h, state_sign(state));
	html_close(h);
	html_text(h, " ");
	html_text(h, state);
	html_close(h);
}

void part_commit(struct html *h, const char *hash, const char *title)
{
	if (!hash || !*hash)
		return;
	html_open(h, "a");
	html_attr(h, "class", "hash");
	html_href(h, "/commit/", hash, NULL);
	html_textf(h, "%.12s", hash);
	html_close(h);
	if (!title)
		return;
	html_text(h, " ");
	html_div(h, "span", "title");
	html_short(h, title, 100);
	html_close(h);
}

void part_time(struct html *h, const char *iso)
{
	if (!iso || strlen(iso) < 16) {
		html_text(h, "\xe2\x80\x93");
		return;
	}
	html_open(h, "time");
	html_attr(h, "datetime", iso);
	html_textf(h, "%.10s %.5s UTC", iso, iso + 11);
	html_close(h);
}

void part_date(struct html *h, const char *iso)
{
	html_open(h, "time");
	html_attr(h, "datetime", iso);
	html_textf(h, "%.10s", iso ? iso : "\xe2\x80\x93");
	html_close(h);
}

void part_seconds(struct html *h, double s)
{
	if (!isfinite(s))
		html_text(h, "\xe2\x80\x93");
	else if (s < 120)
		html_textf(h, "%.0f s", s);
	else if (s < 7200)
		html_textf(h, "%.0f min", s / 60);
	else if (s < 172800)
		html_textf(h, "%.1f h", s / 3600);
	else
		html_textf(h, "%.0f days", s / 86400);
}

void part_age(struct html *h, const char *iso)
{
	struct tm tm = { 0 };
	double age;

	part_time(h, iso);
	if (!iso || !strptime(iso, "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	age = (double)clock_realtime() / 1e6 - (double)timegm(&tm);
	if (age < 0)
		return;
	html_text(h, " ");
	html_div(h, "span", "dim");
	html_text(h, "(");
	/* Whole minutes, so that a page that did not change keeps its ETag for a while. */
	if (age < 60)
		html_text(h, "just now");
	else
		part_seconds(h, fmax(120, floor(age / 60) * 60));
	html_text(h, age < 60 ? ")" : " ago)");
	html_close(h);
}

void part_percent(struct html *h, double rel)
{
	if (isfinite(rel))
		html_textf(h, "%+.1f%%", rel * 100);
	else
		html_text(h, "\xe2\x80\x93");
}

void part_change(struct html *h, const json_t *effect)
{
	double lo = json_f64(effect, "lo", NAN), hi = json_f64(effect, "hi", NAN);

	html_open(h, "b");
	part_percent(h, json_f64(effect, "rel", NAN));
	html_close(h);
	if (!isfinite(lo) || !isfinite(hi))
		return;
	html_text(h, " ");
	html_elf(h, "span", "dim nowrap", "(%+.1f .. %+.1f)", lo * 100, hi * 100);
}

const char *value_text(double v, char buf[32])
{
	if (!isfinite(v))
		(void)snprintf(buf, 32, "\xe2\x80\x93");
	else if (fabs(v) >= 10000)
		(void)snprintf(buf, 32, "%.0f", v);
	else
		(void)snprintf(buf, 32, "%.4g", v);
	return buf;
}

void part_value(struct html *h, double v)
{
	char buf[32];

	html_text(h, value_text(v, buf));
}

void part_p(struct html *h, double p)
{
	char buf[PROBABILITY_TEXT];

	html_text(h, isfinite(p) ? probability_text(buf, p) : "\xe2\x80\x93");
}

void part_params(struct html *h, const json_t *params)
{
	const char *test = json_str(params, "test", NULL);
	const char *key;
	json_t *v;

	if (test)
		html_text(h, test);
	json_object_foreach ((json_t *)(uintptr_t)params, key, v) {
		if (!strcmp(key, "test"))
			continue;
		html_text(h, " ");
		html_text(h, key);
		html_text(h, "=");
		if (json_is_string(v))
			html_text(h, json_string_value(v));
		else if (json_is_integer(v))
			html_textf(h, "%lld", (long long)json_integer_value(v));
	}
}

void part_empty(struct html *h, const char *text)
{
	html_el(h, "p", "empty", text);
}

void table_begin(struct html *h, const char *label, const char *heads)
{
	html_div(h, "div", "scroll");
	html_attr(h, "role", "region");
	html_attr(h, "aria-label", label);
	html_attr(h, "tabindex", "0");
	html_open(h, "table");
	html_open(h, "thead");
	html_open(h, "tr");
	for (const char *s = heads; *s;) {
		bool right = *s == '>';
		size_t n;

		s += right;
		n = strcspn(s, "|");
		html_div(h, "th", right ? "num" : NULL);
		html_attr(h, "scope", "col");
		html_textn(h, s, n);
		html_close(h);
		s += n + (s[n] == '|');
	}
	html_close(h);
	html_close(h);
	html_open(h, "tbody");
	h->heads = heads;
}

void table_end(struct html *h)
{
	h->heads = NULL;
	html_close(h);
	html_close(h);
	html_close(h);
}

void td(struct html *h)
{
	html_open(h, "td");
}

void td_num(struct html *h)
{
	html_div(h, "td", "num");
}

void fact(struct html *h, const char *term)
{
	html_el(h, "dt", NULL, term);
	html_open(h, "dd");
}

void part_list(struct html *h, const json_t *j, const char *key, const char *title,
	       void (*draw)(struct html *h, const json_t *list), const char *empty)
{
	const json_t *list = json_object_get(j, key);

	part_h2(h, key, title);
	if (json_array_size(list))
		draw(h, list);
	else
		part_empty(h, empty);
}

void td_time(struct html *h, const char *iso)
{
	td(h);
	part_time(h, iso);
	html_close(h);
}

void td_age(struct html *h, const char *iso)
{
	td(h);
	part_age(h, iso);
	html_close(h);
}

void td_state(struct html *h, const char *state)
{
	td(h);
	part_state(h, state);
	html_close(h);
}

void td_commit(struct html *h, const char *hash, const char *title)
{
	td(h);
	part_commit(h, hash, title);
	html_close(h);
}
