/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_ask_plan.h"

#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/store/bisection_range.h"
#include "bot/store/job.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define P_RIGHT_WARN 0.8

/* "2030-11-06T08:12:00Z"; -1 for anything else. */
static int64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	struct tm given = tm;
	int64_t t = end && !*end ? (int64_t)timegm(&tm) : -1;

	/* timegm() makes 2 March of 30 February. */
	return tm.tm_mday == given.tm_mday && tm.tm_sec == given.tm_sec ? t : -1;
}

void ask_limits(const struct config *config, const struct bisection_ask *a, const struct job *job,
		struct bisection_plan *plan, json_t *problems)
{
	plan->min_effect = a->min_effect > 0 ? a->min_effect
					     : config_f64(config, "detect", NULL, "target-effect");
	plan->confidence = a->confidence > 0 ? a->confidence
					     : config_f64(config, "bisect", NULL, "confidence");
	plan->max_runs = a->max_runs;
	plan->runs_per_boot = job && job->runs_per_boot > 0 ? job->runs_per_boot : 1;
	if (!a->max_runs && job)
		plan->max_runs =
			config_i64(config, "bisect", NULL, "max-boots") * plan->runs_per_boot;
	if (a->priority && strcmp(a->priority, "low") != 0 && strcmp(a->priority, "normal") != 0 &&
	    strcmp(a->priority, "high") != 0)
		ask_problem(problems, "/priority", "invalid", "priority is low, normal or high");
	if (!a->deadline)
		return;
	plan->deadline_s = time_of(a->deadline);
	if (plan->deadline_s < 0)
		ask_problem(problems, "/deadline", "invalid",
			    "'%.40s' is not a time such as 2030-11-06T08:12:00Z", a->deadline);
	else if (plan->deadline_s <= (int64_t)time(NULL))
		ask_problem(problems, "/deadline", "invalid", "%.40s has passed", a->deadline);
}

int ask_machines(struct db *db, const struct config *config, const struct bisection_ask *a,
		 struct bisection_plan *plan, json_t *problems, struct err *e)
{
	int most = (int)config_i64(config, "bisect", NULL, "machines");
	json_t *choices = json_array();
	struct db_rows rows = { 0 };
	bool found = false, any = false;
	int r = db_run(db, SQL_BISECTION_GROUP, &rows, e, "i", plan->job_id);

	for (int i = 0; r == 0 && i < rows.n; i++) {
		const char *name = db_str(&rows, i, 0), *health = db_str(&rows, i, 1);
		bool good = !strcmp(health, "good");

		plan->machines += good && db_bool(&rows, i, 2);
		any |= good || !strcmp(health, "suspect");
		if (json_array_append_new(choices, json_string(name)) < 0)
			abort();
		if (!a->machine || strcmp(a->machine, name) != 0)
			continue;
		found = true;
		if (!good && strcmp(health, "suspect") != 0)
			ask_problem(problems, "/machine", "machine_drained",
				    "machine %s is in state %s", name, health);
	}
	/* Those that are only not seen may be back soon; people have taken these out. */
	if (r == 0 && rows.n && !any && !a->machine)
		ask_problem(problems, "/job", "machine_drained",
			    "every machine of the group of job %s is drained or in quarantine",
			    plan->job);
	db_rows_done(&rows);
	if (r == 0 && a->machine && !found)
		(void)json_object_set(ask_problem(problems, "/machine", "unknown_machine",
						  "no machine %.100s in the group of job %s",
						  a->machine, plan->job),
				      "choices", choices);
	json_decref(choices);
	if (a->machine && plan->machines > 1)
		plan->machines = 1;
	if (plan->machines > most)
		plan->machines = most;
	return r;
}

/* Whatever is spent; say what would be found. */
static void too_small(const struct bisection_ask *a, const struct bisection_plan *plan,
		      json_t *problems)
{
	const struct bisection_power *p = &plan->power;
	_cleanup_(freep) char *hint = NULL;
	json_t *o;

	if (p->p_free >= BISECTION_POWER_LEAST)
		o = ask_problem(problems, "/min_effect", "effect_below_noise",
				"a change of %.2f %% is too small for %lld runs in noise of %.2f "
				"%%: about %.0f runs are needed",
				100 * a->min_effect, (long long)plan->max_runs, 100 * p->noise_sd,
				p->runs_least);
	else
		o = ask_problem(problems, "/min_effect", "effect_below_noise",
				"a change of %.2f %% is too small for noise of %.2f %%: %d runs "
				"would not find it",
				100 * a->min_effect, 100 * p->noise_sd, BISECTION_POWER_RUNS);
	if (p->effect_found <= 0)
		return;
	hint = xasprintf("a change of %.2f %% would be found", 100 * p->effect_found);
	json_set_str(o, "hint", hint);
}

int ask_power(struct db *db, const struct bisection_ask *a, struct bisection_plan *plan,
	      json_t *problems, struct err *e)
{
	struct bisection_power_ask ask = {
		.job = plan->job_id,
		.metric = plan->metric,
		.commits = plan->facts.commits,
		.min_effect = plan->min_effect,
		.confidence = plan->confidence,
		.max_runs = plan->max_runs,
		.machines = plan->machines > 0 ? plan->machines : 1,
		.runs_per_boot = plan->runs_per_boot,
	};
	const struct bisection_power *p = &plan->power;
	int r = bisection_power(db, &ask, &plan->power, e);

	if (r < 0)
		return r;
	plan->has_power = true;
	/* Guesses about a job that was never run are no reason to refuse. */
	if (!p->known || p->p_right >= BISECTION_POWER_LEAST)
		return 0;
	if (a->max_runs && p->p_free >= BISECTION_POWER_LEAST)
		ask_problem(problems, "/max_runs", "budget_too_small",
			    "%lld runs are too few for a change of %.2f %% in noise of %.2f %%: "
			    "about %.0f are needed",
			    (long long)a->max_runs, 100 * plan->min_effect, 100 * p->noise_sd,
			    p->runs_least);
	else if (a->min_effect > 0)
		too_small(a, plan, problems);
	return 0;
}

char *bisection_plan_warning(const struct bisection_plan *plan)
{
	const struct bisection_power *p = &plan->power;
	const char *guess = p->known ? "" : "the job was never run: noise and cost are guesses";

	if (!plan->machines)
		return xstrdup("no machine of the job's group is up: it waits until one is");
	if (!plan->has_power)
		return NULL;
	if (p->p_right < P_RIGHT_WARN && p->runs_p90 > (double)plan->max_runs)
		return xasprintf("%lld runs may well be spent before a commit can be named: about "
				 "%.0f are needed for a change of %.2f %% in noise of %.2f %%%s%s",
				 (long long)plan->max_runs, p->runs_p90, 100 * plan->min_effect,
				 100 * p->noise_sd, *guess ? "; " : "", guess);
	if (p->p_right < P_RIGHT_WARN)
		return xasprintf(
			"a change of %.2f %% may well not be found in noise of %.2f %%%s%s",
			100 * plan->min_effect, 100 * p->noise_sd, *guess ? "; " : "", guess);
	return *guess ? xstrdup(guess) : NULL;
}

static void set_new(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, v) < 0)
		abort();
}

static json_t *expect_json(double p50, double p90)
{
	json_t *o = json_object();

	json_set_f64(o, "p50", p50);
	json_set_f64(o, "p90", p90);
	return o;
}

json_t *bisection_plan_json(const struct bisection_plan *plan)
{
	json_t *j = json_object(), *range = json_object(), *steps = json_object();
	json_t *power = json_object(), *runs = json_object(), *hours = json_object();
	_cleanup_(freep) char *warning = bisection_plan_warning(plan);
	const struct bisection_power *p = &plan->power;

	json_set_str(j, "id", plan->id[0] ? plan->id : NULL);
	json_set_str(j, "state", plan->id[0] ? "queued" : "plan");
	json_set_bool(j, "joined", plan->joined);
	json_set_str(range, "good", plan->good);
	json_set_str(range, "bad", plan->bad);
	json_set_i64(range, "commits", plan->facts.commits);
	if (plan->facts.n_bases)
		set_new(range, "merge_bases", ends_bases(&plan->facts));
	set_new(j, "notes", ends_notes(&plan->facts));
	set_new(j, "resolved", range);
	json_set_str(j, "job", plan->job);
	json_set_str(j, "metric", plan->metric);
	json_set_i64(steps, "plain", plan->facts.steps);
	json_set_f64(power, "min_effect", plan->min_effect);
	json_set_i64(runs, "max", plan->max_runs);
	json_set_i64(j, "machines", plan->machines);
	json_set_str(power, "warning", warning);
	if (plan->has_power) {
		set_new(steps, "expect", expect_json(p->steps, p->steps_p90));
		set_new(runs, "expect", expect_json(p->runs, p->runs_p90));
		set_new(j, "wall_s", expect_json(ceil(p->wall_s), ceil(p->wall_p90_s)));
		json_set_f64(power, "noise_sd", p->noise_sd);
		json_set_f64(power, "runs_per_step", p->runs_per_step);
		json_set_f64(power, "p_right", p->p_right);
		json_set_f64(hours, "expect", p->hours);
	}
	set_new(j, "machine_hours", hours);
	set_new(j, "power", power);
	set_new(j, "steps", steps);
	set_new(j, "runs", runs);
	return j;
}
