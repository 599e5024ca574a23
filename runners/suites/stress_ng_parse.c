/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stress-ng: its tables and its YAML. Releases differ in the tag before a line ("info:", "metrc:" or
 * none), in the number of columns, and in where the end of the run is told.
 */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/suites/stress_ng.h"

#include <string.h>

#define COLUMNS_MAX 9

/* Without "stress-ng: metrc: [17047] ". */
static struct line bare_line(const struct line *l)
{
	struct line b = *l;
	const char *end;

	if (!line_starts(l, "stress-ng: "))
		return b;
	end = memchr(b.s, ']', b.len);
	if (!end || end + 1 == b.s + b.len)
		return b;
	end += end[1] == ' ' ? 2 : 1;
	b.len -= (size_t)(end - b.s);
	b.s = end;
	return b;
}

static bool is_stressor(struct scan w)
{
	for (const char *p = w.p; p < w.end; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-' ||
		      *p == '_'))
			return false;
	return w.end > w.p && w.end - w.p < 40 && *w.p >= 'a' && *w.p <= 'z';
}

/* "dispatching hogs: 1 mmap, 1 pagemove" */
static void take_started(struct stress *st, const struct line *l)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct scan w[64];
	size_t n = line_words(l, w, ARRAY_SIZE(w));

	if (n > ARRAY_SIZE(w))
		return;
	strbuf_addch(&b, ' ');
	for (size_t i = 3; i < n; i += 2) {
		struct scan name = w[i];

		if (name.end > name.p && name.end[-1] == ',')
			name.end--;
		strbuf_add(&b, name.p, (size_t)(name.end - name.p));
		strbuf_addch(&b, ' ');
	}
	free(st->started);
	st->started = strbuf_take(&b);
}

/* Take @name out of the list of those that have told nothing yet. */
static void mark_done(struct stress *st, struct scan name)
{
	_cleanup_(freep) char *word = xasprintf(" %.*s ", (int)(name.end - name.p), name.p);
	char *at = st->started ? strstr(st->started, word) : NULL;

	if (at)
		memmove(at, at + strlen(word) - 1, strlen(at + strlen(word) - 1) + 1);
}

/* name, bogo ops, real, user, system, ops/s real, ops/s CPU[, CPU %, RSS] */
static bool take_row(struct stress *st, const struct line *l, const struct scan *w, size_t n)
{
	static const size_t rows[COLUMNS_MAX] = {
		0,	     STRESS_OPS,      STRESS_REAL, STRESS_USER, STRESS_SYSTEM,
		STRESS_RATE, STRESS_CPU_RATE, STRESS_CPU,  STRESS_RSS
	};
	double v[COLUMNS_MAX];
	uint64_t ops;

	if (n != 7 && n != COLUMNS_MAX)
		return false;
	for (size_t i = 1; i < n; i++)
		if (!word_f64(w[i], &v[i]))
			return false;
	if (!word_u64(w[1], &ops))
		return false;
	mark_done(st, w[0]);
	if (!stress_ops(st, l, w[0], (double)ops))
		return true;
	for (size_t i = 2; i < n; i++)
		stress_metric(st, l, rows[i], w[0], v[i]);
	return true;
}

/* "fault 5638.34 nanosecs per page fault (geometic mean of 2 instances)" */
static bool take_misc(struct stress *st, const struct line *l)
{
	struct scan s = scan_line(l), name, what;
	const char *paren = memrchr(l->s, '(', l->len);
	struct line tail;
	struct scan kind;
	uint64_t instances;
	double v;

	if (!paren)
		return false;
	tail = (struct line){ .s = paren, .len = (size_t)(l->s + l->len - paren) };
	if (!line_match(&tail, "(%w mean of %u instances)", &kind, &instances) &&
	    !line_match(&tail, "(%w mean of %u instance)", &kind, &instances))
		return false;
	name.p = s.p;
	while (s.p < paren && *s.p != ' ')
		s.p++;
	name.end = s.p;
	scan_blanks(&s);
	if (!is_stressor(name) || !scan_f64(&s, &v) || !scan_lit(&s, " "))
		return false;
	scan_blanks(&s);
	what = (struct scan){ .p = s.p, .end = paren };
	while (what.end > what.p && what.end[-1] == ' ')
		what.end--;
	if (what.end <= what.p)
		return false;
	stress_misc(st, l, name, what, v);
	return true;
}

static void take_verdict(struct stress *st, const struct line *l)
{
	uint64_t n;

	if (line_has(l, "unsuccessful run completed")) {
		suite_problem_add(st->t.out, l,
				  "stress-ng calls the run unsuccessful; metrics left out");
		st->failed = true;
	} else if (line_match(l, "metrics untrustworthy: %u%*", &n) && n > 0) {
		suite_problem_add(st->t.out, l,
				  "stress-ng does not trust its metrics; metrics left out");
		st->failed = true;
	}
}

static void take_text_line(struct stress *st, const struct line *whole)
{
	struct line l = bare_line(whole);
	struct scan w[COLUMNS_MAX + 1];
	size_t n;

	if (line_starts(&l, "dispatching hogs:")) {
		take_started(st, &l);
		return;
	}
	if (line_starts(&l, "stressor ") && line_has(&l, "bogo ops")) {
		st->table = true;
		return;
	}
	n = line_words(&l, w, COLUMNS_MAX);
	if (n == 0 || !is_stressor(w[0])) {
		take_verdict(st, &l);
		return;
	}
	if (take_misc(st, &l) || (st->table && take_row(st, &l, w, n)))
		return;
	take_verdict(st, &l);
	/* It begins as a row and is none: what it should tell is missing, and that is to be said. */
	if ((n == 7 || n == COLUMNS_MAX || line_has(&l, " mean of ")) && st->table &&
	    (w[1].p < w[1].end && ((*w[1].p >= '0' && *w[1].p <= '9') || *w[1].p == '-' ||
				   *w[1].p == 'n' || *w[1].p == 'i')) &&
	    !line_has(&l, "run completed") && !line_has(&l, "note:")) {
		problem_bad_line(st->t.out, &l, "a row of stress-ng; left out");
		st->broken = true;
	}
}

void stress_text(struct stress *st, struct reader *r)
{
	st->complete = true;
	while (reader_next(r))
		take_text_line(st, &r->l);
	if (!st->started) {
		/* Whether there should have been more rows is not known. */
		st->complete = false;
	} else if (st->started[0] && st->started[1]) {
		suite_problem_add(st->t.out, &r->l, "no bogo ops of%s", st->started);
		st->complete = false;
	}
}

static void take_key(struct stress *st, const struct line *l, struct scan name, struct scan key,
		     struct scan value)
{
	static const struct {
		const char *key;
		size_t row;
	} keys[] = {
		{ "bogo-ops-per-second-real-time", STRESS_RATE },
		{ "bogo-ops-per-second-usr-sys-time", STRESS_CPU_RATE },
		{ "wall-clock-time", STRESS_REAL },
		{ "user-time", STRESS_USER },
		{ "system-time", STRESS_SYSTEM },
		{ "cpu-usage-per-instance", STRESS_CPU },
		{ "max-rss", STRESS_RSS },
	};
	double v;

	if (!word_f64(value, &v)) {
		problem_bad_line(st->t.out, l, "a key with a number; left out");
		st->broken = true;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (word_is(key, keys[i].key)) {
			stress_metric(st, l, keys[i].row, name, v);
			return;
		}
	}
	stress_misc(st, l, name, key, v);
}

void stress_yaml(struct stress *st, struct reader *r)
{
	bool inside = false, dead = false;
	struct scan name = { 0 }, key, value;
	double ops;

	while (reader_next(r)) {
		if (r->l.len > 0 && *r->l.s != ' ' && *r->l.s != '#') {
			inside = line_starts(&r->l, "metrics:");
			st->complete = line_starts(&r->l, "...");
		} else if (inside && line_match(&r->l, " - stressor: %w", &key)) {
			name = is_stressor(key) ? key : (struct scan){ 0 };
			dead = false;
			st->broken |= !name.p;
			if (!name.p)
				problem_bad_line(r->out, &r->l, "the name of a stressor; left out");
		} else if (inside && name.p && line_match(&r->l, " %w %w", &key, &value) &&
			   key.end[-1] == ':') {
			key.end--;
			if (word_is(key, "bogo-ops") && word_f64(value, &ops))
				dead = !stress_ops(st, &r->l, name, ops);
			else if (!dead)
				take_key(st, &r->l, name, key, value);
		} else if (inside && !line_match(&r->l, "_")) {
			problem_bad_line(r->out, &r->l, "a line of stress-ng's YAML; left out");
			st->broken = true;
		}
	}
}
