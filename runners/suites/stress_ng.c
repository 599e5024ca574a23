/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress-ng: stressors, parameters and plans; what its tables and its YAML have in common. */
#include "runners/suites/stress_ng.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"

#include <stdlib.h>
#include <string.h>

#define MIB	      UINT64_C(1048576)
#define DEFAULT_TIME  10u
#define METRICS_YAML  "stress-ng.yaml"
#define MISC_NAME_MAX 120

static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "100%", "instances, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "10s", "measured time" },
	{ "options", PARAM_TEXT, NULL, "none", "further options of stress-ng, split at blanks" },
	{ "memory", PARAM_SIZE, NULL, "16M", "memory that an instance needs" },
	PARAMS_END,
};

const struct suite_metric_info stress_ng_metrics[] = {
	{ "stress-ng.*.ops_per_sec", "ops/s", "Bogo operations per second of real time.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "stress-ng.*.ops", "ops", "Bogo operations in all.", BETTER_HIGHER, KIND_COUNT, false },
	{ "stress-ng.*.ops_per_cpu_sec", "ops/s", "Bogo operations per second of CPU time.",
	  BETTER_HIGHER, KIND_RATE, false },
	{ "stress-ng.*.real_time", "s", "Time that the stressor ran.", BETTER_NONE, KIND_TIME,
	  false },
	{ "stress-ng.*.user_time", "s", "CPU time in user space.", BETTER_NONE, KIND_TIME, false },
	{ "stress-ng.*.system_time", "s", "CPU time in the kernel.", BETTER_NONE, KIND_TIME,
	  false },
	{ "stress-ng.*.cpu_percent", "%", "CPU used by each instance.", BETTER_NONE, KIND_SHARE,
	  false },
	{ "stress-ng.*.max_rss", "KiB", "Largest memory of an instance.", BETTER_LOWER, KIND_COUNT,
	  false },
	{ "stress-ng.workload", "ops", "Bogo operations of all stressors.", BETTER_NONE, KIND_COUNT,
	  false },
	{ "stress-ng.*.*", "as the name says", "What a stressor counts of its own.", BETTER_NONE,
	  KIND_COUNT, false },
	METRICS_END,
};

static const struct suite_test_def tests[] = {
#define STRESSOR(name, about) { name, about, "stress-ng." name ".ops_per_sec" },
#include "runners/suites/stress_ng.def"
#undef STRESSOR
	{ 0 },
};

static int stress_plan(const struct suite *s, const char *test, const struct suite_param *params,
		       size_t n, const struct suite_machine *m, struct suite_plan *plan,
		       struct err *e)
{
	uint64_t bytes = 0;
	unsigned seconds = 0;
	int r;

	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &seconds, e);
	if (r == 0)
		r = suite_bytes(params, n, "memory", 16 * MIB, &bytes, e);
	if (r == 0)
		r = suite_need_memory(
			test, bytes > UINT64_MAX / plan->tasks ? UINT64_MAX : bytes * plan->tasks,
			m, e);
	if (r < 0)
		return r;
	if (seconds == 0)
		seconds = DEFAULT_TIME;
	suite_plan_tool(plan, m, "stress-ng",
			"--timeout %u --times --verify --metrics --no-rand-seed -Y %s --%s %u %s",
			seconds, METRICS_YAML, test, plan->tasks,
			suite_param_get(params, n, "options", ""));
	suite_plan_keep(plan, METRICS_YAML);
	/* Some stressors take their time to end. */
	plan->deadline_s = 120 + seconds * 2.0 + plan->tasks * 0.1;
	return 0;
}

void stress_metric(struct stress *st, const struct line *l, size_t row, struct scan name, double v)
{
	struct tally_item *item = tally_add(&st->t, l, &stress_ng_metrics[row], &name, NULL, v);

	if (item && item->headline && st->test)
		item->headline = word_is(name, st->test);
}

bool stress_ops(struct stress *st, const struct line *l, struct scan name, double ops)
{
	if (ops <= 0) {
		suite_problem_add(st->t.out, l, "0 bogo ops of '%.*s': it did not work; left out",
				  (int)(name.end - name.p < 40 ? name.end - name.p : 40), name.p);
		st->broken = true;
		return false;
	}
	stress_metric(st, l, STRESS_OPS, name, ops);
	st->ops += ops;
	return true;
}

static bool has_tail(const char *s, size_t n, const char *tail)
{
	size_t k = strlen(tail);

	return n >= k && !memcmp(s + n - k, tail, k);
}

static bool has_head(const char *s, size_t n, const char *head)
{
	size_t k = strlen(head);

	return n >= k && !memcmp(s, head, k);
}

/* Unit, kind and direction of "nanosecs_per_page_fault" and the like. */
static const char *judge_misc(const char *s, size_t n, enum metric_better *better,
			      enum metric_kind *kind)
{
	static const struct {
		const char *word, *unit;
	} times[] = {
		{ "nanosec", "ns" },  { "microsec", "us" }, { "usec", "us" },
		{ "millisec", "ms" }, { "msec", "ms" },	    { "secs_", "s" },
		{ "seconds_", "s" },
	};

	*better = BETTER_NONE;
	*kind = KIND_COUNT;
	if (has_tail(s, n, "_per_sec") || has_tail(s, n, "_per_second")) {
		*better = BETTER_HIGHER;
		*kind = KIND_RATE;
		return has_head(s, n, "MB_") ? "MB/s" : has_head(s, n, "KB_") ? "KB/s" : "1/s";
	}
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		if (!has_head(s, n, times[i].word))
			continue;
		*better = BETTER_LOWER;
		*kind = KIND_TIME;
		return times[i].unit;
	}
	if (has_head(s, n, "%") || has_tail(s, n, "%") || has_head(s, n, "percent")) {
		*kind = KIND_SHARE;
		return "%";
	}
	return "count";
}

void stress_misc(struct stress *st, const struct line *l, struct scan name, struct scan what,
		 double v)
{
	char star[MISC_NAME_MAX];
	size_t name_len = (size_t)(name.end - name.p), len = (size_t)(what.end - what.p);
	struct scan all = { .p = star }, unit;
	enum metric_better better;
	enum metric_kind kind;
	struct tally_item *item;
	static const struct suite_metric_info info = {
		"stress-ng.*", "count",	   "What a stressor counts of its own.",
		BETTER_NONE,   KIND_COUNT, false
	};

	if (len == 0 || name_len == 0 || name_len + len + 1 > sizeof(star)) {
		problem_bad_line(st->t.out, l, "a metric with a name of its own; left out");
		return;
	}
	memcpy(star, name.p, name_len);
	star[name_len] = '.';
	for (size_t i = 0; i < len; i++) {
		char c = what.p[i];
		bool fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			    (c >= 'a' && c <= 'z') || c == '%' || c == '.' || c == '/' || c == '+';

		star[name_len + 1 + i] = '_';
		if (fine)
			star[name_len + 1 + i] = c;
	}
	all.end = star + name_len + 1 + len;
	unit.p = judge_misc(star + name_len + 1, len, &better, &kind);
	unit.end = unit.p + strlen(unit.p);
	item = tally_add(&st->t, l, &info, &all, &unit, v);
	if (item) {
		item->better = better;
		item->kind = kind;
	}
}

static bool is_yaml(const char *text, size_t len)
{
	struct lines ls = { .text = text, .len = len };
	struct line l;

	while (lines_next(&ls, &l))
		if (line_starts(&l, "metrics:"))
			return true;
	return false;
}

static int stress_parse(const struct suite *s, const char *test, const char *text, size_t len,
			const struct suite_param *params, size_t n, struct suite_output *out,
			struct err *e)
{
	struct stress st = { .t = { .out = out }, .test = test };
	unsigned want, tasks;
	struct reader r;
	int rc;

	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	if (is_yaml(text, len))
		stress_yaml(&st, &r);
	else
		stress_text(&st, &r);
	free(st.started);
	if (st.failed) {
		tally_done(&st.t);
		return 0;
	}
	if (st.complete && !st.broken && st.ops > 0)
		(void)tally_text(&st.t, &r.l, &stress_ng_metrics[STRESS_WORKLOAD], NULL, st.ops);
	tally_finish(&st.t, &r.l, 0,
		     test ? suite_headline(s, test, params, n) : stress_ng_metrics[0].name);
	return 0;
}

const struct suite suite_stress_ng = {
	.name = "stress-ng",
	.about = "One kind of system call or resource after another, as hard as it goes.",
	.params = params_known,
	.metrics = stress_ng_metrics,
	.tests = tests,
	.source = SOURCE_STDERR,
	.work = "stress-ng.workload",
	.max_tasks = 100000,
	.plan = stress_plan,
	.parse = stress_parse,
};
