/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A driver's side of the talk, with agents that lie. */
#include "runners/drivers/session.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static char mode_key[] = "mode", mode_value[] = "process", thread_value[] = "thread";
static char task_key[] = "nr_task", task_value[] = "100%";
static struct suite_param params[] = { { mode_key, mode_value }, { task_key, task_value } };

/* struct talk - a session, and the agent's bytes for it. */
struct talk {
	struct lab_machine machine;
	struct lab_request request;
	struct lab_result result;
	struct session session;
	struct strbuf bytes;
	char states[200];
};

static void on_progress(void *arg, enum lab_state state)
{
	struct talk *t = arg;

	(void)strcat(t->states, lab_state_name(state));
	(void)strcat(t->states, " ");
}

static void talk_init(struct talk *t)
{
	memset(t, 0, sizeof(*t));
	t->machine = (struct lab_machine){ .name = "m", .driver = "local" };
	t->request = (struct lab_request){ .suite = "will-it-scale",
					   .test = "page_fault1",
					   .params = params,
					   .nparams = 2,
					   .runs = 2,
					   .nonce = "n",
					   .progress = on_progress,
					   .progress_arg = t };
	t->result.setup_s = NAN;
	session_init(&t->session, &t->machine, &t->request, &t->result, false);
}

static void talk_done(struct talk *t)
{
	session_done(&t->session);
	lab_result_done(&t->result);
	strbuf_done(&t->bytes);
}

/* What was written so far reaches the session. */
static void send(struct talk *t)
{
	struct err e = { 0 };

	assert_ok(session_add(&t->session, t->bytes.s, t->bytes.len, &e), &e);
	strbuf_reset(&t->bytes);
}

static void raw(struct talk *t, enum proto_type type, const char *json)
{
	struct err e = { 0 };

	assert_ok(proto_frame_add(&t->bytes, type, json, strlen(json), &e), &e);
	send(t);
}

static void hello(struct talk *t, int cpus, uint64_t bytes, json_t *facts)
{
	static char release[] = "6.12", nonce[] = "n";
	struct proto_hello h = { .version = PROTO_VERSION,
				 .cpus = cpus,
				 .mem_total_bytes = bytes,
				 .mem_available_bytes = bytes,
				 .release = release,
				 .nonce = nonce,
				 .facts = facts };
	struct err e = { 0 };

	assert_ok(proto_hello_add(&t->bytes, &h, &e), &e);
	json_decref(facts);
	send(t);
}

/* Until the first run has begun. */
static void run_begin(struct talk *t)
{
	hello(t, 4, 1ull << 33, json_object());
	raw(t, PROTO_READY, "{\"settings\":{\"thp\":\"never\"},\"facts\":{\"cpus\":4,\"a\":1}}");
	raw(t, PROTO_RUN_START, "{\"run\":0}");
}

static void output(struct talk *t, int stream, const char *data, size_t len)
{
	proto_output_add(&t->bytes, stream, data, len);
	send(t);
}

static struct proto_job job_sent(struct talk *t)
{
	struct proto_decoder d = { 0 };
	struct proto_job job = { 0 };
	struct proto_frame f;
	struct err e = { 0 };

	proto_decoder_add(&d, t->session.out.s, t->session.out.len);
	assert_int_equal(proto_decoder_next(&d, &f, NULL), 1);
	assert_ok(proto_job_parse(&f, &job, &e), &e);
	proto_decoder_done(&d);
	return job;
}

#define RUN_END                                                                                \
	"\"exit\":0,\"signal\":0,\"timed_out\":false,\"truncated\":false,\"left_over\":0,"     \
	"\"wall_s\":9.5,\"run_s\":8.5,\"clock_jump_s\":0.001,\"taint\":512,"                   \
	"\"programs\":[{\"name\":\"x\"}],\"monitors\":{\"vmstat\":\"ok\",\"meminfo\":\"cut "   \
	"at 64 MiB\",\"file/a\":\"cut at the limit\"},\"facts\":{\"governor\":\"powersave\"}," \
	"\"rusage\":{\"utime_s\":1}}"

static void takes_a_whole_talk(void **state)
{
	struct lab_run *run;
	struct talk t;

	(void)state;
	talk_init(&t);
	run_begin(&t);
	output(&t, PROTO_STDOUT, "a\0b", 3);
	output(&t, PROTO_STDERR, "err", 3);
	raw(&t, PROTO_STREAM, "{\"stream\":3,\"name\":\"monitor/vmstat\"}");
	raw(&t, PROTO_STREAM, "{\"stream\":66,\"name\":\"file/a\"}");
	raw(&t, PROTO_STREAM, "{\"stream\":4,\"name\":\"monitor/meminfo\"}");
	output(&t, 3, "one", 3);
	output(&t, 66, "\0", 1);
	output(&t, 3, "two", 3);
	raw(&t, PROTO_RUN_END, "{\"run\":0," RUN_END);
	raw(&t, PROTO_RUN_START, "{\"run\":1}");
	raw(&t, PROTO_STREAM, "{\"stream\":3,\"name\":\"monitor/vmstat\"}");
	raw(&t, PROTO_RUN_END, "{\"run\":1," RUN_END);
	raw(&t, PROTO_BYE, "");
	session_end(&t.session);
	assert_int_equal(t.result.class, LAB_OK);
	assert_int_equal(t.result.nruns, 2);
	assert_true(t.result.setup_s >= 0);
	assert_string_equal(t.states, "up running collecting ");
	assert_string_equal(json_string_value(json_object_get(t.result.settings, "thp")), "never");
	assert_int_equal(json_integer_value(json_object_get(t.result.facts, "a")), 1);
	run = &t.result.runs[0];
	assert_int_equal(run->raw_len, 3);
	assert_string_equal(run->errors, "err");
	assert_true(run->run_s == 8.5 && run->clock_jump_s == 0.001 && run->taint == 512);
	assert_int_equal(json_array_size(run->programs), 1);
	assert_string_equal(json_string_value(json_object_get(run->facts, "governor")),
			    "powersave");
	assert_int_equal(run->nfiles, 3);
	assert_string_equal(run->files[0].name, "monitor/vmstat");
	assert_string_equal(run->files[0].data, "onetwo");
	assert_false(run->files[0].truncated);
	assert_int_equal(run->files[1].len, 1);
	assert_true(run->files[1].truncated);
	assert_true(run->files[2].truncated);
	assert_int_equal(run->files[2].len, 0);
	assert_int_equal(t.result.runs[1].nfiles, 1);
	talk_done(&t);
}

/* struct lie - messages after the first run began, and what they come to. */
struct lie {
	enum proto_type type;
	const char *json;
	const char *why;
};

static const struct lie lies[] = {
	{ PROTO_STREAM, "{\"stream\":2,\"name\":\"monitor/x\"}", "'stream'" },
	{ PROTO_STREAM, "{\"stream\":67,\"name\":\"monitor/x\"}", "'stream'" },
	{ PROTO_STREAM, "{\"stream\":3,\"name\":\"other/x\"}", "no name of a stream" },
	{ PROTO_STREAM, "{\"stream\":3,\"name\":\"file/../../etc/x\"}", "no name of a stream" },
	{ PROTO_STREAM, "{\"stream\":3,\"name\":\"file/a b\"}", "no name of a stream" },
	{ PROTO_STREAM, "{\"stream\":3,\"name\":\"file/\"}", "no name of a stream" },
	{ PROTO_STREAM, "{\"stream\":3,\"name\":\"file/a\\u0000b\"}", "" },
	{ PROTO_STREAM, "{\"stream\":3}", "'name'" },
	{ PROTO_OUTPUT, "", "names no stream" },
	{ PROTO_OUTPUT, "\003x", "did not name" },
	{ PROTO_OUTPUT, "\377x", "names no stream" },
	{ PROTO_RUN_START, "{\"run\":1}", "not its turn" },
	{ PROTO_RUN_END, "{\"run\":1," RUN_END, "not open" },
	{ PROTO_RUN_END, "{\"run\":0,\"exit\":0}", "'signal'" },
	{ PROTO_RUN_END, "{\"run\":0,\"wall_s\":-1," RUN_END, "" },
	{ PROTO_READY, "{}", "not its turn" },
	{ PROTO_HELLO, "{}", "hello twice" },
	{ PROTO_JOB, "{}", "only a driver sends" },
};

static void a_lie_is_the_agents_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct talk t;

		talk_init(&t);
		run_begin(&t);
		output(&t, PROTO_STDOUT, "before", 6);
		raw(&t, lies[i].type, lies[i].json);
		assert_true(t.session.over);
		assert_int_equal(t.result.class, LAB_AGENT);
		assert_non_null(strstr(t.result.detail, lies[i].why));
		session_end(&t.session);
		assert_int_equal(t.result.runs[0].class, LAB_AGENT);
		assert_string_equal(t.result.runs[0].raw, "before");
		talk_done(&t);
	}
}

static void a_stream_ends_with_its_run(void **state)
{
	struct talk t;

	(void)state;
	talk_init(&t);
	run_begin(&t);
	raw(&t, PROTO_STREAM, "{\"stream\":3,\"name\":\"monitor/vmstat\"}");
	raw(&t, PROTO_RUN_END, "{\"run\":0," RUN_END);
	raw(&t, PROTO_RUN_START, "{\"run\":1}");
	output(&t, 3, "x", 1);
	assert_int_equal(t.result.class, LAB_AGENT);
	talk_done(&t);
	talk_init(&t);
	run_begin(&t);
	raw(&t, PROTO_RUN_END, "{\"run\":0," RUN_END);
	raw(&t, PROTO_STREAM, "{\"stream\":3,\"name\":\"monitor/vmstat\"}");
	assert_non_null(strstr(t.result.detail, "outside of a run"));
	talk_done(&t);
}

static void a_run_before_the_machine_is_ready_is_refused(void **state)
{
	struct talk t;

	(void)state;
	talk_init(&t);
	hello(&t, 4, 1ull << 33, json_object());
	raw(&t, PROTO_RUN_START, "{\"run\":0}");
	assert_int_equal(t.result.class, LAB_AGENT);
	assert_true(isnan(t.result.setup_s));
	talk_done(&t);
}

static void streams_are_capped_each_and_together(void **state)
{
	enum {
		PIECE = 300,
		EACH = 6400,
		ALL = 4 * EACH
	};
	_cleanup_(freep) char *data = xcalloc(1, PIECE);
	size_t all = 0;
	struct talk t;

	(void)state;
	talk_init(&t);
	assert_int_equal(t.session.file_max, 64 << 20);
	assert_int_equal(t.session.files_max, 256 << 20);
	t.session.file_max = EACH;
	t.session.files_max = ALL;
	run_begin(&t);
	for (unsigned i = 0; i < 5; i++) {
		char line[80];

		(void)snprintf(line, sizeof(line), "{\"stream\":%u,\"name\":\"file/f%u\"}",
			       PROTO_NAMED + i, i);
		raw(&t, PROTO_STREAM, line);
		for (size_t sent = 0; sent <= EACH; sent += PIECE)
			output(&t, (int)(PROTO_NAMED + i), data, PIECE);
	}
	raw(&t, PROTO_RUN_END, "{\"run\":0," RUN_END);
	for (unsigned i = 0; i < 5; i++) {
		const struct lab_file *f = &t.result.runs[0].files[i];

		assert_true(f->truncated);
		assert_int_equal(f->len, i < 4 ? EACH : 0);
		all += f->len;
	}
	assert_int_equal(all, ALL);
	talk_done(&t);
}

static void a_set_up_that_failed_is_the_machines_fault(void **state)
{
	struct talk t;

	(void)state;
	talk_init(&t);
	hello(&t, 4, 1ull << 33, json_object());
	raw(&t, PROTO_FAULT, "{\"stage\":\"setup\",\"text\":\"governor 'x' did not take\"}");
	raw(&t, PROTO_BYE, "");
	session_end(&t.session);
	assert_int_equal(t.result.class, LAB_SETUP);
	assert_string_equal(t.result.detail, "governor 'x' did not take");
	talk_done(&t);
}

static void a_machine_that_is_too_small_is_told_with_the_numbers(void **state)
{
	static char many[] = "3000";
	struct suite_param own[] = { { mode_key, mode_value }, { task_key, many } };
	struct talk t;

	(void)state;
	talk_init(&t);
	hello(&t, 4, 256ull << 20, json_object());
	assert_int_equal(t.result.class, LAB_TOO_SMALL);
	assert_non_null(strstr(t.result.detail, "512 MiB"));
	assert_non_null(strstr(t.result.detail, "256 MiB"));
	assert_true(t.session.over);
	assert_int_equal(t.session.out.len, 0);
	talk_done(&t);
	talk_init(&t);
	t.request.params = own;
	hello(&t, 4, 1ull << 50, json_object());
	assert_int_equal(t.result.class, LAB_TOO_SMALL);
	assert_non_null(strstr(t.result.detail, "3000"));
	talk_done(&t);
}

static void plans_for_the_cpus_that_smt_leaves(void **state)
{
	static char smt[] = "smt", off[] = "off", on[] = "on";
	const struct suite_param settings[] = { { smt, off } };
	const struct suite_param back[] = { { smt, on } };
	struct proto_job job;
	struct talk t;

	(void)state;
	talk_init(&t);
	t.request.settings = settings;
	t.request.nsettings = 1;
	hello(&t, 8, 1ull << 40,
	      json_pack("{ss si si}", "smt", "on", "cores", 4, "cpus_present", 8));
	job = job_sent(&t);
	assert_string_equal(job.commands[0].argv[2], "4");
	proto_job_done(&job);
	raw(&t, PROTO_READY, "{\"facts\":{\"cpus\":4}}");
	assert_int_equal(t.result.class, LAB_OK);
	talk_done(&t);
	talk_init(&t);
	t.request.settings = back;
	t.request.nsettings = 1;
	hello(&t, 4, 1ull << 40,
	      json_pack("{ss si si}", "smt", "off", "cores", 4, "cpus_present", 8));
	job = job_sent(&t);
	assert_string_equal(job.commands[0].argv[2], "8");
	proto_job_done(&job);
	raw(&t, PROTO_READY, "{\"facts\":{\"cpus\":4}}");
	assert_int_equal(t.result.class, LAB_SETUP);
	assert_non_null(strstr(t.result.detail, "has 4 CPUs now, and the job is planned for 8"));
	talk_done(&t);
	/* Hostile numbers change nothing. */
	talk_init(&t);
	t.request.settings = settings;
	t.request.nsettings = 1;
	hello(&t, 8, 1ull << 40, json_pack("{ss sI}", "smt", "on", "cores", (json_int_t)1 << 40));
	job = job_sent(&t);
	assert_string_equal(job.commands[0].argv[2], "8");
	proto_job_done(&job);
	talk_done(&t);
}

#define HUNG                                                                          \
	"{\"run\":0,\"exit\":-1,\"signal\":9,\"timed_out\":true,\"truncated\":false," \
	"\"left_over\":1,\"wall_s\":9,\"run_s\":9,\"clock_jump_s\":0,\"taint\":0,\"rusage\":{}}"

static void a_run_that_hangs_after_its_result_counts(void **state)
{
	static const char whole[] =
		"testcase:x\nwarmup\nmin:1 max:1 total:4\nmin:1 max:1 total:4\n"
		"min:1 max:1 total:4\nmin:1 max:1 total:4\nmin:1 max:1 total:4\n"
		"min:1 max:1 total:4\nmeasurement\nmin:9 max:9 total:36\n"
		"min:9 max:9 total:36\nmin:9 max:9 total:36\n"
		"min:9 max:9 total:36\nmin:9 max:9 total:36\naverage:36\n";
	struct suite_param own[] = { { mode_key, thread_value }, { task_key, task_value } };

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		struct talk t;

		talk_init(&t);
		t.request.params = own;
		run_begin(&t);
		output(&t, PROTO_STDOUT, whole, strlen(whole) - (cut ? 60 : 0));
		raw(&t, PROTO_RUN_END, HUNG);
		assert_int_equal(t.result.runs[0].class, cut ? LAB_BENCH_TIMEOUT : LAB_OK);
		assert_int_equal(t.result.runs[0].exit_status, 128 + 9);
		assert_non_null(strstr(t.result.runs[0].raw, "measurement"));
		talk_done(&t);
	}
}

static void a_clock_that_jumps_spoils_the_run(void **state)
{
	struct talk t;

	(void)state;
	talk_init(&t);
	run_begin(&t);
	raw(&t, PROTO_RUN_END,
	    "{\"run\":0,\"exit\":0,\"signal\":0,\"timed_out\":false,\"truncated\":false,"
	    "\"left_over\":0,\"wall_s\":9,\"run_s\":9,\"clock_jump_s\":3600,\"taint\":0}");
	assert_int_equal(t.result.runs[0].class, LAB_CLOCK);
	assert_non_null(strstr(t.result.detail, "run 0: the wall clock jumped by 3600 s"));
	talk_done(&t);
}

static void tells_what_the_benchmark_complained_of(void **state)
{
	static const struct {
		const char *said, *want;
	} cases[] = {
		{ "first\ncannot open 'x'\n\n",
		  "the benchmark ended with status 2: cannot open 'x'" },
		{ "\033[31m  bad\377\r\n", "the benchmark ended with status 2: [31m  bad?" },
		{ " \n\n", "the benchmark ended with status 2" },
		{ "", "the benchmark ended with status 2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct talk t;

		talk_init(&t);
		run_begin(&t);
		if (*cases[i].said)
			output(&t, PROTO_STDERR, cases[i].said, strlen(cases[i].said));
		raw(&t, PROTO_RUN_END,
		    "{\"run\":0,\"exit\":2,\"signal\":0,\"timed_out\":false,\"truncated\":false,"
		    "\"left_over\":0,\"wall_s\":9,\"run_s\":9,\"clock_jump_s\":0,\"taint\":0}");
		assert_string_equal(t.result.runs[0].detail, cases[i].want);
		talk_done(&t);
	}
}

static void says_which_command_failed(void **state)
{
	struct talk t;

	(void)state;
	talk_init(&t);
	run_begin(&t);
	raw(&t, PROTO_RUN_END,
	    "{\"run\":0,\"exit\":32,\"signal\":0,\"timed_out\":false,\"truncated\":false,"
	    "\"left_over\":0,\"wall_s\":9,\"run_s\":0,\"clock_jump_s\":0,\"taint\":0,"
	    "\"failed\":\"'mount' (set-up)\"}");
	assert_int_equal(t.result.runs[0].class, LAB_BENCH_ERROR);
	assert_string_equal(t.result.runs[0].detail, "'mount' (set-up) ended with status 32");
	talk_done(&t);
}

static void a_full_disk_is_the_machines_fault(void **state)
{
	struct talk t;

	(void)state;
	talk_init(&t);
	run_begin(&t);
	raw(&t, PROTO_RUN_END,
	    "{\"run\":0,\"exit\":-1,\"signal\":0,\"timed_out\":false,\"truncated\":false,"
	    "\"left_over\":0,\"wall_s\":9,\"run_s\":0,\"clock_jump_s\":0,\"taint\":0,"
	    "\"error\":\"could not make a folder '/tmp/x': No space left on device\"}");
	assert_int_equal(t.result.class, LAB_DISK);
	talk_done(&t);
	talk_init(&t);
	hello(&t, 4, 1ull << 33, json_object());
	raw(&t, PROTO_FAULT, "{\"stage\":\"run\",\"text\":\"x: Read-only file system\"}");
	assert_int_equal(t.result.class, LAB_DISK);
	talk_done(&t);
}

static void garbage_of_all_kinds_ends_the_session(void **state)
{
	_cleanup_(freep) char *noise = xcalloc(1, 2u << 20);
	struct talk t;
	struct err e = { 0 };

	(void)state;
	talk_init(&t);
	run_begin(&t);
	assert_ok(session_add(&t.session, noise, 2u << 20, &e), &e);
	assert_int_equal(t.result.class, LAB_AGENT);
	assert_non_null(strstr(t.result.detail, "too much garbage"));
	session_end(&t.session);
	talk_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_whole_talk),
		cmocka_unit_test(a_lie_is_the_agents_fault),
		cmocka_unit_test(a_stream_ends_with_its_run),
		cmocka_unit_test(a_run_before_the_machine_is_ready_is_refused),
		cmocka_unit_test(streams_are_capped_each_and_together),
		cmocka_unit_test(a_set_up_that_failed_is_the_machines_fault),
		cmocka_unit_test(a_machine_that_is_too_small_is_told_with_the_numbers),
		cmocka_unit_test(plans_for_the_cpus_that_smt_leaves),
		cmocka_unit_test(a_run_that_hangs_after_its_result_counts),
		cmocka_unit_test(a_clock_that_jumps_spoils_the_run),
		cmocka_unit_test(tells_what_the_benchmark_complained_of),
		cmocka_unit_test(says_which_command_failed),
		cmocka_unit_test(a_full_disk_is_the_machines_fault),
		cmocka_unit_test(garbage_of_all_kinds_ends_the_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
