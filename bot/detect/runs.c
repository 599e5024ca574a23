/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/runs.h"

#include "bot/base/err.h"

#include <math.h>
#include <string.h>

void runs_done(struct runs *r)
{
	vec_foreach (m, &r->metrics) {
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
	nametab_done(&r->names);
	nametab_done(&r->boots);
	*r = (struct runs){ 0 };
}

struct runs_metric *runs_metric_get_n(struct runs *r, const char *name, size_t len)
{
	size_t i = nametab_get(&r->names, name, len);

	if (i == r->metrics.len) {
		struct runs_metric m = { .name = r->names.name[i], .unit = xstrdup("") };

		vec_push(&r->metrics, m);
	}
	return &r->metrics.items[i];
}

struct runs_metric *runs_metric_get(struct runs *r, const char *name)
{
	return runs_metric_get_n(r, name, strlen(name));
}

const struct runs_metric *runs_metric_find(const struct runs *r, const char *name)
{
	size_t i = nametab_find(&r->names, name, strlen(name));

	return i == SIZE_MAX ? NULL : &r->metrics.items[i];
}

size_t runs_add(struct runs *r, const char *boot, double order)
{
	struct runs_run run = { .boot = -1, .order = order };

	if (boot)
		run.boot = (int)nametab_get(&r->boots, boot, strlen(boot));
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

static json_t *runs_array(const struct runs *r)
{
	json_t *runs = json_array();

	vec_foreach (x, &r->runs) {
		json_t *run = json_object();

		if (x->boot >= 0)
			(void)json_object_set_new(run, "boot", json_string(r->boots.name[x->boot]));
		if (isfinite(x->order))
			(void)json_object_set_new(run, "order", json_real(x->order));
		(void)json_object_set_new(run, "values", json_object());
		(void)json_array_append_new(runs, run);
	}
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

	(void)json_object_set_new(file, "format", json_string("kperfbot-runs/1"));
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

static int conflict(const char *name, const char *what, const char *a, const char *b, struct err *e)
{
	return err_set(e, ERR_INVAL, "metric '%s': %s is '%s' in one file and '%s' in another",
		       name, what, a, b);
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
