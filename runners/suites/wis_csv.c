/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale: the table of the wrapper scripts, stock and LKP's. */
#include "bot/base/vec.h"
#include "runners/suites/wis.h"

#include <math.h>
#include <string.h>

enum {
	COL_TASKS,
	COL_PROCESSES,
	COL_PROCESSES_IDLE,
	COL_THREADS,
	COL_THREADS_IDLE,
	COL_LINEAR,
	COLS
};

static const struct metric_def scalability = {
	"will-it-scale.scalability", "ratio", BETTER_HIGHER, KIND_SHARE,
	"operations of all processes to those of one, times their number"
};

struct row {
	double cell[COLS];
};

/*
 * struct table - what the rows say.
 * per: sums over the rows of operations per task, for processes and threads.
 * missing: the stock wrapper gave -1 for a build that it could not run.
 */
struct table {
	struct suite_output *out;
	size_t rows;
	double per_process, per_thread, workload, scale;
	bool header, bad, no_processes, no_threads;
};

/* -1 stands for a missing number, and only there may a minus be. */
static bool read_cell(struct scan *s, double *ret)
{
	if (scan_lit(s, "-1")) {
		*ret = -1;
		return true;
	}
	return scan_f64(s, ret) && *ret <= (double)SCAN_MAX;
}

static bool read_row(const struct line *l, struct row *ret)
{
	struct scan s = scan_line(l);

	for (size_t i = 0; i < COLS; i++)
		if ((i > 0 && !scan_lit(&s, ",")) || !read_cell(&s, &ret->cell[i]))
			return false;
	return scan_end(&s) && ret->cell[COL_TASKS] >= 0 && ret->cell[COL_LINEAR] >= 0 &&
	       fmod(ret->cell[COL_TASKS], 1) == 0;
}

static void add_cells(struct table *t, const struct row *row)
{
	static const struct {
		size_t col;
		const char *name, *unit;
		enum metric_better better;
		enum metric_kind kind;
	} cells[] = {
		{ COL_PROCESSES, "processes", "ops/s", BETTER_HIGHER, KIND_RATE },
		{ COL_PROCESSES_IDLE, "processes_idle", "%", BETTER_NONE, KIND_SHARE },
		{ COL_THREADS, "threads", "ops/s", BETTER_HIGHER, KIND_RATE },
		{ COL_THREADS_IDLE, "threads_idle", "%", BETTER_NONE, KIND_SHARE },
		{ COL_LINEAR, "linear", "ops/s", BETTER_NONE, KIND_RATE },
	};
	char name[80];

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		double v = row->cell[cells[i].col];
		struct metric_def def = { name, cells[i].unit, cells[i].better, cells[i].kind,
					  "a cell of the wrapper's table" };

		/* 0 and -1 operations: not asked for, or not run. */
		if (v < 0 || (v == 0 && cells[i].kind == KIND_RATE))
			continue;
		(void)snprintf(name, sizeof(name), "will-it-scale.%.0f.%s", row->cell[COL_TASKS],
			       cells[i].name);
		(void)metric_add(t->out, &def, v, NULL, 0);
	}
}

static void take_row(struct table *t, const struct line *l)
{
	struct row row;
	double tasks, processes, threads;

	if (!read_row(l, &row)) {
		problem_bad_line(t->out, l, "a row of six numbers; metrics left out");
		t->bad = true;
		return;
	}
	tasks = row.cell[COL_TASKS];
	processes = row.cell[COL_PROCESSES];
	threads = row.cell[COL_THREADS];
	if (processes < 0 || threads < 0)
		suite_problem_add(t->out, l, "%s could not be run by the wrapper",
				  processes < 0 ? "processes" : "threads");
	/* A row without line break may have lost its last digits. */
	if (!l->whole) {
		suite_problem_add(t->out, l, "the last row is cut; metrics left out");
		t->bad = true;
		return;
	}
	if (tasks == 0 || (processes == 0 && threads == 0))
		return;
	t->rows++;
	t->no_processes |= processes <= 0;
	t->no_threads |= threads <= 0;
	t->per_process += processes / tasks;
	t->per_thread += threads / tasks;
	t->workload += fmax(processes, 0) + fmax(threads, 0);
	if (row.cell[COL_LINEAR] > 0 && tasks != 1 && processes > 0)
		t->scale = processes / row.cell[COL_LINEAR];
	add_cells(t, &row);
}

static bool add_per_task(struct table *t, const struct metric_def *def, double sum, bool headline)
{
	double v = trunc(sum / (double)t->rows);
	struct suite_metric *m = v > 0 ? metric_add(t->out, def, v, NULL, 0) : NULL;

	if (m)
		m->headline = headline;
	return m && headline;
}

void wis_parse_csv(const char *text, size_t len, const char *mode, struct suite_output *out)
{
	struct table t = { .out = out };
	struct lines ls = { .text = text, .len = len };
	struct line l = { .s = text, .nr = 1 };
	bool thread = mode && !strcmp(mode, "thread"), headline = false;

	while (lines_next(&ls, &l)) {
		if (!t.header)
			t.header = line_starts(&l, WIS_CSV_HEADER);
		else if (line_is_kernel_log(&l))
			suite_problem_add(out, &l, "a line of the kernel log, skipping");
		else if (l.len > 0)
			take_row(&t, &l);
	}
	if (t.rows == 0 && !t.bad) {
		suite_problem_add(out, &l, "a table without rows; metrics left out");
		t.bad = true;
	}
	if (t.bad) {
		suite_output_metrics_drop(out);
		return;
	}
	if (!t.no_processes)
		headline |= add_per_task(&t, &wis_per_process_ops, t.per_process, !thread);
	if (!t.no_threads)
		headline |= add_per_task(&t, &wis_per_thread_ops, t.per_thread, !mode || thread);
	if (!headline)
		suite_problem_add(out, &l, "no rate of %s in every row",
				  thread ? "threads"
				  : mode ? "processes"
					 : "processes or threads");
	if (t.scale > 0)
		(void)metric_add(out, &scalability, round(t.scale * 1e6) / 1e6, NULL, 0);
	(void)metric_add(out, &wis_workload, t.workload, NULL, 0);
}
