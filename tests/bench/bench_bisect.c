/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a bisection is right and what it costs, in a made-up lab with the noise of the published
 * table: on lines and on histories with merges, with a step and without, beside plain bisection.
 *
 * usage: test_bench_bisect [TRIALS [ROW [SEED]]]: trials of each row (40), only rows whose name has
 * ROW, all noise from SEED (1).
 */
#include "bisect/bisect.h"
#include "bisect/sim.h"
#include "bot/base/clock.h"
#include "tests/test.h"
#include "tests/unit/bisect/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/*
 * @right: least share of the named that are right; @named: least share that is named; @ratio: most
 * minutes as a multiple of the bound; @most: most minutes; @than: row before this one, of whose minutes
 * and wall time at most @times and @wall are taken; 0: no target.
 */
struct row {
	const char *name;
	size_t n;
	uint64_t history; /* seed of a history with merges; 0: a line */
	double step;
	int plain;
	int machines;
	double skip;
	int cluster;
	bool no_step;
	bool merge;
	double second;
	double trials; /* share of the usual number */
	double right;
	double named;
	double ratio;
	double most;
	const char *than;
	double times;
	double wall;
	uint64_t seed; /* on top of that of the call */
};

static const struct row rows[] = {
	{ "line/16 d=2", 16, 0, 2, .right = 0.99 },
	{ "line/128 d=2", 128, 0, 2, .right = 0.99 },
	{ "line/1024 d=1", 1024, 0, 1, .trials = 0.1, .right = 0.99 },
	{ "line/1024 d=2", 1024, 0, 2, .right = 0.99, .ratio = 1.8 },
	{ "line/1024 d=3", 1024, 0, 3, .right = 0.99 },
	{ "line/1024 d=5", 1024, 0, 5, .right = 0.995, .ratio = 1.32 },
	{ "line/1024 d=10", 1024, 0, 10, .right = 0.999, .ratio = 1.27 },
	{ "line/20000 d=2", 20000, 0, 2, .trials = 0.1, .right = 0.99 },
	{ "line/20000 d=5", 20000, 0, 5, .trials = 0.2, .right = 0.995, .ratio = 1.25 },
	{ "merges/1024 d=2", 1024, 1, 2, .right = 0.99, .ratio = 1.89 },
	{ "merges/1024 d=5", 1024, 2, 5, .right = 0.995, .ratio = 1.39 },
	{ "merges/734 d=2", 734, 3, 2, .trials = 0.5, .right = 0.99, .ratio = 1.89 },
	{ "merges/734 d=5", 734, 4, 5, .right = 0.995, .ratio = 1.39 },
	{ "merges/18185 d=2", 18185, 5, 2, .trials = 0.1, .right = 0.99, .ratio = 1.89 },
	{ "merges/18185 d=5", 18185, 6, 5, .trials = 0.1, .right = 0.995, .ratio = 1.39 },
	{ "merge is culprit d=2", 1024, 1, 2, .merge = true, .right = 0.99 },
	{ "merge is culprit d=5", 1024, 2, 5, .merge = true, .right = 0.995 },
	{ "plain:3 d=2", 1024, 0, 2, .plain = 3 },
	{ "plain:10 d=2", 1024, 0, 2, .plain = 10 },
	{ "plain:3 d=5", 1024, 0, 5, .plain = 3 },
	{ "plain:10 d=5", 1024, 0, 5, .plain = 10 },
	{ "plain:3 merges d=2", 1024, 1, 2, .plain = 3 },
	{ "plain:10 merges d=2", 1024, 1, 2, .plain = 10 },
	{ "machines:4 d=2", 1024, 0, 2, .machines = 4, .trials = 0.5, .right = 0.99,
	  .than = "line/1024 d=2", .times = 2, .wall = 0.6 },
	{ "machines:4 d=5", 1024, 0, 5, .machines = 4, .trials = 0.5, .right = 0.995,
	  .than = "line/1024 d=5", .times = 2, .wall = 0.6 },
	{ "machines:4 merges d=2", 1024, 1, 2, .machines = 4, .trials = 0.5, .right = 0.99 },
	{ "no step d=2", 1024, 0, 2, .no_step = true, .named = 0.98, .most = 150 },
	{ "no step d=2 again", 1024, 0, 2, .no_step = true, .named = 0.98, .most = 150, .seed = 1 },
	{ "no step d=2 and again", 1024, 0, 2, .no_step = true, .named = 0.98, .most = 150,
	  .seed = 2 },
	{ "no step d=5", 1024, 0, 5, .no_step = true, .named = 0.98, .most = 150 },
	{ "no step merges d=2", 1024, 1, 2, .no_step = true, .named = 0.98, .most = 150 },
	{ "two steps d=2", 1024, 0, 2, .trials = 0.2, .second = 0.4 },
	{ "two steps d=5", 1024, 0, 5, .second = 0.4 },
	{ "two steps d=10", 1024, 0, 10, .second = 0.4 },
	{ "two steps merges d=5", 1024, 1, 5, .trials = 0.5, .second = 0.4 },
	{ "reverted d=2", 1024, 0, 2, .second = -1 },
	{ "reverted d=5", 1024, 0, 5, .second = -1 },
	{ "reverted merges d=5", 1024, 1, 5, .second = -1 },
	{ "skip 10% d=2", 1024, 0, 2, .skip = 0.1, .right = 0.99, .than = "line/1024 d=2",
	  .times = 1.1 },
	{ "skip 10% d=5", 1024, 0, 5, .skip = 0.1, .right = 0.99, .than = "line/1024 d=5",
	  .times = 1.1 },
	{ "cluster of 11 d=5", 1024, 0, 5, .cluster = 5, .right = 0.99 },
	{ "cluster of 11 merges d=5", 1024, 1, 5, .cluster = 5, .right = 0.99 },
	{ "skip 10% merges d=2", 1024, 1, 2, .skip = 0.1, .trials = 0.5, .right = 0.99 },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int trials_wanted = 40;
static const char *only = "";
static uint64_t seed_wanted = 1;
static struct bisect_sim_result results[ROWS];

static void make_graph(struct bisect_graph *g, size_t n, uint64_t history)
{
	struct err e = { 0 };

	if (history) {
		history_make(g, n, history);
		return;
	}
	assert_ok(bisect_graph_add_line(g, n, &e), &e);
	assert_ok(bisect_graph_prepare(g, &e), &e);
}

static struct bisect_sim sim_of(const struct row *row)
{
	struct bisect_sim sim = {
		.model = BISECT_PARAMS_DEFAULT,
		.outliers = 0.03,
		.skip = row->skip,
		.cluster = row->cluster,
		.machines = row->machines ? row->machines : 1,
		.trials = (int)fmax(10, trials_wanted * (row->trials > 0 ? row->trials : 1)),
		.seed = seed_wanted + row->seed,
		.strategy = row->plain ? BISECT_PLAIN : BISECT_OURS,
		.plain_boots = row->plain,
		.culprit = row->no_step ? BISECT_SIM_NONE
			   : row->merge ? BISECT_SIM_MERGE
					: BISECT_SIM_ANY,
		.second = row->second,
	};

	sim.model.sigma = 1;
	sim.model.boot_sd = 0.3;
	sim.model.commit_sd = 0.15;
	sim.model.step = row->step;
	return sim;
}

/* Within three standard errors of the target? Few trials cannot show more; nor of the cost. */
static bool share_reached(double got, double want, int n)
{
	return n == 0 || got >= want - 3 * sqrt(want * (1 - want) / n);
}

/* Result of the row that @row is compared with; NULL if there is none or it was not run. */
static const struct bisect_sim_result *compared(const struct row *row)
{
	for (size_t i = 0; row->than && i < ROWS; i++)
		if (strcmp(rows[i].name, row->than) == 0 && results[i].trials > 0)
			return &results[i];
	return NULL;
}

static bool judge_against(const struct row *row, const struct bisect_sim_result *r)
{
	const struct bisect_sim_result *than = compared(row);
	double error;

	if (!than)
		return true;
	error = 3 * sqrt(r->sd * r->sd / r->trials +
			 row->times * row->times * than->sd * than->sd / than->trials);
	return r->mean - error <= row->times * than->mean &&
	       (row->wall == 0 || r->wall - error <= row->wall * than->wall);
}

/* What was wanted, behind what came. */
static void print_targets(const struct row *row, const struct bisect_sim_result *r, bool ok)
{
	const struct bisect_sim_result *than = compared(row);

	if (than)
		(void)printf("  %.3f x the minutes and %.3f x the wall of %s", r->mean / than->mean,
			     r->wall / than->wall, row->than);
	if (row->right > 0)
		(void)printf("  target right >= %.3f", row->right);
	if (row->named > 0)
		(void)printf("  target none >= %.2f", row->named);
	if (row->ratio > 0)
		(void)printf("  target <= %.2f x bound", row->ratio);
	if (row->most > 0)
		(void)printf("  target <= %.0f min", row->most);
	if (row->times > 0)
		(void)printf("  target <= %.1f x its minutes", row->times);
	if (row->wall > 0)
		(void)printf("  target <= %.2f x its wall", row->wall);
	(void)printf("%s\n", ok ? "" : "  MISSED");
	(void)fflush(stdout);
}

static bool judge(const struct row *row, const struct bisect_sim_result *r, double bound)
{
	double named = row->no_step ? r->none : r->named;
	/* The set that holds an untestable culprit is the right answer too. */
	double right = r->right + r->sets_right;
	int answers = r->named + r->sets;
	double error = 3 * r->sd / sqrt(r->trials);

	return (row->right == 0 || share_reached(right / fmax(1, answers), row->right, answers)) &&
	       (row->named == 0 || share_reached(named / r->trials, row->named, r->trials)) &&
	       (row->ratio == 0 || r->mean - error <= row->ratio * bound) &&
	       (row->most == 0 || r->mean - error <= row->most) && judge_against(row, r) &&
	       (!row->merge || r->merges >= r->right) &&
	       /* What is said has to be true within one point, where so many trials can tell. */
	       (r->named < 1500 || fabs((double)r->right / r->named - r->confidence) <= 0.01);
}

static bool run_row(size_t at)
{
	const struct row *row = &rows[at];
	struct bisect_graph g = { 0 };
	struct bisect_sim sim = sim_of(row);
	struct bisect_sim_result r;
	struct err e = { 0 };
	double bound;
	usec_t start;
	bool ok;

	make_graph(&g, row->n, row->history);
	start = clock_boottime();
	assert_ok(bisect_simulate(&g, &sim, &r, &e), &e);
	results[at] = r;
	bound = bisect_bound_minutes(row->n, &sim.model);
	ok = judge(row, &r, bound);
	(void)printf(
		"bench: %-22s %4d trials  right %.4f (smaller step %.4f) of %.3f named, said %.4f, none %.3f, set %.3f "
		"(%.3f right) two %.3f (%.3f right)  %4.0f min (median %.0f, p90 %.0f) %.3f x bound  wall %4.0f  builds "
		"%.1f boots %.1f runs %.1f  %.1f s",
		row->name, r.trials, r.named ? (double)r.right / r.named : 0,
		r.named ? (double)r.smaller / r.named : 0, (double)r.named / r.trials, r.confidence,
		(double)r.none / r.trials, (double)r.sets / r.trials,
		(double)r.sets_right / r.trials, (double)r.two / r.trials,
		(double)r.two_right / r.trials, r.mean, r.median, r.p90, r.mean / bound, r.wall,
		r.builds, r.boots, r.runs, (double)(clock_boottime() - start) / 1e6);
	print_targets(row, &r, ok);
	bisect_graph_done(&g);
	return ok;
}

static void table_of_strategies(void **state)
{
	int missed = 0;

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		if (strstr(rows[i].name, only))
			missed += !run_row(i);
	assert_int_equal(missed, 0);
}

static double run_value(uint64_t *seed, double level)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += history_random(seed);
	return level + sum;
}

/* The slowest choice of one bisection, seconds of the processor. */
static double slowest_choice(const struct bisect_graph *g, bool weights, int culprit)
{
	struct bisect_params p = BISECT_PARAMS_DEFAULT;
	struct bisect_state s;
	struct err e = { 0 };
	uint64_t seed = 11;
	double slowest = 0;

	p.sigma = 1;
	p.boot_sd = 0.3;
	p.commit_sd = 0.15;
	p.step = 2;
	assert_ok(bisect_init(&s, g, &p, &e), &e);
	for (size_t c = 0; c < g->n && weights; c++)
		assert_ok(bisect_set_prior(&s, (int)c, 0.01 + history_random(&seed), &e), &e);
	for (int boot = 1; boot < 200; boot++) {
		struct bisect_step step;
		clock_t start = clock();
		bool bad;

		assert_ok(bisect_next(&s, &step, &e), &e);
		slowest = fmax(slowest, (double)(clock() - start) / CLOCKS_PER_SEC);
		bad = step.commit >= 0 &&
		      bisect_graph_contains(g, (size_t)step.commit, (size_t)culprit);
		if (step.action != BISECT_MEASURE) {
			bisect_step_done(&step);
			break;
		}
		for (int i = 0; i < step.runs; i++)
			assert_ok(bisect_add_run(&s, step.commit, boot,
						 run_value(&seed, bad ? 2 : 0), &e),
				  &e);
	}
	bisect_done(&s);
	return slowest;
}

/* Target: 0.1 s and 300 MB for 20,000 commits, also with a weight of its own for each of them. */
static void choice_in_twenty_thousand_commits(void **state)
{
	struct bisect_graph g = { 0 };
	struct rusage use;
	double flat;
	double own;

	(void)state;
	if (!strstr("choice", only))
		return;
	history_make(&g, 20000, 7);
	flat = slowest_choice(&g, false, 9876);
	own = slowest_choice(&g, true, 9876);
	assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
	(void)printf(
		"bench: slowest choice of 20000 commits with merges %.3f s, with weights %.3f s, "
		"%ld MB\n",
		flat, own, use.ru_maxrss / 1024);
	bisect_graph_done(&g);
	assert_true(flat < 0.1 && own < 0.1);
	assert_true(use.ru_maxrss < 300 * 1024);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(choice_in_twenty_thousand_commits),
					    cmocka_unit_test(table_of_strategies) };

	if (argc > 1)
		trials_wanted = atoi(argv[1]);
	if (argc > 2)
		only = argv[2];
	if (argc > 3)
		seed_wanted = strtoull(argv[3], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
