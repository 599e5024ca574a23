/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings made of samples of files: from lines to values, from values to metrics. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/monitors/internal.h"

#include <string.h>

#define FILES_MAX 4096u

/*
 * struct value - what became of one key.
 * @cur: value in sample @cur_sample, at @cur_t; taken into the rest when the next sample has the key.
 * @first, @last: values of @first_sample and @last_sample, 0 for none yet.
 * @area: integral of a gauge over time, by trapezoids.
 * @fell: a counter went down on the way.
 */
struct value {
	const struct meaning *what;
	uint64_t cur, first, last;
	unsigned cur_sample, first_sample, last_sample;
	double cur_t, first_t, last_t, area;
	bool fell;
};

void reading_bad(struct reading *r, const char *what)
{
	problem_bad_line(r->out, &r->line, what);
}

static void value_commit(struct value *v)
{
	if (v->first_sample == 0) {
		v->first = v->cur;
		v->first_sample = v->cur_sample;
		v->first_t = v->cur_t;
	} else {
		v->fell |= v->cur < v->last;
		v->area += ((double)v->cur + (double)v->last) / 2 * (v->cur_t - v->last_t);
	}
	v->last = v->cur;
	v->last_sample = v->cur_sample;
	v->last_t = v->cur_t;
}

static struct value *value_of(struct reading *r, const struct meaning *w, const char *key,
			      size_t len)
{
	size_t before = strlen(r->m->name);
	char name[MONITOR_NAME_MAX];
	uint32_t i;

	if (len == 0 || before + 1 + len >= sizeof(name)) {
		reading_bad(r, "a line with a name of usual length");
		return NULL;
	}
	memcpy(name, r->m->name, before);
	name[before] = '.';
	memcpy(name + before + 1, key, len);
	len += before + 1;
	name[len] = '\0';
	metric_name_clean(name, len);
	i = names_intern(&r->names, name, len);
	if (i == NAMES_FULL) {
		if (!r->full)
			suite_problem_add(r->out, &r->line, "more than %u names; '%s' is left out",
					  r->names.max, name);
		r->full = true;
		return NULL;
	}
	if (i >= r->values_cap) {
		size_t cap = r->values_cap ? r->values_cap * 2 : 64;

		r->values = xreallocarray(r->values, cap, sizeof(*r->values));
		memset(r->values + r->values_cap, 0, (cap - r->values_cap) * sizeof(*r->values));
		r->values_cap = cap;
	}
	if (!r->values[i].what)
		r->values[i].what = w;
	return &r->values[i];
}

static void value_set(struct reading *r, const struct meaning *w, uint64_t v, const char *key,
		      size_t len, bool add)
{
	struct value *e;

	/* The kernel prints a level that went below zero for a moment as 2^64 less a bit. */
	if (w->gauge && v > INT64_MAX) {
		reading_bad(r, "a level of 0 or more");
		return;
	}
	e = value_of(r, w, key, len);
	if (!e)
		return;
	if (e->cur_sample == r->sample) {
		if (!add)
			reading_bad(r, "new in this sample, it came before");
		else if (__builtin_add_overflow(e->cur, v, &e->cur))
			e->fell = true;
		return;
	}
	if (e->cur_sample)
		value_commit(e);
	e->cur = v;
	e->cur_sample = r->sample;
	e->cur_t = r->at_s;
}

void reading_value(struct reading *r, const struct meaning *w, uint64_t v, const char *key,
		   size_t len)
{
	value_set(r, w, v, key, len, false);
}

void reading_add(struct reading *r, const struct meaning *w, uint64_t v, const char *key,
		 size_t len)
{
	value_set(r, w, v, key, len, true);
}

/* The order of members does not matter: they are summed. */
void reading_member(struct reading *r, const char *s, size_t len)
{
	r->set += (names_hash(s, len) + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}

static void sample_end(struct reading *r)
{
	if (!r->in_sample)
		return;
	if (r->sample == 1)
		r->set_first = r->set;
	r->set_changed |= r->set != r->set_first;
	r->set = 0;
}

static void sample_begin(struct reading *r, struct scan s)
{
	double at;

	sample_end(r);
	r->path_len = 0;
	r->file_skip = true;
	r->in_sample = number_f64(s.p, (size_t)(s.end - s.p), &at) && at < 1e9 &&
		       !(r->sample && at < r->at_s);
	if (!r->in_sample) {
		reading_bad(r, "the start of a sample later than the one before; it is left out");
		return;
	}
	r->at_s = at;
	if (r->sample++ == 0)
		r->first_s = at;
}

/* Is @path one of the blank-separated @files, where a * stands for digits? */
static bool path_fits(const char *files, const char *path, size_t len)
{
	const char *end = path + len, *p = path;

	for (const char *f = files;; f++) {
		if (*f == '*' && p < end && *p >= '0' && *p <= '9') {
			while (p < end && *p >= '0' && *p <= '9')
				p++;
		} else if (*f == ' ' || *f == '\0') {
			if (p == end)
				return true;
			p = path;
		} else if (p < end && *f == *p) {
			p++;
		} else {
			f += strcspn(f, " ");
			p = path;
		}
		if (*f == '\0')
			return false;
	}
}

static void file_begin(struct reading *r, struct scan s)
{
	uint32_t i;

	r->path = s.p;
	r->path_len = (size_t)(s.end - s.p);
	r->file_line = 0;
	r->scratch = 0;
	r->file_skip = true;
	if (!r->in_sample) {
		if (r->sample == 0)
			reading_bad(r, "in a sample");
		return;
	}
	if (!path_fits(r->m->files, r->path, r->path_len)) {
		reading_bad(r, "a file of this monitor");
		return;
	}
	i = names_intern(&r->files, r->path, r->path_len);
	if (i == NAMES_FULL || r->file_seen[i] == r->sample) {
		reading_bad(r, "new in this sample; it is left out");
		return;
	}
	r->file_seen[i] = r->sample;
	r->file_skip = false;
}

static void read_line(struct reading *r, reading_fn *fn)
{
	struct scan s = scan_line(&r->line);

	if (!r->line.whole) {
		reading_bad(r, "a whole line; the recording is cut");
		return;
	}
	if (scan_lit(&s, "#sample ")) {
		sample_begin(r, s);
	} else if (scan_lit(&s, "#file ")) {
		file_begin(r, s);
	} else if (r->sample == 0 && r->file_line++ == 0) {
		reading_bad(r, "\"#sample SECONDS\", with which a recording starts");
	} else if (!r->file_skip) {
		r->file_line++;
		fn(r);
	}
}

/* @covered: do the samples span the whole run? */
static void value_give(struct reading *r, const struct value *v, const char *name, double span_s,
		       bool covered)
{
	double t = v->last_t - v->first_t;

	if (v->what->gauge)
		metric_give(r->out, name, v->what->unit, v->what->kind, v->what->about,
			    (t > 0 ? v->area / t : (double)v->last) * v->what->scale, NULL, 0);
	else
		metric_give_count(r->out, name, v->what, (double)(v->last - v->first), span_s,
				  covered ? r->run->work : 0);
}

/* Counts of what is left out, for one problem of each sort. */
struct left_out {
	unsigned fell, ends, set;
	const char *fell_name, *ends_name, *set_name;
};

static bool value_is_whole(const struct reading *r, const struct value *v, const char *name,
			   struct left_out *lo)
{
	if (v->what->per_cpu && r->set_changed) {
		if (lo->set++ == 0)
			lo->set_name = name;
		return false;
	}
	if (v->what->gauge)
		return true;
	if (v->first_sample != 1 || v->last_sample != r->samples) {
		if (lo->ends++ == 0)
			lo->ends_name = name;
		return false;
	}
	if (v->fell && lo->fell++ == 0)
		lo->fell_name = name;
	return !v->fell;
}

static void tell_left_out(struct reading *r, const struct left_out *lo)
{
	if (lo->fell)
		suite_problem_add(r->out, &r->line,
				  "%u counters went down, '%s' and others; left out", lo->fell,
				  lo->fell_name);
	if (lo->ends)
		suite_problem_add(r->out, &r->line,
				  "%u counters are not in both the first and the last sample, '%s' "
				  "and others; left out",
				  lo->ends, lo->ends_name);
	if (lo->set)
		suite_problem_add(r->out, &r->line,
				  "CPUs or nodes came or went; %u sums left out, '%s' and others",
				  lo->set, lo->set_name);
}

static void reading_give(struct reading *r)
{
	double took = r->at_s - r->first_s, span_s = r->run->span_s;
	bool counters = false, covered = true;
	struct left_out lo = { 0 };

	/* What was counted between the samples is set in relation to the time between them. */
	if (span_s > 0 && took > 0) {
		covered = took >= span_s * 0.99 - 0.01;
		if (!covered)
			suite_problem_add(r->out, &r->line,
					  "the samples cover %.6g of %.6g s; nothing per unit of "
					  "work",
					  took, span_s);
		span_s = took;
	}
	for (uint32_t i = 0; i < r->names.n; i++) {
		struct value *v = &r->values[i];
		const char *name = r->names.items[i].s;

		value_commit(v);
		counters |= !v->what->gauge;
		if (!v->what->gauge && r->samples < 2)
			continue;
		if (value_is_whole(r, v, name, &lo))
			value_give(r, v, name, span_s, covered);
	}
	if (counters && r->samples < 2)
		suite_problem_add(r->out, &r->line, "one sample only; it takes two to count");
	tell_left_out(r, &lo);
}

void reading_run(const struct monitor *m, reading_fn *fn, const char *text, size_t len,
		 const struct monitor_run *run, struct suite_output *out)
{
	struct lines ls = { .text = text, .len = len };
	struct reading r = { .m = m, .run = run, .out = out, .line = { .nr = 1 } };

	names_init(&r.names, MONITOR_METRICS_MAX);
	names_init(&r.files, FILES_MAX);
	r.file_seen = xcalloc(FILES_MAX, sizeof(*r.file_seen));
	r.file_skip = true;
	while (lines_next(&ls, &r.line))
		read_line(&r, fn);
	sample_end(&r);
	r.samples = r.sample;
	if (r.samples == 0)
		suite_problem_add(out, &r.line, "no sample in the recording");
	else
		reading_give(&r);
	names_done(&r.names);
	names_done(&r.files);
	free(r.values);
	free(r.file_seen);
}
