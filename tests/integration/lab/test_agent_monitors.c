/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the real agent records beside a run. */
#include "bot/base/file.h"
#include "tests/integration/lab/agent_talk.h"
#include "tests/test.h"

#include <string.h>
#include <sys/stat.h>

static char scratch[] = "/tmp/kperfbot-monitor-test-XXXXXX";

static const char *note(const struct talk *t, const char *key)
{
	return json_string_value(json_object_get(t->ends[0].monitors, key));
}

static unsigned count(const struct strbuf *b, const char *word)
{
	unsigned n = 0;

	for (const char *p = strbuf_str(b); (p = strstr(p, word)); p++)
		n++;
	return n;
}

static void job_with(struct talk *t, const char *script, char **monitors, double interval_s,
		     bool own_programs)
{
	const char *const scripts[] = { script, NULL };
	struct shell_job j;

	shell_job(&j, scratch, scripts);
	j.job.monitors = monitors;
	j.job.monitor_interval_s = interval_s;
	if (own_programs)
		j.job.path = scratch;
	talk_job(t, &j.job);
	assert_int_equal(t->nended, 1);
	assert_int_equal(t->ends[0].exit_status, 0);
	assert_int_equal(t->ends[0].left_over, 0);
}

static void files_are_recorded_at_their_times(void **state)
{
	char *monitors[] = { ARG("vmstat"),	     ARG("mpstat"), ARG("meminfo"),
			     ARG("slabinfo"),	     ARG("time"),   ARG("proc-vmstat"),
			     ARG("no-such-monitor"), ARG("vmstat"), NULL };
	const struct strbuf *b;
	struct talk t;

	(void)state;
	job_with(&t, "sleep 0.55", monitors, 0.1, false);
	b = talk_file(&t, "monitor/vmstat");
	/* The first and the last, and those between as far as the machine kept up. */
	assert_in_range(count(b, "#sample "), 4, 8);
	assert_int_equal(count(b, "#file /proc/stat\n"), count(b, "#sample "));
	assert_int_equal(count(b, "#file /proc/loadavg\n"), count(b, "#sample "));
	assert_memory_equal(b->s, "#sample 0.000", 13);
	assert_non_null(strstr(b->s, "\ncpu  "));
	b = talk_file(&t, "monitor/mpstat");
	assert_int_equal(count(b, "#sample "), 2);
	assert_non_null(strstr(b->s, "\n#sample 0."));
	assert_int_equal(count(talk_file(&t, "monitor/proc-vmstat"), "#sample "), 2);
	assert_non_null(strstr(strbuf_str(talk_file(&t, "monitor/meminfo")), "MemTotal:"));
	assert_null(talk_file(&t, "monitor/time"));
	assert_string_equal(note(&t, "vmstat"), "ok");
	assert_string_equal(note(&t, "time"), "ok");
	assert_non_null(strstr(note(&t, "no-such-monitor"), "no monitor of that name"));
	talk_done(&t);
}

static void set_up_and_clean_up_are_not_recorded(void **state)
{
	const char *const scripts[] = { "setup: sleep 0.3", ":", "cleanup: sleep 0.3", NULL };
	char *monitors[] = { ARG("vmstat"), NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.monitors = monitors;
	j.job.monitor_interval_s = 0.1;
	talk_job(&t, &j.job);
	assert_in_range(count(talk_file(&t, "monitor/vmstat"), "#sample "), 2, 3);
	talk_done(&t);
}

static void the_last_sample_comes_also_when_the_run_is_killed(void **state)
{
	const char *const scripts[] = { "sleep 1000", NULL };
	char *monitors[] = { ARG("mpstat"), NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.monitors = monitors;
	j.job.deadline_s = 0.3;
	talk_job(&t, &j.job);
	assert_true(t.ends[0].timed_out);
	assert_int_equal(count(talk_file(&t, "monitor/mpstat"), "#sample "), 2);
	talk_done(&t);
}

static void fake_program(const char *name, const char *script)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", scratch, name);
	struct err e = { 0 };

	(void)unlink(path);
	assert_ok(file_write(path, script, strlen(script), 0755, &e), &e);
}

static void programs_run_beside_the_job_and_are_told_to_end(void **state)
{
	char *monitors[] = { ARG("perf-stat"), ARG("turbostat"), NULL };
	struct talk t;

	(void)state;
	fake_program("perf", "#!/bin/sh\n[ \"$*\" = 'stat -a -x, -I 1000' ] || exit 3\n"
			     "trap 'echo bye >&2; exit 0' INT\necho on >&2\n: >$SCRATCH/on\n"
			     "while :; do sleep 0.02; done\n");
	fake_program("turbostat", "#!/bin/sh\necho 'no MSR access'\nexit 5\n");
	job_with(&t, "while [ ! -e $SCRATCH/on ]; do sleep 0.02; done; rm $SCRATCH/on", monitors, 1,
		 true);
	assert_string_equal(strbuf_str(talk_file(&t, "monitor/perf-stat")),
			    "#program perf-stat\non\nbye\n");
	assert_string_equal(note(&t, "perf-stat"), "ok");
	assert_non_null(strstr(note(&t, "turbostat"), "status 5"));
	assert_non_null(strstr(note(&t, "turbostat"), "no MSR access"));
	talk_done(&t);
}

static void programs_that_are_not_there_are_told(void **state)
{
	char *monitors[] = { ARG("turbostat"), ARG("perf-profile"), NULL };
	const char *const scripts[] = { ":", NULL };
	char *env[] = { ARG("PATH=/nonexistent"), NULL };
	char sh[] = "/bin/sh";
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.argv[0][0] = sh;
	j.job.monitors = monitors;
	j.job.env = env;
	talk_job(&t, &j.job);
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_string_equal(note(&t, "turbostat"), "the program is not on this machine");
	assert_string_equal(note(&t, "perf-profile"), "the program is not on this machine");
	assert_int_equal(t.nfiles, 0);
	talk_done(&t);
}

static void one_that_does_not_end_is_killed(void **state)
{
	char *monitors[] = { ARG("perf-stat"), NULL };
	struct talk t;

	(void)state;
	fake_program("perf", "#!/bin/sh\ntrap '' INT\necho on >&2\n: >$SCRATCH/on\n"
			     "while :; do sleep 0.02; done\n");
	job_with(&t, "while [ ! -e $SCRATCH/on ]; do sleep 0.02; done; rm $SCRATCH/on", monitors, 1,
		 true);
	assert_non_null(strstr(note(&t, "perf-stat"), "cut short, the program died of signal 9"));
	talk_done(&t);
}

static void a_profile_is_what_perf_makes_of_its_file(void **state)
{
	char *monitors[] = { ARG("perf-profile"), NULL };
	const struct strbuf *b;
	struct talk t;

	(void)state;
	fake_program("perf", "#!/bin/sh\nfor last; do :; done\ncase $1 in\nrecord)\n"
			     "[ \"$2 $3 $4 $5\" = '-a -g -F 99' ] || exit 3\n"
			     "trap 'echo data >$last; exit 0' INT\n: >$SCRATCH/on\n"
			     "while :; do sleep 0.02; done ;;\n"
			     "script) [ \"$(cat $last)\" = data ] || exit 4\n"
			     "exec cat " TEST_SOURCE_DIR "/tests/data/monitors/perf-script.txt ;;\n"
			     "esac\n");
	job_with(&t, "while [ ! -e $SCRATCH/on ]; do sleep 0.02; done; rm $SCRATCH/on", monitors, 1,
		 true);
	b = talk_file(&t, "monitor/perf-profile");
	assert_non_null(b);
	assert_memory_equal(b->s, "#program perf-profile\n#profile 1\n", 33);
	assert_non_null(strstr(b->s, "exc_page_fault"));
	assert_string_equal(note(&t, "perf-profile"), "ok");
	talk_done(&t);
}

static int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	return file_remove_tree(scratch, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_recorded_at_their_times),
		cmocka_unit_test(set_up_and_clean_up_are_not_recorded),
		cmocka_unit_test(the_last_sample_comes_also_when_the_run_is_killed),
		cmocka_unit_test(programs_run_beside_the_job_and_are_told_to_end),
		cmocka_unit_test(programs_that_are_not_there_are_told),
		cmocka_unit_test(one_that_does_not_end_is_killed),
		cmocka_unit_test(a_profile_is_what_perf_makes_of_its_file),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
