/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/suites/suite.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "runners/suites/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_MAX 10000
#define SECONDS_MAX 86400.0

static const struct suite *const suites[] = {
#define SUITE(symbol, name) &suite_##symbol,
#include "runners/suites/suites.def"
#undef SUITE
};

const struct suite *suite_list(size_t i)
{
	return i < ARRAY_SIZE(suites) ? suites[i] : NULL;
}

const struct suite *suite_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		if (!strcmp(suites[i]->name, name))
			return suites[i];
	return NULL;
}

const char *suite_names(void)
{
	static const char names[] =
#define SUITE(symbol, name) ", " name
#include "runners/suites/suites.def"
#undef SUITE
		;

	return names + 2;
}

const char *suite_name(const struct suite *s)
{
	return s->name;
}

const char *suite_test(const struct suite *s, size_t i)
{
	if (!s->tests)
		return s->test_name ? s->test_name(i) : NULL;
	for (const struct suite_test_def *t = s->tests; t->name; t++)
		if (i-- == 0)
			return t->name;
	return NULL;
}

const char *suite_param_get(const struct suite_param *params, size_t n, const char *key,
			    const char *def)
{
	for (size_t i = n; i > 0; i--)
		if (!strcmp(params[i - 1].key, key))
			return params[i - 1].value;
	return def;
}

/* "16" or "50%". */
static int tasks_parse(const char *value, bool *ret_percent, unsigned *ret, struct err *e)
{
	size_t len = strlen(value);
	char digits[16];
	int64_t v = 0;

	if (len > 0 && len < sizeof(digits)) {
		*ret_percent = value[len - 1] == '%';
		memcpy(digits, value, len + 1);
		if (*ret_percent)
			digits[len - 1] = '\0';
		if (parse_i64(digits, 1, *ret_percent ? PERCENT_MAX : INT32_MAX, &v, NULL) == 0) {
			*ret = (unsigned)v;
			return 0;
		}
	}
	return err_set(e, ERR_PARSE,
		       "nr_task = '%.80s' is not a number of tasks such as 16 or 50%%", value);
}

int suite_tasks_known(const struct suite_param *params, size_t n, unsigned *ret, struct err *e)
{
	const char *value = suite_param_get(params, n, "tasks", NULL);
	bool percent = false;
	unsigned v = 0;
	int r;

	*ret = 0;
	if (!value)
		value = suite_param_get(params, n, "nr_task", NULL);
	if (!value)
		return 0;
	r = tasks_parse(value, &percent, &v, e);
	if (r == 0 && !percent)
		*ret = v;
	return r;
}

int suite_tasks(const struct suite *s, const struct suite_param *params, size_t n, const char *def,
		const struct suite_machine *m, unsigned *ret, struct err *e)
{
	const char *value = suite_param_get(params, n, "nr_task", def);
	bool percent = false;
	uint64_t v;
	unsigned x = 0;
	int r;

	r = tasks_parse(value, &percent, &x, e);
	if (r < 0)
		return r;
	v = x;
	if (percent) {
		if (m->cpus <= 0)
			return err_set(e, ERR_RANGE,
				       "nr_task = '%.80s' of a machine that has %d CPUs", value,
				       m->cpus);
		v = (uint64_t)m->cpus * x / 100;
		if (v == 0)
			v = 1;
	}
	if (v > s->max_tasks)
		return err_set(e, ERR_RANGE, "nr_task = '%.80s' comes to %llu tasks, %s runs %u",
			       value, (unsigned long long)v, s->name, s->max_tasks);
	*ret = (unsigned)v;
	return 0;
}

int suite_seconds(const struct suite_param *params, size_t n, const char *key, unsigned *ret,
		  struct err *e)
{
	const char *value = suite_param_get(params, n, key, NULL);
	double v = 0;
	int r;

	*ret = 0;
	if (!value)
		return 0;
	r = parse_duration(value, &v, e);
	if (r < 0)
		return err_wrap(e, "%.40s", key);
	if (v <= 0 || v > SECONDS_MAX)
		return err_set(e, ERR_RANGE, "%.40s = '%.80s' is not between 1s and 24h", key,
			       value);
	*ret = (unsigned)ceil(v);
	return 0;
}

int suite_check_test(const struct suite *s, const char *test, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	const char *name;

	if (s->any_test)
		return 0;
	for (size_t i = 0; (name = suite_test(s, i)); i++) {
		if (!strcmp(name, test))
			return 0;
		strbuf_addf(&b, "%s%s", i ? ", " : "", name);
	}
	return err_set(e, ERR_NOENT, "%s has no test '%.80s'; it has %s", s->name, test,
		       strbuf_str(&b));
}

static int check_choice(const struct suite_param_def *def, const char *value, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	for (size_t i = 0; def->choices[i]; i++) {
		if (!strcmp(def->choices[i], value))
			return 0;
		strbuf_addf(&b, "%s%s", i ? ", " : "", def->choices[i]);
	}
	return err_set(e, ERR_PARSE, "%s = '%.80s' is not one of %s", def->key, value,
		       strbuf_str(&b));
}

static int check_text(const struct suite_param_def *def, const char *value, struct err *e)
{
	for (const char *p = value; *p; p++) {
		if (*p < ' ' || *p > '~')
			return err_set(e, ERR_PARSE, "%s is not one line of printable ASCII",
				       def->key);
	}
	return *value ? 0 : err_set(e, ERR_PARSE, "%s is empty", def->key);
}

static int check_value(const struct suite_param_def *def, const struct suite_param *p,
		       struct err *e)
{
	uint64_t bytes = 0;
	int64_t count;
	bool percent;
	unsigned v;
	int r = 0;

	switch (def->kind) {
	case PARAM_CHOICE:
		return check_choice(def, p->value, e);
	case PARAM_TASKS:
		return tasks_parse(p->value, &percent, &v, e);
	case PARAM_SECONDS:
		return suite_seconds(p, 1, def->key, &v, e);
	case PARAM_COUNT:
		r = parse_i64(p->value, 1, INT32_MAX, &count, e);
		return r < 0 ? err_wrap(e, "%s", def->key) : 0;
	case PARAM_TEXT:
		return check_text(def, p->value, e);
	case PARAM_SIZE:
		r = parse_size(p->value, &bytes, e);
		if (r < 0)
			return err_wrap(e, "%s", def->key);
		if (bytes == 0)
			return err_set(e, ERR_RANGE, "%s = '%.80s' is not more than 0", def->key,
				       p->value);
	}
	return 0;
}

static int check_param(const struct suite *s, const struct suite_param *p, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	for (const struct suite_param_def *def = s->params; def->key; def++) {
		if (!strcmp(def->key, p->key))
			return check_value(def, p, e);
		strbuf_addf(&b, "%s%s", def == s->params ? "" : ", ", def->key);
	}
	return err_set(e, ERR_NOENT, "%s has no parameter '%.80s'; it has %s", s->name, p->key,
		       strbuf_str(&b));
}

int suite_check(const struct suite *s, const char *test, const struct suite_param *params, size_t n,
		struct err *e)
{
	int r = suite_check_test(s, test, e);

	for (size_t i = 0; i < n && r == 0; i++)
		r = check_param(s, &params[i], e);
	if (r == 0 && s->check)
		r = s->check(params, n, e);
	return r;
}

int suite_check_params(const struct suite *s, const struct suite_param *params, size_t n,
		       struct err *e)
{
	unsigned tasks;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = !strcmp(params[i].key, "tasks") ? suite_tasks_known(&params[i], 1, &tasks, e)
						    : check_param(s, &params[i], e);
	return r;
}

int suite_plan_make(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *ret, struct err *e)
{
	struct suite_plan plan = { 0 };
	int r;

	r = suite_check(s, test, params, n, e);
	if (r == 0)
		r = s->plan(s, test, params, n, m, &plan, e);
	if (r < 0) {
		suite_plan_done(&plan);
		return r;
	}
	*ret = plan;
	return 0;
}

const char *suite_about(const struct suite *s)
{
	return s->about;
}

const char *suite_test_about(const struct suite *s, size_t i)
{
	if (!s->tests)
		return s->test_about ? s->test_about(i) : NULL;
	return suite_test(s, i) ? s->tests[i].about : NULL;
}

static size_t count_params(const struct suite *s)
{
	size_t n = 0;

	while (s->params[n].key)
		n++;
	return n;
}

bool suite_param_info(const struct suite *s, size_t i, struct suite_param_info *ret)
{
	const struct suite_param_def *def;

	if (i >= count_params(s))
		return false;
	def = &s->params[i];
	*ret = (struct suite_param_info){ .key = def->key,
					  .fallback = def->fallback,
					  .about = def->about,
					  .choices = def->choices,
					  .is_text = def->kind == PARAM_TEXT };
	return true;
}

bool suite_metric_info(const struct suite *s, size_t i, struct suite_metric_info *ret)
{
	for (size_t k = 0; s->metrics[k].name; k++) {
		if (k == i) {
			*ret = s->metrics[k];
			return true;
		}
	}
	return false;
}

enum suite_source suite_source(const struct suite *s)
{
	return s->source;
}

bool suite_is_bundled(const struct suite *s)
{
	return s->bundled;
}

const char *suite_work(const struct suite *s, bool *ret_per_second)
{
	*ret_per_second = s->work_per_second;
	return s->work;
}

int suite_parse(const struct suite *s, const char *test, const char *text, size_t len,
		const struct suite_param *params, size_t n, struct suite_output *ret, struct err *e)
{
	struct suite_output out = { 0 };
	_cleanup_(strbuf_done) struct strbuf clean = STRBUF_INIT;
	int r;

	if (output_clean(text, len, &clean))
		r = s->parse(s, test, strbuf_str(&clean), clean.len, params, n, &out, e);
	else
		r = s->parse(s, test, text, len, params, n, &out, e);
	if (r < 0) {
		suite_output_done(&out);
		return r;
	}
	if (clean.s)
		output_relocate(text, len, &out);
	*ret = out;
	return 0;
}

const char *suite_headline(const struct suite *s, const char *test,
			   const struct suite_param *params, size_t n)
{
	if (s->headline)
		return s->headline(test, params, n);
	for (const struct suite_test_def *t = s->tests; t && test && t->name; t++)
		if (t->headline && !strcmp(t->name, test))
			return t->headline;
	for (const struct suite_metric_info *m = s->metrics; m->name; m++)
		if (m->headline)
			return m->name;
	return NULL;
}

const char *metric_better_name(enum metric_better b)
{
	switch (b) {
	case BETTER_HIGHER:
		return "higher";
	case BETTER_LOWER:
		return "lower";
	case BETTER_NONE:
		break;
	}
	return "none";
}

const char *metric_kind_name(enum metric_kind k)
{
	switch (k) {
	case KIND_RATE:
		return "rate";
	case KIND_TIME:
		return "time";
	case KIND_SHARE:
		return "share";
	case KIND_COUNT:
		break;
	}
	return "count";
}
