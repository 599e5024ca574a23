/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot bisect simulate: how often a strategy is right, and what it costs. */
#include "bot/cli/cmd_bisect_simulate.h"

#include "bisect/sim.h"
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/watch/range.h"

#include <git2.h>
#include <math.h>
#include <string.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);

struct request {
	struct bisect_sim sim;
	const char *repo;
	const char *good;
	const char *bad;
	int64_t linear;
	bool incremental_given;
};

/* Noise in units of sigma; boots, builds and outliers as on the page that gives the formulas. */
static struct request request_default(void)
{
	struct request q = { .sim = { .model = bisect_params_default(),
				      .outliers = 0.03,
				      .machines = 1,
				      .trials = 100,
				      .seed = 1,
				      .strategy = BISECT_OURS,
				      .culprit = BISECT_SIM_ANY } };

	q.sim.model.sigma = 1;
	q.sim.model.boot_sd = 0.3;
	q.sim.model.commit_sd = 0.15;
	q.sim.model.step = 0;
	return q;
}

static int take_cost(void *to, const char *text, struct err *e)
{
	struct request *q = to;
	struct bisect_params *p = &q->sim.model;
	const struct {
		const char *name;
		double *to;
	} costs[] = { { "build", &p->cost_build },
		      { "incr", &p->cost_incremental },
		      { "boot", &p->cost_boot },
		      { "run", &p->cost_run } };
	_cleanup_(freep) char *words = xstrdup(text);
	char *rest = NULL;

	for (char *part = strtok_r(words, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(part, '=');
		size_t i = 0;
		int r;

		if (value)
			*value++ = '\0';
		while (i < ARRAY_SIZE(costs) && strcmp(part, costs[i].name) != 0)
			i++;
		if (!value || i == ARRAY_SIZE(costs))
			return err_set(e, ERR_INVAL,
				       "'%s' is no cost, must be build=, incr=, boot= or run= "
				       "minutes",
				       part);
		/* What costs nothing would be measured for ever. */
		r = parse_f64(value, costs[i].to == &p->cost_run ? 1e-6 : 0, 1e6, costs[i].to, e);
		if (r < 0)
			return err_wrap(e, "%s", part);
		q->incremental_given |= costs[i].to == &p->cost_incremental;
	}
	if (!q->incremental_given)
		p->cost_incremental = p->cost_build;
	return 0;
}

static int take_strategy(void *to, const char *text, struct err *e)
{
	struct request *q = to;
	int64_t n;
	int r;

	if (!strcmp(text, "ours")) {
		q->sim.strategy = BISECT_OURS;
		return 0;
	}
	if (strncmp(text, "plain:", 6) != 0)
		return err_set(e, ERR_INVAL, "no strategy '%s', must be 'ours' or 'plain:N'", text);
	r = parse_i64(text + 6, 1, 1000, &n, e);
	q->sim.strategy = BISECT_PLAIN;
	q->sim.plain_boots = (int)n;
	return r;
}

static int check_request(struct cli *cli, struct request *q, int names)
{
	if (q->sim.model.step == 0)
		return cli_usage(cli, "want --effect-sigma, the step in units of sigma, not 0");
	if (q->repo && q->linear)
		return cli_usage(cli, "want --repo or --linear, not both");
	if (q->repo ? names != 2 : names != 0)
		return cli_usage(cli,
				 q->repo ? "want a good and a bad commit, got %d names"
					 : "%d names given, but no --repo",
				 names);
	if (!q->repo && !q->linear)
		return cli_usage(cli, "want --linear N or --repo DIR GOOD BAD");
	return EXIT_DONE;
}

static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	struct bisect_sim *sim = &q->sim;
	struct bisect_params *p = &sim->model;
	bool no_step = false, reverted = false;
	double second = NAN;
	int64_t seed = (int64_t)sim->seed;
	const struct cli_option options[] = {
		CLI_TEXT("repo", &q->repo),
		CLI_I64("linear", &q->linear, 1, BISECT_MAX_COMMITS),
		CLI_F64("effect-sigma", &p->step, -1e6, 1e6),
		CLI_F64("boot-sigma", &p->boot_sd, 0, 1e3),
		CLI_F64("commit-sigma", &p->commit_sd, 0, 1e3),
		CLI_RATIO("outliers", &sim->outliers),
		CLI_RATIO("skip", &sim->skip),
		CLI_INT("machines", &sim->machines, 1, 64),
		CLI_TAKE("cost", take_cost, q),
		CLI_TAKE("strategy", take_strategy, q),
		CLI_INT("trials", &sim->trials, 1, 1000000),
		CLI_I64("seed", &seed, 0, INT64_MAX),
		CLI_FLAG("no-step", &no_step),
		CLI_RATIO("second", &second),
		CLI_FLAG("reverted", &reverted),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	sim->seed = (uint64_t)seed;
	if (no_step)
		sim->culprit = BISECT_SIM_NONE;
	if (no_step + reverted + !isnan(second) > 1)
		return cli_usage(cli, "want one of --no-step, --second and --reverted");
	if (!isnan(second) && !(second > 0 && second < 1))
		return cli_usage(cli, "--second: %g is not between 0 and 1", second);
	if (!isnan(second))
		sim->second = second;
	if (reverted)
		sim->second = -1;
	if (q->repo && argc - at == 2) {
		q->good = argv[at];
		q->bad = argv[at + 1];
	}
	return check_request(cli, q, argc - at);
}

static void print_json(const struct bisect_sim_result *r, double bound, bool with_second)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;
	json_t *minutes = json_object();
	json_t *wrong = json_object();

	json_set_f64(minutes, "mean", r->mean);
	json_set_f64(minutes, "median", r->median);
	json_set_f64(minutes, "p90", r->p90);
	json_set_i64(wrong, "adjacent", r->adjacent);
	if (with_second)
		json_set_i64(wrong, "smaller", r->smaller);
	json_set_i64(wrong, "far", r->far);
	json_set_i64(o, "trials", r->trials);
	if (r->named > 0) {
		json_set_f64(o, "accuracy", (double)r->right / r->named);
		json_set_f64(o, "confidence", r->confidence);
	}
	json_set_f64(o, "named", (double)r->named / r->trials);
	json_set_f64(o, "none", (double)r->none / r->trials);
	json_set_f64(o, "sets", (double)r->sets / r->trials);
	json_set_f64(o, "sets_right", (double)r->sets_right / r->trials);
	json_set_f64(o, "two", (double)r->two / r->trials);
	json_set_f64(o, "two_right", (double)r->two_right / r->trials);
	(void)json_object_set_new(o, "machine_minutes", minutes);
	if (bound > 0) {
		json_set_f64(o, "bound_minutes", bound);
		json_set_f64(o, "ratio", r->mean / bound);
	}
	json_set_f64(o, "wall_minutes", r->wall);
	json_set_f64(o, "builds", r->builds);
	json_set_f64(o, "boots", r->boots);
	json_set_f64(o, "runs", r->runs);
	(void)json_object_set_new(o, "wrong", wrong);
	text = json_text(o);
	(void)printf("%s\n", text);
}

static void print_text(const struct bisect_sim_result *r, double bound, bool with_second)
{
	(void)printf("trials           %d\n", r->trials);
	(void)printf("named            %d, %d right, ", r->named, r->right);
	if (with_second)
		(void)printf("%d the smaller of two steps, ", r->smaller);
	(void)printf("%d wrong by one commit, %d by more\n", r->adjacent, r->far);
	if (r->named > 0)
		(void)printf("said confidence  %.4f\n", r->confidence);
	(void)printf("ends equal       %d\n", r->none);
	(void)printf("one of a set     %d, culprit in it %d\n", r->sets, r->sets_right);
	if (r->two > 0)
		(void)printf("two steps        %d, both right %d\n", r->two, r->two_right);
	(void)printf("machine minutes  mean %.1f, median %.1f, 90 %% below %.1f\n", r->mean,
		     r->median, r->p90);
	if (bound > 0)
		(void)printf("bound            %.1f minutes, ratio %.2f\n", bound, r->mean / bound);
	(void)printf("wall minutes     %.1f\n", r->wall);
	(void)printf("a search         %.1f builds, %.1f boots, %.1f runs\n", r->builds, r->boots,
		     r->runs);
}

/* The graph to search: a line, or what lies between two commits of a repository. */
static int read_graph(const struct request *q, struct range *ret, struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	int r;

	if (!q->repo) {
		r = bisect_graph_add_line(&ret->graph, (size_t)q->linear, e);
		return r < 0 ? r : bisect_graph_prepare(&ret->graph, e);
	}
	r = range_open(q->repo, &repo, e);
	if (r == 0)
		r = range_read(repo, q->good, q->bad, NULL, ret, e);
	if (r == 0 && ret->n_merge_bases == 0)
		r = err_set(e, ERR_RANGE, "%s", ret->warnings[0]);
	if (r == 0 && ret->graph.n == 0)
		r = err_set(e, ERR_TOO_BIG, "%zu commits, at most %d can be searched", ret->commits,
			    BISECT_MAX_COMMITS);
	return r;
}

/* A repository that cannot be read is no wrong usage. */
static int exit_of(const struct request *q, const struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;

	if (e->code == ERR_GIT || e->code == ERR_BUG)
		return EXIT_FATAL;
	return q->repo && range_open(q->repo, &repo, NULL) < 0 ? EXIT_FATAL : EXIT_USAGE;
}

static int simulate(const struct cli *cli, const struct request *q)
{
	_cleanup_(range_done) struct range range = { 0 };
	struct bisect_sim_result result;
	struct err e = { 0 };
	double bound;

	if (read_graph(q, &range, &e) < 0 ||
	    bisect_simulate(&range.graph, &q->sim, &result, &e) < 0) {
		(void)cli_fail(cli, &e);
		return exit_of(q, &e);
	}
	/* Only the range is simulated, as if the merge bases were measured and good. */
	for (size_t i = 0; i < range.n_warnings; i++)
		cli_note(cli, "note: %s", range.warnings[i]);
	bound = bisect_bound_minutes(range.graph.n, &q->sim.model);
	if (cli->json)
		print_json(&result, bound, q->sim.second > 0);
	else
		print_text(&result, bound, q->sim.second > 0);
	return EXIT_DONE;
}

int cmd_bisect_simulate(struct cli *cli, int argc, char **argv)
{
	struct request q = request_default();
	int r;

	cli->usage = CMD_BISECT_SIMULATE_USAGE;
	r = parse_options(cli, argc, argv, &q);
	if (r != EXIT_DONE)
		return r;
	(void)git_libgit2_init();
	r = simulate(cli, &q);
	(void)git_libgit2_shutdown();
	return r;
}
