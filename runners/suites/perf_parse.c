/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf bench: outputs. Newer releases set digits off in groups of three. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/perf_bench.h"

#include <string.h>

#define FUNCTION_MAX 100

/*
 * struct total - a benchmark that prints a total time, and perhaps time per operation and rate.
 * metrics: rows PERF_TOTAL to last. call: of "# Executed N CALL() calls", "" if not known.
 */
struct total {
	struct tally t;
	const struct suite_metric_info *metrics;
	bool rates, named;
	char call[40];
};

static void total_add(struct total *p, const struct line *l, size_t row, double v)
{
	if (!p->named)
		(void)tally_text(&p->t, l, &p->metrics[row], NULL, v);
	else if (*p->call)
		(void)tally_text(&p->t, l, &p->metrics[row], p->call, v);
	else
		suite_problem_add(p->t.out, l, "which call this is of is not known; left out");
}

/* The test of this name makes other calls than its name says. */
static void set_call(struct total *p, const char *name, size_t n)
{
	if (n == 5 && !memcmp(name, "basic", 5)) {
		name = "getppid";
		n = 7;
	}
	if (n >= sizeof(p->call))
		return;
	for (size_t i = 0; i < n; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
		      name[i] == '_'))
			return;
	memcpy(p->call, name, n);
	p->call[n] = '\0';
}

static void take_heading(struct total *p, const struct line *l)
{
	struct scan w;
	double v;

	if (line_match(l, "# Running 'syscall/%w benchmark:", &w) && w.end[-1] == '\'') {
		*p->call = '\0';
		set_call(p, w.p, (size_t)(w.end - w.p) - 1);
	} else if (line_match(l, "# Executed %g %w calls", &v, &w) && w.end - w.p > 2 &&
		   w.end[-2] == '(') {
		set_call(p, w.p, (size_t)(w.end - w.p) - 2);
	}
}

static void take_total_line(struct total *p, const struct line *l)
{
	struct scan w[1];
	double v;

	if (line_starts(l, "#")) {
		take_heading(p, l);
	} else if (line_match(l, "_Total time:_%f [sec]", &v)) {
		total_add(p, l, PERF_TOTAL, v);
	} else if (p->rates && line_match(l, "_%g usecs/op", &v)) {
		total_add(p, l, PERF_USECS, v);
	} else if (p->rates && line_match(l, "_%g ops/sec", &v)) {
		total_add(p, l, PERF_OPS, v);
	} else if (line_match(l, "_%f", &v)) {
		/* perf bench -f simple: the total time alone. */
		total_add(p, l, PERF_TOTAL, v);
	} else if (line_words(l, w, 1) > 0) {
		problem_bad_line(p->t.out, l, "a line of perf bench, skipping");
	}
}

int perf_total_parse(const struct suite *s, const char *test, const char *text, size_t len,
		     const struct suite_param *params, size_t n, struct suite_output *out,
		     struct err *e)
{
	struct total p = { .t = { .out = out },
			   .metrics = s->metrics,
			   .rates = s != &suite_perf_sched_messaging,
			   .named = s == &suite_perf_syscall };
	unsigned want, tasks;
	struct reader r;
	int rc;

	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	if (p.named && test)
		set_call(&p, test, strlen(test));
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_total_line(&p, &r.l);
	tally_finish(&p.t, &r.l, want, suite_headline(s, test, params, n));
	return 0;
}

/* futex and epoll: a line of the whole behind those of threads or runs. */
static void take_threads_line(const struct suite *s, struct tally *t, const struct line *l)
{
	const struct suite_metric_info *m = s->metrics;
	bool futex = s == &suite_perf_futex;
	uint64_t done, of, of_threads;
	double v, spread, secs;
	size_t row = FUTEX_OPS;

	if (line_match(l, "Averaged %g operations/sec (+-_%f%%), total secs = %f", &v, &spread,
		       &secs)) {
		row = FUTEX_OPS;
	} else if (futex && line_match(l, "Wokeup %u of %u threads in %f ms (+-_%f%%)", &done, &of,
				       &v, &spread)) {
		row = FUTEX_WAKE;
	} else if (futex && line_match(l, "Requeued %u of %u threads in %f ms (+-_%f%%)", &done,
				       &of, &v, &spread)) {
		row = FUTEX_REQUEUE;
	} else if (futex && line_match(l,
				       "Avg per-thread latency (waking %u/%u threads) in %f ms "
				       "(+-_%f%%)",
				       &of, &of_threads, &v, &spread)) {
		row = FUTEX_WAKE;
		done = of;
	} else {
		if (line_starts(l, "Averaged") || line_starts(l, "Wokeup") ||
		    line_starts(l, "Requeued") || line_starts(l, "Avg per-thread"))
			problem_bad_line(t->out, l, "a result of perf bench; left out");
		return;
	}
	if (row != FUTEX_OPS && done != of)
		suite_problem_add(t->out, l, "only %llu of %llu threads", (unsigned long long)done,
				  (unsigned long long)of);
	(void)tally_text(t, l, &m[row], NULL, v);
	(void)tally_text(t, l, &m[FUTEX_STDDEV], NULL, spread);
}

int perf_threads_parse(const struct suite *s, const char *test, const char *text, size_t len,
		       const struct suite_param *params, size_t n, struct suite_output *out,
		       struct err *e)
{
	struct tally t = { .out = out };
	unsigned want, tasks;
	struct reader r;
	int rc;

	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_threads_line(s, &t, &r.l);
	tally_finish(&t, &r.l, want, suite_headline(s, test, params, n));
	return 0;
}

/* struct mem - "TEST.FUNCTION" of the headings that were read last. */
struct mem {
	struct tally t;
	char test[FUNCTION_MAX], name[2 * FUNCTION_MAX];
};

static bool is_name(struct scan w)
{
	for (const char *p = w.p; p < w.end; p++)
		if (*p <= ' ' || *p > '~' || *p == '*')
			return false;
	return w.end > w.p && w.end - w.p < FUNCTION_MAX;
}

static void take_mem_heading(struct mem *m, const struct line *l)
{
	struct scan w;

	if (line_match(l, "# Running 'mem/%w benchmark:", &w) && is_name(w) && w.end[-1] == '\'') {
		memcpy(m->test, w.p, (size_t)(w.end - w.p) - 1);
		m->test[w.end - w.p - 1] = '\0';
		*m->name = '\0';
	} else if (line_match(l, "# function %w%*", &w)) {
		*m->name = '\0';
		if (is_name(w) && w.end - w.p > 2 && *w.p == '\'' && w.end[-1] == '\'' && *m->test)
			(void)snprintf(m->name, sizeof(m->name), "%s.%.*s", m->test,
				       (int)(w.end - w.p) - 2, w.p + 1);
	}
}

static void take_mem_line(struct mem *m, const struct line *l)
{
	static const struct {
		const char *pattern;
		double per_gib;
	} units[] = {
		{ "_%g GB/sec", 1 },
		{ "_%g MB/sec", 1024 },
		{ "_%g KB/sec", 1048576 },
		{ "_%g B/sec", 1073741824 },
	};
	struct scan w[1];
	struct tally_item *item;
	double v;

	if (line_starts(l, "#")) {
		take_mem_heading(m, l);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!line_match(l, units[i].pattern, &v))
			continue;
		if (!*m->name) {
			suite_problem_add(m->t.out, l, "a rate of no function; left out");
			return;
		}
		item = tally_text(&m->t, l, perf_mem_metrics, m->name, v / units[i].per_gib);
		if (item)
			item->headline = strstr(m->name, ".default") != NULL;
		*m->name = '\0';
		return;
	}
	if (line_words(l, w, 1) > 0)
		problem_bad_line(m->t.out, l, "a line of perf bench mem, skipping");
}

int perf_mem_parse(const struct suite *s, const char *test, const char *text, size_t len,
		   const struct suite_param *params, size_t n, struct suite_output *out,
		   struct err *e)
{
	struct mem m = { .t = { .out = out } };
	unsigned want, tasks;
	struct reader r;
	int rc;

	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	if (test)
		(void)snprintf(m.test, sizeof(m.test), "%s", test);
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_mem_line(&m, &r.l);
	tally_finish(&m.t, &r.l, want, suite_headline(s, test, params, n));
	return 0;
}

/* " main,   2.472, GB/sec,   total-speed" */
static void take_numa_line(struct tally *t, const struct line *l)
{
	static const struct {
		const char *unit, *what;
	} rows[] = {
		{ "GB/sec,", "total-speed" },
		{ "GB/sec,", "thread-speed" },
		{ "secs,", "runtime-max/thread" },
		{ "secs,", "runtime-min/thread" },
		{ "secs,", "runtime-avg/thread" },
		{ "%,", "spread-runtime/thread" },
		{ "GB,", "data/thread" },
		{ "GB,", "data-total" },
		{ "nsecs,", "runtime/byte/thread" },
		{ "secs,", "NUMA-convergence-latency" },
	};
	struct scan unit, what;
	double v;

	if (line_match(l, "_main, %f, %w %w", &v, &unit, &what)) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			if (!word_is(what, rows[i].what) || !word_is(unit, rows[i].unit))
				continue;
			(void)tally_text(t, l, &perf_numa_mem_metrics[i], NULL, v);
			return;
		}
		problem_bad_line(t->out, l, "a known figure of perf bench numa, skipping");
	} else if (line_match(l, "_main,%*")) {
		problem_bad_line(t->out, l, "'main, N, UNIT, WHAT'; left out");
	}
}

int perf_numa_mem_parse(const struct suite *s, const char *test, const char *text, size_t len,
			const struct suite_param *params, size_t n, struct suite_output *out,
			struct err *e)
{
	struct tally t = { .out = out };
	unsigned want, tasks;
	struct reader r;
	int rc;

	(void)s;
	(void)test;
	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_numa_line(&t, &r.l);
	tally_finish(&t, &r.l, want, perf_numa_mem_metrics[0].name);
	return 0;
}
