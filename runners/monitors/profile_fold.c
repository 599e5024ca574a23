/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles summed up on the machine, where the samples of some seconds would be gigabytes. The text:
 *
 *	#profile 1
 *	event SAMPLES TOTAL SYMBOLS-LOST PATHS-LOST NAME     those behind are of this event
 *	symbol SELF CHILDREN NAME                            numbered from 0 in each event
 *	path WEIGHT NUMBER NUMBER …                          innermost first
 *	comm WEIGHT NAME, dso WEIGHT NAME
 *	problem LINE TEXT
 *	end
 *
 * Weights are whole numbers. What has less than a fifth of the share that makes a metric is not
 * written.
 */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/monitors/profile.h"

#include <string.h>

#define LINE_MAX_BYTES ((size_t)64 << 10)
#define LEAST_SYMBOL   0.0001 /* of the event's weight */
#define LEAST_PATH     0.001

/*
 * struct profile_fold - @carry: the start of a line that is not whole yet. @skip: it was too long, the
 * rest of it is passed over. @end: the line that was read last.
 */
struct profile_fold {
	struct suite_output out;
	struct profile profile;
	struct perf_script script;
	struct strbuf carry;
	struct line end;
	bool skip;
};

struct profile_fold *profile_fold_new(void)
{
	struct profile_fold *f = xcalloc(1, sizeof(*f));

	profile_init(&f->profile, &f->out);
	f->script.skip = true;
	return f;
}

void profile_fold_free(struct profile_fold *f)
{
	if (!f)
		return;
	profile_done(&f->profile);
	suite_output_done(&f->out);
	strbuf_done(&f->carry);
	free(f);
}

static void fold_line(struct profile_fold *f, const char *s, size_t len)
{
	f->end = (struct line){
		.s = s,
		.len = len,
		.nr = f->end.nr + 1,
		.whole = true,
	};
	perf_script_line(&f->profile, &f->script, &f->end);
}

void profile_fold_feed(struct profile_fold *f, const char *text, size_t len)
{
	while (len > 0) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;

		if (nl && f->carry.len == 0 && !f->skip) {
			fold_line(f, text, n);
		} else {
			f->skip |= f->carry.len + n > LINE_MAX_BYTES;
			if (f->skip)
				strbuf_reset(&f->carry);
			else
				strbuf_add(&f->carry, text, n);
			/* A line that was too long is read as one that fits nothing. */
			if (nl && f->skip)
				fold_line(f, "?", 1);
			else if (nl)
				fold_line(f, strbuf_str(&f->carry), f->carry.len);
			if (nl) {
				f->skip = false;
				strbuf_reset(&f->carry);
			}
		}
		n += nl != NULL;
		text += n;
		len -= n;
	}
}

static void write_name(struct strbuf *out, const struct name *n)
{
	size_t at = out->len;

	strbuf_add(out, n->s, n->len);
	metric_name_clean(out->s + at, n->len);
	strbuf_addch(out, '\n');
}

static void write_symbols(const struct profile *p, const struct profile_event *ev, uint32_t *number,
			  struct strbuf *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ev->cap && i < p->symbols.n; i++) {
		number[i] = NAMES_FULL;
		if (!(ev->children[i] >= LEAST_SYMBOL * ev->total) || p->symbols.items[i].len == 0)
			continue;
		number[i] = n++;
		strbuf_addf(out, "symbol %.0f %.0f ", ev->self[i], ev->children[i]);
		write_name(out, &p->symbols.items[i]);
	}
}

static void write_paths(const struct profile_event *ev, const uint32_t *number, struct strbuf *out)
{
	for (uint32_t i = 0; i < ev->paths_n; i++) {
		const struct path *path = &ev->paths[i];
		bool all = path->weight >= LEAST_PATH * ev->total;

		for (uint32_t k = 0; k < path->n; k++)
			all = all && number[path->ids[k]] != NAMES_FULL;
		if (!all)
			continue;
		strbuf_addf(out, "path %.0f", path->weight);
		for (uint32_t k = 0; k < path->n; k++)
			strbuf_addf(out, " %u", number[path->ids[k]]);
		strbuf_addch(out, '\n');
	}
}

static void write_group(const struct profile_group *g, uint32_t event, double total,
			const char *what, struct strbuf *out)
{
	for (uint32_t i = 0; i < g->names.n && i < g->cap; i++) {
		if (!(g->weight[event][i] >= LEAST_SYMBOL * total))
			continue;
		strbuf_addf(out, "%s %.0f ", what, g->weight[event][i]);
		write_name(out, &g->names.items[i]);
	}
}

void profile_fold_text(struct profile_fold *f, struct strbuf *out)
{
	const struct profile *p = &f->profile;
	uint32_t *number;

	if (f->end.nr == 0)
		f->end.nr = 1;
	if (f->carry.len > 0 || f->skip)
		suite_problem_add(&f->out, &f->end, "the last line is cut");
	perf_script_end(&f->profile, &f->script, &f->end);
	number = xcalloc((size_t)p->symbols.n + 1, sizeof(*number));
	strbuf_addstr(out, "#program perf-profile\n#profile 1\n");
	for (uint32_t i = 0; i < p->events_n; i++) {
		const struct profile_event *ev = &p->events[i];

		if (!(ev->total > 0))
			continue;
		strbuf_addf(out, "event %.0f %.0f %.0f %.0f %s\n", ev->samples, ev->total,
			    ev->symbols_lost, ev->paths_lost, ev->name);
		write_symbols(p, ev, number, out);
		write_paths(ev, number, out);
		write_group(&p->comms, i, ev->total, "comm", out);
		write_group(&p->dsos, i, ev->total, "dso", out);
	}
	for (size_t i = 0; i < f->out.problems_n; i++)
		strbuf_addf(out, "problem %u %s\n", f->out.problems[i].line,
			    f->out.problems[i].text);
	strbuf_addstr(out, "end\n");
	free(number);
}

/* ---- reading it ---- */

static bool take_number(struct scan *s, double *ret)
{
	struct word w;

	return word_next(s, &w) && number_f64(w.s, w.len, ret);
}

static bool take_event(struct profile *p, struct fold_reader *r, struct scan *s)
{
	double samples, total, symbols_lost, paths_lost;
	struct profile_event *ev;
	struct word name;
	uint32_t n = p->events_n;

	if (!take_number(s, &samples) || !take_number(s, &total) ||
	    !take_number(s, &symbols_lost) || !take_number(s, &paths_lost) ||
	    !word_next(s, &name) || !(total > 0))
		return false;
	r->event = profile_event(p, &name);
	/* Each event comes once. */
	if (r->event != n || n == PROFILE_EVENTS_MAX)
		return false;
	r->has_event = true;
	r->symbols_n = 0;
	ev = &p->events[r->event];
	ev->samples = samples;
	ev->total = total;
	ev->symbols_lost = symbols_lost;
	ev->paths_lost = paths_lost;
	return true;
}

static bool take_symbol(struct profile *p, struct fold_reader *r, struct scan *s)
{
	double total = p->events[r->event].total, self, children;
	struct word name;
	uint32_t id;

	if (!take_number(s, &self) || !take_number(s, &children) || !word_next(s, &name) ||
	    self > children || children > total || r->symbols_n == PROFILE_SYMBOLS_MAX)
		return false;
	if (!r->symbols)
		r->symbols = xcalloc(PROFILE_SYMBOLS_MAX, sizeof(*r->symbols));
	id = profile_symbol(p, name.s, name.len);
	r->symbols[r->symbols_n++] = id;
	if (id != NAMES_FULL)
		profile_add_symbol(p, r->event, id, self, children);
	return true;
}

static bool take_path(struct profile *p, struct fold_reader *r, struct scan *s)
{
	struct profile_event *ev = &p->events[r->event];
	uint32_t ids[PROFILE_PATH_LEN], n = 0;
	struct word w;
	double weight;
	uint64_t v;

	if (!take_number(s, &weight) || weight > ev->total)
		return false;
	for (; word_next(s, &w); n++) {
		if (n == PROFILE_PATH_LEN || !number_u64(w.s, w.len, &v) || v >= r->symbols_n ||
		    r->symbols[v] == NAMES_FULL)
			return false;
		ids[n] = r->symbols[v];
	}
	if (n < 2)
		return false;
	profile_add_path(ev, ids, n, ++p->stamp, weight);
	return true;
}

static bool take_group(struct profile *p, struct fold_reader *r, struct profile_group *g,
		       struct scan *s)
{
	struct word name;
	double weight;

	if (!take_number(s, &weight) || weight > p->events[r->event].total || !word_next(s, &name))
		return false;
	profile_add_group(g, r->event, &name, weight);
	return true;
}

static bool take_problem(struct profile *p, struct scan *s)
{
	struct line at = { 0 };
	struct word w;
	uint64_t nr;

	if (!word_next(s, &w) || !number_u64(w.s, w.len, &nr) || nr < 1 || nr > UINT32_MAX)
		return false;
	scan_blanks(s);
	for (const char *c = s->p; c < s->end; c++)
		if (*c < ' ' || *c > '~')
			return false;
	at.nr = (unsigned)nr;
	suite_problem_add(p->out, &at, "%.*s", (int)(s->end - s->p < 300 ? s->end - s->p : 300),
			  s->p);
	return true;
}

void fold_reader_line(struct profile *p, struct fold_reader *r, const struct line *l)
{
	struct scan s = scan_line(l);
	struct word w;
	bool good = false;

	if (!word_next(&s, &w) || *w.s == '#' || r->bad)
		return;
	if (word_eq(&w, "end"))
		good = r->ended = true;
	else if (word_eq(&w, "event"))
		good = take_event(p, r, &s);
	else if (word_eq(&w, "problem"))
		good = take_problem(p, &s);
	else if (!r->has_event)
		good = false;
	else if (word_eq(&w, "symbol"))
		good = take_symbol(p, r, &s);
	else if (word_eq(&w, "path"))
		good = take_path(p, r, &s);
	else if (word_eq(&w, "comm"))
		good = take_group(p, r, &p->comms, &s);
	else if (word_eq(&w, "dso"))
		good = take_group(p, r, &p->dsos, &s);
	if (!good) {
		problem_bad_line(p->out, l, "a line of a summed profile; all of it is left out");
		r->bad = true;
	}
}

bool fold_reader_end(struct profile *p, struct fold_reader *r, const struct line *l)
{
	free(r->symbols);
	if (!r->bad && !r->ended)
		suite_problem_add(p->out, l, "no \"end\"; the profile is cut and left out");
	return !r->bad && r->ended;
}
