/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "web/web.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define BACKLOG 511

static int bind_one(const struct addrinfo *ai, int *ret_fd)
{
	_cleanup_(closep) int fd =
		socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	*ret_fd = take_fd(fd);
	return 0;
}

int web_listen(const char *listen, int *ret_fd, uint16_t *ret_port, struct err *e)
{
	_cleanup_(freep) char *host = NULL, *port = NULL;
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa = { 0 };
	socklen_t len = sizeof(sa);
	int fd = -1;
	int r;

	if (parse_listen(listen, &host, &port, e) < 0) {
		(void)err_wrap(e, "web.listen");
		return ERR_INVAL;
	}
	r = getaddrinfo(*host ? host : NULL, port, &hints, &list);
	if (r != 0)
		return err_set(e, ERR_INVAL, "web.listen '%s': %s", listen, gai_strerror(r));
	r = -EADDRNOTAVAIL;
	for (const struct addrinfo *ai = list; ai && r < 0; ai = ai->ai_next)
		r = bind_one(ai, &fd);
	freeaddrinfo(list);
	if (r == -EADDRINUSE)
		return err_set(
			e, ERR_IO,
			"web.listen '%s': the port is in use by another program; stop it, or "
			"set listen in section [web] to a free port",
			listen);
	if (r < 0)
		return err_errno(e, -r, "web.listen '%s'", listen);
	if (getsockname(fd, &sa.any, &len) < 0) {
		r = err_errno(e, errno, "could not read the listening port");
		(void)close(fd);
		return r;
	}
	*ret_port = ntohs(sa.any.sa_family == AF_INET6 ? sa.v6.sin6_port : sa.v4.sin_port);
	*ret_fd = fd;
	return 0;
}
