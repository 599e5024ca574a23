/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an agent sends of a run: output, named streams, and how it ended. */
#include "bot/base/err.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/session.h"

#include <math.h>
#include <string.h>

/* Bytes of a program's complaint in the reason; all of it is kept beside. */
#define SAID_MAX 160

static struct lab_run *run_new(struct session *s)
{
	struct lab_result *r = s->result;
	struct lab_run *run;

	r->runs = xreallocarray(r->runs, r->nruns + 1, sizeof(*r->runs));
	run = &r->runs[r->nruns++];
	*run = (struct lab_run){ .exit_status = -1, .wall_s = NAN, .run_s = NAN, .host_s = NAN };
	return run;
}

static void take_run_start(struct session *s, const struct proto_frame *f)
{
	struct err why = { 0 };
	unsigned number;

	if (proto_run_start_parse(f, &number, &why) < 0) {
		session_fail(s, LAB_AGENT, why.msg);
	} else if (!s->ready || s->running || number != s->result->nruns ||
		   number >= s->request->runs) {
		session_fail(s, LAB_AGENT, "the agent started a run that was not its turn");
	} else {
		if (number == 0) {
			s->result->setup_s = driver_now_s() - s->hello_at_s;
			driver_progress(s->request, LAB_STATE_RUNNING);
		}
		(void)run_new(s);
		s->run_began_s = driver_now_s();
		s->running = true;
	}
}

/* Keeps @len bytes as far as @max allows. Return: was there room for all? */
static bool keep(struct strbuf *b, size_t max, const void *data, size_t len)
{
	size_t room = max - b->len;

	if (len)
		strbuf_add(b, data, len < room ? len : room);
	return len <= room;
}

static struct lab_run *run_open(const struct session *s)
{
	return &s->result->runs[s->result->nruns - 1];
}

static void take_stream(struct session *s, const struct proto_frame *f)
{
	_cleanup_(proto_stream_done) struct proto_stream m = { 0 };
	struct session_file *file;
	struct err why = { 0 };

	if (proto_stream_parse(f, &m, &why) < 0) {
		session_fail(s, LAB_AGENT, why.msg);
		return;
	}
	if (!s->running) {
		session_fail(s, LAB_AGENT, "the agent named a stream outside of a run");
		return;
	}
	for (size_t i = 0; i < s->nfiles; i++) {
		if (s->files[i].stream == m.stream || !strcmp(s->files[i].name, m.name)) {
			session_fail(s, LAB_AGENT, "the agent named a stream twice");
			return;
		}
	}
	s->files = xreallocarray(s->files, s->nfiles + 1, sizeof(*s->files));
	file = &s->files[s->nfiles++];
	*file = (struct session_file){ .stream = m.stream, .name = take_ptr(m.name) };
}

static void take_file(struct session *s, unsigned stream, const void *data, size_t len)
{
	size_t room = s->files_max - s->files_len;

	for (size_t i = 0; i < s->nfiles; i++) {
		struct session_file *file = &s->files[i];
		size_t had = file->data.len;

		if (file->stream != stream)
			continue;
		if (!keep(&file->data, had + room < s->file_max ? had + room : s->file_max, data,
			  len))
			file->truncated = true;
		s->files_len += file->data.len - had;
		return;
	}
	session_fail(s, LAB_AGENT, "the agent sent output of a stream that it did not name");
}

static void take_output(struct session *s, const struct proto_frame *f)
{
	struct err why = { 0 };
	const unsigned char *data;
	size_t len;
	int stream;

	if (proto_output_parse(f, &stream, &data, &len, &why) < 0) {
		session_fail(s, LAB_AGENT, why.msg);
	} else if (!s->running) {
		session_fail(s, LAB_AGENT, "the agent sent output outside of a run");
	} else if (stream == PROTO_STDOUT) {
		if (!keep(&s->raw, SESSION_RAW_MAX, data, len))
			run_open(s)->raw_truncated = true;
	} else if (stream == PROTO_STDERR) {
		(void)keep(&s->errors, SESSION_ERRORS_MAX, data, len);
	} else {
		take_file(s, (unsigned)stream, data, len);
	}
}

/* Did the agent say that this stream is not complete? */
static bool file_is_cut(const struct lab_run *run, const char *name)
{
	const char *key = strncmp(name, "monitor/", 8) ? name : name + 8;
	const char *note = json_string_value(json_object_get(run->monitors, key));

	return note && !strncmp(note, "cut ", 4);
}

void session_run_close(struct session *s)
{
	struct lab_run *run = run_open(s);

	run->raw_len = s->raw.len;
	run->raw = strbuf_take(&s->raw);
	run->errors_len = s->errors.len;
	run->errors = strbuf_take(&s->errors);
	run->files = s->nfiles ? xcalloc(s->nfiles, sizeof(*run->files)) : NULL;
	for (size_t i = 0; i < s->nfiles; i++) {
		struct session_file *from = &s->files[i];

		struct lab_file *to = &run->files[run->nfiles++];

		to->truncated = from->truncated || file_is_cut(run, from->name);
		to->name = from->name;
		to->len = from->data.len;
		to->data = strbuf_take(&from->data);
	}
	s->nfiles = 0;
	s->running = false;
}

/* Is the number that the run is for in what it printed? */
static bool has_result(const struct session *s)
{
	const struct lab_request *q = s->request;
	const struct suite *suite = suite_find(q->suite);
	_cleanup_(freep) struct suite_param *params = xcalloc(q->nparams + 1, sizeof(*params));
	_cleanup_(freep) char *tasks = xasprintf("%u", s->tasks);
	char key[] = "tasks";
	const struct strbuf *text = suite_source(suite) == SOURCE_STDERR ? &s->errors : &s->raw;
	struct suite_output out = { 0 };
	bool found = false;

	if (q->nparams)
		memcpy(params, q->params, q->nparams * sizeof(*params));
	params[q->nparams] = (struct suite_param){ key, tasks };
	if (suite_parse(suite, q->test, strbuf_str(text), text->len, params, q->nparams + 1, &out,
			NULL) == 0) {
		const char *want = suite_headline(suite, q->test, q->params, q->nparams);

		found = want && suite_metric_find(&out, want);
		suite_output_done(&out);
	}
	return found;
}

/* ": LINE", the last that came on stderr, which is where programs complain; "" if none did. */
static char *last_words(const struct strbuf *errors)
{
	const char *s = strbuf_str(errors);
	size_t end = errors->len, start;
	char *line;

	while (end && (unsigned char)s[end - 1] <= ' ')
		end--;
	for (start = end; start && s[start - 1] != '\n'; start--)
		;
	while (start < end && (unsigned char)s[start] <= ' ')
		start++;
	if (end - start > SAID_MAX)
		end = start + SAID_MAX;
	if (start == end)
		return xstrdup("");
	line = xasprintf(": %.*s", (int)(end - start), s + start);
	for (char *p = line; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return line;
}

static void run_judge(const struct session *s, struct lab_run *run, const struct proto_run_end *end)
{
	const char *who = end->failed ? end->failed : "the benchmark";
	_cleanup_(freep) char *said = last_words(&s->errors);
	struct err why = { 0 };

	if (end->error) {
		run->class = session_class_of(end->error);
		(void)err_set(&why, ERR_LAB, "%s", end->error);
	} else if (fabs(end->clock_jump_s) > SESSION_CLOCK_MAX_S) {
		run->class = LAB_CLOCK;
		(void)err_set(&why, ERR_LAB, "the wall clock jumped by %g s", end->clock_jump_s);
	} else if (end->timed_out) {
		if (s->hang_ok && has_result(s))
			return;
		run->class = LAB_BENCH_TIMEOUT;
		(void)err_set(&why, ERR_LAB, "%s was killed after %g s", who, s->run_s);
	} else if (end->signal) {
		run->class = LAB_BENCH_ERROR;
		(void)err_set(&why, ERR_LAB, "%s died of signal %d%s", who, end->signal, said);
	} else if (end->exit_status != 0) {
		run->class = LAB_BENCH_ERROR;
		(void)err_set(&why, ERR_LAB, "%s ended with status %d%s", who, end->exit_status,
			      said);
	} else {
		return;
	}
	run->detail = xstrdup(why.msg);
}

static void take_run_end(struct session *s, const struct proto_frame *f)
{
	_cleanup_(proto_run_end_done) struct proto_run_end end = { 0 };
	struct err why = { 0 };
	struct lab_run *run;

	if (proto_run_end_parse(f, &end, &why) < 0) {
		session_fail(s, LAB_AGENT, why.msg);
		return;
	}
	if (!s->running || end.run != s->result->nruns - 1) {
		session_fail(s, LAB_AGENT, "the agent ended a run that was not open");
		return;
	}
	run = run_open(s);
	run->exit_status = end.signal ? 128 + end.signal : end.exit_status;
	run->wall_s = end.wall_s;
	run->run_s = end.run_s;
	run->host_s = driver_now_s() - s->run_began_s;
	run->clock_jump_s = end.clock_jump_s;
	run->taint = end.taint;
	run->raw_truncated |= end.truncated;
	run->rusage = json_incref(end.rusage);
	run->programs = json_incref(end.programs);
	run->monitors = json_incref(end.monitors);
	run->facts = json_incref(end.facts);
	run_judge(s, run, &end);
	session_run_close(s);
	if (run->class != LAB_OK)
		result_blame(s->result, run->class, "run %u: %s", end.run, run->detail);
	if (s->result->nruns == s->request->runs)
		driver_progress(s->request, LAB_STATE_COLLECTING);
}

bool session_run_is(enum proto_type type)
{
	return type == PROTO_RUN_START || type == PROTO_STREAM || type == PROTO_OUTPUT ||
	       type == PROTO_RUN_END;
}

void session_run_take(struct session *s, const struct proto_frame *f)
{
	if (f->type == PROTO_RUN_START)
		take_run_start(s, f);
	else if (f->type == PROTO_STREAM)
		take_stream(s, f);
	else if (f->type == PROTO_OUTPUT)
		take_output(s, f);
	else
		take_run_end(s, f);
}
