/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Driver netboot with a server that the test plays, and an outlet that is a file: each way in which a
 * machine, its agent, the server or the outlet can fail. The true things: tests/lab/netboot.
 */
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/driver.h"
#include "runners/proto/message.h"
#include "tests/test.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the machine does; the calls of the driver make its time go on. */
enum way {
	WELL,
	NEVER_ASKS,
	ASKS_AND_STOPS,
	CANNOT_LOAD,
	LOADS_AND_HANGS,
	LOOPS,
	LOOPS_WITH_PANIC,
	TALKS_GARBAGE,
	HALF_A_HELLO,
	OTHER_BOOT,
	OTHER_KERNEL,
	SILENT_AFTER_HELLO,
	STARTS_AGAIN,
	OOPS_IN_THE_RUN,
	LEAVES,
};

static char dir[64];

static struct {
	enum way way;
	int away;	/* so many calls fail before one works */
	int left;	/* of those, for the call at hand */
	int error;	/* of offer, for ever */
	int lost_after; /* takes until the lease is lost, 0: never */
	unsigned takes; /* since power-on */
	unsigned offers, withdrawn, sent;
	struct strbuf got; /* by the agent */
	bool done;
} srv;

static struct strbuf notes;

static bool on(void)
{
	struct strbuf b = STRBUF_INIT;
	bool is_on;

	(void)file_read("state", 64, &b, NULL);
	is_on = !strcmp(strbuf_str(&b), "on\n");
	strbuf_done(&b);
	return is_on;
}

/* Every call fails a few times before it works. */
static int flaky(struct err *e)
{
	if (srv.left-- > 0)
		return err_set(e, ERR_DB_AWAY, "the database is away");
	srv.left = srv.away;
	return 0;
}

static int do_store(void *arg, const char *path, char ret[65], struct err *e)
{
	size_t size;
	int r = flaky(e);

	(void)arg;
	return r < 0 ? r : file_sha256_path(path, ret, &size, e);
}

static int do_offer(void *arg, const struct lab_netboot_offer *o, struct err *e)
{
	int r = flaky(e);

	(void)arg;
	if (r == 0 && srv.error)
		return err_set(e, srv.error, "no");
	if (r < 0)
		return r;
	/* What still runs from before must not take it. */
	assert_false(on());
	assert_string_equal(o->mac, "52:54:00:12:34:56");
	assert_non_null(strstr(o->append, "kperfbot.nonce=n-1 ip=dhcp quiet"));
	srv.offers++;
	srv.takes = 0;
	return 0;
}

static void hello(struct strbuf *ret)
{
	char release[] = "6.12.0", right[] = "aabbcc", wrong[] = "aabbcd", boot_id[] = "b-1";
	char nonce[] = "n-1", other[] = "n-0";
	struct proto_hello h = { .version = PROTO_VERSION,
				 .cpus = 2,
				 .mem_total_bytes = 1ull << 30,
				 .mem_available_bytes = 1ull << 30,
				 .release = release,
				 .build_id = srv.way == OTHER_KERNEL ? wrong : right,
				 .boot_id = boot_id,
				 .nonce = srv.way == OTHER_BOOT ? other : nonce,
				 .facts = json_object() };

	(void)proto_hello_add(ret, &h, NULL);
	json_decref(h.facts);
}

static void say(const char *line)
{
	FILE *f = fopen("console", "ae");

	assert_non_null(f);
	(void)fputs(line, f);
	(void)fclose(f);
}

static void run(struct strbuf *ret)
{
	struct proto_ready ready = { .settings = json_object(), .facts = json_object() };
	struct proto_run_end end = { .wall_s = 1.5 };

	(void)proto_ready_add(ret, &ready, NULL);
	proto_ready_done(&ready);
	(void)proto_run_start_add(ret, 0, NULL);
	proto_output_add(ret, PROTO_STDOUT, "average:100\n", 12);
	(void)proto_run_end_add(ret, &end, NULL);
	if (srv.way != OOPS_IN_THE_RUN)
		(void)proto_frame_add(ret, PROTO_BYE, NULL, 0, NULL);
	srv.done = true;
}

static bool loops(void)
{
	return srv.way == LOOPS || srv.way == LOOPS_WITH_PANIC || srv.way == CANNOT_LOAD;
}

static unsigned events(void)
{
	unsigned scripts = loops() ? srv.takes : 1;

	if (srv.way == NEVER_ASKS)
		return 0;
	if (srv.way == STARTS_AGAIN && srv.takes > 4)
		scripts = 2;
	if (srv.way == ASKS_AND_STOPS)
		return 1 | 256;
	if (srv.way == CANNOT_LOAD)
		return 1 | NETBOOT_FAILED | scripts * 256;
	return 7 | scripts * 256;
}

static void agent(struct strbuf *ret)
{
	if (srv.takes == 2 && srv.way == TALKS_GARBAGE) {
		for (int i = 0; i < 1 << 17; i++)
			strbuf_addstr(ret, "SSH-2.0-x\r\n");
	} else if (srv.takes == 2) {
		hello(ret);
		if (srv.way == HALF_A_HELLO)
			strbuf_cut(ret, ret->len / 2);
	} else if (srv.got.len && !srv.done && srv.way == LEAVES) {
		(void)proto_frame_add(ret, PROTO_BYE, NULL, 0, NULL);
	} else if (srv.got.len && !srv.done && srv.way != SILENT_AFTER_HELLO &&
		   srv.way != STARTS_AGAIN) {
		run(ret);
		if (srv.way == OOPS_IN_THE_RUN)
			say("[    5.0] BUG: unable to handle page fault for address: 0\n");
	} else if (srv.done && srv.way == OOPS_IN_THE_RUN && srv.takes > 8) {
		(void)proto_frame_add(ret, PROTO_BYE, NULL, 0, NULL);
	}
}

static int do_take(void *arg, struct strbuf *ret, unsigned *ret_events, struct err *e)
{
	int r = flaky(e);

	(void)arg;
	if (r < 0)
		return r;
	if (srv.lost_after && ++srv.takes > (unsigned)srv.lost_after)
		return err_set(e, ERR_LEASE_LOST, "lost");
	if (!srv.lost_after)
		srv.takes++;
	assert_true(on());
	*ret_events = events();
	if (srv.way == LOOPS_WITH_PANIC && srv.takes == 1)
		say("[    1.0] Kernel panic - not syncing: no init\n");
	if (srv.way > LOOPS_WITH_PANIC || srv.way == WELL)
		agent(ret);
	return 0;
}

static int do_send(void *arg, const void *data, size_t len, struct err *e)
{
	int r = flaky(e);

	(void)arg;
	if (r < 0)
		return r;
	srv.sent++;
	strbuf_add(&srv.got, data, len);
	return 0;
}

static int do_withdraw(void *arg, struct err *e)
{
	int r = flaky(e);

	(void)arg;
	srv.withdrawn += r == 0;
	return r;
}

static bool still_ours(void *arg)
{
	(void)arg;
	return true;
}

static void note(void *arg, const char *text)
{
	(void)arg;
	strbuf_addf(&notes, "%s\n", text);
}

static char key_mode[] = "mode", val_mode[] = "process", key_task[] = "nr_task", val_task[] = "1";
static const struct suite_param params[] = { { key_mode, val_mode }, { key_task, val_task } };

static struct lab_machine machine(void)
{
	return (struct lab_machine){
		.name = "net1",
		.driver = "netboot",
		.mac = "52:54:00:12:34:56",
		.append = "quiet",
		.boot_timeout_s = 3,
		.silence_timeout_s = 2,
		.first_byte_timeout_s = 1,
		.agent_path = TEST_SOURCE_DIR "/COPYING",
		.workloads_path = TEST_SOURCE_DIR "/COPYING",
		.console_command = "exec tail -n +1 -s 0.05 -f console",
		.power = { .on = "echo on >state",
			   .off = "echo off >state",
			   .status = "cat state",
			   .off_s = 0.01,
			   .timeout_s = 5,
			   .still_ours = still_ours,
			   .note = note },
		.netboot = { .url = "http://192.0.2.1",
			     .store = do_store,
			     .offer = do_offer,
			     .take = do_take,
			     .send = do_send,
			     .withdraw = do_withdraw },
	};
}

static struct lab_request request(void)
{
	return (struct lab_request){ .kernel_path = TEST_SOURCE_DIR "/COPYING",
				     .build_id = "aabbcc",
				     .suite = "will-it-scale",
				     .test = "page_fault1",
				     .params = params,
				     .nparams = ARRAY_SIZE(params),
				     .runs = 1,
				     .nonce = "n-1",
				     .total_timeout_s = 60,
				     .scratch_dir = dir };
}

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/kperfbot-netboot-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	strbuf_done(&srv.got);
	memset(&srv, 0, sizeof(srv));
	strbuf_done(&notes);
	say("");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strbuf_done(&srv.got);
	strbuf_done(&notes);
	assert_int_equal(chdir("/"), 0);
	return file_remove_tree(dir, NULL);
}

/* Afterwards nothing is offered, nothing runs, and the machine is off. */
static void boot(enum way way, enum lab_class class, const char *detail)
{
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	srv.way = way;
	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	if (r.class != class || (detail && !strstr(r.detail ? r.detail : "", detail)))
		fail_msg("%s: %s; wanted %s: %s", lab_class_name(r.class), r.detail,
			 lab_class_name(class), detail);
	assert_false(on());
	assert_int_equal(srv.withdrawn, 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(r.power_cycles, way == NEVER_ASKS ? 2 : 1);
	assert_int_equal(srv.offers, r.power_cycles);
	if (class == LAB_OK) {
		assert_int_equal(r.nruns, 1);
		assert_string_equal(r.runs[0].raw, "average:100\n");
		assert_true(r.boot_s > 0 && r.setup_s >= 0);
	}
	lab_result_done(&r);
}

static void boots_runs_and_switches_off(void **state)
{
	(void)state;
	boot(WELL, LAB_OK, NULL);
	assert_int_equal(srv.sent, 1);
}

static void bears_a_database_that_is_away(void **state)
{
	(void)state;
	srv.away = srv.left = 2;
	boot(WELL, LAB_OK, NULL);
	assert_int_equal(srv.sent, 1);
}

static void tells_where_a_machine_stopped(void **state)
{
	static const struct {
		enum way way;
		enum lab_class class;
		const char *detail;
	} cases[] = {
		{ NEVER_ASKS, LAB_NET, "never asked for its script" },
		{ ASKS_AND_STOPS, LAB_NET, "never for its kernel" },
		{ CANNOT_LOAD, LAB_NET, "could not load its kernel" },
		{ LOADS_AND_HANGS, LAB_BOOT_HANG, "within the boot deadline" },
		{ LOOPS, LAB_BOOT_LOOP, "booted 3 times" },
		{ LOOPS_WITH_PANIC, LAB_BOOT_PANIC, "no init" },
		{ TALKS_GARBAGE, LAB_AGENT, "" },
		{ HALF_A_HELLO, LAB_BOOT_HANG, "within the boot deadline" },
		{ OTHER_BOOT, LAB_WRONG_KERNEL, "nonce 'n-0'" },
		{ OTHER_KERNEL, LAB_WRONG_KERNEL, "build id 'aabbcd'" },
		{ SILENT_AFTER_HELLO, LAB_HANG, "no sign of life" },
		{ STARTS_AGAIN, LAB_OOPS, "started again during the job" },
		{ OOPS_IN_THE_RUN, LAB_OOPS, "unable to handle page fault" },
		{ LEAVES, LAB_AGENT, "left after 0 of 1 runs" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (i) {
			(void)teardown(state);
			(void)setup(state);
		}
		boot(cases[i].way, cases[i].class, cases[i].detail);
	}
}

static void a_machine_that_is_no_longer_ours_is_left_alone(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	srv.way = SILENT_AFTER_HELLO;
	srv.lost_after = 4;
	assert_err(lab_boot(&m, &q, &r, &e), ERR_LEASE_LOST, &e);
	assert_true(on());
	assert_int_equal(srv.withdrawn, 0);
	lab_result_done(&r);
}

static void what_can_never_be_offered_is_an_error(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	srv.error = ERR_DB;
	assert_err(lab_boot(&m, &q, &r, &e), ERR_DB, &e);
	assert_false(on());
	assert_int_equal(r.power_cycles, 0);
	lab_result_done(&r);
}

static void says_that_the_outlet_fails(void **state)
{
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	m.power.on = "echo the fuse is blown; exit 1";
	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_POWER);
	assert_non_null(strstr(r.detail, "the fuse is blown"));
	assert_int_equal(srv.withdrawn, 1);
	lab_result_done(&r);
}

static void a_wish_to_cancel_is_heard(void **state)
{
	const volatile int cancel = 1;
	struct lab_machine m = machine();
	struct lab_request q = request();
	struct lab_result r;
	struct err e = { 0 };

	(void)state;
	q.cancel = &cancel;
	m.power.off_s = 100;
	assert_ok(lab_boot(&m, &q, &r, &e), &e);
	assert_int_equal(r.class, LAB_CANCELLED);
	assert_false(on());
	lab_result_done(&r);
}

static void refuses_half_a_machine(void **state)
{
	static char longest[1502];
	struct lab_request q = request();
	struct lab_machine m;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	for (int i = 0; i < 8; i++) {
		struct lab_result r;
		struct err e = { 0 };

		m = machine();
		q = request();
		if (i == 0)
			m.mac = NULL;
		else if (i == 1)
			m.power.on = m.power.off = NULL;
		else if (i == 2)
			m.power.off = NULL;
		else if (i == 3)
			m.netboot.url = NULL;
		else if (i == 4)
			m.append = "quiet\nboot";
		else if (i == 5)
			q.build_id = "";
		else if (i == 6)
			m.append = longest;
		else
			m.power.ipmi_host = "192.0.2.1";
		assert_err(lab_boot(&m, &q, &r, &e), ERR_INVAL, &e);
		lab_result_done(&r);
	}
	assert_int_equal(access("state", F_OK), -1);
}

#define boot_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		boot_test(boots_runs_and_switches_off),
		boot_test(bears_a_database_that_is_away),
		boot_test(tells_where_a_machine_stopped),
		boot_test(a_machine_that_is_no_longer_ours_is_left_alone),
		boot_test(what_can_never_be_offered_is_an_error),
		boot_test(says_that_the_outlet_fails),
		boot_test(a_wish_to_cancel_is_heard),
		boot_test(refuses_half_a_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
