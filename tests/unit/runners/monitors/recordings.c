/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/runners/monitors/recordings.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct recording recordings[] = {
	{ "vmstat", "vmstat", 6.06 },
	{ "mpstat", "mpstat", 6.06 },
	{ "proc-vmstat", "proc-vmstat", 6.06 },
	{ "meminfo", "meminfo", 6.06 },
	{ "numa-vmstat", "numa-vmstat", 6.06 },
	{ "interrupts", "interrupts", 6.06 },
	{ "softirqs", "softirqs", 6.06 },
	{ "slabinfo", "slabinfo", 6.06 },
	{ "diskstats", "diskstats", 6.06 },
	{ "schedstat-15", "schedstat", 2 },
	{ "schedstat-17", "schedstat", 2 },
	{ "sysstat-a-ampm", "mpstat", 1 },
	{ "sysstat-b-epoch", "mpstat", 1 },
	{ "sysstat-c-ja", "mpstat", 1 },
	{ "sysstat-d-iso", "mpstat", 1 },
	{ "sysstat-e-midnight", "mpstat", 3 },
	{ "perf-stat-csv", "perf-stat", 0.2 },
	{ "perf-stat-json", "perf-stat", 0.2 },
	{ "perf-stat-interval", "perf-stat", 1.7 },
	{ "perf-stat-hardware", "perf-stat", 2.0002 },
	{ "perf-script", "perf-profile", 2 },
	{ "perf-report", "perf-profile", 2 },
	{ "turbostat-2013", "turbostat", 2 },
	{ "turbostat-2018", "turbostat", 2 },
	{ "turbostat-2022", "turbostat", 2 },
	{ 0 },
};

char *recording_load(const char *name, size_t *ret_len)
{
	_cleanup_(freep) char *path =
		xasprintf("%s/tests/data/monitors/%s.txt", TEST_SOURCE_DIR, name);
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	struct strbuf b = STRBUF_INIT;
	char buf[65536];
	size_t n;

	if (!f)
		fail_msg("no %s", path);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(&b, buf, n);
	*ret_len = b.len;
	return strbuf_take(&b);
}

void recording_parse(const char *monitor, const char *text, size_t len, double span_s,
		     struct suite_output *out)
{
	struct monitor_run run = { .span_s = span_s, .work = 10, .cpus = 2 };
	const struct monitor *m = monitor_find(monitor);

	assert_non_null(m);
	*out = (struct suite_output){ 0 };
	monitor_parse(m, text, len, &run, out);
	check_sane(out);
}

void recording_read(const char *name, const char *monitor, double span_s, struct suite_output *out)
{
	size_t len;
	_cleanup_(freep) char *text = recording_load(name, &len);

	recording_parse(monitor, text, len, span_s, out);
}

void expect_metric(const struct suite_output *out, const char *name, double value, const char *unit)
{
	const struct suite_metric *m = suite_metric_find(out, name);

	if (!m)
		fail_msg("no %s", name);
	if (fabs(m->value - value) > 1e-9 * fmax(fabs(value), fabs(m->value)))
		fail_msg("%s is %.17g, not %.17g", name, m->value, value);
	assert_string_equal(m->unit, unit);
}

void expect_missing(const struct suite_output *out, const char *name)
{
	const struct suite_metric *m = suite_metric_find(out, name);

	if (m)
		fail_msg("%s is there: %g", name, m->value);
}

void expect_problem(const struct suite_output *out, const char *text)
{
	for (size_t i = 0; i < out->problems_n; i++)
		if (strstr(out->problems[i].text, text))
			return;
	fail_msg("no problem says '%s', the first of %zu is '%s'", text, out->problems_n,
		 out->problems_n ? out->problems[0].text : "");
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void check_sane(const struct suite_output *out)
{
	_cleanup_(freep) const char **names = xcalloc(out->n + 1, sizeof(*names));

	for (size_t i = 0; i < out->n; i++) {
		const struct suite_metric *m = &out->metrics[i];

		names[i] = m->name;
		assert_true(isfinite(m->value) && m->value >= 0);
		assert_false(m->headline);
		assert_int_equal(m->better, BETTER_NONE);
		assert_true(m->unit && *m->unit && m->about && *m->about);
		assert_true(strlen(m->name) < 500);
		for (const char *p = m->name; *p; p++)
			assert_true(*p > ' ' && *p <= '~');
	}
	qsort(names, out->n, sizeof(*names), name_cmp);
	for (size_t i = 1; i < out->n; i++)
		if (!strcmp(names[i - 1], names[i]))
			fail_msg("%s is there twice", names[i]);
	assert_true(out->problems_n <= 100);
	for (size_t i = 0; i < out->problems_n; i++)
		for (const char *p = out->problems[i].text; *p; p++)
			assert_true(*p >= ' ' && *p <= '~');
	assert_true(out->n > 0 || out->problems_n > 0);
}
