/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/sim.h"
#include "bisect/lab.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

static double plain_measure(struct bisect_lab *lab, struct bisect_state *s, int commit)
{
	double build = bisect_build_minutes(s, commit);
	double sum = 0;

	if (build > 0) {
		lab->builds++;
		lab->minutes += build;
		(void)bisect_mark_built(s, commit, NULL);
	}
	if (bisect_lab_is_broken(lab, commit))
		return (double)NAN;
	for (int i = 0; i < lab->sim->plain_boots; i++) {
		double y;

		bisect_lab_boot(lab, commit, 1, &y);
		sum += y;
	}
	return sum / lab->sim->plain_boots;
}

/* The testable commit that divides the candidates best; -1 if none divides them. */
static int plain_choose(const struct bisect_lab *lab, const bool *possible, size_t left,
			const unsigned char *skipped)
{
	const struct bisect_graph *g = lab->g;
	size_t best = 0;
	size_t before = 0;
	int choice = -1;

	for (size_t x = 0; x < g->n; x++) {
		size_t inside = 0;
		size_t score;

		before += possible[x];
		for (size_t c = 0; c <= x && !g->line; c++)
			inside += possible[c] && bisect_graph_contains(g, x, c);
		if (g->line)
			inside = before;
		score = inside < left - inside ? inside : left - inside;
		if (!skipped[x] && score > best) {
			best = score;
			choice = (int)x;
		}
	}
	return choice;
}

static int search_plain(struct bisect_lab *lab, struct bisect_state *s, struct bisect_answer *ret,
			struct err *e)
{
	const size_t n = lab->g->n;
	_cleanup_(freep) bool *possible = xcalloc(n, sizeof(*possible));
	double good = plain_measure(lab, s, BISECT_GOOD_END);
	double bad = plain_measure(lab, s, (int)n - 1);
	size_t left = n;
	int x;

	(void)e;
	memset(possible, true, n);
	while (left > 1 && (x = plain_choose(lab, possible, left, s->skip)) >= 0) {
		double y = plain_measure(lab, s, x);
		bool is_bad = fabs(y - bad) < fabs(y - good);

		if (isnan(y)) {
			s->skip[x] = BISECT_SKIP_BUILD;
			continue;
		}
		for (size_t c = 0; c < n; c++)
			if (possible[c] && bisect_graph_contains(lab->g, (size_t)x, c) != is_bad) {
				possible[c] = false;
				left--;
			}
	}
	*ret = (struct bisect_answer){ .action = left == 1 ? BISECT_DONE : BISECT_SET,
				       .probability = 1,
				       .second = BISECT_NO_COMMIT };
	for (size_t c = 0; c < n; c++)
		if (possible[c]) {
			ret->commit = (int)c;
			ret->in_set |= (int)c == lab->culprit;
		}
	lab->wall = lab->minutes;
	return 0;
}

static bool is_parent(const struct bisect_graph *g, int parent, int child)
{
	const struct bisect_commit *c = &g->commits[child];

	for (size_t i = 0; i < c->n_parents; i++)
		if (c->parents[i] == parent)
			return true;
	return false;
}

static void count_answer(struct bisect_sim_result *r, const struct bisect_lab *lab,
			 const struct bisect_answer *a)
{
	if (a->second >= 0 && a->second_probability >= lab->sim->model.confidence) {
		r->two++;
		r->two_right += (a->commit == lab->culprit && a->second == lab->second) ||
				(a->commit == lab->second && a->second == lab->culprit);
	}
	r->none += a->action == BISECT_NONE;
	r->drifted += a->drifted;
	r->sets += a->action == BISECT_SET;
	r->sets_right += a->action == BISECT_SET && a->in_set;
	if (a->action != BISECT_DONE)
		return;
	r->named++;
	r->merges += a->merge;
	r->confidence += a->probability;
	if (a->commit == lab->culprit)
		r->right++;
	else if (lab->sim->second > 0 && a->commit == lab->second)
		r->smaller++;
	else if (lab->culprit >= 0 && (is_parent(lab->g, a->commit, lab->culprit) ||
				       is_parent(lab->g, lab->culprit, a->commit)))
		r->adjacent++;
	else
		r->far++;
}

static int run_trial(struct bisect_lab *lab, int trial, struct bisect_sim_result *ret,
		     double *minutes, struct err *e)
{
	struct bisect_state s;
	struct bisect_answer a;
	int r;

	bisect_lab_reset(lab, lab->sim->seed, trial);
	r = bisect_init(&s, lab->g, &lab->sim->model, e);
	if (r < 0)
		return r;
	(void)bisect_mark_built(&s, BISECT_GOOD_END, e);
	(void)bisect_mark_built(&s, (int)lab->g->n - 1, e);
	r = lab->sim->strategy == BISECT_OURS ? bisect_lab_search(lab, &s, &a, e)
					      : search_plain(lab, &s, &a, e);
	bisect_done(&s);
	if (r < 0)
		return r;
	count_answer(ret, lab, &a);
	*minutes = lab->minutes;
	ret->mean += lab->minutes;
	ret->wall += lab->wall;
	ret->builds += lab->builds;
	ret->boots += lab->boots;
	ret->runs += lab->runs;
	return 0;
}

static int compare_double(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void finish_means(struct bisect_sim_result *r, double *minutes)
{
	const int n = r->trials;

	qsort(minutes, (size_t)n, sizeof(*minutes), compare_double);
	r->median = 0.5 * (minutes[(n - 1) / 2] + minutes[n / 2]);
	/* The least that nine in ten do not exceed. */
	r->p90 = minutes[((size_t)n * 9 + 9) / 10 - 1];
	r->mean /= n;
	for (int i = 0; i < n; i++)
		r->sd += (minutes[i] - r->mean) * (minutes[i] - r->mean);
	r->sd = n > 1 ? sqrt(r->sd / (n - 1)) : 0;
	r->wall /= n;
	r->builds /= n;
	r->boots /= n;
	r->runs /= n;
	if (r->named > 0)
		r->confidence /= r->named;
}

static bool has_merge(const struct bisect_graph *g)
{
	for (size_t c = 0; c < g->n; c++)
		if (bisect_graph_is_merge(g, c))
			return true;
	return false;
}

static int check_sim(const struct bisect_graph *g, const struct bisect_sim *sim, struct err *e)
{
	int r = bisect_params_check(&sim->model, e);

	if (r < 0)
		return r;
	if (!(sim->outliers >= 0 && sim->outliers <= 0.5))
		return err_set(e, ERR_INVAL, "share of outliers is %g, must be 0 to 0.5",
			       sim->outliers);
	if (!(sim->skip >= 0 && sim->skip <= 0.9))
		return err_set(e, ERR_INVAL, "share of skipped commits is %g, must be 0 to 0.9",
			       sim->skip);
	if (sim->cluster < 0 || sim->cluster > BISECT_MAX_COMMITS)
		return err_set(e, ERR_INVAL, "%d commits beside the culprit, must be 0 to %d",
			       sim->cluster, BISECT_MAX_COMMITS);
	if (sim->machines < 1 || sim->machines > BISECT_MACHINES_MOST)
		return err_set(e, ERR_INVAL, "%d machines, must be 1 to %d", sim->machines,
			       BISECT_MACHINES_MOST);
	if (sim->trials < 1 || sim->trials > 1000000)
		return err_set(e, ERR_INVAL, "%d trials, must be 1 to 1000000", sim->trials);
	if (sim->strategy == BISECT_PLAIN && (sim->plain_boots < 1 || sim->plain_boots > 1000))
		return err_set(e, ERR_INVAL, "%d runs a commit, must be 1 to 1000",
			       sim->plain_boots);
	if (sim->culprit < BISECT_SIM_MERGE || sim->culprit >= (int)g->n ||
	    (sim->culprit == BISECT_SIM_MERGE && !has_merge(g)))
		return err_set(e, ERR_INVAL, "culprit %d is not in the range", sim->culprit);
	if (!(sim->second >= 0 && sim->second < 1) && sim->second != -1)
		return err_set(e, ERR_INVAL, "share of the second step is %g, must be 0 to 1 or -1",
			       sim->second);
	return 0;
}

int bisect_simulate(const struct bisect_graph *graph, const struct bisect_sim *sim,
		    struct bisect_sim_result *ret, struct err *e)
{
	struct bisect_sim_result result = { .trials = sim->trials };
	struct bisect_lab lab;
	double *minutes;
	int r = check_sim(graph, sim, e);

	if (r < 0)
		return r;
	minutes = xcalloc((size_t)sim->trials, sizeof(*minutes));
	bisect_lab_init(&lab, graph, sim);
	for (int i = 0; i < sim->trials && r == 0; i++)
		r = run_trial(&lab, i, &result, &minutes[i], e);
	if (r == 0) {
		finish_means(&result, minutes);
		*ret = result;
	}
	bisect_lab_done(&lab);
	free(minutes);
	return r;
}
