/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the agent records on this machine, read as the recordings of any machine. */
#include "bot/base/cleanup.h"
#include "runners/monitors/monitor.h"
#include "tests/integration/lab/agent_talk.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define WORK 20

static const char *note(const struct talk *t, const char *key)
{
	const char *s = json_string_value(json_object_get(t->ends[0].monitors, key));

	return s ? s : "nothing";
}

/* A job that starts @WORK programs. */
static void record(struct talk *t, char **monitors)
{
	static const char *const scripts[] = {
		"for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; /bin/true; sleep 0.05; done", NULL
	};
	struct shell_job j;

	shell_job(&j, "/tmp", scripts);
	j.job.monitors = monitors;
	j.job.monitor_interval_s = 0.1;
	talk_job(t, &j.job);
	assert_int_equal(t->nended, 1);
	assert_int_equal(t->ends[0].exit_status, 0);
}

/* Return: metrics of @monitor's recording; none if the agent could not make one. */
static struct suite_output read_back(const struct talk *t, const char *monitor)
{
	_cleanup_(freep) char *stream = xasprintf("monitor/%s", monitor);
	const struct strbuf *b = talk_file(t, stream);
	struct monitor_run run = { .span_s = t->ends[0].run_s, .work = WORK, .cpus = 1 };
	struct suite_output out = { 0 };

	if (!b)
		return out;
	monitor_parse(monitor_find(monitor), strbuf_str(b), b->len, &run, &out);
	if (out.n == 0)
		fail_msg("%s: '%s'; %s", monitor, note(t, monitor), out.problems[0].text);
	return out;
}

static double value(const struct suite_output *out, const char *name)
{
	const struct suite_metric *m = suite_metric_find(out, name);

	if (!m)
		fail_msg("no %s; %s", name, out->problems_n ? out->problems[0].text : "");
	return m->value;
}

static void recordings_of_the_default_set_are_understood(void **state)
{
	char *monitors[16] = { 0 };
	const struct monitor *m;
	size_t n = 0, read = 0;
	struct suite_output out;
	struct talk t;

	(void)state;
	for (size_t i = 0; (m = monitor_list(i)); i++)
		if (m->cheap)
			monitors[n++] = ARG(m->name);
	record(&t, monitors);
	for (size_t i = 0; i < n; i++) {
		out = read_back(&t, monitors[i]);
		/* Not every kernel has all files. */
		if (out.n > 0 && out.problems_n > 0)
			fail_msg("%s: line %u: %s", monitors[i], out.problems[0].line,
				 out.problems[0].text);
		read += out.n > 0;
		suite_output_done(&out);
	}
	assert_true(read >= 5);
	talk_done(&t);
}

static void numbers_are_those_of_the_run(void **state)
{
	static const char *const shares[] = { "usr", "nice", "sys",   "idle",  "iowait",
					      "irq", "soft", "steal", "guest", "gnice" };
	char *monitors[] = { ARG("time"),	 ARG("vmstat"),	 ARG("mpstat"),
			     ARG("proc-vmstat"), ARG("meminfo"), NULL };
	struct monitor_run run = { .work = WORK };
	struct suite_output out = { 0 };
	double total = 0;
	struct talk t;

	(void)state;
	record(&t, monitors);
	out = read_back(&t, "vmstat");
	/* Two shells' worth of programs and ten sleeps are started. */
	assert_true(value(&out, "vmstat.system.forks.per_op") * WORK >= 30);
	assert_true(value(&out, "vmstat.system.cs") > 0);
	suite_output_done(&out);
	out = read_back(&t, "mpstat");
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		_cleanup_(freep) char *name = xasprintf("mpstat.cpu.all.%s%%", shares[i]);
		const struct suite_metric *m = suite_metric_find(&out, name);

		total += m ? m->value : 0;
	}
	assert_near(total, 100, 1e-9);
	suite_output_done(&out);
	out = read_back(&t, "proc-vmstat");
	assert_true(value(&out, "proc-vmstat.pgfault.per_op") > 50);
	suite_output_done(&out);
	out = read_back(&t, "meminfo");
	assert_near(value(&out, "meminfo.MemTotal") * 1024,
		    (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), 0.01);
	suite_output_done(&out);
	run.span_s = t.ends[0].run_s;
	monitor_parse_rusage(t.ends[0].rusage, &run, &out);
	assert_int_equal(out.problems_n, 0);
	assert_true(value(&out, "time.elapsed_time") >= 0.5);
	assert_true(value(&out, "time.minor_page_faults.per_op") > 50);
	assert_true(value(&out, "time.maximum_resident_set_size") > 500);
	suite_output_done(&out);
	talk_done(&t);
}

static void profiles_are_understood_where_perf_is(void **state)
{
	char *monitors[] = { ARG("perf-stat"), ARG("perf-profile"), NULL };
	struct suite_output out;
	struct talk t;

	(void)state;
	record(&t, monitors);
	if (!strcmp(note(&t, "perf-stat"), "ok")) {
		out = read_back(&t, "perf-stat");
		assert_true(value(&out, "perf-stat.i.context-switches") > 0);
		suite_output_done(&out);
	}
	if (!strcmp(note(&t, "perf-profile"), "ok")) {
		double self = 0;

		out = read_back(&t, "perf-profile");
		for (size_t i = 0; i < out.n; i++)
			if (strstr(out.metrics[i].name, "perf-profile.self."))
				self += out.metrics[i].value;
		assert_true(self > 50 && self < 100.01);
		suite_output_done(&out);
	}
	talk_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings_of_the_default_set_are_understood),
		cmocka_unit_test(numbers_are_those_of_the_run),
		cmocka_unit_test(profiles_are_understood_where_perf_is),
	};

	return cmocka_run_group_tests_name("recordings of the agent", tests, NULL, NULL);
}
