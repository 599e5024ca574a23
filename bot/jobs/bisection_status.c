/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The side of a bisection that people see. */
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"

#include <math.h>
#include <string.h>

#define POSTERIOR_SHOWN 64

static double entropy_commits(const double *p, size_t n)
{
	double bits = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i] > 0)
			bits -= p[i] * log2(p[i]);
	return exp2(bits);
}

/* Mean of y over the runs of a commit; NAN without any. */
static double level_of(const struct bisection_run *b, const char *hash)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < b->n_values; i++) {
		for (size_t k = 0; k < b->n_boots; k++) {
			if (b->boots[k].id != b->values[i].boot ||
			    strcmp(b->boots[k].commit, hash) != 0)
				continue;
			sum += b->values[i].value;
			n++;
		}
	}
	return n ? sum / n : NAN;
}

static void describe_skip(const struct bisection_run *b, int commit, struct bisect_step_row *s)
{
	enum bisect_skip why = (enum bisect_skip)b->state.skip[commit];

	s->verdict = "skip";
	s->reason = bisect_skip_name(why);
	s->detail = "it does not build";
	s->p_bad = s->rel = NAN;
	for (size_t i = 0; i < b->n_boots; i++)
		if (!strcmp(b->boots[i].commit, s->commit) && !b->boots[i].ok)
			s->detail = b->boots[i].detail;
}

int bisection_run_log_step(struct bisection_run *b, struct err *e)
{
	_cleanup_(freep) double *p = xcalloc(b->range.graph.n, sizeof(*p));
	struct bisect_step_row s = { .commit = b->asked };
	int commit;
	int r;

	if (!b->asked[0])
		return 0;
	commit = !strcmp(b->asked, b->good) ? BISECT_GOOD_END
					    : bisect_graph_find(&b->range.graph, b->asked, NULL);
	bisect_posterior(&b->state, p, NULL);
	s.left_eff = entropy_commits(p, b->range.graph.n);
	s.took_s = (double)(b->now_s - b->asked_at);
	for (size_t i = 0; i < b->n_boots; i++)
		s.boots += !strcmp(b->boots[i].commit, b->asked) && b->boots[i].ok;
	if (commit >= 0 && b->state.skip[commit] != BISECT_TESTABLE) {
		describe_skip(b, commit, &s);
	} else if (!s.boots) {
		/* Only its build has ended, or the lab spoilt the boots: the step is still open. */
		return 0;
	} else {
		double y = level_of(b, b->asked) - level_of(b, b->good);

		s.runs = bisect_runs(&b->state, commit);
		s.p_bad = commit == BISECT_GOOD_END ? 0 : bisect_p_bad(&b->state, commit);
		s.rel = b->ln ? expm1(y) : NAN;
		s.verdict = s.p_bad > 0.9 ? "bad" : s.p_bad < 0.1 ? "good" : "unsure";
	}
	r = bisection_step_add(b->c->db, b->row.id, &s, e);
	b->asked[0] = '\0';
	return r;
}

struct ranked {
	size_t index;
	double p;
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->p;
	double y = ((const struct ranked *)b)->p;

	return (x < y) - (x > y);
}

static json_t *posterior_json(struct bisection_run *b, double *ret_left)
{
	size_t n = b->range.graph.n;
	_cleanup_(freep) double *p = xcalloc(n, sizeof(*p));
	_cleanup_(freep) struct ranked *order = xcalloc(n, sizeof(*order));
	json_t *list = json_array();

	bisect_posterior(&b->state, p, NULL);
	*ret_left = entropy_commits(p, n);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ i, p[i] };
	qsort(order, n, sizeof(*order), by_p);
	for (size_t i = 0; i < n && i < POSTERIOR_SHOWN; i++) {
		json_t *o = json_object();

		json_set_str(o, "commit", b->range.graph.commits[order[i].index].hash);
		json_set_f64(o, "p", order[i].p);
		json_set_i64(o, "place", (int64_t)order[i].index);
		(void)json_array_append_new(list, o);
	}
	return list;
}

/* Boots that this bisection has made; @own 0: all that count. */
static int64_t boots_used(const struct bisection_run *b)
{
	int64_t n = 0;

	for (size_t i = 0; i < b->n_boots; i++)
		n += !strcmp(b->boots[i].bisection, b->row.id) && !b->boots[i].wanted;
	return n;
}

json_t *bisection_run_status(struct bisection_run *b)
{
	json_t *o = json_object();
	json_t *boots = json_object();
	double left = 0;

	(void)json_object_set_new(o, "posterior", posterior_json(b, &left));
	json_set_f64(o, "effective_left", left);
	json_set_i64(o, "commits", (int64_t)b->range.graph.n);
	json_set_i64(boots, "used", boots_used(b));
	json_set_i64(boots, "max",
		     b->state.params.max_runs / (b->job.runs_per_boot ? b->job.runs_per_boot : 1));
	(void)json_object_set_new(o, "boots", boots);
	json_set_str(o, "good", b->good);
	if (b->model && json_object_set(o, "model", b->model) < 0)
		abort();
	if (b->step) {
		json_set_f64(o, "p", b->step->probability);
		json_set_f64(o, "p_none", b->step->p_none);
	}
	if (b->asked[0]) {
		json_set_str(o, "asked", b->asked);
		json_set_i64(o, "asked_at", b->asked_at);
	}
	return o;
}
