/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/run.h"

#include "bot/base/err.h"
#include "runners/agent/facts.h"
#include "runners/agent/keep.h"
#include "runners/agent/run_internal.h"
#include "runners/agent/sweep.h"
#include "runners/agent/tree.h"
#include "runners/agent/workdir.h"

#include <string.h>
#include <time.h>

/* Seconds for all commands of the clean-up; the second when nobody waits for us any more. */
#define CLEANUP_S      30.0
#define CLEANUP_GONE_S 5.0

/* One line of UTF-8, also where a name was cut within a character; to be freed. */
static char *__attribute__((format(printf, 1, 2))) line(const char *fmt, ...)
{
	struct err e = { 0 };
	va_list ap;

	va_start(ap, fmt);
	(void)err_vset(&e, ERR_LAB, fmt, ap);
	va_end(ap);
	return xstrdup(e.msg);
}

/* Which command it was is said where it is not the only one. */
static void outcome_take(struct run *r, const struct proto_command *c, struct outcome *o, bool ok)
{
	r->end.exit_status = o->exit_status;
	r->end.signal = o->signal;
	r->end.timed_out = o->timed_out;
	r->end.error = o->error;
	if (!ok && r->job->ncommands > 1)
		r->end.failed = line("'%.80s'%s", c->argv[0],
				     r->phase == PROTO_PHASE_SETUP ? " (set-up)" : "");
}

/* The commands of one phase. Return: did all end well, and does somebody wait for the rest? */
static bool phase_run(struct run *r, enum proto_phase phase)
{
	r->phase = phase;
	for (size_t i = 0; i < r->job->ncommands; i++) {
		const struct proto_command *c = &r->job->commands[i];
		struct outcome o;
		bool ok;

		if (c->phase != phase)
			continue;
		ok = run_command(r, c, &o);
		outcome_take(r, c, &o, ok);
		if (!ok || r->sink.ret < 0)
			return false;
	}
	return true;
}

static void measure(struct run *r)
{
	double start_s = agent_now_s();
	unsigned times = 0;

	helpers_start(&r->helpers);
	record_start(&r->recorder, agent_now_s());
	(void)sink_flush(&r->sink);
	while (r->sink.ret == 0 && phase_run(r, PROTO_PHASE_RUN)) {
		times++;
		if (agent_now_s() - start_s >= r->job->repeat_s || times == r->job->repeat_max)
			break;
	}
	record_stop(&r->recorder, agent_now_s());
	helpers_stop(&r->helpers);
	(void)sink_flush(&r->sink);
}

/* All of them are started, however the run and the ones before ended. */
static void cleanup(struct run *r)
{
	r->phase = PROTO_PHASE_CLEANUP;
	r->log = (struct stream){ .fd = -1 };
	r->deadline_s = agent_now_s() + (r->sink.ret < 0 ? CLEANUP_GONE_S : CLEANUP_S);
	for (size_t i = 0; i < r->job->ncommands; i++) {
		const struct proto_command *c = &r->job->commands[i];
		struct outcome o;

		if (c->phase != PROTO_PHASE_CLEANUP)
			continue;
		if (!run_command(r, c, &o)) {
			_cleanup_(freep) char *text =
				line("'%.80s': %.200s, status %d, signal %d", c->argv[0],
				     o.error	   ? o.error
				     : o.timed_out ? "killed at its deadline"
						   : "failed",
				     o.exit_status, o.signal);

			(void)json_object_set_new(r->end.facts, "clean_up_failed",
						  json_string(text));
		}
		free(o.error);
	}
}

/* Which version of the suite this is, where that cannot be told from the programs that we start. */
static void identify(struct run *r)
{
	for (char **f = r->job->identify; f && *f; f++) {
		_cleanup_(freep) char *path =
			**f == '/' ? xstrdup(*f) : xasprintf("%s/%s", r->dir, *f);
		const char *base = strrchr(*f, '/');
		_cleanup_(freep) char *name = xasprintf("suite:%s", base ? base + 1 : *f);

		programs_use(&r->env->programs, name, path);
	}
}

static void commands_run(struct run *r)
{
	struct keep keep;

	record_init(&r->recorder, r->job->monitors, r->job->monitor_interval_s, &r->sink,
		    r->end.monitors);
	helpers_init(&r->helpers, r->job, &r->sink, r->end.monitors);
	keep_init(&keep, r->dir, r->job->keep);
	if (phase_run(r, PROTO_PHASE_SETUP)) {
		r->spare = tree_children(&r->nspare);
		identify(r);
		measure(r);
		keep_send(&keep, r->dir, r->job->output_max_bytes, &r->sink, r->end.monitors);
	}
	cleanup(r);
	/* Now nothing is spared. */
	r->nspare = 0;
	(void)run_kill_left(r);
	keep_done(&keep);
	helpers_done(&r->helpers);
	record_done(&r->recorder);
	free(r->spare);
}

static void facts_after(struct run *r)
{
	_cleanup_(json_decrefp) json_t *now = facts_now(NULL);

	facts_changed(r->env->ready_facts, now, r->end.facts);
	r->end.taint = (uint64_t)json_integer_value(json_object_get(now, "taint"));
}

/* What there is too much of is left out, rather than the whole message. */
static int end_send(struct run *r)
{
	struct strbuf *out = &r->sink.link->out_buf;

	r->end.rusage = usage_json(&r->usage);
	r->end.programs = programs_take(&r->env->programs);
	if (r->sink.ret == 0 && proto_run_end_add(out, &r->end, NULL) < 0) {
		(void)json_array_clear(r->end.programs);
		(void)json_object_clear(r->end.facts);
		(void)json_object_clear(r->end.monitors);
		r->sink.ret = proto_run_end_add(out, &r->end, &r->sink.why);
	}
	return sink_flush(&r->sink);
}

int run_once(struct link *l, struct run_env *env, const struct proto_job *job, unsigned run,
	     struct err *e)
{
	double start_s = agent_now_s(), clock_s = facts_clock_offset_s();
	time_t began = time(NULL);
	_cleanup_(freep) char *own_dir = NULL;
	struct run r = {
		.sink = { .link = l },
		.env = env,
		.job = job,
		.end = { .run = run,
			 .exit_status = -1,
			 .monitors = json_object(),
			 .facts = json_object() },
		.streams = { { .fd = -1, .number = PROTO_STDOUT },
			     { .fd = -1, .number = PROTO_STDERR } },
		.log = { .fd = -1 },
		.deadline_s = start_s + job->deadline_s,
	};
	struct err why = { 0 };
	int ret;

	r.sink.ret = proto_run_start_add(&l->out_buf, run, &r.sink.why);
	(void)sink_flush(&r.sink);
	facts_busy(r.end.facts);
	own_dir = job->dir ? NULL : workdir_make("kperfbot-run", &why);
	r.dir = job->dir ? job->dir : own_dir;
	if (r.dir)
		commands_run(&r);
	else
		r.end.error = xstrdup(why.msg);
	if (own_dir && workdir_remove(own_dir, &why) < 0)
		(void)json_object_set_new(r.end.facts, "left_in_work_dir", json_string(why.msg));
	/*
	 * Only after a run that did not end by itself: what another one makes here at this moment would
	 * go too. A clock that was set back meanwhile leaves them lying, no more.
	 */
	if (r.end.timed_out || r.end.signal || r.end.left_over || r.sink.ret < 0)
		(void)sweep(began);
	facts_after(&r);
	r.end.clock_jump_s = facts_clock_offset_s() - clock_s;
	r.end.wall_s = agent_now_s() - start_s;
	ret = end_send(&r);
	if (ret < 0 && e)
		*e = r.sink.why;
	proto_run_end_done(&r.end);
	sink_done(&r.sink);
	return ret;
}
