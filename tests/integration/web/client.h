/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An HTTP client for tests: libcurl for honest requests, raw bytes for the others. */
#pragma once

#include "bot/base/strbuf.h"

#include <stdint.h>

/** struct reply - reply_done() frees it. @head: status line and headers. */
struct reply {
	long status;
	struct strbuf head;
	struct strbuf body;
};
void reply_done(struct reply *r);

/** struct call - @from: source address, to be another client; NULLs are left out. */
struct call {
	const char *method, *path, *token, *type, *body, *header, *from;
};

/** client_port() - where the server is; before anything else. */
void client_port(uint16_t port);

/** client_call() - a request with libcurl; the test fails when there is no answer in ten seconds. */
void client_call(const struct call *c, struct reply *ret);
/** client_get() - the same with a GET. */
void client_get(const char *path, struct reply *ret);

/** client_socket() - connect. Return: descriptor, -1 when refused. */
int client_socket(void);
/** client_raw() - send bytes, read until the server closes or says nothing for two seconds. */
void client_raw(const void *bytes, size_t len, struct strbuf *ret);

/** reply_header() - value of a header, "" when absent; lives until the next call. */
const char *reply_header(const struct reply *r, const char *name);
