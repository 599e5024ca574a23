/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/message.h"
#include "tests/test.h"

#include <string.h>

/* The only frame in @b; its payload lives as long as @d. */
static struct proto_frame frame_of(const struct strbuf *b, struct proto_decoder *d)
{
	struct proto_frame f = { 0 };

	proto_decoder_add(d, b->s, b->len);
	assert_int_equal(proto_decoder_next(d, &f, NULL), 1);
	return f;
}

static struct proto_frame frame_from(enum proto_type type, const char *text)
{
	return (struct proto_frame){ .type = type,
				     .payload = (const unsigned char *)text,
				     .len = strlen(text) };
}

static char release[] = "6.12.0", build_id[] = "aa", nonce[] = "n1", arg0[] = "x",
	    failed[] = "'mount' (set-up)", never[] = "never", keep0[] = "a.yaml";

static void a_hello_comes_back_as_it_was(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(proto_hello_done) struct proto_hello got = { 0 };
	struct proto_hello m = { .version = PROTO_VERSION,
				 .cpus = 4,
				 .mem_total_bytes = 1ull << 40,
				 .release = release,
				 .build_id = build_id,
				 .nonce = nonce };
	struct proto_frame f;
	struct err e = { 0 };

	(void)state;
	m.facts = json_pack("{ss}", "governor", "performance");
	assert_ok(proto_hello_add(&b, &m, &e), &e);
	json_decref(m.facts);
	f = frame_of(&b, &d);
	assert_ok(proto_hello_parse(&f, &got, &e), &e);
	assert_int_equal(got.cpus, 4);
	assert_true(got.mem_total_bytes == 1ull << 40);
	assert_string_equal(got.build_id, "aa");
	assert_string_equal(got.nonce, "n1");
	assert_null(got.boot_id);
	assert_string_equal(json_string_value(json_object_get(got.facts, "governor")),
			    "performance");
}

static void refuses_a_hello_of_another_version(void **state)
{
	struct proto_frame f = frame_from(PROTO_HELLO, "{\"version\":3}");
	struct proto_hello got = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_err(proto_hello_parse(&f, &got, &e), ERR_FORMAT, &e);
	assert_string_equal(e.msg, "the agent speaks protocol version 3, not 2");
}

static void a_job_comes_back_as_it_was(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(proto_job_done) struct proto_job got = { 0 };
	char *argv[] = { arg0, never, NULL };
	char *keep[] = { keep0, NULL };
	_cleanup_(json_decrefp) json_t *settings = json_pack("{ss}", "thp", "never");
	struct proto_command c = { .argv = argv, .phase = PROTO_PHASE_CLEANUP, .copies = 7 };
	struct proto_job m = { .commands = &c,
			       .ncommands = 1,
			       .runs = 3,
			       .deadline_s = 12.5,
			       .output_max_bytes = 1000,
			       .settings = settings,
			       .keep = keep,
			       .repeat_s = 2.5,
			       .repeat_max = 9 };
	struct proto_frame f;
	struct err e = { 0 };

	(void)state;
	assert_ok(proto_job_add(&b, &m, &e), &e);
	f = frame_of(&b, &d);
	assert_ok(proto_job_parse(&f, &got, &e), &e);
	assert_int_equal(got.ncommands, 1);
	assert_string_equal(got.commands[0].argv[1], "never");
	assert_null(got.commands[0].argv[2]);
	assert_int_equal(got.runs, 3);
	assert_true(got.deadline_s == 12.5);
	assert_false(got.aslr);
	assert_int_equal(got.commands[0].phase, PROTO_PHASE_CLEANUP);
	assert_int_equal(got.commands[0].copies, 7);
	assert_string_equal(got.keep[0], "a.yaml");
	assert_null(got.keep[1]);
	assert_true(got.repeat_s == 2.5);
	assert_int_equal(got.repeat_max, 9);
	assert_string_equal(json_string_value(json_object_get(got.settings, "thp")), "never");
}

static void a_run_end_comes_back_as_it_was(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(proto_run_end_done) struct proto_run_end got = { 0 };
	struct proto_run_end m = { .run = 1,
				   .exit_status = -1,
				   .signal = 9,
				   .timed_out = true,
				   .wall_s = 0.25,
				   .run_s = 0.125,
				   .clock_jump_s = -3.5,
				   .taint = 1u << 12,
				   .failed = failed,
				   .left_over = 2 };
	struct proto_frame f;
	struct err e = { 0 };

	(void)state;
	assert_ok(proto_run_end_add(&b, &m, &e), &e);
	f = frame_of(&b, &d);
	assert_ok(proto_run_end_parse(&f, &got, &e), &e);
	assert_int_equal(got.run, 1);
	assert_int_equal(got.exit_status, -1);
	assert_int_equal(got.signal, 9);
	assert_true(got.timed_out);
	assert_false(got.truncated);
	assert_int_equal(got.left_over, 2);
	assert_true(got.run_s == 0.125 && got.clock_jump_s == -3.5 && got.taint == 4096);
	assert_string_equal(got.failed, "'mount' (set-up)");
	assert_null(got.error);
}

static void output_longer_than_a_frame_is_cut_into_several(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(freep) char *data = xcalloc(1, 100000);
	struct proto_frame f;
	size_t sum = 0, len;
	int stream;
	const unsigned char *p;

	(void)state;
	memset(data, 'x', 100000);
	proto_output_add(&b, PROTO_STDERR, data, 100000);
	proto_decoder_add(&d, b.s, b.len);
	while (proto_decoder_next(&d, &f, NULL) == 1) {
		assert_int_equal(proto_output_parse(&f, &stream, &p, &len, NULL), 0);
		assert_int_equal(stream, PROTO_STDERR);
		assert_memory_equal(p, data, len);
		sum += len;
	}
	assert_int_equal(sum, 100000);
}

static void refuses_output_without_a_stream(void **state)
{
	struct proto_frame f = frame_from(PROTO_OUTPUT, "\x50hello");
	const unsigned char *p;
	struct err e = { 0 };
	int stream;
	size_t len;

	(void)state;
	assert_err(proto_output_parse(&f, &stream, &p, &len, &e), ERR_PARSE, &e);
	f.len = 0;
	assert_err(proto_output_parse(&f, &stream, &p, &len, &e), ERR_PARSE, &e);
}

#define COMMANDS "{\"commands\":[{\"argv\":[\"a\"],\"phase\":\"run\",\"copies\":1}]"
#define REST                                                                                \
	",\"runs\":1,\"deadline_s\":1,\"output_max_bytes\":1,\"aslr\":true,\"owned\":true," \
	"\"monitor_interval_s\":1,\"repeat_s\":0,\"repeat_max\":0,\"nofile\":0"

static void refuses_messages_with_wrong_members(void **state)
{
	static const char *const hellos[] = {
		"",
		"[]",
		"null",
		"{",
		"{\"version\":2}",
		"{\"version\":\"2\"}",
		"{\"version\":2,\"version\":2}",
		"{\"version\":2,\"cpus\":0,\"mem_total_bytes\":1,\"mem_available_bytes\":1,"
		"\"swap_total_bytes\":0,\"release\":\"r\"}",
		"{\"version\":2,\"cpus\":1,\"mem_total_bytes\":-1,\"mem_available_bytes\":1,"
		"\"swap_total_bytes\":0,\"release\":\"r\"}",
		"{\"version\":2,\"cpus\":1,\"mem_total_bytes\":1,\"mem_available_bytes\":1,"
		"\"swap_total_bytes\":0,\"release\":7}",
		"{\"version\":2,\"cpus\":1,\"mem_total_bytes\":1,\"mem_available_bytes\":1,"
		"\"swap_total_bytes\":0,\"release\":\"r\",\"facts\":[]}",
	};
	static const char *const jobs[] = {
		"{}",
		"{\"commands\":[]}",
		"{\"commands\":[{\"argv\":[],\"phase\":\"run\",\"copies\":1}]}",
		"{\"commands\":[{\"argv\":[1],\"phase\":\"run\",\"copies\":1}]}",
		"{\"commands\":[{\"argv\":[\"a\"],\"phase\":\"walk\",\"copies\":1}]}",
		"{\"commands\":[{\"argv\":[\"a\"],\"phase\":\"run\",\"copies\":0}]}",
		COMMANDS ",\"runs\":0}",
		COMMANDS ",\"runs\":1,\"deadline_s\":-1}",
		COMMANDS ",\"runs\":1,\"deadline_s\":1,\"output_max_bytes\":1,\"aslr\":3}",
		COMMANDS REST ",\"settings\":{\"thp\":1}}",
		COMMANDS REST ",\"monitors\":{}}",
		COMMANDS REST ",\"keep\":[1]}",
	};
	static const char *const ends[] = {
		"{}",
		"{\"run\":0,\"exit\":256}",
		"{\"run\":0,\"exit\":0,\"signal\":500}",
		"{\"run\":0,\"exit\":0,\"signal\":0,\"timed_out\":1}",
	};
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hellos); i++) {
		struct proto_frame f = frame_from(PROTO_HELLO, hellos[i]);
		struct proto_hello got = { 0 };

		assert_true(proto_hello_parse(&f, &got, &e) < 0);
		assert_null(got.release);
	}
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		struct proto_frame f = frame_from(PROTO_JOB, jobs[i]);
		struct proto_job got = { 0 };

		assert_true(proto_job_parse(&f, &got, &e) < 0);
		assert_null(got.commands);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct proto_frame f = frame_from(PROTO_RUN_END, ends[i]);
		struct proto_run_end got = { 0 };

		assert_true(proto_run_end_parse(&f, &got, &e) < 0);
		assert_null(got.rusage);
	}
}

static void refuses_to_write_text_that_is_not_utf8(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	char bad[] = "\xff\xfe";
	char *argv[] = { bad, NULL };
	struct proto_command c = { .argv = argv, .copies = 1 };
	struct proto_job m = { .commands = &c, .ncommands = 1, .runs = 1, .deadline_s = 1 };
	struct err e = { 0 };

	(void)state;
	assert_err(proto_job_add(&b, &m, &e), ERR_INVAL, &e);
	assert_err(proto_fault_add(&b, "x", bad, &e), ERR_INVAL, &e);
	assert_int_equal(b.len, 0);
}

static void refuses_names_of_streams_that_are_no_plain_words(void **state)
{
	static const char *const bad[] = { "",	       "x",	  "file/",	 "file/../x",
					   "file/a/b", "file/.x", "monitor/a b", "file/a\\nb" };
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(freep) char *text = xasprintf("{\"stream\":3,\"name\":\"%s\"}", bad[i]);
		struct proto_frame f = frame_from(PROTO_STREAM, text);
		struct proto_stream got = { 0 };

		assert_err(proto_stream_parse(&f, &got, &e), ERR_PARSE, &e);
		assert_null(got.name);
		if (!strchr(bad[i], '\\'))
			assert_err(proto_stream_add(&b, 3, bad[i], &e), ERR_INVAL, &e);
	}
	assert_int_equal(b.len, 0);
}

static void a_stream_and_a_ready_come_back_as_they_were(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(proto_stream_done) struct proto_stream got = { 0 };
	_cleanup_(proto_ready_done) struct proto_ready ready = { 0 };
	struct proto_ready m = { 0 };
	struct proto_frame f;
	struct err e = { 0 };

	(void)state;
	assert_ok(proto_stream_add(&b, 3, "monitor/proc-vmstat", &e), &e);
	f = frame_of(&b, &d);
	assert_ok(proto_stream_parse(&f, &got, &e), &e);
	assert_int_equal(got.stream, 3);
	assert_string_equal(got.name, "monitor/proc-vmstat");
	strbuf_done(&b);
	m.settings = json_pack("{ss}", "smt", "off");
	assert_ok(proto_ready_add(&b, &m, &e), &e);
	json_decref(m.settings);
	f = frame_of(&b, &d);
	assert_ok(proto_ready_parse(&f, &ready, &e), &e);
	assert_string_equal(json_string_value(json_object_get(ready.settings, "smt")), "off");
	assert_int_equal(json_object_size(ready.facts), 0);
}

static void a_fault_comes_back_as_it_was(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(proto_fault_done) struct proto_fault got = { 0 };
	struct proto_frame f;
	struct err e = { 0 };

	(void)state;
	assert_ok(proto_fault_add(&b, "mount", "cannot mount '/proc'", &e), &e);
	f = frame_of(&b, &d);
	assert_ok(proto_fault_parse(&f, &got, &e), &e);
	assert_string_equal(got.stage, "mount");
	assert_string_equal(got.text, "cannot mount '/proc'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hello_comes_back_as_it_was),
		cmocka_unit_test(refuses_a_hello_of_another_version),
		cmocka_unit_test(a_job_comes_back_as_it_was),
		cmocka_unit_test(a_run_end_comes_back_as_it_was),
		cmocka_unit_test(output_longer_than_a_frame_is_cut_into_several),
		cmocka_unit_test(refuses_output_without_a_stream),
		cmocka_unit_test(refuses_messages_with_wrong_members),
		cmocka_unit_test(refuses_to_write_text_that_is_not_utf8),
		cmocka_unit_test(refuses_names_of_streams_that_are_no_plain_words),
		cmocka_unit_test(a_stream_and_a_ready_come_back_as_they_were),
		cmocka_unit_test(a_fault_comes_back_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
