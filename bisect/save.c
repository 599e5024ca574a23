/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state as JSON. */
#include "bisect/bisect.h"
#include "bisect/names.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <jansson.h>
#include <string.h>

#define FORMAT "kperfbot-bisect/1"

static const struct {
	const char *name;
	size_t offset;
} param_table[] = {
#define PARAM(x)                                      \
	{                                             \
#x, offsetof(struct bisect_params, x) \
	}
	PARAM(sigma),
	PARAM(boot_sd),
	PARAM(commit_sd),
	PARAM(eps),
	PARAM(step),
	PARAM(step_sd),
	PARAM(prior_none),
	PARAM(confidence),
	PARAM(cost_build),
	PARAM(cost_boot),
	PARAM(cost_incremental),
	PARAM(cost_run),
	PARAM(incremental_span),
#undef PARAM
};

const char *bisect_commit_name(const struct bisect_state *s, int commit)
{
	return commit == BISECT_GOOD_END ? BISECT_GOOD_NAME : s->graph->commits[commit].hash;
}

json_t *bisect_params_json(const struct bisect_params *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(param_table); i++) {
		double v;

		memcpy(&v, (const char *)p + param_table[i].offset, sizeof(v));
		json_object_set_new(o, param_table[i].name, json_real(v));
	}
	json_object_set_new(o, "max_runs", json_integer(p->max_runs));
	if (p->step_least > 0)
		json_object_set_new(o, "step_least", json_real(p->step_least));
	if (p->check_drift)
		json_object_set_new(o, "check_drift", json_true());
	return o;
}

char *bisect_save(const struct bisect_state *s)
{
	_cleanup_(json_decrefp) json_t *root = json_object();
	json_t *runs = json_array();
	json_t *commits = json_array();
	char *text;

	for (size_t i = 0; i < s->n_runs; i++) {
		json_t *run = json_object();

		json_object_set_new(run, "commit",
				    json_string(bisect_commit_name(s, s->runs[i].commit)));
		json_object_set_new(run, "boot", json_integer(s->runs[i].boot));
		json_object_set_new(run, "y", json_real(s->runs[i].y));
		json_array_append_new(runs, run);
	}
	for (size_t c = 0; c <= s->graph->n; c++) {
		bool end = c == s->graph->n;
		json_t *o;

		if (!s->built[c] && (end || (!s->skip[c] && s->prior[c] == 1)))
			continue;
		o = json_object();
		json_object_set_new(
			o, "commit",
			json_string(bisect_commit_name(s, end ? BISECT_GOOD_END : (int)c)));
		json_object_set_new(o, "built", json_boolean(s->built[c]));
		if (!end && s->skip[c])
			json_object_set_new(
				o, "skip",
				json_string(bisect_skip_name((enum bisect_skip)s->skip[c])));
		if (!end && s->prior[c] != 1)
			json_object_set_new(o, "prior", json_real(s->prior[c]));
		json_array_append_new(commits, o);
	}
	json_object_set_new(root, "format", json_string(FORMAT));
	json_object_set_new(root, "params", bisect_params_json(&s->params));
	json_object_set_new(root, "commits", commits);
	json_object_set_new(root, "runs", runs);
	json_object_set_new(root, "last_built", json_string(bisect_commit_name(s, s->last_built)));
	text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text)
		abort();
	return text;
}

int bisect_params_from_json(const json_t *o, struct bisect_params *p, struct err *e)
{
	const json_t *max_runs = json_object_get(o, "max_runs");

	for (size_t i = 0; i < ARRAY_SIZE(param_table); i++) {
		const json_t *j = json_object_get(o, param_table[i].name);
		double v;

		if (!json_is_number(j))
			return err_set(e, ERR_PARSE, "parameter '%s' is not a number",
				       param_table[i].name);
		v = json_number_value(j);
		memcpy((char *)p + param_table[i].offset, &v, sizeof(v));
	}
	if (!json_is_integer(max_runs) || json_integer_value(max_runs) < 0 ||
	    json_integer_value(max_runs) > 1000000000)
		return err_set(e, ERR_PARSE, "parameter 'max_runs' is not a count");
	p->max_runs = (int)json_integer_value(max_runs);
	p->check_drift = json_is_true(json_object_get(o, "check_drift"));
	p->step_least = json_number_value(json_object_get(o, "step_least"));
	return 0;
}

static int load_commit(const struct bisect_state *s, const json_t *name, int *ret, struct err *e)
{
	int r;

	if (!json_is_string(name))
		return err_set(e, ERR_PARSE, "a commit has no name");
	if (strcmp(json_string_value(name), BISECT_GOOD_NAME) == 0) {
		*ret = BISECT_GOOD_END;
		return 0;
	}
	r = bisect_graph_find(s->graph, json_string_value(name), e);
	if (r < 0)
		return r;
	*ret = r;
	return 0;
}

int bisect_skip_by_name(const char *name, enum bisect_skip *ret, struct err *e)
{
	for (int i = BISECT_SKIP_BUILD; i <= BISECT_SKIP_OLDER; i++)
		if (strcmp(name, bisect_skip_name((enum bisect_skip)i)) == 0) {
			*ret = (enum bisect_skip)i;
			return 0;
		}
	return err_set(e, ERR_PARSE, "unknown skip reason '%.32s'", name);
}

static int load_facts(struct bisect_state *s, const json_t *o, struct err *e)
{
	const json_t *skip = json_object_get(o, "skip");
	const json_t *prior = json_object_get(o, "prior");
	enum bisect_skip reason = BISECT_TESTABLE;
	int commit = 0;
	int r = load_commit(s, json_object_get(o, "commit"), &commit, e);

	if (r < 0)
		return r;
	if (json_is_true(json_object_get(o, "built")))
		(void)bisect_mark_built(s, commit, e);
	if (prior) {
		r = bisect_set_prior(s, commit, json_number_value(prior), e);
		if (r < 0)
			return r;
	}
	if (!skip)
		return 0;
	if (!json_is_string(skip))
		return err_set(e, ERR_PARSE, "a skip reason is not a string");
	r = bisect_skip_by_name(json_string_value(skip), &reason, e);
	return r < 0 ? r : bisect_skip(s, commit, reason, e);
}

static int load_run(struct bisect_state *s, const json_t *o, struct err *e)
{
	const json_t *boot = json_object_get(o, "boot");
	const json_t *y = json_object_get(o, "y");
	int commit = 0;
	int r = load_commit(s, json_object_get(o, "commit"), &commit, e);

	if (r < 0)
		return r;
	if (!json_is_integer(boot) || json_integer_value(boot) < INT32_MIN ||
	    json_integer_value(boot) > INT32_MAX || !json_is_number(y))
		return err_set(e, ERR_PARSE, "a run has no boot or no value");
	return bisect_add_run(s, commit, (int)json_integer_value(boot), json_number_value(y), e);
}

static int load_all(struct bisect_state *s, const json_t *root, struct err *e)
{
	json_t *item;
	size_t i;
	int r = 0;

	json_array_foreach (json_object_get(root, "commits"), i, item) {
		if (r == 0)
			r = load_facts(s, item, e);
	}
	json_array_foreach (json_object_get(root, "runs"), i, item) {
		if (r == 0)
			r = load_run(s, item, e);
	}
	if (r < 0)
		return r;
	return load_commit(s, json_object_get(root, "last_built"), &s->last_built, e);
}

int bisect_load(struct bisect_state *s, const struct bisect_graph *graph, const char *text,
		struct err *e)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	struct bisect_params params;
	struct bisect_state loaded;
	const char *format;
	json_error_t why;
	int r;

	root = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(root))
		return err_set(e, ERR_PARSE, "bisection state is not a JSON object");
	format = json_string_value(json_object_get(root, "format"));
	if (!format || strcmp(format, FORMAT) != 0)
		return err_set(e, ERR_FORMAT, "format is '%.40s', must be '" FORMAT "'",
			       format ? format : "");
	r = bisect_params_from_json(json_object_get(root, "params"), &params, e);
	if (r < 0)
		return r;
	r = bisect_init(&loaded, graph, &params, e);
	if (r < 0)
		return r;
	r = load_all(&loaded, root, e);
	if (r < 0) {
		bisect_done(&loaded);
		return r;
	}
	*s = loaded;
	return 0;
}
