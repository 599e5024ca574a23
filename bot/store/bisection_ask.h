/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking for a bisection, the same way from HTTP and from the command line. */
#pragma once

#include "bot/base/json.h"
#include "bot/store/bisection_power.h"
#include "bot/store/bisection_range.h"

#include <stdbool.h>
#include <stdint.h>

struct config;
struct db;
struct err;

/**
 * struct bisection_ask - what is asked for; all borrowed, NULL where not given.
 * @tree: name of a [tree] section that was fetched.
 * @good, @bad: hash, at least 8 digits of one, tag or branch of the tree.
 * @job: name of a [job] section; or else @suite and @params (object of strings and numbers, "test"
 *	among them), which must fit exactly one job.
 * @metric: default is the headline metric of the job.
 * @note: free text kept with the request.
 * @asked_by: id of a token, or "cli".
 * @machine: the only one that is to measure, of the job's group. @priority: low, normal or high.
 * @deadline: "2030-11-06T08:12:00Z": then what is known is the answer.
 * @min_effect: change that it has to be able to find, as a ratio; 0: that of comparisons.
 * @confidence: wanted of the commit named; 0: the configuration's.
 * @max_runs: budget; 0: the configuration's.
 * @paths: array of texts: only commits that change one of these; @first_parent: follow merges along
 *	their first parent only.
 */
struct bisection_ask {
	const char *tree, *good, *bad, *job, *suite, *metric, *note, *asked_by;
	const char *machine, *priority, *deadline;
	double min_effect, confidence;
	int64_t max_runs;
	const json_t *params, *paths;
	bool first_parent;
};

/**
 * struct bisection_plan - what it comes to.
 * @id: of the new or joined bisection; "" for a dry run.
 * @joined: an equal request was open already.
 * @facts: what lies between good and bad.
 * @power, @has_power: what it will take; of a dry run, or when a budget was given.
 * @machines: that can take part now, at most as many as configured.
 * @deadline_s: seconds since 1970, or 0.
 */
struct bisection_plan {
	char id[9];
	bool joined;
	char good[41], bad[41];
	struct ends_facts facts;
	int64_t job_id;
	char job[256];
	char metric[128];
	double min_effect, confidence;
	int64_t max_runs;
	int runs_per_boot;
	int64_t deadline_s;
	int machines;
	struct bisection_power power;
	bool has_power;
};

/** bisection_plan_json() - the plan as HTTP and --json show it; a new reference. */
json_t *bisection_plan_json(const struct bisection_plan *plan);

/** bisection_plan_warning() - why it may well find nothing; NULL: no reason. The caller's to free. */
char *bisection_plan_warning(const struct bisection_plan *plan);

/**
 * bisection_ask() - check a request and, unless @dry_run, store it or join an equal open one.
 * The job's row is brought up to date with the configuration in any case.
 * @db: may be of role kperfbot_web.
 * @config: names the trees, jobs and the state folder with the mirror.
 * @problems: array; one {"pointer","code","detail","hint","choices"} is added for each wrong field.
 *
 * Return: 0; ERR_INVAL with @problems; ERR_GIT, ERR_DB…
 */
int bisection_ask(struct db *db, const struct config *config, const struct bisection_ask *ask,
		  bool dry_run, struct bisection_plan *ret, json_t *problems, struct err *e);
