/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/bisect.h"
#include "bisect/eval.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

struct bisect_params bisect_params_default(void)
{
	return (struct bisect_params)BISECT_PARAMS_DEFAULT;
}

static int check_value(const char *name, double v, double min, double max, struct err *e)
{
	if (!(v >= min && v <= max))
		return err_set(e, ERR_INVAL, "%s is %g, must be within %g and %g", name, v, min,
			       max);
	return 0;
}

double bisect_params_size(const struct bisect_params *p)
{
	return p->step != 0 ? fabs(p->step) : p->step_least;
}

int bisect_params_check(const struct bisect_params *p, struct err *e)
{
	const double big = 1e12;
	const struct {
		const char *name;
		double v, min, max;
	} rules[] = {
		{ "sigma", p->sigma, 1e-12, big },
		{ "boot_sd", p->boot_sd, 0, big },
		{ "commit_sd", p->commit_sd, 0, big },
		{ "eps", p->eps, 0, 0.5 },
		{ "step", p->step, -big, big },
		{ "step_sd", p->step_sd, 0, big },
		{ "step_least", p->step_least, 0, big },
		{ "prior_none", p->prior_none, 1e-9, 0.99 },
		{ "confidence", p->confidence, 0.5, 0.999999 },
		{ "cost_build", p->cost_build, 0, big },
		{ "cost_incremental", p->cost_incremental, 0, big },
		{ "incremental_span", p->incremental_span, 1, big },
		{ "cost_boot", p->cost_boot, 0, big },
		{ "cost_run", p->cost_run, 1e-9, big },
		{ "max_runs", p->max_runs, 0, 1e9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		int r = check_value(rules[i].name, rules[i].v, rules[i].min, rules[i].max, e);

		if (r < 0)
			return r;
	}
	return 0;
}

int bisect_init(struct bisect_state *s, const struct bisect_graph *graph,
		const struct bisect_params *params, struct err *e)
{
	int r = bisect_params_check(params, e);

	if (r < 0)
		return r;
	if (!graph->prepared)
		return err_set(e, ERR_INVAL, "the commit graph is not prepared");
	*s = (struct bisect_state){
		.graph = graph,
		.params = *params,
		.last_built = BISECT_GOOD_END,
		.skip = xcalloc(graph->n, 1),
		.built = xcalloc(graph->n + 1, 1),
		.pending = xcalloc(graph->n + 1, 1),
		.prior = xcalloc(graph->n, sizeof(double)),
	};
	for (size_t i = 0; i < graph->n; i++)
		s->prior[i] = 1;
	return 0;
}

static void state_touch(struct bisect_state *s)
{
	bisect_eval_free(s->eval);
	s->eval = NULL;
}

static void state_log(struct bisect_state *s, struct bisect_event event)
{
	if (s->n_events == s->cap_events) {
		s->cap_events = s->cap_events ? s->cap_events * 2 : 32;
		s->events = xreallocarray(s->events, s->cap_events, sizeof(*s->events));
	}
	s->events[s->n_events++] = event;
}

void bisect_done(struct bisect_state *s)
{
	if (!s)
		return;
	state_touch(s);
	free(s->runs);
	free(s->skip);
	free(s->built);
	free(s->pending);
	free(s->prior);
	free(s->events);
	memset(s, 0, sizeof(*s));
}

static void *copy_of(const void *from, size_t n, size_t size)
{
	void *to = xcalloc(n + 1, size);

	if (n > 0)
		memcpy(to, from, n * size);
	return to;
}

void bisect_copy(struct bisect_state *to, const struct bisect_state *from)
{
	const size_t n = from->graph->n;

	*to = *from;
	to->runs = copy_of(from->runs, from->n_runs, sizeof(*to->runs));
	to->cap_runs = from->n_runs;
	to->skip = copy_of(from->skip, n, 1);
	to->built = copy_of(from->built, n + 1, 1);
	to->pending = copy_of(from->pending, n + 1, 1);
	to->prior = copy_of(from->prior, n, sizeof(*to->prior));
	to->events = copy_of(from->events, from->n_events, sizeof(*to->events));
	to->cap_events = from->n_events;
	to->eval = NULL;
}

static int check_commit(const struct bisect_state *s, int commit, struct err *e)
{
	if (commit < BISECT_GOOD_END || commit >= (int)s->graph->n)
		return err_set(e, ERR_INVAL, "commit %d is not in the range of %zu commits", commit,
			       s->graph->n);
	return 0;
}

/* The good end has no index of its own; arrays that include it keep it behind the last commit. */
static size_t slot(const struct bisect_state *s, int commit)
{
	return commit == BISECT_GOOD_END ? s->graph->n : (size_t)commit;
}

int bisect_set_prior(struct bisect_state *s, int commit, double weight, struct err *e)
{
	int r = check_commit(s, commit, e);

	if (r < 0)
		return r;
	if (commit == BISECT_GOOD_END)
		return err_set(e, ERR_INVAL, "the good end cannot be the culprit");
	if (!(weight > 0 && weight < 1e12))
		return err_set(e, ERR_INVAL, "prior weight is %g, must be above 0", weight);
	s->prior[commit] = weight;
	state_log(s, (struct bisect_event){
			     .kind = BISECT_EVENT_PRIOR, .commit = commit, .value = weight });
	state_touch(s);
	return 0;
}

static void note_built(struct bisect_state *s, int commit)
{
	if (!s->built[slot(s, commit)]) {
		s->built[slot(s, commit)] = 1;
		s->last_built = commit;
	}
}

int bisect_mark_built(struct bisect_state *s, int commit, struct err *e)
{
	int r = check_commit(s, commit, e);

	if (r < 0)
		return r;
	if (!s->built[slot(s, commit)])
		state_log(s, (struct bisect_event){ .kind = BISECT_EVENT_BUILT, .commit = commit });
	note_built(s, commit);
	return 0;
}

int bisect_set_pending(struct bisect_state *s, int commit, int boots, struct err *e)
{
	int r = check_commit(s, commit, e);

	if (r < 0)
		return r;
	if (boots < 0 || boots > 255)
		return err_set(e, ERR_INVAL, "%d boots cannot be under way, must be 0 to 255",
			       boots);
	s->pending[slot(s, commit)] = (unsigned char)boots;
	return 0;
}

int bisect_add_run(struct bisect_state *s, int commit, int boot, double y, struct err *e)
{
	int r = check_commit(s, commit, e);

	if (r < 0)
		return r;
	if (!isfinite(y))
		return err_set(e, ERR_INVAL, "a measured value is not finite");
	/* Its square over that of the noise has to be a number too. */
	if (fabs(y) > BISECT_Y_MOST)
		return err_set(e, ERR_INVAL, "a measured value is %g, must be within %g of 0", y,
			       BISECT_Y_MOST);
	if (commit != BISECT_GOOD_END && s->skip[commit])
		return err_set(e, ERR_CONFLICT, "commit %s is skipped (%s)",
			       s->graph->commits[commit].hash,
			       bisect_skip_name((enum bisect_skip)s->skip[commit]));
	if (s->n_runs == s->cap_runs) {
		s->cap_runs = s->cap_runs ? s->cap_runs * 2 : 32;
		s->runs = xreallocarray(s->runs, s->cap_runs, sizeof(*s->runs));
	}
	s->runs[s->n_runs++] = (struct bisect_run){ .commit = commit, .boot = boot, .y = y };
	state_log(s,
		  (struct bisect_event){
			  .kind = BISECT_EVENT_RUN, .commit = commit, .boot = boot, .value = y });
	state_touch(s);
	note_built(s, commit);
	return 0;
}

int bisect_skip(struct bisect_state *s, int commit, enum bisect_skip reason, struct err *e)
{
	size_t kept = 0;
	int r = check_commit(s, commit, e);

	if (r < 0)
		return r;
	if (commit == BISECT_GOOD_END)
		return err_set(e, ERR_INVAL, "the good end cannot be skipped");
	if (reason < BISECT_SKIP_BUILD || reason > BISECT_SKIP_OLDER)
		return err_set(e, ERR_INVAL, "unknown skip reason %d", (int)reason);
	if (!s->skip[commit])
		s->n_skipped++;
	s->skip[commit] = (unsigned char)reason;
	state_log(s, (struct bisect_event){
			     .kind = BISECT_EVENT_SKIP, .commit = commit, .skip = reason });
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].commit != commit)
			s->runs[kept++] = s->runs[i];
	s->n_runs = kept;
	state_touch(s);
	return 0;
}

int bisect_runs(const struct bisect_state *s, int commit)
{
	int n = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		n += s->runs[i].commit == commit;
	return n;
}

int bisect_boots(const struct bisect_state *s, int commit)
{
	int n = 0;

	for (size_t i = 0; i < s->n_runs; i++) {
		bool seen = s->runs[i].commit != commit;

		for (size_t j = 0; j < i && !seen; j++)
			seen = s->runs[j].commit == commit && s->runs[j].boot == s->runs[i].boot;
		n += !seen;
	}
	return n;
}

double bisect_build_minutes(const struct bisect_state *s, int commit)
{
	const struct bisect_params *p = &s->params;
	double distance;

	if (s->built[slot(s, commit)])
		return 0;
	distance = fabs((double)(commit - s->last_built));
	return p->cost_incremental +
	       (p->cost_build - p->cost_incremental) * fmin(1, distance / p->incremental_span);
}

const char *bisect_action_name(enum bisect_action a)
{
	static const char *const names[] = {
		"measure", "done", "none", "set", "wait", "ends-broken"
	};

	return (size_t)a < ARRAY_SIZE(names) ? names[a] : "unknown";
}

const char *bisect_skip_name(enum bisect_skip s)
{
	static const char *const names[] = { "testable", "build", "boot", "tainted", "older" };

	return (size_t)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

void bisect_step_done(struct bisect_step *step)
{
	if (!step)
		return;
	free(step->set);
	free(step->set_p);
	memset(step, 0, sizeof(*step));
}
