/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/session.h"

#include "bot/base/err.h"

#include <math.h>
#include <string.h>
#include <strings.h>

void result_blame(struct lab_result *r, enum lab_class class, const char *fmt, ...)
{
	struct err e = { 0 };
	va_list ap;

	if (r->class != LAB_OK)
		return;
	/* err_vset() makes it one printable line, whatever a machine said. */
	va_start(ap, fmt);
	(void)err_vset(&e, ERR_LAB, fmt, ap);
	va_end(ap);
	r->class = class;
	r->detail = xstrdup(e.msg);
}

void session_init(struct session *s, const struct lab_machine *m, const struct lab_request *q,
		  struct lab_result *result, bool proves_kernel)
{
	memset(s, 0, sizeof(*s));
	s->machine = m;
	s->request = q;
	s->result = result;
	s->proves_kernel = proves_kernel;
}

static void fail(struct session *s, enum lab_class class, const char *why)
{
	result_blame(s->result, class, "%s", why);
	s->over = true;
}

/* Is this the kernel and the boot that was asked for? The reason why not goes to the result. */
static bool hello_is_right(struct session *s, const struct proto_hello *h)
{
	const char *want = s->request->build_id;
	struct lab_result *r = s->result;

	if (!h->nonce || strcmp(h->nonce, s->request->nonce) != 0)
		result_blame(r, LAB_WRONG_KERNEL, "the machine booted with nonce '%s', not '%s'",
			     h->nonce ? h->nonce : "", s->request->nonce);
	else if (!s->proves_kernel)
		return true;
	else if (!h->build_id)
		result_blame(r, LAB_WRONG_KERNEL,
			     "the kernel (%s) shows no build id, '%s' is wanted", h->release, want);
	else if (strcasecmp(h->build_id, want) != 0)
		result_blame(r, LAB_WRONG_KERNEL, "the kernel (%s) has build id '%s', not '%s'",
			     h->release, h->build_id, want);
	else if (!h->boot_id)
		result_blame(
			r, LAB_AGENT,
			"the kernel shows no boot id: it needs CONFIG_PROC_FS and CONFIG_SYSCTL");
	s->over = r->class != LAB_OK;
	return !s->over;
}

static void facts_fill(struct session *s, const struct proto_hello *h)
{
	json_t *f = json_copy(h->facts);

	(void)json_object_set_new(f, "cpus", json_integer(h->cpus));
	(void)json_object_set_new(f, "mem_total_bytes",
				  json_integer((json_int_t)h->mem_total_bytes));
	(void)json_object_set_new(f, "swap_total_bytes",
				  json_integer((json_int_t)h->swap_total_bytes));
	(void)json_object_set_new(f, "release", json_string(h->release));
	if (h->build_id)
		(void)json_object_set_new(f, "build_id", json_string(h->build_id));
	if (h->boot_id) {
		(void)json_object_set_new(f, "boot_id", json_string(h->boot_id));
		s->result->boot_id = xstrdup(h->boot_id);
	}
	s->result->facts = f;
}

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
	(void)json_object_set_new(facts, "program_aslr", json_false());
}

static int send_job(struct session *s, const struct proto_hello *h, struct err *e)
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
		.cpus = h->cpus,
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
	int r;

	r = suite_plan_make(suite_find(q->suite), q->test, q->params, q->nparams, &m, &plan, e);
	if (r < 0)
		return r;
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
	job.repeat_s = plan.repeat_s;
	job.repeat_max = plan.repeat_max;
	job.nofile = plan.nofile;
	for (size_t i = 0; i < q->nsettings; i++)
		(void)json_object_set_new(settings, q->settings[i].key,
					  json_string(q->settings[i].value));
	job.settings = settings;
	s->deadline_s = plan.deadline_s;
	return proto_job_add(&s->out, &job, e);
}

static int take_hello(struct session *s, const struct proto_frame *f, struct err *e)
{
	_cleanup_(proto_hello_done) struct proto_hello h = { 0 };
	struct err why = { 0 };

	if (s->hello_seen) {
		fail(s, LAB_AGENT, "the agent said hello twice: it has started again");
		return 0;
	}
	if (proto_hello_parse(f, &h, &why) < 0) {
		fail(s, LAB_AGENT, why.msg);
		return 0;
	}
	s->hello_seen = true;
	facts_fill(s, &h);
	return hello_is_right(s, &h) ? send_job(s, &h, e) : 0;
}

static struct lab_run *run_new(struct session *s)
{
	struct lab_result *r = s->result;
	struct lab_run *run;

	r->runs = xreallocarray(r->runs, r->nruns + 1, sizeof(*r->runs));
	run = &r->runs[r->nruns++];
	*run = (struct lab_run){ .exit_status = -1, .wall_s = NAN, .run_s = NAN };
	return run;
}

static void take_run_start(struct session *s, const struct proto_frame *f)
{
	struct err why = { 0 };
	unsigned number;

	if (proto_run_start_parse(f, &number, &why) < 0) {
		fail(s, LAB_AGENT, why.msg);
	} else if (!s->deadline_s || s->running || number != s->result->nruns ||
		   number >= s->request->runs) {
		fail(s, LAB_AGENT, "the agent started a run that was not its turn");
	} else {
		(void)run_new(s);
		s->running = true;
	}
}

/* Keeps @len bytes as far as @max allows. Return: was there room for all? */
static bool keep(struct strbuf *b, size_t max, const void *data, size_t len)
{
	size_t room = max - b->len;

	if (len)
		strbuf_add(b, data, len < room ? len : room);
	return len <= room;
}

static void take_output(struct session *s, const struct proto_frame *f)
{
	struct lab_run *run;
	struct err why = { 0 };
	const unsigned char *data;
	size_t len;
	int stream;

	if (proto_output_parse(f, &stream, &data, &len, &why) < 0) {
		fail(s, LAB_AGENT, why.msg);
	} else if (!s->running) {
		fail(s, LAB_AGENT, "the agent sent output outside of a run");
	} else if (stream == PROTO_STDOUT) {
		run = &s->result->runs[s->result->nruns - 1];
		if (!keep(&s->raw, SESSION_RAW_MAX, data, len))
			run->raw_truncated = true;
	} else {
		(void)keep(&s->errors, SESSION_ERRORS_MAX, data, len);
	}
}

/* Hands the output over to the run that is open. */
static void run_close(struct session *s)
{
	struct lab_run *run = &s->result->runs[s->result->nruns - 1];

	run->raw_len = s->raw.len;
	run->raw = strbuf_take(&s->raw);
	run->errors_len = s->errors.len;
	run->errors = strbuf_take(&s->errors);
	s->running = false;
}

static void run_judge(struct lab_run *run, const struct proto_run_end *end, double deadline_s)
{
	struct err why = { 0 };

	if (end->error) {
		run->class = LAB_AGENT;
		(void)err_set(&why, ERR_LAB, "%s", end->error);
	} else if (end->timed_out) {
		run->class = LAB_BENCH_TIMEOUT;
		(void)err_set(&why, ERR_LAB, "the benchmark was killed after %g s", deadline_s);
	} else if (end->signal) {
		run->class = LAB_BENCH_ERROR;
		(void)err_set(&why, ERR_LAB, "the benchmark died of signal %d", end->signal);
	} else if (end->exit_status != 0) {
		run->class = LAB_BENCH_ERROR;
		(void)err_set(&why, ERR_LAB, "the benchmark ended with status %d",
			      end->exit_status);
	} else {
		return;
	}
	run->detail = xstrdup(why.msg);
}

static void take_run_end(struct session *s, const struct proto_frame *f)
{
	_cleanup_(proto_run_end_done) struct proto_run_end end = { 0 };
	struct err why = { 0 };
	struct lab_run *run;

	if (proto_run_end_parse(f, &end, &why) < 0) {
		fail(s, LAB_AGENT, why.msg);
		return;
	}
	if (!s->running || end.run != s->result->nruns - 1) {
		fail(s, LAB_AGENT, "the agent ended a run that was not open");
		return;
	}
	run = &s->result->runs[s->result->nruns - 1];
	run->exit_status = end.signal ? 128 + end.signal : end.exit_status;
	run->wall_s = end.wall_s;
	run->raw_truncated |= end.truncated;
	run->rusage = json_incref(end.rusage);
	run_judge(run, &end, s->deadline_s);
	run_close(s);
	if (run->class != LAB_OK)
		result_blame(s->result, run->class, "run %u: %s", end.run, run->detail);
}

static void take_fault(struct session *s, const struct proto_frame *f)
{
	_cleanup_(proto_fault_done) struct proto_fault fault = { 0 };
	struct err why = { 0 };

	if (proto_fault_parse(f, &fault, &why) < 0)
		fail(s, LAB_AGENT, why.msg);
	else
		result_blame(s->result, LAB_AGENT, "the agent failed (%s): %s", fault.stage,
			     fault.text);
}

static void take_bye(struct session *s)
{
	if (s->running || s->result->nruns < s->request->runs)
		result_blame(s->result, LAB_AGENT, "the agent left after %zu of %u runs",
			     s->result->nruns - s->running, s->request->runs);
	s->over = s->bye = true;
}

static int take_frame(struct session *s, const struct proto_frame *f, struct err *e)
{
	if (!s->hello_seen && f->type != PROTO_HELLO && f->type != PROTO_FAULT &&
	    f->type != PROTO_BYE) {
		fail(s, LAB_AGENT, "the agent did not say hello first");
		return 0;
	}
	switch (f->type) {
	case PROTO_HELLO:
		return take_hello(s, f, e);
	case PROTO_RUN_START:
		take_run_start(s, f);
		break;
	case PROTO_OUTPUT:
		take_output(s, f);
		break;
	case PROTO_RUN_END:
		take_run_end(s, f);
		break;
	case PROTO_BEAT:
		break;
	case PROTO_FAULT:
		take_fault(s, f);
		break;
	case PROTO_BYE:
		take_bye(s);
		break;
	default:
		fail(s, LAB_AGENT, "the agent sent a message that only a driver sends");
	}
	return 0;
}

int session_add(struct session *s, const void *data, size_t len, struct err *e)
{
	struct proto_frame f;
	struct err why = { 0 };
	int r;

	if (s->over)
		return 0;
	proto_decoder_add(&s->decoder, data, len);
	while (!s->over && (r = proto_decoder_next(&s->decoder, &f, &why)) != 0) {
		if (r < 0) {
			fail(s, LAB_AGENT, why.msg);
			break;
		}
		r = take_frame(s, &f, e);
		if (r < 0) {
			s->over = true;
			return r;
		}
	}
	return 0;
}

void session_end(struct session *s)
{
	struct lab_run *run;

	if (!s->over)
		result_blame(s->result, LAB_AGENT, "the agent left without a word%s",
			     proto_decoder_pending(&s->decoder) ? ", in the middle of a message"
								: "");
	s->over = true;
	if (!s->running)
		return;
	run = &s->result->runs[s->result->nruns - 1];
	run->class = s->result->class == LAB_OK ? LAB_AGENT : s->result->class;
	run->detail = s->result->detail ? xstrdup(s->result->detail) : NULL;
	run_close(s);
}

void session_done(struct session *s)
{
	proto_decoder_done(&s->decoder);
	strbuf_done(&s->out);
	strbuf_done(&s->raw);
	strbuf_done(&s->errors);
}
