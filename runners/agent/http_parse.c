/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "runners/agent/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

static bool parse_number(const char *s, size_t len, int64_t max, int64_t *ret)
{
	int64_t n = 0;

	if (len == 0 || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		n = n * 10 + (s[i] - '0');
	}
	*ret = n;
	return n <= max;
}

static bool parse_address(const char *host, uint16_t port, struct http_url *u)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
		memcpy(&u->addr, &v4, sizeof(v4));
		u->addr_len = sizeof(v4);
		return true;
	}
	if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
		memcpy(&u->addr, &v6, sizeof(v6));
		u->addr_len = sizeof(v6);
		return true;
	}
	return false;
}

int http_url_parse(const char *url, struct http_url *ret, struct err *e)
{
	struct http_url u = { 0 };
	const char *host = url + 7, *path, *port;
	char address[64];
	int64_t number = 80;
	size_t n;

	if (strncmp(url, "http://", 7) != 0)
		return err_set(e, ERR_PARSE, "'%.200s' does not begin with http://", url);
	n = strcspn(host, "/");
	path = host + n;
	if (n >= sizeof(u.host) || strlen(path) >= sizeof(u.path) || strpbrk(url, " \t\r\n?#"))
		return err_set(e, ERR_PARSE, "'%.200s' is no plain address", url);
	memcpy(u.host, host, n);
	memcpy(u.path, *path ? path : "/", *path ? strlen(path) : 1);
	host = u.host + (u.host[0] == '[');
	n = strcspn(host, u.host[0] == '[' ? "]" : ":");
	port = host + n + (host[n] == ']');
	if ((u.host[0] == '[' && host[n] != ']') || n >= sizeof(address) ||
	    (*port && (*port != ':' || !parse_number(port + 1, strlen(port + 1), 65535, &number))))
		return err_set(e, ERR_PARSE, "'%.200s' has no usable host and port", url);
	memcpy(address, host, n);
	address[n] = '\0';
	if (!parse_address(address, (uint16_t)number, &u) || number == 0)
		return err_set(e, ERR_PARSE, "'%.200s' names no address in numbers", url);
	*ret = u;
	return 0;
}

/* The value when the line of @len bytes is that header. */
static const char *header(const char *line, size_t len, const char *name, size_t *ret_len)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	for (n++; n < len && (line[n] == ' ' || line[n] == '\t'); n++)
		;
	while (len > n && isspace((unsigned char)line[len - 1]))
		len--;
	*ret_len = len - n;
	return line + n;
}

static int take_line(const char *line, size_t len, struct http_head *h, bool *has_length,
		     struct err *e)
{
	const char *v;
	int64_t number;
	size_t n;

	if ((v = header(line, len, "Content-Length", &n))) {
		if (*has_length || !parse_number(v, n, (int64_t)HTTP_BODY_MAX, &number))
			return err_set(e, ERR_FORMAT, "the answer has the length '%.*s'",
				       (int)(n < 40 ? n : 40), v);
		h->body_len = (size_t)number;
		*has_length = true;
	} else if ((v = header(line, len, "X-Kperfbot-Received", &n))) {
		if (!parse_number(v, n, INT64_MAX, &h->received))
			return err_set(e, ERR_FORMAT, "the server says it has '%.*s' bytes",
				       (int)(n < 40 ? n : 40), v);
	} else if ((v = header(line, len, "Connection", &n))) {
		h->close = n == 5 && !strncasecmp(v, "close", 5);
	} else if (header(line, len, "Transfer-Encoding", &n)) {
		return err_set(e, ERR_FORMAT, "the answer comes in a transfer encoding");
	}
	return 0;
}

int http_head_parse(const char *buf, size_t len, struct http_head *ret, struct err *e)
{
	const char *end = len ? memmem(buf, len, "\r\n\r\n", 4) : NULL;
	struct http_head h = { .received = -1 };
	bool has_length = false;
	const char *p;
	int r;

	if (!end && len >= HTTP_HEAD_MAX)
		return err_set(e, ERR_FORMAT, "the head of the answer is too long");
	/* Wrong from the first bytes on: waiting would not help. */
	if (strncmp(buf, "HTTP/1.", len < 7 ? len : 7) != 0)
		return err_set(e, ERR_FORMAT, "the answer is not HTTP/1");
	if (!end)
		return 0;
	if (end - buf < 12 || buf[8] != ' ' || !isdigit((unsigned char)buf[9]) ||
	    !isdigit((unsigned char)buf[10]) || !isdigit((unsigned char)buf[11]))
		return err_set(e, ERR_FORMAT, "the answer has no status");
	h.status = (buf[9] - '0') * 100 + (buf[10] - '0') * 10 + (buf[11] - '0');
	h.close = buf[7] == '0';
	h.head_len = (size_t)(end - buf) + 4;
	p = memmem(buf, h.head_len, "\r\n", 2);
	for (p += 2; p < end + 2;) {
		const char *eol = memmem(p, (size_t)(end + 2 - p), "\r\n", 2);

		r = take_line(p, (size_t)(eol - p), &h, &has_length, e);
		if (r < 0)
			return r;
		p = eol + 2;
	}
	if (!has_length && h.status != 204 && h.status != 304)
		return err_set(e, ERR_FORMAT, "the answer does not say how long it is");
	*ret = h;
	return 1;
}
