/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mail to servers on loopback: a real one (sink.py), and one that fails as its script says. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose.h"
#include "bot/mail/send.h"
#include "bot/mail/wire.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FROM "kperfbot+r7f3k2qa@perf.example.org"
#define RCPT "jane@example.org"

/* Replies of the scripted server; "drop" closes the connection, "stall" says nothing for ever. */
struct script {
	const char *greeting;
	const char *ehlo;
	const char *mail;
	const char *rcpt;
	const char *data;
	const char *end;
	const char *quit;
};

static const struct script all_good = { "220 x\r\n",  "250 x\r\n",    "250 ok\r\n", "250 ok\r\n",
					"354 go\r\n", "250 kept\r\n", "221 bye\r\n" };

static char folder[] = "/tmp/kperfbot-mail-XXXXXX";

static int setup(void **state)
{
	(void)state;
	compose_setup();
	(void)signal(SIGPIPE, SIG_IGN);
	/* none of these may have a say */
	(void)setenv("all_proxy", "http://127.0.0.1:1", 1);
	(void)setenv("ALL_PROXY", "socks5://127.0.0.1:1", 1);
	(void)setenv("smtp_proxy", "http://127.0.0.1:1", 1);
	return mail_send_setup(NULL) < 0 || !mkdtemp(folder);
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"1.eml", "1.env", "2.eml", "2.env", "wire", "password"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", folder, names[i]);

		(void)unlink(path);
	}
	return rmdir(folder);
}

static char *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "re");
	struct strbuf b = STRBUF_INIT;
	int c;

	if (!f)
		fail_msg("no file %s", path);
	while ((c = fgetc(f)) != EOF)
		strbuf_addch(&b, (char)c);
	(void)fclose(f);
	*ret_len = b.len;
	return strbuf_take(&b);
}

static char *read_data(const char *name, size_t *ret_len)
{
	_cleanup_(freep) char *path = xasprintf(TEST_SOURCE_DIR "/tests/data/mail/%s", name);

	return read_file(path, ret_len);
}

static char *read_kept(const char *name, size_t *ret_len)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", folder, name);

	return read_file(path, ret_len);
}

/* A whole mail with the text of case "dots": lone dots, "From ", 8-bit, no last line break. */
static struct strbuf dots_mail(void)
{
	size_t len;
	_cleanup_(freep) char *body = read_data("dots.body.txt", &len);
	struct strbuf b = STRBUF_INIT;

	wire_header(&b, "From", FROM);
	wire_body(&b, body, len);
	return b;
}

struct sink {
	pid_t pid;
	int in;
	int port;
};

static struct sink sink_start(const char *certificate)
{
	int in[2], out[2];
	struct sink s = { 0 };
	FILE *f;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	s.pid = fork();
	if (s.pid == 0) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)close(in[1]);
		(void)close(out[0]);
		(void)execl("/usr/bin/python3", "python3", "-I",
			    TEST_SOURCE_DIR "/tests/integration/mail/sink.py", folder, certificate,
			    (char *)NULL);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	s.in = in[1];
	f = fdopen(out[0], "re");
	if (fscanf(f, "port %d", &s.port) != 1) /* NOLINT(cert-err34-c) */
		fail_msg("sink.py did not start; is python3-aiosmtpd installed?");
	(void)fclose(f);
	return s;
}

static void sink_stop(struct sink *s)
{
	int status;

	(void)close(s->in);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_int_equal(status, 0);
}

/* Text after the first empty line. */
static const char *body_of(const char *mail)
{
	return strstr(mail, "\r\n\r\n") + 4;
}

static void a_real_server_gets_the_same_bytes(void **state)
{
	struct sink s = sink_start(NULL);
	_cleanup_(freep) char *url = xasprintf("smtp://127.0.0.1:%d", s.port);
	struct mail_server server = { .url = url, .tls = MAIL_TLS_NONE_ON_LOOPBACK };
	struct strbuf dots = dots_mail();
	struct mail_outcome out;
	struct err e = { 0 };
	size_t len, kept_len;
	_cleanup_(freep) char *mail = read_data("report.eml", &len);
	_cleanup_(freep) char *kept = NULL;
	_cleanup_(freep) char *kept_dots = NULL;
	_cleanup_(freep) char *env = NULL;

	(void)state;
	assert_ok(mail_send(&server, FROM, RCPT, mail, len, &out, &e), &e);
	assert_int_equal(out.class, MAIL_SENT);
	assert_int_equal(out.code, 250);
	assert_string_equal(out.text, "250 kept");
	assert_ok(mail_send(&server, FROM, "max@example.org", dots.s, dots.len, &out, &e), &e);
	assert_int_equal(out.class, MAIL_SENT);
	sink_stop(&s);

	kept = read_kept("1.eml", &kept_len);
	assert_int_equal(kept_len, len);
	assert_memory_equal(kept, mail, len);
	env = read_kept("1.env", &kept_len);
	assert_string_equal(env, FROM " " RCPT " perf.example.org\n");
	kept_dots = read_kept("2.eml", &kept_len);
	assert_int_equal(kept_len, dots.len);
	assert_memory_equal(kept_dots, dots.s, dots.len);
	strbuf_done(&dots);
}

static void tls_and_login(void **state)
{
	static const char pem[] = TEST_SOURCE_DIR "/tests/data/mail/localhost.pem";
	struct sink s = sink_start(pem);
	_cleanup_(freep) char *url = xasprintf("smtp://localhost:%d", s.port);
	_cleanup_(freep) char *password = xasprintf("%s/password", folder);
	struct mail_server server = {
		.url = url, .ca_file = pem, .user = "bot", .password_file = password
	};
	struct mail_outcome out;
	struct err e = { 0 };
	size_t len;
	_cleanup_(freep) char *mail = read_data("report.eml", &len);
	FILE *f = fopen(password, "we");

	(void)state;
	(void)fputs("secret word\n", f);
	(void)fclose(f);
	assert_ok(mail_send(&server, FROM, RCPT, mail, len, &out, &e), &e);
	assert_string_equal(out.text, "250 kept");
	assert_int_equal(out.class, MAIL_SENT);
	/* a certificate that nobody vouches for */
	server.ca_file = NULL;
	assert_ok(mail_send(&server, FROM, RCPT, mail, len, &out, &e), &e);
	assert_int_equal(out.class, MAIL_HOLD);
	server.ca_file = pem;
	f = fopen(password, "we");
	(void)fputs("wrong\n", f);
	(void)fclose(f);
	assert_ok(mail_send(&server, FROM, RCPT, mail, len, &out, &e), &e);
	assert_int_equal(out.class, MAIL_HOLD);
	server.password_file = "/nonexistent/password";
	assert_err(mail_send(&server, FROM, RCPT, mail, len, &out, &e), ERR_NOENT, &e);
	sink_stop(&s);
}

/* Say the line, or leave as the script says; false: the connection is over. */
static bool say(int fd, const char *line)
{
	if (!strcmp(line, "drop"))
		return false;
	if (!strcmp(line, "stall")) {
		for (;;)
			(void)pause();
	}
	return write(fd, line, strlen(line)) == (ssize_t)strlen(line);
}

static const char *answer(const struct script *s, const char *line)
{
	if (!strncasecmp(line, "EHLO", 4) || !strncasecmp(line, "HELO", 4))
		return s->ehlo;
	if (!strncasecmp(line, "MAIL", 4))
		return s->mail;
	if (!strncasecmp(line, "RCPT", 4))
		return s->rcpt;
	if (!strncasecmp(line, "DATA", 4))
		return s->data;
	return s->quit;
}

/* The text up to its lone dot, as it is on the wire, into FOLDER/wire. */
static bool read_text(FILE *in)
{
	_cleanup_(freep) char *path = xasprintf("%s/wire", folder);
	FILE *out = fopen(path, "we");
	bool ended = false;
	char line[2000];

	while (!ended && fgets(line, sizeof(line), in)) {
		(void)fputs(line, out);
		ended = !strcmp(line, ".\r\n");
	}
	(void)fclose(out);
	return ended;
}

static void serve(int listener, const struct script *s)
{
	int fd = accept(listener, NULL, NULL);
	FILE *in = fdopen(fd, "r");
	char line[2000];

	if (!say(fd, s->greeting))
		return;
	while (fgets(line, sizeof(line), in)) {
		const char *reply = answer(s, line);

		if (!say(fd, reply))
			return;
		if (!strncmp(reply, "354", 3) && (!read_text(in) || !say(fd, s->end)))
			return;
	}
}

static struct mail_outcome send_to(const struct script *s, const char *bytes, size_t len,
				   enum mail_tls tls)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_(freep) char *url = NULL;
	struct mail_server server = { .tls = tls, .connect_timeout_s = 5, .total_timeout_s = 5 };
	struct mail_outcome out = { 0 };
	struct err e = { 0 };
	pid_t pid;

	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &size), 0);
	pid = fork();
	if (pid == 0) {
		serve(fd, s);
		_exit(0);
	}
	(void)close(fd);
	url = xasprintf("smtp://127.0.0.1:%d", ntohs(addr.sin_port));
	server.url = url;
	if (strstr(s->greeting, "stall") || strstr(s->end, "stall"))
		server.total_timeout_s = 1;
	assert_ok(mail_send(&server, FROM, RCPT, bytes, len, &out, &e), &e);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return out;
}

static void doubles_dots_on_the_wire(void **state)
{
	struct strbuf dots = dots_mail();
	struct mail_outcome out = send_to(&all_good, dots.s, dots.len, MAIL_TLS_NONE_ON_LOOPBACK);
	size_t len;
	_cleanup_(freep) char *wire = read_kept("wire", &len);
	_cleanup_(freep) char *want = read_data("dots.wire.txt", &len);
	struct strbuf coded = STRBUF_INIT;

	(void)state;
	assert_int_equal(out.class, MAIL_SENT);
	/* the same lines, with the two that quoted-printable writes in another way */
	for (const char *p = want; *p;) {
		size_t n = strcspn(p, "\n") + 1;

		if (strstr(p, "   1234 \xc2\xb1") == p)
			strbuf_addf(&coded, "   1234 =C2=B1%.*s", (int)(n - 10), p + 10);
		else if (!strncmp(p, "-- \r\n", 5))
			strbuf_addstr(&coded, "--=20\r\n");
		else
			strbuf_add(&coded, p, n);
		p += n;
	}
	assert_string_equal(body_of(wire), coded.s);
	strbuf_done(&coded);
	strbuf_done(&dots);
}

/* One step of all_good answers something else. */
#define STEP(field, text)                    \
	({                                   \
		struct script s_ = all_good; \
		s_.field = (text);           \
		s_;                          \
	})

static void check_class(struct script s, enum mail_class class, int code)
{
	size_t len;
	_cleanup_(freep) char *mail = read_data("report.eml", &len);
	struct mail_outcome out = send_to(&s, mail, len, MAIL_TLS_NONE_ON_LOOPBACK);

	if (out.class != class || out.code != code)
		fail_msg("got %s %d (%s), not %s %d", mail_class_name(out.class), out.code,
			 out.text, mail_class_name(class), code);
	assert_true(out.text[0]);
}

static void classes_by_the_last_answer(void **state)
{
	(void)state;
	check_class(all_good, MAIL_SENT, 250);
	check_class(STEP(rcpt, "450 busy\r\n"), MAIL_DEFERRED, 450);
	check_class(STEP(rcpt, "550 no such user\r\n"), MAIL_DEAD, 550);
	check_class(STEP(mail, "451 later\r\n"), MAIL_DEFERRED, 451);
	check_class(STEP(mail, "553 no\r\n"), MAIL_DEAD, 553);
	check_class(STEP(data, "451 later\r\n"), MAIL_DEFERRED, 451);
	check_class(STEP(data, "554 no\r\n"), MAIL_DEAD, 554);
	check_class(STEP(end, "452 full\r\n"), MAIL_DEFERRED, 452);
	check_class(STEP(end, "554-spam\r\n554 spam\r\n"), MAIL_DEAD, 554);
	check_class(STEP(greeting, "421 down\r\n"), MAIL_DEFERRED, 421);
	check_class(STEP(greeting, "554 not you\r\n"), MAIL_HOLD, 554);
}

static void tells_lost_before_from_lost_after_the_text(void **state)
{
	(void)state;
	check_class(STEP(greeting, "drop"), MAIL_DEFERRED, 0);
	check_class(STEP(greeting, "stall"), MAIL_DEFERRED, 0);
	check_class(STEP(mail, "drop"), MAIL_DEFERRED, 250);
	check_class(STEP(rcpt, "drop"), MAIL_DEFERRED, 250);
	check_class(STEP(data, "drop"), MAIL_DEFERRED, 250);
	check_class(STEP(end, "drop"), MAIL_UNSURE, 354);
	check_class(STEP(end, "stall"), MAIL_UNSURE, 354);
}

static void nobody_waits_for_the_answer_to_quit(void **state)
{
	struct script s = STEP(quit, "stall");

	(void)state;
	check_class(s, MAIL_SENT, 250);
	s.rcpt = "550 no such user\r\n";
	check_class(s, MAIL_DEAD, 550);
}

static void a_server_that_leaves_in_the_text_defers(void **state)
{
	struct strbuf big = STRBUF_INIT;
	struct mail_outcome out;
	/* closes with the text unread, long before 20 MB have gone */
	struct script s = STEP(data, "421 x\r\n");

	(void)state;
	strbuf_addstr(&big, "A: b\r\n\r\n");
	while (big.len < 20000000)
		strbuf_addstr(&big, "0123456789012345678901234567890123456789\r\n");
	out = send_to(&s, big.s, big.len, MAIL_TLS_NONE_ON_LOOPBACK);
	assert_int_equal(out.class, MAIL_DEFERRED);
	strbuf_done(&big);
}

static void a_server_without_tls_holds_the_queue(void **state)
{
	size_t len;
	_cleanup_(freep) char *mail = read_data("report.eml", &len);
	struct mail_outcome out = send_to(&all_good, mail, len, MAIL_TLS_REQUIRED);

	(void)state;
	assert_int_equal(out.class, MAIL_HOLD);
}

static void nobody_there_defers(void **state)
{
	struct mail_server server = { .url = "smtp://127.0.0.1:1",
				      .tls = MAIL_TLS_NONE_ON_LOOPBACK };
	struct mail_outcome out;
	struct err e = { 0 };

	(void)state;
	assert_ok(mail_send(&server, FROM, RCPT, "A: b\r\n\r\n", 8, &out, &e), &e);
	assert_int_equal(out.class, MAIL_DEFERRED);
	assert_int_equal(out.code, 0);
}

static void refuses_before_it_connects(void **state)
{
	struct mail_server server = { .url = "smtp://127.0.0.1:1",
				      .tls = MAIL_TLS_NONE_ON_LOOPBACK };
	static const char *const bad_urls[] = {
		"smtp://mail.example.org",
		"http://127.0.0.1",
		"smtp://127.0.0.1/x",
		"smtp://u:p@127.0.0.1",
		"smtp://128.0.0.1:25",
		"smtp://127.0.0.1.example.org",
		"",
		"smtp://",
	};
	struct mail_outcome out = { .code = 77 };
	struct err e = { 0 };

	(void)state;
	assert_err(mail_send(&server, FROM, "a@b\r\nRCPT TO:<c@d>", "A: b\r\n\r\n", 8, &out, &e),
		   ERR_INVAL, &e);
	assert_err(mail_send(&server, "a b@c", RCPT, "A: b\r\n\r\n", 8, &out, &e), ERR_INVAL, &e);
	assert_err(mail_send(&server, FROM, RCPT, "A: b\r\n\r\n.\n", 10, &out, &e), ERR_INVAL, &e);
	for (size_t i = 0; i < ARRAY_SIZE(bad_urls); i++) {
		server.url = bad_urls[i];
		assert_err(mail_server_check(&server, &e), ERR_CONFIG, &e);
		assert_err(mail_send(&server, FROM, RCPT, "A: b\r\n\r\n", 8, &out, &e), ERR_CONFIG,
			   &e);
	}
	server = (struct mail_server){ .url = "smtps://mail.example.org", .user = "x" };
	assert_err(mail_server_check(&server, &e), ERR_CONFIG, &e);
	server.password_file = "/x";
	assert_ok(mail_server_check(&server, &e), &e);
	assert_int_equal(out.code, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_real_server_gets_the_same_bytes),
		cmocka_unit_test(tls_and_login),
		cmocka_unit_test(doubles_dots_on_the_wire),
		cmocka_unit_test(classes_by_the_last_answer),
		cmocka_unit_test(tells_lost_before_from_lost_after_the_text),
		cmocka_unit_test(nobody_waits_for_the_answer_to_quit),
		cmocka_unit_test(a_server_that_leaves_in_the_text_defers),
		cmocka_unit_test(a_server_without_tls_holds_the_queue),
		cmocka_unit_test(nobody_there_defers),
		cmocka_unit_test(refuses_before_it_connects),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
