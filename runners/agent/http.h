/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line to a driver that is behind a web server: what the agent writes goes there in POST requests,
 * and their answers are what it reads. Plain HTTP/1.1 to an address, no name service.
 *
 *   POST PATH?at=N&from=M   the agent's bytes from N on; the answer has the driver's bytes from M on
 *
 * A request that failed is sent again, with the same numbers, for minutes: the server takes bytes only
 * where its own stream ends, and says where that is (X-Kperfbot-Received).
 */
#pragma once

#include "runners/agent/serve.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct err;

/** HTTP_HEAD_MAX, HTTP_BODY_MAX - bytes of an answer. */
#define HTTP_HEAD_MAX ((size_t)16 << 10)
#define HTTP_BODY_MAX ((size_t)4 << 20)

/**
 * struct http_url - an address taken apart.
 * @host: as it stood there, for the Host header. @path: begins with '/'.
 */
struct http_url {
	struct sockaddr_storage addr;
	socklen_t addr_len;
	char host[80];
	char path[512];
};

/**
 * http_url_parse() - from "http://192.0.2.1:8080/path" or "http://[2001:db8::1]/path".
 * Return: 0; ERR_PARSE: another scheme, a name in place of an address, a bad port, too long.
 */
int http_url_parse(const char *url, struct http_url *ret, struct err *e);

/**
 * struct http_head - what counts of the head of an answer.
 * @head_len: bytes of it, with the empty line. @received: -1 when it does not say.
 */
struct http_head {
	int status;
	size_t head_len, body_len;
	int64_t received;
	bool close;
};

/**
 * http_head_parse() - @len bytes have come so far.
 * Return: 1 with @ret; 0 when more is needed; ERR_FORMAT when it is no answer that we can use.
 */
int http_head_parse(const char *buf, size_t len, struct http_head *ret, struct err *e);

/**
 * http_serve() - @serve_in in a child whose line is carried to @url, until all is said.
 * @opts: @in and @out are set here.
 * @serve_in: serve() or guard_serve().
 *
 * As process 1 it must not be killed with everything else, so the carrying is done by the caller.
 * Return: exit status for the process.
 */
int http_serve(const char *url, const struct serve_opts *opts,
	       int (*serve_in)(const struct serve_opts *opts));
