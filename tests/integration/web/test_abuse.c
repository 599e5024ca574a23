/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What clients should not do, and what else can go wrong around the server. */
#include "bot/db/db.h"
#include "tests/integration/web/client.h"
#include "tests/integration/web/served.h"
#include "tests/pg.h"
#include "tests/test.h"
#include "web/web.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void assert_alive(void)
{
	DO_GET(r, "/healthz");
	assert_int_equal(r.status, 200);
}

/* An address that was at its limit is served again once the server has seen the ends of its connections. */
static void wait_served(void)
{
	static const char request[] =
		"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

	for (int i = 0; i < 200; i++) {
		char buf[64] = "";
		int fd = client_socket();
		ssize_t n = -1;

		if (fd >= 0 && write(fd, request, sizeof(request) - 1) > 0)
			n = read(fd, buf, sizeof(buf) - 1);
		if (fd >= 0)
			(void)close(fd);
		if (n > 0 && strstr(buf, " 200 "))
			return;
		(void)usleep(50000);
	}
	fail_msg("not served within 10 s");
}

static void chunks_are_counted_too(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT, got = STRBUF_INIT;

	(void)state;
	strbuf_addf(&b,
		    "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
		    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
		    served_token);
	for (int i = 0; i < 20; i++) {
		strbuf_addstr(&b, "10000\r\n");
		for (int k = 0; k < 65536; k++)
			strbuf_addch(&b, ' ');
		strbuf_addstr(&b, "\r\n");
	}
	strbuf_addstr(&b, "0\r\n\r\n");
	client_raw(b.s, b.len, &got);
	assert_non_null(strstr(strbuf_str(&got), " 413 "));
}

static void raw_abuse_is_survived(void **state)
{
	static const struct {
		const char *bytes;
		const char *want; /* in the answer; NULL: whatever, but no 200 */
	} cases[] = {
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
		  " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: "
		  "2\r\n\r\n{}",
		  " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: "
		  "chunked\r\n\r\n0\r\n\r\n",
		  " 400 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n",
		  " 413 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
		  " 400 " },
		{ "POST /api/v1/bisects HTTP/1.1\r\nHost: x\r\nContent-Length: 0x10\r\n\r\n",
		  " 400 " },
		{ "GET / HTTP/1.1\r\n\r\n", " 400 " },
		{ "GET http://example.org/ HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "\r\n\r\n\r\n", NULL },
		{ "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", NULL },
		{ "GET\r\n\r\n", NULL },
		{ "GET / HTTP/9.9\r\nHost: x\r\n\r\n", NULL },
		{ "GET /\x01\x02 HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\nBroken header line\r\n\r\n", NULL },
		{ "GET /r/r7f3k2qa%00 HTTP/1.1\r\nHost: x\r\n\r\n", " 400 " },
		{ "get / http/1.1\r\n\r\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf got = STRBUF_INIT;

		client_raw(cases[i].bytes, strlen(cases[i].bytes), &got);
		if (strstr(strbuf_str(&got), " 200 ") ||
		    (cases[i].want && !strstr(strbuf_str(&got), cases[i].want)))
			fail_msg("%.60s: %.100s", cases[i].bytes, strbuf_str(&got));
	}
	assert_alive();
}

static void endless_headers_are_cut_off(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT, got = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf u = STRBUF_INIT, got_u = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&b, "GET / HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < 5000; i++)
		strbuf_addf(&b, "X-%d: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", i);
	strbuf_addstr(&b, "\r\n");
	client_raw(b.s, b.len, &got);
	assert_null(strstr(strbuf_str(&got), " 200 "));
	strbuf_addstr(&u, "GET /");
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&u, 'a');
	strbuf_addstr(&u, " HTTP/1.1\r\nHost: x\r\n\r\n");
	client_raw(u.s, u.len, &got_u);
	assert_null(strstr(strbuf_str(&got_u), " 200 "));
	assert_alive();
}

/* One client holds all that it can; another is served. */
static void idle_connections_do_not_starve_others(void **state)
{
	int fds[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = client_socket();
		if (fds[i] >= 0 && i % 3 == 0)
			(void)!write(fds[i], "GET / HT", 8);
	}
	for (int i = 0; i < 30; i++) {
		_cleanup_(reply_done) struct reply r = { 0 };
		struct call c = { .path = i % 2 ? "/" : "/r/r7f3k2qa", .from = "127.0.0.2" };

		client_call(&c, &r);
		assert_int_equal(r.status, 200);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	wait_served();
}

static void the_role_may_not_write_elsewhere(void **state)
{
	static const char *const statements[] = {
		"DELETE FROM regression",
		"UPDATE regression SET state = 'invalid'",
		"UPDATE job SET min_effect = 1",
		"INSERT INTO token VALUES ('t', 'x', 'n', '{admin}')",
		"INSERT INTO outbox_rcpt (outbox, addr, reason) VALUES (1, 'x@example.org', 'x')",
	};
	struct err e = { 0 };

	(void)state;
	pg_exec("SET ROLE kperfbot_web");
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++)
		assert_err(db_exec(pg_db(), statements[i], &e), ERR_DB, &e);
	pg_exec("RESET ROLE");
}

static void a_port_in_use_is_one_clear_line(void **state)
{
	_cleanup_(freep) char *listen = xasprintf("127.0.0.1:%d", web_port(served_web));
	struct err e = { 0 };
	uint16_t port;
	int fd = -1;

	(void)state;
	assert_err(web_listen(listen, &fd, &port, &e), ERR_IO, &e);
	assert_non_null(strstr(e.msg, "in use"));
	assert_err(web_listen("8080", &fd, &port, &e), ERR_INVAL, &e);
	assert_err(web_listen("127.0.0.1:99999", &fd, &port, &e), ERR_INVAL, &e);
	assert_err(web_listen("::1:80", &fd, &port, &e), ERR_INVAL, &e);
	assert_err(web_listen("no.such.host.invalid:80", &fd, &port, &e), ERR_INVAL, &e);
	assert_int_equal(fd, -1);
	assert_ok(web_listen("[::1]:0", &fd, &port, &e), &e);
	(void)close(fd);
}

static void a_database_that_is_away_is_said_and_waited_for(void **state)
{
	(void)state;
	pg_down();
	DO_GET(r, "/");
	assert_int_equal(r.status, 503);
	assert_string_equal(reply_header(&r, "Retry-After"), "5");
	assert_null(strstr(strbuf_str(&r.body), "socket"));
	DO_GET(h, "/healthz");
	assert_int_equal(h.status, 200);
	DO_GET(y, "/readyz");
	assert_int_equal(y.status, 503);
	pg_up();
	for (int i = 0; i < 8; i++) {
		DO_GET(again, "/regressions");
		assert_int_equal(again.status, 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_are_counted_too),
		cmocka_unit_test(raw_abuse_is_survived),
		cmocka_unit_test(endless_headers_are_cut_off),
		cmocka_unit_test(idle_connections_do_not_starve_others),
		cmocka_unit_test(the_role_may_not_write_elsewhere),
		cmocka_unit_test(a_port_in_use_is_one_clear_line),
		cmocka_unit_test(a_database_that_is_away_is_said_and_waited_for),
	};

	return cmocka_run_group_tests(tests, served_start, served_stop);
}
