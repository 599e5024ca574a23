/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/runs.h"

#include "bot/base/err.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

#define RUNS_FORMAT "kperfbot-runs/1"

void runs_done(struct runs *r)
{
	vec_foreach (m, &r->metrics) {
		free(m->name);
		free(m->unit);
		vec_done(&m->samples);
		vec_done(&m->run);
	}
	vec_foreach (n, &r->notes)
		free(*n);
	vec_done(&r->metrics);
	vec_done(&r->runs);
	vec_done(&r->notes);
	free(r->kernel);
	free(r->machine);
	json_decref(r->by_name);
	json_decref(r->boots);
	*r = (struct runs){ 0 };
}

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

/* Number kept under @name in *@map, @next if it is new there. */
static size_t number_of(json_t **map, const char *name, size_t next)
{
	json_t *v;

	if (!*map)
		*map = json_object();
	v = json_object_get(*map, name);
	if (v)
		return (size_t)json_integer_value(v);
	(void)json_object_set_new_nocheck(*map, name, json_integer((json_int_t)next));
	return next;
}

struct runs_metric *runs_metric_get(struct runs *r, const char *name)
{
	size_t i = number_of(&r->by_name, name, r->metrics.len);

	if (i == r->metrics.len) {
		struct runs_metric m = { .name = xstrdup(name), .unit = xstrdup("") };

		vec_push(&r->metrics, m);
	}
	return &r->metrics.items[i];
}

const struct runs_metric *runs_metric_find(const struct runs *r, const char *name)
{
	json_t *v = json_object_get(r->by_name, name);

	return v ? &r->metrics.items[json_integer_value(v)] : NULL;
}

size_t runs_add(struct runs *r, const char *boot, double order)
{
	struct runs_run run = { .boot = -1, .order = order };

	if (boot)
		run.boot = (int)number_of(&r->boots, boot, json_object_size(r->boots));
	vec_push(&r->runs, run);
	return r->runs.len - 1;
}

void runs_add_value(struct runs *r, struct runs_metric *m, size_t run, double value)
{
	const struct runs_run *x = &r->runs.items[run];
	struct detect_sample s = { value, x->boot, x->order };

	vec_push(&m->samples, s);
	vec_push(&m->run, run);
}

static int check_name(const char *name, struct err *e)
{
	size_t len = strlen(name);

	if (!len)
		return err_set(e, ERR_PARSE, "a metric has an empty name");
	if (len > RUNS_NAME_MAX)
		return err_set(e, ERR_TOO_BIG,
			       "name of metric '%.40s…' has %zu bytes, at most %d are taken", name,
			       len, RUNS_NAME_MAX);
	return 0;
}

static int check_metric(const struct runs *r, const char *name, struct err *e)
{
	int err = check_name(name, e);

	if (err < 0)
		return err;
	if (r->metrics.len >= RUNS_METRICS_MAX && !json_object_get(r->by_name, name))
		return err_set(e, ERR_TOO_BIG, "more than %d metrics", RUNS_METRICS_MAX);
	return 0;
}

static int parse_better(const char *name, const json_t *v, enum detect_better *ret, struct err *e)
{
	int better;

	*ret = DETECT_BETTER_NONE;
	if (!v)
		return 0;
	better = json_is_string(v) ? detect_better_parse(json_string_value(v)) : -1;
	if (better < 0)
		return err_set(e, ERR_PARSE,
			       "metric '%s': better is '%s', want higher, lower or none", name,
			       json_is_string(v) ? json_string_value(v) : "no string");
	*ret = (enum detect_better)better;
	return 0;
}

/* What a newer version may call a kind is no reason to refuse the file. */
static void parse_kind(struct runs *r, struct runs_metric *m, const json_t *v)
{
	int kind = json_is_string(v) ? findings_kind_parse(json_string_value(v)) : -1;

	if (kind > 0)
		m->kind = (enum findings_kind)kind;
	else if (v)
		note(r, "unknown kind of metric '%.100s' ignored", m->name);
}

static int conflict(const char *name, const char *what, const char *a, const char *b, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "metric '%s': %s is '%s' in one file and '%s' in another",
		       name, what, a, b);
}

static int parse_descriptor(struct runs *r, const char *name, json_t *d, struct err *e)
{
	struct runs_metric *m;
	enum detect_better better;
	json_t *unit = json_object_get(d, "unit"), *headline = json_object_get(d, "headline");
	json_t *v;
	const char *key, *text;
	int err;

	if (!json_is_object(d))
		return err_set(e, ERR_PARSE, "descriptor of metric '%s' is no object", name);
	json_object_foreach (d, key, v) {
		if (strcmp(key, "unit") != 0 && strcmp(key, "better") != 0 &&
		    strcmp(key, "headline") != 0 && strcmp(key, "kind") != 0)
			note(r, "unknown key '%.100s' in metric descriptors ignored", key);
	}
	if ((unit && !json_is_string(unit)) || (headline && !json_is_boolean(headline)))
		return err_set(e, ERR_PARSE,
			       "metric '%s': unit must be a string, headline true or false", name);
	err = parse_better(name, json_object_get(d, "better"), &better, e);
	if (err < 0)
		return err;
	err = check_metric(r, name, e);
	if (err < 0)
		return err;
	m = runs_metric_get(r, name);
	text = unit ? json_string_value(unit) : "";
	if (m->described && m->better != better)
		return conflict(name, "better", detect_better_name(m->better),
				detect_better_name(better), e);
	if (m->unit[0] && text[0] && strcmp(m->unit, text) != 0)
		return conflict(name, "unit", m->unit, text, e);
	if (text[0]) {
		free(m->unit);
		m->unit = xstrdup(text);
	}
	parse_kind(r, m, json_object_get(d, "kind"));
	m->better = better;
	m->headline = m->headline || json_is_true(headline);
	m->described = true;
	return 0;
}

static int parse_boot(struct runs *r, json_t *run, const char **ret, char *buf, size_t size,
		      struct err *e)
{
	json_t *boot = json_object_get(run, "boot");

	*ret = NULL;
	if (!boot || json_is_null(boot))
		return 0;
	if (json_is_string(boot)) {
		*ret = json_string_value(boot);
		return 0;
	}
	if (!json_is_integer(boot))
		return err_set(e, ERR_PARSE, "run %zu: boot must be a string", r->runs.len + 1);
	(void)snprintf(buf, size, "%lld", (long long)json_integer_value(boot));
	*ret = buf;
	return 0;
}

static int parse_values(struct runs *r, size_t run, json_t *values, struct err *e)
{
	const char *name;
	json_t *v;
	int err;

	json_object_foreach (values, name, v) {
		err = check_metric(r, name, e);
		if (err < 0)
			return err;
		if (json_is_null(v)) {
			(void)runs_metric_get(r, name);
			note(r, "metric '%.100s' is null in a run, taken as missing", name);
			continue;
		}
		if (!json_is_number(v))
			return err_set(e, ERR_PARSE, "run %zu: metric '%s' is no number", run + 1,
				       name);
		runs_add_value(r, runs_metric_get(r, name), run, json_number_value(v));
	}
	return 0;
}

static int parse_run(struct runs *r, json_t *run, struct err *e)
{
	json_t *order = json_object_get(run, "order"), *values = json_object_get(run, "values");
	const char *key, *boot = NULL;
	char buf[32];
	json_t *v;
	size_t at;
	int err;

	if (!json_is_object(run) || !json_is_object(values))
		return err_set(e, ERR_PARSE, "run %zu has no object 'values'", r->runs.len + 1);
	if (order && !json_is_number(order) && !json_is_null(order))
		return err_set(e, ERR_PARSE, "run %zu: order must be a number", r->runs.len + 1);
	if (r->runs.len >= RUNS_RUNS_MAX)
		return err_set(e, ERR_TOO_BIG, "more than %d runs", RUNS_RUNS_MAX);
	json_object_foreach (run, key, v) {
		if (strcmp(key, "boot") != 0 && strcmp(key, "order") != 0 &&
		    strcmp(key, "values") != 0)
			note(r, "unknown key '%.100s' in runs ignored", key);
	}
	err = parse_boot(r, run, &boot, buf, sizeof(buf), e);
	if (err < 0)
		return err;
	at = runs_add(r, boot, json_is_number(order) ? json_number_value(order) : NO_VALUE);
	return parse_values(r, at, values, e);
}

static int parse_owner(struct runs *r, json_t *file, const char *key, char **slot, struct err *e)
{
	json_t *v = json_object_get(file, key);
	const char *text = v ? json_string_value(v) : "";

	if (!text)
		return err_set(e, ERR_PARSE, "'%s' must be a string", key);
	if (*slot && (*slot)[0] && text[0] && strcmp(*slot, text) != 0) {
		if (slot == &r->kernel)
			return err_set(e, ERR_CONFLICT, "kernel is '%s', want '%s'", text, *slot);
		note(r, "machine is '%.100s' in one file and '%.100s' in another", *slot, text);
	}
	if (!*slot || !(*slot)[0]) {
		free(*slot);
		*slot = xstrdup(text);
	}
	return 0;
}

static int check_frame(struct runs *r, json_t *file, struct err *e)
{
	static const char *const known[] = { "format", "kernel", "machine", "metrics", "runs" };
	const char *format = json_string_value(json_object_get(file, "format")), *key;
	json_t *v;
	int err;

	if (!json_is_object(file) || !format)
		return err_set(e, ERR_FORMAT, "no object with format '%s'", RUNS_FORMAT);
	if (strcmp(format, RUNS_FORMAT) != 0)
		return err_set(e, ERR_FORMAT, "format is '%s', want '%s'", format, RUNS_FORMAT);
	json_object_foreach (file, key, v) {
		size_t i = 0;

		while (i < ARRAY_SIZE(known) && strcmp(key, known[i]) != 0)
			i++;
		if (i == ARRAY_SIZE(known))
			note(r, "unknown key '%.100s' ignored", key);
	}
	err = parse_owner(r, file, "kernel", &r->kernel, e);
	if (err < 0)
		return err;
	return parse_owner(r, file, "machine", &r->machine, e);
}

static int parse_file(struct runs *r, json_t *file, struct err *e)
{
	json_t *metrics, *runs, *v;
	const char *name;
	size_t i;
	int err = check_frame(r, file, e);

	if (err < 0)
		return err;
	metrics = json_object_get(file, "metrics");
	runs = json_object_get(file, "runs");
	if (metrics && !json_is_object(metrics))
		return err_set(e, ERR_PARSE, "'metrics' must be an object");
	if (!json_is_array(runs))
		return err_set(e, ERR_PARSE, "'runs' must be an array");
	json_object_foreach (metrics, name, v) {
		err = parse_descriptor(r, name, v, e);
		if (err < 0)
			return err;
	}
	json_array_foreach (runs, i, v) {
		err = parse_run(r, v, e);
		if (err < 0)
			return err;
	}
	return 0;
}

int runs_parse(struct runs *r, const char *text, size_t len, struct err *e)
{
	json_error_t why;
	json_t *file = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	int err;

	if (!file)
		return err_set(e, ERR_PARSE, "line %d, column %d: %s", why.line, why.column,
			       why.text);
	err = parse_file(r, file, e);
	json_decref(file);
	return err;
}

/* Names of boots by number: the map turned round. */
static const char **boot_names(const struct runs *r)
{
	const char **names = xcalloc(json_object_size(r->boots) + 1, sizeof(*names));
	const char *name;
	json_t *v;

	json_object_foreach (r->boots, name, v)
		names[json_integer_value(v)] = name;
	return names;
}

static json_t *runs_array(const struct runs *r)
{
	json_t *runs = json_array();
	const char **boots = boot_names(r);

	vec_foreach (x, &r->runs) {
		json_t *run = json_object();

		if (x->boot >= 0)
			(void)json_object_set_new(run, "boot", json_string(boots[x->boot]));
		if (isfinite(x->order))
			(void)json_object_set_new(run, "order", json_real(x->order));
		(void)json_object_set_new(run, "values", json_object());
		(void)json_array_append_new(runs, run);
	}
	free(boots);
	vec_foreach (m, &r->metrics) {
		for (size_t i = 0; i < m->samples.len; i++) {
			json_t *run = json_array_get(runs, m->run.items[i]);

			/* json_real() gives NULL, and so no key, for what is not finite. */
			(void)json_object_set_new(json_object_get(run, "values"), m->name,
						  json_real(m->samples.items[i].value));
		}
	}
	return runs;
}

json_t *runs_json(const struct runs *r)
{
	json_t *file = json_object(), *metrics = json_object();

	(void)json_object_set_new(file, "format", json_string(RUNS_FORMAT));
	(void)json_object_set_new(file, "kernel", json_string(r->kernel ? r->kernel : ""));
	(void)json_object_set_new(file, "machine", json_string(r->machine ? r->machine : ""));
	vec_foreach (m, &r->metrics) {
		json_t *d;

		if (!m->described)
			continue;
		d = json_object();
		if (m->unit[0])
			(void)json_object_set_new(d, "unit", json_string(m->unit));
		(void)json_object_set_new(d, "better", json_string(detect_better_name(m->better)));
		(void)json_object_set_new(d, "headline", json_boolean(m->headline));
		if (m->kind)
			(void)json_object_set_new(d, "kind",
						  json_string(findings_kind_name(m->kind)));
		(void)json_object_set_new(metrics, m->name, d);
	}
	(void)json_object_set_new(file, "metrics", metrics);
	(void)json_object_set_new(file, "runs", runs_array(r));
	return file;
}

int runs_check_pair(const struct runs *base, const struct runs *head, struct err *e)
{
	vec_foreach (a, &base->metrics) {
		const struct runs_metric *b = runs_metric_find(head, a->name);

		if (!b)
			continue;
		if (a->unit[0] && b->unit[0] && strcmp(a->unit, b->unit) != 0)
			return conflict(a->name, "unit", a->unit, b->unit, e);
		if (a->described && b->described && a->better != b->better)
			return conflict(a->name, "better", detect_better_name(a->better),
					detect_better_name(b->better), e);
	}
	return 0;
}
