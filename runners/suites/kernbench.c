/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernbench: the time of a kernel build. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "runners/suites/internal.h"

#include <string.h>

/* What a compiler takes at the worst files of a kernel. */
#define JOB_BYTES (UINT64_C(256) << 20)

static const char *const loads[] = { "optimal", "half", "maximal", NULL };
static const struct suite_param_def params_known[] = {
	{ "tree", PARAM_TEXT, NULL, "none: must be given",
	  "folder of a configured kernel tree on the machine" },
	{ "load", PARAM_CHOICE, loads, "optimal", "how many jobs: as asked, half the CPUs, all" },
	{ "nr_task", PARAM_TASKS, NULL, "400%", "jobs of make, or a share of the CPUs (optimal)" },
	{ "runs", PARAM_COUNT, NULL, "5", "builds, of which the program prints the mean" },
	PARAMS_END,
};

static const struct suite_metric_info metrics[] = {
	{ "kernbench.elapsed_time", "s", "Time of one build.", BETTER_LOWER, KIND_TIME, true },
	{ "kernbench.user_time", "s", "CPU time in user space.", BETTER_LOWER, KIND_TIME, false },
	{ "kernbench.system_time", "s", "CPU time in the kernel.", BETTER_LOWER, KIND_TIME, false },
	{ "kernbench.percent_cpu", "%", "CPUs used, 100 % for each.", BETTER_NONE, KIND_SHARE,
	  false },
	{ "kernbench.context_switches", "count", "Context switches that were not wanted.",
	  BETTER_LOWER, KIND_COUNT, false },
	{ "kernbench.sleeps", "count", "Context switches to wait for something.", BETTER_LOWER,
	  KIND_COUNT, false },
	{ "kernbench.elapsed_time_stddev", "s", "Spread of the builds' times.", BETTER_LOWER,
	  KIND_TIME, false },
	{ "kernbench.*.elapsed_time", "s", "Time of one build at another load: half, maximal.",
	  BETTER_LOWER, KIND_TIME, false },
	METRICS_END,
};

#define M_STDDEV 6
#define M_OTHER	 7

static const struct suite_test_def tests[] = {
	{ "kernbench", "Builds a kernel with many jobs: fork, exec, page cache and scheduler.",
	  NULL },
	{ 0 },
};

static int kernbench_plan(const struct suite *s, const char *test, const struct suite_param *params,
			  size_t n, const struct suite_machine *m, struct suite_plan *plan,
			  struct err *e)
{
	const char *load = suite_param_get(params, n, "load", "optimal");
	const char *tree = suite_param_get(params, n, "tree", NULL);
	unsigned runs = 0;
	int r;

	(void)test;
	if (!tree || *tree != '/')
		return err_set(
			e, ERR_INVAL,
			"tree = '%.80s' is not the folder of a kernel tree such as /usr/src/linux",
			tree ? tree : "");
	r = suite_tasks(s, params, n, "400%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_count(params, n, "runs", 5, 100, &runs, e);
	if (r == 0)
		r = suite_need_memory("kernbench", plan->tasks * JOB_BYTES, m, e);
	if (r < 0)
		return r;
	suite_plan_tool(plan, m, "kernbench", "-n %u -o %u%s%s%s -f", runs, plan->tasks,
			strcmp(load, "half") ? " -H" : "", strcmp(load, "optimal") ? " -O" : "",
			strcmp(load, "maximal") ? " -M" : "");
	plan->dir = xstrdup(tree);
	plan->deadline_s = 600 + (runs + 1) * 7200.0;
	return 0;
}

/* struct kb - the load whose lines are being read. */
struct kb {
	struct tally t;
	const char *want;
	char load[16];
};

static void take_heading(struct kb *k, const struct line *l)
{
	struct scan w;

	*k->load = '\0';
	for (size_t i = 0; loads[i]; i++) {
		char word[16];

		(void)snprintf(word, sizeof(word), "%s", loads[i]);
		word[0] = (char)(word[0] - 'a' + 'A');
		if (line_match(l, "Average %w load%*", &w) && word_is(w, word))
			(void)snprintf(k->load, sizeof(k->load), "%s", loads[i]);
	}
	if (!*k->load)
		problem_bad_line(k->t.out, l, "the heading of a known load; left out");
}

static void take_line(struct kb *k, const struct line *l)
{
	static const struct {
		const char *name, *with_sd, *alone;
	} rows[] = {
		{ "Elapsed Time", "Elapsed Time %f (%f)", "Elapsed Time %f" },
		{ "User Time", "User Time %f (%f)", "User Time %f" },
		{ "System Time", "System Time %f (%f)", "System Time %f" },
		{ "Percent CPU", "Percent CPU %f (%f)", "Percent CPU %f" },
		{ "Context Switches", "Context Switches %f (%f)", "Context Switches %f" },
		{ "Sleeps", "Sleeps %f (%f)", "Sleeps %f" },
	};
	double v, sd = -1;

	if (line_starts(l, "Average ")) {
		take_heading(k, l);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows) && *k->load; i++) {
		if (!line_starts(l, rows[i].name))
			continue;
		if (!line_match(l, rows[i].with_sd, &v, &sd) && !line_match(l, rows[i].alone, &v)) {
			problem_bad_line(k->t.out, l, "a figure of kernbench; left out");
		} else if (!strcmp(k->load, k->want)) {
			(void)tally_text(&k->t, l, &metrics[i], NULL, v);
			if (i == 0 && sd >= 0)
				(void)tally_text(&k->t, l, &metrics[M_STDDEV], NULL, sd);
		} else if (i == 0) {
			(void)tally_text(&k->t, l, &metrics[M_OTHER], k->load, v);
		}
		return;
	}
}

static int kernbench_parse(const struct suite *s, const char *test, const char *text, size_t len,
			   const struct suite_param *params, size_t n, struct suite_output *out,
			   struct err *e)
{
	struct kb k = { .t = { .out = out },
			.want = suite_param_get(params, n, "load", "optimal") };
	unsigned tasks;
	struct reader r;
	int rc;

	(void)s;
	(void)test;
	rc = suite_tasks_known(params, n, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	while (reader_next(&r))
		take_line(&k, &r.l);
	tally_finish(&k.t, &r.l, 0, metrics[0].name);
	return 0;
}

const struct suite suite_kernbench = {
	.name = "kernbench",
	.about = "Builds of a kernel.",
	.params = params_known,
	.metrics = metrics,
	.tests = tests,
	.max_tasks = 100000,
	.plan = kernbench_plan,
	.parse = kernbench_parse,
};
