/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/compose.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/mail/address.h"
#include "bot/mail/text.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define NAME_CHARS     60
#define TITLE_CHARS    200
#define TEXT_CHARS     300
#define SENTENCE_CHARS 400
#define SHELL_CHARS    500
#define LIST_MAX       500

/* The first problem is kept in @code and @e; later reads do nothing. */
struct reader {
	struct compose_input *in;
	struct err *e;
	int code;
};

static void fail(struct reader *r, int code, const char *what, const char *want)
{
	if (!r->code)
		r->code = err_set(r->e, code, "report input: %s %s", what, want);
}

static const char *keep(struct reader *r, char *s)
{
	vec_push(&r->in->pool, s);
	return s;
}

static const json_t *get(struct reader *r, const json_t *o, const char *key, const char *what,
			 bool needed)
{
	const json_t *v = o ? json_object_get(o, key) : NULL;

	if (json_is_null(v))
		v = NULL;
	if (!v && needed)
		fail(r, ERR_PARSE, what, "is missing");
	return v;
}

static const char *get_text(struct reader *r, const json_t *o, const char *key, const char *what,
			    size_t max, bool needed)
{
	const json_t *v = get(r, o, key, what, needed);
	const char *s;

	if (!v)
		return NULL;
	if (!json_is_string(v)) {
		fail(r, ERR_PARSE, what, "must be a string");
		return NULL;
	}
	s = keep(r, text_clean_dup(json_string_value(v), json_string_length(v), max));
	if (!*s && needed)
		fail(r, ERR_PARSE, what, "is empty");
	return *s ? s : NULL;
}

static double get_f64(struct reader *r, const json_t *o, const char *key, const char *what,
		      bool needed)
{
	const json_t *v = get(r, o, key, what, needed);

	if (!v)
		return NAN;
	if (!json_is_number(v)) {
		fail(r, ERR_PARSE, what, "must be a number");
		return NAN;
	}
	if (fabs(json_number_value(v)) > 1e18)
		fail(r, ERR_RANGE, what, "is above 1e18");
	return json_number_value(v);
}

static int64_t get_i64(struct reader *r, const json_t *o, const char *key, const char *what,
		       int64_t missing)
{
	const json_t *v = get(r, o, key, what, false);

	if (!v)
		return missing;
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		fail(r, ERR_PARSE, what, "must be a whole number from 0");
		return missing;
	}
	return json_integer_value(v);
}

static int get_bool(struct reader *r, const json_t *o, const char *key, const char *what,
		    int missing)
{
	const json_t *v = get(r, o, key, what, false);

	if (v && !json_is_boolean(v))
		fail(r, ERR_PARSE, what, "must be true or false");
	return v ? json_is_true(v) : missing;
}

static const json_t *get_object(struct reader *r, const json_t *o, const char *key,
				const char *what, bool needed)
{
	const json_t *v = get(r, o, key, what, needed);

	if (v && !json_is_object(v)) {
		fail(r, ERR_PARSE, what, "must be an object");
		return NULL;
	}
	return v;
}

/* Elements of an array; 0 and an error if it is none or has more than LIST_MAX. */
static size_t get_array(struct reader *r, const json_t *o, const char *key, const char *what,
			const json_t **ret)
{
	*ret = get(r, o, key, what, false);
	if (*ret && !json_is_array(*ret)) {
		fail(r, ERR_PARSE, what, "must be an array");
		return 0;
	}
	if (json_array_size(*ret) > LIST_MAX) {
		fail(r, ERR_TOO_BIG, what, "has more than 500 entries");
		return 0;
	}
	return json_array_size(*ret);
}

static bool is_hash(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return !s[n] && n >= 12 && n <= 40;
}

static const char *get_hash(struct reader *r, const json_t *o, const char *key, const char *what,
			    bool needed)
{
	const char *s = get_text(r, o, key, what, 64, needed);

	if (s && !is_hash(s))
		fail(r, ERR_INVAL, what, "must be a commit hash of 12 to 40 lower-case hex digits");
	return s;
}

static const char *get_id(struct reader *r, const json_t *o, const char *key, const char *what,
			  char first, bool needed)
{
	const char *s = get_text(r, o, key, what, 64, needed);

	if (s && (s[0] != first || strlen(s) != 8 ||
		  strspn(s + 1, "0123456789abcdefghjkmnpqrstvwxyz") != 7))
		fail(r, ERR_INVAL, what, "must be its letter and 7 of 0-9, a-z without i, l, o, u");
	return s;
}

/* "2030-11-06T08:12:00Z"; a fraction of a second is dropped. */
static bool time_parse(const char *s, int64_t *ret)
{
	struct tm tm = { 0 };
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	int v[6] = { 0 }, field = 0;
	struct tm back;
	time_t t;

	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] == 'd') {
			if (s[i] < '0' || s[i] > '9')
				return false;
			v[field] = v[field] * 10 + (s[i] - '0');
		} else if (s[i] != shape[i]) {
			return false;
		} else {
			field++;
		}
	}
	s += sizeof(shape) - 1;
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789");
	if (strcmp(s, "Z") != 0 && strcmp(s, "+00:00") != 0)
		return false;
	tm.tm_year = v[0] - 1900;
	tm.tm_mon = v[1] - 1;
	tm.tm_mday = v[2];
	tm.tm_hour = v[3];
	tm.tm_min = v[4];
	tm.tm_sec = v[5];
	t = timegm(&tm);
	/* timegm() turns 31 April into 1 May */
	if (v[0] < 1970 || !gmtime_r(&t, &back) || back.tm_mday != v[2] || back.tm_hour != v[3] ||
	    back.tm_min != v[4])
		return false;
	*ret = t;
	return true;
}

static int64_t get_time(struct reader *r, const json_t *o, const char *key, const char *what)
{
	const char *s = get_text(r, o, key, what, 64, false);
	int64_t t = -1;

	if (s && !time_parse(s, &t))
		fail(r, ERR_PARSE, what, "must be a time such as 2030-11-06T08:12:00Z");
	return t;
}

static struct compose_change get_change(struct reader *r, const json_t *o, const char *what)
{
	struct compose_change c = {
		.rel = get_f64(r, o, "rel", what, false),
		.lo = get_f64(r, o, "lo", what, false),
		.hi = get_f64(r, o, "hi", what, false),
	};

	if (!isnan(c.lo) && !isnan(c.hi) && c.lo > c.hi)
		fail(r, ERR_INVAL, what, "has an interval whose lo is above its hi");
	if (isnan(c.lo) || isnan(c.hi))
		c.lo = c.hi = NAN;
	return c;
}

static struct compose_side get_side(struct reader *r, const json_t *o, const char *key,
				    const char *what)
{
	const json_t *s = get_object(r, o, key, what, false), *list, *m;
	struct compose_side side = {
		.mean = get_f64(r, s, "mean", what, false),
		.sd = get_f64(r, s, "sd", what, false),
		.n = get_i64(r, s, "n", what, 0),
	};
	size_t n = get_array(r, s, "modes", what, &list);

	for (size_t i = 0; i < n && i < COMPOSE_MODES; i++) {
		m = json_array_get(list, i);
		side.modes[i].share = get_f64(r, m, "share", what, true);
		side.modes[i].center = get_f64(r, m, "center", what, true);
		if (!(side.modes[i].share >= 0 && side.modes[i].share <= 1))
			fail(r, ERR_RANGE, what, "has a mode whose share is not between 0 and 1");
		side.nmodes = i + 1;
	}
	return side;
}

static void read_head(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *list;
	const char *s;
	size_t n;

	s = get_text(r, root, "format", "format", NAME_CHARS, false);
	if (s && strcmp(s, COMPOSE_FORMAT) != 0)
		fail(r, ERR_FORMAT, "format", "is not " COMPOSE_FORMAT);
	in->id = get_id(r, root, "id", "id", 'r', true);
	in->seq = get_i64(r, root, "seq", "seq", 1);
	if (in->seq < 1 || in->seq > 1000000)
		fail(r, ERR_RANGE, "seq", "must be from 1 to 1000000");
	in->at = get_time(r, root, "at", "at");
	n = get_array(r, root, "history", "history", &list);
	for (size_t i = 0; in->at < 0 && i < n; i++) {
		int64_t t = get_time(r, json_array_get(list, n - 1 - i), "at", "history[].at");

		in->at = t;
	}
	if (in->at < 0)
		fail(r, ERR_PARSE, "at", "is missing (a time such as 2030-11-06T08:12:00Z)");
	in->host = get_text(r, root, "host", "host", 253, false);
	if (!in->host && get_array(r, root, "threads", "threads", &list)) {
		s = get_text(r, json_array_get(list, 0), "message_id", "threads[].message_id", 250,
			     false);
		s = s ? strrchr(s, '@') : NULL;
		in->host = s ? s + 1 : NULL;
	}
	if (!in->host)
		fail(r, ERR_PARSE, "host", "is missing (a mail host such as perf.example.org)");
	else if (!address_domain_check(in->host, strlen(in->host)) || strlen(in->host) > 180)
		fail(r, ERR_INVAL, "host", "is not a host name");
	in->url = get_text(r, root, "url", "url", 200, false);
	in->archive = get_text(r, root, "archive", "archive", 200, false);
	in->contact = get_text(r, root, "contact", "contact", 254, false);
	if (in->contact && address_check(in->contact, strlen(in->contact), NULL) < 0)
		fail(r, ERR_INVAL, "contact", "is not a mail address");
	in->replies = get_bool(r, root, "replies", "replies", true);
	s = get_text(r, root, "direction", "direction", NAME_CHARS, false);
	if (s && strcmp(s, "worse") != 0)
		fail(r, ERR_INVAL, "direction", "is not 'worse': only regressions are reported");
}

static void read_params(struct reader *r, const json_t *root)
{
	const json_t *o = get_object(r, root, "params", "params", false);
	const char *key;
	json_t *v;

	if (json_object_size(o) > LIST_MAX)
		fail(r, ERR_TOO_BIG, "params", "has more than 500 entries");
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
			fail(r, ERR_PARSE, "params", "must hold strings, numbers, true or false");
		if (!text)
			continue;
		p.key = keep(r, text_clean_dup(key, strlen(key), NAME_CHARS));
		p.value = keep(r, text);
		vec_push(&r->in->params, p);
	}
}

static void read_test(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = get_object(r, root, "metric", "metric", true);
	const char *s;

	in->tree = get_text(r, root, "tree", "tree", NAME_CHARS, true);
	in->branch = get_text(r, root, "branch", "branch", NAME_CHARS, false);
	in->tested_as = get_text(r, root, "tested_as", "tested_as", NAME_CHARS, false);
	in->in_mainline = get_bool(r, root, "in_mainline", "in_mainline", -1);
	in->machine = get_text(r, root, "machine", "machine", NAME_CHARS, true);
	in->suite = get_text(r, root, "suite", "suite", NAME_CHARS, true);
	in->class = get_text(r, root, "class", "class", NAME_CHARS, false);
	read_params(r, root);
	in->metric = get_text(r, o, "name", "metric.name", NAME_CHARS, true);
	in->headline.unit = get_text(r, o, "unit", "metric.unit", 20, false);
	s = get_text(r, o, "better", "metric.better", NAME_CHARS, false);
	if (s && !strcmp(s, "higher"))
		in->better = COMPOSE_BETTER_HIGHER;
	else if (s && !strcmp(s, "lower"))
		in->better = COMPOSE_BETTER_LOWER;
	else if (s && strcmp(s, "none") != 0)
		fail(r, ERR_INVAL, "metric.better", "must be higher, lower or none");
}

/* The table names the suite elsewhere. */
static const char *short_name(const struct compose_input *in, const char *name)
{
	size_t n = in->suite ? strlen(in->suite) : 0;

	return n && !strncmp(name, in->suite, n) && name[n] == '.' && name[n + 1] ? name + n + 1
										  : name;
}

static void read_effect(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = get_object(r, root, "effect", "effect", true);
	const json_t *list;
	size_t n;

	(void)get_f64(r, o, "rel", "effect.rel", true);
	in->headline.change = get_change(r, o, "effect");
	in->headline.base = get_side(r, o, "base", "effect.base");
	in->headline.head = get_side(r, o, "head", "effect.head");
	in->headline.name = in->metric ? short_name(in, in->metric) : NULL;
	in->level = get_f64(r, o, "level", "effect.level", false);
	if (isnan(in->level))
		in->level = 0.95;
	if (in->level <= 0 || in->level >= 1)
		fail(r, ERR_RANGE, "effect.level", "must be between 0 and 1");
	in->interleaved = get_bool(r, root, "interleaved", "interleaved", 0);
	in->metric_count = get_i64(r, root, "metric_count", "metric_count", 0);
	n = get_array(r, root, "metrics", "metrics", &list);
	for (size_t i = 0; i < n; i++) {
		const json_t *m = json_array_get(list, i);
		struct compose_metric row = { 0 };

		row.name = get_text(r, m, "name", "metrics[].name", NAME_CHARS, true);
		row.unit = get_text(r, m, "unit", "metrics[].unit", 20, false);
		row.base = get_side(r, m, "base", "metrics[].base");
		row.head = get_side(r, m, "head", "metrics[].head");
		row.change = get_change(r, m, "metrics[]");
		if (row.name)
			row.name = short_name(in, row.name);
		vec_push(&in->metrics, row);
	}
}

static void read_culprit(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = get_object(r, root, "culprit", "culprit", true);
	const json_t *list;
	const char *s;
	size_t n;

	in->culprit.commit = get_hash(r, o, "commit", "culprit.commit", true);
	in->culprit.title = get_text(r, o, "title", "culprit.title", TITLE_CHARS, true);
	in->culprit.p = get_f64(r, o, "p", "culprit.p", false);
	if (in->culprit.p < 0 || in->culprit.p > 1)
		fail(r, ERR_RANGE, "culprit.p", "must be between 0 and 1");
	in->parent = get_hash(r, o, "parent", "culprit.parent", false);
	s = get_text(r, o, "lives_in", "culprit.lives_in", NAME_CHARS, false);
	if (s) {
		in->lives_in_known = true;
		if (lives_in_parse(s, &in->lives_in, NULL) < 0)
			fail(r, ERR_INVAL, "culprit.lives_in",
			     "is none of private, list, maintainer, next, mainline, stable");
	}
	n = get_array(r, root, "runners_up", "runners_up", &list);
	for (size_t i = 0; i < n; i++) {
		const json_t *c = json_array_get(list, i);
		struct compose_commit up = { 0 };

		up.commit = get_hash(r, c, "commit", "runners_up[].commit", true);
		up.p = get_f64(r, c, "p", "runners_up[].p", false);
		vec_push(&in->runners_up, up);
	}
}

static void read_checks(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o, *list;
	size_t n = get_array(r, root, "checks", "checks", &list);

	for (size_t i = 0; i < n; i++) {
		struct compose_check c = { 0 };

		o = json_array_get(list, i);
		c.name = get_text(r, o, "name", "checks[].name", NAME_CHARS, true);
		c.machine = get_text(r, o, "machine", "checks[].machine", NAME_CHARS, false);
		c.commit = get_hash(r, o, "commit", "checks[].commit", false);
		c.text = get_text(r, o, "text", "checks[].text", TEXT_CHARS, false);
		c.same_day = get_bool(r, o, "same_day", "checks[].same_day", 0);
		c.change = get_change(r, o, "checks[]");
		c.ok = get_bool(r, o, "ok", "checks[].ok", -1);
		vec_push(&in->checks, c);
	}
	o = get_object(r, root, "net", "net", false);
	in->net_since = get_text(r, o, "since", "net.since", NAME_CHARS, false);
	in->net_rel = get_f64(r, o, "rel", "net.rel", false);
	o = get_object(r, o, "because", "net.because", false);
	in->net_because = get_hash(r, o, "commit", "net.because.commit", false);
	in->net_because_rel = get_f64(r, o, "rel", "net.because.rel", false);
	n = get_array(r, root, "profile", "profile", &list);
	for (size_t i = 0; i < n; i++) {
		struct compose_symbol s = { 0 };

		o = json_array_get(list, i);
		s.symbol = get_text(r, o, "symbol", "profile[].symbol", NAME_CHARS, true);
		s.base = get_f64(r, o, "base", "profile[].base", false);
		s.head = get_f64(r, o, "head", "profile[].head", false);
		vec_push(&in->profile, s);
	}
	o = get_object(r, root, "broad", "broad", false);
	in->broad_tested = get_i64(r, o, "tested", "broad.tested", -1);
	in->broad_moved = get_i64(r, o, "moved", "broad.moved", -1);
	in->broad_limit = get_f64(r, o, "limit", "broad.limit", false);
}

static void read_texts(struct reader *r, const json_t *o, const char *key, const char *what,
		       size_t max, void (*add)(struct compose_input *, const char *))
{
	const json_t *list;
	size_t n = get_array(r, o, key, what, &list);

	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);
		_cleanup_(freep) char *text = NULL;
		int indent = 0;

		if (!json_is_string(v)) {
			fail(r, ERR_PARSE, what, "must hold strings");
			return;
		}
		text = text_clean_dup(json_string_value(v), json_string_length(v), max);
		/* the lines of a shell command keep their shape */
		if (max == SHELL_CHARS)
			indent = (int)strspn(json_string_value(v), " ") & 0xf;
		add(r->in, keep(r, xasprintf("%*s%s", indent, "", text)));
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

static void add_reference(struct compose_input *in, const char *s)
{
	vec_push(&in->references, s);
}

static void add_finding(struct compose_input *in, const char *s)
{
	vec_push(&in->findings, s);
}

static void read_findings(struct reader *r, const json_t *root)
{
	const char *found = get_text(r, root, "found", "found", NAME_CHARS, false);

	r->in->from_history = found && !strcmp(found, "history");
	r->in->one_peak = get_bool(r, root, "one_peak", "one_peak", 0);
	read_texts(r, root, "findings", "findings", SENTENCE_CHARS, add_finding);
}

static void read_box(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = get_object(r, root, "box", "box", false);

	in->sockets = get_i64(r, o, "sockets", "box.sockets", 0);
	in->cpus = get_i64(r, o, "cpus", "box.cpus", 0);
	in->memory_bytes = get_i64(r, o, "memory_bytes", "box.memory_bytes", -1);
	in->swap_bytes = get_i64(r, o, "swap_bytes", "box.swap_bytes", -1);
	in->thp = get_text(r, o, "thp", "box.thp", NAME_CHARS, false);
	in->governor = get_text(r, o, "governor", "box.governor", NAME_CHARS, false);
	in->compiler = get_text(r, o, "compiler", "box.compiler", NAME_CHARS, false);
	in->accel = get_text(r, o, "accel", "box.accel", NAME_CHARS, false);
	read_texts(r, o, "facts", "box.facts", NAME_CHARS, add_fact);
	o = get_object(r, root, "reproduce", "reproduce", false);
	in->repro_minutes = get_f64(r, o, "minutes", "reproduce.minutes", false);
	in->repro_note = get_text(r, o, "note", "reproduce.note", NAME_CHARS, false);
	read_texts(r, o, "commands", "reproduce.commands", SHELL_CHARS, add_command);
}

static void read_step(struct reader *r, const json_t *o)
{
	struct compose_step s = { 0 };
	const json_t *runs = get(r, o, "runs", "bisection.log[].runs", false);
	const char *verdict =
		get_text(r, o, "verdict", "bisection.log[].verdict", NAME_CHARS, false);

	s.n = get_i64(r, o, "n", "bisection.log[].n", 0);
	s.commit = get_hash(r, o, "commit", "bisection.log[].commit", true);
	s.runs = json_is_array(runs) ? (int64_t)json_array_size(runs)
				     : get_i64(r, o, "runs", "bisection.log[].runs", 0);
	s.rel = get_f64(r, o, "rel", "bisection.log[].rel", false);
	s.p_bad = get_f64(r, o, "p_bad", "bisection.log[].p_bad", false);
	s.left = get_f64(r, o, "left", "bisection.log[].left", false);
	if (verdict && !strcmp(verdict, "skip")) {
		s.skip = get_text(r, o, "reason", "bisection.log[].reason", 20, false);
		if (!s.skip)
			s.skip = "skip";
	}
	vec_push(&r->in->steps, s);
}

static void read_bisection(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = get_object(r, root, "bisection", "bisection", false);
	const json_t *list;
	size_t n;

	in->bisect = get_id(r, root, "bisect", "bisect", 'b', false);
	in->good = get_text(r, o, "good", "bisection.good", NAME_CHARS, false);
	in->bad = get_text(r, o, "bad", "bisection.bad", NAME_CHARS, false);
	in->commits = get_i64(r, o, "commits", "bisection.commits", 0);
	in->steps_done = get_i64(r, o, "steps", "bisection.steps", 0);
	n = get_array(r, o, "log", "bisection.log", &list);
	for (size_t i = 0; i < n; i++)
		read_step(r, json_array_get(list, i));
	o = get_object(r, o, "revert", "bisection.revert", false);
	in->revert_on = get_text(r, o, "on", "bisection.revert.on", NAME_CHARS, false);
	in->revert = get_change(r, o, "bisection.revert");
}

static void read_recipients(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *list;
	size_t n = get_array(r, root, "recipients", "recipients", &list);
	bool to = false;

	if (n > RECIPIENTS_MAX)
		fail(r, ERR_TOO_BIG, "recipients", "are more than 20");
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct recipient rcpt = { 0 };
		const json_t *addr = get(r, o, "addr", "recipients[].addr", true);
		const char *s = json_string_value(addr);
		struct err why = { 0 };

		/* the raw bytes are checked: cleaning could turn a bad address into a good one */
		if (addr && !s)
			fail(r, ERR_PARSE, "recipients[].addr", "must be a string");
		else if (s && address_check(s, json_string_length(addr), &why) < 0)
			fail(r, ERR_INVAL, "recipients[].addr:", why.msg);
		if (r->code)
			return;
		rcpt.addr = xstrdup(s);
		(void)keep(r, rcpt.addr);
		s = get_text(r, o, "name", "recipients[].name", 100, false);
		if (s) {
			rcpt.name = xstrdup(s);
			(void)keep(r, rcpt.name);
		}
		s = get_text(r, o, "reason", "recipients[].reason", 100, false);
		if (s) {
			rcpt.reason = xstrdup(s);
			(void)keep(r, rcpt.reason);
		}
		rcpt.to = get_bool(r, o, "to", "recipients[].to", 0);
		to = to || rcpt.to;
		vec_push(&in->recipients, rcpt);
	}
	if (!to && in->recipients.len)
		in->recipients.items[0].to = true;
}

static void read_thread(struct reader *r, const json_t *root)
{
	struct compose_input *in = r->in;
	const json_t *o = get_object(r, root, "in_reply_to", "in_reply_to", false);

	if (!o)
		return;
	in->reply_to_id = get_text(r, o, "message_id", "in_reply_to.message_id", 300, true);
	in->reply_to_subject = get_text(r, o, "subject", "in_reply_to.subject", TITLE_CHARS, true);
	read_texts(r, o, "references", "in_reply_to.references", 300, add_reference);
	if (in->reply_to_id && !address_message_id_check(in->reply_to_id, strlen(in->reply_to_id)))
		fail(r, ERR_INVAL, "in_reply_to.message_id",
		     "is not a Message-ID without its angle brackets");
	vec_foreach (ref, &in->references) {
		if (!address_message_id_check(*ref, strlen(*ref)))
			fail(r, ERR_INVAL, "in_reply_to.references",
			     "must hold Message-IDs without angle brackets");
	}
}

static void note_unknown(struct reader *r, const json_t *root)
{
	static const char *const known[] = {
		"format",  "id",	 "seq",	      "at",	   "host",	  "url",
		"archive", "contact",	 "replies",   "state",	   "direction",	  "class",
		"tree",	   "branch",	 "tested_as", "machine",   "in_mainline", "suite",
		"params",  "metric",	 "effect",    "metrics",   "interleaved", "metric_count",
		"culprit", "runners_up", "checks",    "net",	   "profile",	  "broad",
		"box",	   "bisect",	 "bisection", "reproduce", "in_reply_to", "threads",
		"history", "recipients", "series",    "findings",  "found",	  "one_peak",
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
	struct reader r = { .in = &in, .e = e };

	if (!json_is_object(root))
		return err_set(e, ERR_PARSE, "report input is not a JSON object");
	read_head(&r, root);
	read_test(&r, root);
	read_effect(&r, root);
	read_culprit(&r, root);
	read_checks(&r, root);
	read_findings(&r, root);
	read_box(&r, root);
	read_bisection(&r, root);
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
