/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/run_parse.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/store/job.h"
#include "runners/monitors/monitor.h"

#include <string.h>

struct suite_param *params_of_json(const json_t *o, size_t *ret_n)
{
	size_t n = json_object_size(o);
	struct suite_param *p = xcalloc(n + 1, sizeof(*p));
	const char *key;
	json_t *value;
	size_t i = 0;

	json_object_foreach ((json_t *)(uintptr_t)o, key, value) {
		p[i].key = xstrdup(key);
		p[i++].value = xstrdup(json_string_value(value) ? json_string_value(value) : "");
	}
	*ret_n = i;
	return p;
}

void params_free(struct suite_param *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].key);
		free(p[i].value);
	}
	free(p);
}

/* Units of work that the run did, so that counts of longer and shorter runs can be compared. */
static double work_of(const struct suite *s, const struct suite_output *out, double run_s)
{
	bool per_second = false;
	const char *name = suite_work(s, &per_second);
	const struct suite_metric *m = name ? suite_metric_find(out, name) : NULL;

	if (!m)
		return 0;
	return per_second ? m->value * run_s : m->value;
}

static void parse_monitors(const struct run_texts *t, const struct monitor_run *run,
			   struct suite_output *out, bool *ret_profiled)
{
	if (t->rusage)
		monitor_parse_rusage(t->rusage, run, out);
	for (size_t i = 0; i < t->nfiles; i++) {
		const char *name = t->files[i].name;
		const struct monitor *m =
			!strncmp(name, "monitor/", 8) ? monitor_find(name + 8) : NULL;

		if (!m)
			continue;
		*ret_profiled |= !m->cheap;
		monitor_parse(m, t->files[i].data, t->files[i].len, run, out);
	}
}

/* What a profiler slowed down must not be taken for the kernel's own speed. */
static void drop_headlines(struct suite_output *out)
{
	size_t n = 0;

	for (size_t i = 0; i < out->n; i++) {
		if (out->metrics[i].headline) {
			free(out->metrics[i].name);
			free(out->metrics[i].series);
		} else {
			out->metrics[n++] = out->metrics[i];
		}
	}
	out->n = n;
}

int run_parse(const struct job *job, const struct run_texts *t, struct suite_output *ret,
	      bool *ret_profiled, struct err *e)
{
	const struct suite *suite = suite_find(job->suite);
	bool errors = suite && suite_source(suite) == SOURCE_STDERR;
	struct monitor_run run = { .span_s = t->run_s, .cpus = t->cpus };
	struct suite_param *params;
	size_t n;
	int r;

	*ret_profiled = false;
	if (!suite)
		return err_set(e, ERR_NOENT, "there is no suite '%.80s' any more", job->suite);
	params = params_of_json(job->params, &n);
	if (t->tasks > 0) {
		params = xreallocarray(params, n + 1, sizeof(*params));
		params[n++] = (struct suite_param){ .key = xstrdup("tasks"),
						    .value = xasprintf("%d", t->tasks) };
	}
	r = suite_parse(suite, job->test, errors ? t->errors.data : t->raw.data,
			errors ? t->errors.len : t->raw.len, params, n, ret, e);
	params_free(params, n);
	if (r < 0)
		return r;
	run.work = work_of(suite, ret, t->run_s);
	parse_monitors(t, &run, ret, ret_profiled);
	if (*ret_profiled)
		drop_headlines(ret);
	return 0;
}
