/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/cmd_bisect_ask.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"
#include "bot/base/visible.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/bisection_ask.h"
#include "bot/store/page_read.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* How often 'watch' looks, and how often it says something when nothing has changed. */
#define WATCH_S	    2
#define WATCH_SAY_S 30

int cmd_bisect_take_text(void *to, const char *value, struct err *e)
{
	size_t len = strlen(value), n = 0;

	if (!len || len > CMD_BISECT_TEXT_MOST)
		return err_set(e, ERR_INVAL, "want a text of 1 to %d bytes, not %zu",
			       CMD_BISECT_TEXT_MOST, len);
	while (n < len) {
		size_t step = utf8_length(value + n, len - n);

		if (!step)
			return err_set(e, ERR_INVAL, "not UTF-8");
		n += step;
	}
	*(const char **)to = value;
	return 0;
}

static int take_path(void *to, const char *value, struct err *e)
{
	if (json_array_append_new(to, json_string(value)) < 0)
		return err_set(e, ERR_INVAL, "not UTF-8");
	return 0;
}

/* As judge and changes take it. */
static int take_effect(void *to, const char *value, struct err *e)
{
	double effect = 0;
	int r = parse_ratio(value, &effect, e);

	if (r < 0)
		return r;
	if (!(effect >= 1e-4 && effect <= 1))
		return err_set(e, ERR_INVAL, "'%.40s' is not between 0.01%% and 100%%", value);
	*(double *)to = effect;
	return 0;
}

static int read_start(struct cli *cli, int argc, char **argv, struct bisection_ask *a,
		      json_t *paths, bool *dry_run)
{
	const struct cli_option options[] = {
		CLI_TAKE("tree", cmd_bisect_take_text, &a->tree),
		CLI_TAKE("good", cmd_bisect_take_text, &a->good),
		CLI_TAKE("bad", cmd_bisect_take_text, &a->bad),
		CLI_TAKE("job", cmd_bisect_take_text, &a->job),
		CLI_TAKE("note", cmd_bisect_take_text, &a->note),
		CLI_TAKE("metric", cmd_bisect_take_text, &a->metric),
		CLI_FLAG("dry-run", dry_run),
		CLI_TAKE("machine", cmd_bisect_take_text, &a->machine),
		CLI_TAKE("priority", cmd_bisect_take_text, &a->priority),
		CLI_TAKE("deadline", cmd_bisect_take_text, &a->deadline),
		CLI_TAKE("path", take_path, paths),
		CLI_FLAG("first-parent", &a->first_parent),
		CLI_I64("max-runs", &a->max_runs, 4, 1000000),
		CLI_TAKE("min-effect", take_effect, &a->min_effect),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (at < argc)
		return cli_usage(cli, "what is '%s'?", argv[at]);
	return a->tree && a->good && a->bad && a->job
		       ? 0
		       : cli_usage(cli, "needs --tree, --good, --bad and --job");
}

/* The field of a request as its option; what is told may quote what was given. */
static void print_problem(const char *field, const struct strbuf *text)
{
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;
	_cleanup_(freep) char *option = xstrdup(strcmp(field, "paths") != 0 ? field : "path");

	for (char *s = option; *s; s++)
		if (*s == '_')
			*s = '-';
	visible_add(&shown, strbuf_str(text), text->len);
	(void)fprintf(stderr, "kperfbot bisect: --%s: %s\n", option, strbuf_str(&shown));
}

/* One line for each wrong option, with what would be right. */
static int print_problems(const struct cli *cli, json_t *problems)
{
	const json_t *p, *choices, *c;
	size_t i, k;

	if (cli->json) {
		_cleanup_(json_decrefp) json_t *j = json_object();

		json_set_str(j, "type", "about:blank");
		json_set_str(j, "title", "Request not valid");
		json_set_i64(j, "status", 422);
		json_set_str(j, "code", "invalid_request");
		if (json_object_set(j, "errors", problems) < 0)
			abort();
		cli_json(j);
	}
	json_array_foreach (problems, i, p) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

		strbuf_addf(&b, "%s", json_str(p, "detail", ""));
		if (json_str(p, "hint", NULL))
			strbuf_addf(&b, "; %s", json_str(p, "hint", ""));
		choices = json_object_get(p, "choices");
		json_array_foreach (choices, k, c)
			strbuf_addf(&b, "%s%s", k ? ", " : "; there is ", json_string_value(c));
		print_problem(json_str(p, "pointer", "/") + 1, &b);
	}
	return EXIT_USAGE;
}

static void print_power(const struct bisection_plan *plan)
{
	const struct bisection_power *p = &plan->power;
	_cleanup_(freep) char *warning = bisection_plan_warning(plan);

	if (plan->has_power)
		cli_out("to find a change of %.2f %% in noise of %.2f %%: %.0f boots (nine times in ten at "
			"most %.0f), %.0f runs (%.0f), %.1f machine hours, done in %.1f h on %d machine%s; "
			"names the right commit with probability %.2f\n",
			100 * plan->min_effect, 100 * p->noise_sd, p->steps, p->steps_p90, p->runs,
			p->runs_p90, p->hours, p->wall_s / 3600, plan->machines,
			plan->machines == 1 ? "" : "s", p->p_right);
	if (warning)
		cli_out("warning: %s\n", warning);
}

static void print_notes(const struct ends_facts *f)
{
	_cleanup_(json_decrefp) json_t *notes = ends_notes(f), *bases = ends_bases(f);
	const json_t *v;
	size_t i;

	json_array_foreach (bases, i, v)
		cli_out("merge base: %s\n", json_string_value(v));
	json_array_foreach (notes, i, v)
		cli_out("note: %s\n", json_string_value(v));
}

static void print_plan(const struct cli *cli, const struct bisection_plan *plan)
{
	_cleanup_(json_decrefp) json_t *j = NULL;

	if (!cli->json) {
		cli_out("%s%s %.12s..%.12s: %lld commit%s, about %d step%s of git bisect; job %s, metric "
			"%s\n",
			plan->id[0] ? plan->id : "plan", plan->joined ? " (joined)" : "",
			plan->good, plan->bad, (long long)plan->facts.commits,
			plan->facts.commits == 1 ? "" : "s", plan->facts.steps,
			plan->facts.steps == 1 ? "" : "s", plan->job, plan->metric);
		print_notes(&plan->facts);
		print_power(plan);
		return;
	}
	j = bisection_plan_json(plan);
	json_set_str(j, "good", plan->good);
	json_set_str(j, "bad", plan->bad);
	json_set_i64(j, "commits", plan->facts.commits);
	cli_json(j);
}

int cmd_bisect_start(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(json_decrefp) json_t *problems = json_array();
	struct bisection_ask a = { .asked_by = "cli" };
	struct bisection_plan plan;
	struct err e = { 0 };
	_cleanup_(json_decrefp) json_t *paths = json_array();
	bool dry_run = !strcmp(argv[0], "plan");
	int rc = read_start(cli, argc, argv, &a, paths, &dry_run);

	if (rc)
		return rc;
	if (json_array_size(paths))
		a.paths = paths;
	if (cli_db(cli, &c, &db, &e) < 0)
		return cli_fail(cli, &e);
	if (bisection_ask(db, c, &a, dry_run, &plan, problems, &e) < 0)
		return json_array_size(problems) ? print_problems(cli, problems)
						 : cli_fail(cli, &e);
	print_plan(cli, &plan);
	return EXIT_DONE;
}

static bool ended(const char *state)
{
	return !strcmp(state, "done") || !strcmp(state, "inconclusive") ||
	       !strcmp(state, "not-reproduced") || !strcmp(state, "failed") ||
	       !strcmp(state, "cancelled");
}

static int exit_of_state(const char *state)
{
	if (!strcmp(state, "failed"))
		return EXIT_FATAL;
	return !ended(state) || !strcmp(state, "done") ? EXIT_DONE : EXIT_CANNOT_TELL;
}

static void print_status(const struct cli *cli, const json_t *j)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	if (cli->json) {
		cli_json(j);
		return;
	}
	page_bisection_log(j, &b);
	cli_out("%s", strbuf_str(&b));
}

static void progress(const struct cli *cli, const json_t *j)
{
	const json_t *log = json_object_get(j, "log");
	const json_t *last = json_array_get(log, json_array_size(log) - 1);
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	double left = json_f64(j, "effective_left", NAN), eta = page_seconds_left(j);

	strbuf_addf(&b, "%s %s, step %zu", json_str(j, "id", ""), json_str(j, "state", ""),
		    json_array_size(log));
	if (last)
		strbuf_addf(&b, " (%.12s %s)", json_str(last, "commit", ""),
			    json_str(last, "verdict", ""));
	if (isfinite(left))
		strbuf_addf(&b, ", %.1f commits left", left);
	if (isfinite(eta))
		strbuf_addf(&b, ", about %.0f min to go", ceil(eta / 60));
	cli_note(cli, "%s", strbuf_str(&b));
}

static int watch(const struct cli *cli, struct db *db, const char *id)
{
	const struct timespec nap = { .tv_sec = WATCH_S };
	_cleanup_(freep) char *said = NULL;
	struct err e = { 0 };

	for (int quiet_s = 0;; quiet_s += WATCH_S) {
		_cleanup_(json_decrefp) json_t *j = NULL;
		_cleanup_(freep) char *now = NULL;
		const char *state;

		if (page_bisection(db, id, &j, &e) < 0)
			return cli_fail(cli, &e);
		state = json_str(j, "state", "");
		now = xasprintf("%s %zu", state, json_array_size(json_object_get(j, "log")));
		if (!said || strcmp(said, now) != 0 || quiet_s >= WATCH_SAY_S) {
			progress(cli, j);
			quiet_s = 0;
			free(said);
			said = take_ptr(now);
		}
		if (ended(state)) {
			print_status(cli, j);
			return exit_of_state(state);
		}
		(void)nanosleep(&nap, NULL);
	}
}

static int status(const struct cli *cli, struct db *db, const char *id)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	if (page_bisection(db, id, &j, &e) < 0)
		return cli_fail(cli, &e);
	print_status(cli, j);
	return EXIT_DONE;
}

int cmd_bisect_one(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	struct err e = { 0 };
	int at = cli_options(cli, argc, argv, NULL, 0);

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 1 || !id_valid('b', argv[at]))
		return cli_usage(cli, "say the id of a bisection, b and seven letters or digits");
	if (cli_db(cli, &c, &db, &e) < 0)
		return cli_fail(cli, &e);
	return !strcmp(argv[0], "watch") ? watch(cli, db, argv[at]) : status(cli, db, argv[at]);
}
