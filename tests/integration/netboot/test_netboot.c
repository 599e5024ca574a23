/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/netboot.h"

#include "bot/base/child.h"
#include "bot/base/config.h"
#include "bot/base/file.h"
#include "bot/db/db.h"
#include "bot/store/artefact.h"
#include "runners/drivers/session.h"
#include "tests/integration/web/client.h"
#include "tests/pg.h"
#include "tests/test.h"
#include "web/web.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define MAC    "52:54:00:12:34:56"
#define SECRET "0123456789abcdef0123456789abcdef"
#define FENCE  7

static struct config *config;
static struct web_options options;
static struct web *web;
static struct netboot_offer offer;
static char kernel[65], initrd[65];

static void boot_script(const char *query, struct reply *r)
{
	_cleanup_(freep) char *path = xasprintf("/netboot/boot.ipxe?%s", query);

	client_get(path, r);
}

static void post(const char *secret, const char *query, const char *body, struct reply *r)
{
	_cleanup_(freep) char *path = xasprintf("/netboot/%s/stream?%s", secret, query);

	client_call(&(struct call){ .method = "POST",
				    .path = path,
				    .type = "application/octet-stream",
				    .body = body },
		    r);
}

static int offer_again(void **state)
{
	struct err e = { 0 };

	(void)state;
	pg_exec("DELETE FROM netboot; DELETE FROM machine;"
		"INSERT INTO machine (name, group_name, driver, lease_owner, lease_until, fence)"
		" VALUES ('net1', 'g', 'netboot', 'x', now() + interval '1 h', 7)");
	offer = (struct netboot_offer){ .machine = "net1",
					.mac = MAC,
					.secret = SECRET,
					.append = "quiet kperfbot.nonce=n-1",
					.kernel = kernel,
					.initrd = initrd,
					.fence = FENCE };
	assert_ok(netboot_offer(pg_db(), &offer, &e), &e);
	return 0;
}

static unsigned take(int64_t at, struct strbuf *ret)
{
	struct err e = { 0 };
	unsigned events = 0;

	assert_ok(netboot_take(pg_db(), &offer, at, ret, &events, &e), &e);
	return events;
}

static void assert_taken(int64_t at, const char *want)
{
	_cleanup_(strbuf_done) struct strbuf got = STRBUF_INIT;

	(void)take(at, &got);
	assert_string_equal(strbuf_str(&got), want);
}

static void the_script_names_what_is_offered(void **state)
{
	_cleanup_(strbuf_done) struct strbuf none = STRBUF_INIT;
	_cleanup_(reply_done) struct reply r = { 0 };
	unsigned events;

	(void)state;
	boot_script("mac=52-54-00-12-34-56", &r);
	assert_int_equal(r.status, 200);
	assert_int_equal(strncmp(strbuf_str(&r.body), "#!ipxe\n", 7), 0);
	assert_non_null(strstr(r.body.s, "kernel http://192.0.2.1:8080/netboot/" SECRET
					 "/kernel initrd=initrd quiet kperfbot.nonce=n-1 "
					 "kperfbot.url=http://192.0.2.1:8080/netboot/" SECRET
					 "/stream || goto failed\n"));
	assert_non_null(strstr(r.body.s, "/netboot/" SECRET "/initrd || goto failed\nboot ||"));
	events = take(0, &none);
	assert_int_equal(events & 255, 1);
	assert_int_equal(events >> 8, 1);
	reply_done(&r);
	r = (struct reply){ 0 };
	boot_script("mac=" MAC "&failed=1", &r);
	events = take(0, &none);
	assert_int_equal(events & 255, 1 | 16);
	assert_int_equal(events >> 8, 2);
}

static void who_has_nothing_to_do_boots_on(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(netboot_withdraw(pg_db(), "net1", SECRET, &e), &e);
	{
		_cleanup_(reply_done) struct reply r = { 0 };

		boot_script("mac=" MAC, &r);
		assert_int_equal(r.status, 200);
		assert_non_null(strstr(r.body.s, "\nexit\n"));
		assert_null(strstr(r.body.s, "kernel"));
	}
	{
		_cleanup_(reply_done) struct reply r = { 0 };

		boot_script("mac=52:54:00:ff:ff:ff", &r);
		assert_int_equal(r.status, 200);
		assert_non_null(strstr(r.body.s, "no machine has the address 52:54:00:ff:ff:ff"));
		assert_non_null(strstr(r.body.s, "sleep 60"));
		assert_null(strstr(r.body.s, "\nexit\n"));
	}
}

static void refuses_what_is_no_address(void **state)
{
	static const char *const bad[] = { "",
					   "mac=",
					   "mac=52:54:00:12:34",
					   "mac=52:54:00:12:34:567",
					   "mac=52:54:00:12:34:5g",
					   "mac=%0akernel%20http",
					   "mac=${net0/mac}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(reply_done) struct reply r = { 0 };

		boot_script(bad[i], &r);
		if (r.status < 400 || r.status >= 500)
			fail_msg("'%s': status %ld", bad[i], r.status);
	}
}

static void an_offer_is_for_one_boot(void **state)
{
	_cleanup_(reply_done) struct reply r = { 0 };
	_cleanup_(reply_done) struct reply s = { 0 };

	(void)state;
	post(SECRET, "at=0&from=0", "x", &r);
	assert_int_equal(r.status, 200);
	boot_script("mac=" MAC, &s);
	assert_null(strstr(s.body.s, SECRET));
	assert_non_null(strstr(s.body.s, "\nexit\n"));
}

static void serves_the_files_to_who_knows_the_secret(void **state)
{
	_cleanup_(strbuf_done) struct strbuf none = STRBUF_INIT;
	static const char *const wrong[] = { "/netboot/0123456789abcdef0123456789abcdee/kernel",
					     "/netboot/0123456789abcdef/kernel",
					     "/netboot/0123456789ABCDEF0123456789ABCDEF/kernel",
					     "/netboot/" SECRET "/../../../etc/passwd",
					     "/netboot/" SECRET "/vmlinuz",
					     "/netboot//kernel" };
	_cleanup_(reply_done) struct reply r = { 0 };
	_cleanup_(reply_done) struct reply s = { 0 };

	(void)state;
	client_get("/netboot/" SECRET "/kernel", &r);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body.s, "the kernel");
	assert_string_equal(reply_header(&r, "Content-Length"), "10");
	client_get("/netboot/" SECRET "/initrd", &s);
	assert_string_equal(s.body.s, "the initramfs");
	assert_int_equal(take(0, &none), 2 | 4);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_(reply_done) struct reply w = { 0 };

		client_get(wrong[i], &w);
		if (w.status != 404 && w.status != 400)
			fail_msg("%s: status %ld", wrong[i], w.status);
	}
}

static void a_lost_file_is_not_noted_as_fetched(void **state)
{
	_cleanup_(strbuf_done) struct strbuf none = STRBUF_INIT;
	_cleanup_(freep) char *path = artefact_path(pg_dir(), kernel);
	_cleanup_(freep) char *away = xasprintf("%s.away", path);
	_cleanup_(reply_done) struct reply r = { 0 };

	(void)state;
	assert_int_equal(rename(path, away), 0);
	client_get("/netboot/" SECRET "/kernel", &r);
	assert_int_equal(rename(away, path), 0);
	assert_int_equal(r.status, 404);
	assert_int_equal(take(0, &none), 0);
}

static void takes_each_byte_once(void **state)
{
	static const struct {
		const char *query, *body;
		long status;
		const char *received;
	} calls[] = {
		{ "at=0&from=0", "hello ", 200, "6" },
		{ "at=0&from=0", "hello ", 409, "6" },	    /* the answer was lost */
		{ "at=0&from=0", "hello again", 409, "6" }, /* and more has come since */
		{ "at=7&from=0", "gap", 409, "6" },
		{ "at=6&from=0", "world", 200, "11" },
		{ "at=11&from=0", "", 200, "11" },
		{ "at=10&from=0", "", 409, "11" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		_cleanup_(reply_done) struct reply r = { 0 };

		post(SECRET, calls[i].query, calls[i].body, &r);
		assert_int_equal(r.status, calls[i].status);
		assert_string_equal(reply_header(&r, "X-Kperfbot-Received"), calls[i].received);
	}
	assert_taken(0, "hello world");
	assert_taken(6, "world");
	assert_taken(6, "world");
	assert_taken(11, "");
}

static void refuses_what_is_no_piece_of_a_stream(void **state)
{
	static const char *const bad[] = { "",
					   "at=0",
					   "from=0",
					   "at=-1&from=0",
					   "at=x&from=0",
					   "at=0&from=99999999999",
					   "at=0&from=0&at=1",
					   "at=0&from=0&x=1" };
	_cleanup_(reply_done) struct reply r = { 0 };
	_cleanup_(freep) char *big = xcalloc(1, (1 << 20) + 2);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(reply_done) struct reply b = { 0 };

		post(SECRET, bad[i], "x", &b);
		if (b.status < 400 || b.status >= 500)
			fail_msg("'%s': status %ld", bad[i], b.status);
	}
	memset(big, 'x', (1 << 20) + 1);
	post(SECRET, "at=0&from=0", big, &r);
	assert_int_equal(r.status, 413);
	assert_taken(0, "");
}

static void an_agent_cannot_fill_the_database(void **state)
{
	_cleanup_(reply_done) struct reply ahead = { 0 };
	_cleanup_(reply_done) struct reply total = { 0 };

	(void)state;
	pg_exec("INSERT INTO netboot_chunk VALUES ('net1', 0, 'x'); "
		"UPDATE netboot SET received = 67108865");
	post(SECRET, "at=67108865&from=0", "x", &ahead);
	assert_int_equal(ahead.status, 503);
	assert_string_equal(reply_header(&ahead, "Retry-After"), "1");
	pg_exec("DELETE FROM netboot_chunk; UPDATE netboot SET received = 1073741824");
	post(SECRET, "at=1073741824&from=0", "x", &total);
	assert_int_equal(total.status, 413);
}

static void the_answer_is_what_the_driver_has_sent(void **state)
{
	_cleanup_(reply_done) struct reply all = { 0 };
	_cleanup_(reply_done) struct reply rest = { 0 };
	_cleanup_(reply_done) struct reply none = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(netboot_send(pg_db(), &offer, 0, "job\0one", 7, &e), &e);
	/* The same again after a lost answer, with more behind it. */
	assert_ok(netboot_send(pg_db(), &offer, 0, "job\0one, two", 12, &e), &e);
	assert_ok(netboot_send(pg_db(), &offer, 12, ".", 1, &e), &e);
	post(SECRET, "at=0&from=0", "", &all);
	assert_int_equal(all.body.len, 13);
	assert_memory_equal(all.body.s, "job\0one, two.", 13);
	post(SECRET, "at=0&from=9", "", &rest);
	assert_string_equal(strbuf_str(&rest.body), "two.");
	post(SECRET, "at=0&from=13", "", &none);
	assert_int_equal(none.status, 200);
	assert_int_equal(none.body.len, 0);
}

static void who_lost_the_lease_offers_and_takes_nothing(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct netboot_offer old = offer;
	unsigned events;
	struct err e = { 0 };

	(void)state;
	old.fence = FENCE - 1;
	assert_err(netboot_offer(pg_db(), &old, &e), ERR_LEASE_LOST, &e);
	assert_err(netboot_held(pg_db(), "net1", FENCE - 1, &e), ERR_LEASE_LOST, &e);
	assert_err(netboot_take(pg_db(), &old, 0, &b, &events, &e), ERR_LEASE_LOST, &e);
	assert_err(netboot_send(pg_db(), &old, 0, "x", 1, &e), ERR_LEASE_LOST, &e);
	/* Nor does it take back what another offers. */
	old.secret = "ffffffffffffffffffffffffffffffff";
	assert_ok(netboot_withdraw(pg_db(), "net1", old.secret, &e), &e);
	assert_taken(0, "");
	assert_ok(netboot_held(pg_db(), "net1", FENCE, &e), &e);
	/* A new offer for the address takes the place of the old one. */
	pg_exec("INSERT INTO machine (name, group_name, driver, lease_owner, lease_until, fence)"
		" VALUES ('net2', 'g', 'netboot', 'x', now() + interval '1 h', 8)");
	old = offer;
	old.machine = "net2";
	old.fence = 8;
	assert_ok(netboot_offer(pg_db(), &old, &e), &e);
	assert_err(netboot_take(pg_db(), &offer, 0, &b, &events, &e), ERR_LEASE_LOST, &e);
}

/* ---- the agent ---- */

static char key_mode[] = "mode", val_mode[] = "process", key_task[] = "nr_task", val_task[] = "1",
	    key_time[] = "runtime", val_time[] = "1s";
static const struct suite_param params[] = { { key_mode, val_mode },
					     { key_task, val_task },
					     { key_time, val_time } };

static pid_t agent_start(int port)
{
	_cleanup_(freep) char *url =
		xasprintf("http://127.0.0.1:%d/netboot/" SECRET "/stream", port);
	const char *argv[] = { TEST_BIN_DIR "/kperfbot-agent",
			       "--http",
			       url,
			       "--workloads",
			       TEST_SOURCE_DIR "/tests/integration/lab/fake_workloads.sh",
			       "--nonce",
			       "n-1",
			       NULL };
	struct child_opts opts = CHILD_OPTS_INIT;
	struct err e = { 0 };
	pid_t pid;

	opts.argv = argv;
	opts.stderr_fd = STDERR_FILENO;
	(void)setenv("FAKE_WORKLOADS_MODE", "ok", 1);
	assert_ok(child_spawn(&opts, &pid, &e), &e);
	return pid;
}

static void start_web(int port)
{
	_cleanup_(freep) char *path = xasprintf("%s/k.conf", pg_dir());
	_cleanup_(freep) char *text = xasprintf(
		"[kperfbot]\nstate = %s\n[web]\nlisten = 127.0.0.1:%d\n[machine \"net1\"]\n"
		"driver = netboot\nmac = 52-54-00-12-34-56\nurl = http://192.0.2.1:8080/\n",
		pg_dir(), port);
	struct err e = { 0 };

	config_free(config);
	assert_ok(file_write(path, text, strlen(text), 0600, &e), &e);
	assert_ok(config_load(path, &config, &e), &e);
	options.config = config;
	assert_ok(web_start(&options, &web, &e), &e);
	client_port(web_port(web));
}

static void nap(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* Plays the driver until all is said. @cut: stop the server for a while after so many rounds with news. */
static void drive(struct session *s, int cut)
{
	int64_t taken = 0, sent = 0;
	struct err e = { 0 };

	for (int i = 0; i < 1200 && !s->over; i++) {
		_cleanup_(strbuf_done) struct strbuf in = STRBUF_INIT;

		if (s->out.len) {
			assert_ok(netboot_send(pg_db(), &offer, sent, s->out.s, s->out.len, &e),
				  &e);
			sent += (int64_t)s->out.len;
			strbuf_reset(&s->out);
		}
		(void)take(taken, &in);
		taken += (int64_t)in.len;
		assert_ok(session_add(s, strbuf_str(&in), in.len, &e), &e);
		if (in.len && cut-- == 0) {
			int port = web_port(web);

			web_stop(web);
			for (int k = 0; k < 40; k++)
				nap();
			start_web(port);
		}
		nap();
	}
	assert_true(s->over);
}

static void talk_to_the_agent(int port, int cut)
{
	const struct lab_machine m = { .name = "net1", .driver = "netboot" };
	const struct lab_request q = { .suite = "will-it-scale",
				       .test = "page_fault1",
				       .params = params,
				       .nparams = ARRAY_SIZE(params),
				       .runs = 2,
				       .nonce = "n-1" };
	struct lab_result r = { 0 };
	struct session s;
	pid_t pid = agent_start(port);
	int status = -1;

	session_init(&s, &m, &q, &r, false);
	drive(&s, cut);
	session_end(&s);
	if (r.class != LAB_OK)
		fail_msg("%s: %s", lab_class_name(r.class), r.detail);
	assert_int_equal(r.nruns, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(r.runs[i].raw, "testcase:page_fault1_processes -t 1 -s 1\n");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	session_done(&s);
	lab_result_done(&r);
}

/* Carries bytes both ways until @limit of them went through in all, or a side closed. */
static void carry(int a, int b, size_t limit)
{
	while (limit) {
		struct pollfd p[2] = { { .fd = a, .events = POLLIN },
				       { .fd = b, .events = POLLIN } };
		char buf[512];

		if (poll(p, 2, 15000) <= 0)
			return;
		for (int i = 0; i < 2 && limit; i++) {
			size_t most = limit < sizeof(buf) ? limit : sizeof(buf);
			ssize_t n;

			if (!p[i].revents)
				continue;
			n = read(p[i].fd, buf, most);
			if (n <= 0 || write(p[1 - i].fd, buf, (size_t)n) != n)
				return;
			limit -= (size_t)n;
		}
	}
}

/* One connection after the other: cut after so many bytes, or answered by something else. */
static void spoil(int listener)
{
	static const size_t limits[] = { 0,    30,   150,  400,	 700,	1500,
					 2500, 3500, 5000, 9000, 20000, 60000 };
	static const char *const other[] = { "SSH-2.0-OpenSSH\r\n",
					     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
					     "HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n" };
	const struct linger reset = { .l_onoff = 1 };

	for (unsigned i = 0;; i++) {
		int fd = accept(listener, NULL, NULL);
		int to = client_socket();

		if (i % 5 == 4)
			(void)!write(fd, other[i / 5 % 3], strlen(other[i / 5 % 3]));
		else if (to >= 0)
			carry(fd, to, limits[i % ARRAY_SIZE(limits)]);
		if (i % 2)
			(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		(void)close(fd);
		(void)close(to);
	}
}

static void an_agent_bears_a_line_that_is_cut_anywhere(void **state)
{
	_cleanup_(closep) int listener = -1;
	struct err e = { 0 };
	uint16_t port;
	pid_t pid;

	(void)state;
	assert_ok(web_listen("127.0.0.1:0", &listener, &port, &e), &e);
	(void)fcntl(listener, F_SETFL, 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)signal(SIGPIPE, SIG_IGN);
		spoil(listener);
	}
	talk_to_the_agent(port, -1);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void an_agent_does_its_job_over_http(void **state)
{
	(void)state;
	talk_to_the_agent(web_port(web), -1);
}

static void an_agent_goes_on_where_the_line_was_cut(void **state)
{
	(void)state;
	talk_to_the_agent(web_port(web), 0);
	(void)offer_again(NULL);
	talk_to_the_agent(web_port(web), 1);
}

static void an_agent_ends_when_nothing_is_offered(void **state)
{
	struct err e = { 0 };
	int status = -1;
	pid_t pid;

	(void)state;
	assert_ok(netboot_withdraw(pg_db(), "net1", SECRET, &e), &e);
	pid = agent_start(web_port(web));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static int start(void **state)
{
	struct err e = { 0 };

	if (pg_start(state) != 0)
		return -1;
	options.conninfo = xstrdup(pg_conninfo());
	start_web(0);
	assert_ok(artefact_put(pg_db(), pg_dir(), "image", "the kernel", 10, kernel, &e), &e);
	assert_ok(artefact_put(pg_db(), pg_dir(), "initrd", "the initramfs", 13, initrd, &e), &e);
	return 0;
}

static int stop(void **state)
{
	web_stop(web);
	config_free(config);
	free((void *)(uintptr_t)options.conninfo);
	return pg_stop(state);
}

#define offer_test(f) cmocka_unit_test_setup(f, offer_again)

int main(void)
{
	const struct CMUnitTest tests[] = {
		offer_test(the_script_names_what_is_offered),
		offer_test(who_has_nothing_to_do_boots_on),
		offer_test(refuses_what_is_no_address),
		offer_test(an_offer_is_for_one_boot),
		offer_test(serves_the_files_to_who_knows_the_secret),
		offer_test(a_lost_file_is_not_noted_as_fetched),
		offer_test(takes_each_byte_once),
		offer_test(refuses_what_is_no_piece_of_a_stream),
		offer_test(an_agent_cannot_fill_the_database),
		offer_test(the_answer_is_what_the_driver_has_sent),
		offer_test(who_lost_the_lease_offers_and_takes_nothing),
		offer_test(an_agent_does_its_job_over_http),
		offer_test(an_agent_goes_on_where_the_line_was_cut),
		offer_test(an_agent_bears_a_line_that_is_cut_anywhere),
		offer_test(an_agent_ends_when_nothing_is_offered),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
