/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/message.h"

#include "bot/base/err.h"

#include <string.h>

#define RUNS_MAX     10000
#define DEADLINE_MAX 1e6
#define BYTES_MAX    ((json_int_t)1 << 62)

/* Takes @j over, also on failure. NULL stands for a value that jansson refused (no UTF-8). */
static int add_json(struct strbuf *out, enum proto_type type, json_t *j, struct err *e)
{
	_cleanup_(json_decrefp) json_t *own = j;
	_cleanup_(freep) char *text = NULL;

	if (own)
		text = json_dumps(own, JSON_COMPACT | JSON_SORT_KEYS);
	if (!text)
		return err_set(e, ERR_INVAL, "a %s message holds text that is not UTF-8",
			       proto_type_name((int)type));
	return proto_frame_add(out, type, text, strlen(text), e);
}

static json_t *parse_json(const struct proto_frame *f, struct err *e)
{
	json_error_t why;
	json_t *j = json_loadb((const char *)f->payload, f->len, JSON_REJECT_DUPLICATES, &why);

	if (!j || !json_is_object(j)) {
		(void)err_set(e, ERR_PARSE, "a %s message is not a JSON object: %s",
			      proto_type_name((int)f->type),
			      j ? "another kind of value" : why.text);
		json_decref(j);
		return NULL;
	}
	return j;
}

static int get_int(const json_t *j, const char *key, json_int_t min, json_int_t max,
		   json_int_t *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_integer(v))
		return err_set(e, ERR_PARSE, "'%s' has to be a whole number", key);
	if (json_integer_value(v) < min || json_integer_value(v) > max)
		return err_set(e, ERR_RANGE, "'%s' is %lld, not within %lld and %lld", key,
			       (long long)json_integer_value(v), (long long)min, (long long)max);
	*ret = json_integer_value(v);
	return 0;
}

static int get_uint(const json_t *j, const char *key, json_int_t min, json_int_t max, unsigned *ret,
		    struct err *e)
{
	json_int_t v = 0;
	int r = get_int(j, key, min, max, &v, e);

	if (r < 0)
		return r;
	*ret = (unsigned)v;
	return 0;
}

static int get_bytes(const json_t *j, const char *key, uint64_t *ret, struct err *e)
{
	json_int_t v = 0;
	int r = get_int(j, key, 0, BYTES_MAX, &v, e);

	if (r < 0)
		return r;
	*ret = (uint64_t)v;
	return 0;
}

static int get_seconds(const json_t *j, const char *key, double *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_number(v))
		return err_set(e, ERR_PARSE, "'%s' has to be a number of seconds", key);
	if (!(json_number_value(v) >= 0 && json_number_value(v) <= DEADLINE_MAX))
		return err_set(e, ERR_RANGE, "'%s' is %g seconds, not within 0 and %g", key,
			       json_number_value(v), DEADLINE_MAX);
	*ret = json_number_value(v);
	return 0;
}

static int get_bool(const json_t *j, const char *key, bool *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_boolean(v))
		return err_set(e, ERR_PARSE, "'%s' has to be true or false", key);
	*ret = json_is_true(v);
	return 0;
}

/* An absent or null member is NULL, unless it is @needed. */
static int get_string(const json_t *j, const char *key, bool needed, char **ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (!needed && (!v || json_is_null(v))) {
		*ret = NULL;
		return 0;
	}
	if (!json_is_string(v))
		return err_set(e, ERR_PARSE, "'%s' has to be a string", key);
	*ret = xstrdup(json_string_value(v));
	return 0;
}

/* An absent member is an empty object. */
static int get_object(const json_t *j, const char *key, json_t **ret, struct err *e)
{
	json_t *v = json_object_get(j, key);

	if (!v) {
		*ret = json_object();
		return 0;
	}
	if (!json_is_object(v))
		return err_set(e, ERR_PARSE, "'%s' has to be an object", key);
	*ret = json_incref(v);
	return 0;
}

int proto_hello_add(struct strbuf *out, const struct proto_hello *m, struct err *e)
{
	return add_json(out, PROTO_HELLO,
			json_pack("{si si sI sI sI ss ss* ss* ss* sO*}", "version", (int)m->version,
				  "cpus", m->cpus, "mem_total_bytes",
				  (json_int_t)m->mem_total_bytes, "mem_available_bytes",
				  (json_int_t)m->mem_available_bytes, "swap_total_bytes",
				  (json_int_t)m->swap_total_bytes, "release", m->release,
				  "build_id", m->build_id, "boot_id", m->boot_id, "nonce", m->nonce,
				  "facts", m->facts),
			e);
}

int proto_hello_parse(const struct proto_frame *f, struct proto_hello *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = parse_json(f, e);
	_cleanup_(proto_hello_done) struct proto_hello m = { 0 };
	json_int_t cpus = 0;
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = get_uint(j, "version", 0, 1000000, &m.version, e)) < 0)
		return r;
	/* Nothing else of another version's hello is looked at: it may mean anything. */
	if (m.version != PROTO_VERSION)
		return err_set(e, ERR_FORMAT, "the agent speaks protocol version %u, not %d",
			       m.version, PROTO_VERSION);
	if ((r = get_int(j, "cpus", 1, 65536, &cpus, e)) < 0 ||
	    (r = get_bytes(j, "mem_total_bytes", &m.mem_total_bytes, e)) < 0 ||
	    (r = get_bytes(j, "mem_available_bytes", &m.mem_available_bytes, e)) < 0 ||
	    (r = get_bytes(j, "swap_total_bytes", &m.swap_total_bytes, e)) < 0 ||
	    (r = get_string(j, "release", true, &m.release, e)) < 0 ||
	    (r = get_string(j, "build_id", false, &m.build_id, e)) < 0 ||
	    (r = get_string(j, "boot_id", false, &m.boot_id, e)) < 0 ||
	    (r = get_string(j, "nonce", false, &m.nonce, e)) < 0 ||
	    (r = get_object(j, "facts", &m.facts, e)) < 0)
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

static json_t *command_pack(const struct proto_command *c)
{
	json_t *argv = json_array();

	for (char **a = c->argv; *a; a++) {
		if (json_array_append_new(argv, json_string(*a)) < 0) {
			json_decref(argv);
			return NULL;
		}
	}
	return argv;
}

int proto_job_add(struct strbuf *out, const struct proto_job *m, struct err *e)
{
	_cleanup_(json_decrefp) json_t *commands = json_array();

	for (size_t i = 0; i < m->ncommands; i++) {
		if (json_array_append_new(commands, command_pack(&m->commands[i])) < 0)
			return err_set(e, ERR_INVAL, "argument of command %zu is not UTF-8", i);
	}
	return add_json(out, PROTO_JOB,
			json_pack("{sO si sf sI ss* sb}", "commands", commands, "runs",
				  (int)m->runs, "deadline_s", m->deadline_s, "output_max_bytes",
				  (json_int_t)m->output_max_bytes, "thp", m->thp, "aslr",
				  (int)m->aslr),
			e);
}

static int parse_command(const json_t *j, size_t i, struct proto_command *ret, struct err *e)
{
	size_t n = json_array_size(j);

	if (!json_is_array(j) || n == 0 || n > PROTO_ARGS_MAX)
		return err_set(e, ERR_PARSE, "command %zu has to be an array of 1 to %d strings", i,
			       PROTO_ARGS_MAX);
	for (size_t k = 0; k < n; k++) {
		if (!json_is_string(json_array_get(j, k)))
			return err_set(e, ERR_PARSE, "argument %zu of command %zu is not a string",
				       k, i);
	}
	ret->argv = xcalloc(n + 1, sizeof(*ret->argv));
	for (size_t k = 0; k < n; k++)
		ret->argv[k] = xstrdup(json_string_value(json_array_get(j, k)));
	return 0;
}

static int parse_commands(const json_t *j, struct proto_job *m, struct err *e)
{
	size_t n = json_array_size(j);
	int r;

	if (!json_is_array(j) || n == 0 || n > PROTO_COMMANDS_MAX)
		return err_set(e, ERR_PARSE, "'commands' has to be an array of 1 to %d commands",
			       PROTO_COMMANDS_MAX);
	m->commands = xcalloc(n, sizeof(*m->commands));
	for (size_t i = 0; i < n; i++) {
		r = parse_command(json_array_get(j, i), i, &m->commands[i], e);
		if (r < 0)
			return r;
		m->ncommands++;
	}
	return 0;
}

int proto_job_parse(const struct proto_frame *f, struct proto_job *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = parse_json(f, e);
	_cleanup_(proto_job_done) struct proto_job m = { 0 };
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = parse_commands(json_object_get(j, "commands"), &m, e)) < 0 ||
	    (r = get_uint(j, "runs", 1, RUNS_MAX, &m.runs, e)) < 0 ||
	    (r = get_seconds(j, "deadline_s", &m.deadline_s, e)) < 0 ||
	    (r = get_bytes(j, "output_max_bytes", &m.output_max_bytes, e)) < 0 ||
	    (r = get_string(j, "thp", false, &m.thp, e)) < 0 ||
	    (r = get_bool(j, "aslr", &m.aslr, e)) < 0)
		return r;
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_job_done(struct proto_job *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->ncommands; i++) {
		for (char **a = m->commands[i].argv; *a; a++)
			free(*a);
		free(m->commands[i].argv);
	}
	free(m->commands);
	free(m->thp);
	memset(m, 0, sizeof(*m));
}

int proto_run_start_add(struct strbuf *out, unsigned run, struct err *e)
{
	return add_json(out, PROTO_RUN_START, json_pack("{si}", "run", (int)run), e);
}

int proto_run_start_parse(const struct proto_frame *f, unsigned *ret_run, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = parse_json(f, e);

	return j ? get_uint(j, "run", 0, RUNS_MAX, ret_run, e) : ERR_PARSE;
}

int proto_run_end_add(struct strbuf *out, const struct proto_run_end *m, struct err *e)
{
	return add_json(out, PROTO_RUN_END,
			json_pack("{si si si sb sb si sf ss* sO*}", "run", (int)m->run, "exit",
				  m->exit_status, "signal", m->signal, "timed_out",
				  (int)m->timed_out, "truncated", (int)m->truncated, "left_over",
				  (int)m->left_over, "wall_s", m->wall_s, "error", m->error,
				  "rusage", m->rusage),
			e);
}

int proto_run_end_parse(const struct proto_frame *f, struct proto_run_end *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = parse_json(f, e);
	_cleanup_(proto_run_end_done) struct proto_run_end m = { 0 };
	json_int_t status = 0, sig = 0;
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = get_uint(j, "run", 0, RUNS_MAX, &m.run, e)) < 0 ||
	    (r = get_int(j, "exit", -1, 255, &status, e)) < 0 ||
	    (r = get_int(j, "signal", 0, 127, &sig, e)) < 0 ||
	    (r = get_bool(j, "timed_out", &m.timed_out, e)) < 0 ||
	    (r = get_bool(j, "truncated", &m.truncated, e)) < 0 ||
	    (r = get_uint(j, "left_over", 0, 1 << 24, &m.left_over, e)) < 0 ||
	    (r = get_seconds(j, "wall_s", &m.wall_s, e)) < 0 ||
	    (r = get_string(j, "error", false, &m.error, e)) < 0 ||
	    (r = get_object(j, "rusage", &m.rusage, e)) < 0)
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
	json_decref(m->rusage);
	memset(m, 0, sizeof(*m));
}

int proto_fault_add(struct strbuf *out, const char *stage, const char *text, struct err *e)
{
	return add_json(out, PROTO_FAULT, json_pack("{ss ss}", "stage", stage, "text", text), e);
}

int proto_fault_parse(const struct proto_frame *f, struct proto_fault *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = parse_json(f, e);
	_cleanup_(proto_fault_done) struct proto_fault m = { 0 };
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = get_string(j, "stage", true, &m.stage, e)) < 0 ||
	    (r = get_string(j, "text", true, &m.text, e)) < 0)
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
	if (f->len < 1 || (f->payload[0] != PROTO_STDOUT && f->payload[0] != PROTO_STDERR))
		return err_set(e, ERR_PARSE, "an output message names no stream");
	*ret_stream = f->payload[0];
	*ret_data = f->payload + 1;
	*ret_len = f->len - 1;
	return 0;
}
