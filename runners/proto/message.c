/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/message.h"

#include "bot/base/err.h"
#include "runners/proto/message_json.h"

#include <string.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

int proto_hello_add(struct strbuf *out, const struct proto_hello *m, struct err *e)
{
	return message_add(out, PROTO_HELLO,
			   json_pack("{si si sI sI sI ss ss* ss* ss* sO*}", "version",
				     (int)m->version, "cpus", m->cpus, "mem_total_bytes",
				     (json_int_t)m->mem_total_bytes, "mem_available_bytes",
				     (json_int_t)m->mem_available_bytes, "swap_total_bytes",
				     (json_int_t)m->swap_total_bytes, "release", m->release,
				     "build_id", m->build_id, "boot_id", m->boot_id, "nonce",
				     m->nonce, "facts", m->facts),
			   e);
}

int proto_hello_parse(const struct proto_frame *f, struct proto_hello *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);
	_cleanup_(proto_hello_done) struct proto_hello m = { 0 };
	json_int_t cpus = 0;
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = message_uint(j, "version", 0, 1000000, &m.version, e)) < 0)
		return r;
	/* Nothing else of another version's hello is looked at: it may mean anything. */
	if (m.version != PROTO_VERSION)
		return err_set(e, ERR_FORMAT, "the agent speaks protocol version %u, not %d",
			       m.version, PROTO_VERSION);
	if ((r = message_int(j, "cpus", 1, 65536, &cpus, e)) < 0 ||
	    (r = message_bytes(j, "mem_total_bytes", &m.mem_total_bytes, e)) < 0 ||
	    (r = message_bytes(j, "mem_available_bytes", &m.mem_available_bytes, e)) < 0 ||
	    (r = message_bytes(j, "swap_total_bytes", &m.swap_total_bytes, e)) < 0 ||
	    (r = message_string(j, "release", true, &m.release, e)) < 0 ||
	    (r = message_string(j, "build_id", false, &m.build_id, e)) < 0 ||
	    (r = message_string(j, "boot_id", false, &m.boot_id, e)) < 0 ||
	    (r = message_string(j, "nonce", false, &m.nonce, e)) < 0 ||
	    (r = message_object(j, "facts", &m.facts, e)) < 0)
		return r;
	m.cpus = (int)cpus;
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_hello_done(struct proto_hello *m)
{
	if (!m)
		return;
	free(m->release);
	free(m->build_id);
	free(m->boot_id);
	free(m->nonce);
	json_decref(m->facts);
	memset(m, 0, sizeof(*m));
}

int proto_ready_add(struct strbuf *out, const struct proto_ready *m, struct err *e)
{
	return message_add(out, PROTO_READY,
			   json_pack("{sO* sO*}", "settings", m->settings, "facts", m->facts), e);
}

int proto_ready_parse(const struct proto_frame *f, struct proto_ready *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);
	_cleanup_(proto_ready_done) struct proto_ready m = { 0 };
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = message_object(j, "settings", &m.settings, e)) < 0 ||
	    (r = message_object(j, "facts", &m.facts, e)) < 0)
		return r;
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_ready_done(struct proto_ready *m)
{
	if (!m)
		return;
	json_decref(m->settings);
	json_decref(m->facts);
	memset(m, 0, sizeof(*m));
}

/* It becomes part of names and of paths that people see: nothing but plain words. */
static bool stream_name_is_good(const char *s)
{
	size_t n = strlen(s);

	if (n > PROTO_NAME_MAX)
		return false;
	if (!strncmp(s, "monitor/", 8))
		s += 8;
	else if (!strncmp(s, "file/", 5))
		s += 5;
	else
		return false;
	if (!*s || *s == '.')
		return false;
	return s[strspn(s, NAME_CHARS)] == '\0';
}

int proto_stream_add(struct strbuf *out, unsigned stream, const char *name, struct err *e)
{
	if (!stream_name_is_good(name))
		return err_set(e, ERR_INVAL, "'%.120s' is no name of a stream", name);
	return message_add(out, PROTO_STREAM,
			   json_pack("{si ss}", "stream", (int)stream, "name", name), e);
}

int proto_stream_parse(const struct proto_frame *f, struct proto_stream *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);
	_cleanup_(proto_stream_done) struct proto_stream m = { 0 };
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = message_uint(j, "stream", PROTO_NAMED, PROTO_STREAM_MAX, &m.stream, e)) < 0 ||
	    (r = message_string(j, "name", true, &m.name, e)) < 0)
		return r;
	if (!stream_name_is_good(m.name))
		return err_set(e, ERR_PARSE, "'%.120s' is no name of a stream", m.name);
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_stream_done(struct proto_stream *m)
{
	if (!m)
		return;
	free(m->name);
	memset(m, 0, sizeof(*m));
}

int proto_run_start_add(struct strbuf *out, unsigned run, struct err *e)
{
	return message_add(out, PROTO_RUN_START, json_pack("{si}", "run", (int)run), e);
}

int proto_run_start_parse(const struct proto_frame *f, unsigned *ret_run, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);

	return j ? message_uint(j, "run", 0, PROTO_RUNS_MAX, ret_run, e) : ERR_PARSE;
}

int proto_run_end_add(struct strbuf *out, const struct proto_run_end *m, struct err *e)
{
	return message_add(out, PROTO_RUN_END,
			   json_pack("{si si si sb sb si sf ss* sO* sf sf sI sO* sO* sO* ss*}",
				     "run", (int)m->run, "exit", m->exit_status, "signal",
				     m->signal, "timed_out", (int)m->timed_out, "truncated",
				     (int)m->truncated, "left_over", (int)m->left_over, "wall_s",
				     m->wall_s, "error", m->error, "rusage", m->rusage, "run_s",
				     m->run_s, "clock_jump_s", m->clock_jump_s, "taint",
				     (json_int_t)m->taint, "programs", m->programs, "monitors",
				     m->monitors, "facts", m->facts, "failed", m->failed),
			   e);
}

int proto_run_end_parse(const struct proto_frame *f, struct proto_run_end *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);
	_cleanup_(proto_run_end_done) struct proto_run_end m = { 0 };
	json_int_t status = 0, sig = 0;
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = message_uint(j, "run", 0, PROTO_RUNS_MAX, &m.run, e)) < 0 ||
	    (r = message_int(j, "exit", -1, 255, &status, e)) < 0 ||
	    (r = message_int(j, "signal", 0, 127, &sig, e)) < 0 ||
	    (r = message_bool(j, "timed_out", &m.timed_out, e)) < 0 ||
	    (r = message_bool(j, "truncated", &m.truncated, e)) < 0 ||
	    (r = message_uint(j, "left_over", 0, 1 << 24, &m.left_over, e)) < 0 ||
	    (r = message_seconds(j, "wall_s", &m.wall_s, e)) < 0 ||
	    (r = message_string(j, "error", false, &m.error, e)) < 0 ||
	    (r = message_object(j, "rusage", &m.rusage, e)) < 0 ||
	    (r = message_seconds(j, "run_s", &m.run_s, e)) < 0 ||
	    (r = message_number(j, "clock_jump_s", &m.clock_jump_s, e)) < 0 ||
	    (r = message_bytes(j, "taint", &m.taint, e)) < 0 ||
	    (r = message_array(j, "programs", &m.programs, e)) < 0 ||
	    (r = message_object(j, "monitors", &m.monitors, e)) < 0 ||
	    (r = message_object(j, "facts", &m.facts, e)) < 0 ||
	    (r = message_string(j, "failed", false, &m.failed, e)) < 0)
		return r;
	m.exit_status = (int)status;
	m.signal = (int)sig;
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_run_end_done(struct proto_run_end *m)
{
	if (!m)
		return;
	free(m->error);
	free(m->failed);
	json_decref(m->rusage);
	json_decref(m->programs);
	json_decref(m->monitors);
	json_decref(m->facts);
	memset(m, 0, sizeof(*m));
}

int proto_fault_add(struct strbuf *out, const char *stage, const char *text, struct err *e)
{
	return message_add(out, PROTO_FAULT, json_pack("{ss ss}", "stage", stage, "text", text), e);
}

int proto_fault_parse(const struct proto_frame *f, struct proto_fault *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);
	_cleanup_(proto_fault_done) struct proto_fault m = { 0 };
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = message_string(j, "stage", true, &m.stage, e)) < 0 ||
	    (r = message_string(j, "text", true, &m.text, e)) < 0)
		return r;
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_fault_done(struct proto_fault *m)
{
	if (!m)
		return;
	free(m->stage);
	free(m->text);
	memset(m, 0, sizeof(*m));
}

void proto_output_add(struct strbuf *out, int stream, const void *data, size_t len)
{
	const char *p = data;
	char chunk[32768];

	while (len) {
		size_t n = len < sizeof(chunk) - 1 ? len : sizeof(chunk) - 1;

		chunk[0] = (char)stream;
		memcpy(chunk + 1, p, n);
		(void)proto_frame_add(out, PROTO_OUTPUT, chunk, n + 1, NULL);
		p += n;
		len -= n;
	}
}

int proto_output_parse(const struct proto_frame *f, int *ret_stream, const unsigned char **ret_data,
		       size_t *ret_len, struct err *e)
{
	if (f->len < 1 || f->payload[0] < PROTO_STDOUT || f->payload[0] > PROTO_STREAM_MAX)
		return err_set(e, ERR_PARSE, "an output message names no stream");
	*ret_stream = f->payload[0];
	*ret_data = f->payload + 1;
	*ret_len = f->len - 1;
	return 0;
}
