/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turbostat's table: a heading, then in each interval a summary row with "-" for the CPU and a row
 * for each CPU. Columns differ with processor and version, so they go by their heading.
 */
#include "bot/base/cleanup.h"
#include "bot/base/vec.h"
#include "runners/monitors/internal.h"

#include <string.h>

#define COLUMNS_MAX 512u
#define LABELS_MAX  8u

/*
 * struct column - one heading in all of the text.
 * @sum, @n: of the rows that had a number there. @late: the same without the first row.
 * @heading: number of the last heading that had it, @field: where. @count: see is_count().
 */
struct column {
	double sum, late;
	unsigned n, late_n, heading, field;
	bool count;
};

/*
 * struct table - @map: column number of each field under the heading that counts now.
 * @labels, @last_label: fields that say which CPU a row is of; in the summary all are "-".
 * @stamp: field with the time of day, or -1.
 */
struct table {
	struct suite_output *out;
	struct names names;
	struct column *columns;
	uint32_t map[COLUMNS_MAX];
	size_t fields;
	unsigned labels[LABELS_MAX], labels_n;
	int stamp;
	double first_s, last_s;
	unsigned rows, headings;
	bool stamped;
	struct line line;
};

static const char *const label_names[] = { "Package", "Node", "Die",	"L3",  "Core",
					   "CPU",     "APIC", "X2APIC", "CPU_" };

static bool is_label(const struct word *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(label_names); i++)
		if (word_eq(w, label_names[i]))
			return true;
	return false;
}

/* What is counted in an interval: interrupts, and entries of an idle state, named without '%'. */
static bool is_count(const char *s, size_t len)
{
	const struct word w = { s, len };

	if (word_eq(&w, "IRQ") || word_eq(&w, "NMI") || word_eq(&w, "SMI") || word_eq(&w, "POLL"))
		return true;
	return len >= 2 && s[0] == 'C' && s[1] >= '0' && s[1] <= '9' && !memchr(s, '%', len);
}

static bool is_heading(const struct word *w, size_t n)
{
	static const char *const known[] = { "Avg_MHz", "Bzy_MHz", "Busy%", "%Busy",
					     "TSC_MHz", "PkgWatt", "CPU%c1" };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(known); k++)
			if (word_eq(&w[i], known[k]))
				return true;
	return false;
}

static void read_heading(struct table *t, const struct word *w, size_t n)
{
	char name[MONITOR_NAME_MAX];

	t->fields = n;
	t->labels_n = 0;
	t->stamp = -1;
	t->headings++;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = NAMES_FULL;

		if (word_eq(&w[i], "Time_Of_Day_Seconds")) {
			t->stamp = (int)i;
		} else if (is_label(&w[i]) && t->labels_n < LABELS_MAX) {
			t->labels[t->labels_n++] = (unsigned)i;
		} else if (!word_eq(&w[i], "usec") && w[i].len < 100) {
			size_t len = metric_name(name, "%.*s", (int)w[i].len, w[i].s);

			at = names_intern(&t->names, name, len);
			if (at != NAMES_FULL)
				t->columns[at].count = is_count(name, len);
		}
		/* One that comes twice means nothing. */
		if (at != NAMES_FULL && t->columns[at].heading == t->headings)
			at = t->map[t->columns[at].field] = NAMES_FULL;
		if (at != NAMES_FULL) {
			t->columns[at].heading = t->headings;
			t->columns[at].field = (unsigned)i;
		}
		t->map[i] = at;
	}
}

static bool take_stamp(struct table *t, const struct word *w)
{
	double at_s;

	if (t->stamp < 0)
		return true;
	if (!number_f64(w[t->stamp].s, w[t->stamp].len, &at_s) ||
	    (t->rows > 0 && at_s < t->last_s)) {
		problem_bad_line(t->out, &t->line, "a row later than the one before");
		return false;
	}
	if (t->rows == 0) {
		t->first_s = at_s;
		t->stamped = true;
	}
	t->last_s = at_s;
	return true;
}

static void read_summary(struct table *t, const struct word *w, size_t n)
{
	if (n != t->fields) {
		problem_bad_line(t->out, &t->line, "a row with a field for each heading");
		return;
	}
	t->stamped &= t->stamp >= 0;
	if (!take_stamp(t, w))
		return;
	t->rows++;
	for (size_t i = 0; i < n; i++) {
		struct column *c;
		double v;

		if (t->map[i] == NAMES_FULL)
			continue;
		if (!number_f64(w[i].s, w[i].len, &v)) {
			if (!word_eq(&w[i], "-"))
				problem_bad_line(t->out, &t->line, "a row of numbers");
			continue;
		}
		c = &t->columns[t->map[i]];
		c->sum += v;
		c->n++;
		c->late += t->rows > 1 ? v : 0;
		c->late_n += t->rows > 1;
	}
}

/* Most rows are of single CPUs, and only their first fields have to be looked at. */
static bool is_summary(const struct table *t)
{
	struct scan s = scan_line(&t->line);
	struct word w;
	unsigned at = 0;

	if (t->labels_n == 0)
		return true;
	for (unsigned i = 0; word_next(&s, &w); i++) {
		if (i < t->labels[at])
			continue;
		if (!word_eq(&w, "-"))
			return false;
		if (++at == t->labels_n)
			return true;
	}
	return false;
}

static void read_line(struct table *t, struct word *w)
{
	size_t n;

	if (!t->line.whole) {
		problem_bad_line(t->out, &t->line, "a whole line; the text is cut");
		return;
	}
	if (t->headings && !is_summary(t)) {
		struct scan s = scan_line(&t->line);
		struct word first;

		/* Another heading starts with a letter, a CPU's row with a digit. */
		if (!word_next(&s, &first) || (first.s[0] >= '0' && first.s[0] <= '9'))
			return;
	}
	n = words_split(&t->line, w, COLUMNS_MAX);
	if (n > COLUMNS_MAX)
		problem_bad_line(t->out, &t->line, "a row of usual length");
	else if (is_heading(w, n))
		read_heading(t, w, n);
	else if (t->headings && n > 0 && is_summary(t))
		read_summary(t, w, n);
}

static const struct {
	const char *part, *unit;
	enum metric_kind kind;
	const char *about;
} kinds[] = {
	{ "%", "%", KIND_SHARE, "share of time, as turbostat measured it" },
	{ "MHz", "MHz", KIND_RATE, "frequency, as turbostat measured it" },
	{ "Watt", "W", KIND_RATE, "power, as turbostat measured it" },
	{ "Tmp", "degree C", KIND_COUNT, "temperature, as turbostat measured it" },
	{ "_J", "J", KIND_COUNT, "energy in an interval, as turbostat measured it" },
	{ "", "1", KIND_COUNT, "as turbostat measured it" },
};

static void column_give(struct table *t, const struct column *c, const char *heading,
			const struct monitor_run *run, unsigned *no_time)
{
	static const struct meaning count = { .scale = 1,
					      .unit = "",
					      .about = "events, as turbostat counted them" };
	char name[MONITOR_NAME_MAX];
	size_t k = 0;

	(void)metric_name(name, "turbostat.%s", heading);
	if (c->count) {
		double took_s = t->last_s - t->first_s;

		/* The first row's interval began at a time that nobody wrote down. */
		if (!t->stamped || !(took_s > 0) || c->late_n + 1 != t->rows)
			++*no_time;
		else if (run->span_s > 0)
			metric_give_count(t->out, name, &count, c->late, took_s,
					  run->work * took_s / run->span_s);
		return;
	}
	while (!strstr(heading, kinds[k].part))
		k++;
	if (c->n > 0)
		metric_give(t->out, name, kinds[k].unit, kinds[k].kind, kinds[k].about,
			    c->sum / c->n, NULL, 0);
}

void parse_turbostat(const struct monitor *m, const char *text, size_t len,
		     const struct monitor_run *run, struct suite_output *out)
{
	struct lines ls = { .text = text, .len = len };
	struct table t = { .out = out, .stamp = -1, .line = { .nr = 1 } };
	struct word *w = xcalloc(COLUMNS_MAX, sizeof(*w));
	unsigned no_time = 0;

	(void)m;
	names_init(&t.names, COLUMNS_MAX);
	t.columns = xcalloc(COLUMNS_MAX, sizeof(*t.columns));
	while (lines_next(&ls, &t.line))
		read_line(&t, w);
	if (!t.headings)
		suite_problem_add(out, &t.line, "no heading as turbostat prints it");
	else if (!t.rows)
		suite_problem_add(out, &t.line, "no summary row");
	for (uint32_t i = 0; i < t.names.n && t.rows; i++)
		column_give(&t, &t.columns[i], t.names.items[i].s, run, &no_time);
	if (no_time && t.rows)
		suite_problem_add(
			out, &t.line,
			"without Time_Of_Day_Seconds in two rows, %u counts have no time; "
			"left out",
			no_time);
	names_done(&t.names);
	free(t.columns);
	free(w);
}
