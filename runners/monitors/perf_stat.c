/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What perf stat printed with -x, or -j, with -I or without. A line of -x, has
 *
 *	[TIME,] VALUE, UNIT, EVENT, RUN TIME, PERCENT RUN [, METRIC, METRIC UNIT]
 *
 * An event's name may hold commas between slashes. Where a locale has decimal commas, the fields
 * move: the percentage, which always has decimals, tells.
 */
#include "bot/base/cleanup.h"
#include "bot/base/vec.h"
#include "runners/monitors/internal.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define EVENTS_MAX 1024u
#define FIELDS_MAX 24

/*
 * struct event - one counter.
 * @total, @counted_s: in the intervals in which it counted; @rates: of each of them.
 * @gaps: intervals in which it did not.
 */
struct event {
	const struct meaning *what;
	double total, counted_s, last_s;
	double running_min;
	unsigned gaps;
	bool seen, never;
	VEC(double) rates;
};

struct perf {
	struct suite_output *out;
	const struct monitor_run *run;
	struct names names;
	struct event *events;
	double interval_s, last_s;
	bool intervals, totals;
	struct line line;
};

/* struct sample - one line, from either form. */
struct sample {
	bool timed;
	double at_s;
	struct word value, unit, event;
	double running;
};

static const struct {
	const char *unit;
	struct meaning what;
} units[] = {
	{ "", { .scale = 1, .unit = "", .about = "events, as perf stat counted them" } },
	{ "msec", { .scale = 1e-3, .unit = "s", .about = "time, as perf stat counted it" } },
	{ "ns", { .scale = 1e-9, .unit = "s", .about = "time, as perf stat counted it" } },
	{ "Joules", { .scale = 1, .unit = "J", .about = "energy, as perf stat counted it" } },
	{ "MiB", { .scale = 1, .unit = "MiB", .about = "data, as perf stat counted it" } },
	{ "Bytes", { .scale = 1, .unit = "B", .about = "data, as perf stat counted it" } },
};

static const struct meaning *unit_find(const struct word *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (word_eq(w, units[i].unit))
			return &units[i].what;
	return NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Fields of a line between commas, but for those between slashes. 0: too many. */
static size_t split_fields(struct scan s, struct word f[FIELDS_MAX])
{
	size_t n = 0;
	bool in_slash = false;
	const char *start = s.p;

	for (;; s.p++) {
		if (s.p < s.end && *s.p == '/' && (in_slash || (s.p > start && is_letter(*start))))
			in_slash = !in_slash;
		if (s.p < s.end && (*s.p != ',' || in_slash))
			continue;
		if (n == FIELDS_MAX)
			return 0;
		f[n++] = (struct word){ start, (size_t)(s.p - start) };
		if (s.p == s.end)
			return n;
		start = s.p + 1;
	}
}

static bool is_missing(const struct word *value)
{
	return word_eq(value, "<not counted>") || word_eq(value, "<not supported>");
}

/* A percentage as perf prints it: with decimals, 100 at most. */
static bool take_percent(const struct word *w, double *ret)
{
	return w->len > 2 && memchr(w->s, '.', w->len) && number_f64(w->s, w->len, ret) &&
	       *ret <= 100;
}

static bool sample_of_fields(struct scan s, struct sample *ret)
{
	struct word f[FIELDS_MAX], *v = f;
	size_t n;
	double d;

	scan_blanks(&s);
	n = split_fields(s, f);
	if (n >= 6 && number_f64(f[0].s, f[0].len, &d) && memchr(f[0].s, '.', f[0].len) &&
	    (is_missing(&f[1]) || number_f64(f[1].s, f[1].len, &ret->at_s)) && f[3].len > 0 &&
	    is_letter(f[3].s[0]) && unit_find(&f[2])) {
		ret->timed = true;
		ret->at_s = d;
		v++;
		n--;
	}
	if (n < 5 || v[2].len == 0 || !is_letter(v[2].s[0]) || !take_percent(&v[4], &ret->running))
		return false;
	/* Behind a shifted percentage the unit of the metric would be a number. */
	if (n >= 7 && v[6].len > 0 && number_f64(v[6].s, v[6].len, &d))
		return false;
	ret->value = v[0];
	ret->unit = v[1];
	ret->event = v[2];
	return number_f64(v[3].s, v[3].len, &d);
}

/* Newer versions add lines "TIME,,,,,,NUMBER,NAME" with what they have computed themselves. */
static bool is_ratio(struct scan s)
{
	struct word f[FIELDS_MAX];
	size_t n, at;

	scan_blanks(&s);
	n = split_fields(s, f);
	at = n > 0 && f[0].len > 0;
	return n >= at + 5 && f[at].len + f[at + 1].len + f[at + 2].len == 0;
}

static bool json_word(const json_t *j, const char *key, struct word *ret)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_string(v))
		return false;
	*ret = (struct word){ json_string_value(v), json_string_length(v) };
	return true;
}

/* @j keeps the text that *@ret points to. */
static bool sample_of_json(const json_t *j, struct sample *ret)
{
	const json_t *interval = json_object_get(j, "interval");
	const json_t *running = json_object_get(j, "pcnt-running");

	if (interval) {
		ret->timed = true;
		ret->at_s = json_is_number(interval) ? json_number_value(interval) : -1;
		if (!(ret->at_s >= 0))
			return false;
	}
	ret->running = json_is_number(running) ? json_number_value(running) : -1;
	return json_word(j, "counter-value", &ret->value) && json_word(j, "event", &ret->event) &&
	       json_word(j, "unit", &ret->unit) && ret->running >= 0 && ret->running <= 100;
}

static struct event *event_of(struct perf *p, const struct sample *s)
{
	char name[MONITOR_NAME_MAX];
	size_t len = metric_name(name, "%.*s", (int)(s->event.len < 120 ? s->event.len : 120),
				 s->event.s);
	uint32_t i = names_intern(&p->names, name, len);

	if (i == NAMES_FULL) {
		problem_bad_line(p->out, &p->line, "one of the first 1024 events");
		return NULL;
	}
	if (!p->events[i].seen) {
		p->events[i].seen = true;
		p->events[i].running_min = 100;
		p->events[i].last_s = -1;
	}
	return &p->events[i];
}

/* Which interval a line is of: *@ret_took_s is its length. */
static bool take_interval(struct perf *p, const struct sample *s, double *ret_took_s)
{
	if (!s->timed) {
		p->totals = true;
		*ret_took_s = 0;
		return true;
	}
	p->intervals = true;
	if (s->at_s < p->last_s)
		return false;
	if (s->at_s > p->last_s) {
		p->interval_s = s->at_s - p->last_s;
		p->last_s = s->at_s;
	}
	*ret_took_s = p->interval_s;
	return true;
}

static void event_count(struct perf *p, struct event *ev, const struct sample *s, double v,
			double took_s)
{
	const struct meaning *w = unit_find(&s->unit);

	if (!w || (ev->what && ev->what != w)) {
		problem_bad_line(p->out, &p->line, "a line with a unit that is known");
		ev->never = true;
		return;
	}
	ev->what = w;
	ev->total += v;
	ev->counted_s += took_s;
	ev->running_min = fmin(ev->running_min, s->running);
	if (took_s > 0 && ev->rates.len < SAMPLES_MAX)
		vec_push(&ev->rates, v * w->scale / took_s);
}

static void take_sample(struct perf *p, const struct sample *s)
{
	struct event *ev;
	double v, took_s;

	if (!take_interval(p, s, &took_s)) {
		problem_bad_line(p->out, &p->line, "of the same interval or a later one");
		return;
	}
	ev = event_of(p, s);
	if (!ev)
		return;
	if (ev->last_s >= 0 && (!s->timed || s->at_s <= ev->last_s)) {
		problem_bad_line(p->out, &p->line, "new in this interval; the event is left out");
		ev->never = true;
		return;
	}
	ev->last_s = s->timed ? s->at_s : 0;
	if (is_missing(&s->value)) {
		if (ev->gaps++ == 0)
			suite_problem_add(p->out, &p->line, "event '%s' was %.*s",
					  p->names.items[ev - p->events].s, (int)s->value.len,
					  s->value.s);
	} else if (!number_f64(s->value.s, s->value.len, &v)) {
		problem_bad_line(p->out, &p->line, "a count; the event is left out");
		ev->never = true;
	} else {
		event_count(p, ev, s, v, took_s);
	}
}

static void read_line(struct perf *p)
{
	struct scan s = scan_line(&p->line);
	struct sample sample = { 0 };
	json_t *j = NULL;
	bool good;

	scan_blanks(&s);
	if (scan_end(&s) || *s.p == '#')
		return;
	if (!p->line.whole) {
		problem_bad_line(p->out, &p->line, "a whole line; the text is cut");
		return;
	}
	if (*s.p == '{') {
		j = json_loadb(s.p, (size_t)(s.end - s.p), JSON_REJECT_DUPLICATES, NULL);
		good = json_is_object(j) && sample_of_json(j, &sample);
	} else {
		good = sample_of_fields(s, &sample);
	}
	if (good)
		take_sample(p, &sample);
	else if (*s.p == '{' || !is_ratio(s))
		problem_bad_line(p->out, &p->line,
				 "a line of perf stat -x, or -j with decimal points");
	json_decref(j);
}

static bool event_is_good(const struct event *ev)
{
	return ev->what && !ev->never && ev->running_min > 0;
}

static const struct event *event_find(const struct perf *p, const char *name)
{
	for (uint32_t i = 0; i < p->names.n; i++) {
		const char *s = p->names.items[i].s;
		size_t n = strcspn(s, ":");

		/* "cycles:u" counts as cycles. */
		if (strlen(name) == n && !memcmp(s, name, n))
			return event_is_good(&p->events[i]) ? &p->events[i] : NULL;
	}
	return NULL;
}

static const struct {
	const char *name, *top, *bottom, *unit, *about;
	double scale;
	enum metric_kind kind;
} ratios[] = {
	{ "ipc", "instructions", "cycles", "1", "instructions in a cycle", 1, KIND_RATE },
	{ "cpi", "cycles", "instructions", "1", "cycles for an instruction", 1, KIND_RATE },
	{ "MPKI", "cache-misses", "instructions", "1", "cache misses in 1000 instructions", 1000,
	  KIND_RATE },
	{ "cache-miss-rate%", "cache-misses", "cache-references", "%",
	  "share of cache references that miss", 100, KIND_SHARE },
	{ "branch-miss-rate%", "branch-misses", "branches", "%", "share of branches foretold wrong",
	  100, KIND_SHARE },
};

static void ratios_give(struct perf *p)
{
	char name[MONITOR_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		const struct event *top = event_find(p, ratios[i].top);
		const struct event *bottom = event_find(p, ratios[i].bottom);

		/* Both have to be of the same time. */
		if (!top || !bottom || !(bottom->total > 0) || top->gaps || bottom->gaps ||
		    top->counted_s != bottom->counted_s)
			continue;
		(void)metric_name(name, "perf-stat.overall.%s", ratios[i].name);
		metric_give(p->out, name, ratios[i].unit, ratios[i].kind, ratios[i].about,
			    top->total / bottom->total * ratios[i].scale, NULL, 0);
	}
}

static void event_give(struct perf *p, struct event *ev, const char *event)
{
	double span_s = p->run->span_s, work = p->run->work;
	char name[MONITOR_NAME_MAX];
	size_t n = p->out->n;

	if (p->intervals) {
		/* What was not counted all the time says nothing of all the work. */
		if (ev->gaps || (span_s > 0 && ev->counted_s < span_s * 0.99 - 0.01))
			work = 0;
		span_s = ev->counted_s;
	}
	(void)metric_name(name, "perf-stat.i.%s", event);
	metric_give_count(p->out, name, ev->what, ev->total, span_s, work);
	if (ev->rates.len > 1 && p->out->n > n && span_s > 0) {
		p->out->metrics[n].series = ev->rates.items;
		p->out->metrics[n].series_n = ev->rates.len;
		ev->rates.items = NULL;
		ev->rates.len = 0;
	}
}

static void perf_give(struct perf *p)
{
	double running = 100;
	bool any = false;

	for (uint32_t i = 0; i < p->names.n; i++) {
		struct event *ev = &p->events[i];

		if (event_is_good(ev)) {
			any = true;
			running = fmin(running, ev->running_min);
			event_give(p, ev, p->names.items[i].s);
		}
	}
	if (any)
		metric_give(p->out, "perf-stat.running%", "%", KIND_SHARE,
			    "share of time that the counter which had to share most was on; below "
			    "100, counts are estimates",
			    running, NULL, 0);
	else
		suite_problem_add(p->out, &p->line, "no event that was counted");
	ratios_give(p);
}

void parse_perf_stat(const struct monitor *m, const char *text, size_t len,
		     const struct monitor_run *run, struct suite_output *out)
{
	struct lines ls = { .text = text, .len = len };
	struct perf p = { .out = out, .run = run, .line = { .nr = 1 } };

	(void)m;
	names_init(&p.names, EVENTS_MAX);
	p.events = xcalloc(EVENTS_MAX, sizeof(*p.events));
	while (lines_next(&ls, &p.line))
		read_line(&p);
	if (p.totals && p.intervals)
		suite_problem_add(out, &p.line, "intervals and totals in one text; left out");
	else
		perf_give(&p);
	for (uint32_t i = 0; i < p.names.n; i++)
		vec_done(&p.events[i].rates);
	names_done(&p.names);
	free(p.events);
}
