/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot-runs/1 read straight into struct runs. */
#include "bot/base/err.h"
#include "bot/detect/json_read.h"
#include "bot/detect/runs.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

#define RUNS_FORMAT "kperfbot-runs/1"

static void note(struct runs *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct runs *r, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	vec_foreach (n, &r->notes) {
		if (!strcmp(*n, strbuf_str(&b))) {
			strbuf_done(&b);
			return;
		}
	}
	if (r->notes.len < RUNS_NOTES_MAX)
		vec_push(&r->notes, strbuf_take(&b));
	strbuf_done(&b);
}

/* A file on its way into @r. */
struct parser {
	struct json_in in;
	struct runs *r;
	struct err *e;
};

/* Where the members of an object begin; NULL: absent. */
struct member {
	const char *name;
	const char *at;
};

static int name_length(const struct json_text *t)
{
	return t->len > 100 ? 100 : (int)t->len;
}

static int duplicate(struct parser *p)
{
	return json_in_fail(&p->in, "duplicate object key");
}

/* Find the @n members we know in the object at hand, and go past it; they may come in any order. */
static int find_members(struct parser *p, struct member *m, size_t n, const char *where)
{
	struct json_text key;
	int r = json_in_first(&p->in, '{');

	while (r > 0) {
		size_t i = 0;

		r = json_in_key(&p->in, &key);
		if (r < 0)
			return r;
		while (i < n && !json_text_is(&key, m[i].name))
			i++;
		if (i == n) {
			note(p->r, "unknown key '%.*s'%s ignored", name_length(&key), key.s, where);
		} else {
			if (m[i].at)
				return duplicate(p);
			(void)json_in_peek(&p->in);
			m[i].at = p->in.p;
		}
		r = json_in_skip(&p->in);
		if (r == 0)
			r = json_in_more(&p->in, '{');
	}
	return r;
}

static char kind_at(struct parser *p, const struct member *m)
{
	if (!m->at)
		return '\0';
	p->in.p = m->at;
	return json_in_peek(&p->in);
}

static int check_name(const struct parser *p, const struct json_text *t)
{
	if (!t->len)
		return err_set(p->e, ERR_PARSE, "a metric has an empty name");
	if (t->len > RUNS_NAME_MAX)
		return err_set(p->e, ERR_TOO_BIG,
			       "name of metric '%.40s…' has %zu bytes, at most %d are taken", t->s,
			       t->len, RUNS_NAME_MAX);
	return 0;
}

/*
 * The metric that a key names, made if it is new. Runs list their metrics in one order: the one that
 * came after the last in the run before is tried first.
 */
static int take_metric(struct parser *p, const struct json_text *t, struct runs_metric **ret)
{
	struct runs *r = p->r;
	size_t i = r->next;
	int err;

	if (i >= r->names.len || r->names.length[i] != t->len ||
	    memcmp(r->names.name[i], t->s, t->len) != 0) {
		err = check_name(p, t);
		if (err < 0)
			return err;
		i = nametab_find(&r->names, t->s, t->len);
		if (i == SIZE_MAX && r->metrics.len >= RUNS_METRICS_MAX)
			return err_set(p->e, ERR_TOO_BIG, "more than %d metrics", RUNS_METRICS_MAX);
		if (i == SIZE_MAX)
			i = (size_t)(runs_metric_get_n(r, t->s, t->len) - r->metrics.items);
	}
	*ret = &r->metrics.items[i];
	r->next = i + 1;
	if ((*ret)->stamp == r->stamp)
		return duplicate(p);
	(*ret)->stamp = r->stamp;
	return 0;
}

static int conflict(const char *name, const char *what, const char *a, const char *b, struct err *e)
{
	return err_set(e, ERR_INVAL, "metric '%s': %s is '%s' in one file and '%s' in another",
		       name, what, a, b);
}

static int parse_better(struct parser *p, struct runs_metric *m, const struct member *at)
{
	char kind = kind_at(p, at);
	struct json_text t;
	_cleanup_(freep) char *text = NULL;
	int r, better = DETECT_BETTER_NONE;

	if (kind == '"') {
		r = json_in_string(&p->in, &t);
		if (r < 0)
			return r;
		text = xstrndup(t.s, t.len);
		better = detect_better_parse(text);
	}
	if (better < 0 || (kind && kind != '"'))
		return err_set(p->e, ERR_PARSE,
			       "metric '%s': better is '%s', want higher, lower or none", m->name,
			       text ? text : "no string");
	if (m->described && (int)m->better != better)
		return conflict(m->name, "better", detect_better_name(m->better),
				detect_better_name((enum detect_better)better), p->e);
	m->better = (enum detect_better)better;
	return 0;
}

static int parse_unit(struct parser *p, struct runs_metric *m, const struct member *at)
{
	char kind = kind_at(p, at);
	struct json_text t = { 0 };
	char *unit;
	int r;

	if (!kind)
		return 0;
	if (kind != '"')
		return err_set(p->e, ERR_PARSE, "metric '%s': unit must be a string", m->name);
	r = json_in_string(&p->in, &t);
	if (r < 0 || !t.len || json_text_is(&t, m->unit))
		return r;
	unit = xstrndup(t.s, t.len);
	if (m->unit[0])
		r = conflict(m->name, "unit", m->unit, unit, p->e);
	if (r < 0) {
		free(unit);
		return r;
	}
	free(m->unit);
	m->unit = unit;
	return 0;
}

/* What a newer version may call a kind is no reason to refuse the file. */
static int parse_kind(struct parser *p, struct runs_metric *m, const struct member *at)
{
	char type = kind_at(p, at);
	struct json_text t;
	int kind = -1, r;

	if (!type)
		return 0;
	if (type == '"') {
		_cleanup_(freep) char *text = NULL;

		r = json_in_string(&p->in, &t);
		if (r < 0)
			return r;
		text = xstrndup(t.s, t.len);
		kind = findings_kind_parse(text);
	}
	if (kind > 0)
		m->kind = (enum findings_kind)kind;
	else
		note(p->r, "unknown kind of metric '%.100s' ignored", m->name);
	return 0;
}

static int parse_descriptor(struct parser *p, struct runs_metric *m)
{
	struct member at[] = {
		{ "unit", NULL }, { "better", NULL }, { "headline", NULL }, { "kind", NULL }
	};
	const char *end;
	char headline;
	int r;

	if (json_in_peek(&p->in) != '{')
		return err_set(p->e, ERR_PARSE, "descriptor of metric '%s' is no object", m->name);
	r = find_members(p, at, ARRAY_SIZE(at), " in metric descriptors");
	end = p->in.p;
	if (r == 0)
		r = parse_unit(p, m, &at[0]);
	if (r == 0)
		r = parse_better(p, m, &at[1]);
	if (r == 0)
		r = parse_kind(p, m, &at[3]);
	if (r < 0)
		return r;
	headline = kind_at(p, &at[2]);
	if (headline && headline != 't' && headline != 'f')
		return err_set(p->e, ERR_PARSE, "metric '%s': headline must be true or false",
			       m->name);
	m->headline = m->headline || headline == 't';
	m->described = true;
	p->in.p = end;
	return 0;
}

static int parse_descriptors(struct parser *p)
{
	struct runs_metric *m;
	struct json_text key;
	int r = json_in_first(&p->in, '{');

	p->r->stamp++;
	p->r->next = 0;
	while (r > 0) {
		r = json_in_key(&p->in, &key);
		if (r == 0)
			r = take_metric(p, &key, &m);
		if (r == 0)
			r = parse_descriptor(p, m);
		if (r == 0)
			r = json_in_more(&p->in, '{');
	}
	return r;
}

static int parse_value(struct parser *p, struct runs_metric *m, size_t run)
{
	char c = json_in_peek(&p->in);
	double v;
	int r;

	if (c == 'n') {
		note(p->r, "metric '%.100s' is null in a run, taken as missing", m->name);
		return json_in_skip(&p->in);
	}
	if (c != '-' && !(c >= '0' && c <= '9'))
		return err_set(p->e, ERR_PARSE, "run %zu: metric '%s' is no number", run + 1,
			       m->name);
	r = json_in_number(&p->in, &v);
	if (r == 0)
		runs_add_value(p->r, m, run, v);
	return r;
}

static int parse_values(struct parser *p, size_t run)
{
	struct runs_metric *m;
	struct json_text key;
	int r = json_in_first(&p->in, '{');

	p->r->stamp++;
	p->r->next = 0;
	while (r > 0) {
		r = json_in_key(&p->in, &key);
		if (r == 0)
			r = take_metric(p, &key, &m);
		if (r == 0)
			r = parse_value(p, m, run);
		if (r == 0)
			r = json_in_more(&p->in, '{');
	}
	return r;
}

static int parse_boot(struct parser *p, const struct member *at, char **ret)
{
	char kind = kind_at(p, at);
	struct json_text t;
	int r = 0;

	if (!kind || kind == 'n')
		return 0;
	if (kind == '"')
		r = json_in_string(&p->in, &t);
	else if (kind == '-' || (kind >= '0' && kind <= '9'))
		r = json_in_number_text(&p->in, &t);
	else
		t = (struct json_text){ ".", 1 };
	if (r < 0)
		return r;
	if (kind != '"' &&
	    (memchr(t.s, '.', t.len) || memchr(t.s, 'e', t.len) || memchr(t.s, 'E', t.len)))
		return err_set(p->e, ERR_PARSE, "run %zu: boot must be a string",
			       p->r->runs.len + 1);
	*ret = xstrndup(t.s, t.len);
	return 0;
}

static int parse_order(struct parser *p, const struct member *at, double *ret)
{
	char kind = kind_at(p, at);

	*ret = NO_VALUE;
	if (!kind || kind == 'n')
		return 0;
	if (kind != '-' && !(kind >= '0' && kind <= '9'))
		return err_set(p->e, ERR_PARSE, "run %zu: order must be a number",
			       p->r->runs.len + 1);
	return json_in_number(&p->in, ret);
}

static int parse_run(struct parser *p)
{
	struct member at[] = { { "boot", NULL }, { "order", NULL }, { "values", NULL } };
	_cleanup_(freep) char *boot = NULL;
	const char *end;
	double order = NO_VALUE;
	int r = 0;

	if (json_in_peek(&p->in) == '{')
		r = find_members(p, at, ARRAY_SIZE(at), " in runs");
	end = p->in.p;
	if (r == 0 && kind_at(p, &at[2]) != '{')
		return err_set(p->e, ERR_PARSE, "run %zu has no object 'values'",
			       p->r->runs.len + 1);
	if (r == 0 && p->r->runs.len >= RUNS_RUNS_MAX)
		return err_set(p->e, ERR_TOO_BIG, "more than %d runs", RUNS_RUNS_MAX);
	if (r == 0)
		r = parse_order(p, &at[1], &order);
	if (r == 0)
		r = parse_boot(p, &at[0], &boot);
	if (r < 0)
		return r;
	p->in.p = at[2].at;
	r = parse_values(p, runs_add(p->r, boot, order));
	p->in.p = end;
	return r;
}

static int parse_runs(struct parser *p)
{
	int r = json_in_first(&p->in, '[');

	while (r > 0) {
		r = parse_run(p);
		if (r == 0)
			r = json_in_more(&p->in, '[');
	}
	return r;
}

static int parse_owner(struct parser *p, const struct member *at, char **slot)
{
	struct runs *r = p->r;
	char kind = kind_at(p, at);
	struct json_text t = { "", 0 };
	_cleanup_(freep) char *text = NULL;
	int err = 0;

	if (kind == '"')
		err = json_in_string(&p->in, &t);
	else if (kind)
		return err_set(p->e, ERR_PARSE, "'%s' must be a string", at->name);
	if (err < 0)
		return err;
	text = xstrndup(t.s, t.len);
	if (*slot && (*slot)[0] && text[0] && strcmp(*slot, text) != 0) {
		if (slot == &r->kernel)
			return err_set(p->e, ERR_INVAL, "kernel is '%s', want '%s'", text, *slot);
		note(r, "machine is '%.100s' in one file and '%.100s' in another", *slot, text);
	}
	if (!*slot || !(*slot)[0]) {
		free(*slot);
		*slot = take_ptr(text);
	}
	return 0;
}

static int check_format(struct parser *p, const struct member *at)
{
	struct json_text t;
	int r;

	if (kind_at(p, at) != '"')
		return err_set(p->e, ERR_FORMAT, "no object with format '%s'", RUNS_FORMAT);
	r = json_in_string(&p->in, &t);
	if (r == 0 && !json_text_is(&t, RUNS_FORMAT))
		r = err_set(p->e, ERR_FORMAT, "format is '%.*s', want '%s'", name_length(&t), t.s,
			    RUNS_FORMAT);
	return r;
}

static int parse_file(struct parser *p)
{
	struct member at[] = { { "format", NULL },
			       { "kernel", NULL },
			       { "machine", NULL },
			       { "metrics", NULL },
			       { "runs", NULL } };
	int r;

	if (json_in_peek(&p->in) != '{') {
		r = json_in_check(&p->in);
		return r < 0 ? r
			     : err_set(p->e, ERR_FORMAT, "no object with format '%s'", RUNS_FORMAT);
	}
	/* Whatever follows is known to be JSON then. */
	r = find_members(p, at, ARRAY_SIZE(at), "");
	if (r == 0)
		r = json_in_end(&p->in);
	if (r == 0)
		r = check_format(p, &at[0]);
	if (r == 0)
		r = parse_owner(p, &at[1], &p->r->kernel);
	if (r == 0)
		r = parse_owner(p, &at[2], &p->r->machine);
	if (r < 0)
		return r;
	if (at[3].at && kind_at(p, &at[3]) != '{')
		return err_set(p->e, ERR_PARSE, "'metrics' must be an object");
	if (kind_at(p, &at[4]) != '[')
		return err_set(p->e, ERR_PARSE, "'runs' must be an array");
	if (at[3].at) {
		p->in.p = at[3].at;
		r = parse_descriptors(p);
	}
	p->in.p = at[4].at;
	return r < 0 ? r : parse_runs(p);
}

int runs_parse(struct runs *r, const char *text, size_t len, struct err *e)
{
	struct parser p = { .r = r, .e = e };
	int err;

	if (!r->names.len)
		r->names.seed = r->boots.seed = nametab_seed(text, len);
	json_in_init(&p.in, text, len, e);
	err = parse_file(&p);
	json_in_done(&p.in);
	return err;
}
