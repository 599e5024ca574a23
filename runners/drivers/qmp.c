/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/qmp.h"

#include "bot/base/err.h"
#include "bot/base/json.h"

#include <string.h>

static void copy_word(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from);
	for (char *p = to; *p; p++) {
		if (*p < ' ' || *p > '~')
			*p = '?';
	}
}

static void take_event(struct qmp *q, const char *event, const json_t *msg)
{
	if (!strcmp(event, "SHUTDOWN")) {
		copy_word(q->shutdown, sizeof(q->shutdown),
			  json_str(json_object_get(msg, "data"), "reason", "unknown"));
	} else if (!strcmp(event, "RESUME")) {
		q->running = true;
	} else if (!strcmp(event, "STOP") && !q->shutdown[0]) {
		/* Nobody asked the guest to stop: the state tells what happened to it. */
		strbuf_addstr(&q->out, "{\"execute\":\"query-status\"}\n");
	}
}

static void take_answer(struct qmp *q, const json_t *ret)
{
	const char *status = json_str(ret, "status", NULL);

	if (status && !q->shutdown[0] && strcmp(status, "running") != 0 &&
	    strcmp(status, "shutdown") != 0)
		copy_word(q->stopped, sizeof(q->stopped), status);
}

static int take_line(struct qmp *q, const char *line, size_t len, struct err *e)
{
	_cleanup_(json_decrefp) json_t *msg = NULL;
	const char *event;
	int r;

	if (len == 0 || (len == 1 && line[0] == '\r'))
		return 0;
	r = json_read(line, len, "QEMU's message", &msg, e);
	if (r < 0)
		return r;
	if (json_object_get(msg, "QMP")) {
		q->greeted = true;
		strbuf_addstr(&q->out,
			      "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"cont\"}\n");
		return 0;
	}
	event = json_str(msg, "event", NULL);
	if (event)
		take_event(q, event, msg);
	else if (json_object_get(msg, "return"))
		take_answer(q, json_object_get(msg, "return"));
	else if (json_object_get(msg, "error"))
		return err_set(e, ERR_LAB, "QEMU refused a command: %s",
			       json_str(json_object_get(msg, "error"), "desc", "no reason given"));
	return 0;
}

int qmp_add(struct qmp *q, const void *data, size_t len, struct err *e)
{
	size_t start = 0;
	char *nl;
	int r = 0;

	if (!len)
		return 0;
	strbuf_add(&q->in, data, len);
	while (r == 0 && (nl = memchr(q->in.s + start, '\n', q->in.len - start))) {
		size_t end = (size_t)(nl - q->in.s);

		r = take_line(q, q->in.s + start, end - start, e);
		start = end + 1;
	}
	memmove(q->in.s, q->in.s + start, q->in.len - start);
	q->in.len -= start;
	if (r == 0 && q->in.len > QMP_LINE_MAX)
		r = err_set(e, ERR_TOO_BIG, "QEMU sent a line of more than %d bytes", QMP_LINE_MAX);
	return r;
}

void qmp_done(struct qmp *q)
{
	if (!q)
		return;
	strbuf_done(&q->in);
	strbuf_done(&q->out);
	memset(q, 0, sizeof(*q));
}
