/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's end of the line to its driver. */
#pragma once

#include "bot/base/err.h"
#include "runners/proto/message.h"

/**
 * struct link - the line.
 * @in, @out: descriptors, perhaps the same; borrowed.
 * @out_buf: frames waiting for link_flush().
 * @decoder: what the driver sent so far.
 * @last_sent_s: when something was last sent, on agent_now_s()'s clock.
 */
struct link {
	int in, out;
	struct strbuf out_buf;
	struct proto_decoder decoder;
	double last_sent_s;
};

/** agent_now_s() - seconds of the monotonic clock. */
double agent_now_s(void);

/** link_flush() - send what waits in @l->out_buf. Return: 0; ERR_IO when the driver is gone. */
int link_flush(struct link *l, struct err *e);

/** link_beat() - tell the driver that we are alive, if nothing was sent for a while. */
int link_beat(struct link *l, struct err *e);

/** link_fault() - send a fault message and say it on stderr as well. */
int link_fault(struct link *l, const char *stage, const char *text);

/**
 * link_receive() - wait for the next frame.
 * There is no time limit: a machine's clock may run far ahead of the driver's, who has the limits.
 * Return: 0; ERR_IO when the driver is gone; ERR_FORMAT when it sends nothing but garbage.
 */
int link_receive(struct link *l, struct proto_frame *ret, struct err *e);

void link_done(struct link *l);

/**
 * struct sink - where the output of one run goes.
 * @names: of the named streams so far; owned.
 * @ret, @why: negative once the driver is gone or we are to stop: what comes then is dropped.
 */
struct sink {
	struct link *link;
	char *names[PROTO_STREAM_MAX - PROTO_NAMED + 1];
	int ret;
	struct err why;
};

/** sink_open() - name a new stream. Return: its number; 0 if the name is bad, taken or one too many. */
unsigned sink_open(struct sink *k, const char *name);

/** sink_put() - @len bytes of a stream, sent by the next sink_flush(); nothing for stream 0. */
void sink_put(struct sink *k, unsigned stream, const void *data, size_t len);

/** sink_flush(), sink_beat() - as for the link. Return: @k->ret. */
int sink_flush(struct sink *k);
int sink_beat(struct sink *k);

void sink_done(struct sink *k);
