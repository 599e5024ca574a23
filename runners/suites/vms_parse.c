/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vm-scalability: the lines of usemem, dd and the helper programs, split into runs, and the metrics
 * as LKP defines them. Where a line says the same thing twice (bytes, time, and their quotient), the
 * two must agree: that is what tells a damaged line.
 */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "runners/suites/vms.h"
#include "runners/suites/vms_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct metric_def throughput = { "vm-scalability.throughput", "KB/s", BETTER_HIGHER,
					      KIND_RATE,
					      "KiB per second of all tasks, mean over runs" };
static const struct metric_def median = { "vm-scalability.median", "KB/s", BETTER_HIGHER, KIND_RATE,
					  "KiB per second of the median task, mean over runs" };
static const struct metric_def stddev = { "vm-scalability.stddev%", "%", BETTER_LOWER, KIND_SHARE,
					  "spread of the runs, or of the tasks of a single run" };
static const struct metric_def median_stddev = { "vm-scalability.median_stddev%", "%", BETTER_LOWER,
						 KIND_SHARE, "spread of the medians of the runs" };
static const struct metric_def free_time = { "vm-scalability.free_time", "s", BETTER_LOWER,
					     KIND_TIME,
					     "seconds to give the memory of a task back" };
static const struct metric_def case_time = { "vm-scalability.case_time", "s", BETTER_LOWER,
					     KIND_TIME,
					     "seconds that the case took, mean over runs" };
static const struct metric_def workload = { "vm-scalability.workload", "KiB", BETTER_NONE,
					    KIND_COUNT, "memory worked on" };
static const struct metric_def migrate_mbps = { "vm-scalability.migrate_mbps", "MB/s",
						BETTER_HIGHER, KIND_RATE,
						"memory moved between nodes" };
static const struct metric_def throughput_fault = { "vm-scalability.throughput_fault", "KB/s",
						    BETTER_HIGHER, KIND_RATE,
						    "KiB per second brought into memory" };
static const struct metric_def median_fault = { "vm-scalability.median_fault", "KB/s",
						BETTER_HIGHER, KIND_RATE,
						"throughput_fault of the median task" };
static const struct metric_def stddev_fault = { "vm-scalability.stddev_fault%", "%", BETTER_LOWER,
						KIND_SHARE, "spread of throughput_fault" };

/* One kind of rates: those of the run being read, and what the runs before it came to. */
struct rates {
	VEC(double) run, sums, medians;
	/* sd(rates) * n / mean(rates) of the last run, as LKP has it for a single run. */
	double spread;
	bool has_spread;
};

struct vms {
	struct suite_output *out;
	struct rates work, fault;
	VEC(double) frees, migrations, times;
	double bytes;
	unsigned tasks;
	/* usemem's lines in this run, for the count of tasks. */
	unsigned usemem_lines;
	/* Another line than usemem's says what these cases did, and theirs are part of the set-up. */
	bool lines_uncounted;
	bool marked, timed, bad;
	char test[64];
};

static double mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* Of the population, not of a sample. */
static double sd(const double *x, size_t n)
{
	double m = mean(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - m) * (x[i] - m);
	return sqrt(sum / (double)n);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void rates_end_run(struct rates *r)
{
	size_t n = r->run.len;

	if (n == 0)
		return;
	vec_push(&r->sums, mean(r->run.items, n) * (double)n);
	r->has_spread = n > 1;
	r->spread = sd(r->run.items, n) * (double)n / mean(r->run.items, n) * 100;
	qsort(r->run.items, n, sizeof(double), compare);
	vec_push(&r->medians, r->run.items[n / 2]);
	r->run.len = 0;
}

static void rates_done(struct rates *r)
{
	vec_done(&r->run);
	vec_done(&r->sums);
	vec_done(&r->medians);
}

static void end_run(struct vms *v, const struct line *l)
{
	bool some = v->work.run.len > 0 || v->fault.run.len > 0;

	if (v->usemem_lines > 0 && v->tasks > 0 && v->usemem_lines != v->tasks &&
	    !v->lines_uncounted) {
		suite_problem_add(v->out, l, "%u statistics lines of %u tasks; metrics left out",
				  v->usemem_lines, v->tasks);
		v->bad = true;
	}
	if (v->marked && !some && !v->timed && v->migrations.len == 0) {
		suite_problem_add(v->out, l, "a run of case-%s without a rate; metrics left out",
				  v->test);
		v->bad = true;
	}
	v->usemem_lines = 0;
	v->timed = false;
	rates_end_run(&v->work);
	rates_end_run(&v->fault);
}

static bool is_name_char(char c)
{
	return c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

static bool is_uncounted(const char *test)
{
	const struct vms_case *c = vms_case_find(test);

	return c && (c->shape == SHAPE_MIGRATE || c->shape == SHAPE_SWAPIN);
}

static void start_run(struct vms *v, const struct line *l)
{
	static const char mark[] = "./case-";
	const char *name = memmem(l->s, l->len, mark, sizeof(mark) - 1);
	size_t n = 0;

	end_run(v, l);
	v->marked = true;
	name += sizeof(mark) - 1;
	while (name + n < l->s + l->len && n < sizeof(v->test) - 1 && is_name_char(name[n]))
		n++;
	memcpy(v->test, name, n);
	v->test[n] = '\0';
	v->lines_uncounted = is_uncounted(v->test);
}

static void take_value(struct vms *v, const struct vms_value *val)
{
	switch (val->kind) {
	case VMS_USEMEM:
		v->usemem_lines++;
		vec_push(&v->work.run, val->rate);
		v->bytes += val->bytes;
		break;
	case VMS_RATE:
		vec_push(&v->work.run, val->rate);
		v->bytes += val->bytes;
		break;
	case VMS_FAULTED:
		vec_push(&v->fault.run, val->rate);
		break;
	case VMS_FREE:
		vec_push(&v->frees, val->seconds);
		break;
	case VMS_TIME:
		vec_push(&v->times, val->seconds);
		v->timed = true;
		break;
	case VMS_MIGRATED:
		vec_push(&v->migrations, val->rate);
		break;
	case VMS_OTHER:
		break;
	}
}

static bool too_many(const struct vms *v)
{
	return v->work.run.len + v->work.sums.len + v->fault.run.len + v->fault.sums.len +
		       v->frees.len + v->migrations.len + v->times.len >
	       10 * (size_t)SAMPLES_MAX;
}

static void take_line(struct vms *v, const struct line *l)
{
	struct vms_value val = { 0 };
	const char *why = NULL;

	if (line_has(l, "./case-") && !line_has(l, " bytes ")) {
		start_run(v, l);
		return;
	}
	switch (vms_line_read(l, &val, &why)) {
	case VMS_LINE_GOOD:
		if (too_many(v)) {
			suite_problem_add(v->out, l, "too many lines; metrics left out");
			v->bad = true;
		} else {
			take_value(v, &val);
		}
		break;
	case VMS_LINE_BAD:
		problem_bad_line(v->out, l, why);
		v->bad = true;
		break;
	case VMS_LINE_FAILED:
		problem_bad_line(v->out, l, "good: a task failed; metrics left out");
		v->bad = true;
		break;
	case VMS_LINE_UNKNOWN:
		if (line_is_kernel_log(l))
			suite_problem_add(v->out, l, "a line of the kernel log, skipping");
		else if (l->len > 0)
			problem_bad_line(v->out, l, "a line of vm-scalability, skipping");
		break;
	}
}

static void mark_headline(struct suite_metric *m, const char *name)
{
	if (m)
		m->headline = !strcmp(m->name, name);
}

/* Rates are positive; a rate that truncates to 0 is none. */
static void add_rate(struct vms *v, const struct metric_def *def, const double *x, size_t n,
		     const char *headline)
{
	double value = n > 0 ? trunc(mean(x, n)) : 0;
	double *series;

	if (value < 1)
		return;
	series = xcalloc(n, sizeof(*series));
	memcpy(series, x, n * sizeof(*series));
	mark_headline(metric_add(v->out, def, value, series, n), headline);
}

static void add_spread(struct vms *v, const struct metric_def *def, const struct rates *r)
{
	if (r->sums.len > 1)
		(void)metric_add(v->out, def,
				 sd(r->sums.items, r->sums.len) / mean(r->sums.items, r->sums.len) *
					 100,
				 NULL, 0);
	else if (r->has_spread)
		(void)metric_add(v->out, def, r->spread, NULL, 0);
}

static void add_metrics(struct vms *v, const char *headline)
{
	const struct rates *w = &v->work, *f = &v->fault;

	add_rate(v, &throughput, w->sums.items, w->sums.len, headline);
	add_rate(v, &median, w->medians.items, w->medians.len, headline);
	add_spread(v, &stddev, w);
	if (w->medians.len > 0)
		(void)metric_add(v->out, &median_stddev,
				 sd(w->medians.items, w->medians.len) /
					 mean(w->medians.items, w->medians.len) * 100,
				 NULL, 0);
	if (v->frees.len > 0)
		(void)metric_add(v->out, &free_time, mean(v->frees.items, v->frees.len), NULL, 0);
	if (v->times.len > 0)
		mark_headline(
			metric_add(v->out, &case_time, mean(v->times.items, v->times.len), NULL, 0),
			headline);
	if (v->bytes > 0)
		(void)metric_add(v->out, &workload, v->bytes / 1024, NULL, 0);
	add_rate(v, &throughput_fault, f->sums.items, f->sums.len, headline);
	add_rate(v, &median_fault, f->medians.items, f->medians.len, headline);
	add_spread(v, &stddev_fault, f);
	add_rate(v, &migrate_mbps, v->migrations.items, v->migrations.len, headline);
}

int vms_parse(const struct suite *s, const char *test, const char *text, size_t len,
	      const struct suite_param *params, size_t n, struct suite_output *out, struct err *e)
{
	struct vms v = { .out = out };
	struct lines ls = { .text = text, .len = len };
	struct line l = { .s = text, .nr = 1 };
	const char *headline;
	int r;

	r = suite_tasks_known(params, n, &v.tasks, e);
	if (r < 0)
		return r;
	v.lines_uncounted = test && is_uncounted(test);
	while (lines_next(&ls, &l))
		take_line(&v, &l);
	end_run(&v, &l);
	headline = s->headline(test ? test : v.test, params, n);
	if (!v.bad) {
		add_metrics(&v, headline);
		if (!suite_metric_find(out, headline))
			suite_problem_add(out, &l, "no line that gives %s", headline);
	}
	rates_done(&v.work);
	rates_done(&v.fault);
	vec_done(&v.frees);
	vec_done(&v.migrations);
	vec_done(&v.times);
	return 0;
}
