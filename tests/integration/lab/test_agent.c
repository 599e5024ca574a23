/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the real agent makes of a job: phases, copies, folders, files, limits. */
#include "bot/base/file.h"
#include "tests/integration/lab/agent_talk.h"
#include "tests/test.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MIB 1048576

static char scratch[] = "/tmp/kperfbot-agent-test-XXXXXX";

static char *scratch_text(const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", scratch, name);
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(file_read(path, MIB, &b, &e), &e);
	(void)unlink(path);
	return strbuf_take(&b);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void assert_text_is(char *text, const char *want)
{
	assert_string_equal(text, want);
	free(text);
}

static const char *note(const struct talk *t, const char *key)
{
	return json_string_value(json_object_get(t->ends[0].monitors, key));
}

static void phases_come_in_order_and_only_the_run_is_printed(void **state)
{
	const char *const scripts[] = {
		"cleanup: echo cleaning; echo cleanup >>$SCRATCH/log",
		"echo measured; echo run >>$SCRATCH/log; sleep 0.05",
		"setup: echo preparing; sleep 0.3; echo setup >>$SCRATCH/log",
		"echo again >&2; echo run2 >>$SCRATCH/log", NULL
	};
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_job(&t, &j.job);
	assert_text_is(scratch_text("log"), "setup\nrun\nrun2\ncleanup\n");
	assert_string_equal(strbuf_str(&t.out), "measured\n");
	assert_string_equal(strbuf_str(&t.err), "again\n");
	assert_string_equal(strbuf_str(talk_file(&t, "file/set-up.log")), "preparing\n");
	assert_string_equal(strbuf_str(talk_file(&t, "file/clean-up.log")), "cleaning\n");
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_true(t.ends[0].run_s > 0.04 && t.ends[0].run_s < t.ends[0].wall_s - 0.25);
	assert_null(t.ends[0].failed);
	assert_true(t.bye);
	talk_done(&t);
}

static void clean_up_runs_after_a_set_up_that_failed(void **state)
{
	const char *const scripts[] = { "setup: echo no >&2; exit 7", "echo never",
					"cleanup: false", "cleanup: echo c >$SCRATCH/log", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_job(&t, &j.job);
	assert_text_is(scratch_text("log"), "c\n");
	assert_string_equal(strbuf_str(&t.out), "");
	assert_int_equal(t.ends[0].exit_status, 7);
	assert_string_equal(t.ends[0].failed, "'sh' (set-up)");
	assert_string_equal(strbuf_str(talk_file(&t, "file/set-up.log")), "no\n");
	assert_non_null(json_object_get(t.ends[0].facts, "clean_up_failed"));
	talk_done(&t);
}

static void clean_up_runs_after_a_run_that_was_killed(void **state)
{
	const char *const scripts[] = { "echo before; setsid sleep 1000 & sleep 1000",
					"cleanup: echo c >$SCRATCH/log", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.deadline_s = 0.5;
	talk_job(&t, &j.job);
	assert_text_is(scratch_text("log"), "c\n");
	assert_string_equal(strbuf_str(&t.out), "before\n");
	assert_true(t.ends[0].timed_out);
	assert_int_equal(t.ends[0].signal, SIGKILL);
	assert_true(t.ends[0].left_over >= 1);
	talk_done(&t);
}

static void copies_run_at_the_same_time_with_numbers_of_their_own(void **state)
{
	/* Each waits for the next one: that works only if all of them are there. */
	const char *const scripts[] = {
		"i={i}; n=$((({i}+1)%8)); : >$i; while [ ! -e $n ]; do sleep 0.01; done; "
		"echo copy {i} {i}",
		NULL
	};
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.commands[0].copies = 8;
	talk_job(&t, &j.job);
	for (int i = 0; i < 8; i++) {
		char line[40];

		(void)snprintf(line, sizeof(line), "copy %d %d\n", i, i);
		assert_non_null(strstr(strbuf_str(&t.out), line));
	}
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_int_equal(t.ends[0].left_over, 0);
	talk_done(&t);
}

static void the_first_copy_that_failed_is_told(void **state)
{
	const char *const scripts[] = { "[ {i} != 3 ] || exit 9; [ {i} = 3 ] || sleep 0.2",
					"echo never", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.commands[0].copies = 5;
	talk_job(&t, &j.job);
	assert_int_equal(t.ends[0].exit_status, 9);
	assert_string_equal(strbuf_str(&t.out), "");
	talk_done(&t);
}

static void repeats_as_often_as_asked_and_as_long(void **state)
{
	const char *const scripts[] = { "setup: :", "echo x; sleep 0.1", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.repeat_s = 1000;
	j.job.repeat_max = 3;
	talk_job(&t, &j.job);
	assert_string_equal(strbuf_str(&t.out), "x\nx\nx\n");
	talk_done(&t);
	j.job.repeat_s = 0.15;
	j.job.repeat_max = 0;
	talk_job(&t, &j.job);
	assert_string_equal(strbuf_str(&t.out), "x\nx\n");
	talk_done(&t);
}

static void each_run_has_an_empty_folder_that_goes_with_all_in_it(void **state)
{
	const char *const scripts[] = {
		"ls -A; pwd >>$SCRATCH/dirs; mkdir -p a/b c/d $SCRATCH/outside; "
		": >$SCRATCH/outside/kept; ln -s $SCRATCH/outside link; ln -s . loop; mkfifo fifo; "
		"i=0; while [ $i -lt 300 ]; do mkdir -p deep; cd deep; i=$((i+1)); done; : >end; "
		"cd \"$(head -n1 $SCRATCH/dirs)\"; chmod 0 a/b c; : >a/'new\nline'",
		"mount -t tmpfs none a && : >a/in && mkdir a/bind && mount --bind $SCRATCH/outside "
		"a/bind; :",
		NULL
	};
	_cleanup_(freep) char *kept = xasprintf("%s/outside/kept", scratch);
	char *dirs, *second;
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.runs = 1;
	talk_job(&t, &j.job);
	assert_string_equal(strbuf_str(&t.out), "");
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_null(json_object_get(t.ends[0].facts, "left_in_work_dir"));
	talk_done(&t);
	dirs = scratch_text("dirs");
	second = strchr(dirs, '\n');
	*second = '\0';
	assert_false(exists(dirs));
	/* Its parent too: the agent's own. */
	*strrchr(dirs, '/') = '\0';
	assert_string_not_equal(dirs, "/tmp");
	assert_false(exists(dirs));
	assert_true(exists(kept));
	free(dirs);
}

static void runs_where_it_is_told_to(void **state)
{
	const char *const scripts[] = { "pwd; echo $WHAT; ulimit -n", NULL };
	char *env[] = { ARG("WHAT=it is"), NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.dir = scratch;
	j.job.env = env;
	j.job.nofile = 5000;
	talk_job(&t, &j.job);
	assert_memory_equal(strbuf_str(&t.out), scratch, strlen(scratch));
	assert_non_null(strstr(t.out.s, "\nit is\n"));
	assert_true(strtol(strrchr(t.out.s, 's') + 1, NULL, 10) >= 5000);
	assert_true(exists(scratch));
	talk_done(&t);
	j.job.dir = ARG("/nonexistent/dir");
	talk_job(&t, &j.job);
	assert_non_null(strstr(t.ends[0].error, "cannot enter the working directory"));
	talk_done(&t);
}

static void sends_files_that_are_to_be_kept(void **state)
{
	const char *const scripts[] = {
		"printf 'a\\0b\\n' >kept.txt; : >empty; ln -s /etc/passwd link; mkfifo fifo; "
		"mkdir folder; head -c 2000000 /dev/zero >big; echo x >set-up.log",
		"setup: echo log", NULL
	};
	char *keep[] = { ARG("kept.txt"), ARG("empty"),	     ARG("link"),   ARG("fifo"),
			 ARG("folder"),	  ARG("big"),	     ARG("none"),   ARG("../up"),
			 ARG("kept.txt"), ARG("set-up.log"), ARG("sp ace"), NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.keep = keep;
	talk_job(&t, &j.job);
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_int_equal(talk_file(&t, "file/kept.txt")->len, 4);
	assert_memory_equal(talk_file(&t, "file/kept.txt")->s, "a\0b\n", 4);
	assert_int_equal(talk_file(&t, "file/empty")->len, 0);
	assert_int_equal(talk_file(&t, "file/big")->len, MIB);
	assert_string_equal(note(&t, "file/big"), "cut at the limit of output");
	assert_string_equal(note(&t, "file/link"), "a symbolic link");
	assert_string_equal(note(&t, "file/fifo"), "not a regular file");
	assert_string_equal(note(&t, "file/folder"), "not a regular file");
	assert_string_equal(note(&t, "file/none"), "missing");
	assert_non_null(note(&t, "file/../up"));
	assert_non_null(note(&t, "file/set-up.log"));
	assert_string_equal(strbuf_str(talk_file(&t, "file/set-up.log")), "log\n");
	assert_null(talk_file(&t, "file/link"));
	assert_false(t.ends[0].truncated);
	talk_done(&t);
}

static void a_file_from_before_the_run_is_not_kept(void **state)
{
	const char *const scripts[] = { ":", NULL };
	char *keep[] = { ARG("old"), NULL };
	_cleanup_(freep) char *path = xasprintf("%s/old", scratch);
	struct shell_job j;
	struct err e = { 0 };
	struct talk t;

	(void)state;
	assert_ok(file_write(path, "x", 1, 0644, &e), &e);
	shell_job(&j, scratch, scripts);
	j.job.keep = keep;
	j.job.dir = scratch;
	talk_job(&t, &j.job);
	assert_string_equal(note(&t, "file/old"), "not written by this run");
	assert_int_equal(t.nfiles, 0);
	talk_done(&t);
}

static void programs_are_found_in_order_and_told_with_their_hash(void **state)
{
	static const char script[] = "#!/bin/sh\necho mine\n";
	_cleanup_(freep) char *path = xasprintf("%s/malloc1_threads", scratch);
	char *first[] = { ARG("malloc1_threads"), NULL }, *second[] = { ARG("true"), NULL };
	char *third[] = { ARG("./malloc1_threads"), NULL };
	struct proto_command commands[] = { { .argv = first, .copies = 1 },
					    { .argv = second, .copies = 1 },
					    { .argv = third, .copies = 1 } };
	struct shell_job j;
	const json_t *used;
	struct err e = { 0 };
	struct talk t;

	(void)state;
	assert_ok(file_write(path, script, strlen(script), 0755, &e), &e);
	(void)setenv("FAKE_WORKLOADS_MODE", "ok", 1);
	shell_job(&j, scratch, (const char *const[]){ ":", NULL });
	j.job.commands = commands;
	j.job.ncommands = 2;
	talk_job(&t, &j.job);
	/* The bundled one first, then PATH. */
	assert_string_equal(strbuf_str(&t.out), "testcase:malloc1_threads\n");
	used = json_array_get(t.ends[0].programs, 0);
	assert_non_null(strstr(json_string_value(json_object_get(used, "path")), "fake_workloads"));
	used = json_array_get(t.ends[0].programs, 1);
	assert_string_equal(json_string_value(json_object_get(used, "name")), "true");
	assert_int_equal(strlen(json_string_value(json_object_get(used, "sha256"))), 64);
	talk_done(&t);
	j.job.path = scratch;
	j.job.dir = scratch;
	j.job.ncommands = 3;
	talk_job(&t, &j.job);
	assert_string_equal(strbuf_str(&t.out), "mine\nmine\n");
	used = json_array_get(t.ends[0].programs, 0);
	assert_string_equal(json_string_value(json_object_get(used, "path")), path);
	assert_string_equal(json_string_value(json_object_get(used, "sha256")),
			    "58faa9b08dd73803a0074706c867ee88c4e38420bcab78944d366718a2fdf5df");
	talk_done(&t);
	/* What is started by others tells the version of the suite as well. */
	j.job.identify = (char *[]){ ARG("malloc1_threads"), path, ARG("nothing"), NULL };
	commands[0].argv = second;
	j.job.ncommands = 1;
	talk_job(&t, &j.job);
	used = json_array_get(t.ends[0].programs, 0);
	assert_string_equal(json_string_value(json_object_get(used, "name")),
			    "suite:malloc1_threads");
	assert_string_equal(json_string_value(json_object_get(used, "sha256")),
			    "58faa9b08dd73803a0074706c867ee88c4e38420bcab78944d366718a2fdf5df");
	used = json_array_get(t.ends[0].programs, 1);
	assert_string_equal(json_string_value(json_object_get(used, "name")), "suite:nothing");
	assert_null(json_object_get(used, "sha256"));
	talk_done(&t);
}

static void a_program_that_is_nowhere_is_told(void **state)
{
	char *argv[] = { ARG("no-such-program"), NULL };
	struct proto_command commands[2], command = { .argv = argv, .copies = 3 };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, (const char *const[]){ ":", NULL });
	j.job.commands = &command;
	j.job.ncommands = 1;
	talk_job(&t, &j.job);
	assert_non_null(strstr(t.ends[0].error, "no program 'no-such-program' on this machine"));
	assert_int_equal(t.ends[0].exit_status, -1);
	talk_done(&t);
	argv[0] = ARG("/etc/passwd");
	talk_job(&t, &j.job);
	assert_string_equal(t.ends[0].error, "cannot execute '/etc/passwd': Permission denied");
	talk_done(&t);
	/* Reasons are cut, and stay text. */
	commands[0] = commands[1] = command;
	commands[1].phase = PROTO_PHASE_CLEANUP;
	j.job.commands = commands;
	j.job.ncommands = 2;
	for (size_t shift = 0; shift < 2; shift++) {
		struct strbuf name = STRBUF_INIT;

		strbuf_addstr(&name, shift ? "./x" : "./");
		for (size_t i = 0; i < 150; i++)
			strbuf_addstr(&name, "\303\274");
		argv[0] = name.s;
		talk_job(&t, &j.job);
		assert_non_null(t.ends[0].error);
		assert_non_null(t.ends[0].failed);
		assert_non_null(json_object_get(t.ends[0].facts, "clean_up_failed"));
		talk_done(&t);
		strbuf_done(&name);
	}
}

static void a_run_that_takes_its_folder_away_is_survived(void **state)
{
	const char *const scripts[] = { "rm -rf \"$PWD\"", NULL };
	const char *const other[] = { "d=$PWD; cd ..; mv \"$d\" moved; ln -s / \"$d\"", NULL };
	char *keep[] = { ARG("etc"), NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.keep = keep;
	talk_job(&t, &j.job);
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_string_equal(note(&t, "file/etc"), "the working directory is gone");
	talk_done(&t);
	shell_job(&j, scratch, other);
	talk_job(&t, &j.job);
	assert_int_equal(t.ends[0].exit_status, 0);
	assert_non_null(json_object_get(t.ends[0].facts, "left_in_work_dir"));
	assert_true(exists("/etc/passwd"));
	talk_done(&t);
}

static void output_above_the_cap_is_dropped_and_memory_stays_small(void **state)
{
	const char *const scripts[] = {
		"head -c 2000000000 /dev/zero",
		"cleanup: grep VmHWM /proc/$PPID/status | tr -dc 0-9 >$SCRATCH/peak", NULL
	};
	_cleanup_(freep) char *peak = NULL;
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_job(&t, &j.job);
	assert_int_equal(t.out.len, MIB);
	assert_true(t.ends[0].truncated);
	assert_int_equal(t.ends[0].exit_status, 0);
	peak = scratch_text("peak");
	assert_true(strtol(peak, NULL, 10) > 0 && strtol(peak, NULL, 10) < 16384);
	talk_done(&t);
}

static void bytes_pass_as_they_are(void **state)
{
	const char *const scripts[] = { "printf 'a\\0b\\377\\001kpF\\267'; printf '\\0' >&2",
					NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_job(&t, &j.job);
	assert_int_equal(t.out.len, 9);
	assert_memory_equal(t.out.s, "a\0b\377\001kpF\267", 9);
	assert_int_equal(t.err.len, 1);
	talk_done(&t);
}

static void what_the_set_up_starts_lives_until_the_end(void **state)
{
	const char *const scripts[] = {
		"setup: setsid sh -c 'echo $$ >$SCRATCH/daemon; exec sleep 1000' >/dev/null 2>&1 & "
		"while [ ! -s $SCRATCH/daemon ]; do sleep 0.01; done",
		"sleep 1000 >/dev/null 2>&1 & :", "kill -0 $(cat $SCRATCH/daemon) && echo alive",
		"cleanup: kill -0 $(cat $SCRATCH/daemon) && echo still", NULL
	};
	char *daemon;
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_job(&t, &j.job);
	assert_string_equal(strbuf_str(&t.out), "alive\n");
	assert_string_equal(strbuf_str(talk_file(&t, "file/clean-up.log")), "still\n");
	assert_int_equal(t.ends[0].left_over, 1);
	daemon = scratch_text("daemon");
	assert_int_equal(kill((pid_t)strtol(daemon, NULL, 10), 0), -1);
	free(daemon);
	talk_done(&t);
}

static void a_driver_that_goes_away_ends_the_run(void **state)
{
	const char *const scripts[] = { "echo $$ >$SCRATCH/pid; echo started; exec sleep 1000",
					"cleanup: echo c >$SCRATCH/log", NULL };
	char *pid;
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_start(&t);
	talk_send(&t, &j.job);
	talk_until_out(&t, "started\n");
	(void)close(t.fd);
	t.fd = -1;
	(void)talk_finish(&t);
	assert_text_is(scratch_text("log"), "c\n");
	pid = scratch_text("pid");
	assert_int_equal(kill((pid_t)strtol(pid, NULL, 10), 0), -1);
	free(pid);
	talk_done(&t);
}

static void what_a_killed_benchmark_leaves_in_tmp_is_swept(void **state)
{
	const char *const scripts[] = {
		": >/tmp/willitscale.killed; mkdir -p /tmp/willitscale.folder/1; "
		": >/tmp/willitscale.folder/1/x; ln -s $SCRATCH /tmp/willitscale.link; "
		": >/dev/shm/willitscale.shm; : >/tmp/not-willitscale.kept; sleep 1000",
		NULL
	};
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	j.job.deadline_s = 0.5;
	talk_job(&t, &j.job);
	assert_true(t.ends[0].timed_out);
	assert_false(exists("/tmp/willitscale.killed"));
	assert_false(exists("/tmp/willitscale.folder"));
	assert_false(exists("/tmp/willitscale.link"));
	assert_false(exists("/dev/shm/willitscale.shm"));
	assert_true(exists(scratch));
	assert_int_equal(unlink("/tmp/not-willitscale.kept"), 0);
	talk_done(&t);
}

static void the_facts_are_there(void **state)
{
	static const char *const keys[] = { "kernel",	  "cmdline",	     "tmp_fs",
					    "shm_fs",	  "work_fs",	     "cpus",
					    "numa_nodes", "mitigations",     "taint",
					    "agent",	  "hypervisor",	     "compiler",
					    "aslr",	  "swap_total_bytes" };
	const char *const scripts[] = { ":", NULL };
	struct shell_job j;
	struct talk t;

	(void)state;
	shell_job(&j, scratch, scripts);
	talk_job(&t, &j.job);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_non_null(json_object_get(t.hello.facts, keys[i]));
		assert_non_null(json_object_get(t.ready.facts, keys[i]));
		assert_null(json_object_get(t.ends[0].facts, keys[i]));
	}
	assert_true(json_is_false(json_object_get(t.ready.facts, "program_aslr")));
	assert_true(t.ends[0].clock_jump_s > -0.5 && t.ends[0].clock_jump_s < 0.5);
	assert_int_equal(t.ends[0].taint,
			 json_integer_value(json_object_get(t.ready.facts, "taint")));
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
		cmocka_unit_test(phases_come_in_order_and_only_the_run_is_printed),
		cmocka_unit_test(clean_up_runs_after_a_set_up_that_failed),
		cmocka_unit_test(clean_up_runs_after_a_run_that_was_killed),
		cmocka_unit_test(copies_run_at_the_same_time_with_numbers_of_their_own),
		cmocka_unit_test(the_first_copy_that_failed_is_told),
		cmocka_unit_test(repeats_as_often_as_asked_and_as_long),
		cmocka_unit_test(each_run_has_an_empty_folder_that_goes_with_all_in_it),
		cmocka_unit_test(runs_where_it_is_told_to),
		cmocka_unit_test(sends_files_that_are_to_be_kept),
		cmocka_unit_test(a_file_from_before_the_run_is_not_kept),
		cmocka_unit_test(programs_are_found_in_order_and_told_with_their_hash),
		cmocka_unit_test(a_program_that_is_nowhere_is_told),
		cmocka_unit_test(a_run_that_takes_its_folder_away_is_survived),
		cmocka_unit_test(output_above_the_cap_is_dropped_and_memory_stays_small),
		cmocka_unit_test(bytes_pass_as_they_are),
		cmocka_unit_test(what_the_set_up_starts_lives_until_the_end),
		cmocka_unit_test(a_driver_that_goes_away_ends_the_run),
		cmocka_unit_test(what_a_killed_benchmark_leaves_in_tmp_is_swept),
		cmocka_unit_test(the_facts_are_there),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
