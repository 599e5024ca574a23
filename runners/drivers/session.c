/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/session.h"

#include "bot/base/err.h"
#include "runners/drivers/drivers.h"

#include <errno.h>
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
	s->file_max = SESSION_FILE_MAX;
	s->files_max = SESSION_FILES_MAX;
}

void session_fail(struct session *s, enum lab_class class, const char *why)
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

static int take_hello(struct session *s, const struct proto_frame *f, struct err *e)
{
	_cleanup_(proto_hello_done) struct proto_hello h = { 0 };
	struct err why = { 0 };

	if (s->hello_seen) {
		session_fail(s, LAB_AGENT, "the agent said hello twice: it has started again");
		return 0;
	}
	if (proto_hello_parse(f, &h, &why) < 0) {
		session_fail(s, LAB_AGENT, why.msg);
		return 0;
	}
	s->hello_seen = true;
	facts_fill(s, &h);
	if (!hello_is_right(s, &h))
		return 0;
	s->hello_at_s = driver_now_s();
	driver_progress(s->request, LAB_STATE_UP);
	return session_job_send(s, &h, e);
}

enum lab_class session_class_of(const char *why)
{
	static const int disk[] = { ENOSPC, EIO, EROFS, EDQUOT };

	for (size_t i = 0; i < ARRAY_SIZE(disk); i++) {
		if (strstr(why, strerrordesc_np(disk[i])))
			return LAB_DISK;
	}
	return LAB_AGENT;
}

static void take_fault(struct session *s, const struct proto_frame *f)
{
	_cleanup_(proto_fault_done) struct proto_fault fault = { 0 };
	struct err why = { 0 };

	if (proto_fault_parse(f, &fault, &why) < 0)
		session_fail(s, LAB_AGENT, why.msg);
	else if (!strcmp(fault.stage, "setup"))
		result_blame(s->result, LAB_SETUP, "%s", fault.text);
	else
		result_blame(s->result, session_class_of(fault.text), "the agent failed (%s): %s",
			     fault.stage, fault.text);
}

/* What was taken again after the set-up is what the runs see. */
static void take_ready(struct session *s, const struct proto_frame *f)
{
	_cleanup_(proto_ready_done) struct proto_ready ready = { 0 };
	struct err why = { 0 };
	const json_t *cpus;

	if (!s->deadline_s || s->ready || s->result->nruns) {
		session_fail(s, LAB_AGENT, "the agent was ready when it was not its turn");
		return;
	}
	if (proto_ready_parse(f, &ready, &why) < 0) {
		session_fail(s, LAB_AGENT, why.msg);
		return;
	}
	s->ready = true;
	s->result->settings = json_incref(ready.settings);
	(void)json_object_update(s->result->facts, ready.facts);
	cpus = json_object_get(ready.facts, "cpus");
	if (cpus && json_integer_value(cpus) != s->cpus) {
		result_blame(s->result, LAB_SETUP,
			     "the machine has %lld CPUs now, and the job is planned for %d",
			     (long long)json_integer_value(cpus), s->cpus);
		s->over = true;
	}
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
		session_fail(s, LAB_AGENT, "the agent did not say hello first");
		return 0;
	}
	if (session_run_is(f->type)) {
		session_run_take(s, f);
		return 0;
	}
	switch (f->type) {
	case PROTO_HELLO:
		return take_hello(s, f, e);
	case PROTO_READY:
		take_ready(s, f);
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
		session_fail(s, LAB_AGENT, "the agent sent a message that only a driver sends");
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
			session_fail(s, LAB_AGENT, why.msg);
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
	free(run->detail);
	run->detail = s->result->detail ? xstrdup(s->result->detail) : NULL;
	session_run_close(s);
}

void session_done(struct session *s)
{
	proto_decoder_done(&s->decoder);
	strbuf_done(&s->out);
	strbuf_done(&s->raw);
	strbuf_done(&s->errors);
	for (size_t i = 0; i < s->nfiles; i++) {
		free(s->files[i].name);
		strbuf_done(&s->files[i].data);
	}
	free(s->files);
}
