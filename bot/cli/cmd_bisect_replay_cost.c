/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bisection has cost, and what plain bisection of the same range would. */
#include "bot/cli/cmd_bisect_replay.h"

#include "bisect/sim.h"
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define TRIALS_MOST  200
#define TRIALS_LEAST 20
/* Comparisons of commits in all trials of one strategy; some seconds at most. */
#define WORK_MOST 1e9

static const int plain_boots[2] = { 3, 10 };

void replay_cost_unused(struct replay_cost *c, struct bisect_state *s, int commit)
{
	double build = bisect_build_minutes(s, commit);

	if (build <= 0)
		return;
	c->builds++;
	c->unused++;
	c->minutes += build;
	(void)bisect_mark_built(s, commit, NULL);
}

void replay_cost_beside(struct replay_cost *c, const struct bisect_log *log)
{
	c->beside = log->beside;
	c->builds += log->beside.builds;
	c->boots += log->beside.boots;
	c->runs += log->beside.runs;
	c->minutes += log->beside.builds * log->params.cost_incremental +
		      log->beside.boots * log->params.cost_boot +
		      log->beside.runs * log->params.cost_run;
}

static double tests_of(size_t n)
{
	return ceil(log2((double)n) - 1e-9);
}

/* Without any skip or error, on a line: so many boots of one run a commit, and of both ends. */
static double computed(const struct bisect_state *s, int boots)
{
	const struct bisect_params *p = &s->params;
	double each = boots * (p->cost_boot + p->cost_run);

	return tests_of(s->graph->n) * (p->cost_build + each) + 2 * each;
}

static int trials_of(const struct bisect_graph *g)
{
	double n = (double)g->n;
	double trials = WORK_MOST / ((g->line ? n : n * n / 2) * (tests_of(g->n) + 1));

	return trials < TRIALS_LEAST ? 0 : trials > TRIALS_MOST ? TRIALS_MOST : (int)trials;
}

/* From the commits that are good with @culprit to those that are bad; 0 when one side is empty. */
static double measured_step(const struct bisect_state *s, int culprit)
{
	double sum[2] = { 0 };
	int n[2] = { 0 };

	for (size_t i = 0; i < s->n_runs; i++) {
		int x = s->runs[i].commit;
		bool bad = x >= 0 && bisect_graph_contains(s->graph, (size_t)x, (size_t)culprit);

		sum[bad] += s->runs[i].y;
		n[bad]++;
	}
	return n[0] && n[1] ? sum[1] / n[1] - sum[0] / n[0] : 0;
}

int replay_plain(struct bisect_state *s, const struct bisect_step *step, struct replay_plain *ret,
		 struct err *e)
{
	int culprit = step->action == BISECT_DONE ? step->commit : step->likeliest;
	struct bisect_sim sim = { .model = s->params,
				  .outliers = s->params.eps,
				  .machines = 1,
				  .seed = 1,
				  .strategy = BISECT_PLAIN,
				  .culprit = culprit };
	double size = measured_step(s, culprit);
	int r = 0;

	*ret = (struct replay_plain){ .trials = trials_of(s->graph),
				      .none = step->action == BISECT_NONE };
	sim.trials = ret->trials;
	sim.model.sigma = bisect_sigma(s);
	if (size != 0)
		sim.model.step = size;
	if (ret->none)
		sim.culprit = BISECT_SIM_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(plain_boots) && r == 0; i++) {
		struct bisect_sim_result got = { 0 };

		ret->minutes[i] = computed(s, plain_boots[i]);
		if (!ret->trials)
			continue;
		sim.plain_boots = plain_boots[i];
		r = bisect_simulate(s->graph, &sim, &got, e);
		ret->minutes[i] = got.mean;
		ret->right[i] = (double)got.right / sim.trials;
	}
	return r;
}

void replay_cost_json(json_t *o, const struct replay_cost *c, const struct replay_plain *plain)
{
	json_t *cost = json_object();
	json_t *minutes = json_object();
	json_t *list = json_array();

	json_set_i64(cost, "builds", c->builds);
	json_set_i64(cost, "boots", c->boots);
	json_set_i64(cost, "runs", c->runs);
	json_set_f64(cost, "minutes", c->minutes);
	json_set_i64(cost, "unused_builds", c->unused);
	json_set_i64(cost, "beside_boots", c->beside.boots);
	if (c->sure_step) {
		json_set_i64(cost, "sure_step", c->sure_step);
		json_set_f64(cost, "sure_minutes", c->sure_minutes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain_boots); i++) {
		_cleanup_(freep) char *name = xasprintf("plain:%d", plain_boots[i]);
		json_t *p = json_object();

		json_set_f64(minutes, name, plain->minutes[i]);
		json_set_str(p, "strategy", name);
		json_set_f64(p, "minutes", plain->minutes[i]);
		if (plain->trials)
			json_set_f64(p, "accuracy", plain->right[i]);
		json_set_i64(p, "trials", plain->trials);
		(void)json_array_append_new(list, p);
	}
	(void)json_object_set_new(o, "cost", cost);
	(void)json_object_set_new(o, "plain", list);
	(void)json_object_set_new(o, "plain_minutes", minutes);
}

void replay_cost_print(const struct replay_cost *c, const struct replay_plain *plain)
{
	(void)printf("cost: %d builds, %d boots, %d runs, %.1f machine minutes", c->builds,
		     c->boots, c->runs, c->minutes);
	if (c->sure_step)
		(void)printf("; sure after %.1f, the rest verified it", c->sure_minutes);
	if (c->beside.boots)
		(void)printf(" (%d boots on a revert or the tip)", c->beside.boots);
	(void)printf("\nplain bisection:");
	for (size_t i = 0; i < ARRAY_SIZE(plain_boots); i++) {
		(void)printf("%s %.1f minutes with %d boots a step", i ? ";" : "",
			     plain->minutes[i], plain_boots[i]);
		if (plain->trials && !plain->none)
			(void)printf(", right in %.0f %%", 100 * plain->right[i]);
	}
	if (!plain->trials)
		(void)printf(" (computed)\n");
	else
		(void)printf(
			"%s (%d searches each, simulated on these commits with the noise, step, "
			"cost and culprit of this log)\n",
			plain->none ? "; it would name a commit all the same" : "", plain->trials);
}
