/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The message that tells an agent what to do. */
#include "runners/proto/message_json.h"

#include "bot/base/err.h"

#include <string.h>

#define COPIES_MAX 65536

static const char *const phases[] = {
	[PROTO_PHASE_RUN] = "run",
	[PROTO_PHASE_SETUP] = "setup",
	[PROTO_PHASE_CLEANUP] = "cleanup",
};

/* NULL when a string is not UTF-8. */
static json_t *list_pack(char *const *list)
{
	json_t *a = json_array();

	for (char *const *w = list; w && *w; w++) {
		if (json_array_append_new(a, json_string(*w)) < 0) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *command_pack(const struct proto_command *c)
{
	return json_pack("{so ss si}", "argv", list_pack(c->argv), "phase", phases[c->phase],
			 "copies", (int)c->copies);
}

int proto_job_add(struct strbuf *out, const struct proto_job *m, struct err *e)
{
	_cleanup_(json_decrefp) json_t *commands = json_array();

	for (size_t i = 0; i < m->ncommands; i++) {
		if (json_array_append_new(commands, command_pack(&m->commands[i])) < 0)
			return err_set(e, ERR_INVAL, "argument of command %zu is not UTF-8", i);
	}
	return message_add(
		out, PROTO_JOB,
		json_pack("{sO si sf sI sb sb sO* ss* ss* so so so so sf sf si si}", "commands",
			  commands, "runs", (int)m->runs, "deadline_s", m->deadline_s,
			  "output_max_bytes", (json_int_t)m->output_max_bytes, "aslr", (int)m->aslr,
			  "owned", (int)m->owned, "settings", m->settings, "path", m->path, "dir",
			  m->dir, "env", list_pack(m->env), "keep", list_pack(m->keep), "identify",
			  list_pack(m->identify), "monitors", list_pack(m->monitors),
			  "monitor_interval_s", m->monitor_interval_s, "repeat_s", m->repeat_s,
			  "repeat_max", (int)m->repeat_max, "nofile", (int)m->nofile),
		e);
}

static int parse_phase(const char *name, enum proto_phase *ret, struct err *e)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(phases); i++) {
		if (!strcmp(phases[i], name)) {
			*ret = (enum proto_phase)i;
			return 0;
		}
	}
	return err_set(e, ERR_PARSE, "'phase' has to be run, setup or cleanup");
}

static int parse_command(const json_t *j, size_t i, struct proto_command *ret, struct err *e)
{
	struct err why = { 0 };
	int r;

	if ((r = message_list(j, "argv", PROTO_ARGS_MAX, &ret->argv, &why)) < 0 ||
	    (r = message_uint(j, "copies", 1, COPIES_MAX, &ret->copies, &why)) < 0 ||
	    (r = parse_phase(json_string_value(json_object_get(j, "phase")), &ret->phase, &why)) <
		    0)
		return err_set(e, r, "command %zu: %s", i, why.msg);
	if (!ret->argv || !ret->argv[0])
		return err_set(e, ERR_PARSE, "command %zu: 'argv' has to be 1 to %d strings", i,
			       PROTO_ARGS_MAX);
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
		m->ncommands++;
		r = parse_command(json_array_get(j, i), i, &m->commands[i], e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_settings(const json_t *settings, struct err *e)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)settings, key, v) {
		if (!json_is_string(v))
			return err_set(e, ERR_PARSE, "setting '%.80s' has to be a string", key);
	}
	return 0;
}

int proto_job_parse(const struct proto_frame *f, struct proto_job *ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *j = message_parse(f, e);
	_cleanup_(proto_job_done) struct proto_job m = { 0 };
	int r;

	if (!j)
		return ERR_PARSE;
	if ((r = parse_commands(json_object_get(j, "commands"), &m, e)) < 0 ||
	    (r = message_uint(j, "runs", 1, PROTO_RUNS_MAX, &m.runs, e)) < 0 ||
	    (r = message_seconds(j, "deadline_s", &m.deadline_s, e)) < 0 ||
	    (r = message_bytes(j, "output_max_bytes", &m.output_max_bytes, e)) < 0 ||
	    (r = message_bool(j, "aslr", &m.aslr, e)) < 0 ||
	    (r = message_bool(j, "owned", &m.owned, e)) < 0 ||
	    (r = message_object(j, "settings", &m.settings, e)) < 0 ||
	    (r = check_settings(m.settings, e)) < 0 ||
	    (r = message_string(j, "path", false, &m.path, e)) < 0 ||
	    (r = message_string(j, "dir", false, &m.dir, e)) < 0 ||
	    (r = message_list(j, "env", PROTO_ARGS_MAX, &m.env, e)) < 0 ||
	    (r = message_list(j, "keep", PROTO_STREAM_MAX, &m.keep, e)) < 0 ||
	    (r = message_list(j, "identify", PROTO_STREAM_MAX, &m.identify, e)) < 0 ||
	    (r = message_list(j, "monitors", PROTO_STREAM_MAX, &m.monitors, e)) < 0 ||
	    (r = message_seconds(j, "monitor_interval_s", &m.monitor_interval_s, e)) < 0 ||
	    (r = message_seconds(j, "repeat_s", &m.repeat_s, e)) < 0 ||
	    (r = message_uint(j, "repeat_max", 0, PROTO_RUNS_MAX, &m.repeat_max, e)) < 0 ||
	    (r = message_uint(j, "nofile", 0, 1 << 30, &m.nofile, e)) < 0)
		return r;
	*ret = m;
	memset(&m, 0, sizeof(m));
	return 0;
}

void proto_job_done(struct proto_job *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->ncommands; i++)
		message_list_free(m->commands[i].argv);
	free(m->commands);
	json_decref(m->settings);
	free(m->path);
	free(m->dir);
	message_list_free(m->env);
	message_list_free(m->keep);
	message_list_free(m->identify);
	message_list_free(m->monitors);
	memset(m, 0, sizeof(*m));
}
