/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/web/client.h"

#include "tests/test.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>
#include <sys/socket.h>

static uint16_t port;

void client_port(uint16_t p)
{
	port = p;
}

void reply_done(struct reply *r)
{
	strbuf_done(&r->head);
	strbuf_done(&r->body);
}

static size_t collect(char *data, size_t size, size_t n, void *arg)
{
	strbuf_add(arg, data, size * n);
	return size * n;
}

void client_call(const struct call *c, struct reply *ret)
{
	CURL *curl = curl_easy_init();
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
	char *url = xasprintf("http://127.0.0.1:%d%s", port, c->path);
	char *auth = c->token ? xasprintf("Authorization: Bearer %s", c->token) : NULL;
	char *type = c->type ? xasprintf("Content-Type: %s", c->type) : NULL;
	CURLcode rc;

	*ret = (struct reply){ 0 };
	assert_non_null(curl);
	if (auth)
		headers = curl_slist_append(headers, auth);
	if (type)
		headers = curl_slist_append(headers, type);
	if (c->header)
		headers = curl_slist_append(headers, c->header);
	(void)curl_easy_setopt(curl, CURLOPT_URL, url);
	(void)curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, 10L);
	(void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (c->body)
		(void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, c->body);
	if (c->method && !strcmp(c->method, "HEAD"))
		(void)curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	else if (c->method)
		(void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, c->method);
	if (c->from)
		(void)curl_easy_setopt(curl, CURLOPT_INTERFACE, c->from);
	(void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &ret->body);
	(void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
	(void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, &ret->head);
	rc = curl_easy_perform(curl);
	if (rc != CURLE_OK)
		fail_msg("%s: %s", c->path, curl_easy_strerror(rc));
	(void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ret->status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	free(url);
	free(auth);
	free(type);
}

void client_get(const char *path, struct reply *ret)
{
	const struct call c = { .path = path };

	client_call(&c, ret);
}

int client_socket(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval tv = { .tv_sec = 2 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

void client_raw(const void *bytes, size_t len, struct strbuf *ret)
{
	int fd = client_socket();
	const char *p = bytes;
	char buf[4096];
	ssize_t n;

	assert_true(fd >= 0);
	while (len > 0 && (n = send(fd, p, len, MSG_NOSIGNAL)) > 0) {
		p += n;
		len -= (size_t)n;
	}
	(void)shutdown(fd, SHUT_WR);
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		strbuf_add(ret, buf, (size_t)n);
	(void)close(fd);
}

const char *reply_header(const struct reply *r, const char *name)
{
	static char value[1024];
	size_t n = strlen(name);

	value[0] = '\0';
	for (const char *s = strbuf_str(&r->head); *s; s += strcspn(s, "\n"), s += *s == '\n')
		if (!strncasecmp(s, name, n) && s[n] == ':') {
			s += n + 1 + strspn(s + n + 1, " ");
			(void)snprintf(value, sizeof(value), "%.*s", (int)strcspn(s, "\r\n"), s);
		}
	return value;
}
