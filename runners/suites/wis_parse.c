/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale: what a test program prints. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "runners/suites/wis.h"

#include <string.h>

#define WARMUP_LINES 6

const struct metric_def wis_per_process_ops = {
	"will-it-scale.per_process_ops", "ops/s", BETTER_HIGHER, KIND_RATE,
	"operations per second and task, tasks being processes"
};
const struct metric_def wis_per_thread_ops = {
	"will-it-scale.per_thread_ops", "ops/s", BETTER_HIGHER, KIND_RATE,
	"operations per second and task, tasks being threads"
};
const struct metric_def wis_workload = { "will-it-scale.workload", "ops/s", BETTER_HIGHER,
					 KIND_RATE, "operations per second of all tasks" };

enum phase {
	BEFORE,
	WARMUP,
	MEASURE,
	DONE
};

/* A summary line. */
struct sample {
	uint64_t min, max, total;
};

/*
 * struct direct - one reading of an output.
 * bad: something is wrong that leaves no metric.
 * average: the program's own, valid in phase DONE.
 * dead_since: line of the first of the samples at the end in which a task did nothing, 0 if none.
 * verbose: per-task lines since the last summary line.
 * tasks_min, tasks_max: how many tasks all of the samples can be made by.
 */
struct direct {
	struct suite_output *out;
	enum phase phase;
	bool bad;
	unsigned warmups;
	VEC(double) totals;
	uint64_t sum, average;
	unsigned dead_since, dead_lines;
	uint64_t tasks_min, tasks_max;
};

__attribute__((format(printf, 3, 4))) static void fail(struct direct *d, const struct line *l,
						       const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	suite_problem_add(d->out, l, "%s; metrics left out", strbuf_str(&b));
	strbuf_done(&b);
	d->bad = true;
}

static bool read_sample(const struct line *l, struct sample *ret)
{
	struct scan s = scan_line(l);

	return scan_lit(&s, "min:") && scan_u64(&s, &ret->min) && scan_lit(&s, " max:") &&
	       scan_u64(&s, &ret->max) && scan_lit(&s, " total:") && scan_u64(&s, &ret->total) &&
	       scan_end(&s);
}

/*
 * n tasks with deltas between min and max, both of them reached, give a total between
 * min*(n-1) + max and min + max*(n-1). What this says of n narrows down over the lines.
 */
static void narrow_tasks(struct direct *d, const struct line *l, const struct sample *s)
{
	uint64_t lo, hi;

	if (s->max == 0)
		return;
	if (s->total < s->max || s->min > s->max) {
		fail(d, l, "the total %llu does not go with min %llu and max %llu",
		     (unsigned long long)s->total, (unsigned long long)s->min,
		     (unsigned long long)s->max);
		return;
	}
	lo = 1 + (s->total - s->min + s->max - 1) / s->max;
	hi = s->min > 0 ? 1 + (s->total - s->max) / s->min : d->tasks_max;
	if (lo > d->tasks_min)
		d->tasks_min = lo;
	if (hi < d->tasks_max)
		d->tasks_max = hi;
	if (d->tasks_min > d->tasks_max)
		fail(d, l,
		     "no number of tasks gives min, max and total of this line and those before");
}

static void take_sample(struct direct *d, const struct line *l)
{
	struct sample s;

	if (!read_sample(l, &s)) {
		problem_bad_line(d->out, l, "'min:N max:N total:N'; metrics left out");
		d->bad = true;
		return;
	}
	if (d->phase != WARMUP && d->phase != MEASURE) {
		fail(d, l, "a sample outside of 'warmup' and 'measurement'");
		return;
	}
	narrow_tasks(d, l, &s);
	if (s.min == 0) {
		if (d->dead_lines++ == 0)
			d->dead_since = l->nr;
	} else {
		if (d->dead_lines > 0)
			suite_problem_add(d->out, l,
					  "a task did nothing for %u samples since line %u",
					  d->dead_lines, d->dead_since);
		d->dead_lines = 0;
	}
	if (d->phase == WARMUP) {
		d->warmups++;
	} else if (d->totals.len < SAMPLES_MAX) {
		vec_push(&d->totals, (double)s.total);
		d->sum += s.total;
	}
}

static void take_average(struct direct *d, const struct line *l)
{
	struct scan s = scan_line(l);

	if (!(scan_lit(&s, "average:") && scan_u64(&s, &d->average) && scan_end(&s))) {
		problem_bad_line(d->out, l, "'average:N'; metrics left out");
		d->bad = true;
		return;
	}
	if (d->phase != MEASURE) {
		fail(d, l, "'average:' without a measurement before it");
		return;
	}
	d->phase = DONE;
	if (d->totals.len == 0)
		fail(d, l, "an average of no samples");
	else if (d->average != d->sum / d->totals.len)
		fail(d, l, "average %llu, but the %zu samples before it have %llu",
		     (unsigned long long)d->average, d->totals.len,
		     (unsigned long long)(d->sum / d->totals.len));
}

static void take_phase(struct direct *d, const struct line *l, enum phase from, enum phase to)
{
	if (d->phase != from)
		fail(d, l, "'%.*s' at a wrong place: outputs mixed or cut", (int)l->len, l->s);
	d->phase = to;
	if (to == MEASURE && d->warmups != WARMUP_LINES)
		suite_problem_add(d->out, l, "%u warm-up samples, not %d", d->warmups,
				  WARMUP_LINES);
}

static bool is_line(const struct line *l, const char *what)
{
	return l->len == strlen(what) && line_starts(l, what);
}

/* "   0 -> 12345", printed by -v. */
static bool is_task_line(const struct line *l)
{
	struct scan s = scan_line(l);
	uint64_t v;

	scan_blanks(&s);
	return scan_u64(&s, &v) && scan_lit(&s, " -> ") && scan_u64(&s, &v) && scan_end(&s);
}

static void take_line(struct direct *d, const struct line *l)
{
	if (line_starts(l, "min:")) {
		take_sample(d, l);
	} else if (line_starts(l, "average:")) {
		take_average(d, l);
	} else if (is_line(l, "measurement")) {
		take_phase(d, l, WARMUP, MEASURE);
	} else if (is_line(l, "warmup")) {
		take_phase(d, l, BEFORE, WARMUP);
	} else if (line_starts(l, "testcase:")) {
		if (d->phase != BEFORE)
			fail(d, l, "a second 'testcase:' line");
	} else if (line_is_kernel_log(l)) {
		suite_problem_add(d->out, l, "a line of the kernel log, skipping");
	} else if (l->len > 0 && !is_task_line(l)) {
		problem_bad_line(d->out, l, "a line of will-it-scale, skipping");
	}
}

/* What can be said only at the end. */
static void check_all(struct direct *d, const struct line *l, unsigned want_samples)
{
	if (d->phase != DONE) {
		fail(d, l, "the output ends before 'average:'");
		return;
	}
	if (d->dead_lines > 0)
		fail(d, l, "a task did nothing from line %u to the end: it died", d->dead_since);
	if (want_samples > 0 && d->totals.len != want_samples)
		fail(d, l, "%zu samples, not %u", d->totals.len, want_samples);
	if (d->average == 0)
		fail(d, l, "an average of 0");
}

/* The number of tasks: as asked for, else what the samples leave possible; 0 if unknown. */
static unsigned settle_tasks(struct direct *d, const struct line *l, unsigned asked)
{
	if (asked == 0 && d->tasks_min == d->tasks_max)
		return (unsigned)d->tasks_min;
	if (asked == 0) {
		suite_problem_add(
			d->out, l,
			"nr_task is not known, it is between %llu and %llu; rate per task left out",
			(unsigned long long)d->tasks_min, (unsigned long long)d->tasks_max);
	} else if (asked < d->tasks_min || asked > d->tasks_max) {
		fail(d, l,
		     "nr_task = %u, but the samples come from %llu tasks or more, %llu or less",
		     asked, (unsigned long long)d->tasks_min, (unsigned long long)d->tasks_max);
	}
	return asked;
}

static void add_metrics(struct direct *d, unsigned tasks, const char *mode)
{
	size_t n = d->totals.len;
	double *per_task = xcalloc(n, sizeof(*per_task));
	struct suite_metric *m;

	if (tasks > 0) {
		for (size_t i = 0; i < n; i++)
			per_task[i] = d->totals.items[i] / tasks;
		m = metric_add(d->out,
			       strcmp(mode, "thread") ? &wis_per_process_ops : &wis_per_thread_ops,
			       (double)d->average / tasks, take_ptr(per_task), n);
		m->headline = true;
	}
	free(per_task);
	(void)metric_add(d->out, &wis_workload, (double)d->average, take_ptr(d->totals.items), n);
}

static void parse_direct(const char *text, size_t len, unsigned tasks, unsigned samples,
			 const char *mode, struct suite_output *out)
{
	struct direct d = { .out = out, .tasks_min = 1, .tasks_max = suite_wis.max_tasks };
	struct lines ls = { .text = text, .len = len };
	struct line l = { .s = text, .nr = 1 };

	while (lines_next(&ls, &l))
		take_line(&d, &l);
	if (!d.bad)
		check_all(&d, &l, samples);
	if (!d.bad)
		tasks = settle_tasks(&d, &l, tasks);
	if (!d.bad)
		add_metrics(&d, tasks, mode);
	vec_done(&d.totals);
}

static bool has_csv_header(const char *text, size_t len)
{
	struct lines ls = { .text = text, .len = len };
	struct line l;

	while (lines_next(&ls, &l))
		if (is_line(&l, WIS_CSV_HEADER))
			return true;
	return false;
}

int wis_parse(const struct suite *s, const char *test, const char *text, size_t len,
	      const struct suite_param *params, size_t n, struct suite_output *out, struct err *e)
{
	const char *mode = suite_param_get(params, n, "mode", NULL);
	unsigned tasks, samples = 0;
	int r;

	(void)s;
	(void)test;
	r = suite_tasks_known(params, n, &tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &samples, e);
	if (r < 0)
		return r;
	if (mode && strcmp(mode, "process") != 0 && strcmp(mode, "thread") != 0)
		return err_set(e, ERR_PARSE, "mode = '%.80s' is not one of process, thread", mode);
	if (has_csv_header(text, len))
		wis_parse_csv(text, len, mode, out);
	else
		parse_direct(text, len, tasks, samples, mode ? mode : "process", out);
	return 0;
}
