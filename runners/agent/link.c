/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/link.h"

#include "bot/base/err.h"
#include "runners/agent/stop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* A driver takes a machine for dead after its silence limit, which is well above this. */
#define BEAT_S 5.0

double agent_now_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* What waits was interrupted: by one who wants us to leave? */
static int check_stop(struct err *e)
{
	int sig = stop_signal();

	return sig ? err_set(e, ERR_CANCELLED, "the agent was told to stop by signal %d", sig) : 0;
}

int link_flush(struct link *l, struct err *e)
{
	size_t pos = 0;

	while (pos < l->out_buf.len) {
		ssize_t n = write(l->out, l->out_buf.s + pos, l->out_buf.len - pos);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = l->out, .events = POLLOUT };

			n = poll(&p, 1, 1000);
			if (n >= 0)
				continue;
		}
		if (n < 0 && errno == EINTR) {
			int r = check_stop(e);

			if (r < 0)
				return r;
			continue;
		}
		if (n < 0)
			return err_errno(e, errno, "could not write to the driver");
		pos += (size_t)n;
	}
	strbuf_reset(&l->out_buf);
	l->last_sent_s = agent_now_s();
	return 0;
}

int link_beat(struct link *l, struct err *e)
{
	if (agent_now_s() - l->last_sent_s < BEAT_S)
		return 0;
	(void)proto_frame_add(&l->out_buf, PROTO_BEAT, NULL, 0, NULL);
	return link_flush(l, e);
}

int link_fault(struct link *l, const char *stage, const char *text)
{
	(void)fprintf(stderr, "kperfbot-agent: %s: %s\n", stage, text);
	if (proto_fault_add(&l->out_buf, stage, text, NULL) < 0)
		(void)proto_fault_add(&l->out_buf, stage, "(a reason that is not UTF-8)", NULL);
	return link_flush(l, NULL);
}

int link_receive(struct link *l, struct proto_frame *ret, struct err *e)
{
	char buf[4096];
	int r;

	for (;;) {
		ssize_t n;

		r = proto_decoder_next(&l->decoder, ret, e);
		if (r != 0)
			return r < 0 ? r : 0;
		n = read(l->in, buf, sizeof(buf));
		if (n > 0) {
			proto_decoder_add(&l->decoder, buf, (size_t)n);
			continue;
		}
		if (n == 0)
			return err_set(e, ERR_IO, "the driver closed the line");
		if (errno == EAGAIN) {
			struct pollfd p = { .fd = l->in, .events = POLLIN };

			(void)poll(&p, 1, 1000);
		} else if (errno != EINTR) {
			return err_errno(e, errno, "could not read from the driver");
		}
		r = check_stop(e);
		if (r < 0)
			return r;
	}
}

unsigned sink_open(struct sink *k, const char *name)
{
	size_t i = 0;

	for (; i < ARRAY_SIZE(k->names) && k->names[i]; i++) {
		if (!strcmp(k->names[i], name))
			return 0;
	}
	if (k->ret < 0 || i == ARRAY_SIZE(k->names) ||
	    proto_stream_add(&k->link->out_buf, PROTO_NAMED + (unsigned)i, name, NULL) < 0)
		return 0;
	k->names[i] = xstrdup(name);
	return PROTO_NAMED + (unsigned)i;
}

void sink_done(struct sink *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(k->names); i++)
		free(k->names[i]);
	memset(k->names, 0, sizeof(k->names));
}

void sink_put(struct sink *k, unsigned stream, const void *data, size_t len)
{
	if (k->ret == 0 && stream)
		proto_output_add(&k->link->out_buf, (int)stream, data, len);
}

int sink_flush(struct sink *k)
{
	if (k->ret == 0)
		k->ret = link_flush(k->link, &k->why);
	return k->ret;
}

int sink_beat(struct sink *k)
{
	if (k->ret == 0)
		k->ret = link_beat(k->link, &k->why);
	return k->ret;
}

void link_done(struct link *l)
{
	strbuf_done(&l->out_buf);
	proto_decoder_done(&l->decoder);
}
