/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exec: any program of the operator's that prints its results in one of three simple forms. */
#include "runners/suites/exec.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX	     "exec."
#define DEFAULT_TIME 10u
#define WORD_MAX     100

static const char *const formats[] = { "lines", "json", "csv", NULL };
static const char *const betters[] = { "none", "higher", "lower", NULL };
static const struct suite_param_def params_known[] = {
	{ "command", PARAM_TEXT, NULL, "none: must be given",
	  "program and arguments, split at blanks; '…' or \"…\" hold words with blanks together; "
	  "{nr_task} and {runtime} are replaced; no shell but sh -c '…'" },
	{ "setup", PARAM_TEXT, NULL, "none", "a command before the measured time" },
	{ "cleanup", PARAM_TEXT, NULL, "none", "a command after it, however it ended" },
	{ "format", PARAM_CHOICE, formats, "lines",
	  "what the command prints: 'name value unit' lines, a JSON object or array, or CSV" },
	{ "headline", PARAM_TEXT, NULL, "exec.value", "the metric that the job is about" },
	{ "better", PARAM_CHOICE, betters, "none", "which way that metric is better" },
	{ "unit", PARAM_TEXT, NULL, "as printed", "unit of that metric" },
	{ "nr_task", PARAM_TASKS, NULL, "100%",
	  "what {nr_task} is: a number or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "10s", "what {runtime} is, in seconds" },
	{ "timeout", PARAM_SECONDS, NULL, "an hour, or twice the runtime and a minute",
	  "when to give up" },
	{ "memory", PARAM_SIZE, NULL, "not known", "memory that the command needs" },
	PARAM_ITERATIONS("1"),
	PARAMS_END,
};

static const struct suite_metric_info metrics[] = {
	{ "exec.*", "as printed",
	  "What the command printed under this name; a lone number is value.", BETTER_NONE,
	  KIND_COUNT, true },
	METRICS_END,
};

static const char *exec_headline(const char *test, const struct suite_param *params, size_t n)
{
	(void)test;
	return suite_param_get(params, n, "headline", PREFIX "value");
}

static int exec_check(const struct suite_param *params, size_t n, struct err *e)
{
	static const char *const commands[] = { "setup", "command", "cleanup" };
	const char *headline = exec_headline(NULL, params, n);
	struct suite_plan plan = { 0 };
	int r = 0;

	if (!suite_param_get(params, n, "command", NULL))
		return err_set(e, ERR_INVAL, "exec has no command: what shall it run?");
	if (strncmp(headline, PREFIX, strlen(PREFIX)) != 0 || strchr(headline, ' '))
		return err_set(e, ERR_PARSE,
			       "headline = '%.80s' is not the name of a metric such as " PREFIX
			       "score: a word behind '" PREFIX "'",
			       headline);
	for (size_t i = 0; i < ARRAY_SIZE(commands) && r == 0; i++) {
		const char *text = suite_param_get(params, n, commands[i], NULL);

		if (text)
			r = suite_plan_command(&plan, PHASE_RUN, commands[i], text, e);
	}
	suite_plan_done(&plan);
	return r;
}

/* @text with "{nr_task}" and "{runtime}" replaced; free() it. */
static char *fill_in(const char *text, unsigned tasks, unsigned seconds)
{
	struct strbuf b = STRBUF_INIT;

	while (*text) {
		if (!strncmp(text, "{nr_task}", 9)) {
			strbuf_addf(&b, "%u", tasks);
			text += 9;
		} else if (!strncmp(text, "{runtime}", 9)) {
			strbuf_addf(&b, "%u", seconds);
			text += 9;
		} else {
			strbuf_addch(&b, *text++);
		}
	}
	return strbuf_take(&b);
}

static int add_command(struct suite_plan *plan, enum suite_phase phase, const char *key,
		       const struct suite_param *params, size_t n, unsigned seconds, struct err *e)
{
	const char *value = suite_param_get(params, n, key, NULL);
	_cleanup_(freep) char *text = value ? fill_in(value, plan->tasks, seconds) : NULL;

	return text ? suite_plan_command(plan, phase, key, text, e) : 0;
}

static int exec_plan(const struct suite *s, const char *test, const struct suite_param *params,
		     size_t n, const struct suite_machine *m, struct suite_plan *plan,
		     struct err *e)
{
	unsigned seconds = 0, timeout = 0, iterations = 0;
	uint64_t bytes = 0;
	int r;

	(void)test;
	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &seconds, e);
	if (r == 0)
		r = suite_seconds(params, n, "timeout", &timeout, e);
	if (r == 0)
		r = suite_count(params, n, "iterations", 1, ITERATIONS_MAX, &iterations, e);
	if (r == 0)
		r = suite_bytes(params, n, "memory", 0, &bytes, e);
	if (r == 0)
		r = suite_need_memory("the command", bytes, m, e);
	plan->deadline_s = timeout ? timeout : seconds ? iterations * (seconds * 2.0 + 60) : 3600;
	if (seconds == 0)
		seconds = DEFAULT_TIME;
	if (r == 0)
		r = add_command(plan, PHASE_SETUP, "setup", params, n, seconds, e);
	if (r == 0)
		r = add_command(plan, PHASE_RUN, "command", params, n, seconds, e);
	if (r < 0)
		return r;
	suite_plan_repeat(plan, iterations);
	if (m->path)
		plan->dir = xstrdup(m->path);
	return add_command(plan, PHASE_CLEANUP, "cleanup", params, n, seconds, e);
}

static bool is_word(struct scan w, const char *more, size_t max)
{
	for (const char *p = w.p; p < w.end; p++)
		if (!((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') ||
		      (*p >= 'a' && *p <= 'z') || strchr(more, *p)) ||
		    !*p)
			return false;
	return w.end > w.p && (size_t)(w.end - w.p) <= max;
}

/* "12", "0.5", "1.5e+06". No sign: nothing that is measured is less than nothing. */
static bool read_number(struct scan w, double *ret)
{
	char text[64];
	struct scan s = w;
	uint64_t exponent;

	if (!scan_f64(&s, ret))
		return false;
	if (scan_end(&s))
		return true;
	if (!scan_lit(&s, "e") && !scan_lit(&s, "E"))
		return false;
	if (!scan_lit(&s, "+"))
		(void)scan_lit(&s, "-");
	if (!scan_u64(&s, &exponent) || !scan_end(&s) || exponent > 300 ||
	    (size_t)(w.end - w.p) >= sizeof(text))
		return false;
	memcpy(text, w.p, (size_t)(w.end - w.p));
	text[w.end - w.p] = '\0';
	*ret = strtod(text, NULL);
	return true;
}

static enum metric_kind kind_of(struct scan unit)
{
	static const char *const times[] = { "s", "ms", "us", "ns", "sec", "secs", "seconds" };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (word_is(unit, times[i]))
			return KIND_TIME;
	if (word_is(unit, "%") || word_is(unit, "ratio"))
		return KIND_SHARE;
	return memchr(unit.p, '/', (size_t)(unit.end - unit.p)) ? KIND_RATE : KIND_COUNT;
}

static bool read_better(struct scan w, enum metric_better *ret)
{
	*ret = word_is(w, "higher")  ? BETTER_HIGHER
	       : word_is(w, "lower") ? BETTER_LOWER
				     : BETTER_NONE;
	return *ret != BETTER_NONE || w.p == w.end || word_is(w, "none");
}

bool exec_value_add(struct exec_out *x, const struct line *l, const struct exec_value *v)
{
	static const char none[] = "";
	struct scan unit =
		v->unit.end > v->unit.p ? v->unit : (struct scan){ .p = none, .end = none };
	enum metric_better better;
	struct tally_item *item;
	double number;

	if (!is_word(v->name, "_.-%/:+@", WORD_MAX)) {
		problem_bad_line(x->t.out, l, "a result: it has no name of letters and digits");
		return false;
	}
	if (!read_number(v->number, &number)) {
		suite_problem_add(
			x->t.out, l, "'%.*s' of %.*s is not a number of 0 or more; left out",
			(int)(v->number.end - v->number.p < 40 ? v->number.end - v->number.p : 40),
			v->number.p, (int)(v->name.end - v->name.p), v->name.p);
		return false;
	}
	if ((unit.end > unit.p && !is_word(unit, "_.-%/*^", 24)) ||
	    !read_better(v->better, &better)) {
		problem_bad_line(x->t.out, l, "'name value unit higher|lower'; left out");
		return false;
	}
	item = tally_add(&x->t, l, &metrics[0], &v->name, &unit, number);
	if (!item)
		return false;
	if (item->n == 1) {
		item->better = better;
		item->kind = kind_of(unit);
		item->headline = false;
	} else if (unit.end > unit.p && !word_is(unit, item->unit) && !item->drop) {
		/* No mean can be had of seconds and operations. */
		suite_problem_add(x->t.out, l,
				  "%.*s is in '%.*s' here and in '%s' before; left out",
				  (int)(v->name.end - v->name.p), v->name.p,
				  (int)(unit.end - unit.p), unit.p, item->unit);
		item->drop = true;
	}
	return true;
}

/* The first metric, if the job names none. */
static void choose_headline(struct exec_out *x, const struct suite_param *params, size_t n)
{
	const char *name = suite_param_get(params, n, "headline", NULL);
	const char *unit = suite_param_get(params, n, "unit", NULL);
	const char *way = suite_param_get(params, n, "better", NULL);

	vec_foreach (item, &x->t.items) {
		if (name && strcmp(item->name, name) != 0 &&
		    strcmp(item->name + strlen(PREFIX), name) != 0)
			continue;
		item->headline = true;
		if (way)
			(void)read_better((struct scan){ way, way + strlen(way) }, &item->better);
		if (unit) {
			char *copy = xasprintf("%s%c%s", item->name, '\0', unit);

			item->unit = copy + strlen(item->name) + 1;
			free(item->name);
			item->name = copy;
			item->kind = kind_of((struct scan){ unit, unit + strlen(unit) });
		}
		return;
	}
}

static int exec_parse(const struct suite *s, const char *test, const char *text, size_t len,
		      const struct suite_param *params, size_t n, struct suite_output *out,
		      struct err *e)
{
	const char *format = suite_param_get(params, n, "format", "lines");
	struct exec_out x = { .t = { .out = out } };
	unsigned want, tasks;
	struct reader r;
	int rc;

	(void)s;
	rc = suite_asked(params, n, &want, &tasks, e);
	if (rc < 0)
		return rc;
	reader_init(&r, text, len, out);
	if (!strcmp(format, "json"))
		exec_json(&x, &r);
	else if (!strcmp(format, "csv"))
		exec_csv(&x, &r);
	else
		exec_lines(&x, &r);
	choose_headline(&x, params, n);
	tally_finish(&x.t, &r.l, 0, exec_headline(test, params, n));
	return 0;
}

const struct suite suite_exec = {
	.name = "exec",
	.about = "A program of your own; the tests are names that you give.",
	.params = params_known,
	.metrics = metrics,
	.any_test = true,
	.max_tasks = 1048576,
	.check = exec_check,
	.plan = exec_plan,
	.parse = exec_parse,
	.headline = exec_headline,
};
