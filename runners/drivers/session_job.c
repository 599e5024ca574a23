/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of a session: planned for the machine that said hello. */
#include "bot/base/err.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/session.h"

#include <string.h>

/* Seconds that the agent gives clean-up, perf's printing of a profile, and other programs to end. */
#define CLEANUP_S 30.0
#define PROFILE_S 140.0
#define PROGRAM_S 10.0

static void facts_add_plan(json_t *facts, const struct suite_plan *plan)
{
	json_t *commands = json_array();

	for (size_t i = 0; i < plan->n; i++) {
		json_t *argv = json_array();

		for (char **a = plan->commands[i].argv; *a; a++)
			(void)json_array_append_new(argv, json_string(*a));
		(void)json_array_append_new(commands, argv);
	}
	(void)json_object_set_new(facts, "commands", commands);
	(void)json_object_set_new(facts, "tasks", json_integer((json_int_t)plan->tasks));
}

/* Switching SMT changes how many CPUs a percentage is of. */
static int cpus_planned(const struct session *s, const struct proto_hello *h)
{
	const char *smt = setting_get(s->request, "smt");
	const char *key = !smt ? NULL : !strcmp(smt, "off") ? "cores" : "cpus_present";
	json_int_t n = key ? json_integer_value(json_object_get(h->facts, key)) : 0;

	const char *now = json_string_value(json_object_get(h->facts, "smt"));

	/* Where it is not there to be switched, the set-up says so. */
	if (n < 1 || n > 65536 || !now || (strcmp(now, "on") != 0 && strcmp(now, "off") != 0))
		return h->cpus;
	return (int)n;
}

/* What an agent allows itself when a run has ended. */
static double after_run_s(const struct suite_plan *plan, const char *const *monitors)
{
	double s = 0;

	for (size_t i = 0; i < plan->n; i++) {
		if (plan->commands[i].phase == PHASE_CLEANUP)
			s = CLEANUP_S;
	}
	for (; monitors && *monitors; monitors++) {
		if (!strcmp(*monitors, "perf-profile"))
			s += PROFILE_S;
		else if (!strcmp(*monitors, "perf-stat") || !strcmp(*monitors, "turbostat"))
			s += PROGRAM_S;
	}
	return s;
}

/* No fault of ours, and none of the machine: it is the wrong one for this job. */
static bool is_too_small(int r)
{
	return r == ERR_NOSPACE || r == ERR_RANGE;
}

int session_job_send(struct session *s, const struct proto_hello *h, struct err *e)
{
	_cleanup_(suite_plan_done) struct suite_plan plan = { 0 };
	static const enum proto_phase phases[] = {
		[PHASE_RUN] = PROTO_PHASE_RUN,
		[PHASE_SETUP] = PROTO_PHASE_SETUP,
		[PHASE_CLEANUP] = PROTO_PHASE_CLEANUP,
	};
	_cleanup_(freep) struct proto_command *commands = NULL;
	_cleanup_(json_decrefp) json_t *settings = json_object();
	const struct lab_request *q = s->request;
	const struct suite_machine m = {
		.cpus = cpus_planned(s, h),
		.mem_total_bytes = h->mem_total_bytes,
		.mem_available_bytes = h->mem_available_bytes,
		.swap_bytes = h->swap_total_bytes,
		.nodes = (int)json_integer_value(json_object_get(h->facts, "numa_nodes")),
		.path = q->suite_path,
	};
	struct proto_job job = {
		.runs = q->runs,
		.output_max_bytes = SESSION_RAW_MAX,
		.aslr = q->aslr,
		.owned = s->machine->owned,
		.monitors = (char **)(uintptr_t)q->monitors,
		.monitor_interval_s = q->monitor_interval_s > 0 ? q->monitor_interval_s : 1,
		.path = (char *)(uintptr_t)q->suite_path,
	};
	struct err why = { 0 };
	int r;

	r = suite_plan_make(suite_find(q->suite), q->test, q->params, q->nparams, &m, &plan, &why);
	if (is_too_small(r)) {
		session_fail(s, LAB_TOO_SMALL, why.msg);
		return 0;
	}
	if (r < 0)
		return err_set(e, r, "%s", why.msg);
	facts_add_plan(s->result->facts, &plan);
	commands = xcalloc(plan.n, sizeof(*commands));
	for (size_t i = 0; i < plan.n; i++) {
		commands[i].argv = plan.commands[i].argv;
		commands[i].copies = plan.commands[i].copies;
		commands[i].phase = phases[plan.commands[i].phase];
	}
	job.commands = commands;
	job.ncommands = plan.n;
	job.deadline_s = plan.deadline_s;
	job.dir = plan.dir;
	job.env = plan.env;
	job.keep = plan.keep;
	job.identify = plan.identify;
	job.repeat_s = plan.repeat_s;
	job.repeat_max = plan.repeat_max;
	job.nofile = plan.nofile;
	for (size_t i = 0; i < q->nsettings; i++)
		(void)json_object_set_new(settings, q->settings[i].key,
					  json_string(q->settings[i].value));
	job.settings = settings;
	s->run_s = plan.deadline_s;
	s->deadline_s = plan.deadline_s + after_run_s(&plan, q->monitors);
	s->cpus = m.cpus;
	s->tasks = plan.tasks;
	s->hang_ok = plan.hang_ok;
	return proto_job_add(&s->out, &job, e);
}
