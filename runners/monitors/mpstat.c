/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mpstat metrics, from /proc/stat or from what mpstat or sar printed. */
#include "bot/base/cleanup.h"
#include "bot/base/vec.h"
#include "runners/monitors/sysstat.h"

#include <string.h>

/*
 * sar's %user and %system hold guests and interrupts, which mpstat's %usr and %sys do not: they keep
 * their own names.
 */
static const struct mpstat_share sar_shares[] = {
	{ "user", "CPU time in user space, guests too" },
	{ "system", "CPU time in the kernel, interrupts too" },
	{ NULL, NULL },
};

/* @area: sum of values times the seconds each stands for. */
struct column {
	const char *key, *about;
	VEC(double) values;
	double area;
	size_t last_row;
};

#define COLUMNS_MAX 16

struct table {
	struct column columns[COLUMNS_MAX];
	double total_s;
	size_t rows;
	bool all_timed;
};

static const struct mpstat_share *share_find(const struct word *heading)
{
	const struct word key = { heading->s + 1, heading->len - 1 };

	for (const struct mpstat_share *s = mpstat_shares; s->key; s++)
		if (word_eq(&key, s->key))
			return s;
	for (const struct mpstat_share *s = sar_shares; s->key; s++)
		if (word_eq(&key, s->key))
			return s;
	return NULL;
}

static struct column *column_of(struct table *t, const struct mpstat_share *share)
{
	for (size_t i = 0; i < COLUMNS_MAX; i++) {
		if (!t->columns[i].key)
			t->columns[i] = (struct column){ .key = share->key, .about = share->about };
		if (t->columns[i].key == share->key)
			return &t->columns[i];
	}
	return NULL;
}

static void table_add(struct table *t, const struct sysstat_row *row, struct suite_output *out)
{
	double v[SYSSTAT_COLUMNS];
	double took_s = row->took_s > 0 ? (double)row->took_s : 1;

	for (size_t i = 0; i < row->n; i++)
		if (row->columns[i].s[0] == '%' &&
		    (!number_f64(row->fields[i].s, row->fields[i].len, &v[i]) || v[i] > 101)) {
			problem_bad_line(out, &row->line, "a row of percentages");
			return;
		}
	t->all_timed &= row->took_s > 0;
	t->total_s += took_s;
	t->rows++;
	for (size_t i = 0; i < row->n; i++) {
		const struct mpstat_share *share =
			row->columns[i].s[0] == '%' ? share_find(&row->columns[i]) : NULL;
		struct column *c = share ? column_of(t, share) : NULL;

		/* A heading that names a column twice gets its first value only. */
		if (!c || c->last_row == t->rows || c->values.len >= SAMPLES_MAX)
			continue;
		c->last_row = t->rows;
		vec_push(&c->values, v[i]);
		c->area += v[i] * took_s;
	}
}

static void table_give(struct table *t, struct suite_output *out)
{
	char name[MONITOR_NAME_MAX];

	for (size_t i = 0; i < COLUMNS_MAX && t->columns[i].key; i++) {
		struct column *c = &t->columns[i];
		double sum = 0, n = (double)c->values.len;

		/* Not in all rows: a column that came with another heading. */
		if (c->values.len != t->rows)
			continue;
		vec_foreach (v, &c->values)
			sum += *v;
		(void)metric_name(name, "mpstat.cpu.all.%s%%", c->key);
		metric_give(out, name, "%", KIND_SHARE, c->about,
			    t->all_timed ? c->area / t->total_s : sum / n,
			    take_ptr(c->values.items), c->values.len);
	}
}

static void parse_mpstat_text(const char *text, size_t len, struct suite_output *out)
{
	struct sysstat s = { .lines = { .text = text, .len = len }, .out = out };
	struct table t = { .all_timed = true };
	struct line end = { .nr = 1 };

	while (sysstat_next(&s)) {
		const struct word *cpu = sysstat_field(&s.row, "CPU");

		if (!s.row.average && cpu && word_eq(cpu, "all"))
			table_add(&t, &s.row, out);
	}
	if (t.rows == 0)
		suite_problem_add(out, &end, "no row for all CPUs");
	table_give(&t, out);
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		vec_done(&t.columns[i].values);
}

void parse_mpstat(const struct monitor *m, const char *text, size_t len,
		  const struct monitor_run *run, struct suite_output *out)
{
	if (len >= 8 && !memcmp(text, "#sample ", 8))
		parse_mpstat_files(m, text, len, run, out);
	else
		parse_mpstat_text(text, len, out);
}
