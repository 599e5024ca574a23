/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything that each captured output gives: names, values, units, and how many problems. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *file;
	size_t problems;
	const char *metrics;
} expected[] = {
#include "tests/unit/runners/suites/expected.def"
};

/* @line: "*throughput=12.5 KB/s" */
static void check_metric(const char *file, const struct suite_metric *m, const char *suite,
			 const char *line)
{
	bool headline = *line == '*';
	const char *name = line + headline, *eq = strchr(name, '=');
	char *unit;
	double want = strtod(eq + 1, &unit);
	size_t len = strlen(suite);

	if (strncmp(m->name, suite, len) != 0 || m->name[len] != '.' ||
	    strncmp(m->name + len + 1, name, (size_t)(eq - name)) != 0 ||
	    strlen(m->name) != len + 1 + (size_t)(eq - name))
		fail_msg("%s: %s, not %s", file, m->name, line);
	/* Means of several samples depend on the order of additions. */
	if (fabs(m->value - want) > fabs(want) * 1e-15)
		fail_msg("%s: %s is %.17g, not %.17g", file, m->name, m->value, want);
	assert_string_equal(m->unit, unit + 1);
	assert_true(m->headline == headline);
	assert_non_null(m->about);
}

static void gives_exactly_the_expected_metrics(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct output_case *c = output_find(expected[i].file);
		_cleanup_(freep) char *lines = xstrdup(expected[i].metrics);
		size_t len, n = 0;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		struct suite_output out;
		char *save = NULL;

		output_parse(c, text, len, &out);
		for (char *l = strtok_r(lines, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
			if (n >= out.n)
				fail_msg("%s: no %s", c->file, l);
			check_metric(c->file, &out.metrics[n++], c->suite, l);
		}
		if (n != out.n)
			fail_msg("%s: also gives %s", c->file, out.metrics[n].name);
		assert_int_equal(out.problems_n, expected[i].problems);
		suite_output_done(&out);
	}
}

/* A name that a listing does not know cannot be explained to anybody. */
static bool is_listed(const struct suite *s, const struct suite_metric *m)
{
	struct suite_metric_info info;

	for (size_t i = 0; suite_metric_info(s, i, &info); i++) {
		const char *star = strchr(info.name, '*');
		size_t head = star ? (size_t)(star - info.name) : strlen(info.name);
		const char *tail = star ? strrchr(info.name, '*') + 1 : "";

		if (!strncmp(info.name, m->name, head) && strlen(m->name) >= head + strlen(tail) &&
		    !strcmp(m->name + strlen(m->name) - strlen(tail), tail) &&
		    (star || !m->name[head]))
			return true;
	}
	return false;
}

static void every_metric_is_in_the_listing_of_its_suite(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct output_case *c = output_find(expected[i].file);
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		struct suite_output out;

		output_parse(c, text, len, &out);
		for (size_t k = 0; k < out.n; k++)
			if (!is_listed(suite_find(c->suite), &out.metrics[k]))
				fail_msg("%s is not listed", out.metrics[k].name);
		suite_output_done(&out);
	}
}

static void the_headline_of_the_job_is_the_headline_of_the_output(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct output_case *c = output_find(expected[i].file);
		size_t len;
		_cleanup_(freep) char *text = output_read(c->file, &len);
		const struct suite_metric *m;
		struct output_params p;
		struct suite_output out;

		if (!c->test || strstr(c->file, "simple"))
			continue;
		output_params_init(&p, c->params);
		output_parse(c, text, len, &out);
		m = suite_metric_find(&out,
				      suite_headline(suite_find(c->suite), c->test, p.items, p.n));
		assert_non_null(m);
		assert_true(m->headline);
		suite_output_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_exactly_the_expected_metrics),
		cmocka_unit_test(every_metric_is_in_the_listing_of_its_suite),
		cmocka_unit_test(the_headline_of_the_job_is_the_headline_of_the_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
