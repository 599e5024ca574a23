/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exec: the three forms of output. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/suites/exec.h"

#include <jansson.h>
#include <string.h>

#define COLUMNS_MAX 64
#define JSON_MAX    ((size_t)64 << 20)
#define DEPTH_MAX   4

static struct scan text_scan(const char *s)
{
	return (struct scan){ .p = s, .end = s + strlen(s) };
}

/* A number alone is "value"; else name, value, and perhaps unit and direction. */
void exec_lines(struct exec_out *x, struct reader *r)
{
	struct scan w[4];

	while (reader_next(r)) {
		size_t n = line_words(&r->l, w, ARRAY_SIZE(w));
		struct exec_value v = { .name = text_scan("value"), .number = w[0] };

		if (n == 0 || *w[0].p == '#')
			continue;
		if (n > ARRAY_SIZE(w)) {
			problem_bad_line(r->out, &r->l, "'name value unit', skipping");
			continue;
		}
		if (n > 1) {
			v.name = w[0];
			v.number = w[1];
			if (v.name.end > v.name.p + 1 &&
			    (v.name.end[-1] == ':' || v.name.end[-1] == '='))
				v.name.end--;
		}
		if (n > 2)
			v.unit = w[2];
		if (n > 3)
			v.better = w[3];
		(void)exec_value_add(x, &r->l, &v);
	}
}

/* Cells of a row; quoted ones without their quotes. Return: how many, 0 if it is not a row. */
static size_t read_cells(const struct line *l, struct scan cells[COLUMNS_MAX])
{
	struct scan s = scan_line(l);
	size_t n = 0;

	/* The byte order mark of spreadsheets would be part of the first name. */
	(void)scan_lit(&s, "\xef\xbb\xbf");
	while (n < COLUMNS_MAX) {
		struct scan *c = &cells[n++];
		const char *end;

		scan_blanks(&s);
		if (scan_lit(&s, "\"")) {
			end = memchr(s.p, '"', (size_t)(s.end - s.p));
			if (!end)
				return 0;
			*c = (struct scan){ .p = s.p, .end = end };
			s.p = end + 1;
			scan_blanks(&s);
		} else {
			end = memchr(s.p, ',', (size_t)(s.end - s.p));
			*c = (struct scan){ .p = s.p, .end = end ? end : s.end };
			s.p = c->end;
			while (c->end > c->p && c->end[-1] == ' ')
				c->end--;
		}
		if (scan_end(&s))
			return n;
		if (!scan_lit(&s, ","))
			return 0;
	}
	return 0;
}

/* struct table - the heading; name, value, unit, better: columns of these names, or COLUMNS_MAX. */
struct table {
	size_t n, name, value, unit, better;
	struct scan heads[COLUMNS_MAX];
	bool bad[COLUMNS_MAX];
};

static void read_heading(struct table *t)
{
	const struct {
		const char *word;
		size_t *column;
	} known[] = { { "name", &t->name },
		      { "metric", &t->name },
		      { "value", &t->value },
		      { "unit", &t->unit },
		      { "better", &t->better } };

	t->name = t->value = t->unit = t->better = COLUMNS_MAX;
	for (size_t c = 0; c < t->n; c++)
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (word_is(t->heads[c], known[i].word))
				*known[i].column = c;
}

static struct scan cell(const struct scan *cells, size_t column)
{
	return column < COLUMNS_MAX ? cells[column] : text_scan("");
}

static void take_cells(struct exec_out *x, const struct line *l, struct table *t,
		       const struct scan *cells)
{
	if (t->name < COLUMNS_MAX && t->value < COLUMNS_MAX) {
		struct exec_value v = { cells[t->name], cells[t->value], cell(cells, t->unit),
					cell(cells, t->better) };

		(void)exec_value_add(x, l, &v);
		return;
	}
	/* A metric for each column, a sample in each row; an empty cell is none. */
	for (size_t c = 0; c < t->n; c++) {
		struct exec_value v = { .name = t->heads[c], .number = cells[c] };

		if (t->bad[c] || cells[c].p == cells[c].end)
			continue;
		t->bad[c] = !exec_value_add(x, l, &v);
	}
}

/* The mean of a column is nothing if not all of its cells are numbers. */
static void drop_bad(struct exec_out *x, const struct table *t)
{
	for (size_t c = 0; c < t->n; c++) {
		if (!t->bad[c])
			continue;
		vec_foreach (item, &x->t.items)
			item->drop |= word_is(t->heads[c], item->name + strlen("exec."));
	}
}

void exec_csv(struct exec_out *x, struct reader *r)
{
	struct table t = { 0 };
	struct scan cells[COLUMNS_MAX];

	while (reader_next(r)) {
		size_t n;

		if (r->l.len == 0 || *r->l.s == '#')
			continue;
		n = read_cells(&r->l, cells);
		if (t.n == 0 && n > 0) {
			memcpy(t.heads, cells, sizeof(cells[0]) * n);
			t.n = n;
			read_heading(&t);
		} else if (n == 0) {
			suite_problem_add(
				r->out, &r->l,
				"no row of 1 to %d cells with their quotes closed; left out",
				COLUMNS_MAX);
		} else if (n != t.n) {
			suite_problem_add(r->out, &r->l, "a row of %zu cells, not %zu; left out", n,
					  t.n);
		} else {
			take_cells(x, &r->l, &t, cells);
		}
	}
	drop_bad(x, &t);
}

static void add_json(struct exec_out *x, const struct line *l, const char *name,
		     const json_t *number, const json_t *unit, const json_t *better)
{
	char text[40];
	struct exec_value v = { .name = text_scan(name) };

	if (json_is_integer(number))
		(void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(number));
	else
		(void)snprintf(text, sizeof(text), "%.17g", json_real_value(number));
	/* A string may hold NUL bytes: what C sees of it is checked as everything else. */
	v.unit = text_scan(json_is_string(unit) ? json_string_value(unit) : "");
	v.better = text_scan(json_is_string(better) ? json_string_value(better) : "");
	v.number = text_scan(text);
	(void)exec_value_add(x, l, &v);
}

static void take_json(struct exec_out *x, const struct line *l, const char *name, const json_t *j,
		      int depth);

static void take_object(struct exec_out *x, const struct line *l, const char *name, const json_t *j,
			int depth)
{
	const json_t *value = json_object_get(j, "value");
	const json_t *own = json_object_get(j, "name");

	if (json_is_number(value) && (json_is_string(own) || *name)) {
		add_json(x, l, json_is_string(own) ? json_string_value(own) : name, value,
			 json_object_get(j, "unit"), json_object_get(j, "better"));
		return;
	}
	if (json_is_string(own) && value) {
		suite_problem_add(x->t.out, l, "the value of a metric is not a number; left out");
		return;
	}
	for (void *it = json_object_iter((json_t *)(uintptr_t)j); it;
	     it = json_object_iter_next((json_t *)(uintptr_t)j, it)) {
		_cleanup_(freep) char *inner =
			xasprintf("%s%s%s", name, *name ? "." : "", json_object_iter_key(it));

		take_json(x, l, inner, json_object_iter_value(it), depth + 1);
	}
}

static void take_json(struct exec_out *x, const struct line *l, const char *name, const json_t *j,
		      int depth)
{
	if (json_is_number(j) && *name) {
		add_json(x, l, name, j, NULL, NULL);
	} else if (depth >= DEPTH_MAX) {
		suite_problem_add(x->t.out, l, "JSON that is nested too deeply; left out");
	} else if (json_is_object(j)) {
		take_object(x, l, name, j, depth);
	} else if (json_is_array(j)) {
		for (size_t i = 0; i < json_array_size(j); i++)
			take_json(x, l, name, json_array_get(j, i), depth + 1);
	} else if (!json_is_string(j) && !json_is_boolean(j)) {
		suite_problem_add(x->t.out, l, "a JSON value that is not a number; left out");
	}
}

/* Position of a fault in the text that was read, from its line there. */
static void json_problem(struct reader *r, const json_error_t *fault)
{
	struct lines ls = { .text = r->ls.text, .len = r->ls.len };
	struct line l = r->l;

	while (lines_next(&ls, &l) && l.nr < (unsigned)(fault->line > 0 ? fault->line : 1))
		;
	suite_problem_add(r->out, &l, "not JSON: %s", fault->text);
}

void exec_json(struct exec_out *x, struct reader *r)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	json_error_t fault;
	json_t *j;

	/* A line break stands for each line that is not part of it, so that line numbers hold. */
	while (lines_next(&r->ls, &r->l) && text.len <= JSON_MAX) {
		if (line_is_kernel_log(&r->l))
			suite_problem_add(r->out, &r->l, "a line of the kernel log, skipping");
		else
			strbuf_add(&text, r->l.s, r->l.len);
		strbuf_addch(&text, '\n');
	}
	if (text.len > JSON_MAX) {
		suite_problem_add(r->out, &r->l, "more than %zu MiB of JSON", JSON_MAX >> 20);
		return;
	}
	j = json_loadb(strbuf_str(&text), text.len, JSON_REJECT_DUPLICATES, &fault);
	if (!j) {
		json_problem(r, &fault);
		return;
	}
	take_json(x, &r->l, "", j, 0);
	json_decref(j);
}
