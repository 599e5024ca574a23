/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/compose_reader.h"

#include <string.h>

static void read_checks(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o, *list;
	size_t n = reader_array(r, root, "checks", "checks", &list);

	for (size_t i = 0; i < n; i++) {
		struct compose_check c = { 0 };

		o = json_array_get(list, i);
		c.name = reader_text(r, o, "name", "checks[].name", NAME_CHARS, true);
		c.machine = reader_text(r, o, "machine", "checks[].machine", NAME_CHARS, false);
		c.commit = reader_hash(r, o, "commit", "checks[].commit", false);
		c.text = reader_text(r, o, "text", "checks[].text", TEXT_CHARS, false);
		c.same_day = reader_bool(r, o, "same_day", "checks[].same_day", 0);
		c.change = reader_change(r, o, "checks[]");
		c.ok = reader_bool(r, o, "ok", "checks[].ok", -1);
		vec_push(&in->checks, c);
	}
	o = reader_object(r, root, "net", "net", false);
	in->net_since = reader_text(r, o, "since", "net.since", NAME_CHARS, false);
	in->net_rel = reader_f64(r, o, "rel", "net.rel", false);
	o = reader_object(r, o, "because", "net.because", false);
	in->net_because = reader_hash(r, o, "commit", "net.because.commit", false);
	in->net_because_rel = reader_f64(r, o, "rel", "net.because.rel", false);
	n = reader_array(r, root, "profile", "profile", &list);
	for (size_t i = 0; i < n; i++) {
		struct compose_symbol s = { 0 };

		o = json_array_get(list, i);
		s.symbol = reader_text(r, o, "symbol", "profile[].symbol", NAME_CHARS, true);
		s.base = reader_f64(r, o, "base", "profile[].base", false);
		s.head = reader_f64(r, o, "head", "profile[].head", false);
		vec_push(&in->profile, s);
	}
	o = reader_object(r, root, "broad", "broad", false);
	in->broad_tested = reader_i64(r, o, "tested", "broad.tested", -1);
	in->broad_moved = reader_i64(r, o, "moved", "broad.moved", -1);
	in->broad_limit = reader_f64(r, o, "limit", "broad.limit", false);
}

/* "2030-11-06…": the day alone. Clocks of committers say what they like, so another text is none. */
static void read_day(const char *time, char ret[11])
{
	static const char shape[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (!time ||
		    (shape[i] == 'd' ? time[i] < '0' || time[i] > '9' : time[i] != shape[i]))
			return;
	(void)snprintf(ret, 11, "%.10s", time);
}

static void read_fixes(struct compose_reader *r, const json_t *root)
{
	const json_t *list;
	size_t n = reader_array(r, root, "possibly_fixed", "possibly_fixed", &list);

	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct compose_fix f = { 0 };
		const char *says;

		says = reader_text(r, o, "says", "possibly_fixed[].says", NAME_CHARS, false);
		f.commit = reader_hash(r, o, "commit", "possibly_fixed[].commit", true);
		f.title = reader_text(r, o, "title", "possibly_fixed[].title", TITLE_CHARS, false);
		f.branch =
			reader_text(r, o, "branch", "possibly_fixed[].branch", NAME_CHARS, false);
		read_day(reader_text(r, o, "commit_time", "possibly_fixed[].commit_time",
				     NAME_CHARS, false),
			 f.day);
		f.reverts = says && !strcmp(says, "reverts");
		f.by_title = reader_bool(r, o, "by_title", "possibly_fixed[].by_title", 0);
		f.measured = reader_bool(r, o, "measured", "possibly_fixed[].measured", -1);
		vec_push(&r->in->possibly_fixed, f);
	}
}

static void add_fact(struct compose_input *in, const char *s)
{
	vec_push(&in->facts, s);
}

static void add_command(struct compose_input *in, const char *s)
{
	vec_push(&in->repro, s);
}

static void add_finding(struct compose_input *in, const char *s)
{
	vec_push(&in->findings, s);
}

static void read_findings(struct compose_reader *r, const json_t *root)
{
	const char *found = reader_text(r, root, "found", "found", NAME_CHARS, false);

	r->in->from_history = found && !strcmp(found, "history");
	r->in->one_peak = reader_bool(r, root, "one_peak", "one_peak", 0);
	reader_texts(r, root, "findings", "findings", SENTENCE_CHARS, add_finding);
}

static void read_box(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = reader_object(r, root, "box", "box", false);

	in->sockets = reader_i64(r, o, "sockets", "box.sockets", 0);
	in->cpus = reader_i64(r, o, "cpus", "box.cpus", 0);
	in->memory_bytes = reader_i64(r, o, "memory_bytes", "box.memory_bytes", -1);
	in->swap_bytes = reader_i64(r, o, "swap_bytes", "box.swap_bytes", -1);
	in->thp = reader_text(r, o, "thp", "box.thp", NAME_CHARS, false);
	in->governor = reader_text(r, o, "governor", "box.governor", NAME_CHARS, false);
	in->compiler = reader_text(r, o, "compiler", "box.compiler", NAME_CHARS, false);
	in->accel = reader_text(r, o, "accel", "box.accel", NAME_CHARS, false);
	reader_texts(r, o, "facts", "box.facts", NAME_CHARS, add_fact);
	o = reader_object(r, root, "reproduce", "reproduce", false);
	in->repro_minutes = reader_f64(r, o, "minutes", "reproduce.minutes", false);
	in->repro_note = reader_text(r, o, "note", "reproduce.note", NAME_CHARS, false);
	reader_texts(r, o, "commands", "reproduce.commands", SHELL_CHARS, add_command);
}

static void read_step(struct compose_reader *r, const json_t *o)
{
	struct compose_step s = { 0 };
	const json_t *runs = reader_get(r, o, "runs", "bisection.log[].runs", false);
	const char *verdict =
		reader_text(r, o, "verdict", "bisection.log[].verdict", NAME_CHARS, false);

	s.n = reader_i64(r, o, "n", "bisection.log[].n", 0);
	s.commit = reader_hash(r, o, "commit", "bisection.log[].commit", true);
	s.runs = json_is_array(runs) ? (int64_t)json_array_size(runs)
				     : reader_i64(r, o, "runs", "bisection.log[].runs", 0);
	s.rel = reader_f64(r, o, "rel", "bisection.log[].rel", false);
	s.p_bad = reader_f64(r, o, "p_bad", "bisection.log[].p_bad", false);
	s.left = reader_f64(r, o, "left", "bisection.log[].left", false);
	if (verdict && !strcmp(verdict, "skip")) {
		s.skip = reader_text(r, o, "reason", "bisection.log[].reason", 20, false);
		if (!s.skip)
			s.skip = "skip";
	}
	vec_push(&r->in->steps, s);
}

static void read_bisection(struct compose_reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = reader_object(r, root, "bisection", "bisection", false);
	const json_t *list;
	size_t n;

	in->bisect = reader_id(r, root, "bisect", "bisect", 'b', false);
	in->good = reader_text(r, o, "good", "bisection.good", NAME_CHARS, false);
	in->bad = reader_text(r, o, "bad", "bisection.bad", NAME_CHARS, false);
	in->commits = reader_i64(r, o, "commits", "bisection.commits", 0);
	in->steps_done = reader_i64(r, o, "steps", "bisection.steps", 0);
	n = reader_array(r, o, "log", "bisection.log", &list);
	for (size_t i = 0; i < n; i++)
		read_step(r, json_array_get(list, i));
	o = reader_object(r, o, "revert", "bisection.revert", false);
	in->revert_on = reader_text(r, o, "on", "bisection.revert.on", NAME_CHARS, false);
	in->revert = reader_change(r, o, "bisection.revert");
}

void compose_read_evidence(struct compose_reader *r, const json_t *root)
{
	read_fixes(r, root);
	read_checks(r, root);
	read_findings(r, root);
	read_box(r, root);
	read_bisection(r, root);
}
