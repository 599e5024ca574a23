/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/http.h"

#include "bot/base/cleanup.h"
#include "tests/test.h"

#include <netinet/in.h>
#include <string.h>

static void an_address_is_taken_apart(void **state)
{
	struct http_url u;
	struct err e = { 0 };

	(void)state;
	assert_ok(http_url_parse("http://192.0.2.7:8080/netboot/x/stream", &u, &e), &e);
	assert_string_equal(u.host, "192.0.2.7:8080");
	assert_string_equal(u.path, "/netboot/x/stream");
	assert_int_equal(((struct sockaddr_in *)&u.addr)->sin_port, htons(8080));
	assert_ok(http_url_parse("http://192.0.2.7", &u, &e), &e);
	assert_string_equal(u.path, "/");
	assert_int_equal(((struct sockaddr_in *)&u.addr)->sin_port, htons(80));
	assert_ok(http_url_parse("http://[2001:db8::1]:81/a", &u, &e), &e);
	assert_int_equal(u.addr.ss_family, AF_INET6);
	assert_string_equal(u.host, "[2001:db8::1]:81");
}

static void refuses_what_is_no_address(void **state)
{
	static const char *const bad[] = { "",
					   "http://",
					   "https://192.0.2.7/",
					   "http://lab.example.org/",
					   "http://192.0.2.7:0/",
					   "http://192.0.2.7:65536/",
					   "http://192.0.2.7:8x/",
					   "http://192.0.2.7:/",
					   "http://[2001:db8::1/a",
					   "http://[2001:db8::1]x/a",
					   "http://192.0.2.7/a b",
					   "http://192.0.2.7/a\r\nX: y",
					   "http://192.0.2.7/a?b" };
	struct http_url u = { .addr_len = 77 };
	char longest[800];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = { 0 };

		assert_err(http_url_parse(bad[i], &u, &e), ERR_PARSE, &e);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "http://192.0.2.7/", 17);
	assert_err(http_url_parse(longest, &u, &(struct err){ 0 }), ERR_PARSE,
		   &((struct err){ .msg = "x" }));
	assert_int_equal(u.addr_len, 77);
}

static const char good[] = "HTTP/1.1 200 OK\r\nDate: x\r\ncontent-length:  12 \r\n"
			   "X-Kperfbot-Received: 345\r\nConnection: Close\r\n\r\nbody";

static void a_head_is_read_in_any_pieces(void **state)
{
	struct http_head h = { 0 };
	struct err e = { 0 };
	size_t whole = (size_t)(strstr(good, "body") - good);

	(void)state;
	for (size_t n = 0; n < whole; n++)
		assert_int_equal(http_head_parse(good, n, &h, &e), 0);
	assert_int_equal(http_head_parse(good, whole, &h, &e), 1);
	assert_int_equal(http_head_parse(good, strlen(good), &h, &e), 1);
	assert_int_equal(h.status, 200);
	assert_int_equal(h.head_len, whole);
	assert_int_equal(h.body_len, 12);
	assert_int_equal(h.received, 345);
	assert_true(h.close);
	assert_int_equal(http_head_parse("HTTP/1.1 204 No\r\n\r\n", 19, &h, &e), 1);
	assert_int_equal(h.body_len, 0);
	assert_int_equal(h.received, -1);
	assert_false(h.close);
	assert_int_equal(http_head_parse("HTTP/1.0 204 No\r\n\r\n", 19, &h, &e), 1);
	assert_true(h.close);
}

static void refuses_an_answer_that_lies_or_makes_no_sense(void **state)
{
	static const char *const bad[] = {
		"SSH-2.0-OpenSSH\r\n",
		"HTTP/2 200\r\n\r\n",
		"HTTP/1.1\r\n\r\n",
		"HTTP/1.1 2x0 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1e3\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 4194305\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX-Kperfbot-Received: x\r\n\r\n",
	};
	static char flood[HTTP_HEAD_MAX];
	struct http_head h = { .status = 7 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = { 0 };

		if (http_head_parse(bad[i], strlen(bad[i]), &h, &e) != ERR_FORMAT)
			fail_msg("taken: %s", bad[i]);
	}
	memset(flood, 'x', sizeof(flood));
	memcpy(flood, "HTTP/1.1 200 OK\r\n", 17);
	assert_int_equal(http_head_parse(flood, sizeof(flood), &h, NULL), ERR_FORMAT);
	assert_int_equal(h.status, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_taken_apart),
		cmocka_unit_test(refuses_what_is_no_address),
		cmocka_unit_test(a_head_is_read_in_any_pieces),
		cmocka_unit_test(refuses_an_answer_that_lies_or_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
