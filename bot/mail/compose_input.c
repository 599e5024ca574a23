/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/compose.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/mail/address.h"
#include "bot/mail/compose_reader.h"
#include "bot/mail/text.h"

#include <math.h>
#include <string.h>

static struct compose_side get_side(struct compose_reader *r, const json_t *o, const char *key,
				    const char *what)
{
	const json_t *s = reader_object(r, o, key, what, false), *list, *m;
	struct compose_side side = {
		.mean = reader_f64(r, s, "mean", what, false),
		.sd = reader_f64(r, s, "sd", what, false),
		.n = reader_i64(r, s, "n", what, 0),
	};
	size_t n = reader_array(r, s, "modes", what, &list);

	for (size_t i = 0; i < n && i < COMPOSE_MODES; i++) {
		m = json_array_get(list, i);
		side.modes[i].share = reader_f64(r, m, "share", what, true);
		side.modes[i].center = reader_f64(r, m, "center", what, true);
		if (!(side.modes[i].share >= 0 && side.modes[i].share <= 1))
			reader_fail(r, ERR_RANGE, what,
				    "has a mode whose share is not between 0 and 1");
		side.nmodes = i + 1;
	}
	return side;
}

static void read_head(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *list;
	const char *s;
	size_t n;

	s = reader_text(r, root, "format", "format", NAME_CHARS, false);
	if (s && strcmp(s, COMPOSE_FORMAT) != 0)
		reader_fail(r, ERR_FORMAT, "format", "is not " COMPOSE_FORMAT);
	in->id = reader_id(r, root, "id", "id", 'r', true);
	in->seq = reader_i64(r, root, "seq", "seq", 1);
	if (in->seq < 1 || in->seq > 1000000)
		reader_fail(r, ERR_RANGE, "seq", "must be from 1 to 1000000");
	in->at = reader_time(r, root, "at", "at");
	n = reader_array(r, root, "history", "history", &list);
	for (size_t i = 0; in->at < 0 && i < n; i++) {
		int64_t t = reader_time(r, json_array_get(list, n - 1 - i), "at", "history[].at");

		in->at = t;
	}
	if (in->at < 0)
		reader_fail(r, ERR_PARSE, "at", "is missing (a time such as 2030-11-06T08:12:00Z)");
	in->host = reader_text(r, root, "host", "host", 253, false);
	if (!in->host && reader_array(r, root, "threads", "threads", &list)) {
		s = reader_text(r, json_array_get(list, 0), "message_id", "threads[].message_id",
				250, false);
		s = s ? strrchr(s, '@') : NULL;
		in->host = s ? s + 1 : NULL;
	}
	if (!in->host)
		reader_fail(r, ERR_PARSE, "host",
			    "is missing (a mail host such as perf.example.org)");
	else if (!address_domain_check(in->host, strlen(in->host)) || strlen(in->host) > 180)
		reader_fail(r, ERR_INVAL, "host", "is not a host name");
	in->url = reader_text(r, root, "url", "url", 200, false);
	in->archive = reader_text(r, root, "archive", "archive", 200, false);
	in->contact = reader_text(r, root, "contact", "contact", 254, false);
	if (in->contact && address_check(in->contact, strlen(in->contact), NULL) < 0)
		reader_fail(r, ERR_INVAL, "contact", "is not a mail address");
	in->replies = reader_bool(r, root, "replies", "replies", true);
	s = reader_text(r, root, "direction", "direction", NAME_CHARS, false);
	if (s && strcmp(s, "worse") != 0)
		reader_fail(r, ERR_INVAL, "direction",
			    "is not 'worse': only regressions are reported");
}

static void read_params(struct compose_reader *r, const json_t *root)
{
	const json_t *o = reader_object(r, root, "params", "params", false);
	const char *key;
	json_t *v;

	if (json_object_size(o) > COMPOSE_LIST_MAX)
		reader_fail(r, ERR_TOO_BIG, "params", "has more than 500 entries");
	/* jansson walks an object only through a pointer that is not const */
	json_object_foreach ((json_t *)(uintptr_t)o, key, v) {
		struct compose_param p = { 0 };
		char *text = NULL;

		if (json_is_string(v))
			text = text_clean_dup(json_string_value(v), json_string_length(v),
					      NAME_CHARS);
		else if (json_is_integer(v))
			text = xasprintf("%lld", (long long)json_integer_value(v));
		else if (json_is_real(v))
			text = xasprintf("%.6g", json_real_value(v));
		else if (json_is_boolean(v))
			text = xstrdup(json_is_true(v) ? "yes" : "no");
		else
			reader_fail(r, ERR_PARSE, "params",
				    "must hold strings, numbers, true or false");
		if (!text)
			continue;
		p.key = reader_keep(r, text_clean_dup(key, strlen(key), NAME_CHARS));
		p.value = reader_keep(r, text);
		vec_push(&r->in->params, p);
	}
}

static void read_test(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = reader_object(r, root, "metric", "metric", true);
	const char *s;

	in->tree = reader_text(r, root, "tree", "tree", NAME_CHARS, true);
	in->branch = reader_text(r, root, "branch", "branch", NAME_CHARS, false);
	in->tested_as = reader_text(r, root, "tested_as", "tested_as", NAME_CHARS, false);
	in->in_mainline = reader_bool(r, root, "in_mainline", "in_mainline", -1);
	in->machine = reader_text(r, root, "machine", "machine", NAME_CHARS, true);
	in->suite = reader_text(r, root, "suite", "suite", NAME_CHARS, true);
	in->class = reader_text(r, root, "class", "class", NAME_CHARS, false);
	read_params(r, root);
	in->metric = reader_text(r, o, "name", "metric.name", NAME_CHARS, true);
	in->headline.unit = reader_text(r, o, "unit", "metric.unit", 20, false);
	s = reader_text(r, o, "better", "metric.better", NAME_CHARS, false);
	if (s && !strcmp(s, "higher"))
		in->better = COMPOSE_BETTER_HIGHER;
	else if (s && !strcmp(s, "lower"))
		in->better = COMPOSE_BETTER_LOWER;
	else if (s && strcmp(s, "none") != 0)
		reader_fail(r, ERR_INVAL, "metric.better", "must be higher, lower or none");
}

/* The table names the suite elsewhere. */
static const char *short_name(const struct compose_input *in, const char *name)
{
	size_t n = in->suite ? strlen(in->suite) : 0;

	return n && !strncmp(name, in->suite, n) && name[n] == '.' && name[n + 1] ? name + n + 1
										  : name;
}

static void read_effect(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = reader_object(r, root, "effect", "effect", true);
	const json_t *list;
	size_t n;

	(void)reader_f64(r, o, "rel", "effect.rel", true);
	in->headline.change = reader_change(r, o, "effect");
	in->headline.base = get_side(r, o, "base", "effect.base");
	in->headline.head = get_side(r, o, "head", "effect.head");
	in->headline.name = in->metric ? short_name(in, in->metric) : NULL;
	in->level = reader_f64(r, o, "level", "effect.level", false);
	if (isnan(in->level))
		in->level = 0.95;
	if (in->level <= 0 || in->level >= 1)
		reader_fail(r, ERR_RANGE, "effect.level", "must be between 0 and 1");
	in->interleaved = reader_bool(r, root, "interleaved", "interleaved", 0);
	in->metric_count = reader_i64(r, root, "metric_count", "metric_count", 0);
	n = reader_array(r, root, "metrics", "metrics", &list);
	for (size_t i = 0; i < n; i++) {
		const json_t *m = json_array_get(list, i);
		struct compose_metric row = { 0 };

		row.name = reader_text(r, m, "name", "metrics[].name", NAME_CHARS, true);
		row.unit = reader_text(r, m, "unit", "metrics[].unit", 20, false);
		row.base = get_side(r, m, "base", "metrics[].base");
		row.head = get_side(r, m, "head", "metrics[].head");
		row.change = reader_change(r, m, "metrics[]");
		if (row.name)
			row.name = short_name(in, row.name);
		vec_push(&in->metrics, row);
	}
}

static void read_culprit(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = reader_object(r, root, "culprit", "culprit", true);
	const json_t *list;
	const char *s;
	size_t n;

	in->culprit.commit = reader_hash(r, o, "commit", "culprit.commit", true);
	in->culprit.title = reader_text(r, o, "title", "culprit.title", TITLE_CHARS, true);
	in->culprit.p = reader_f64(r, o, "p", "culprit.p", false);
	if (in->culprit.p < 0 || in->culprit.p > 1)
		reader_fail(r, ERR_RANGE, "culprit.p", "must be between 0 and 1");
	in->parent = reader_hash(r, o, "parent", "culprit.parent", false);
	s = reader_text(r, o, "lives_in", "culprit.lives_in", NAME_CHARS, false);
	if (s) {
		in->lives_in_known = true;
		if (lives_in_parse(s, &in->lives_in, NULL) < 0)
			reader_fail(r, ERR_INVAL, "culprit.lives_in",
				    "is none of private, list, maintainer, next, mainline, stable");
	}
	n = reader_array(r, root, "runners_up", "runners_up", &list);
	for (size_t i = 0; i < n; i++) {
		const json_t *c = json_array_get(list, i);
		struct compose_commit up = { 0 };

		up.commit = reader_hash(r, c, "commit", "runners_up[].commit", true);
		up.p = reader_f64(r, c, "p", "runners_up[].p", false);
		vec_push(&in->runners_up, up);
	}
}

static void add_reference(struct compose_input *in, const char *s)
{
	vec_push(&in->references, s);
}

static void read_recipients(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *list;
	size_t n = reader_array(r, root, "recipients", "recipients", &list);
	bool to = false;

	if (n > RECIPIENTS_MAX)
		reader_fail(r, ERR_TOO_BIG, "recipients", "are more than 20");
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct recipient rcpt = { 0 };
		const json_t *addr = reader_get(r, o, "addr", "recipients[].addr", true);
		const char *s = json_string_value(addr);
		struct err why = { 0 };

		/* the raw bytes are checked: cleaning could turn a bad address into a good one */
		if (addr && !s)
			reader_fail(r, ERR_PARSE, "recipients[].addr", "must be a string");
		else if (s && address_check(s, json_string_length(addr), &why) < 0)
			reader_fail(r, ERR_INVAL, "recipients[].addr:", why.msg);
		if (r->code)
			return;
		rcpt.addr = xstrdup(s);
		(void)reader_keep(r, rcpt.addr);
		s = reader_text(r, o, "name", "recipients[].name", 100, false);
		if (s) {
			rcpt.name = xstrdup(s);
			(void)reader_keep(r, rcpt.name);
		}
		s = reader_text(r, o, "reason", "recipients[].reason", 100, false);
		if (s) {
			rcpt.reason = xstrdup(s);
			(void)reader_keep(r, rcpt.reason);
		}
		rcpt.to = reader_bool(r, o, "to", "recipients[].to", 0);
		to = to || rcpt.to;
		vec_push(&in->recipients, rcpt);
	}
	if (!to && in->recipients.len)
		in->recipients.items[0].to = true;
}

static void read_thread(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = reader_object(r, root, "in_reply_to", "in_reply_to", false);

	if (!o)
		return;
	in->reply_to_id = reader_text(r, o, "message_id", "in_reply_to.message_id", 300, true);
	in->reply_to_subject =
		reader_text(r, o, "subject", "in_reply_to.subject", TITLE_CHARS, true);
	reader_texts(r, o, "references", "in_reply_to.references", 300, add_reference);
	if (in->reply_to_id && !address_message_id_check(in->reply_to_id, strlen(in->reply_to_id)))
		reader_fail(r, ERR_INVAL, "in_reply_to.message_id",
			    "is not a Message-ID without its angle brackets");
	vec_foreach (ref, &in->references) {
		if (!address_message_id_check(*ref, strlen(*ref)))
			reader_fail(r, ERR_INVAL, "in_reply_to.references",
				    "must hold Message-IDs without angle brackets");
	}
}

static void note_unknown(struct compose_reader *r, const json_t *root)
{
	static const char *const known[] = {
		"format",     "id",	     "seq",	      "at",	      "host",
		"url",	      "archive",     "contact",	      "replies",      "state",
		"direction",  "class",	     "tree",	      "branch",	      "tested_as",
		"machine",    "in_mainline", "suite",	      "params",	      "metric",
		"effect",     "metrics",     "interleaved",   "metric_count", "culprit",
		"runners_up", "checks",	     "net",	      "profile",      "broad",
		"box",	      "bisect",	     "bisection",     "reproduce",    "in_reply_to",
		"threads",    "history",     "recipients",    "series",	      "findings",
		"found",      "one_peak",    "possibly_fixed"
	};
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)root, key, v) {
		bool found = false;

		(void)v;
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			found = found || !strcmp(key, known[i]);
		if (!found && r->in->notes.len < 20) {
			_cleanup_(freep) char *k = text_clean_dup(key, strlen(key), NAME_CHARS);
			char *note = xasprintf("unknown key '%s', ignored", k);

			vec_push(&r->in->notes, note);
		}
	}
}

int compose_input_from_json(const json_t *root, struct compose_input *ret, struct err *e)
{
	struct compose_input in = { 0 };
	struct compose_reader r = { .in = &in, .e = e };

	if (!json_is_object(root))
		return err_set(e, ERR_PARSE, "report input is not a JSON object");
	read_head(&r, root);
	read_test(&r, root);
	read_effect(&r, root);
	read_culprit(&r, root);
	compose_read_evidence(&r, root);
	read_thread(&r, root);
	read_recipients(&r, root);
	note_unknown(&r, root);
	if (r.code) {
		compose_input_done(&in);
		return r.code;
	}
	*ret = in;
	return 0;
}

void compose_input_done(struct compose_input *in)
{
	if (!in)
		return;
	vec_foreach (s, &in->pool)
		free(*s);
	vec_foreach (s, &in->notes)
		free(*s);
	vec_done(&in->pool);
	vec_done(&in->notes);
	vec_done(&in->params);
	vec_done(&in->metrics);
	vec_done(&in->runners_up);
	vec_done(&in->possibly_fixed);
	vec_done(&in->findings);
	vec_done(&in->checks);
	vec_done(&in->profile);
	vec_done(&in->facts);
	vec_done(&in->steps);
	vec_done(&in->repro);
	vec_done(&in->references);
	vec_done(&in->recipients);
	*in = (struct compose_input){ 0 };
}
