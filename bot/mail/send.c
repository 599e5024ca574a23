/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/send.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/mail/address.h"
#include "bot/mail/wire.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_TIMEOUT_S 30L
#define TOTAL_TIMEOUT_S	  300L
#define QUIT_TIMEOUT_S	  2L
#define PASSWORD_MAX	  4096

DEFINE_CLEANUP(CURL *, curl_easy_cleanup);
DEFINE_CLEANUP(CURLU *, curl_url_cleanup);
DEFINE_CLEANUP(struct curl_slist *, curl_slist_free_all);
DEFINE_CLEANUP(char *, curl_free);

/* @named: MAIL FROM was sent, from there on an answer is about this mail. @over: QUIT was. */
struct transfer {
	const char *bytes;
	size_t len;
	size_t pos;
	bool named;
	bool over;
	char reply[sizeof(((struct mail_outcome *)0)->text)];
};

const char *mail_class_name(enum mail_class c)
{
	static const char *const names[] = { "sent", "deferred", "dead", "unsure", "hold" };

	return names[c];
}

int mail_send_setup(struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(e, ERR_BUG, "could not start libcurl");
	return 0;
}

static bool is_loopback(const char *host)
{
	struct in_addr a;

	/* libcurl never asks a name server for localhost */
	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (inet_pton(AF_INET, host, &a) == 1 && (ntohl(a.s_addr) >> 24) == 127);
}

static char *url_part(CURLU *u, CURLUPart part)
{
	char *s = NULL;

	return curl_url_get(u, part, &s, 0) == CURLUE_OK ? s : NULL;
}

/* The URL of @server with @ehlo as its path, which is how libcurl takes our name. */
static int server_url(const struct mail_server *server, const char *ehlo, CURLU **ret,
		      struct err *e)
{
	_cleanup_(curl_url_cleanupp) CURLU *u = curl_url();
	_cleanup_(curl_freep) char *scheme = NULL;
	_cleanup_(curl_freep) char *host = NULL;
	_cleanup_(curl_freep) char *path = NULL;
	_cleanup_(curl_freep) char *user = NULL;
	_cleanup_(curl_freep) char *query = NULL;

	if (!u || curl_url_set(u, CURLUPART_URL, server->url, 0) != CURLUE_OK)
		return err_set(e, ERR_CONFIG,
			       "mail server '%.200s' is not a URL such as "
			       "smtp://mail.example.org:587",
			       server->url);
	scheme = url_part(u, CURLUPART_SCHEME);
	host = url_part(u, CURLUPART_HOST);
	path = url_part(u, CURLUPART_PATH);
	user = url_part(u, CURLUPART_USER);
	query = url_part(u, CURLUPART_QUERY);
	if (!scheme || (strcmp(scheme, "smtp") != 0 && strcmp(scheme, "smtps") != 0) || !host)
		return err_set(e, ERR_CONFIG,
			       "mail server '%.200s' is neither smtp:// nor smtps://", server->url);
	if (user || query || (path && strcmp(path, "/") != 0))
		return err_set(
			e, ERR_CONFIG,
			"mail server URL may only hold scheme, host and port (host '%.200s')",
			host);
	if (server->tls == MAIL_TLS_NONE_ON_LOOPBACK && !strcmp(scheme, "smtp") &&
	    !is_loopback(host))
		return err_set(e, ERR_CONFIG,
			       "mail server '%.200s' is not on loopback, clear text is refused",
			       server->url);
	if (!server->user != !server->password_file)
		return err_set(e, ERR_CONFIG,
			       "mail server '%.200s' needs both a user and a password "
			       "file, or neither",
			       server->url);
	{
		_cleanup_(freep) char *name = xasprintf("/%s", ehlo);

		if (curl_url_set(u, CURLUPART_PATH, name, 0) != CURLUE_OK)
			return err_set(e, ERR_BUG, "cannot use '%.200s' as EHLO name", ehlo);
	}
	*ret = take_ptr(u);
	return 0;
}

int mail_server_check(const struct mail_server *server, struct err *e)
{
	_cleanup_(curl_url_cleanupp) CURLU *u = NULL;

	return server_url(server, "localhost", &u, e);
}

static int read_password(const char *path, struct strbuf *ret, struct err *e)
{
	int r = file_read(path, PASSWORD_MAX, ret, e);

	if (r < 0)
		return err_wrap(e, "mail password");
	ret->len = strcspn(strbuf_str(ret), "\r\n");
	if (!ret->len)
		return err_set(e, ERR_CONFIG, "mail password file '%.200s' is empty", path);
	ret->s[ret->len] = '\0';
	return 0;
}

static size_t give_bytes(char *to, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	size_t left = t->len - t->pos;
	size_t some = size * n < left ? size * n : left;

	memcpy(to, t->bytes + t->pos, some);
	t->pos += some;
	return some;
}

static size_t drop_bytes(const char *from, size_t size, size_t n, void *arg)
{
	(void)from;
	(void)arg;
	return size * n;
}

/* Keeps the server's last line, and sees when the transaction begins. */
static int watch(CURL *c, curl_infotype type, char *data, size_t len, void *arg)
{
	struct transfer *t = arg;
	size_t n = 0;

	if (type == CURLINFO_HEADER_OUT && len >= 5 && !strncasecmp(data, "MAIL ", 5))
		t->named = true;
	/*
	 * libcurl waits up to 120 s for the answer to QUIT, whatever its time-outs say. A silent
	 * server would hold the caller far beyond its lease, for an answer that means nothing.
	 */
	if (type == CURLINFO_HEADER_OUT && len >= 4 && !strncasecmp(data, "QUIT", 4)) {
		t->over = true;
		(void)curl_easy_setopt(c, CURLOPT_SERVER_RESPONSE_TIMEOUT, QUIT_TIMEOUT_S);
	}
	if (type != CURLINFO_HEADER_IN || t->over)
		return 0;
	for (; n < len && n + 1 < sizeof(t->reply) && data[n] != '\r' && data[n] != '\n'; n++)
		t->reply[n] = (char)(data[n] >= ' ' && data[n] <= '~' ? data[n] : '?');
	t->reply[n] = '\0';
	return 0;
}

static bool must_hold(CURLcode code)
{
	switch (code) {
	case CURLE_USE_SSL_FAILED:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_LOGIN_DENIED:
		return true;
	default:
		return false;
	}
}

/*
 * By the reply, not by the CURLcode: the same CURLcode stands for a refused and a deferred
 * recipient. 250 is also the answer to RCPT, so it means sent only behind the whole text.
 */
static enum mail_class classify(const struct transfer *t, CURLcode code, long reply)
{
	bool all = t->pos == t->len;

	if (must_hold(code))
		return MAIL_HOLD;
	if (reply / 100 == 4)
		return MAIL_DEFERRED;
	if (reply / 100 == 5)
		/* "554 no service for you" as greeting says nothing about the recipient */
		return t->named ? MAIL_DEAD : MAIL_HOLD;
	if (reply / 100 == 2 && all && t->named)
		return MAIL_SENT;
	return all ? MAIL_UNSURE : MAIL_DEFERRED;
}

static void set_options(CURL *c, const struct mail_server *server, CURLU *url, struct transfer *t)
{
	(void)curl_easy_setopt(c, CURLOPT_CURLU, url);
	(void)curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	(void)curl_easy_setopt(c, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	(void)curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	/* close within the transfer, where watch() is called, not when the handle is freed */
	(void)curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L);
	(void)curl_easy_setopt(c, CURLOPT_USE_SSL,
			       server->tls == MAIL_TLS_REQUIRED ? (long)CURLUSESSL_ALL
								: (long)CURLUSESSL_NONE);
	(void)curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (server->ca_file)
		(void)curl_easy_setopt(c, CURLOPT_CAINFO, server->ca_file);
	(void)curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT,
			       server->connect_timeout_s ? server->connect_timeout_s
							 : CONNECT_TIMEOUT_S);
	(void)curl_easy_setopt(c, CURLOPT_TIMEOUT,
			       server->total_timeout_s ? server->total_timeout_s : TOTAL_TIMEOUT_S);
	(void)curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
	(void)curl_easy_setopt(c, CURLOPT_READFUNCTION, give_bytes);
	(void)curl_easy_setopt(c, CURLOPT_READDATA, t);
	(void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, drop_bytes);
	(void)curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->len);
	(void)curl_easy_setopt(c, CURLOPT_VERBOSE, 1L);
	(void)curl_easy_setopt(c, CURLOPT_DEBUGFUNCTION, watch);
	(void)curl_easy_setopt(c, CURLOPT_DEBUGDATA, t);
}

static int set_login(CURL *c, const struct mail_server *server, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf password = STRBUF_INIT;
	int r;

	if (!server->user)
		return 0;
	r = read_password(server->password_file, &password, e);
	if (r < 0)
		return r;
	(void)curl_easy_setopt(c, CURLOPT_USERNAME, server->user);
	(void)curl_easy_setopt(c, CURLOPT_PASSWORD, password.s);
	explicit_bzero(password.s, password.len);
	return 0;
}

static void outcome_set(struct mail_outcome *ret, const struct transfer *t, CURLcode code,
			long reply, const char *why)
{
	*ret = (struct mail_outcome){ .class = classify(t, code, reply), .code = (int)reply };
	/* behind a reply that was no refusal, the reason is libcurl's */
	if (code == CURLE_OK || reply >= 400)
		(void)snprintf(ret->text, sizeof(ret->text), "%s", t->reply);
	else
		(void)snprintf(ret->text, sizeof(ret->text), "%s",
			       *why ? why : curl_easy_strerror(code));
}

int mail_send(const struct mail_server *server, const char *from, const char *rcpt,
	      const void *bytes, size_t len, struct mail_outcome *ret, struct err *e)
{
	_cleanup_(curl_url_cleanupp) CURLU *url = NULL;
	_cleanup_(curl_slist_free_allp) struct curl_slist *list = NULL;
	_cleanup_(curl_easy_cleanupp) CURL *c = NULL;
	_cleanup_(freep) char *sender = NULL;
	struct transfer t = { .bytes = bytes, .len = len };
	char why[CURL_ERROR_SIZE] = "";
	long reply = 0;
	CURLcode code;
	int r;

	if ((r = address_check(from, strlen(from), e)) < 0 ||
	    (r = address_check(rcpt, strlen(rcpt), e)) < 0 || (r = wire_check(bytes, len, e)) < 0 ||
	    (r = server_url(server, strchr(from, '@') + 1, &url, e)) < 0)
		return r;
	c = curl_easy_init();
	list = curl_slist_append(NULL, rcpt);
	if (!c || !list)
		return err_set(e, ERR_BUG, "could not set up a mail transfer");
	set_options(c, server, url, &t);
	sender = xasprintf("<%s>", from);
	(void)curl_easy_setopt(c, CURLOPT_MAIL_FROM, sender);
	(void)curl_easy_setopt(c, CURLOPT_MAIL_RCPT, list);
	(void)curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
	r = set_login(c, server, e);
	if (r < 0)
		return r;
	code = curl_easy_perform(c);
	(void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &reply);
	outcome_set(ret, &t, code, reply, why);
	return 0;
}
