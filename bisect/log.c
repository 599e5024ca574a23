/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/log.h"
#include "bisect/names.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT	    "kperfbot-bisect-log/1"
#define EVENTS_MOST 1000000
#define BESIDE_MOST 1000000

static void write_line(struct strbuf *text, json_t *line)
{
	char *dump = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));

	if (!dump)
		abort();
	strbuf_addf(text, "%s\n", dump);
	free(dump);
	json_decref(line);
}

static json_t *commits_json(const struct bisect_graph *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->n; i++) {
		const struct bisect_commit *c = &g->commits[i];
		json_t *o = json_object();
		json_t *parents = json_array();

		for (size_t p = 0; p < c->n_parents; p++)
			(void)json_array_append_new(parents,
						    json_string(g->commits[c->parents[p]].hash));
		(void)json_object_set_new(o, "commit", json_string(c->hash));
		(void)json_object_set_new(o, "parents", parents);
		if (c->outside)
			(void)json_object_set_new(o, "outside", json_true());
		(void)json_array_append_new(list, o);
	}
	return list;
}

static const char *const event_names[] = { "run", "skip", "built", "prior" };

static bool is_given(const struct bisect_log_cost *cost, int boot)
{
	return boot >= 0 && (size_t)boot < cost->n_given && cost->given[boot];
}

static json_t *event_json(const struct bisect_state *s, const struct bisect_event *event,
			  const struct bisect_log_cost *cost)
{
	size_t at = event->commit == BISECT_GOOD_END ? s->graph->n : (size_t)event->commit;
	json_t *o = json_object();
	json_t *line = json_object();

	(void)json_object_set_new(o, "commit", json_string(bisect_commit_name(s, event->commit)));
	switch (event->kind) {
	case BISECT_EVENT_RUN:
		(void)json_object_set_new(o, "boot", json_integer(event->boot));
		(void)json_object_set_new(o, "y", json_real(event->value));
		if (is_given(cost, event->boot))
			(void)json_object_set_new(o, "given", json_true());
		break;
	case BISECT_EVENT_SKIP:
		(void)json_object_set_new(o, "reason", json_string(bisect_skip_name(event->skip)));
		break;
	case BISECT_EVENT_PRIOR:
		(void)json_object_set_new(o, "weight", json_real(event->value));
		break;
	case BISECT_EVENT_BUILT:
		if (cost->made && cost->made[at])
			(void)json_object_set_new(o, "made", json_true());
		break;
	}
	(void)json_object_set_new(line, event_names[event->kind], o);
	return line;
}

static json_t *beside_json(const struct bisect_log_beside *b)
{
	json_t *o = json_object();

	(void)json_object_set_new(o, "builds", json_integer(b->builds));
	(void)json_object_set_new(o, "boots", json_integer(b->boots));
	(void)json_object_set_new(o, "runs", json_integer(b->runs));
	return o;
}

char *bisect_log_write(const struct bisect_state *s, const char *good,
		       const struct bisect_log_cost *cost)
{
	static const struct bisect_log_cost nothing;
	struct strbuf text = STRBUF_INIT;
	json_t *head = json_object();

	cost = cost ? cost : &nothing;

	(void)json_object_set_new(head, "format", json_string(FORMAT));
	if (good)
		(void)json_object_set_new(head, "good", json_string(good));
	(void)json_object_set_new(head, "params", bisect_params_json(&s->params));
	(void)json_object_set_new(head, "commits", commits_json(s->graph));
	if (cost->beside.builds || cost->beside.boots)
		(void)json_object_set_new(head, "beside", beside_json(&cost->beside));
	write_line(&text, head);
	for (size_t i = 0; i < s->n_events; i++)
		write_line(&text, event_json(s, &s->events[i], cost));
	return strbuf_take(&text);
}

/* Commits by hash, so that a long range does not take its square in look-ups. */
static int read_parents(const struct bisect_graph *g, const json_t *index, const json_t *list,
			int *parents, struct err *e)
{
	const json_t *name;
	size_t i;

	json_array_foreach (list, i, name) {
		const json_t *at = json_is_string(name)
					   ? json_object_get(index, json_string_value(name))
					   : NULL;

		if (!at)
			return err_set(e, ERR_NOENT,
				       "a parent of commit %zu of the log does not precede it",
				       g->n + 1);
		parents[i] = (int)json_integer_value(at);
	}
	return 0;
}

/* Names go to terminals and to git. */
static bool is_plain(const char *name)
{
	static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";

	return name[0] != '\0' && name[0] != '-' && name[strspn(name, allowed)] == '\0';
}

static int read_commit(struct bisect_graph *g, json_t *index, const json_t *o, struct err *e)
{
	const char *hash = json_string_value(json_object_get(o, "commit"));
	const json_t *list = json_object_get(o, "parents");
	_cleanup_(freep) int *parents = NULL;
	int r;

	if (!hash || !is_plain(hash) || !json_is_array(list) || !strcmp(hash, BISECT_GOOD_NAME))
		return err_set(e, ERR_PARSE, "commit %zu of the log has no name or no parents",
			       g->n + 1);
	if (json_array_size(list) > BISECT_MAX_PARENTS)
		return err_set(e, ERR_TOO_BIG, "commit %.40s of the log has %zu parents", hash,
			       json_array_size(list));
	if (json_object_get(index, hash))
		return err_set(e, ERR_PARSE, "commit %.40s is in the log twice", hash);
	parents = xcalloc(json_array_size(list) + 1, sizeof(*parents));
	r = read_parents(g, index, list, parents, e);
	if (r == 0)
		r = bisect_graph_add(g, hash, parents, json_array_size(list),
				     json_is_true(json_object_get(o, "outside")), e);
	if (r == 0)
		(void)json_object_set_new(index, hash, json_integer((json_int_t)g->n - 1));
	return r;
}

static int read_beside(const json_t *o, struct bisect_log_beside *ret, struct err *e)
{
	const struct {
		const char *key;
		int *to;
	} counts[] = { { "builds", &ret->builds },
		       { "boots", &ret->boots },
		       { "runs", &ret->runs } };

	for (size_t i = 0; o && i < ARRAY_SIZE(counts); i++) {
		const json_t *v = json_object_get(o, counts[i].key);

		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > BESIDE_MOST)
			return err_set(e, ERR_PARSE, "%s beside the range must be 0 to %d",
				       counts[i].key, BESIDE_MOST);
		*counts[i].to = (int)json_integer_value(v);
	}
	return 0;
}

static int read_head(struct bisect_log *log, json_t *index, const json_t *head, struct err *e)
{
	const char *format = json_string_value(json_object_get(head, "format"));
	const char *good = json_string_value(json_object_get(head, "good"));
	const json_t *item;
	size_t i;
	int r;

	if (!format || strcmp(format, FORMAT) != 0)
		return err_set(e, ERR_FORMAT, "format is '%.40s', must be '" FORMAT "'",
			       format ? format : "");
	if (good && (strlen(good) >= sizeof(log->good) || !is_plain(good)))
		return err_set(e, ERR_PARSE, "'%.64s' is no name of the good end", good);
	if (good)
		memcpy(log->good, good, strlen(good) + 1);
	r = bisect_params_from_json(json_object_get(head, "params"), &log->params, e);
	if (r == 0)
		r = read_beside(json_object_get(head, "beside"), &log->beside, e);
	json_array_foreach (json_object_get(head, "commits"), i, item) {
		if (r == 0)
			r = read_commit(&log->graph, index, item, e);
	}
	return r < 0 ? r : bisect_graph_prepare(&log->graph, e);
}

static int read_event_commit(const json_t *index, const json_t *o, int *ret, struct err *e)
{
	const char *name = json_string_value(json_object_get(o, "commit"));
	const json_t *at;

	if (!name)
		return err_set(e, ERR_PARSE, "an event has no commit");
	if (!strcmp(name, BISECT_GOOD_NAME)) {
		*ret = BISECT_GOOD_END;
		return 0;
	}
	at = json_object_get(index, name);
	if (!at)
		return err_set(e, ERR_NOENT, "commit '%.40s' is not in the log's range", name);
	*ret = (int)json_integer_value(at);
	return 0;
}

static int read_event(const json_t *index, const json_t *line, struct bisect_event *ret,
		      struct err *e)
{
	const json_t *o = NULL;
	const json_t *boot;
	const json_t *value;
	const char *reason;
	size_t kind = 0;
	int r;

	while (kind < ARRAY_SIZE(event_names) && !(o = json_object_get(line, event_names[kind])))
		kind++;
	if (!o)
		return 0; /* of a later version */
	*ret = (struct bisect_event){ .kind = (enum bisect_event_kind)kind };
	r = read_event_commit(index, o, &ret->commit, e);
	if (r < 0)
		return r;
	boot = json_object_get(o, "boot");
	value = json_object_get(o, kind == BISECT_EVENT_RUN ? "y" : "weight");
	reason = json_string_value(json_object_get(o, "reason"));
	if (kind == BISECT_EVENT_RUN &&
	    (!json_is_integer(boot) || json_integer_value(boot) < INT32_MIN ||
	     json_integer_value(boot) > INT32_MAX))
		return err_set(e, ERR_PARSE, "a run has no boot");
	if ((kind == BISECT_EVENT_RUN || kind == BISECT_EVENT_PRIOR) && !json_is_number(value))
		return err_set(e, ERR_PARSE, "an event has no value");
	if (kind == BISECT_EVENT_SKIP) {
		r = bisect_skip_by_name(reason ? reason : "", &ret->skip, e);
		if (r < 0)
			return r;
	}
	ret->boot = (int)json_integer_value(boot);
	ret->value = json_number_value(value);
	ret->given = json_is_true(json_object_get(o, "given"));
	ret->made = json_is_true(json_object_get(o, "made"));
	return 1;
}

static int log_add(struct bisect_log *log, size_t *cap, const struct bisect_event *event,
		   struct err *e)
{
	if (log->n_events >= EVENTS_MOST)
		return err_set(e, ERR_TOO_BIG, "more than %d events", EVENTS_MOST);
	if (log->n_events == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		log->events = xreallocarray(log->events, *cap, sizeof(*log->events));
	}
	log->events[log->n_events++] = *event;
	return 0;
}

struct reader {
	struct bisect_log *log;
	json_t *index;
	size_t cap;
	size_t line;
};

static int read_line(struct reader *rd, const char *line, size_t len, struct err *e)
{
	_cleanup_(json_decrefp) json_t *o = NULL;
	struct bisect_event event;
	json_error_t why;
	int r;

	o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(o))
		return err_set(e, ERR_PARSE, "not a JSON object");
	if (!rd->log->graph.prepared)
		return read_head(rd->log, rd->index, o, e);
	r = read_event(rd->index, o, &event, e);
	return r > 0 ? log_add(rd->log, &rd->cap, &event, e) : r;
}

int bisect_log_read(const char *text, size_t len, struct bisect_log *ret, struct err *e)
{
	_cleanup_(bisect_log_done) struct bisect_log log = { 0 };
	_cleanup_(json_decrefp) json_t *index = json_object();
	struct reader rd = { .log = &log, .index = index };

	if (len > BISECT_LOG_MOST)
		return err_set(e, ERR_TOO_BIG, "log has %zu bytes, at most %d are read", len,
			       BISECT_LOG_MOST);
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		int r = 0;

		rd.line++;
		if (n > 0)
			r = read_line(&rd, text + at, n, e);
		if (r < 0)
			return err_wrap(e, "line %zu", rd.line);
		at += n + 1;
	}
	if (!log.graph.prepared)
		return err_set(e, ERR_PARSE, "the log is empty");
	*ret = log;
	log = (struct bisect_log){ 0 };
	return 0;
}

void bisect_log_done(struct bisect_log *log)
{
	if (!log)
		return;
	bisect_graph_done(&log->graph);
	free(log->events);
	memset(log, 0, sizeof(*log));
}

int bisect_log_start(const struct bisect_log *log, struct bisect_state *ret, struct err *e)
{
	return bisect_init(ret, &log->graph, &log->params, e);
}

int bisect_log_apply(struct bisect_state *s, const struct bisect_event *event, struct err *e)
{
	switch (event->kind) {
	case BISECT_EVENT_RUN:
		return bisect_add_run(s, event->commit, event->boot, event->value, e);
	case BISECT_EVENT_SKIP:
		return bisect_skip(s, event->commit, event->skip, e);
	case BISECT_EVENT_BUILT:
		return bisect_mark_built(s, event->commit, e);
	case BISECT_EVENT_PRIOR:
		return bisect_set_prior(s, event->commit, event->value, e);
	}
	return err_set(e, ERR_BUG, "unknown event %d", (int)event->kind);
}
